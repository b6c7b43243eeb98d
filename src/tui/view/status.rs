//! Draws the status line: turn state, tokens and money; below it directory, branch, model, context and mode, or a message.
//!
//! Two rows where there is room, one otherwise. Every state has a word; colour only repeats it. The approval mode stands
//! at the right end of the lowest row, whatever else there is to say.

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::guards::{Room, badge};
use crate::clock::seconds_between;
use crate::event::Outcome;
use crate::session::fold::agents::Activity;
use crate::session::fold::money_left;
use crate::summary::tokens as count;
use crate::tui::agents::view::{longest, money, share as context_share, tokens as context_tokens, tools};
use crate::tui::state::status::HostState;
use crate::tui::state::{App, MEDIUM};
use crate::tui::widgets::fit::{clock, columns, one_line, put, put_right, row};

/// Columns of the shortest words that say both mode and sandbox.
const BADGE: u16 = 20;

/// Draws the status line into one or two rows.
pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let theme = &app.facts.theme;
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
    // One row: a message replaces everything but the mode, then the state goes before the context and the model.
    let first = draw_mode(app, first, buffer);
    if let Some(message) = app.status.message(app.facts.now) {
        put(buffer, first, &one_line(message), theme.notice);
        return;
    }
    let rest = put(buffer, first, &state, style);
    let rest = Rect { width: rest.width.saturating_sub(2), x: rest.x + rest.width.min(2), ..rest };
    let context = share(app).map(|share| format!("{share} · {}", model(app)));
    let fitting = context.into_iter().chain([model(app)]).find(|words| columns(words) <= rest.width);
    put_right(buffer, rest, &fitting.unwrap_or_default(), theme.dim);
}

/// Draws the approval mode and the sandbox at the right end; returns what is left.
fn draw_mode(app: &App, line: Rect, buffer: &mut Buffer) -> Rect {
    // A message needs the room more than the long words do.
    let is_scarce = app.status.message(app.facts.now).is_some() || line.width < MEDIUM;
    let room = if is_scarce { Room::Scarce((line.width / 4).max(BADGE)) } else { Room::Ample(line.width / 2) };
    let (words, style) = badge(app, room);
    // Below that width there is room for hardly a word of anything.
    if line.width < 16 {
        return line;
    }
    let width = columns(&words) + 1;
    let place = Rect { x: line.right().saturating_sub(width), width: width.min(line.width), ..line };
    put(buffer, place, &words, style);
    Rect { width: line.width.saturating_sub(width + 1), ..line }
}

/// Says that a question waits which is not on the screen, and what brings it there.
pub fn draw_unasked(app: &App, area: Rect, buffer: &mut Buffer) {
    let line = row(area, 0);
    let way = match app.focus.overlays.top() {
        Some(overlay) => overlay.closing_words(),
        None if app.palette.is_open() || app.message.search.is_some() => "Esc closes the list",
        None => "make the terminal larger",
    };
    let words =
        [format!("? a question waits: {}", app.spell(way)), "? a question waits".to_owned(), "? asks".to_owned()];
    let Some(words) = words.into_iter().find(|words| columns(words) + 2 <= line.width) else { return };
    put_right(buffer, line, &format!("  {words}"), app.facts.theme.notice);
}

fn draw_note(app: &App, line: Rect, buffer: &mut Buffer) {
    let theme = &app.facts.theme;
    let line = draw_mode(app, line, buffer);
    if let Some(message) = app.status.message(app.facts.now) {
        put(buffer, line, &format!(" {}", app.spell(&one_line(message))), theme.notice);
        return;
    }
    let fitting = facts(app).into_iter().find(|facts| columns(facts) + 2 <= line.width);
    put(buffer, line, &format!(" {}", fitting.unwrap_or_else(|| model(app))), theme.dim);
}

/// Returns directory, branch, model and context; in fewer and fewer words.
fn facts(app: &App) -> Vec<String> {
    let named = |name: &str| Some(one_line(name)).filter(|name| !name.is_empty());
    let (place, branch) = (named(&app.facts.place), named(&app.facts.branch));
    let model = Some(match &app.status.offer {
        Some(offer) => {
            let (name, what) = (one_line(&offer.model), one_line(&offer.what));
            format!("{} · {} {name} of {what}", model(app), app.spell("F6 uses"))
        }
        None => model(app),
    });
    let (long, short) =
        (share(app), context_share(app.facts.run.agents.main()).map(|share| format!("context {share}")));
    let rows: [[&Option<String>; 4]; 5] = [
        [&place, &branch, &model, &long],
        [&place, &branch, &model, &short],
        [&place, &None, &model, &short],
        [&None, &None, &model, &short],
        [&None, &None, &model, &None],
    ];
    rows.map(|row| row.into_iter().flatten().cloned().collect::<Vec<_>>().join(" · ")).to_vec()
}

fn model(app: &App) -> String {
    one_line(app.status.model(app.facts.run.agents.main().model.as_deref()))
}

/// Says what the turn is at, in words, with its style.
fn turn_state(app: &App) -> (String, Style) {
    let theme = &app.facts.theme;
    let main = app.facts.run.agents.main();
    let since = |text: &str| {
        let seconds = main.since.map_or(0, |since| seconds_between(since, app.facts.now));
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
            (format!("↻ attempt {attempt} {}, Esc stops: {reason}", countdown(*until, app.facts.now)), theme.notice)
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
            (format!("● running {names} {}", clock(longest(&main.open, app.facts.now))), theme.tool)
        }
        Activity::Paused(Some(tool)) => (since(&format!("‖ paused before {}", one_line(tool))), theme.notice),
        Activity::Paused(None) => (since("‖ paused before the next request"), theme.notice),
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

/// Returns tokens and money; in fewer and fewer words.
fn figures(app: &App) -> Vec<String> {
    let totals = app.facts.run.agents.main().totals();
    // A limit is one of the session; without one the conversation counts.
    let (spent, most) = match app.facts.run.budget.limits.max_tokens {
        Some(max) => (app.facts.run.budget.tokens, format!(" of {}", count(max))),
        None => (app.facts.run.agents.spent(), String::new()),
    };
    let tokens = (spent > 0 || !most.is_empty()).then(|| format!("{}{most} tokens used", count(spent)));
    let money = money_left(app.facts.run.budget).or_else(|| money(totals));
    let all = [tokens, money.clone()].into_iter().flatten().collect::<Vec<_>>().join(" · ");
    [all].into_iter().chain(money).collect()
}

fn share(app: &App) -> Option<String> {
    let main = app.facts.run.agents.main();
    let cap = main.cap.filter(|cap| *cap > 0).map(count);
    match (context_tokens(main), cap) {
        (Some(tokens), Some(cap)) => {
            let share = context_share(main).map(|share| format!(", {share}")).unwrap_or_default();
            Some(format!("context {tokens} of {cap}{share}"))
        }
        (Some(tokens), None) => Some(format!("context {tokens} of ?")),
        (None, Some(cap)) => Some(format!("context window {cap}")),
        (None, None) => None,
    }
}
