//! A form that a server wants filled in: its fields, how a user writes it, and what a filled one must be.
//!
//! A user writes one `name: value` a line, under words that say what each is; whoever answers for a user, and the run
//! itself, check the values in the same way.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::text::{is_blank, visible, visible_line};

/// One field of a form. Its texts are untrusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FormField {
    /// Its name at the server.
    pub name: String,
    /// What it is called, and what it is for.
    pub about: String,
    /// What it takes.
    pub kind: FieldKind,
    /// Whether it must be filled in.
    pub required: bool,
    /// What it holds at first.
    pub default: Option<Value>,
}

// The numbers in it are finite.
impl Eq for FormField {}

/// What a field takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FieldKind {
    /// A text.
    Text {
        /// Its fewest characters.
        least: u64,
        /// Its most characters.
        most: u64,
    },
    /// A number.
    Number {
        /// Whether it must be whole.
        whole: bool,
        /// Its least value.
        least: Option<f64>,
        /// Its greatest value.
        most: Option<f64>,
    },
    /// Yes or no.
    Boolean,
    /// One of several texts.
    Choice {
        /// The texts.
        values: Vec<String>,
    },
    /// Some of several texts, written with commas.
    Choices {
        /// The texts.
        values: Vec<String>,
    },
}

impl FormField {
    /// Returns what it holds at first, as a user would write it (untrusted).
    fn default_text(&self) -> Option<String> {
        Some(match self.default.as_ref()? {
            Value::Null => return None,
            Value::String(text) => text.clone(),
            Value::Bool(true) => "yes".to_owned(),
            Value::Bool(false) => "no".to_owned(),
            Value::Array(list) => list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
            other => other.to_string(),
        })
    }
}

impl FieldKind {
    /// Returns what it takes, in words (untrusted).
    fn describe(&self) -> String {
        match self {
            Self::Text { .. } => "a text".to_owned(),
            Self::Number { whole, least, most } => {
                let what = if *whole { "a whole number" } else { "a number" };
                match (least, most) {
                    (Some(least), Some(most)) => format!("{what} from {least} to {most}"),
                    (Some(least), None) => format!("{what}, {least} or more"),
                    (None, Some(most)) => format!("{what}, at most {most}"),
                    (None, None) => what.to_owned(),
                }
            }
            Self::Boolean => "yes or no".to_owned(),
            Self::Choice { values } => format!("one of: {}", values.join(", ")),
            Self::Choices { values } => format!("some of: {}", values.join(", ")),
        }
    }
}

/// Returns what a form asks for, one field a line (untrusted).
pub fn form_lines(fields: &[FormField]) -> String {
    let line = |field: &FormField| {
        let need = if field.required { "" } else { ", may be left out" };
        let about = if field.about.is_empty() { String::new() } else { format!(" — {}", visible_line(&field.about)) };
        let first =
            field.default_text().map(|first| format!(", at first: {}", visible_line(&first))).unwrap_or_default();
        format!("{}: {}{need}{first}{about}", visible_line(&field.name), visible_line(&field.kind.describe()))
    };
    fields.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the text in which a user fills a form in.
pub fn form_text(fields: &[FormField]) -> String {
    let mut text = String::new();
    for field in fields {
        let value = field.default_text().unwrap_or_default();
        let _ = writeln!(text, "{}: {}", visible_line(&field.name), visible(&value));
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// Reads what a user wrote; a line that names no field goes on with the text of the field before it.
///
/// # Errors
/// One sentence about the first thing that is wrong.
pub fn read_form(fields: &[FormField], text: &str) -> Result<Map<String, Value>, String> {
    let mut written: Vec<(&FormField, String)> = Vec::new();
    for line in text.lines() {
        let named = fields.iter().find_map(|field| {
            let name = visible_line(&field.name);
            let rest = line.trim_start().strip_prefix(&*name)?.trim_start().strip_prefix(':')?;
            Some((field, rest.trim().to_owned()))
        });
        match named {
            Some((field, _)) if written.iter().any(|(known, _)| known.name == field.name) => {
                return Err(format!("{} is there twice", visible_line(&field.name)));
            }
            Some(named) => written.push(named),
            None => match written.last_mut() {
                Some((_, value)) => {
                    value.push('\n');
                    value.push_str(line);
                }
                None if is_blank(line) => {}
                None => return Err(format!("{} names no field of the form", visible_line(line))),
            },
        }
    }
    let mut values = Map::new();
    for (field, text) in written {
        if !text.trim().is_empty() {
            values.insert(field.name.clone(), value_of(field, text.trim())?);
        }
    }
    check_form(fields, &values)?;
    Ok(values)
}

fn value_of(field: &FormField, text: &str) -> Result<Value, String> {
    let wrong = || Err(format!("{} must be {}", visible_line(&field.name), visible_line(&field.kind.describe())));
    match &field.kind {
        FieldKind::Text { .. } | FieldKind::Choice { .. } => Ok(text.into()),
        FieldKind::Number { .. } => match (text.parse::<i64>(), text.parse::<f64>().ok().and_then(Number::from_f64)) {
            (Ok(whole), _) => Ok(whole.into()),
            (Err(_), Some(number)) => Ok(number.into()),
            (Err(_), None) => wrong(),
        },
        FieldKind::Boolean => match text.to_lowercase().as_str() {
            "yes" | "y" | "true" => Ok(true.into()),
            "no" | "n" | "false" => Ok(false.into()),
            _ => wrong(),
        },
        FieldKind::Choices { .. } => {
            Ok(text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(Value::from).collect())
        }
    }
}

/// Returns the form with what its fields hold at first.
///
/// # Errors
/// As [`check_form`].
pub fn default_form(fields: &[FormField]) -> Result<Map<String, Value>, String> {
    let held = |field: &FormField| Some((field.name.clone(), field.default.clone().filter(|value| !value.is_null())?));
    let values = fields.iter().filter_map(held).collect();
    check_form(fields, &values)?;
    Ok(values)
}

/// Checks the values of a filled form.
///
/// # Errors
/// One sentence about the first thing that is wrong.
pub fn check_form(fields: &[FormField], values: &Map<String, Value>) -> Result<(), String> {
    if let Some(unknown) = values.keys().find(|name| !fields.iter().any(|field| field.name == **name)) {
        return Err(format!("the form has no field {}", visible_line(unknown)));
    }
    for field in fields {
        let name = visible_line(&field.name);
        let Some(value) = values.get(&field.name) else {
            if field.required {
                return Err(format!("{name} is missing"));
            }
            continue;
        };
        let is_right = match &field.kind {
            FieldKind::Text { least, most } => {
                value.as_str().is_some_and(|text| (*least..=*most).contains(&(text.chars().count() as u64)))
            }
            FieldKind::Number { whole, least, most } => value.as_f64().is_some_and(|number| {
                (!whole || number.fract() == 0.0)
                    && least.is_none_or(|least| number >= least)
                    && most.is_none_or(|most| number <= most)
            }),
            FieldKind::Boolean => value.is_boolean(),
            FieldKind::Choice { values } => value.as_str().is_some_and(|text| values.iter().any(|known| known == text)),
            FieldKind::Choices { values } => value.as_array().is_some_and(|list| {
                list.iter().all(|one| one.as_str().is_some_and(|text| values.iter().any(|known| known == text)))
            }),
        };
        if !is_right {
            let bounds = match &field.kind {
                FieldKind::Text { least, most } if *most < u64::MAX => format!(" of {least} to {most} characters"),
                FieldKind::Text { least: least @ 1.., .. } => format!(" of {least} characters or more"),
                _ => String::new(),
            };
            return Err(format!("{name} must be {}{bounds}", visible_line(&field.kind.describe())));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields() -> Vec<FormField> {
        let field = |name: &str, kind, required, default| FormField {
            name: name.to_owned(),
            about: String::new(),
            kind,
            required,
            default,
        };
        let colours = vec!["red".to_owned(), "blue".to_owned()];
        vec![
            field("name", FieldKind::Text { least: 1, most: 20 }, true, None),
            field("age", FieldKind::Number { whole: true, least: Some(0.0), most: None }, false, Some(json!(7))),
            field("news", FieldKind::Boolean, true, Some(json!(false))),
            field("one", FieldKind::Choice { values: colours.clone() }, false, None),
            field("some", FieldKind::Choices { values: colours }, false, Some(json!(["red"]))),
        ]
    }

    #[test]
    fn a_form_is_written_with_its_defaults_and_read_again() {
        let text = form_text(&fields());
        assert_eq!(text, "name: \nage: 7\nnews: no\none: \nsome: red");
        assert_eq!(read_form(&fields(), &text), Err("name is missing".to_owned()));
        let text =
            text.replace("name: ", "name: Ann: the first").replace("one: ", "one: blue").replace("red", "red, blue");
        let read = read_form(&fields(), &text).unwrap();
        let want = json!({"name": "Ann: the first", "age": 7, "news": false, "one": "blue", "some": ["red", "blue"]});
        assert_eq!(Value::from(read), want);
    }

    #[test]
    fn what_does_not_fit_is_said_by_its_field() {
        for (text, sentence) in [
            ("name: x\nage: -1\nnews: no", "age must be a whole number, 0 or more"),
            ("name: x\nage: 1.5\nnews: no", "age must be a whole number, 0 or more"),
            ("name: x\nnews: perhaps", "news must be yes or no"),
            ("name: x\nnews: yes\none: green", "one must be one of: red, blue"),
            ("hello", "hello names no field of the form"),
            ("name: a\nname: b", "name is there twice"),
            ("name: 123456789012345678901\nnews: no", "name must be a text of 1 to 20 characters"),
        ] {
            assert_eq!(read_form(&fields(), text), Err(sentence.to_owned()), "{text}");
        }
    }
}
