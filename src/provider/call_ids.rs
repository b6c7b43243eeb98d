//! Ids of calls, made unique within one reply.
//!
//! Used by the assemblers. An id is kept as the server gave it; only a missing or repeated one is replaced by a free
//! one.

use std::collections::HashSet;

use steersman_base::message::ToolCall;

/// Replaces ids that are missing or repeated.
pub(super) fn make_unique(calls: &mut [ToolCall]) {
    let mut taken: HashSet<String> = calls.iter().map(|call| call.id.as_str().to_owned()).collect();
    let mut seen = HashSet::new();
    for (at, call) in calls.iter_mut().enumerate() {
        let kept = !call.id.as_str().is_empty() && seen.insert(call.id.as_str().to_owned());
        if !kept {
            call.id = free_id(&mut taken, at + 1).into();
        }
    }
}

fn free_id(taken: &mut HashSet<String>, from: usize) -> String {
    let mut number = from;
    loop {
        let id = format!("call_{number}");
        if taken.insert(id.clone()) {
            return id;
        }
        number = number.saturating_add(1);
    }
}
