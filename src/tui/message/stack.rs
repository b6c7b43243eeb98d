//! The stack of the message: what is written first, how it begins, and how it ends.
//!
//! Always holds: the draft comes back as it was, with its undo history, whichever way the text above it ends; a text that
//! is left can be brought back.

use super::Message;
use super::composer::Composer;
use super::entry::written;
use super::history::Origin;
use super::purpose::{AboutCall, AboutQuestion, AboutStep, Editing, Purpose, Recall};
use super::removed::Removed;
use steersman_base::id::MessageId;
use steersman_base::text::is_blank;

/// What became of a text that was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaveOutcome {
    /// It said nothing new.
    Unchanged,
    /// It can be brought back.
    Kept,
}

impl Message {
    pub(super) fn top(&self) -> &Composer {
        self.above.last().map_or(&self.draft, |(_, composer)| composer)
    }

    pub(super) fn top_mut(&mut self) -> &mut Composer {
        let composer = match self.above.last_mut() {
            Some((_, composer)) => composer,
            None => &mut self.draft,
        };
        composer.know_labels(self.images.labels());
        composer
    }

    /// Begins a text that is written first. A text of the history gives way to the draft, unless it was changed.
    pub fn begin(&mut self, purpose: Purpose, text: &str) {
        self.leave_recalled();
        self.vim_begin_text();
        let mut composer = Composer::default();
        composer.load(text);
        self.above.push((purpose, composer));
    }

    /// Puts the cursor behind the first line of what is written first.
    pub fn to_first_line(&mut self) {
        self.top_mut().end_of_line(Some(0));
    }

    /// Puts the cursor behind the next line of what is written first; false where it stands in the last one.
    pub fn to_next_line(&mut self) -> bool {
        self.top_mut().end_of_line(None)
    }

    /// Leaves the text that is written first; it can be brought back where it says something new.
    pub fn leave(&mut self) -> Option<(Purpose, LeaveOutcome)> {
        let (purpose, composer) = self.end(Purpose::comes_first)?;
        let text = composer.text();
        if is_blank(&text) || text == purpose.before() {
            return Some((purpose, LeaveOutcome::Unchanged));
        }
        self.set_aside(match &purpose {
            Purpose::Edit(Editing { agent, entry, .. }) => {
                let (id, was) = (entry.id.clone(), written(entry));
                Removed::Edit { agent: agent.clone(), id, text, was }
            }
            Purpose::AboutCall(_)
            | Purpose::AboutQuestion(_)
            | Purpose::AboutStep(_)
            | Purpose::Recall(_)
            | Purpose::Line => Removed::Draft(text),
        });
        Some((purpose, LeaveOutcome::Kept))
    }

    /// Ends an edit whose words are in the queue.
    pub fn finish_edit(&mut self) {
        self.end(|purpose| matches!(purpose, Purpose::Edit(_)));
    }

    /// Ends a text about a call that was decided with it.
    pub fn finish_about_call(&mut self) {
        self.end(|purpose| matches!(purpose, Purpose::AboutCall(_)));
    }

    /// Ends a text that a question was answered with.
    pub fn finish_about_question(&mut self) {
        self.end(|purpose| matches!(purpose, Purpose::AboutQuestion(_)));
    }

    /// Ends the text of a step that the plan has.
    pub fn finish_about_step(&mut self) {
        self.end(|purpose| matches!(purpose, Purpose::AboutStep(_)));
    }

    /// Returns what has to be ended before anything else is written.
    pub fn first_purpose(&self) -> Option<&Purpose> {
        self.purposes().find(|purpose| purpose.comes_first())
    }

    /// Tells whether the message holds the draft or a text of the history.
    pub fn is_draft(&self) -> bool {
        self.first_purpose().is_none()
    }

    /// Returns the pending entry that is edited.
    pub fn editing(&self) -> Option<&Editing> {
        self.purposes().find_map(|purpose| if let Purpose::Edit(editing) = purpose { Some(editing) } else { None })
    }

    /// Returns the entry that is being edited.
    pub fn edited(&self) -> Option<&MessageId> {
        self.editing().map(|editing| &editing.entry.id)
    }

    /// Tells whether this entry is being edited.
    pub fn is_edited(&self, id: &MessageId) -> bool {
        self.edited() == Some(id)
    }

    /// Returns the call that something is written about.
    pub fn about_call(&self) -> Option<&AboutCall> {
        self.purposes().find_map(|purpose| if let Purpose::AboutCall(about) = purpose { Some(about) } else { None })
    }

    /// Returns the question that something is written to answer.
    pub fn about_question(&self) -> Option<&AboutQuestion> {
        self.purposes().find_map(|purpose| if let Purpose::AboutQuestion(about) = purpose { Some(about) } else { None })
    }

    /// Returns the step that something is written for.
    pub fn about_step(&self) -> Option<&AboutStep> {
        self.purposes().find_map(|purpose| if let Purpose::AboutStep(about) = purpose { Some(about) } else { None })
    }

    /// Returns where the text comes from that stands in place of the draft.
    pub fn recalled(&self) -> Option<Origin> {
        self.recall().map(|(recall, _)| recall.origin)
    }

    pub(super) fn recall(&self) -> Option<(&Recall, &Composer)> {
        self.above.iter().find_map(
            |(purpose, composer)| {
                if let Purpose::Recall(recall) = purpose { Some((recall, composer)) } else { None }
            },
        )
    }

    /// Takes the newest text off that is for this, wherever it stands.
    pub(super) fn end(&mut self, is_meant: impl Fn(&Purpose) -> bool) -> Option<(Purpose, Composer)> {
        let place = self.above.iter().rposition(|(purpose, _)| is_meant(purpose))?;
        Some(self.above.remove(place))
    }

    /// Returns what the texts above the draft are for, the one on top first.
    fn purposes(&self) -> impl Iterator<Item = &Purpose> {
        self.above.iter().rev().map(|(purpose, _)| purpose)
    }
}
