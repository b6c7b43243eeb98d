//! How long a decision takes at most: texts that nest, repeat or never end freeze nothing.

use std::time::Duration;

use proptest::prelude::*;
use steersman_core::approval::Mode;

use super::{decide, policy};
use crate::support::cpu_time::CpuTime;

/// Texts that took an earlier reader exponential time, ended it by an overflow of the stack, or took a rule quadratic time.
fn freezing() -> Vec<String> {
    const MOST: usize = 96 * 1024;
    let units = [
        "(",
        "((",
        "( (",
        "$(",
        "$((",
        "${x:-",
        "\"$(",
        "\"${x:-",
        "`",
        "case x in x) ",
        "case x in (x) ",
        "if ",
        "if ls; then ",
        "while ",
        "for x in a; do ",
        "select x in a; do ",
        "{ ",
        "[[ ! ",
        "[[ ( ",
        "! ",
        "time ",
        "coproc ",
        "f() ",
        "function f ",
        "<(",
        "<<E ",
        "<<E\n",
        "\nE\n",
        "@(",
        "$[",
        "a[",
        "x=(",
        "x=((",
        "\"\"",
        "'",
        "\"",
        "$'",
        "\\",
        "{a,",
        "~",
        "#",
        " #",
        "(ls;",
        "git ",
        "git -a ",
        "-a git ",
        "git -c x ",
        "a/",
        "x/HEAD ",
        ".git/",
        "=",
        "*",
        "?",
        "[",
        ">",
        "2>",
        "bash -c '",
        "é",
        "\u{202e}",
    ];
    let mut texts = vec!["(".repeat(40) + "ls", "case x in x) ".repeat(30), "$((".repeat(14)];
    for unit in units {
        for count in [40, MOST] {
            let text: String = unit.chars().cycle().take((unit.chars().count() * count).min(MOST)).collect();
            let text: String = text
                .chars()
                .scan(0, |bytes, c| {
                    *bytes += c.len_utf8();
                    (*bytes < MOST).then_some(c)
                })
                .collect();
            texts.push(format!("xargs {text}"));
            texts.push(text);
        }
    }
    texts
}

/// Decides with and without rules, and returns how long the longest decision took.
fn longest(text: &str, modes: &[Mode]) -> Duration {
    let policy = policy(&["bash: *", "bash: git *"], &["bash: rm *", "bash: git push *"]);
    let time = |mode: &Mode| {
        let started = CpuTime::now();
        decide(&policy, *mode, text);
        started.elapsed()
    };
    modes.iter().map(time).max().unwrap()
}

#[test]
fn forty_brackets_and_whatever_else_nests_freeze_nothing_in_any_mode() {
    let mut worst = (Duration::ZERO, String::new());
    for (number, text) in freezing().into_iter().enumerate() {
        let modes = if number < 3 { &Mode::ALL[..] } else { &[Mode::Auto] };
        let time = longest(&text, modes);
        assert!(time < Duration::from_secs(20), "{time:?} for {} bytes of {text:.60}", text.len());
        if time > worst.0 {
            worst = (time, format!("{} bytes of {text:.60}", text.len()));
        }
    }
    eprintln!("longest: {worst:?}");
}

/// Scraps that nest, for texts as the fuzz target makes them.
fn scraps() -> impl Strategy<Value = String> {
    let scrap = prop::sample::select(vec![
        "(",
        ")",
        "((",
        "))",
        "$(",
        "$((",
        "${x:-",
        "}",
        "{ ",
        "; }",
        "[[ ",
        "]]",
        "`",
        "'",
        "\"",
        "$'",
        "\\",
        "case x in x) ",
        ";;",
        "esac",
        "if ",
        "; then ",
        "fi",
        "while ",
        "; do ",
        "done",
        "! ",
        "time ",
        "f() ",
        "<(",
        "<<E",
        "\nE\n",
        "@(",
        "$[",
        "a[",
        "=(",
        "ls",
        " ",
        "\n",
        ";",
        "|",
        " #",
        "coproc ",
        "xargs ",
        "git ",
        "-c ",
        "bash -c ",
        "a/",
        "HEAD ",
    ]);
    let unit = prop::collection::vec(scrap, 1..6).prop_map(|scraps| scraps.concat());
    (unit.clone(), 1..2_000_usize, unit, 0..2_000_usize).prop_map(|(first, count, second, other)| {
        let text = first.repeat(count) + "ls" + &second.repeat(other);
        text.chars().take(96 * 1024).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_text_takes_long_to_decide_about(text in scraps()) {
        let time = longest(&text, &[Mode::Auto]);
        prop_assert!(time < Duration::from_secs(20), "{:?} for {} bytes", time, text.len());
    }
}
