//! A provider of your own: anything that turns one request into one reply.

use std::sync::Arc;

use steersman::prelude::*;

/// A model that says the last message again, word by word.
struct Parrot;

impl ChatProvider for Parrot {
    fn complete<'a>(
        &'a self,
        request: ChatRequest<'a>,
        sink: &'a mut Sink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        Box::pin(async move {
            let Some(Message::User { content, .. }) = request.messages().last() else {
                return Err(ProviderError::Server("there is nothing to say again".to_owned()));
            };
            for word in content.split_inclusive(' ') {
                // Also where a stop ends the request.
                sink(Piece::text(word))?;
            }
            Ok(Reply::text(content))
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut agent = Agent::with_provider(Arc::new(Parrot), "You are a parrot.").streaming(Streaming::On).await?;
    println!("answer: {}", agent.ask("Pretty Polly!").await?);
    Ok(())
}
