//! The names of the types of events, as the wire form has them. A new event does not compile until its name is here; the
//! tests check the table of the wire form against it.

use crate::event::Event;

impl Event {
    /// Tells whether it is a piece of a stream, of which there are thousands.
    pub fn is_piece(&self) -> bool {
        matches!(
            self,
            Self::AssistantDelta { .. }
                | Self::ThinkingDelta { .. }
                | Self::ToolProgress { .. }
                | Self::JobOutput { .. }
        )
    }

    /// Returns the name of its type, which is the member `type` of the wire form.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::SessionStarted { .. } => "session_started",
            Self::TurnStarted { .. } => "turn_started",
            Self::RoundStarted { .. } => "round_started",
            Self::RoundEnded { .. } => "round_ended",
            Self::UserTurn { .. } => "user_turn",
            Self::ThinkingDelta { .. } => "thinking_delta",
            Self::AssistantDelta { .. } => "assistant_delta",
            Self::Thinking { .. } => "thinking",
            Self::Assistant { .. } => "assistant",
            Self::Tokens(_) => "tokens",
            Self::ToolCall { .. } => "tool_call",
            Self::ToolProgress { .. } => "tool_progress",
            Self::ToolResult { .. } => "tool_result",
            Self::AgentSpawned { .. } => "agent_spawned",
            Self::AgentFinished { .. } => "agent_finished",
            Self::AgentBackgrounded { .. } => "agent_backgrounded",
            Self::AgentAnswered { .. } => "agent_answered",
            Self::ContextCap { .. } => "context_cap",
            Self::FallbackNotice { .. } => "fallback_notice",
            Self::Retrying { .. } => "retrying",
            Self::Cancelled {} => "cancelled",
            Self::TurnEnded { .. } => "turn_ended",
            Self::Pending { .. } => "pending",
            Self::Rules { .. } => "rules",
            Self::RuleNotified { .. } => "rule_told",
            Self::PlanChanged(_) => "plan_changed",
            Self::PlanNotified(_) => "plan_told",
            Self::ToolDetails { .. } => "tool_details",
            Self::Guards { .. } => "guards",
            Self::Question { .. } => "question",
            Self::Answer { .. } => "answer",
            Self::StepLimit { .. } => "step_limit",
            Self::ModelSwitched { .. } => "model_switched",
            Self::Compacting { .. } => "compacting",
            Self::Compacted { .. } => "compacted",
            Self::ContextSize { .. } => "context_size",
            Self::Notice { .. } => "notice",
            Self::ChangesUndone { .. } => "changes_undone",
            Self::HookRan(_) => "hook_ran",
            Self::JobStarted(_) => "job_started",
            Self::JobOutput { .. } => "job_output",
            Self::JobEnded(_) => "job_ended",
            Self::TaskClosed {} => "task_closed",
            Self::Reset {} => "reset",
            Self::History { .. } => "history",
            Self::Extension { .. } => "extension",
            Self::SessionEnded { .. } => "session_ended",
            Self::Seen { .. } => "seen",
            Self::Returned { .. } => "returned",
            Self::Paused { .. } => "parked",
            Self::Resumed { .. } => "unparked",
            Self::Unknown => "unknown",
        }
    }
}
