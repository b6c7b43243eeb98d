//! The uses of bash's builtins that run nothing and leave nothing behind that makes another command run something.
//!
//! Bash evaluates names of variables as arithmetic, with the substitutions in the places of arrays, wherever a builtin takes
//! one; so only plain names are known here, in few forms.

use super::indirect::{is_harmless, steers};
use super::lexer::Certainty;
use crate::approval::pattern::lists;

/// Operators of tests that evaluate what stands beside them.
const EVALUATING: &str = "-v -R -eq -ne -lt -le -gt -ge";

/// Options of `set` that change no more than when a script ends and what it prints.
const SET_OPTIONS: &str = "errexit noglob nounset pipefail xtrace";

/// Tells whether a use of a builtin is harmless; `None` when it is none of those of which that depends on the use.
pub(super) fn is_plain(name: &str, words: &[String], known: &[Certainty]) -> Option<bool> {
    let all_known = known.iter().all(|known| *known == Certainty::All);
    Some(match name {
        "[" => match words.split_last() {
            Some((end, words)) if end == "]" => is_plain_test(words, known),
            _ => false,
        },
        "test" => is_plain_test(words, known),
        // What its operators are is plain before it runs.
        "[[" => words.iter().zip(known).all(|(word, known)| *known != Certainty::All || !lists(EVALUATING, word)),
        "printf" => words.first().is_none_or(|first| !first.starts_with('-')) && known.first() == Some(&Certainty::All),
        "for" => words.first().is_some_and(|name| is_settable(name)) && known.first() == Some(&Certainty::All),
        "read" => all_known && names_only(words, "rsea", "dptnNui"),
        "mapfile" | "readarray" => all_known && names_only(words, "t", "dnsOu"),
        "getopts" => all_known && words.iter().skip(1).take(1).all(|name| is_settable(name)),
        "unset" => all_known && names_only(words, "vf", ""),
        "export" => all_known && words.iter().all(|word| is_plain_export(word)),
        "declare" | "typeset" | "readonly" => {
            all_known && words.iter().all(|word| is_option(word, "aAgrp") || is_plain_declaration(word))
        }
        "set" => all_known && is_plain_set(words),
        "wait" => all_known && words.iter().all(|word| is_option(word, "n") || !word.starts_with('-')),
        _ => return None,
    })
}

/// Tells whether a test looks at files and texts only, whatever is unknown of it.
fn is_plain_test(words: &[String], known: &[Certainty]) -> bool {
    let is_known = |at: usize| known.get(at) == Some(&Certainty::All);
    let mut known_words =
        words.iter().zip(known).filter(|(_, known)| **known == Certainty::All).map(|(word, _)| word.as_str());
    if known_words.any(|word| matches!(word, "-v" | "-R") || word.contains("$(") || word.contains('`')) {
        return false;
    }
    if words.iter().zip(known).all(|(_, known)| *known == Certainty::All) {
        return true;
    }
    // What may be several words, or none, moves all others.
    if words.iter().zip(known).any(|(_, known)| *known == Certainty::Nothing) {
        return false;
    }
    // Tests that are joined are looked at one by one.
    let joint = (0..words.len())
        .find(|at| is_known(*at) && words.get(*at).is_some_and(|word| matches!(word.as_str(), "-a" | "-o")));
    if let Some(joint) = joint.filter(|joint| *joint > 0) {
        let part = |from: usize, to: usize| {
            is_plain_test(words.get(from..to).unwrap_or_default(), known.get(from..to).unwrap_or_default())
        };
        return part(0, joint) && part(joint + 1, words.len());
    }
    match words {
        [] | [_] => true,
        [_, _] => is_known(0),
        [not, rest @ ..] if is_known(0) && not == "!" => is_plain_test(rest, known.get(1..).unwrap_or_default()),
        [_, _, _] => is_known(1),
        _ => false,
    }
}

/// Tells whether words are such options, their values, and names of variables that may be set. The letters of `valued` take
/// the next word.
fn names_only(words: &[String], flags: &str, valued: &str) -> bool {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let option = word
            .strip_prefix('-')
            .and_then(|letters| letters.char_indices().next_back().map(|(at, c)| (letters, at, c)));
        match option {
            // No letter before takes the rest of the word.
            Some((letters, at, last)) if letters.chars().take(at).all(|c| flags.contains(c)) => {
                if valued.contains(last) {
                    words.next();
                } else if !flags.contains(last) {
                    return false;
                }
            }
            None if is_settable(word) => {}
            Some(_) | None => return false,
        }
    }
    true
}

fn is_option(word: &str, letters: &str) -> bool {
    word.strip_prefix('-').is_some_and(|word| !word.is_empty() && word.chars().all(|c| letters.contains(c)))
}

/// Tells whether a word is the name of a variable that no program obeys.
fn is_settable(name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(is_word) && !steers(name)
}

fn is_plain_declaration(word: &str) -> bool {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    is_settable(name) && !value.contains(['(', '`', '['])
}

fn is_plain_export(word: &str) -> bool {
    let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    word == "-p" || is_settable(name) && is_harmless(name, value)
}

fn is_plain_set(words: &[String]) -> bool {
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let is_named = word.ends_with('o') && is_option(word, "eufxo");
        match word {
            "--" => return true,
            _ if is_named && words.next().is_some_and(|option| lists(SET_OPTIONS, option)) => {}
            _ if !is_named && is_option(word, "eufx") || matches!(word, "+e" | "+u" | "+x" | "+f") => {}
            _ => return false,
        }
    }
    true
}
