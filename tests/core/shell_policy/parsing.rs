//! How a command is read: what counts as one simple command is to bash exactly what it is to us, and no text breaks the
//! reader.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use steersman_core::approval::{Mode, Shape};

use super::{BENIGN, decide, hostile, lines, policy};

/// Returns the argument vector that bash makes of each command, of programs that exist nowhere.
fn argv(commands: &[String]) -> Vec<Vec<u8>> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    for command in commands {
        file.write_all(command.as_bytes()).unwrap();
        file.write_all(b"\0").unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    // Each command is read anew, as `bash -c` reads it; what is not found prints its words, each ended by a NUL.
    let driver = "command_not_found_handle() { printf '%s\\0' \"$@\"; }
        while IFS= read -r -d '' line; do ( eval \"$line\" ) </dev/null; printf '\\1'; done < \"$1\"";
    let output = Command::new("/bin/bash")
        .args(["--norc", "--noprofile", "-c", driver, "driver"])
        .arg(file.path())
        .env_clear()
        .env("PATH", dir.path())
        .env("LC_ALL", "C.UTF-8")
        .current_dir(dir.path())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    output.stdout.split(|byte| *byte == 1).map(<[u8]>::to_vec).collect()
}

fn expected(words: &[String]) -> Vec<u8> {
    words.iter().flat_map(|word| word.bytes().chain([0])).collect()
}

/// Compares with bash; the programs must be such that no builtin of bash has their name.
fn compare(commands: &[String]) -> usize {
    let simple: Vec<(String, Vec<String>)> = commands
        .iter()
        .filter_map(|command| match Shape::parse(command) {
            Shape::Simple(words) => Some((command.clone(), words)),
            Shape::Complex { .. } => None,
        })
        .filter(|(_, words)| !words[0].contains('/'))
        .collect();
    let texts: Vec<String> = simple.iter().map(|(text, _)| text.clone()).collect();
    let outputs = argv(&texts);
    assert_eq!(outputs.len(), simple.len() + 1, "bash stopped in the middle");
    for ((text, words), output) in simple.iter().zip(&outputs) {
        let output = String::from_utf8_lossy(output);
        assert_eq!(output, String::from_utf8(expected(words)).unwrap(), "bash reads {text:?} otherwise");
    }
    simple.len()
}

fn without_builtins(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    const BUILTINS: &str = "echo pwd printf test set let cd exit true false read eval exec type wait jobs bg fg kill trap \
                            umask ulimit times shift unset alias hash help local break continue return source command builtin \
                            export readonly declare typeset dirs popd pushd suspend logout history fc bind caller compgen \
                            complete compopt disown enable getopts mapfile readarray shopt unalias . :";
    let is_builtin = |text: &String| {
        text.split_whitespace().next().is_none_or(|first| BUILTINS.split_whitespace().any(|name| name == first))
    };
    texts.into_iter().filter(|text| !is_builtin(text)).collect()
}

#[test]
fn bash_runs_what_we_read_of_every_command_of_these_lists() {
    let texts = lines(BENIGN).into_iter().chain(hostile());
    let compared = compare(&without_builtins(texts));
    assert!(compared > 150, "{compared}");
}

/// Pieces of which commands are thrown together; the odd ones are frequent.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[a-z]{1,4}",
        4 => Just(" ".to_owned()),
        4 => prop::sample::select(vec![
            "'", "\"", "\\", "$", "`", "~", "^", "=", "#", "!", "*", "?", "[", "]", "{", "}", "(", ")", "<", ">", "|", "&", ";",
            "\n", "\r", "\t", ":", ",", "%", "@", "+", "-", "_", ".", "/", "\u{a0}", "é", "\u{200b}", "--", "\\\\", "\\\"", "\"\"",
            "''", "' '", "\" \"", "'a b'", "\"a b\"", "a=b", "~/x", "x~", "$x", "$(x)", "'$x'", "\"\\x\"", "{a,b}", "'{a,b}'",
        ])
        .prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| format!("prog {}", pieces.concat()))
}

#[test]
fn bash_runs_what_we_read_of_thousands_of_random_commands() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = pieces();
    let started = Instant::now();
    let mut texts = Vec::new();
    for _ in 0..6_000 {
        texts.push(strategy.new_tree(&mut runner).unwrap().current());
    }
    let compared = compare(&texts);
    assert!(compared > 1_500, "only {compared} of them were simple");
    eprintln!("{compared} of {} commands compared in {:?}", texts.len(), started.elapsed());
}

// S3: what bash calls an error is no simple command.
#[test]
fn what_bash_cannot_read_is_never_simple() {
    for text in hostile() {
        if text.contains('\0') || text.len() > 10_000 {
            continue;
        }
        let reads = Command::new("bash").args(["-n", "-c", &text]).stderr(Stdio::null()).status().unwrap().success();
        assert!(reads || matches!(Shape::parse(&text), Shape::Complex { .. }), "{text:?}");
    }
}

proptest! {
    // Whatever it is given, it ends with a verdict.
    #[test]
    fn no_text_breaks_the_reader(text in ".{0,60}", more in pieces()) {
        let policy = policy(&["bash: *"], &["bash: rm *"]);
        decide(&policy, Mode::Auto, &text);
        decide(&policy, Mode::Auto, &more);
        decide(&policy, Mode::Auto, &format!("{text}$({more})"));
    }
}

#[test]
fn the_tests_look_where_they_think() {
    assert_eq!(
        Shape::parse("ls 'a b' \"c\\d\" e''f"),
        Shape::Simple(["ls", "a b", "c\\d", "ef"].map(str::to_owned).to_vec())
    );
    assert!(matches!(Shape::parse("ls; rm"), Shape::Complex { why: "it has several commands" }));
}
