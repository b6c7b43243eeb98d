//! Approvals by keys: what a question shows, when a yes counts, and what becomes of a no.

mod composer;
mod display;

use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use steersman_base::text::QuestionText;
use steersman_core::approval::{
    Answerer, ApprovalRecord, Approved, Asker, CommandOperation, KeptRule, Mode, PlainAnswer, Policy, Proposal,
    Refusal, RuleStore, Rules, UseOperation, WriteOperation,
};

use crate::support::stage::Stage;

/// Milliseconds without a key, behind the drawing, that arm a question.
const QUIET: i64 = 350;

type Asking<A> = Pin<Box<dyn Future<Output = Result<Approved<A>, Refusal>>>>;

/// A tool that waits for leave.
struct Call<A>(Asking<A>);

impl<A: Proposal + std::fmt::Debug + 'static> Call<A> {
    /// Asks for leave on the stage's desk, as a call of this agent.
    fn asks(stage: &mut Stage, agent: &str, operation: A) -> Self {
        let desk = Arc::clone(stage.handle.approvals());
        let asker = Asker { agent: agent.into(), call: "c1".into() };
        let mut call = Self(Box::pin(async move { desk.decide(&asker, operation, &|_: ApprovalRecord| {}).await }));
        assert!(call.poll().is_none(), "it waits");
        stage.refresh();
        call
    }

    fn poll(&mut self) -> Option<Result<Approved<A>, Refusal>> {
        match self.0.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => Some(outcome),
            Poll::Pending => None,
        }
    }

    fn ran(&mut self) -> A {
        self.poll().expect("it was answered").expect("with yes").take()
    }

    fn refused(&mut self) -> String {
        self.poll().expect("it was answered").expect_err("with no").to_string()
    }
}

fn stage(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    let policy = Policy { answerer: Answerer::User, ..Policy::default() };
    stage.handle.approvals().configure(policy, Mode::Ask);
    stage.turn("").call("", "c1", "bash");
    stage
}

fn command(command: &str) -> CommandOperation {
    CommandOperation {
        command: command.to_owned(),
        cwd: PathBuf::from("/work/repo"),
        timeout: Duration::from_mins(2),
        outside: false,
    }
}

fn write(diff: &str) -> WriteOperation {
    WriteOperation {
        tool: "edit".into(),
        path: PathBuf::from("/work/repo/src/a.rs"),
        shown: "src/a.rs".to_owned(),
        before: Some(Arc::<[u8]>::from(&b"old\n"[..]).into()),
        after: Arc::<[u8]>::from(&b"new!\n"[..]).into(),
        diff: diff.to_owned(),
    }
}

fn arm(stage: &mut Stage) {
    stage.screen();
    stage.wait(QUIET);
    stage.screen();
}

#[test]
fn a_path_that_a_rule_asks_about_is_shown_with_the_tool_and_the_rule() {
    for (width, height) in [(120, 36), (80, 24), (40, 12)] {
        let mut stage = stage(width, height);
        let rules = Rules::parse(&[], &["read: secrets/*"], &[]).unwrap();
        let root = Some(PathBuf::from("/work/repo"));
        let policy = Policy { answerer: Answerer::User, rules, root, ..Policy::default() };
        stage.handle.approvals().configure(policy, Mode::Auto);
        let path = PathBuf::from("/work/repo/secrets/key.txt");
        let operation = UseOperation { tool: "read".into(), path: Some(path), shown: "secrets/key.txt".to_owned() };
        let mut call = Call::asks(&mut stage, "", operation.clone());
        arm(&mut stage);
        insta::assert_snapshot!(format!("reading_{width}x{height}"), stage.picture());
        stage.keys("<c-end>");
        arm(&mut stage);
        stage.keys("<a-y>");
        assert_eq!(call.ran(), operation);
    }
}

#[test]
fn a_command_is_shown_whole_and_runs_unchanged_with_alt_y() {
    let mut stage = stage(80, 24);
    let mut call = Call::asks(&mut stage, "", command("cargo test --test suite"));
    let screen = stage.screen();
    assert!(screen.contains("main asks") && screen.contains("Run this command?"), "{screen}");
    assert!(screen.contains("│ cargo test --test suite") && screen.contains("in: /work/repo"), "{screen}");
    assert!(!screen.contains("1 line") && !screen.contains("at most"), "only what is unusual is told\n{screen}");
    stage.keys("<a-y>");
    assert!(call.poll().is_none(), "it was not on the screen for long enough");
    stage.wait(QUIET).keys("<a-y>");
    assert_eq!(call.ran(), command("cargo test --test suite"));
    assert!(!stage.screen().contains("Run this command?"));
}

/// Keeps rules nowhere.
pub struct Nowhere;

impl RuleStore for Nowhere {
    fn add(&self, _: &KeptRule) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, _: &KeptRule) -> io::Result<()> {
        Ok(())
    }
}

fn stage_that_keeps_rules(width: u16, height: u16) -> Stage {
    let stage = stage(width, height);
    let policy = Policy { answerer: Answerer::User, root: Some(PathBuf::from("/work/repo")), ..Policy::default() };
    let desk = stage.handle.approvals();
    desk.configure(policy, Mode::Ask);
    desk.keep_rules_in(Arc::new(Nowhere), []);
    stage
}

#[test]
fn three_and_enter_allows_the_command_always_by_the_rule_that_is_shown() {
    for keys in ["3<enter>", "<a-a>", "/always<enter>"] {
        let mut stage = stage_that_keeps_rules(80, 24);
        let mut call = Call::asks(&mut stage, "", command("cargo test --test suite"));
        arm(&mut stage);
        let screen = stage.screen();
        assert!(
            screen.contains("3 yes, always for \"cargo test *\"")
                && screen.contains("4 yes, in every project")
                && screen.contains("6 no, and say why"),
            "{screen}"
        );
        assert!(screen.contains("3 allows cargo test * in this project, also in later sessions"), "{screen}");
        stage.keys(keys);
        assert_eq!(call.ran(), command("cargo test --test suite"), "{keys}");
        let mut next = Call(Box::pin({
            let desk = Arc::clone(stage.handle.approvals());
            let asker = Asker { agent: "".into(), call: "c2".into() };
            async move { desk.decide(&asker, command("cargo test --doc"), &|_: ApprovalRecord| {}).await }
        }));
        assert_eq!(next.ran(), command("cargo test --doc"), "it is not asked about again");
        stage.keys("/rules<enter>");
        let screen = stage.screen();
        assert!(screen.contains("rule 1: bash: cargo test *"), "{screen}");
        stage.keys("/rules remove 1<enter>");
        let screen = stage.screen();
        assert!(screen.contains("removed the rule bash: cargo test *"), "{screen}");
        let _asked = Call::asks(&mut stage, "", command("cargo test --doc"));
    }
}

#[test]
fn where_no_rule_is_offered_three_is_no_and_alt_a_is_no_answer() {
    let mut stage = stage_that_keeps_rules(80, 24);
    let mut call = Call::asks(&mut stage, "", command("cargo test | tee log"));
    arm(&mut stage);
    assert!(!stage.screen().contains("always"));
    stage.keys("<a-a>");
    let screen = stage.screen();
    assert!(screen.contains("Alt+A is not an answer to this question"), "{screen}");
    assert!(call.poll().is_none());
    arm(&mut stage);
    stage.keys("3<enter>");
    assert_eq!(call.refused(), "the user declined this");
}

#[test]
fn the_offer_of_a_rule_at_three_sizes() {
    for (width, height) in [(120, 36), (80, 24), (40, 12)] {
        let mut stage = stage_that_keeps_rules(width, height);
        let _call = Call::asks(&mut stage, "", command("cargo test --test suite"));
        arm(&mut stage);
        insta::assert_snapshot!(format!("always_{width}x{height}"), stage.picture());
    }
}

#[test]
fn on_a_small_screen_the_answers_leave_half_of_the_rows_to_what_is_asked_about() {
    let mut stage = stage_that_keeps_rules(40, 12);
    let _call = Call::asks(&mut stage, "", command("cargo test --test suite"));
    arm(&mut stage);
    let screen = stage.screen();
    assert!(screen.contains("│ cargo test --test suite") && screen.contains("2 allows until you quit"), "{screen}");
    assert!(screen.contains("6 no, and say why"), "{screen}");
    // Beside a draft only the keys answer.
    let screen = stage.keys("draft").wait(QUIET).screen();
    assert!(screen.contains("Alt+Y"), "{screen}");
}

#[test]
fn a_turn_at_its_limit_asks_whether_it_goes_on_or_answers() {
    for (width, height) in [(80, 24), (40, 12)] {
        let mut stage = stage(width, height);
        let desk = Arc::clone(stage.handle.approvals());
        let mut asking = Box::pin(async move { desk.ask_for_calls(300, 300, &|_: ApprovalRecord| {}).await });
        let mut poll = || asking.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll().is_pending());
        stage.refresh();
        arm(&mut stage);
        insta::assert_snapshot!(format!("more_calls_{width}x{height}"), stage.picture());
        stage.keys("1<enter>");
        assert_eq!(poll(), Poll::Ready(PlainAnswer::Yes));
    }
}

#[test]
fn alt_n_and_escape_are_a_no_and_no_turn_is_stopped() {
    for key in ["<a-n>", "<esc>"] {
        let mut stage = stage(80, 24);
        let mut call = Call::asks(&mut stage, "", command("rm -r target"));
        arm(&mut stage);
        stage.keys(key);
        assert_eq!(call.refused(), "the user declined this");
        assert!(!stage.effects.contains(&steersman_tui::msg::Effect::Request(steersman_base::protocol::Request::Stop)));
    }
}

#[test]
fn a_yes_is_refused_until_the_end_was_on_the_screen_and_a_no_never_is() {
    let script: Vec<String> = (1..=60).map(|line| format!("echo {line}")).collect();
    let mut stage = stage(80, 24);
    let mut call = Call::asks(&mut stage, "", command(&script.join("\n")));
    arm(&mut stage);
    let screen = stage.screen();
    assert!(screen.contains("60 lines, 470 characters") && screen.contains("more, PageDown"), "{screen}");
    assert!(screen.contains("○ PageDown to the end, then answer"), "{screen}");
    stage.keys("<a-y>");
    let screen = stage.screen();
    assert!(screen.contains("read to the end first: PgDn, "), "{screen}");
    stage.wait(QUIET).keys("<a-s>").wait(QUIET);
    assert!(call.poll().is_none());
    while !stage.screen().contains("in: /work/repo") {
        stage.keys("<pgdn>");
    }
    // Looking back up takes nothing of that away.
    stage.keys("<pgup>").screen();
    stage.wait(QUIET).keys("<a-y>");
    assert_eq!(call.ran().command, script.join("\n"));

    let mut call = Call::asks(&mut stage, "", command(&script.join("\n")));
    arm(&mut stage);
    stage.keys("<a-n>");
    call.refused();
}

#[test]
fn a_detail_of_more_lines_than_any_screen_counts_has_an_end() {
    let mut stage = stage(80, 24);
    let script = "x\n".repeat(70_000);
    let mut call = Call::asks(&mut stage, "", command(&script));
    arm(&mut stage);
    let screen = stage.screen();
    assert!(
        screen.contains("70001 lines, 140000 characters")
            && (screen.contains(" 699") || screen.contains(" 70000 more")),
        "{screen}"
    );
    // Where 16 bits of lines end, this does not.
    stage.app.questions.top = 65_530;
    stage.screen();
    stage.wait(QUIET).keys("<a-y>");
    assert!(call.poll().is_none());
    stage.keys("<c-end>").screen();
    assert!(stage.screen().contains("in: /work/repo"));
    stage.wait(QUIET).keys("<a-y>");
    assert_eq!(call.ran().command, script);
}

#[test]
fn the_next_question_is_locked_again_although_the_one_before_was_read() {
    let script = "true\n".repeat(60);
    let mut stage = stage(80, 24);
    let mut first = Call::asks(&mut stage, "", command(&script));
    let mut second = Call::asks(&mut stage, "", command(&script));
    arm(&mut stage);
    stage.keys("<c-end>").screen();
    stage.wait(QUIET).keys("<a-y>");
    first.ran();
    arm(&mut stage);
    stage.keys("<a-y>");
    assert!(second.poll().is_none());
}

#[test]
fn questions_of_several_agents_queue_up_by_name() {
    let mut stage = stage(80, 24);
    stage.spawn("", "worker 0").turn("worker 0").call("worker 0", "c1", "bash");
    let mut first = Call::asks(&mut stage, "worker 0", command("make"));
    let mut second = Call::asks(&mut stage, "", write("@@ -1 +1 @@\n-old\n+new!\n"));
    arm(&mut stage);
    assert!(stage.screen().contains("worker 0 asks · 1 of 2"));
    stage.keys("<a-y>");
    first.ran();
    arm(&mut stage);
    let screen = stage.screen();
    assert!(screen.contains("Change this file?") && screen.contains("file: src/a.rs"), "{screen}");
    assert!(!screen.contains(" bytes") && screen.contains("│ -old") && screen.contains("│ +new!"), "{screen}");
    stage.keys("<a-y>");
    assert_eq!(second.ran(), write("@@ -1 +1 @@\n-old\n+new!\n"));
}

#[test]
fn a_question_of_the_program_itself_is_answered_like_any_other_and_no_words_are_asked_for() {
    for (key, yes) in [("<a-y>", true), ("<a-n>", false), ("<esc>", false)] {
        let mut stage = stage(80, 24);
        let desk = Arc::clone(stage.handle.approvals());
        let mut detail = QuestionText::default();
        detail.field("it brings", "hooks.toml");
        let mut asking = Box::pin(async move { desk.ask_user("Trust this project?", detail).await });
        let mut poll = || asking.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll().is_pending());
        stage.refresh();
        arm(&mut stage);
        let screen = stage.screen();
        assert!(screen.contains("Steersman asks") && screen.contains("Trust this project?"), "{screen}");
        assert!(screen.contains("│   it brings: hooks.toml") && !screen.contains("words"), "{screen}");
        stage.keys(key);
        assert_eq!(poll(), Poll::Ready(yes), "{key}");
    }
}

#[test]
fn the_popup_at_three_sizes() {
    for (width, height) in [(120, 36), (80, 24), (40, 12)] {
        let mut stage = stage(width, height);
        let _first =
            Call::asks(&mut stage, "", command("cargo test --test suite -- layers:: approval_popups:: result"));
        arm(&mut stage);
        insta::assert_snapshot!(format!("command_{width}x{height}"), stage.picture());
        stage.keys("<a-w>use make");
        insta::assert_snapshot!(format!("words_{width}x{height}"), stage.picture());
        let mut stage = self::stage(width, height);
        let diff = "@@ -1,4 +1,4 @@ fn main() {\n     let a = 1;\n-    let b = 2;\n+    let b = 3; \n \tx();\n }\n";
        let _second = Call::asks(&mut stage, "", write(diff));
        arm(&mut stage);
        insta::assert_snapshot!(format!("write_{width}x{height}"), stage.picture());
    }
}

#[test]
fn what_is_said_about_a_question_goes_with_it() {
    let mut stage = stage(80, 24);
    let script = "true\n".repeat(60);
    let mut call = Call::asks(&mut stage, "", command(&script));
    stage.screen();
    let typed_early = "the question was not answered, as you may still have typed: answer again";
    stage.keys("<a-y>");
    assert!(stage.screen().contains(typed_early));
    arm(&mut stage);
    stage.keys("<a-y>");
    assert!(stage.screen().contains("read to the end first"));
    stage.keys("<c-end>").screen();
    stage.wait(1);
    assert!(!stage.screen().contains("read to the end first"), "it is read");
    stage.keys("<enter>");
    assert!(stage.screen().contains("answer the question: 1 to "));
    arm(&mut stage);
    stage.keys("2");
    assert!(!stage.screen().contains("answer the question: 1 to "), "one is chosen");
    stage.keys("<backspace>").keys("<a-y>");
    assert!(stage.screen().contains(typed_early));
    drop(call.poll());
    drop(call);
    stage.refresh();
    assert!(!stage.screen().contains(typed_early), "{}", stage.screen());
}

#[test]
fn a_refused_number_becomes_no_part_of_the_text_typed_next() {
    for (width, height) in [(80, 24), (40, 12)] {
        let mut stage = stage(width, height);
        let _call = Call::asks(&mut stage, "", command(&"true\n".repeat(60)));
        arm(&mut stage);
        stage.keys("1");
        assert!(!stage.screen().contains("gives the selected answer"), "{}", stage.screen());
        stage.keys("<enter>");
        stage.wait(QUIET).keys("hello text<enter>");
        assert_eq!(stage.sent().last().unwrap().0, "hello text");
    }
}

#[test]
fn a_refused_number_is_given_with_enter_once_the_end_was_shown() {
    let script = "true\n".repeat(60);
    for before in ["", "x<c-u>"] {
        let mut stage = stage(80, 24);
        let mut call = Call::asks(&mut stage, "", command(&script));
        arm(&mut stage);
        stage.keys(before).wait(if before.is_empty() { 0 } else { QUIET });
        stage.keys("1<enter>");
        assert_eq!(stage.app.message.text(), "");
        stage.keys("<c-end>").screen();
        stage.wait(QUIET).keys("<enter>");
        assert!(call.poll().is_some_and(|outcome| outcome.is_ok()), "{before}\n{}", stage.screen());
    }
}

#[test]
fn beside_a_draft_a_question_names_the_keys_that_answer_it() {
    let mut stage = stage(80, 24);
    stage.keys("a draft");
    let mut call = Call::asks(&mut stage, "", command("true"));
    arm(&mut stage);
    let screen = stage.screen();
    assert!(screen.contains("● ready: Alt+Y yes, Alt+N no") && !screen.contains("a number, then Enter"), "{screen}");
    stage.keys("<c-c>");
    arm(&mut stage);
    assert!(stage.screen().contains("● ready: a number, then Enter"));
    stage.keys("back").wait(QUIET).keys("<a-y>");
    call.ran();
}
