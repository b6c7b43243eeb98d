//! Agents whose texts of the user are framed.

use std::sync::Arc;

use steersman_agent::Agent;
use steersman_base::message::Message;
use steersman_base::steering::Framing;
use steersman_core::tool::Tool;

use crate::doubles::Rig;

/// Builds the agent of a rig with frames.
pub async fn framed(rig: &Rig, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Agent {
    rig.build(rig.builder().framing(Framing::Framed), tools).await
}

/// Returns the texts of the user in the last request, as they were sent.
pub fn user_texts(rig: &Rig) -> Vec<String> {
    let texts = rig.last_request().messages.into_iter().filter_map(|message| match message {
        Message::User { content, .. } => Some(content),
        Message::System { .. } | Message::Assistant(_) | Message::Tool { .. } => None,
    });
    texts.collect()
}
