//! A server that asks to wait longer than anybody should unasked: the question, the wait, and its ends.

use std::sync::Arc;
use std::time::Duration;

use steersman_base::event::Event;
use steersman_base::mode::Mode;
use steersman_core::approval::{Answer, Answerer, ApprovalSubject, Approvals, Policy};
use steersman_core::provider::{Played, ProviderError};

use crate::support::doubles::{Rig, run, settle, within};

const ELEVEN_DAYS: u64 = 999_999_000;

fn asks_to_wait() -> Played {
    let error = ProviderError::AsksToWait { wait_ms: ELEVEN_DAYS, message: "slow down".to_owned() };
    Played::error(error)
}

fn desk(answerer: Answerer) -> Arc<Approvals> {
    let approvals = Arc::new(Approvals::default());
    approvals.configure(Policy { answerer, ..Policy::default() }, Mode::Ask);
    approvals
}

/// Waits for the question and answers it.
async fn answer(approvals: &Approvals, answer: Answer) {
    let open = within(Duration::from_hours(1_000), "the question is asked", async {
        loop {
            if let Some(open) = approvals.open().pop() {
                return open;
            }
            tokio::time::sleep(Duration::from_mins(10)).await;
        }
    });
    let request = open.await;
    let ApprovalSubject::Plain { title, detail } = &request.subject else { panic!("{request:?}") };
    assert_eq!(
        (title.as_str(), detail.as_str()),
        ("wait 11 days for the server?", "  the server says:\n    | slow down")
    );
    assert!(approvals.answer(request.id, answer));
}

fn waits(rig: &Rig) -> Vec<(u32, u64, String)> {
    let wait = |event: Event| match event {
        Event::Retrying { attempt, after_ms, reason } => Some((attempt, after_ms, reason)),
        _ => None,
    };
    rig.events().into_iter().filter_map(wait).collect()
}

#[tokio::test(start_paused = true)]
async fn a_yes_waits_visibly_and_asks_again() {
    let rig = Rig::new([asks_to_wait(), asks_to_wait(), Played::text("At last.")]);
    let approvals = desk(Answerer::User);
    let agent = rig.build(rig.builder().approvals(Arc::clone(&approvals)), []).await;
    let started = tokio::time::Instant::now();
    let turn = tokio::spawn(async move {
        let mut agent = agent;
        agent.run_loop("Hello?").await.unwrap();
        agent
    });
    answer(&approvals, Answer::Once).await;
    answer(&approvals, Answer::Once).await;
    let agent = turn.await.unwrap();
    assert_eq!(agent.last_assistant_content(), Some("At last."));
    assert!(started.elapsed() >= Duration::from_millis(2 * ELEVEN_DAYS));
    let wait = |attempt| (attempt, ELEVEN_DAYS, "slow down".to_owned());
    assert_eq!(waits(&rig), [wait(2), wait(3)]);
    assert_eq!(rig.requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_no_and_nobody_there_fail_with_the_servers_words_and_the_next_turn_works() {
    for answerer in [Answerer::User, Answerer::Nobody, Answerer::Yes] {
        let rig = Rig::new([asks_to_wait(), Played::text("Fine now.")]);
        let approvals = desk(answerer);
        let agent = rig.build(rig.builder().approvals(Arc::clone(&approvals)), []).await;
        let turn = run(agent, "Hello?");
        if answerer == Answerer::User {
            answer(&approvals, Answer::No(None)).await;
        }
        let (agent, sentence) = turn.failed().await;
        assert_eq!(sentence, "the server asks to wait 11 days: slow down");
        assert_eq!((waits(&rig).len(), approvals.open().len()), (0, 0));
        assert_eq!(run(agent, "And now?").answered().await.last_assistant_content(), Some("Fine now."));
    }
}

#[tokio::test(start_paused = true)]
async fn esc_ends_the_question_and_the_wait() {
    for agreed in [false, true] {
        let rig = Rig::new([asks_to_wait(), Played::text("Fine now.")]);
        let approvals = desk(Answerer::User);
        let agent = rig.build(rig.builder().approvals(Arc::clone(&approvals)), []).await;
        let turn = run(agent, "Hello?");
        if agreed {
            answer(&approvals, Answer::Once).await;
        }
        settle().await;
        rig.cancellable.cancel();
        let agent = turn.cancelled().await;
        assert_eq!(approvals.open(), []);
        assert_eq!(run(agent, "And now?").answered().await.last_assistant_content(), Some("Fine now."));
    }
}
