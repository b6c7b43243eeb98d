//! `steersman replay`: a saved session again on the screen, or the screen as it was at any event as text.

use clap::Args;
use ratatui::layout::Size;

use super::Answer;
use super::source::{opened, replayed, size, unreadable};
use crate::cli::args::Flags;
use crate::cli::exit::Exit;
use crate::cli::screen::show_recorded;
use crate::session::journal::SessionFiles;
use crate::session::replay::moments;
use crate::tui::replay::ReplayScreen;
use crate::tui::run::sessions::steps_of;

/// The arguments of `replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The session's ID, or a beginning that no other shares, or the path of a journal.
    pub session: String,
    /// With --print: the number of the last event that is shown [default: that of the last one].
    #[arg(long, value_name = "N", requires = "print")]
    pub at: Option<u64>,
    /// With --print: the size of the screen.
    #[arg(long, value_name = "COLUMNSxROWS", value_parser = size, default_value = "120x36")]
    pub size: Size,
    /// Print one screen as text instead of showing the session with a timeline.
    #[arg(long)]
    pub print: bool,
}

/// Shows the session, or returns the rows of one screen.
pub(super) fn run(flags: &Flags, files: &SessionFiles, args: &ReplayArgs) -> Result<Answer, String> {
    let (header, mut records) = opened(files, &args.session)?;
    let shown = replayed(Some(&header), args.size);
    if !args.print {
        let steps = steps_of(records).map_err(|error| unreadable(&args.session, &error))?;
        let exit = show_recorded(flags, shown, steps)?;
        return Ok(Answer { text: String::new(), exit });
    }
    let mut screen = ReplayScreen::new(shown);
    for moment in moments(records.by_ref().map_while(Result::ok)) {
        if args.at.is_some_and(|at| moment.seq > at) {
            break;
        }
        screen.take(moment.at, moment.post);
    }
    Ok(Answer { text: screen.rows().join("\n") + "\n", exit: Exit::Done })
}
