//! What `write` and `edit` share: they look at a file, ask with the whole change, and write exactly what was approved.
//!
//! Between the look and the writing the file may change; then nothing is written. A file with several names keeps them
//! where all lie in the workspace: each is asked about. Else the others keep the old content, and that is said.

use std::path::PathBuf;
use std::sync::Arc;

use crate::blocking;
use crate::workspace::{Difference, FileSnapshot, Names, RepositoryPart, Undoable, Workspace, diff, file_diff};
use steersman_base::details::Details;
use steersman_base::limits;
use steersman_base::text::visible_line;
use steersman_core::approval::{Content, WriteOperation};
use steersman_core::tool::{ToolContext, ToolError};

/// A file that is to be changed.
pub(super) struct Target {
    /// Real and absolute.
    pub(super) path: PathBuf,
    pub(super) shown: String,
    /// As it stands; `None` when there is none.
    pub(super) held: Option<FileSnapshot>,
}

impl Target {
    /// Looks at a file that a model names.
    pub(super) fn look(workspace: &Workspace, path: &str) -> Result<Self, ToolError> {
        let real = workspace.resolve_change(path).map_err(ToolError::Failed)?;
        let shown = workspace.display(&real);
        if path.ends_with('/') || path.ends_with("/.") || real.is_dir() {
            return Err(ToolError::failed(format!("{shown} is a directory, or named like one (with a / at its end)")));
        }
        let held = workspace.look(&real).map_err(ToolError::Failed)?;
        Ok(Self { path: real, shown, held })
    }

    /// Makes the change of its content into a proposal.
    pub(super) fn propose(
        self,
        workspace: &Workspace,
        tool: &'static str,
        after: Vec<u8>,
    ) -> Result<Proposal, ToolError> {
        let size = after.len() as u64;
        if size > limits::CHANGED_FILE_BYTES {
            let most = limits::CHANGED_FILE_BYTES >> 20;
            return Err(ToolError::failed(format!("{} would have {size} bytes; at most {most} MiB", self.shown)));
        }
        let linked = self.held.as_ref().map_or(Names::Parted, FileSnapshot::names);
        let others = self.held.as_ref().map_or(Some(Vec::new()), |held| workspace.other_names(&self.path, held));
        let before = self.held.map(|held| held.bytes);
        let old = before.as_deref().unwrap_or_default();
        let difference = diff(old, &after);
        let mut whole = difference.hunks.clone();
        if workspace.changes().room_for(old.len() as u64) == Undoable::TooMuch {
            whole.push_str("\\ Undo will not bring the old content back: the turn has changed too much already\n");
        }
        let (names, others) = match others {
            Some(others) if others.is_empty() => (Names::Parted, others),
            Some(others) => {
                let shown: Vec<String> = others.iter().map(|other| workspace.display(other)).collect();
                whole.extend(["\\ It is one file with ", &shown.join(", "), ": a change of all\n"]);
                (linked, others)
            }
            None => {
                whole.extend(["\\ ", PARTED, "\n"]);
                (Names::Parted, Vec::new())
            }
        };
        let is_parted = linked != Names::Parted && names == Names::Parted;
        let (tool, before) = (tool.into(), before.map(Content::from));
        let operation =
            WriteOperation { tool, path: self.path, shown: self.shown, before, after: after.into(), diff: whole };
        Ok(Proposal { operation, difference, names, others, is_parted })
    }
}

/// What is said of a file whose other names stay behind.
const PARTED: &str = "The file has another name outside of what is searched here; that one keeps the old content";

/// A change that nobody has been asked about yet.
pub(super) struct Proposal {
    operation: WriteOperation,
    difference: Difference,
    names: Names,
    /// The other names of the file that change with it.
    others: Vec<PathBuf>,
    /// Whether it has other names that keep the old content.
    is_parted: bool,
}

/// A change that was made.
pub(super) struct AppliedChange {
    pub(super) operation: WriteOperation,
    undoable: Undoable,
    is_parted: bool,
    /// The other names that changed with it, as they are shown.
    others: Vec<String>,
}

impl AppliedChange {
    /// Returns what the model must know about the way back and about other names of the file.
    pub(super) fn note(&self) -> String {
        let mut note = match self.undoable {
            Undoable::Yes => String::new(),
            Undoable::TooMuch => "\n[undo cannot bring the old content back]".to_owned(),
        };
        if self.is_parted {
            note.extend(["\n[", PARTED, "]"]);
        } else if !self.others.is_empty() {
            note.extend(["\n[", &self.others.join(", "), " changed too: it is the same file]"]);
        }
        note
    }
}

/// Asks for leave, then writes. A cancel ends the waiting, never the writing.
pub(super) async fn carry_out(
    workspace: &Arc<Workspace>,
    context: &ToolContext,
    proposal: Proposal,
) -> Result<AppliedChange, ToolError> {
    let Proposal { operation, difference, names, others, is_parted } = proposal;
    let approved = context.cancellable.unless_cancelled(context.approve(operation)).await??;
    let part = if approved.was_asked() { RepositoryPart::Approved } else { RepositoryPart::Refused };
    let operation = approved.take();
    let mut shown = Vec::new();
    for path in others {
        let other = WriteOperation { shown: workspace.display(&path), path, ..operation.clone() };
        shown.push(other.shown.clone());
        context.cancellable.unless_cancelled(context.approve(other)).await??;
    }
    let workspace = Arc::clone(workspace);
    let done = blocking::run(context, move |_| {
        let written = workspace.write_names(
            &operation.path,
            operation.before.as_ref().map(Content::bytes),
            operation.after.bytes(),
            names,
            part,
        );
        Ok(AppliedChange { undoable: written.map_err(ToolError::Failed)?, operation, is_parted, others: shown })
    })
    .await?;
    let shown = visible_line(&done.operation.shown).into_owned();
    context.details(Details::Diff(file_diff(shown, done.operation.before.as_ref().map(Content::bytes), &difference)));
    Ok(done)
}
