//! Habits from shells and editors: what Ctrl+C, Ctrl+D, Tab, Alt+letter, readline's keys and a click do, and what they
//! must never do.

use steersman_base::event::{Delivery, Outcome};
use steersman_base::protocol::QueueOperation;
use steersman_base::protocol::Request;
use steersman_tui::approval::QuestionSubject;
use steersman_tui::msg::Effect;
use steersman_tui::state::Pane;

use super::pending_list::{queue, waiting};
use crate::support::stage::Stage;

fn count(stage: &Stage, wanted: &Effect) -> usize {
    stage.effects.iter().filter(|effect| *effect == wanted).count()
}

#[test]
fn ctrl_c_clears_then_stops_then_quits_and_any_other_key_disarms_it() {
    let mut stage = Stage::new(80, 24);
    stage.turn("");
    stage.keys("half a thought<c-c>");
    assert_eq!((stage.app.message.text().as_str(), count(&stage, &Effect::Request(Request::Stop))), ("", 0));
    stage.keys("<c-c>");
    assert_eq!(count(&stage, &Effect::Request(Request::Stop)), 1, "with an empty message it stops the turn");
    stage.turn_ended("", Outcome::Cancelled, None);
    stage.keys("<c-c>");
    assert!(stage.screen().contains("Ctrl+C again quits"));
    stage.keys("<left>");
    assert!(!stage.screen().contains("Ctrl+C again quits"), "the sentence goes with what it was about");
    stage.keys("<c-c>");
    assert_eq!(count(&stage, &Effect::Quit), 0, "a key came between the two");
    stage.keys("<c-c>");
    assert_eq!(count(&stage, &Effect::Quit), 1);
}

#[test]
fn a_paste_or_a_letter_between_two_ctrl_c_disarms_them() {
    let mut stage = Stage::new(80, 24);
    stage.keys("<c-c>").paste("text").keys("<c-c><c-c>");
    assert_eq!(count(&stage, &Effect::Quit), 0, "the second one cleared the paste");
    stage.keys("<c-c>");
    assert_eq!(count(&stage, &Effect::Quit), 1);
}

#[test]
fn ctrl_d_during_a_turn_asks_and_without_one_quits() {
    let mut stage = Stage::new(80, 24);
    stage.turn("").keys("<c-d>");
    assert_eq!(stage.app.questions.current().map(|question| &question.subject), Some(&QuestionSubject::Quit));
    assert!(stage.screen().contains("Quitting stops it"));
    assert_eq!(count(&stage, &Effect::Quit), 0);
    stage.wait(1_000).keys("<a-y>");
    assert_eq!(count(&stage, &Effect::Quit), 1);

    let mut stage = Stage::new(80, 24);
    stage.turn("").keys("<c-d>");
    stage.turn_ended("", Outcome::Completed, None);
    assert!(stage.app.questions.is_empty(), "nothing would be lost any more");
    stage.keys("<c-d>");
    assert_eq!(count(&stage, &Effect::Quit), 1);
}

#[test]
fn alt_and_a_letter_without_a_meaning_types_nothing_and_stops_nothing() {
    let mut stage = Stage::new(80, 24);
    stage.turn("").keys("draft<a-y><a-ö>");
    assert_eq!(stage.app.message.text(), "draft");
    assert_eq!(count(&stage, &Effect::Request(Request::Stop)), 0);
    assert!(stage.screen().contains("Alt+Ö does nothing here"));
}

#[test]
fn a_letter_after_a_click_goes_into_the_message() {
    for place in ["read", "Line 3"] {
        let mut stage = Stage::new(80, 24);
        stage.turn("").call("", "c1", "read");
        stage.result("", "c1", "text");
        stage.says("", "Line 1\n\nLine 2\n\nLine 3");
        stage.screen();
        let before = stage.effects.len();
        stage.click_on(place).keys("what next");
        assert_eq!(stage.app.message.text(), "what next");
        assert_eq!(stage.effects.len(), before, "nothing was written, opened or copied");
    }
}

#[test]
fn after_a_click_the_arrows_belong_to_the_pane_and_then_its_letters_too() {
    let mut stage = Stage::new(80, 24);
    stage.turn("");
    stage.says("", "Line 1\n\nLine 2");
    stage.click_on("Line 2").keys("<up>t");
    assert_eq!(stage.app.focus.pane, Pane::Transcript);
    assert_eq!(stage.app.message.text(), "");
}

#[test]
fn the_keys_of_readline_edit_the_message() {
    let mut stage = Stage::new(80, 24);
    stage.turn("");
    stage.keys("one two<c-a>X<c-e>Y");
    assert_eq!(stage.app.message.text(), "Xone twoY");
    stage.keys("<c-b><c-b><c-k><c-y><c-f>");
    assert_eq!(stage.app.message.text(), "Xone twoY");
    stage.keys("<c-u>first<c-j>second<c-p>A<c-n>B");
    assert_eq!(stage.app.message.text(), "firstA\nsecondB");
    stage.keys("<a-b><a-d>");
    assert_eq!(stage.app.message.text(), "firstA\n");
    assert!(stage.effects.iter().all(|effect| matches!(effect, Effect::Remember(_))), "{:?}", stage.effects);
}

#[test]
fn tab_without_a_turn_sends_nothing() {
    let mut stage = Stage::new(80, 24);
    stage.keys("half typed<tab>");
    assert_eq!(stage.app.message.text(), "half typed");
    assert!(queue(&stage).is_empty());
    assert!(stage.screen().contains("Enter sends"));
}

#[test]
fn the_line_above_the_message_says_that_enter_completes_while_a_list_is_open() {
    let mut stage = Stage::new(80, 24);
    stage.keys("/mod");
    assert!(stage.screen().contains("→ completes /model"), "{}", stage.screen());
    stage.keys("<enter>");
    assert_eq!(stage.app.message.text(), "/model ");
}

#[test]
fn f5_in_an_empty_message_delivers_what_is_pending_in_its_order() {
    let mut stage = waiting(&["one", "two"]);
    stage.keys("<f5>");
    let delivered: Vec<&str> = stage
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Request(Request::Queue {
                id,
                operation: QueueOperation::Deliver { delivery: Delivery::Now },
                ..
            }) => Some(id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(delivered.len(), 2);
    assert_eq!(queue(&stage), ["one", "two"]);
}

#[test]
fn the_pending_list_stands_in_the_order_of_delivery() {
    let mut stage = Stage::new(80, 24);
    stage.turn("");
    stage.keys("later<tab>at the boundary<enter>");
    let screen = stage.screen();
    let place = |text: &str| screen.find(text).unwrap_or_else(|| panic!("{text:?} is not on the screen:\n{screen}"));
    assert!(place("at the boundary") < place("later"), "{screen}");
}

#[test]
fn new_and_reset_ask_before_they_act_as_their_keys_do() {
    for command in ["/new", "/reset"] {
        let mut stage = Stage::new(80, 24);
        stage.keys(&format!("{command}<enter>")).screen();
        assert_eq!(count(&stage, &Effect::Request(Request::Reset)), 0, "{command}");
        stage.wait(1_000).keys("<a-y>");
        assert_eq!(count(&stage, &Effect::Request(Request::Reset)), 1, "{command}");
    }
}

#[test]
fn a_backslash_at_the_end_makes_enter_a_new_line() {
    let mut stage = Stage::new(80, 24);
    stage.keys("first\\");
    assert!(stage.screen().contains("→ a new line in place of the backslash"), "{}", stage.screen());
    stage.keys("<enter>second");
    assert_eq!(stage.app.message.text(), "first\nsecond");
    assert!(queue(&stage).is_empty());
    stage.keys("\\<left><enter>");
    assert_eq!(stage.app.message.text(), "", "before the end it is text");
    stage.keys("C:\\\\<enter>");
    assert_eq!(stage.app.message.text(), "", "two of them are text");
}

#[test]
fn a_question_mark_in_the_empty_message_shows_the_keys_on_one_screen_and_any_key_closes_them() {
    let mut stage = Stage::new(80, 24);
    stage.keys("?");
    let screen = stage.picture();
    for words in
        ["The most used keys", "Ctrl+J", "new line", "Shift+Tab", "approval mode", "run a line in your shell", "F12"]
    {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    insta::assert_snapshot!("the_most_used_keys_80x24", screen);
    stage.keys("<esc>");
    assert!(stage.app.focus.overlays.is_empty());
    stage.keys("?<enter>?<up>?w<c-u>");
    assert!(stage.app.focus.overlays.is_empty() && stage.app.message.is_empty());
    stage.keys("?what");
    assert_eq!(stage.app.message.text(), "what", "a letter closes them and is typed");
    stage.keys("?<c-u>??what");
    assert_eq!(stage.app.message.text(), "?what", "the second one is typed");
    stage.keys("<c-u>").paste("?");
    assert_eq!(stage.app.message.text(), "?");
    for (width, height) in [(120, 36), (40, 12)] {
        let mut stage = Stage::new(width, height);
        insta::assert_snapshot!(format!("the_most_used_keys_{width}x{height}"), stage.keys("?").picture());
    }
}
