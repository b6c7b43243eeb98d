//! What must hold of the whole table.

use super::*;

#[test]
fn no_key_has_two_meanings_in_one_context() {
    for (i, one) in BINDINGS.iter().enumerate() {
        for two in &BINDINGS[i + 1..] {
            assert!(one.context != two.context || one.chord != two.chord, "{one:?} and {two:?}");
        }
    }
}

#[test]
fn every_action_row_that_has_a_name_has_words_and_the_other_way_round() {
    for binding in BINDINGS {
        assert_eq!(binding.name.is_empty(), binding.help.is_empty(), "{binding:?}");
    }
}

#[test]
fn the_four_spellings_of_ctrl_underscore_are_one() {
    for (c, modifiers) in [('7', CTRL), ('/', CTRL), ('_', CTRL), ('_', CTRL | SHIFT), ('-', CTRL | SHIFT)] {
        let chord = Chord::of(&KeyEvent::new(K::Char(c), modifiers));
        assert_eq!(lookup(Composer, chord), Some(A::Undo), "{c} {modifiers:?}");
    }
}
