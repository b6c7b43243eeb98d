//! What tools and hosts work with in tests: commands without a sandbox, no network.

use std::sync::Arc;

use steersman_agent::subagent::Roster;
use steersman_base::steering::{AgentsGiveWay, Framing};
use steersman_core::approval::{Mode, Policy};
use steersman_core::control::{OnExhausted, Spending};
use steersman_core::provider::Streaming;
use steersman_extensions::skill::SkillLibrary;
use steersman_session::host::{HookSetup, ServerSetup, Setup, WebPool, Workbench};
use steersman_tools::web;
use steersman_tools::workspace::{Caution, Confinement};
use tempfile::TempDir;

use crate::doubles::Rig;
use crate::processes::spawner;

/// Makes a workbench.
pub fn bench() -> Workbench {
    Workbench {
        spawner: spawner(),
        confinement: Confinement::default(),
        added: Vec::new(),
        web: web::WebOptions::default(),
        web_pool: WebPool::SubAgents,
    }
}

/// Makes the setup of a host that works in a directory with the model of a rig.
pub fn setup(rig: &Rig, dir: &TempDir) -> Setup {
    Setup {
        max_rounds: None,
        only_tools: None,
        output_schema: None,
        transport: Rig::transport(),
        connector: rig.connector(),
        sources: Arc::default(),
        cwd: dir.path().to_path_buf(),
        caution: Caution::Project,
        workbench: bench(),
        max_steps: 9,
        on_exhausted: OnExhausted::Synthesize,
        streaming: Streaming::Off,
        spending: Spending::default(),
        framing: Framing::Plain,
        agents_give_way: AgentsGiveWay::default(),
        agents_at_once: steersman_base::limits::AGENTS_AT_ONCE,
        compact_at: 85,
        policy: Policy::default(),
        mode: Mode::Ask,
        llama_probe_url: None,
        system_prompt: None,
        context: None,
        roster: Roster::bundled().unwrap(),
        skills: SkillLibrary::default(),
        servers: ServerSetup::default(),
        hooks: HookSetup::default(),
        notes: Vec::new(),
        left_out: Vec::new(),
        says_left_out: true,
        listeners: vec![rig.recorder.clone()],
        resumed: None,
    }
}
