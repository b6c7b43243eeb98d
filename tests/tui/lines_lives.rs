//! Random lives of the line output and the queue together: whatever is typed and whatever the agents do, each text ends
//! in one place, and no sentence names a key that is not there.
//!
//! Every text carries a word of its own, which is counted over everything that can hold it.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use steersman_base::event::{Event, Outcome, Pending};
use steersman_base::id::AgentId;
use steersman_tui::message::removed::Removed;

use crate::support::stage::Stage;

const CHILD: &str = "file_miner 0";

/// One thing that the user or an agent does.
#[derive(Debug, Clone)]
enum Operation {
    /// A text with these words before it, as a whole line or key by key.
    Type(&'static str, bool),
    /// A command about the pending text with a number.
    About(&'static str, usize),
    /// A line that holds no text.
    Line(&'static str),
    /// Keys that type no text.
    Keys(&'static str),
    /// The agent takes what enters at its boundary; the screen hears of it now, or later.
    Drain { child: bool, told: bool },
    /// The screen hears of everything that was taken.
    Tell,
    /// The child ends.
    End,
}

fn act() -> impl Strategy<Value = Operation> {
    let about = ["/edit", "/delete", "/up", "/down", "/steer", "/followup", "/join", "/deliver"];
    let lines = [
        "",
        "/back",
        "/back",
        "/back",
        "/take",
        "/drop",
        "/cancel",
        "/agent file",
        "/agent",
        "/pending",
        "/hold",
        "/go",
        "/nonsense",
    ];
    let keys = ["<c-c>", "<esc>", "<a-up>", "<enter>", "<bs>", "<c-w>", "<left>"];
    prop_oneof![
        6 => (prop::sample::select(vec!["", "", "/later ", "/now ", "@file_miner 0 ", "@main "]), any::<bool>())
            .prop_map(|(before, keys)| Operation::Type(before, keys)),
        8 => (prop::sample::select(about.to_vec()), 0_usize..4).prop_map(|(command, number)| Operation::About(command, number)),
        6 => prop::sample::select(lines.to_vec()).prop_map(Operation::Line),
        2 => prop::sample::select(keys[..4].to_vec()).prop_map(Operation::Keys),
        3 => (any::<bool>(), any::<bool>()).prop_map(|(child, told)| Operation::Drain { child, told }),
        2 => Just(Operation::Tell),
        1 => Just(Operation::End),
    ]
}

struct Life {
    stage: Stage,
    words: usize,
    taken: Vec<(AgentId, Pending)>,
    untold: Vec<(AgentId, Pending)>,
    child_runs: bool,
    written: String,
    /// Words of edits that were left: what was written comes back beside the text from before.
    copied: BTreeSet<String>,
}

impl Life {
    fn new() -> Self {
        let mut stage = Stage::in_lines();
        stage.turn("").call("", "c1", "agent").spawn("", CHILD).turn(CHILD);
        let cancellable = stage.handle.cancellable().child();
        stage.handle.agent_controls().enroll(&CHILD.into(), &cancellable);
        Self {
            stage,
            words: 0,
            taken: Vec::new(),
            untold: Vec::new(),
            child_runs: true,
            written: String::new(),
            copied: BTreeSet::new(),
        }
    }

    fn play(&mut self, operation: &Operation) {
        match operation {
            Operation::Type(before, by_keys) => {
                self.words += 1;
                let text = format!("{before}w{}w", self.words);
                // Key by key what is kept in the line is part of it; a whole line stands alone.
                if *by_keys && self.stage.app.message.is_empty() && self.stage.app.message.editing().is_none() {
                    self.stage.keys(&text).keys("<enter>");
                } else if self.stage.app.message.editing().is_none() {
                    self.stage.line(&text);
                }
            }
            Operation::About(command, number) => {
                let entries = self.stage.app.ui.run.pending.entries();
                let id = entries.get(*number).map_or("m77".to_owned(), |entry| entry.message.id.as_str().to_owned());
                if *command == "/edit" && self.stage.app.message.editing().is_some() {
                    return;
                }
                self.stage.line(&format!("{command} {}", id.trim_start_matches('m')));
            }
            // It would be the new words of what is edited.
            Operation::Line("/nonsense") if self.stage.app.message.editing().is_some() => {}
            Operation::Line(line) => {
                self.stage.line(line);
            }
            Operation::Keys(keys) => {
                self.stage.later(5_000).keys(keys);
            }
            Operation::Drain { child, told } => self.drain(*child, *told),
            Operation::Tell => self.tell(),
            Operation::End => self.end(),
        }
        for removed in self.stage.app.message.removed().entries() {
            if let Removed::Edit { text, .. } = removed {
                let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| is_ours(word));
                self.copied.extend(words.map(str::to_owned));
            }
        }
        self.written.push_str(&self.stage.written());
        self.written.push('\n');
    }

    fn drain(&mut self, child: bool, told: bool) {
        let agent: AgentId = if child { CHILD.into() } else { AgentId::main() };
        let Some(controls) = self.stage.handle.agent_controls().get(&agent) else { return };
        let taken = controls.interloper.drain();
        self.stage.refresh();
        self.untold.extend(taken.into_iter().map(|entry| (agent.clone(), entry)));
        if told {
            self.tell();
        }
    }

    fn tell(&mut self) {
        self.stage.refresh();
        for (agent, entry) in std::mem::take(&mut self.untold) {
            self.stage.deliver_after(agent.as_str(), std::slice::from_ref(&entry), 1, "bash");
            self.taken.push((agent, entry));
        }
    }

    fn end(&mut self) {
        if !std::mem::take(&mut self.child_runs) {
            return;
        }
        let entries = self.stage.handle.agent_controls().dismiss(&CHILD.into());
        self.tell();
        self.stage.event(CHILD, Event::Returned { entries });
        self.stage.finished("", CHILD, Outcome::Completed);
    }

    /// Counts the words over everything that can hold them.
    fn held(&self) -> BTreeMap<String, usize> {
        let mut texts: Vec<String> = self.stage.app.message.texts();
        texts.extend(self.taken.iter().chain(&self.untold).map(|(_, entry)| entry.text.clone()));
        let (crew, app) = (self.stage.handle.agent_controls(), &self.stage.app);
        texts.extend(crew.peek().into_iter().flat_map(|(_, entries)| entries).filter_map(|entry| {
            // The line has it, unless it was emptied.
            let is_edited = app.message.is_edited(&entry.id);
            (!is_edited || !app.message.text().contains(&entry.text)).then_some(entry.message.text)
        }));
        for removed in app.message.removed().entries() {
            match removed {
                Removed::Deleted(taken) => texts.push(taken.entry.text.clone()),
                Removed::Draft(text) => texts.push(text.clone()),
                // What is not in the queue was written into the edit.
                Removed::Edit { text, was, .. } => {
                    let new = text.split_whitespace().filter(|word| !was.contains(*word));
                    texts.push(new.collect::<Vec<_>>().join(" "));
                }
                // The queue, the line or the agent has it.
                Removed::TakenBack(_) | Removed::Merged { .. } => {}
            }
        }
        let mut counts = BTreeMap::new();
        for text in texts {
            for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| is_ours(word)) {
                *counts.entry(word.to_owned()).or_default() += 1;
            }
        }
        counts
    }
}

fn is_ours(word: &str) -> bool {
    let inner = word.strip_prefix('w').and_then(|word| word.strip_suffix('w'));
    inner.is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_does_not_depend_on_how_often_the_printer_looked(acts in prop::collection::vec(act(), 1..60)) {
        let [once, often] = [1, 3].map(|looks| {
            let mut life = Life::new();
            life.stage.looks = looks;
            for operation in &acts {
                life.play(operation);
            }
            life.written
        });
        prop_assert_eq!(once, often);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn every_typed_text_ends_in_one_place(acts in prop::collection::vec(act(), 1..60)) {
        let mut life = Life::new();
        for operation in &acts {
            life.play(operation);
            for word in 1..=life.words {
                let word = format!("w{word}w");
                let places = life.held().get(&word).copied().unwrap_or(0);
                let typed = life.written.contains(&word);
                let is_copied = places > 0 && life.copied.contains(&word);
                prop_assert!(places == 1 || is_copied || (places == 0 && !typed), "{} is in {} places after {:?}\n{}", word, places, operation, life.written);
            }
        }
        for key in ["Ctrl+_", "F2", "F5", "F6", "Alt+", "PgDn", "Esc", "on the screen", "\u{1b}"] {
            prop_assert!(!life.written.contains(key), "{} is named:\n{}", key, life.written);
        }
        for line in life.written.lines() {
            let at_margin = line.is_empty() || line.starts_with("  ") || line.contains(": ") || line.ends_with(':');
            prop_assert!(at_margin, "{:?} has no word before it", line);
        }
    }
}
