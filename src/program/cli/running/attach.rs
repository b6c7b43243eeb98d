//! `steersman attach`: a second full screen on a session that runs.
//!
//! The screen is the same as the session's own; only its client is at the other end of a socket. Closing it leaves the
//! session as it is, except that `/quit` ends one that is served and has no other screen.

use crate::program::cli::args::Flags;
use crate::program::cli::exit::Exit;
use crate::program::cli::load::load;
use crate::program::cli::project::FrontEnd;
use crate::program::cli::running::args::{AttachArgs, SessionArg};
use crate::program::cli::running::choose::connect;
use crate::program::cli::screen::{check_terminal, options, uses_lines};
use crate::program::cli::screen_files::{keymap, themes};
use crate::program::config::Environment;
use steersman_core::approval::Answerer;
use steersman_session::SCREEN;
use steersman_session::socket::{RemoteClient, Updates};
use steersman_tui::{Ending, ScreenOptions};

/// Opens the screen and runs it until the user leaves.
pub(crate) fn run(flags: &Flags, args: &AttachArgs) -> Exit {
    Exit::from_result(attach(flags, args), Exit::Failed)
}

fn attach(flags: &Flags, args: &AttachArgs) -> Result<Exit, String> {
    let start = load(flags, FrontEnd::Screen, Answerer::User).map_err(|error| error.to_string())?;
    check_terminal(&start)?;
    let themes = themes(&start, &Environment::of_process())?;
    let keymap = keymap(flags, &start)?;
    let which = SessionArg { session: args.session.clone() };
    let (caller, welcome) = connect(flags, &which, SCREEN, Updates::Past)?;
    let client = RemoteClient::new(caller).map_err(|error| error.to_string())?;
    let options = ScreenOptions {
        keymap,
        label: welcome.label,
        cwd: welcome.directory.into(),
        session: Some(welcome.session),
        client: Some(welcome.client),
        ..options(&start, None, themes)
    };
    let ending = if uses_lines(&start) {
        steersman_tui::run_lines(options, &client)
    } else {
        steersman_tui::run(options, &client)
    };
    let ending = ending.map_err(|error| format!("cannot show the screen: {error}"))?;
    if ending == Ending::Quit && welcome.is_served {
        client.end_session();
    }
    client.close();
    Ok(Exit::Screen(ending.exit_code()))
}
