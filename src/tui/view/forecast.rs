//! When a text would be delivered, in words: for the rule above the composer and for each pending text.
//!
//! Always holds: nothing is promised that the agent may not do. While an answer comes in, nobody knows yet whether tools
//! follow it; the words name both.

use crate::agents::view::agent_name;
use crate::approval::Question;
use crate::keymap::Context;
use crate::message::purpose::{CallText, QuestionText};
use crate::palette::OfferState;
use crate::plan::StepText;
use crate::state::App;
use crate::status::HostState;
use crate::widgets::fit::{clock, one_line};
use steersman_base::clock::seconds_between;
use steersman_base::event::{Delivery, Outcome};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::limits;
use steersman_base::protocol::{ApprovalRequest, ApprovalSubject};
use steersman_base::steering::{AgentsGiveWay, TextKind};
use steersman_base::text::{clip, visible_line};
use steersman_session::model::agents::{Activity, AgentNode};
use steersman_session::model::{PendingStage, PendingText, WaitingAgent};

/// Columns of a condition in a narrow list.
const SHORT: usize = 18;
/// Columns of the task that a text adds to.
const TASK: usize = 40;

/// Returns what Enter will do with the message, the longest words first; `waiting` is who waits where, as this frame
/// shows it: only that an empty message decides about.
pub fn of_enter(app: &App, waiting: Option<&WaitingAgent>) -> Vec<String> {
    if app.message.breaks_line() {
        return owned(&["→ a new line in place of the backslash", "→ new line"]);
    }
    if app.message.rule_typed().is_some() {
        return owned(&["→ asks: a rule, or a line for AGENTS.md", "→ a rule, or for AGENTS.md", "→ asks"]);
    }
    if let Some(about) = app.message.about_question() {
        return owned(match about.what {
            QuestionText::No => &["→ no, and the model is told this", "→ no, with these words", "→ no"],
            QuestionText::Answer => &["→ the agent gets this answer", "→ answers"],
            QuestionText::Form => &["→ the server gets what you wrote", "→ the server gets it", "→ sends it"],
        });
    }
    if let Some(writing) = app.message.about_call() {
        return owned(match writing.what {
            CallText::Arguments => &["→ runs the call with these arguments", "→ runs the call"],
            CallText::Reason => &["→ skips the call, for this reason", "→ skips the call"],
        });
    }
    if let Some(about) = app.message.about_step() {
        return owned(match about.what {
            StepText::New(_) => &["→ a new step of the plan", "→ new step"],
            StepText::Words(_) => &["→ the words of the step of the plan", "→ words of the step"],
        });
    }
    if let Some(editing) = app.message.editing() {
        let what = format!("editing {} for {}", editing.entry.id, one_line(&agent_name(&editing.agent)));
        let short = format!("editing {}", editing.entry.id);
        let kind = app.message.kind();
        let what = if kind == TextKind::Add { what } else { format!("{what} as {kind}") };
        let short = if kind == TextKind::Add { short } else { format!("{short} as {kind}") };
        let enter = if app.message.edit_starts_turn(&app.message_context()) {
            "Enter sends it"
        } else {
            "Enter puts it back in its place"
        };
        return vec![
            format!("{what}: {enter} · Esc leaves it as it was · F5 delivers it now"),
            format!("{what}: {enter}"),
            what,
            short,
        ];
    }
    if app.questions.is_shown() && app.message.is_empty() && app.is_drafting() {
        if let Some(answer) = app.questions.selected_answer() {
            if answer.is_yes() && !app.questions.is_read() {
                return owned(&["→ first read to the end: PgDn", "→ first PgDn"]);
            }
            return owned(&["→ gives the selected answer", "→ answers"]);
        }
        let numbers = app.questions.current().map(Question::numbers).unwrap_or_default();
        return vec![format!("→ answer the question: {numbers}, then Enter"), "→ answer the question".to_owned()];
    }
    if let Some(offer) = app.palette.taken_by_enter(&app.message.shown()) {
        return match offer.state {
            OfferState::Part => vec![format!("→ completes {}", one_line(&offer.label)), "→ completes".to_owned()],
            OfferState::Whole | OfferState::Current => {
                vec![format!("→ {}", one_line(&offer.text)), "→ takes it".to_owned()]
            }
        };
    }
    if app.message.is_empty() && waiting.is_some() {
        let name = one_line(&agent_name(app.tree.selected()));
        return vec![format!("→ {name} runs one step"), "→ one step".to_owned()];
    }
    if let Some(sentence) = app.message.draft_text(&app.message_context()) {
        let short = sentence.split(':').next().unwrap_or(&sentence).to_owned();
        return vec![sentence, short];
    }
    if let HostState::ReadOnly(_) = app.status.host {
        return owned(&["→ nothing: this session is only read here", "→ nothing: only read here"]);
    }
    let target = app.message.draft_target(&app.message_context());
    let running = app.ui.run.agents.get(&target).is_some_and(AgentNode::running);
    let kind = app.message.kind();
    if target.is_main() && app.ui.run.pending.paused && !running && kind.asks_for_work() {
        return held_back(app, kind);
    }
    let when = of_text(app, &target, Delivery::Steer, kind);
    if !running && app.status.host == HostState::Ready && open_task(app, &target).is_some() && kind.asks_for_work() {
        return of_open_task(app, when, kind);
    }
    let kind = if kind == TextKind::Add { String::new() } else { format!("{kind}, ") };
    if !running || app.status.host != HostState::Ready {
        return when.into_iter().map(|when| format!("→ {kind}{when}")).collect();
    }
    let name = one_line(&agent_name(&target));
    let beneath = forward_to(app, &target);
    let mut words: Vec<String> = when.iter().map(|when| format!("→ {name}, {kind}{when}")).collect();
    if let Some((count, longest)) = beneath.zip(words.first().cloned()) {
        let to = if count == 1 { "its sub-agent".to_owned() } else { format!("its {count} sub-agents") };
        let how = format!("{longest}; Alt+Down: to {to} instead");
        words.insert(0, app.ui.spell(Context::Composer, &how).into_owned());
    }
    if target.is_main() {
        words.extend(when.iter().map(|when| format!("→ {kind}{when}")));
    } else {
        words.push(format!("→ {kind}{name}"));
    }
    words
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|words| (*words).to_owned()).collect()
}

/// Returns when a text for this agent would be delivered, the longest words first.
pub fn of_text(app: &App, agent: &AgentId, delivery: Delivery, kind: TextKind) -> Vec<String> {
    match &app.status.host {
        HostState::Starting => return owned(&["as soon as the agent is ready", "at start"]),
        HostState::Failed(_) => return owned(&["cannot be sent", "cannot run"]),
        HostState::ReadOnly(_) => return owned(&["not sent from here", "not from here"]),
        HostState::Ready => {}
    }
    if app.ui.run.continues(agent) && kind.asks_for_work() {
        let name = one_line(&agent_name(agent));
        let task = match (kind, open_task(app, agent)) {
            (TextKind::Add, Some(task)) => Some(format!("continues {name}, adds to its task: {task}")),
            (TextKind::Instead, Some(task)) => Some(format!("continues {name}, in place of its task: {task}")),
            (TextKind::Add | TextKind::Instead | TextKind::Note | TextKind::Rule, _) => None,
        };
        return vec![
            task.unwrap_or_else(|| format!("continues {name}, which has ended")),
            format!("continues {name}"),
            "continues it".to_owned(),
        ];
    }
    let Some(node) = app.ui.run.agents.get(agent) else {
        return owned(&["at the next tool boundary", "next boundary"]);
    };
    match (delivery, &node.activity) {
        (Delivery::Steer | Delivery::FollowUp, Activity::Idle | Activity::Ended(..))
            if agent.is_main() && !kind.asks_for_work() =>
        {
            owned(&["goes with your next message", "with your next message", "next message"])
        }
        (_, Activity::Idle | Activity::Ended(..)) if agent.is_main() => match (kind, open_task(app, agent)) {
            (TextKind::Add, Some(task)) => {
                vec![format!("adds to the open task: {task}"), "adds to the open task".to_owned()]
            }
            (TextKind::Instead, Some(task)) => {
                vec![format!("in place of the open task: {task}"), "in place of the open task".to_owned()]
            }
            (TextKind::Add | TextKind::Instead | TextKind::Note | TextKind::Rule, _) => owned(&["starts a turn"]),
        },
        (_, Activity::Idle | Activity::Ended(..)) => owned(&["comes back, its agent has ended", "comes back"]),
        (Delivery::FollowUp, _) if agent.is_main() => owned(&["after this turn", "after turn"]),
        (_, Activity::Cancelling) => owned(&["next turn (this one is being stopped)", "next turn"]),
        (_, Activity::Rescue) => owned(&["next turn (final answer is being written)", "next turn"]),
        (
            Delivery::Now,
            Activity::Waiting
            | Activity::Thinking
            | Activity::Retrying { .. }
            | Activity::Compacting(_)
            | Activity::Writing,
        ) => owned(&["now, in place of the answer", "now"]),
        (Delivery::Now, Activity::Paused(_)) => owned(&["now, in place of what it waits for", "now"]),
        (_, Activity::Paused(None)) => owned(&["paused: delivered when it goes on", "when it goes on"]),
        (_, Activity::Paused(Some(_))) => owned(&["paused: delivered after these calls", "after these calls"]),
        (_, Activity::Waiting | Activity::Thinking | Activity::Retrying { .. } | Activity::Compacting(_)) => {
            owned(&["at the next tool boundary", "next boundary"])
        }
        // It starts no turn behind the answer.
        (_, Activity::Writing) if !kind.asks_for_work() && delivery != Delivery::Now => owned(if agent.is_main() {
            &["at the next tool boundary, else with your next message", "next boundary"]
        } else {
            &["at its next tool boundary, else it comes back", "next boundary"]
        }),
        (_, Activity::Writing) => {
            owned(&["after this answer, sooner if it calls a tool", "after this answer, or sooner", "next turn?"])
        }
        (_, Activity::Tools) if app.ui.run.is_paused(&node.id) => {
            owned(&["paused: delivered when it goes on", "when it goes on"])
        }
        (_, Activity::Tools) => match who_goes_on(app, node, delivery).filter(|_| is_due_at_once(delivery, kind)) {
            Some(who) => vec![format!("now: {who}"), "now".to_owned()],
            None => after_tools(app, node),
        },
    }
}

/// Tells whether such a text ends a wait: a note or a rule only where it is to be delivered now.
fn is_due_at_once(delivery: Delivery, kind: TextKind) -> bool {
    delivery == Delivery::Now || kind.asks_for_work()
}

/// Returns when an agent gets what the user changed of its plan, the longest words first: no turn starts for that.
pub fn of_plan(app: &App, agent: &AgentId) -> Vec<String> {
    let activity = app.ui.run.agents.get(agent).map(|node| &node.activity);
    match activity {
        Some(Activity::Writing) => owned(&["at the next tool boundary, else with your next message", "next boundary"]),
        Some(Activity::Cancelling | Activity::Rescue) => owned(&["goes with your next message", "next message"]),
        Some(Activity::Idle | Activity::Ended(..)) | None if agent.is_main() => {
            owned(&["goes with your next message", "with your next message", "next message"])
        }
        Some(_) | None => of_text(app, agent, Delivery::Steer, TextKind::Note),
    }
}

/// Returns when a pending text will be delivered, the longest words first.
pub fn of_pending(app: &App, entry: &PendingText) -> Vec<String> {
    if entry.stage == PendingStage::Delivering {
        return owned(&["being delivered", "now"]);
    }
    if let HostState::ReadOnly(_) = app.status.host {
        return owned(&["waits, is not sent from here", "not from here"]);
    }
    if app.message.is_edited(&entry.message.id) {
        return owned(&["held while it is edited", "edited"]);
    }
    if entry.message.stale {
        let words = ["held: F2, then F5 sends it", "held: F2, F5"];
        return words.iter().map(|words| app.ui.spell(Context::Composer, words).into_owned()).collect();
    }
    if entry.message.held {
        return owned(&["held"]);
    }
    if let Some(trigger) = &entry.message.trigger {
        let when = visible_line(&trigger.sentence()).into_owned();
        return match app.ui.run.never_met(&trigger.condition, &entry.agent) {
            Some(why) => vec![format!("never: {why}"), "never".to_owned()],
            None => vec![when.clone(), clip(&when, SHORT).into_owned()],
        };
    }
    let node = app.ui.run.agents.get(&entry.agent);
    let idle = node.is_none_or(|node| !node.running());
    if entry.agent.is_main() && app.ui.run.pending.paused && idle && entry.message.starts_turn() {
        return match node.map(|node| &node.activity) {
            Some(Activity::Ended(Outcome::Failed, _)) => {
                owned(&["waits: the last turn failed; Enter sends", "Enter sends"])
            }
            _ => owned(&["waits; Enter sends", "Enter sends"]),
        };
    }
    // Each follow-up starts a turn of its own.
    let before = app.ui.run.pending.before(&entry.message.id);
    let is_follow_up = |other: &&MessageId| {
        app.ui
            .run
            .pending
            .get(other)
            .is_some_and(|other| other.message.delivery == Delivery::FollowUp && !other.message.held)
    };
    match (entry.message.delivery, before.iter().filter(is_follow_up).count()) {
        (Delivery::FollowUp, count @ 1..) if entry.agent.is_main() => {
            vec![format!("after this turn and the {count} before it"), format!("after turn +{count}")]
        }
        _ => of_text(app, &entry.agent, entry.message.delivery, entry.message.kind),
    }
}

/// Returns the beginning of the task of an agent that has no answer, quoted, while no turn of it runs.
fn open_task(app: &App, agent: &AgentId) -> Option<String> {
    let node = app.ui.run.agents.get(agent).filter(|node| !node.running())?;
    let task = visible_line(node.open_task.as_deref()?);
    Some(format!("\"{}\"", clip(task.trim(), TASK)))
}

/// Returns what Enter does with a text while a task is open; `when` says that of the text, the longest words first.
fn of_open_task(app: &App, when: Vec<String>, kind: TextKind) -> Vec<String> {
    let other = match kind {
        TextKind::Add => "Alt+T: in place of it · /done closes it",
        TextKind::Instead => "Alt+T: adds to it",
        TextKind::Note | TextKind::Rule => return when.into_iter().map(|when| format!("→ {when}")).collect(),
    };
    // Without a text the key sends the request again.
    let is_text = !app.message.is_empty();
    let longest = when
        .first()
        .filter(|_| is_text)
        .map(|when| app.ui.spell(Context::Composer, &format!("→ {when} · {other}")).into_owned());
    longest.into_iter().chain(when.into_iter().map(|when| format!("→ {when}"))).collect()
}

/// A failed or stopped turn holds texts back: the next Enter lets them go.
fn held_back(app: &App, kind: TextKind) -> Vec<String> {
    let count = app.ui.run.pending.stopped().filter(|entry| entry.agent.is_main()).count();
    let main = AgentId::main();
    let is_open = open_task(app, &main).is_some();
    match (count, app.message.is_empty()) {
        (0, _) if is_open => of_open_task(app, of_text(app, &main, Delivery::Steer, kind), kind),
        (0, _) => vec!["→ starts a turn".to_owned()],
        (_, true) if is_open => {
            vec![format!("→ the {count} pending: added to the open task"), format!("→ sends {count} pending")]
        }
        (_, false) if is_open => {
            let when = of_text(app, &main, Delivery::Steer, kind);
            when.into_iter().map(|when| format!("→ after the {count} pending, {when}")).collect()
        }
        (_, true) => vec![format!("→ starts a turn with the {count} pending"), format!("→ sends {count} pending")],
        (_, false) => vec![format!("→ starts a turn, after the {count} pending"), "→ starts a turn".to_owned()],
    }
}

/// Returns how many running sub-agents a text can be forwarded to, when the agent has waited long for them.
fn forward_to(app: &App, agent: &AgentId) -> Option<usize> {
    let node = app.ui.run.agents.get(agent)?;
    let since = node.open.iter().filter(|call| call.name == "agent").map(|call| call.since).min()?;
    let is_long = seconds_between(since, app.ui.now) >= limits::FORWARD_AFTER.as_secs();
    let count = app.ui.run.agents.addressed_beneath(agent).len();
    (is_long && count > 0).then_some(count)
}

/// Returns what goes on in the background when such a text ends the wait of an agent for its calls; `None` where one of these
/// cannot.
pub fn who_goes_on(app: &App, node: &AgentNode, delivery: Delivery) -> Option<&'static str> {
    // A question may be about any of them, and none that is asked about has begun. One of the agent itself stays open.
    let is_asked = |open: &&ApprovalRequest| open.asker.as_ref().is_some_and(|asker| asker.agent == node.id);
    let mut asked = app.ui.run.permissions.open.iter().filter(is_asked).peekable();
    let is_own = |open: &ApprovalRequest| matches!(open.subject, ApprovalSubject::AgentQuestion { .. });
    if (node.has_questions() && asked.peek().is_none()) || !asked.all(is_own) {
        return None;
    }
    let (mut agents, mut commands, mut questions) = (0, 0, 0);
    for call in &node.open {
        let released_by = match call.name.as_str() {
            "agent" => {
                agents += 1;
                match app.agents_give_way {
                    AgentsGiveWay::Always => delivery != Delivery::FollowUp,
                    AgentsGiveWay::Now => delivery == Delivery::Now,
                    AgentsGiveWay::Never => false,
                }
            }
            "ask_user" => {
                questions += 1;
                delivery != Delivery::FollowUp
            }
            "bash" => {
                commands += 1;
                let has_room = app.ui.run.jobs.running() < limits::BACKGROUND_JOBS;
                delivery == Delivery::Now && has_room && !call.is_outside
            }
            _ => false,
        };
        if !released_by {
            return None;
        }
    }
    match (agents, commands) {
        (0, 0) if questions > 0 => Some("the question stays open"),
        _ if questions > 0 => Some("the calls go on"),
        (0, 0) => None,
        (0, 1) => Some("the command goes on"),
        (1, 0) => Some("the sub-agent goes on"),
        (_, 0) => Some("the sub-agents go on"),
        (0, _) => Some("the commands go on"),
        (_, _) => Some("the calls go on"),
    }
}

/// Names the call that has run longest, and how many run beside it.
fn after_tools(app: &App, node: &AgentNode) -> Vec<String> {
    let open = &node.open;
    let Some(longest) = open.iter().min_by_key(|call| call.since) else { return vec!["after the tools".to_owned()] };
    let name = one_line(&longest.name);
    let time = clock(seconds_between(longest.since, app.ui.now));
    let mut words = Vec::new();
    if open.len() > 1 {
        words.push(format!("after {name} (running {time}) and {} more", open.len() - 1));
    }
    // Of several calls it is not known which one is asked about.
    let waits = open.len() == 1 && node.has_questions();
    let how = if waits { "waits for you".to_owned() } else { format!("running {time}") };
    words.push(format!("after {name} ({how})"));
    words.push(format!("after {name}"));
    words.push("after tools".to_owned());
    words
}
