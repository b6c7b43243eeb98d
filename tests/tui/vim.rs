//! The keys of vim in the message: motions, operators, text objects, modes, and that no key loses or doubles a text.

use std::collections::BTreeMap;

use proptest::prelude::*;
use steersman_base::event::Outcome;
use steersman_base::protocol::Request;
use steersman_tui::keymap::{Action, Context, Edit, Keymap};
use steersman_tui::message::Message;
use steersman_tui::message::vim::{EditorKeys, VimMode, VimOutcome};
use steersman_tui::msg::Effect;

use super::pending_list::said;
use crate::support::stage::Stage;

fn stage(text: &str) -> Stage {
    let mut stage = Stage::new(80, 24);
    stage.app.message.set_editor_keys(EditorKeys::Vim);
    stage.app.message.load(text);
    stage.keys("");
    stage
}

fn mode(stage: &Stage) -> VimMode {
    stage.app.message.vim_mode().unwrap()
}

/// Returns the text with a bar at the cursor.
fn shown(stage: &Stage) -> String {
    let (before, after) = stage.app.message.around_cursor();
    format!("{before}|{after}")
}

/// Puts the cursor where the bar stands, presses the keys in normal mode, and returns the text with the bar.
fn pressed(text: &str, keys: &str) -> String {
    let (before, after) = text.split_once('|').unwrap();
    let mut stage = stage(&format!("{before}{after}"));
    stage.keys("<esc>gg0");
    let start = before.chars().count();
    for _ in 0..start {
        stage.app.message.edit(Edit::Right);
    }
    stage.keys(keys);
    shown(&stage)
}

#[test]
fn motions_lead_where_they_lead_in_vim() {
    for (text, keys, expected) in [
        ("on|e two", "w", "one |two"),
        ("|one two-three", "ww", "one two|-three"),
        ("|one two-three four", "WW", "one two-three |four"),
        ("|one two", "e", "on|e two"),
        ("|one two three", "2e", "one tw|o three"),
        ("one two|", "b", "one |two"),
        ("one two-thr|ee", "B", "one |two-three"),
        ("one t|wo", "0", "|one two"),
        ("  one t|wo", "^", "  |one two"),
        ("o|ne two", "$", "one tw|o"),
        ("a\nb\n|c", "gg", "|a\nb\nc"),
        ("|a\nb\nc", "G", "a\nb\n|c"),
        ("|a\nb\nc", "2G", "a\n|b\nc"),
        ("|one, two, three", "f,", "one|, two, three"),
        ("|one, two, three", "2f,", "one, two|, three"),
        ("|one, two, three", "t,", "on|e, two, three"),
        ("|one, two, three", "f,;", "one, two|, three"),
        ("|one, two, three", "t,;", "one, tw|o, three"),
        ("|one, two, three", "2f,,", "one|, two, three"),
        ("one, two, t|hree", "F,", "one, two|, three"),
        ("one, two, t|hree", "T,", "one, two,| three"),
        ("call|(a, (b), c) d", "%", "call(a, (b), c|) d"),
        ("call(a, (b), c|) d", "%", "call|(a, (b), c) d"),
        ("one\ntw|o", "k", "on|e\ntwo"),
        ("o|ne\ntwo", "j", "one\nt|wo"),
        ("|one", "hhh", "|one"),
        ("|one", "99l", "on|e"),
    ] {
        assert_eq!(pressed(text, keys), expected, "{keys:?} in {text:?}");
    }
}

#[test]
fn operators_take_what_a_motion_passes() {
    for (text, keys, expected) in [
        ("|one two three", "dw", "|two three"),
        ("|one two three", "d2w", "|three"),
        ("|one two three", "2dw", "|three"),
        ("one |two", "dw", "one| "),
        ("|one\ntwo", "dw", "|\ntwo"),
        ("|one two", "cwnew<esc>", "ne|w two"),
        ("|one two", "dW", "|two"),
        ("one tw|o", "db", "one |o"),
        ("|one two", "de", "| two"),
        ("one |two three", "d$", "one| "),
        ("one |two three", "D", "one| "),
        ("one t|wo", "d0", "|wo"),
        ("|a, b", "df,", "| b"),
        ("|a, b", "dt,", "|, b"),
        ("x|(a)y", "d%", "x|y"),
        ("a\n|b\nc", "dd", "a\n|c"),
        ("a\nb\n|c", "dd", "a\n|b"),
        ("|a\nb\nc", "2dd", "|c"),
        ("|a\nb\nc", "dj", "|c"),
        ("a\nb\n|c", "dk", "|a"),
        ("a\n|b\nc", "dG", "|a"),
        ("a\n|b\nc", "dgg", "|c"),
        ("|only", "dd", "|"),
        ("a|bc", "x", "a|c"),
        ("a|bcd", "2x", "a|d"),
        ("ab|c", "X", "a|c"),
        ("one| two", "Cnew<esc>", "onene|w"),
        ("a\n|b\nc", "ccnew<esc>", "a\nne|w\nc"),
        ("a|bc", "sx<esc>", "a|xc"),
        ("|abc", "~~", "AB|c"),
        ("a|bc", "rx", "a|xc"),
        ("|abc", "2rx", "|xxc"),
        ("|abc", "9rx", "|abc"),
        ("|a\n  b\nc", "J", "a| b\nc"),
        ("|a\nb\nc", "3J", "a b| c"),
        ("|one two", "ywP", "one| one two"),
        ("|a\nb", "yyp", "a\n|a\nb"),
        ("|a\nb", "yyP", "|a\na\nb"),
        ("|a\nb", "ddp", "b\n|a"),
        ("|ab", "xp", "b|a"),
        ("|ab", "x3p", "baa|a"),
        ("|abc", "Ax<esc>", "abc|x"),
        ("  a|bc", "Ix<esc>", "  |xabc"),
        ("|a\nc", "ob<esc>", "a\n|b\nc"),
        ("a\n|c", "Ob<esc>", "a\n|b\nc"),
        ("|abc", "3ix<esc>", "xx|xabc"),
    ] {
        assert_eq!(pressed(text, keys), expected, "{keys:?} in {text:?}");
    }
}

#[test]
fn text_objects_are_words_quotes_brackets_and_paragraphs() {
    for (text, keys, expected) in [
        ("one t|wo three", "diw", "one | three"),
        ("one t|wo three", "daw", "one |three"),
        ("one tw|o", "daw", "on|e"),
        ("a(b, |c)d", "di(", "a(|)d"),
        ("a(b, |c)d", "da(", "a|d"),
        ("a(b, |c)d", "dib", "a(|)d"),
        ("a[b(c)|d]", "di[", "a[|]"),
        ("say \"o|ne two\" now", "di\"", "say \"|\" now"),
        ("say \"o|ne two\" now", "da\"", "say |now"),
        ("|say \"one\"", "ci\"x<esc>", "say \"|x\""),
        ("a\nb|\n\nc", "dip", "|\nc"),
        ("a|\nb\n\nc", "dap", "|c"),
        ("a-|b c", "diW", "| c"),
        ("no |quotes", "di\"", "no |quotes"),
    ] {
        assert_eq!(pressed(text, keys), expected, "{keys:?} in {text:?}");
    }
}

#[test]
fn a_selection_is_cut_copied_changed_and_replaced() {
    for (text, keys, expected) in [
        ("|one two", "ved", "| two"),
        ("one |two", "vbd", "|wo"),
        ("|a\nb\nc", "Vjd", "|c"),
        ("|one two", "veyA <esc>p", "one two on|e"),
        ("|one two", "vecx<esc>", "|x two"),
        ("|one", "vlU", "|ONe"),
        ("|ONE", "Vu", "|one"),
        ("o|ne two", "viwd", "| two"),
        ("|one two", "ywwviwp", "one |one "),
        ("|one", "vlo<esc>", "|one"),
        ("|one two", "v<esc>x", "|ne two"),
        ("|one two three", "vwrx", "|xxxxxwo three"),
    ] {
        assert_eq!(pressed(text, keys), expected, "{keys:?} in {text:?}");
    }
}

#[test]
fn a_dot_makes_the_last_change_again_with_what_was_typed() {
    for (text, keys, expected) in [
        ("|one two three", "dw.", "|three"),
        ("|one two three", "dww.", "two| "),
        ("|a b c", "cwx<esc>w.", "x |x c"),
        ("|one\ntwo", "A!<esc>j.", "one!\ntwo|!"),
        ("|abcdef", "x3.", "|ef"),
        ("|abcdef", "vld.", "|ef"),
        ("|a\nb\nc\nd", "Vjd.", "|"),
        ("|a", "ob<esc>.", "a\nb\n|b"),
        ("|one two", "iab<bs>c<esc>w.", "acone a|ctwo"),
        ("|one", ".", "|one"),
    ] {
        assert_eq!(pressed(text, keys), expected, "{keys:?} in {text:?}");
    }
}

#[test]
fn one_undo_takes_back_one_change_with_all_that_was_typed_in_it() {
    for (text, keys, expected) in [
        ("|one two", "cwnew words<esc>u", "|one two"),
        ("|one two", "cwnew words<esc>u<c-r>", "|new words two"),
        ("|a", "ob c d<esc>u", "|a"),
        ("|abc", "3ix y <esc>u", "|abc"),
        ("|abc", "xxuu", "|abc"),
        ("|abc", "xx2u", "|abc"),
        ("|a\nb", "Ju", "|a\nb"),
        ("|abc", "ix<esc>ayz<esc>u", "|xabc"),
        ("|abc", "ia<esc>iab<esc>uu", "|abc"),
    ] {
        let after = pressed(text, keys);
        assert_eq!(after.replace('|', ""), expected.replace('|', ""), "{keys:?} in {text:?}: {after}");
    }
}

#[test]
fn the_mode_stands_in_the_row_of_the_message_and_vim_switches_the_keys() {
    let mut stage = Stage::new(80, 24);
    stage.keys("/vim<enter>");
    assert_eq!(said(&stage), "vim keys in the message until you quit; editor.keys keeps them");
    assert!(stage.screen().contains("insert › "));
    stage.keys("write this down<esc>");
    assert!(stage.screen().contains("normal › write this down"));
    insta::assert_snapshot!("vim_normal_80x24", stage.picture());
    stage.keys("bbve");
    assert!(stage.screen().contains("visual › write this down"));
    stage.keys("<esc>V");
    assert!(stage.screen().contains("v-line › "));
    stage.keys("<esc>dd/vim<enter>");
    assert!(stage.screen().contains("\n› "), "{}", stage.screen());
    assert_eq!(stage.app.message.editor_keys(), EditorKeys::Usual);
    stage.resize(24, 12);
    stage.keys("/vim<enter>");
    assert!(stage.screen().contains("\n› "), "a narrow screen has no room for it");
}

#[test]
fn enter_sends_in_both_modes_and_the_next_text_begins_in_insert_mode() {
    let mut stage = stage("");
    stage.turn("").keys("one<enter>two<esc><enter>three");
    assert_eq!(stage.app.message.text(), "three");
    let sent: Vec<String> = stage.sent().into_iter().map(|(text, ..)| text).collect();
    assert_eq!(sent, ["one", "two"]);
    assert_eq!(mode(&stage), VimMode::Insert);
}

#[test]
fn esc_in_insert_mode_never_stops_a_turn_and_in_normal_mode_it_does_what_it_does_elsewhere() {
    let stops = |stage: &Stage| stage.effects.contains(&Effect::Request(Request::Stop));
    let mut stage = stage("");
    stage.turn("").keys("half");
    assert!(stage.screen().contains("Esc: normal mode"), "{}", stage.screen());
    stage.keys("<esc><esc>");
    assert!(!stops(&stage), "the second one came at once: it was meant for the mode");
    stage.wait(1_000);
    assert!(stage.screen().contains("Esc: stops"), "{}", stage.screen());
    stage.keys("d<esc>").wait(1_000);
    assert!(!stops(&stage), "it only drops what was begun");
    stage.keys("<esc>");
    assert!(stops(&stage));
    assert_eq!(stage.app.message.text(), "half");
    stage.turn_ended("", Outcome::Cancelled, None);
}

#[test]
fn j_and_k_walk_through_what_was_sent_at_the_edges_of_the_text() {
    let mut stage = stage("");
    for text in ["first", "second"] {
        stage.app.message.remember(text);
    }
    stage.keys("draft<esc>kk");
    assert_eq!(stage.app.message.text(), "first");
    stage.keys("j");
    assert_eq!(stage.app.message.text(), "second");
    stage.keys("j");
    assert_eq!(stage.app.message.text(), "draft");
    assert_eq!(mode(&stage), VimMode::Normal);
}

#[test]
fn a_paste_is_text_in_each_mode() {
    let mut stage = stage("one two");
    stage.keys("<esc>0").paste("ddxx ");
    assert_eq!(stage.app.message.text(), "ddxx one two");
    stage.keys("0v").paste("dw ");
    assert_eq!(stage.app.message.text(), "dw ddxx one two");
    let long = "line\n".repeat(40);
    stage.keys("<esc>0").paste(&long);
    assert_eq!(stage.app.message.text(), format!("{long}dw ddxx one two"));
    stage.keys("0xu");
    assert_eq!(stage.app.message.text(), format!("{long}dw ddxx one two"), "a chip is one step");
    stage.keys("0xP");
    assert_eq!(stage.app.message.text(), format!("{long}dw ddxx one two"), "and comes back whole");
    stage.keys("0x<c-c>ix<esc>p");
    assert_eq!(stage.app.message.text(), format!("x{long}"), "also in another text");
}

#[test]
fn in_an_empty_message_the_keys_that_begin_something_still_do() {
    for (key, text) in [("/", "/"), ("!", "!"), ("@", "@"), ("#", "#")] {
        let mut stage = stage("");
        stage.keys("<esc>").keys(key);
        assert_eq!((stage.app.message.text().as_str(), mode(&stage)), (text, VimMode::Insert));
    }
    let mut stage = stage("");
    stage.keys("<esc>Q");
    assert_eq!(said(&stage), "Q does nothing in normal mode; i writes, /vim ends it");
    assert!(stage.app.message.is_empty());
}

#[test]
fn nothing_is_completed_while_letters_are_commands() {
    let mut stage = stage("");
    stage.keys("/mo");
    assert!(stage.app.palette.is_open());
    stage.keys("<esc>");
    assert!(!stage.app.palette.is_open());
    stage.keys("a");
    assert!(stage.app.palette.is_open(), "in insert mode again");
}

#[test]
fn what_cannot_be_put_because_it_is_too_long_stays_where_it_was() {
    let mut stage = stage(&"word ".repeat(400));
    stage.keys("<esc>gg0yy").wait(2_000);
    let before = stage.app.message.text();
    stage.keys("999p");
    assert_eq!(stage.app.message.text(), before);
    assert_eq!(said(&stage), "not put: the message would be too long to be edited here");
}

// --- no key loses or doubles a text

const TOKENS: [&str; 6] = ["\u{e0}lpha", "(beta", "gamma)", "\"delta\"", "👨‍👩‍👧‍👦", "日本"];

/// Keys that move, select or copy, and change nothing.
const HARMLESS: [&str; 24] = [
    "h", "l", "w", "b", "e", "W", "B", "E", "0", "^", "$", "gg", "G", "fa", "t)", ";", ",", "%", "yy", "yiw", "v", "V",
    "y", "o",
];

/// Changes that are whole.
const CHANGES: [&str; 30] = [
    "dw",
    "d2w",
    "dd",
    "d$",
    "d0",
    "db",
    "x",
    "3x",
    "X",
    "D",
    "diw",
    "daw",
    "dip",
    "di(",
    "da\"",
    "J",
    "p",
    "P",
    "3p",
    "~",
    "rz",
    "cwnew text\u{1b}",
    "ccnew\u{1b}",
    "inew \u{1b}",
    "Anew\u{1b}",
    "onew\u{1b}",
    "Snew\u{1b}",
    "2inew \u{1b}",
    ".",
    "vlld",
];

fn words(text: &str) -> BTreeMap<String, usize> {
    let mut words = BTreeMap::new();
    for word in text.split_whitespace() {
        *words.entry(word.to_owned()).or_default() += 1;
    }
    words
}

fn press(message: &mut Message, keys: &str) {
    for key in keys.chars() {
        match key {
            '\u{1b}' => message.vim_escape(),
            c => match message.vim_key(c) {
                None => message.type_char(c),
                Some(VimOutcome::Action(action, times)) => (0..times).for_each(|_| match action {
                    Action::Undo => _ = message.undo(),
                    Action::Edit(edit) => _ = message.edit(edit),
                    other => panic!("{other:?}"),
                }),
                Some(VimOutcome::Done | VimOutcome::Says(_)) => {}
            },
        }
        message.fit(40, &[]);
    }
}

fn text() -> impl Strategy<Value = String> {
    let separators = prop::sample::select(vec![" ", "\n", "\n\n", "  "]);
    prop::collection::vec((prop::sample::select(TOKENS.to_vec()), separators), 0..12)
        .prop_map(|words| words.into_iter().map(|(word, gap)| format!("{word}{gap}")).collect())
}

fn vim(text: &str) -> Message {
    let mut message = Message::default();
    message.set_editor_keys(EditorKeys::Vim);
    message.load(text);
    message.vim_escape();
    message.fit(40, &[]);
    message
}

proptest! {
    #[test]
    fn no_motion_no_selection_and_no_copy_changes_the_text(
        text in text(), keys in prop::collection::vec(prop::sample::select(HARMLESS.to_vec()), 0..30),
    ) {
        let mut message = vim(&text);
        for key in keys {
            let selects = matches!(message.vim_mode(), Some(VimMode::Visual | VimMode::VisualLine));
            // What these do depends on whether something is selected.
            if match key { "o" | "y" => selects, "yy" | "yiw" => !selects, _ => true } {
                press(&mut message, key);
            }
            prop_assert_eq!(message.text(), text.as_str(), "{}", key);
        }
    }

    #[test]
    fn undo_restores_the_text_before_each_change_and_redo_that_behind_it(
        text in text(), changes in prop::collection::vec((prop::sample::select(CHANGES.to_vec()), 0..40_usize), 1..12),
    ) {
        let mut message = vim(&text);
        let mut texts = vec![message.text()];
        for (change, at) in changes {
            press(&mut message, &format!("gg{}", "w".repeat(at % 9)));
            press(&mut message, change);
            press(&mut message, "\u{1b}");
            if texts.last() != Some(&message.text()) {
                texts.push(message.text());
            }
        }
        // Each text is passed, the oldest is reached, and the way back leads through the same.
        let mut back = Vec::new();
        for _ in 0..100 {
            back.push(message.text());
            press(&mut message, "u");
        }
        prop_assert_eq!(message.text(), text.as_str());
        back.dedup();
        back.reverse();
        let mut passed = back.iter();
        prop_assert!(texts.iter().all(|text| passed.any(|other| other == text)), "{:?} lacks some of {:?}", back, texts);
        let mut forth = vec![message.text()];
        while message.redo() {
            message.fit(40, &[]);
            forth.push(message.text());
        }
        forth.dedup();
        prop_assert_eq!(forth.last(), texts.last());
    }

    #[test]
    fn what_one_key_deletes_the_next_puts_back(
        text in text(), at in 0..9_usize,
        change in prop::sample::select(vec!["dw", "d$", "x", "3x", "diw", "daw", "di(", "dd", "2dd", "vlld", "vwd"]),
    ) {
        let mut message = vim(&text);
        press(&mut message, &format!("gg{}", "w".repeat(at)));
        let before = words(&message.text().replace(char::is_whitespace, ""));
        press(&mut message, change);
        let was_deleted = words(&message.text().replace(char::is_whitespace, "")) != before;
        if was_deleted {
            let left = message.text().chars().filter(|c| !c.is_whitespace()).count();
            press(&mut message, "p");
            let all = message.text().chars().filter(|c| !c.is_whitespace()).count();
            let whole = text.chars().filter(|c| !c.is_whitespace()).count();
            prop_assert_eq!(all, whole, "{} of {} left {}", change, text, left);
        }
    }

    #[test]
    fn no_keys_at_all_break_a_grapheme_or_panic(
        text in text(), keys in "[ -~\u{1b}]{0,60}",
    ) {
        let mut message = vim(&text);
        for key in keys.chars() {
            press(&mut message, &key.to_string());
            let family = message.text().matches('👨').count();
            prop_assert_eq!(message.text().matches("👨‍👩‍👧‍👦").count(), family);
        }
    }
}

#[test]
fn the_usual_keys_still_delete_in_normal_mode() {
    assert_eq!(
        Keymap::default().lookup(Context::Composer, steersman_tui::keymap::Chord::parse("Ctrl+W").unwrap()),
        Some(Action::Edit(Edit::DeleteWord))
    );
    assert_eq!(pressed("one two|", "<c-w>"), "one| ");
    assert_eq!(pressed("a|bc", "<bs>"), "|abc");
    assert_eq!(pressed("a|bc", "<del>"), "a|c");
}
