//! The words and marks for what an agent does; the rows, the status line and the forecasts share them.
//!
//! Names of tools and agents are untrusted here: whoever draws them makes them one safe line.

use jiff::Timestamp;
use ratatui::style::Style;

use crate::theme::Theme;
use crate::widgets::fit::{clip, clock, columns, one_line};
use steersman_base::clock::seconds_between;
use steersman_base::event::Outcome;
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::summary::{self, seconds, tokens as count};
use steersman_session::model::agents::{Activity, AgentNode, AgentStatus, OpenCall, Totals, Warning};

/// Returns how an agent is called on the screen (untrusted).
pub fn agent_name(id: &AgentId) -> String {
    if id.is_main() { "main".to_owned() } else { id.to_string() }
}

/// Names the running calls: each tool once, with how many of it run; and says how many wait because so many run as can.
/// Untrusted.
pub fn tools(open: &[OpenCall]) -> String {
    let mut names: Vec<(&str, usize)> = Vec::new();
    // They begin in order.
    let waiting = open.len().saturating_sub(limits::PARALLEL_TOOLS);
    for call in open.iter().take(limits::PARALLEL_TOOLS) {
        match names.iter_mut().find(|(name, _)| *name == call.name) {
            Some((_, count)) => *count += 1,
            None => names.push((&call.name, 1)),
        }
    }
    let label = |(name, count): (&str, usize)| if count > 1 { format!("{name} ×{count}") } else { name.to_owned() };
    let waiting = (waiting > 0).then(|| format!("{waiting} waiting"));
    names.into_iter().map(label).chain(waiting).collect::<Vec<_>>().join(", ")
}

/// Returns the longest time that any of the calls has run, seconds.
pub fn longest(open: &[OpenCall], now: Timestamp) -> u64 {
    open.iter().map(|call| seconds_between(call.since, now)).max().unwrap_or(0)
}

/// Returns what an agent does as one safe line of at most `width` columns: the tools with their time, else a word.
pub(super) fn word(node: &AgentNode, now: Timestamp, width: u16) -> String {
    match (node.status(), &node.activity) {
        (AgentStatus::Tools, _) => {
            let time = format!(" {}", clock(longest(&node.open, now)));
            let names = one_line(&tools(&node.open));
            let room = width.saturating_sub(columns(&time));
            // Of several calls the count says more than the time of the longest.
            if node.open.len() > 1 && columns(&names) > room && columns(&names) <= width {
                return names;
            }
            format!("{}{time}", clip(&names, room))
        }
        (AgentStatus::Awaiting, _) => format!("waits for {}", node.awaited),
        (AgentStatus::Retrying, Activity::Retrying { attempt, .. }) => format!("retrying {attempt}"),
        (status, _) => status.word().to_owned(),
    }
}

/// Returns the mark and the style of a status; the mark alone tells it.
pub(super) fn look(status: AgentStatus, theme: &Theme) -> (&'static str, Style) {
    let style = match status {
        AgentStatus::Idle | AgentStatus::Cancelled => theme.dim,
        AgentStatus::Done => theme.tool_ok,
        AgentStatus::OutOfBudget
        | AgentStatus::Rescue
        | AgentStatus::Stopping
        | AgentStatus::Retrying
        | AgentStatus::Paused => theme.notice,
        AgentStatus::Awaiting
        | AgentStatus::Waiting
        | AgentStatus::Thinking
        | AgentStatus::Writing
        | AgentStatus::Compacting
        | AgentStatus::Asking => theme.accent,
        AgentStatus::Tools => theme.tool,
        AgentStatus::Failed => theme.tool_error,
    };
    (status.sign(), style)
}

/// Puts a warning into few and into fewer words.
pub fn reasons(warning: &Warning, now: Timestamp) -> [String; 2] {
    match warning {
        Warning::Asking => ["waits for your answer".to_owned(), "asks you".to_owned()],
        Warning::Repeats { tool, times } => {
            let tool = one_line(tool);
            let short = clip(&tool, 12);
            [format!("same call of {tool}, {times} times in a row"), format!("same {short} ×{times}")]
        }
        Warning::Silent { since } => {
            let time = clock(seconds_between(*since, now));
            [format!("no token for {time}"), format!("silent {time}")]
        }
        Warning::Slow { tool, since, usual_ms } => {
            let (tool, time) = (one_line(tool), clock(seconds_between(*since, now)));
            let short = clip(&tool, 12);
            let usual = seconds(*usual_ms);
            [format!("{tool} takes {time}, 95 % took under {usual}"), format!("slow {short} {time}")]
        }
        Warning::Context { percent } => [format!("context {percent} % full"), format!("context {percent} %")],
        Warning::Budget { steps, max } => [format!("{steps} of its {max} steps used"), format!("{steps}/{max} steps")],
    }
}

/// Describes what stands beneath a collapsed row, from its sums; in fewer and fewer words.
pub(super) fn sums(totals: &Totals) -> [String; 3] {
    let agents = format!("+{}", summary::count(totals.agents, "agent"));
    let numbers = [
        (totals.running, "running"),
        (totals.asking, "asking"),
        (totals.failed, "failed"),
        (totals.paused, "paused"),
        (totals.warned, "to look at"),
    ];
    let numbers = numbers.into_iter().filter(|(number, _)| *number > 0);
    let states: Vec<String> = numbers.map(|(number, word)| format!(", {number} {word}")).collect();
    let tokens = if totals.tokens == 0 { String::new() } else { format!("Σ {} tok", count(totals.tokens())) };
    let spent: Vec<String> =
        [tokens.clone()].into_iter().filter(|text| !text.is_empty()).chain(money(totals)).collect();
    let long = format!("{agents}{}", states.concat());
    let long = [vec![long], spent].concat().join(" · ");
    let running = if totals.running > 0 { format!(", {} running", totals.running) } else { String::new() };
    let tokens = tokens.trim_end_matches(" tok");
    let tokens = if tokens.is_empty() { String::new() } else { format!(", {tokens}") };
    [long, format!("{agents}{running}{tokens}"), format!("+{}{tokens}", totals.agents)]
}

/// Describes how the children ended that are left out.
pub(super) fn ended(children: usize, cancelled: usize) -> String {
    match (children.saturating_sub(cancelled), cancelled) {
        (done, 0) => format!("+{done} done"),
        (0, cancelled) => format!("+{cancelled} cancelled"),
        (done, cancelled) => format!("+{done} done, {cancelled} cancelled"),
    }
}

/// Describes how an agent ended, when it did not just finish; untrusted.
pub(super) fn ending(node: &AgentNode) -> Option<String> {
    let Activity::Ended(outcome, message) = &node.activity else { return None };
    match outcome {
        Outcome::Completed => None,
        Outcome::Synthesized => Some("it reached its step limit and answered from what it had found".to_owned()),
        Outcome::Cancelled => Some("cancelled".to_owned()),
        Outcome::Failed => Some(message.clone().unwrap_or_else(|| "no reason given".to_owned())),
    }
}

/// Writes how many tokens a conversation holds; an estimate begins with `~`.
pub fn tokens(node: &AgentNode) -> Option<String> {
    let mark = if node.estimated { "~" } else { "" };
    node.context.map(|tokens| format!("{mark}{}", count(tokens)))
}

/// Writes the share of the window that a conversation takes, and says so when that is more than all of it.
pub fn share(node: &AgentNode) -> Option<String> {
    let mark = if node.estimated { "~" } else { "" };
    Some(match node.context_percent()? {
        0 if node.context.is_some_and(|tokens| tokens > 0) => format!("{mark}<1 %"),
        percent @ 0..=100 => format!("{mark}{percent} %"),
        1_000.. => format!("{mark}>999 %, too long"),
        percent => format!("{mark}{percent} %, too long"),
    })
}

/// Writes an amount of money: `<$0.01`, `$0.12`, `$123`; with a plus where some of it is not known.
pub fn money(totals: &Totals) -> Option<String> {
    if totals.cost_nanos == 0 {
        return None;
    }
    let cents = totals.cost_nanos.saturating_add(5_000_000) / 10_000_000;
    let more = if totals.unpriced > 0 { "+" } else { "" };
    Some(match cents {
        0 => format!("<$0.01{more}"),
        1..10_000 => format!("${}.{:02}{more}", cents / 100, cents % 100),
        _ => format!("${}{more}", count(u64::try_from(cents.saturating_add(50) / 100).unwrap_or(u64::MAX))),
    })
}
