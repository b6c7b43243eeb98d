//! `steersman status`: the sessions that run, what each agent does, and what waits for a person.

use std::fmt::Write as _;

use crate::program::cli::args::Flags;
use crate::program::cli::exit::{Exit, json, print_outcome};
use crate::program::cli::running::args::StatusArgs;
use crate::program::cli::running::choose::{named, running};
use steersman_base::event::Delivery;
use steersman_base::id::{AgentId, ClientId};
use steersman_base::price::dollars;
use steersman_base::protocol::{AgentState, AgentStatus, PendingStatus, SessionActivity, SessionStatus, WaitingFor};
use steersman_base::steering::TextKind;
use steersman_base::summary;
use steersman_base::text::visible_line;
use steersman_session::model::rule_scope_text;

/// Most characters of a text in the list.
const TEXT: usize = 60;

pub(crate) fn run(flags: &Flags, args: &StatusArgs) -> Exit {
    let found = match &args.session {
        Some(id) => named(flags, id).map(|one| vec![one]),
        None => running(flags),
    };
    let statuses = found.map(|found| found.into_iter().map(|found| found.status).collect::<Vec<_>>());
    let text = statuses.and_then(|statuses| if args.json { json(&statuses) } else { Ok(describe(&statuses)) });
    print_outcome(text, Exit::Failed)
}

fn describe(statuses: &[SessionStatus]) -> String {
    if statuses.is_empty() {
        return "No session runs.\n".to_owned();
    }
    statuses.iter().map(entry).collect::<Vec<_>>().join("\n")
}

fn entry(status: &SessionStatus) -> String {
    let mut text = format!("{}  {}  {}\n", status.session, state(status.state), short(&status.title));
    let mut facts =
        vec![format!("process {}", status.pid), format!("{} tokens", summary::tokens(status.budget.tokens))];
    facts.extend((status.budget.nanos > 0).then(|| dollars(status.budget.nanos)));
    facts.extend(status.model.as_ref().map(|model| visible_line(model).into_owned()));
    if !status.clients.is_empty() {
        let clients: Vec<&str> = status.clients.iter().map(ClientId::as_str).collect();
        facts.push(format!("connected: {}", clients.join(", ")));
    }
    let _ = write!(text, "  {}\n  {}\n", visible_line(&status.directory), facts.join(", "));
    for agent in &status.agents {
        let _ = writeln!(text, "  {}", agent_line(agent));
    }
    for waiting in &status.waiting {
        let number = waiting.id.map(|id| format!(" {id}")).unwrap_or_default();
        let kind = match waiting.kind {
            WaitingFor::Approval => "question",
            WaitingFor::Pause => "paused",
            WaitingFor::Confirmation => "held",
        };
        let _ = writeln!(
            text,
            "  ? {kind}{number}, {}: {} {}",
            name(&waiting.agent),
            visible_line(&waiting.question),
            short(&waiting.detail)
        );
    }
    for PendingStatus { to, id, message, held } in &status.pending {
        let mark = match (held, message.delivery) {
            (true, _) => "held",
            (false, Delivery::Now) => "now",
            (false, Delivery::Steer) => "pending",
            (false, Delivery::FollowUp) => "follow-up",
        };
        let from = message.sender.as_ref().map(|sender| format!(" from {sender}")).unwrap_or_default();
        let kind = if message.kind == TextKind::Add { String::new() } else { format!(" {}", message.kind) };
        let when =
            message.trigger.as_ref().map(|trigger| format!(" {}", short(&trigger.sentence()))).unwrap_or_default();
        let (to, words) = (name(to), short(&message.text));
        let _ = writeln!(text, "  {id} {mark}{kind}{from}{when} for {to}: {words}");
    }
    for rule in &status.rules {
        let _ = writeln!(text, "  {} rule {}: {}", rule.id, rule_scope_text(rule), short(&rule.text));
    }
    text
}

fn agent_line(agent: &AgentStatus) -> String {
    let does = match agent.state {
        AgentState::Idle => "idle".to_owned(),
        AgentState::Working => short(&agent.doing),
        AgentState::Waiting => "waits for you".to_owned(),
    };
    let context = match (agent.context_tokens, agent.context_window) {
        (Some(tokens), Some(window)) => {
            format!(", context {} of {}", summary::tokens(tokens), summary::tokens(window))
        }
        (Some(tokens), None) => format!(", context {}", summary::tokens(tokens)),
        (None, _) => String::new(),
    };
    let cost = agent.cost_nanos.map(|nanos| format!(", {}", dollars(nanos))).unwrap_or_default();
    format!("{}: {does}{context}{cost}", name(&agent.id))
}

fn state(state: SessionActivity) -> &'static str {
    match state {
        SessionActivity::Starting => "starting",
        SessionActivity::Broken => "broken",
        SessionActivity::Idle => "idle",
        SessionActivity::Working => "working",
        SessionActivity::Waiting => "waits for you",
    }
}

fn name(agent: &AgentId) -> String {
    if agent.is_main() { "main".to_owned() } else { visible_line(agent.as_str()).into_owned() }
}

/// Returns the beginning of a text on one line.
fn short(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = visible_line(&words.join(" ")).into_owned();
    match line.char_indices().nth(TEXT) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
