//! `steersman diff`: where two sessions part, and what each did from there.

use clap::Args;
use unicode_width::UnicodeWidthStr as _;

use super::source::reading;
use crate::program::cli::exit::{Exit, json, print};
use steersman_base::summary::{ComparedRow, ComparedTable};
use steersman_base::text::clip;
use steersman_exchange::compare::compare;
use steersman_session::journal::SessionFiles;

/// Columns of the names of rows.
const NAMES: usize = 10;
/// Columns of each session.
const SIDE: usize = 52;
/// Most calls, files and lines of the answer of each session that are told.
const ROWS: usize = 30;

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

/// Prints both sessions side by side.
pub(super) fn run(files: &SessionFiles, args: &DiffArgs) -> Result<Exit, String> {
    let both = [reading(files, &args.first)?, reading(files, &args.second)?];
    let [first, second] = &both;
    let comparison = compare(&first.records, &second.records);
    if args.json {
        print(&json(&comparison)?);
        return Ok(Exit::Done);
    }
    let names = both.each_ref().map(|reading| {
        let header = reading.header();
        header.map(|header| header.session.to_string()).unwrap_or_default()
    });
    print(&written(&comparison.table(names, ROWS)));
    Ok(Exit::Done)
}

/// Writes both sides in columns.
fn written(table: &ComparedTable) -> String {
    let mut text = format!("{}\n\n", table.heading);
    for ComparedRow { name, sides: [left, right] } in &table.rows {
        for at in 0..left.len().max(right.len()) {
            let cell = |side: &[String]| side.get(at).map(|cell| clip(cell, SIDE).into_owned()).unwrap_or_default();
            let name = if at == 0 { name } else { "" };
            let line = format!("{} {} {}", padded(name, NAMES), padded(&cell(left), SIDE), cell(right));
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text
}

fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}
