//! The full screen: checks that there is a terminal, starts the host on its own threads, and gives the main thread
//! to `tui`.
//!
//! Nothing slow runs before the first frame: servers, clients and the agent are made on the worker.

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::program::cli::args::{Flags, SessionFlags};
use crate::program::cli::exit::{Exit, say};
use crate::program::cli::journal::{self, BranchPlan};
use crate::program::cli::key_offer::has_offer;
use crate::program::cli::load::{Start, load, writable};
use crate::program::cli::outside::{Programs, SSH_VARIABLES};
use crate::program::cli::project::{FrontEnd, StateFile};
use crate::program::cli::running::listen::{Hosted, Listening};
use crate::program::cli::screen_files::{keymap, themes};
use crate::program::cli::setup::setup;
use crate::program::cli::{crash, runtime};
use crate::program::config::{Environment, MessageKeys, ModelSource, Notify, NotifyWhen, ScreenPictures};
use steersman_base::id::MessageId;
use steersman_base::limits;
use steersman_base::protocol::{Notice, Update};
use steersman_base::text::visible_line;
use steersman_core::approval::Answerer;
use steersman_session::host;
use steersman_session::host::{Handle, Resumed};
use steersman_session::journal::Journal;
use steersman_session::{Hub, RecordedClient};
use steersman_tui::alerts::AlertWhen;
use steersman_tui::input::TerminalLink;
use steersman_tui::keymap::Keymap;
use steersman_tui::message::vim::EditorKeys;
use steersman_tui::pictures::PictureProtocol;
use steersman_tui::switch::{BranchFiles, Switch};
use steersman_tui::terminal::alert::{AlertMethod, Relay, Titled};
use steersman_tui::terminal::{MouseMode, TerminalKind};
use steersman_tui::theme::Themes;
use steersman_tui::timeline::Recorded;
use steersman_tui::tour::TourStart;
use steersman_tui::{Ending, ScreenOptions, status};

/// Opens the screen and runs it until the user leaves; with another session or a branch as often as the user wants.
pub(super) fn run(flags: &Flags, prompt: Option<String>) -> Exit {
    let (mut flags, mut prompt, mut branch) = (flags.clone(), prompt, None);
    loop {
        match open(&flags, prompt.take(), branch.take()) {
            After::Exit(exit) => return exit,
            After::Resume { session, directory } => {
                flags.session = SessionFlags { resume: Some(session), ..begun_anew(&flags) };
                // Of one that is gone the start says so, and asks.
                if Path::new(&directory).is_dir() {
                    flags.cwd = Some(directory.into());
                }
            }
            After::Branch(plan) => {
                flags.session = begun_anew(&flags);
                branch = Some(plan);
            }
        }
    }
}

fn begun_anew(flags: &Flags) -> SessionFlags {
    SessionFlags {
        resume: None,
        continues: false,
        fork: None,
        session_id: None,
        ephemeral: false,
        ..flags.session.clone()
    }
}

/// What comes after the screen.
enum After {
    Exit(Exit),
    Resume { session: String, directory: String },
    Branch(BranchPlan),
}

fn open(flags: &Flags, prompt: Option<String>, branch: Option<BranchPlan>) -> After {
    let usage = |sentence| After::Exit(Exit::from_result(Err(sentence), Exit::Usage));
    let start = load(flags, FrontEnd::Screen, Answerer::User).map_err(|error| error.to_string());
    let begun = start.and_then(|mut start| {
        check_terminal(&start)?;
        match branch {
            Some(plan) => journal::begin_branch(&mut start, plan)?,
            None => journal::begin(&mut start, flags)?,
        }
        let themes = themes(&start, &Environment::of_process())?;
        let keymap = keymap(flags, &start)?;
        Ok((start, themes, keymap))
    });
    let (mut start, themes, keymap) = match begun {
        Ok(begun) => begun,
        Err(sentence) => return usage(sentence),
    };
    let written = start.journal.as_ref().map(Journal::session);
    let session = written.or(start.read_only.as_ref().map(|(session, _)| session)).map(ToString::to_string);
    let choose_session = flags.session.resume.as_deref() == Some("");
    let session_end = start.resumed.as_ref().map(|_| std::mem::take(&mut start.session_end));
    let tour = if prompt.is_none() { tour_start(&start) } else { TourStart::OnRequest };
    let options = ScreenOptions {
        keymap,
        tour,
        session: session.clone(),
        session_end,
        choose_session,
        ..options(&start, prompt, themes)
    };
    match show(start, options, !flags.session.no_socket) {
        Ok((Ending::Switch(Switch::Resume { session, directory }), _)) => After::Resume { session, directory },
        Ok((Ending::Switch(Switch::Branch { message, text, .. }), notes)) => match session {
            Some(parent) => After::Branch(BranchPlan { parent, message, text, notes }),
            None => usage("this session is not saved, so nothing can branch from it".to_owned()),
        },
        Ok((ending @ (Ending::Quit | Ending::Detached | Ending::Signal(_)), _)) => {
            After::Exit(Exit::Screen(ending.exit_code()))
        }
        Err(error) => {
            say(&format!("cannot show the screen: {error}"));
            After::Exit(Exit::Failed)
        }
    }
}

/// What this user was shown once.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct ShownOnce {
    tour: bool,
}

/// Decides whether the tour begins by itself: at the first start with the embedded model, and never again.
fn tour_start(start: &Start) -> TourStart {
    let is_new = matches!(start.config.model, ModelSource::Embedded { .. })
        && start.resumed.is_none()
        // A question comes first.
        && !has_offer(&start.config);
    let Some(state) = start.places.state.as_deref().filter(|_| is_new && !uses_lines(start)) else {
        return TourStart::OnRequest;
    };
    let mut tour = TourStart::OnRequest;
    let noted = StateFile::new(state, "shown").change(|shown: io::Result<ShownOnce>| {
        if !shown?.tour {
            tour = TourStart::AtOnce;
        }
        Ok(ShownOnce { tour: true })
    });
    // Where that cannot be kept it would begin each time.
    if noted.is_ok() { tour } else { TourStart::OnRequest }
}

/// Shows a recorded session with a timeline, until the user leaves; nothing is run.
///
/// # Errors
/// One sentence, when there is no terminal or the configuration is wrong.
pub(super) fn show_recorded(flags: &Flags, recorded: Recorded) -> Result<Exit, String> {
    let start = load(flags, FrontEnd::Screen, Answerer::User).map_err(|error| error.to_string())?;
    if uses_lines(&start) {
        return Err("a replay needs the full screen; --print writes one screen of it as text".to_owned());
    }
    if recorded.steps.is_empty() {
        return Err("nothing is recorded of this session".to_owned());
    }
    check_terminal(&start)?;
    let themes = themes(&start, &Environment::of_process())?;
    let keymap = keymap(flags, &start)?;
    let options = ScreenOptions { keymap, replay: Some(recorded), ..options(&start, None, themes) };
    let client = RecordedClient::new(Box::<Resumed>::default(), "this is a replay".to_owned());
    let ending = steersman_tui::run(options, &client).map_err(|error| format!("cannot show the screen: {error}"))?;
    Ok(Exit::Screen(ending.exit_code()))
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

/// Shows the screen; returns how it ended, and sentences about files that were taken back for a branch.
fn show(mut start: Start, options: ScreenOptions, listens: bool) -> io::Result<(Ending, Vec<String>)> {
    let uses_lines = uses_lines(&start);
    if let Some((_, why)) = start.read_only {
        let client = RecordedClient::new(start.resumed.take().unwrap_or_else(|| Box::<Resumed>::default()), why);
        let ending =
            if uses_lines { steersman_tui::run_lines(options, &client) } else { steersman_tui::run(options, &client) };
        return ending.map(|ending| (ending, Vec::new()));
    }
    let runtime = runtime()?;
    let still_true = start.config.still_true;
    let spending = start.config.spending.clone();
    let journal = start.journal.clone();
    let listening = Listening::of(&start, listens, Hosted::Here);
    let is_new = start.resumed.is_none();
    let (state, cwd) = (start.places.state.clone().filter(|_| is_new), start.cwd.clone());
    let host = host::start_with(runtime.handle(), |approvals| setup(start, Vec::new(), approvals));
    host.handle().set_staleness(still_true);
    if let Some(journal) = &journal {
        journal::attach(journal, host.handle());
        if let Some(state) = &options.state {
            crash::watch(state, journal);
        }
    }
    host.handle().budget().configure(spending);
    if let Some(state) = state {
        journal::offer_unfinished(state, cwd, journal.as_ref().map(|journal| journal.session().clone()), host.handle());
    }
    let handle = host.handle().clone();
    let hub = Hub::new(handle.clone());
    let server = listening.map(|listening| listening.begin(&hub)).transpose();
    let server = server.unwrap_or_else(|sentence| {
        handle.mailbox().push(Update::Notice(Notice::Info(sentence)));
        None
    });
    let client = hub.first();
    let ending =
        if uses_lines { steersman_tui::run_lines(options, &client) } else { steersman_tui::run(options, &client) };
    // With a clock of its own: that of a worker which does not answer stands still.
    tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(host.shutdown(limits::EXIT_GRACE));
    drop(server);
    runtime.shutdown_background();
    if let Some(missing) = journal.and_then(|journal| journal.close()) {
        say(&missing);
    }
    let ending = ending?;
    let notes = match &ending {
        Ending::Switch(Switch::Branch { message, files: BranchFiles::GoBack, .. }) => rewound(&handle, message),
        Ending::Switch(_) | Ending::Quit | Ending::Detached | Ending::Signal(_) => Vec::new(),
    };
    Ok((ending, notes))
}

/// Takes back what tools changed since a message; what others changed meanwhile is left alone and named.
fn rewound(handle: &Handle, message: &MessageId) -> Vec<String> {
    let files = handle.rewind(message);
    files.iter().map(|file| format!("{}: {}", visible_line(&file.path), file.undo)).collect()
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
    // On another machine, and for another user, the name of the terminal tells of tmux.
    let begins = |name, with: &str| std::env::var(name).is_ok_and(|value| value.starts_with(with));
    let is_tmux = is_set("TMUX") || begins("TERM", "tmux") || begins("TERM_PROGRAM", "tmux");
    let relay = match (is_tmux, is_set("STY")) {
        (true, _) => Relay::Tmux,
        (false, true) => Relay::Screen,
        (false, false) => Relay::None,
    };
    ScreenOptions {
        label,
        source,
        tour: TourStart::OnRequest,
        prompt,
        themes,
        prices: start.config.spending.prices.clone(),
        cwd: start.cwd.clone(),
        state: start.places.state.clone(),
        home,
        outside: Some(Arc::new(
            Programs::new(|name| std::env::var_os(name), writable(&start.cwd, &start.config))
                .with_status(start.config.status_command.clone()),
        )),
        // GNU screen holds a lone Esc back until the next key while the mouse is asked for, and Esc stops a turn.
        mouse: if screen.mouse.unwrap_or(relay != Relay::Screen) { MouseMode::On } else { MouseMode::Off },
        agents_give_way: start.config.agents_give_way,
        titled: if screen.title.unwrap_or(true) { Titled::Yes } else { Titled::No },
        way: way(screen.notify.unwrap_or_default(), relay),
        relay,
        when: match (screen.notify, screen.notify_when.unwrap_or_default()) {
            (Some(Notify::Off), _) => AlertWhen::Never,
            (_, NotifyWhen::Away) => AlertWhen::Away,
            (_, NotifyWhen::Always) => AlertWhen::Always,
        },
        terminal: TerminalKind::new(std::env::var("TERM").ok().as_deref(), relay),
        link: if SSH_VARIABLES.into_iter().any(is_set) { TerminalLink::Ssh } else { TerminalLink::Local },
        pictures: match screen.pictures.unwrap_or_default() {
            ScreenPictures::Auto => PictureProtocol::detect(|name| std::env::var(name).ok()),
            ScreenPictures::Off => None,
        },
        keymap: Keymap::default(),
        editor_keys: match start.config.message_keys {
            MessageKeys::Default => EditorKeys::Usual,
            MessageKeys::Vim => EditorKeys::Vim,
        },
        session: None,
        client: None,
        choose_session: false,
        session_end: None,
        replay: None,
    }
}

fn way(notify: Notify, relay: Relay) -> AlertMethod {
    let variable = |name| std::env::var(name).ok();
    match notify {
        Notify::Auto => AlertMethod::detect(variable("TERM_PROGRAM").as_deref(), variable("TERM").as_deref(), relay),
        Notify::Bell => AlertMethod::Bell,
        Notify::Osc9 => AlertMethod::Osc9,
        Notify::Osc777 => AlertMethod::Osc777,
        Notify::Off => AlertMethod::Off,
    }
}
