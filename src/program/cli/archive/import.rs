//! `steersman import`: sessions of other programs as sessions of this one.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::program::cli::exit::{Exit, print, say};
use crate::program::cli::journal::secrets;
use steersman_base::summary::count;
use steersman_base::text::visible_line;
use steersman_exchange::import::{find, import_file};
use steersman_session::journal::{Import, SessionFiles};

/// The arguments of `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Files, or directories that are looked through [default: where codex and Claude Code keep theirs].
    pub paths: Vec<PathBuf>,
}

/// Imports what is there and tells of each session.
pub(super) fn run(files: &SessionFiles, args: &ImportArgs) -> Exit {
    let roots = if args.paths.is_empty() { usual() } else { args.paths.clone() };
    let mut tally = Tally::default();
    for root in &roots {
        match find(root) {
            Ok(found) => found.iter().for_each(|path| tally.import(files, path)),
            Err(error) => tally.fail(root, &error.to_string()),
        }
    }
    let Tally { mut text, written, there, others, failed } = tally;
    let parts = [
        (written, count(written, "session"), "imported"),
        (there, count(there, "session"), "already there"),
        (others, count(others, "file"), "without a session"),
    ];
    let filled = parts.iter().enumerate().filter(|(index, (number, ..))| *index == 0 || *number > 0);
    let lines: Vec<String> = filled.map(|(_, (_, what, fate))| format!("{what} {fate}")).collect();
    let _ = writeln!(text, "{}", lines.join(", "));
    print(&text);
    if failed { Exit::Failed } else { Exit::Done }
}

#[derive(Default)]
struct Tally {
    text: String,
    written: usize,
    there: usize,
    others: usize,
    failed: bool,
}

impl Tally {
    fn import(&mut self, files: &SessionFiles, path: &Path) {
        let imported = match import_file(path) {
            Ok(Some(imported)) => imported,
            Ok(None) => {
                self.others += 1;
                return;
            }
            Err(error) => return self.fail(path, &error.to_string()),
        };
        let header = imported.header;
        match files.import(&header, imported.records, secrets()) {
            Ok(Import::There) => self.there += 1,
            Ok(Import::Written) => {
                self.written += 1;
                let skipped = header.imported.map_or(0, |origin| origin.skipped);
                let lines = count(usize::try_from(skipped).unwrap_or(usize::MAX), "line");
                let skipped = if skipped > 0 { format!(", {lines} skipped") } else { String::new() };
                let (program, path) = (visible_line(&header.program), path.to_string_lossy());
                let _ = writeln!(self.text, "{}  {program}  {}{skipped}", header.session, visible_line(&path));
            }
            Err(error) => self.fail(path, &error.to_string()),
        }
    }

    fn fail(&mut self, path: &Path, why: &str) {
        self.failed = true;
        say(&format!("{}: {}", visible_line(&path.to_string_lossy()), visible_line(why)));
    }
}

/// Returns the directories in which other programs keep their sessions, as far as they are there.
fn usual() -> Vec<PathBuf> {
    let home = etcetera::home_dir().ok();
    let base = |variable: &str, usual: &str| {
        let named = std::env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
        named.or_else(|| home.as_ref().map(|home| home.join(usual)))
    };
    let codex = base("CODEX_HOME", ".codex");
    let claude = base("CLAUDE_CONFIG_DIR", ".claude");
    let below = |base: &Option<PathBuf>, name: &str| base.as_ref().map(|base| base.join(name));
    let all = [below(&codex, "sessions"), below(&codex, "archived_sessions"), below(&claude, "projects")];
    all.into_iter().flatten().filter(|path| path.is_dir()).collect()
}
