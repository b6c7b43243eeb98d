//! Processes that a test started, found through `/proc` by a word in their environment or arguments.

use std::sync::Arc;
use std::time::{Duration, Instant};

use steersman_tools::workspace::{ChildEnvironment, Confinement, Job, Sandbox, Spawner};

/// Makes a spawner of the built program, without a sandbox.
pub fn spawner() -> Arc<Spawner> {
    let environment = ChildEnvironment::new(std::env::vars_os(), &[] as &[&str], &[]);
    Arc::new(Spawner::new(crate::built_program(), Sandbox::none(), environment))
}

/// Makes a job of a program and its arguments.
pub fn job(argv: &[&str], mark: &str) -> Job {
    Job {
        argv: argv.iter().map(Into::into).collect(),
        cwd: std::env::temp_dir(),
        environment: vec![("TEST_MARK".into(), mark.into())],
        confinement: Confinement::default(),
    }
}

/// Returns a word that no other process knows.
pub fn unique() -> String {
    format!("{:016x}{:016x}", getrandom::u64().unwrap(), getrandom::u64().unwrap())
}

/// Returns the living processes (as number and command line) with the word in their environment or arguments.
pub fn alive(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().filter_map(Result::ok) {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        let command = read("cmdline");
        let holds = |bytes: &[u8]| bytes.windows(mark.len()).any(|window| window == mark.as_bytes());
        let is_dead =
            String::from_utf8_lossy(&read("stat")).rsplit(')').next().is_none_or(|rest| rest.starts_with(" Z"));
        if pid != std::process::id() && !is_dead && (holds(&command) || holds(&read("environ"))) {
            found.push(format!("{pid} {}", String::from_utf8_lossy(&command).replace('\0', " ")));
        }
    }
    found
}

/// Waits until no such process is left; panics with those that are.
#[track_caller]
pub fn wait_dead(mark: &str, limit: Duration) {
    let deadline = Instant::now() + limit;
    while !alive(mark).is_empty() {
        assert!(Instant::now() < deadline, "they live on: {:?}", alive(mark));
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Waits until something is so; panics with what was waited for.
pub async fn wait_until(what: &str, limit: Duration, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < limit, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
