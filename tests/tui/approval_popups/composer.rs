//! Answers and the message line: which keys and commands answer a question, which are text of the message, and that the
//! draft comes back when the words of a no are written or given up.

use steersman_base::protocol::{Notice, PromptTemplate, TemplateKind, Update};
use steersman_tui::msg::Msg;

use super::{Call, QUIET, arm, command, stage};

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
    for (keys, text) in [("1 more thing", "1 more thing"), ("1 1", "1 1"), ("<down>x", "x"), ("1<bs>z", "z")] {
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
    assert!(stage.screen().contains("answer the question: 1 to "), "{}", stage.screen());
    let mut stage = self::stage(80, 24);
    let mut call = Call::asks(&mut stage, "", command("cargo test"));
    stage.keys("1 ").screen();
    stage.keys("x<enter>");
    assert!(call.poll().is_none());
    assert_eq!(stage.sent().last().unwrap().0, "1 x");
}

#[test]
fn a_lone_answer_is_never_a_message_and_answers_as_soon_as_the_question_is_armed() {
    let yes = ["1", "y", "Y", "yes", " yes ", "\u{ff11}", "\u{ff59}\u{ff45}\u{ff53}"];
    for (text, is_yes) in yes
        .map(|text| (text, true))
        .into_iter()
        .chain(["n", "no", "NO", "3", "\u{ff13}", "\u{ff2e}"].map(|text| (text, false)))
    {
        for send in ["<enter>", "<tab>", "<f5>"] {
            let mut stage = stage(80, 24);
            // Something was being written, and is cleared a moment before.
            stage.keys("half a draft");
            let mut call = Call::asks(&mut stage, "", command("cargo test"));
            arm(&mut stage);
            stage.keys("<c-u>").wait(100).keys(text).wait(100).keys(send);
            assert!(call.poll().is_none(), "{text:?} {send}: it came too early");
            assert!(stage.screen().contains("the question was not answered"), "{}", stage.screen());
            assert_eq!(stage.app.message.text(), text, "it stays");
            stage.wait(QUIET).keys(send);
            let outcome = call.poll().unwrap_or_else(|| panic!("{text:?} {send}: it was answered"));
            assert_eq!(outcome.is_ok(), is_yes, "{text:?}");
            assert_eq!((stage.app.message.text().as_str(), stage.sent().len()), ("", 0), "{text:?} {send}");
        }
        // Begun when the question was armed it answers at once, however fast it is typed.
        let mut stage = stage(80, 24);
        let mut call = Call::asks(&mut stage, "", command("cargo test"));
        arm(&mut stage);
        stage.keys(text).keys("<enter>");
        assert_eq!(call.poll().unwrap_or_else(|| panic!("{text:?} was an answer")).is_ok(), is_yes, "{text:?}");
        assert!(stage.sent().is_empty());
    }
}

#[test]
fn a_lone_answer_behind_a_command_that_waits_for_its_shell_lines_answers_and_is_no_message() {
    let mut stage = stage(80, 24);
    stage.tell(Msg::Update(Update::Notice(Notice::Templates(vec![PromptTemplate {
        name: "state".to_owned(),
        kind: TemplateKind::Command,
        source: "project".to_owned(),
        hint: String::new(),
        description: "What changed".to_owned(),
        text: "State: !`git status`".to_owned(),
        allowed: Vec::new(),
    }]))));
    stage.keys("/state now<enter>");
    let mut call = Call::asks(&mut stage, "", command("git status"));
    arm(&mut stage);
    stage.keys("1<enter>");
    assert_eq!(call.ran().command, "git status");
    assert_eq!((stage.app.message.text().as_str(), stage.sent().len()), ("/state now", 0));
}

#[test]
fn a_lone_answer_to_a_question_that_is_not_read_is_selected_and_never_sent() {
    let mut stage = stage(80, 24);
    let mut call = Call::asks(&mut stage, "", command(&"cargo test\n".repeat(60)));
    arm(&mut stage);
    stage.keys("yes<enter>");
    assert!(call.poll().is_none());
    assert_eq!((stage.app.message.text().as_str(), stage.sent().len()), ("", 0));
    stage.keys("<c-end>").screen();
    stage.wait(QUIET).screen();
    stage.keys("<enter>");
    assert!(call.poll().is_some_and(|outcome| outcome.is_ok()), "{}", stage.screen());
}

#[test]
fn what_is_no_answer_of_the_question_is_a_message() {
    for text in ["yes please", "no, wait", "y n", "1 2", "100", "1\nand more"] {
        let mut stage = stage(80, 24);
        let mut call = Call::asks(&mut stage, "", command("cargo test"));
        arm(&mut stage);
        stage.keys(&text.replace('\n', "<c-j>")).keys("<enter>");
        assert!(call.poll().is_none(), "{text:?}");
        assert_eq!(stage.sent().last().unwrap().0, text);
    }
}

#[test]
fn an_answer_with_a_full_stop_or_a_pasted_line_end_is_an_answer() {
    for (text, is_yes) in [
        ("1.", true),
        ("1)", true),
        ("yes.", true),
        ("Yes!", true),
        ("3.", false),
        ("no.", false),
        ("\u{ff11}\u{3002}", true),
    ] {
        let mut stage = stage(80, 24);
        let mut call = Call::asks(&mut stage, "", command("cargo test"));
        arm(&mut stage);
        stage.keys(text).keys("<enter>").wait(QUIET).keys("<enter>");
        assert_eq!(call.poll().unwrap_or_else(|| panic!("{text:?} was an answer")).is_ok(), is_yes, "{text:?}");
        assert!(stage.sent().is_empty());
    }
    for text in ["1\n", " yes\r\n", "1.\n"] {
        let mut stage = stage(80, 24);
        let mut call = Call::asks(&mut stage, "", command("cargo test"));
        arm(&mut stage);
        stage.paste(text);
        assert!(call.poll().is_none(), "a paste alone answers nothing");
        stage.wait(QUIET).keys("<enter>");
        assert!(call.poll().is_some_and(|outcome| outcome.is_ok()), "{text:?}");
        assert!(stage.sent().is_empty());
    }
}

#[test]
fn what_looks_like_an_answer_that_there_is_not_is_sent_by_the_second_enter_only() {
    for text in ["7", "0", "11", "9.", "ok", "sure", "always"] {
        let mut stage = stage(80, 24);
        let mut call = Call::asks(&mut stage, "", command("cargo test"));
        arm(&mut stage);
        stage.keys(text).keys("<enter>");
        assert!(call.poll().is_none() && stage.sent().is_empty(), "{text:?}");
        assert_eq!(stage.app.message.text(), text, "it stays");
        assert!(stage.screen().contains("no such answer: 1 to "), "{}", stage.screen());
        stage.keys("<enter>");
        assert_eq!(stage.sent().last().unwrap().0, text);
        assert!(call.poll().is_none());
    }
    // Without a question it is a text like any other.
    let mut stage = stage(80, 24);
    stage.keys("7<enter>");
    assert_eq!(stage.sent().last().unwrap().0, "7");
}

#[test]
fn arrows_that_come_too_early_bring_no_older_text() {
    let mut stage = stage(80, 24);
    stage.keys("before<enter>");
    stage.drain();
    stage.refresh();
    let mut call = Call::asks(&mut stage, "", command("cargo test"));
    stage.screen();
    stage.keys("<up><enter>");
    assert_eq!(stage.app.message.text(), "");
    arm(&mut stage);
    assert_eq!(stage.app.questions.selected(), None, "nothing is marked at first");
    stage.keys("<down><enter>");
    assert!(call.poll().is_some_and(|outcome| outcome.is_ok()));
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
    assert!(!stage.effects.contains(&steersman_tui::msg::Effect::Request(steersman_base::protocol::Request::Stop)));
    assert!(stage.screen().contains("Esc: wait"), "{}", stage.screen());
    stage.wait(QUIET);
    assert!(stage.screen().contains("Esc: no"));
    stage.keys("<esc>");
    assert_eq!(call.refused(), "the user declined this");
}
