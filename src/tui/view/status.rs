//! Draws the status line: turn state, context share, tokens, model, and short messages.
//!
//! Two rows where there is room, one otherwise. Every state has a word; colour only repeats it. The approval mode stands
//! at the right end of the lowest row, whatever else there is to say.

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::fit::{clock, columns, one_line, put, put_right, row};
use super::guards::badge;
use super::tree::{self, longest, money, tools};
use crate::event::Outcome;
use crate::summary::tokens as count;
use crate::tui::state::App;
use crate::tui::state::clock::seconds_between;
use crate::tui::state::status::{HostState, ModelSource};
use crate::tui::state::tree::Activity;

/// Draws the status line into one or two rows.
pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let theme = &app.theme;
    let first = row(area, 0);
    let (state, style) = turn_state(app);
    let second = row(area, 1);
    if !second.is_empty() {
        let state = format!(" {state}");
        // A sentence that is cut says less than a figure that is left out.
        let room = first.width.saturating_sub(columns(&state));
        let fitting = figures(app).into_iter().map(|figures| format!(" {figures} ")).find(|f| columns(f) <= room);
        let right = put_right(buffer, first, &fitting.unwrap_or_default(), theme.dim);
        put(buffer, right, &state, style);
        draw_note(app, second, buffer);
        return;
    }
    // One row: a message replaces everything but the mode, then the state goes before the figures and the model.
    let first = draw_mode(app, first, buffer);
    if let Some(message) = app.status.message(app.now) {
        put(buffer, first, &one_line(message), theme.notice);
        return;
    }
    let rest = put(buffer, first, &state, style);
    let mut rest = Rect { width: rest.width.saturating_sub(2), x: rest.x + rest.width.min(2), ..rest };
    let short = match app.status.source {
        ModelSource::Embedded => {
            ["embedded model (F1: connect a real one)", "embedded model, F1 to connect", "embedded model"]
                .map(str::to_owned)
                .to_vec()
        }
        ModelSource::Configured => vec![model(app)],
    };
    if let Some(note) = short.iter().find(|note| columns(note) <= rest.width) {
        rest = put_right(buffer, rest, note, theme.dim);
    }
    if let Some(share) = share(app) {
        put_right(buffer, rest, &format!("{share}  "), theme.dim);
    }
}

/// Draws the approval mode and the sandbox at the right end; returns what is left.
fn draw_mode(app: &App, line: Rect, buffer: &mut Buffer) -> Rect {
    let (words, style) = badge(app, line.width / 2);
    // Below that width there is room for hardly a word of anything.
    if line.width < 16 {
        return line;
    }
    let width = columns(&words) + 1;
    let place = Rect { x: line.right().saturating_sub(width), width: width.min(line.width), ..line };
    put(buffer, place, &words, style);
    Rect { width: line.width.saturating_sub(width + 1), ..line }
}

/// Says that a question waits for which there is no room.
pub fn draw_unasked(app: &App, area: Rect, buffer: &mut Buffer) {
    let line = row(area, 0);
    let words = ["? a question waits: make the terminal larger", "? a question waits", "? asks"];
    let Some(words) = words.into_iter().find(|words| columns(words) + 2 <= line.width) else { return };
    put_right(buffer, line, &format!("  {words}"), app.theme.notice);
}

fn draw_note(app: &App, line: Rect, buffer: &mut Buffer) {
    let theme = &app.theme;
    let line = draw_mode(app, line, buffer);
    if let Some(message) = app.status.message(app.now) {
        put(buffer, line, &format!(" {}", app.spell(&one_line(message))), theme.notice);
        return;
    }
    let note = match app.status.source {
        ModelSource::Configured => model(app),
        ModelSource::Embedded if app.status.offer.is_some() => {
            let (what, model) = app.status.offer.as_ref().map_or(("", ""), |offer| (&offer.what, &offer.model));
            let long = one_line(&format!("embedded model · F6 uses {model} of {what}"));
            if columns(&long) + 2 <= line.width { long } else { "embedded model · F6: a local one".to_owned() }
        }
        ModelSource::Embedded => {
            let long = "embedded model · connect a real one: --base-url URL --model NAME (F1)";
            let short = "embedded model · --base-url connects a real one";
            let fitting = [long, short].into_iter().find(|note| columns(note) + 2 <= line.width);
            fitting.unwrap_or("embedded model · F1: connect").to_owned()
        }
    };
    let keys = app.spell("F1 keys ·");
    let is_room = columns(&note) + columns(&keys) + 3 <= line.width;
    let line = if is_room { put_right(buffer, line, &keys, theme.dim) } else { line };
    put(buffer, line, &format!(" {}", app.spell(&note)), theme.dim);
}

fn model(app: &App) -> String {
    one_line(app.status.model(app.tree.main().model.as_deref()))
}

/// Says what the turn is at, in words, with its style.
fn turn_state(app: &App) -> (String, Style) {
    let theme = &app.theme;
    let main = app.tree.main();
    let since = |text: &str| {
        let seconds = main.since.map_or(0, |since| seconds_between(since, app.now));
        if seconds == 0 { text.to_owned() } else { format!("{text} {}", clock(seconds)) }
    };
    match &app.status.host {
        HostState::Failed(reason) => return (format!("✗ cannot run: {}", one_line(reason)), theme.error),
        HostState::Starting if !main.running() => return ("○ starting".to_owned(), theme.dim),
        HostState::Starting | HostState::Ready => {}
    }
    match &main.activity {
        Activity::Idle | Activity::Ended(Outcome::Completed | Outcome::Synthesized, _) => {
            ("· idle".to_owned(), theme.dim)
        }
        Activity::Waiting => (since("○ waiting for the model"), theme.accent),
        Activity::Retrying { attempt, reason, until } => {
            let reason = one_line(reason);
            (format!("↻ attempt {attempt} {}, Esc stops: {reason}", countdown(*until, app.now)), theme.notice)
        }
        Activity::Compacting(messages) => {
            (since(&format!("≡ summarising {messages} older messages, Esc stops")), theme.accent)
        }
        Activity::Thinking => (since("◌ thinking"), theme.accent),
        Activity::Writing => (since("✎ writing"), theme.accent),
        Activity::Tools if !main.questions().is_empty() => {
            (format!("? {} waits for your answer", one_line(&tools(&main.open))), theme.notice)
        }
        Activity::Tools => {
            let names = one_line(&tools(&main.open));
            (format!("● running {names} {}", clock(longest(&main.open, app.now))), theme.tool)
        }
        Activity::Parked(Some(tool)) => (since(&format!("‖ held before {}", one_line(tool))), theme.notice),
        Activity::Parked(None) => (since("‖ held before the next request"), theme.notice),
        Activity::Rescue => (since("! out of steps, writing the answer"), theme.notice),
        Activity::Cancelling => (since("■ stopping"), theme.notice),
        Activity::Ended(Outcome::Cancelled, _) => ("■ cancelled".to_owned(), theme.dim),
        Activity::Ended(Outcome::Failed, reason) => {
            let reason = reason.as_deref().unwrap_or("no reason was given");
            (format!("✗ failed: {}", one_line(reason)), theme.error)
        }
    }
}

/// Says when the next attempt comes; the second that has begun counts whole.
fn countdown(until: Timestamp, now: Timestamp) -> String {
    match u64::try_from(until.duration_since(now).as_millis()) {
        Ok(millis @ 1..) => format!("in {}", clock(millis.div_ceil(1_000))),
        Ok(0) | Err(_) => "now".to_owned(),
    }
}

/// Returns context share, tokens and money; in fewer and fewer words.
fn figures(app: &App) -> Vec<String> {
    let totals = app.tree.main().totals();
    // A limit is one of the session; without one the conversation counts.
    let (spent, most) = match app.budget.max_tokens {
        Some(max) => (app.spent.tokens, format!(" of {}", count(max))),
        None => (app.tree.spent(), String::new()),
    };
    let tokens = (spent > 0 || !most.is_empty()).then(|| format!("{}{most} tokens used", count(spent)));
    let money = app.budget.money_left(app.spent).or_else(|| money(totals));
    let join = |parts: [Option<String>; 3]| parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let share = share(app);
    let mut all = vec![join([share.clone(), tokens, money.clone()])];
    all.extend(money.is_some().then(|| join([share.clone(), None, money.clone()])));
    all.extend(share.into_iter().chain(money));
    all
}

fn share(app: &App) -> Option<String> {
    let main = app.tree.main();
    let cap = main.cap.filter(|cap| *cap > 0).map(count);
    match (tree::tokens(main), cap) {
        (Some(tokens), Some(cap)) => {
            let share = tree::share(main).map(|share| format!(", {share}")).unwrap_or_default();
            Some(format!("context {tokens} of {cap}{share}"))
        }
        (Some(tokens), None) => Some(format!("context {tokens} of ?")),
        (None, Some(cap)) => Some(format!("context window {cap}")),
        (None, None) => None,
    }
}
