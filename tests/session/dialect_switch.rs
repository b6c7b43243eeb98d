//! One conversation with tools over all four dialects, and back to one that was there before.
//!
//! Each server checks every request in its own dialect. Nothing of what was said, called and read is lost on the way; the
//! thoughts of a model go back to nobody but itself.

use crate::support::dialects::{anthropic, chat, gemini, responses};
use steersman_base::event::Event;
use steersman_core::provider::{ChatTransport, Registry};
use steersman_provider::ModelServer;

use crate::model_switch::{launch, transport};
use crate::support::server::{Request, Server};

/// Returns the requests for a reply.
fn bodies(server: &Server) -> Vec<String> {
    server.chats().iter().map(|chat: &Request| chat.body.to_string()).collect()
}

#[tokio::test]
async fn a_conversation_with_tools_goes_through_every_dialect_and_loses_nothing() {
    let (chat, anthropic, responses, gemini) = (chat(), anthropic(), responses(), gemini());
    let gemini_at =
        ChatTransport { api_base: Some(gemini.origin().to_owned()), ..transport(&gemini, "gemini", Some("g")) };
    let sources = [
        ModelServer::new("claude", transport(&anthropic, "anthropic", Some("a"))),
        ModelServer::new("responses", transport(&responses, "openai-responses", Some("r"))),
        ModelServer::new("gemini", gemini_at),
    ];
    let mut ship = launch(transport(&chat, "openai", Some("c")), sources, Registry::default());
    ship.send("question-1").await;
    for (name, question) in
        [("claude", "question-2"), ("responses", "question-3"), ("gemini", "question-4"), ("claude", "question-5")]
    {
        ship.switch(name).await;
        ship.send(question).await;
    }
    let switches = ship.switches();
    let told: Vec<(&str, Option<&str>)> = switches.iter().map(|(to, by)| (to.as_str(), by.as_deref())).collect();
    assert_eq!(
        told,
        [("a", Some("anthropic")), ("r", Some("openai-responses")), ("g", Some("gemini")), ("a", Some("anthropic"))]
    );

    let all = [bodies(&chat), bodies(&anthropic), bodies(&responses), bodies(&gemini)];
    assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [2, 3, 2, 2]);
    // The last request of each stay knows all that was said, called and read before it.
    let said = ["Chat says nine.", "Anthropic says nine.", "Responses says nine.", "Gemini says nine."];
    let stays = [&all[0][1], &all[1][1], &all[2][1], &all[3][1], &all[1][2]];
    for (stay, body) in stays.into_iter().enumerate() {
        for (turn, answer) in said.iter().enumerate() {
            assert_eq!(body.contains(answer), turn < stay, "{answer} in stay {stay}: {body}");
        }
        for question in 1..=stay + 1 {
            assert!(body.contains(&format!("question-{question}")), "question {question} in stay {stay}: {body}");
        }
        // Each of the first four turns has read the file once.
        assert_eq!(body.matches("tide at nine").count(), (stay + 1).min(4), "results in stay {stay}: {body}");
    }
    // Each model gets its own thoughts back while it works, and nobody else's ever.
    for (own, marks) in [
        (0, &["thought-of-chat"][..]),
        (1, &["thought-of-anthropic", "sig-anthropic"][..]),
        (2, &["thought-of-responses", "sealed-by-responses"][..]),
        (3, &["thought-of-gemini", "sealed-by-gemini"][..]),
    ] {
        for (server, bodies) in all.iter().enumerate().filter(|(server, _)| *server != own) {
            for mark in marks {
                assert!(bodies.iter().all(|body| !body.contains(mark)), "{mark} came to server {server}");
            }
        }
    }
    assert!(all[1][1].contains("sig-anthropic") && all[2][1].contains("sealed-by-responses"));
    assert!(all[3][1].contains("sealed-by-gemini"));
    // Back where it was before, what it signed then counts again.
    assert!(all[1][2].contains("sig-anthropic"), "{}", all[1][2]);
    let failed = ship.events.events().into_iter().any(|event| matches!(event, Event::Retrying { .. }));
    assert!(!failed, "no request was refused");
}
