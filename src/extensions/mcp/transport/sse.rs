//! The messages of a stream of server-sent events, one after another.

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::Response;

use crate::mcp::transport::http::{RETRY, causes};
use steersman_base::limits;
use steersman_provider::sse::{Decoder, Frame, TooLong};

/// Longest pause that a server may ask for.
const RETRY_MOST: Duration = Duration::from_mins(1);

/// A stream that is being read.
pub(super) struct Stream {
    response: Response,
    decoder: Decoder,
    waiting: VecDeque<String>,
    last_event: String,
    retry: Duration,
}

/// Why nothing more comes of a stream.
pub(super) enum Gone {
    Ended,
    /// It broke; a sentence says how.
    Broken(String),
}

impl Stream {
    pub(super) fn new(response: Response) -> Self {
        Self { response, decoder: decoder(), waiting: VecDeque::new(), last_event: String::new(), retry: RETRY }
    }

    /// Goes on with another response.
    pub(super) fn resume(&mut self, response: Response) {
        self.response = response;
        self.decoder = decoder();
    }

    /// Returns the id of the last event; empty without one.
    pub(super) fn last_event(&self) -> &str {
        &self.last_event
    }

    /// Returns how long to wait before it is taken up again.
    pub(super) fn retry(&self) -> Duration {
        self.retry
    }

    /// Returns the data of the next event that has any.
    pub(super) async fn next(&mut self) -> Result<String, Gone> {
        loop {
            if let Some(data) = self.waiting.pop_front() {
                return Ok(data);
            }
            let piece = match self.response.chunk().await {
                Ok(Some(piece)) => piece,
                Ok(None) => return Err(Gone::Ended),
                Err(error) => return Err(Gone::Broken(format!("the connection broke: {}", causes(&error)))),
            };
            let (waiting, last, retry) = (&mut self.waiting, &mut self.last_event, &mut self.retry);
            let read = self.decoder.push(&piece, |frame| {
                match frame {
                    Frame::Event { id, data, .. } => {
                        // A stream that goes on may not repeat it.
                        if !id.is_empty() {
                            id.clone_into(last);
                        }
                        if !data.trim().is_empty() {
                            waiting.push_back(data.to_owned());
                        }
                    }
                    Frame::Retry(millis) => *retry = Duration::from_millis(millis).min(RETRY_MOST),
                    Frame::Comment | Frame::Field { .. } => {}
                }
                Ok::<_, TooLong>(())
            });
            read.map_err(|error| Gone::Broken(error.to_string()))?;
        }
    }
}

fn decoder() -> Decoder {
    Decoder::with_caps(limits::MCP_LINE_BYTES, limits::MCP_LINE_BYTES)
}
