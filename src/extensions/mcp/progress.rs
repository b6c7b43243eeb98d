//! What a server tells of a call that runs.

use serde_json::Value;

use steersman_base::limits;
use steersman_base::text::visible_line;

/// How far a call has come.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// How much is done.
    pub done: f64,
    /// How much there is to do.
    pub total: Option<f64>,
    /// What is done now (untrusted).
    pub message: Option<String>,
}

impl Progress {
    /// Reads the details of the notification; what is missing is left out.
    pub fn from_params(params: &Value) -> Self {
        let number = |name: &str| params.get(name).and_then(Value::as_f64);
        let cut = |text: &str| text.chars().take(limits::MCP_PROGRESS_CHARS).collect();
        let message = params.get("message").and_then(Value::as_str).map(cut);
        Self { done: number("progress").unwrap_or(0.0), total: number("total"), message }
    }

    /// Returns it in one line, safe to show.
    pub fn line(&self) -> String {
        let count = match self.total {
            Some(total) if total > 0.0 => format!("{}/{total}", self.done),
            Some(_) | None => self.done.to_string(),
        };
        match self.message.as_deref().map(visible_line) {
            Some(message) if !message.is_empty() => format!("{count} · {message}"),
            Some(_) | None => count,
        }
    }
}
