//! A screen without a terminal: keys and events go in, pictures and effects come out.
//!
//! Effects are carried out on a real queue and cancel flag, by the same code as in the program.

use std::collections::VecDeque;
use std::sync::Arc;

use super::json_client::JsonClient;
use super::snapshot::dump;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use jiff::{SignedDuration, Timestamp};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Size;
use steersman_base::event::{Delivery, Envelope, Event, Outcome, Pending, Usage};
use steersman_base::id::AgentId;
use steersman_base::message::Arguments;
use steersman_base::protocol::{Notice, Request, Update};
use steersman_core::control::{AgentControls, Cancellable, Controls, Interloper, PauseGate};
use steersman_session::Client as _;
use steersman_session::host::{Handle, Mailbox};
use steersman_tui::fuzzy::find;
use steersman_tui::lines::{Printer, Typing};
use steersman_tui::msg::{Effect, Msg};
use steersman_tui::state::App;
use steersman_tui::state::Medium;
use steersman_tui::status::{ModelSource, Status};
use steersman_tui::theme::Themes;
use steersman_tui::update::update;
use steersman_tui::view::{ViewCache, draw, look};

/// Plays the user, the agent and the terminal.
pub struct Stage {
    pub app: App,
    pub handle: Handle,
    pub client: JsonClient,
    updates: VecDeque<Update>,
    /// Every effect so far, but what is remembered.
    pub effects: Vec<Effect>,
    /// What is told in lines, where nothing is drawn.
    pub printer: Option<Printer>,
    /// How often the printer looks after each change.
    pub looks: usize,
    /// Every text that was to be remembered so far.
    pub remembered: Vec<String>,
    cache: ViewCache,
    now: Timestamp,
    seq: u64,
    spawned: usize,
}

impl Stage {
    pub fn new(width: u16, height: u16) -> Self {
        let now: Timestamp = "2026-11-21T09:30:00Z".parse().unwrap();
        let main = Controls {
            interloper: Arc::new(Interloper::new()),
            cancellable: Cancellable::new(),
            gate: Arc::new(PauseGate::new()),
        };
        let handle = Handle::new(Arc::new(AgentControls::new(main)), Arc::new(Mailbox::new()));
        let status = Status::new("openai", ModelSource::Configured);
        let mut app = App::new(Size { width, height }, now, status, Themes::default());
        update(&mut app, Msg::from(Notice::Ready));
        let client = JsonClient::new(handle.clone());
        Self {
            app,
            handle,
            client,
            updates: VecDeque::new(),
            effects: Vec::new(),
            remembered: Vec::new(),
            printer: None,
            looks: 1,
            cache: ViewCache::default(),
            now,
            seq: 0,
            spawned: 0,
        }
    }

    /// Plays the line output instead of a screen.
    pub fn in_lines() -> Self {
        let mut stage = Self::new(80, 24);
        stage.app.ui.medium = Medium::Lines;
        stage.printer = Some(Printer::new(&stage.app, Typing::Whole));
        stage
    }

    /// Types a whole line, a while after what was written before.
    pub fn line(&mut self, text: &str) -> &mut Self {
        self.later(1_000);
        self.line_at_once(text)
    }

    /// Types a whole line at the very moment of what was written before.
    pub fn line_at_once(&mut self, text: &str) -> &mut Self {
        self.tell(Msg::Line(text.to_owned(), self.now))
    }

    /// Takes the lines that were written since, as the terminal takes them.
    pub fn written(&mut self) -> String {
        let Some(printer) = &mut self.printer else { return String::new() };
        let lines = printer.take_lines();
        let (question, gate) = printer.written();
        let shown = Msg::Shown(question, self.now);
        self.tell(Msg::Printed(question, gate)).tell(shown);
        lines.join("\n")
    }

    /// Tells the screen something and carries out what it asks for.
    pub fn tell(&mut self, msg: Msg) -> &mut Self {
        let envelope = if let Msg::Update(Update::Envelope(envelope)) = &msg { Some(envelope.clone()) } else { None };
        let effects = update(&mut self.app, msg);
        if let Some(printer) = &mut self.printer {
            for _ in 0..self.looks {
                printer.look(&self.app);
            }
            if let Some(envelope) = &envelope {
                printer.write_event(&self.app, envelope);
            }
        }
        for effect in effects {
            if let (Effect::Tell(report), Some(printer)) = (&effect, &mut self.printer) {
                printer.report(&self.app, report);
            }
            match &effect {
                Effect::Remember(text) => self.remembered.push(text.clone()),
                effect => self.effects.push(effect.clone()),
            }
            self.carry_out(effect);
        }
        self
    }

    /// Carries an effect out, as far as it is about the run.
    pub fn carry_out(&mut self, effect: Effect) {
        match effect {
            // There is no session that could: the test answers it.
            Effect::Request(Request::Fill { .. }) => {}
            Effect::Request(request) => {
                self.client.send(request);
                self.refresh();
            }
            Effect::Match(quest) => {
                if let Some(found) = find(&quest, || true) {
                    self.tell(Msg::Matched(found));
                }
            }
            _ => {}
        }
    }

    /// Tells the screen what came of requests, and what changed.
    pub fn refresh(&mut self) -> &mut Self {
        self.updates.extend(self.client.answers());
        while let Some(update) = self.updates.pop_front() {
            self.tell(Msg::Update(update));
        }
        self
    }

    /// Presses keys: characters as they are, others as `<enter>`, `<esc>`, `<c-x>`, `<a-up>`, `<s-enter>`, `<lt>`.
    pub fn keys(&mut self, keys: &str) -> &mut Self {
        for key in key_events(keys) {
            self.tell(Msg::Key(key, self.now));
        }
        self
    }

    /// Does something with the mouse at a cell of the screen.
    pub fn mouse(&mut self, kind: MouseEventKind, (column, row): (u16, u16)) -> &mut Self {
        self.tell(Msg::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }, self.now))
    }

    /// Presses and releases the left button there.
    pub fn click(&mut self, place: (u16, u16)) -> &mut Self {
        self.mouse(MouseEventKind::Down(MouseButton::Left), place);
        self.mouse(MouseEventKind::Up(MouseButton::Left), place)
    }

    /// Draws the screen and returns where a text stands on it.
    #[track_caller]
    pub fn place_of(&mut self, text: &str) -> (u16, u16) {
        let screen = self.screen();
        let mut rows = screen.lines().enumerate();
        let found = rows.find_map(|(y, row)| Some((row.get(..row.find(text)?)?, y)));
        let (before, y) = found.unwrap_or_else(|| panic!("{text:?} is not on the screen:\n{screen}"));
        (u16::try_from(unicode_width::UnicodeWidthStr::width(before)).unwrap(), u16::try_from(y).unwrap())
    }

    /// Draws the screen and clicks on a text.
    #[track_caller]
    pub fn click_on(&mut self, text: &str) -> &mut Self {
        let place = self.place_of(text);
        self.click(place)
    }

    /// Pastes a text.
    pub fn paste(&mut self, text: &str) -> &mut Self {
        self.tell(Msg::Paste(text.to_owned(), self.now))
    }

    /// Lets time pass.
    pub fn wait(&mut self, millis: i64) -> &mut Self {
        self.now += SignedDuration::from_millis(millis);
        self.tell(Msg::Tick(self.now))
    }

    /// Lets time pass that nobody is told of: the next event carries it.
    pub fn later(&mut self, millis: i64) -> &mut Self {
        self.now += SignedDuration::from_millis(millis);
        self
    }

    /// Lets an agent do something. The empty name is the main agent.
    pub fn event(&mut self, agent: &str, event: Event) -> &mut Self {
        self.seq += 1;
        let known = self.app.ui.run.agents.get(&agent.into()).map(|node| node.parent.clone());
        let parent = known.unwrap_or_else(|| agent.strip_suffix("_synthesizer").or(Some("")).map(AgentId::new));
        let used = if let Event::Tokens(usage) = &event { Some(usage.clone()) } else { None };
        let envelope = Envelope { seq: self.seq, at: self.now, agent: agent.into(), parent, event };
        self.tell(Msg::from(envelope));
        if let Some(usage) = used {
            self.handle.budget().charge("test-model", usage.context(), usage.cost_nanos);
            self.refresh();
        }
        self
    }

    pub fn turn(&mut self, agent: &str) -> &mut Self {
        self.event(agent, Event::TurnStarted { turn: 1 });
        self.event(agent, Event::RoundStarted { turn: 1, round: 1 })
    }

    pub fn turn_ended(&mut self, agent: &str, outcome: Outcome, message: Option<&str>) -> &mut Self {
        self.event(agent, Event::TurnEnded { turn: 1, outcome, message: message.map(str::to_owned) })
    }

    pub fn says(&mut self, agent: &str, text: &str) -> &mut Self {
        self.event(agent, Event::AssistantDelta { text: text.to_owned() })
    }

    pub fn call(&mut self, agent: &str, id: &str, name: &str) -> &mut Self {
        let arguments = Arguments::parse(r#"{"path":"src"}"#);
        self.event(agent, Event::ToolCall { id: id.into(), name: name.to_owned(), arguments })
    }

    pub fn result(&mut self, agent: &str, id: &str, content: &str) -> &mut Self {
        let is_error = content.starts_with("Error: ");
        self.event(agent, Event::ToolResult { id: id.into(), content: content.to_owned(), is_error, elapsed_ms: 1_200 })
    }

    pub fn tokens(&mut self, agent: &str, input: u64, output: u64) -> &mut Self {
        let usage = Usage { input: Some(input), output: Some(output), ..Usage::default() };
        self.event(agent, Event::Tokens(usage))
    }

    /// Starts a sub-agent; the first belongs to the call `c1`, the next to `c2`.
    pub fn spawn(&mut self, parent: &str, child: &str) -> &mut Self {
        self.spawned += 1;
        let spawned = Event::AgentSpawned {
            child: child.into(),
            persona: child.rsplit_once(' ').map_or(child, |(persona, _)| persona).to_owned(),
            task: "Look at the sources.".to_owned(),
            call: Some(format!("c{}", self.spawned).as_str().into()),
            model: Some("qwen3-35b".to_owned()),
            max_steps: Some(30),
            tools: vec!["read".to_owned()],
        };
        self.event(parent, spawned)
    }

    pub fn finished(&mut self, parent: &str, child: &str, outcome: Outcome) -> &mut Self {
        self.event(parent, Event::AgentFinished { child: child.into(), outcome, message: None })
    }

    /// Plays the agent's boundary as far as the queue sees it; the events come with [`Stage::deliver`].
    pub fn drain(&mut self) -> Vec<Pending> {
        let taken = self.handle.interloper().drain();
        self.refresh();
        taken
    }

    /// Plays the start of a turn as far as the queue sees it.
    pub fn take_turn(&mut self) -> Vec<Pending> {
        let taken = self.handle.interloper().take_turn(Some(self.handle.cancellable()));
        self.refresh();
        taken
    }

    /// Tells that these texts are in the conversation.
    pub fn deliver(&mut self, taken: &[Pending], mid_loop: bool) -> &mut Self {
        for entry in taken {
            let injection = Some(entry.id.clone());
            self.event(
                "",
                Event::UserTurn {
                    content: entry.text.clone(),
                    mid_loop,
                    injection,
                    step: 0,
                    after: None,
                    sender: None,
                    kind: entry.kind,
                    met: None,
                    images: Vec::new(),
                },
            );
        }
        self
    }

    /// Tells that these texts entered an agent's running turn behind this tool's result.
    pub fn deliver_after(&mut self, agent: &str, taken: &[Pending], step: u32, tool: &str) -> &mut Self {
        for entry in taken {
            let (content, injection, after) = (entry.text.clone(), Some(entry.id.clone()), Some(tool.to_owned()));
            self.event(
                agent,
                Event::UserTurn {
                    content,
                    mid_loop: true,
                    injection,
                    step,
                    after,
                    sender: None,
                    kind: entry.kind,
                    met: None,
                    images: Vec::new(),
                },
            );
        }
        self
    }

    /// Tells that a reply to these texts begins.
    pub fn seen(&mut self, agent: &str, taken: &[Pending], step: u32) -> &mut Self {
        let injections = taken.iter().map(|entry| entry.id.clone()).collect();
        self.event(agent, Event::Seen { injections, step })
    }

    /// Lets the queue wait, as the worker does after a failed turn.
    pub fn pause(&mut self) -> &mut Self {
        self.handle.interloper().pause();
        self.refresh()
    }

    /// Returns what was sent so far, in order.
    pub fn sent(&self) -> Vec<(String, Delivery)> {
        let sent = |effect: &Effect| match effect {
            Effect::Request(Request::Inject { message, .. }) => Some((message.text.clone(), message.delivery)),
            _ => None,
        };
        self.effects.iter().filter_map(sent).collect()
    }

    pub fn resize(&mut self, width: u16, height: u16) -> &mut Self {
        self.tell(Msg::Resize(Size { width, height }))
    }

    /// Draws the screen and returns it with its styles.
    pub fn picture(&mut self) -> String {
        dump(&self.draw())
    }

    /// Draws the screen and returns the rows above the rule of the composer, with their styles.
    pub fn above_the_rule(&mut self) -> String {
        let whole = self.draw();
        let columns = usize::from(whole.area.width);
        let is_rule = |row: &&[ratatui::buffer::Cell]| row.iter().take(2).all(|cell| cell.symbol() == "─");
        let rule = whole.content.chunks(columns).rposition(|row| is_rule(&row)).unwrap_or(whole.area.height.into());
        let mut part = Buffer::empty(ratatui::layout::Rect { height: u16::try_from(rule).unwrap(), ..whole.area });
        part.content.clone_from_slice(&whole.content[..rule * columns]);
        dump(&part)
    }

    /// Draws the screen and returns it as text, one line per row, without blanks at the ends.
    pub fn screen(&mut self) -> String {
        let Size { width, height } = self.app.ui.size;
        let buffer = self.draw();
        let mut rows = Vec::new();
        for y in 0..height {
            let mut row = String::new();
            let mut skip = 0;
            for x in 0..width {
                let symbol = buffer[(x, y)].symbol();
                if skip == 0 {
                    row.push_str(symbol);
                    skip = unicode_width::UnicodeWidthStr::width(symbol).max(1);
                }
                skip -= 1;
            }
            rows.push(row.trim_end().to_owned());
        }
        rows.join("\n")
    }

    /// Draws the screen and returns it as it is.
    pub fn draw(&mut self) -> Buffer {
        self.draw_all().0
    }

    /// Draws the screen and returns where the terminal's cursor stands.
    pub fn cursor(&mut self) -> (u16, u16) {
        self.draw_all().1.into()
    }

    fn draw_all(&mut self) -> (Buffer, ratatui::layout::Position) {
        let Size { width, height } = self.app.ui.size;
        if let Some(looked) = look(&self.app, &mut self.cache) {
            self.tell(Msg::Looked(looked));
        }
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let mut drawn = None;
        terminal.draw(|frame| drawn = Some(draw(&self.app, &mut self.cache, frame))).unwrap();
        let drawn = drawn.unwrap();
        let shown = Msg::Shown(drawn.question, self.now);
        self.tell(Msg::Drawn(drawn)).tell(shown);
        let cursor = terminal.get_cursor_position().unwrap();
        (terminal.backend().buffer().clone(), cursor)
    }
}

/// Reads keys as [`Stage::keys`] writes them.
pub fn key_events(keys: &str) -> Vec<KeyEvent> {
    let mut events = Vec::new();
    let mut rest = keys;
    while let Some(first) = rest.chars().next() {
        let (key, length) = match (first, rest.find('>')) {
            ('<', Some(end)) => (named(&rest[1..end]), end + 1),
            _ => (KeyEvent::new(KeyCode::Char(first), KeyModifiers::NONE), first.len_utf8()),
        };
        rest = &rest[length..];
        events.push(key);
    }
    events
}

fn named(name: &str) -> KeyEvent {
    let mut modifiers = KeyModifiers::NONE;
    let mut rest = name;
    while let (Some(prefix), true) = (rest.get(..2), rest.len() > 2) {
        modifiers |= match prefix {
            "c-" => KeyModifiers::CONTROL,
            "a-" => KeyModifiers::ALT,
            "s-" => KeyModifiers::SHIFT,
            _ => break,
        };
        rest = &rest[2..];
    }
    let code = match rest {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pgup" => KeyCode::PageUp,
        "pgdn" => KeyCode::PageDown,
        "bs" => KeyCode::Backspace,
        "del" => KeyCode::Delete,
        name if name.len() > 1 && name.starts_with('f') => KeyCode::F(name[1..].parse().unwrap()),
        "lt" => KeyCode::Char('<'),
        other => KeyCode::Char(other.chars().next().unwrap()),
    };
    KeyEvent::new(code, modifiers)
}
