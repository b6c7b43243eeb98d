//! Draws the status line: turn state, tokens and money; below it directory, branch, model, context and mode, or a message.
//!
//! Two rows where there is room, one otherwise. Every state has a word; colour only repeats it. The approval mode stands
//! at the right end of the lowest row, whatever else there is to say.

mod badge;

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{HostState, Status};
use crate::agents::view::{longest, money, reasons, share as context_share, tokens as context_tokens, tools};
use crate::keymap::Context;
use crate::state::MEDIUM;
use crate::ui_context::UiContext;
use crate::widgets::fit::{clock, columns, one_line, put, put_right, row};
use crate::widgets::wrap::{Break, Line, wrapped};
use badge::{BadgeWidth, badge};
use steersman_base::clock::seconds_between;
use steersman_base::event::Outcome;
use steersman_base::protocol::{ApprovalRequest, ApprovalSubject};
use steersman_base::summary::{count as counted, tokens as count};
use steersman_session::model::agents::{Activity, AgentNode, Warning};
use steersman_session::model::money_left;

/// The tool that spawns sub-agents.
const AGENT: &str = "agent";
/// The sentence while the second key after Ctrl+X is awaited.
const PREFIXED: &str = "Ctrl+X and a letter: as Alt; a digit: as F1 to F10; Esc: nothing";
/// Columns of the shortest words that say both mode and sandbox.
const BADGE: u16 = 20;

/// What the status line is drawn from.
#[derive(Debug, Clone, Copy)]
pub struct StatusView<'a> {
    pub status: &'a Status,
    pub ui: &'a UiContext,
    pub context: Context,
    /// Whether a session that goes on is still being read: what its agents do is long past.
    pub is_opening: bool,
    /// Whether Ctrl+X was pressed and the second key is awaited.
    pub is_prefixed: bool,
}

/// Returns the sentence that stands below the state now.
fn message(view: StatusView<'_>) -> Option<&str> {
    if view.is_prefixed { Some(PREFIXED) } else { view.status.message(view.ui.now) }
}

/// Draws the status line into one or two rows.
pub fn draw(view: StatusView<'_>, area: Rect, buffer: &mut Buffer) {
    let theme = &view.ui.theme;
    let first = row(area, 0);
    let (mut state, style) = turn_state(view);
    if let Some(warning) = delay(view).filter(|_| !view.is_opening) {
        state = format!("{state} · ! {warning}");
    }
    // The transcript has the whole reason.
    if columns(&state) + 1 > first.width
        && let Some((begin, _)) = state.split_once("; ")
    {
        state = begin.to_owned();
    }
    let second = row(area, 1);
    if let Some((begin, rest)) =
        message(view).filter(|_| !second.is_empty()).and_then(|said| over_two(view, said, first))
    {
        put(buffer, first, &format!(" {begin}"), theme.notice);
        let second = draw_mode(view, second, buffer);
        put(buffer, second, &format!(" {rest}"), theme.notice);
        return;
    }
    if !second.is_empty() {
        let state = format!(" {state}");
        // A sentence that is cut says less than a figure that is left out.
        let room = first.width.saturating_sub(columns(&state));
        let fitting = figures(view).into_iter().map(|figures| format!(" {figures} ")).find(|f| columns(f) <= room);
        let right = put_right(buffer, first, &fitting.unwrap_or_default(), theme.dim);
        put(buffer, right, &state, style);
        draw_note(view, second, buffer);
        return;
    }
    // One row: a message replaces everything but the mode, then the state goes before the context and the model.
    let first = draw_mode(view, first, buffer);
    if let Some(message) = message(view) {
        put(buffer, first, &view.ui.spell(view.context, &one_line(message)), theme.notice);
        return;
    }
    if columns(&state) > first.width {
        state = state.replace(" waits for your answer", " asks you");
    }
    let rest = put(buffer, first, &state, style);
    let rest = Rect { width: rest.width.saturating_sub(2), x: rest.x + rest.width.min(2), ..rest };
    let context = share(view).map(|share| format!("{share} · {}", model(view)));
    let fitting = context.into_iter().chain([model(view)]).find(|words| columns(words) <= rest.width);
    put_right(buffer, rest, &fitting.unwrap_or_default(), theme.dim);
}

/// Splits a sentence that has no room beside the mode: for a while it stands in place of the state too.
fn over_two(view: StatusView<'_>, message: &str, line: Rect) -> Option<(String, String)> {
    let message = view.ui.spell(view.context, &one_line(message)).into_owned();
    let (mode, _) = badge(view.ui, BadgeWidth::Scarce((line.width / 4).max(BADGE)));
    let beside = line.width.saturating_sub(columns(&mode) + 3);
    if columns(&message) <= beside {
        return None;
    }
    let width = usize::from(line.width.saturating_sub(1));
    let rows = wrapped([&Line::new(&message, Style::default())], width, Break::Words);
    let mut rows = rows.iter().map(|row| row.text().trim());
    let begin = rows.next()?.to_owned();
    Some((begin, rows.collect::<Vec<_>>().join(" ")))
}

/// Draws the approval mode and the sandbox at the right end; returns what is left.
fn draw_mode(view: StatusView<'_>, line: Rect, buffer: &mut Buffer) -> Rect {
    // A message needs the room more than the long words do.
    let is_scarce = message(view).is_some() || line.width < MEDIUM;
    let room =
        if is_scarce { BadgeWidth::Scarce((line.width / 4).max(BADGE)) } else { BadgeWidth::Ample(line.width / 2) };
    let (words, style) = badge(view.ui, room);
    // Below that width there is room for hardly a word of anything.
    if line.width < 16 {
        return line;
    }
    let width = columns(&words) + 1;
    let place = Rect { x: line.right().saturating_sub(width), width: width.min(line.width), ..line };
    put(buffer, place, &words, style);
    Rect { width: line.width.saturating_sub(width + 1), ..line }
}

/// What brings a question to a screen that has no room for it.
pub const LARGER: &str = "make the terminal larger";

/// Says that a question waits which is not on the screen, and what brings it there.
pub fn draw_unasked(ui: &UiContext, waits: &str, way: &str, area: Rect, buffer: &mut Buffer) {
    let line = row(area, 0);
    let (whole, short) = (format!("? {waits}: {way}"), format!("? {waits}"));
    let words = match way {
        LARGER => [&*whole, "? enlarge to answer", "? asks: enlarge", "? asks"],
        _ => [&*whole, &*short, "? a question", "? asks"],
    };
    let Some(words) = words.into_iter().find(|words| columns(words) + 2 <= line.width) else { return };
    put_right(buffer, line, &format!("  {words}"), ui.theme.notice);
}

fn draw_note(view: StatusView<'_>, line: Rect, buffer: &mut Buffer) {
    let theme = &view.ui.theme;
    let line = draw_mode(view, line, buffer);
    if let Some(message) = message(view) {
        put(buffer, line, &format!(" {}", view.ui.spell(view.context, &one_line(message))), theme.notice);
        return;
    }
    let own = one_line(&view.status.own_line);
    if !own.is_empty() {
        put(buffer, line, &format!(" {own}"), theme.dim);
        return;
    }
    let fitting = place(view).into_iter().find(|words| columns(words) + 2 <= line.width);
    put(buffer, line, &format!(" {}", fitting.unwrap_or_else(|| model(view))), theme.dim);
}

/// Returns directory, branch, model and context; in fewer and fewer words.
fn place(view: StatusView<'_>) -> Vec<String> {
    let named = |name: &str| Some(one_line(name)).filter(|name| !name.is_empty());
    let (place, branch) = (named(&view.ui.place), named(&view.ui.branch));
    let model = Some(match &view.status.offer {
        Some(offer) => {
            let (name, what) = (one_line(&offer.model), one_line(&offer.what));
            format!("{} · {} {name} of {what}", model(view), view.ui.spell(view.context, "F6 uses"))
        }
        None => model(view),
    });
    let (long, short) = (share(view), context_share(view.ui.run.agents.main()).map(|share| format!("context {share}")));
    let rows: [[&Option<String>; 4]; 5] = [
        [&place, &branch, &model, &long],
        [&place, &branch, &model, &short],
        [&place, &None, &model, &short],
        [&None, &None, &model, &short],
        [&None, &None, &model, &None],
    ];
    rows.map(|row| row.into_iter().flatten().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(" · "))
        .to_vec()
}

fn model(view: StatusView<'_>) -> String {
    one_line(&view.status.model(view.ui.run.agents.main()))
}

/// Says what the turn is at, in words, with its style; who has it, where that is not the main agent.
fn turn_state(view: StatusView<'_>) -> (String, Style) {
    let theme = &view.ui.theme;
    let main = view.ui.run.agents.main();
    match &view.status.host {
        HostState::Failed(reason) => return (format!("✗ cannot run: {}", one_line(reason)), theme.error),
        HostState::ReadOnly(reason) => return (format!("○ only read here: {}", one_line(reason)), theme.notice),
        HostState::Starting if view.is_opening => return ("○ opening the session".to_owned(), theme.dim),
        HostState::Starting if !main.running() => return ("○ starting".to_owned(), theme.dim),
        HostState::Starting | HostState::Ready => {}
    }
    let form = |open: &ApprovalRequest| {
        let ApprovalSubject::Form { server, .. } = &open.subject else { return None };
        Some(format!("? the server {} asks you", one_line(server)))
    };
    if let Some(words) = view.ui.run.permissions.open.iter().find_map(form) {
        return (words, theme.notice);
    }
    let awaited: Vec<&AgentNode> = view.ui.run.run_alone().filter(|node| node.is_in_background).collect();
    if let Some(first) = awaited.first() {
        let who = match awaited.len() {
            1 => one_line(first.id.as_str()),
            count => format!("{count} agents"),
        };
        return match main.totals().asking {
            0 => (format!("○ waiting for {who}"), theme.accent),
            1 => (format!("? waiting for {who} · 1 asks you"), theme.notice),
            asking => (format!("? waiting for {who} · {asking} ask you"), theme.notice),
        };
    }
    let mut alone = view.ui.run.run_alone();
    match (alone.next(), alone.count()) {
        (None, _) => activity(view, main),
        (Some(one), 0) => {
            let (words, style) = activity(view, one);
            (format!("{words} · {}", one_line(one.id.as_str())), style)
        }
        (Some(_), more) => (format!("● {} sub-agents run", more + 1), theme.tool),
    }
}

/// Says what an agent does, in words, with its style.
fn activity(view: StatusView<'_>, node: &AgentNode) -> (String, Style) {
    let theme = &view.ui.theme;
    let since = |text: &str| {
        let seconds = node.since.map_or(0, |since| seconds_between(since, view.ui.now));
        if seconds == 0 { text.to_owned() } else { format!("{text} {}", clock(seconds)) }
    };
    match &node.activity {
        Activity::Idle | Activity::Ended(Outcome::Completed | Outcome::Synthesized, _) => {
            ("· idle".to_owned(), theme.dim)
        }
        // The task was closed: how its last turn ended is told by the transcript.
        Activity::Ended(Outcome::Cancelled | Outcome::Failed, _) if node.open_task.is_none() => {
            ("· idle".to_owned(), theme.dim)
        }
        Activity::Waiting => (since("○ waiting for the model"), theme.accent),
        Activity::Retrying { attempt, reason, until } => {
            let reason = one_line(reason);
            (format!("↻ attempt {attempt} {}, Esc stops: {reason}", countdown(*until, view.ui.now)), theme.notice)
        }
        Activity::Compacting(messages) => {
            (since(&format!("≡ summarising {messages} older messages, Esc stops")), theme.accent)
        }
        Activity::Thinking => (since("◌ thinking"), theme.accent),
        Activity::Writing => (since("✎ writing"), theme.accent),
        Activity::Tools if node.has_questions() => {
            (format!("? {} waits for your answer", one_line(&tools(&node.open))), theme.notice)
        }
        Activity::Tools => {
            let (names, time) = (one_line(&tools(&node.open)), clock(longest(&node.open, view.ui.now)));
            let totals = node.totals();
            let working = totals.running.saturating_sub(1);
            // The agents matter then, not the calls that wait for them.
            if working > 1 && node.open.iter().all(|call| call.name == AGENT) {
                return match totals.asking {
                    0 => (format!("● {working} work {time}"), theme.tool),
                    1 => (format!("? {working} work · 1 asks you"), theme.notice),
                    asking => (format!("? {working} work · {asking} ask you"), theme.notice),
                };
            }
            match totals.asking {
                0 => (format!("● running {names} {time}"), theme.tool),
                1 => (format!("? running {names} {time} · 1 asks you"), theme.notice),
                asking => (format!("? running {names} {time} · {asking} ask you"), theme.notice),
            }
        }
        Activity::Paused(Some(tool)) => (since(&format!("‖ paused before {}", one_line(tool))), theme.notice),
        Activity::Paused(None) => (since("‖ paused before the next request"), theme.notice),
        Activity::Rescue => (since("! out of steps, writing the answer"), theme.notice),
        Activity::Cancelling => (since("■ stopping"), theme.notice),
        Activity::Ended(Outcome::Cancelled, _) => ("· idle, last turn cancelled".to_owned(), theme.dim),
        Activity::Ended(Outcome::Failed, reason) => {
            let reason = reason.as_deref().unwrap_or("failed, no reason given");
            (format!("✗ last turn: {}", one_line(reason)), theme.error)
        }
    }
}

/// Says what keeps the agent that the state is about from going on, in words: the list of agents is hidden while it is alone.
fn delay(view: StatusView<'_>) -> Option<String> {
    let node = view.ui.run.run_alone().next().unwrap_or_else(|| view.ui.run.agents.main());
    let warnings = &node.warnings;
    let delay = warnings.iter().find(|warning| match warning {
        Warning::Silent { .. } | Warning::Slow { .. } | Warning::Repeats { .. } => true,
        // These stand elsewhere: in the question, behind the model, in the list.
        Warning::Asking | Warning::Context { .. } | Warning::Budget { .. } => false,
    });
    let [long, _] = reasons(delay?, view.ui.now);
    Some(long)
}

/// Says when the next attempt comes; the second that has begun counts whole.
fn countdown(until: Timestamp, now: Timestamp) -> String {
    match u64::try_from(until.duration_since(now).as_millis()) {
        Ok(millis @ 1..) => format!("in {}", clock(millis.div_ceil(1_000))),
        Ok(0) | Err(_) => "now".to_owned(),
    }
}

/// Returns running jobs, tokens and money; in fewer and fewer words.
fn figures(view: StatusView<'_>) -> Vec<String> {
    let (totals, session) = (view.ui.run.agents.conversation(), view.ui.run.agents.session());
    // A limit is one of the session; without one the conversation counts, and the session behind it where that is more.
    let tokens = match view.ui.run.budget.limits.max_tokens {
        Some(max) => Some(format!("{} of {} tokens used", count(view.ui.run.budget.tokens), count(max))),
        None => (session.tokens > 0).then(|| format!("{} tokens used", count(totals.tokens()))),
    };
    let is_more = view.ui.run.budget.limits.max_tokens.is_none() && session.tokens > totals.tokens;
    let in_session = is_more.then(|| format!(", {} in the session", count(session.tokens())));
    let long = tokens.clone().zip(in_session).map(|(tokens, more)| tokens + &more);
    let money = money_left(view.ui.run.budget).or_else(|| money(&totals));
    let running = view.ui.run.jobs.running();
    let jobs = (running > 0).then(|| counted(running, "job"));
    let all = |tokens| [jobs.clone(), tokens, money.clone()].into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let longest = long.map(|long| all(Some(long)));
    longest.into_iter().chain([all(tokens)]).chain(money.clone()).collect()
}

fn share(view: StatusView<'_>) -> Option<String> {
    let main = view.ui.run.agents.main();
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
