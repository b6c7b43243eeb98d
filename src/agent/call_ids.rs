//! The ids of tool calls, made unique in the whole conversation: servers reuse ids, or number them anew in each reply.
//!
//! Only the ids of a new reply change, before anything else reads them; no id is refused.

use std::collections::HashMap;

use steersman_base::id::CallId;
use steersman_base::message::ToolCall;

/// The longest id that every server accepts, bytes.
const LONGEST: usize = 40;
/// The length of ids of servers that accept no other length; all letters and digits.
const STRICT: usize = 9;

/// The ids that were used, each with the last number that was appended to it.
#[derive(Debug, Default)]
pub(super) struct CallIds(HashMap<CallId, u64>);

impl CallIds {
    /// Replaces each id that was used before by a free one that resembles it.
    pub(super) fn make_unique(&mut self, calls: &mut [ToolCall]) {
        for call in calls {
            if self.0.contains_key(&call.id) || call.id.as_str().is_empty() {
                call.id = self.next(&call.id);
            }
            self.0.insert(call.id.clone(), 1);
        }
    }

    /// Notes an id that was used.
    pub(super) fn note(&mut self, id: &CallId) {
        self.0.entry(id.clone()).or_insert(1);
    }

    fn next(&mut self, id: &CallId) -> CallId {
        let mut number = self.0.get(id).copied().unwrap_or(0);
        loop {
            number += 1;
            let free = numbered(id.as_str(), number);
            if !self.0.contains_key(&free) {
                self.0.insert(id.clone(), number);
                return free;
            }
        }
    }
}

fn numbered(id: &str, number: u64) -> CallId {
    let strict = id.len() == STRICT && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let (id, longest) = match id {
        "" => ("call", LONGEST),
        id if strict => (id, STRICT),
        id => (id, id.len().max(LONGEST)),
    };
    let number = if strict { number.to_string() } else { format!("_{number}") };
    let mut room = longest.saturating_sub(number.len()).min(id.len());
    while !id.is_char_boundary(room) {
        room -= 1;
    }
    CallId::new(format!("{}{number}", id.get(..room).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use steersman_base::message::Arguments;

    fn freed(ids: &mut CallIds, written: &[&str]) -> Vec<String> {
        let call = |id: &&str| ToolCall { id: (*id).into(), name: "t".to_owned(), arguments: Arguments::parse("") };
        let mut calls: Vec<ToolCall> = written.iter().map(call).collect();
        ids.make_unique(&mut calls);
        calls.iter().map(|call| call.id.to_string()).collect()
    }

    #[test]
    fn an_id_that_was_used_gets_a_number_and_no_two_are_the_same() {
        let mut ids = CallIds::default();
        assert_eq!(freed(&mut ids, &["a", "b"]), ["a", "b"]);
        assert_eq!(freed(&mut ids, &["a", "a_2", "a"]), ["a_2", "a_2_2", "a_3"]);
        assert_eq!(freed(&mut ids, &["", ""]), ["call_1", "call_2"]);
    }

    #[test]
    fn a_new_id_is_as_long_as_servers_take_it_and_whole_characters() {
        let mut ids = CallIds::default();
        let long = "x".repeat(LONGEST);
        assert_eq!(freed(&mut ids, &["abcDEF123", "abcDEF123", &long, &long, "é".repeat(20).as_str()])[1], "abcDEF122");
        let again = freed(&mut ids, &[&long, "é".repeat(20).as_str(), "abcDEF123"]);
        assert!(again.iter().all(|id| id.len() <= LONGEST), "{again:?}");
        assert_eq!(again[2], "abcDEF124");
    }

    #[test]
    fn thousands_of_uses_of_one_id_are_all_told_apart() {
        let mut ids = CallIds::default();
        let all: std::collections::HashSet<String> = (0..5_000).flat_map(|_| freed(&mut ids, &["call_0"])).collect();
        assert_eq!(all.len(), 5_000);
    }
}
