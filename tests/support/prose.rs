//! Text for benchmarks: lines of words as in code and in sentences, never twice the same.

use std::fmt::Write as _;

const WORDS: [&str; 24] = [
    "let", "session", "the", "file", "writes", "into", "of", "agent", "when", "self", "reads", "a", "journal", "is",
    "then", "unwrap", "error", "returns", "line", "and", "pub", "state", "match", "key",
];

/// Returns lines of words that are not the same in any two texts: one that repeats itself would take less memory than
/// one that somebody wrote.
pub fn prose(number: u64, lines: u64, words: u64) -> String {
    let mut seed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut text = String::new();
    for line in 0..lines {
        let _ = write!(text, "{number}.{line}");
        for _ in 0..words {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let [word, count] = [seed >> 33, seed >> 50].map(|part| usize::try_from(part).unwrap());
            let _ = write!(text, " {}", WORDS[word % WORDS.len()]);
            if count % 3 == 0 {
                let _ = write!(text, "_{:x}", count % 4_096);
            }
        }
        text.push('\n');
    }
    text
}
