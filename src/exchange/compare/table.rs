//! Two sessions side by side in words: the rows that the command prints and the screen shows.

use super::{ComparedFile, ComparedSession, Comparison};
use steersman_base::event::Outcome;
use steersman_base::price::dollars;
use steersman_base::summary::{ComparedRow, ComparedTable, count, tokens};
use steersman_base::text::{clip, visible_line};

/// Most characters of the last shared message.
const SHARED: usize = 52;

impl Comparison {
    /// Returns both in words, with so many calls, files and lines of the answer at most.
    pub fn table(&self, names: [String; 2], most: usize) -> ComparedTable {
        let both = |of: &dyn Fn(&ComparedSession) -> Vec<String>| self.sides.each_ref().map(of);
        let line = |text: Option<&str>| vec![text.map(visible_line).unwrap_or_default().into_owned()];
        let cost = |side: &ComparedSession| side.cost_nanos.map_or_else(|| "unknown".to_owned(), dollars);
        let rows = [
            ("session", names.map(|name| vec![name])),
            ("message", both(&|side| line(side.first_message.as_deref()))),
            ("messages", both(&|side| vec![side.messages.to_string()])),
            ("agents", both(&|side| vec![side.agents.to_string()])),
            ("tokens", both(&|side| vec![tokens(side.tokens)])),
            ("cost", both(&|side| vec![cost(side)])),
            ("calls", both(&|side| calls(side, most))),
            ("files", both(&|side| changed_files(side, most))),
            ("ended", both(&|side| vec![ending(side).to_owned()])),
            ("answer", both(&|side| answer(side, most))),
        ];
        let rows = rows.into_iter().map(|(name, sides)| ComparedRow { name, sides }).collect();
        ComparedTable { heading: self.shared(), rows }
    }

    fn shared(&self) -> String {
        let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        let Some(last) = &self.last_shared else { return "The sessions share nothing.".to_owned() };
        format!(
            "The sessions share {} and {}. The last shared message: {}",
            count(number(self.shared_messages), "message"),
            count(number(self.shared_calls), "call"),
            clip(&visible_line(last), SHARED)
        )
    }
}

fn calls(side: &ComparedSession, most: usize) -> Vec<String> {
    let failed = if side.failed_calls > 0 { format!(", {} failed", side.failed_calls) } else { String::new() };
    let calls = side.calls.iter().map(|call| visible_line(call).into_owned());
    std::iter::once(format!("{}{failed}", side.calls.len())).chain(limited(calls, most)).collect()
}

fn changed_files(side: &ComparedSession, most: usize) -> Vec<String> {
    let line = |file: &ComparedFile| format!("{} +{} −{}", visible_line(&file.path), file.added, file.removed);
    std::iter::once(side.files.len().to_string()).chain(limited(side.files.iter().map(line), most)).collect()
}

fn ending(side: &ComparedSession) -> &'static str {
    match side.outcome {
        Some(Outcome::Completed) => "completed",
        Some(Outcome::Synthesized) => "answered from what was found",
        Some(Outcome::Cancelled) => "cancelled",
        Some(Outcome::Failed) => "failed",
        None => "not yet",
    }
}

fn answer(side: &ComparedSession, most: usize) -> Vec<String> {
    let lines = side.answer.as_deref().unwrap_or("none").lines();
    limited(lines.map(|line| visible_line(line).into_owned()), most)
}

/// Leaves out what is too much, and says how much that is.
fn limited(rows: impl Iterator<Item = String>, most: usize) -> Vec<String> {
    let mut rows: Vec<String> = rows.collect();
    let more = rows.len().saturating_sub(most);
    rows.truncate(most);
    rows.extend((more > 0).then(|| format!("and {more} more")));
    rows
}
