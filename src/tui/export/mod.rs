//! Exports: the ledger as CSV or Markdown, the transcript of an agent as Markdown.
//!
//! Pure up to `file`, which `run` calls away from the screen's thread. Every text in a document has passed the sanitiser,
//! and none can leave the place that it stands in: a cell, a quotation, a fence.
//!
//! # Where things are
//!
//! - exports: CSV, Markdown, files that are never written over: `mod.rs`, `markdown.rs`, `file.rs`,
//!   `command.rs`; tests: `export.rs`
//! - the ledger as a document: `ledger.rs`

mod command;
mod file;
mod ledger;
pub(super) mod markdown;

pub use command::{COMMAND, export, written};
pub use file::{default_name, save};
pub use ledger::{csv, ledger_csv, ledger_markdown};

/// What is to be written, in which form, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportRequest {
    /// What.
    pub subject: ExportSubject,
    /// How.
    pub form: ExportFormat,
    /// The file or directory that the user named; `None` for a name made of the date.
    pub path: Option<String>,
}

/// What can be exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportSubject {
    /// The transcript of the agent that is shown.
    Transcript,
    /// The transcripts of all agents.
    All,
    Ledger,
}

/// A form of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// Rows of fields, RFC 4180.
    Csv,
    /// A page for people.
    Markdown,
}

impl ExportSubject {
    pub fn word(self) -> &'static str {
        match self {
            Self::Transcript => "transcript",
            Self::All => "all",
            Self::Ledger => "ledger",
        }
    }
}

impl ExportFormat {
    /// Returns the end of its files' names.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Markdown => "md",
        }
    }

    fn from_extension(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "md" | "markdown" => Some(Self::Markdown),
            _ => None,
        }
    }
}

impl ExportRequest {
    /// Reads `[transcript|all|ledger] [PATH]`: without a subject a CSV is the ledger and all else the transcript; the path's end
    /// names the form.
    ///
    /// # Errors
    /// One sentence, when the path's end names no form, or the transcript shall be a CSV.
    pub fn parse(arguments: &str) -> Result<Self, String> {
        let arguments = arguments.trim();
        let (first, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
        let subject = [ExportSubject::Transcript, ExportSubject::All, ExportSubject::Ledger]
            .into_iter()
            .find(|subject| subject.word() == first);
        let path = if subject.is_some() { rest.trim() } else { arguments };
        let named = match extension(path) {
            Some(extension) => Some(
                ExportFormat::from_extension(extension).ok_or("the name of an exported file ends in .md or .csv")?,
            ),
            None => None,
        };
        let (subject, form) = match (subject, named) {
            (Some(ExportSubject::Transcript | ExportSubject::All), Some(ExportFormat::Csv)) => {
                return Err("a transcript is written as Markdown: its file ends in .md".to_owned());
            }
            (None, Some(ExportFormat::Csv)) => (ExportSubject::Ledger, ExportFormat::Csv),
            (Some(ExportSubject::Ledger), form) => (ExportSubject::Ledger, form.unwrap_or(ExportFormat::Csv)),
            (Some(ExportSubject::All), _) => (ExportSubject::All, ExportFormat::Markdown),
            (Some(ExportSubject::Transcript) | None, _) => (ExportSubject::Transcript, ExportFormat::Markdown),
        };
        Ok(Self { subject, form, path: (!path.is_empty()).then(|| path.to_owned()) })
    }
}

/// Returns what stands behind the last dot of a path's last part, when it has one that is not its first character.
fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty() && *stem != ".").map(|(_, extension)| extension)
}
