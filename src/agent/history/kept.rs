//! What a compaction keeps word for word: the task, the rules, the later texts of the user, each with what became of it.
//!
//! Pure. One message has all of it and leads the shortened conversation, also when that is resumed. Always holds: a text
//! stands in it once, in the order of delivery; the task and the rules whole; no other text reads like one that is new.

use std::fmt::Write as _;

use super::shorten;
use super::texts::{PlacedText, RuleInConversation, TextFate, UserTexts, rules_in_conversation};
use steersman_base::id::AgentId;
use steersman_base::image::Image;
use steersman_base::message::{DeliveredText, KeptTexts, Message, UserAbout};
use steersman_base::plan::Plan;
use steersman_base::steering::{Rule, TextKind};
use steersman_core::wrapper::{holds_for, wrapped};

/// The beginning of the message that has the user's texts out of messages that were taken out.
pub const KEPT_HEAD: &str = "[Older messages were taken out to make room. Here stands word for word what the user wrote in \
them. You have read all of it before: none of it is new.]";

/// The lengths to which texts are cut that find no room whole, characters.
const LENGTHS: [usize; 2] = [400, 120];

/// What a compaction is to keep beside the texts of the conversation.
#[derive(Debug, Clone, Copy)]
pub struct Keep<'a> {
    /// The agent whose conversation it is.
    pub agent: &'a AgentId,
    /// The rules that it is to know of.
    pub rules: &'a [Rule],
    /// The plan as its model knows it.
    pub plan: &'a Plan,
    /// Characters that the texts may have which are neither the task nor a rule.
    pub room: usize,
}

/// Makes the message with the texts of all messages before `last`; `None` when there are none.
pub(super) fn kept(messages: &[Message], last: usize, keep: &Keep<'_>) -> Option<Message> {
    let texts = UserTexts::in_messages(messages);
    let sent = rules_in_conversation(messages);
    let rules: Vec<&Rule> = keep.rules.iter().filter(|rule| is_sent_before(rule, &sent, last)).collect();
    let removed: Vec<(&PlacedText, TextFate)> = texts
        .all()
        .iter()
        .enumerate()
        .filter(|(_, placed)| placed.place < last)
        .map(|(index, placed)| (placed, texts.fate(index)))
        .collect();
    if removed.is_empty() && rules.is_empty() && keep.plan.is_empty() {
        return None;
    }
    let holds = |text: &DeliveredText| {
        text.kind == TextKind::Rule && keep.rules.iter().any(|rule| Some(&rule.id) == text.id.as_ref())
    };
    let mut entries: Vec<Entry<'_>> = removed
        .iter()
        .enumerate()
        .filter(|(_, (placed, _))| !holds(&placed.text))
        .map(|(index, (placed, fate))| Entry::new(index, &placed.text, fate))
        .collect();
    let left_out = fit(&mut entries, keep.room);

    let mut block = KEPT_HEAD.to_owned();
    section(&mut block, "Rules that hold:", rules.iter().map(|rule| rule_entry(rule, keep.agent)));
    let first = entries.iter().position(|entry| entry.is_task).unwrap_or(entries.len());
    let (earlier, from_task) = entries.split_at(first);
    let (task, later): (Vec<&Entry<'_>>, Vec<&Entry<'_>>) = from_task.iter().partition(|entry| entry.is_task);
    let all_left_out = texts.left_out() + left_out.len();
    if all_left_out > 0 {
        let _ = write!(block, "\n\n({all_left_out} older texts found no room; the summary tells of them.)");
    }
    section(&mut block, "Earlier texts, oldest first:", earlier.iter().map(|entry| entry.written("text")));
    section(&mut block, "The task at this point:", task.iter().map(|entry| entry.written("task")));
    let head = "Texts to this task, oldest first. You acted on each when it came. They stay part of the task; begin none of \
                them again:";
    section(&mut block, head, later.iter().map(|entry| entry.written("text")));

    let plan = Some(keep.plan).filter(|plan| !plan.is_empty());
    section(
        &mut block,
        "Your plan at this point:",
        plan.map(|plan| wrapped("plan", "now", "", &plan.checklist())).into_iter(),
    );

    // Those of the task stay with it; of the others the texts tell.
    let mut places: Vec<usize> =
        removed.iter().filter(|(_, fate)| *fate == TextFate::Task).map(|(placed, _)| placed.place).collect();
    places.dedup();
    let images = places.into_iter().filter_map(|place| messages.get(place)).flat_map(images_of).cloned().collect();
    let stays = |(index, (placed, _)): (usize, (&PlacedText, TextFate))| {
        let mut text = placed.text.clone();
        if let Some(rule) = rules.iter().find(|rule| Some(&rule.id) == text.id.as_ref()) {
            text.words = Some(rule.text.clone());
        }
        (!left_out.contains(&index)).then_some(text)
    };
    let kept = removed.into_iter().enumerate().filter_map(stays).collect();
    let rules = rules.iter().map(|rule| (rule.id.clone(), rule.version)).collect();
    let is_answered = UserTexts::in_messages(messages.get(..last).unwrap_or_default()).is_answered();
    let about = KeptTexts { texts: kept, left_out: all_left_out, rules, is_answered };
    Some(Message::user_about(block, images, UserAbout::Kept(about)))
}

fn images_of(message: &Message) -> &[Image] {
    if let Message::User { images, .. } = message { images } else { &[] }
}

/// Returns what of the task, of the rules or of the texts without an answer is not in a shortened conversation word for
/// word; `None` when all of it is.
pub(crate) fn lost(before: &[Message], after: &[Message], rules: &[Rule]) -> Option<&'static str> {
    let stands = |words: &str| {
        after.iter().any(|message| matches!(message, Message::User { content, .. } if content.contains(words)))
    };
    let texts = UserTexts::in_messages(before);
    for (index, placed) in texts.all().iter().enumerate() {
        let words = placed.text.words.as_deref().unwrap_or_default();
        let lost = match texts.fate(index) {
            TextFate::Task => "the task",
            TextFate::Unanswered => "a text without an answer",
            TextFate::Handled(_) | TextFate::Replaced(_) | TextFate::Over(_) => continue,
        };
        if placed.text.kind != TextKind::Rule && !stands(words) {
            return Some(lost);
        }
    }
    let sent = rules_in_conversation(before);
    let is_lost = |rule: &Rule| {
        let is_sent = sent.iter().any(|sent| sent.rule == rule.id && sent.version.is_some());
        is_sent && !stands(&rule.text) && sent_text(before, rule).is_none_or(|words| !stands(words))
    };
    rules.iter().any(is_lost).then_some("a rule")
}

/// Returns the words of a rule as the conversation has them last.
fn sent_text<'a>(messages: &'a [Message], rule: &Rule) -> Option<&'a str> {
    messages.iter().rev().find_map(|message| {
        let Message::User { about: Some(about), content, .. } = message else { return None };
        if let UserAbout::Rule(notice) = about.as_ref() {
            return notice.words.as_deref().filter(|_| notice.rule == rule.id);
        }
        let UserAbout::Text(text) = about.as_ref() else { return None };
        (text.id.as_ref() == Some(&rule.id)).then(|| text.words.as_deref().unwrap_or(content))
    })
}

/// Tells whether the latest notice of a rule stands among the messages before `last`.
fn is_sent_before(rule: &Rule, sent: &[RuleInConversation], last: usize) -> bool {
    sent.iter().any(|sent| sent.rule == rule.id && sent.version.is_some() && sent.place < last)
}

/// One text of the message.
struct Entry<'a> {
    /// Its number among the texts of the removed messages.
    index: usize,
    id: String,
    kind: TextKind,
    words: std::borrow::Cow<'a, str>,
    state: String,
    is_task: bool,
}

impl<'a> Entry<'a> {
    fn new(index: usize, text: &'a DeliveredText, fate: &TextFate) -> Self {
        let id = text.id.as_ref().map_or_else(|| format!("n{}", index + 1), |id| id.as_str().to_owned());
        let words = text.words.as_deref().unwrap_or_default().into();
        let state = if text.kind == TextKind::Rule { "withdrawn".to_owned() } else { state(fate) };
        Self { index, id, kind: text.kind, words, state, is_task: *fate == TextFate::Task }
    }

    fn written(&self, name: &str) -> String {
        let kind = match self.kind {
            TextKind::Add => String::new(),
            kind @ (TextKind::Instead | TextKind::Note | TextKind::Rule) => format!(" kind=\"{kind}\""),
        };
        let state = if self.is_task { String::new() } else { format!(" state=\"{}\"", self.state) };
        wrapped(name, &self.id, &format!("{kind}{state}"), &self.words)
    }
}

fn state(fate: &TextFate) -> String {
    match fate {
        TextFate::Task | TextFate::Unanswered => String::new(),
        TextFate::Handled(0) => "handled".to_owned(),
        TextFate::Handled(round) => format!("handled from round {round} on"),
        TextFate::Replaced(None) => "replaced".to_owned(),
        TextFate::Replaced(Some(by)) => format!("replaced by {by}"),
        TextFate::Over(0) => "of a turn that is over".to_owned(),
        TextFate::Over(turn) => format!("of turn {turn}, which is over"),
    }
}

fn rule_entry(rule: &Rule, reader: &AgentId) -> String {
    let scope = if rule.agent == *reader { holds_for(rule.scope) } else { "you" };
    wrapped("rule", rule.id.as_str(), &format!(" for=\"{scope}\""), &rule.text)
}

fn section(block: &mut String, head: &str, entries: impl Iterator<Item = String>) {
    let entries: Vec<String> = entries.collect();
    if !entries.is_empty() {
        let _ = write!(block, "\n\n{head}\n\n{}", entries.join("\n\n"));
    }
}

/// Shortens texts, the oldest first, until all that are not the task find room; at last the oldest are left out, whose
/// numbers it returns.
fn fit(entries: &mut Vec<Entry<'_>>, room: usize) -> Vec<usize> {
    let length = |entry: &Entry<'_>| if entry.is_task { 0 } else { entry.words.chars().count() };
    let mut size: usize = entries.iter().map(length).sum();
    for most in LENGTHS {
        for entry in entries.iter_mut().filter(|entry| !entry.is_task) {
            if size <= room {
                return Vec::new();
            }
            if let Some(short) = shorten(&entry.words, most) {
                size -= entry.words.chars().count() - short.chars().count();
                entry.words = short.into();
            }
        }
    }
    let mut left_out = Vec::new();
    while size > room
        && let Some(place) = entries.iter().position(|entry| !entry.is_task)
    {
        let entry = entries.remove(place);
        size -= length(&entry);
        left_out.push(entry.index);
    }
    left_out
}

#[cfg(test)]
mod tests {
    use super::*;
    use steersman_base::id::MessageId;
    use steersman_base::steering::RuleScope;

    fn text(id: &str, kind: TextKind, words: &str, begins_turn: bool) -> Message {
        let id = Some(MessageId::new(id));
        let about = DeliveredText { id, kind, words: Some(words.to_owned()), turn: 1, round: 1, begins_turn };
        Message::user_about(format!("<frame>{words}</frame>"), Vec::new(), UserAbout::Text(about))
    }

    #[test]
    fn a_shorter_conversation_without_the_task_a_rule_or_an_unanswered_text_is_found_out() {
        let task = text("m1", TextKind::Add, "migrate all", true);
        let rule = text("m2", TextKind::Rule, "no new files", false);
        let answered = text("m3", TextKind::Note, "it is red", false);
        let new = text("m4", TextKind::Add, "and the views", false);
        let reply = Message::assistant("I go on.");
        let before = [task.clone(), rule.clone(), answered, reply, new.clone()];
        let (id, agent, scope) = (MessageId::new("m2"), AgentId::main(), RuleScope::Tree);
        let rules = [Rule { id, agent, scope, text: "no new files".to_owned(), version: 0 }];
        let without = |left_out: &Message| {
            let after: Vec<Message> =
                [&task, &rule, &new].into_iter().filter(|one| *one != left_out).cloned().collect();
            lost(&before, &after, &rules)
        };
        assert_eq!(without(&task), Some("the task"));
        assert_eq!(without(&rule), Some("a rule"));
        assert_eq!(without(&new), Some("a text without an answer"));
        assert_eq!(lost(&before, &[task.clone(), rule.clone(), new.clone()], &rules), None);
        assert_eq!(lost(&before, &[task, new], &[]), None, "a rule that was withdrawn may go");
    }
}
