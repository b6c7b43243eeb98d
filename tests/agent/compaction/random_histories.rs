//! Random histories, compacted: each can still be sent, and keeps its last rounds and every text of the user.

use proptest::prelude::*;
use steersman_agent::{History, Keep, NotRunReason, Pins, SUMMARY_HEAD, TextFate, UserTexts, rules_in_conversation};
use steersman_base::id::{AgentId, CallId, MessageId};
use steersman_base::image::Image;
use steersman_base::message::{Arguments, AssistantMessage, DeliveredText, Message, RuleNotice, ToolCall, UserAbout};
use steersman_base::plan::Plan;
use steersman_base::steering::{Rule, RuleNews, RuleScope, TextKind};

use crate::support::doubles::fault;
use crate::support::png::png;

#[derive(Debug, Clone)]
enum Operation {
    User(String),
    System,
    Reply { calls: usize, close: bool, long: bool },
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        "[a-z]{1,8}".prop_map(Operation::User),
        Just(Operation::System),
        (0_usize..4, any::<bool>(), any::<bool>()).prop_map(|(calls, close, long)| Operation::Reply {
            calls,
            close,
            long
        }),
    ];
    prop::collection::vec(operation, 0..40)
}

fn history(operations: &[Operation]) -> History {
    let mut history = History::new("Prompt.");
    for (number, operation) in operations.iter().enumerate() {
        match operation {
            Operation::User(text) => history.push_user(text.clone()),
            Operation::System => history.push_system("note"),
            Operation::Reply { calls, close, long } => {
                let call = |at: usize| ToolCall {
                    id: format!("c{number}-{at}").into(),
                    name: "t".to_owned(),
                    arguments: Arguments::parse("{}"),
                };
                let tool_calls: Vec<ToolCall> = (0..*calls).map(call).collect();
                history.push_assistant(AssistantMessage { tool_calls, ..AssistantMessage::default() });
                for _ in 0..*calls {
                    history.push_result(if *long { "é".repeat(5_000) } else { "short".to_owned() });
                }
                if *close {
                    history.close_open(NotRunReason::Cancelled);
                }
            }
        }
    }
    history
}

proptest! {
    #[test]
    fn any_history_compacts_to_one_that_can_be_sent_and_keeps_its_last_rounds_and_every_text_of_the_user(operations in operations()) {
        let history = history(&operations);
        let messages = history.messages();
        let replies: Vec<usize> =
            (0..messages.len()).filter(|at| matches!(messages[*at], Message::Assistant(_))).collect();
        let last = replies.len().checked_sub(2).map(|at| &messages[replies[at]..]);
        let older = history.older().len();
        let agent = steersman_base::id::AgentId::main();
        let keep = Keep { agent: &agent, rules: &[], plan: &Plan::default(), room: usize::MAX };
        match history.compacted("Sum.", &keep, &Pins::default()) {
            None => prop_assert_eq!(older, 0),
            Some(compacted) => {
                let after = compacted.messages();
                prop_assert_eq!(fault(after), None);
                prop_assert_eq!(&after[0], &messages[0]);
                let summary = Message::user(format!("{SUMMARY_HEAD}Sum."));
                prop_assert!(after[..3].contains(&summary));
                prop_assert!(after.ends_with(last.unwrap()), "the last rounds stay");
                let (before, now) = (UserTexts::in_messages(messages), UserTexts::in_messages(after));
                let words = |texts: &UserTexts| -> Vec<_> {
                    texts.all().iter().map(|placed| placed.text.words.clone()).collect()
                };
                prop_assert_eq!(words(&now), words(&before), "every text of the user, once and in order");
                prop_assert_eq!(now.task_text(), before.task_text());
                for (index, placed) in before.all().iter().enumerate() {
                    if before.fate(index) != TextFate::Unanswered {
                        prop_assert_eq!(before.fate(index), now.fate(index), "{:?}", placed);
                    }
                }
                prop_assert!(compacted.older().is_empty(), "a summary alone is not summarised");
            }
        }
        if let Some(shorter) = history.shortened(&Pins::default()) {
            prop_assert_eq!(fault(shorter.messages()), None);
            prop_assert_eq!(shorter.messages().len(), messages.len());
            prop_assert!(last.is_none_or(|last| shorter.messages().ends_with(last)));
            prop_assert!(shorter.shortened(&Pins::default()).is_none(), "once is enough");
        }
    }
}

/// What happens in a life of several tasks, with rules, images and pinned results.
#[derive(Debug, Clone, Copy)]
enum Happening {
    /// Texts that waited together begin a task.
    Task {
        texts: usize,
    },
    Text(TextKind),
    /// The rule of this number gets other words, or is withdrawn.
    RuleChanges(usize),
    RuleEnds(usize),
    Reply {
        calls: usize,
        is_pinned: bool,
    },
    Compaction,
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let happening = prop_oneof![
        2 => (1_usize..3).prop_map(|texts| Happening::Task { texts }),
        3 => prop::sample::select(TextKind::ALL.to_vec()).prop_map(Happening::Text),
        1 => (0_usize..9).prop_map(Happening::RuleChanges),
        1 => (0_usize..9).prop_map(Happening::RuleEnds),
        6 => (0_usize..3, any::<bool>()).prop_map(|(calls, is_pinned)| Happening::Reply { calls, is_pinned }),
        2 => Just(Happening::Compaction),
    ];
    prop::collection::vec(happening, 1..60)
}

/// A conversation, and beside it plain lists of what must be in it.
struct Life {
    history: History,
    number: usize,
    turn: u32,
    /// The words of every text, in the order of delivery.
    words: Vec<(MessageId, String)>,
    /// The words of the task, and the names of its images.
    task: Vec<String>,
    images: Vec<String>,
    rules: Vec<Rule>,
    pins: Vec<CallId>,
    compactions: usize,
}

impl Life {
    fn new() -> Self {
        Self {
            history: History::new("Prompt."),
            number: 0,
            turn: 0,
            words: Vec::new(),
            task: Vec::new(),
            images: Vec::new(),
            rules: Vec::new(),
            pins: Vec::new(),
            compactions: 0,
        }
    }

    fn next(&mut self) -> usize {
        self.number += 1;
        self.number
    }

    fn text(&mut self, kind: TextKind, begins_turn: bool) {
        let number = self.next();
        let (id, words) = (MessageId::new(format!("m{number}")), format!("text {number}."));
        // Every second one comes with an image.
        let image = (kind != TextKind::Rule && number.is_multiple_of(2)).then(|| format!("{number}.png"));
        if kind == TextKind::Instead {
            self.task.clear();
            self.images.clear();
        }
        if kind == TextKind::Instead || begins_turn {
            self.task.push(words.clone());
            self.images.extend(image.clone());
        }
        if kind == TextKind::Rule {
            let (agent, scope) = (AgentId::main(), RuleScope::Agent);
            self.rules.push(Rule { id: id.clone(), agent, scope, text: words.clone(), version: 0 });
        }
        self.words.push((id.clone(), words.clone()));
        let images = image.into_iter().map(|name| Image::new(name, &png()).unwrap()).collect();
        let about =
            DeliveredText { id: Some(id), kind, words: Some(words.clone()), turn: self.turn, round: 1, begins_turn };
        self.history.push_user_about(format!("<text>{words}</text>"), images, UserAbout::Text(about));
    }

    fn notice(&mut self, rule: &Rule, news: RuleNews) {
        let words = (news != RuleNews::Withdrawn).then(|| rule.text.clone());
        let content = words.clone().unwrap_or_else(|| "withdrawn".to_owned());
        let notice = RuleNotice { rule: rule.id.clone(), news, words, version: rule.version };
        self.history.push_user_about(content, Vec::new(), UserAbout::Rule(notice));
    }

    fn happens(&mut self, happening: Happening) -> Result<(), TestCaseError> {
        match happening {
            Happening::Task { texts } => {
                self.turn += 1;
                self.task.clear();
                self.images.clear();
                (0..texts).for_each(|_| self.text(TextKind::Add, true));
            }
            Happening::Text(kind) if self.turn == 0 => {
                self.turn = 1;
                self.text(if kind == TextKind::Rule { kind } else { TextKind::Add }, kind != TextKind::Rule);
            }
            Happening::Text(kind) => self.text(kind, false),
            Happening::RuleChanges(which) if !self.rules.is_empty() => {
                let at = which % self.rules.len();
                let rule = &mut self.rules[at];
                rule.version += 1;
                rule.text = format!("{} Changed {} times.", rule.id.as_str(), rule.version);
                let rule = rule.clone();
                let known = self.words.iter_mut().find(|(id, _)| *id == rule.id);
                known.expect("it was set").1.clone_from(&rule.text);
                self.notice(&rule, RuleNews::Changed);
            }
            Happening::RuleEnds(which) if !self.rules.is_empty() => {
                let rule = self.rules.remove(which % self.rules.len());
                self.notice(&rule, RuleNews::Withdrawn);
            }
            Happening::RuleChanges(_) | Happening::RuleEnds(_) => {}
            Happening::Reply { calls, is_pinned } => {
                let ids: Vec<CallId> = (0..calls).map(|_| format!("c{}", self.next()).into()).collect();
                let call =
                    |id: &CallId| ToolCall { id: id.clone(), name: "t".to_owned(), arguments: Arguments::parse("{}") };
                let tool_calls = ids.iter().map(call).collect();
                self.history.push_assistant(AssistantMessage { tool_calls, ..AssistantMessage::default() });
                for id in ids {
                    self.history.push_result(format!("result of {}.", id.as_str()));
                    self.pins.extend(is_pinned.then_some(id));
                }
            }
            Happening::Compaction => self.compact()?,
        }
        Ok(())
    }

    fn compact(&mut self) -> Result<(), TestCaseError> {
        let agent = AgentId::main();
        let keep = Keep { agent: &agent, rules: &self.rules, plan: &Plan::default(), room: usize::MAX };
        let pins = Pins { calls: &self.pins, room: usize::MAX };
        let Some(after) = self.history.compacted("Sum.", &keep, &pins) else { return Ok(()) };
        let was_open = UserTexts::in_messages(self.history.messages()).is_open();
        prop_assert_eq!(UserTexts::in_messages(after.messages()).is_open(), was_open);
        self.history = after;
        self.compactions += 1;
        Ok(())
    }

    /// All of it is in the conversation, once.
    fn check(&self) -> Result<(), TestCaseError> {
        let messages = self.history.messages();
        prop_assert_eq!(fault(messages), None);
        let texts = UserTexts::in_messages(messages);
        let found: Vec<(MessageId, String)> = texts
            .all()
            .iter()
            .map(|placed| (placed.text.id.clone().unwrap(), placed.text.words.clone().unwrap()))
            .collect();
        prop_assert_eq!(&found, &self.words);
        prop_assert_eq!(texts.task_text(), self.task.join("\n\n"));
        let shown = |message: &Message| match message {
            Message::User { images, .. } => images.iter().map(|image| image.name.clone()).collect(),
            _ => Vec::new(),
        };
        let shown: Vec<String> = messages.iter().flat_map(shown).collect();
        for image in &self.images {
            prop_assert_eq!(shown.iter().filter(|name| *name == image).count(), 1, "{} in {:?}", image, shown);
        }
        for pinned in &self.pins {
            let words = format!("result of {}.", pinned.as_str());
            let has = |message: &&Message| match message {
                Message::User { content, .. } | Message::Tool { content, .. } => content.contains(&words),
                Message::System { .. } | Message::Assistant(_) => false,
            };
            prop_assert_eq!(messages.iter().filter(has).count(), 1, "{}", words);
        }
        let told = rules_in_conversation(messages);
        for rule in &self.rules {
            let last = told.iter().find(|told| told.rule == rule.id).and_then(|told| told.version);
            prop_assert_eq!(last, Some(rule.version), "{:?}", rule);
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_life_that_is_compacted_again_and_again_keeps_texts_task_images_rules_and_pins(happenings in happenings()) {
        let mut life = Life::new();
        for happening in happenings {
            life.happens(happening)?;
            life.check()?;
        }
    }
}

/// A room that is just large enough keeps all; one character less keeps all but the last, which is told.
#[test]
fn pinned_results_that_fit_exactly_are_kept() {
    let mut life = Life::new();
    life.text(TextKind::Add, true);
    for _ in 0..2 {
        life.happens(Happening::Reply { calls: 1, is_pinned: true }).unwrap();
    }
    for _ in 0..2 {
        life.happens(Happening::Reply { calls: 1, is_pinned: false }).unwrap();
    }
    let agent = AgentId::main();
    let keep = Keep { agent: &agent, rules: &[], plan: &Plan::default(), room: 0 };
    let held = |history: &History, room: usize| {
        let after = history.compacted("Sum.", &keep, &Pins { calls: &life.pins, room }).unwrap();
        let block = after.messages().iter().find_map(|message| match message {
            Message::User { content, about: None, .. } if !content.starts_with(SUMMARY_HEAD) => Some(content.clone()),
            _ => None,
        });
        (after.clone(), block.unwrap_or_default())
    };
    let (_, whole) = held(&life.history, usize::MAX);
    let (_, none) = held(&life.history, 0);
    let note = "\n\n(A pinned result found no room.)";
    let head = none.replace(note, "");
    let room = whole.chars().count() - head.chars().count();
    let (after, exact) = held(&life.history, room);
    assert_eq!(exact, whole);
    let (_, short) = held(&life.history, room - 1);
    assert!(short.contains("result of c2.") && !short.contains("result of c3.") && short.ends_with(note), "{short}");
    // The second time the block of the first is what has to fit.
    let mut later = after;
    later.push_assistant(AssistantMessage::default());
    later.push_system("note");
    later.push_assistant(AssistantMessage::default());
    later.push_system("note");
    later.push_assistant(AssistantMessage::default());
    assert_eq!(held(&later, room).1, whole);
}
