//! What tools work with in tests: commands without a sandbox, no network.

use steersman::host::{WebPool, Workbench};
use steersman::web;
use steersman::workspace::Confinement;

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
