//! Decides whether the user is told who does not look at the screen. The bytes are the terminal's.

use crate::event::{Envelope, Event, Outcome};
use crate::limits;
use crate::session::fold::PendingStage;
use crate::tui::approval::Subject;
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::alerts::When;
use crate::tui::state::attention::Attention;

/// Folds one envelope in.
pub fn apply(app: &mut App, envelope: &Envelope) {
    match &envelope.event {
        Event::TurnStarted { .. } if envelope.agent.is_main() => app.alerts.turn_began(),
        Event::TurnEnded { outcome, .. } if envelope.agent.is_main() && is_told(app) => {
            let words = match outcome {
                Outcome::Completed | Outcome::Synthesized if goes_on(app) => return,
                Outcome::Completed | Outcome::Synthesized => "the answer is ready",
                Outcome::Failed => "the turn failed",
                // The user's own doing.
                Outcome::Cancelled => return,
            };
            let at = envelope.at.checked_add(limits::ALERT_PAUSE).unwrap_or(envelope.at);
            app.alerts.turn_ended(at, words.to_owned());
        }
        Event::Parked { call } => {
            let name = if envelope.agent.is_main() { "main" } else { envelope.agent.as_str() };
            let before = call.as_ref().map_or_else(|| "the next request".to_owned(), |call| call.name.clone());
            app.alerts.raise(format!("{name} waits before {before}"));
        }
        _ => {}
    }
}

/// Returns what the user is to be told now.
pub fn due(app: &mut App) -> Option<Effect> {
    if app.alerts.is_new(app.questions.current_id())
        && let Some(question) = app.questions.current()
    {
        match question.subject {
            Subject::Approval(..) | Subject::StillTrue(_) | Subject::Unfinished(_) => {
                let words = format!("a question: {}", question.title);
                app.alerts.raise(words);
            }
            // Asked because of a key: whoever pressed it is there.
            Subject::New | Subject::Reset | Subject::Quit | Subject::Undo | Subject::Switch(..) => {}
        }
    }
    let words = app.alerts.take(app.now)?;
    is_told(app).then(|| Effect::Notify(format!("Steersman: {words}")))
}

fn is_told(app: &App) -> bool {
    match app.alerts.when {
        When::Always => true,
        When::Away => app.attention == Some(Attention::Away),
        When::Never => false,
    }
}

/// Tells whether a pending text starts the next turn at once.
fn goes_on(app: &App) -> bool {
    app.run.pending.entries().iter().any(|entry| {
        entry.agent.is_main()
            && (entry.stage == PendingStage::Delivering || !(entry.message.held || entry.message.stale))
    })
}
