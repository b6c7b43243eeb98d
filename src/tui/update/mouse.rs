//! What the mouse does: a click goes where it points, the wheel scrolls what lies under the pointer, a drag moves a line
//! between panes or runs over text.
//!
//! Always holds: no click answers a question, sends, runs or deletes anything; keys alone decide, and a letter typed after
//! a click goes into the message. The wheel leaves the focus where it is.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use jiff::Timestamp;
use ratatui::layout::Position;

use super::{carry_out, transcript, with_agents, with_message};
use crate::agents::{drag_divider, focus_details, press_past, press_row};
use crate::commands::{CommandEntry, Takes};
use crate::effect::PaneEffect;
use crate::keymap::ReadKey;
use crate::message::history_search;
use crate::msg::Effect;
use crate::state::{App, Grip, MouseMode, Pane, Part, Point, Presses, Region, ShownLine};
use crate::transcript::scroll::ScrollRequest;
use crate::transcript::selection::SelectionRequest;
use crate::{palette, pause, pending};
use steersman_base::id::AgentId;

pub const COMMAND: CommandEntry = CommandEntry::new(
    "/mouse [on|off]",
    Takes::Word,
    "Alt+P",
    "off: the terminal selects with it; on: it clicks and scrolls here",
    |_, word| vec![give(word)],
);

/// Lines for each step of the wheel.
const STEP: isize = 3;

/// Carries out one event of the mouse, read at this moment.
pub(super) fn event(app: &mut App, event: MouseEvent, at: Timestamp) {
    let place = Position { x: event.column, y: event.row };
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => {
            let presses = app.pointer.press(place, at);
            press(app, place, presses);
        }
        MouseEventKind::Drag(MouseButton::Left) => drag(app, place),
        MouseEventKind::Up(MouseButton::Left) => release(app),
        MouseEventKind::ScrollUp => wheel(app, place, -STEP),
        MouseEventKind::ScrollDown => wheel(app, place, STEP),
        MouseEventKind::Down(_)
        | MouseEventKind::Drag(_)
        | MouseEventKind::Up(_)
        | MouseEventKind::Moved
        | MouseEventKind::ScrollLeft
        | MouseEventKind::ScrollRight => {}
    }
}

fn press(app: &mut App, place: Position, presses: Presses) {
    let Some((_, region)) = app.regions.at(place) else { return };
    match region.clone() {
        Region::Pane(pane) | Region::Tab(pane) => go(app, pane),
        Region::Line(line) => press_line(app, line, place, presses),
        Region::Agent(agent) => {
            with_agents(app, |pane, ui| press_row(pane, &agent, presses, ui));
        }
        Region::Ended(agent) => {
            with_agents(app, |pane, ui| press_past(pane, &agent, ui));
        }
        Region::Entry(id) => {
            let index = app.ui.run.pending.entries().iter().position(|entry| entry.message.id == id);
            if let Some(index) = index {
                app.pending.select(index, &app.ui.run.pending);
                app.focus.go(Pane::Pending);
            }
        }
        Region::Text => {
            go(app, Pane::Composer);
            app.message.point(place);
        }
        Region::Divider(divider) => match presses {
            Presses::One | Presses::Three => app.pointer.grip = Some(Grip::Divider(divider)),
            Presses::Two => app.tree.viewport.sizes.set(divider, None),
        },
        Region::Offer(offer) => take_offer(app, offer),
        Region::Behind => app.focus.overlays.close(),
        Region::OverlayRow(row) => {
            if let Some(overlay) = app.focus.overlays.top_mut() {
                overlay.press(row, presses, &app.ui);
            }
        }
        Region::Question | Region::Overlay => return,
    }
    app.focus.by_click = app.focus.pane.whole() != Pane::Composer && app.focus.overlays.is_empty();
}

/// Takes what is offered at this place of the list that is open: the history's or that of the completion.
fn take_offer(app: &mut App, place: usize) {
    if app.message.search.is_some() {
        with_message(app, |message, _| history_search::take_at(message, place));
    } else {
        let outcome = palette::accept(&mut app.palette, place, &app.message.shown());
        carry_out(app, outcome);
    }
}

/// Gives a pane the focus; the list of pending texts and the panel of a paused agent only while there is something in them.
fn go(app: &mut App, pane: Pane) {
    match pane {
        Pane::Pending => {
            let outcome = pending::focus(&mut app.pending, &app.ui.run.pending);
            carry_out(app, outcome);
        }
        Pane::Pause => {
            let outcome = pause::focus(app.tree.selected(), &app.ui);
            carry_out(app, outcome);
        }
        Pane::Transcript | Pane::Search => {
            // It asks for nothing outside the screen.
            transcript::key(app, ReadKey::Focus);
        }
        Pane::Details => {
            with_agents(app, focus_details);
        }
        Pane::Composer | Pane::History | Pane::Tree | Pane::Filter => app.focus.go(pane),
    }
}

/// Selects a block, and begins a selection of text; a double click takes a word, one after it the whole line.
fn press_line(app: &mut App, line: ShownLine, place: Position, presses: Presses) {
    app.focus.go(Pane::Transcript);
    let agent = app.tree.selected().clone();
    app.reader_mut(&agent).selected = Some(line.cell);
    let Some(from) = app.regions.nearest_point(place) else { return };
    match presses {
        Presses::Two => app.reader_mut(&agent).drag(SelectionRequest::Word(from)),
        Presses::Three => app.reader_mut(&agent).drag(SelectionRequest::Line(from)),
        Presses::One => {
            app.reader_mut(&agent).end_selection();
            app.pointer.grip = Some(Grip::Text { agent, from, to: from });
        }
    }
}

fn drag(app: &mut App, place: Position) {
    match &mut app.pointer.grip {
        Some(Grip::Text { agent, from, to }) => {
            if let Some(point) = app.regions.nearest_point(place) {
                *to = point;
            }
            let (agent, ask) = (agent.clone(), SelectionRequest::Drag(*from, *to));
            if *from != *to {
                app.reader_mut(&agent).drag(ask);
            }
            scroll_at_edge(app, place);
        }
        Some(Grip::Divider(divider)) => {
            let divider = *divider;
            with_agents(app, |pane, ui| drag_divider(pane, divider, place, ui));
        }
        None => {}
    }
}

/// Scrolls a line further while text is dragged over beyond the first or the last row.
fn scroll_at_edge(app: &mut App, place: Position) {
    let Some(area) = app.regions.area_of(&Region::Pane(Pane::Transcript)) else { return };
    let agent = app.tree.selected().clone();
    if place.y < area.top() || place.y == 0 {
        app.reader_mut(&agent).scroll.ask(ScrollRequest::Up(1));
    } else if place.y >= area.bottom() {
        app.reader_mut(&agent).scroll.ask(ScrollRequest::Down(1));
    }
}

/// Ends what was held. A click that did not move collapses or expands the cell whose head it was on.
fn release(app: &mut App) {
    let Some(Grip::Text { agent, from, to }) = app.pointer.grip.take() else { return };
    if from == to {
        toggle(app, &agent, from);
    }
}

fn toggle(app: &mut App, agent: &AgentId, point: Point) {
    let is_head = |region: &Region| {
        matches!(region, Region::Line(line)
            if line.cell == point.cell && line.line == point.line && line.part == Part::Head)
    };
    if app.regions.any(is_head) {
        let reader = app.reader_mut(agent);
        if reader.transcript.get(point.cell).is_some_and(crate::transcript::cell::Cell::can_collapse) {
            reader.transcript.toggle(point.cell);
        }
    }
}

fn wheel(app: &mut App, place: Position, lines: isize) {
    let is_up = lines < 0;
    let Some((area, region)) = app.regions.at(place) else { return };
    match region.clone() {
        Region::Line(_) | Region::Pane(Pane::Transcript | Pane::Search) | Region::Divider(_) | Region::Tab(_) => {
            let agent = app.tree.selected().clone();
            let by = lines.unsigned_abs();
            let request = if is_up { ScrollRequest::Up(by) } else { ScrollRequest::Down(by) };
            app.reader_mut(&agent).scroll.ask(request);
        }
        // All of it is in view.
        Region::Text if app.message.rows() <= area.height => {}
        Region::Agent(_) | Region::Ended(_) | Region::Pane(Pane::Tree | Pane::Filter) => {
            app.tree.scroll_list(lines);
        }
        Region::Pane(Pane::Details) => app.tree.scroll_details(lines),
        Region::Entry(_) | Region::Pane(Pane::Pending) => {
            let here = app.pending.place().unwrap_or(usize::MAX);
            app.pending.select(here.saturating_add_signed(lines.signum()), &app.ui.run.pending);
        }
        Region::Pane(Pane::Pause) => app.pause.top = app.pause.top.saturating_add_signed(lines),
        Region::Question => app.questions.top = app.questions.top.saturating_add_signed(lines),
        Region::Offer(_) if is_up => app.palette.previous(),
        Region::Offer(_) => app.palette.next(),
        Region::Overlay | Region::Behind | Region::OverlayRow(_) => {
            if let Some(overlay) = app.focus.overlays.top_mut() {
                overlay.wheel(lines, &app.ui);
            }
        }
        Region::Text | Region::Pane(Pane::Composer | Pane::History) => app.message.scroll(if is_up { -1 } else { 1 }),
    }
}

/// Gives the mouse to the terminal, or takes it; without a word whichever it is not.
fn give(word: &str) -> PaneEffect {
    let word = word.to_owned();
    PaneEffect::call(move |app| {
        let mode = match (word.as_str(), app.pointer.mode) {
            ("on", _) | ("", MouseMode::Off) => MouseMode::On,
            ("off", _) | ("", MouseMode::On) => MouseMode::Off,
            (other, _) => {
                return vec![PaneEffect::Reply(format!("/mouse takes on or off, not {other}"))];
            }
        };
        app.pointer.mode = mode;
        let sentence = match mode {
            MouseMode::On => "mouse on: it clicks, scrolls and drags here; Shift+drag selects with the terminal itself",
            MouseMode::Off => "mouse off: the terminal selects with it",
        };
        vec![PaneEffect::Reply(sentence.to_owned()), PaneEffect::Outside(Effect::Mouse(mode))]
    })
}
