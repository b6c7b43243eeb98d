//! The words for efforts that a model knows, and the nearest of them to an effort.

use steersman_core::provider::Effort;

/// The set of words for efforts that a model knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Efforts(u8);

impl Default for Efforts {
    /// Returns the words of the newest models of `OpenAI` together; each refuses some and lists those that it accepts.
    fn default() -> Self {
        Self::new(&["none", "minimal", "low", "medium", "high", "xhigh"])
    }
}

impl Efforts {
    /// Makes a set; unknown words are ignored.
    pub(crate) const fn new(mut words: &[&str]) -> Self {
        let mut set = 0;
        while let [word, rest @ ..] = words {
            set |= bit(word);
            words = rest;
        }
        Self(set)
    }

    /// Finds the words that a text lists.
    pub(crate) fn listed(text: &str) -> Self {
        let words = text.split(|letter: char| !letter.is_alphanumeric());
        Self(words.fold(0, |set, word| set | bit(word)))
    }

    /// Returns the words that both sets have.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Counts the words.
    pub(crate) fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns the nearest word to an effort; `None` when none is near.
    pub(crate) fn word(self, effort: Effort) -> Option<&'static str> {
        let by_nearness: &[&'static str] = match effort {
            Effort::Off => &["none", "minimal", "low"],
            Effort::Minimal => &["minimal", "low", "none", "medium", "high"],
            Effort::Low => &["low", "minimal", "medium", "high", "default"],
            Effort::Medium => &["medium", "high", "default", "low"],
            Effort::High => &["high", "xhigh", "max", "default", "medium", "low"],
            Effort::Max => &["max", "xhigh", "high", "default", "medium", "low"],
        };
        by_nearness.iter().find(|word| self.0 & bit(word) != 0).copied()
    }
}

/// Returns a word's bit in the set; "default" is the behaviour of the model without an effort.
const fn bit(word: &str) -> u8 {
    match word.as_bytes() {
        b"none" => 1,
        b"minimal" => 2,
        b"low" => 4,
        b"medium" => 8,
        b"high" => 16,
        b"xhigh" => 32,
        b"max" => 64,
        b"default" => 128,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_taken() {
        let word = |words: &[&str], effort| Efforts::new(words).word(effort);
        assert_eq!(word(&["none", "low", "high"], Effort::Off), Some("none"));
        assert_eq!(word(&["low", "high"], Effort::Off), Some("low"));
        assert_eq!(word(&["low", "high"], Effort::Medium), Some("high"));
        assert_eq!(word(&["high", "max"], Effort::Max), Some("max"));
        assert_eq!(word(&["high", "xhigh"], Effort::Max), Some("xhigh"));
        assert_eq!(word(&["none", "default"], Effort::High), Some("default"));
        assert_eq!(word(&["high", "max"], Effort::Off), None);
        assert_eq!(Efforts::default().word(Effort::Minimal), Some("minimal"));
    }

    #[test]
    fn words_are_found_in_a_sentence() {
        let listed = Efforts::listed("'none', 'low', 'medium', and \"high\".");
        assert_eq!(listed, Efforts::new(&["none", "low", "medium", "high"]));
        assert_eq!(Efforts::listed("lower heights").len(), 0);
    }
}
