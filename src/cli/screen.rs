//! The full screen: checks that there is a terminal, starts the host on its own threads, and gives the main thread
//! to `tui`.
//!
//! Nothing slow runs before the first frame: servers, clients and the agent are made on the worker.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use crate::approval::Answerer;
use crate::cli::args::Flags;
use crate::cli::exit::{Exit, say};
use crate::cli::journal;
use crate::cli::keymap::keymap;
use crate::cli::load::{Start, load};
use crate::cli::outside::Programs;
use crate::cli::project::FrontEnd;
use crate::cli::running::listen::{Hosted, Listening};
use crate::cli::runtime;
use crate::cli::setup::setup;
use crate::cli::themes::themes;
use crate::config::{Environment, ModelSource, Notify, NotifyWhen};
use crate::protocol::{Notice, Post};
use crate::session::Hub;
use crate::tui::alerts::AlertWhen;
use crate::tui::keymap::Keymap;
use crate::tui::state::status;
use crate::tui::terminal::MouseMode;
use crate::tui::terminal::alert::{Relay, Titled, Way};
use crate::tui::theme::Themes;
use crate::tui::{self, Answers, ScreenOptions};
use crate::{host, limits};

/// Opens the screen and runs it until the user leaves.
pub fn run(flags: &Flags, prompt: Option<String>) -> Exit {
    let start = load(flags, FrontEnd::Screen, Answerer::User).map_err(|error| error.to_string());
    let start = match start.and_then(|mut start| {
        check_terminal(&start)?;
        journal::begin(&mut start, flags)?;
        Ok(start)
    }) {
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
    let keymap = match keymap(flags, &start) {
        Ok(keymap) => keymap,
        Err(sentence) => {
            say(&sentence);
            return Exit::Usage;
        }
    };
    let session = start.journal.as_ref().map(|journal| journal.session().to_string());
    let options = ScreenOptions { keymap, session, ..options(&start, prompt, themes) };
    match show(start, options, !flags.session.no_socket) {
        Ok(exit) => exit,
        Err(error) => {
            say(&format!("the screen cannot be shown: {error}"));
            Exit::Failed
        }
    }
}

/// Returns whether the user wants lines instead of a screen.
pub(super) fn uses_lines(start: &Start) -> bool {
    start.config.screen.screen_reader.unwrap_or(false)
}

pub(super) fn check_terminal(start: &Start) -> Result<(), String> {
    if uses_lines(start) {
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

fn show(start: Start, options: ScreenOptions, listens: bool) -> io::Result<Exit> {
    let uses_lines = uses_lines(&start);
    let runtime = runtime()?;
    let still_true = start.config.still_true;
    let spending = start.config.spending.clone();
    let journal = start.journal.clone();
    let listening = Listening::of(&start, listens, Hosted::Here);
    let host = host::start_with(runtime.handle(), |approvals| setup(start, Vec::new(), approvals));
    host.handle().set_staleness(still_true);
    if let Some(journal) = &journal {
        journal::attach(journal, host.handle());
    }
    host.handle().budget().configure(spending);
    let hub = Hub::new(host.handle().clone());
    let server = listening.map(|listening| listening.begin(&hub)).transpose();
    let server = server.unwrap_or_else(|sentence| {
        host.handle().mailbox().push(Post::Notice(Notice::Info(sentence)));
        None
    });
    let client = hub.first();
    let ending = if uses_lines { tui::run_lines(options, &client) } else { tui::run(options, &client) };
    // With a clock of its own: that of a worker which does not answer stands still.
    tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(host.shutdown(limits::EXIT_GRACE));
    drop(server);
    runtime.shutdown_background();
    if let Some(missing) = journal.and_then(|journal| journal.close()) {
        say(&missing);
    }
    ending.map(|ending| Exit::Screen(ending.exit_code()))
}

pub(super) fn options(start: &Start, prompt: Option<String>, themes: Themes) -> ScreenOptions {
    let (label, source) = match &start.config.model {
        ModelSource::Embedded { .. } => ("embedded model".to_owned(), status::ModelSource::Embedded),
        ModelSource::Server(server) => {
            let label = server.model.clone().unwrap_or_else(|| start.config.source.clone());
            (label, status::ModelSource::Configured)
        }
    };
    let home = start.places.home.clone();
    let screen = &start.config.screen;
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let relay = match (is_set("TMUX"), is_set("STY")) {
        (true, _) => Relay::Tmux,
        (false, true) => Relay::Screen,
        (false, false) => Relay::None,
    };
    ScreenOptions {
        label,
        source,
        prompt,
        themes,
        prices: start.config.spending.prices.clone(),
        cwd: start.cwd.clone(),
        state: start.places.state.clone(),
        home,
        outside: Some(Arc::new(Programs::of(|name| std::env::var_os(name), vec![start.cwd.clone()]))),
        mouse: if screen.mouse.unwrap_or(true) { MouseMode::On } else { MouseMode::Off },
        titled: if screen.title.unwrap_or(true) { Titled::Yes } else { Titled::No },
        way: way(screen.notify.unwrap_or_default(), relay),
        relay,
        when: match (screen.notify, screen.notify_when.unwrap_or_default()) {
            (Some(Notify::Off), _) => AlertWhen::Never,
            (_, NotifyWhen::Away) => AlertWhen::Away,
            (_, NotifyWhen::Always) => AlertWhen::Always,
        },
        // The Linux console does not support the query and prints it.
        answers: if std::env::var_os("TERM").is_some_and(|term| term == "linux") {
            Answers::No
        } else {
            Answers::Perhaps
        },
        keymap: Keymap::default(),
        session: None,
        client: None,
    }
}

/// Returns the form of notifications.
fn way(notify: Notify, relay: Relay) -> Way {
    let variable = |name| std::env::var(name).ok();
    match notify {
        Notify::Auto => Way::detect(variable("TERM_PROGRAM").as_deref(), variable("TERM").as_deref(), relay),
        Notify::Bell => Way::Bell,
        Notify::Osc9 => Way::Osc9,
        Notify::Osc777 => Way::Osc777,
        Notify::Off => Way::Off,
    }
}
