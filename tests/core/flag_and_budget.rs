//! Stories of the cancel flag and the step budget, by themselves (2.9, D9).

use std::thread;
use std::time::Duration;

use steersman_base::error::{Cancelled, Exceeded};
use steersman_core::control::{Cancellable, OnExhausted, StepLimit};

#[test]
fn a_cancel_is_seen_by_every_clone_until_it_is_cleared() {
    let cancel = Cancellable::new();
    let clone = cancel.clone();
    assert_eq!(clone.check(), Ok(()));
    cancel.cancel();
    cancel.cancel();
    assert!(clone.is_cancelled());
    assert_eq!(clone.check(), Err(Cancelled));
    clone.reset();
    assert_eq!(cancel.check(), Ok(()));
    assert_eq!(Cancelled.to_string(), "cancelled");
}

#[tokio::test]
async fn a_wait_for_a_cancel_that_came_before_returns_at_once() {
    let cancel = Cancellable::new();
    cancel.cancel();
    cancel.cancelled().await;
}

#[tokio::test(start_paused = true)]
async fn a_wait_without_a_cancel_goes_on() {
    let cancel = Cancellable::new();
    assert!(tokio::time::timeout(Duration::from_hours(1), cancel.cancelled()).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_wakes_every_wait_whenever_it_comes() {
    for _ in 0..200 {
        let cancel = Cancellable::new();
        let waits: Vec<_> = (0..4)
            .map(|_| {
                let cancel = cancel.clone();
                tokio::spawn(async move { cancel.cancelled().await })
            })
            .collect();
        thread::spawn(move || cancel.cancel());
        for wait in waits {
            wait.await.unwrap();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_flag_of_a_part_is_set_with_the_whole_and_by_itself_without_it() {
    let whole = Cancellable::new();
    let (one, other) = (whole.child(), whole.child());
    let below = one.child();
    one.cancel();
    assert!(one.is_cancelled() && below.is_cancelled());
    assert_eq!(below.check(), Err(Cancelled));
    below.cancelled().await;
    assert!(!whole.is_cancelled() && !other.is_cancelled());
    assert!(tokio::time::timeout(Duration::from_hours(1), other.cancelled()).await.is_err());

    whole.cancel();
    assert!(other.is_cancelled());
    other.cancelled().await;
    one.reset();
    assert!(one.is_cancelled(), "a part cannot clear the flag of the whole");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_of_the_whole_wakes_the_waits_of_its_parts() {
    for _ in 0..200 {
        let whole = Cancellable::new();
        let waits: Vec<_> = [whole.child(), whole.child().child()]
            .map(|part| tokio::spawn(async move { part.cancelled().await }))
            .into();
        thread::spawn(move || whole.cancel());
        for wait in waits {
            wait.await.unwrap();
        }
    }
}

// --- the step budget (2.9)

#[test]
fn a_budget_of_n_lets_n_calls_run_and_trips_at_the_next() {
    let limit = StepLimit::new(3).unwrap();
    for call in 1..=3 {
        assert_eq!(limit.tick(), Ok(()), "call {call}");
    }
    assert_eq!(limit.tick(), Err(Exceeded { max_steps: 3 }));
    assert_eq!(limit.tick(), Err(Exceeded { max_steps: 3 }));
    assert_eq!(Exceeded { max_steps: 3 }.to_string(), "agent exhausted 3 steps");
}

#[test]
fn a_clone_of_a_budget_reads_the_count_of_the_running_turn_from_any_thread() {
    let limit = StepLimit::new(3).unwrap();
    let kept = limit.clone();
    limit.tick().unwrap();
    limit.tick().unwrap();
    assert_eq!(std::thread::spawn(move || (kept.step(), kept.left())).join().unwrap(), (2, 1));
}

#[test]
fn a_budget_counts_from_nothing_again_after_a_reset() {
    let limit = StepLimit::new(1).unwrap();
    assert_eq!((limit.max(), limit.step()), (1, 0));
    limit.tick().unwrap();
    assert_eq!(limit.step(), 1);
    limit.reset();
    assert_eq!(limit.step(), 0);
    assert_eq!(limit.tick(), Ok(()));
}

#[test]
fn a_budget_of_nothing_is_refused() {
    assert_eq!(StepLimit::new(0).unwrap_err().to_string(), "the step limit must be greater than 0");
}

#[test]
fn an_exhausted_budget_leads_to_a_rescue_unless_told_otherwise() {
    let limit = StepLimit::new(1).unwrap();
    assert_eq!(limit.exhausted_action(), OnExhausted::Synthesize);
    assert_eq!(limit.on_exhausted(OnExhausted::Fail).exhausted_action(), OnExhausted::Fail);
}
