//! Files of other programs: where they lie, which program wrote one, and its lines.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use super::compressed::{self, Unpacked};
use steersman_base::limits;
use steersman_base::regular_file::{self, Links};
use steersman_base::text::halves::without_halves;
use steersman_session::journal::{Lines, NextLine, ReadAt};

/// How deep the directories of sessions are looked through: years, months and days, or projects and sessions.
const DEPTH: usize = 6;

/// A program whose sessions can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignProgram {
    /// The codex command line.
    Codex,
    /// Claude Code.
    ClaudeCode,
}

/// The lines of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct SourceLines {
    /// The objects that its lines hold, in order.
    pub values: Vec<Value>,
    /// Lines that hold none, or are longer than any record.
    pub skipped: u64,
    /// The size of the file.
    pub bytes: u64,
}

impl ForeignProgram {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::ClaudeCode => "claude-code",
        }
    }

    /// Tells from its lines which program wrote a file.
    pub(super) fn detect(lines: &SourceLines) -> Option<Self> {
        lines.values.iter().find_map(|line| {
            let has = |member: &str| line.get(member).is_some();
            let is_old_codex = has("id") && has("timestamp") && (has("instructions") || has("git")) && !has("type");
            if line.get("payload").is_some_and(Value::is_object) && has("type") || is_old_codex {
                Some(Self::Codex)
            } else if has("sessionId") && has("type") {
                Some(Self::ClaudeCode)
            } else {
                None
            }
        })
    }
}

/// Returns the sessions below a path, or the path itself when it is a file. Sub-agents of Claude Code belong to the session
/// that spawned them.
///
/// # Errors
/// When there is nothing at the path.
pub fn find(path: &Path) -> io::Result<Vec<PathBuf>> {
    if path.metadata()?.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    collect(path, DEPTH, &mut found);
    found.sort();
    Ok(found)
}

fn collect(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        // A link is no directory here, so that none leads around.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 && name != "subagents" {
            collect(&path, depth - 1, found);
        } else if kind.is_file() && is_session(&path, &name) {
            found.push(path);
        }
    }
}

/// Tells whether a file has the name of a session. A compressed one beside the plain file is an older form of it.
fn is_session(path: &Path, name: &str) -> bool {
    let is_main = !name.starts_with("agent-");
    is_main
        && (path.extension().is_some_and(|ending| ending == "jsonl")
            || compressed::has_name(path) && !compressed::plain(path).exists())
}

/// Reads the lines of a file.
///
/// # Errors
/// When it is no file that can be read, or larger than any session.
pub(super) fn lines(path: &Path) -> io::Result<SourceLines> {
    let (file, metadata) = regular_file::open(path, Links::Followed)?;
    let size = metadata.len();
    check_size(size)?;
    if compressed::has_name(path) {
        return objects(Lines::new(Unpacked::new(file, size)?, 0..u64::MAX), size);
    }
    objects(Lines::new(file, 0..size), size)
}

/// Refuses more bytes than a session of another program may hold.
pub(super) fn check_size(bytes: u64) -> io::Result<()> {
    if bytes > limits::IMPORT_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 1 GB, as no session is"));
    }
    Ok(())
}

/// Reads the objects that the lines of a file hold.
fn objects(mut lines: Lines<impl ReadAt>, bytes: u64) -> io::Result<SourceLines> {
    let mut read = SourceLines { bytes, ..SourceLines::default() };
    loop {
        match lines.next()? {
            NextLine::End => return Ok(read),
            NextLine::TooLong => read.skipped += 1,
            NextLine::Line(_, line) => {
                let line = lines.bytes(line);
                if line.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                match serde_json::from_str(&without_halves(&String::from_utf8_lossy(line))) {
                    Ok(value @ Value::Object(_)) => read.values.push(value),
                    Ok(_) | Err(_) => read.skipped += 1,
                }
            }
        }
    }
}

pub(super) fn text<'a>(value: &'a Value, member: &str) -> Option<&'a str> {
    value.get(member)?.as_str()
}

/// Returns a member that is a text and not empty.
pub(super) fn filled_text(value: &Value, member: &str) -> Option<String> {
    text(value, member).filter(|text| !text.is_empty()).map(str::to_owned)
}

pub(super) fn time(value: &Value) -> Option<Timestamp> {
    text(value, "timestamp")?.parse().ok()
}

/// Returns the texts of a content, which is a text or a list of parts; a picture is named in its place.
pub(super) fn content(value: &Value) -> String {
    let Value::Array(parts) = value else { return value.as_str().unwrap_or_default().to_owned() };
    let part = |part: &Value| match text(part, "type") {
        Some("image" | "input_image") => Some("[image]".to_owned()),
        Some(_) | None => filled_text(part, "text"),
    };
    parts.iter().filter_map(part).collect::<Vec<_>>().join("\n")
}
