//! Random lives of screen and queue together: whatever the user and the agent do, each typed text ends in one place.
//!
//! Every text carries a word of its own. After each operation the word is counted over everything that can hold it: what the
//! agent took, the queues, the message, the draft that is set aside, and the stack of removals.

use std::collections::BTreeMap;

use proptest::prelude::*;
use steersman_base::event::{Event, Outcome, Pending};
use steersman_base::id::AgentId;
use steersman_tui::message::removed::Removed;

use super::pending_list::crew;
use crate::support::stage::Stage;

const CHILD: &str = "file_miner 0";

/// One thing that the user or an agent does.
#[derive(Debug, Clone)]
enum Operation {
    /// A new text: sent to the target with this key, or left as a draft (empty).
    Type(&'static str),
    /// A long text is pasted and left.
    Paste,
    /// New words in place of what the message holds.
    Rewrite,
    /// Keys that type nothing.
    Keys(&'static str),
    /// The agent takes what enters at its boundary; the screen hears of it now, or later.
    Drain { child: bool, told: bool },
    /// The screen hears of everything that was taken.
    Tell,
    /// The child ends.
    End,
}

fn act() -> impl Strategy<Value = Operation> {
    let keys = [
        "<f2>",
        "<f2>j",
        "<f2>k",
        "<f2><home>",
        "<f2>d",
        "<f2><home>d",
        "<f2>e",
        "<f2>k<enter>",
        "<enter>",
        "<f2>J",
        "<f2>K",
        "<f2>f",
        "<f2>s",
        "<f2>m",
        "<f2><home>m",
        "<f2><f5>",
        "<a-up>",
        "<c-c>",
        "<esc>",
        "<f5>",
        "<tab>",
        "<f3>u",
        "<f3>u",
        "<f3>u",
        "<f3><down><enter>",
        "<f3><up><enter>",
        "<f3><enter><up>",
        "<f3><enter><up>",
        "<f3><enter><down>",
        "<f3><enter><a-r>",
        "<f3><enter><a-e>",
        "<c-r><enter>",
        "<c-r><down><esc>",
    ];
    prop_oneof![
        6 => prop::sample::select(vec!["<enter>", "<enter>", "<tab>", "<f5>", ""]).prop_map(Operation::Type),
        2 => Just(Operation::Rewrite),
        2 => Just(Operation::Paste),
        12 => prop::sample::select(keys.to_vec()).prop_map(Operation::Keys),
        3 => (any::<bool>(), any::<bool>()).prop_map(|(child, told)| Operation::Drain { child, told }),
        2 => Just(Operation::Tell),
        1 => Just(Operation::End),
    ]
}

struct Life {
    stage: Stage,
    words: usize,
    /// Words that were written over by others.
    rewritten: Vec<String>,
    /// Words of edits that were left: the text from before the edit went its own way, and the screen says so when what
    /// was written comes back beside it.
    copied: Vec<String>,
    taken: Vec<(AgentId, Pending)>,
    untold: Vec<(AgentId, Pending)>,
    child_runs: bool,
}

impl Life {
    fn new() -> Self {
        let stage = crew(100, 30);
        Self {
            stage,
            words: 0,
            rewritten: Vec::new(),
            copied: Vec::new(),
            taken: Vec::new(),
            untold: Vec::new(),
            child_runs: true,
        }
    }

    fn word(&mut self) -> String {
        self.words += 1;
        format!("w{}w", self.words)
    }

    fn play(&mut self, operation: &Operation) {
        match operation {
            Operation::Type(key) => {
                let word = self.word();
                self.stage.keys("<f3><enter>");
                // What begins with a blank is not remembered; in the midst of another text it must stand apart.
                let blank = if self.stage.app.message.is_empty() { "" } else { " " };
                self.stage.keys(&format!("{blank}{word} ")).keys(key);
            }
            Operation::Paste => {
                let word = self.word();
                self.stage.keys("<f3><enter>").paste(&format!(" {word}\n{}", "line\n".repeat(30)));
            }
            Operation::Rewrite => {
                if self.stage.app.message.editing().is_none() {
                    return;
                }
                self.stage.keys("<f3><enter>");
                self.rewritten.extend(words_in(&self.stage.app.message.text()));
                let lines = self.stage.app.message.text().lines().count();
                self.stage.keys(&"<end><c-u><bs>".repeat(lines + 1));
                // Whatever a cursor in the middle has left behind was not written over.
                let left = self.stage.app.message.text();
                self.rewritten.retain(|word| !left.contains(word.as_str()));
                let word = self.word();
                self.stage.keys(&word);
            }
            Operation::Keys(keys) => {
                // Letters of the list must not be typed where there is no list.
                if keys.starts_with("<f2>") && self.stage.app.ui.run.pending.is_empty() {
                    return;
                }
                self.stage.keys(keys);
            }
            Operation::Drain { child, told } => {
                let agent = if *child { AgentId::new(CHILD) } else { AgentId::main() };
                let Some(controls) = self.stage.handle.agent_controls().get(&agent) else { return };
                let taken = controls.interloper.drain().into_iter().map(|entry| (agent.clone(), entry));
                self.untold.extend(taken);
                if *told {
                    self.tell();
                }
            }
            Operation::Tell => self.tell(),
            Operation::End => {
                if self.child_runs {
                    self.child_runs = false;
                    let entries = self.stage.handle.agent_controls().dismiss(&CHILD.into());
                    self.tell();
                    self.stage.event(CHILD, Event::Returned { entries });
                    self.stage.finished("", CHILD, Outcome::Completed);
                }
            }
        }
    }

    fn tell(&mut self) {
        self.stage.refresh();
        for (agent, entry) in std::mem::take(&mut self.untold) {
            let injection = Some(entry.id.clone());
            let content = entry.text.clone();
            let turn = Event::UserTurn {
                content,
                mid_loop: true,
                injection,
                step: 1,
                after: None,
                sender: None,
                kind: steersman_base::steering::TextKind::Add,
                met: None,
                images: Vec::new(),
            };
            self.stage.event(agent.as_str(), turn);
            self.taken.push((agent, entry));
        }
    }

    /// Counts each word over every place that can hold a text.
    fn count(&self) -> BTreeMap<String, usize> {
        let app = &self.stage.app;
        let mut texts: Vec<String> = Vec::new();
        texts.extend(self.taken.iter().chain(&self.untold).map(|(_, entry)| entry.text.clone()));
        let edited = app.message.editing().map(|editing| editing.entry.id.clone());
        // The entry that is edited is in the message; what the queue holds of it is how it was.
        let queues = self.stage.handle.peek().into_iter().flat_map(|(_, entries)| entries);
        texts.extend(queues.filter(|entry| Some(&entry.id) != edited.as_ref()).map(|entry| entry.message.text));
        texts.extend(app.message.texts());
        texts.extend(app.message.removed().entries().filter_map(|removed| match removed {
            Removed::Deleted(taken) => Some(taken.entry.text.clone()),
            Removed::Draft(text) => Some(text.clone()),
            // These are where the stack says, and only there.
            Removed::TakenBack(_) | Removed::Merged { .. } | Removed::Edit { .. } => None,
        }));
        let mut count = BTreeMap::new();
        for word in texts.iter().flat_map(|text| words_in(text)) {
            *count.entry(word).or_insert(0) += 1;
        }
        count
    }

    /// Returns what the queue holds of the entry that is edited: how it was. Esc goes back to it, Enter writes over it.
    fn edited_over(&self) -> Option<String> {
        let edited = &self.stage.app.message.editing()?.entry.id;
        let queues = self.stage.handle.peek().into_iter().flat_map(|(_, entries)| entries);
        queues.filter(|entry| entry.id == *edited).map(|entry| entry.message.text).next()
    }

    fn check(&mut self, operation: &Operation) {
        let count = self.count();
        let over: Vec<String> = self.edited_over().iter().flat_map(|text| words_in(text)).collect();
        self.rewritten.extend(over.into_iter().filter(|word| !count.contains_key(word)));
        let left: Vec<String> = self.stage.app.message.removed().entries().filter_map(left_edit).collect();
        self.copied.extend(left.iter().flat_map(|text| words_in(text)));
        if self.stage.app.message.recalled().is_some() {
            self.copied.extend(words_in(&self.stage.app.message.text()));
        }
        for number in 1..=self.words {
            let word = format!("w{number}w");
            let times = count.get(&word).copied().unwrap_or(0);
            let is_left = left.iter().any(|text| text.contains(&word));
            // Words of an edit that was left, and words that were written over, need not be anywhere else.
            let at_least = usize::from(!is_left && !self.rewritten.contains(&word));
            let at_most = if self.copied.contains(&word) { usize::MAX } else { 1 };
            assert!((at_least..=at_most).contains(&times), "{word} is in {times} places after {operation:?}");
        }
    }
}

fn left_edit(removed: &Removed) -> Option<String> {
    match removed {
        Removed::Edit { text, .. } => Some(text.clone()),
        Removed::Deleted(_) | Removed::TakenBack(_) | Removed::Merged { .. } | Removed::Draft(_) => None,
    }
}

fn words_in(text: &str) -> Vec<String> {
    text.split_whitespace().filter(|part| part.starts_with('w') && part.ends_with('w')).map(str::to_owned).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_typed_text_is_in_one_place(acts in prop::collection::vec(act(), 1..40)) {
        let mut life = Life::new();
        for operation in acts {
            life.play(&operation);
            life.check(&operation);
            life.stage.screen();
        }
    }
}
