//! The message alone, without a screen: whatever is typed, begun, left, sent, refused and given back, each word that was
//! typed is in one place.
//!
//! Hard places hold a text for themselves: the message, its drafts, a removed draft, a queue, what was delivered. Soft ones
//! remember how a text was: an edit that was left, the history, the queue's words of what is edited. A word is always
//! somewhere, and in no two hard places, unless it was copied on purpose.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use proptest::prelude::*;
use steersman_base::event::Pending;
use steersman_base::id::{AgentId, CallId, MessageId};
use steersman_base::message::{Arguments, ToolCall};
use steersman_base::protocol::ApprovalId;
use steersman_tui::keymap::Edit;
use steersman_tui::message::purpose::{AboutCall, AboutQuestion, AboutStep, Editing, Purpose};
use steersman_tui::message::purpose::{CallText, QuestionText};
use steersman_tui::message::removed::{Removed, RemovedEntry};
use steersman_tui::message::{Message, TakenOver};
use steersman_tui::plan::StepText;

const AGENTS: [&str; 3] = ["", "file_miner 0", "web_miner 1"];

#[derive(Debug, Clone)]
enum Operation {
    /// A word is typed; with a blank before it, it is not remembered.
    Type(&'static str),
    Paste,
    Move(&'static [Edit]),
    /// Enter; a queue takes it.
    Send,
    /// Enter for several queues: one takes it, another refuses it once the message holds something else.
    SendRefused,
    Clear,
    Leave,
    BringBack,
    BeginEdit(usize),
    BeginAboutCall(CallText),
    BeginDecline,
    BeginStep,
    BeginCommand,
    Older,
    Newer,
    /// A whole line that is not sent.
    Line,
    OpenEditor,
    CloseEditor,
    Withdraw(usize, bool),
    Drain(usize),
    Stop,
    Show(usize),
    End(usize),
}

fn act() -> impl Strategy<Value = Operation> {
    let moves: [&'static [Edit]; 4] =
        [&[Edit::LineStart], &[Edit::LineEnd], &[Edit::Up, Edit::LineEnd], &[Edit::Down, Edit::LineStart]];
    prop_oneof![
        10 => prop::sample::select(vec!["", " "]).prop_map(Operation::Type),
        1 => Just(Operation::Paste),
        3 => prop::sample::select(moves.to_vec()).prop_map(Operation::Move),
        6 => Just(Operation::Send),
        1 => Just(Operation::SendRefused),
        2 => Just(Operation::Clear),
        3 => Just(Operation::Leave),
        4 => Just(Operation::BringBack),
        4 => (0..4_usize).prop_map(Operation::BeginEdit),
        2 => prop::sample::select(vec![CallText::Arguments, CallText::Reason]).prop_map(Operation::BeginAboutCall),
        1 => Just(Operation::BeginDecline),
        1 => Just(Operation::BeginStep),
        1 => Just(Operation::BeginCommand),
        3 => Just(Operation::Older),
        2 => Just(Operation::Newer),
        1 => Just(Operation::Line),
        1 => Just(Operation::OpenEditor),
        1 => Just(Operation::CloseEditor),
        2 => (0..4_usize, any::<bool>()).prop_map(|(place, is_taken)| Operation::Withdraw(place, is_taken)),
        2 => (0..AGENTS.len()).prop_map(Operation::Drain),
        1 => Just(Operation::Stop),
        4 => (0..AGENTS.len()).prop_map(Operation::Show),
        1 => (1..AGENTS.len()).prop_map(Operation::End),
    ]
}

/// The message, and around it what takes its texts and gives them back.
struct World {
    message: Message,
    words: usize,
    ids: usize,
    queue: Vec<(AgentId, Pending)>,
    delivered: Vec<String>,
    shown: AgentId,
    ended: BTreeSet<AgentId>,
    opened: Option<String>,
    /// Words that may stand in several places.
    copied: BTreeSet<String>,
}

impl World {
    fn new() -> Self {
        Self {
            message: Message::default(),
            words: 0,
            ids: 0,
            queue: Vec::new(),
            delivered: Vec::new(),
            shown: AgentId::main(),
            ended: BTreeSet::new(),
            opened: None,
            copied: BTreeSet::new(),
        }
    }

    fn word(&mut self) -> String {
        self.words += 1;
        format!("w{}w", self.words)
    }

    fn play(&mut self, operation: &Operation) {
        match operation {
            Operation::Type(blank) => {
                let blank = if self.message.is_empty() { blank } else { " " };
                let word = self.word();
                self.message.type_text(&format!("{blank}{word} "));
            }
            Operation::Paste => {
                let word = self.word();
                self.message.paste(&format!(" {word} \n{}", "line\n".repeat(12)));
            }
            Operation::Move(edits) => {
                for edit in *edits {
                    self.message.edit(*edit);
                }
            }
            Operation::Send => self.send(),
            Operation::SendRefused => {
                let text = self.message.text();
                self.send();
                if self.message.is_draft() && self.message.text() != text {
                    self.copied.extend(words_in(&text));
                    self.message.put_before(&[text]);
                }
            }
            Operation::Clear => self.message.clear(),
            Operation::Leave => {
                self.message.leave();
                assert!(self.message.is_draft());
            }
            Operation::BringBack => self.bring_back(),
            Operation::BeginEdit(place) => {
                if let Some((agent, entry)) = self.queue.get(*place).cloned().filter(|_| self.message.is_draft()) {
                    let text = entry.text.clone();
                    self.message.begin(Purpose::Edit(Editing { agent, entry, from_list: false }), &text);
                }
            }
            Operation::BeginAboutCall(what) => {
                let arguments = Arguments::Raw("{}".to_owned());
                let call = ToolCall { id: CallId::new("c1"), name: "grep".to_owned(), arguments };
                let before = if *what == CallText::Arguments { "{} " } else { "" };
                let about = AboutCall { agent: AgentId::main(), call, what: *what, before: before.to_owned() };
                self.begin(Purpose::AboutCall(about), before);
            }
            Operation::BeginDecline => {
                let about = AboutQuestion { id: ApprovalId(1), what: QuestionText::No, before: String::new() };
                self.begin(Purpose::AboutQuestion(about), "");
            }
            Operation::BeginStep => {
                let (agent, what) = (AgentId::main(), StepText::New(None));
                self.begin(Purpose::AboutStep(AboutStep { agent, what, before: String::new() }), "");
            }
            Operation::BeginCommand => {
                if self.message.is_draft() {
                    self.message.begin_command("/theme ");
                }
            }
            Operation::Older => self.message.older(|_| false),
            Operation::Newer => self.message.newer(|_| false),
            Operation::Line => {
                let word = self.word();
                self.message.begin_line(&word);
                let line = self.message.end_line();
                self.message.set_aside(Removed::Draft(line));
            }
            Operation::OpenEditor => self.opened = Some(self.message.open()),
            Operation::CloseEditor => {
                if let Some(opened) = self.opened.take() {
                    let word = self.word();
                    if self.message.take_over(&format!("{opened} {word} ")) == TakenOver::Before {
                        self.copied.extend(words_in(&opened));
                    }
                }
            }
            Operation::Withdraw(place, is_taken) => self.withdraw(*place, *is_taken),
            Operation::Drain(agent) => {
                let agent = AgentId::new(AGENTS[*agent]);
                let message = &self.message;
                let drained = self.queue.extract_if(.., |(to, entry)| *to == agent && !message.is_edited(&entry.id));
                self.delivered.extend(drained.map(|(_, entry)| entry.message.text));
            }
            Operation::Stop => {
                let entries: Vec<Pending> = self.queue.drain(..).map(|(_, entry)| entry).collect();
                self.message.give_back(&entries);
            }
            Operation::Show(agent) => {
                self.shown = AgentId::new(AGENTS[*agent]);
            }
            Operation::End(agent) => {
                let agent = AgentId::new(AGENTS[*agent]);
                let entries: Vec<Pending> =
                    self.queue.extract_if(.., |(to, _)| *to == agent).map(|(_, entry)| entry).collect();
                self.message.give_back(&entries);
                self.ended.insert(agent);
            }
        }
        self.settle();
    }

    /// Begins another text, as the screen does while a draft is written.
    fn begin(&mut self, purpose: Purpose, text: &str) {
        if self.message.is_draft() {
            self.message.begin(purpose, text);
        }
    }

    /// Returns the agent that a draft is for which is begun now.
    fn target(&self) -> AgentId {
        if self.ended.contains(&self.shown) { AgentId::main() } else { self.shown.clone() }
    }

    /// What follows each message of the screen.
    fn settle(&mut self) {
        let target = self.target();
        if self.message.is_draft_empty() {
            self.message.bind(None);
        } else if self.message.bound().is_none() {
            self.message.bind(Some(target.clone()));
        }
        if self.message.shows_other(&self.shown) {
            self.message.switch(&target);
        }
        let ended = &self.ended;
        self.message.give_back_drafts(|agent| ended.contains(agent));
        self.message.fit(80, &[]);
    }

    fn send(&mut self) {
        let text = self.message.text();
        match self.message.first_purpose() {
            Some(Purpose::Edit(Editing { entry, .. })) => {
                let id = entry.id.clone();
                match self.queue.iter_mut().find(|(_, entry)| entry.id == id) {
                    Some((_, entry)) if !text.trim().is_empty() => {
                        self.copied.extend(words_in(&entry.text));
                        entry.text = text;
                        self.message.finish_edit();
                    }
                    Some(_) => {}
                    None => self.message.edit_becomes_draft(&[], &[]),
                }
            }
            Some(Purpose::AboutCall(_)) => {
                self.message.finish_about_call();
                self.delivered.push(text);
            }
            Some(Purpose::AboutQuestion(_)) => {
                self.message.finish_about_question();
                self.delivered.push(text);
            }
            Some(Purpose::AboutStep(_)) => {
                self.message.finish_about_step();
                self.delivered.push(text);
            }
            Some(Purpose::Recall(_) | Purpose::Line) | None if text.trim().is_empty() => {}
            Some(Purpose::Recall(_) | Purpose::Line) | None => {
                let to = self.message.bound().cloned().unwrap_or_else(|| self.target());
                if self.ended.contains(&to) {
                    self.message.bind(Some(AgentId::main()));
                    return;
                }
                self.copied.extend(self.message.recalled().map(|_| words_in(&text)).unwrap_or_default());
                self.ids += 1;
                let id = MessageId::new(format!("m{}", self.ids));
                let entry = Pending::new(id, text, Timestamp::UNIX_EPOCH);
                self.queue.push((to, entry));
                if let Some(remembered) = self.message.sent() {
                    self.copied.extend(words_in(&remembered));
                }
            }
        }
    }

    fn withdraw(&mut self, place: usize, is_taken: bool) {
        let is_free = self.queue.get(place).is_some_and(|(_, entry)| !self.message.is_edited(&entry.id));
        if !is_free {
            return;
        }
        let (agent, entry) = self.queue.remove(place);
        let text = entry.text.clone();
        let taken = RemovedEntry { agent, entry, before: Vec::new() };
        if is_taken {
            self.message.put_before_draft(&[text]);
            self.message.set_aside(Removed::TakenBack(taken));
        } else {
            self.message.set_aside(Removed::Deleted(taken));
        }
    }

    fn bring_back(&mut self) {
        self.message.leave_recalled();
        match self.message.take_removed() {
            Some(Removed::Draft(text) | Removed::Edit { text, .. }) => self.message.put_before(&[text]),
            Some(Removed::Deleted(taken)) => self.queue.push((taken.agent, taken.entry)),
            Some(Removed::TakenBack(taken)) => {
                if self.message.take_front(&taken.entry.text) {
                    self.queue.push((taken.agent, taken.entry));
                }
            }
            Some(Removed::Merged { .. }) | None => {}
        }
    }

    fn check(&mut self, operation: &Operation) {
        let mut hard = self.message.texts();
        hard.extend(self.delivered.iter().cloned());
        let mut soft: Vec<String> =
            self.message.history.newest_first().iter().map(|sent| sent.text.to_string()).collect();
        for (_, entry) in &self.queue {
            let place = if self.message.is_edited(&entry.id) { &mut soft } else { &mut hard };
            place.push(entry.text.clone());
        }
        for removed in self.message.removed().entries() {
            match removed {
                Removed::Draft(text) => hard.push(text.clone()),
                Removed::Deleted(taken) => hard.push(taken.entry.text.clone()),
                Removed::Edit { text, .. } => {
                    self.copied.extend(words_in(text));
                    soft.push(text.clone());
                }
                Removed::TakenBack(_) | Removed::Merged { .. } => {}
            }
        }
        let mut count: BTreeMap<String, usize> = BTreeMap::new();
        for word in hard.iter().flat_map(|text| words_in(text)) {
            *count.entry(word).or_default() += 1;
        }
        let soft: BTreeSet<String> = soft.iter().flat_map(|text| words_in(text)).collect();
        for number in 1..=self.words {
            let word = format!("w{number}w");
            let times = count.get(&word).copied().unwrap_or(0);
            assert!(times > 0 || soft.contains(&word), "{word} is lost after {operation:?}");
            assert!(times < 2 || self.copied.contains(&word), "{word} is in {times} places after {operation:?}");
        }
    }
}

fn words_in(text: &str) -> Vec<String> {
    text.split_whitespace().filter(|part| part.starts_with('w') && part.ends_with('w')).map(str::to_owned).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_typed_text_is_ever_lost_or_doubled(acts in prop::collection::vec(act(), 1..30)) {
        let mut world = World::new();
        for operation in acts {
            world.play(&operation);
            world.check(&operation);
        }
    }
}

/// A message in which a text is on its way to a queue, and something was typed behind it.
fn going_out(texts: &[&str]) -> Message {
    let mut message = Message::default();
    for text in texts {
        message.type_text(text);
        let draft = message.next_draft();
        assert_eq!(draft, *text, "what is on its way is not sent again");
        message.goes_out(&draft, text, 1);
    }
    message
}

#[test]
fn what_is_typed_behind_a_text_on_its_way_is_a_text_of_its_own() {
    let mut message = going_out(&["one", "two"]);
    assert_eq!(message.next_draft(), "", "nothing is sent twice");
    message.type_text("three");
    assert_eq!((message.shown(), message.next_draft()), ("onetwothree".to_owned(), "three".to_owned()));
    let one = message.answered("one").unwrap();
    assert_eq!(message.take_sent(&one).as_deref(), Some("one"));
    let two = message.answered("two").unwrap();
    assert_eq!(message.take_sent(&two).as_deref(), Some("two"));
    assert_eq!((message.shown(), message.next_draft()), ("three".to_owned(), "three".to_owned()));
    assert_eq!(message.answered("three"), None, "it was not sent");
}

#[test]
fn a_text_that_was_refused_stays_before_those_that_were_taken() {
    let mut message = going_out(&["one", "two", "two"]);
    // Refused.
    message.answered("one").unwrap();
    let two = message.answered("two").unwrap();
    message.take_sent(&two).unwrap();
    assert_eq!(message.shown(), "onetwo");
    let again = message.answered("two").unwrap();
    message.take_sent(&again).unwrap();
    assert_eq!((message.shown(), message.next_draft()), ("one".to_owned(), "one".to_owned()));
}

#[test]
fn a_text_that_was_changed_on_its_way_stays() {
    let mut message = going_out(&["one"]);
    message.edit(Edit::Backspace);
    let one = message.answered("one").unwrap();
    assert_eq!(message.take_sent(&one), None);
    assert_eq!(message.shown(), "on");
    // A session that is gone answers no more.
    let mut message = going_out(&["one"]);
    message.expect_no_answers();
    assert_eq!(message.next_draft(), "one");
}
