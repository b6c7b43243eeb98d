//! What tools work with in tests: commands without a sandbox, no network.

use steersman_session::host::{WebPool, Workbench};
use steersman_tools::web;
use steersman_tools::workspace::Confinement;

use super::processes::spawner;

/// Makes a workbench.
pub fn bench() -> Workbench {
    Workbench {
        spawner: spawner(),
        confinement: Confinement::default(),
        web: web::WebOptions::default(),
        web_pool: WebPool::SubAgents,
    }
}
