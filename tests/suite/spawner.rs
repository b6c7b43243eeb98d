//! The spawner and its guard: how jobs start, what they get, how they end.

use std::time::{Duration, Instant};

use steersman::workspace::{Ended, Failure, Job, Running};

use crate::support::processes::{alive, job, spawner, unique};

async fn output(running: &mut Running) -> String {
    let mut all = Vec::new();
    let mut buffer = vec![0; 8192];
    loop {
        match running.read(&mut buffer).await.unwrap() {
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
    assert_eq!(running.read(&mut buffer).await.unwrap(), 3);
    let began = Instant::now();
    running.kill();
    let ended = running.ended().await;
    assert!(began.elapsed() < Duration::from_secs(2));
    assert_eq!((ended.signal, ended.killed, ended.left), (Some(15), 3, 0), "{ended:?}");
    assert_eq!(alive(&mark), [] as [&str; 0]);
}
