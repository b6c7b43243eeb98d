//! What keeps tools within bounds, as the status line tells it: the approval mode, the sandbox, the context files.
//!
//! The mode comes with each snapshot of the open approvals, the rest with the main agent's `guards` event.

use crate::event::Event;
use crate::text::visible_line;

/// Says how much runs without a question. The host has the rules; the screen shows and chooses it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Changes, commands and the network are asked about.
    #[default]
    Ask,
    /// Files of the workspace are changed without a question.
    AutoEdit,
    /// What the sandbox confines runs without a question.
    Auto,
    /// The same without a sandbox; only ever chosen by name.
    AutoWithoutSandbox,
    /// Nothing is changed and no command runs.
    ReadOnly,
}

impl Mode {
    /// Holds every mode, in the order in which completion shows them.
    pub const ALL: [Self; 5] = [Self::Ask, Self::AutoEdit, Self::Auto, Self::AutoWithoutSandbox, Self::ReadOnly];

    /// Returns the name as users write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::AutoEdit => "auto-edit",
            Self::Auto => "auto",
            Self::AutoWithoutSandbox => "auto-without-sandbox",
            Self::ReadOnly => "read-only",
        }
    }

    /// Finds a mode by its name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// Returns what it comes to, in words.
    pub fn help(self) -> &'static str {
        match self {
            Self::Ask => "changes of files, commands and the network are asked about",
            Self::AutoEdit => "files of the workspace are changed without a question",
            Self::Auto => "everything that the sandbox confines runs without a question",
            Self::AutoWithoutSandbox => "everything runs without a question, also unconfined",
            Self::ReadOnly => "nothing is changed and no command runs",
        }
    }

    /// Tells whether commands run without a question.
    pub fn is_auto(self) -> bool {
        matches!(self, Self::Auto | Self::AutoWithoutSandbox)
    }
}

/// Says which mode is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModeChoice {
    /// The one behind the present one, of those that a key may switch to.
    Next,
    /// This one.
    Named(Mode),
}

/// Says what confines commands.
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

/// Holds what is known.
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
