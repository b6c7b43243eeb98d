//! What the session's journal keeps of the message: every text that was typed and not sent, with whom it is for.
//!
//! A kept text comes back to the same place when the session is resumed; nothing is sent by that.

use super::Message;
use super::composer::Composer;
use super::entry::written;
use super::purpose::{Editing, Purpose};
use crate::id::AgentId;
use crate::protocol::DraftText;
use crate::steering::TextKind;
use crate::text::is_blank;

impl Message {
    /// Returns every text that was typed and neither sent nor removed; the one in the message first.
    pub fn unsent(&self) -> Vec<DraftText> {
        let main = AgentId::main;
        let draft = (self.bound.clone().unwrap_or_default(), self.draft.text(), self.draft.kind());
        let above = self.above.iter().flat_map(|(purpose, composer)| match purpose {
            Purpose::Recall(recall) => {
                let changed = recall.changed.iter().map(|(_, changed)| (main(), changed.text(), changed.kind()));
                let shown =
                    (!self.is_as_sent(recall.origin, composer)).then(|| (main(), composer.text(), composer.kind()));
                shown.into_iter().chain(changed).collect::<Vec<_>>()
            }
            Purpose::Edit(Editing { agent, entry }) => {
                let text = composer.text();
                if text == written(entry) { Vec::new() } else { vec![(agent.clone(), text, composer.kind())] }
            }
            Purpose::AboutStep(about) if composer.text() == about.before => Vec::new(),
            Purpose::AboutCall(_) | Purpose::AboutQuestion(_) | Purpose::AboutStep(_) | Purpose::Line => {
                vec![(main(), composer.text(), TextKind::default())]
            }
        });
        let others = self.drafts.each().map(|(agent, text, kind)| (agent.clone(), text, kind));
        let lines = self.lines.texts().map(|text| (main(), text, TextKind::default()));
        let all = std::iter::once(draft).chain(above).chain(others).chain(lines);
        let typed = all.filter(|(_, text, _)| !is_blank(text));
        typed.map(|(to, text, kind)| DraftText { to, kind, images: self.files_in(&text), text }).collect()
    }

    /// Puts back what an earlier process of the session kept: into the message what was for the main agent, the rest to
    /// the drafts of the other agents.
    pub fn restore_drafts(&mut self, drafts: &[DraftText]) {
        let (main, others): (Vec<_>, Vec<_>) = drafts.iter().partition(|draft| draft.to.is_main());
        if let ([one], true) = (main.as_slice(), self.draft.is_empty()) {
            self.draft.set_kind(one.kind);
        }
        let main: Vec<String> = main.into_iter().map(|draft| draft.text.clone()).collect();
        self.put_before_draft(&main);
        for DraftText { to, text, kind, .. } in others {
            let mut composer = Composer::default();
            composer.load(text);
            composer.set_kind(*kind);
            self.drafts.keep(to.clone(), composer);
        }
    }
}
