//! The loop of the screen and of the line output: ties input, state and the client of the run together.
//!
//! One thread waits for input, signals, events and time, input first. It never waits for the agent, and never for the
//! terminal: what is written goes to a writer of its own. With nothing to show it does not wake up at all. What differs
//! between a screen and lines is a `Surface`.
//!
//! # Where things are
//!
//! - when what is being written is kept: `drafts.rs`, `src/tui/message/drafts.rs`; tests: `session_screen.rs`
//! - the external editor, Ctrl+Z and back, copies: `edit.rs`, `suspend.rs`, `copy.rs`, `src/program/cli/outside.rs`;
//!   tests: `tests/pty/terminal.rs`
//! - the screen, its frames and its pace: `screen.rs`, `src/tui/frame_clock.rs`; tests: `tests/pty/steering.rs`
//! - the list of saved sessions: `sessions.rs`; tests: `tests/program/sessions/command.rs`
//! - the status line of the user's own: `status_line.rs`, `src/program/cli/outside.rs`; tests: `status_command.rs`,
//!   `tests/pty/looks.rs`
//! - line output, the line being typed: `lines/mod.rs`, `src/tui/lines/echo.rs`; tests:
//!   `tests/pty/lines.rs`
//! - work that must not hold the screen up: `memory.rs`
//! - what the screen is started with, and how it ended: `options.rs`
//! - what the loop shows the run on: a screen, or lines: `surface.rs`

mod copy;
pub mod drafts;
mod edit;
pub mod images;
mod lines;
mod memory;
mod options;
pub mod path_walk;
mod screen;
pub mod sessions;
pub mod status_line;
mod surface;
mod suspend;

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use ratatui::layout::Size;
use tokio::sync::Notify;
use tokio::time::sleep_until;

use crate::files::Files;
use crate::msg::{Effect, Msg};
use crate::state::{App, Medium};
use crate::status::Status;
use crate::terminal::signals::Signals;
use crate::terminal::watchdog;
use crate::terminal::writer::Written;
use crate::tour::TourStart;
use lines::Lines;
use screen::Screen;
use steersman_base::clock;
use steersman_base::event::Delivery;
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::protocol::Request;
use steersman_session::{Client, WakeReason};
use surface::Surface;

pub use options::{Ending, ScreenOptions};

/// Shows the screen until the user quits; blocks the calling thread. The run is ended when it returns.
///
/// # Errors
/// When there is no terminal, or its modes cannot be set.
pub fn run(options: ScreenOptions, client: &dyn Client) -> io::Result<Ending> {
    with_runtime::<Screen<'_>>(options, client)
}

/// Writes lines until the user quits, or until the input has ended and the turn is done; blocks the calling thread. The
/// run is ended when it returns.
///
/// # Errors
/// When the input or the output cannot be used.
pub fn run_lines(options: ScreenOptions, client: &dyn Client) -> io::Result<Ending> {
    with_runtime::<Lines<'_>>(options, client)
}

/// Makes the state that every surface begins with.
fn new_app(options: &ScreenOptions, size: Size, medium: Medium) -> App {
    let status = Status::new(options.label.clone(), options.source);
    let mut app = App::new(size, clock::now(), status, options.themes.clone());
    app.ui.medium = medium;
    app.ui.run.agents.prices = options.prices.clone();
    app.ui.zone = jiff::tz::TimeZone::system();
    app.pointer.mode = options.mouse;
    app.ui.keymap = options.keymap.clone();
    if medium == Medium::Screen {
        app.message.set_editor_keys(options.editor_keys);
    }
    app.agents_give_way = options.agents_give_way;
    app.alerts.when = options.when;
    if options.tour == TourStart::AtOnce {
        app.ui.tour.toggle();
    }
    app.ui.session.clone_from(&options.session);
    app.ui.client.clone_from(&options.client);
    app.ui.place = options.cwd.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    app
}

/// Runs the loop to its end on this thread, then ends the run.
fn with_runtime<'a, S: Surface<'a>>(options: ScreenOptions, client: &'a dyn Client) -> io::Result<Ending> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut farewell = Vec::new();
    let ending = runtime.block_on(show::<S>(options, client, &mut farewell));
    // Whoever holds what the rest needs, the program ends.
    match &ending {
        Ok(Ending::Signal(code)) => watchdog::end_within(limits::EXIT_GRACE, *code),
        Ok(Ending::Quit | Ending::Detached) => watchdog::end_within(limits::QUIT_TIME, 0),
        // The program goes on.
        Ok(Ending::Switch(_)) => {}
        Err(_) => watchdog::end_within(limits::QUIT_TIME, 1),
    }
    client.end();
    // The signal handlers' tasks need no farewell; a file that is being written gets its time.
    runtime.shutdown_timeout(limits::EXIT_GRACE);
    let ending = ending?;
    if !matches!(ending, Ending::Switch(_)) {
        // A terminal that takes nothing any more misses nothing that is kept.
        let _ = farewell.iter().try_for_each(|line| writeln!(io::stdout(), "{line}"));
    }
    Ok(ending)
}

async fn show<'a, S: Surface<'a>>(
    mut options: ScreenOptions,
    client: &'a dyn Client,
    farewell: &mut Vec<String>,
) -> io::Result<Ending> {
    let bell = Arc::new(Bell::default());
    let mut signals = Signals::new()?;
    let written: Written = {
        let bell = Arc::clone(&bell);
        Arc::new(move |written| bell.ring(if written.is_ok() { &bell.written } else { &bell.lost }))
    };
    let (prompt, chooses) = (options.prompt.take(), options.choose_session);
    let replay = options.replay.take();
    let (files, mut answers) = Files::new(options.cwd.clone(), options.home.clone());
    let mut surface = S::open(options, client, files, written)?;
    if let Some(text) = prompt {
        let request = Request::inject(AgentId::main(), text, Delivery::Steer);
        surface.carry_out(Effect::Request(request));
    }
    surface.begin()?;
    if let Some(recorded) = replay {
        surface.dispatch(Msg::Replayed(Ok(recorded)));
    }
    if chooses {
        surface.dispatch(Msg::ChooseSession);
    }
    if let Some(device) = S::device()? {
        let bell = Arc::clone(&bell);
        watchdog::watch(device, move || bell.ring(&bell.lost))?;
    }
    bell.listen(client);
    surface.core().clock.mail_came(Instant::now());

    loop {
        surface.catch_up()?;
        surface.keep_drafts(Instant::now());
        surface.run_status_line(Instant::now());
        if let Some(ending) = surface.core().ending.take() {
            let core = surface.core();
            core.app.end_replay();
            if let Some(request) = core.drafts.last(core.app.unsent()) {
                core.client.send(request);
            }
            *farewell = surface.close().await;
            return Ok(ending);
        }
        if surface.core().suspending {
            suspend(&mut surface, &mut signals).await?;
            continue;
        }
        let alarm = surface.alarm().into_iter().chain(surface.core().dues()).min();
        tokio::select! {
            biased;
            input = surface.input() => surface.take_input(input)?,
            action = signals.next() => surface.handle_signal(action)?,
            Some(answer) = answers.recv() => surface.dispatch(answer),
            () = bell.notify.notified() => on_bell(&mut surface, &bell),
            () = sleep_until(alarm.unwrap_or_else(Instant::now).into()), if alarm.is_some() => {}
        }
    }
}

fn on_bell<'a>(surface: &mut impl Surface<'a>, bell: &Bell) {
    if bell.lost.swap(false, Ordering::SeqCst) {
        surface.core().ending = Some(Ending::Signal(watchdog::HANG_UP));
    }
    if bell.written.swap(false, Ordering::SeqCst) {
        surface.written();
    }
    if bell.events.swap(false, Ordering::SeqCst) {
        surface.core().clock.mail_came(Instant::now());
    }
    if bell.answers.swap(false, Ordering::SeqCst) {
        surface.changed();
    }
}

/// Gives the terminal to the shell until that lets the program go on.
async fn suspend<'a>(surface: &mut impl Surface<'a>, signals: &mut Signals) -> io::Result<()> {
    surface.core().suspending = false;
    surface.lend();
    let stop = suspend::stop(signals).await?;
    surface.take_back(stop)
}

/// Returns when a moment of the calendar comes.
fn instant_of(at: Timestamp) -> Instant {
    Instant::now() + Duration::try_from(at.duration_since(clock::now())).unwrap_or(Duration::ZERO)
}

/// What wakes the loop besides input and signals: rung from other threads; however often, one wake-up answers all.
#[derive(Default)]
struct Bell {
    notify: Notify,
    events: AtomicBool,
    answers: AtomicBool,
    written: AtomicBool,
    lost: AtomicBool,
}

impl Bell {
    fn ring(&self, what: &AtomicBool) {
        what.store(true, Ordering::SeqCst);
        self.notify.notify_one();
    }

    /// Rings when the client has something to take.
    fn listen(self: &Arc<Self>, client: &dyn Client) {
        let bell = Arc::clone(self);
        client.on_wake(Arc::new(move |waiting| match waiting {
            WakeReason::Answers => bell.ring(&bell.answers),
            WakeReason::Events => bell.ring(&bell.events),
        }));
    }
}
