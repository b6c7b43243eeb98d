//! `--attach` with images: sent where the model takes them, refused before the run where not, kept by the session.

use serde_json::json;
use steersman_base::image::Image;
use tempfile::TempDir;

use super::{exec, lines, of};
use crate::support::png::{BASE64, png};
use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};
use crate::support::stream_schema::check_lines;

/// Puts an image into the directory that the program works in.
fn with_image(program: Program) -> Program {
    std::fs::create_dir_all(program.work()).unwrap();
    std::fs::write(program.work().join("p.png"), png()).unwrap();
    program
}

#[test]
fn an_image_goes_with_the_prompt_and_stays_in_the_session_in_all_four_dialects() {
    for provider in ["openai", "openai-responses", "anthropic", "gemini"] {
        let server = Server::start([Reply::text("a pixel"), Reply::text("the same")]);
        let url = if provider == "gemini" { server.origin().to_owned() } else { server.url() };
        let mut home = TempDir::new().unwrap();
        for args in [["--attach", "p.png", "What is it?"].as_slice(), &["--continue", "and now?"]] {
            let program = with_image(Program::within(home)).env("KEY", "k");
            let program = program.args(["exec", "--provider", provider, "--base-url", &url, "--model", "m"]);
            let program = program.args(["--api-key-env", "KEY"]).args(args.iter().copied());
            let (output, kept) = program.output_with_home();
            assert_eq!(exit_code(&output), 0, "{provider}: {}", stderr(&output));
            home = kept;
        }
        let chats = server.chats();
        assert_eq!(chats.len(), 2);
        for chat in &chats {
            let body = chat.body.to_string();
            assert_eq!(body.matches(BASE64).count(), 1, "{provider}: {body}");
            assert!(body.contains("What is it?\\n\\nImage: p.png"), "{provider}: {body}");
        }
    }
}

#[test]
fn a_model_that_takes_no_images_gets_none_and_the_run_does_not_begin() {
    let server = Server::start([]);
    server.on("/props", Reply::json(200, json!({"modalities": {"vision": false}})));
    for (model, by) in [("deepseek-chat", "the bundled table"), ("m", "its server")] {
        let program = with_image(Program::new()).args(["exec", "--base-url", &server.url(), "--model", model]);
        let program = program.args(["--output", "result", "--attach", "p.png", "What is it?"]);
        let output = program.output();
        assert_eq!(exit_code(&output), 2, "{by}: {}", stderr(&output));
        assert!(stderr(&output).contains(&format!("{model} takes no images: p.png")), "{by}: {}", stderr(&output));
        assert!(stdout(&output).contains("takes no images"), "{by}: {}", stdout(&output));
    }
    assert!(server.chats().is_empty());
}

#[test]
fn the_embedded_model_takes_no_images() {
    let program = with_image(Program::new()).args(["exec", "--provider", "demo", "--attach", "p.png", "look"]);
    let output = program.output();
    assert_eq!(exit_code(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("steersman-embedded takes no images: p.png"), "{}", stderr(&output));
}

#[test]
fn the_json_names_images_and_has_no_data_of_them() {
    let server = Server::start([Reply::text("a pixel")]);
    let program = with_image(exec(&server)).args(["--json", "--attach", "p.png", "--attach", "p.png", "Look."]);
    let output = program.output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let out = stdout(&output);
    check_lines(&out);
    assert!(!out.contains(BASE64));
    let lines = lines(&out);
    let digest = Image::new("p.png", &png()).unwrap().digest();
    let facts = json!({"name": "p.png", "media_type": "image/png", "bytes": png().len(), "digest": digest});
    let turn = &of(&lines, "user_turn")[0]["event"];
    assert_eq!(turn["images"], json!([facts, facts]));
    let waits = of(&lines, "pending").into_iter().find_map(|line| line["event"]["entries"][0].get("images"));
    assert_eq!(waits, Some(&json!([facts, facts])));
    assert_eq!(server.chats()[0].body.to_string().matches(BASE64).count(), 2);
}

#[test]
fn an_image_that_cannot_be_sent_is_refused_before_the_run() {
    let server = Server::start([]);
    let program = with_image(exec(&server));
    let large = program.work().join("large.gif");
    std::fs::write(&large, "GIF89a").unwrap();
    std::fs::File::options().write(true).open(&large).unwrap().set_len(33 << 20).unwrap();
    let output = program.args(["--attach", "large.gif", "Look."]).output();
    assert_eq!(exit_code(&output), 2);
    assert!(stderr(&output).contains("cannot read large.gif: it is larger than 33554432 bytes"), "{}", stderr(&output));
    let many = std::iter::repeat_n(["--attach", "p.png"], 11).flatten();
    let output = with_image(exec(&server)).args(many).args(["Look."]).output();
    assert_eq!(exit_code(&output), 2);
    assert!(stderr(&output).contains("at most 10 images"), "{}", stderr(&output));
}

#[test]
fn images_go_with_an_argument_of_their_own_and_with_requests_in_json() {
    let server = Server::start([Reply::text("one"), Reply::text("two")]);
    let program = with_image(exec(&server)).args(["--image", "p.png", "--input", "json", "Look."]);
    let mut run = program.piped().run();
    let send = json!({"type": "send", "text": "And this?", "delivery": "follow_up", "images": ["p.png"]});
    let gone = json!({"type": "send", "text": "Not this.", "images": ["gone.png"]});
    run.write(&format!("{send}\n{gone}\n"));
    run.close_stdin();
    let end = run.end();
    let bodies: Vec<String> = server.chats().iter().map(|chat| chat.body.to_string()).collect();
    assert_eq!(bodies.len(), 2, "{}", end.stderr);
    assert_eq!(bodies.iter().map(|body| body.matches(BASE64).count()).collect::<Vec<_>>(), [1, 2]);
    assert!(bodies[1].contains("And this?\\n\\nImage: p.png") && !bodies[1].contains("Not this."), "{}", bodies[1]);
    assert!(format!("{}{}", end.stdout, end.stderr).contains("cannot read gone.png"), "{}", end.stdout);
}
