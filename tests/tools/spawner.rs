//! The spawner and its guard: how jobs start, what they get, how they end.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use steersman_tools::workspace::{Ended, Failure, Job, Running};

use crate::support::processes::{alive, job, spawner, unique};
use crate::support::skip::{Need, skip};

async fn output(running: &mut Running) -> String {
    let mut all = Vec::new();
    let mut buffer = vec![0; 8192];
    loop {
        match running.read_output(&mut buffer).await.unwrap() {
            0 => return String::from_utf8_lossy(&all).into_owned(),
            read => all.extend_from_slice(&buffer[..read]),
        }
    }
}

async fn run(job: &Job) -> (String, Ended) {
    let mut running = spawner().start(job).unwrap();
    (output(&mut running).await, running.ended().await)
}

async fn bash(script: &str) -> (String, Ended) {
    run(&job(&["bash", "-c", script], &unique())).await
}

#[tokio::test]
async fn both_outputs_come_as_one_in_their_order_with_the_exit_code() {
    let (output, ended) = bash("echo one; echo two >&2; echo three; exit 7").await;
    assert_eq!(output, "one\ntwo\nthree\n");
    assert_eq!(ended, Ended { code: Some(7), ..Ended::default() });
}

#[tokio::test]
async fn a_signal_that_ends_a_job_is_told() {
    let (_, ended) = bash("kill -SEGV $$").await;
    assert_eq!(ended, Ended { signal: Some(11), ..Ended::default() });
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told_as_a_failure() {
    let (output, ended) = run(&job(&["no-such-program-here"], &unique())).await;
    assert_eq!(output, "");
    let Some(Failure::NotStarted(sentence)) = ended.failure else { panic!("{ended:?}") };
    assert!(sentence.starts_with("no-such-program-here cannot be started: "), "{sentence}");
}

#[tokio::test]
async fn a_directory_that_is_not_there_starts_nothing() {
    for cwd in ["/no/such/directory", "tmp", "/etc/passwd"] {
        let job = Job { cwd: cwd.into(), ..job(&["true"], "") };
        assert_eq!(spawner().start(&job).unwrap_err().kind(), std::io::ErrorKind::NotADirectory);
    }
}

#[tokio::test]
async fn standard_input_is_empty_and_there_is_no_terminal() {
    let (output, _) = bash(
        "wc -c; readlink /proc/self/fd/0; (: < /dev/tty) 2>/dev/null && echo terminal; cut -d' ' -f7 /proc/self/stat",
    )
    .await;
    assert_eq!(output, "0\n/dev/null\n0\n");
}

#[tokio::test]
async fn the_job_gets_no_descriptor_but_the_three() {
    let (output, _) = bash("ls /proc/$$/fd; true").await;
    assert_eq!(output, "0\n1\n2\n");
}

#[tokio::test]
async fn a_job_that_is_told_to_end_is_dead_at_once_and_counted() {
    let mark = unique();
    let mut running = spawner().start(&job(&["bash", "-c", "sleep 600 & sleep 600 & echo up; wait"], &mark)).unwrap();
    let mut buffer = [0; 16];
    assert_eq!(running.read_output(&mut buffer).await.unwrap(), 3);
    let began = Instant::now();
    running.kill();
    let ended = running.ended().await;
    assert!(began.elapsed() < Duration::from_mins(5), "{:?}", began.elapsed());
    assert_eq!((ended.signal, ended.killed, ended.left), (Some(15), 3, 0), "{ended:?}");
    assert_eq!(alive(&mark), [] as [&str; 0]);
}

/// Takes the descriptors of the guard away, and leaves processes that neither its session nor their environment shows.
const BLINDED: &str = r#"
prlimit --pid $PPID --nofile=0:0 || exit 9
(trap '' TERM; setsid sleep 600 & setsid env -i bash -c 'exec -a "$0" sleep 600' "$TEST_MARK" & setsid bash -c 'sleep 600; :' &)
sleep 600 &
"#;

#[tokio::test]
async fn a_guard_without_descriptors_still_ends_everything() {
    let mark = unique();
    let (output, ended) = run(&job(&["bash", "-c", &format!("{BLINDED} exit 3")], &mark)).await;
    assert_eq!((ended.code, ended.left, ended.failure.as_ref()), (Some(3), 0, None), "{ended:?}: {output}");
    assert!(ended.killed >= 4, "{ended:?}");
    assert_eq!(alive(&mark), [] as [&str; 0]);
}

#[tokio::test]
async fn a_guard_that_cannot_see_its_job_any_more_ends_it() {
    let mark = unique();
    let (output, ended) = run(&job(&["bash", "-c", &format!("{BLINDED} sleep 600")], &mark)).await;
    assert_eq!(ended.failure, Some(Failure::Unwatched), "{ended:?}: {output}");
    assert_eq!((ended.left, alive(&mark)), (0, Vec::new()), "{ended:?}");
}

#[tokio::test]
async fn a_guard_that_says_that_somebody_is_left_is_helped_by_the_host() {
    let mark = unique();
    // Deeper than a guard that sees nothing gets within its time, and each one in a session of its own.
    let deep =
        "d() { if (($1)); then setsid bash -c \"$(declare -f d); (d $(($1 - 1)); :)\"; else echo up; sleep 600; fi; }";
    let script = format!("prlimit --pid $PPID --nofile=0:0; trap '' TERM; {deep}; d 60 & wait");
    let mut running = spawner().start(&job(&["bash", "-c", &script], &mark)).unwrap();
    let mut buffer = [0; 16];
    assert_eq!(running.read_output(&mut buffer).await.unwrap(), 3);
    running.kill();
    let ended = running.ended().await;
    assert_eq!((ended.left, alive(&mark)), (0, Vec::new()), "{ended:?}");
}

#[tokio::test]
async fn no_signal_that_can_be_handled_ends_the_guard() {
    let signals = "HUP INT QUIT TERM USR1 USR2 ALRM VTALRM PROF XCPU XFSZ IO ABRT PIPE TSTP TTIN TTOU WINCH CHLD";
    let script =
        format!("prlimit --pid $PPID --fsize=0:0; for s in {signals}; do kill -$s $PPID; done; echo still; exit 4");
    let (output, ended) = bash(&script).await;
    assert_eq!((output.as_str(), ended), ("still\n", Ended { code: Some(4), ..Ended::default() }));
}

/// Runs a job under a guard of its own that sees these amounts of memory as those of the machine, in kB: available at
/// first, and once the job has taken its part, available and on disk. Returns the guard's word.
fn guarded_with_memory(first: u32, then: u32, swap: u32, last: &str) -> Option<Ended> {
    let directory = tempfile::tempdir().unwrap();
    let amounts = |available: u32, swap: u32| {
        format!("MemTotal: 8000000 kB\nMemAvailable: {available} kB\nSwapFree: {swap} kB\n")
    };
    for (name, text) in [("meminfo", amounts(first, 0)), ("low", amounts(then, swap))] {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    let script = r#"mount --bind meminfo /proc/meminfo && exec "$0" __guard 0 -- bash -c "cat low > meminfo; $1""#;
    let mut guard = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "bash", "-c", script])
        .args([crate::support::built_program().as_os_str(), last.as_ref()])
        .current_dir(directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let stdin = guard.stdin.take();
    let said = guard.wait_with_output().unwrap().stderr;
    drop(stdin);
    let said = String::from_utf8_lossy(&said).into_owned();
    let ended = serde_json::from_str(&said).ok();
    if ended.is_none() {
        skip(Need::of_program("unshare"), &said);
    }
    ended
}

#[test]
fn a_job_that_takes_the_last_memory_of_the_machine_where_no_process_has_it_is_ended() {
    if let Some(ended) = guarded_with_memory(6_000_000, 300_000, 0, "sleep 600") {
        assert_eq!((ended.failure, ended.left), (Some(Failure::MachineOutOfMemory), 0));
    }
    // Nothing is taken that was not there before, and what is on disk is memory too.
    for (first, then, swap) in [(300_000, 290_000, 0), (6_000_000, 300_000, 2_000_000)] {
        if let Some(ended) = guarded_with_memory(first, then, swap, "sleep 2; exit 5") {
            assert_eq!(ended, Ended { code: Some(5), ..Ended::default() });
        }
    }
}

#[tokio::test]
async fn a_job_that_takes_too_much_memory_in_many_processes_is_ended() {
    let mark = unique();
    let script = "for i in {1..20}; do (x=$(head -c 40000000 /dev/zero | tr '\\0' x); sleep 600) & done; wait";
    let most = 400_000_000;
    let mut running = spawner().start_within(&job(&["bash", "-c", script], &mark), Some(most)).unwrap();
    output(&mut running).await;
    assert_eq!(running.ended().await.failure, Some(Failure::TooMuchMemory(most)));
    assert_eq!(alive(&mark), [] as [&str; 0]);
    // What ends all the time keeps nobody from looking.
    let script = "for i in {1..30}; do (while :; do (sleep 0.05 &); sleep 0.05; done) & done
        for i in {1..20}; do (x=$(head -c 40000000 /dev/zero | tr '\\0' x); echo; sleep 600; :) & done | head -n 20
        sleep 30; exit 5";
    let mut running = spawner().start_within(&job(&["bash", "-c", script], &mark), Some(most)).unwrap();
    output(&mut running).await;
    assert_eq!(running.ended().await.failure, Some(Failure::TooMuchMemory(most)));
    // What processes share counts once.
    let script = "x=$(head -c 80000000 /dev/zero | tr '\\0' x); for i in {1..20}; do (sleep 4; :) & done; wait; exit 5";
    let mut running = spawner().start_within(&job(&["bash", "-c", script], &mark), Some(most)).unwrap();
    output(&mut running).await;
    assert_eq!(running.ended().await, Ended { code: Some(5), ..Ended::default() });
}
