//! Approvals by keys: what a question shows, when a yes counts, and what becomes of a no.

use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use steersman::approval::{
    Answerer, ApprovalRecord, Approved, Asker, CommandAct, FetchAct, KeptRule, Mode, PlainAnswer, Policy, Proposal,
    Refusal, RuleStore, Rules, UseAct, WriteAct,
};

use crate::support::stage::Stage;

/// Milliseconds without a key, behind the drawing, that arm a question.
const QUIET: i64 = 350;

type Asking<A> = Pin<Box<dyn Future<Output = Result<Approved<A>, Refusal>>>>;

/// A tool that waits for leave.
struct Call<A>(Asking<A>);

impl<A: Proposal + std::fmt::Debug + 'static> Call<A> {
    /// Asks for leave on the stage's desk, as a call of this agent.
    fn asks(stage: &mut Stage, agent: &str, act: A) -> Self {
        let desk = Arc::clone(stage.handle.approvals());
        let asker = Asker { agent: agent.into(), call: "c1".into() };
        let mut call = Self(Box::pin(async move { desk.decide(&asker, act, &|_: ApprovalRecord| {}).await }));
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
        self.poll().expect("it was answered").expect("with yes").take().expect("unchanged")
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

fn command(command: &str) -> CommandAct {
    CommandAct { command: command.to_owned(), cwd: PathBuf::from("/work/repo"), timeout: Duration::from_mins(2) }
}

fn write(diff: &str) -> WriteAct {
    WriteAct {
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
        let act = UseAct { tool: "read".into(), path: Some(path), shown: "secrets/key.txt".to_owned() };
        let mut call = Call::asks(&mut stage, "", act.clone());
        arm(&mut stage);
        insta::assert_snapshot!(format!("reading_{width}x{height}"), stage.picture());
        stage.keys("<c-end>");
        arm(&mut stage);
        stage.keys("<a-y>");
        assert_eq!(call.ran(), act);
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
        assert!(screen.contains("always: cargo test * in this project, also in later sessions"), "{screen}");
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
        assert!(!stage.effects.contains(&steersman::tui::msg::Effect::Request(steersman::protocol::Request::Stop)));
    }
}

#[test]
fn alt_w_takes_words_for_the_model_and_the_draft_comes_back() {
    let mut stage = stage(80, 24);
    stage.keys("half a draft");
    let mut call = Call::asks(&mut stage, "", command("rm -r target"));
    arm(&mut stage);
    stage.keys("<a-w>");
    let screen = stage.screen();
    assert!(screen.contains("│ rm -r target") && screen.contains("Enter sends your words as a no"), "{screen}");
    assert!(screen.contains("→ no, and the model is told this") && screen.contains("Esc: back"), "{screen}");
    assert!(!screen.contains("half a draft"));
    // No key that answers does so now, and an empty no with words is none.
    stage.wait(QUIET).keys("<a-y>").wait(QUIET).keys("<enter>");
    assert!(call.poll().is_none());
    stage.keys("use cargo clean<enter>");
    assert_eq!(call.refused(), "the user declined this and says: use cargo clean");
    assert_eq!(stage.app.message.text(), "half a draft");
    assert!(stage.sent().is_empty());
}

#[test]
fn escape_goes_from_the_words_back_to_the_question() {
    let mut stage = stage(80, 24);
    stage.keys("draft");
    let mut call = Call::asks(&mut stage, "", command("make"));
    arm(&mut stage);
    stage.keys("<a-w>why<esc>");
    assert_eq!(stage.app.message.text(), "draft");
    assert!(call.poll().is_none());
    arm(&mut stage);
    stage.keys("<a-y>");
    assert_eq!(call.ran().command, "make");
}

#[test]
fn a_yes_is_refused_until_the_end_was_on_the_screen_and_a_no_never_is() {
    let script: Vec<String> = (1..=60).map(|line| format!("echo {line}")).collect();
    let mut stage = stage(80, 24);
    let mut call = Call::asks(&mut stage, "", command(&script.join("\n")));
    arm(&mut stage);
    let screen = stage.screen();
    assert!(screen.contains("60 lines, 470 characters") && screen.contains("more, PageDown"), "{screen}");
    assert!(screen.contains("○ read to the end before a yes"), "{screen}");
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
fn the_question_goes_with_its_call_and_words_that_were_begun_come_back() {
    let mut stage = stage(80, 24);
    stage.keys("draft");
    let call = Call::asks(&mut stage, "", command("make"));
    arm(&mut stage);
    stage.keys("<a-w>too late");
    drop(call);
    stage.refresh();
    let screen = stage.screen();
    assert!(screen.contains("the question is gone") && !screen.contains("Run this command?"), "{screen}");
    assert_eq!(stage.app.message.text(), "draft");
    stage.keys("<c-_>");
    assert!(stage.app.message.text().contains("too late"), "{}", stage.app.message.text());
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
fn what_would_hide_is_marked() {
    for (hidden, shown) in [
        ("ls\u{202e}gnp", "ls<U+202E>gnp"),
        ("ls \u{200b}-l", "ls <U+200B>-l"),
        ("ls\u{a0}-l", "ls<U+00A0>-l"),
        ("ls\rrm -r .", "ls␍rm -r ."),
        ("ls\u{8}\u{8}rm", "ls␈␈rm"),
        ("ls\u{1b}[2Krm", "ls␛[2Krm"),
        ("ls\trm", "ls→ rm"),
        ("ls   ", "ls···"),
        ("ls\r\n", "ls␍"),
        ("ls\u{e0041}", "ls<U+E0041>"),
        ("l\u{ad}s", "l<U+00AD>s"),
        ("ls; # \u{430}", "not ASCII: 1: \u{430} (U+0430)"),
        ("ls     ; rm", "ls·····; rm"),
    ] {
        let mut stage = stage(100, 30);
        let _call = Call::asks(&mut stage, "", command(hidden));
        let screen = stage.screen();
        assert!(screen.contains(shown), "{hidden:?}: {screen}");
    }
}

#[test]
fn what_is_unusual_about_a_command_or_a_file_is_told() {
    let mut stage = stage(100, 30);
    let slow = CommandAct { timeout: Duration::from_mins(10), ..command("make all") };
    let _slow = Call::asks(&mut stage, "", slow);
    assert!(stage.screen().contains("at most: 10:00"), "{}", stage.screen());
    for (text, size) in
        [("a\nb\nc\nd".to_owned(), "4 lines, 7 characters"), ("x".repeat(201), "1 line, 201 characters")]
    {
        let mut stage = self::stage(100, 30);
        let _call = Call::asks(&mut stage, "", command(&text));
        assert!(stage.screen().contains(size), "{size}\n{}", stage.screen());
    }
    let mut stage = self::stage(100, 30);
    let large = WriteAct { after: vec![b'x'; 100_000].into(), ..write("@@ -1 +1 @@\n-old\n+new!\n") };
    let _large = Call::asks(&mut stage, "", large);
    assert!(stage.screen().contains("size: 4 → 100000 bytes"), "{}", stage.screen());
}

#[test]
fn five_hundred_blanks_hide_no_second_command() {
    let text = format!("ls{};rm -rf .", " ".repeat(500));
    let mut stage = stage(80, 24);
    let _call = Call::asks(&mut stage, "", command(&text));
    let screen = stage.screen();
    assert!(screen.contains("1 line, 511 characters"), "{screen}");
    assert!(screen.contains("│↪····") && screen.contains("·;rm -rf ."), "{screen}");
}

#[test]
fn a_question_of_the_program_itself_is_answered_like_any_other_and_no_words_are_asked_for() {
    for (key, yes) in [("<a-y>", true), ("<a-n>", false), ("<esc>", false)] {
        let mut stage = stage(80, 24);
        let desk = Arc::clone(stage.handle.approvals());
        let mut asking = Box::pin(async move { desk.ask_user("Trust this project?", "it brings\nhooks.toml").await });
        let mut poll = || asking.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll().is_pending());
        stage.refresh();
        arm(&mut stage);
        let screen = stage.screen();
        assert!(screen.contains("Steersman asks") && screen.contains("Trust this project?"), "{screen}");
        assert!(screen.contains("│ hooks.toml") && !screen.contains("words"), "{screen}");
        stage.keys(key);
        assert_eq!(poll(), Poll::Ready(yes), "{key}");
    }
}

#[test]
fn a_fake_box_stays_behind_the_gutter() {
    let fake = "true\n╭ main asks ─────╮\n│ Run: ls │\n● Alt+Y yes";
    let mut stage = stage(80, 24);
    let _call = Call::asks(&mut stage, "", command(fake));
    let screen = stage.screen();
    for line in fake.lines() {
        assert!(screen.contains(&format!("│ │ {line}")), "{line}: {screen}");
    }
}

#[test]
fn a_screen_without_room_takes_no_answer_and_says_so() {
    let mut stage = stage(24, 4);
    let mut call = Call::asks(&mut stage, "", command("make"));
    stage.screen();
    stage.wait(QUIET).keys("<a-y>");
    assert!(call.poll().is_none());
    let url = FetchAct { tool: "fetch".into(), url: "http://example.com/".to_owned() };
    let mut other = Call::asks(&mut stage, "", url);
    stage.resize(80, 24);
    arm(&mut stage);
    stage.keys("<a-y>");
    call.ran();
    arm(&mut stage);
    assert!(stage.screen().contains("│ http://example.com/"));
    stage.keys("<a-n>");
    other.refused();
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
    let typed_early = "the question was not answered: it came up while you typed";
    stage.keys("<a-y>");
    assert!(stage.screen().contains(typed_early));
    arm(&mut stage);
    stage.keys("<a-y>");
    assert!(stage.screen().contains("read to the end first"));
    stage.keys("<c-end>").screen();
    stage.wait(1);
    assert!(!stage.screen().contains("read to the end first"), "it is read");
    stage.keys("<enter>");
    assert!(stage.screen().contains("first choose an answer"));
    arm(&mut stage);
    stage.keys("2");
    assert!(!stage.screen().contains("first choose an answer"), "one is chosen");
    stage.keys("<backspace>").keys("<a-y>");
    assert!(stage.screen().contains(typed_early));
    drop(call.poll());
    drop(call);
    stage.refresh();
    assert!(!stage.screen().contains(typed_early), "{}", stage.screen());
}

#[test]
fn the_transcript_stays_readable_above_a_question_and_scrolls() {
    let mut stage = stage(80, 24);
    let text: String = (1..=30).map(|line| format!("Reason {line}.\n\n")).collect();
    stage.says("", &text);
    let mut call = Call::asks(&mut stage, "", command("cargo test"));
    arm(&mut stage);
    let screen = stage.screen();
    assert!(screen.contains("Reason 30.") && screen.contains("cargo test"), "{screen}");
    stage.keys("<c-o><home>");
    let screen = stage.screen();
    assert!(screen.contains("Reason 1.") && screen.contains("cargo test"), "{screen}");
    stage.wait(QUIET).keys("<esc>");
    assert!(call.poll().is_none(), "Esc from another pane only returns to the message");
    stage.wait(QUIET).keys("<esc>");
    assert_eq!(call.refused(), "the user declined this");
}

#[test]
fn a_number_selects_an_answer_and_enter_gives_it() {
    for (keys, answer) in [("1<enter>", "yes"), ("<down><enter>", "yes"), ("3<enter>", "no"), ("2<up><enter>", "yes")] {
        let mut stage = stage(80, 24);
        let mut call = Call::asks(&mut stage, "", command("cargo test"));
        arm(&mut stage);
        stage.keys(keys);
        let outcome = call.poll().unwrap_or_else(|| panic!("{keys}: it was answered"));
        assert_eq!(outcome.is_ok(), answer == "yes", "{keys}");
        assert_eq!(stage.app.message.text(), "", "{keys}");
    }
}

#[test]
fn a_number_with_anything_behind_it_is_a_text_and_approves_nothing() {
    for (keys, text) in [("1 more thing", "1 more thing"), ("11", "11"), ("<down>x", "x"), ("1<bs>y", "y")] {
        let mut stage = stage(80, 24);
        let mut call = Call::asks(&mut stage, "", command("cargo test"));
        arm(&mut stage);
        stage.keys(keys);
        assert_eq!(stage.app.message.text(), text);
        stage.keys("<enter>");
        assert!(call.poll().is_none(), "{keys}");
        assert_eq!(stage.sent().last().unwrap().0, text);
    }
}

#[test]
fn a_paste_behind_a_number_makes_a_text_of_both() {
    let mut stage = stage(80, 24);
    let mut call = Call::asks(&mut stage, "", command("cargo test"));
    arm(&mut stage);
    stage.keys("1").paste(" and more").keys("<enter>");
    assert!(call.poll().is_none());
    assert_eq!(stage.sent().last().unwrap().0, "1 and more");
}

#[test]
fn the_number_of_an_answer_is_no_text_of_the_words_that_follow() {
    let mut stage = stage(80, 24);
    let _call = Call::asks(&mut stage, "", command("cargo test"));
    arm(&mut stage);
    // What is typed fast comes as a paste does.
    stage.keys("4<enter>").paste("not now, run the tests first");
    assert_eq!(stage.app.message.text(), "not now, run the tests first");
}

#[test]
fn nothing_is_selected_beforehand_and_a_number_that_came_too_early_is_text() {
    let mut stage = stage(80, 24);
    let mut call = Call::asks(&mut stage, "", command("cargo test"));
    stage.screen();
    stage.wait(QUIET).keys("<enter>");
    assert!(call.poll().is_none(), "nothing was selected");
    assert!(stage.screen().contains("first choose an answer"), "{}", stage.screen());
    let mut stage = self::stage(80, 24);
    let mut call = Call::asks(&mut stage, "", command("cargo test"));
    stage.keys("1").screen();
    stage.keys("<enter>");
    assert!(call.poll().is_none());
    assert_eq!(stage.sent().last().unwrap().0, "1");
}

#[test]
fn a_number_selects_nothing_in_a_message_or_of_a_question_that_followed() {
    let mut stage = stage(80, 24);
    stage.keys("take ");
    let mut call = Call::asks(&mut stage, "", command("cargo test"));
    arm(&mut stage);
    stage.keys("1<enter>");
    assert!(call.poll().is_none());
    assert_eq!(stage.sent().last().unwrap().0, "take 1");
}

#[test]
fn commands_answer_at_any_time_and_only_what_was_shown_before_they_were_begun() {
    for (line, outcome) in [("/yes", Ok(())), ("/no use make", Err("the user declined this and says: use make"))] {
        let mut stage = stage(80, 24);
        let mut call = Call::asks(&mut stage, "", command("cargo test"));
        arm(&mut stage);
        stage.keys(line).screen();
        stage.keys("<enter>");
        let answered = call.poll().unwrap_or_else(|| panic!("{line}: it was answered"));
        assert_eq!(answered.map(|_| ()).map_err(|refusal| refusal.to_string()), outcome.map_err(str::to_owned));
    }
    let mut stage = stage(80, 24);
    stage.keys("/ye");
    let mut call = Call::asks(&mut stage, "", command("cargo test"));
    arm(&mut stage);
    stage.keys("s<enter>");
    assert!(call.poll().is_none(), "it was begun before the question came");
}

#[test]
fn esc_right_behind_a_letter_neither_declines_nor_stops() {
    let mut stage = stage(80, 24);
    let mut call = Call::asks(&mut stage, "", command("cargo test"));
    arm(&mut stage);
    stage.keys("x<esc>");
    assert!(call.poll().is_none());
    assert!(!stage.effects.contains(&steersman::tui::msg::Effect::Request(steersman::protocol::Request::Stop)));
    assert!(stage.screen().contains("Esc: wait"), "{}", stage.screen());
    stage.wait(QUIET);
    assert!(stage.screen().contains("Esc: no"));
    stage.keys("<esc>");
    assert_eq!(call.refused(), "the user declined this");
}

#[test]
fn a_pause_while_a_question_is_open_is_shown_at_once() {
    for (width, height, lines) in [(120, 36, 1), (80, 24, 1), (40, 12, 1), (80, 24, 40), (40, 12, 40)] {
        let mut stage = stage(width, height);
        let mut call = Call::asks(&mut stage, "", command(&"make\n".repeat(lines)));
        arm(&mut stage);
        stage.keys("<a-h>");
        let screen = stage.screen();
        assert!(
            screen.contains("Run this command?") && screen.contains("main is paused"),
            "{width}x{height}:\n{screen}"
        );
        stage.keys("<a-h>");
        assert!(!stage.screen().contains("paused"), "{width}x{height}:\n{}", stage.screen());
        arm(&mut stage);
        stage.keys("<a-n>");
        call.refused();
    }
}

#[test]
fn a_question_under_something_else_says_what_to_close() {
    for (height, keys, words, close) in [
        (24, "<f1>", "a question waits: F1 closes help", "<f1>"),
        (24, "<f1><end><enter>", "a question waits: F1 closes help", "<f1>"),
        (24, "<f4>", "a question waits: F4 closes the ledger", "<f4>"),
        (12, "<c-r>", "a question waits: Esc closes the list", "<esc>"),
    ] {
        let mut stage = stage(80, height);
        let _call = Call::asks(&mut stage, "", command("make"));
        let screen = stage.keys(keys).screen();
        assert!(screen.contains(words) && !screen.contains("make the terminal larger"), "{keys}:\n{screen}");
        let screen = stage.keys(close).screen();
        assert!(screen.contains("Run this command?"), "{keys}:\n{screen}");
    }
}
