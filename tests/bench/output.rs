//! Output bombs in full size through the tool `bash`: peak memory of this process, throughput, and how long a task beside
//! it waits for its turn.
//!
//! `cargo bench --bench output` prints the figures. Memory comes from `/proc`, so it needs Linux. Arguments pick rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use steersman_base::message::Arguments;
use steersman_core::approval::{Answerer, Approvals, Mode, Policy};
use steersman_core::tool::{Outputs, Tool, ToolContext, ToolError, ToolReport};
use steersman_tools::BashTool;
use steersman_tools::workspace::{ChildEnvironment, Confinement, Sandbox, Spawner, Workspace};

fn main() {
    let picked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    println!(
        "{:<34} {:>9} {:>9} {:>12} {:>12} {:>10}",
        "output", "time", "peak RSS", "shown live", "to the model", "late (max)"
    );
    let rows = [
        ("3 GB in lines", "yes 'a line of an output that is much too long' | head -c 3000000000", 600),
        ("a line of 200 MB", "head -c 200000000 /dev/zero | tr '\\0' x", 600),
        ("yes for 10 s", "yes", 10),
        ("no text: 1 GB of noise", "head -c 1000000000 /dev/urandom", 600),
    ];
    for (name, command, timeout) in rows {
        if picked.is_empty() || picked.iter().any(|pick| name.contains(pick.as_str())) {
            row(name, command, timeout);
        }
    }
}

fn row(name: &str, command: &str, timeout: u64) {
    // As the program: one thread for the agent, its tools and their output.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Arc::new(Workspace::new(dir.path()).unwrap());
        let outputs = Arc::new(Outputs::new(dir.path()).unwrap());
        let environment = ChildEnvironment::new(std::env::vars_os(), &[] as &[&str], &[]);
        let program = env!("CARGO_BIN_EXE_steersman");
        let spawner = Arc::new(Spawner::new(program, Sandbox::none(), environment));
        let tool = BashTool::new(workspace, spawner, outputs, Confinement::default());
        let policy = Policy { answerer: Answerer::User, ..Policy::default() };
        let mut context = ToolContext::with_approvals(Arc::new(Approvals::new(policy, Mode::AutoWithoutSandbox)));
        let live = Arc::new(AtomicUsize::new(0));
        let counting = Arc::clone(&live);
        context.report = Arc::new(move |told| {
            if let ToolReport::Progress(piece) = told {
                counting.fetch_add(piece.len(), Ordering::Relaxed);
            }
        });
        let Value::Object(map) = json!({"command": command, "timeout": timeout}) else { unreachable!() };
        let checked = tool.spec().parameters.validate(&Arguments::Object(map)).unwrap();
        let late = tokio::spawn(lateness());
        let began = Instant::now();
        let call = tokio::spawn(async move { tool.execute(checked, &context).await });
        let text = match call.await.unwrap() {
            Ok(text) | Err(ToolError::Failed(text)) => text,
            Err(ToolError::Cancelled(_)) => unreachable!("nobody cancels it"),
        };
        let time = began.elapsed();
        late.abort();
        let worst = LATE.swap(0, Ordering::Relaxed);
        println!(
            "{name:<34} {:>7.1} s {:>5} MiB {:>8} KiB {:>8} KiB {:>7.1} ms",
            time.as_secs_f64(),
            peak_kib() / 1024,
            live.load(Ordering::Relaxed) / 1024,
            text.len() / 1024,
            Duration::from_micros(worst as u64).as_secs_f64() * 1_000.0,
        );
    });
}

/// Longest wait of a task beside the call, microseconds.
static LATE: AtomicUsize = AtomicUsize::new(0);

/// Asks for its turn every 5 ms on the thread of the call.
async fn lateness() {
    const STEP: Duration = Duration::from_millis(5);
    loop {
        let began = Instant::now();
        tokio::time::sleep(STEP).await;
        let late = began.elapsed().saturating_sub(STEP);
        LATE.fetch_max(usize::try_from(late.as_micros()).unwrap(), Ordering::Relaxed);
    }
}

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}
