//! A provider made of a closure, as [`FnTool`](crate::tool::FnTool) is a tool.

use std::future::Future;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::provider::{ChatProvider, ChatRequest, Piece, ProviderError, Reply, Sink, Streaming};

type Complete = Box<dyn Fn(ChatRequest<'_>) -> BoxFuture<'static, Result<Reply, ProviderError>> + Send + Sync>;

/// A provider out of a closure, which looks at the request and returns the future of the reply: a [`Reply`] or its text. The
/// text comes in one piece; a provider that streams is a type that implements [`ChatProvider`].
///
/// ```
/// use steersman_core::provider::FnProvider;
///
/// let parrot = FnProvider::new(|request| {
///     let said = request.messages().last().map_or("", |message| message.content()).to_owned();
///     async move { Ok(said) }
/// });
/// ```
pub struct FnProvider {
    complete: Complete,
}

impl FnProvider {
    /// Makes a provider. What the future needs of the request is copied before.
    pub fn new<F, R, T>(complete: F) -> Self
    where
        F: Fn(ChatRequest<'_>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, ProviderError>> + Send + 'static,
        T: Into<Reply>,
    {
        Self { complete: Box::new(move |request| complete(request).map(|reply| reply.map(Into::into)).boxed()) }
    }
}

impl ChatProvider for FnProvider {
    fn complete<'a>(
        &'a self,
        request: ChatRequest<'a>,
        sink: &'a mut Sink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        let is_streaming = request.streaming == Streaming::On;
        let reply = (self.complete)(request);
        async move {
            let reply = reply.await?;
            if is_streaming {
                sink(Piece::Chunk { thinking: reply.thinking.clone(), text: reply.content.clone() })?;
            }
            Ok(reply)
        }
        .boxed()
    }
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for Reply {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}
