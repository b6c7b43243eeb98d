//! The tool `glob`: paths of the workspace that match a pattern.
//!
//! Files only, unless the pattern ends with `/`: then directories only, each shown with a `/`. So `*` lists the files
//! of a directory and `*/` its directories.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::blocking::{self, Stop};
use crate::walk::{self, Entries};
use crate::workspace::{EntryKind, Workspace};
use crate::{approve_reading, workspace_in};
use steersman_base::limits;
use steersman_base::text::visible_line;
use steersman_core::approval::HiddenFiles;
use steersman_core::tool::{
    Args, Concurrency, Parameters, Tool, ToolContext, ToolDirectory, ToolError, ToolSpec, Traits,
};

/// Lists paths of a workspace.
pub struct GlobTool {
    workspace: Arc<Workspace>,
    spec: ToolSpec,
}

impl GlobTool {
    /// Makes the tool for a workspace.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        let parameters = Parameters::build(|p| {
            p.required_string("pattern", "The pattern, relative to path: `**/*.rs`, `src/*`, `*/`.");
            p.optional_string("path", "The directory to look in, relative to the workspace. Default: all of it.");
        });
        let description = format!(
            "Lists the files whose path matches a pattern, sorted, at most {}. `*` stops at `/`, `**` does not: `*` lists \
             one directory, `**/*` all below it. A pattern that ends with `/` lists directories instead. Knows {{a,b}} \
             and [a-z], also as names: `app/[id]/*`. Hidden files are included; .git and what .gitignore names are not.",
            limits::GLOB_PATHS,
        );
        let spec = ToolSpec::new("glob", description, parameters)
            .concurrency(Concurrency::Parallel)
            .traits(Traits { private: !workspace.is_temporary(), ..Traits::NONE });
        Self { workspace, spec }
    }
}

impl Tool for GlobTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(&'a self, args: Args, context: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        let workspace = Arc::clone(&self.workspace);
        async move {
            let start = approve_reading(context, &workspace, "glob", args.opt_str("path").unwrap_or(".")).await?;
            let hidden = context.approvals.hidden_files(&start);
            blocking::run(context, move |stop| glob(&workspace, args.str("pattern"), &start, hidden, stop)).await
        }
        .boxed()
    }

    fn in_directory(&self, directory: &ToolDirectory) -> Option<Result<Arc<dyn Tool>, String>> {
        Some(workspace_in(directory).map(|workspace| Arc::new(Self::new(workspace)) as _))
    }
}

fn glob(
    workspace: &Workspace,
    pattern: &str,
    start: &Path,
    hidden: HiddenFiles,
    stop: &Stop,
) -> Result<String, ToolError> {
    walk::check_start(workspace, start)?;
    let name = workspace.display(start);
    if !start.is_dir() {
        return Err(ToolError::failed(format!("{name} is not a directory")));
    }
    let trimmed = pattern.trim_start_matches("./");
    if trimmed.is_empty() || trimmed.starts_with('/') || trimmed.split('/').any(|part| part == "..") {
        let text = "the pattern is relative to path and goes down only: give the directory as path";
        return Err(ToolError::failed(text));
    }
    let directories = trimmed.ends_with('/');
    let matcher = walk::matcher(trimmed.trim_end_matches('/'), Some(start))?;
    let mut entries = Entries::new(start, workspace, hidden, stop)?;
    let mut text = String::new();
    let mut count = 0;
    let mut other = 0;
    while let Some(entry) = entries.next()? {
        let relative = entry.path.strip_prefix(start).unwrap_or(Path::new(""));
        if !walk::matches(&matcher, relative) {
            continue;
        }
        let is_directory = entry.kind == EntryKind::Directory;
        if is_directory != directories {
            other += 1;
            continue;
        }
        count += 1;
        if count <= limits::GLOB_PATHS {
            text.push_str(&workspace.display(&entry.path));
            text.push_str(if is_directory { "/\n" } else { "\n" });
        }
    }
    let shown = visible_line(pattern);
    // Writing to a string cannot fail.
    let _ = match (count, directories) {
        (0, true) => writeln!(text, "[no directory in {name} matches {shown}]"),
        (0, false) => writeln!(text, "[no file in {name} matches {shown}]"),
        (count, _) if count > limits::GLOB_PATHS => {
            writeln!(text, "[{} of {count} paths: narrow the pattern or the path]", limits::GLOB_PATHS)
        }
        _ => Ok(()),
    };
    let _ = match (other, directories) {
        (0, _) => Ok(()),
        (1, false) => writeln!(text, "[1 directory matches too: end the pattern with / to list directories]"),
        (other, false) => {
            writeln!(text, "[{other} directories match too: end the pattern with / to list directories]")
        }
        (_, true) if count > 0 => Ok(()),
        (other, true) => writeln!(text, "[matching files: {other}; leave the last / away to list files]"),
    };
    if count == 0 && other == 0 && !trimmed.contains("**") {
        let _ = writeln!(text, "[this pattern looks at one level; **/ before a name looks at all levels]");
    }
    text.push_str(&entries.notes());
    Ok(text)
}
