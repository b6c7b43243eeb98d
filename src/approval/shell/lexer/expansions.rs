//! Which expansions do no more than put a value in their place. Bash evaluates a name in arithmetic again and again, runs
//! what an array's place holds, assigns, prompts and looks behind names: all of that is unknown here, whatever it says.

/// Tells whether the text between `$((` and `))` is of numbers and operators only.
pub(super) fn is_plain_arithmetic(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_whitespace() || b"+-*/%<>=!&|^~?:,()".contains(&b))
}

/// Tells whether the place of an array, with its bracket at the end, is a number or all of them.
pub(super) fn is_plain_place(place: &str) -> bool {
    place.strip_suffix(']').is_some_and(|place| matches!(place, "@" | "*") || is_number(place))
}

/// Tells whether the text between `${` and `}` only reads a variable; `has_expansion` when something expands within it, for
/// which a `$` stands in the text.
pub(super) fn is_plain_parameter(text: &str, has_expansion: bool) -> bool {
    // The keys of an array; everything else behind this sign is another name's value.
    if let Some(keys) = text.strip_prefix('!') {
        return keys.strip_suffix("[@]").or_else(|| keys.strip_suffix("[*]")).is_some_and(is_name);
    }
    let length = text.strip_prefix('#').filter(|rest| !rest.is_empty());
    let (name, rest) = split_name(length.unwrap_or(text));
    if name.is_empty() {
        return false;
    }
    let rest = match rest.strip_prefix('[') {
        Some(place) => match place.split_once(']') {
            Some((place, rest)) if matches!(place, "@" | "*") || is_number(place) => rest,
            _ => return false,
        },
        None => rest,
    };
    if length.is_some() || rest.is_empty() {
        return rest.is_empty();
    }
    let mut chars = rest.chars();
    match (chars.next(), chars.next()) {
        (Some('-' | '+' | '?' | '%' | '#' | '/' | '^' | ','), _) | (Some(':'), Some('-' | '+' | '?')) => true,
        // Where a part begins, and how long it is, are arithmetic.
        (Some(':'), Some(_)) => !has_expansion && rest.bytes().all(|b| b.is_ascii_digit() || b": -".contains(&b)),
        (Some('@'), Some('Q' | 'U' | 'u' | 'L')) => rest.len() == 2,
        _ => false,
    }
}

/// Splits the name of a variable, or its one sign, from what follows.
fn split_name(text: &str) -> (&str, &str) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
    let end = if end == 0 && text.starts_with(['@', '*', '#', '?', '-', '$', '!']) { 1 } else { end };
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn is_name(text: &str) -> bool {
    let (name, rest) = split_name(text);
    !name.is_empty() && rest.is_empty()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}
