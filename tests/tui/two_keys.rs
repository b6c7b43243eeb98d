//! Ctrl+X and a second key: what stands in for keys with Alt and for F keys, which many keyboards lack.

use steersman_base::steering::TextKind;
use steersman_tui::help::Help;
use steersman_tui::keymap::Keymap;
use steersman_tui::msg::{EditorSubject, Effect, Msg};
use steersman_tui::plan::PlanPane;
use steersman_tui::state::Pane;

use super::session_timeline::replay;

use crate::support::stage::Stage;

/// What the status line says while the second key is awaited.
const AWAITED: &str = "Ctrl+X and a letter: as Alt";

#[test]
fn ctrl_x_and_a_letter_do_what_alt_and_the_letter_do_and_a_digit_what_the_f_key_does() {
    let mut stage = Stage::new(100, 30);
    stage.turn("").keys("text<c-x>");
    assert!(stage.screen().contains(AWAITED));
    stage.keys("v");
    assert_ne!(stage.app.message.kind(), TextKind::Add);
    assert!(!stage.screen().contains(AWAITED));
    stage.keys("<c-x>3");
    assert_eq!(stage.app.focus.pane, Pane::Tree);
    stage.keys("<c-x>2<c-x>1");
    assert!(stage.app.focus.overlays.is_on::<Help>());
    stage.keys("<c-x>1");
    assert!(stage.app.focus.overlays.is_empty(), "in a list it closes it as F1 does");
    stage.keys("<c-x>V");
    assert_eq!(stage.app.message.text(), "text", "nothing of it is typed");
}

#[test]
fn ctrl_x_ctrl_e_opens_the_editor() {
    let mut stage = Stage::new(80, 24);
    stage.keys("text<c-x><c-e>");
    let text = "text".to_owned();
    assert_eq!(stage.effects, [Effect::Edit { subject: EditorSubject::Draft, text }]);
}

#[test]
fn esc_and_a_key_without_a_meaning_end_it_with_a_sentence_and_do_nothing_else() {
    let mut stage = Stage::new(80, 24);
    stage.turn("").keys("draft<c-x><esc>");
    assert!(stage.screen().contains("Ctrl+X: cancelled"));
    stage.keys("<c-x>8<c-x>;");
    assert!(stage.screen().contains("Ctrl+X ; does nothing here"));
    stage.keys("<c-x>").paste("v");
    assert_eq!(stage.app.message.text(), "draftv", "a paste is text");
    stage.keys("<c-x><c-c>!");
    assert_eq!(stage.app.message.text(), "draftv!");
    assert!(stage.effects.iter().all(|effect| matches!(effect, Effect::Remember(_))), "{:?}", stage.effects);
}

#[test]
fn what_comes_at_once_behind_ctrl_x_begins_with_the_second_key() {
    let mut stage = Stage::new(80, 24);
    stage.turn("").keys("<c-x>");
    let now = stage.app.ui.now;
    stage.tell(Msg::Typed("vand the text".to_owned(), now));
    assert_eq!((stage.app.message.text().as_str(), stage.app.message.kind()), ("and the text", TextKind::Instead));
}

#[test]
fn help_and_completion_name_the_two_keys_and_a_file_of_keys_changes_them() {
    let mut stage = Stage::new(100, 30);
    stage.keys("<f1>what the text is:");
    assert!(stage.screen().contains("Alt+V  Ctrl+X V"), "{}", stage.screen());
    stage.keys("<esc><esc>/ledger");
    assert!(stage.screen().contains("F4, Ctrl+X 4"), "{}", stage.screen());

    let mut stage = Stage::new(80, 24);
    stage.app.ui.keymap =
        Keymap::parse("[message]\nnext-kind = 'ctrl+x ctrl+v'\nsend = ['enter', 'CTRL+X s']\n").unwrap();
    stage.turn("").keys("text<c-x>v");
    assert!(stage.screen().contains("Ctrl+X V does nothing here"));
    stage.keys("<c-x><c-v>");
    assert_ne!(stage.app.message.kind(), TextKind::Add);
    stage.keys("<c-x>s");
    assert_eq!(stage.app.message.text(), "");
}

#[test]
fn in_a_replay_two_keys_read_and_change_nothing() {
    let mut stage = replay(100, 30);
    stage.keys("<c-x>3");
    assert_eq!(stage.app.focus.pane, Pane::Tree);
    stage.keys("<esc><c-x>x");
    assert!(stage.app.focus.overlays.is_on::<PlanPane>());
    stage.keys("<esc><c-x>z");
    assert!(stage.screen().contains("this is a replay"), "{}", stage.screen());
    stage.keys("<c-x>;");
    assert!(stage.screen().contains("Ctrl+X ; does nothing here"), "{}", stage.screen());
    stage.keys("<c-x><esc>");
    assert!(stage.app.replay.is_some(), "the second key ends nothing");
    assert!(stage.effects.is_empty(), "{:?}", stage.effects);
}

#[test]
fn a_file_of_keys_that_gives_ctrl_x_a_meaning_keeps_it() {
    let mut stage = Stage::new(80, 24);
    stage.app.ui.keymap = Keymap::parse("[message]\nnewline = 'ctrl+x'\n").unwrap();
    stage.keys("a<c-x>b");
    assert_eq!(stage.app.message.text(), "a\nb");
}

#[test]
fn what_option_types_on_a_mac_without_meta_is_explained_once() {
    let mut stage = Stage::new(80, 24);
    stage.keys("a√<c-u>");
    assert!(!stage.screen().contains("Option"), "within a text it is text");
    stage.keys("˙");
    assert!(
        stage.screen().contains("˙ is Option+H. Option as Meta: see steersman doctor; or Ctrl+X H"),
        "{}",
        stage.screen()
    );
    assert_eq!(stage.app.message.text(), "˙");
    stage.keys("<c-u>").wait(20_000).keys("√");
    assert!(!stage.screen().contains("Option"), "{}", stage.screen());
}
