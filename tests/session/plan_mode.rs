//! Stories of the mode in which a plan is accepted before anything is changed.

use std::fs;
use std::time::Duration;

use steersman_base::event::{Delivery, Event};
use steersman_base::id::AgentId;
use steersman_base::plan::PlanNews;
use steersman_base::steering::Framing;
use steersman_core::approval::{Answer, Answerer, ApprovalSubject, Mode, Policy};
use steersman_core::provider::Played;
use steersman_session::host::{self, Host, LastRun};
use tempfile::TempDir;

use crate::support::bench::setup;
use crate::support::doubles::{Rig, within};
use crate::support::framed::user_texts;
use crate::support::plans::writes;
use crate::support::subagents::spawns;

const PATIENCE: Duration = Duration::from_mins(1);

/// A host in plan mode, with the real tools in a directory of its own.
struct Ship {
    rig: Rig,
    host: Host,
    dir: TempDir,
}

fn launch(answerer: Answerer, script: impl IntoIterator<Item = Played>) -> Ship {
    let (rig, dir) = (Rig::new(script), TempDir::new().unwrap());
    let setup = setup(&rig, &dir);
    let policy = Policy { answerer, ..setup.policy.clone() };
    let setup = host::Setup { framing: Framing::Framed, mode: Mode::Plan, policy, ..setup };
    let host = host::start(&tokio::runtime::Handle::current(), setup);
    Ship { rig, host, dir }
}

impl Ship {
    fn send(&self, text: &str) {
        self.host.handle().inject_user_message(&AgentId::main(), (text, Delivery::Steer)).unwrap();
    }

    async fn settled(&mut self) -> LastRun {
        within(PATIENCE, "the host settles", self.host.settled()).await.unwrap()
    }

    /// Waits for the question about the plan and answers it.
    async fn answer(&self, answer: Answer) {
        let approvals = self.host.handle().approvals().clone();
        let asked = async {
            loop {
                if let Some(request) = approvals.open().pop() {
                    return request;
                }
                tokio::task::yield_now().await;
            }
        };
        let request = within(PATIENCE, "the plan is asked about", asked).await;
        assert!(matches!(&request.subject, ApprovalSubject::Plan { plan } if plan.steps.len() == 1), "{request:?}");
        assert_eq!(request.asker.unwrap().agent, AgentId::main());
        approvals.try_answer(request.id, answer).unwrap();
    }

    fn results(&self) -> Vec<String> {
        let results = self.rig.events().into_iter().filter_map(|event| match event {
            Event::ToolResult { content, .. } => Some(content),
            _ => None,
        });
        results.collect()
    }

    fn news(&self) -> Vec<PlanNews> {
        let told = self.rig.events().into_iter().filter_map(|event| match event {
            Event::PlanNotified(told) => Some(told.news),
            _ => None,
        });
        told.collect()
    }

    fn mode(&self) -> Mode {
        self.host.handle().approvals().mode()
    }
}

fn write(id: &str) -> Played {
    Played::calls(&[(id, "write", r#"{"path": "a.txt", "content": "x"}"#)])
}

fn submit(id: &str) -> Played {
    Played::calls(&[(id, "plan", r#"{"steps": [{"text": "write a.txt", "state": "pending"}], "submit": true}"#)])
}

#[tokio::test]
async fn nothing_is_written_before_the_plan_is_accepted_and_accepting_chooses_the_mode_to_go_on_with() {
    let mut ship = launch(
        Answerer::User,
        [
            write("w1"),
            Played::calls(&[("b1", "bash", r#"{"command": "touch b.txt"}"#)]),
            submit("p1"),
            write("w2"),
            Played::text("Done."),
        ],
    );
    ship.send("Make a.txt.");
    ship.answer(Answer::Session).await;
    assert_eq!(ship.settled().await, LastRun::Answered);
    let results = ship.results();
    for refused in &results[..2] {
        assert!(refused.starts_with("Error: the mode is plan: until the user accepts the plan"), "{refused}");
    }
    let accepted = "The user accepted the plan. The mode is auto-edit now: carry the plan out.\nThe plan now:\n\
                    [ ] s1 write a.txt";
    assert_eq!(results[2], accepted);
    assert_eq!(ship.mode(), Mode::AutoEdit);
    assert_eq!(fs::read_to_string(ship.dir.path().join("a.txt")).unwrap(), "x", "{results:?}");
    assert!(!ship.dir.path().join("b.txt").exists());
    assert_eq!(ship.news(), [PlanNews::ModeOn, PlanNews::ModeOff]);
    let texts = user_texts(&ship.rig);
    assert!(texts[1].starts_with("<steer-mode kind=\"plan\">\nThe user wants to accept a plan"), "{texts:?}");
    assert!(texts[2].starts_with("<steer-mode kind=\"plan\">\nThe mode is auto-edit now"), "{texts:?}");
}

#[tokio::test]
async fn a_plain_yes_goes_on_with_questions_and_the_system_prompt_stays_as_it_was() {
    let mut ship = launch(Answerer::User, [submit("p1"), Played::text("Done.")]);
    ship.send("Make a.txt.");
    ship.answer(Answer::Once).await;
    assert_eq!(ship.settled().await, LastRun::Answered);
    assert_eq!(ship.mode(), Mode::Ask);
    let prompts: Vec<_> = ship.rig.requests().iter().map(|request| request.system_prompt().to_owned()).collect();
    assert!(prompts.windows(2).all(|pair| pair[0] == pair[1]));
}

#[tokio::test]
async fn a_no_with_words_keeps_planning_and_the_model_reads_them() {
    let mut ship = launch(Answerer::User, [submit("p1"), write("w1"), Played::text("I keep planning.")]);
    ship.send("Make a.txt.");
    ship.answer(Answer::No(Some("and what about b?".to_owned()))).await;
    assert_eq!(ship.settled().await, LastRun::Answered);
    let results = ship.results();
    assert!(
        results[0].contains("keep planning") && results[0].contains("The user says: and what about b?"),
        "{results:?}"
    );
    assert!(results[1].starts_with("Error: the mode is plan"), "{results:?}");
    assert_eq!((ship.mode(), ship.news()), (Mode::Plan, vec![PlanNews::ModeOn]));
    assert!(!ship.dir.path().join("a.txt").exists());
}

#[tokio::test]
async fn a_sub_agent_writes_nothing_either_and_submits_no_plan() {
    let mut ship =
        launch(Answerer::User, [spawns(&[("s1", "worker", "Make a.txt for me.")]), Played::text("Planned.")]);
    let bash = Played::calls(&[("b1", "bash", r#"{"command": "touch b.txt"}"#)]);
    ship.rig.model.route("Make a.txt for me.", [write("w1"), bash, submit("p1"), Played::text("I may not.")]);
    ship.send("Make a.txt.");
    assert_eq!(ship.settled().await, LastRun::Answered);
    let results = ship.results();
    for refused in &results[..2] {
        assert!(refused.starts_with("Error: the mode is plan"), "{refused}");
    }
    assert!(results[2].starts_with("Error: only the main agent submits a plan"), "{results:?}");
    assert!(fs::read_dir(ship.dir.path()).unwrap().next().is_none(), "nothing was written");
}

#[tokio::test]
async fn without_a_user_the_plan_is_the_answer_and_the_turn_ends() {
    for answerer in [Answerer::Nobody, Answerer::Yes] {
        let mut ship = launch(answerer, [submit("p1")]);
        ship.send("Make a.txt.");
        assert_eq!(ship.settled().await, LastRun::Answered);
        let answer = ship.rig.events().into_iter().rev().find_map(|event| match event {
            Event::Assistant { text, .. } => Some(text),
            _ => None,
        });
        let expected = "The plan, which nobody was there to accept:\n\n- [ ] write a.txt";
        assert_eq!(answer.as_deref(), Some(expected), "{answerer:?}");
        assert_eq!(ship.mode(), Mode::Plan);
    }
}

#[tokio::test]
async fn outside_the_mode_a_submitted_plan_needs_no_answer() {
    let mut ship =
        launch(Answerer::User, [submit("p1"), writes("p2", &[("done", "write a.txt")]), Played::text("Done.")]);
    ship.host.handle().approvals().set_mode(Mode::Ask).unwrap();
    // The set-up sets its own mode when it is built.
    assert_eq!(ship.settled().await, LastRun::None);
    ship.host.handle().approvals().set_mode(Mode::Ask).unwrap();
    ship.send("Make a.txt.");
    assert_eq!(ship.settled().await, LastRun::Answered);
    assert!(ship.results()[0].starts_with("It needs no acceptance"), "{:?}", ship.results());
    assert_eq!(ship.news(), []);
}
