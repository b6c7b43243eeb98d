//! A server that asks for a long wait: the user is asked first, and the wait is shown.
//!
//! Used by `reply` around each request. Dropping the future withdraws the question or ends the wait; where nobody
//! can answer, the request fails with the server's message.

use std::time::Duration;

use steersman_base::error::spell;
use steersman_base::event::Event;
use steersman_base::text::QuestionText;
use steersman_core::approval::Approvals;
use steersman_core::listener::ListenerList;
use steersman_core::provider::{ChatProvider, ChatRequest, ProviderError, Reply, Sink};

/// The parts that a long wait needs: who asks the user, and who hears of the wait.
pub(super) struct LongWait<'a> {
    /// Asks the user.
    pub approvals: &'a Approvals,
    /// Receive the event that announces the wait.
    pub listeners: &'a ListenerList,
}

impl LongWait<'_> {
    /// Sends a request; waits and sends it again as often as the server asks for that and the user agrees.
    pub(crate) async fn complete(
        self,
        provider: &dyn ChatProvider,
        request: ChatRequest<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<Reply, ProviderError> {
        let mut attempt = 1;
        loop {
            let (wait_ms, message) = match provider.complete(request, &mut *sink).await {
                Err(ProviderError::AsksToWait { wait_ms, message }) => (wait_ms, message),
                answer => return answer,
            };
            let title = format!("wait {} for the server?", spell(wait_ms));
            let mut detail = QuestionText::default();
            detail.sentence("the server says:");
            detail.quote(&message);
            if !self.approvals.ask_user(title, detail).await {
                return Err(ProviderError::AsksToWait { wait_ms, message });
            }
            attempt += 1;
            self.listeners.emit(Event::Retrying { attempt, after_ms: wait_ms, reason: message });
            tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        }
    }
}
