//! Notifications for a user who does not look at the screen, and the title of the terminal.
//!
//! A pane without an area: its state and what changes it stand here, and read the context besides their own state, never the
//! whole `App`. The bytes are the terminal's: `src/tui/terminal/alert.rs`.
//!
//! # Where things are
//!
//! - what waits to be notified, what an update raises, the words of the title; tests: `alerts.rs`, `tests/pty/terminal.rs`

use jiff::Timestamp;

use crate::approval::{QuestionSubject, Questions};
use crate::effect::Effect;
use crate::state::QuestionId;
use crate::status::HostState;
use steersman_base::event::{Envelope, Event, Outcome};
use steersman_base::limits;
use steersman_session::model::agents::AgentStatus;
use steersman_session::model::{PendingStage, PendingText, RunState};

/// When the user is notified.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AlertWhen {
    /// While the terminal has said that it has lost the focus.
    #[default]
    Away,
    /// Always, also where the terminal does not report the focus.
    Always,
    Never,
}

/// Whether the terminal has the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    /// It has it: the screen is being looked at.
    Here,
    Away,
}

/// The notifications that wait, and whether anybody looks.
#[derive(Debug, Default)]
pub struct Alerts {
    pub when: AlertWhen,
    /// Whether the terminal has the focus; `None` as long as it has not said so.
    pub attention: Option<Attention>,
    /// The end of a turn, to be notified at this moment.
    ended: Option<(Timestamp, String)>,
    raised: Option<String>,
    asked: Option<QuestionId>,
}

impl Alerts {
    /// Returns whether the user wants notifications now.
    pub fn is_on(&self) -> bool {
        match self.when {
            AlertWhen::Always => true,
            AlertWhen::Away => self.attention == Some(Attention::Away),
            AlertWhen::Never => false,
        }
    }

    /// Returns when there is something to notify.
    pub fn due_at(&self) -> Option<Timestamp> {
        self.ended.as_ref().map(|(at, _)| *at)
    }
}

/// Returns the title of the terminal, with the name of the working directory (untrusted).
pub fn title(host: &HostState, run: &RunState, questions: &Questions, place: &str) -> String {
    let state = match host {
        HostState::Failed(_) => "✗ cannot run",
        HostState::ReadOnly(_) => "○ only read here",
        _ if !questions.is_empty() => "? asks",
        _ if run.pauses.any_waits() => "‖ paused",
        HostState::Starting | HostState::Ready if run.agents.main().status() == AgentStatus::Awaiting => {
            "◇ waits for agents"
        }
        HostState::Starting | HostState::Ready if run.runs() => "● works",
        HostState::Starting | HostState::Ready => "○ ready",
    };
    if place.is_empty() { format!("{state} · steersman") } else { format!("{state} · {place} · steersman") }
}

/// Notes what is to be notified of an event: the end of a turn a moment later, unless another begins before.
pub fn apply(alerts: &mut Alerts, envelope: &Envelope, run: &RunState) {
    match &envelope.event {
        Event::TurnStarted { .. } if envelope.agent.is_main() => alerts.ended = None,
        Event::TurnEnded { outcome, .. } if envelope.agent.is_main() && alerts.is_on() => {
            let words = match outcome {
                Outcome::Completed | Outcome::Synthesized if goes_on(run) => return,
                Outcome::Completed | Outcome::Synthesized => "the answer is ready",
                Outcome::Failed => "the turn failed",
                // The user's own doing.
                Outcome::Cancelled => return,
            };
            let at = envelope.at.checked_add(limits::ALERT_PAUSE).unwrap_or(envelope.at);
            alerts.ended = Some((at, words.to_owned()));
        }
        Event::Paused { call } => {
            let name = if envelope.agent.is_main() { "main" } else { envelope.agent.as_str() };
            let before = call.as_ref().map_or_else(|| "the next request".to_owned(), |call| call.name.clone());
            alerts.raised = Some(format!("{name} waits before {before}"));
        }
        _ => {}
    }
}

/// Notes a question that is new, and returns what is to be notified now.
pub fn due(alerts: &mut Alerts, questions: &Questions, now: Timestamp) -> Option<Effect> {
    let asked = std::mem::replace(&mut alerts.asked, questions.current_id());
    if alerts.asked != asked
        && let Some(question) = questions.current()
        && matches!(
            question.subject,
            QuestionSubject::Approval(..) | QuestionSubject::StillTrue(_) | QuestionSubject::Unfinished(_)
        )
    {
        // The others are asked because of a key: whoever pressed it is there.
        alerts.raised = Some(format!("a question: {}", question.title));
    }
    let ended = alerts.ended.take_if(|(at, _)| *at <= now).map(|(_, words)| words);
    let words = alerts.raised.take().or(ended)?;
    alerts.is_on().then(|| Effect::Notify(format!("Steersman: {words}")))
}

/// Returns whether a pending text starts the next turn at once, or the answer of a sub-agent in the background starts one.
fn goes_on(run: &RunState) -> bool {
    let is_next = |entry: &PendingText| {
        entry.agent.is_main()
            && (entry.stage == PendingStage::Delivering || !(entry.message.held || entry.message.stale))
    };
    run.agents.main().awaited > 0 || run.pending.entries().iter().any(is_next)
}
