//! The token log: one line per round with its usage and the fill of the context window.
//!
//! Each agent has its own counts: a child's log starts at zero and is tagged with the child's id.

use std::io::Write;
use std::sync::{Arc, Mutex};

use crate::listener::Listener;
use steersman_base::event::{Envelope, Event, Usage};
use steersman_base::id::AgentId;
use steersman_base::summary;
use steersman_base::sync::lock;
use steersman_base::text::visible;

/// A listener that writes `tokens in=12.0k out=200 cached=0 ctx=12.2k/32.0k` after each round.
pub struct TokenLog {
    writer: Arc<Mutex<Box<dyn Write + Send>>>,
    /// None for the agent that the log was made for.
    tag: Option<AgentId>,
    /// The last reported context window, tokens.
    cap: Mutex<Option<u64>>,
}

impl TokenLog {
    /// Makes a log that writes to `writer`.
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        Self { writer: Arc::new(Mutex::new(Box::new(writer))), tag: None, cap: Mutex::default() }
    }

    /// Writes one line. A failing writer does not affect the run.
    fn write(&self, usage: &Usage) {
        let cap = *lock(&self.cap);
        let line = line(self.tag.as_ref(), usage, cap);
        let mut writer = lock(&self.writer);
        if let Err(error) = writer.write_all(line.as_bytes()).and_then(|()| writer.flush()) {
            tracing::debug!(%error, "a token line was not written");
        }
    }
}

/// Returns the line of a round. Unknown counts are 0; the context is that of the last round, not a running sum.
fn line(tag: Option<&AgentId>, usage: &Usage, cap: Option<u64>) -> String {
    let tag = tag.map(|id| format!(" [{}]", visible(id.as_str()))).unwrap_or_default();
    let count = |tokens: Option<u64>| summary::tokens(tokens.unwrap_or(0));
    let cap = cap.map(|cap| format!("/{}", summary::tokens(cap))).unwrap_or_default();
    format!(
        "tokens{tag} in={} out={} cached={} ctx={}{cap}\n",
        count(usage.input),
        count(usage.output),
        count(usage.cached),
        summary::tokens(usage.context()),
    )
}

impl Listener for TokenLog {
    fn on_event(&self, envelope: &Envelope) {
        if let Event::Tokens(usage) = &envelope.event {
            self.write(usage);
        } else if let Event::ContextCap { tokens } = &envelope.event {
            *lock(&self.cap) = *tokens;
        }
    }

    fn for_sub_agent(&self, id: &AgentId) -> Option<Arc<dyn Listener>> {
        Some(Arc::new(Self { writer: Arc::clone(&self.writer), tag: Some(id.clone()), cap: Mutex::default() }))
    }

    fn label(&self) -> String {
        "TokenLog".to_owned()
    }
}
