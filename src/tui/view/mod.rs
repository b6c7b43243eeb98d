//! How the state is drawn: pure functions from state, theme and area to a buffer.
//!
//! # Where things are
//!
//! - when a text enters, in words: `forecast.rs`; tests: `forecast.rs`
//! - where each pane stands, small sizes: `layout.rs`; tests: `tui_shell.rs`, `tests/pty/sizes.rs`
//! - speed: keys, streams, bursts, SSE, transcript: `src/tui/transcript/view/cache.rs`,
//!   `src/provider/sse.rs`; tests:
//!   `tests/bench/screen.rs`, `tests/bench/agents.rs`, `tests/bench/sse.rs`, `tests/bench/session.rs`,
//!   `tests/bench/transcript.rs`
//! - the arguments of a call as rows, in a transcript's open call and in the panel of a held agent: `arguments.rs`
//! - what stands in the terminal after the screen is gone: `farewell.rs`
//! - draws the row with the user's rules that hold, and above it why the session cannot be saved: `rules.rs`
//! - draws the step of the tour above what waits and the message: `tour.rs`

pub(crate) mod arguments;
pub mod composer;
mod farewell;
pub mod forecast;
pub mod layout;
pub(crate) mod receipt;
mod rules;
mod tabs;
pub(crate) mod tour;

pub use farewell::farewell;

use std::borrow::Cow;
use std::collections::HashMap;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::agents::AgentsDrawn;
use crate::agents::view::{self as agents, AgentsView};
use crate::alerts;
use crate::approval::view::{self as question, QuestionLayout, QuestionView};
use crate::approval::{ShownQuestion, message_use};
use crate::message::view as message;
use crate::msg::Drawn;
use crate::palette::view as palette;
use crate::pause::PauseDrawn;
use crate::pause::view::{self as pause, PausedAgent};
use crate::pending::view as pending;
use crate::pictures::PictureRoom;
use crate::state::{App, Divider, Grip, Pane, Region, Regions};
use crate::status::view::{self as status, StatusView};
use crate::status::{HostState, ModelSource};
use crate::timeline;
use crate::transcript::cell::{Body, Cell, CellId};
use crate::transcript::view::annotations::Annotations;
use crate::transcript::view::cache::TranscriptCache;
use crate::transcript::view::matches::MatchIndex;
use crate::transcript::view::{self as transcript, Badge, Metrics, View, search_line};
use crate::transcript::{Looked, Times, TranscriptDrawn};
use crate::widgets::fit::{fill, one_line, put, row};
use crate::widgets::wrap::{Break, Line, draw_text, wrapped};
use layout::{Demand, DetailsUse, PaneUse, Panes, SubAgents, TreeForm};
use steersman_base::id::AgentId;
use steersman_base::image::ImageDigest;
use steersman_base::limits;
use steersman_session::model::PendingText;
use tour::TourView;

const NAME: &str = concat!("Steersman ", env!("CARGO_PKG_VERSION"));
/// What an empty conversation says.
const WELCOME: &str = "Ask for work on the files of this directory. While it runs, go on typing: what you send enters the \
                       conversation as soon as the running tools have ended.";
/// What it says besides where the embedded model answers.
const CONNECT: &str = "The embedded model answers; F1 says how to connect a real one.";
/// Rows below which a screen is low.
const LOW: u16 = 16;
/// Columns that a picture leaves free.
const PICTURE_BESIDE: u16 = 4;
/// Rows that a list needs to be of use.
const LIST: u16 = 3;

/// Remembers laid-out lines between frames; loses nothing when it is thrown away.
#[derive(Debug, Default)]
pub struct ViewCache {
    transcripts: HashMap<AgentId, TranscriptCache>,
    question: question::Laid,
    matches: MatchIndex,
}

impl ViewCache {
    fn transcript(&mut self, agent: &AgentId) -> &mut TranscriptCache {
        self.transcripts.entry(agent.clone()).or_default()
    }
}

/// Answers what is asked about the layout before a frame; `None` when nothing is asked.
pub fn look(app: &App, cache: &mut ViewCache) -> Option<Looked> {
    let agent = app.tree.selected();
    let layouts = cache.transcripts.entry(agent.clone()).or_default();
    transcript::look(app.reader()?, agent, &app.ui.theme, layouts, &mut cache.matches)
}

/// Returns what the agents and their details are drawn from.
pub fn agents_view(app: &App) -> AgentsView<'_> {
    AgentsView {
        pane: &app.tree,
        ui: &app.ui,
        focus: &app.focus,
        transcript: app.reader().map(|reader| &reader.transcript),
    }
}

pub fn title(app: &App) -> String {
    alerts::title(&app.status.host, &app.ui.run, &app.questions, &app.ui.place)
}

/// Divides the screen for the present state; the question takes so many rows.
pub fn panes(app: &App, area: Rect, question: u16) -> Panes {
    let rows = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
    let is_in_tree = app.focus.is_on(Pane::Tree) || app.focus.is_on(Pane::Filter);
    // On a low screen the details of one agent and the rows of all have no room beside each other.
    let is_low = area.height < LOW && app.shows_details() && app.ui.size.width < layout::BROAD;
    let tree = if is_in_tree && !is_low { PaneUse::Focused } else { PaneUse::Watched };
    let demand = Demand {
        composer: app.message.rows(),
        question,
        rules: rules::rows(&app.ui),
        tour: tour::rows(tour_view(app)),
        pending: rows(app.ui.run.pending.entries().len())
            .max(u16::from(app.focus.is_on(Pane::Pending)))
            .saturating_add(rows(pending::plan_rows(&app.ui))),
        list: list_use(app),
        pause: pause::rows(&paused_agent(app), &app.ui, area.width),
        agents: rows(app.tree_rows() + usize::from(agents_view(app).has_filter())),
        sub_agents: sub_agents(app),
        tree,
        details: if app.shows_details() { DetailsUse::Open } else { DetailsUse::Collapsed },
        tab: tabs::shown(app),
        zoom: zoomed(app, area.width),
        sizes: app.tree.viewport.sizes,
    };
    let mut panes = Panes::divide(area, demand);
    agents::details::take_room(&agents_view(app), &mut panes);
    panes
}

fn tour_view(app: &App) -> TourView<'_> {
    let (shown, pane) = (app.tree.selected(), app.focus.pane);
    TourView { ui: &app.ui, shown, pane, questions: app.questions.len() }
}

fn sub_agents(app: &App) -> SubAgents {
    let mut working = app.ui.run.agents.running_nodes();
    if working.any(|node| !node.id.is_main()) { SubAgents::AtWork } else { SubAgents::Ended }
}

/// Returns the pane that is zoomed, unless there is nothing in it any more.
fn zoomed(app: &App, width: u16) -> Option<Pane> {
    app.focus.zoom.filter(|pane| match pane {
        Pane::Pause => pause::rows(&paused_agent(app), &app.ui, width) > 0,
        Pane::Pending => {
            app.focus.is_on(Pane::Pending) || !app.ui.run.pending.is_empty() || pending::plan_rows(&app.ui) > 0
        }
        Pane::Composer
        | Pane::History
        | Pane::Tree
        | Pane::Filter
        | Pane::Transcript
        | Pane::Search
        | Pane::Details => true,
    })
}

/// Draws one frame; returns what the state must remember of it.
pub fn draw(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>) -> Drawn {
    let area = frame.area();
    let asked = lay_out_question(app, cache, area);
    let panes = panes(app, area, asked.as_ref().map_or(0, QuestionLayout::rows));
    let mut regions = Regions::default();
    let buffer = frame.buffer_mut();
    tabs::draw(app, panes.tabs, &mut regions, buffer);
    let agents_view = agents_view(app);
    let (filter, list) = agents::draw(&agents_view, panes.tree, panes.form, &mut regions, buffer);
    draw_dividers(app, &panes, &mut regions, buffer);
    match panes.zoom {
        Some(pane) => tabs::draw_zoomed(app, pane, panes.title, &mut regions, buffer),
        None => draw_title(app, panes.title, buffer),
    }
    let details = agents::details::draw(&agents_view, &panes, &mut regions, buffer);
    let metrics = draw_transcript(app, cache, &panes, &mut regions, buffer);
    rules::draw(&app.ui, panes.rules, buffer);
    tour::draw(tour_view(app), panes.tour, buffer);
    let forecast = |entry: &PendingText| forecast::of_pending(app, entry);
    let plan_forecast = |agent: &AgentId| forecast::of_plan(app, agent);
    pending::draw(
        &app.pending,
        list_use(app),
        (&forecast, &plan_forecast),
        &app.ui,
        panes.pending,
        &mut regions,
        buffer,
    );
    regions.add(panes.pause, Region::Pane(Pane::Pause));
    let drawn_pause = pause::draw(&app.pause, &paused_agent(app), &app.ui, panes.pause, buffer);
    regions.add(panes.composer, Region::Text);
    let cursor = match &app.replay {
        Some(replay) => {
            timeline::draw(&replay.timeline, &app.ui, panes.composer, buffer);
            None
        }
        None => message::draw(&app.message, &app.message_context(), panes.composer, buffer),
    };
    let is_opening = app.transcripts.is_arriving();
    let line = StatusView {
        status: &app.status,
        ui: &app.ui,
        context: app.focus.context(),
        is_opening,
        is_prefixed: app.focus.is_prefixed,
    };
    status::draw(line, panes.status, buffer);
    let question = asked.map(|asked| asked.draw(panes.question, &mut regions, buffer));
    let (question, search) = draw_lists(app, question, panes.question, panes.above(area), &mut regions, buffer);
    if question.is_none() && !app.questions.is_empty() {
        status::draw_unasked(&app.ui, "a question waits", &way_to_question(app), panes.status, buffer);
    }
    if app.questions.is_empty() && app.questions.put_off_count() > 0 {
        let waits = match app.questions.put_off_count() {
            1 => "a question is put off".to_owned(),
            count => format!("{count} questions are put off"),
        };
        status::draw_unasked(&app.ui, &waits, "/questions", panes.status, buffer);
    }
    // What lies over the panel takes its keys away.
    let covered = !app.focus.overlays.is_empty();
    let drawn_pause = PauseDrawn { waiting: drawn_pause.waiting.filter(|_| !covered), ..drawn_pause };
    let searching = if app.focus.is_on(Pane::Search) {
        let area = if panes.rule.is_empty() {
            row(panes.transcript, panes.transcript.height.saturating_sub(1))
        } else {
            panes.rule
        };
        let search = app.reader().and_then(|reader| reader.search.as_ref());
        search.and_then(|search| search_line::draw(search, &app.ui.theme, area, buffer))
    } else {
        composer::draw_rule(app, &metrics, drawn_pause.waiting.as_ref(), panes.rule, buffer);
        None
    };
    let overlay = app.focus.overlays.top();
    let overlay = overlay.map(|top| top.draw(&app.ui, area, &mut regions, buffer)).unwrap_or_default();
    if let Some(cursor) = cursor.or(filter).or(searching).or(search).or(overlay.cursor) {
        frame.set_cursor_position(cursor);
    }
    Drawn {
        transcript: TranscriptDrawn {
            agent: app.tree.selected().clone(),
            position: metrics.position,
            top: metrics.top,
            cells: metrics.cells,
            wanted: cache.transcript(app.tree.selected()).take_wanted(),
            images: images_in_view(app, &metrics),
            room: picture_room(panes.transcript),
        },
        overlay: overlay.position,
        question,
        pause: drawn_pause,
        regions,
        agents: AgentsDrawn { list, details },
    }
}

/// Says what brings a question to the screen that waits.
fn way_to_question(app: &App) -> Cow<'_, str> {
    app.spell(match app.focus.overlays.top() {
        Some(overlay) => overlay.closing_hint(),
        None if app.palette.is_open() || app.message.search.is_some() => "Esc closes the list",
        None if covers_pane(app.focus.pane) => "Esc leads back",
        None => status::LARGER,
    })
}

/// Draws the lists of completions and of the history: above the question, or over it where that leaves too little room;
/// then the question is not on the screen.
fn draw_lists(
    app: &App,
    question: Option<ShownQuestion>,
    area: Rect,
    above: Rect,
    regions: &mut Regions,
    buffer: &mut Buffer,
) -> (Option<ShownQuestion>, Option<Position>) {
    let free = Rect { height: above.height.saturating_sub(area.height), ..above };
    let room = if free.height >= LIST { free } else { above };
    let (mut rest, search) = message::draw_search(&app.message, &app.message_context(), room, regions, buffer);
    if app.focus.overlays.is_empty() {
        rest = palette::draw(&app.palette, &app.ui, rest, regions, buffer);
    }
    (question.filter(|_| room == free || rest == room), search)
}

/// Returns where the transcript is to be drawn, which is what scrolls.
pub fn scrolling(app: &App, cache: &mut ViewCache, area: Rect) -> Rect {
    panes(app, area, lay_out_question(app, cache, area).as_ref().map_or(0, QuestionLayout::rows)).transcript
}

fn lay_out_question<'a>(app: &'a App, cache: &mut ViewCache, area: Rect) -> Option<QuestionLayout<'a>> {
    // An overlay covers it: then it is not on the screen.
    if !app.focus.overlays.is_empty() {
        return None;
    }
    let message = message_use(&app.questions, &app.message, &app.focus, &app.ui);
    let view = QuestionView { questions: &app.questions, message, context: app.focus.context(), ui: &app.ui };
    let body = Panes::body(area, app.message.rows());
    // That an agent is paused is said beside the question, where that leaves the question room enough.
    let is_paused = pause::rows(&paused_agent(app), &app.ui, area.width) > 0;
    let beside = Rect { height: body.height.saturating_sub(u16::from(is_paused)), ..body };
    let asked = question::lay_out(view, &mut cache.question, beside)
        .or_else(|| question::lay_out(view, &mut cache.question, body))?;
    // The pane that the user has gone to is not covered; the question waits until the keys are the message's again.
    let is_covered = body.height.saturating_sub(asked.rows()) < LIST && covers_pane(app.focus.pane);
    (!is_covered).then_some(asked)
}

/// Tells whether a question would stand in place of this pane where there is room for one of both.
fn covers_pane(pane: Pane) -> bool {
    match pane {
        Pane::Tree | Pane::Filter | Pane::Transcript | Pane::Search | Pane::Pending | Pane::Details => true,
        Pane::Composer | Pane::History | Pane::Pause => false,
    }
}

fn list_use(app: &App) -> PaneUse {
    if app.focus.is_on(Pane::Pending) { PaneUse::Focused } else { PaneUse::Watched }
}

fn paused_agent(app: &App) -> PausedAgent<'_> {
    PausedAgent {
        agent: app.tree.selected(),
        paused: app.ui.run.is_paused(app.tree.selected()),
        writing: app.message.about_call().map(|about| (&about.agent, &about.call, about.what)),
        context: app.focus.context(),
    }
}

fn draw_transcript(
    app: &App,
    cache: &mut ViewCache,
    panes: &Panes,
    regions: &mut Regions,
    buffer: &mut Buffer,
) -> Metrics {
    if panes.zoom.is_none() {
        regions.add(panes.title, Region::Pane(Pane::Transcript));
    }
    regions.add(panes.transcript, Region::Pane(Pane::Transcript));
    let Some(reader) = app.reader() else { return Metrics::default() };
    let view = View {
        transcript: &reader.transcript,
        scroll: &reader.scroll,
        selected: if app.focus.is_on(Pane::Transcript) { reader.selected } else { None },
        theme: &app.ui.theme,
        colours: &app.transcripts.colours,
        pictures: app.transcripts.pictures.placements(),
        badge: if panes.rule.is_empty() { Badge::Shown } else { Badge::Elsewhere },
        annotations: Annotations {
            search: reader.search.as_ref(),
            selection: reader.selection.as_ref(),
            times: (app.transcripts.times == Times::Shown).then_some((&app.ui.zone, app.ui.now)),
        },
    };
    let metrics = transcript::draw(&view, cache.transcript(app.tree.selected()), panes.transcript, buffer);
    for (y, line) in &metrics.shown {
        regions.add(Rect { y: *y, height: 1, ..panes.transcript }, Region::Line(*line));
    }
    // What the program says at the start, such as which instructions were found, is no conversation yet.
    if reader.transcript.cells().iter().all(|cell| matches!(cell.body(), Body::Notice { .. })) {
        let top = metrics.shown.last().map_or(panes.transcript.y, |(y, _)| y.saturating_add(2));
        let height = panes.transcript.bottom().saturating_sub(top);
        draw_welcome(app, Rect { y: top, height, ..panes.transcript }, buffer);
    }
    metrics
}

/// Returns the images of the cells in view, where the terminal shows pictures; none before the run can give any.
fn images_in_view(app: &App, metrics: &Metrics) -> Vec<ImageDigest> {
    let is_wanted = app.transcripts.pictures.is_supported() && app.status.host == HostState::Ready;
    let Some(reader) = app.reader().filter(|_| is_wanted) else { return Vec::new() };
    let mut cells: Vec<CellId> = metrics.shown.iter().map(|(_, line)| line.cell).collect();
    cells.dedup();
    cells.into_iter().filter_map(|cell| reader.transcript.get(cell)).flat_map(Cell::images).cloned().collect()
}

/// Returns the room for a picture in a transcript: beside the marks and the bar, and never most of the rows.
fn picture_room(transcript: Rect) -> PictureRoom {
    PictureRoom {
        columns: transcript.width.saturating_sub(PICTURE_BESIDE).min(limits::PICTURE_COLUMNS),
        rows: (transcript.height / 2).min(limits::PICTURE_ROWS),
    }
}

/// Says in an empty transcript what this is and what can be done here, as much as there is room for.
fn draw_welcome(app: &App, area: Rect, buffer: &mut Buffer) {
    let theme = &app.ui.theme;
    let room = Rect { x: area.x + area.width.min(2), width: area.width.saturating_sub(2), ..area };
    let width = usize::from(room.width.min(80));
    let lay_out = |(text, style): (&str, Style)| wrapped([Line::new(&app.spell(text), style)], width, Break::Words);
    let is_embedded = app.status.source == ModelSource::Embedded && app.status.offer.is_none();
    let parts: &[(&str, Style)] = match (app.tree.selected().is_main(), is_embedded) {
        (false, _) => &[("Nothing was said here yet.", theme.dim)],
        (true, true) => &[(NAME, theme.title), (WELCOME, theme.dim), (CONNECT, theme.dim)],
        (true, false) => &[(NAME, theme.title), (WELCOME, theme.dim)],
    };
    let mut rows: Vec<Line> = Vec::new();
    for part in parts.iter().copied().map(lay_out) {
        if rows.len() + part.len() <= usize::from(room.height) {
            rows.extend(part);
        }
    }
    draw_text(&rows, 0, room, buffer);
}

/// Draws the lines between panes; the one that the pointer holds is drawn heavy.
fn draw_dividers(app: &App, panes: &Panes, regions: &mut Regions, buffer: &mut Buffer) {
    let tree = if panes.form == TreeForm::Column { Divider::TreeColumn } else { Divider::TreeRow };
    for (divider, area) in [(tree, panes.divider), (Divider::DetailsColumn, panes.details_divider)] {
        let is_held = app.pointer.grip == Some(Grip::Divider(divider));
        let symbol = match (divider, is_held) {
            (Divider::TreeColumn | Divider::DetailsColumn, false) => "│",
            (Divider::TreeColumn | Divider::DetailsColumn, true) => "┃",
            (Divider::TreeRow | Divider::DetailsRow, false) => "─",
            (Divider::TreeRow | Divider::DetailsRow, true) => "━",
        };
        let style = if is_held { app.ui.theme.border_focus } else { app.ui.theme.border };
        regions.add(area, Region::Divider(divider));
        fill(buffer, area, symbol, style);
    }
}

/// Draws the title of the transcript: whose it is, and which model answers there.
fn draw_title(app: &App, area: Rect, buffer: &mut Buffer) {
    let node = app.selected_agent();
    let theme = &app.ui.theme;
    let (mark, style) = if app.focus.is_on(Pane::Transcript) || app.focus.is_on(Pane::Search) {
        ("▸ ", theme.border_focus)
    } else {
        ("  ", theme.title)
    };
    let mut rest = put(buffer, row(area, 0), &format!("{mark}{}", one_line(&agents::agent_name(&node.id))), style);
    if app.ui.run.is_paused(&node.id) {
        rest = put(buffer, rest, "  ‖ paused", theme.notice);
    }
    // That of the main agent stands in the status line.
    let model = node.model.as_ref().filter(|_| !node.id.is_main()).map(|model| format!("  {}", one_line(model)));
    rest = put(buffer, rest, &model.unwrap_or_default(), theme.dim);
    if !app.shows_details() && !node.task.is_empty() {
        put(buffer, rest, &format!("  {}", one_line(&node.task)), theme.dim);
    }
}
