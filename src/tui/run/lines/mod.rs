//! The line output: the same state, the same state changes and the same effects as the screen, read as lines.
//!
//! On a terminal the keys are read one by one and the line is echoed by the program itself: only so nothing is ever
//! written into a line that is being typed, a paste of many lines stays one message, and a line may be longer than the
//! 4,095 bytes after which the line editing of a terminal drops what is typed. While the line is not empty, what comes is
//! held back; a bell says so when it is a question. On a terminal that edits lines by itself (`TERM=dumb`, Emacs) and on a
//! pipe whole lines are read, and nothing is held back: nobody can know there whether something is being typed.
//!
//! # Where things are
//!
//! - what the line output reads: keys of a terminal, or whole lines: `input.rs`
//! - what the line output writes on: a terminal or a pipe, by a thread of its own, forward only: `output.rs`

mod input;
mod output;

use std::io;
use std::os::fd::OwnedFd;
use std::time::Instant;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::Timestamp;
use ratatui::layout::Size;

use super::surface::{Core, Surface};
use super::suspend::{self, Stop};
use super::{Ending, ScreenOptions, instant_of, new_app};
use crate::approval::ShownQuestion;
use crate::files::Files;
use crate::highlight::Job;
use crate::input::{Input, LineEnds, join};
use crate::keymap::{Action, Context};
use crate::lines::{Echo, Printer, Typing};
use crate::msg::{EditorSubject, MouseMode, Msg};
use crate::pictures::NewPicture;
use crate::state::{Medium, QuestionId, Report};
use crate::terminal::signals::{INTERRUPTED, SignalAction};
use crate::terminal::writer::Written;
use crate::terminal::{self, watchdog};
use crate::update::update;
use input::{LineInput, LineReader};
use output::{Output, OutputKind};
use steersman_base::clock;
use steersman_base::event::Envelope;
use steersman_base::limits;
use steersman_base::protocol::Update;
use steersman_base::summary::count;
use steersman_session::Client;

/// Lines that are written after a line was typed without a word about it.
const MANY: usize = 3;

/// The line output, and the line being typed.
pub(super) struct Lines<'a> {
    core: Core<'a>,
    input: LineReader,
    output: Output,
    printer: Printer,
    echo: Echo,
    /// Lines that wait until the line being typed is sent.
    held: Vec<String>,
    /// When a key came last while lines were held back.
    typed: Option<Instant>,
    /// True once the input has ended.
    is_over: bool,
    /// The question that was handed to the writer last, as far as it was.
    question: Option<ShownQuestion>,
    /// The number of the frame that holds its end.
    question_frame: usize,
    rung: Option<QuestionId>,
}

impl<'a> Surface<'a> for Lines<'a> {
    type Input = Vec<LineInput>;

    fn open(options: ScreenOptions, client: &'a dyn Client, files: Files, written: Written) -> io::Result<Self> {
        let output = Output::open(written)?;
        let input = LineReader::start(output.kind(), options.link)?;
        let app = new_app(&options, Size { width: output.columns(), height: 24 }, Medium::Lines);
        Ok(Self {
            printer: Printer::new(&app, if output.kind() == OutputKind::Keys { Typing::Echoed } else { Typing::Whole }),
            core: Core::new(&options, app, client, files),
            input,
            output,
            echo: Echo::default(),
            held: Vec::new(),
            typed: None,
            is_over: false,
            question: None,
            question_frame: 0,
            rung: None,
        })
    }

    fn device() -> io::Result<Option<OwnedFd>> {
        Output::device()
    }

    fn core(&mut self) -> &mut Core<'a> {
        &mut self.core
    }

    fn begin(&mut self) -> io::Result<()> {
        Ok(())
    }

    async fn input(&mut self) -> Vec<LineInput> {
        self.input.next().await
    }

    fn take_input(&mut self, batch: Vec<LineInput>) -> io::Result<()> {
        // Who typed this can have read what was written before it, whatever the writer has to write by now.
        self.note_written();
        let keys = batch.iter().any(|input| matches!(input, LineInput::Input(_)));
        if keys {
            let inputs = batch
                .into_iter()
                .filter_map(|input| if let LineInput::Input(input) = input { Some(input) } else { None });
            for input in join(inputs.collect(), LineEnds::Keys) {
                self.take_one(input);
            }
            return Ok(());
        }
        for input in batch {
            match input {
                LineInput::Line(text, at) if self.core.ending.is_none() => self.dispatch(Msg::Line(text, at)),
                LineInput::End => {
                    self.is_over = true;
                    if self.core.app.message.is_line_begun() {
                        self.dispatch(Msg::Line(String::new(), clock::now()));
                    }
                }
                LineInput::Line(..) | LineInput::Input(_) => {}
            }
        }
        Ok(())
    }

    fn handle_signal(&mut self, action: SignalAction) -> io::Result<()> {
        match action {
            SignalAction::End(INTERRUPTED) | SignalAction::EndByKey(INTERRUPTED) if Output::is_terminal() => {
                let key = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
                self.dispatch(Msg::Key(key, clock::now()));
            }
            SignalAction::End(code) | SignalAction::EndByKey(code) => self.core.ending = Some(Ending::Signal(code)),
            SignalAction::Stop if self.output.kind() == OutputKind::Keys => self.core.suspending = true,
            // There are no modes to give back.
            SignalAction::Stop => {
                suspend::stop_group()?;
            }
            SignalAction::Measure => self.resize(terminal::measure().unwrap_or(self.core.app.ui.size)),
            SignalAction::Resume => {
                suspend::continue_children();
                // Meanwhile the terminal was somebody else's, and what it shows of the line is gone.
                self.output.reclaim()?;
                self.leave_line();
                self.show_line();
            }
        }
        Ok(())
    }

    fn written(&mut self) {
        self.note_written();
    }

    fn changed(&mut self) {
        self.reduce();
    }

    fn catch_up(&mut self) -> io::Result<()> {
        let now = Instant::now();
        if self.core.clock.mail_due().is_some_and(|due| due <= now) {
            self.core.clock.reduced(now);
            self.reduce();
        }
        let today = clock::now();
        if self.next_change().is_some_and(|at| at <= today) {
            self.dispatch(Msg::Tick(today));
        }
        self.finish();
        self.print();
        Ok(())
    }

    fn alarm(&self) -> Option<Instant> {
        let tick = self.next_change().map(instant_of);
        let held = self.typed.filter(|_| !self.held.is_empty()).map(|typed| typed + limits::LINE_HELD);
        [self.core.clock.mail_due(), tick, held].into_iter().flatten().min()
    }

    fn look(&mut self, event: Option<&Envelope>) {
        self.printer.look(&self.core.app);
        if let Some(event) = event {
            self.printer.write_event(&self.core.app, event);
        }
    }

    fn wants_events() -> bool {
        true
    }

    fn lend(&mut self) {
        self.input.pause();
        self.leave_line();
        self.output.lend();
    }

    fn take_back(&mut self, stop: Stop) -> io::Result<()> {
        self.output.take_back()?;
        self.input.go_on();
        self.printer.say("notice", if stop == Stop::Over { "here again" } else { suspend::REFUSED });
        self.let_go();
        Ok(())
    }

    async fn close(&mut self) -> Vec<String> {
        self.input.pause();
        self.let_go();
        self.leave_line();
        self.output.close();
        Vec::new()
    }

    /// A terminal that edits lines by itself, or a pipe, gets no sequence.
    fn sequence(&mut self, sequence: &[u8]) -> bool {
        let is_terminal = self.output.kind() == OutputKind::Keys;
        if is_terminal {
            self.output.write(&String::from_utf8_lossy(sequence));
            self.output.flush();
        }
        is_terminal
    }

    fn can_suspend(&self) -> bool {
        self.output.kind() == OutputKind::Keys
    }

    // Nothing is drawn, nothing has a place or a colour.
    fn redraw(&mut self) {}

    fn set_mouse(&mut self, _: MouseMode) {}

    fn colour(&mut self, _: Vec<Job>) {}

    fn report(&mut self, report: &Report) {
        self.printer.report(&self.core.app, report);
    }

    fn notify(&mut self, _: &str) {
        self.ring();
    }

    fn keep_picture(&mut self, _: &NewPicture) {}

    fn edit(&mut self, subject: EditorSubject, _: &str) {
        let outcome = Err("the line output opens no editor".to_owned());
        self.dispatch(Msg::Edited { subject, outcome });
    }
}

impl Lines<'_> {
    fn take_one(&mut self, input: Input) {
        if self.core.ending.is_some() {
            return;
        }
        self.typed = Some(Instant::now());
        match input {
            Input::Key(key, at) => self.key(&key, at),
            Input::Typed(text, at) => self.dispatch(Msg::Typed(text, at)),
            Input::Paste(text, at) => self.dispatch(Msg::Paste(text, at)),
            Input::Resize(size) => self.resize(size),
            Input::Attention(attention) => self.dispatch(Msg::Attention(attention)),
            // Nothing lies anywhere, nothing has a colour.
            Input::Mouse(..) | Input::Background(_) | Input::Pictures(_) | Input::CellPixels(_) => {}
            Input::Lost => self.core.ending = Some(Ending::Signal(watchdog::HANG_UP)),
        }
        self.print();
        self.show_line();
    }

    /// Takes a key, if it does something in a line.
    fn key(&mut self, key: &KeyEvent, at: Timestamp) {
        let chord = self.core.app.focus.chord(key);
        match self.core.app.ui.keymap.lookup(Context::Composer, chord) {
            Some(Action::Send | Action::Clear) => {
                self.leave_line();
                self.dispatch(Msg::Key(*key, at));
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
                | Action::BackgroundOrLeft
                | Action::Edit(_),
            ) => self.dispatch(Msg::Key(*key, at)),
            Some(Action::Redraw) => self.let_go(),
            Some(Action::Help) => {
                self.report(&Report::Help);
                self.let_go();
            }
            None if chord.typed().is_some() || chord.is_prefixed => self.dispatch(Msg::Key(*key, at)),
            None if self.core.app.ui.keymap.is_prefix(Context::Composer, chord) => self.dispatch(Msg::Key(*key, at)),
            // The second of two keys that do nothing in a line is used up.
            Some(_) | None => self.core.app.focus.is_prefixed = false,
        }
    }

    fn resize(&mut self, size: Size) {
        self.output.resize(size.width);
        self.dispatch(Msg::Resize(size));
    }

    /// Notes the question as written once the terminal has its frame, whatever was handed over since.
    fn note_written(&mut self) {
        if self.output.has_written(self.question_frame) {
            update(&mut self.core.app, Msg::Shown(self.question, clock::now()));
        }
    }

    /// Takes everything that the run says. A turn that has started has left the queue before, so the queue is read first: a
    /// text of its own never seems to wait for it. What was said before a question is written before it.
    fn reduce(&mut self) {
        let events = self.core.client.events();
        let answers = self.core.client.answers();
        let (questions, answers): (Vec<_>, Vec<_>) =
            answers.into_iter().partition(|update| matches!(update, Update::Approvals { .. }));
        self.core.updates.extend(answers.into_iter().chain(events).chain(questions));
        self.take_updates();
    }

    /// Ends the program when the input has ended and nothing is left to be done.
    fn finish(&mut self) {
        if !self.is_over || self.core.ending.is_some() {
            return;
        }
        let held = self.core.app.ui.run.agents.nodes().iter().any(|node| self.core.app.ui.run.is_paused(&node.id));
        if !self.core.app.questions.is_empty() || held {
            self.dispatch(Msg::NobodyThere(clock::now()));
        }
        if self.core.app.at_rest() && self.core.clock.mail_due().is_none() {
            self.core.ending = Some(Ending::Quit);
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
            let asked = self.printer.written().0.map(|seen| seen.id);
            if asked.is_some() && asked != self.question.map(|seen| seen.id) && asked != self.rung {
                // Somebody is asked and does not know it yet.
                self.rung = asked;
                self.ring();
            }
            self.held.extend(self.printer.take_lines());
        }
    }

    /// Rings, where there is a terminal that can.
    fn ring(&mut self) {
        if self.output.kind() == OutputKind::Keys {
            self.output.write("\u{7}");
            self.output.flush();
        }
    }

    /// Writes what was held back and what is new, and the line being typed again below it.
    fn let_go(&mut self) {
        let held = std::mem::take(&mut self.held);
        self.leave_line();
        if held.len() > MANY {
            self.output.line(&format!("while you typed: {}", count(held.len(), "line")));
        }
        for line in held.iter().chain(&self.printer.take_lines()) {
            self.output.line(line);
        }
        self.output.flush();
        let (question, pause) = self.printer.written();
        if question != self.question {
            self.question = question;
            self.question_frame = self.output.handed_over();
        }
        update(&mut self.core.app, Msg::Printed(question, pause));
        self.show_line();
    }

    /// Ends the line being typed on the terminal.
    fn leave_line(&mut self) {
        let end = self.echo.leave();
        self.output.write(end);
    }

    /// Shows the line being typed as it is now.
    fn show_line(&mut self) {
        if self.output.kind() == OutputKind::Keys {
            let (before, after) = self.core.app.message.around_cursor();
            let written = self.echo.show(&before, &after, self.output.columns().into());
            self.output.write(&written);
        }
        self.output.flush();
    }
}
