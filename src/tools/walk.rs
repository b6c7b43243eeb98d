//! What `grep` and `glob` share: where a search starts, its patterns, and the walk over the workspace's files, less far
//! where the workspace calls for caution.

use std::fmt::Write as _;
use std::path::Path;

use globset::{Glob, GlobBuilder, GlobMatcher};

use crate::blocking::Stop;
use crate::workspace::{Bounds, Entry, Walk, WalkEnd, Workspace};
use steersman_base::text::composed;
use steersman_core::approval::HiddenFiles;
use steersman_core::tool::ToolError;

/// Passes when a search can start at a directory or file.
pub(super) fn check_start(workspace: &Workspace, start: &Path) -> Result<(), ToolError> {
    let name = workspace.display(start);
    if start.components().any(|part| part.as_os_str() == ".git") {
        return Err(ToolError::failed(format!("{name} is not searched: .git is left out (read shows single files)")));
    }
    match start.metadata() {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(ToolError::failed(format!("{name} does not exist")))
        }
        Err(error) => Err(ToolError::failed(format!("{name} cannot be searched: {error}"))),
    }
}

/// Tells whether a path matches, however its letters are spelled.
pub(super) fn matches(matcher: &GlobMatcher, path: &Path) -> bool {
    match path.to_str().map(composed) {
        Some(path) => matcher.is_match(&*path),
        None => matcher.is_match(path),
    }
}

/// Compiles a glob for what lies below a directory: `*` and `?` stop at `/`, `**` does not, `{a,b}` and `[a-z]` are known.
///
/// The parts of a web project are called `[id]` and `{x}`: a part that is there under exactly this name means only that, and
/// one of which that is not known means both.
pub(super) fn matcher(pattern: &str, start: Option<&Path>) -> Result<GlobMatcher, ToolError> {
    let pattern = &*composed(pattern);
    let mut at = start.map(Path::to_path_buf);
    let mut whole = Vec::new();
    for part in parts(pattern) {
        at = at.map(|at| at.join(part)).filter(|at| at.symlink_metadata().is_ok());
        whole.push(match (part.contains(['[', ']', '{', '}', '\\']), &at) {
            (true, Some(_)) => literal(part),
            (true, None) if glob(part).is_ok() => format!("{{{part},{}}}", literal(part)),
            (true, None) | (false, _) => part.to_owned(),
        });
    }
    match glob(&whole.join("/")) {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(error) => Err(ToolError::failed(format!("invalid glob: {error}"))),
    }
}

fn glob(pattern: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(pattern).literal_separator(true).build()
}

/// Splits a glob at each `/` that is in no braces.
fn parts(pattern: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let is_split = |c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == '/' && depth == 0
    };
    pattern.split(is_split).collect()
}

/// Returns a part of a glob in which brackets stand for themselves; only `*` and `?` do not.
fn literal(part: &str) -> String {
    let mut text = String::new();
    for c in part.chars() {
        match c {
            '[' | ']' | '{' | '}' | ',' => text.extend(['[', c, ']']),
            '\\' => text.push_str("\\\\"),
            c => text.push(c),
        }
    }
    text
}

/// The entries below a directory, sorted by path, until a cap.
pub(super) struct Entries<'a> {
    walk: Walk,
    stop: &'a Stop,
    workspace: &'a Workspace,
    hidden: HiddenFiles,
    /// Entries that the user's rules leave out, so far.
    left_out: usize,
}

impl<'a> Entries<'a> {
    pub(super) fn new(
        directory: &Path,
        workspace: &'a Workspace,
        hidden: HiddenFiles,
        stop: &'a Stop,
    ) -> Result<Self, ToolError> {
        let caution = workspace.caution();
        let bounds = Bounds { entries: caution.entries(), time: caution.time() };
        let walk = workspace.walk(directory, bounds).map_err(|error| {
            ToolError::Failed(format!("{} cannot be searched: {error}", workspace.display(directory)))
        })?;
        Ok(Self { walk, stop, workspace, hidden, left_out: 0 })
    }

    /// Returns the next entry below the directory; `None` at the end or at a cap. What cannot be read is passed over, and
    /// so is what a rule denies or asks about: a question is for a single file.
    pub(super) fn next(&mut self) -> Result<Option<Entry>, ToolError> {
        loop {
            let entry = self.walk.next(|| self.stop.check().is_err());
            self.stop.check()?;
            match entry {
                Some(entry) if self.hidden.hides(&entry.path) => self.left_out += 1,
                entry => return Ok(entry),
            }
        }
    }

    /// Says why the search did not see everything, and what else is to be known about it; for the model.
    pub(super) fn notes(&self) -> String {
        let caution = self.workspace.caution();
        let mut notes = match self.walk.end() {
            Some(WalkEnd::Entries) => format!("[stopped after {} entries: name a path below]\n", caution.entries()),
            Some(WalkEnd::Time) => format!("[stopped after {} s: name a path below]\n", caution.time().as_secs()),
            Some(WalkEnd::Stopped) | None => String::new(),
        };
        if self.left_out > 0 {
            // Writing to a string cannot fail.
            let _ = writeln!(notes, "[left out by the user's rules: {}]", self.left_out);
        }
        let unused = self.walk.unused_rules();
        if let Some(first) = unused.first() {
            let first = self.workspace.display(first);
            let more = if unused.len() > 1 { " and others" } else { "" };
            notes += &["[ignore rules not used: ", &first, more, ", no regular file or too large]\n"].concat();
        }
        notes
    }
}
