//! Which texts are commands, and what becomes of the others.

use super::*;

fn verb(text: &str) -> Option<(Verb, &str)> {
    match read(text) {
        Draft::Command(command, argument) => Some((command.verb, argument)),
        Draft::Text(_) | Draft::Escaped(_) | Draft::NoCommand { .. } | Draft::Misfit(_) => None,
    }
}

#[test]
fn only_a_known_word_at_the_very_start_is_a_command() {
    assert_eq!(verb("/help"), Some((Verb::Help, "")));
    assert_eq!(verb("/help  "), Some((Verb::Help, "")));
    assert_eq!(verb("/model qwen3-35b"), Some((Verb::Model, "qwen3-35b")));
    assert_eq!(verb("/now stop\nand look"), Some((Verb::Now, "stop\nand look")));
    for text in ["", "help", " /help", "/etc/hosts is short", "/help/me", "/", "/ help", "/Help", "/help\nme", "/1"] {
        assert_eq!(verb(text), None, "{text:?}");
    }
}

#[test]
fn a_path_is_text_and_an_unknown_word_is_text_with_a_warning() {
    assert_eq!(read("/etc/hosts is short"), Draft::Text("/etc/hosts is short"));
    assert_eq!(read("/foo"), Draft::NoCommand { word: "/foo" });
    assert_eq!(read("/modle gpt"), Draft::NoCommand { word: "/modle" });
}

#[test]
fn two_slashes_before_a_word_send_one_and_a_comment_stays_as_it_is() {
    assert_eq!(read("//help me"), Draft::Escaped("/help me"));
    assert_eq!(read("//etc/hosts"), Draft::Escaped("/etc/hosts"));
    assert_eq!(read("// a comment"), Draft::Text("// a comment"));
    assert_eq!(read("///"), Draft::Text("///"));
}

#[test]
fn a_sentence_that_begins_with_a_command_is_not_carried_out() {
    assert!(matches!(read("/reset the counter in main.rs"), Draft::Misfit(_)));
    assert!(matches!(read("/model a b"), Draft::Misfit(_)));
    assert!(matches!(read("/now"), Draft::Misfit(_)));
}

#[test]
fn a_name_from_another_program_is_the_command_that_does_the_same() {
    assert_eq!(verb("/clear"), Some((Verb::New, "")));
    assert_eq!(verb("/exit"), Some((Verb::Quit, "")));
    assert_eq!(verb("/cost 5"), Some((Verb::Budget, "5")));
    for (alias, name) in ALIASES {
        assert!(COMMANDS.iter().any(|command| command.name == *name), "{alias}");
        assert!(COMMANDS.iter().all(|command| command.name != *alias), "{alias}");
    }
    assert_eq!(nearest("/nwe"), "new");
    assert_eq!(nearest("/modell"), "model");
}

#[test]
fn no_name_stands_twice() {
    for (i, one) in COMMANDS.iter().enumerate() {
        assert!(COMMANDS[i + 1..].iter().all(|two| two.name != one.name), "{}", one.name);
    }
}
