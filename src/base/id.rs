//! Newtypes for the ids of agents, messages, clients, jobs and tool calls.
//!
//! An id is opaque: it is compared, shown and sent back, never parsed.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps the text of an id.
            pub fn new(text: impl AsRef<str>) -> Self {
                Self(Arc::from(text.as_ref()))
            }

            /// Returns the id as it is written on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self::new(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }
    };
}

id_type! {
    /// The id of an agent: empty for the main agent, `researcher 0` for a sub-agent,
    /// `synthesizer` or `researcher 0_synthesizer` for a rescue.
    AgentId
}

id_type! {
    /// The id of a message typed by the user: `m1`, `m2`, …, one counter per session.
    MessageId
}

id_type! {
    /// The name of a client of a run: `inject 1`, `attach 2`, …, one counter per process of a session.
    ClientId
}

id_type! {
    /// The id of a step of a plan: `s1`, `s2`, …, one counter per agent.
    StepId
}

id_type! {
    /// The id of a tool call, as the model server gave it. Sent back unchanged.
    CallId
}

id_type! {
    /// The id of a job, a command in the background: `j1`, `j2`, …, one counter per session.
    JobId
}

impl JobId {
    /// Makes the id of the job of this number.
    pub fn of_number(number: u64) -> Self {
        Self::new(format!("j{number}"))
    }

    /// Returns the number of the job; `None` for an id that no session has given.
    pub fn number(&self) -> Option<u64> {
        self.as_str().strip_prefix('j')?.parse().ok()
    }
}

impl MessageId {
    /// Returns the number of the text; `None` for an id that no session has given.
    pub fn number(&self) -> Option<u64> {
        self.as_str().strip_prefix('m')?.parse().ok()
    }
}

impl AgentId {
    /// Returns the id of the main agent, which is the empty text.
    pub fn main() -> Self {
        Self::new("")
    }

    /// Returns whether this is the main agent.
    pub fn is_main(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the id of this agent's rescue: `synthesizer`, or `<id>_synthesizer` for a sub-agent.
    #[must_use]
    pub fn synthesizer(&self) -> Self {
        if self.is_main() { Self::new("synthesizer") } else { Self::new(format!("{self}_synthesizer")) }
    }

    /// Returns whether this is a rescue; the name of any other sub-agent ends with its number.
    pub fn is_synthesizer(&self) -> bool {
        self.as_str() == "synthesizer" || self.as_str().ends_with("_synthesizer")
    }
}

impl ClientId {
    /// Returns the name of the client that a run was started with, which is the empty text.
    pub fn first() -> Self {
        Self::new("")
    }

    /// Returns whether the run was started with this client.
    pub fn is_first(&self) -> bool {
        self.0.is_empty()
    }
}

impl Default for AgentId {
    fn default() -> Self {
        Self::main()
    }
}
