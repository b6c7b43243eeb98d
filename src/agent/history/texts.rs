//! The user's texts in a conversation: which there are, which is the task, and what became of each.
//!
//! Pure, and derived from the messages alone, so that a resume, a branch and a compaction need nothing else. Messages
//! of which nothing is known (older records, a caller's own) are read by their place: a text behind an answer began a task,
//! any other adds to the one that is open.

use crate::history::{is_pinned, is_summary};
use steersman_base::id::MessageId;
use steersman_base::message::{AssistantMessage, DeliveredText, KeptTexts, Message, RuleNotice, UserAbout};
use steersman_base::steering::{RuleNews, TextKind};

/// A text of the user and the message that it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlacedText {
    /// The text, with its words.
    pub text: DeliveredText,
    /// The index of the message.
    pub place: usize,
}

/// What became of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextFate {
    /// It is the task, or a part of it.
    Task,
    /// No reply has begun behind it.
    Unanswered,
    /// It belongs to the task, and replies have followed it from this round on; 0 where that is not known.
    Handled(u32),
    /// A text of this id took its place.
    Replaced(Option<MessageId>),
    /// It belongs to an earlier task, which began in this turn or before and is closed; 0 where that is not known.
    Over(u32),
}

/// The user's texts of a conversation, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserTexts {
    texts: Vec<PlacedText>,
    /// The indexes of the texts that are the task.
    task: Vec<usize>,
    /// The index of the first text of the task or of one that it replaced; every earlier text belongs to a closed task.
    since: usize,
    /// The index of the last reply among the messages.
    last_reply: Option<usize>,
    /// Whether an answer has come behind the last text that asks for work.
    is_answered: bool,
    /// The number of older texts that a compaction left out.
    left_out: usize,
}

/// The latest that a conversation tells of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleInConversation {
    /// The rule.
    pub rule: MessageId,
    /// The number of its changes that are sent; `None` once its withdrawal is.
    pub version: Option<u32>,
    /// The index of the message.
    pub place: usize,
}

impl UserTexts {
    /// Finds the texts of a conversation.
    pub fn in_messages(messages: &[Message]) -> Self {
        let mut found = Self::default();
        let mut reading = Reading::default();
        for (place, message) in messages.iter().enumerate() {
            match message {
                Message::System { .. } | Message::Tool { .. } => {}
                Message::Assistant(reply) => {
                    reading.replied(is_answer(reply));
                    found.last_reply = Some(place);
                    found.is_answered |= is_answer(reply);
                }
                Message::User { content, about, .. } => match about.as_deref() {
                    Some(UserAbout::Text(text)) => {
                        let words = text.words.as_ref().unwrap_or(content).clone();
                        found.add(place, DeliveredText { words: Some(words), ..text.clone() });
                        reading.turn = text.turn;
                    }
                    Some(UserAbout::Rule(notice)) => found.add_rule(place, notice, reading.turn),
                    Some(UserAbout::Kept(KeptTexts { texts, left_out, is_answered, .. })) => {
                        found.left_out = *left_out;
                        for text in texts {
                            found.add(place, text.clone());
                            reading.turn = text.turn;
                        }
                        found.is_answered = *is_answered;
                    }
                    // No texts of the user. A plan is sent anew behind a compaction, as far as it still counts.
                    Some(UserAbout::Plan(_) | UserAbout::Job(_) | UserAbout::Images | UserAbout::Agent(_)) => {}
                    None if is_summary(message) || is_pinned(message) => {}
                    None => found.add(place, reading.text(content)),
                },
            }
            if matches!(message, Message::User { .. }) {
                reading.is_over = false;
            }
        }
        found.find_task();
        found
    }

    /// Returns the texts, in the order of their delivery.
    pub fn all(&self) -> &[PlacedText] {
        &self.texts
    }

    /// Returns the number of older texts of which only a summary tells.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Returns the texts that are the task; none before the first one.
    pub fn task(&self) -> impl Iterator<Item = &PlacedText> {
        self.task.iter().filter_map(|index| self.texts.get(*index))
    }

    /// Returns the words of the task; empty before the first one.
    pub fn task_text(&self) -> String {
        self.task().filter_map(|placed| placed.text.words.as_deref()).collect::<Vec<_>>().join("\n\n")
    }

    /// Returns what became of the text at this index.
    pub fn fate(&self, index: usize) -> TextFate {
        let Some(PlacedText { text, place }) = self.texts.get(index) else { return TextFate::Over(0) };
        if self.task.contains(&index) {
            return TextFate::Task;
        }
        let behind = self.texts.iter().enumerate().skip(index + 1);
        let mut same_task = behind.take_while(|(index, _)| !self.begins_task(*index)).map(|(_, other)| other);
        let replacing = same_task.find(|other| other.text.kind == TextKind::Instead);
        if let (true, Some(by)) = (text.kind.asks_for_work(), replacing) {
            return TextFate::Replaced(by.text.id.clone());
        }
        if self.last_reply.is_none_or(|reply| reply < *place) {
            return TextFate::Unanswered;
        }
        if index < self.since { TextFate::Over(text.turn) } else { TextFate::Handled(text.round) }
    }

    /// Tells whether a task begins with the text at this index: those that waited together begin one together.
    fn begins_task(&self, index: usize) -> bool {
        let begins = |placed: &&PlacedText| placed.text.begins_turn && placed.text.kind.asks_for_work();
        let Some(placed) = self.texts.get(index).filter(begins) else { return false };
        let before = self.texts.get(..index).unwrap_or_default().iter().rfind(begins);
        before.is_none_or(|before| before.text.turn != placed.text.turn)
    }

    /// Tells whether the task has no answer yet: its turn was cancelled, failed, or lost its process.
    pub fn is_open(&self) -> bool {
        !self.task.is_empty() && !self.is_answered
    }

    /// Tells whether an answer has come behind the last text that asks for work.
    pub(super) fn is_answered(&self) -> bool {
        self.is_answered
    }

    fn add(&mut self, place: usize, text: DeliveredText) {
        self.is_answered &= !text.kind.asks_for_work();
        self.texts.push(PlacedText { text, place });
    }

    /// Takes what is sent about a rule as one text, which stands where it was sent first, with its latest words.
    fn add_rule(&mut self, place: usize, notice: &RuleNotice, turn: u32) {
        let known = self
            .texts
            .iter_mut()
            .find(|placed| placed.text.kind == TextKind::Rule && placed.text.id.as_ref() == Some(&notice.rule));
        match (known, &notice.words) {
            (_, None) => {}
            (Some(known), Some(words)) => known.text.words = Some(words.clone()),
            (None, Some(words)) => {
                let (id, words) = (Some(notice.rule.clone()), Some(words.clone()));
                self.add(place, DeliveredText { id, kind: TextKind::Rule, words, turn, ..DeliveredText::default() });
            }
        }
    }

    fn find_task(&mut self) {
        let is_task = |placed: &PlacedText| {
            let text = &placed.text;
            text.kind == TextKind::Instead || text.begins_turn && text.kind.asks_for_work()
        };
        let Some(last) = self.texts.iter().rposition(is_task) else { return };
        self.since = (0..=last).rev().find(|index| self.begins_task(*index)).unwrap_or(0);
        // Texts that waited together begin a task together; an `instead` among them replaces those before it.
        for index in (self.since..=last).rev() {
            let Some(placed) = self.texts.get(index).filter(|placed| is_task(placed)) else { continue };
            self.task.insert(0, index);
            if placed.text.kind == TextKind::Instead {
                break;
            }
        }
    }
}

/// Returns the latest that a conversation tells of each rule.
pub fn rules_in_conversation(messages: &[Message]) -> Vec<RuleInConversation> {
    let mut rules: Vec<RuleInConversation> = Vec::new();
    let mut note = |rule: &MessageId, version: Option<u32>, place: usize| {
        rules.retain(|known| known.rule != *rule);
        rules.push(RuleInConversation { rule: rule.clone(), version, place });
    };
    for (place, message) in messages.iter().enumerate() {
        let Message::User { about: Some(about), .. } = message else { continue };
        match about.as_ref() {
            UserAbout::Text(DeliveredText { id: Some(id), kind: TextKind::Rule, .. }) => note(id, Some(0), place),
            UserAbout::Text(_) | UserAbout::Plan(_) | UserAbout::Job(_) | UserAbout::Images | UserAbout::Agent(_) => {}
            UserAbout::Rule(RuleNotice { rule, news: RuleNews::Withdrawn, .. }) => note(rule, None, place),
            UserAbout::Rule(RuleNotice { rule, version, .. }) => note(rule, Some(*version), place),
            UserAbout::Kept(KeptTexts { rules, .. }) => {
                for (rule, version) in rules {
                    note(rule, Some(*version), place);
                }
            }
        }
    }
    rules
}

/// Tells whether a reply ends the work on a task.
fn is_answer(reply: &AssistantMessage) -> bool {
    reply.tool_calls.is_empty() && !reply.interrupted
}

/// Reads texts of which nothing is known.
struct Reading {
    turn: u32,
    /// True where the next text begins a task.
    is_over: bool,
    /// True once a reply has come since the task began.
    has_reply: bool,
}

impl Default for Reading {
    fn default() -> Self {
        Self { turn: 0, is_over: true, has_reply: false }
    }
}

impl Reading {
    fn replied(&mut self, is_answer: bool) {
        self.is_over = is_answer;
        self.has_reply = true;
    }

    fn text(&mut self, content: &str) -> DeliveredText {
        // Behind another one that began a turn it belongs to the same.
        let begins_turn = self.is_over || !self.has_reply;
        if begins_turn && (self.has_reply || self.turn == 0) {
            self.turn += 1;
            self.has_reply = false;
        }
        DeliveredText { words: Some(content.to_owned()), turn: self.turn, begins_turn, ..DeliveredText::default() }
    }
}
