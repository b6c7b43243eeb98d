//! Texts in the message in place of the draft: older ones and newer ones of the history, a command that a key begins.
//!
//! Always holds: the draft from before comes back when such a text is sent or left; one that was changed is in the
//! message, or can be brought back.

use super::Message;
use super::composer::Composer;
use super::history::{Origin, Sent};
use super::purpose::{Purpose, Recall};
use super::removed::Removed;
use crate::effect::PaneEffect;
use steersman_base::text::is_blank;

/// What became of the text that was there before a command was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// There was none.
    Nothing,
    /// It comes back after the command.
    ComesBack,
}

impl Message {
    /// Takes the text out of the message, as a queue has it now or a command was carried out; the draft from before comes
    /// back. Returns what is to be remembered for later sessions.
    pub fn sent(&mut self) -> Option<String> {
        let remembered = self.remember(&self.text());
        self.vim_begin_text();
        match self.above.last() {
            Some((Purpose::Recall(_), _)) => self.end_recall(),
            Some(_) | None => self.top_mut().forget(),
        }
        remembered
    }

    /// Remembers what was sent. What begins with a blank is not remembered, as in a shell.
    pub fn remember(&mut self, text: &str) -> Option<String> {
        if is_blank(text) || text.starts_with(char::is_whitespace) {
            return None;
        }
        self.history.add(Sent::new(text));
        Some(text.to_owned())
    }

    /// Takes what earlier sessions sent; an Up that was too early for it counts now.
    pub fn begin_history(&mut self, older: Vec<Sent>) {
        self.history.begin(older);
        if self.history.awaited {
            self.older(|_| false);
        }
    }

    /// Goes to the next older text, but for those that are not over yet.
    pub fn older(&mut self, is_open: impl Fn(&str) -> bool) {
        self.history.awaited = self.recalled().is_none() && self.history.is_loading();
        if self.history.awaited && self.history.get(0).is_none() {
            return;
        }
        self.history.awaited = false;
        let mut age = self.age().map_or(0, |age| age + 1);
        while self.history.get(age).is_some_and(|sent| is_open(&sent.text)) {
            age += 1;
        }
        self.go(age);
    }

    /// Goes to the next newer text, and from the newest to the draft.
    pub fn newer(&mut self, is_open: impl Fn(&str) -> bool) {
        let ages = (0..self.age().unwrap_or(0)).rev();
        let over = |age: &usize| self.history.get(*age).is_some_and(|sent| !is_open(&sent.text));
        match ages.into_iter().find(over) {
            Some(newer) => self.go(newer),
            None => {
                if let Some(recall) = self.take_recall() {
                    self.keep_changed(recall);
                }
            }
        }
    }

    /// Puts the text of this age into the message.
    pub fn go(&mut self, age: usize) {
        let Some(sent) = self.history.get(age).filter(|_| self.is_draft()) else { return };
        let mut composer = Composer::default();
        composer.load(&sent.text);
        self.put_in_place(Origin::History(age), composer);
    }

    /// Puts a command into the message; what stands there comes back when the command is sent or left.
    pub fn begin_command(&mut self, command: &'static str) -> Before {
        if self.is_empty() && self.recalled().is_none() {
            self.load(command);
            return Before::Nothing;
        }
        let mut composer = Composer::default();
        composer.load(command);
        self.put_in_place(Origin::Key(command), composer);
        Before::ComesBack
    }

    /// Puts a text into the message, in place of what stands there, which can be brought back; nothing changes while another
    /// text has to be ended first.
    pub fn write_in_place(&mut self, text: &str) -> Vec<PaneEffect> {
        if let Some(first) = self.blocked() {
            return vec![first];
        }
        self.leave_recalled();
        let before = self.text();
        self.load(text);
        if is_blank(&before) {
            return Vec::new();
        }
        self.set_aside(Removed::Draft(before));
        vec![PaneEffect::Say("what you were writing is kept; Ctrl+_ brings it back".to_owned())]
    }

    /// Ends the walk because something else needs the message: a text that was changed stays, and the draft can be
    /// brought back; one as it was sent gives way to the draft.
    pub fn leave_recalled(&mut self) {
        let Some((recall, composer)) = self.pop_recall() else { return };
        if !self.is_as_sent(recall.origin, &composer) {
            let draft = std::mem::replace(&mut self.draft, composer);
            if !is_blank(&draft.shown()) {
                self.set_aside(Removed::Draft(draft.text()));
            }
        }
        self.keep_changed(recall);
    }

    /// Puts a recalled text away, as a key clears a message; false when there is none.
    pub fn put_away(&mut self) -> bool {
        let Some((recall, composer)) = self.pop_recall() else { return false };
        let text = composer.text();
        let is_new = !self.is_as_sent(recall.origin, &composer) && !is_blank(&text);
        self.keep_changed(recall);
        if is_new {
            self.set_aside(Removed::Draft(text));
        }
        true
    }

    pub(super) fn is_as_sent(&self, origin: Origin, composer: &Composer) -> bool {
        match origin {
            Origin::History(age) => self.history.get(age).is_some_and(|sent| *sent.text == *composer.text()),
            Origin::Key(command) => composer.text().trim_end() == command.trim_end(),
        }
    }

    /// Returns how far back the text is that the message holds; `None` when it holds none of the history.
    fn age(&self) -> Option<usize> {
        match self.recalled()? {
            Origin::History(age) => Some(age),
            Origin::Key(_) => None,
        }
    }

    /// Puts a text above the draft, or in the place of the one that stands there already.
    fn put_in_place(&mut self, origin: Origin, composer: Composer) {
        let mut changed = self.take_recall().map(|recall| recall.changed).unwrap_or_default();
        let known = changed.iter().position(|(known, _)| *known == origin);
        let composer = known.map_or(composer, |place| changed.remove(place).1);
        self.vim_end_selection();
        self.above.push((Purpose::Recall(Recall { origin, changed }), composer));
    }

    /// Ends the walk because the recalled text is gone: the draft from before comes back.
    fn end_recall(&mut self) {
        if let Some((recall, _)) = self.pop_recall() {
            self.keep_changed(recall);
        }
    }

    /// Ends the walk, and keeps the text where it came from when it was changed.
    fn take_recall(&mut self) -> Option<Recall> {
        let (mut recall, present) = self.pop_recall()?;
        if !self.is_as_sent(recall.origin, &present) && !is_blank(&present.shown()) {
            recall.changed.push((recall.origin, present));
        }
        Some(recall)
    }

    fn pop_recall(&mut self) -> Option<(Recall, Composer)> {
        let (purpose, composer) = self.end(|purpose| matches!(purpose, Purpose::Recall(_)))?;
        if let Purpose::Recall(recall) = purpose { Some((recall, composer)) } else { None }
    }

    fn keep_changed(&mut self, recall: Recall) {
        for (_, changed) in recall.changed {
            self.set_aside(Removed::Draft(changed.text()));
        }
    }
}
