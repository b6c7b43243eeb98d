//! Questions of agents to the user: calls that wait for answers, answers that come as texts, and what ends a question.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use steersman_base::event::{Event, TakenBack};
use steersman_base::id::AgentId;
use steersman_base::protocol::{Answer, ApprovalSubject, answer_of};
use steersman_core::approval::{Answerer, ApprovalId, Mode, Policy};
use steersman_core::provider::Played;
use steersman_session::host::{self, Command, Host, LastRun, Setup};
use steersman_session::journal::{read_records, restore};
use tempfile::TempDir;

use crate::support::bench::setup;
use crate::support::doubles::{Pause, PlayedExt, Rig, settle, within};
use crate::support::journals::{Disk, journal};

/// Longest time for the worker to do what it is told; on a busy machine it has to share.
const PATIENCE: Duration = Duration::from_mins(1);

struct Session {
    rig: Rig,
    host: Host,
    _dir: TempDir,
}

/// Starts a host whose main agent plays this script, with a user who answers.
fn launch(script: impl IntoIterator<Item = Played>) -> Session {
    launch_with(script, |setup| {
        let policy = Policy { answerer: Answerer::User, ..setup.policy.clone() };
        Setup { policy, mode: Mode::Ask, ..setup }
    })
}

fn launch_with(script: impl IntoIterator<Item = Played>, change: impl FnOnce(Setup) -> Setup) -> Session {
    let (rig, dir) = (Rig::new(script), TempDir::new().unwrap());
    let host = host::start(&tokio::runtime::Handle::current(), change(setup(&rig, &dir)));
    Session { rig, host, _dir: dir }
}

impl Session {
    fn send(&self, text: &str) {
        self.host.handle().inject_user_message(&AgentId::main(), text).unwrap();
    }

    async fn settled(&mut self) -> LastRun {
        within(PATIENCE, "the host settles", self.host.settled()).await.unwrap()
    }

    /// Waits until so many questions are open; returns their numbers and texts.
    async fn open(&self, count: usize) -> Vec<(ApprovalId, String)> {
        let open = || -> Vec<(ApprovalId, String)> {
            let question = |open: steersman_core::approval::ApprovalRequest| match open.subject {
                ApprovalSubject::AgentQuestion { question } => (open.id, question.text),
                other => panic!("a question of an agent, not {other:?}"),
            };
            self.host.handle().approvals().open().into_iter().map(question).collect()
        };
        let wait = async {
            while open().len() != count {
                settle().await;
            }
        };
        within(PATIENCE, "the questions are open", wait).await;
        open()
    }

    fn answer(&self, id: ApprovalId, answer: &str) {
        let answer = Answer::Filled(answer_of([answer.to_owned()]));
        assert!(self.host.handle().approvals().answer(id, answer));
    }

    /// Returns the messages of a request behind its system prompt and its first text.
    fn asked(&self, request: usize) -> Vec<String> {
        self.rig.requests()[request].lines()[2..].to_vec()
    }

    /// Returns the answers to questions that the events tell.
    fn answers(&self) -> Vec<String> {
        let answer = |event| if let Event::Answer { answer, .. } = event { Some(answer) } else { None };
        self.rig.recorder.envelopes().into_iter().filter_map(|envelope| answer(envelope.event)).collect()
    }
}

/// Plays a call of the tool with one question.
fn asks(question: &Value, rest: &Value) -> Played {
    let mut arguments = json!({"questions": [question]});
    arguments.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    Played::calls(&[("c1", "ask_user", arguments.to_string().as_str())])
}

fn database() -> Value {
    json!({"question": "Which database?", "options": [{"label": "SQLite"}, {"label": "Postgres"}], "default": "SQLite"})
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_ends_with_the_answer() {
    for (answer, told) in [
        (Answer::Filled(answer_of(["Postgres".to_owned()])), "Postgres"),
        (Answer::Filled(answer_of(["MariaDB".to_owned()])), "MariaDB"),
        // A plain yes is the default.
        (Answer::Once, "SQLite"),
        (Answer::No(None), "declined: decide yourself"),
        (Answer::No(Some("ask Ann".to_owned())), "declined, and the user says: ask Ann"),
    ] {
        let mut session = launch([asks(&database(), &json!({})), Played::text("Done.")]);
        session.send("Go.");
        let open = session.open(1).await;
        assert_eq!(open[0].1, "Which database?");
        assert!(session.host.handle().approvals().answer(open[0].0, answer));
        assert_eq!(session.settled().await, LastRun::Answered);
        assert_eq!(session.asked(1)[1..], [format!("tool#c1: {told}")]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_does_not_fit_answers_nothing() {
    let several = json!({"question": "Which?", "options": [{"label": "a"}, {"label": "b"}], "several": true});
    let mut session = launch([asks(&several, &json!({})), Played::text("Done.")]);
    session.send("Go.");
    let id = session.open(1).await[0].0;
    let approvals = session.host.handle().approvals().clone();
    let refused = approvals.try_answer(id, Answer::Once).unwrap_err().to_string();
    assert_eq!(refused, "not sent: yes is no answer to this question");
    let empty = approvals.try_answer(id, Answer::Filled(serde_json::Map::new())).unwrap_err().to_string();
    assert_eq!(empty, "not sent: `answer` must be a text or a list of texts");
    assert!(approvals.answer(id, Answer::Filled(answer_of(["b".to_owned(), "a".to_owned()]))));
    session.settled().await;
    assert_eq!(session.asked(1)[1], "tool#c1: b, a");
}

#[tokio::test(start_paused = true)]
async fn questions_of_one_call_are_answered_in_any_order() {
    let questions = json!({"questions": [{"question": "One?"}, {"question": "Two?"}]}).to_string();
    let mut session = launch([Played::calls(&[("c1", "ask_user", questions.as_str())]), Played::text("Done.")]);
    session.send("Go.");
    let open = session.open(2).await;
    session.answer(open[1].0, "second");
    settle().await;
    assert_eq!(session.rig.requests().len(), 1, "it waits for both");
    session.answer(open[0].0, "first");
    session.settled().await;
    assert_eq!(session.asked(1)[1], "tool#c1: One?\n→ first\n\nTwo?\n→ second");
}

#[tokio::test(start_paused = true)]
async fn the_default_counts_after_its_time_and_where_nobody_is_there() {
    let mut session = launch([asks(&database(), &json!({"default_after": 20})), Played::text("Done.")]);
    session.send("Go.");
    session.settled().await;
    assert_eq!(session.asked(1)[1], "tool#c1: SQLite (nobody answered: this is the default)");
    assert_eq!(session.answers(), ["withdrawn"]);

    let open_question = json!({"question": "Which name?"});
    for (question, wait, told) in [
        (database(), true, "SQLite (nobody answered: this is the default)"),
        (
            open_question.clone(),
            true,
            "nobody is there to answer: decide yourself, and say in your answer what you assumed",
        ),
        (open_question, false, "nobody is there to answer: decide yourself, and say in your answer what you assumed"),
    ] {
        let mut alone = launch_with([asks(&question, &json!({"wait": wait})), Played::text("Done.")], |setup| setup);
        alone.send("Go.");
        alone.settled().await;
        assert_eq!(alone.asked(1)[1], format!("tool#c1: {told}"));
    }
}

#[tokio::test(start_paused = true)]
async fn the_answer_to_a_question_that_nobody_waits_for_enters_as_a_text() {
    let writes = Pause::new();
    let script = [
        asks(&database(), &json!({"wait": false})),
        Played::calls(&[("c2", "calculator", r#"{"expression": "1+1"}"#)]).paused(&writes),
        Played::text("Done."),
    ];
    let mut session = launch(script);
    session.send("Go.");
    writes.reached().await;
    let asked = session.asked(1)[1].clone();
    assert!(asked.starts_with("tool#c1: Asked. Each answer comes to you as a message of the user"), "{asked}");
    let id = session.open(1).await[0].0;
    session.answer(id, "Postgres");
    let wait = async {
        while session.host.handle().interloper().peek().is_empty() {
            settle().await;
        }
    };
    within(PATIENCE, "the answer waits in the list", wait).await;
    assert_eq!(
        session.host.handle().interloper().peek()[0].text,
        "My answer to your question \"Which database?\": Postgres"
    );
    writes.open();
    session.settled().await;
    assert_eq!(session.asked(2).last().unwrap(), "user: My answer to your question \"Which database?\": Postgres");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_when_no_turn_runs_starts_one() {
    let script = [asks(&database(), &json!({"wait": false})), Played::text("I go on."), Played::text("Noted.")];
    let mut session = launch(script);
    session.send("Go.");
    session.settled().await;
    let id = session.open(1).await[0].0;
    assert!(session.host.handle().approvals().answer(id, Answer::No(Some("both".to_owned()))));
    let wait = async {
        while session.rig.requests().len() < 3 {
            settle().await;
        }
    };
    within(PATIENCE, "a turn starts", wait).await;
    session.settled().await;
    let told = session.asked(2);
    assert_eq!(told.last().unwrap(), "user: I do not answer your question \"Which database?\": both");
}

#[tokio::test(start_paused = true)]
async fn a_text_of_the_user_ends_the_wait_and_the_question_stays_open() {
    let script = [asks(&database(), &json!({})), Played::text("It is a store."), Played::text("Postgres then.")];
    let mut session = launch(script);
    session.send("Go.");
    let id = session.open(1).await[0].0;
    session.send("what is a database?");
    session.settled().await;
    let told = session.asked(1);
    let open = "not answered yet: the question stays open, and its answer will come to you as a message";
    assert_eq!(told[1], format!("tool#c1: [a text of the user came first]\n{open}"));
    assert_eq!(told[2], "user: what is a database?");
    session.answer(id, "Postgres");
    let wait = async {
        while session.rig.requests().len() < 3 {
            settle().await;
        }
    };
    within(PATIENCE, "a turn starts", wait).await;
    session.settled().await;
    assert!(session.asked(2).last().unwrap().ends_with("Postgres"));
    assert_eq!(session.answers(), ["filled"]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_withdraws_what_a_call_waits_for() {
    let mut session = launch([asks(&database(), &json!({}))]);
    session.send("Go.");
    session.open(1).await;
    session.host.handle().stop();
    assert_eq!(session.settled().await, LastRun::Cancelled);
    session.open(0).await;
    assert_eq!(session.answers(), ["withdrawn"]);
}

#[tokio::test(start_paused = true)]
async fn a_new_conversation_withdraws_its_questions() {
    let mut session = launch([asks(&database(), &json!({"wait": false})), Played::text("I go on.")]);
    session.send("Go.");
    session.settled().await;
    session.open(1).await;
    session.host.handle().request(Command::Reset);
    session.open(0).await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_the_queue_refuses_is_asked_for_again() {
    let script = [asks(&database(), &json!({"wait": false})), Played::text("I go on."), Played::text("Noted.")];
    let mut session = launch(script);
    session.send("Go.");
    session.settled().await;
    let id = session.open(1).await[0].0;
    let handle = session.host.handle().clone();
    handle.interloper().pause();
    for number in 0..steersman_base::limits::PENDING_ENTRIES {
        let text =
            steersman_base::event::UserText::from((format!("{number}"), steersman_base::steering::TextKind::Note));
        handle.inject_user_message(&AgentId::main(), text).unwrap();
    }
    session.answer(id, "Postgres");
    let again = async {
        while session.host.handle().approvals().open().first().is_none_or(|open| open.id == id) {
            settle().await;
        }
    };
    within(PATIENCE, "it is asked again", again).await;
    for entry in handle.interloper().peek() {
        handle.interloper().withdraw(&entry.id);
        handle.keep_taken_back(vec![entry.id], TakenBack::Removed);
    }
    let id = session.open(1).await[0].0;
    session.answer(id, "Postgres");
    let wait = async {
        while handle.interloper().peek().is_empty() && session.rig.requests().len() < 3 {
            settle().await;
        }
    };
    within(PATIENCE, "the answer is taken", wait).await;
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_waits_for_is_asked_again_by_a_session_that_goes_on() {
    let disk = Disk::default();
    let journal = journal(&disk);
    let listener = journal.clone();
    let two = json!({"questions": [database(), {"question": "Which name?"}], "wait": false}).to_string();
    let mut session = launch_with(
        [Played::calls(&[("c1", "ask_user", two.as_str())]), Played::text("I go on."), Played::text("Noted.")],
        |mut setup| {
            setup.policy.answerer = Answerer::User;
            setup.listeners.push(Arc::new(listener));
            setup
        },
    );
    session.send("Go.");
    session.settled().await;
    let open = session.open(2).await;
    assert!(session.host.handle().approvals().answer(open[1].0, Answer::No(None)), "the other one is settled");
    let noted = async {
        while session.rig.requests().len() < 3 {
            settle().await;
        }
    };
    within(PATIENCE, "the model is told", noted).await;
    session.settled().await;
    session.open(1).await;
    settle().await;
    journal.close();
    let resumed = restore(read_records(disk.bytes().as_slice()).unwrap().records);
    assert_eq!(resumed.questions.len(), 1);

    let mut session = launch_with([Played::text("Postgres it is.")], |setup| {
        let policy = Policy { answerer: Answerer::User, ..setup.policy.clone() };
        Setup { policy, resumed: Some(Box::new(resumed)), ..setup }
    });
    let open = session.open(1).await;
    assert_eq!(open[0].1, "Which database?");
    assert_eq!(session.rig.requests().len(), 0, "nothing is sent by itself");
    session.answer(open[0].0, "Postgres");
    let wait = async {
        while session.rig.requests().is_empty() {
            settle().await;
        }
    };
    within(PATIENCE, "the answer starts a turn", wait).await;
    session.settled().await;
    let told = session.rig.requests()[0].lines();
    assert_eq!(told.last().unwrap(), "user: My answer to your question \"Which database?\": Postgres");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_cannot_be_asked_says_why() {
    let long = "x".repeat(81);
    for (arguments, why) in [
        (json!({"questions": []}), "`questions` must hold one to 4 questions, not 0"),
        (json!({"questions": [{"question": " "}]}), "a question must have 1 to 2000 characters"),
        (
            json!({"questions": [{"question": "a", "options": [{"label": long}]}]}),
            "the label of an option must have 1 to 80 characters",
        ),
        (
            json!({"questions": [{"question": "a", "options": [{"label": "b"}, {"label": "b"}]}]}),
            "the option b is there twice",
        ),
        (
            json!({"questions": [{"question": "a", "options": [{"label": "b"}], "default": "c"}]}),
            "`default` must be one of the labels, not c",
        ),
        (json!({"questions": [{"question": "a"}], "default_after": 0}), "`default_after` must be 1 to 86400 seconds"),
    ] {
        let call = Played::calls(&[("c1", "ask_user", arguments.to_string().as_str())]);
        let mut session = launch([call, Played::text("Done.")]);
        session.send("Go.");
        session.settled().await;
        assert_eq!(session.asked(1)[1], format!("tool#c1: Error: {why}"));
    }
}
