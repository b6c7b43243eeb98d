//! What the keys of somebody who reads a transcript do: jump, select, copy, open, write, show times.
//!
//! What only the layout knows is asked for here and comes back with `Msg::Looked` before the next frame.

use super::search_keys as search;
use crate::id::AgentId;
use crate::tui::keymap::{Action, ReadKey};
use crate::tui::msg::{EditorSubject, Effect, Looked};
use crate::tui::state::focus::Pane;
use crate::tui::state::regions::{Part, Region};
use crate::tui::state::{App, Copying, Reader};
use crate::tui::transcript::cell::{Body, CallStatus, Cell, CellId, Level};
use crate::tui::transcript::scroll::{Point, Position, ScrollRequest};
use crate::tui::transcript::selection::{Ask, Selection, Shape};
use crate::tui::update::export;

/// Carries out one key.
pub fn act(app: &mut App, key: ReadKey) -> Vec<Effect> {
    match key {
        ReadKey::Search => search::begin(app),
        ReadKey::NextFound => search::step(app, 1),
        ReadKey::PreviousFound => search::step(app, -1),
        ReadKey::KeepSearch => search::keep(app),
        ReadKey::RubOut
        | ReadKey::RubOutWord
        | ReadKey::RubOutAll
        | ReadKey::Left
        | ReadKey::Right
        | ReadKey::Start
        | ReadKey::End
        | ReadKey::EarlierSearch
        | ReadKey::LaterSearch => search::edit(app, key),
        ReadKey::PreviousMessage => jump(app, Way::Back, is_message, "message of yours"),
        ReadKey::NextMessage => jump(app, Way::On, is_message, "message of yours"),
        ReadKey::PreviousFailure => jump(app, Way::Back, is_failure, "failure"),
        ReadKey::NextFailure => jump(app, Way::On, is_failure, "failure"),
        ReadKey::Select => select(app),
        ReadKey::Copy => return copy(app),
        ReadKey::Open => return open(app),
        ReadKey::Write => return export::export(app, "transcript"),
        ReadKey::Times => times(app),
        // It leaves the session, which the root decides about.
        ReadKey::Branch => {}
    }
    Vec::new()
}

/// Selects a block or scrolls; while lines are selected it moves their end.
pub fn travel(app: &mut App, action: Action) {
    let reader = shown(app);
    if reader.selection.is_some() {
        reader.asks.extend(match action {
            Action::Previous => Some(Ask::Lines(-1)),
            Action::Next => Some(Ask::Lines(1)),
            Action::PageUp => Some(Ask::Pages(-1)),
            Action::PageDown => Some(Ask::Pages(1)),
            Action::First => Some(Ask::First),
            Action::Last => Some(Ask::Last),
            _ => None,
        });
        return;
    }
    match action {
        Action::Previous | Action::Next => {
            reader.selected = match action {
                Action::Previous => reader.transcript.previous(reader.selected),
                _ => reader.transcript.next(reader.selected),
            };
            if let Some(cell) = reader.selected {
                reader.scroll.ask(ScrollRequest::Reveal(cell));
            }
        }
        Action::PageUp => reader.scroll.ask(ScrollRequest::PageUp),
        Action::PageDown => reader.scroll.ask(ScrollRequest::PageDown),
        Action::First => reader.scroll.ask(ScrollRequest::Top),
        Action::Last => reader.scroll.ask(ScrollRequest::Bottom),
        _ => {}
    }
}

/// Gives the transcript the focus with a block selected that is in view: nothing jumps.
pub fn focus(app: &mut App) {
    app.focus.go(Pane::Transcript);
    let in_view = |wanted: CellId| {
        app.regions.any(|region| matches!(region, Region::Line(line) if line.cell == wanted && line.part != Part::Gap))
    };
    let selected = app.reader().and_then(|reader| reader.selected).filter(|cell| in_view(*cell));
    let reader = shown(app);
    let top = reader.scroll.top().map(|top| top.cell);
    reader.selected = selected.or(match reader.scroll.position() {
        Position::Bottom => reader.transcript.previous(None),
        Position::Anchor(_) => top.or(reader.transcript.previous(None)),
    });
}

/// Takes what the layout answered; returns what is to be done with it outside.
pub fn looked(app: &mut App, looked: Looked) -> Vec<Effect> {
    if let Some(found) = looked.found {
        search::found(app, &looked.agent, found);
    }
    let reader = app.reader_mut(&looked.agent);
    reader.asks.clear();
    if looked.selection.is_some() {
        reader.selection = looked.selection;
    }
    if let Some(point) = looked.reach {
        reader.scroll.ask(ScrollRequest::Reach(point));
    }
    match looked.copy {
        None => Vec::new(),
        Some(Ok(text)) => {
            reader.copying = Copying::Nothing;
            reader.selection = None;
            copied(app, text, None)
        }
        Some(Err(why)) => {
            reader.copying = Copying::Nothing;
            app.status.say(why, app.now);
            Vec::new()
        }
    }
}

/// Begins a selection with the pointer, or moves its end there.
pub fn drag(app: &mut App, agent: &AgentId, ask: Ask) {
    let reader = app.reader_mut(agent);
    reader.asks.retain(|asked| !matches!(asked, Ask::Drag(..)));
    reader.asks.push(ask);
}

/// Ends the selection; what was selected stays where it is.
pub fn end_selection(app: &mut App) {
    let reader = shown(app);
    reader.selection = None;
    reader.asks.clear();
}

/// Returns the transcript that is shown.
pub fn shown(app: &mut App) -> &mut Reader {
    let agent: AgentId = app.tree.selected().clone();
    app.reader_mut(&agent)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Back,
    On,
}

fn is_message(cell: &Cell) -> bool {
    matches!(cell.body(), Body::User { .. })
}

fn is_failure(cell: &Cell) -> bool {
    match cell.body() {
        Body::Call(call) => call.status() == CallStatus::Failed,
        Body::Notice { level, .. } => *level == Level::Error,
        Body::User { .. }
        | Body::Thinking { .. }
        | Body::Assistant { .. }
        | Body::Child(_)
        | Body::Compaction { .. } => false,
    }
}

/// Selects the next cell of a kind, and brings it to the top of the view.
fn jump(app: &mut App, way: Way, is_it: fn(&Cell) -> bool, what: &str) {
    let reader = shown(app);
    let cells = reader.transcript.cells();
    let head = reader.selection.map(|selection| selection.head.cell);
    let top = reader.scroll.top().map(|top| top.cell);
    let here = head.or(reader.selected).or(top).map_or(cells.len(), CellId::index);
    let found = match way {
        Way::Back => cells.get(..here.min(cells.len())).unwrap_or_default().iter().rev().find(|cell| is_it(cell)),
        Way::On => cells.get(here + 1..).unwrap_or_default().iter().find(|cell| is_it(cell)),
    };
    let Some(cell) = found.map(Cell::id) else {
        let order = if way == Way::Back { "earlier" } else { "later" };
        app.status.say(format!("no {order} {what}"), app.now);
        return;
    };
    reader.selected = Some(cell);
    if reader.selection.is_some() {
        reader.asks.push(Ask::Cell(cell));
        return;
    }
    // Below the blank row that stands above all but the first.
    let line = usize::from(cell.index() > 0);
    reader.scroll.ask(ScrollRequest::Return(Position::Anchor(Point { cell, line, byte: 0 })));
}

fn select(app: &mut App) {
    let reader = shown(app);
    if reader.selection.is_some() {
        return end_selection(app);
    }
    if let Some(cell) = reader.selected.or(reader.transcript.previous(None)) {
        let point = Point { cell, line: 0, byte: 0 };
        reader.selection = Some(Selection { anchor: point, head: point, shape: Shape::Lines });
        reader.asks.push(Ask::Begin(cell));
    }
}

fn copy(app: &mut App) -> Vec<Effect> {
    let reader = shown(app);
    if reader.selection.is_some() {
        reader.copying = Copying::Selection;
        return Vec::new();
    }
    let cell = reader.selected.and_then(|cell| reader.transcript.get(cell));
    match cell.map(|cell| (cell.source().to_owned(), cell.noun())) {
        Some((text, noun)) if !text.is_empty() => copied(app, text, Some(noun)),
        Some(_) => {
            app.status.say("nothing to copy: the block has no text", app.now);
            Vec::new()
        }
        None => Vec::new(),
    }
}

/// Copies a text, and remembers what to say once that is done.
fn copied(app: &mut App, text: String, noun: Option<&str>) -> Vec<Effect> {
    let lines = match text.lines().count() {
        1 => format!("{} characters", text.chars().count()),
        lines => format!("{lines} lines"),
    };
    app.copied = Some(noun.map_or(lines.clone(), |noun| format!("{noun}, {lines}")));
    vec![Effect::Copy(text)]
}

fn open(app: &mut App) -> Vec<Effect> {
    let reader = shown(app);
    let cell = reader.selected.and_then(|cell| reader.transcript.get(cell));
    cell.map(|cell| Effect::Edit { subject: EditorSubject::Entry, text: cell.whole() }).into_iter().collect()
}

/// Shows when each block came, or hides it.
pub fn times(app: &mut App) {
    app.times = app.times.other();
}
