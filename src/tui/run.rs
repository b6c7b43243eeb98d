//! The loop of the screen: ties terminal, state and host together; the only part of the screen that sees the host.
//!
//! One thread waits for input, signals, mail and time, input first. It never waits for the agent, and never for the
//! terminal: frames go to a writer of their own. With nothing to show it does not wake up at all.
//!
//! # Where things are
//!
//! - the external editor, Ctrl+Z and back, copies: `edit.rs`, `suspend.rs`, `copy.rs`, `src/cli/outside.rs`;
//!   stories: `tests/pty/terminal.rs`
//! - line output: its loop, the line being typed: `lines.rs`, `src/tui/lines/echo.rs`; stories:
//!   `tests/pty/lines.rs`

mod approvals;
mod bell;
pub mod branch;
mod copy;
mod edit;
mod lines;
mod memory;
mod options;
pub mod path_walk;
mod steer;
mod suspend;

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ratatui::layout::Size;
use tokio::time::sleep_until;

use crate::clock;
use crate::event::{Delivery, Envelope, Event};
use crate::host::{Handle, Post};
use crate::id::AgentId;
use crate::limits;
use crate::tui::files::Files;
use crate::tui::frame_clock::FrameClock;
use crate::tui::input::{self, Input, LineEnds, Reader};
use crate::tui::msg::{Effect, Msg, Rest};
use crate::tui::outside::Outside;
use crate::tui::state::App;
use crate::tui::state::budget::Limits;
use crate::tui::state::question::Seen;
use crate::tui::state::status::Status;
use crate::tui::terminal::alert::{Relay, Way, alert};
use crate::tui::terminal::signals::{self, Asked, Signals};
use crate::tui::terminal::writer::Written;
use crate::tui::terminal::{self, Terminal, watchdog};
use crate::tui::theme::Ground;
use crate::tui::update::update;
use crate::tui::view::{self, ViewCache};
use memory::Memory;

use bell::Bell;
use edit::{Loan, editor_ended};

pub use approvals::{approval, approvals};
pub use lines::run_lines;
pub use options::{Answers, Ending, ScreenOptions};
pub use steer::{msg_of, queue, spent, steer};

/// Shows the screen until the user quits; blocks the calling thread. The run is cancelled when it returns.
///
/// # Errors
/// When there is no terminal, or its modes cannot be set.
pub fn run(options: ScreenOptions, handle: &Handle) -> io::Result<Ending> {
    let mut farewell = Vec::new();
    let ending = with_runtime(handle, show(options, handle, &mut farewell))?;
    if ending == Ending::Quit {
        // A terminal that takes nothing any more misses nothing that is kept.
        let _ = farewell.iter().try_for_each(|line| writeln!(io::stdout(), "{line}"));
    }
    Ok(ending)
}

/// Makes the state that both loops begin with.
fn new_app(options: &ScreenOptions, handle: &Handle, size: Size) -> App {
    let status = Status::new(options.label.clone(), options.source);
    let mut app = App::new(size, clock::now(), status, options.themes.clone());
    app.tree.prices = options.prices.clone();
    app.zone = jiff::tz::TimeZone::system();
    app.mouse = options.mouse;
    app.keymap = options.keymap.clone();
    app.alerts.when = options.when;
    app.session.clone_from(&options.session);
    app.place = options.cwd.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let standing = handle.budget().standing();
    app.budget = Limits { max_cost: standing.max_cost, max_tokens: standing.max_tokens };
    app
}

/// Runs a loop to its end on this thread, then ends the run.
fn with_runtime(handle: &Handle, shown: impl Future<Output = io::Result<Ending>>) -> io::Result<Ending> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ending = runtime.block_on(shown);
    // Whoever holds what the rest needs, the program ends.
    match ending {
        Ok(Ending::Signal(code)) => watchdog::end_within(limits::EXIT_GRACE, code),
        Ok(Ending::Quit) => watchdog::end_within(limits::QUIT_TIME, 0),
        Err(_) => watchdog::end_within(limits::QUIT_TIME, 1),
    }
    handle.cancellable().cancel();
    // The signal handlers' tasks need no farewell; a file that is being written gets its time.
    runtime.shutdown_timeout(limits::EXIT_GRACE);
    ending
}

async fn show(options: ScreenOptions, handle: &Handle, farewell: &mut Vec<String>) -> io::Result<Ending> {
    let bell = Arc::new(Bell::default());
    let mut signals = Signals::new()?;
    let written: Written = {
        let bell = Arc::clone(&bell);
        Arc::new(move |written| bell.ring(if written.is_ok() { &bell.written } else { &bell.lost }))
    };
    let mut terminal = Terminal::open(written, options.mouse, options.titled)?;
    let reader = Reader::start(terminal::keyboard()?, watchdog::end_interrupted)?;
    let (writer, mut files) = Files::new(options.cwd.clone(), options.home.clone());
    let mut screen = Screen::new(&options, handle, &terminal, reader, writer);
    if let Some(text) = options.prompt {
        screen.carry_out(Effect::Send { to: AgentId::main(), text, delivery: Delivery::Steer }, &mut terminal);
    }
    screen.draw(&mut terminal)?;
    screen.ask_background(options.answers, &mut terminal);
    screen.memory.read(&screen.files);
    screen.memory.find_branch(&screen.files);
    watchdog::watch(terminal::device()?, {
        let bell = Arc::clone(&bell);
        move || bell.ring(&bell.lost)
    })?;
    bell.listen(handle);
    screen.clock.mail_came(Instant::now());
    screen.tell(approvals(handle), &mut terminal);

    loop {
        screen.catch_up(&mut terminal)?;
        if let Some(ending) = screen.ending {
            screen.end_editor().await;
            *farewell = view::farewell(&screen.app);
            return Ok(ending);
        }
        if screen.suspending {
            screen.suspend(&mut terminal, &mut signals).await?;
            continue;
        }
        let alarm = screen.alarm(&terminal);
        tokio::select! {
            biased;
            mut batch = screen.reader.recv() => {
                batch.extend(std::iter::from_fn(|| screen.reader.try_recv()).flatten());
                screen.inputs(batch, &mut terminal);
            }
            asked = signals.next() => screen.asked(asked, &mut terminal)?,
            status = editor_ended(&mut screen.loan), if screen.loan.is_some() => {
                screen.editor_ended(status, &mut terminal)?;
            }
            Some(written) = files.recv() => screen.tell(written, &mut terminal),
            () = bell.notify.notified() => screen.hear(&bell, &mut terminal),
            () = sleep_until(alarm.unwrap_or_else(Instant::now).into()), if alarm.is_some() => {}
        }
    }
}

struct Screen<'a> {
    app: App,
    cache: ViewCache,
    clock: FrameClock,
    handle: &'a Handle,
    files: Files,
    /// What was taken out of the mailbox and is not folded yet, in order.
    mail: VecDeque<Post>,
    /// Bytes of text that were folded since the last frame.
    folded: usize,
    reader: Reader,
    outside: Option<Arc<dyn Outside>>,
    memory: Memory,
    ending: Option<Ending>,
    /// The editor that has the terminal.
    loan: Option<Loan>,
    /// True from the wish to go to the shell until the loop fulfils it.
    suspending: bool,
    /// What came in while somebody else had the terminal already.
    held: Vec<Input>,
    way: Way,
    relay: Relay,
    /// The question of the frame that was drawn last.
    question: Option<Seen>,
}

impl<'a> Screen<'a> {
    fn new(options: &ScreenOptions, handle: &'a Handle, terminal: &Terminal, reader: Reader, files: Files) -> Self {
        Self {
            app: new_app(options, handle, terminal.size()),
            cache: ViewCache::default(),
            clock: FrameClock::new(Instant::now()),
            handle,
            files,
            mail: VecDeque::new(),
            folded: 0,
            reader,
            outside: options.outside.clone(),
            memory: Memory::new(options),
            ending: None,
            loan: None,
            suspending: false,
            held: Vec::new(),
            way: options.way,
            relay: options.relay,
            question: None,
        }
    }

    /// Takes what has come in together, in order.
    fn inputs(&mut self, batch: Vec<Input>, terminal: &mut Terminal) {
        let line_ends = if self.app.focus.takes_lines() { LineEnds::Text } else { LineEnds::Keys };
        for input in input::join(batch, line_ends) {
            self.input(input, terminal);
        }
    }

    /// Takes one input; keys change the picture at once.
    fn input(&mut self, input: Input, terminal: &mut Terminal) {
        if self.ending.is_some() {
            return;
        }
        if (terminal.is_lent() || self.suspending) && input != Input::Lost {
            self.held.push(input);
            return;
        }
        match input {
            Input::Key(key, at) => self.tell(Msg::Key(key, at), terminal),
            Input::Typed(text, at) => self.tell(Msg::Typed(text, at), terminal),
            Input::Paste(text, at) => self.tell(Msg::Paste(text, at), terminal),
            Input::Mouse(event, at) => self.tell(Msg::Mouse(event, at), terminal),
            Input::Attention(attention) => self.tell(Msg::Attention(attention), terminal),
            Input::Background(colour) => self.tell(Msg::Background(Ground::of_colour(colour)), terminal),
            Input::Resize(size) => {
                terminal.resize(size);
                self.tell(Msg::Resize(terminal.size()), terminal);
            }
            Input::Lost => self.ending = Some(Ending::Signal(watchdog::HANG_UP)),
        }
    }

    /// Takes what was held back while somebody else had the terminal.
    fn release_held(&mut self, terminal: &mut Terminal) {
        for input in std::mem::take(&mut self.held) {
            self.input(input, terminal);
        }
    }

    /// Does as a signal asks.
    fn asked(&mut self, asked: Asked, terminal: &mut Terminal) -> io::Result<()> {
        match asked {
            // Typed into the editor, for the editor: the terminal tells everybody who has it.
            Asked::End(signals::INTERRUPTED | signals::QUIT) if self.loan.is_some() => {}
            Asked::End(code) => self.ending = Some(Ending::Signal(code)),
            // Whoever has the terminal gives it back and then it is measured.
            Asked::Measure | Asked::Resume if terminal.is_lent() => {}
            // It is for whoever has the terminal too, and that keeps its modes.
            Asked::Stop if terminal.is_lent() => {
                suspend::stop_group()?;
            }
            Asked::Stop => self.suspending = true,
            Asked::Measure => self.input(Input::Resize(terminal::measure()?), terminal),
            Asked::Resume => {
                terminal.reclaim()?;
                self.tell(Msg::Resize(terminal.size()), terminal);
            }
        }
        Ok(())
    }

    /// Answers the bell.
    fn hear(&mut self, bell: &Bell, terminal: &mut Terminal) {
        if bell.lost.swap(false, Ordering::SeqCst) {
            self.ending = Some(Ending::Signal(watchdog::HANG_UP));
        }
        if bell.written.swap(false, Ordering::SeqCst) {
            terminal.written();
            self.shown();
        }
        if bell.mail.swap(false, Ordering::SeqCst) {
            self.clock.mail_came(Instant::now());
        }
        if bell.queue.swap(false, Ordering::SeqCst) {
            self.tell(queue(self.handle), terminal);
        }
        if bell.approvals.swap(false, Ordering::SeqCst) {
            self.tell(approvals(self.handle), terminal);
        }
    }

    /// Does what is due: fold the mail, let time pass, draw.
    fn catch_up(&mut self, terminal: &mut Terminal) -> io::Result<()> {
        let now = Instant::now();
        if self.clock.mail_due().is_some_and(|due| due <= now) && self.mail.is_empty() {
            self.clock.folded(now);
            self.mail.extend(self.handle.mailbox().take());
        }
        // As much as leaves room for keys: what a crew does in a second can be more than fits between two frames, and what
        // a flood brings can be more than one frame can lay out.
        while self.may_fold(terminal)
            && let Some(mut post) = self.mail.pop_front()
        {
            if let Some(rest) = post.split_off(limits::FOLD_BYTES) {
                self.mail.push_front(rest);
            }
            self.folded += post.piece_bytes();
            self.tell(msg_of(post), terminal);
            // Not later: a command may ask for it next.
            let spent = spent(self.handle);
            if spent != self.app.spent {
                self.tell(Msg::Spent(spent), terminal);
            }
            if now.elapsed() >= limits::FOLD_TIME {
                break;
            }
        }
        let today = clock::now();
        if self.app.changes_at().is_some_and(|at| at <= today) {
            self.tell(Msg::Tick(today), terminal);
        }
        if !terminal.is_busy() && self.clock.frame_due().is_some_and(|due| due <= now) {
            self.draw(terminal)?;
        }
        Ok(())
    }

    /// Tells whether the next frame can take more text; where none is drawn, nothing is laid out.
    fn may_fold(&self, terminal: &Terminal) -> bool {
        self.folded < limits::FOLD_BYTES || terminal.is_busy()
    }

    /// Asks the terminal for its background where the theme depends on it. Nothing waits for the answer.
    fn ask_background(&mut self, answers: Answers, terminal: &mut Terminal) {
        if answers == Answers::Perhaps && self.app.themes.wants_ground() {
            self.reader.expect_answer();
            terminal.say(terminal::ASK_BACKGROUND);
        }
    }

    fn draw(&mut self, terminal: &mut Terminal) -> io::Result<()> {
        self.folded = 0;
        let looked = view::look(&self.app, &mut self.cache);
        let rest = looked.as_ref().map_or(Rest::Done, |looked| looked.rest);
        if let Some(looked) = looked {
            self.tell(Msg::Looked(looked), terminal);
        }
        let size = terminal.size();
        let scrolling = view::scrolling(&self.app, &mut self.cache, (ratatui::layout::Position::ORIGIN, size).into());
        let mut drawn = None;
        terminal.draw(scrolling, |frame| drawn = Some(view::draw(&self.app, &mut self.cache, frame)))?;
        self.clock.drawn(Instant::now());
        if rest == Rest::More {
            self.clock.want_frame();
        }
        terminal.set_title(&view::title(&self.app));
        if let Some(drawn) = drawn {
            self.question = drawn.question;
            for effect in update(&mut self.app, Msg::Drawn(drawn)) {
                self.carry_out(effect, terminal);
            }
        }
        if !terminal.is_writing() {
            self.shown();
        }
        Ok(())
    }

    /// Notes that the terminal has taken the frame: only what is on it can be answered.
    fn shown(&mut self) {
        update(&mut self.app, Msg::Shown(self.question, clock::now()));
    }

    /// Returns when something is due next; `None` when only the outside can change anything.
    fn alarm(&self, terminal: &Terminal) -> Option<Instant> {
        if !self.mail.is_empty() && self.may_fold(terminal) {
            return Some(Instant::now());
        }
        let frame = if terminal.is_busy() { None } else { self.clock.frame_due() };
        let mail = if self.mail.is_empty() { self.clock.mail_due() } else { None };
        let tick = self.app.changes_at().map(|at| {
            let wait = Duration::try_from(at.duration_since(clock::now())).unwrap_or(Duration::ZERO);
            Instant::now() + wait
        });
        [frame, mail, tick].into_iter().flatten().min()
    }

    fn tell(&mut self, msg: Msg, terminal: &mut Terminal) {
        self.clock.want_frame();
        // A turn may have switched the branch.
        if let Msg::Envelope(Envelope { event: Event::TurnEnded { .. }, .. }) = &msg {
            self.memory.find_branch(&self.files);
        }
        for effect in update(&mut self.app, msg) {
            self.carry_out(effect, terminal);
        }
    }

    fn carry_out(&mut self, effect: Effect, terminal: &mut Terminal) {
        match effect {
            Effect::Redraw => terminal.forget(),
            // A screen shows it anyway.
            Effect::Tell(_) => {}
            Effect::Quit => self.ending = Some(Ending::Quit),
            Effect::Remember(text) => self.memory.remember(text, &self.files),
            Effect::ListPaths => self.memory.list(&self.files),
            Effect::Match(quest) => self.memory.find(quest, &self.files),
            Effect::Write { request, text } => self.files.write(request, text),
            Effect::Copy(text) => self.copy(text, terminal),
            Effect::Edit { subject, text } => self.edit(subject, &text, terminal),
            Effect::Suspend => self.suspending = true,
            Effect::Notify(words) => terminal.say(&alert(self.way, self.relay, &words)),
            Effect::Mouse(mode) => terminal.set_mouse(mode),
            Effect::Colour(jobs) => self.files.colour(jobs),
            Effect::LookAtChanges | Effect::UndoChanges | Effect::Rules(_) => {
                let handle = self.handle.clone();
                self.files.aside(move || steer(effect, &handle));
            }
            Effect::Send { .. }
            | Effect::Stop
            | Effect::Queue { .. }
            | Effect::Gate { .. }
            | Effect::Decide { .. }
            | Effect::Reply { .. }
            | Effect::SetMode(_)
            | Effect::Resume
            | Effect::NeverAskIfTrue
            | Effect::SetBudget(_)
            | Effect::Compact(_)
            | Effect::SwitchModel(_)
            | Effect::ListModels
            | Effect::Reset
            | Effect::Cancel { .. } => {
                for answer in steer(effect, self.handle) {
                    self.tell(answer, terminal);
                }
            }
        }
    }
}
