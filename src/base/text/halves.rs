//! Halves of characters in JSON: `\ud83d` without the `\ude00` that belongs to it. No string can hold one.
//!
//! Some servers cut their texts between the two halves of a character, others write half of one. Pure. A half is marked by a
//! character of its own while the pieces of a text come; two that meet are the character, and one that stays alone is U+FFFD.
//! Always holds: a JSON text without halves stays as it is.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Stands for a half that is alone.
const LONE: char = '\u{FFFD}';
/// The first mark, of U+D800: the marks lie in the last plane for private use. They are read as such only where one was made.
const FIRST: u32 = 0x10_F000;

/// A JSON text in which every half of a character is marked, and whether there was one.
#[derive(Debug)]
pub struct Marked<'a> {
    /// The text.
    pub json: Cow<'a, str>,
    /// Whether it has marks.
    pub has_halves: bool,
}

/// Marks the halves of characters in a JSON text.
pub fn mark(json: &str) -> Marked<'_> {
    let json = replaced(json, |half| char::from_u32(FIRST + (half - 0xD800)).unwrap_or(LONE));
    let has_halves = matches!(json, Cow::Owned(_));
    Marked { json, has_halves }
}

/// Returns a JSON text in which U+FFFD stands for every half of a character.
pub fn without_halves(json: &str) -> Cow<'_, str> {
    replaced(json, |_| LONE)
}

/// Joins the marks that belong together, and puts U+FFFD in the place of the others.
pub fn settle(text: &mut String) {
    if text.chars().any(is_mark) {
        *text = settled(text);
    }
}

/// Settles every text of a value.
pub fn settle_value(value: &mut Value) {
    match value {
        Value::String(text) => settle(text),
        Value::Array(items) => items.iter_mut().for_each(settle_value),
        Value::Object(members) => settle_object(members),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Settles every text of an object.
pub fn settle_object(members: &mut Map<String, Value>) {
    if members.keys().any(|name| name.chars().any(is_mark)) {
        *members = std::mem::take(members).into_iter().map(|(name, value)| (settled(&name), value)).collect();
    }
    members.values_mut().for_each(settle_value);
}

/// Takes the mark of a first half off the end of a text; the second may come in the next piece.
pub fn take_first_half(text: &mut String) -> Option<char> {
    let last = text.chars().next_back().filter(|c| half_of(*c).is_some_and(is_first))?;
    text.pop();
    Some(last)
}

fn settled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let Some(half) = half_of(c) else {
            out.push(c);
            continue;
        };
        let second = chars.peek().and_then(|next| half_of(*next)).filter(|next| !is_first(*next));
        let whole = second.filter(|_| is_first(half)).and_then(|second| joined(half, second));
        if whole.is_some() {
            chars.next();
        }
        out.push(whole.unwrap_or(LONE));
    }
    out
}

fn is_mark(c: char) -> bool {
    half_of(c).is_some()
}

/// Returns the half that a mark stands for.
fn half_of(c: char) -> Option<u32> {
    let half = u32::from(c).checked_sub(FIRST)?.checked_add(0xD800)?;
    (half <= 0xDFFF).then_some(half)
}

fn is_first(half: u32) -> bool {
    half < 0xDC00
}

fn joined(first: u32, second: u32) -> Option<char> {
    char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))
}

/// Replaces each escape of a half that is alone.
fn replaced(json: &str, with: impl Fn(u32) -> char) -> Cow<'_, str> {
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(next) = json.as_bytes().get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        at += next;
        let Some(half) = escaped(json, at).filter(|code| (0xD800..=0xDFFF).contains(code)) else {
            at += 2;
            continue;
        };
        let pair = is_first(half) && escaped(json, at + ESCAPE).is_some_and(|code| (0xDC00..=0xDFFF).contains(&code));
        if pair {
            at += 2 * ESCAPE;
            continue;
        }
        out.push_str(json.get(copied..at).unwrap_or_default());
        out.push(with(half));
        at += ESCAPE;
        copied = at;
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(json.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// Bytes of an escape by number.
const ESCAPE: usize = 6;

/// Returns the number of the escape that stands at this byte.
fn escaped(json: &str, at: usize) -> Option<u32> {
    let digits = json.get(at..at.checked_add(ESCAPE)?)?.strip_prefix("\\u")?;
    // A sign would be read too.
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_halves_that_are_alone_are_replaced() {
        for whole in
            [r#"{"a":"\ud83d\ude00"}"#, r#"{"a":"\\ud83d"}"#, r#"{"a":"é\n\u00e9"}"#, r#""\u+1ff""#, "\\", "\\u"]
        {
            assert_eq!(without_halves(whole), whole);
            assert!(!mark(whole).has_halves);
        }
        for (halves, expected) in [
            (r#"{"a":"x\ud83d"}"#, "{\"a\":\"x\u{FFFD}\"}"),
            (r#"{"a":"\uDE00x"}"#, "{\"a\":\"\u{FFFD}x\"}"),
            (r#""\ude00\ud83d""#, "\"\u{FFFD}\u{FFFD}\""),
            (r#""\ud83d\ud83d\ude00""#, "\"\u{FFFD}\\ud83d\\ude00\""),
            (r#""\\\ud83d""#, "\"\\\\\u{FFFD}\""),
        ] {
            assert_eq!(without_halves(halves), expected);
        }
    }

    #[test]
    fn halves_that_meet_are_the_character_wherever_they_were_cut() {
        let of = |json: &str| serde_json::from_str::<String>(&mark(json).json).unwrap();
        let mut text = of(r#""x\ud83d""#) + &of(r#""\ude00y\ud83d""#) + &of(r#""z\ude00""#);
        settle(&mut text);
        assert_eq!(text, "x😀y\u{FFFD}z\u{FFFD}");
        let mut piece = of(r#""x\ud83d""#);
        let held = take_first_half(&mut piece).unwrap();
        assert_eq!(piece, "x");
        let mut next = format!("{held}{}", of(r#""\ude00""#));
        assert_eq!(take_first_half(&mut next), None);
        settle(&mut next);
        assert_eq!(next, "😀");
        let mut value = serde_json::from_str::<Value>(&mark(r#"{"\ud83d":["\ude00"]}"#).json).unwrap();
        settle_value(&mut value);
        assert_eq!(value, serde_json::json!({"\u{FFFD}": ["\u{FFFD}"]}));
    }
}
