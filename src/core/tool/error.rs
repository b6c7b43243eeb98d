//! The error of a tool: what a call has in place of a result. Any other error becomes one with `?`.

use std::error::Error;
use std::fmt;

use steersman_base::error::{Cancelled, ProviderError, RunError, with_causes};

/// Why a call has no ordinary result. It is no [`Error`] itself, so that `?` makes one out of any error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolError {
    /// A recoverable failure; the model gets `Error: ` and these words.
    Failed(String),
    /// The run was stopped.
    Cancelled(Cancelled),
}

impl ToolError {
    /// Makes a recoverable failure out of a sentence.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(words) => f.write_str(words),
            Self::Cancelled(cancelled) => cancelled.fmt(f),
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for ToolError {
    /// Takes an error with its causes as a recoverable failure; one of a stop stays a stop.
    fn from(error: E) -> Self {
        if is_stop(&error) {
            return Self::Cancelled(Cancelled);
        }
        Self::Failed(with_causes(&error))
    }
}

/// Tells whether an error says that the run was stopped, as that of an agent does which runs within a tool.
fn is_stop(error: &(dyn Error + 'static)) -> bool {
    let of_provider = |error: &ProviderError| matches!(error, ProviderError::Cancelled(_));
    error.is::<Cancelled>()
        || error.downcast_ref().is_some_and(of_provider)
        || error.downcast_ref().is_some_and(|error: &RunError| match error {
            RunError::Cancelled(_) => true,
            RunError::Provider(error) => of_provider(error),
            _ => false,
        })
}
