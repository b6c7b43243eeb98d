//! Images that a server refuses, damaged ones, and those of results that are taken out: no conversation is stuck with one.

use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::{DynamicImage, ImageFormat};
use steersman_agent::{Agent, History, UserTexts};
use steersman_base::event::{Event, UserText};
use steersman_base::id::CallId;
use steersman_base::image::Image;
use steersman_base::message::{Arguments, AssistantMessage, Message, ToolCall, UserAbout};
use steersman_core::provider::{Played, ProviderError};
use steersman_images::FittedImage;

use crate::support::doubles::{Rig, run, run_queue};
use crate::support::png::png;

fn named(name: &str) -> Image {
    Image::new(name, &png()).unwrap()
}

fn status(status: u16, message: &str) -> ProviderError {
    ProviderError::Status { status, message: message.to_owned(), retry_after_ms: None }
}

/// Sends a text with an image.
fn send(rig: &Rig, text: &str, image: &str) {
    rig.interloper.inject_user_message(UserText { images: vec![named(image)], ..UserText::from(text) }).unwrap();
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
        ProviderError::Overflow { message: "Request body is too large".to_owned(), tokens: None, window: None },
        ProviderError::Overflow { message: "no further message".to_owned(), tokens: None, window: None },
        ProviderError::Server("image dimensions exceed the limit".to_owned()),
        ProviderError::Server("cannot decode PNG".to_owned()),
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
        assert_eq!(UserTexts::in_messages(agent.history().messages()).task_text(), "What is it?");
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

/// What servers say of images, and of a request whose fault they do not name.
const ABOUT_IMAGES: [(u16, &str); 41] = [
    (500, "Failed to create new sequence: failed to process inputs: png: invalid format: invalid checksum"),
    (500, "failed to process inputs: gif: not enough data"),
    (500, "Vision is not enabled on this server"),
    (500, "Multi-modal data is given, and the model takes none"),
    (500, "Failed to load a media file"),
    (400, "messages.2.content.0.tool_result.content: Input should be a valid string"),
    (500, "图片解析失败"),
    (404, "Cannot read the data URI of a message"),
    (400, "messages.0.content.1.image.source.base64.data: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"),
    (400, "At least one of the image dimensions exceed max allowed size: 8000 pixels"),
    (400, "You uploaded an unsupported image. Please make sure your image is valid."),
    (400, "Invalid MIME type. Only certain types are supported."),
    (400, "Unable to process input image. Please retry or report"),
    (400, "Request payload size exceeds the limit: 20971520 bytes."),
    (500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"),
    (400, "At most 1 image(s) may be provided in one request."),
    (400, "some/model-7b is not a multimodal model"),
    (400, "Failed to deserialize the JSON body: messages[1]: unknown variant `image_url`, expected `text`"),
    (400, "Image input is not enabled for this model"),
    (413, "Payload Too Large"),
    (415, "Unsupported Media Type"),
    (400, "messages[1].content must be a string"),
    (422, "Input should be a valid string"),
    (400, "Bad Request"),
    (400, "The picture cannot be decoded"),
    (400, "Could not process the input of this model"),
    (400, "Your request was rejected by our safety system"),
    (400, "Invalid content in a message of the role user"),
    (400, "This model does not support this type of content"),
    (
        400,
        "messages.2.content.0.tool_result.content.1.image.source.base64: The image was specified using image/jpeg, but it is image/png",
    ),
    (400, "messages.4.content.0.tool_result.content.0: Could not process image"),
    (400, "The image data you provided does not represent a valid image. Please check your input and try again."),
    (400, "Image URL must be a valid data URI: invalid base64-encoded value"),
    (400, "Provided image is not valid."),
    (400, "Unsupported MIME type: image/avif"),
    (404, "No endpoints found that support image input"),
    (
        400,
        "litellm.BadRequestError: AnthropicException - messages.0.content.1: image exceeds the maximum of 100 images",
    ),
    (400, "messages.0.content.101.image: too many images and documents: 101 + 0 > 100"),
    (500, "Failed to load image: cannot identify image file <_io.BytesIO object at 0x7f>"),
    (400, "'messages[1].content[1].image_url': the size of 1x1 is below the smallest of 28x28"),
    (400, "Failed to tokenize prompt: invalid number of bitmaps, 1 image marker"),
];

/// What servers say of other faults.
const ABOUT_ELSE: [(u16, &str); 19] = [
    (400, "tools.0: unknown member"),
    (400, "Unsupported parameter: 'max_tokens' is not supported here. Use 'max_completion_tokens' instead."),
    (400, "Invalid schema for function 'look': None is not of type 'object'."),
    (400, "An assistant message with 'tool_calls' must be followed by messages responding to each 'tool_call_id'."),
    (400, "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: c1"),
    (400, "temperature: Extra inputs are not permitted"),
    (400, "The model `m-9` does not exist"),
    (400, "API key not valid. Please pass a valid API key."),
    (400, "max_tokens: 999999 > 8192, which is the maximum allowed"),
    (400, "messages: text content blocks must be non-empty"),
    (400, "roles must alternate user/assistant/user/assistant"),
    (400, "Invalid `signature` in `thinking` block"),
    (422, "reasoning_effort: Input should be 'low', 'medium' or 'high'"),
    (400, "max_tokens is too large: 200000. This model supports at most 16384 completion tokens."),
    (400, "Provisioned throughput of this name does not exist"),
    (500, "Internal Server Error"),
    (429, "Rate limit reached for images per minute: Limit 5, Used 5"),
    (503, "The model gemini-image is overloaded"),
    (401, "Incorrect API key: it may not use vision models"),
];

#[tokio::test(start_paused = true)]
async fn a_refusal_is_tried_without_images_only_where_it_may_be_about_them() {
    for (code, words) in ABOUT_IMAGES {
        let rig = Rig::new([Played::error(status(code, words)), Played::text("I see none.")]);
        send(&rig, "What is it?", "p.png");
        run_queue(agent(&rig).await).answered().await;
        assert_eq!(images(&rig.last_request().messages), [""; 0], "{words}");
        assert_eq!(rig.requests().len(), 2, "{words}");
    }
    for (code, words) in ABOUT_ELSE {
        let refused = || Played::error(status(code, words));
        let rig = Rig::new([Played::text("A."), refused(), refused(), refused(), refused(), refused()]);
        send(&rig, "First?", "a.png");
        let mut agent = run_queue(agent(&rig).await).answered().await;
        send(&rig, "Second?", "b.png");
        agent.run_queue().await.unwrap_err();
        assert_eq!(images(agent.history().messages()), ["a.png", "b.png"], "{words}");
        let with_fewer = rig.requests().iter().skip(1).filter(|request| images(&request.messages).len() < 2).count();
        assert_eq!((with_fewer, notices(&rig).len()), (0, 0), "{words}");
        assert!(code == 500 || rig.requests().len() == 2, "{words}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_holds_without_images_too_leaves_them_where_they_are() {
    let refused = || Played::error(status(400, "Bad Request"));
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

fn encoded(format: ImageFormat) -> Vec<u8> {
    let picture = DynamicImage::from(image::RgbImage::from_fn(64, 64, |x, y| {
        image::Rgb([u8::try_from(x * 4).unwrap(), u8::try_from(y * 4).unwrap(), u8::try_from((x * y) % 256).unwrap()])
    }));
    let mut bytes = Vec::new();
    picture.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    bytes
}

const FORMATS: [ImageFormat; 4] = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP];

#[test]
fn an_image_that_was_cut_anywhere_is_told_and_not_sent() {
    for format in FORMATS {
        let bytes = encoded(format);
        assert!(
            FittedImage::new("whole", &bytes).is_ok_and(|fitted| fitted.image.bytes() == bytes.len()),
            "{format:?}"
        );
        let few = (0..bytes.len()).step_by(bytes.len() / 60);
        // The last bytes one by one: there stands what ends an image. A PNG may lack what comes behind its IEND.
        let last = bytes.len() - 24..bytes.len() - if format == ImageFormat::Png { 4 } else { 0 };
        for length in few.chain(last) {
            assert!(
                FittedImage::new("cut", &bytes[..length]).is_err(),
                "{format:?} of {length} of {} bytes",
                bytes.len()
            );
        }
    }
}

/// Makes a WebP of two pictures out of one that stands still.
fn moving_webp() -> Vec<u8> {
    let still = encoded(ImageFormat::WebP);
    let chunk = |name: &[u8], data: &[u8]| {
        let length = u32::try_from(data.len()).unwrap().to_le_bytes();
        [name, &length, data, if data.len().is_multiple_of(2) { &[][..] } else { &[0] }].concat()
    };
    let side = [63, 0, 0, 63, 0, 0];
    let extended = chunk(b"VP8X", &[&[2, 0, 0, 0][..], &side].concat());
    let frame = chunk(b"ANMF", &[&[0; 6][..], &side, &[100, 0, 0, 0], &still[12..]].concat());
    let body = [&b"WEBP"[..], &extended, &chunk(b"ANIM", &[0; 6]), &frame, &frame].concat();
    chunk(b"RIFF", &body)
}

#[test]
fn of_a_picture_that_moves_the_first_is_sent_and_of_deep_and_grey_ones_all() {
    let moving = moving_webp();
    let sent = FittedImage::new("moving", &moving).unwrap().image;
    let sent = STANDARD.decode(sent.base64()).unwrap();
    assert!(sent != moving && !sent.windows(4).any(|name| name == b"ANIM"));
    assert!(image::load_from_memory(&sent).is_ok());
    let still = encoded(ImageFormat::WebP);
    assert_eq!(FittedImage::new("still", &still).unwrap().image.bytes(), still.len());
    let picture = || DynamicImage::from(image::RgbImage::new(9, 9));
    for odd in
        [picture().to_rgba16().into(), DynamicImage::from(picture().to_luma8()), picture().to_luma_alpha16().into()]
    {
        let mut bytes = Vec::new();
        odd.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).unwrap();
        assert!(FittedImage::new("odd", &bytes).is_ok(), "{:?}", odd.color());
    }
    for other in [
        &b"<svg xmlns='http://www.w3.org/2000/svg'/>"[..],
        b"BM6\0\0\0",
        b"II*\0",
        b"\0\0\0\x20ftypavif",
        b"\0\0\x01\0",
        b"",
    ] {
        let why = FittedImage::new("other", other).unwrap_err();
        assert_eq!(why, "it is no PNG, JPEG, GIF or WebP image");
    }
}

#[test]
fn an_image_with_changed_bytes_is_told_or_can_be_opened_whole() {
    for format in FORMATS {
        let whole = encoded(format);
        let mut refused = 0;
        for place in (0..whole.len()).step_by(whole.len() / 80) {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x5a;
            match FittedImage::new("changed", &bytes) {
                Err(why) => {
                    refused += 1;
                    assert!(!why.is_empty());
                }
                Ok(fitted) => {
                    let sent = STANDARD.decode(fitted.image.base64()).unwrap();
                    assert!(image::load_from_memory(&sent).is_ok(), "{format:?} changed at {place}");
                }
            }
        }
        assert!(refused > 0, "{format:?}");
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
    let whole = History::from_messages(messages);
    for (id, left) in [("c1", [all[1], all[2]]), ("c2", [all[0], all[2]]), ("c3", [all[0], all[1]])] {
        let mut history = whole.clone();
        assert!(history.drop_result(&CallId::new(id)));
        assert_eq!(images(history.messages()), left, "{id}");
        assert!(history.messages().last().unwrap().content().contains("is not here any more: the user took it out"));
        assert!(!history.drop_result(&CallId::new(id)), "it is gone already");
    }
}
