//! What is searched for: literal text, in any case unless it has a capital letter, and where it stands in a text.
//!
//! Used by `finds` for the whole transcript and by the drawing for what is visible. Pure.

use std::ops::Range;

use memchr::{memchr2, memmem};

/// What is searched for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needle {
    text: String,
    case: Case,
}

/// Whether capital and small letters differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Case {
    #[default]
    Differs,
    Same,
}

impl Needle {
    /// Takes what was typed; `None` when that is nothing. A capital letter in it makes the case count.
    pub fn new(text: &str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        let case = if text.chars().any(char::is_uppercase) { Case::Differs } else { Case::Same };
        Some(Self { text: text.to_owned(), case })
    }

    /// Finds the first place from a byte on; the bytes of the text that it takes.
    pub fn find(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let rest = text.get(from..)?;
        match self.case {
            Case::Differs => {
                let at = memmem::find(rest.as_bytes(), self.text.as_bytes())? + from;
                Some(at..at + self.text.len())
            }
            Case::Same if self.text.is_ascii() => {
                let at = find_ascii(rest.as_bytes(), self.text.as_bytes())? + from;
                Some(at..at + self.text.len())
            }
            Case::Same => rest.char_indices().find_map(|(at, _)| {
                let length = same_beginning(rest.get(at..)?, &self.text)?;
                Some(from + at..from + at + length)
            }),
        }
    }

    /// Returns every place in a text, in order; none overlaps another.
    pub fn all<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            let found = self.find(text, from)?;
            from = found.end;
            Some(found)
        })
    }

    /// Tells whether a text without this needle cannot have the other one either.
    pub fn is_within(&self, other: &Self) -> bool {
        // What the other one finds must also be found without its case.
        let agrees = self.case == Case::Same || other.case == Case::Differs;
        agrees && self.find(&other.text, 0).is_some()
    }

    /// Returns its longest run of ASCII letters and digits: where that is not, the whole is not.
    pub fn anchor(&self) -> Option<&str> {
        let runs = self.text.split(|c: char| !c.is_ascii_alphanumeric());
        runs.max_by_key(|run| run.len()).filter(|run| !run.is_empty())
    }
}

/// Finds ASCII text, letters of both cases being the same.
pub fn find_ascii(text: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = wanted.first()?;
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    let mut from = 0;
    loop {
        let at = from + memchr2(lower, upper, text.get(from..)?)?;
        let stretch = text.get(at..at + wanted.len())?;
        if stretch.eq_ignore_ascii_case(wanted) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Returns the bytes at the start of a text that are the wanted ones but for their case.
fn same_beginning(text: &str, wanted: &str) -> Option<usize> {
    let mut chars = text.char_indices();
    for wanted in wanted.chars() {
        let (_, c) = chars.next()?;
        if c != wanted && small(c) != small(wanted) {
            return None;
        }
    }
    Some(chars.next().map_or(text.len(), |(at, _)| at))
}

/// Returns a letter as a small one, where that is one character of the same kind.
fn small(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) if !one.is_ascii() => one,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(needle: &str, text: &str) -> Vec<(usize, usize)> {
        Needle::new(needle).unwrap().all(text).map(|range| (range.start, range.end)).collect()
    }

    #[test]
    fn case_counts_only_when_a_capital_is_typed() {
        assert_eq!(found("error", "Error ERROR error"), [(0, 5), (6, 11), (12, 17)]);
        assert_eq!(found("Error", "Error ERROR error"), [(0, 5)]);
        assert_eq!(found("größe", "GRÖSSE GRÖßE größe"), [(8, 15), (16, 23)]);
        assert_eq!(found("ÖL", "öl ÖL"), [(4, 7)]);
        assert_eq!(found("aa", "aaaa a"), [(0, 2), (2, 4)]);
        assert_eq!(found("日本", "日本語と日本"), [(0, 6), (12, 18)]);
        assert_eq!(found(".*", "a.*b a.b"), [(1, 3)]);
        assert!(found("k", "\u{212A}").is_empty(), "a Kelvin sign is no letter");
        assert!(Needle::new("").is_none());
    }

    #[test]
    fn a_longer_needle_is_within_what_a_shorter_one_found() {
        let needle = |text| Needle::new(text).unwrap();
        assert!(needle("err").is_within(&needle("error")));
        assert!(needle("err").is_within(&needle("Error")));
        assert!(needle("Err").is_within(&needle("Error")));
        assert!(!needle("Err").is_within(&needle("errors")));
        assert!(!needle("error").is_within(&needle("err")));
    }

    #[test]
    fn the_anchor_is_the_longest_run_of_plain_letters() {
        let anchor = |text| Needle::new(text).unwrap().anchor().map(str::to_owned);
        assert_eq!(anchor("let x_value = 1").as_deref(), Some("value"));
        assert_eq!(anchor("→ ü"), None);
    }
}
