//! Parts that belong together in an agent: what it shares with its sub-agents, and the handles through which a host
//! controls it.

use std::any::Any;
use std::sync::Arc;

use crate::{CompactionRequest, LoopHooks, ModelChoice};
use steersman_base::limits;
use steersman_base::steering::Framing;
use steersman_core::approval::Approvals;
use steersman_core::control::{
    AgentControls, AgentNotes, Budget, Cancellable, ContextBook, Interloper, PauseGate, Plans, Rules, StepLimit,
};
use steersman_core::provider::{ChatTransport, Connector, Streaming};
use steersman_core::tool::{BackgroundJobs, NoJobs};

/// What all agents of a tree share. A sub-agent starts from its spawner's parts.
#[derive(Clone)]
pub(crate) struct TreeParts {
    /// Where requests go. A sub-agent keeps the one that it was spawned with.
    pub(crate) transport: ChatTransport,
    pub(crate) connector: Arc<dyn Connector>,
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) budget: Arc<Budget>,
    /// The rules of the user that hold.
    pub(crate) rules: Arc<Rules>,
    pub(crate) plans: Arc<Plans>,
    /// What fills the context windows.
    pub(crate) context: Arc<ContextBook>,
    /// What the main agent is to hear of sub-agents that the user continued.
    pub(crate) agent_notes: Arc<AgentNotes>,
    /// What decides at the points of the loop.
    pub(crate) hooks: Option<Arc<dyn LoopHooks>>,
    /// How texts of the user reach the model during a turn.
    pub(crate) framing: Framing,
    /// How full the window is when older rounds are summarised, per cent; 0 turns it off.
    pub(crate) compact_at: u8,
    pub(crate) streaming: Streaming,
    /// The commands in the background.
    pub jobs: Arc<dyn BackgroundJobs>,
}

impl TreeParts {
    /// Returns whether its commands in the background were set.
    pub(crate) fn has_jobs(&self) -> bool {
        !(&*self.jobs as &dyn Any).is::<NoJobs>()
    }

    pub(crate) fn new(transport: ChatTransport, connector: Arc<dyn Connector>) -> Self {
        Self {
            transport,
            connector,
            approvals: Arc::default(),
            budget: Arc::default(),
            rules: Arc::default(),
            plans: Arc::default(),
            context: Arc::default(),
            agent_notes: Arc::default(),
            hooks: None,
            framing: Framing::default(),
            compact_at: limits::COMPACT_AT,
            streaming: Streaming::Off,
            jobs: Arc::new(NoJobs),
        }
    }
}

/// The handles of one agent, of which its host keeps clones.
pub(crate) struct Handles {
    pub(crate) step_limit: Option<StepLimit>,
    pub(crate) cancellable: Option<Cancellable>,
    /// False when another agent owns the cancel flag (D9).
    pub(crate) resets_cancel: bool,
    pub(crate) interloper: Option<Arc<Interloper>>,
    pub(crate) gate: Option<Arc<PauseGate>>,
    /// The agent tree that its sub-agents become members of; its main controls are the handles above.
    pub(crate) agent_controls: Option<Arc<AgentControls>>,
    pub(crate) model_choice: Option<Arc<ModelChoice>>,
    pub(crate) compaction_request: Arc<CompactionRequest>,
}

impl Default for Handles {
    fn default() -> Self {
        Self {
            step_limit: None,
            cancellable: None,
            resets_cancel: true,
            interloper: None,
            gate: None,
            agent_controls: None,
            model_choice: None,
            compaction_request: Arc::default(),
        }
    }
}
