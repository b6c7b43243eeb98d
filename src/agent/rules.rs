//! The rules of the user in one conversation: before each request the model is told what it does not know of them yet.
//!
//! The list is the tree's; what the model knows is read from the conversation. So the rules of a new sub-agent, an edit, a
//! withdrawal, a reset and a resume are one thing. Always holds: a request has every rule that holds for its agent.

use crate::{Agent, UserTexts, rules_in_conversation};
use steersman_base::event::Event;
use steersman_base::id::MessageId;
use steersman_base::message::{Message, RuleNotice, UserAbout};
use steersman_base::steering::{Framing, Rule, RuleNews, RuleScope, TextKind};
use steersman_core::wrapper::{plain_rule_news, rule_news};

/// Tells whether a message is the text that set this rule, not a notice of it.
fn is_rule(message: &Message, id: &MessageId) -> bool {
    let Message::User { about: Some(about), .. } = message else { return false };
    matches!(about.as_ref(), UserAbout::Text(text) if text.kind == TextKind::Rule && text.id.as_ref() == Some(id))
}

impl Agent {
    /// Tells the model of the rules that hold and that it does not know, or knows otherwise.
    pub(super) fn deliver_rules(&mut self) {
        let rules = self.tree.rules.for_agent(&self.id);
        let sent = rules_in_conversation(self.history.messages());
        if rules.is_empty() && sent.is_empty() {
            return;
        }
        for rule in &rules {
            let known = sent.iter().find(|sent| sent.rule == rule.id).and_then(|sent| sent.version);
            match known {
                None => self.push_rule_notice(rule, RuleNews::Holds),
                Some(version) if version < rule.version => self.push_rule_notice(rule, RuleNews::Changed),
                Some(_) => {}
            }
        }
        for gone in sent.iter().filter(|sent| sent.version.is_some()) {
            if !rules.iter().any(|rule| rule.id == gone.rule) {
                let rule = self.known_rule(&gone.rule);
                self.push_rule_notice(&rule, RuleNews::Withdrawn);
            }
        }
    }

    fn push_rule_notice(&mut self, rule: &Rule, news: RuleNews) {
        let content = match self.tree.framing {
            Framing::Framed => rule_news(rule, news, &self.id),
            Framing::Plain => plain_rule_news(news, &rule.text),
        };
        let words = (news != RuleNews::Withdrawn).then(|| rule.text.clone());
        let notice = RuleNotice { rule: rule.id.clone(), news, words: words.clone(), version: rule.version };
        self.history.push_user_about(content, Vec::new(), UserAbout::Rule(notice));
        self.listeners.emit(Event::RuleNotified { id: rule.id.clone(), news, text: words });
        self.notify_history();
    }

    /// Returns a rule as the conversation knows it.
    fn known_rule(&self, id: &MessageId) -> Rule {
        let texts = UserTexts::in_messages(self.history.messages());
        let known = texts.all().iter().map(|placed| &placed.text);
        let text = known.filter(|text| text.kind == TextKind::Rule).find(|text| text.id.as_ref() == Some(id));
        let words = text.and_then(|text| text.words.clone()).unwrap_or_default();
        Rule { id: id.clone(), agent: self.id.clone(), scope: RuleScope::default(), text: words, version: 0 }
    }

    /// Lets the rules of recorded messages hold: those that the tree does not know, and of a sub-agent only those that were
    /// sent to it. A host that knows them better takes over its own list behind that.
    pub(super) fn adopt_rules(&self, messages: &[Message]) {
        let known = self.tree.rules.list();
        for sent in rules_in_conversation(messages) {
            let is_own = self.id.is_main() || messages.iter().any(|message| is_rule(message, &sent.rule));
            if let Some(version) = sent.version.filter(|_| is_own)
                && known.iter().all(|rule| rule.id != sent.rule)
            {
                self.tree.rules.set(Rule { version, ..self.known_rule(&sent.rule) });
            }
        }
    }
}
