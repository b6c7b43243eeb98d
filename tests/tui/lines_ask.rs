//! The line output: questions are answered by their commands alone, held agents go on by theirs.

use std::sync::Arc;

use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use steersman_base::event::{Event, Outcome};
use steersman_base::message::{Arguments, ToolCall};
use steersman_base::protocol::{Decision, Request, Update};
use steersman_core::approval::{Answerer, ApprovalRecord, Approved, Asker, CommandOperation, Mode, Policy, Refusal};
use steersman_tui::msg::{Effect, Msg};

use super::approval_popups::Nowhere;
use super::lines::at_work;
use crate::support::stage::Stage;

type Asking = Pin<Box<dyn Future<Output = Result<Approved<CommandOperation>, Refusal>>>>;

/// A command that waits for leave.
struct Call(Asking);

impl Call {
    fn asks(stage: &mut Stage, command: &str) -> Self {
        let desk = Arc::clone(stage.handle.approvals());
        let root = Some("/work".into());
        desk.configure(Policy { answerer: Answerer::User, root, ..Policy::default() }, Mode::Ask);
        let asker = Asker { agent: "".into(), call: "c1".into() };
        let operation = CommandOperation {
            command: command.to_owned(),
            cwd: "/work".into(),
            timeout: Duration::from_mins(2),
            outside: false,
        };
        let mut call = Self(Box::pin(async move { desk.decide(&asker, operation, &|_: ApprovalRecord| {}).await }));
        assert!(call.poll().is_none(), "it waits");
        stage.refresh();
        call
    }

    fn poll(&mut self) -> Option<Result<Approved<CommandOperation>, Refusal>> {
        match self.0.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => Some(outcome),
            Poll::Pending => None,
        }
    }
}

fn wait_before_a_call(stage: &mut Stage) {
    let arguments = Arguments::parse(r#"{"command":"cargo test"}"#);
    let call = ToolCall { id: "c9".into(), name: "bash".to_owned(), arguments };
    stage.event("", Event::Paused { call: Some(call) });
}

#[test]
fn a_question_is_told_whole_and_answered_by_its_command() {
    let mut stage = at_work();
    let mut call = Call::asks(&mut stage, "cargo test\ncargo doc  ");
    insta::assert_snapshot!(stage.written());
    for line in ["", "yes please", "/yesterday", "ok /yes"] {
        stage.line(line);
        assert!(call.poll().is_none(), "{line:?} is no answer");
    }
    stage.line("/yes");
    assert!(matches!(call.poll(), Some(Ok(_))));
}

#[test]
fn always_says_its_rule_and_where_there_is_none_it_is_no_answer() {
    let mut stage = at_work();
    let mut call = Call::asks(&mut stage, "cargo test");
    assert!(!stage.written().contains("always"));
    stage.line("/always");
    assert!(stage.written().contains("/always is not an answer to this question") && call.poll().is_none());

    let mut stage = at_work();
    stage.handle.approvals().keep_rules_in(Arc::new(Nowhere), []);
    let mut call = Call::asks(&mut stage, "cargo test --doc");
    let written = stage.written();
    assert!(written.contains("/always allows: cargo test * in this project, also in later sessions"), "{written}");
    assert!(written.contains("/always yes, always for \"cargo test *\""), "{written}");
    stage.line("/always");
    assert!(matches!(call.poll(), Some(Ok(_))));
}

#[test]
fn an_answer_counts_for_a_question_that_was_written_before_the_line_was_begun() {
    let mut stage = at_work();
    let mut call = Call::asks(&mut stage, "cargo test");
    // It is not written yet.
    stage.line("/yes");
    assert!(call.poll().is_none());
    assert!(stage.written().contains("was not answered: it was not written yet"));
    // The line came at the same moment.
    stage.line_at_once("/yes");
    assert!(call.poll().is_none());
    assert!(stage.written().contains("was not answered, as you may still have typed: answer again"));
    // Begun before, ended long after.
    stage.later(1_000).keys("/no ");
    let mut other = Call::asks(&mut stage, "cargo doc");
    stage.later(5_000).keys("because<enter>");
    assert!(matches!(call.poll(), Some(Err(_))), "it was the question when the line was begun");
    assert!(other.poll().is_none());
    stage.written();
    stage.keys("<enter>").later(10).keys("/yes<enter>");
    assert!(other.poll().is_none(), "begun right behind what was written");
    stage.later(1_000).keys("/yes").later(1).keys("<enter>");
    assert!(matches!(other.poll(), Some(Ok(_))), "slow or quick, it was begun after");
}

#[test]
fn an_answer_that_names_the_question_counts_at_once_but_for_no_other() {
    let mut stage = at_work();
    let mut call = Call::asks(&mut stage, "cargo test");
    stage.line_at_once("/yes 1");
    assert!(call.poll().is_none(), "it was not written yet");
    stage.written();
    stage.line_at_once("/yes 2");
    assert!(call.poll().is_none(), "there is no such question");
    stage.line_at_once("/yes 1");
    assert!(matches!(call.poll(), Some(Ok(_))));
}

#[test]
fn a_no_takes_words_and_they_reach_the_model_as_they_are() {
    let mut stage = at_work();
    let mut call = Call::asks(&mut stage, "cargo test");
    stage.written();
    stage.line("/no 3 files is too many");
    let Some(Err(refusal)) = call.poll() else { panic!("it is declined") };
    assert!(refusal.to_string().contains("3 files is too many"), "{refusal}");
    assert!(stage.app.message.is_empty() && stage.app.message.about_question().is_none());
}

#[test]
fn a_long_question_is_read_to_its_end_before_a_yes() {
    let mut stage = at_work();
    let command: String = (0..150).map(|line| format!("echo {line}\n")).collect();
    let mut call = Call::asks(&mut stage, &command);
    assert!(stage.written().contains("lines: /more reads on"));
    stage.line("/yes");
    assert!(call.poll().is_none());
    assert!(stage.written().contains("read to the end first: /more"));
    stage.line("/more").written();
    stage.line("/more");
    let end = stage.written();
    assert!(end.contains("echo 149") && !end.contains("/more reads on"), "{end}");
    stage.line("/yes");
    assert!(matches!(call.poll(), Some(Ok(_))));
}

#[test]
fn a_question_of_exactly_the_lines_that_are_told_at_once_is_read_and_one_line_more_is_not() {
    let question = |lines: usize| {
        let mut stage = at_work();
        let call = Call::asks(&mut stage, &vec!["true"; lines].join("\n"));
        let written = stage.written();
        (stage, call, written)
    };
    let longest = (1..100).take_while(|lines| !question(*lines).2.contains("/more reads on")).last().unwrap();
    let (mut stage, mut call, _) = question(longest);
    stage.line("/yes");
    assert!(matches!(call.poll(), Some(Ok(_))));
    let (mut stage, mut call, written) = question(longest + 1);
    assert!(written.contains("1 line: /more reads on"), "{written}");
    stage.line("/yes");
    assert!(call.poll().is_none());
    stage.line("/more").written();
    stage.line("/yes");
    assert!(matches!(call.poll(), Some(Ok(_))));
}

#[test]
fn when_the_input_has_ended_nobody_is_waited_for() {
    let mut stage = at_work();
    let mut call = Call::asks(&mut stage, "cargo test");
    stage.tell(Msg::NobodyThere("2026-11-21T10:00:00Z".parse().unwrap()));
    assert!(matches!(call.poll(), Some(Err(_))));
    assert!(stage.written().contains("nobody is there to answer"));
}

#[test]
fn a_held_call_runs_runs_changed_or_is_skipped_by_words() {
    let mut stage = at_work();
    stage.line("/hold");
    assert!(stage.written().contains("paused: main waits before its next call or request"));
    wait_before_a_call(&mut stage);
    // It was not written yet.
    stage.line("/step");
    let written = stage.written();
    assert!(written.contains("paused: main waits before bash: $ cargo test; /step runs it"), "{written}");
    assert!(written.contains("nothing was decided: where main waits was not written yet"), "{written}");
    stage.line("/edit-call").line("/edit-call no json").line("/skip").line("");
    let written = stage.written();
    assert!(written.contains("argument:   \"command\": \"cargo test\""), "{written}");
    assert!(written.contains("not run: invalid JSON"), "{written}");
    assert!(
        !stage.effects.iter().any(|effect| matches!(effect, Effect::Request(Request::Decide { .. }))),
        "nothing was decided"
    );
    stage.line(r#"/edit-call {"command":"cargo check"}"#);
    let edited = Decision::Edited(Arguments::parse(r#"{"command":"cargo check"}"#));
    assert!(
        matches!(stage.effects.last(), Some(Effect::Request(Request::Decide { decision: verdict, .. })) if *verdict == edited)
    );
    stage.line("/skip not now");
    assert!(
        matches!(stage.effects.last(), Some(Effect::Request(Request::Decide { decision: Decision::Skip(why), .. })) if why == "not now")
    );
    stage.line("/step");
    assert!(matches!(stage.effects.last(), Some(Effect::Request(Request::Decide { decision: Decision::Run, .. }))));
    stage.line("/go");
    assert!(stage.effects.iter().any(|effect| matches!(effect, Effect::Request(Request::Pause { .. }))));
    assert!(stage.app.message.is_empty() && stage.app.message.about_call().is_none());
}

#[test]
fn words_about_a_held_call_leave_what_is_kept_in_the_line() {
    let mut stage = at_work();
    stage.line("for later").line("/take");
    assert_eq!(stage.app.message.text(), "for later");
    stage.line("/hold");
    wait_before_a_call(&mut stage);
    stage.written();
    stage.line("/skip not now");
    assert!(
        matches!(stage.effects.last(), Some(Effect::Request(Request::Decide { decision: Decision::Skip(why), .. })) if why == "not now")
    );
    assert_eq!(stage.app.message.text(), "for later");
}

#[test]
fn an_old_text_is_asked_about_and_answered_in_words() {
    let mut stage = at_work();
    stage.line("old news");
    let mut stale = stage.app.ui.run.pending.entries()[0].message.clone();
    stale.stale = true;
    stage.tell(Msg::Update(Update::Queues { queues: vec![("".into(), vec![stale])], paused: false }));
    let written = stage.written();
    assert!(written.contains("/edit N TEXT edit, /no drop, /leave not now"), "{written}");
    stage.line("/leave");
    assert!(stage.written().contains("it stays in the list, held"));
    stage.turn_ended("", Outcome::Completed, None);
}

#[test]
fn a_number_alone_is_sent_by_the_second_line_only_while_a_question_is_open() {
    for text in ["1", "2.", "ok"] {
        let mut stage = at_work();
        let mut call = Call::asks(&mut stage, "cargo test");
        stage.written();
        let sent = stage.sent().len();
        stage.line(text);
        assert!(call.poll().is_none() && stage.sent().len() == sent, "{text}");
        assert!(stage.written().contains("no such answer: /yes or /no answers"));
        stage.line(text);
        assert_eq!(stage.sent().last().unwrap().0, text);
    }
}
