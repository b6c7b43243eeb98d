//! `steersman diff`: where two sessions part, and what each did from there.

use clap::Args;
use unicode_width::UnicodeWidthStr as _;

use super::Answer;
use super::source::reading;
use crate::cli::exit::Exit;
use crate::event::Outcome;
use crate::price::dollars;
use crate::session::compare::{ComparedFile, ComparedSession, Comparison, compare};
use crate::session::journal::SessionFiles;
use crate::summary::{count, tokens};
use crate::text::{clip, visible_line};

/// Columns of the names of rows.
const NAMES: usize = 10;
/// Columns of each session.
const SIDE: usize = 52;
/// Most calls and files of each session that are told.
const ROWS: usize = 30;
/// Most lines of an answer that are told.
const ANSWER: usize = 12;

/// The arguments of `diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// A session's ID, or a beginning that no other shares, or the path of a journal.
    pub first: String,
    /// The other one.
    pub second: String,
    /// Write one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Returns both sessions side by side.
pub(super) fn run(files: &SessionFiles, args: &DiffArgs) -> Result<Answer, String> {
    let (first, second) = (reading(files, &args.first)?, reading(files, &args.second)?);
    let comparison = compare(&first.records, &second.records);
    if args.json {
        let json = serde_json::to_string_pretty(&comparison).map_err(|error| error.to_string())?;
        return Ok(Answer { text: json + "\n", exit: Exit::Done });
    }
    let names = [&first, &second].map(|reading| {
        let header = reading.header();
        header.map(|header| header.session.to_string()).unwrap_or_default()
    });
    Ok(Answer { text: table(&names, &comparison), exit: Exit::Done })
}

/// Writes both sides in columns.
fn table(names: &[String; 2], comparison: &Comparison) -> String {
    let Comparison { shared_messages, shared_calls, last_shared, sides } = comparison;
    let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let mut text = match last_shared {
        None => "The sessions share nothing.\n\n".to_owned(),
        Some(last) => format!(
            "The sessions share {} and {}. The last shared message: {}\n\n",
            count(number(*shared_messages), "message"),
            count(number(*shared_calls), "call"),
            clip(&visible_line(last), SIDE)
        ),
    };
    let both = |of: fn(&ComparedSession) -> Vec<String>| sides.each_ref().map(of);
    let rows = [
        ("session", names.clone().map(|name| vec![name])),
        (
            "message",
            both(|side| vec![side.first_message.as_deref().map(visible_line).unwrap_or_default().into_owned()]),
        ),
        ("messages", both(|side| vec![side.messages.to_string()])),
        ("agents", both(|side| vec![side.agents.to_string()])),
        ("tokens", both(|side| vec![tokens(side.tokens)])),
        ("cost", both(|side| vec![side.cost_nanos.map_or_else(|| "unknown".to_owned(), dollars)])),
        ("calls", both(calls)),
        ("files", both(changed_files)),
        ("ended", both(|side| vec![ending(side).to_owned()])),
        ("answer", both(answer)),
    ];
    for (name, [left, right]) in rows {
        for at in 0..left.len().max(right.len()) {
            let cell = |side: &[String]| side.get(at).map(|cell| clip(cell, SIDE).into_owned()).unwrap_or_default();
            let name = if at == 0 { name } else { "" };
            let line = format!("{} {} {}", padded(name, NAMES), padded(&cell(&left), SIDE), cell(&right));
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text
}

fn calls(side: &ComparedSession) -> Vec<String> {
    let failed = if side.failed_calls > 0 { format!(", {} failed", side.failed_calls) } else { String::new() };
    let calls = side.calls.iter().map(|call| visible_line(call).into_owned()).collect();
    std::iter::once(format!("{}{failed}", side.calls.len())).chain(most(calls)).collect()
}

fn changed_files(side: &ComparedSession) -> Vec<String> {
    let line = |file: &ComparedFile| format!("{} +{} −{}", visible_line(&file.path), file.added, file.removed);
    std::iter::once(side.files.len().to_string()).chain(most(side.files.iter().map(line).collect())).collect()
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

fn answer(side: &ComparedSession) -> Vec<String> {
    let lines = side.answer.as_deref().unwrap_or("none").lines();
    lines.take(ANSWER).map(|line| visible_line(line).into_owned()).collect()
}

/// Leaves out what is too much, and says how much that is.
fn most(mut rows: Vec<String>) -> Vec<String> {
    let more = rows.len().saturating_sub(ROWS);
    rows.truncate(ROWS);
    rows.extend((more > 0).then(|| format!("and {more} more")));
    rows
}

fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}
