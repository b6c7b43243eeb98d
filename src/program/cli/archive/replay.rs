//! `steersman replay`: a saved session again on the screen, or the screen as it was at any event as text.

use clap::Args;
use ratatui::layout::Size;

use super::source::{opened, replayed, size, unreadable};
use crate::program::cli::args::Flags;
use crate::program::cli::exit::{Exit, print};
use crate::program::cli::screen::show_recorded;
use steersman_session::journal::SessionFiles;
use steersman_session::replay::moments;
use steersman_tui::replay::ReplayScreen;
use steersman_tui::run::sessions::{facts_of, steps_of};
use steersman_tui::switch::EventPlace;
use steersman_tui::timeline::{Recorded, RecordedSource};

/// The arguments of `replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The session's ID, or a beginning that no other shares, or the path of a journal.
    pub session: String,
    /// The number of the last event that is shown [default: that of the last one].
    #[arg(long, value_name = "N")]
    pub at: Option<u64>,
    /// Go to the last place of this word in the transcript there.
    #[arg(long, value_name = "WORD", conflicts_with = "print")]
    pub find: Option<String>,
    /// With --print: the size of the screen.
    #[arg(long, value_name = "COLUMNSxROWS", value_parser = size, default_value = "120x36")]
    pub size: Size,
    /// Print one screen as text instead of showing the session with a timeline.
    #[arg(long)]
    pub print: bool,
}

/// Shows the session, or prints the rows of one screen.
pub(super) fn run(flags: &Flags, files: &SessionFiles, args: &ReplayArgs) -> Result<Exit, String> {
    let (header, mut records) = opened(files, &args.session)?;
    if !args.print {
        let steps = steps_of(records).map_err(|error| unreadable(&args.session, &error))?;
        // In a transcript a capital letter would count.
        let word = args.find.as_deref().unwrap_or_default().to_lowercase();
        let place = EventPlace { seq: args.at, agent: None, word };
        return show_recorded(flags, Recorded { steps, source: RecordedSource::Alone(facts_of(&header)), place });
    }
    let mut screen = ReplayScreen::new(replayed(Some(&header), args.size));
    for moment in moments(records.by_ref().map_while(Result::ok)) {
        if args.at.is_some_and(|at| moment.seq > at) {
            break;
        }
        screen.receive(moment.at, moment.update);
    }
    print(&(screen.rows().join("\n") + "\n"));
    Ok(Exit::Done)
}
