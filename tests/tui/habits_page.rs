//! The page for users of other programs: what it names is there.

use steersman_base::manual::manual_page;
use steersman_tui::commands::{Draft, parse};
use steersman_tui::keymap::{Chord, Context, Keymap};

/// The last cell of each row of the page.
fn cells() -> Vec<&'static str> {
    let page = manual_page("habits").unwrap();
    let rows = page.text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| there"));
    rows.map(|row| row.trim_end_matches(" |").rsplit(" | ").next().unwrap()).collect()
}

#[test]
fn every_key_that_the_page_names_does_something_in_the_message() {
    let mut keys = 0;
    for cell in cells() {
        let words: Vec<&str> =
            cell.split([' ', ',', '.', ':', ';', '(', ')']).filter(|word| !word.is_empty()).collect();
        for (at, word) in words.iter().enumerate() {
            let is_second = at > 0 && words[at - 1] == "Ctrl+X";
            let name = if is_second { format!("Ctrl+X {word}") } else { (*word).to_owned() };
            let is_key = is_second
                || word.contains('+')
                || ["Enter", "Esc", "Tab", "Up"].contains(word)
                || word.starts_with('F');
            let Some(chord) = Chord::parse(&name).ok().filter(|_| is_key && *word != "Ctrl+X") else { continue };
            assert!(Keymap::default().lookup(Context::Composer, chord).is_some(), "{name}: {cell}");
            keys += 1;
        }
    }
    assert!(keys > 30, "{keys}");
}

#[test]
fn every_command_that_the_page_names_is_one() {
    let mut commands = 0;
    for cell in cells() {
        for command in cell.split('`').filter(|code| code.starts_with('/')) {
            assert!(matches!(parse(command), Draft::Command(..)), "{command}: {cell}");
            commands += 1;
        }
    }
    assert!(commands > 20, "{commands}");
}
