//! What the keys of somebody who reads a transcript do: travel, jump, collapse, select, copy, open, write, show times.
//!
//! What only the layout knows is asked for here and comes back with [`looked`] before the next frame.

use super::cell::{Body, CallStatus, Cell, CellId, Level};
use super::export::transcript_markdown;
use super::pane::{Copying, Looked, Reader, TranscriptPane};
use super::scroll::{Point, Position, ScrollRequest};
use super::search_keys as search;
use super::selection::{Selection, SelectionRequest, Shape};
use crate::commands::{CommandEntry, Takes};
use crate::effect::{EditorSubject, Effect, Outcome, PaneEffect};
use crate::export::{ExportFormat, ExportRequest, ExportSubject};
use crate::keymap::{ReadKey, Travel};
use crate::state::{Pane, Part, Region, Regions};
use crate::ui_context::UiContext;
use steersman_base::id::AgentId;

pub const FOLD: CommandEntry = CommandEntry::new(
    "/fold",
    Takes::Nothing,
    "Alt+O",
    "fold or open all blocks of the transcript that is shown",
    |context, _| vec![toggle_all(context.agent.clone())],
)
.only_drawing();

pub const TIMES: CommandEntry = CommandEntry::new(
    "/times",
    Takes::Nothing,
    "t",
    "show when each block of a transcript came, or hide it",
    |_, _| vec![PaneEffect::change(|app| app.transcripts.toggle_times())],
)
.only_drawing();

fn toggle_all(agent: AgentId) -> PaneEffect {
    PaneEffect::change(move |app| app.transcripts.reader_mut(&agent).transcript.toggle_all())
}

/// What the keys of a transcript go by besides what it keeps.
#[derive(Debug, Clone, Copy)]
pub struct TranscriptContext<'a> {
    pub ui: &'a UiContext,
    pub agent: &'a AgentId,
    pub focus: Pane,
    pub regions: &'a Regions,
}

pub fn key(pane: &mut TranscriptPane, key: ReadKey, ui: &TranscriptContext<'_>) -> Outcome {
    let reader = pane.reader_mut(ui.agent);
    match key {
        ReadKey::Focus => return focus(reader, ui.regions),
        ReadKey::Fold => {
            if let Some(cell) = reader.selected {
                reader.transcript.toggle(cell);
                reader.scroll.ask(ScrollRequest::Reveal(cell));
            }
        }
        ReadKey::FoldAll => reader.transcript.toggle_all(),
        ReadKey::Search => return search::begin(pane, ui.agent, ui.focus),
        ReadKey::NextFound => return search::step(pane, ui, 1),
        ReadKey::PreviousFound => return search::step(pane, ui, -1),
        ReadKey::KeepSearch => return search::keep(pane, ui.agent),
        ReadKey::Type(key) => return search::edit(pane, ui.agent, key),
        ReadKey::PreviousMessage => return jump(reader, Direction::Back, is_message, "message of yours"),
        ReadKey::NextMessage => return jump(reader, Direction::Forward, is_message, "message of yours"),
        ReadKey::PreviousFailure => return jump(reader, Direction::Back, is_failure, "failure"),
        ReadKey::NextFailure => return jump(reader, Direction::Forward, is_failure, "failure"),
        ReadKey::Select => select(reader),
        ReadKey::Copy => return copy(pane, ui.agent),
        ReadKey::Open => return open(reader),
        ReadKey::Write => {
            let request =
                ExportRequest { subject: ExportSubject::Transcript, form: ExportFormat::Markdown, path: None };
            let text = transcript_markdown(&reader.transcript, &ui.ui.zone);
            return Outcome::one(PaneEffect::Outside(Effect::Write { request, text }));
        }
        ReadKey::Times => pane.toggle_times(),
        // It leaves the session, which the root decides about.
        ReadKey::Branch => return Outcome::Ignored,
    }
    Outcome::DONE
}

/// Selects a block or scrolls; while lines are selected it moves their end.
pub fn travel(reader: &mut Reader, to: Travel) {
    if reader.selection.is_some() {
        return reader.requests.push(match to {
            Travel::Previous => SelectionRequest::Lines(-1),
            Travel::Next => SelectionRequest::Lines(1),
            Travel::PageUp => SelectionRequest::Pages(-1),
            Travel::PageDown => SelectionRequest::Pages(1),
            Travel::First => SelectionRequest::First,
            Travel::Last => SelectionRequest::Last,
        });
    }
    reader.selected = match to {
        Travel::Previous => reader.transcript.previous(reader.selected),
        Travel::Next => reader.transcript.next(reader.selected),
        Travel::PageUp | Travel::PageDown | Travel::First | Travel::Last => return scroll(reader, to),
    };
    if let Some(cell) = reader.selected {
        reader.scroll.ask(ScrollRequest::Reveal(cell));
    }
}

/// Scrolls by a page or to an end.
pub fn scroll(reader: &mut Reader, to: Travel) {
    reader.scroll.ask(match to {
        Travel::PageUp => ScrollRequest::PageUp,
        Travel::PageDown => ScrollRequest::PageDown,
        Travel::First => ScrollRequest::Top,
        Travel::Last => ScrollRequest::Bottom,
        Travel::Previous | Travel::Next => return,
    });
}

/// Gives the transcript the focus with a block selected that is in view: nothing jumps.
fn focus(reader: &mut Reader, regions: &Regions) -> Outcome {
    let in_view = |wanted: &CellId| {
        regions.any(|region| matches!(region, Region::Line(line) if line.cell == *wanted && line.part != Part::Gap))
    };
    let top = reader.scroll.top().map(|top| top.cell);
    reader.selected = reader.selected.filter(in_view).or(match reader.scroll.position() {
        Position::Bottom => reader.transcript.previous(None),
        Position::Anchor(_) => top.or(reader.transcript.previous(None)),
    });
    Outcome::one(PaneEffect::Focus(Pane::Transcript))
}

/// Takes what the layout answered.
pub fn looked(pane: &mut TranscriptPane, looked: Looked) -> Outcome {
    let reader = pane.reader_mut(&looked.agent);
    if let Some(found) = looked.found {
        search::found(reader, found);
    }
    reader.requests.clear();
    if looked.selection.is_some() {
        reader.selection = looked.selection;
    }
    if let Some(point) = looked.reach {
        reader.scroll.ask(ScrollRequest::Reach(point));
    }
    let Some(copy) = looked.copy else { return Outcome::DONE };
    reader.copying = Copying::Nothing;
    match copy {
        Ok(text) => {
            reader.selection = None;
            copied(pane, text, None)
        }
        Err(why) => Outcome::say(why),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Back,
    Forward,
}

fn is_message(cell: &Cell) -> bool {
    matches!(cell.body(), Body::User { .. })
}

fn is_failure(cell: &Cell) -> bool {
    let is_error = matches!(cell.body(), Body::Notice { level: Level::Error, .. });
    is_error || cell.body().call().is_some_and(|call| call.status() == CallStatus::Failed)
}

/// Selects the next cell of a kind, and brings it to the top of the view.
fn jump(reader: &mut Reader, direction: Direction, is_it: fn(&Cell) -> bool, what: &str) -> Outcome {
    let cells = reader.transcript.cells();
    let head = reader.selection.map(|selection| selection.head.cell);
    let top = reader.scroll.top().map(|top| top.cell);
    let here = head.or(reader.selected).or(top).map_or(cells.len(), CellId::index);
    let found = match direction {
        Direction::Back => cells.range(0..here).rev().find(|cell| is_it(cell)),
        Direction::Forward => cells.range(here.saturating_add(1)..cells.len()).find(|cell| is_it(cell)),
    };
    let Some(cell) = found.map(Cell::id) else {
        let order = if direction == Direction::Back { "earlier" } else { "later" };
        return Outcome::say(format!("no {order} {what}"));
    };
    reader.selected = Some(cell);
    if reader.selection.is_some() {
        reader.requests.push(SelectionRequest::Cell(cell));
    } else {
        // Below the blank row that stands above all but the first.
        let line = usize::from(cell.index() > 0);
        reader.scroll.ask(ScrollRequest::Return(Position::Anchor(Point { cell, line, byte: 0 })));
    }
    Outcome::DONE
}

fn select(reader: &mut Reader) {
    if reader.selection.is_some() {
        return reader.end_selection();
    }
    if let Some(cell) = reader.selected.or(reader.transcript.previous(None)) {
        let point = Point { cell, line: 0, byte: 0 };
        reader.selection = Some(Selection { anchor: point, head: point, shape: Shape::Lines });
        reader.requests.push(SelectionRequest::Begin(cell));
    }
}

fn copy(pane: &mut TranscriptPane, agent: &AgentId) -> Outcome {
    let reader = pane.reader_mut(agent);
    if reader.selection.is_some() {
        reader.copying = Copying::Selection;
        return Outcome::DONE;
    }
    let cell = reader.selected.and_then(|cell| reader.transcript.get(cell));
    match cell.map(|cell| (cell.source().to_owned(), cell.noun())) {
        Some((text, noun)) if !text.is_empty() => copied(pane, text, Some(noun)),
        Some(_) => Outcome::say("nothing to copy: the block has no text"),
        None => Outcome::DONE,
    }
}

/// Copies a text, and remembers what to say once that is done.
fn copied(pane: &mut TranscriptPane, text: String, noun: Option<&str>) -> Outcome {
    let lines = match text.lines().count() {
        1 => format!("{} characters", text.chars().count()),
        lines => format!("{lines} lines"),
    };
    pane.copied = Some(noun.map_or(lines.clone(), |noun| format!("{noun}, {lines}")));
    Outcome::one(PaneEffect::Outside(Effect::Copy(text)))
}

fn open(reader: &Reader) -> Outcome {
    let cell = reader.selected.and_then(|cell| reader.transcript.get(cell));
    let edit = |cell: &Cell| Effect::Edit { subject: EditorSubject::Entry, text: cell.whole() };
    cell.map_or(Outcome::DONE, |cell| Outcome::one(PaneEffect::Outside(edit(cell))))
}
