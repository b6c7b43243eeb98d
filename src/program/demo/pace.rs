//! How fast the embedded model writes.
//! The configuration names it in words per second; the stream waits by it.

use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

/// The speed at which the embedded model writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Without any wait.
    Instant,
    WordsPerSecond(NonZeroU32),
}

impl Pace {
    /// Returns the pace of so many words per second; 0 is [`Pace::Instant`].
    pub fn words_per_second(words: u32) -> Self {
        NonZeroU32::new(words).map_or(Self::Instant, Self::WordsPerSecond)
    }

    pub fn per_word(self) -> Duration {
        match self {
            Self::Instant => Duration::ZERO,
            Self::WordsPerSecond(words) => Duration::from_secs(1) / words.get(),
        }
    }
}

impl Default for Pace {
    /// Quick, but readable: 40 words a second.
    fn default() -> Self {
        Self::words_per_second(40)
    }
}

impl FromStr for Pace {
    type Err = String;

    /// Reads `instant`, or words per second as a whole number.
    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("instant") {
            return Ok(Self::Instant);
        }
        text.parse().map(Self::words_per_second).map_err(|_| {
            format!("a pace is \"instant\" or a whole number of words per second, and {text:?} is neither")
        })
    }
}
