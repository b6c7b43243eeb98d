//! The screen where a program was killed while its command ran: what that changed is asked about before anything runs.

use std::time::Duration;

use crate::support::cut_off::{CHANGED, cut_off};
use crate::support::server::Server;
use crate::support::terminal::{Start, keys};

#[test]
fn what_a_killed_program_left_is_asked_about_before_anything_runs() {
    for (answer, stays) in [("\x1by", true), ("\x1bn", false)] {
        let Some(home) = cut_off() else { return };
        let server = Server::start([]);
        server.reply_text("the answer");
        let mut terminal = Start::against(&server).arg("hello").home(home).run();
        terminal.wait_for("an earlier start was cut off: keep the change of");
        let screen = terminal.wait_for("● ready");
        assert!(screen.contains("it was nothing, it is a file") && screen.contains("fsmonitor = evil"), "{screen}");
        assert_eq!(server.chats().len(), 0, "nothing runs before the answer");
        terminal.send(answer);
        terminal.wait_for("the answer");
        terminal.wait_for("· idle");
        assert_eq!(terminal.home().join(CHANGED).exists(), stays);
        terminal.send(keys::CTRL_D);
        assert_eq!(terminal.wait_exit(Duration::from_secs(30)).exit_code(), 0);
    }
}
