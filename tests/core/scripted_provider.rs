//! Stories of the provider that plays a prepared conversation: what the other tests rely on.

use std::sync::Arc;

use steersman_base::error::Cancelled;
use steersman_base::event::Usage;
use steersman_base::message::Message;
use steersman_core::provider::{
    ChatProvider, ChatRequest, Finish, Piece, Played, ProviderError, ScriptedProvider, Step, Streaming,
};
use tokio::sync::Notify;

fn chunk(thinking: &str, text: &str) -> Piece {
    Piece::Chunk { thinking: thinking.to_owned(), text: text.to_owned() }
}

#[tokio::test]
async fn replies_are_played_in_order_and_requests_are_recorded() {
    let usage = Usage { input: Some(1), ..Usage::default() };
    let provider = ScriptedProvider::new([
        Played::text("one").with_thinking("hm").with_usage(usage.clone()),
        Played::calls(&[("c1", "look", r#"{"at":1}"#)]).with_finish(Finish::Length),
    ]);
    let messages = [Message::system("Be brief."), Message::user("Hi.")];
    let request = ChatRequest::new("m", &messages, &[], Streaming::On).unwrap();
    let mut pieces = Vec::new();
    let mut sink = |piece| {
        pieces.push(piece);
        Ok(())
    };
    let reply = provider.complete(request, &mut sink).await.unwrap();
    assert_eq!((reply.content.as_str(), reply.thinking.as_str(), reply.usage), ("one", "hm", usage));
    assert_eq!(pieces, [chunk("hm", ""), chunk("", "one")]);

    let reply = provider.complete(request, &mut |_| Ok(())).await.unwrap();
    assert_eq!((reply.tool_calls[0].name.as_str(), reply.finish), ("look", Finish::Length));
    let requests = provider.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!((requests[0].model.as_str(), &requests[0].messages[..]), ("m", &messages[..]));

    let end = provider.complete(request, &mut |_| Ok(())).await;
    assert!(matches!(end, Err(ProviderError::Server(_))), "a script that is too short fails the turn, not the test");
    provider.push(Played::error(ProviderError::CutOff));
    assert_eq!(provider.complete(request, &mut |_| Ok(())).await, Err(ProviderError::CutOff));
}

#[tokio::test]
async fn without_streaming_only_notices_of_a_retry_come() {
    let retrying = Piece::Retrying { attempt: 2, after_ms: 5, reason: "busy".to_owned() };
    let provider = ScriptedProvider::new([Played::text("one").then(Step::Piece(retrying.clone()))]);
    let messages = [Message::user("Hi.")];
    let request = ChatRequest::new("m", &messages, &[], Streaming::Off).unwrap();
    let mut pieces = Vec::new();
    provider
        .complete(request, &mut |piece| {
            pieces.push(piece);
            Ok(())
        })
        .await
        .unwrap();
    assert_eq!(pieces, [retrying]);
}

#[tokio::test]
async fn a_refusing_sink_ends_the_request() {
    let provider = ScriptedProvider::new([Played::text("one").then(Step::Piece(chunk("", "two")))]);
    let messages = [Message::user("Hi.")];
    let request = ChatRequest::new("m", &messages, &[], Streaming::On).unwrap();
    let mut seen = 0;
    let mut sink = |_| {
        seen += 1;
        Err(Cancelled)
    };
    assert_eq!(provider.complete(request, &mut sink).await, Err(ProviderError::Cancelled(Cancelled)));
    assert_eq!(seen, 1);
}

#[tokio::test(start_paused = true)]
async fn a_reply_waits_where_the_test_holds_it() {
    let (reached, open) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let played = Played::text("one")
        .then(Step::Reached(Arc::clone(&reached)))
        .then(Step::Wait(Arc::clone(&open)))
        .then(Step::Piece(chunk("", "two")));
    let provider = ScriptedProvider::new([played]);
    let messages = [Message::user("Hi.")];
    let request = ChatRequest::new("m", &messages, &[], Streaming::On).unwrap();
    let mut sink = |_| Ok(());
    let mut reply = provider.complete(request, &mut sink);
    tokio::select! {
        _ = &mut reply => unreachable!("it is held"),
        () = reached.notified() => {}
    }
    open.notify_one();
    assert_eq!(reply.await.unwrap().content, "one");
}
