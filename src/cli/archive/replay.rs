//! `steersman replay`: the screen as it was at any event of a saved session.

use clap::Args;
use ratatui::layout::Size;

use super::Answer;
use super::source::{reading, replayed, size};
use crate::cli::exit::Exit;
use crate::session::journal::SessionFiles;
use crate::session::replay::moments;
use crate::tui::replay::ReplayScreen;

/// The arguments of `replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The session's ID, or a beginning that no other shares, or the path of a journal.
    pub session: String,
    /// The number of the last event that is shown [default: that of the last one].
    #[arg(long, value_name = "N")]
    pub at: Option<u64>,
    /// The size of the screen.
    #[arg(long, value_name = "COLUMNSxROWS", value_parser = size, default_value = "120x36")]
    pub size: Size,
    /// Print the screen as text.
    #[arg(long, required = true)]
    pub print: bool,
}

/// Returns the rows of the screen.
pub(super) fn run(files: &SessionFiles, args: &ReplayArgs) -> Result<Answer, String> {
    let reading = reading(files, &args.session)?;
    let mut screen = ReplayScreen::new(replayed(&reading, args.size));
    for moment in moments(reading.records) {
        if args.at.is_some_and(|at| moment.seq > at) {
            break;
        }
        screen.take(moment.at, moment.post);
    }
    Ok(Answer { text: screen.rows().join("\n") + "\n", exit: Exit::Done })
}
