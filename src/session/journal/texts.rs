//! The texts of a line: secrets are taken out of those that are free text, and a long one that was written before is named,
//! not repeated.
//!
//! In the place of a secret stands which one it was, so that a process that has it can put it back into what a model gets.
//!
//! The same words stand in an event, in the message of the conversation and in what its provider wrote; on the disk they
//! stand once. A text that names another begins with a NUL character; one that begins with it anyway gets a second.

use std::collections::HashMap;
use std::iter;
use std::ops::Range;
use std::sync::OnceLock;

use memchr::{memchr, memchr2};
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use steersman_base::text::hex;
use steersman_core::provider::ApiKey;

/// What stands before the name of a secret in its place.
const HIDDEN: &str = "[key ";
/// How often the name of a secret is hashed: to try passwords against it takes long.
const HASHED: usize = 1 << 14;
/// The bytes of its hash that name a secret.
const NAME_BYTES: usize = 6;

/// A secret that is kept out of a journal.
#[derive(Debug)]
pub(super) struct HiddenKey {
    pub key: ApiKey,
    /// What it is called there; made when it is first needed.
    name: OnceLock<String>,
}

impl HiddenKey {
    pub(super) fn new(key: ApiKey) -> Self {
        Self { key, name: OnceLock::new() }
    }

    fn name(&self) -> &str {
        self.name.get_or_init(|| {
            let mut digest = Sha256::digest(self.key.expose().trim());
            for _ in 0..HASHED {
                digest = Sha256::digest(digest);
            }
            hex(digest.get(..NAME_BYTES).unwrap_or_default())
        })
    }

    /// Takes it out of a text.
    fn hide(&self, text: String) -> String {
        self.key.mask_by(text, |part| match part {
            None => format!("{HIDDEN}{}]", self.name()),
            Some(bytes) => format!("{HIDDEN}{}:{bytes}]", self.name()),
        })
    }

    /// Returns it, or the part of it, that the words between the brackets stand for.
    fn named(&self, words: &str) -> Option<&str> {
        let (name, part) = words.split_once(':').map_or((words, None), |(name, part)| (name, Some(part)));
        let key = self.key.expose().trim();
        let part = part.map_or(Some(key), |part| key.get(..part.parse().ok()?))?;
        (name == self.name()).then_some(part)
    }
}

/// Whether what was written holds secrets that are not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    None,
    Some,
}

/// Puts the secrets back into a text; what stands for none of these stays.
fn reveal(text: &str, secrets: &[HiddenKey]) -> (String, Unknown) {
    let mut parts = text.split(HIDDEN);
    let (mut whole, mut unknown) = (parts.next().unwrap_or_default().to_owned(), Unknown::None);
    for part in parts {
        let (words, behind) = part.split_once(']').unwrap_or_default();
        if let Some(secret) = secrets.iter().find_map(|secret| secret.named(words)) {
            whole.extend([secret, behind]);
            continue;
        }
        let name = words.split(':').next().unwrap_or_default();
        if name.len() == 2 * NAME_BYTES && name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            unknown = Unknown::Some;
        }
        whole.extend([HIDDEN, part]);
    }
    (whole, unknown)
}

/// Puts the secrets back into every text of something that was written; nothing changes where none stands.
pub(super) fn reveal_in<T: Serialize + DeserializeOwned>(written: &mut T, secrets: &[HiddenKey]) -> Unknown {
    let Ok(mut value) = serde_json::to_value(&*written) else { return Unknown::None };
    let (mut has_some, mut unknown) = (false, Unknown::None);
    each_text(&mut value, &mut |text| {
        if text.contains(HIDDEN) {
            let (revealed, left) = reveal(text, secrets);
            has_some |= revealed != *text;
            if left == Unknown::Some {
                unknown = left;
            }
            *text = revealed;
        }
    });
    if has_some && let Ok(revealed) = serde_json::from_value(value) {
        *written = revealed;
    }
    unknown
}

/// Texts from this length on are named when they come again, bytes.
const LONG: usize = 80;
/// Begins a text that names another.
const NAME: char = '\0';
/// The same in a line.
const ESCAPED_NAME: &[u8] = br"\u0000";
/// Bytes of the longest escape of a character in a line.
const ESCAPE: usize = 6;
pub(super) const LOST: &str = "[lost: this text was in a damaged line of the session's journal]";

/// The place of a long text: the number of its record, and how many long texts stand before it there.
type Place = (u64, usize);
type Digest = [u8; 32];

/// The texts that a writer has written lately.
#[derive(Default)]
pub(super) struct Written(HashMap<Digest, Place>);

/// Most texts that a writer knows again: a conversation holds no more, and a session may go on for weeks.
const KNOWN: usize = 1 << 16;

impl Written {
    /// Takes the secrets out of a line's texts, and names those that were written before.
    pub(super) fn shorten(&mut self, number: u64, line: &mut Value, secrets: &[HiddenKey]) {
        if !secrets.is_empty() {
            mask(line, secrets);
        }
        let mut place = (number, 0);
        each_text(line, &mut |text| {
            if text.len() >= LONG {
                let digest: Digest = Sha256::digest(text.as_bytes()).into();
                if let Some((record, at)) = self.0.get(&digest) {
                    *text = format!("{NAME}{record}.{at}");
                    return;
                }
                if self.0.len() >= KNOWN {
                    self.0.clear();
                }
                self.0.insert(digest, place);
                place.1 += 1;
            }
            if text.starts_with(NAME) {
                text.insert(0, NAME);
            }
        });
    }

    /// Forgets them all: some of them did not reach the file.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}

/// Returns a line with the texts that it names, found by the number of their record and their place in it, and how many of
/// them are lost. The line is JSON; nothing of it is made a value.
pub(super) fn put_back(
    number: u64,
    line: &[u8],
    mut find: impl FnMut(u64, usize) -> Option<Vec<u8>>,
    most: usize,
) -> (Vec<u8>, u64) {
    let mut whole = Vec::with_capacity(line.len() * 2);
    // The long texts of this very line.
    let mut own: Vec<Range<usize>> = Vec::new();
    let (mut lost, mut copied) = (0, 0);
    for at in texts_of(line) {
        let text = line.get(at.clone()).unwrap_or_default();
        if let Some(named) = text.strip_prefix(ESCAPED_NAME) {
            whole.extend_from_slice(line.get(copied..at.start).unwrap_or_default());
            copied = at.end;
            if named.starts_with(ESCAPED_NAME) {
                if is_long(named) {
                    own.push(at.start + ESCAPED_NAME.len()..at.end);
                }
                whole.extend_from_slice(named);
                continue;
            }
            let found = place_named(named).filter(|_| whole.len() < most).and_then(|(record, place)| {
                if record != number {
                    return find(record, place);
                }
                own.get(place).and_then(|at| line.get(at.clone())).map(<[u8]>::to_vec)
            });
            lost += u64::from(found.is_none());
            whole.extend_from_slice(found.as_deref().unwrap_or(LOST.as_bytes()));
        } else if is_long(text) {
            own.push(at);
        }
    }
    whole.extend_from_slice(line.get(copied..).unwrap_or_default());
    (whole, lost)
}

/// Returns a long text of a line as it is written in JSON, by its place among them; `None` also where the line is damaged.
pub(super) fn long_text(line: &[u8], place: usize) -> Option<&[u8]> {
    // Something may follow it in a damaged line.
    let mut values = serde_json::Deserializer::from_slice(line).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    let line = line.get(..values.byte_offset())?;
    let mut own = texts_of(line).filter_map(|at| {
        let text = line.get(at)?;
        let text = match text.strip_prefix(ESCAPED_NAME) {
            Some(rest) => Some(rest).filter(|rest| rest.starts_with(ESCAPED_NAME))?,
            None => text,
        };
        is_long(text).then_some(text)
    });
    own.nth(place).filter(|text| str::from_utf8(text).is_ok())
}

fn place_named(name: &[u8]) -> Option<(u64, usize)> {
    let (record, place) = str::from_utf8(name).ok()?.split_once('.')?;
    Some((record.parse().ok()?, place.parse().ok()?))
}

/// Returns where the texts of a line of JSON stand, without their quotes, in their order; the names of members are none.
fn texts_of(line: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    iter::from_fn(move || {
        loop {
            let start = at + memchr(b'"', line.get(at..)?)? + 1;
            let mut end = start;
            loop {
                end += memchr2(b'"', b'\\', line.get(end..)?)?;
                if line.get(end) == Some(&b'"') {
                    break;
                }
                end += 2;
            }
            at = end + 1;
            let behind = line.get(at..)?.iter().find(|byte| !byte.is_ascii_whitespace());
            if behind != Some(&b':') {
                return Some(start..end);
            }
        }
    })
}

/// Tells whether a text that is written in JSON is long.
fn is_long(text: &[u8]) -> bool {
    text.len() >= LONG && (!text.contains(&b'\\') || text.len() >= LONG * ESCAPE || unescaped_len(text) >= LONG)
}

/// Returns how long a text is that is written in JSON.
fn unescaped_len(text: &[u8]) -> usize {
    let (mut at, mut len) = (0, 0);
    while let Some(byte) = text.get(at) {
        if *byte != b'\\' {
            (at, len) = (at + 1, len + 1);
            continue;
        }
        if text.get(at + 1) != Some(&b'u') {
            (at, len) = (at + 2, len + 1);
            continue;
        }
        let digits = text.get(at + 2..at + ESCAPE).and_then(|digits| str::from_utf8(digits).ok());
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()).unwrap_or_default();
        at += ESCAPE;
        len += match unit {
            0..0x80 => 1,
            // Two units are one character of four bytes.
            0x80..0x800 | 0xD800..0xE000 => 2,
            0x800.. => 3,
        };
    }
    len
}

/// Returns a text of a line as it was before it was written; `None` for one that names another.
pub(crate) fn written_out(text: &str) -> Option<&str> {
    match text.strip_prefix(NAME) {
        Some(rest) => rest.starts_with(NAME).then_some(rest),
        None => Some(text),
    }
}

/// The members that say what a record is and where, by which it is found again: they hold no free text.
const STRUCTURE: [&str; 18] = [
    "record",
    "type",
    "kind",
    "role",
    "id",
    "client_id",
    "session",
    "agent",
    "to",
    "name",
    "tool",
    "model",
    "directory",
    "branch",
    "path",
    "cwd",
    "program",
    "parent",
];

/// Takes the secrets out of the free text of a value.
fn mask(value: &mut Value, secrets: &[HiddenKey]) {
    match value {
        Value::String(text) => {
            for secret in secrets {
                if text.contains(secret.key.expose().trim()) || text.ends_with('…') {
                    *text = secret.hide(std::mem::take(text));
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask(item, secrets)),
        Value::Object(members) => members
            .iter_mut()
            .filter(|(name, member)| !(member.is_string() && STRUCTURE.contains(&name.as_str())))
            .for_each(|(_, member)| mask(member, secrets)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Visits every text of a value, in the order in which it is written.
fn each_text(value: &mut Value, visit: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, visit)),
        Value::Object(members) => members.values_mut().for_each(|member| each_text(member, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
