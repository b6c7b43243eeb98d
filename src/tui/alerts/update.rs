//! What an event or a question raises, and what of it is notified now.

use jiff::Timestamp;

use super::state::Alerts;
use crate::event::{Envelope, Event, Outcome};
use crate::limits;
use crate::session::fold::{PendingStage, PendingTexts};
use crate::tui::approval::{QuestionSubject, Questions};
use crate::tui::effect::Effect;

/// The facts that notifications go by.
#[derive(Debug, Clone, Copy)]
pub struct AlertFacts<'a> {
    /// The moment of the last message that carried one.
    pub now: Timestamp,
    /// The texts that wait for delivery.
    pub pending: &'a PendingTexts,
    /// What the user is asked.
    pub questions: &'a Questions,
}

/// Folds an event in.
pub fn apply(alerts: &mut Alerts, envelope: &Envelope, facts: &AlertFacts<'_>) {
    match &envelope.event {
        Event::TurnStarted { .. } if envelope.agent.is_main() => alerts.turn_began(),
        Event::TurnEnded { outcome, .. } if envelope.agent.is_main() && alerts.is_on() => {
            let words = match outcome {
                Outcome::Completed | Outcome::Synthesized if goes_on(facts.pending) => return,
                Outcome::Completed | Outcome::Synthesized => "the answer is ready",
                Outcome::Failed => "the turn failed",
                // The user's own doing.
                Outcome::Cancelled => return,
            };
            let at = envelope.at.checked_add(limits::ALERT_PAUSE).unwrap_or(envelope.at);
            alerts.turn_ended(at, words.to_owned());
        }
        Event::Parked { call } => {
            let name = if envelope.agent.is_main() { "main" } else { envelope.agent.as_str() };
            let before = call.as_ref().map_or_else(|| "the next request".to_owned(), |call| call.name.clone());
            alerts.raise(format!("{name} waits before {before}"));
        }
        _ => {}
    }
}

/// Returns the notification that is due.
pub fn due(alerts: &mut Alerts, facts: &AlertFacts<'_>) -> Option<Effect> {
    if alerts.is_new(facts.questions.current_id())
        && let Some(question) = facts.questions.current()
        && matches!(
            question.subject,
            QuestionSubject::Approval(..) | QuestionSubject::StillTrue(_) | QuestionSubject::Unfinished(_)
        )
    {
        // The others are asked because of a key: whoever pressed it is there.
        alerts.raise(format!("a question: {}", question.title));
    }
    let words = alerts.take(facts.now)?;
    alerts.is_on().then(|| Effect::Notify(format!("Steersman: {words}")))
}

/// Returns whether a pending text starts the next turn at once.
fn goes_on(pending: &PendingTexts) -> bool {
    pending.entries().iter().any(|entry| {
        entry.agent.is_main()
            && (entry.stage == PendingStage::Delivering || !(entry.message.held || entry.message.stale))
    })
}
