//! The MCP servers of a session, as the program configures them.

use crate::mcp::Servers;
use crate::mcp::definition::ServerDefinition;
use crate::mcp::server::Surroundings;
use crate::mcp::store::Store;
use crate::provider::Http;

use std::path::PathBuf;
use std::sync::Arc;

use crate::approval::Approvals;
use crate::tool::Outputs;
use crate::workspace::Spawner;

/// What the program decides about servers before an agent is built.
#[derive(Default)]
pub struct ServerSetup {
    /// The servers.
    pub definitions: Vec<ServerDefinition>,
    /// Where it is kept what is known about them.
    pub store: Store,
    /// The clients for addresses.
    pub http: Http,
    /// How much of the context window their tools take before they are searched for, per cent.
    pub window_percent: u8,
}

impl ServerSetup {
    /// Makes the servers of a session whose main agent works in this directory.
    pub fn make(
        self,
        spawner: Arc<Spawner>,
        approvals: Arc<Approvals>,
        directory: PathBuf,
        outputs: Option<Arc<Outputs>>,
    ) -> Arc<Servers> {
        let around = Surroundings { spawner, http: self.http, approvals, store: self.store };
        Servers::new(self.definitions, around, directory, outputs, self.window_percent)
    }
}
