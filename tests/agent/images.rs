//! Images of the user: how each dialect sends them, which models get none, and what keeps them.

use crate::support::png::{BASE64, png};
use std::sync::Arc;

use serde_json::{Value, json};
use steersman_agent::{History, Keep, Pins};
use steersman_base::event::{Pending, UserText};
use steersman_base::id::AgentId;
use steersman_base::image::{Image, ImageType};
use steersman_base::limits;
use steersman_base::message::{AssistantMessage, DeliveredText, Message, UserAbout};
use steersman_base::plan::Plan;
use steersman_core::control::Interloper;
use steersman_core::provider::{Card, ChatProvider as _, ChatRequest, ChatTransport, Registry, Streaming};
use steersman_provider::{Http, HttpProvider, takes_images};

use crate::support::server::{Reply, Server};

const DIALECTS: [&str; 4] = ["openai", "openai-responses", "anthropic", "gemini"];

fn image() -> Image {
    Image::new("p.png", &png()).unwrap()
}

fn message(text: &str) -> Message {
    Message::user_about(text, vec![image()], UserAbout::Text(DeliveredText::default()))
}

fn transport(dialect: &str, base: &str, model: &str) -> ChatTransport {
    ChatTransport {
        api_base: Some(base.to_owned()),
        provider: Some(dialect.to_owned()),
        model: Some(model.to_owned()),
        ..ChatTransport::default()
    }
}

fn registry(images: bool) -> Registry {
    Registry::from_iter([("m".to_owned(), Card { images: Some(images), ..Card::default() })])
}

/// Returns the messages of a request, without what a dialect adds for its own ends.
fn body(dialect: &str, registry: Registry) -> Value {
    let messages = [message("What is it?"), Message::assistant("A pixel."), Message::user("Which?")];
    let provider = HttpProvider::new(Http::default(), &transport(dialect, "http://127.0.0.1:9/v1", "m")).unwrap();
    let request = ChatRequest::new("m", &messages, &[], Streaming::On).unwrap();
    serde_json::from_slice(&provider.with_registry(Arc::new(registry)).body(&request).unwrap()).unwrap()
}

#[test]
fn each_dialect_sends_an_image_beside_the_text() {
    let url = format!("data:image/png;base64,{BASE64}");
    for (dialect, place, content) in [
        (
            "openai",
            "/messages/0/content",
            json!([{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": url}}]),
        ),
        (
            "openai-responses",
            "/input/0/content",
            json!([{"type": "input_text", "text": "What is it?"}, {"type": "input_image", "image_url": url}]),
        ),
        (
            "anthropic",
            "/messages/0/content",
            json!([
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": BASE64}},
                {"type": "text", "text": "What is it?", "cache_control": {"type": "ephemeral"}},
            ]),
        ),
        (
            "gemini",
            "/contents/0/parts",
            json!([{"inlineData": {"mimeType": "image/png", "data": BASE64}}, {"text": "What is it?"}]),
        ),
    ] {
        for registry in [Registry::default(), registry(true)] {
            let body = body(dialect, registry);
            assert_eq!(body.pointer(place), Some(&content), "{dialect}: {body:#}");
        }
    }
}

#[test]
fn a_model_that_takes_no_images_gets_a_sentence_in_the_place_of_earlier_ones() {
    for dialect in DIALECTS {
        let body = body(dialect, registry(false)).to_string();
        assert!(body.contains("What is it?") && body.contains("The images of this message are left out"), "{body}");
        assert!(!body.contains(BASE64), "{dialect}: {body}");
    }
}

#[tokio::test]
async fn messages_that_a_strict_template_joins_keep_their_images() {
    let refusal = json!({"error": {"message": "Conversation roles must alternate user/assistant"}});
    let server = Server::start([Reply::json(400, refusal), Reply::text("two pixels")]);
    let messages = [message("One."), message("Two.")];
    let provider = HttpProvider::new(Http::default(), &transport("openai", &server.url(), "m")).unwrap();
    let request = ChatRequest::new("m", &messages, &[], Streaming::Off).unwrap();
    assert_eq!(provider.complete(request, &mut |_| Ok(())).await.unwrap().content, "two pixels");
    let sent = server.chats()[1].messages();
    assert_eq!(sent.len(), 1);
    let url = json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{BASE64}")}});
    assert_eq!(sent[0]["content"], json!([{"type": "text", "text": "One.\n\nTwo."}, url, url]));
}

#[tokio::test]
async fn a_model_that_turns_out_to_take_no_images_gets_the_request_without_them() {
    for refusal in [
        "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
        "m is not a multimodal model",
        "Invalid content type. image_url is only supported by certain models.",
        "messages[0]: unknown variant `image_url`, expected `text`",
    ] {
        let server = Server::start([
            Reply::json(400, json!({"error": {"message": refusal}})),
            Reply::text("I see nothing"),
            Reply::text("still nothing"),
        ]);
        let messages = [message("What is it?")];
        let provider = HttpProvider::new(Http::default(), &transport("openai", &server.url(), "m")).unwrap();
        for answer in ["I see nothing", "still nothing"] {
            let request = ChatRequest::new("m", &messages, &[], Streaming::Off).unwrap();
            assert_eq!(provider.complete(request, &mut |_| Ok(())).await.unwrap().content, answer, "{refusal}");
        }
        let sent = server.chats();
        assert!(sent[0].messages()[0].to_string().contains(BASE64));
        for later in &sent[1..] {
            let text = later.messages()[0]["content"].to_string();
            assert!(text.contains("The images of this message are left out"), "{text}");
        }
    }
}

#[test]
fn only_what_is_an_image_by_its_first_bytes_and_not_too_large_is_one() {
    for (head, kind) in [
        (png().as_slice(), Some(ImageType::Png)),
        (b"\xff\xd8\xff\xe0 and more", Some(ImageType::Jpeg)),
        (b"GIF89a and more", Some(ImageType::Gif)),
        (b"RIFF\x10\0\0\0WEBPVP8 ", Some(ImageType::WebP)),
        (b"RIFF\x10\0\0\0WAVEfmt ", None),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", None),
        (b"GIF", None),
        (b"", None),
    ] {
        assert_eq!(ImageType::detect(head), kind, "{head:?}");
        assert_eq!(Image::new("x", head).ok().map(|image| image.media_type), kind);
    }
    let large = [png(), vec![0; usize::try_from(limits::IMAGE_BYTES).unwrap()]].concat();
    assert!(Image::new("x", &large).unwrap_err().contains("more than 3750 KiB"));
    let facts = image().facts();
    assert_eq!((facts.name.as_str(), facts.bytes), ("p.png", png().len()));
    assert!(!format!("{:?}", image()).contains(BASE64));
}

#[tokio::test]
async fn the_registry_or_the_server_says_whether_a_model_takes_images() {
    let ask = async |server: &Server, model: &str, registry: Registry| {
        takes_images(&Http::default(), &transport("openai", &server.url(), model), &registry).await
    };
    let silent = Server::start([]);
    assert_eq!(ask(&silent, "m", registry(false)).await, Some(false));
    let service = transport("openai", "https://model.invalid/v1", "m");
    assert_eq!(takes_images(&Http::default(), &service, &registry(true)).await, Some(true));
    assert!(silent.requests().is_empty(), "the registry knows it");
    // A server of this machine may run the model without the part that sees.
    assert_eq!(ask(&silent, "m", registry(true)).await, Some(true));
    assert_eq!(ask(&silent, "other", registry(false)).await, None);
    for vision in [true, false] {
        let llama = Server::start([]);
        llama.on("/props", Reply::json(200, json!({"modalities": {"vision": vision, "audio": false}})));
        assert_eq!(ask(&llama, "m", Registry::default()).await, Some(vision));
        assert_eq!(ask(&llama, "m", registry(true)).await, Some(vision));
        let router = Server::start([]);
        let kinds = if vision { json!(["text", "image"]) } else { json!(["text"]) };
        let list = json!({"data": [{"id": "m", "architecture": {"input_modalities": kinds}}]});
        router.on("/v1/models", Reply::json(200, list));
        assert_eq!(ask(&router, "m", Registry::default()).await, Some(vision));
        assert_eq!(ask(&router, "n", Registry::default()).await, None);
    }
}

#[test]
fn a_compaction_keeps_the_images_of_the_task() {
    let mut history = History::new("Prompt.");
    let about = |turn| UserAbout::Text(DeliveredText { turn, begins_turn: true, ..DeliveredText::default() });
    for turn in 1..=2 {
        history.push_user_about("Look at it.", vec![image()], about(turn));
        for _ in 0..3 {
            history.push_assistant(AssistantMessage { content: "Looking.".to_owned(), ..AssistantMessage::default() });
            history.push_system("note");
        }
    }
    let agent = AgentId::main();
    let compacted = history
        .compacted(
            "Sum.",
            &Keep { agent: &agent, rules: &[], plan: &Plan::default(), room: usize::MAX },
            &Pins::default(),
        )
        .unwrap();
    let images = |message: &Message| if let Message::User { images, .. } = message { images.len() } else { 0 };
    let kept: Vec<usize> = compacted.messages().iter().map(images).filter(|count| *count > 0).collect();
    assert_eq!(kept, [1], "that of the first task is over: {:#?}", compacted.messages());
}

#[test]
fn a_text_that_waits_is_written_with_its_images_and_read_without_any() {
    let entry = Pending::new("m1".into(), "Look.", "2026-11-21T09:30:00Z".parse().unwrap());
    let plain = serde_json::to_value(&entry).unwrap();
    assert!(plain.get("images").is_none());
    assert_eq!(serde_json::from_value::<Pending>(plain).unwrap(), entry);
    let message = UserText { images: vec![image()], ..entry.message };
    let entry = Pending { message, ..entry };
    let written = serde_json::to_value(&entry).unwrap();
    assert_eq!(written["images"], json!([{"name": "p.png", "media_type": "image/png", "data": BASE64}]));
    assert_eq!(serde_json::from_value::<Pending>(written).unwrap(), entry);
}

#[test]
fn texts_that_are_joined_have_the_images_of_both_and_parted_each_its_own() {
    let queue = Interloper::new();
    let send = |text: &str| {
        let image = Image::new(format!("{text}.png"), &png()).unwrap();
        queue.inject_user_message(UserText { images: vec![image], ..UserText::from(text) }).unwrap().id
    };
    let (one, _) = (send("one"), send("two"));
    let names = |entries: &[Pending]| -> Vec<Vec<String>> {
        entries.iter().map(|entry| entry.images.iter().map(|image| image.name.clone()).collect()).collect()
    };
    let (first, second) = queue.merge(&one).unwrap().unwrap();
    assert_eq!(names(&queue.peek()), [["one.png", "two.png"]]);
    assert!(queue.replace_by(&one, &first).unwrap());
    assert!(queue.restore_behind(second, &[one]));
    assert_eq!(names(&queue.peek()), [["one.png"], ["two.png"]]);
}
