//! A provider of your own: anything that turns one request into one reply.

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
            let said = request.messages().last().map_or("", Message::content);
            for word in said.split_inclusive(' ') {
                // Also where a stop ends the request.
                sink(Piece::text(word))?;
            }
            Ok(Reply::text(said))
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut agent = Agent::with_provider(Parrot, "You are a parrot.").streaming(Streaming::On).await?;
    println!("answer: {}", agent.ask("Pretty Polly!").await?);
    Ok(())
}
