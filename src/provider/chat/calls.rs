//! Fragments of tool calls become calls, however a server fills index, id and name.
//!
//! Used by the assembler. A fragment begins a new call only when it has a name; any other continues a call. Ids are
//! kept as the server gave them and made unique within the reply at the end.

use serde_json::value::RawValue;

use crate::call_ids;
use crate::chat::chunk::CallDelta;
use steersman_base::message::{Arguments, Part, ToolCall};

/// The calls of one reply, as far as their fragments have come.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<PartialCall>,
}

#[derive(Debug, Default)]
struct PartialCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    braces: BraceTracker,
    mark: Option<String>,
}

/// The open braces of a call's arguments, which show their end without parsing them again for each fragment.
#[derive(Debug, Default)]
struct BraceTracker {
    open: usize,
    in_text: bool,
    escaped: bool,
    closed: bool,
}

impl BraceTracker {
    fn follow(&mut self, fragment: &str) {
        for byte in fragment.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = self.in_text,
                b'"' => self.in_text = !self.in_text,
                _ if self.in_text => {}
                b'{' => self.open = self.open.saturating_add(1),
                b'}' if self.open > 0 => {
                    self.open -= 1;
                    self.closed |= self.open == 0;
                }
                _ => {}
            }
        }
    }
}

impl PartialCall {
    /// Returns whether the arguments are a whole object: further text is not part of them.
    fn is_whole(&self) -> bool {
        self.braces.closed && self.braces.open == 0
    }

    /// Returns whether a fragment continues this call. An id and a name may be repeated in each fragment, and
    /// either may come late or in pieces.
    fn is_continued_by(&self, fragment: &CallFragment<'_>) -> bool {
        if fragment.name.is_empty() {
            return true;
        }
        let same_id = fragment.id.is_empty() || self.id.is_empty() || fragment.id == self.id;
        let same_name = self.name == fragment.name;
        let fits =
            if same_name { fragment.arguments.is_empty() || !self.is_whole() } else { self.arguments.is_empty() };
        same_id && fits
    }
}

/// A fragment of a call; absent parts are empty texts.
struct CallFragment<'a> {
    index: Option<u64>,
    id: &'a str,
    name: &'a str,
    arguments: &'a str,
}

impl Calls {
    /// Takes one fragment. Returns its size, bytes.
    pub(super) fn add_delta(&mut self, delta: &CallDelta<'_>) -> usize {
        let function = delta.function.as_ref();
        let fragment = CallFragment {
            index: delta.index.0,
            id: &delta.id.0,
            name: function.map_or("", |function| &function.name.0),
            arguments: function.map_or("", |function| &function.arguments.0),
        };
        let mark = delta.extra_content.map_or("", RawValue::get);
        let bytes = fragment.id.len() + fragment.name.len() + fragment.arguments.len() + mark.len();
        let nothing = fragment.id.is_empty() && fragment.name.is_empty() && fragment.arguments.is_empty();
        let found = match self.position(&fragment) {
            Some(at) => self.calls.get_mut(at),
            None if nothing => None,
            None => {
                self.calls.push(PartialCall { index: fragment.index, ..PartialCall::default() });
                self.calls.last_mut()
            }
        };
        let Some(call) = found else { return bytes };
        if call.id.is_empty() {
            fragment.id.clone_into(&mut call.id);
        }
        if call.arguments.is_empty() && call.name != fragment.name {
            call.name.push_str(fragment.name);
        }
        call.arguments.push_str(fragment.arguments);
        call.braces.follow(fragment.arguments);
        if !mark.is_empty() {
            call.mark = Some(mark.to_owned());
        }
        bytes
    }

    /// Finds the call that a fragment continues: by its index, else by its id, else the last one.
    fn position(&self, fragment: &CallFragment<'_>) -> Option<usize> {
        let latest = |test: &dyn Fn(&PartialCall) -> bool| self.calls.iter().rposition(test);
        let by_index = fragment.index.and_then(|index| latest(&|call| call.index == Some(index)));
        // A name at another index begins another call, also under the same id.
        let other = |call: &PartialCall| {
            let both = call.index.zip(fragment.index);
            !fragment.name.is_empty() && both.is_some_and(|(one, other)| one != other)
        };
        let by_id = if fragment.id.is_empty() { None } else { latest(&|call| call.id == fragment.id && !other(call)) };
        let last = self.calls.len().checked_sub(1);
        let at = match (by_index, by_id) {
            (Some(at), _) | (None, Some(at)) => at,
            // Neither is known. A fragment of arguments alone continues the last call, whatever its index is;
            // a late id completes a call without one; any other fragment begins a call.
            (None, None) if fragment.name.is_empty() && fragment.id.is_empty() => last?,
            (None, None) => last.filter(|at| {
                let lacks_id = self.calls.get(*at).is_some_and(|call| call.id.is_empty());
                lacks_id && fragment.index.is_none() && fragment.name.is_empty()
            })?,
        };
        self.calls.get(at)?.is_continued_by(fragment).then_some(at)
    }

    /// Counts the calls.
    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Returns the data beside the calls that the server wants back.
    pub(super) fn marks(&self) -> impl Iterator<Item = Part> {
        let marked = |(index, call): (usize, &PartialCall)| Some(Part::Call { index, mark: Some(call.mark.clone()?) });
        self.calls.iter().enumerate().filter_map(marked)
    }

    /// Ends the reply: parses arguments and replaces missing or repeated ids by free ones.
    pub(super) fn finish(self) -> Vec<ToolCall> {
        let whole = |call: PartialCall| ToolCall {
            id: call.id.into(),
            name: call.name,
            arguments: Arguments::parse(&call.arguments),
        };
        let mut calls: Vec<_> = self.calls.into_iter().map(whole).collect();
        call_ids::make_unique(&mut calls);
        calls
    }
}
