//! What the transcript of the real program says of commands: how they ended, how much they printed, and how it looks.

use crate::support::server::{Reply, Server};
use crate::support::terminal::{Start, Terminal, keys};

/// The program after a turn, or in the middle of one, whose only call is a command that nobody is asked about.
fn with_command(command: &str, size: (u16, u16)) -> (Server, Terminal) {
    let server = Server::start([]);
    let arguments = serde_json::json!({ "command": command }).to_string();
    server.reply(Reply::calls(&[("c1", "bash", &arguments)]));
    server.reply_text("the answer");
    let mut terminal = Start::against(&server).arg("--yes").size(size.0, size.1).run();
    terminal.send("go\r");
    terminal.wait_for(if command.contains("while") { "running bash" } else { "the answer" });
    (server, terminal)
}

#[test]
fn a_command_that_ends_with_an_error_code_is_a_failure_and_not_a_success() {
    let (_server, terminal) = with_command("echo out; exit 3", (120, 36));
    let screen = terminal.screen();
    assert!(screen.contains("✗ bash $ echo out; exit 3 · failed, exit 3"), "{screen}");
}

#[test]
fn a_long_output_says_how_many_lines_there_were_and_what_the_model_got() {
    let (_server, terminal) = with_command("seq 1 200000", (120, 36));
    let screen = terminal.screen();
    assert!(screen.contains(", 200000 lines, the model got "), "{screen}");
    assert!(screen.contains("┆ 199995 more lines") && screen.contains("│ 200000"), "{screen}");
}

#[test]
fn colours_of_a_command_are_colours_and_what_was_written_over_is_gone() {
    let command = r"printf '\033[31mred\033[0m and plain\n\033[2Jcleared\n'; printf 'progress 10%%\rprogress 50%%\n'";
    let (_server, terminal) = with_command(command, (120, 36));
    let screen = terminal.screen();
    assert!(screen.contains("│ red and plain") && screen.contains("│ cleared"), "{screen}");
    assert!(screen.contains("│ progress 50%") && !screen.contains("│ progress 10%"), "{screen}");
    let row = screen.lines().position(|row| row.contains("│ red and")).unwrap();
    let colour = |column: u16| {
        terminal.look(|screen| screen.cell(u16::try_from(row).unwrap(), column).map(vt100::Cell::fgcolor)).unwrap()
    };
    assert_eq!([colour(4), colour(6)], [vt100::Color::Idx(1); 2], "{screen}");
    assert_ne!(colour(8), colour(4));
}

#[test]
fn live_output_uses_the_room_and_a_command_that_was_stopped_keeps_its_last_lines() {
    let (_server, mut terminal) = with_command("seq 101 140; while true; do sleep 0.1; done", (80, 24));
    let screen = terminal.wait_for("│ 140");
    assert!(screen.contains("│ 131") && screen.contains("bash $ seq"), "{screen}");
    terminal.send(keys::ESC);
    terminal.wait_for("interrupted");
    let screen = terminal.screen();
    assert!(screen.contains("│ 140") && screen.contains("│ 131"), "{screen}");
}
