//! What leaves the line output for somebody else: the terminal for the shell, a copy for the clipboard.

use std::io;

use super::super::copy;
use super::super::suspend::{self, Stop};
use super::Desk;
use super::feed::Feed;
use super::paper::Kind;
use crate::limits;
use crate::tui::msg::Msg;
use crate::tui::terminal::signals::Signals;

impl Desk<'_> {
    /// Gives the terminal to the shell until that lets the program go on.
    pub(super) async fn suspend(&mut self, feed: &mut Feed, signals: &mut Signals) -> io::Result<()> {
        self.suspending = false;
        feed.pause();
        self.leave_line();
        self.paper.lend();
        let stop = suspend::stop(signals).await?;
        self.paper.take_back()?;
        feed.go_on();
        self.printer.say(
            "notice",
            match stop {
                Stop::Over => "here again",
                Stop::Refused => "not suspended: no shell would bring it back",
            },
        );
        self.let_go();
        Ok(())
    }

    /// Carries out a copy, as the screen does; a terminal that edits lines by itself, or a pipe, gets no sequence.
    pub(super) fn copy(&mut self, text: String) {
        if text.len() > limits::COPY_BYTES {
            return self.tell(Msg::Copied(Err("the text is too long".to_owned())));
        }
        let sequence = copy::sequence(&text).filter(|_| self.paper.kind() == Kind::Keys);
        let sent = sequence.is_some();
        if let Some(sequence) = sequence {
            self.paper.write(&String::from_utf8_lossy(&sequence));
            self.paper.flush();
        }
        let Some(outside) = self.outside.clone() else { return self.tell(Msg::Copied(copy::answer(sent, None))) };
        self.files.aside(move || vec![Msg::Copied(copy::answer(sent, outside.copy(&text)))]);
    }
}
