//! What must hold of the whole table.

use super::*;

#[test]
fn no_key_has_two_meanings_in_one_context() {
    for context in Context::all() {
        for (i, one) in context.rows().iter().enumerate() {
            for two in &context.rows()[i + 1..] {
                assert_ne!(one.chord, two.chord, "{one:?} and {two:?}");
            }
        }
    }
}

#[test]
fn every_key_of_a_table_is_written_as_keys_are() {
    for key in Context::all().flat_map(Context::table).flat_map(|row| row.keys.split("  ")) {
        assert_eq!(Chord::parse(key).map(|chord| chord.to_string()).as_deref(), Ok(key));
    }
}

#[test]
fn every_action_row_that_has_a_name_has_words_and_the_other_way_round() {
    for binding in Context::all().flat_map(Context::rows) {
        assert_eq!(binding.name.is_empty(), binding.help.is_empty(), "{binding:?}");
    }
}

#[test]
fn the_four_spellings_of_ctrl_underscore_are_one() {
    let (ctrl, shift) = (KeyModifiers::CONTROL, KeyModifiers::SHIFT);
    for (c, modifiers) in [('7', ctrl), ('/', ctrl), ('_', ctrl), ('_', ctrl | shift), ('-', ctrl | shift)] {
        let chord = Chord::from_event(&KeyEvent::new(KeyCode::Char(c), modifiers));
        assert_eq!(Keymap::default().lookup(Context::Composer, chord), Some(Action::Undo), "{c} {modifiers:?}");
    }
}

#[test]
fn each_key_with_alt_and_each_f_key_has_two_keys_besides() {
    for context in Context::all() {
        for Binding { chord, action, .. } in context.rows() {
            let is_f = matches!(chord.code, KeyCode::F(_));
            if is_f || chord.modifiers.contains(KeyModifiers::ALT) {
                let keymap = Keymap::default();
                let chords: Vec<Chord> = keymap.chords(context, *action).filter(|chord| chord.is_prefixed).collect();
                assert!(!chords.is_empty(), "{chord} in {context:?}");
            }
        }
    }
}

#[test]
fn an_action_has_a_name_of_its_own_within_each_context() {
    for context in Context::all() {
        for one in context.rows() {
            let namesake =
                context.rows().iter().find(|two| two.action.id() == one.action.id() && two.action != one.action);
            assert!(namesake.is_none(), "{one:?} and {namesake:?}");
        }
    }
}
