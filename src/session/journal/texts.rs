//! The texts of a line: secrets are taken out of those that are free text, and a long one that was written before is named,
//! not repeated.
//!
//! The same words stand in an event, in the message of the conversation and in what its provider wrote; on the disk they
//! stand once. A text that names another begins with a NUL character; one that begins with it anyway gets a second.

use std::collections::HashMap;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use steersman_core::provider::ApiKey;

/// Texts from this length on are named when they come again, bytes.
const LONG: usize = 80;
/// Begins a text that names another.
const NAME: char = '\0';
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
    pub(super) fn shorten(&mut self, number: u64, line: &mut Value, secrets: &[ApiKey]) {
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

/// Puts the texts back that a line names, found by the number of their record and their place in it; returns how many of
/// them are lost.
pub(super) fn restore(number: u64, line: &mut Value, mut find: impl FnMut(u64, usize) -> Option<String>) -> u64 {
    let mut own: Vec<String> = Vec::new();
    let mut lost = 0;
    each_text(line, &mut |text| {
        if let Some(named) = text.strip_prefix(NAME) {
            if named.starts_with(NAME) {
                text.remove(0);
            } else {
                let named =
                    named.split_once('.').and_then(|(record, at)| Some((record.parse().ok()?, at.parse().ok()?)));
                let whole =
                    named.and_then(
                        |(record, at)| {
                            if record == number { own.get::<usize>(at).cloned() } else { find(record, at) }
                        },
                    );
                lost += u64::from(whole.is_none());
                *text = whole.unwrap_or_else(|| LOST.to_owned());
                return;
            }
        }
        if text.len() >= LONG {
            own.push(text.clone());
        }
    });
    lost
}

pub(super) fn long_text(line: &[u8], place: usize) -> Option<String> {
    // Something may follow it in a damaged line.
    let mut value = serde_json::Deserializer::from_slice(line).into_iter::<Value>().next()?.ok()?;
    let (mut next, mut found) = (0, None);
    each_text(&mut value, &mut |text| {
        let Some(text) = written_out(text).filter(|text| text.len() >= LONG) else { return };
        if next == place {
            found = Some(text.to_owned());
        }
        next += 1;
    });
    found
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
fn mask(value: &mut Value, secrets: &[ApiKey]) {
    match value {
        Value::String(text) => {
            for secret in secrets {
                if text.contains(secret.expose().trim()) || text.ends_with('…') {
                    *text = secret.mask(std::mem::take(text));
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
