//! Questions: nothing that was typed before one was on the screen, or while it came up, answers it.

use proptest::prelude::*;
use steersman_base::event::Event;
use steersman_base::protocol::QueueOperation;
use steersman_base::protocol::Request;
use steersman_core::control::Staleness;
use steersman_tui::approval::NumberedAnswer;
use steersman_tui::keymap::Answer;
use steersman_tui::msg::Effect;
use steersman_tui::state::Pane;

use crate::support::stage::Stage;

/// Milliseconds without a key, behind the drawing, that arm a question.
const QUIET: i64 = 350;

/// A turn runs and these texts are held for their age; the question is not drawn yet.
fn with_old(width: u16, height: u16, texts: &[&str]) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.turn("").call("", "c1", "grep");
    let queue = stage.handle.interloper().clone();
    queue.set_staleness(Staleness { age: None, steps: Some(0) });
    for text in texts {
        stage.keys(text).keys("<enter>");
    }
    queue.count_step();
    assert_eq!(stage.drain(), []);
    stage
}

/// The same, drawn and armed.
fn armed(texts: &[&str]) -> Stage {
    let mut stage = with_old(80, 24, texts);
    stage.screen();
    stage.wait(QUIET);
    stage
}

fn answers(stage: &Stage) -> usize {
    stage
        .effects
        .iter()
        .filter(|effect| {
            matches!(
                effect,
                Effect::Request(Request::Queue { operation: QueueOperation::Confirm, .. } | Request::NeverAskIfTrue)
            )
        })
        .count()
}

/// The texts that the next boundary would take.
fn deliverable(stage: &mut Stage) -> Vec<String> {
    stage.drain().into_iter().map(|entry| entry.message.text).collect()
}

#[test]
fn an_old_text_is_asked_about_by_name_and_sent_with_alt_y() {
    let mut stage = with_old(80, 24, &["use the old parser"]);
    let screen = stage.screen();
    assert!(screen.contains("main asks") && screen.contains("Send this now?"), "{screen}");
    assert!(
        screen.contains("│ use the old parser")
            && screen.contains("○ wait a moment")
            && screen.contains("1 send  Alt+Y"),
        "{screen}"
    );
    stage.wait(QUIET);
    assert!(stage.screen().contains("● ready"));
    stage.keys("<a-y>");
    assert!(!stage.screen().contains("main asks"));
    assert_eq!(deliverable(&mut stage), ["use the old parser"]);
}

#[test]
fn keys_that_come_before_the_question_was_quiet_for_a_moment_answer_nothing() {
    let mut stage = with_old(80, 24, &["old"]);
    stage.keys("<a-y>");
    assert!(stage.screen().contains("the question was not answered: it was not on the screen"));
    stage.wait(QUIET - 1).keys("<a-y>");
    assert!(stage.screen().contains("the question was not answered, as you may still have typed: answer again"));
    // That key counts as typing: the quiet begins again.
    stage.wait(QUIET - 1).keys("x").wait(QUIET - 1).keys("<a-y>").wait(QUIET - 1).keys("<a-s>");
    assert_eq!(answers(&stage), 0);
    assert_eq!(stage.app.message.text(), "x");
    stage.wait(QUIET).keys("<a-y>");
    assert_eq!(answers(&stage), 1);
}

#[test]
fn plain_keys_and_pastes_go_on_into_the_composer_and_never_answer() {
    let mut stage = armed(&["old"]);
    for key in ["y", "n", "s", "w", "Y", " ", "<tab>", "<c-j>", "<up>"] {
        stage.wait(QUIET).keys(key);
    }
    stage.wait(QUIET).paste("y\nz");
    assert_eq!(answers(&stage), 0);
    assert_eq!(stage.app.questions.len(), 1);
    assert_eq!(stage.sent().last().unwrap().0, "ynswY ");
    assert!(stage.app.message.text().contains('y'));
    stage.wait(QUIET).keys("<enter>");
    assert_eq!((answers(&stage), stage.app.questions.len()), (0, 1));
}

#[test]
fn two_questions_come_one_after_the_other_and_a_held_key_answers_one() {
    let mut stage = armed(&["first", "second"]);
    assert!(stage.screen().contains("main asks · 1 of 2"));
    stage.keys("<a-y><a-y>");
    stage.screen();
    stage.wait(30).keys("<a-y>").wait(30).keys("<a-y>");
    assert_eq!(answers(&stage), 1);
    let screen = stage.screen();
    assert!(screen.contains("main asks ─") && screen.contains("│ second"), "{screen}");
    stage.wait(QUIET).keys("<a-y>");
    assert_eq!(answers(&stage), 2);
}

#[test]
fn escape_is_not_now_and_the_text_stays_held() {
    let mut stage = armed(&["old"]);
    stage.keys("<esc>");
    assert!(!stage.effects.contains(&Effect::Request(Request::Stop)));
    assert!(!stage.screen().contains("Send this now?"));
    assert_eq!(deliverable(&mut stage), [""; 0]);
    assert_eq!(stage.app.ui.run.pending.entries().len(), 1);
}

#[test]
fn an_escape_that_came_before_the_question_was_armed_does_nothing() {
    let mut stage = with_old(80, 24, &["old"]);
    stage.screen();
    stage.wait(QUIET - 1).keys("<esc>");
    assert!(!stage.effects.contains(&Effect::Request(Request::Stop)));
    assert_eq!(stage.app.questions.len(), 1);
    assert!(stage.screen().contains("the question has just appeared"));
}

#[test]
fn alt_s_sends_every_old_text_and_none_is_asked_about_again() {
    let mut stage = armed(&["first", "second"]);
    stage.keys("<a-s>");
    assert_eq!(deliverable(&mut stage), ["first", "second"]);
    assert!(stage.app.questions.is_empty());
    stage.keys("third<enter>");
    stage.handle.interloper().count_step();
    assert_eq!(deliverable(&mut stage), ["third"]);
}

#[test]
fn the_question_goes_with_its_text_and_a_late_key_does_nothing() {
    let mut stage = armed(&["old"]);
    stage.keys("<a-up>");
    assert!(stage.app.questions.is_empty());
    stage.wait(1_000).keys("<a-y>");
    assert!(stage.screen().contains("nothing was answered: the question is gone"));
    assert!(!stage.effects.contains(&Effect::Request(Request::Stop)));
    assert_eq!(stage.app.message.text(), "old");
}

#[test]
fn without_a_question_its_keys_do_nothing() {
    let mut stage = Stage::new(80, 24);
    stage.turn("").keys("<a-y>");
    assert_eq!(stage.effects, []);
    assert_eq!(stage.app.message.text(), "");
}

#[test]
fn an_overlay_hides_the_question_and_the_quiet_begins_anew_behind_it() {
    let mut stage = armed(&["old"]);
    stage.keys("<f1>");
    stage.screen();
    stage.wait(QUIET).keys("<a-y>");
    assert_eq!(answers(&stage), 0);
    stage.keys("<esc>");
    assert!(!stage.app.questions.is_empty(), "Escape closed the help");
    stage.screen();
    stage.wait(QUIET - 1).keys("<a-y>");
    assert_eq!(answers(&stage), 0);
    stage.wait(QUIET).keys("<a-y>");
    assert_eq!(answers(&stage), 1);
}

#[test]
fn a_long_text_is_scrolled_to_its_end() {
    let lines: Vec<String> = (1..=40).map(|line| format!("line {line} of the old text")).collect();
    let mut stage = armed(&[&lines.join("<c-j>")]);
    let first = stage.screen();
    assert!(first.contains("│ line 1 of") && first.contains("more, PageDown"), "{first}");
    for _ in 0..15 {
        stage.keys("<pgdn>");
        stage.screen();
    }
    let last = stage.screen();
    assert!(last.contains("│ line 40 of") && last.contains("PageUp"), "{last}");
    stage.keys("<pgup><pgup>");
    assert!(!stage.screen().contains("│ line 40 of"));
}

#[test]
fn a_text_that_nearly_fits_is_shown_whole_with_rows_of_the_transcript() {
    let lines: Vec<String> = (1..=9).map(|line| format!("line {line} of the old text")).collect();
    let screen = with_old(80, 24, &[&lines.join("<c-j>")]).screen();
    assert!(screen.contains("│ line 1 of") && screen.contains("│ line 9 of"), "{screen}");
    assert!(!screen.contains("PageDown"), "{screen}");
    assert!(screen.lines().next().unwrap().contains("main"), "the transcript stays there: {screen}");
}

#[test]
fn a_screen_without_room_shows_no_question_and_takes_no_answer() {
    let mut stage = with_old(20, 4, &["old"]);
    stage.screen();
    stage.wait(QUIET).keys("<a-y>");
    assert_eq!(answers(&stage), 0);
    stage.resize(80, 24);
    stage.screen();
    stage.wait(QUIET).keys("<a-y>");
    assert_eq!(answers(&stage), 1);
}

#[test]
fn the_screen_asks_to_be_drawn_when_the_question_becomes_armed_and_never_again() {
    let mut stage = Stage::new(80, 24);
    stage.handle.interloper().set_staleness(Staleness { age: None, steps: Some(0) });
    stage.keys("old<enter>");
    stage.handle.interloper().count_step();
    stage.drain();
    stage.screen();
    let due = stage.app.changes_at().unwrap();
    assert_eq!(due.duration_since(stage.app.ui.now).as_millis(), i128::from(QUIET));
    stage.wait(QUIET);
    assert_eq!(stage.app.changes_at(), None);
}

#[test]
fn the_popup_at_four_sizes() {
    for (width, height) in [(120, 40), (80, 24), (56, 20), (34, 10)] {
        let mut stage = with_old(width, height, &["use the old parser, and leave the new one alone", "second"]);
        stage.keys("half a dra");
        stage.event("", Event::AssistantDelta { text: "Looking at the parsers.".to_owned() });
        stage.screen();
        insta::assert_snapshot!(format!("unarmed_{width}x{height}"), stage.picture());
        stage.wait(QUIET);
        insta::assert_snapshot!(format!("armed_{width}x{height}"), stage.picture());
    }
}

#[derive(Debug, Clone)]
enum Operation {
    Key(&'static str),
    Paste,
    Wait(i64),
    Draw,
}

fn act() -> impl Strategy<Value = Operation> {
    let keys = [
        "y", "n", "s", "w", "Y", " ", "<enter>", "<tab>", "<esc>", "<a-y>", "<a-s>", "<a-n>", "<a-w>", "<a-x>", "<up>",
        "<pgdn>", "<c-j>", "<bs>", "<f1>", "<f3>", "<c-o>",
    ];
    prop_oneof![
        4 => prop::sample::select(keys.to_vec()).prop_map(Operation::Key),
        1 => Just(Operation::Paste),
        3 => prop::sample::select(vec![1, 100, 349, 350, 351, 1_000]).prop_map(Operation::Wait),
        2 => Just(Operation::Draw),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Kept apart from the code under test: what was drawn when, when the last key came, and when the message was begun.
    /// An armed question is answered by an Alt key, by Enter with an answer that an arrow marked, and by Enter or Tab with
    /// a lone `y`, `yes`, `n` or `no` that was begun or is given while it is armed; such a word is never sent.
    #[test]
    fn only_an_alt_key_a_marked_or_a_lone_answer_behind_a_quiet_look_answers(
        acts in prop::collection::vec(act(), 1..60)
    ) {
        let mut stage = with_old(80, 24, &["first", "second"]);
        let (mut clock, mut quiet_since, mut seen): (i64, i64, Option<i64>) = (0, 0, None);
        let mut begun_armed = false;
        for operation in acts {
            let before = (stage.app.questions.current_id(), answers(&stage));
            let marked = stage.app.questions.selected_answer();
            let is_armed = seen.is_some_and(|seen| clock - seen.max(quiet_since) >= QUIET);
            if stage.app.message.is_empty() && matches!(operation, Operation::Key(_) | Operation::Paste) {
                begun_armed = is_armed;
            }
            let lone = lone_word(&stage);
            let has_keys = stage.app.focus.is_on(Pane::Composer) && stage.app.focus.overlays.is_empty();
            // How often the answer counts that this operation may give, and whether it must.
            let (mut may, mut must, mut may_drop) = (0, false, false);
            match operation {
                Operation::Wait(by) => {
                    clock += by;
                    stage.wait(by);
                }
                Operation::Draw => {
                    let shows = stage.screen().contains("Send this now?");
                    seen = if shows { seen.or(Some(clock)) } else { None };
                }
                Operation::Paste => {
                    stage.paste("y\n");
                    quiet_since = clock;
                }
                Operation::Key(key) => {
                    let sends = ["<enter>", "<tab>"].contains(&key);
                    let alone = lone.filter(|_| sends && seen.is_some() && (is_armed || begun_armed));
                    let by_mark = marked.filter(|_| key == "<enter>");
                    may = usize::from(
                        ["<a-y>", "<a-s>"].contains(&key) && is_armed
                            || alone == Some(Answer::Once)
                            || by_mark.is_some_and(NumberedAnswer::is_yes),
                    );
                    must = may == 1 && (has_keys || key.starts_with("<a-"));
                    // Esc before the question is on the screen stops the turn, whose texts come back.
                    // Up takes the newest pending text back, and its question goes, while no question is on the screen.
                    may_drop = (["<a-n>", "<a-w>"].contains(&key) && is_armed)
                        || key == "<esc>"
                        || (key == "<up>" && seen.is_none())
                        || alone == Some(Answer::No)
                        || by_mark.is_some();
                    let sent = stage.sent().len();
                    stage.keys(key);
                    prop_assert!(!(sends && lone.is_some() && before.0.is_some()) || stage.sent().len() == sent, "sent");
                    quiet_since = clock;
                    if marked.is_none() && stage.app.questions.selected_answer().is_some() {
                        prop_assert!(key == "<up>" && is_armed, "marked without a quiet look");
                    }
                }
            }
            let after = (stage.app.questions.current_id(), answers(&stage));
            prop_assert!(after.1 - before.1 <= may, "answered without a quiet look");
            prop_assert!(!must || after.1 == before.1 + 1, "a good answer was not taken");
            prop_assert!(after.0 == before.0 || before.0.is_none() || may == 1 || may_drop, "the question went");
            if after.0 != before.0 {
                (seen, begun_armed) = (None, false);
            }
        }
    }
}

/// Returns the answer that the message is, and nothing else.
fn lone_word(stage: &Stage) -> Option<Answer> {
    match stage.app.message.text().trim().to_lowercase().as_str() {
        "y" | "yes" => Some(Answer::Once),
        "n" | "no" => Some(Answer::No),
        _ => None,
    }
}
