//! `steersman search`: where words were said, in all sessions.

use std::fmt::Write as _;

use clap::Args;
use jiff::tz::TimeZone;

use crate::program::cli::exit::{Exit, json, print, say};
use steersman_base::target::MAIN;
use steersman_base::text::visible_line;
use steersman_session::journal::{SessionFile, SessionFiles, SessionIndex};
use steersman_session::search::{Hit, SearchQuery, SearchResults, search};

/// The arguments of `search`.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// Write all matches as JSON.
    #[arg(long)]
    pub json: bool,
    /// The most matches to print.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub most: usize,
    /// What a text is to hold.
    #[arg(required = true)]
    pub words: Vec<String>,
}

/// Prints what was found, in lines or as JSON.
pub(super) fn run(files: &SessionFiles, args: &SearchArgs) -> Result<Exit, String> {
    let words = SearchQuery::new(&args.words)?;
    let all = files.list().map_err(|error| format!("cannot list the sessions: {error}"))?;
    // What a program reads is whole; what is printed says that there is more.
    let most = if args.json { usize::MAX } else { args.most.saturating_add(1) };
    let found = search(&all, &words, most);
    for (file, error) in &found.failed {
        say(&format!("{}: {error}", visible_line(&file.path.to_string_lossy())));
    }
    let text = if args.json {
        json(&found.hits)?
    } else {
        lines(&found, &args.words.join(" "), args.most, &all, &SessionIndex::load(files))
    };
    print(&text);
    Ok(if found.hits.is_empty() { Exit::Failed } else { Exit::Done })
}

fn lines(found: &SearchResults, words: &str, most: usize, all: &[SessionFile], index: &SessionIndex) -> String {
    let hits = &found.hits;
    let mut text = String::new();
    for group in hits.get(..most).unwrap_or(hits).chunk_by(|one, next| one.session == next.session) {
        let Some(first) = group.first() else { continue };
        let file = all.iter().find(|file| file.session == first.session);
        let directory = file.and_then(|file| index.directory(file)).unwrap_or_default();
        let gap = if text.is_empty() { "" } else { "\n" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{gap}{}  {}", first.session, visible_line(&directory));
        for hit in group {
            let at = hit.at.map(|at| at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S  ").to_string());
            let agent = if hit.agent.is_main() { MAIN } else { hit.agent.as_str() };
            let seq = hit.seq.map(|seq| format!("  #{seq}")).unwrap_or_default();
            let kind = hit.kind.replace('_', " ");
            let facts = format!("{}{}  {}{seq}", at.unwrap_or_default(), visible_line(agent), visible_line(&kind));
            let _ = writeln!(text, "  {facts}\n    {}", visible_line(&hit.excerpt));
        }
    }
    if let Some(Hit { session, seq: Some(seq), .. }) = hits.first() {
        let word = quoted(words.split_whitespace().next().unwrap_or_default());
        let _ = writeln!(text, "\nsteersman replay {session} --at {seq} --find={word}  opens the first one");
    }
    if let Some(more) = hits.len().checked_sub(most).filter(|more| *more > 0) {
        let _ = if found.is_cut {
            writeln!(text, "\nthere are more; --most {} shows more of them", most.saturating_mul(10))
        } else {
            writeln!(text, "\n{more} more; --most {} shows them all", hits.len())
        };
    }
    if text.is_empty() { "No session holds these words.\n".to_owned() } else { text }
}

/// Writes a word so that a shell reads it as one.
fn quoted(word: &str) -> String {
    let is_plain = word.chars().all(|c| c.is_alphanumeric() || "_-./:,@%+=".contains(c));
    if is_plain { word.to_owned() } else { format!("'{}'", visible_line(word).replace('\'', r"'\''")) }
}
