//! The lines in which an event is told where nothing of its own is shown for it. The transcript on the screen, the plain line
//! output and the exports share them, so that a new kind of event is decided about here once.

use super::{Event, Outcome};
use crate::details::UndoneFile;
use crate::text::visible_line;

/// One line about an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventNote {
    /// Whether it says that something went wrong.
    pub is_warning: bool,
    /// The words (untrusted).
    pub text: String,
}

impl Event {
    /// Returns the lines that tell it; none for one that is shown by itself, or through others.
    pub fn notes(&self) -> Vec<EventNote> {
        let note = |text: String| vec![EventNote { is_warning: false, text }];
        let warning = |text: &str| vec![EventNote { is_warning: true, text: text.to_owned() }];
        match self {
            Self::FallbackNotice { reason } => warning(reason),
            Self::Notice { text } => warning(text),
            Self::ModelSwitched { from, to, provider } => {
                let [from, to] = [from, to].map(|model| model.as_deref().unwrap_or("unknown"));
                let provider = provider.as_ref().map(|provider| format!(" ({provider})")).unwrap_or_default();
                note(format!("model: {from} -> {to}{provider}"))
            }
            Self::HookRan(run) if run.is_silent() => Vec::new(),
            Self::HookRan(run) => vec![EventNote { is_warning: run.outcome.is_failure(), text: run.line() }],
            Self::ChangesUndone { files, .. } => {
                let line = |file: &UndoneFile| EventNote { is_warning: !file.undo.is_done(), text: file.line() };
                files.iter().map(line).collect()
            }
            Self::RuleNotified { id, news, text } => note(news.sentence(id, text.as_deref())),
            Self::PlanChanged(changed) => note(changed.sentence()),
            Self::PlanNotified(notified) => note(notified.sentence()),
            Self::TaskClosed {} => note("the task is closed: your next text begins one".to_owned()),
            Self::AgentBackgrounded { child } => note(format!("{child} goes on in the background")),
            Self::AgentAnswered { child, outcome, answer } => {
                let (is_warning, end) = match outcome {
                    Outcome::Completed | Outcome::Synthesized => (false, format!("the answer of {child} is delivered")),
                    Outcome::Cancelled => (false, format!("{child} has no answer: {}", visible_line(answer))),
                    Outcome::Failed => (true, format!("{child} failed: {}", visible_line(answer))),
                };
                vec![EventNote { is_warning, text: end }]
            }
            Self::Reset {} => note("history cleared: the model starts afresh".to_owned()),
            Self::SessionStarted { .. }
            | Self::TurnStarted { .. }
            | Self::RoundStarted { .. }
            | Self::RoundEnded { .. }
            | Self::UserTurn { .. }
            | Self::ThinkingDelta { .. }
            | Self::AssistantDelta { .. }
            | Self::Thinking { .. }
            | Self::Assistant { .. }
            | Self::ToolCall { .. }
            | Self::ToolProgress { .. }
            | Self::ToolDetails { .. }
            | Self::ToolResult { .. }
            | Self::JobStarted(_)
            | Self::JobOutput { .. }
            | Self::JobEnded(_)
            | Self::AgentSpawned { .. }
            | Self::AgentFinished { .. }
            | Self::Retrying { .. }
            | Self::Cancelled {}
            | Self::TurnEnded { .. }
            | Self::Question { .. }
            | Self::Answer { .. }
            | Self::Guards { .. }
            | Self::Compacting { .. }
            | Self::Compacted { .. }
            | Self::ContextCap { .. }
            | Self::ContextSize { .. }
            | Self::StepLimit { .. }
            | Self::Tokens(_)
            | Self::Pending { .. }
            | Self::Rules { .. }
            | Self::Seen { .. }
            | Self::Returned { .. }
            | Self::Paused { .. }
            | Self::Resumed { .. }
            | Self::History { .. }
            | Self::SessionEnded { .. }
            | Self::Extension { .. }
            | Self::Unknown => Vec::new(),
        }
    }
}
