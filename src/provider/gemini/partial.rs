//! Arguments that come in pieces, each with the path of its value (Vertex).

use serde_json::{Map, Value};

use crate::gemini::chunk::PartialArg;

/// The most steps of a path.
const DEPTH: usize = 32;

/// One step of a path.
enum PathStep<'a> {
    Member(&'a str),
    Item(usize),
}

/// Puts a piece into the arguments; `None` when its path is invalid.
pub(super) fn put(arguments: &mut Map<String, Value>, piece: PartialArg<'_>) -> Option<()> {
    let mut steps = steps(&piece.json_path.0)?.into_iter();
    let Some(PathStep::Member(first)) = steps.next() else { return None };
    let mut place = arguments.entry(first).or_insert(Value::Null);
    for step in steps {
        place = match step {
            PathStep::Member(name) => {
                if place.is_null() {
                    *place = Value::Object(Map::new());
                }
                place.as_object_mut()?.entry(name).or_insert(Value::Null)
            }
            PathStep::Item(index) => {
                if place.is_null() {
                    *place = Value::Array(Vec::new());
                }
                let list = place.as_array_mut()?;
                if index == list.len() {
                    list.push(Value::Null);
                }
                list.get_mut(index)?
            }
        };
    }
    match (place, value(piece)) {
        (Value::String(text), Some(Value::String(more))) => text.push_str(&more),
        (place, Some(value)) => *place = value,
        (_, None) => {}
    }
    Some(())
}

fn value(piece: PartialArg<'_>) -> Option<Value> {
    let text = piece.string_value.map(|text| Value::String(text.0.into_owned()));
    let plain = || piece.number_value.or(piece.bool_value);
    text.or_else(plain).or_else(|| piece.null_value.map(|_| Value::Null))
}

/// Reads a path such as `$.lines[0]['text']`.
fn steps(path: &str) -> Option<Vec<PathStep<'_>>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, behind) = step(rest)?;
        steps.push(step);
        rest = if steps.len() <= DEPTH { behind } else { return None };
    }
    Some(steps)
}

/// Splits the first step off a path.
fn step(path: &str) -> Option<(PathStep<'_>, &str)> {
    if let Some(name) = path.strip_prefix('.') {
        let (name, behind) = name.split_at(name.find(['.', '[']).unwrap_or(name.len()));
        return (!matches!(name, "" | "*")).then_some((PathStep::Member(name), behind));
    }
    let within = path.strip_prefix('[')?;
    let Some(quote) = within.chars().next().filter(|first| matches!(first, '\'' | '"')) else {
        let (index, behind) = within.split_once(']')?;
        return Some((PathStep::Item(index.parse().ok()?), behind));
    };
    let (name, behind) = within.get(1..)?.split_once(quote)?;
    let behind = behind.strip_prefix(']').filter(|_| !name.contains('\\'))?;
    Some((PathStep::Member(name), behind))
}
