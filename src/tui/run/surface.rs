//! What the loop shows the run on: a screen, or lines.
//!
//! The loop and everything that both have in common ask a surface only for what differs. Effects are matched here, once and
//! exhaustively.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use super::drafts::KeptDrafts;
use super::memory::Memory;
use super::status_line::StatusLine;
use super::suspend::Stop;
use super::{Ending, ScreenOptions, copy, images};
use crate::files::Files;
use crate::frame_clock::FrameClock;
use crate::highlight::Job;
use crate::msg::{EditorSubject, Effect, MouseMode, Msg};
use crate::outside::Outside;
use crate::pictures::{NewPicture, PictureJob};
use crate::state::{App, Report};
use crate::terminal::alert::Relay;
use crate::terminal::signals::SignalAction;
use crate::terminal::writer::Written;
use crate::update::update;
use steersman_base::event::{Envelope, Event};
use steersman_base::limits;
use steersman_base::protocol::Update;
use steersman_images::Preview;
use steersman_session::Client;

/// What every surface has.
pub(super) struct Core<'a> {
    pub app: App,
    pub clock: FrameClock,
    pub client: &'a dyn Client,
    /// What was taken from the client and is to be applied at once, in order.
    pub updates: VecDeque<Update>,
    pub files: Files,
    pub memory: Memory,
    pub outside: Option<Arc<dyn Outside>>,
    /// What sequences for the terminal have to pass on their way.
    pub relay: Relay,
    pub ending: Option<Ending>,
    /// True from the wish to go to the shell until the loop fulfils it.
    pub suspending: bool,
    pub drafts: KeptDrafts,
    /// The status line of the user's own; `None` where there is no command for it.
    pub status_line: Option<StatusLine>,
}

impl<'a> Core<'a> {
    pub(super) fn new(options: &ScreenOptions, app: App, client: &'a dyn Client, files: Files) -> Self {
        Self {
            app,
            clock: FrameClock::new(Instant::now()),
            client,
            updates: VecDeque::new(),
            files,
            memory: Memory::new(options),
            outside: options.outside.clone(),
            relay: options.relay,
            ending: None,
            suspending: false,
            drafts: KeptDrafts::default(),
            status_line: None,
        }
    }

    /// Runs the user's command for the status line from here on, where there is one.
    pub(super) fn with_status_line(mut self, options: &ScreenOptions) -> Self {
        let has_command = self.outside.as_ref().is_some_and(|outside| outside.has_status_command());
        self.status_line =
            has_command.then(|| StatusLine::new(options.cwd.to_string_lossy().into_owned(), Instant::now()));
        self
    }

    /// Returns when something is to be done that no surface knows of.
    pub(super) fn dues(&self) -> Option<Instant> {
        self.drafts.due().into_iter().chain(self.status_line.as_ref().and_then(StatusLine::due)).min()
    }
}

/// What the run is shown on.
pub(super) trait Surface<'a>: Sized {
    /// What is read at once.
    type Input;

    /// Takes the terminal, or a pipe; `written` is called when it has taken what was written.
    ///
    /// # Errors
    /// When it cannot be used.
    fn open(options: ScreenOptions, client: &'a dyn Client, files: Files, written: Written) -> io::Result<Self>;

    /// Returns what is watched, so that the program ends with it; `None` for what never goes away.
    fn device() -> io::Result<Option<OwnedFd>>;

    fn core(&mut self) -> &mut Core<'a>;

    /// Shows what there is before the loop begins.
    fn begin(&mut self) -> io::Result<()>;

    async fn input(&mut self) -> Self::Input;

    /// Takes what has come in together, in order.
    fn take_input(&mut self, input: Self::Input) -> io::Result<()>;

    fn handle_signal(&mut self, action: SignalAction) -> io::Result<()>;

    /// Notes that what was written has been taken.
    fn written(&mut self);

    /// Takes replies and snapshots that came by themselves.
    fn changed(&mut self);

    /// Does what is due: apply events, let time pass, write.
    fn catch_up(&mut self) -> io::Result<()>;

    /// Returns when something is due next; `None` when only the outside can change anything.
    fn alarm(&self) -> Option<Instant>;

    /// Looks at the state after a message; an event is given unless it is a piece of a stream.
    fn look(&mut self, event: Option<&Envelope>);

    fn wants_events() -> bool;

    /// Lets go of the terminal, for the shell.
    fn lend(&mut self);

    fn take_back(&mut self, stop: Stop) -> io::Result<()>;

    /// Writes the last and lets go of everything; returns what is written behind it.
    async fn close(&mut self) -> Vec<String>;

    /// Sends a sequence to the terminal; false when there is none that understands it.
    fn sequence(&mut self, sequence: &[u8]) -> bool;

    /// Returns whether the program can be stopped from the keyboard.
    fn can_suspend(&self) -> bool;

    /// Writes everything again.
    fn redraw(&mut self);

    /// Tells something that a screen shows anyway.
    fn report(&mut self, report: &Report);

    /// Tells the user, who does not look.
    fn notify(&mut self, words: &str);

    /// Asks the terminal for the mouse, or leaves it to the terminal.
    fn set_mouse(&mut self, mode: MouseMode);

    /// Finds out the colours of code.
    fn colour(&mut self, jobs: Vec<Job>);

    /// Keeps a picture for the frames that show it.
    fn keep_picture(&mut self, picture: &NewPicture);

    /// Opens a text in the user's editor; answered with [`Msg::Edited`].
    fn edit(&mut self, subject: EditorSubject, text: &str);

    /// Applies a message and carries out what is wanted then.
    fn dispatch(&mut self, msg: Msg) {
        let event = if let Msg::Update(Update::Envelope(envelope)) = &msg {
            // A turn may have switched the branch.
            if let Event::TurnEnded { .. } = envelope.event {
                let core = self.core();
                core.memory.find_branch(&core.files);
            }
            (Self::wants_events() && !envelope.event.is_piece()).then(|| envelope.clone())
        } else {
            None
        };
        let core = self.core();
        core.drafts.on_msg(&msg, Instant::now());
        if let Some(line) = &mut core.status_line {
            line.on_msg(&msg, Instant::now());
        }
        let effects = update(&mut core.app, msg);
        self.look(event.as_ref());
        for effect in effects {
            self.carry_out(effect);
        }
    }

    /// Runs the user's command for the status line, when that is due.
    fn run_status_line(&mut self, now: Instant) {
        let Core { status_line, app, outside, files, .. } = self.core();
        if let (Some(line), Some(outside)) = (status_line, outside) {
            line.run(now, app, outside, files);
        }
    }

    /// Has the session keep what is being written, when that is due.
    fn keep_drafts(&mut self, now: Instant) {
        let core = self.core();
        if let Some(request) = core.drafts.keep(now, || core.app.unsent()) {
            core.client.send(request);
        }
    }

    /// Takes what came of a request, and what changed.
    fn take_answers(&mut self) {
        let core = self.core();
        core.updates.extend(core.client.answers());
        self.take_updates();
    }

    /// Applies what was taken. An update that makes a request is not overtaken by what comes of it, which would then be undone
    /// by an older snapshot.
    fn take_updates(&mut self) {
        while let Some(update) = self.core().updates.pop_front() {
            self.dispatch(Msg::Update(update));
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        let core = self.core();
        match effect {
            Effect::Request(request) => {
                core.client.send(request);
                self.take_answers();
            }
            Effect::Quit => core.ending = Some(Ending::Quit),
            Effect::Detach => core.ending = Some(Ending::Detached),
            Effect::Switch(switch) => core.ending = Some(Ending::Switch(switch)),
            Effect::ReadSession(wanted) => core.memory.read_session(wanted, &core.files),
            Effect::Compare(sessions) => core.memory.compare(sessions, &core.files),
            Effect::ListSessions(wanted_for) => core.memory.list_sessions(wanted_for, &core.files),
            Effect::Remember(text) => core.memory.remember(text, &core.files),
            Effect::ReadImage { written, path } => core.memory.read_image(written, path, &core.files),
            Effect::PasteImage => {
                let outside = core.outside.clone();
                core.files.aside(move || {
                    let outcome = images::of_clipboard(outside.as_deref());
                    vec![Msg::ImageRead { written: String::new(), outcome }]
                });
            }
            Effect::ListPaths => core.memory.list(&core.files),
            Effect::Match(query) => core.memory.find(query, &core.files),
            Effect::Write { request, text } => core.files.write(request, text),
            Effect::Copy(text) => self.copy(text),
            Effect::Edit { subject, text } => self.edit(subject, &text),
            Effect::Suspend => self.core().suspending = self.can_suspend(),
            Effect::Notify(words) => self.notify(&words),
            Effect::Mouse(mode) => self.set_mouse(mode),
            Effect::Colour(jobs) => self.colour(jobs),
            Effect::MakePicture(PictureJob { digest, image, room, cut }) => {
                core.files.aside(move || vec![Msg::PictureMade { digest, outcome: Preview::new(&image, room, cut) }]);
            }
            Effect::KeepPicture(picture) => self.keep_picture(&picture),
            Effect::Redraw => self.redraw(),
            Effect::Tell(report) => self.report(&report),
        }
    }

    /// Carries out a copy; answered with [`Msg::Copied`].
    fn copy(&mut self, text: String) {
        if text.len() > limits::COPY_BYTES {
            let most = limits::COPY_BYTES / (1024 * 1024);
            return self.dispatch(Msg::Copied(Err(format!("the text is longer than {most} MiB"))));
        }
        let sent = copy::sequence(&text, self.core().relay).is_some_and(|sequence| self.sequence(&sequence));
        let core = self.core();
        let Some(outside) = core.outside.clone() else {
            return self.dispatch(Msg::Copied(copy::answer(sent, None)));
        };
        core.files.aside(move || vec![Msg::Copied(copy::answer(sent, outside.copy(&text)))]);
    }
}
