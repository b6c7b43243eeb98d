//! The tool `edit`: one text in a file replaced by another, exactly.
//!
//! Only a file that the model has seen as it stands is changed. Everything outside the replaced places stays byte for
//! byte; the line ends of the file are kept.
//!
//! # Where things are
//!
//! - what to tell a model whose text is not in the file: where it is nearly, and what differs: `hints.rs`
//! - finds a text in a file and replaces it, whatever the line ends: `matching.rs`

mod hints;
mod matching;

use std::fmt::Write as _;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::change::{self, Proposal, Target};
use crate::edit::matching::Flat;
use crate::encoding::{MARK, TextEncoding, text_of};
use crate::workspace::{SeenState, Workspace};
use crate::workspace_in;
use crate::{blocking, read};
use steersman_core::approval::Content;
use steersman_core::tool::{Args, OnCancel, Parameters, Tool, ToolContext, ToolDirectory, ToolError, ToolSpec, Traits};

/// Line numbers named in a message.
const NAMED_LINES: usize = 20;
/// Lines shown before and behind the first change, and at most in all.
const SHOWN_AROUND: usize = 2;
const SHOWN_LINES: usize = 16;

/// Changes parts of files of a workspace.
pub struct EditTool {
    workspace: Arc<Workspace>,
    spec: ToolSpec,
}

impl EditTool {
    /// Makes the tool for a workspace.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        let parameters = Parameters::build(|p| {
            p.required_string("path", "The file, relative to the workspace.");
            p.required_string("old_string", "The text to replace, exactly as it is in the file, without line numbers.");
            p.required_string("new_string", "The text in its place.");
            p.optional_boolean("replace_all", "Whether to replace it wherever it occurs. Default false.");
        });
        let description = "Replaces a text in a file by another. The text must occur exactly once, unless replace_all \
             is set: take enough lines around it. The file must have been read before, and not have \
             changed since. Line ends stay as they are in the file. The user may be asked before the file \
             is changed.";
        let spec = ToolSpec::new("edit", description, parameters)
            .on_cancel(OnCancel::Wait)
            .traits(Traits { private: !workspace.is_temporary(), ..Traits::NONE });
        Self { workspace, spec }
    }
}

impl Tool for EditTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(&'a self, args: Args, context: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        async move {
            let workspace = Arc::clone(&self.workspace);
            let (proposal, edit) = blocking::run(context, move |_| propose(&workspace, &args)).await?;
            let done = change::carry_out(&self.workspace, context, proposal).await?;
            let old = done.operation.before.as_ref().map_or(0, Content::size);
            let mut text = format!("edited {}: ", done.operation.shown);
            // Writing to a string cannot fail.
            let _ = match edit.lines.as_slice() {
                [line] => write!(text, "line {line}"),
                lines => write!(text, "{} places, lines {}", lines.len(), named(lines)),
            };
            let _ = writeln!(text, ", {old} → {} bytes", done.operation.after.size());
            text.push_str(&edit.excerpt(&text_of(done.operation.after.bytes())));
            text.push_str(done.note().trim_start());
            Ok(text)
        }
        .boxed()
    }

    fn in_directory(&self, directory: &ToolDirectory) -> Option<Result<Arc<dyn Tool>, String>> {
        Some(workspace_in(directory).map(|workspace| Arc::new(Self::new(workspace)) as _))
    }
}

/// Where a file is changed.
struct Edit {
    /// The line where each replaced text began.
    lines: Vec<usize>,
    /// Lines of the first new text.
    height: usize,
}

impl Edit {
    /// Shows the first changed place with its line numbers.
    fn excerpt(&self, after: &[u8]) -> String {
        let Some(first) = self.lines.first() else { return String::new() };
        let after = after.strip_prefix(MARK.as_bytes()).unwrap_or(after);
        let from = first.saturating_sub(SHOWN_AROUND + 1);
        let count = (first - 1 - from + self.height + SHOWN_AROUND).min(SHOWN_LINES);
        let lines = after.split_inclusive(|byte| *byte == b'\n').enumerate().skip(from).take(count);
        lines.map(|(index, line)| read::numbered(index as u64 + 1, line)).collect()
    }
}

fn propose(workspace: &Workspace, args: &Args) -> Result<(Proposal, Edit), ToolError> {
    let (old, new) = (args.str("old_string"), args.str("new_string"));
    if old.is_empty() {
        return Err(ToolError::failed("old_string is empty: name the text to replace (write creates files)"));
    }
    if old == new {
        return Err(ToolError::failed("old_string and new_string are the same"));
    }
    let target = Target::look(workspace, args.str("path"))?;
    let shown = &target.shown;
    let Some(held) = &target.held else {
        return Err(ToolError::failed(format!("{shown} {}", read::missing(workspace, &target.path))));
    };
    match workspace.seen_state(&target.path, &held.bytes) {
        SeenState::Known => {}
        SeenState::Unread => return Err(ToolError::failed(format!("{shown} was not read yet: read it first"))),
        SeenState::Changed => {
            return Err(ToolError::failed(format!("{shown} has changed since it was read: read it again")));
        }
    }
    let encoding = TextEncoding::detect(&held.bytes);
    let Some(content) = encoding.decode(&held.bytes) else {
        return Err(ToolError::failed(format!("{shown} begins like UTF-16 text, and is none")));
    };
    if !new.is_ascii() && old.is_ascii() && std::str::from_utf8(&content).is_err() {
        return Err(ToolError::failed(format!(
            "{shown} is not UTF-8, and new_string would be: convert the file first, such as with iconv"
        )));
    }
    let flat = Flat::new(&content);
    let needle = flat.text(old);
    let places = flat.places(&needle);
    let lines: Vec<usize> = flat.lines(&places);
    match places.len() {
        0 => {
            let hint = hints::not_found(flat.bytes(), &needle);
            return Err(ToolError::failed(format!("old_string does not occur in {shown}: {hint}")));
        }
        1 => {}
        _ if args.opt_bool("replace_all").unwrap_or_default() => {}
        count => {
            return Err(ToolError::failed(format!(
                "old_string occurs {count} times in {shown}, at lines {}: take more lines around the one you mean, or set \
                 replace_all",
                named(&lines)
            )));
        }
    }
    let new = flat.text(new);
    let after = encoding.encode(flat.replace(&content, &places, needle.len(), &new));
    if *after == *held.bytes {
        return Err(ToolError::failed(
            "this changes nothing: only the line ends differ, and those stay as in the file",
        ));
    }
    let height = new.split_inclusive(|byte| *byte == b'\n').count().max(1);
    let proposal = target.propose(workspace, "edit", after)?;
    Ok((proposal, Edit { lines, height }))
}

/// Lists line numbers, the first ones.
fn named(lines: &[usize]) -> String {
    let mut text = lines.iter().take(NAMED_LINES).map(usize::to_string).collect::<Vec<_>>().join(", ");
    if lines.len() > NAMED_LINES {
        text.push_str(", …");
    }
    text
}
