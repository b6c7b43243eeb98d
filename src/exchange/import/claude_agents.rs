//! The sub-agents of a Claude Code session, which newer versions keep in files of their own: `SESSION/subagents/agent-*.jsonl`,
//! or `agent-*.jsonl` beside the session's file with its name in each line.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use super::source::{SourceLines, check_size, lines, text, time};

/// Returns the lines of a session with those of its sub-agents among them, by their times.
///
/// # Errors
/// What a file of a sub-agent says, and that all together are too large.
pub(super) fn merged(path: &Path, main: SourceLines) -> io::Result<SourceLines> {
    let session = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let within = path.with_extension("").join("subagents");
    let beside = path.parent().unwrap_or(Path::new("."));
    let mut all = main;
    let mut timed = stamped(std::mem::take(&mut all.values));
    for file in agent_files(&within).into_iter().chain(agent_files(beside)) {
        let agent = lines(&file)?;
        let is_ours = |line: &Value| text(line, "sessionId") == Some(session.as_str());
        if agent.values.first().is_some_and(is_ours) {
            all.bytes += agent.bytes;
            check_size(all.bytes)?;
            all.skipped += agent.skipped;
            timed.extend(stamped(agent.values));
        }
    }
    // Stable, and the times of each file only rise: each file stays in its order.
    timed.sort_by_key(|(at, _)| *at);
    all.values = timed.into_iter().map(|(_, line)| line).collect();
    Ok(all)
}

fn stamped(lines: Vec<Value>) -> Vec<(Option<Timestamp>, Value)> {
    let mut at = None;
    let stamp = |line: Value| {
        at = at.max(time(&line));
        (at, line)
    };
    lines.into_iter().map(stamp).collect()
}

fn agent_files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_agent(path)).collect();
    files.sort();
    files
}

/// Tells whether a file is that of an agent with a task; those that write a summary have none.
fn is_agent(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.starts_with("agent-")
        && path.extension().is_some_and(|extension| extension == "jsonl")
        && !name.starts_with("agent-acompact-")
        && path.is_file()
}
