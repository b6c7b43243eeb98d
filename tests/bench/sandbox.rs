//! What a sandbox costs a command itself, beside the same command without one: `cargo bench --bench sandbox`.
//!
//! The commands run one after the other by turns, under the guard that each has; printed are median, p99 and maximum.

use steersman_test_support as support;

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use steersman_base::protected::ProtectedPlaces;
use steersman_tools::workspace::sandbox::{SandboxChoice, Surroundings};
use steersman_tools::workspace::{ChildEnvironment, Confinement, Job, Sandbox, Spawner};
use support::figures::print;

/// Commands, and how often each runs.
const COMMANDS: [(&str, &str, usize); 5] = [
    ("nothing (true)", "true", 200),
    ("git status", "git status --short", 100),
    ("git commit", "echo x >> a && git commit -q -a -m more", 50),
    ("1,000 files made and removed", "for n in {1..1000}; do : > f$n; done; rm f*", 20),
    ("100,000 opens for reading", "for n in {1..100000}; do : < a; done", 5),
];

#[tokio::main(flavor = "multi_thread", worker_threads = 1)]
async fn main() {
    let dir = tempfile::tempdir().unwrap();
    let [home, work] = ["home", "work"].map(|name| dir.path().canonicalize().unwrap().join(name));
    std::fs::create_dir(&home).unwrap();
    std::fs::create_dir(&work).unwrap();
    let repository = "git init -q && git config user.name A && git config user.email a@example.com && git config gc.auto 0 && \
                      echo a > a && git add a && git commit -q -m one";
    assert!(
        Command::new("bash")
            .args(["-ec", repository])
            .current_dir(&work)
            .env("HOME", &home)
            .status()
            .unwrap()
            .success()
    );
    let path = OsString::from("/usr/local/bin:/usr/bin:/bin");
    let around = Surroundings {
        program: std::path::PathBuf::from(env!("CARGO_BIN_EXE_steersman")).into(),
        home: Some(home.clone()),
        path: path.clone(),
        writable: vec![work.clone()],
        protected: ProtectedPlaces::default(),
        hidden: Vec::new(),
    };
    let mut spawners = vec![("none", spawner(&around, Sandbox::none(), &home))];
    for (name, kind) in [
        ("namespaces", SandboxChoice::Namespaces),
        ("bubblewrap", SandboxChoice::Bubblewrap),
        ("landlock", SandboxChoice::Landlock),
    ] {
        match Sandbox::detect(kind, &around).await {
            Ok(sandbox) => spawners.push((name, spawner(&around, sandbox, &home))),
            Err(missing) => println!("{missing}"),
        }
    }
    for (what, command, rounds) in COMMANDS {
        let mut times = vec![Vec::new(); spawners.len()];
        for _ in 0..rounds {
            for ((_, spawner), times) in spawners.iter().zip(&mut times) {
                times.push(time(spawner, command, &work).await);
            }
        }
        for ((name, _), times) in spawners.iter().zip(times) {
            print(&format!("{what}, {name}"), times);
        }
    }
}

fn spawner(around: &Surroundings, sandbox: Sandbox, home: &Path) -> Spawner {
    let host = [("PATH".into(), around.path.clone()), ("HOME".into(), home.into())];
    let environment = ChildEnvironment::new(host, &[] as &[&str], &[]);
    Spawner::new(around.program.clone(), sandbox, environment)
}

/// Runs a command to its end.
async fn time(spawner: &Spawner, command: &str, work: &Path) -> Duration {
    let job = Job {
        argv: ["bash", "-c", command].map(Into::into).to_vec(),
        cwd: work.to_owned(),
        environment: Vec::new(),
        confinement: Confinement { writable: vec![work.to_owned()], ..Confinement::default() },
    };
    let began = Instant::now();
    let mut running = spawner.start(&job).unwrap();
    let mut buffer = [0; 4096];
    while running.read_output(&mut buffer).await.unwrap() > 0 {}
    let ended = running.ended().await;
    let took = began.elapsed();
    assert_eq!(ended.code, Some(0), "{command}");
    took
}
