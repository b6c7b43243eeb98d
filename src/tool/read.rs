//! The tool `read`: lines of a text file, numbered (spec 2.14, fault F4).
//!
//! It reads no more of a file than it shows and skips; it opens nothing but regular files, so it cannot hang.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::limits;
use crate::text::distance;
use crate::tool::blocking::{self, Stop};
use crate::tool::{Args, Concurrency, Parameters, Tool, ToolContext, ToolError, Traits};
use crate::workspace::Workspace;

/// How much of a file decides whether it is text.
const SAMPLE_BYTES: usize = 8 * 1024;
/// How many entries of a directory are compared with a name that is missing, and how many are suggested.
const NEAR_ENTRIES: usize = 2_000;
const NEAR_NAMES: usize = 3;

/// Reads text files of a workspace.
pub struct ReadTool {
    workspace: Arc<Workspace>,
    parameters: Parameters,
    description: String,
}

impl ReadTool {
    /// Makes the tool for a workspace.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        let parameters = Parameters::build(|p| {
            p.required_string("path", "The file, relative to the workspace.");
            p.optional_integer("offset", "The first line to show, from 1. Default 1.");
            p.optional_integer("limit", "How many lines to show at most.");
        });
        let description = format!(
            "Shows a text file as numbered lines (number, tab, line). At most {} lines and {} KiB per call; lines over {} \
             characters are cut. To go on, call again with the offset that the last line names. Not for directories (use \
             glob), images, PDFs and binary files.",
            limits::READ_LINES,
            limits::READ_BYTES / 1024,
            limits::READ_LINE_CHARS,
        );
        Self { workspace, parameters, description }
    }
}

impl Tool for ReadTool {
    fn name(&self) -> &'static str {
        "read"
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn execute<'a>(&'a self, args: Args, context: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        let workspace = Arc::clone(&self.workspace);
        blocking::run(context, move |stop| {
            let window = Window::new(&args)?;
            let path = workspace.resolve_read(args.str("path")).map_err(ToolError::Failed)?;
            read(&workspace, &path, &window, stop)
        })
        .boxed()
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Beside
    }

    fn traits(&self) -> Traits {
        Traits { private: !self.workspace.is_temporary(), ..Traits::NONE }
    }

    fn with_workspace(&self, workspace: &Arc<Workspace>) -> Option<Arc<dyn Tool>> {
        Some(Arc::new(Self::new(Arc::clone(workspace))))
    }
}

/// Is the part of a file that is asked for.
struct Window {
    /// From 1.
    first: u64,
    lines: usize,
}

impl Window {
    fn new(args: &Args) -> Result<Self, ToolError> {
        let positive = |name: &str, default: u64| match args.opt_int(name).map(u64::try_from) {
            None => Ok(default),
            Some(Ok(value)) if value > 0 => Ok(value),
            Some(_) => Err(ToolError::failed(format!("{name} must be at least 1"))),
        };
        let lines = positive("limit", u64::MAX)?;
        let lines = usize::try_from(lines).unwrap_or(usize::MAX).min(limits::READ_LINES);
        Ok(Self { first: positive("offset", 1)?, lines })
    }
}

fn read(workspace: &Workspace, path: &Path, window: &Window, stop: &Stop) -> Result<String, ToolError> {
    let name = workspace.display(path);
    let refuse = |what: &str| Err(ToolError::Failed(format!("{name} {what}")));
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => return refuse("is a directory: use glob to list it"),
        Ok(metadata) if !metadata.is_file() => return refuse("is not a regular file"),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return refuse(&missing(workspace, path)),
        Err(error) => return refuse(&format!("cannot be read: {error}")),
    }
    let opened = blocking::open_regular(path).and_then(|(mut file, metadata)| {
        let mut sample = Vec::with_capacity(SAMPLE_BYTES);
        Read::by_ref(&mut file).take(SAMPLE_BYTES as u64).read_to_end(&mut sample)?;
        file.rewind()?;
        Ok((file, metadata.len(), sample))
    });
    let (file, size, sample) = match opened {
        Ok(opened) => opened,
        Err(error) => return refuse(&format!("cannot be read: {error}")),
    };
    if let Some(kind) = not_text(&sample) {
        return refuse(&format!("is {kind} ({size} bytes); read shows text only"));
    }
    if sample.is_empty() {
        return Ok(format!("[{name} is empty]"));
    }
    let mut lines = Lines { reader: BufReader::with_capacity(64 * 1024, file), stop, scanned: 0 };
    match lines.show(&name, window, size) {
        Ok(text) => Ok(text),
        Err(Fault::Io(error)) => refuse(&format!("cannot be read: {error}")),
        Err(Fault::Tool(error)) => Err(error),
    }
}

/// Says what a missing path may have meant.
fn missing(workspace: &Workspace, path: &Path) -> String {
    let (Some(parent), Some(wanted)) = (path.parent(), path.file_name()) else { return "does not exist".to_owned() };
    let Ok(entries) = parent.read_dir() else {
        return format!("does not exist, nor does its directory {}", workspace.display(parent));
    };
    let wanted = wanted.to_string_lossy().to_lowercase();
    let mut near: Vec<(usize, String)> = entries
        .take(NEAR_ENTRIES)
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().to_lowercase();
            let edits = distance(&wanted, &name);
            // A third of the letters may differ, or the one name may be the other without its ending.
            let alike = edits <= wanted.chars().count() / 3 || stem(&name) == stem(&wanted);
            alike.then(|| (edits, workspace.display(&entry.path())))
        })
        .collect();
    near.sort();
    near.truncate(NEAR_NAMES);
    let names: Vec<String> = near.into_iter().map(|(_, name)| name).collect();
    if names.is_empty() {
        "does not exist".to_owned()
    } else {
        format!("does not exist; near it: {}", names.join(", "))
    }
}

fn stem(name: &str) -> &str {
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

/// Says what a file is when it is not text, by its first bytes.
fn not_text(sample: &[u8]) -> Option<&'static str> {
    const KINDS: [(&[u8], &str); 9] = [
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF87a", "a GIF image"),
        (b"GIF89a", "a GIF image"),
        (b"II*\0", "a TIFF image"),
        (b"MM\0*", "a TIFF image"),
        (b"%PDF-", "a PDF document"),
        (b"\xff\xfe", "UTF-16 text"),
        (b"\xfe\xff", "UTF-16 text"),
    ];
    if let Some((_, kind)) = KINDS.iter().find(|(magic, _)| sample.starts_with(magic)) {
        return Some(kind);
    }
    if sample.starts_with(b"RIFF") && sample.get(8..12) == Some(b"WEBP") {
        return Some("a WebP image");
    }
    if sample.starts_with(b"BM") && sample.contains(&0) {
        return Some("a BMP image");
    }
    let odd = |byte: &&u8| matches!(**byte, 1..=7 | 14..=26 | 28..=31 | 127);
    let controls = sample.iter().filter(odd).count();
    let broken: usize = sample.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    // Texts in old encodings have broken letters, never many controls.
    let binary = sample.contains(&0) || controls * 20 > sample.len() || (controls + broken) * 2 > sample.len();
    binary.then_some("a binary file")
}

enum Fault {
    Io(io::Error),
    Tool(ToolError),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads lines, keeping only what is shown of each.
struct Lines<'a> {
    reader: BufReader<File>,
    stop: &'a Stop,
    scanned: u64,
}

/// Is one line, cut to what is shown.
struct Line {
    shown: Vec<u8>,
    /// Bytes of the line that were not kept.
    dropped: u64,
    carriage_return: bool,
}

impl Lines<'_> {
    fn show(&mut self, name: &str, window: &Window, size: u64) -> Result<String, Fault> {
        self.skip(name, window.first)?;
        let mut text = String::new();
        let mut last = None;
        let mut crlf = false;
        let mut full = false;
        for number in (window.first..).take(window.lines) {
            let Some(line) = self.next(limits::READ_LINE_CHARS * 4)? else { break };
            let shown = format_line(number, &line);
            if !text.is_empty() && text.len() + shown.len() > limits::READ_BYTES {
                full = true;
                break;
            }
            crlf |= line.carriage_return;
            text.push_str(&shown);
            last = Some(number);
        }
        let Some(last) = last else { return Err(past_end(name, window.first, window.first - 1)) };
        if crlf {
            text.push_str("[lines end in CRLF]\n");
        }
        if full || !self.reader.fill_buf()?.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "[lines {} to {last} of a file of {size} bytes; to go on, use offset {}]",
                window.first,
                last + 1
            );
        }
        Ok(text)
    }

    /// Passes over the lines before the window.
    fn skip(&mut self, name: &str, first: u64) -> Result<(), Fault> {
        for passed in 1..first {
            if self.next(0)?.is_none() {
                return Err(past_end(name, first, passed - 1));
            }
        }
        Ok(())
    }

    /// Reads to the end of a line; keeps its first bytes. `None` at the end of the file.
    fn next(&mut self, keep: usize) -> Result<Option<Line>, Fault> {
        let mut line = Line { shown: Vec::new(), dropped: 0, carriage_return: false };
        let mut any = false;
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                return Ok(any.then_some(line));
            }
            any = true;
            let newline = buffer.iter().position(|&byte| byte == b'\n');
            let part = buffer.get(..newline.unwrap_or(buffer.len())).unwrap_or_default();
            let room = keep.saturating_sub(line.shown.len()).min(part.len());
            line.shown.extend_from_slice(part.get(..room).unwrap_or_default());
            line.dropped += (part.len() - room) as u64;
            let used = part.len() + usize::from(newline.is_some());
            self.reader.consume(used);
            if newline.is_some() {
                if line.dropped == 0 && line.shown.last() == Some(&b'\r') {
                    line.shown.pop();
                    line.carriage_return = true;
                }
                self.count(used)?;
                return Ok(Some(line));
            }
            self.count(used)?;
        }
    }

    fn count(&mut self, bytes: usize) -> Result<(), Fault> {
        self.scanned += bytes as u64;
        if self.scanned > limits::READ_SCAN_BYTES {
            let gib = limits::READ_SCAN_BYTES >> 30;
            return Err(Fault::Tool(ToolError::failed(format!("gave up after {gib} GiB of the file: use grep"))));
        }
        self.stop.check().map_err(|cancelled| Fault::Tool(cancelled.into()))
    }
}

fn past_end(name: &str, first: u64, lines: u64) -> Fault {
    let s = if lines == 1 { "" } else { "s" };
    Fault::Tool(ToolError::failed(format!("offset {first} is past the end: {name} has {lines} line{s}")))
}

fn format_line(number: u64, line: &Line) -> String {
    let whole = String::from_utf8_lossy(&line.shown);
    let cut = whole.char_indices().nth(limits::READ_LINE_CHARS).map(|(index, _)| index);
    let kept = cut.and_then(|cut| whole.get(..cut)).unwrap_or(&whole);
    let dropped = line.dropped + (whole.len() - kept.len()) as u64;
    // Servers stumble over a NUL; it has a picture.
    let kept = kept.replace('\0', "␀");
    if dropped == 0 {
        format!("{number:>6}\t{kept}\n")
    } else {
        format!("{number:>6}\t{kept}… [line cut, {dropped} bytes more]\n")
    }
}
