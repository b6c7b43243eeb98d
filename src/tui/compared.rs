//! Two sessions side by side, over everything else on the screen; one under the other where there is no room.
//!
//! Where two sessions part, and the rows in words: `src/exchange/compare/mod.rs`; tests: `tests/program/sessions/compare.rs`.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::overlay::{ListPosition, Overlay, OverlayDrawn, Overlays};
use crate::commands::{CommandEntry, Takes};
use crate::effect::{Effect, Outcome, PaneEffect};
use crate::keymap::{Action, Context, Travel};
use crate::ledger;
use crate::state::{Medium, Regions};
use crate::theme::Theme;
use crate::ui_context::UiContext;
use crate::widgets::fit::{below, put, row};
use crate::widgets::wrap::{Break, Line, wrapped};
use steersman_base::id::AgentId;
use steersman_base::summary::{ComparedRow, ComparedTable};

/// Columns of the names of rows, and those from which both sessions stand side by side.
const NAMES: u16 = 10;
const WIDE: u16 = 60;

pub const COMMAND: CommandEntry = CommandEntry::new(
    "/compare ID [ID]",
    Takes::Text,
    "",
    "this session and another, or two others, side by side from where they part: calls, files, tokens, cost, answers",
    |context, names| vec![compare(context.ui, names)],
);

/// The comparison, from its opening to its end; nothing in it is selected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComparedPane {
    table: ComparedTable,
    position: ListPosition,
}

impl ComparedPane {
    pub fn new(table: ComparedTable) -> Self {
        Self { table, position: ListPosition::default() }
    }
}

impl Overlay for ComparedPane {
    fn context(&self) -> Context {
        ledger::PANE.context()
    }

    fn closing_hint(&self) -> &'static str {
        "Esc closes the comparison"
    }

    fn escape_hints(&self) -> &'static [&'static str] {
        &["Esc: closes the comparison", "Esc: closes"]
    }

    fn titles(&self, _: &UiContext) -> Vec<String> {
        [" Two sessions: what each did behind the place where they part ", " Two sessions "].map(str::to_owned).to_vec()
    }

    fn hints(&self, _: &UiContext) -> &'static [&'static str] {
        &[" Up/Down scrolls · Home/End · Esc closes ", " Esc closes "]
    }

    fn count(&self, _: &UiContext) -> usize {
        0
    }

    fn position(&mut self) -> &mut ListPosition {
        &mut self.position
    }

    fn selected(&self, _: &UiContext) -> usize {
        0
    }

    fn travel(&mut self, travel: Travel, ui: &UiContext) {
        // A frame puts it within the bounds.
        self.position.top = travel.from(self.position.top, ui.half_page());
    }

    fn act(&mut self, action: Action, _: &UiContext) -> Outcome {
        if action == Action::InPane(ledger::JUMP) { Outcome::DONE } else { Outcome::Ignored }
    }

    fn wheel(&mut self, lines: isize, _: &UiContext) {
        self.position.top = self.position.top.saturating_add_signed(lines);
    }

    fn draw_inside(&self, ui: &UiContext, inner: Rect, _: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn {
        let theme = &ui.theme;
        put(buffer, row(inner, 0), &self.table.heading, theme.title);
        let below = below(inner, 2);
        let lines = lines(&self.table, below.width, theme);
        let top = self.position.top.min(lines.len().saturating_sub(below.height.into()));
        let side = (below.width.saturating_sub(NAMES)) / 2;
        for ([name, left, right], y) in lines.iter().skip(top).zip(below.y..below.bottom()) {
            let x = below.x.saturating_add(NAMES);
            name.draw(buffer, below.x, y, NAMES.min(below.width));
            left.draw(buffer, x, y, below.width.saturating_sub(NAMES));
            if below.width >= WIDE {
                right.draw(buffer, x.saturating_add(side), y, side);
            }
        }
        OverlayDrawn::list(0, top)
    }
}

fn lines(table: &ComparedTable, width: u16, theme: &Theme) -> Vec<[Line; 3]> {
    let is_wide = width >= WIDE;
    let side = if is_wide { (width - NAMES) / 2 - 1 } else { width.saturating_sub(NAMES) };
    let mut shown = Vec::new();
    for compared in &table.rows {
        let [left, right] = compared.sides.each_ref().map(|texts| {
            let lines = texts.iter().map(|text| Line::new(text, theme.text));
            wrapped(lines, side.max(1).into(), Break::Words)
        });
        let pairs: Vec<[Option<Line>; 2]> = if is_wide {
            let at = |lines: &[Line], index: usize| lines.get(index).cloned();
            (0..left.len().max(right.len())).map(|index| [at(&left, index), at(&right, index)]).collect()
        } else {
            // One under the other.
            left.into_iter().chain(right).map(|line| [Some(line), None]).collect()
        };
        for (index, [left, right]) in pairs.into_iter().enumerate() {
            let name = if index == 0 { Line::new(compared.name, theme.dim) } else { Line::default() };
            shown.push([name, left.unwrap_or_default(), right.unwrap_or_default()]);
        }
    }
    shown
}

/// Compares the session that runs with another one, or two others; says why it cannot.
fn compare(ui: &UiContext, names: &str) -> PaneEffect {
    let mut names = names.split_whitespace().map(str::to_owned);
    let compare = |one, other| PaneEffect::Outside(Effect::Compare([one, other]));
    let refuse = |why: &str| PaneEffect::Reply(why.to_owned());
    match (names.next(), names.next(), names.next(), &ui.session) {
        (Some(first), Some(second), None, _) => compare(first, second),
        (Some(other), None, _, Some(own)) => compare(own.clone(), other),
        (Some(_), None, _, None) => refuse("this session is not saved: name two others"),
        (None, ..) | (_, _, Some(_), _) => refuse("name one session or two; steersman sessions lists them"),
    }
}

/// Shows two sessions side by side; in lines, says them.
pub fn show(overlays: &mut Overlays, table: ComparedTable, ui: &UiContext) -> Vec<PaneEffect> {
    if ui.medium == Medium::Screen {
        overlays.open(ComparedPane::new(table));
        return Vec::new();
    }
    let line = |ComparedRow { name, sides: [left, right] }: ComparedRow| {
        format!("{name}: {}; {}", left.join(", "), right.join(", "))
    };
    let lines = std::iter::once(table.heading).chain(table.rows.into_iter().map(line));
    lines.map(|line| PaneEffect::Note(AgentId::main(), line)).collect()
}
