//! The tool `read`: lines of a text file, numbered.
//!
//! It opens nothing but regular files, so it cannot hang. A file that can be edited is read whole, so that what was seen is
//! known; of a larger one no more than is shown and skipped.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Cursor, Read as _};
use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::blocking::{self, Stop};
use crate::encoding::{MARK, TextEncoding};
use crate::kind;
use crate::workspace::Workspace;
use crate::{approve_reading, workspace_in};
use steersman_base::image::ImageType;
use steersman_base::limits;
use steersman_base::text::{distance, visible_line};
use steersman_core::tool::{
    Args, Concurrency, Parameters, ResultImages, Tool, ToolContext, ToolDirectory, ToolError, ToolSpec, Traits,
};
use steersman_images::FittedImage;

/// How many entries of a directory are compared with a name that is missing, and how many are suggested.
const NEAR_ENTRIES: usize = 2_000;
const NEAR_NAMES: usize = 3;

/// Reads text files of a workspace.
pub struct ReadTool {
    workspace: Arc<Workspace>,
    spec: ToolSpec,
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
             characters are cut. To go on, call again with the offset that the last line names. An image (PNG, JPEG, GIF, WebP) \
             follows the results. Not for directories (use glob), PDFs and binary files.",
            limits::READ_LINES,
            limits::READ_BYTES / 1024,
            limits::READ_LINE_CHARS,
        );
        let spec = ToolSpec::new("read", description, parameters)
            .concurrency(Concurrency::Parallel)
            .traits(Traits { private: !workspace.is_temporary(), ..Traits::NONE });
        Self { workspace, spec }
    }
}

impl Tool for ReadTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(&'a self, args: Args, context: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        let workspace = Arc::clone(&self.workspace);
        async move {
            let window = Window::new(&args)?;
            let path = approve_reading(context, &workspace, "read", args.str("path")).await?;
            let images = context.images.clone();
            blocking::run(context, move |stop| read_file(&workspace, &path, &window, &images, stop)).await
        }
        .boxed()
    }

    fn in_directory(&self, directory: &ToolDirectory) -> Option<Result<Arc<dyn Tool>, String>> {
        Some(workspace_in(directory).map(|workspace| Arc::new(Self::new(workspace)) as _))
    }
}

/// The part of a file that is asked for.
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

fn read_file(
    workspace: &Workspace,
    path: &Path,
    window: &Window,
    images: &ResultImages,
    stop: &Stop,
) -> Result<String, ToolError> {
    let name = workspace.display(path);
    let refuse = |what: &str| Err(ToolError::Failed(format!("{name} {what}")));
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => return refuse("is a directory: use glob to list it"),
        Ok(metadata) if !metadata.is_file() => return refuse("is not a regular file"),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return refuse(&missing(workspace, path)),
        Err(error) => return refuse(&format!("cannot be read: {error}")),
    }
    let opened = workspace.open(path).and_then(|(mut file, metadata)| {
        let mut head = Vec::new();
        file.by_ref().take(limits::CHANGED_FILE_BYTES.min(whole(metadata.len()))).read_to_end(&mut head)?;
        Ok((file, metadata.len().max(head.len() as u64), head))
    });
    let (file, size, head) = match opened {
        Ok(opened) => opened,
        Err(error) => return refuse(&format!("cannot be read: {error}")),
    };
    if ImageType::detect(&head).is_some() {
        let rest = limits::IMAGE_FILE_BYTES.saturating_sub(head.len() as u64);
        let mut whole = head;
        return match file.take(rest).read_to_end(&mut whole).map_err(|error| error.to_string()) {
            Ok(_) if size > limits::IMAGE_FILE_BYTES => {
                refuse(&format!("is an image that is too large ({size} bytes)"))
            }
            Ok(_) => show(&name, &whole, images)
                .or_else(|why| refuse(&format!("is {} ({size} bytes); {why}", image_kind(&whole)))),
            Err(why) => refuse(&format!("cannot be read: {why}")),
        };
    }
    let encoding = TextEncoding::detect(&head);
    if encoding == TextEncoding::Utf8
        && let Some(kind) = kind::not_text(head.get(..kind::SAMPLE_BYTES).unwrap_or(&head))
    {
        return refuse(&format!("is {} ({size} bytes); read shows text only{}", kind.name(), kind.advice()));
    }
    if head.is_empty() {
        workspace.note_seen(path, &head);
        return Ok(format!("[{name} is empty]"));
    }
    if size == head.len() as u64 {
        workspace.note_seen(path, &head);
    } else if encoding != TextEncoding::Utf8 {
        return refuse(&format!("is UTF-16 text of {size} bytes, which is too much to be read"));
    }
    let Some(mut head) = encoding.decode(&head).map(Cow::into_owned) else {
        return refuse(&format!("begins like UTF-16 text, and is none ({size} bytes)"));
    };
    if head.starts_with(MARK.as_bytes()) {
        head.drain(..MARK.len());
    }
    let reader = BufReader::with_capacity(64 * 1024, Cursor::new(head).chain(file));
    let mut lines = Lines { reader, stop, scanned: 0 };
    match lines.show(&name, window, size) {
        Ok(text) if encoding == TextEncoding::Utf8 => Ok(text),
        Ok(text) => Ok(text + "[the file is UTF-16; write and edit keep that]\n"),
        Err(ReadError::Io(error)) => refuse(&format!("cannot be read: {error}")),
        Err(ReadError::Tool(error)) => Err(error),
    }
}

/// Leaves an image for the model, made smaller where it is too large, and says so.
fn show(name: &str, bytes: &[u8], images: &ResultImages) -> Result<String, String> {
    let FittedImage { image, width, height } = FittedImage::new(visible_line(name), bytes)?;
    images.add(image)?;
    Ok(format!("[{name} is an image; it follows the results, {width}×{height} pixels]"))
}

fn image_kind(bytes: &[u8]) -> &'static str {
    kind::not_text(bytes.get(..kind::SAMPLE_BYTES).unwrap_or(bytes)).map_or("an image", kind::FileKind::name)
}

/// Returns how much of a file is read at once: all of it when it can be edited, else what shows its kind.
fn whole(size: u64) -> u64 {
    // Some files of the kernel say that they are empty.
    if size <= limits::CHANGED_FILE_BYTES { u64::MAX } else { kind::SAMPLE_BYTES as u64 }
}

/// Says what a missing path may have meant.
pub(super) fn missing(workspace: &Workspace, path: &Path) -> String {
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

enum ReadError {
    Io(io::Error),
    Tool(ToolError),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads lines, keeping only what is shown of each.
struct Lines<'a, R> {
    reader: R,
    stop: &'a Stop,
    scanned: u64,
}

/// One line, cut to what is shown.
struct Line {
    shown: Vec<u8>,
    /// Bytes of the line that were not kept.
    dropped: u64,
    carriage_return: bool,
}

impl<R: BufRead> Lines<'_, R> {
    fn show(&mut self, name: &str, window: &Window, size: u64) -> Result<String, ReadError> {
        self.skip(name, window.first)?;
        let mut text = String::new();
        let mut last = None;
        let mut crlf = false;
        let mut full = false;
        let mut broken = false;
        for number in (window.first..).take(window.lines) {
            let Some(line) = self.next(limits::READ_LINE_CHARS * 4)? else { break };
            let shown = format_line(number, &line);
            if !text.is_empty() && text.len() + shown.len() > limits::READ_BYTES {
                full = true;
                break;
            }
            crlf |= line.carriage_return;
            broken |= line.is_broken();
            text.push_str(&shown);
            last = Some(number);
        }
        let Some(last) = last else { return Err(past_end(name, window.first, window.first - 1)) };
        if crlf {
            text.push_str("[lines end in CRLF]\n");
        }
        if broken {
            text.push_str("[bytes that are not UTF-8 are shown as �]\n");
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
    fn skip(&mut self, name: &str, first: u64) -> Result<(), ReadError> {
        for passed in 1..first {
            if self.next(0)?.is_none() {
                return Err(past_end(name, first, passed - 1));
            }
        }
        Ok(())
    }

    /// Reads to the end of a line; keeps its first bytes. `None` at the end of the file.
    fn next(&mut self, keep: usize) -> Result<Option<Line>, ReadError> {
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

    fn count(&mut self, bytes: usize) -> Result<(), ReadError> {
        self.scanned += bytes as u64;
        if self.scanned > limits::READ_SCAN_BYTES {
            let gib = limits::READ_SCAN_BYTES >> 30;
            return Err(ReadError::Tool(ToolError::failed(format!("gave up after {gib} GiB of the file: use grep"))));
        }
        self.stop.check().map_err(|cancelled| ReadError::Tool(cancelled.into()))
    }
}

fn past_end(name: &str, first: u64, lines: u64) -> ReadError {
    let s = if lines == 1 { "" } else { "s" };
    ReadError::Tool(ToolError::failed(format!("offset {first} is past the end: {name} has {lines} line{s}")))
}

impl Line {
    /// Tells whether it holds bytes that are not UTF-8; a character that the cut went through does not count.
    fn is_broken(&self) -> bool {
        match std::str::from_utf8(&self.shown) {
            Ok(_) => false,
            Err(error) => error.error_len().is_some() || self.dropped == 0,
        }
    }
}

/// Shows one line of a file, with its end or without, as all lines are shown.
pub(super) fn numbered(number: u64, line: &[u8]) -> String {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let keep = text.len().min(limits::READ_LINE_CHARS * 4);
    let shown = text.get(..keep).unwrap_or_default().to_vec();
    format_line(number, &Line { shown, dropped: (text.len() - keep) as u64, carriage_return: false })
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
