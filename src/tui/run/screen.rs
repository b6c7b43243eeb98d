//! The screen: frames at the pace of the terminal, keys first.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::process::ExitStatus;
use std::time::Instant;

use ratatui::layout::{Position, Rect};

use super::edit::{Loan, editor_ended};
use super::surface::{Core, Surface};
use super::suspend::{self, Stop};
use super::{Ending, ScreenOptions, instant_of, new_app};
use crate::approval::ShownQuestion;
use crate::files::Files;
use crate::highlight::Job;
use crate::input::{self, Input, LineEnds, Reader};
use crate::msg::{EditorSubject, MouseMode, Msg};
use crate::pictures::protocol::{ASK_ATTRIBUTES, ASK_CELL, ASK_KITTY, SIXEL_COLOURS};
use crate::pictures::{NewPicture, PictureProtocol};
use crate::state::{Medium, Region, Report};
use crate::terminal::alert::{AlertMethod, alert};
use crate::terminal::signals::SignalAction;
use crate::terminal::writer::Written;
use crate::terminal::{self, Terminal, TerminalKind, watchdog};
use crate::theme::Background;
use crate::transcript::Rest;
use crate::update::update;
use crate::view::{self, ViewCache};
use steersman_base::clock;
use steersman_base::event::Envelope;
use steersman_base::limits;
use steersman_base::protocol::{Notice, Update};
use steersman_session::Client;

/// The screen, and what is on it.
pub(super) struct Screen<'a> {
    pub core: Core<'a>,
    pub terminal: Terminal,
    pub reader: Reader,
    cache: ViewCache,
    /// What was taken from the run and is not applied yet, in order.
    mail: VecDeque<Update>,
    /// Bytes of text that were applied since the last frame.
    applied_bytes: usize,
    /// Whether what is applied now happened long ago, in a session that goes on and is still being read.
    is_retelling: bool,
    /// The editor that has the terminal.
    pub loan: Option<Loan>,
    /// What came in while somebody else had the terminal already.
    held: Vec<Input>,
    /// How the terminal tells the user who does not look.
    way: AlertMethod,
    kind: TerminalKind,
    /// How the terminal is given pictures, as far as the environment knows.
    pictures: Option<PictureProtocol>,
    /// Whether it is known to show them.
    shows_pictures: bool,
    /// The width and the height of a cell, pixels, as the terminal answered.
    cell: Option<(u16, u16)>,
    /// The question of the frame that was drawn last.
    question: Option<ShownQuestion>,
    /// Where it stands.
    question_area: Rect,
}

/// What the screen reads at once.
pub(super) enum ScreenInput {
    /// Keys and the like.
    Terminal(Vec<Input>),
    EditorEnded(io::Result<ExitStatus>),
}

impl<'a> Surface<'a> for Screen<'a> {
    type Input = ScreenInput;

    fn open(options: ScreenOptions, client: &'a dyn Client, files: Files, written: Written) -> io::Result<Self> {
        let terminal = Terminal::open(written, options.terminal, options.mouse, options.titled)?;
        let reader = Reader::start(terminal::keyboard()?, options.link, watchdog::end_interrupted)?;
        let mut app = new_app(&options, terminal.size(), Medium::Screen);
        if let Some(end) = &options.session_end {
            app.begin_opening(end);
        }
        Ok(Self {
            core: Core::new(&options, app, client, files).with_status_line(&options),
            terminal,
            reader,
            cache: ViewCache::default(),
            mail: VecDeque::new(),
            applied_bytes: 0,
            is_retelling: false,
            loan: None,
            held: Vec::new(),
            way: options.way,
            kind: options.terminal,
            pictures: options.pictures,
            shows_pictures: false,
            cell: None,
            question: None,
            question_area: Rect::ZERO,
        })
    }

    fn device() -> io::Result<Option<OwnedFd>> {
        terminal::device().map(Some)
    }

    fn core(&mut self) -> &mut Core<'a> {
        &mut self.core
    }

    fn begin(&mut self) -> io::Result<()> {
        self.draw()?;
        // Nothing waits for an answer.
        match self.pictures {
            Some(PictureProtocol::Kitty) => {
                self.reader.expect_answer();
                self.terminal.say(ASK_KITTY);
            }
            Some(PictureProtocol::Sixel) => {
                self.reader.expect_answer();
                self.terminal.say(&[ASK_CELL, ASK_ATTRIBUTES].concat());
            }
            Some(PictureProtocol::Iterm2) => {
                self.shows_pictures = true;
                self.show_pictures();
            }
            None => {}
        }
        // The Linux console does not know the question and prints it.
        if self.kind.is_emulator() && self.core.app.ui.themes.wants_ground() {
            self.reader.expect_answer();
            self.terminal.say(terminal::ASK_BACKGROUND);
        }
        self.core.memory.load(&self.core.files);
        self.core.memory.find_branch(&self.core.files);
        Ok(())
    }

    async fn input(&mut self) -> ScreenInput {
        tokio::select! {
            biased;
            mut batch = self.reader.recv() => {
                batch.extend(std::iter::from_fn(|| self.reader.try_recv()).flatten());
                ScreenInput::Terminal(batch)
            }
            status = editor_ended(&mut self.loan) => ScreenInput::EditorEnded(status),
        }
    }

    fn take_input(&mut self, input: ScreenInput) -> io::Result<()> {
        match input {
            ScreenInput::Terminal(batch) => {
                let line_ends = if self.core.app.focus.takes_lines() { LineEnds::Text } else { LineEnds::Keys };
                for input in input::join(batch, line_ends) {
                    self.take_one(input);
                }
            }
            ScreenInput::EditorEnded(status) => self.editor_ended(status)?,
        }
        Ok(())
    }

    fn handle_signal(&mut self, action: SignalAction) -> io::Result<()> {
        if matches!(action, SignalAction::Resume) {
            suspend::continue_children();
        }
        match action {
            // Typed while the editor had the terminal, which tells everybody; the editor may have ended meanwhile. On
            // this screen no key makes a signal.
            SignalAction::EndByKey(_) => {}
            SignalAction::End(code) => self.core.ending = Some(Ending::Signal(code)),
            // Whoever has the terminal gives it back and then it is measured.
            SignalAction::Measure | SignalAction::Resume if self.terminal.is_lent() => {}
            // It is for whoever has the terminal too, and that keeps its modes.
            SignalAction::Stop if self.terminal.is_lent() => {
                suspend::stop_group()?;
            }
            SignalAction::Stop => self.core.suspending = true,
            SignalAction::Measure => self.take_one(Input::Resize(terminal::measure()?)),
            SignalAction::Resume => {
                self.terminal.reclaim()?;
                self.dispatch(Msg::Resize(self.terminal.size()));
                self.show_pictures();
            }
        }
        Ok(())
    }

    fn written(&mut self) {
        self.terminal.written();
        self.shown();
    }

    fn changed(&mut self) {
        self.take_answers();
    }

    fn catch_up(&mut self) -> io::Result<()> {
        let now = Instant::now();
        if self.core.clock.mail_due().is_some_and(|due| due <= now) && self.mail.is_empty() {
            if self.core.app.transcripts.is_arriving() {
                self.core.clock.reduced_part();
            } else {
                self.core.clock.reduced(now);
            }
            self.mail.extend(self.core.client.events());
        }
        // As much as leaves room for keys: what a crew does in a second can be more than fits between two frames, and what
        // a flood brings can be more than one frame can lay out.
        while self.may_reduce()
            && let Some(mut update) = self.mail.pop_front()
        {
            if let Some(rest) = update.split_off(limits::FOLD_BYTES) {
                self.mail.push_front(rest);
            }
            self.applied_bytes += update.piece_bytes();
            self.is_retelling = self.core.app.transcripts.is_arriving() && matches!(update, Update::Envelope(_));
            self.dispatch(Msg::Update(update));
            self.is_retelling = false;
            if now.elapsed() >= limits::FOLD_TIME {
                break;
            }
        }
        let today = clock::now();
        if self.core.app.changes_at().is_some_and(|at| at <= today) {
            self.dispatch(Msg::Tick(today));
        }
        if !self.terminal.is_busy() && self.core.clock.frame_due().is_some_and(|due| due <= now) {
            self.draw()?;
        }
        Ok(())
    }

    fn alarm(&self) -> Option<Instant> {
        if !self.mail.is_empty() && self.may_reduce() {
            return Some(Instant::now());
        }
        let frame = if self.terminal.is_busy() { None } else { self.core.clock.frame_due() };
        let mail = if self.mail.is_empty() { self.core.clock.mail_due() } else { None };
        let tick = self.core.app.changes_at().map(instant_of);
        [frame, mail, tick].into_iter().flatten().min()
    }

    fn look(&mut self, _: Option<&Envelope>) {
        // What agents did long ago is not shown as what they do.
        if !self.is_retelling {
            self.core.clock.want_frame();
        }
    }

    fn wants_events() -> bool {
        false
    }

    fn lend(&mut self) {
        self.reader.pause();
        self.terminal.lend();
    }

    fn take_back(&mut self, stop: Stop) -> io::Result<()> {
        self.reclaim()?;
        if stop == Stop::Refused {
            self.dispatch(Notice::Info(suspend::REFUSED.to_owned()).into());
        }
        self.release_held();
        Ok(())
    }

    async fn close(&mut self) -> Vec<String> {
        self.end_editor().await;
        // What is typed from here on is for whoever has the terminal next.
        self.reader.pause();
        view::farewell(&self.core.app)
    }

    fn sequence(&mut self, sequence: &[u8]) -> bool {
        self.terminal.say(sequence);
        true
    }

    fn can_suspend(&self) -> bool {
        true
    }

    fn redraw(&mut self) {
        self.terminal.forget();
    }

    fn report(&mut self, _: &Report) {}

    fn notify(&mut self, words: &str) {
        let alert = alert(self.way, self.core.relay, words);
        self.terminal.say(&alert);
    }

    fn set_mouse(&mut self, mode: MouseMode) {
        self.terminal.set_mouse(mode);
    }

    fn colour(&mut self, jobs: Vec<Job>) {
        self.core.files.colour(jobs);
    }

    fn keep_picture(&mut self, picture: &NewPicture) {
        self.terminal.keep_picture(picture);
    }

    fn edit(&mut self, subject: EditorSubject, text: &str) {
        self.open_editor(subject, text);
    }
}

impl Screen<'_> {
    /// Takes one input; keys change the picture at once.
    fn take_one(&mut self, input: Input) {
        if self.core.ending.is_some() {
            return;
        }
        if (self.terminal.is_lent() || self.core.suspending) && input != Input::Lost {
            self.held.push(input);
            return;
        }
        match input {
            Input::Key(key, at) => self.dispatch(Msg::Key(key, at)),
            Input::Typed(text, at) => self.dispatch(Msg::Typed(text, at)),
            Input::Paste(text, at) => self.dispatch(Msg::Paste(text, at)),
            Input::Mouse(event, at) => self.dispatch(Msg::Mouse(event, at)),
            Input::Attention(attention) => self.dispatch(Msg::Attention(attention)),
            Input::Background(colour) => self.dispatch(Msg::Background(Background::of_colour(colour))),
            Input::Pictures(protocol) => {
                // Nobody else was asked, and once is enough.
                if self.pictures == Some(protocol) && !self.shows_pictures {
                    self.shows_pictures = true;
                    if protocol == PictureProtocol::Sixel {
                        self.terminal.say(SIXEL_COLOURS);
                    }
                    self.show_pictures();
                }
            }
            Input::CellPixels(cell) => {
                self.cell = Some(cell);
                self.show_pictures();
            }
            Input::Resize(size) => {
                self.terminal.resize(size);
                self.dispatch(Msg::Resize(self.terminal.size()));
                self.show_pictures();
                // Its cells may have another size than it answered.
                if self.pictures == Some(PictureProtocol::Sixel) && self.cell.is_some() {
                    self.terminal.say(ASK_CELL);
                }
            }
            Input::Lost => self.core.ending = Some(Ending::Signal(watchdog::HANG_UP)),
        }
    }

    /// Tells how the terminal is given pictures, and the size of its cells, which may have changed. A sixel terminal that does
    /// not say that size shows none: they would not fit.
    pub(super) fn show_pictures(&mut self) {
        let Some(protocol) = self.pictures.filter(|_| self.shows_pictures) else { return };
        let usual = match protocol {
            PictureProtocol::Kitty | PictureProtocol::Iterm2 => Some((10, 20)),
            PictureProtocol::Sixel => None,
        };
        if let Some(cell) = terminal::cell_pixels().or(self.cell).or(usual) {
            self.dispatch(Msg::Pictures(protocol, cell));
        }
    }

    /// Takes what was held back while somebody else had the self.terminal.
    pub(super) fn release_held(&mut self) {
        for input in std::mem::take(&mut self.held) {
            self.take_one(input);
        }
    }

    /// Tells whether the next frame can take more text; where none is drawn, nothing is laid out.
    fn may_reduce(&self) -> bool {
        self.applied_bytes < limits::FOLD_BYTES || self.terminal.is_busy()
    }

    fn draw(&mut self) -> io::Result<()> {
        self.applied_bytes = 0;
        let looked = view::look(&self.core.app, &mut self.cache);
        let rest = looked.as_ref().map_or(Rest::Done, |looked| looked.rest);
        if let Some(looked) = looked {
            self.dispatch(Msg::Looked(looked));
        }
        let size = self.terminal.size();
        let scrolling = view::scrolling(&self.core.app, &mut self.cache, (Position::ORIGIN, size).into());
        let mut drawn = None;
        let before = self.question_area;
        self.terminal.draw(scrolling, |frame| {
            let drawn = drawn.insert(view::draw(&self.core.app, &mut self.cache, frame));
            let area = drawn.regions.area_of(&Region::Question).unwrap_or_default();
            // Where a question comes up nothing stays of what a model wrote there, whatever the terminal made of it.
            if area == before { Rect::ZERO } else { area }
        })?;
        self.core.clock.drawn(Instant::now());
        if rest == Rest::More {
            self.core.clock.want_frame();
        }
        self.terminal.set_title(&view::title(&self.core.app));
        if let Some(drawn) = drawn {
            self.question = drawn.question;
            self.question_area = drawn.regions.area_of(&Region::Question).unwrap_or_default();
            for effect in update(&mut self.core.app, Msg::Drawn(drawn)) {
                self.carry_out(effect);
            }
        }
        if !self.terminal.is_writing() {
            self.shown();
        }
        Ok(())
    }

    /// Notes that the terminal has taken the frame: only what is on it can be answered.
    fn shown(&mut self) {
        update(&mut self.core.app, Msg::Shown(self.question, clock::now()));
    }
}
