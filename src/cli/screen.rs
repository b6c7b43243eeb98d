//! The full screen: checks that there is a terminal, starts the host on its own threads, and gives the main thread to `tui`.
//!
//! Nothing that takes time comes before the first frame: servers, clients and the agent are made on the worker.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use crate::approval::Answerer;
use crate::cli::args::Flags;
use crate::cli::exit::{Exit, say};
use crate::cli::load::{Start, load};
use crate::cli::outside::Programs;
use crate::cli::project::Front;
use crate::cli::runtime;
use crate::cli::setup::setup;
use crate::cli::themes::themes;
use crate::config::{Environment, ModelSource};
use crate::tui::state::status;
use crate::tui::terminal::MouseMode;
use crate::tui::theme::Themes;
use crate::tui::{self, ScreenOptions};
use crate::{host, limits};

/// Opens the screen and runs it until the user leaves.
pub fn run(flags: &Flags, prompt: Option<String>) -> Exit {
    let start = load(flags, Front::Screen, Answerer::User).map_err(|error| error.to_string());
    let start = match start.and_then(|start| check_terminal(&start).map(|()| start)) {
        Ok(start) => start,
        Err(sentence) => {
            say(&sentence);
            return Exit::Usage;
        }
    };
    let themes = match themes(&start, &Environment::of_process()) {
        Ok(themes) => themes,
        Err(sentence) => {
            say(&sentence);
            return Exit::Usage;
        }
    };
    match show(start, prompt, themes) {
        Ok(exit) => exit,
        Err(error) => {
            say(&format!("the screen cannot be shown: {error}"));
            Exit::Failed
        }
    }
}

/// Tells whether the user wants lines instead of a screen.
fn is_read(start: &Start) -> bool {
    start.config.screen.screen_reader.unwrap_or(false)
}

fn check_terminal(start: &Start) -> Result<(), String> {
    if is_read(start) {
        return Ok(());
    }
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(
            "the screen needs a terminal; without one use: steersman exec PROMPT, or --screen-reader".to_owned()
        );
    }
    if std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
        return Err("this terminal (TERM=dumb) cannot show the screen; use: --screen-reader, or steersman exec PROMPT"
            .to_owned());
    }
    Ok(())
}

fn show(start: Start, prompt: Option<String>, themes: Themes) -> io::Result<Exit> {
    let options = options(&start, prompt, themes);
    let is_read = is_read(&start);
    let runtime = runtime()?;
    let still_true = start.config.still_true;
    let spending = start.config.spending.clone();
    let host = host::start_with(runtime.handle(), |approvals| setup(start, Vec::new(), approvals));
    host.handle().set_staleness(still_true);
    host.handle().budget().configure(spending);
    let ending = if is_read { tui::run_lines(options, host.handle()) } else { tui::run(options, host.handle()) };
    runtime.block_on(host.shutdown(limits::EXIT_GRACE));
    runtime.shutdown_background();
    ending.map(|ending| Exit::Screen(ending.exit_code()))
}

fn options(start: &Start, prompt: Option<String>, themes: Themes) -> ScreenOptions {
    let (label, source) = match &start.config.model {
        ModelSource::Embedded { .. } => ("embedded model".to_owned(), status::ModelSource::Embedded),
        ModelSource::Server(server) => {
            let label = server.model.clone().unwrap_or_else(|| start.config.source.clone());
            (label, status::ModelSource::Configured)
        }
    };
    let home = start.places.home.clone();
    ScreenOptions {
        label,
        source,
        prompt,
        themes,
        prices: start.config.spending.prices.clone(),
        cwd: start.cwd.clone(),
        home,
        outside: Some(Arc::new(Programs::of(|name| std::env::var_os(name)))),
        mouse: MouseMode::On,
    }
}
