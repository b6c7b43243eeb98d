//! What keeps tools within bounds: the approval mode, the requests that wait for an answer, the sandbox, the context files.
//!
//! Mode and requests come with each snapshot of the approvals, the rest with the main agent's `guards` event.

use steersman_base::event::Event;
use steersman_base::mode::Mode;
use steersman_base::protocol::{ApprovalId, ApprovalRequest};
use steersman_base::text::visible_line;

/// The sandbox of commands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Sandbox {
    /// Nobody has said yet whether there is one.
    #[default]
    Unknown,
    /// One of this name.
    Named(String),
    /// None.
    Missing,
}

/// What keeps tools within bounds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Permissions {
    /// The mode.
    pub mode: Mode,
    /// The requests that wait for an answer, the oldest first.
    pub open: Vec<ApprovalRequest>,
    /// The sandbox of commands.
    pub sandbox: Sandbox,
    /// The files whose text is in the system prompt.
    pub context_files: Vec<String>,
}

impl Permissions {
    /// Tells whether a request still waits for an answer.
    pub fn is_open(&self, id: ApprovalId) -> bool {
        self.open.iter().any(|request| request.id == id)
    }

    /// Takes what the main agent says.
    pub fn apply(&mut self, event: &Event) {
        if let Event::Guards { sandbox, context_files, .. } = event {
            let named = |name: &String| Sandbox::Named(visible_line(name).into_owned());
            self.sandbox = sandbox.as_ref().map_or(Sandbox::Missing, named);
            self.context_files = context_files.iter().map(|file| visible_line(file).into_owned()).collect();
        }
    }
}
