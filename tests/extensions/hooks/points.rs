//! Stories of the points of the loop: where hooks are asked, and what follows from what they say.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use steersman_agent::{Agent, AgentBuilder, CompactionCause, CompactionRequest, HookAnswer, HookPoint, LoopHooks};
use steersman_base::event::Event;
use steersman_base::id::AgentId;
use steersman_base::message::Arguments;
use steersman_core::approval::{
    Answer, Answerer, Approvals, Asker, CallPermission, CommandOperation, Mode, Operation, Policy, Rules, Sandboxed,
    WriteOperation,
};
use steersman_core::provider::Played;
use steersman_core::tool::{FnTool, Parameters, Tool, ToolError};

use crate::support::doubles::{Gate, Rig, calls, echo, lines, run, run_queue, tool};

type Decide = Box<dyn Fn(&AgentId, &HookPoint<'_>) -> HookAnswer + Send + Sync>;

/// Hooks out of a closure, which note where they were asked.
struct PlayedHooks {
    decide: Decide,
    asked: Mutex<Vec<String>>,
    /// Holds each answer up, where there is one.
    gate: Option<Gate>,
}

impl PlayedHooks {
    fn new(decide: impl Fn(&AgentId, &HookPoint<'_>) -> HookAnswer + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { decide: Box::new(decide), asked: Mutex::default(), gate: None })
    }

    fn held(gate: &Gate) -> Arc<Self> {
        let decide: Decide = Box::new(|_, _| HookAnswer::default());
        Arc::new(Self { decide, asked: Mutex::default(), gate: Some(gate.clone()) })
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl LoopHooks for PlayedHooks {
    fn at<'a>(
        &'a self,
        agent: &'a AgentId,
        point: HookPoint<'a>,
        _: &'a (dyn Fn(Event) + Send + Sync),
    ) -> BoxFuture<'a, HookAnswer> {
        let name = match point {
            HookPoint::Session(source) => format!("session {source:?}"),
            HookPoint::Prompt(text) => format!("prompt {text}"),
            HookPoint::BeforeCall(call) => format!("before {}", call.name),
            HookPoint::AfterCall(call, result) => format!("after {}: {result}", call.name),
            HookPoint::Question(call) => format!("question {}", call.name),
            HookPoint::Idle => "idle".to_owned(),
            HookPoint::Notification(text) => format!("notification {text}"),
            HookPoint::FailedCall(call, error) => format!("failed {}: {error}", call.name),
            HookPoint::Spawned => format!("spawned {agent}"),
            HookPoint::Ended(end) => format!("ended {end:?}"),
            HookPoint::BeforeCompaction(CompactionCause::Auto) => "compaction".to_owned(),
            HookPoint::BeforeCompaction(CompactionCause::Asked(words)) => format!("compaction {words:?}"),
            HookPoint::Answered { answer, again } => format!("answered {answer} {again}"),
        };
        self.asked.lock().unwrap().push(name);
        async move {
            if let Some(gate) = &self.gate {
                gate.pass().await;
            }
            (self.decide)(agent, &point)
        }
        .boxed()
    }
}

fn block(why: &str) -> HookAnswer {
    HookAnswer { block: Some(why.to_owned()), ..HookAnswer::default() }
}

fn stop(why: &str) -> HookAnswer {
    HookAnswer { stop: Some(why.to_owned()), ..HookAnswer::default() }
}

fn context(text: &str) -> HookAnswer {
    HookAnswer { context: vec![text.to_owned()], ..HookAnswer::default() }
}

fn with(rig: &Rig, hooks: &Arc<PlayedHooks>) -> AgentBuilder {
    rig.builder().hooks(Some(Arc::clone(hooks) as _))
}

fn history(agent: &Agent) -> Vec<String> {
    lines(agent.history().messages())
}

#[tokio::test]
async fn a_turn_comes_by_each_point_in_its_order() {
    let rig = Rig::new([calls(&[("c1", "look")]), Played::text("Done.")]);
    let hooks = PlayedHooks::new(|_, point| match point {
        HookPoint::Session(_) => context("It is Monday."),
        HookPoint::Prompt(_) => context("The branch is main."),
        HookPoint::AfterCall(..) => context("The formatter ran."),
        _ => HookAnswer::default(),
    });
    let agent = rig.build(with(&rig, &hooks), [tool("look", "seen")]).await;
    let agent = run(agent, "Look.").answered().await;
    assert_eq!(
        hooks.asked(),
        ["session Startup", "prompt Look.", "before look", "after look: seen", "answered Done. false"]
    );
    assert_eq!(
        history(&agent)[1..],
        [
            "system: It is Monday.",
            "user: Look.",
            "system: The branch is main.",
            "assistant:  +look#c1",
            "tool#c1: seen\n\nThe formatter ran.",
            "assistant: Done."
        ]
    );
}

#[tokio::test]
async fn a_call_that_a_hook_forbids_does_not_run_and_the_model_reads_why() {
    let rig = Rig::new([calls(&[("c1", "look"), ("c2", "echo")]), Played::text("I see.")]);
    let hooks = PlayedHooks::new(|_, point| match point {
        HookPoint::BeforeCall(call) if call.name == "look" => block("not here"),
        _ => HookAnswer::default(),
    });
    let ran = Arc::new(Mutex::new(0));
    let count = Arc::clone(&ran);
    let look = FnTool::new("look", "Looks.", Parameters::build(|_| {}), move |_, _| {
        *count.lock().unwrap() += 1;
        async { Ok("seen".to_owned()) }.boxed()
    });
    let look: Arc<dyn Tool> = Arc::new(look);
    let agent = rig.build(with(&rig, &hooks), [look, echo()]).await;
    let agent = run(agent, "Look.").answered().await;
    assert_eq!(*ran.lock().unwrap(), 0);
    assert_eq!(history(&agent)[3], "tool#c1: Error: a hook forbids this call: not here");
    assert!(!hooks.asked().contains(&"after look: seen".to_owned()), "it has no result");
}

#[tokio::test]
async fn a_hook_sees_the_result_of_a_failed_call_only_where_there_is_one() {
    let rig = Rig::new([calls(&[("c1", "nothing")]), Played::text("I see.")]);
    let hooks = PlayedHooks::new(|_, _| HookAnswer::default());
    run(rig.build(with(&rig, &hooks), []).await, "Go.").answered().await;
    assert_eq!(hooks.asked(), ["session Startup", "prompt Go.", "before nothing", "answered I see. false"]);
}

#[tokio::test]
async fn words_about_a_result_stand_behind_it() {
    let rig = Rig::new([calls(&[("c1", "look")]), Played::text("I see.")]);
    let hooks = PlayedHooks::new(|_, point| match point {
        HookPoint::AfterCall(..) => block("tests fail now"),
        _ => HookAnswer::default(),
    });
    let agent = run(rig.build(with(&rig, &hooks), [tool("look", "seen")]).await, "Go.").answered().await;
    assert_eq!(history(&agent)[3], "tool#c1: seen\n\nA hook says of this result: tests fail now");
}

#[tokio::test]
async fn changed_arguments_are_checked_shown_and_told() {
    let rig = Rig::new([calls(&[("c1", "echo"), ("c2", "echo")]), Played::text("I see.")]);
    let hooks = PlayedHooks::new(|_, point| match point {
        HookPoint::BeforeCall(call) => {
            let arguments = if call.id.as_str() == "c1" { "{\"text\":\"other\"}" } else { "{\"wrong\":1}" };
            HookAnswer { arguments: Some(Arguments::parse(arguments)), ..HookAnswer::default() }
        }
        _ => HookAnswer::default(),
    });
    let parameters = Parameters::build(|p| {
        p.required_string("text", "What to say.");
    });
    let say = FnTool::new("echo", "Says.", parameters, |args, _| {
        let text = args.str("text").to_owned();
        async move { Ok(text) }.boxed()
    });
    let say: Arc<dyn Tool> = Arc::new(say);
    let agent = run(rig.build(with(&rig, &hooks), [say]).await, "Go.").answered().await;
    let history = history(&agent);
    assert_eq!(history[3], "tool#c1: Note: a hook changed the arguments of this call to {\"text\":\"other\"}\nother");
    assert!(
        history[4].starts_with("tool#c2: Error: not run, a hook changed the arguments to what the tool does not take"),
        "{}",
        history[4]
    );
    let shown = rig.events().into_iter().find_map(|event| match event {
        Event::ToolCall { id, arguments, .. } if id.as_str() == "c1" => Some(arguments),
        _ => None,
    });
    assert_eq!(shown, Some(Arguments::parse("{\"text\":\"other\"}")), "what runs is what is shown");
}

#[tokio::test]
async fn a_text_that_a_hook_forbids_goes_back_to_the_user() {
    let rig = Rig::new([Played::text("Second.")]);
    let hooks = PlayedHooks::new(|_, point| match point {
        HookPoint::Prompt(text) if text.contains("key") => block("it has a key"),
        _ => HookAnswer::default(),
    });
    rig.inject("My key is 123.");
    let (mut agent, error) = run_queue(rig.build(with(&rig, &hooks), []).await).failed().await;
    assert_eq!(error, "a hook stopped this: it has a key");
    assert_eq!(agent.history().messages().len(), 1, "it is not in the conversation");
    let returned: Vec<String> = rig
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Returned { entries } => {
                Some(entries.into_iter().map(|entry| entry.message.text).collect::<String>())
            }
            _ => None,
        })
        .collect();
    assert_eq!(returned, ["My key is 123."]);
    // Another text beside it is delivered.
    rig.inject("The key again.");
    rig.inject("And a question.");
    agent.run_queue().await.unwrap();
    assert_eq!(history(&agent)[1..], ["user: And a question.", "assistant: Second."]);
}

#[tokio::test]
async fn a_text_that_a_hook_is_asked_about_stays_on_record_until_it_is_in_the_conversation() {
    let gate = Gate::new();
    let rig = Rig::new([Played::text("Done.")]);
    let hooks = PlayedHooks::held(&gate);
    let agent = rig.build(with(&rig, &hooks), []).await;
    rig.inject("Look.");
    let running = run_queue(agent);
    let undelivered = || rig.interloper.undelivered().into_iter().map(|entry| entry.message.text).collect::<Vec<_>>();
    // Asked about the session, then about the text.
    for _ in 0..2 {
        gate.reached().await;
        assert_eq!((rig.interloper.peek().len(), undelivered()), (0, vec!["Look.".to_owned()]));
        gate.open();
    }
    gate.reached().await;
    assert_eq!(undelivered(), [""; 0]);
    gate.open();
    running.answered().await;
}

#[tokio::test]
async fn a_text_sent_while_a_turn_runs_is_asked_about_too() {
    let rig = Rig::new([calls(&[("c1", "look")]), Played::text("Done.")]);
    let hooks = PlayedHooks::new(|_, point| match point {
        HookPoint::Prompt("secret") => block("no"),
        _ => HookAnswer::default(),
    });
    let inject = Arc::clone(&rig.interloper);
    let look = FnTool::new("look", "Looks.", Parameters::build(|_| {}), move |_, _| {
        inject.inject_user_message("secret").unwrap();
        inject.inject_user_message("open").unwrap();
        async { Ok("seen".to_owned()) }.boxed()
    });
    let look: Arc<dyn Tool> = Arc::new(look);
    let agent = run(rig.build(with(&rig, &hooks), [look]).await, "Go.").answered().await;
    let history = history(&agent).join("\n");
    assert!(history.contains("user: open") && !history.contains("secret"), "{history}");
}

#[tokio::test]
async fn a_stop_while_a_hook_is_asked_about_a_text_gives_the_text_back() {
    let rig = Rig::new([]);
    let gate = Gate::new();
    let hooks = PlayedHooks::held(&gate);
    rig.inject("First.");
    rig.inject("Second.");
    let running = run_queue(rig.build(with(&rig, &hooks), []).await);
    gate.reached().await;
    rig.cancellable.cancel();
    let agent = running.cancelled().await;
    assert_eq!(agent.history().messages().len(), 1);
    let back = rig.events().into_iter().filter_map(|event| match event {
        Event::Returned { entries } => Some(entries.len()),
        _ => None,
    });
    assert_eq!(back.sum::<usize>(), 2, "nothing typed is lost");
}

#[tokio::test]
async fn a_hook_keeps_a_turn_from_ending_and_only_so_often() {
    let rig = Rig::new((0..10).map(|n| Played::text(format!("Answer {n}."))));
    let hooks = PlayedHooks::new(|_, point| match point {
        HookPoint::Answered { .. } => block("the tests were not run"),
        _ => HookAnswer::default(),
    });
    let agent = run(rig.build(with(&rig, &hooks), []).await, "Go.").answered().await;
    assert_eq!(agent.last_assistant_content(), Some("Answer 8."), "eight times, then it ends");
    let history = history(&agent);
    assert_eq!(history[3], "user: A hook does not let the turn end here: the tests were not run");
    let asked = hooks.asked();
    assert_eq!((asked[2].as_str(), asked[3].as_str()), ("answered Answer 0. false", "answered Answer 1. true"));
    let notices = rig.events().into_iter().filter(|event| matches!(event, Event::Notice { .. })).count();
    assert_eq!(notices, 1);
}

#[tokio::test]
async fn continue_false_ends_the_turn_with_every_result_in_place() {
    for (place, expected) in [("prompt", 1), ("before", 5), ("after", 5), ("session", 1)] {
        let rig = Rig::new([calls(&[("c1", "look"), ("c2", "look")])]);
        let hooks = PlayedHooks::new(move |_, point| match (place, point) {
            ("prompt", HookPoint::Prompt(_))
            | ("before", HookPoint::BeforeCall(_))
            | ("after", HookPoint::AfterCall(..))
            | ("session", HookPoint::Session(_)) => stop("enough"),
            _ => HookAnswer::default(),
        });
        let (agent, error) = run(rig.build(with(&rig, &hooks), [tool("look", "seen")]).await, "Go.").failed().await;
        assert_eq!(
            (error.as_str(), agent.history().messages().len()),
            ("a hook stopped this: enough", expected),
            "{place}"
        );
    }
    let rig = Rig::new([Played::text("Done.")]);
    let hooks = PlayedHooks::new(|_, point| match point {
        HookPoint::Answered { .. } => HookAnswer { block: Some("go on".to_owned()), ..stop("enough") },
        _ => HookAnswer::default(),
    });
    run(rig.build(with(&rig, &hooks), []).await, "Go.").answered().await;
}

#[tokio::test]
async fn a_compaction_that_a_hook_forbids_changes_nothing() {
    let rig = Rig::new([Played::text("One."), Played::text("Two."), Played::text("Three."), Played::text("Four.")]);
    let hooks = PlayedHooks::new(|_, point| match point {
        HookPoint::BeforeCompaction(_) => block("keep it"),
        _ => HookAnswer::default(),
    });
    let request = Arc::new(CompactionRequest::default());
    let mut agent = rig.build(with(&rig, &hooks).compaction_request(Arc::clone(&request)), []).await;
    for text in ["a", "b", "c", "d"] {
        agent.run_loop(text).await.unwrap();
    }
    let before = history(&agent);
    request.ask(Some("the plan".to_owned()));
    agent.compact().await.unwrap();
    assert_eq!(history(&agent), before);
    assert!(hooks.asked().contains(&"compaction Some(\"the plan\")".to_owned()), "{:?}", hooks.asked());
    let told = rig.events().into_iter().any(|event| {
        matches!(event, Event::Notice { text } if text == "the conversation is not compacted, a hook forbids it: keep it")
    });
    assert!(told);
}

#[tokio::test]
async fn a_conversation_that_was_emptied_begins_again() {
    let rig = Rig::new([Played::text("One."), Played::text("Two.")]);
    let hooks = PlayedHooks::new(|_, _| HookAnswer::default());
    let mut agent = rig.build(with(&rig, &hooks), []).await;
    agent.run_loop("a").await.unwrap();
    agent.reset();
    agent.run_loop("b").await.unwrap();
    agent.run_end_hooks().await;
    let is_session = |name: &String| name.starts_with("session") || name.starts_with("ended");
    let sessions: Vec<String> = hooks.asked().into_iter().filter(is_session).collect();
    assert_eq!(sessions, ["session Startup", "ended Clear", "session Clear", "ended Exit"]);
}

#[tokio::test]
async fn words_about_a_failure_stand_behind_it() {
    let rig = Rig::new([calls(&[("c1", "look")]), Played::text("I see.")]);
    let hooks = PlayedHooks::new(|_, point| match point {
        HookPoint::FailedCall(..) => context("Look elsewhere."),
        _ => HookAnswer::default(),
    });
    let look = FnTool::new("look", "Looks.", Parameters::build(|_| {}), |_, _| {
        async { Err::<String, _>(ToolError::failed("too dark")) }.boxed()
    });
    let look: Arc<dyn Tool> = Arc::new(look);
    let agent = run(rig.build(with(&rig, &hooks), [look]).await, "Go.").answered().await;
    assert_eq!(history(&agent)[3], "tool#c1: Error: too dark\n\nLook elsewhere.");
    assert!(hooks.asked().contains(&"failed look: Error: too dark".to_owned()), "{:?}", hooks.asked());
}

#[tokio::test]
async fn a_question_is_told_and_hooks_answer_it_as_far_as_a_rule_of_the_user_could() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    for (command, said, ran) in [
        ("cargo test", HookAnswer { permission: Some(CallPermission::Allow), ..HookAnswer::default() }, "done"),
        ("cargo test", block("not on Monday"), "Error: "),
        // No rule covers a chain: the user is still asked, and says no here.
        ("a && b", HookAnswer { permission: Some(CallPermission::Allow), ..HookAnswer::default() }, "Error: "),
    ] {
        let rig = Rig::new([calls(&[("c1", "work")]), Played::text("I see.")]);
        let hooks = PlayedHooks::new(move |_, point| match point {
            HookPoint::Question(_) => said.clone(),
            _ => HookAnswer::default(),
        });
        let policy = Policy { answerer: Answerer::User, root: Some(root.clone()), ..Policy::default() };
        let approvals = Arc::new(Approvals::new(policy, Mode::Ask));
        let cwd = root.clone();
        let work = FnTool::new("work", "Works.", Parameters::build(|_| {}), move |_, context| {
            let operation = CommandOperation {
                command: command.to_owned(),
                cwd: cwd.clone(),
                timeout: std::time::Duration::from_secs(1),
                outside: false,
            };
            async move { context.approve(operation).await.map(|_| "done".to_owned()) }.boxed()
        });
        let work: Arc<dyn Tool> = Arc::new(work);
        let agent = rig.build(with(&rig, &hooks).approvals(Arc::clone(&approvals)), [work]).await;
        if command.contains("&&") {
            let desk = Arc::clone(&approvals);
            let asked = Arc::clone(&hooks);
            tokio::spawn(async move {
                // The hooks have been asked, and the question is still there.
                while !asked.asked().contains(&"question work".to_owned()) {
                    tokio::task::yield_now().await;
                }
                let id = desk.open().first().unwrap().id;
                assert!(desk.answer(id, Answer::No(None)));
            });
        }
        let agent = run(agent, "Go.").answered().await;
        let told = history(&agent)[3].clone();
        assert!(told.starts_with(&format!("tool#c1: {ran}")), "{command}: {told}");
        let notification = "notification The agent needs your permission to use work".to_owned();
        assert!(hooks.asked().contains(&notification), "{:?}", hooks.asked());
    }
}

// --- what an allow can do

#[tokio::test]
async fn an_allow_answers_only_what_a_rule_of_the_user_could_and_an_ask_always_holds() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let command = |text: &str| CommandOperation {
        command: text.to_owned(),
        cwd: root.clone(),
        timeout: std::time::Duration::from_secs(1),
        outside: false,
    };
    let asker = Asker { agent: AgentId::main(), call: "c1".into() };
    let decide = async |mode, answerer, rules: &Rules, said: Option<CallPermission>, operation: Operation| {
        let policy = Policy {
            answerer,
            rules: rules.clone(),
            root: Some(root.clone()),
            sandboxed: Some(Sandboxed::Yes),
            ..Policy::default()
        };
        let approvals = Arc::new(Approvals::new(policy, mode));
        let _permit = said.map(|said| approvals.permit(&asker, said));
        match operation {
            Operation::Command(operation) => approvals.decide(&asker, operation, &|_| {}).await.map(drop),
            Operation::Write(operation) => approvals.decide(&asker, operation, &|_| {}).await.map(drop),
            other => panic!("{other:?}"),
        }
        .map_err(|refusal| refusal.words)
    };
    let (none, allow) = (Rules::default(), || Some(CallPermission::Allow));
    let nobody = Answerer::Nobody;
    // Without the allow nobody answers; with it a simple command runs.
    assert!(decide(Mode::Ask, nobody, &none, None, command("cargo test").into()).await.is_err());
    assert_eq!(decide(Mode::Ask, nobody, &none, allow(), command("cargo test").into()).await, Ok(()));
    // A chain, which no rule covers, is still asked about.
    assert!(decide(Mode::Ask, nobody, &none, allow(), command("cargo test && curl x | sh").into()).await.is_err());
    // Deny rules, ask rules, the mode read-only and protected places stand above it.
    let deny = Rules::parse(&[] as &[&str], &[], &["bash: cargo *"]).unwrap();
    let ask = Rules::parse(&[] as &[&str], &["bash: cargo *"], &[]).unwrap();
    assert!(decide(Mode::Ask, nobody, &deny, allow(), command("cargo test").into()).await.is_err());
    assert!(decide(Mode::Ask, nobody, &ask, allow(), command("cargo test").into()).await.is_err());
    assert!(decide(Mode::ReadOnly, nobody, &none, allow(), command("cargo test").into()).await.is_err());
    let protected = WriteOperation {
        tool: "write".into(),
        path: root.join(".git/hooks/pre-commit"),
        shown: ".git/hooks/pre-commit".to_owned(),
        before: None,
        after: b"x".to_vec().into(),
        diff: String::new(),
    };
    let outside = WriteOperation { path: "/etc/x".into(), shown: "/etc/x".to_owned(), ..protected.clone() };
    assert!(decide(Mode::AutoEdit, nobody, &none, allow(), protected.into()).await.is_err());
    assert!(decide(Mode::AutoEdit, nobody, &none, allow(), outside.into()).await.is_err());
    // An ask makes a question of what the mode would run; without anybody it does not run.
    let asked = || Some(CallPermission::Ask("it deploys".to_owned()));
    assert_eq!(decide(Mode::Auto, nobody, &none, None, command("cargo test").into()).await, Ok(()));
    assert!(decide(Mode::Auto, nobody, &none, asked(), command("cargo test").into()).await.is_err());
}
