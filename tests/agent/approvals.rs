//! Stories of the desk: who is asked, what an answer does, what becomes of questions when the mode or the call goes.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use steersman_agent::Agent;
use steersman_base::event::Event;
use steersman_base::message::Message;
use steersman_base::text::QuestionText;
use steersman_core::approval::{
    Answer, Answerer, ApprovalId, ApprovalRecord, ApprovalRequest, ApprovalSubject, Approvals, Approved, Asker,
    CommandOperation, FetchOperation, Grant, Mode, ModeRefused, Network, Operation, Policy, Refusal, Rules, Sandboxed,
    Unanswered, WriteOperation,
};
use steersman_core::provider::Played;
use steersman_core::tool::{Concurrency, FnTool, Parameters, Tool};

use crate::support::doubles::{Log, Rig, run, settle};

const ROOT: &str = "/work/project";

fn policy(answerer: Answerer) -> Policy {
    Policy {
        answerer,
        sandboxed: Some(Sandboxed::Yes),
        network: Network::Off,
        root: Some(PathBuf::from(ROOT)),
        ..Policy::default()
    }
}

fn desk(answerer: Answerer) -> Arc<Approvals> {
    Arc::new(Approvals::new(policy(answerer), Mode::Ask))
}

fn command(command: &str) -> CommandOperation {
    CommandOperation {
        command: command.to_owned(),
        cwd: PathBuf::from(ROOT),
        timeout: Duration::from_mins(1),
        outside: false,
    }
}

fn change(path: &str) -> WriteOperation {
    WriteOperation {
        tool: "edit".into(),
        path: PathBuf::from(ROOT).join(path),
        shown: path.to_owned(),
        before: Some(Arc::<[u8]>::from(&b"old"[..]).into()),
        after: Arc::<[u8]>::from(&b"new"[..]).into(),
        diff: "-old\n+new\n".to_owned(),
    }
}

/// Makes a tool that asks to run its `command`, and writes down what it may run.
fn bash(log: &Log) -> Arc<dyn Tool> {
    let log = log.clone();
    let parameters = Parameters::build(|p| {
        p.required_string("command", "What to run.");
        p.optional_string("cwd", "Where.");
    });
    let execute = move |args: steersman_core::tool::Args, context: steersman_core::tool::ToolContext| {
        let log = log.clone();
        async move {
            let cwd = PathBuf::from(args.opt_str("cwd").unwrap_or(ROOT));
            let operation = CommandOperation { cwd, ..command(args.str("command")) };
            let operation = context.approve(operation).await?.take();
            log.say(format!("{} in {}", operation.command, operation.cwd.display()));
            Ok("done".to_owned())
        }
    };
    Arc::new(FnTool::new("bash", "Runs.", parameters, execute).concurrency(Concurrency::Parallel))
}

fn runs(list: &[(&str, &str)]) -> Played {
    let arguments: Vec<String> =
        list.iter().map(|(_, command)| serde_json::json!({"command": command}).to_string()).collect();
    let calls: Vec<_> = list.iter().zip(&arguments).map(|((id, _), args)| (*id, "bash", args.as_str())).collect();
    Played::calls(&calls)
}

async fn agent(rig: &Rig, desk: &Arc<Approvals>, log: &Log) -> Agent {
    rig.build(rig.builder().approvals(Arc::clone(desk)), [bash(log)]).await
}

fn asked(desk: &Approvals) -> Vec<String> {
    let text = |request: &ApprovalRequest| match &request.subject {
        ApprovalSubject::Operation { operation: Operation::Command(operation) } => operation.command.clone(),
        other => format!("{other:?}"),
    };
    desk.open().iter().map(text).collect()
}

/// Answers the oldest question.
fn answer(desk: &Approvals, answer: Answer) {
    let id = desk.open().first().expect("a question is open").id;
    assert!(desk.answer(id, answer));
}

fn record(rig: &Rig) -> Vec<String> {
    let line = |event: Event| match event {
        Event::Question { id, question, detail, .. } => {
            Some(format!("{id}: {question} {}", detail.unwrap_or_default()))
        }
        Event::Answer { id, answer, words } => {
            Some(format!("{id}: {answer} {}", words.unwrap_or_default()).trim_end().to_owned())
        }
        _ => None,
    };
    rig.events().into_iter().filter_map(line).collect()
}

fn observations(rig: &Rig) -> Vec<String> {
    let content = |message: Message| match message {
        Message::Tool { content, .. } => Some(content),
        _ => None,
    };
    rig.last_request().messages.into_iter().filter_map(content).collect()
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_the_user_and_what_was_shown_is_what_runs() {
    let rig = Rig::new([runs(&[("c1", "make  all # \u{202e}x")]), Played::text("Done.")]);
    let (desk, log) = (desk(Answerer::User), Log::new());
    let running = run(agent(&rig, &desk, &log).await, "Go.");
    settle().await;
    assert_eq!(asked(&desk), ["make  all # \u{202e}x"], "not a character is changed");
    assert_eq!(log.all(), Vec::<String>::new());
    answer(&desk, Answer::Once);
    running.answered().await;
    assert_eq!(log.all(), ["make  all # \u{202e}x in /work/project"]);
    assert_eq!(record(&rig), ["approval 1: Run this command? make  all # \u{202e}x", "approval 1: yes"]);
    assert_eq!(desk.open(), []);
}

#[tokio::test(start_paused = true)]
async fn a_no_reaches_the_model_with_its_words_or_without() {
    for (words, expected) in [
        (None, "Error: the user declined this"),
        (Some("  use cargo \n"), "Error: the user declined this and says: use cargo"),
        (Some(" \u{200b}\n "), "Error: the user declined this"),
    ] {
        let rig = Rig::new([runs(&[("c1", "make")]), Played::text("Done.")]);
        let (desk, log) = (desk(Answerer::User), Log::new());
        let running = run(agent(&rig, &desk, &log).await, "Go.");
        settle().await;
        answer(&desk, Answer::No(words.map(str::to_owned)));
        running.answered().await;
        assert_eq!(observations(&rig), [expected]);
        assert_eq!(log.all(), Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn questions_come_in_order_and_are_answered_by_name() {
    let rig = Rig::new([runs(&[("c1", "make a"), ("c2", "make b"), ("c3", "make c")]), Played::text("Done.")]);
    let (desk, log) = (desk(Answerer::User), Log::new());
    let running = run(agent(&rig, &desk, &log).await, "Go.");
    settle().await;
    assert_eq!(asked(&desk), ["make a", "make b", "make c"]);
    let ids: Vec<ApprovalId> = desk.open().iter().map(|request| request.id).collect();
    assert!(desk.answer(ids[1], Answer::Once));
    assert!(!desk.answer(ids[1], Answer::Once), "it is gone");
    settle().await;
    assert_eq!(log.all(), ["make b in /work/project"]);
    assert!(desk.answer(ids[2], Answer::No(None)) && desk.answer(ids[0], Answer::Once));
    running.answered().await;
    assert_eq!(observations(&rig), ["done", "done", "Error: the user declined this"]);
}

// S8
#[tokio::test(start_paused = true)]
async fn an_answer_for_the_session_holds_for_that_command_in_that_directory_and_for_nothing_else() {
    let elsewhere = r#"{"command": "make all", "cwd": "/work/project/sub"}"#;
    let rig = Rig::new([
        runs(&[("c1", "make all")]),
        runs(&[("c2", "make all")]),
        runs(&[("c3", "make all install")]),
        Played::calls(&[("c4", "bash", elsewhere)]),
        Played::text("Done."),
    ]);
    let (desk, log) = (desk(Answerer::User), Log::new());
    let running = run(agent(&rig, &desk, &log).await, "Go.");
    settle().await;
    answer(&desk, Answer::Session);
    settle().await;
    assert_eq!(log.all(), ["make all in /work/project"; 2], "the second one was not asked about");
    assert_eq!(asked(&desk), ["make all install"]);
    answer(&desk, Answer::No(None));
    settle().await;
    assert_eq!(asked(&desk), ["make all"], "in another directory");
    answer(&desk, Answer::No(None));
    running.answered().await;
    assert_eq!(desk.grants(), [Grant::Command { command: "make all".to_owned(), cwd: PathBuf::from(ROOT) }]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_for_the_session_answers_the_other_open_questions_that_it_covers() {
    let rig = Rig::new([
        runs(&[("c1", "cargo test a"), ("c2", "cargo test b"), ("c3", "make"), ("c4", "cargo test c")]),
        Played::text("Done."),
    ]);
    let (desk, log) = (desk(Answerer::User), Log::new());
    let running = run(agent(&rig, &desk, &log).await, "Go.");
    settle().await;
    answer(&desk, Answer::Session);
    assert_eq!(asked(&desk), ["make"]);
    answer(&desk, Answer::No(None));
    running.answered().await;
    assert_eq!(log.all().len(), 3);
    let answers: Vec<String> = record(&rig).into_iter().filter(|line| !line.contains('?')).collect();
    assert_eq!(answers, ["approval 1: session", "approval 2: allowed", "approval 4: allowed", "approval 3: no"]);
}

// The user sees a mode while the setup is still made.
#[test]
fn a_mode_that_the_user_chooses_before_the_setup_is_made_stays() {
    let desk = Approvals::new(policy(Answerer::User), Mode::Ask);
    desk.set_mode(Mode::ReadOnly).unwrap();
    desk.configure(policy(Answerer::User), Mode::Ask);
    desk.start_in(Mode::AutoEdit).unwrap();
    assert_eq!(desk.mode(), Mode::ReadOnly);
    let desk = Approvals::new(policy(Answerer::User), Mode::Ask);
    desk.configure(policy(Answerer::User), Mode::Ask);
    desk.start_in(Mode::AutoEdit).unwrap();
    assert_eq!(desk.mode(), Mode::AutoEdit);
}

// On the way to `read-only` the key passes `auto`.
#[tokio::test(start_paused = true)]
async fn a_change_of_the_mode_runs_no_open_question_and_denies_none() {
    let rig = Rig::new([runs(&[("c1", "make"), ("c2", "make b")]), runs(&[("c3", "make c")]), Played::text("Done.")]);
    let (desk, log) = (desk(Answerer::User), Log::new());
    let running = run(agent(&rig, &desk, &log).await, "Go.");
    settle().await;
    for mode in [Mode::AutoEdit, Mode::Auto, Mode::ReadOnly, Mode::AutoWithoutSandbox, Mode::Ask, Mode::Auto] {
        desk.set_mode(mode).unwrap();
        settle().await;
        assert_eq!(asked(&desk), ["make", "make b"], "{mode:?}");
        assert_eq!(log.all(), Vec::<String>::new(), "{mode:?}");
    }
    answer(&desk, Answer::Once);
    answer(&desk, Answer::No(None));
    running.answered().await;
    // What is asked after the change is decided about under the new mode.
    assert_eq!(log.all(), ["make in /work/project", "make c in /work/project"]);
}

#[tokio::test(start_paused = true)]
async fn a_yes_in_read_only_is_not_taken_and_the_question_stays() {
    let rig = Rig::new([runs(&[("c1", "make")]), Played::text("Done.")]);
    let (desk, log) = (desk(Answerer::User), Log::new());
    let running = run(agent(&rig, &desk, &log).await, "Go.");
    settle().await;
    let id = desk.open()[0].id;
    desk.set_mode(Mode::ReadOnly).unwrap();
    let why = "the mode is read-only: files stay as they are, no command runs and nothing is sent".to_owned();
    for yes in [Answer::Once, Answer::Session] {
        assert_eq!(desk.try_answer(id, yes), Err(Unanswered::Forbidden(why.clone())));
    }
    settle().await;
    assert_eq!((asked(&desk), log.all()), (vec!["make".to_owned()], Vec::new()));
    assert_eq!(desk.grants(), []);
    desk.set_mode(Mode::Ask).unwrap();
    assert_eq!(desk.try_answer(id, Answer::Once), Ok(()));
    running.answered().await;
    assert_eq!(log.all(), ["make in /work/project"]);
    assert_eq!(desk.try_answer(id, Answer::Once), Err(Unanswered::Gone));
}

#[tokio::test(start_paused = true)]
async fn what_another_policy_denies_stays_open_and_no_yes_is_taken() {
    let rig = Rig::new([runs(&[("c1", "make")]), Played::text("Done.")]);
    let (desk, log) = (desk(Answerer::User), Log::new());
    let running = run(agent(&rig, &desk, &log).await, "Go.");
    settle().await;
    let rules = Rules::parse(&[], &[], &["bash: make *"]).unwrap();
    desk.configure(Policy { rules, ..policy(Answerer::User) }, Mode::Auto);
    let id = desk.open()[0].id;
    let why = "the user's configuration denies this (rule \"bash: make *\")".to_owned();
    assert_eq!(desk.try_answer(id, Answer::Once), Err(Unanswered::Forbidden(why)));
    answer(&desk, Answer::No(None));
    running.answered().await;
    assert_eq!(observations(&rig), ["Error: the user declined this"]);
}

// A mode that allows the others meanwhile answers them no more than before.
#[tokio::test(start_paused = true)]
async fn an_answer_for_the_session_answers_nothing_that_only_the_mode_allows() {
    let rig =
        Rig::new([runs(&[("c1", "cargo test a"), ("c2", "make"), ("c3", "cargo test b")]), Played::text("Done.")]);
    let (desk, log) = (desk(Answerer::User), Log::new());
    let running = run(agent(&rig, &desk, &log).await, "Go.");
    settle().await;
    desk.set_mode(Mode::Auto).unwrap();
    answer(&desk, Answer::Session);
    assert_eq!(asked(&desk), ["make"]);
    answer(&desk, Answer::No(None));
    running.answered().await;
    assert_eq!(log.all().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_takes_the_question_away_and_a_late_answer_does_nothing() {
    let rig = Rig::new([runs(&[("c1", "make")])]);
    let (desk, log) = (desk(Answerer::User), Log::new());
    let running = run(agent(&rig, &desk, &log).await, "Go.");
    settle().await;
    let id = desk.open()[0].id;
    rig.cancellable.cancel();
    running.cancelled().await;
    assert_eq!(desk.open(), []);
    assert!(!desk.answer(id, Answer::Session));
    assert_eq!(desk.grants(), []);
    assert_eq!(log.all(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn with_nobody_there_what_would_be_asked_is_refused_and_a_standing_yes_runs_it() {
    for (answerer, expected) in [
        (Answerer::Nobody, "Error: this needs the user's approval, and nobody is there to give it"),
        (Answerer::Yes, "done"),
    ] {
        let rig = Rig::new([runs(&[("c1", "make")]), Played::text("Done.")]);
        let (desk, log) = (desk(answerer), Log::new());
        run(agent(&rig, &desk, &log).await, "Go.").answered().await;
        assert_eq!(observations(&rig), [expected]);
        assert_eq!(record(&rig), Vec::<String>::new(), "nobody was asked");
    }
}

fn asker() -> Asker {
    Asker { agent: "".into(), call: "c1".into() }
}

type Deciding<A> = (tokio::task::JoinHandle<Result<A, Refusal>>, Arc<Mutex<Vec<ApprovalRecord>>>);

/// Decides on a task, writing down what is told.
fn decide<A>(desk: &Arc<Approvals>, operation: A) -> Deciding<A>
where
    A: steersman_core::approval::Proposal + Send + Sync + 'static,
{
    let (desk, told) = (Arc::clone(desk), Arc::new(Mutex::new(Vec::new())));
    let heard = Arc::clone(&told);
    let deciding = tokio::spawn(async move {
        let tell = move |what| heard.lock().unwrap().push(what);
        desk.decide(&asker(), operation, &tell).await.map(Approved::take)
    });
    (deciding, told)
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_withdraws_its_question_and_says_so() {
    let desk = desk(Answerer::User);
    let (deciding, told) = decide(&desk, change("a.rs"));
    settle().await;
    assert_eq!(desk.open().len(), 1);
    deciding.abort();
    settle().await;
    assert_eq!(desk.open(), []);
    assert_eq!(told.lock().unwrap().last(), Some(&ApprovalRecord::Withdrawn(ApprovalId(1))));
}

#[tokio::test(start_paused = true)]
async fn watchers_hear_of_each_change_and_may_use_the_desk() {
    let desk = desk(Answerer::User);
    let (heard, inner) = (Arc::new(AtomicUsize::new(0)), Arc::downgrade(&desk));
    let count = Arc::clone(&heard);
    desk.watch(Arc::new(move || {
        if let Some(desk) = inner.upgrade() {
            // It would never return if the desk were locked now.
            let _ = (desk.open(), desk.mode(), desk.grants());
        }
        count.fetch_add(1, Ordering::SeqCst);
    }));
    let heard = || heard.load(Ordering::SeqCst);
    let (deciding, _) = decide(&desk, change("a.rs"));
    settle().await;
    assert_eq!(heard(), 1, "a question");
    answer(&desk, Answer::Once);
    assert_eq!(heard(), 2, "its answer");
    deciding.await.unwrap().unwrap();
    desk.set_mode(Mode::Ask).unwrap();
    desk.configure(policy(Answerer::User), Mode::Ask);
    assert_eq!(heard(), 4, "mode and policy");
    let (deciding, _) = decide(&desk, change("a.rs"));
    settle().await;
    deciding.abort();
    settle().await;
    assert_eq!(heard(), 6, "a question that goes");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_offered_for_the_session_where_each_time_counts() {
    let desk = desk(Answerer::User);
    let (deciding, _) = decide(&desk, change(".git/hooks/pre-commit"));
    settle().await;
    let request = desk.open().remove(0);
    assert_eq!(
        (request.session.clone(), request.why.as_str()),
        (None, ".git/hooks/pre-commit is a Git hook (protected)")
    );
    assert!(!desk.answer(request.id, Answer::Session), "the question stays");
    assert_eq!(desk.open(), std::slice::from_ref(&request));
    assert!(desk.answer(request.id, Answer::Once));
    deciding.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_program_itself_asks_too_and_no_is_the_default() {
    for answerer in [Answerer::Nobody, Answerer::Yes] {
        let desk = desk(answerer);
        desk.set_mode(Mode::AutoWithoutSandbox).unwrap();
        assert!(!desk.ask_user("trust this project?", QuestionText::default()).await, "{answerer:?}");
    }
    let desk = desk(Answerer::User);
    for (reply, expected) in
        [(Answer::Once, true), (Answer::No(None), false), (Answer::No(Some("x".to_owned())), false)]
    {
        let asking = {
            let desk = Arc::clone(&desk);
            let mut detail = QuestionText::default();
            detail.field("hooks", "./evil.sh");
            tokio::spawn(async move { desk.ask_user("trust\nthis project?", detail).await })
        };
        settle().await;
        let request = desk.open().remove(0);
        assert_eq!((request.asker.clone(), request.session.clone()), (None, None));
        let subject = ApprovalSubject::Plain {
            title: "trust⏎this project?".to_owned(),
            detail: "  hooks: ./evil.sh".to_owned(),
        };
        assert_eq!(request.subject, subject);
        // No mode answers it.
        desk.set_mode(Mode::AutoWithoutSandbox).unwrap();
        assert!(!asking.is_finished() && !desk.answer(request.id, Answer::Session));
        assert!(desk.answer(request.id, reply));
        assert_eq!(asking.await.unwrap(), expected);
    }
    let asking = {
        let desk = Arc::clone(&desk);
        tokio::spawn(async move { desk.ask_user("trust?", QuestionText::default()).await })
    };
    settle().await;
    desk.configure(policy(Answerer::Nobody), Mode::Ask);
    assert!(!asking.await.unwrap(), "the user has gone");
    assert_eq!(desk.open(), []);
}

#[test]
fn auto_is_refused_without_a_sandbox_and_the_key_never_comes_to_what_is_chosen_by_name() {
    let bare = Approvals::new(Policy { sandboxed: Some(Sandboxed::No), ..policy(Answerer::User) }, Mode::AutoEdit);
    assert_eq!(bare.set_mode(Mode::Auto), Err(ModeRefused::NotSandboxed));
    assert_eq!((bare.mode(), bare.next_mode()), (Mode::AutoEdit, Mode::ReadOnly));
    let desk = desk(Answerer::User);
    let mut seen = vec![desk.mode()];
    for _ in 0..5 {
        desk.set_mode(desk.next_mode()).unwrap();
        seen.push(desk.mode());
    }
    assert_eq!(seen, [Mode::Ask, Mode::AutoEdit, Mode::Auto, Mode::ReadOnly, Mode::Plan, Mode::Ask]);
}

#[tokio::test(start_paused = true)]
async fn an_approved_act_comes_back_unchanged() {
    let desk = desk(Answerer::Yes);
    let operation = command("echo 'a\u{200b}b'\n\tx");
    let approved = desk.decide(&asker(), operation.clone(), &|_| {}).await.unwrap();
    assert_eq!(approved.take(), operation);
    let operation = FetchOperation { tool: "fetch".into(), url: "HTTPS://Docs.rs/%41".to_owned() };
    let approved = desk.decide(&asker(), operation.clone(), &|_| {}).await.unwrap();
    assert_eq!(approved.take(), operation, "not even normalised");
}
