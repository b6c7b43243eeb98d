//! Images in the real program: how one is attached and waits, and what a terminal is written that shows pictures.

use std::fs;
use std::io::Cursor;
use std::time::Duration;

use image::{ImageFormat, Rgb, RgbImage};
use serde_json::json;
use tempfile::TempDir;

use crate::support::server::{Gate, Reply, Server};
use crate::support::terminal::{Start, Terminal, keys};

const PATIENCE: Duration = Duration::from_secs(30);
/// The question to terminals of kitty's protocol, and their answer.
const QUESTION: &str = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\";
const ANSWER: &str = "\x1b_Gi=31;OK\x1b\\";
/// Begins a picture in each protocol.
const KITTY: &str = "\x1b_Ga=T,U=1,";
const ITERM2: &str = "\x1b]1337;File=inline=1;";
const SIXEL: &str = "\x1bP0;1;0q\"1;1;";
/// The questions to terminals that may support sixel: the size of a cell, and the attributes.
const ATTRIBUTES: &str = "\x1b[16t\x1b[c";
/// What foot answers, and what VTE does.
const SIXELS: &str = "\x1b[6;20;10t\x1b[?62;4;22c";
const NO_SIXELS: &str = "\x1b[6;20;10t\x1b[?65;1;9c";
/// Stands for a cell of a picture.
const CELL: char = '\u{10EEEE}';
const CTRL_L: &str = "\x0c";

/// A project with `picture.png`, 400×100.
fn project() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut bytes = Vec::new();
    let picture = RgbImage::from_fn(400, 100, |x, y| Rgb([x.to_le_bytes()[0], y.to_le_bytes()[0], 90]));
    picture.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).unwrap();
    fs::write(directory.path().join("picture.png"), bytes).unwrap();
    directory
}

/// Makes a server whose model takes images, or takes none.
fn server(takes: bool, script: impl IntoIterator<Item = Reply>) -> Server {
    let server = Server::start(script);
    server.on("/props", Reply::json(200, json!({"modalities": {"vision": takes}})));
    server
}

/// Types the path of the image and waits until it is attached.
fn attach(terminal: &mut Terminal) {
    terminal.send("look at @pict");
    terminal.wait_for("picture.png");
    terminal.send(keys::TAB);
    terminal.wait_for("[image 1: picture.png 400×100");
}

/// Sends the image, and waits for the answer.
fn send(terminal: &mut Terminal) {
    attach(terminal);
    terminal.send(keys::ENTER);
    terminal.wait_for("I see it");
}

fn written(terminal: &Terminal, sequence: &str) -> usize {
    String::from_utf8_lossy(&terminal.raw()).matches(sequence).count()
}

/// Waits until a sequence was written so many times.
fn wait_count(terminal: &Terminal, sequence: &str, count: usize) {
    let mut from = 0;
    for _ in 0..count {
        terminal.wait_written(from, sequence.as_bytes());
        let raw = terminal.raw();
        let found = raw[from..].windows(sequence.len()).position(|window| window == sequence.as_bytes());
        from += found.unwrap() + sequence.len();
    }
}

fn has_picture(screen: &str) -> bool {
    screen.contains(CELL)
}

/// Tells whether all of it is there, 400×100 pixels in cells of 10×20: a frame may be read in pieces.
fn has_whole_picture(screen: &str) -> bool {
    screen.matches(CELL).count() == 40 * 5
}

#[test]
fn an_image_is_completed_to_a_chip_waits_with_its_text_and_arrives_at_the_boundary() {
    let (project, gate) = (project(), Gate::new());
    let call = Reply::calls(&[("c1", "glob", r#"{"pattern": "*"}"#)]).gated(&gate);
    let server = server(true, [call, Reply::text("I see it")]);
    let mut terminal = Start::against(&server).cwd(project.path()).run();
    terminal.send("start\r");
    gate.wait_reached();
    attach(&mut terminal);
    // One key takes the blank behind it, one the whole of it.
    terminal.send("\x7f\x7f");
    let screen = terminal.wait_gone("[image 1");
    assert!(screen.contains("look at"), "{screen}");
    terminal.send("@pict");
    terminal.wait_for("picture.png");
    terminal.send(keys::TAB);
    terminal.wait_for("[image 2: picture.png 400×100");
    terminal.send(keys::ENTER);
    terminal.wait_until("the text to wait", |screen| {
        screen.contains("1 pending") && screen.contains("[image 2: picture.png") && screen.contains("Type a message")
    });
    gate.open();
    terminal.wait_for("I see it");
    let bodies: Vec<String> = server.chats().iter().map(|chat| chat.body.to_string()).collect();
    assert!(!bodies[0].contains("data:image/png"), "it was not there yet");
    assert_eq!(bodies[1].matches("data:image/png;base64,").count(), 1, "{}", bodies[1]);
}

#[test]
fn a_model_that_takes_no_images_is_said_before_enter_and_the_text_stays() {
    let project = project();
    let server = server(false, []);
    let mut terminal = Start::against(&server).cwd(project.path()).run();
    terminal.send("look at @pict");
    terminal.wait_for("picture.png");
    terminal.send(keys::TAB);
    let screen = terminal.wait_for("the model takes no images");
    assert!(screen.contains("look at"), "{screen}");
    assert!(server.chats().is_empty());
}

#[test]
fn a_terminal_of_kittys_protocol_gets_the_picture_once_and_it_goes_with_the_program() {
    let project = project();
    let server = server(true, [Reply::text("I see it"), Reply::text(&"more\n\n".repeat(60))]);
    let mut terminal = Start::against(&server).env("TERM", "xterm-kitty").cwd(project.path()).run();
    terminal.wait_written(0, QUESTION.as_bytes());
    terminal.send(ANSWER);
    send(&mut terminal);
    let screen = terminal.wait_until("the picture", has_whole_picture);
    assert!(screen.contains("[image 1: picture.png 400×100"), "its name stays: {screen}");
    assert_eq!(written(&terminal, KITTY), 1);
    // What lies over it covers it, and it is there again behind that, without being sent again.
    terminal.send(keys::F1);
    terminal.wait_until("the help over it", |screen| screen.contains("Help: ") && !has_picture(screen));
    terminal.send(keys::ESC);
    terminal.wait_until("the picture again", has_picture);
    // It scrolls out of view and back.
    terminal.send("more\r");
    terminal.wait_until("the picture out of view", |screen| screen.contains("more") && !has_picture(screen));
    terminal.send(&keys::PAGE_UP.repeat(9));
    terminal.wait_until("the picture in view", has_picture);
    assert_eq!(written(&terminal, KITTY), 1, "the terminal has it");
    // A terminal that is emptied may have forgotten it.
    terminal.send(CTRL_L);
    wait_count(&terminal, KITTY, 2);
    terminal.wait_for("· idle");
    let before = terminal.written();
    terminal.send(keys::CTRL_D);
    assert_eq!(terminal.wait_exit(PATIENCE).exit_code(), 0);
    let last = String::from_utf8_lossy(&terminal.raw()[before..]).into_owned();
    let (forgotten, left) = (last.find("\x1b_Ga=d,d=I,q=2,i=5460992\x1b").unwrap(), last.find("\x1b[?1049l").unwrap());
    assert!(forgotten < left, "{last:?}");
}

#[test]
fn a_terminal_of_iterm2s_protocol_gets_the_rows_of_the_picture_where_they_stand() {
    let project = project();
    let server = server(true, [Reply::text("I see it")]);
    let mut terminal = Start::against(&server).env("TERM_PROGRAM", "iTerm.app").cwd(project.path()).run();
    send(&mut terminal);
    wait_count(&terminal, ITERM2, 5);
    assert_eq!((written(&terminal, "\x1b_G"), has_picture(&terminal.screen())), (0, false));
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(raw.contains(";width=40;height=1:"), "{raw:?}");
    // A frame that changes elsewhere does not draw them again; one behind an overlay does.
    terminal.type_text("words");
    assert_eq!(written(&terminal, ITERM2), 5);
    terminal.send(keys::F1);
    terminal.wait_for("Help: ");
    terminal.send(keys::ESC);
    wait_count(&terminal, ITERM2, 10);
}

#[test]
fn a_terminal_that_answers_that_it_shows_sixels_gets_the_rows_of_the_picture_and_keeps_none() {
    let project = project();
    let server = server(true, [Reply::text("I see it"), Reply::text(&"more\n\n".repeat(60))]);
    let mut terminal = Start::against(&server).cwd(project.path()).run();
    terminal.wait_written(0, ATTRIBUTES.as_bytes());
    // In pieces, with a key between, and late.
    terminal.send("\x1b[6;20");
    terminal.send(";10t");
    send(&mut terminal);
    assert_eq!(written(&terminal, SIXEL), 0);
    terminal.send("w\x1b[?62;");
    terminal.send("4;22cx");
    wait_count(&terminal, SIXEL, 5);
    let screen = terminal.wait_typed("wx");
    assert!(!has_picture(&screen) && !screen.contains("62;"), "{screen}");
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(raw.contains("\x1b8\x1bP0;1;0q\"1;1;400;20#"), "a row of forty cells: {raw:?}");
    // A frame that changes elsewhere does not draw them again; one behind an overlay does.
    terminal.type_text(" words");
    assert_eq!(written(&terminal, SIXEL), 5);
    terminal.send(keys::F1);
    terminal.wait_for("Help: ");
    terminal.send(keys::ESC);
    wait_count(&terminal, SIXEL, 10);
    // It scrolls out of view and back.
    terminal.send(keys::ENTER);
    terminal.wait_until("the picture out of view", |screen| screen.contains("more") && !screen.contains("I see it"));
    let before = terminal.written();
    terminal.send(&keys::PAGE_UP.repeat(9));
    terminal.wait_written(before, SIXEL.as_bytes());
    // Cells of another size: it is made again, twice as many cells in each direction.
    let before = terminal.written();
    terminal.send("\x1b[6;10;5t");
    terminal.wait_written(before, b"\x1bP0;1;0q\"1;1;300;10#");
    terminal.wait_for("· idle");
    let before = terminal.written();
    terminal.send(keys::CTRL_D);
    assert_eq!(terminal.wait_exit(PATIENCE).exit_code(), 0);
    let last = String::from_utf8_lossy(&terminal.raw()[before..]).into_owned();
    let (erased, left) = (last.rfind("\x1b[2J").unwrap(), last.find("\x1b[?1049l").unwrap());
    assert!(erased < left && !last[erased..].contains("\x1bP"), "{last:?}");
}

#[test]
fn no_other_terminal_is_written_a_byte_of_it() {
    let off = "screen.pictures = \"off\"";
    for (variables, answer, setting) in [
        (&[("TERM", "xterm-256color")][..], ANSWER, ""),
        (&[("TERM", "xterm-kitty"), ("TMUX", "/tmp/tmux,1,0")], ANSWER, ""),
        (&[("TERM", "xterm-256color"), ("LC_TERMINAL", "iTerm2"), ("TMUX", "/tmp/tmux,1,0")], "", ""),
        (&[("TERM", "xterm-kitty")], ANSWER, off),
        (&[("TERM_PROGRAM", "iTerm.app")], "", off),
        // It says that it cannot, or says nothing.
        (&[("TERM", "xterm-kitty")], "\x1b_Gi=31;ENOTSUPPORTED\x1b\\", ""),
        (&[("TERM", "xterm-kitty")], "", ""),
        (&[("TERM", "xterm-256color")], "", ""),
        (&[("TERM", "xterm-256color")], NO_SIXELS, ""),
        // It shows them, and nobody knows the size of its cells.
        (&[("TERM", "xterm-256color")], "\x1b[?62;4;22c", ""),
        // Nobody asked.
        (&[("TERM", "xterm-256color")], SIXELS, off),
        (&[("TERM", "xterm-256color"), ("NO_COLOR", "1")], SIXELS, ""),
        (&[("TERM", "xterm-256color"), ("STY", "1.pts")], SIXELS, ""),
        (&[("TERM", "xterm-kitty")], SIXELS, ""),
        (&[("TERM", "linux")], SIXELS, ""),
    ] {
        let project = project();
        let config = project.path().join("own.toml");
        fs::write(&config, setting).unwrap();
        let server = server(true, [Reply::text("I see it")]);
        let mut start = Start::against(&server).cwd(project.path());
        start = start.arg("--config").arg(config.to_str().unwrap());
        let mut terminal = variables.iter().fold(start, |start, (name, value)| start.env(name, value)).run();
        terminal.send(answer);
        send(&mut terminal);
        terminal.send(keys::F1);
        terminal.wait_for("Help: ");
        let is_requested = variables == [("TERM", "xterm-kitty")] && setting.is_empty();
        assert_eq!(written(&terminal, "\x1b_G"), usize::from(is_requested), "{variables:?}");
        assert_eq!(written(&terminal, "1337"), 0, "{variables:?}");
        let is_requested = variables == [("TERM", "xterm-256color")] && setting.is_empty();
        assert_eq!(written(&terminal, ATTRIBUTES), usize::from(is_requested), "{variables:?}");
        assert_eq!(written(&terminal, "\x1bP"), 0, "{variables:?}");
        assert!(!String::from_utf8_lossy(&terminal.raw()).contains(CELL), "{variables:?}");
    }
}

#[test]
fn an_image_of_a_resumed_session_is_a_picture_again() {
    let project = project();
    let server = server(true, [Reply::text("I see it")]);
    let mut terminal = Start::against(&server).cwd(project.path()).run();
    send(&mut terminal);
    terminal.wait_for("· idle");
    terminal.send(keys::CTRL_D);
    assert_eq!(terminal.wait_exit(PATIENCE).exit_code(), 0);
    let home = terminal.home().to_str().unwrap();
    let start = Start::against(&server).arg("--continue").env("TERM", "xterm-kitty").env("HOME", home);
    let mut terminal = start.cwd(project.path()).run();
    terminal.wait_written(0, QUESTION.as_bytes());
    terminal.send(ANSWER);
    terminal.wait_until("the picture", |screen| screen.contains("I see it") && has_picture(screen));
    assert_eq!(written(&terminal, KITTY), 1);
}

#[test]
fn an_attached_screen_gets_the_picture_from_the_session_as_well() {
    let project = project();
    let server = server(true, [Reply::text("I see it")]);
    let mut first = Start::against(&server).cwd(project.path()).run();
    send(&mut first);
    let home = first.home().to_str().unwrap();
    let mut second = Start::new(["attach"]).env("HOME", home).env("TERM", "xterm-kitty").run();
    second.wait_written(0, QUESTION.as_bytes());
    second.send(ANSWER);
    second.wait_until("the picture", has_whole_picture);
    assert_eq!((written(&second, KITTY), written(&first, KITTY)), (1, 0));
}

#[test]
fn a_branch_sends_the_images_of_its_message_again_and_those_before_it() {
    let project = project();
    let server = server(true, [Reply::text("I see it"), Reply::text("and that"), Reply::text("once more")]);
    let mut terminal = Start::against(&server).cwd(project.path()).run();
    send(&mut terminal);
    terminal.send("and @pict");
    terminal.wait_for("picture.png");
    terminal.send(keys::TAB);
    terminal.wait_for("and [image 2: picture.png");
    terminal.send(keys::ENTER);
    terminal.wait_for("and that");
    terminal.wait_for("· idle");
    terminal.send("\x0f[b");
    terminal.wait_for("Branch: a new session");
    terminal.wait_for("● ready");
    terminal.send("\x1by");
    terminal.wait_gone("and that");
    terminal.wait_for("I see it");
    terminal.wait_for("and [image 2: picture.png");
    terminal.send(keys::ENTER);
    terminal.wait_for("once more");
    let chats = server.chats();
    let (second, branch) = (&chats[1], &chats[2]);
    assert_eq!(second.contents("user"), branch.contents("user"), "the same texts with the same images");
    assert_eq!(branch.body.to_string().matches("data:image/png;base64,").count(), 2);
}

#[test]
fn a_line_of_a_plain_terminal_sends_the_image_that_it_names() {
    let project = project();
    let server = server(true, [Reply::text("I see it")]);
    let start = Start::against(&server).arg("--screen-reader").env("TERM", "dumb");
    let mut terminal = start.cwd(project.path()).spawn();
    terminal.wait_for("/help reads the commands");
    terminal.send("look at @picture.png please\r");
    terminal.wait_for("answer: I see it");
    let body = server.chats()[0].body.to_string();
    assert!(body.contains("data:image/png;base64,") && body.contains("[image 1: picture.png 400×100"), "{body}");
    assert!(!terminal.raw().contains(&0x1b), "no escape byte is ever written");
}
