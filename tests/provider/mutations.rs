//! The promises of the fuzz targets, over their seeds in many small mutations: the part of fuzzing that every run does.
//!
//! `MUTATIONS=100000` makes it look longer.

#[path = "../fuzz/src/lib.rs"]
mod promises;

use std::fs;
use std::path::Path;

use steersman_base::dialect::Dialect;

/// Mutations of each seed, unless said.
const MUTATIONS: u64 = 250;

/// A generator of numbers that are random enough (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound.max(1)
    }
}

fn fuzz_dir() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fuzz"))
}

fn words() -> Vec<String> {
    let list = fs::read_to_string(fuzz_dir().join("dictionary.txt")).unwrap();
    let words = list.lines().filter_map(|line| line.strip_prefix('"')?.strip_suffix('"'));
    words.map(|word| word.replace("\\x0A", "\n").replace("\\\\", "\\")).collect()
}

fn mutate(seed: &[u8], words: &[String], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(4) {
        let (one, two) = (random.below(bytes.len() + 1), random.below(bytes.len() + 1));
        let (from, to) = (one.min(two), one.max(two));
        let near = to.min(from + 12);
        match random.below(9) {
            0 => bytes.truncate(from),
            1 => drop(bytes.drain(from..near)),
            2 => bytes.insert(from, [b'"', b'{', b'}', b'\n', b'\\', b'0', 0xFF, b','][random.below(8)]),
            3 => {
                let piece = bytes[from..to].to_vec();
                bytes.splice(to..to, piece);
            }
            4 => {
                let word = &words[random.below(words.len())];
                bytes.splice(from..from, word.bytes());
            }
            5 => {
                let word = &words[random.below(words.len())];
                bytes.splice(from..near, word.bytes());
            }
            6 => {
                let value: &[u8] =
                    [&b"null"[..], b"-1", b"1e400", b"[]", b"{}", b"\"\"", b"18446744073709551616"][random.below(7)];
                // In the place of a value, where there is one behind.
                let colon = bytes[from..].iter().position(|byte| *byte == b':').map_or(from, |at| from + at + 1);
                let end =
                    bytes[colon..].iter().position(|byte| matches!(byte, b',' | b'}')).map_or(colon, |at| colon + at);
                bytes.splice(colon..end, value.iter().copied());
            }
            7 => {
                // Two lines change places.
                let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
                let (one, two) = (random.below(lines.len()), random.below(lines.len()));
                lines.swap(one, two);
                bytes = lines.join(&b'\n');
            }
            _ => {
                if let Some(byte) = bytes.get_mut(from) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
    }
    bytes
}

fn each_mutation(target: &str, promise: impl Fn(&[u8])) {
    let count = std::env::var("MUTATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(MUTATIONS);
    let words = words();
    let mut seeds: Vec<_> =
        fs::read_dir(fuzz_dir().join("seeds").join(target)).unwrap().map(|entry| entry.unwrap().path()).collect();
    seeds.sort();
    assert!(!seeds.is_empty());
    for path in seeds {
        let seed = fs::read(&path).unwrap();
        promise(&seed);
        for number in 1..=count {
            let bytes = mutate(&seed, &words, &mut Random(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1));
            let kept = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| promise(&bytes)));
            assert!(kept.is_ok(), "{} mutation {number}: {}", path.display(), bytes.escape_ascii());
        }
    }
}

#[test]
fn frames_are_the_same_in_every_chunking() {
    each_mutation("sse", promises::decode);
}

#[test]
fn chat_streams_keep_their_promises() {
    each_mutation("openai", |bytes| promises::stream(Dialect::OpenAi, bytes));
}

#[test]
fn responses_streams_keep_their_promises() {
    each_mutation("openai_responses", |bytes| promises::stream(Dialect::OpenAiResponses, bytes));
}

#[test]
fn messages_streams_keep_their_promises() {
    each_mutation("anthropic", |bytes| promises::stream(Dialect::Anthropic, bytes));
}

#[test]
fn gemini_streams_keep_their_promises() {
    each_mutation("gemini", |bytes| promises::stream(Dialect::Gemini, bytes));
}

#[test]
fn inline_thinking_is_the_same_in_all_pieces() {
    each_mutation("reasoning", promises::split);
}

#[test]
fn whole_bodies_keep_their_promises() {
    each_mutation("bodies", |bytes| {
        let text = String::from_utf8_lossy(bytes);
        for dialect in Dialect::ALL {
            promises::body(dialect, &text);
        }
    });
}

#[test]
fn commands_are_decided_about_in_time() {
    for seed in fs::read_dir(fuzz_dir().join("seeds/shell")).unwrap() {
        let text = fs::read_to_string(seed.unwrap().path()).unwrap();
        promises::shell(&text, std::time::Duration::from_secs(20));
    }
}
