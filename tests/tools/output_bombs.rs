//! Output bombs through the tool `bash` (R1, B14), small: what is told, kept and returned is bounded, whatever comes.
//! The large ones are in `tests/bench/output.rs`.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use steersman_base::details::Details;
use steersman_base::limits;
use steersman_base::message::Arguments;
use steersman_core::approval::{Answerer, Approvals, Mode, Policy};
use steersman_core::tool::{Outputs, Tool, ToolContext, ToolError, ToolReport};
use steersman_tools::BashTool;
use steersman_tools::workspace::{Confinement, Workspace};
use tempfile::TempDir;

use crate::support::processes::spawner;

/// The result of one command.
struct Came {
    result: Result<String, ToolError>,
    pieces: Vec<String>,
    bytes: u64,
    saved: Option<String>,
    took: Duration,
    /// Keeps the files.
    _tool: BashTool,
    _dir: TempDir,
}

async fn run(command: &str, timeout: u64) -> Came {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Arc::new(Workspace::new(dir.path()).unwrap());
    let outputs = Arc::new(Outputs::new(dir.path()).unwrap());
    let bash = BashTool::new(workspace, spawner(), outputs, Confinement::default());
    let policy = Policy { answerer: Answerer::User, ..Policy::default() };
    let mut context = ToolContext::with_approvals(Arc::new(Approvals::new(policy, Mode::AutoWithoutSandbox)));
    let heard = Arc::new(Mutex::new(Vec::new()));
    let telling = Arc::clone(&heard);
    context.report = Arc::new(move |piece| telling.lock().unwrap().push(piece));
    let Value::Object(map) = json!({"command": command, "timeout": timeout}) else { unreachable!() };
    let checked = bash.spec().parameters.validate(&Arguments::Object(map)).unwrap();
    let began = Instant::now();
    let result = bash.execute(checked, &context).await;
    let took = began.elapsed();
    let mut came = Came { result, pieces: Vec::new(), bytes: 0, saved: None, took, _tool: bash, _dir: dir };
    for told in heard.lock().unwrap().drain(..) {
        match told {
            ToolReport::Progress(piece) => came.pieces.push(piece),
            ToolReport::Details(Details::Command(end)) => (came.bytes, came.saved) = (end.bytes, end.saved),
            other => panic!("{other:?}"),
        }
    }
    came
}

impl Came {
    /// Most that may be shown live in the time that it took, with the notes on what was not.
    fn shown_at_most(&self) -> usize {
        let seconds = usize::try_from(self.took.as_secs()).unwrap() + 2;
        limits::LIVE_BURST_BYTES + seconds * (limits::LIVE_BYTES_PER_SECOND as usize + 10 * 40) + 2048
    }
}

#[tokio::test]
async fn an_endless_producer_is_shown_within_bounds_until_its_time_out() {
    let came = run("yes", 3).await;
    let Err(ToolError::Failed(sentence)) = &came.result else { panic!("{:?}", came.result) };
    assert!(sentence.starts_with("the command timed out after 3 s; "), "{}", &sentence[..100]);
    assert!(sentence.len() < limits::COMMAND_BYTES + 500);
    assert!(came.took < Duration::from_secs(5), "{:?}", came.took);
    let shown: usize = came.pieces.iter().map(String::len).sum();
    assert!(shown <= came.shown_at_most(), "{shown} bytes were shown");
    assert!(came.bytes > 1_000_000, "{}", came.bytes);
    // It is shown to the end, and said how much is not.
    assert!(came.pieces.len() > 3, "{}", came.pieces.len());
    assert!(came.pieces.last().unwrap().contains(" bytes not shown]\n"), "{:?}", came.pieces.last());
    let not_shown: u64 = notes(&came.pieces).iter().sum();
    let said: usize = came.pieces.iter().map(|piece| piece.lines().filter(|line| *line == "y").count() * 2).sum();
    assert!(came.bytes.abs_diff(not_shown + said as u64) < 200, "{} is not {not_shown} and {said}", came.bytes);
    // The file holds the beginning, up to its limit.
    let saved = fs::metadata(came.saved.unwrap()).unwrap().len();
    assert!(saved <= limits::OUTPUT_FILE_BYTES && saved > 1_000_000, "{saved}");
}

/// Returns the numbers of the notes on what is not shown.
fn notes(pieces: &[String]) -> Vec<u64> {
    let lines = pieces.iter().flat_map(|piece| piece.lines());
    lines.filter_map(|line| line.strip_suffix(" bytes not shown]")?.strip_prefix('[')?.parse().ok()).collect()
}

#[tokio::test]
async fn a_line_without_end_is_cut_and_said() {
    let came = run("head -c 20000000 /dev/zero | tr '\\0' x", 100).await;
    let text = came.result.as_ref().unwrap();
    assert!(text.len() < limits::COMMAND_BYTES + 500, "{}", text.len());
    assert!(text.starts_with("xxx") && text.ends_with("xxx"));
    assert!(text.contains(" bytes left out; the whole output is in "), "{}", &text[15_000..15_600]);
    assert_eq!(came.bytes, 20_000_000);
    assert_eq!(fs::metadata(came.saved.as_ref().unwrap()).unwrap().len(), 20_000_000);
    let shown: usize = came.pieces.iter().map(String::len).sum();
    assert!(shown <= came.shown_at_most(), "{shown} bytes were shown");
}

#[tokio::test]
async fn more_than_a_file_takes_is_not_kept_and_that_is_said() {
    let came = run("head -c 80000000 /dev/zero | tr '\\0' 'x'; echo; echo the end", 100).await;
    let text = came.result.as_ref().unwrap();
    let kept = limits::OUTPUT_FILE_BYTES;
    let note =
        format!("; the first {kept} bytes of 80000009 are in {}, more is not kept]\n", came.saved.as_ref().unwrap());
    assert!(text.contains(&note), "{}", &text[15_000..15_600]);
    assert!(text.ends_with("\nthe end\n"));
    assert_eq!(fs::metadata(came.saved.as_ref().unwrap()).unwrap().len(), kept);
}

#[tokio::test]
async fn a_flood_of_tiny_writes_and_of_control_bytes_is_bounded_too() {
    let came = run("for i in {1..20000}; do printf '\\x1b[31m\\0\\xff'; done", 100).await;
    let text = came.result.as_ref().unwrap();
    assert!(text.len() < limits::COMMAND_BYTES + 500, "{}", text.len());
    assert_eq!(came.bytes, 40_000, "a colour is nothing");
    assert!(text.contains("␀\u{fffd}␀"));
    let came = run("for i in {1..20000}; do printf '\\rstep %s of 20000' $i; done; echo", 100).await;
    assert_eq!(came.result.unwrap(), "step 20000 of 20000\n");
}
