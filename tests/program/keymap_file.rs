//! The file of keys: every action is in it, what it says holds everywhere on the screen, and a mistake is named.

use steersman_base::protocol::Request;
use steersman_tui::keymap::{Context, Keymap};
use steersman_tui::msg::Effect;

use crate::support::program::{Program, exit_code, stdout};
use crate::support::stage::Stage;

fn stage(keys: &str) -> Stage {
    let mut stage = Stage::new(120, 40);
    stage.app.ui.keymap = Keymap::parse(keys).unwrap();
    stage
}

fn error(keys: &str) -> String {
    Keymap::parse(keys).unwrap_err().to_string()
}

#[test]
fn the_printed_file_holds_every_action_and_changes_nothing() {
    let text = Keymap::write();
    assert!(Keymap::parse(&text).unwrap() == Keymap::default(), "it is not the usual keys:\n{text}");
    let table: toml::Table = text.parse().unwrap();
    for context in Context::all() {
        let section = table[context.id()].as_table().unwrap();
        for row in context.rows() {
            assert!(section.contains_key(row.action.id()), "{} is not in [{}]", row.action.id(), context.id());
        }
        assert_eq!(
            section.len(),
            context.rows().iter().map(|row| row.action.id()).collect::<std::collections::BTreeSet<_>>().len()
        );
    }
}

#[test]
fn a_key_takes_the_place_of_the_usual_ones_and_help_and_hints_say_so() {
    let mut stage = stage("[message]\nnewline = 'ctrl+n'\n[everywhere]\nhelp = 'f12'\nquit = []\n");
    let picture = stage.picture();
    assert!(picture.contains("Ctrl+N new line") && picture.contains("F12 help"), "{picture}");
    assert!(!picture.contains("Ctrl+J new") && !picture.contains("F1 help"), "{picture}");
    stage.keys("a<c-n>b<c-j>");
    assert_eq!(stage.app.message.text(), "a\nb", "the usual key does nothing any more");
    stage.keys("<f1>");
    assert!(stage.app.focus.overlays.is_empty());
    stage.keys("<f12>new line");
    let picture = stage.picture();
    assert!(picture.contains("Ctrl+N") && !picture.contains("Ctrl+J"), "{picture}");
    assert!(!stage.effects.contains(&Effect::Quit));
}

#[test]
fn sections_and_actions_go_by_the_names_that_they_had_before_too() {
    let old = Keymap::parse("[held]\nstep = ['n']\n[everywhere]\nhold-or-go-on = 'alt+9'\nfocus-gate = 'alt+8'\n");
    let new = Keymap::parse("[paused]\nstep = ['n']\n[everywhere]\npause-or-go-on = 'alt+9'\nfocus-paused = 'alt+8'\n");
    assert!(old.unwrap() == new.unwrap());
}

#[test]
fn a_list_gives_several_keys_and_an_empty_one_none() {
    let mut stage = stage("[agents]\nnext = ['n', 'ctrl+down']\ncancel-agent = []\n");
    stage.turn("").spawn("", "coder").spawn("", "reviewer").keys("<f3>n");
    assert_eq!(stage.app.tree.selected().as_str(), "coder");
    stage.keys("jx");
    assert!(stage.effects.iter().all(|effect| !matches!(effect, Effect::Request(Request::Cancel { .. }))));
}

#[test]
fn what_holds_everywhere_can_have_another_key_in_one_section() {
    let mut stage = stage("[transcript]\nfold-all = 'Q'\n");
    stage.keys("<c-o>Q");
    assert!(stage.app.message.is_empty(), "it is a key there, and no text");
}

#[test]
fn two_actions_that_want_one_key_are_both_named_with_their_lines() {
    assert_eq!(
        error("[message]\nsend = 'enter'\neditor = 'ctrl+x'\nyank = 'ctrl+x'\n"),
        "line 4: in [message] Ctrl+X is a key of both \"editor\" (line 3) and \"yank\" (line 4)"
    );
    let usual = error("[everywhere]\nledger = 'F1'\n");
    assert!(usual.contains("\"ledger\" (line 2)") && usual.contains("\"help\" (as usual)"), "{usual}");
}

#[test]
fn names_and_keys_that_are_none_are_errors_with_their_line() {
    for (keys, line, reason) in [
        ("\n[mesage]\nsend = 'enter'\n", 2, "no section [mesage]"),
        ("[message]\nsned = 'enter'\n", 2, "the nearest is \"send\""),
        ("[message]\nsend = 'hyper+x'\n", 2, "is not a key"),
        ("[message]\nsend = 'g'\n", 2, "there it is text"),
        ("[filter]\nkeep-filter = 'space'\n", 2, "there it is text"),
        ("[everywhere]\nhelp = '?'\n", 2, "there it is text"),
        ("[message]\nsend = 'ctrl+m'\n", 2, "most terminals send the same for"),
        ("[agents]\nfilter = 'shift+f'\n", 2, "write the shifted character itself"),
        ("[message]\nsend = 5\n", 2, "the name of a key"),
        ("send = 'enter'\n", 1, "no section"),
        ("[message]\nsend = \n", 2, ""),
    ] {
        let error = Keymap::parse(keys).unwrap_err();
        assert!(error.line == line && error.message.contains(reason), "{keys:?}: {error}");
    }
}

#[test]
fn the_program_prints_the_usual_keys() {
    let output = Program::new().args(["keys"]).output();
    assert_eq!((exit_code(&output), stdout(&output)), (0, Keymap::write()));
}
