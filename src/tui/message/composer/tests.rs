//! What holds of the message by itself, without a screen.

use super::*;
use steersman_base::limits;

fn with(text: &str) -> Composer {
    let mut composer = Composer::default();
    assert_eq!(composer.paste(text), Pasted::Whole);
    composer
}

#[test]
fn a_family_is_one_step_and_one_backspace() {
    let mut composer = with("a👨‍👩‍👧‍👦b");
    composer.edit(Edit::Left);
    composer.edit(Edit::Backspace);
    assert_eq!(composer.text(), "ab");
    let mut composer = with("é👨‍👩‍👧‍👦");
    composer.edit(Edit::Left);
    composer.edit(Edit::Left);
    composer.type_char('x');
    assert_eq!(composer.text(), "xé👨‍👩‍👧‍👦");
}

#[test]
fn a_paste_is_one_undo_step_with_plain_line_ends() {
    let mut composer = with("one\rtwo\r\nthree\nfour");
    assert_eq!(composer.text(), "one\ntwo\nthree\nfour");
    assert!(composer.undo());
    assert_eq!(composer.text(), "");
}

#[test]
fn escape_sequences_and_bidi_marks_do_not_get_into_the_text() {
    let mut composer = Composer::default();
    assert_eq!(composer.paste("a\u{1b}[31mb\u{202e}c\u{9b}"), Pasted::Cleaned(3));
    assert_eq!(composer.text(), "a[31mbc");
    assert_eq!(composer.paste(&"x".repeat(limits::MESSAGE_BYTES + 1)), Pasted::TooLong);
    assert_eq!(composer.text(), "a[31mbc");
}

#[test]
fn texts_come_back_in_order_before_the_draft() {
    let mut composer = with("draft");
    composer.put_before(&["one".into(), "two".into()]);
    assert_eq!(composer.text(), "one\n\ntwo\n\ndraft");
    composer.type_char('!');
    assert_eq!(composer.text(), "one\n\ntwo\n\ndraft!");
    let mut empty = Composer::default();
    empty.put_before(&["one".into()]);
    assert_eq!(empty.text(), "one");
}

#[test]
fn the_cursor_stays_in_the_draft_when_texts_come_back_around_it() {
    let mut composer = with("draft");
    composer.edit(Edit::Left);
    composer.put_before(&["one\nline".into()]);
    composer.put_behind(&["two".into()]);
    composer.type_char('f');
    assert_eq!(composer.text(), "one\nline\n\ndraff\n\ntwo".replace("draff", "drafft"));
}

#[test]
fn undo_never_removes_a_text_that_came_back() {
    let mut composer = with("draft");
    composer.put_before(&["one".into()]);
    assert!(!composer.undo());
    composer.load("another");
    assert!(!composer.undo());
    assert_eq!(composer.text(), "another");
}

#[test]
fn a_text_that_came_back_can_be_taken_off_again_unless_it_was_changed() {
    let mut composer = with("draft");
    composer.put_before(&["one".into()]);
    assert!(composer.take_front("one"));
    assert_eq!(composer.text(), "draft");
    composer.type_char('!');
    assert_eq!(composer.text(), "draft!");
    assert!(!composer.take_front("one") && !composer.take_front("dra"));
    composer.load("one");
    assert!(composer.take_front("one"));
    assert!(composer.is_empty());
}

#[test]
fn what_was_sent_is_forgotten() {
    let mut composer = with("first\nsecond");
    composer.forget();
    assert!(!composer.undo());
    assert!(composer.is_empty());
}

#[test]
fn rows_follow_the_width() {
    let mut composer = with("aaaa bbbb cccc");
    composer.fit(5, &PLACEHOLDERS);
    assert!(composer.rows() >= 3);
    composer.fit(80, &PLACEHOLDERS);
    assert_eq!(composer.rows(), 1);
    composer.fit(0, &PLACEHOLDERS);
    assert!(composer.rows() >= 1);
}
