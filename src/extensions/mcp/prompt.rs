//! The arguments of a prompt, as the user types them behind its name.

use serde_json::{Map, Value};

use super::catalog::PromptEntry;
use steersman_base::text::{closing_quotes, visible_line};

/// Splits the text off that stands in quotes at the beginning; behind a backslash a quote is none. `None` without quotes,
/// where they are not closed, and where anything follows them at once.
fn quoted(words: &str) -> Option<(String, &str)> {
    let open = words.chars().next()?;
    let closing = closing_quotes(open);
    let (mut inner, mut rest) = (String::new(), words.strip_prefix(open)?);
    loop {
        let (at, sign) = rest.match_indices(closing).next()?;
        let (before, behind) = (rest.get(..at)?, rest.get(at + sign.len()..)?);
        rest = behind;
        let is_end = rest.is_empty() || rest.starts_with(char::is_whitespace);
        if let Some(before) = before.strip_suffix('\\') {
            inner.push_str(before);
            inner.push_str(sign);
        } else if !is_end && !open.is_ascii() {
            // An apostrophe within a word.
            inner.push_str(before);
            inner.push_str(sign);
        } else {
            inner.push_str(before);
            return is_end.then_some((inner, rest));
        }
    }
}

/// Splits the value of one argument off: a word, or what stands in quotes. The last argument has everything that is left.
fn value_of(words: &str, is_last: bool) -> (String, &str) {
    match quoted(words) {
        Some((inner, behind)) if !is_last || behind.trim().is_empty() => (inner, behind),
        Some(_) | None if is_last => (words.to_owned(), ""),
        Some(_) | None => {
            let (word, behind) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
            (word.to_owned(), behind)
        }
    }
}

/// Fills the arguments of a prompt in: the words in their order, the last one with everything that is left.
pub(super) fn filled(prompt: &PromptEntry, words: &str) -> Result<Map<String, Value>, String> {
    let mut rest = words.trim();
    let mut values = Map::new();
    for (place, argument) in prompt.arguments.iter().enumerate() {
        let is_last = place + 1 == prompt.arguments.len();
        let (value, behind) = value_of(rest, is_last);
        if !value.is_empty() {
            values.insert(argument.name.clone(), value.into());
        } else if argument.required {
            return Err(format!("the prompt needs {}", visible_line(&argument.name)));
        }
        rest = behind.trim_start();
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn filled_in(words: &str) -> Result<Value, String> {
        let argument = |name: &str, required: bool| json!({"name": name, "required": required});
        let prompt = json!({"name": "ask", "arguments": [argument("who", true), argument("what", false)]});
        filled(&serde_json::from_value(prompt).unwrap(), words).map(Value::Object)
    }

    #[test]
    fn quotes_belong_to_no_value_wherever_they_stand() {
        let both = |who: &str, what: &str| json!({"who": who, "what": what});
        for (words, expected) in [
            ("ann the plan", both("ann", "the plan")),
            ("\"ann lee\" \"the plan\"", both("ann lee", "the plan")),
            ("'ann lee'   'the \"new\" plan' ", both("ann lee", "the \"new\" plan")),
            (r#""ann \"the\" lee" "say \"hi\"""#, both("ann \"the\" lee", "say \"hi\"")),
            (r"'it\'s ann' 'it\'s \n done'", both("it's ann", r"it's \n done")),
            ("\"it's\" \"it's\"", both("it's", "it's")),
            ("ann \"one\" and \"two\"", both("ann", "\"one\" and \"two\"")),
            ("ann it's", both("ann", "it's")),
            ("“ann lee” “the plan”", both("ann lee", "the plan")),
            ("‘ann lee’ ‘it’s the plan’", both("ann lee", "it’s the plan")),
            ("„ann lee“ «the plan»", both("ann lee", "the plan")),
            ("“ann the plan", both("“ann", "the plan")),
            ("ann \"the plan", both("ann", "\"the plan")),
            ("\"ann the plan", both("\"ann", "the plan")),
            ("\"ann\"lee plan", both("\"ann\"lee", "plan")),
            ("ann \"\"", json!({"who": "ann"})),
            ("ann", json!({"who": "ann"})),
            ("ann \"  \"", both("ann", "  ")),
        ] {
            assert_eq!(filled_in(words), Ok(expected), "{words}");
        }
        for words in ["", "  ", "\"\"", "'' plan"] {
            assert_eq!(filled_in(words), Err("the prompt needs who".to_owned()), "{words}");
        }
    }
}
