//! Jobs that are talked to: an input, an output and an error output of their own, under the same guard.

use std::time::Duration;

use steersman_tools::workspace::{Ended, Placement, TalkingJob};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::processes::{alive, job, spawner, unique, wait_until};

fn talking(script: &str, mark: &str) -> TalkingJob {
    spawner().start_talking(&job(&["bash", "-c", script], mark), Placement::Sandboxed, &std::env::temp_dir()).unwrap()
}

async fn output(job: &mut TalkingJob) -> String {
    let mut all = Vec::new();
    let mut buffer = vec![0; 8192];
    loop {
        match job.running.read_output(&mut buffer).await.unwrap() {
            0 => return String::from_utf8_lossy(&all).into_owned(),
            read => all.extend_from_slice(&buffer[..read]),
        }
    }
}

#[tokio::test]
async fn a_job_that_is_talked_to_reads_answers_and_complains_on_three_streams() {
    let mut job = talking("while read -r line; do echo \"got $line\"; echo \"saw $line\" >&2; done", &unique());
    job.input.write_all(b"one\ntwo\n").await.unwrap();
    let mut buffer = vec![0; 16];
    let mut first = Vec::new();
    while first.len() < 16 {
        let read = job.running.read_output(&mut buffer).await.unwrap();
        first.extend_from_slice(&buffer[..read]);
    }
    assert_eq!(String::from_utf8_lossy(&first), "got one\ngot two\n");
    // The end of the input ends it by itself.
    drop(job.input);
    let mut errors = String::new();
    job.errors.read_to_string(&mut errors).await.unwrap();
    assert_eq!(errors, "saw one\nsaw two\n");
    assert_eq!(job.running.ended().await, Ended { code: Some(0), ..Ended::default() });
}

#[tokio::test]
async fn a_job_that_is_talked_to_has_three_descriptors_as_any_other() {
    let mut job = talking("ls /proc/$$/fd; true", &unique());
    assert_eq!(output(&mut job).await, "0\n1\n2\n");
}

#[tokio::test]
async fn a_job_that_is_talked_to_is_dead_with_everything_it_started_when_it_is_dropped() {
    let mark = unique();
    let mut job = talking("trap '' TERM; sleep 600 & setsid sleep 600 & echo up; sleep 600", &mark);
    let mut buffer = [0; 16];
    assert_eq!(job.running.read_output(&mut buffer).await.unwrap(), 3);
    drop(job);
    wait_until("the job is dead", Duration::from_mins(5), || alive(&mark).is_empty()).await;
}

#[tokio::test]
async fn a_program_that_cannot_be_talked_to_is_told_as_a_failure() {
    let missing = job(&["no-such-program-here"], "");
    let error = spawner().start_talking(&missing, Placement::Sandboxed, &std::env::temp_dir()).unwrap_err();
    assert_eq!(error.to_string(), "no-such-program-here is not installed");
}
