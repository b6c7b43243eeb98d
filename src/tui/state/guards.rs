//! What keeps tools within bounds, as the status line tells it: the approval mode, the sandbox, the context files.
//!
//! The mode comes with each snapshot of the open approvals, the rest with the main agent's `guards` event.

use crate::event::Event;
use crate::mode::Mode;
use crate::text::visible_line;

/// What confines commands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Confined {
    /// Nobody has said so yet.
    #[default]
    Unknown,
    /// A sandbox of this name.
    By(String),
    /// Nothing does.
    Not,
}

/// What is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guards {
    /// The mode.
    pub mode: Mode,
    /// What confines commands.
    pub sandbox: Confined,
    /// The files whose text is in the system prompt.
    pub context_files: Vec<String>,
}

impl Guards {
    /// Takes what the main agent says.
    pub fn apply(&mut self, event: &Event) {
        if let Event::Guards { sandbox, context_files, .. } = event {
            let name = |name: &String| Confined::By(visible_line(name).into_owned());
            self.sandbox = sandbox.as_ref().map_or(Confined::Not, name);
            self.context_files = context_files.iter().map(|file| visible_line(file).into_owned()).collect();
        }
    }
}
