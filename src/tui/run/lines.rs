//! The loop of the line output: the same state, the same fold and the same effects as the screen, read as lines.
//!
//! On a terminal the keys are read one by one and the line is echoed by the program itself: only so nothing is ever
//! written into a line that is being typed, a paste of many lines stays one message, and a line may be longer than the
//! 4,095 bytes after which the line editing of a terminal drops what is typed. While the line is not empty, what comes is
//! held back; a bell says so when it is a question. On a terminal that edits lines by itself (`TERM=dumb`, Emacs) and on a
//! pipe whole lines are read, and nothing is held back: nobody can know there whether something is being typed.

mod feed;
mod handover;
mod paper;

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::Timestamp;
use ratatui::layout::Size;
use tokio::time::sleep_until;

use super::bell::Bell;
use super::memory::Memory;
use super::suspend;
use super::{Ending, ScreenOptions, new_app};
use crate::clock;
use crate::event::{Delivery, Event};
use crate::id::AgentId;
use crate::limits;
use crate::protocol::{Post, Request};
use crate::session::Client;
use crate::summary::count;
use crate::tui::files::Files;
use crate::tui::frame_clock::FrameClock;
use crate::tui::input::{self, Input, LineEnds};
use crate::tui::keymap::{Action, Chord, Context};
use crate::tui::lines::{Echo, Printer, Typing};
use crate::tui::msg::{Effect, Msg};
use crate::tui::outside::Outside;
use crate::tui::state::App;
use crate::tui::state::lines::{Medium, Report};
use crate::tui::state::question::{QuestionId, Seen};
use crate::tui::terminal::signals::{Asked, INTERRUPTED, Signals};
use crate::tui::terminal::{self, watchdog};
use crate::tui::update::update;
use feed::Feed;
use paper::{Kind, Paper};

/// Lines that are written after a line was typed without a word about it.
const MANY: usize = 3;

/// Writes lines until the user quits, or until the input has ended and the turn is done; blocks the calling thread. The
/// run is cancelled when it returns.
///
/// # Errors
/// When the input or the output cannot be used.
pub fn run_lines(options: ScreenOptions, client: &dyn Client) -> io::Result<Ending> {
    super::with_runtime(client, read(options, client))
}

async fn read(options: ScreenOptions, client: &dyn Client) -> io::Result<Ending> {
    let bell = Arc::new(Bell::default());
    let mut signals = Signals::new()?;
    let paper = Paper::open({
        let bell = Arc::clone(&bell);
        Arc::new(move |written| bell.ring(if written.is_ok() { &bell.written } else { &bell.lost }))
    })?;
    let mut feed = Feed::start(paper.kind())?;
    let (writer, mut files) = Files::new(options.cwd.clone(), options.home.clone());
    let mut desk = Desk::new(&options, client, paper, writer);
    if let Some(text) = options.prompt {
        desk.carry_out(Effect::Request(Request::Inject { to: AgentId::main(), text, delivery: Delivery::Steer }));
    }
    if let Some(device) = Paper::device()? {
        let bell = Arc::clone(&bell);
        watchdog::watch(device, move || bell.ring(&bell.lost))?;
    }
    bell.listen(client);
    desk.clock.mail_came(Instant::now());

    loop {
        desk.catch_up();
        if let Some(ending) = desk.ending {
            desk.close();
            return Ok(ending);
        }
        if desk.suspending {
            desk.suspend(&mut feed, &mut signals).await?;
            continue;
        }
        let alarm = desk.alarm();
        tokio::select! {
            biased;
            batch = feed.next() => desk.inputs(batch),
            asked = signals.next() => desk.asked(asked)?,
            Some(written) = files.recv() => desk.tell(written),
            () = bell.notify.notified() => desk.hear(&bell),
            () = sleep_until(alarm.unwrap_or_else(Instant::now).into()), if alarm.is_some() => {}
        }
    }
}

struct Desk<'a> {
    app: App,
    printer: Printer,
    echo: Echo,
    paper: Paper,
    clock: FrameClock,
    client: &'a dyn Client,
    files: Files,
    memory: Memory,
    outside: Option<Arc<dyn Outside>>,
    ending: Option<Ending>,
    /// Lines that wait until the line being typed is sent.
    held: Vec<String>,
    /// When a key came last while lines were held back.
    typed: Option<Instant>,
    /// True once the input has ended.
    is_over: bool,
    /// The question that was handed to the writer last, as far as it was.
    question: Option<Seen>,
    /// The number of the frame that holds its end.
    question_frame: usize,
    /// True from the wish to go to the shell until the loop fulfils it.
    suspending: bool,
    /// The question that the bell was rung for.
    rung: Option<QuestionId>,
}

impl<'a> Desk<'a> {
    fn new(options: &ScreenOptions, client: &'a dyn Client, paper: Paper, files: Files) -> Self {
        let mut app = new_app(options, Size { width: paper.columns(), height: 24 });
        app.medium = Medium::Lines;
        Self {
            printer: Printer::new(&app, if paper.kind() == Kind::Keys { Typing::Echoed } else { Typing::Whole }),
            app,
            echo: Echo::default(),
            paper,
            clock: FrameClock::new(Instant::now()),
            client,
            files,
            memory: Memory::new(options),
            outside: options.outside.clone(),
            ending: None,
            held: Vec::new(),
            typed: None,
            is_over: false,
            question: None,
            question_frame: 0,
            suspending: false,
            rung: None,
        }
    }

    /// Takes what has come in together, in order.
    fn inputs(&mut self, batch: Vec<feed::Fed>) {
        // Who typed this can have read what was written before it, whatever the writer has to write by now.
        self.note_written();
        let keys = batch.iter().any(|fed| matches!(fed, feed::Fed::Input(_)));
        if keys {
            let inputs =
                batch.into_iter().filter_map(|fed| if let feed::Fed::Input(input) = fed { Some(input) } else { None });
            for input in input::join(inputs.collect(), LineEnds::Keys) {
                self.input(input);
            }
            return;
        }
        for fed in batch {
            match fed {
                feed::Fed::Line(text, at) if self.ending.is_none() => self.tell(Msg::Line(text, at)),
                feed::Fed::End => {
                    self.is_over = true;
                    if self.app.message.is_line_begun() {
                        self.tell(Msg::Line(String::new(), clock::now()));
                    }
                }
                feed::Fed::Line(..) | feed::Fed::Input(_) => {}
            }
        }
    }

    /// Takes one input of a terminal.
    fn input(&mut self, input: Input) {
        if self.ending.is_some() {
            return;
        }
        self.typed = Some(Instant::now());
        match input {
            Input::Key(key, at) => self.key(&key, at),
            Input::Typed(text, at) => self.tell(Msg::Typed(text, at)),
            Input::Paste(text, at) => self.tell(Msg::Paste(text, at)),
            Input::Resize(size) => self.resize(size),
            Input::Attention(attention) => self.tell(Msg::Attention(attention)),
            // Nothing lies anywhere, nothing has a colour.
            Input::Mouse(..) | Input::Background(_) => {}
            Input::Lost => self.ending = Some(Ending::Signal(watchdog::HANG_UP)),
        }
        self.print();
        self.show_line();
    }

    /// Takes a key, if it does something in a line.
    fn key(&mut self, key: &KeyEvent, at: Timestamp) {
        let chord = Chord::of(key);
        match self.app.keymap.lookup(Context::Composer, chord) {
            Some(Action::Send | Action::Clear) => {
                self.leave_line();
                self.tell(Msg::Key(*key, at));
                self.let_go();
            }
            Some(
                Action::Newline
                | Action::Escape
                | Action::Undo
                | Action::BringBack
                | Action::TakeBack
                | Action::QuitOrDelete
                | Action::Quit
                | Action::Suspend
                | Action::Edit(_),
            ) => self.tell(Msg::Key(*key, at)),
            Some(Action::Redraw) => self.let_go(),
            Some(Action::Help) => {
                self.carry_out(Effect::Tell(Report::Help));
                self.let_go();
            }
            None if chord.typed().is_some() => self.tell(Msg::Key(*key, at)),
            Some(_) | None => {}
        }
    }

    /// Does as a signal asks. An interrupt that a terminal sends is a Ctrl+C.
    fn asked(&mut self, asked: Asked) -> io::Result<()> {
        match asked {
            Asked::End(INTERRUPTED) if Paper::is_terminal() => {
                let key = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
                self.tell(Msg::Key(key, clock::now()));
            }
            Asked::End(code) => self.ending = Some(Ending::Signal(code)),
            Asked::Stop if self.paper.kind() == Kind::Keys => self.suspending = true,
            // There are no modes to give back.
            Asked::Stop => {
                suspend::stop_group()?;
            }
            Asked::Measure => self.resize(terminal::measure().unwrap_or(self.app.size)),
            Asked::Resume => {
                // Meanwhile the terminal was somebody else's, and what it shows of the line is gone.
                self.paper.reclaim()?;
                self.leave_line();
                self.show_line();
            }
        }
        Ok(())
    }

    fn resize(&mut self, size: Size) {
        self.paper.resize(size.width);
        self.tell(Msg::Resize(size));
    }

    /// Answers the bell.
    fn hear(&mut self, bell: &Bell) {
        if bell.lost.swap(false, Ordering::SeqCst) {
            self.ending = Some(Ending::Signal(watchdog::HANG_UP));
        }
        if bell.written.swap(false, Ordering::SeqCst) {
            self.note_written();
        }
        if bell.events.swap(false, Ordering::SeqCst) {
            self.clock.mail_came(Instant::now());
        }
        if bell.answers.swap(false, Ordering::SeqCst) {
            self.fold();
        }
    }

    /// Notes the question as written once the terminal has its frame, whatever was handed over since.
    fn note_written(&mut self) {
        if self.paper.has_written(self.question_frame) {
            update(&mut self.app, Msg::Shown(self.question, clock::now()));
        }
    }

    /// Does what is due: fold the mail, let time pass, write.
    fn catch_up(&mut self) {
        let now = Instant::now();
        if self.clock.mail_due().is_some_and(|due| due <= now) {
            self.clock.folded(now);
            self.fold();
        }
        let today = clock::now();
        if self.next_change().is_some_and(|at| at <= today) {
            self.tell(Msg::Tick(today));
        }
        self.finish();
        self.print();
    }

    /// Takes everything that the run says. A turn that has started has left the queue before, so the queue is told first: a
    /// text of its own never seems to wait for it. What was said before a question is written before it.
    fn fold(&mut self) {
        let events = self.client.events();
        let answers = self.client.answers();
        let (questions, answers): (Vec<_>, Vec<_>) =
            answers.into_iter().partition(|post| matches!(post, Post::Approvals { .. }));
        for post in answers.into_iter().chain(events).chain(questions) {
            self.tell(Msg::Post(post));
        }
    }

    /// Ends the program when the input has ended and nothing is left to be done.
    fn finish(&mut self) {
        if !self.is_over || self.ending.is_some() {
            return;
        }
        let held = self.app.tree.nodes().iter().any(|node| self.app.is_held(&node.id));
        if !self.app.questions.is_empty() || held {
            self.tell(Msg::NobodyThere(clock::now()));
        }
        if self.app.at_rest() && self.clock.mail_due().is_none() {
            self.ending = Some(Ending::Quit);
        }
    }

    /// Returns when something changes by itself that lines tell: a question that can be answered, a tool that runs long.
    fn next_change(&self) -> Option<Timestamp> {
        self.printer.due()
    }

    /// Writes what there is, unless a line is being typed.
    fn print(&mut self) {
        let is_typing = !self.echo.is_empty() && self.typed.is_none_or(|typed| typed.elapsed() < limits::LINE_HELD);
        if !is_typing {
            if self.printer.has_lines() || !self.held.is_empty() {
                self.let_go();
            }
        } else if self.printer.has_lines() {
            let asked = self.printer.told().0.map(|seen| seen.id);
            if asked.is_some() && asked != self.question.map(|seen| seen.id) && asked != self.rung {
                // Somebody is asked and does not know it yet.
                self.rung = asked;
                self.ring();
            }
            self.held.extend(self.printer.take());
        }
    }

    /// Rings, where there is a terminal that can.
    fn ring(&mut self) {
        if self.paper.kind() == Kind::Keys {
            self.paper.write("\u{7}");
            self.paper.flush();
        }
    }

    /// Writes what was held back and what is new, and the line being typed again below it.
    fn let_go(&mut self) {
        let held = std::mem::take(&mut self.held);
        self.leave_line();
        if held.len() > MANY {
            self.paper.line(&format!("while you typed: {}", count(held.len(), "line")));
        }
        for line in held.iter().chain(&self.printer.take()) {
            self.paper.line(line);
        }
        self.paper.flush();
        let (question, gate) = self.printer.told();
        if question != self.question {
            self.question = question;
            self.question_frame = self.paper.handed_over();
        }
        update(&mut self.app, Msg::Printed(question, gate));
        self.show_line();
    }

    /// Ends the line being typed on the terminal.
    fn leave_line(&mut self) {
        let end = self.echo.leave();
        self.paper.write(end);
    }

    /// Shows the line being typed as it is now.
    fn show_line(&mut self) {
        if self.paper.kind() == Kind::Keys {
            let (before, after) = self.app.message.around_cursor();
            let written = self.echo.show(&before, &after, self.paper.columns().into());
            self.paper.write(&written);
        }
        self.paper.flush();
    }

    /// Writes the last lines and gives the terminal back.
    fn close(&mut self) {
        self.let_go();
        self.leave_line();
        self.paper.close();
    }

    /// Returns when something is due next; `None` when only the outside can change anything.
    fn alarm(&self) -> Option<Instant> {
        let tick = self.next_change().map(|at| {
            let wait = Duration::try_from(at.duration_since(clock::now())).unwrap_or(Duration::ZERO);
            Instant::now() + wait
        });
        let held = self.typed.filter(|_| !self.held.is_empty()).map(|typed| typed + limits::LINE_HELD);
        [self.clock.mail_due(), tick, held].into_iter().flatten().min()
    }

    fn tell(&mut self, msg: Msg) {
        let envelope = match &msg {
            Msg::Post(Post::Envelope(envelope)) if !is_piece(&envelope.event) => Some(envelope.clone()),
            _ => None,
        };
        let effects = update(&mut self.app, msg);
        self.printer.look(&self.app);
        if let Some(envelope) = envelope {
            self.printer.heard(&self.app, &envelope);
        }
        for effect in effects {
            self.carry_out(effect);
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            // Nothing is drawn, nothing has a place or a colour.
            Effect::Redraw | Effect::Mouse(_) | Effect::Colour(_) => {}
            Effect::Quit => self.ending = Some(Ending::Quit),
            Effect::Tell(report) => self.printer.report(&self.app, &report),
            Effect::Write { request, text } => self.files.write(request, text),
            Effect::Copy(text) => self.copy(text),
            Effect::Suspend => self.suspending = self.paper.kind() == Kind::Keys,
            Effect::Remember(text) => self.memory.remember(text, &self.files),
            Effect::ListPaths => self.memory.list(&self.files),
            Effect::Match(quest) => self.memory.find(quest, &self.files),
            Effect::Notify(_) => self.ring(),
            Effect::Edit { subject, .. } => {
                let outcome = Err("the line output opens no editor".to_owned());
                self.tell(Msg::Edited { subject, outcome });
            }
            Effect::Request(request) => {
                self.client.send(request);
                for post in self.client.answers() {
                    self.tell(Msg::Post(post));
                }
            }
        }
    }
}

/// Tells whether an event is a piece of a stream, of which there are thousands.
fn is_piece(event: &Event) -> bool {
    matches!(event, Event::AssistantDelta { .. } | Event::ThinkingDelta { .. } | Event::ToolProgress { .. })
}
