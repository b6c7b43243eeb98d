//! Which texts are commands, and what becomes of the others.

use super::*;

fn verb(text: &str) -> Option<(Verb, &str)> {
    match parse(text) {
        Draft::Command(command, argument) => Some((command.verb, argument)),
        Draft::Text(_) | Draft::Escaped(_) | Draft::NoCommand { .. } | Draft::InvalidArguments(..) => None,
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
    assert_eq!(parse("/etc/hosts is short"), Draft::Text("/etc/hosts is short"));
    assert_eq!(parse("/foo"), Draft::NoCommand { word: "/foo" });
    assert_eq!(parse("/modle gpt"), Draft::NoCommand { word: "/modle" });
}

#[test]
fn two_slashes_before_a_word_send_one_and_a_comment_stays_as_it_is() {
    assert_eq!(parse("//help me"), Draft::Escaped("/help me"));
    assert_eq!(parse("//etc/hosts"), Draft::Escaped("/etc/hosts"));
    assert_eq!(parse("// a comment"), Draft::Text("// a comment"));
    assert_eq!(parse("///"), Draft::Text("///"));
}

#[test]
fn a_sentence_that_begins_with_a_command_is_not_carried_out() {
    assert!(matches!(parse("/reset the counter in main.rs"), Draft::InvalidArguments(..)));
    assert!(matches!(parse("/model a b"), Draft::InvalidArguments(..)));
    assert!(matches!(parse("/now"), Draft::InvalidArguments(..)));
}

#[test]
fn a_name_from_another_program_is_the_command_that_does_the_same() {
    assert_eq!(verb("/clear"), Some((Verb::New, "")));
    assert_eq!(verb("/exit"), Some((Verb::Quit, "")));
    assert_eq!(verb("/cost 5"), Some((Verb::Entry(&crate::conversation::BUDGET), "5")));
    for Alias { name, command, .. } in ALIASES {
        assert!(COMMANDS.iter().any(|known| known.name == *command), "{name}");
        assert!(COMMANDS.iter().all(|known| known.name != *name), "{name}");
        assert_eq!(ALIASES.iter().filter(|other| other.name == *name).count(), 1, "{name}");
    }
}

#[test]
fn the_names_that_other_hosts_have_are_commands_here_or_lead_to_the_help_about_it() {
    for (name, verb, argument) in [
        ("/clear", Verb::New, ""),
        ("/exit", Verb::Quit, ""),
        ("/rewind", Verb::Entry(&crate::branch::COMMAND), ""),
        ("/fork", Verb::Entry(&crate::branch::COMMAND), ""),
        ("/todos", Verb::Entry(&crate::plan::PANE.command), ""),
        ("/memory", Verb::Entry(&crate::rules::COMMAND), ""),
        ("/config", Verb::Help, "configuration"),
        ("/tasks", Verb::Entry(&crate::jobs::PANE.command), ""),
        ("/doctor", Verb::Help, "doctor"),
        ("/cost", Verb::Entry(&crate::conversation::BUDGET), ""),
        ("/changes", Verb::Entry(&crate::changes::PANE.command), ""),
        ("/tokens", Verb::Entry(&crate::context::PANE.command), ""),
        ("/drop", Verb::Entry(&crate::context::PANE.command), ""),
        ("/ps", Verb::Entry(&crate::jobs::PANE.command), ""),
        ("/add", Verb::Help, "message"),
        ("/terminal-setup", Verb::Help, "keys"),
        ("/plugin", Verb::Help, "plugins"),
        ("/stats", Verb::Entry(&crate::conversation::BUDGET), ""),
        ("/shortcuts", Verb::Help, ""),
    ] {
        assert!(
            matches!(parse(name), Draft::Command(command, behind) if (command.verb, behind) == (verb, argument)),
            "{name}"
        );
    }
}

#[test]
fn the_nearest_command_begins_with_the_word_and_gives_nothing_up_where_another_fits() {
    for (word, name) in [
        ("/nwe", "new"),
        ("/modell", "model"),
        ("/re", "resume"),
        ("/res", "resume"),
        ("/cl", "clear"),
        ("/rese", "reset"),
        ("/qui", "quit"),
        ("/exi", "exit"),
        ("/confi", "config"),
        ("/rewnd", "rewind"),
    ] {
        assert_eq!(nearest(word), Some(name), "{word}");
    }
    for word in ["/qwertyuiop", "/xyzzy"] {
        assert_eq!(nearest(word), None, "{word}");
    }
}

#[test]
fn no_name_stands_twice() {
    for (i, one) in COMMANDS.iter().enumerate() {
        assert!(COMMANDS[i + 1..].iter().all(|two| two.name != one.name), "{}", one.name);
    }
}

#[test]
fn words_behind_a_name_of_another_program_are_taken_only_where_its_command_takes_them() {
    for (word, behind) in [
        ("/add", "src/main.rs"),
        ("/share", "this with them"),
        ("/drop", "main.rs"),
        ("/read-only", "please"),
        ("/clear", "all of it"),
    ] {
        assert_eq!(parse(&format!("{word} {behind}")), Draft::NoCommand { word });
    }
    assert_eq!(unknown("/add"), "/add is /help message here, without words behind it");
    assert_eq!(unknown("/clear"), "/clear is /new here, without words behind it");
    let Draft::InvalidArguments(command, behind) = parse("/continue one two") else { panic!("it takes one word") };
    let sentence = "no session is called \"one two\"; //continue sends it as text";
    assert_eq!(command.invalid_arguments("/continue one two", behind), sentence);
    assert_eq!(verb("/continue 12"), Some((Verb::Entry(&crate::sessions::RESUME), "12")));
    assert_eq!(verb("/permissions plan"), Some((Verb::Mode, "plan")));
}
