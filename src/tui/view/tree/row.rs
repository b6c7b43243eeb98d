//! Draws one row of the tree: guide, mark, name, what it does, and its figures or the reason to look at it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::cells::{self, Figure};
use super::words::{self, name};
use crate::tui::state::App;
use crate::tui::state::focus::Pane;
use crate::tui::state::regions::Region;
use crate::tui::state::tree::{Kind, Node, Row, State};
use crate::tui::view::fit::{clip, columns, one_line, put};

/// Columns of the word for what an agent does.
const WORD: u16 = 14;
/// Columns of the word below which the time gives way to it.
const LEAST_WORD: u16 = 10;
/// Widest name that the other rows make room for, columns.
const NAME: u16 = 30;
/// Columns of selection, mark and the blanks around them.
const MARKS: u16 = 5;
/// Fewest columns in which a reason says anything.
const REASON: u16 = 10;

/// Is a row with its agent.
#[derive(Debug)]
pub(super) struct Shown<'a> {
    row: &'a Row,
    node: &'a Node,
    guide: Vec<bool>,
    name: String,
}

impl<'a> Shown<'a> {
    /// Looks a row's agent up.
    pub fn of(app: &'a App, row: &'a Row) -> Option<Self> {
        let node = app.tree.nodes().get(row.agent)?;
        Some(Self { row, node, guide: app.tree.guide(row), name: one_line(&name(node)) })
    }

    /// Returns what the row is to a pointer.
    pub fn region(&self) -> Region {
        match self.row.kind {
            Kind::Agent | Kind::Folded => Region::Agent(self.node.id.clone()),
            Kind::Ended { .. } => Region::Ended(self.node.id.clone()),
        }
    }

    /// Returns how many running agents the row stands for.
    pub fn running(&self) -> usize {
        match self.row.kind {
            Kind::Agent => usize::from(self.node.running()),
            Kind::Folded => self.node.totals().running,
            Kind::Ended { .. } => 0,
        }
    }

    /// Returns the columns of guide and name.
    pub fn width(&self) -> u16 {
        match self.row.kind {
            Kind::Agent | Kind::Folded => self.guide_width().saturating_add(columns(&self.name).min(NAME)),
            Kind::Ended { .. } => 0,
        }
    }

    /// Returns the columns of the guide.
    pub fn guide_width(&self) -> u16 {
        u16::try_from(self.guide.len().saturating_mul(3)).unwrap_or(u16::MAX)
    }

    /// Returns what the row shows: of a folded one the worst beneath it.
    fn state(&self) -> State {
        let totals = self.node.totals();
        let own = self.node.state();
        let beneath = match self.row.kind {
            Kind::Agent | Kind::Ended { .. } => return own,
            Kind::Folded if totals.asking > 0 => State::Asking,
            Kind::Folded if totals.failed > 0 => State::Failed,
            Kind::Folded if totals.parked > 0 => State::Parked,
            Kind::Folded => own,
        };
        own.max(beneath)
    }

    /// Says what the row shows in a word or two.
    fn word(&self, app: &App, width: u16) -> String {
        let state = self.state();
        if state == self.node.state() {
            words::word(self.node, app.now, width.saturating_sub(1))
        } else {
            state.word().to_owned()
        }
    }

    /// Returns the lines that tie the row to its ancestors, with `more` or `last` at its own place.
    fn guide(&self, [more, last]: [&str; 2], width: u16) -> String {
        let own = self.guide.len().saturating_sub(1);
        let part = |(at, is_last): (usize, &bool)| match (at == own, is_last) {
            (true, false) => more.to_owned(),
            (true, true) => last.to_owned(),
            (false, false) => "│  ".to_owned(),
            (false, true) => "   ".to_owned(),
        };
        // Of a row that stands very deep the nearest ancestors are shown.
        let fits = usize::from(width / 6).max(1);
        let skipped = self.guide.len().saturating_sub(fits);
        let parts: String = self.guide.iter().enumerate().skip(skipped).map(part).collect();
        if skipped > 0 { format!("… {parts}") } else { parts }
    }

    /// Says why the row is worth a look, or what is folded away beneath it; in fewer and fewer words.
    fn notes(&self, app: &App) -> Vec<String> {
        let more = match self.node.lints.len() {
            0 | 1 => String::new(),
            lints => format!(" (+{})", lints - 1),
        };
        let reasons =
            self.node.lints.first().map(|lint| words::reasons(lint, app.now).map(|why| format!("! {why}{more}")));
        let sums = match self.row.kind {
            Kind::Folded => Some(words::sums(&self.node.beneath())),
            Kind::Agent | Kind::Ended { .. } => None,
        };
        match (reasons, sums) {
            (None, None) => Vec::new(),
            (Some(reasons), None) => reasons.to_vec(),
            (None, Some(sums)) => sums.to_vec(),
            (Some([long, short]), Some([_, sums, least])) => {
                vec![format!("{long} · {sums}"), format!("{short} · {sums}"), format!("{short} · {least}"), short]
            }
        }
    }
}

/// Says what the rows of one frame show.
#[derive(Debug)]
pub(super) struct Look {
    /// The figures of the first line.
    first: Vec<Figure>,
    /// The figures of the second line.
    second: Vec<Figure>,
    /// Columns of the word.
    word: u16,
}

impl Look {
    /// Puts everything into one line with so much room beside guide and name.
    pub fn one(app: &App, room: u16) -> Self {
        let room = room.saturating_sub(MARKS);
        let word = Self::word(room);
        let wanted = [Figure::Elapsed, Figure::Steps, Figure::Tokens, Figure::Context];
        let wanted: Vec<Figure> = wanted.into_iter().chain(extra(app)).collect();
        Self { first: cells::fitting(&wanted, room.saturating_sub(word)), second: Vec::new(), word }
    }

    /// Puts the figures into a second line; `first` and `second` are the columns beside the names and the guides.
    pub fn two(app: &App, first: u16, second: u16) -> Self {
        let wanted = [Figure::Steps, Figure::Tokens];
        let wanted: Vec<Figure> = wanted.into_iter().chain(extra(app)).chain([Figure::Context]).collect();
        let first = first.saturating_sub(MARKS);
        let word = Self::word(first);
        Self {
            first: cells::fitting(&[Figure::Elapsed], first.saturating_sub(word)),
            second: cells::fitting(&wanted, second.saturating_sub(4)),
            word,
        }
    }

    /// Returns the columns of the word, where so many are left for it and everything behind it.
    fn word(room: u16) -> u16 {
        let beside_time = room.saturating_sub(Figure::Elapsed.width());
        if beside_time < LEAST_WORD { room.min(WORD) } else { beside_time.min(WORD) }
    }
}

/// Returns the figures that not every tree has a use for.
fn extra(app: &App) -> impl Iterator<Item = Figure> {
    let totals = app.tree.main().totals();
    let cost = (totals.cost_nanos > 0).then_some(Figure::Cost);
    let total = (totals.agents > 1).then_some(Figure::Total);
    [Some(Figure::Spark(cells::LEAST_SPARK)), cost, total].into_iter().flatten()
}

/// Says how a row is drawn.
#[derive(Debug, Clone, Copy)]
struct Place {
    is_selected: bool,
    /// Whether it has no second line.
    is_alone: bool,
}

/// Draws a row of the tree; the second line may be empty.
pub(super) fn draw(app: &App, shown: &Shown, look: &Look, first: Rect, second: Rect, buffer: &mut Buffer) {
    let theme = &app.theme;
    if let Kind::Ended { children, cancelled } = shown.row.kind {
        let left = put(buffer, first, &format!(" {}", shown.guide(["├─ ", "└─ "], first.width)), theme.border);
        put(buffer, left, &words::ended(children, cancelled), theme.dim);
        return;
    }
    let place = Place { is_selected: *app.tree.selected() == shown.node.id, is_alone: second.is_empty() };
    draw_first(app, shown, look, first, place, buffer);
    if !place.is_alone {
        draw_second(app, shown, look, second, buffer);
    }
    if place.is_selected && app.focus.is_on(Pane::Tree) {
        buffer.set_style(first.intersection(*buffer.area()), theme.selected);
    }
}

/// Draws selection, guide, mark, name and word, and in a lone line the figures or what there is to say instead.
fn draw_first(app: &App, shown: &Shown, look: &Look, line: Rect, place: Place, buffer: &mut Buffer) {
    let theme = &app.theme;
    let node = shown.node;
    let (mark, style) = words::look(shown.state(), theme);
    let notes = if place.is_alone { shown.notes(app) } else { Vec::new() };
    let right = Rect { width: line.width.saturating_sub(1), ..line };
    let figures: &[Figure] = if notes.is_empty() {
        &look.first
    } else {
        look.first
            .iter()
            .position(|figure| *figure == Figure::Elapsed)
            .and_then(|at| look.first.get(at..))
            .unwrap_or(&[])
    };
    let name = if app.tree.matches(shown.row.agent) {
        if place.is_selected { theme.title } else { theme.text }
    } else {
        theme.dim
    };
    let right = cells::draw(figures, node, app.now, theme, right, buffer);
    // What stands right of the name begins at the same column in every row.
    let all = look.first.iter().map(|figure| figure.width()).sum::<u16>() + look.word;
    let beside = right.width.min((all + right.width).saturating_sub(line.width.saturating_sub(1)));
    let beside = Rect { x: right.right() - beside, width: beside, ..right };
    let left = Rect { width: right.width - beside.width, ..right };

    let left = put(buffer, left, if place.is_selected { "›" } else { " " }, theme.accent);
    let left = put(buffer, left, &shown.guide(["├─ ", "└─ "], line.width), theme.border);
    let left = put(buffer, left, mark, style);
    put(buffer, Rect { x: left.x + left.width.min(1), width: left.width.saturating_sub(2), ..left }, &shown.name, name);

    let word = clip(&shown.word(app, look.word), look.word).into_owned();
    let fits = |room: u16| notes.iter().find(|note| columns(note) <= room).or(notes.last());
    match fits(beside.width.saturating_sub(look.word)) {
        Some(reason) if beside.width >= look.word + REASON => {
            let rest = put(buffer, beside, &format!("{word:<width$}", width = usize::from(look.word)), style);
            put(buffer, rest, reason, theme.notice);
        }
        Some(_) => {
            put(buffer, beside, fits(beside.width).map_or("", String::as_str), theme.notice);
        }
        None => {
            put(buffer, beside, &word, style);
        }
    }
}

/// Draws what there is to say of an agent, else its figures and as much of its task as there is room for.
fn draw_second(app: &App, shown: &Shown, look: &Look, line: Rect, buffer: &mut Buffer) {
    let theme = &app.theme;
    let left = put(buffer, line, &format!(" {}", shown.guide(["│  ", "   "], line.width)), theme.border);
    let goes_on = if shown.node.has_children() && shown.row.kind == Kind::Agent { "│ " } else { "  " };
    let left = put(buffer, left, goes_on, theme.border);
    let left = Rect { width: left.width.saturating_sub(1), ..left };
    let notes = shown.notes(app);
    if let Some(note) = notes.iter().find(|note| columns(note) <= left.width).or(notes.last()) {
        put(buffer, left, note, theme.notice);
        return;
    }
    let left = cells::draw(&look.second, shown.node, app.now, theme, left, buffer);
    let task = Rect { width: left.width.saturating_sub(1), ..left };
    if task.width >= REASON {
        put(buffer, task, &one_line(&shown.node.task), theme.dim);
    }
}
