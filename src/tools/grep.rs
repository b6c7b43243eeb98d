//! The tool `grep`: lines of the workspace's files that match a regular expression.
//!
//! It runs in time linear to what it reads, whatever the expression. Binary files are passed over, not searched.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use globset::GlobMatcher;
use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch};

use crate::blocking::{self, Stop};
use crate::walk::{self, Entries};
use crate::workspace::{EntryKind, Workspace};
use crate::{approve_reading, workspace_in};
use steersman_base::limits;
use steersman_base::text::{utf16_text, visible_line};
use steersman_core::approval::HiddenFiles;
use steersman_core::tool::{
    Args, Concurrency, Parameters, Tool, ToolContext, ToolDirectory, ToolError, ToolSpec, Traits,
};

/// How much of a long line is shown before its match, when the match lies far behind the start.
const BEFORE_MATCH_BYTES: usize = 200;
/// How much of a file tells whether it may be UTF-16.
const HEAD_BYTES: u64 = 16;

/// Searches files of a workspace.
pub struct GrepTool {
    workspace: Arc<Workspace>,
    spec: ToolSpec,
}

impl GrepTool {
    /// Makes the tool for a workspace.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        let parameters = Parameters::build(|p| {
            p.required_string("pattern", "The regular expression (Rust syntax), matched line by line.");
            p.optional_string("path", "The file or directory, relative to the workspace. Default: all of it.");
            p.optional_string("glob", "Only files that match: `*.rs` by name, `src/**/*.rs` by path below path.");
            p.optional_boolean("ignore_case", "Whether case does not matter. Default false.");
        });
        let description = format!(
            "Searches files for a regular expression and shows the hits as path:line:text, sorted by path. At most {} hits \
             and {} KiB; lines over {} characters are cut. Hidden files are included; .git, what .gitignore names, \
             binary files and files over {} MiB are not.",
            limits::GREP_HITS,
            limits::GREP_BYTES / 1024,
            limits::GREP_COLUMNS,
            limits::GREP_FILE_BYTES >> 20,
        );
        let spec = ToolSpec::new("grep", description, parameters)
            .concurrency(Concurrency::Parallel)
            .traits(Traits { private: !workspace.is_temporary(), ..Traits::NONE });
        Self { workspace, spec }
    }
}

impl Tool for GrepTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(&'a self, args: Args, context: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        let workspace = Arc::clone(&self.workspace);
        async move {
            let start = approve_reading(context, &workspace, "grep", args.opt_str("path").unwrap_or(".")).await?;
            let hidden = context.approvals.hidden_files(&start);
            blocking::run(context, move |stop| grep(&workspace, &args, &start, hidden, stop)).await
        }
        .boxed()
    }

    fn in_directory(&self, directory: &ToolDirectory) -> Option<Result<Arc<dyn Tool>, String>> {
        Some(workspace_in(directory).map(|workspace| Arc::new(Self::new(workspace)) as _))
    }
}

fn grep(
    workspace: &Workspace,
    args: &Args,
    start: &Path,
    hidden: HiddenFiles,
    stop: &Stop,
) -> Result<String, ToolError> {
    let pattern = args.str("pattern");
    let matcher = RegexMatcherBuilder::new()
        .multi_line(true)
        .line_terminator(Some(b'\n'))
        .crlf(true)
        .case_insensitive(args.opt_bool("ignore_case").unwrap_or_default())
        .build(pattern)
        .map_err(|error| ToolError::failed(format!("invalid regular expression: {error}")))?;
    let filter = args.opt_str("glob").map(|glob| Filter::new(glob, start)).transpose()?;
    walk::check_start(workspace, start)?;
    let mut search = Search::new(workspace, &matcher, stop);
    let mut notes = String::new();
    if start.is_dir() {
        let mut entries = Entries::new(start, workspace, hidden, stop)?;
        let (mut admitted, mut others) = (0, 0);
        while let Some(entry) = entries.next()? {
            if entry.kind != EntryKind::File {
                continue;
            }
            if filter.as_ref().is_some_and(|filter| !filter.admits(&entry.path, start)) {
                others += 1;
                continue;
            }
            admitted += 1;
            if search.file(&entry.path)? == HitRoom::Used {
                break;
            }
        }
        notes = entries.notes();
        if let (Some(glob), 0, 1..) = (args.opt_str("glob"), admitted, others) {
            let s = if others == 1 { "" } else { "s" };
            // Writing to a string cannot fail.
            let _ = writeln!(notes, "[the glob {} left out all {others} file{s}]", visible_line(glob));
        }
    } else {
        search.file(start)?;
    }
    let mut text = search.finish(pattern, &workspace.display(start));
    text.push_str(&notes);
    Ok(text)
}

/// Chooses files by name, or by path when the pattern has a `/`.
struct Filter {
    matcher: GlobMatcher,
    by_path: bool,
}

impl Filter {
    fn new(pattern: &str, start: &Path) -> Result<Self, ToolError> {
        let pattern = pattern.trim_start_matches("./");
        let by_path = pattern.contains('/');
        Ok(Self { matcher: walk::matcher(pattern, by_path.then_some(start))?, by_path })
    }

    fn admits(&self, path: &Path, start: &Path) -> bool {
        if self.by_path {
            path.strip_prefix(start).is_ok_and(|relative| walk::matches(&self.matcher, relative))
        } else {
            path.file_name().is_some_and(|name| walk::matches(&self.matcher, Path::new(name)))
        }
    }
}

/// Whether there is room for further hits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HitRoom {
    Left,
    Used,
}

/// Goes through files and collects hits.
struct Search<'a> {
    workspace: &'a Workspace,
    matcher: &'a RegexMatcher,
    searcher: Searcher,
    stop: &'a Stop,
    text: String,
    hits: usize,
    room: HitRoom,
    files: usize,
    binary: usize,
    large: usize,
    unreadable: usize,
}

impl<'a> Search<'a> {
    fn new(workspace: &'a Workspace, matcher: &'a RegexMatcher, stop: &'a Stop) -> Self {
        let searcher = SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            .line_number(true)
            .binary_detection(BinaryDetection::quit(0))
            .build();
        Self {
            workspace,
            matcher,
            searcher,
            stop,
            text: String::new(),
            hits: 0,
            room: HitRoom::Left,
            files: 0,
            binary: 0,
            large: 0,
            unreadable: 0,
        }
    }

    fn file(&mut self, path: &Path) -> Result<HitRoom, ToolError> {
        let file = match self.workspace.open(path) {
            Ok((_, metadata)) if metadata.len() > limits::GREP_FILE_BYTES => {
                self.large += 1;
                return Ok(self.room);
            }
            Ok((file, _)) => file,
            Err(_) => {
                self.unreadable += 1;
                return Ok(self.room);
            }
        };
        self.files += 1;
        let mut sink = self.sink();
        let mut searched = self.searcher.search_reader(self.matcher, (&file).take(limits::GREP_FILE_BYTES), &mut sink);
        self.stop.check()?;
        // The searcher knows UTF-16 by its mark alone.
        if sink.binary
            && let Some(text) = unmarked_utf16(&file)
        {
            sink = self.sink();
            searched = self.searcher.search_slice(self.matcher, text.as_bytes(), &mut sink);
            self.stop.check()?;
        }
        if searched.is_err() {
            self.unreadable += 1;
        } else if sink.binary {
            self.binary += 1;
        } else {
            self.add(&self.workspace.display(path), &sink);
        }
        Ok(self.room)
    }

    fn sink(&self) -> Hits<'a> {
        Hits {
            matcher: self.matcher,
            stop: self.stop,
            room: limits::GREP_HITS - self.hits,
            found: Vec::new(),
            more: false,
            binary: false,
        }
    }

    fn add(&mut self, name: &str, sink: &Hits<'_>) {
        for (number, line) in &sink.found {
            let hit = format!("{name}:{number}:{line}\n");
            if self.hits > 0 && self.text.len() + hit.len() > limits::GREP_BYTES {
                self.room = HitRoom::Used;
                return;
            }
            self.text.push_str(&hit);
            self.hits += 1;
        }
        if sink.more {
            self.room = HitRoom::Used;
        }
    }

    fn finish(mut self, pattern: &str, start: &str) -> String {
        // Writing to a string cannot fail.
        let _ = match (self.hits, self.room) {
            (0, _) => {
                let s = if self.files == 1 { "" } else { "s" };
                writeln!(
                    self.text,
                    "[no hits for {} in {start}: {} file{s} searched]",
                    visible_line(pattern),
                    self.files
                )
            }
            (hits, HitRoom::Used) => {
                writeln!(self.text, "[{hits} hits, there are more: narrow the pattern, glob or path]")
            }
            (_, HitRoom::Left) => Ok(()),
        };
        let large = format!("over {} MiB", limits::GREP_FILE_BYTES >> 20);
        for (count, kind) in [(self.binary, "binary"), (self.large, large.as_str()), (self.unreadable, "unreadable")] {
            if count > 0 {
                let _ = writeln!(self.text, "[passed over, {kind}: {count}]");
            }
        }
        self.text
    }
}

/// Reads a file in UTF-16 without a mark; `None` for any other, of which only the beginning is read.
fn unmarked_utf16(mut file: &File) -> Option<String> {
    let mut bytes = Vec::new();
    file.rewind().ok()?;
    file.take(HEAD_BYTES).read_to_end(&mut bytes).ok()?;
    if memchr::memchr_iter(0, &bytes).count() * 4 < bytes.len() {
        return None;
    }
    file.take(limits::GREP_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    utf16_text(&bytes)
}

/// Takes the hits of one file.
struct Hits<'a> {
    matcher: &'a RegexMatcher,
    stop: &'a Stop,
    room: usize,
    found: Vec<(u64, String)>,
    /// True when there was a hit beyond the room.
    more: bool,
    binary: bool,
}

impl Sink for Hits<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, hit: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.stop.check().map_err(io::Error::other)?;
        if self.found.len() >= self.room {
            self.more = true;
            return Ok(false);
        }
        let mut line = hit.bytes();
        while let [head @ .., b'\n' | b'\r'] = line {
            line = head;
        }
        let at = self.matcher.find(line).ok().flatten().map_or(0, |found| found.start());
        self.found.push((hit.line_number().unwrap_or_default(), shorten(line, at)));
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        self.binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// Cuts a long line to the columns around its match.
fn shorten(line: &[u8], at: usize) -> String {
    let from = if at + BEFORE_MATCH_BYTES < limits::GREP_COLUMNS { 0 } else { at - BEFORE_MATCH_BYTES };
    let rest = line.get(from..).unwrap_or_default();
    // Four bytes hold any character.
    let (part, longer) = rest.split_at_checked(limits::GREP_COLUMNS * 4).unwrap_or((rest, &[]));
    let window = String::from_utf8_lossy(part);
    // A part of a character at the start became a replacement character.
    let window = if from == 0 { &window } else { window.trim_start_matches(char::REPLACEMENT_CHARACTER) };
    let end = window.char_indices().nth(limits::GREP_COLUMNS).map(|(end, _)| end);
    let kept = end.and_then(|end| window.get(..end)).unwrap_or(window);
    let head = if from == 0 { "" } else { "…" };
    let tail = if end.is_some() || !longer.is_empty() { "… [line cut]" } else { "" };
    format!("{head}{kept}{tail}")
}
