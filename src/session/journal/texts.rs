//! The texts of a line: secrets are taken out of them, and a long one that was written before is named, not repeated.
//!
//! The same words stand in an event, in the message of the conversation and in what its provider wrote; on the disk they
//! stand once. A text that names another begins with a NUL character; one that begins with it anyway gets a second.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::provider::ApiKey;

/// Texts from this length on are named when they come again, bytes.
const LONG: usize = 80;
/// Begins a text that names another.
const NAME: char = '\0';
/// Stands for a text that was lost with a damaged line.
pub(super) const LOST: &str = "[lost: this text was in a damaged line of the session's journal]";

/// The place of a long text: the number of its record, and how many long texts stand before it there.
type Place = (u64, usize);
type Digest = [u8; 32];

/// The texts that a writer has written.
#[derive(Default)]
pub(super) struct Written(HashMap<Digest, Place>);

impl Written {
    /// Takes the secrets out of a line's texts, and names those that were written before.
    pub(super) fn shorten(&mut self, number: u64, line: &mut Value, secrets: &[ApiKey]) {
        let mut place = (number, 0);
        each_text(line, &mut |text| {
            for secret in secrets {
                if text.contains(secret.expose().trim()) || text.ends_with('…') {
                    *text = secret.mask(std::mem::take(text));
                }
            }
            if text.len() >= LONG {
                let digest: Digest = Sha256::digest(text.as_bytes()).into();
                if let Some((record, at)) = self.0.get(&digest) {
                    *text = format!("{NAME}{record}.{at}");
                    return;
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

/// The texts that a reader has read.
#[derive(Default)]
pub(super) struct Read(HashMap<Place, Arc<str>>);

impl Read {
    /// Puts the texts back that a line names; returns how many of them are lost.
    pub(super) fn restore(&mut self, number: u64, line: &mut Value) -> u64 {
        let mut place = (number, 0);
        let mut lost = 0;
        each_text(line, &mut |text| {
            if let Some(named) = text.strip_prefix(NAME) {
                if named.starts_with(NAME) {
                    text.remove(0);
                } else {
                    let named =
                        named.split_once('.').and_then(|(record, at)| Some((record.parse().ok()?, at.parse().ok()?)));
                    let whole = named.and_then(|named| self.0.get(&named));
                    lost += u64::from(whole.is_none());
                    *text = whole.map_or_else(|| LOST.to_owned(), |whole| whole.as_ref().to_owned());
                    return;
                }
            }
            if text.len() >= LONG {
                self.0.insert(place, Arc::from(text.as_str()));
                place.1 += 1;
            }
        });
        lost
    }
}

/// Returns a text of a line as it was before it was written; `None` for one that names another.
pub(in crate::session) fn written_out(text: &str) -> Option<&str> {
    match text.strip_prefix(NAME) {
        Some(rest) => rest.starts_with(NAME).then_some(rest),
        None => Some(text),
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
