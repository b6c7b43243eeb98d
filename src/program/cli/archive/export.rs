//! `steersman export`: a session as a document, to standard output or into a new file.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use jiff::tz::TimeZone;
use ratatui::layout::Size;
use reqwest::Url;

use super::send::{endpoint, place, send};
use super::source::{reading, replayed, size};
use crate::program::cli::exit::{Exit, json, print, say};
use steersman_base::text::visible_line;
use steersman_exchange::export::{SessionParts, atif, chat, html, otlp};
use steersman_session::journal::{Reading, SessionFiles};
use steersman_session::named_file::{ExistingFile, write_named};
use steersman_session::replay::moments;
use steersman_tui::replay::{ReplayScreen, cast};

/// The arguments of `export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The session's ID, or a beginning that no other shares, or the path of a journal.
    pub session: String,
    /// The form [default: by the end of the file's name, else md].
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// The file to write, which must not exist [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Send the traces to an endpoint that takes OTLP over HTTP, such as `http://localhost:4318`.
    #[arg(long, value_name = "URL", value_parser = endpoint, conflicts_with = "output")]
    pub to: Option<Url>,
    /// The size of the screen that `cast` records.
    #[arg(long, value_name = "COLUMNSxROWS", value_parser = size, default_value = "120x36")]
    pub size: Size,
}

/// The forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The transcripts of all agents as Markdown.
    Md,
    /// One web page that needs nothing else.
    Html,
    /// The messages of each agent, as chat completions have them.
    Json,
    /// The ledger: what was sent, and what became of it.
    Csv,
    /// A recording of the screen: asciicast, version 2.
    Cast,
    /// A trajectory: ATIF v1.7.
    Atif,
    /// Traces: OTLP in JSON, with OpenTelemetry's names for generative AI.
    Otlp,
}

/// Writes the document.
pub(super) fn run(files: &SessionFiles, args: &ExportArgs) -> Result<Exit, String> {
    if let Some(url) = &args.to {
        return sent(files, args, url);
    }
    let format = args.format.unwrap_or_else(|| args.output.as_deref().and_then(by_name).unwrap_or(Format::Md));
    let reading = reading(files, &args.session)?;
    if let Some(damage) = reading.damage.sentence() {
        say(&damage);
    }
    let text = document(reading, format, args.size)?;
    let Some(path) = &args.output else {
        print(&text);
        return Ok(Exit::Done);
    };
    let shown = visible_line(&path.to_string_lossy()).into_owned();
    write_named(path, text.as_bytes(), ExistingFile::Kept).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => format!("{shown} is there already and stays as it is: give another name"),
        _ => format!("{shown} cannot be written: {error}"),
    })?;
    print(&format!("written to {shown}\n"));
    Ok(Exit::Done)
}

/// Sends the traces of a session.
fn sent(files: &SessionFiles, args: &ExportArgs, url: &Url) -> Result<Exit, String> {
    match args.format {
        None | Some(Format::Otlp) => {}
        Some(Format::Md | Format::Html | Format::Json | Format::Csv | Format::Cast | Format::Atif) => {
            return Err("--to sends traces alone: --format otlp".to_owned());
        }
    }
    let reading = reading(files, &args.session)?;
    if let Some(damage) = reading.damage.sentence() {
        say(&damage);
    }
    if let Some(rest) = send(url, &otlp(&SessionParts::new(reading)))? {
        say(&rest);
        return Ok(Exit::Failed);
    }
    print(&format!("sent to {}\n", place(url)));
    Ok(Exit::Done)
}

fn by_name(path: &Path) -> Option<Format> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    if extension == "htm" { Some(Format::Html) } else { Format::from_str(&extension, true).ok() }
}

fn document(reading: Reading, format: Format, size: Size) -> Result<String, String> {
    Ok(match format {
        Format::Html => html(&SessionParts::new(reading), &TimeZone::system()),
        Format::Json => json(&chat(&SessionParts::new(reading)))?,
        Format::Atif => json(&atif(&SessionParts::new(reading))?)?,
        Format::Otlp => json(&otlp(&SessionParts::new(reading)))?,
        Format::Md => screen(reading, size).markdown(),
        Format::Csv => screen(reading, size).ledger(),
        Format::Cast => {
            let replayed = replayed(reading.header(), size);
            let title = reading.header().map(|header| header.session.to_string()).unwrap_or_default();
            let updates = moments(reading.records).map(|moment| (moment.at, moment.update)).collect();
            cast(replayed, &title, updates).map_err(|error| error.to_string())?
        }
    })
}

/// Returns the screen at the end of a session.
fn screen(reading: Reading, size: Size) -> ReplayScreen {
    let mut screen = ReplayScreen::new(replayed(reading.header(), size));
    for moment in moments(reading.records) {
        screen.receive(moment.at, moment.update);
    }
    screen
}
