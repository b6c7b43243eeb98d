//! Images that a server refuses, damaged ones, and those of results that are taken out: no conversation is stuck with one.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat};
use steersman::agent::{Agent, History, UserTexts};
use steersman::control::Injection;
use steersman::event::Event;
use steersman::id::CallId;
use steersman::image::{FittedImage, Image};
use steersman::message::{Arguments, AssistantMessage, Message, ToolCall, UserAbout};
use steersman::provider::{Played, ProviderError};

use crate::images::png;
use crate::support::doubles::{Rig, run, run_queue};

fn named(name: &str) -> Image {
    Image::new(name, &png()).unwrap()
}

fn status(status: u16, message: &str) -> ProviderError {
    ProviderError::Status { status, message: message.to_owned(), retry_after_ms: None }
}

/// Sends a text with an image.
fn send(rig: &Rig, text: &str, image: &str) {
    rig.interloper.inject_user_message(Injection { images: vec![named(image)], ..Injection::from(text) }).unwrap();
}

/// Returns the names of the images in messages.
fn images(messages: &[Message]) -> Vec<String> {
    let of = |message: &Message| match message {
        Message::User { images, .. } => images.iter().map(|image| image.name.clone()).collect(),
        Message::System { .. } | Message::Assistant(_) | Message::Tool { .. } => Vec::new(),
    };
    messages.iter().flat_map(of).collect()
}

fn notices(rig: &Rig) -> Vec<String> {
    let text = |event| match event {
        Event::Notice { text } => Some(text),
        _ => None,
    };
    rig.events().into_iter().filter_map(text).collect()
}

async fn agent(rig: &Rig) -> Agent {
    rig.agent([]).await
}

#[tokio::test(start_paused = true)]
async fn an_image_that_a_server_refuses_is_named_in_its_place_and_the_conversation_goes_on() {
    for refusal in [
        status(400, "Could not process image"),
        status(400, "invalid PNG"),
        status(422, "messages.0.content: nope"),
        status(500, "failed to decode image"),
        ProviderError::Overflow { message: "Request Entity Too Large".to_owned(), tokens: None, window: None },
        ProviderError::Server("image dimensions exceed the limit".to_owned()),
    ] {
        let rig = Rig::new([Played::error(refusal.clone()), Played::text("I see none."), Played::text("Next.")]);
        send(&rig, "What is it?", "p.png");
        let mut agent = run_queue(agent(&rig).await).answered().await;
        let requests = rig.requests();
        assert_eq!(
            (images(&requests[0].messages), images(&requests[1].messages)),
            (vec!["p.png".to_owned()], vec![]),
            "{refusal}"
        );
        assert!(requests[1].lines().last().unwrap().contains("p.png"), "{:?}", requests[1].lines());
        assert_eq!(UserTexts::of(agent.history().messages()).task_words(), "What is it?");
        let said = notices(&rig);
        assert!(said.len() == 1 && said[0].contains("p.png"), "{said:?}");
        agent.run_loop("Go on.").await.unwrap();
        assert_eq!(rig.requests().len(), 3, "it goes on at once");
    }
}

#[tokio::test(start_paused = true)]
async fn only_the_newest_images_go_where_that_is_enough_and_after_a_resume_too() {
    let rig = Rig::new([Played::text("A."), Played::error(status(400, "bad image")), Played::text("B.")]);
    send(&rig, "First?", "a.png");
    let mut agent = run_queue(agent(&rig).await).answered().await;
    send(&rig, "Second?", "b.png");
    agent.run_queue().await.unwrap();
    assert_eq!(images(&rig.last_request().messages), ["a.png"]);

    // A session that an earlier version has left so.
    let rig = Rig::new([Played::error(status(400, "bad image")), Played::text("Well.")]);
    let mut agent = self::agent(&rig).await;
    let stuck = Message::user_about("What is it?", vec![named("p.png")], UserAbout::Images);
    agent.resume(&[Message::system("As it was."), stuck, Message::assistant("Hm.")], 1);
    agent.run_loop("Go on.").await.unwrap();
    assert_eq!(images(&rig.last_request().messages), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_something_else_leaves_the_images_where_they_are() {
    let refused = || Played::error(status(400, "tools.0: unknown member"));
    let rig = Rig::new([Played::text("A."), refused(), refused(), refused(), Played::text("C.")]);
    send(&rig, "First?", "a.png");
    let mut agent = run_queue(agent(&rig).await).answered().await;
    send(&rig, "Second?", "b.png");
    agent.run_queue().await.unwrap_err();
    assert_eq!(images(agent.history().messages()), ["a.png", "b.png"]);
    agent = run(agent, "Again.").answered().await;
    assert_eq!(images(&rig.last_request().messages), ["a.png", "b.png"]);
    assert_eq!((images(agent.history().messages()).len(), notices(&rig).len()), (2, 0));
}

#[test]
fn a_damaged_image_is_told_and_not_sent() {
    let picture = DynamicImage::from(image::RgbImage::from_fn(64, 64, |x, y| {
        image::Rgb([u8::try_from(x * 4).unwrap(), u8::try_from(y * 4).unwrap(), u8::try_from((x * y) % 256).unwrap()])
    }));
    for format in [ImageFormat::Png, ImageFormat::Jpeg] {
        let mut bytes = Vec::new();
        picture.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
        assert!(FittedImage::new("whole", &bytes).is_ok_and(|fitted| fitted.image.bytes() == bytes.len()));
        for length in [60, bytes.len() / 2, bytes.len() - 20] {
            let outcome = FittedImage::new("cut", &bytes[..length]);
            assert!(outcome.is_err(), "{format:?} of {length} bytes");
        }
    }
}

#[test]
fn a_result_that_is_taken_out_takes_its_images_with_it_and_leaves_those_of_others() {
    let call = |id: &str, name: &str, arguments: &str| ToolCall {
        id: id.into(),
        name: name.to_owned(),
        arguments: Arguments::parse(arguments),
    };
    let calls = vec![
        call("c1", "read", r#"{"path": "a.png"}"#),
        call("c2", "read", r#"{"path": "./b.png"}"#),
        call("c3", "mcp__one__shot", "{}"),
    ];
    let results: Vec<Message> = calls.iter().map(|call| Message::tool(call, "an image")).collect();
    let reply = AssistantMessage { tool_calls: calls, ..AssistantMessage::default() };
    let all = ["a.png", "b.png", "image 1 of mcp__one__shot"];
    let shown = Message::user_about("they follow", all.map(named).to_vec(), UserAbout::Images);
    let before = [Message::system("You."), Message::user("Look."), Message::Assistant(reply)];
    let messages = before.into_iter().chain(results).chain([shown]);
    let whole = History::of(messages);
    for (id, left) in [("c1", [all[1], all[2]]), ("c2", [all[0], all[2]]), ("c3", [all[0], all[1]])] {
        let mut history = whole.clone();
        assert!(history.drop_result(&CallId::new(id)));
        assert_eq!(images(history.messages()), left, "{id}");
        assert!(history.messages().last().unwrap().content().contains("is not here any more: the user took it out"));
        assert!(!history.drop_result(&CallId::new(id)), "it is gone already");
    }
}
