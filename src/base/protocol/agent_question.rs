//! What an agent asks the user, and what an answer to it is.
//!
//! An answer is one or several of the options, or the user's own words. On the wire it is a filled form of one field,
//! [`ANSWER`]; whoever answers for a user and the run itself check it in the same way.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::text::{is_blank, visible_line};

/// The name of the field that holds an answer.
pub const ANSWER: &str = "answer";

/// A question of an agent to the user. Its texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentQuestion {
    /// What is asked.
    pub text: String,
    /// The answers that it offers; the user's own words are always one more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<AnswerOption>,
    /// Whether several of the options may be chosen.
    #[serde(default)]
    pub several: bool,
    /// The answer that counts where nobody gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Seconds after which the default counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_after: Option<u64>,
    /// Whether the call waits for the answer; else it is sent to the agent as a text.
    #[serde(default)]
    pub waits: bool,
}

/// One answer that a question offers. Its texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerOption {
    /// The answer, in a few words.
    pub label: String,
    /// What it means; empty where the label says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

impl AgentQuestion {
    /// Returns the default as an answer; `None` without one.
    pub fn default_answer(&self) -> Option<Map<String, Value>> {
        self.default.as_ref().map(|default| answer_of([default.clone()]))
    }

    /// Returns what a user is shown, one line for the question and one for each option (untrusted).
    pub fn lines(&self) -> String {
        let option = |(number, option): (usize, &AnswerOption)| {
            let label = visible_line(&option.label);
            let is_default = self.default.as_deref() == Some(option.label.as_str());
            let default = if is_default { " (default)" } else { "" };
            let about = if option.description.is_empty() {
                String::new()
            } else {
                format!(": {}", visible_line(&option.description))
            };
            format!("{number} {label}{default}{about}")
        };
        let first = std::iter::once(self.text.clone());
        first.chain((1..).zip(&self.options).map(option)).collect::<Vec<_>>().join("\n")
    }

    /// Reads an answer as it is written: numbers of options, with commas where several may be chosen, else own words.
    ///
    /// # Errors
    /// One sentence about what is wrong.
    pub fn read_answer(&self, text: &str) -> Result<Map<String, Value>, String> {
        if is_blank(text) {
            return Err("the answer is empty".to_owned());
        }
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let numbers: Option<Vec<usize>> = parts.iter().map(|part| part.parse().ok()).collect();
        let Some(numbers) = numbers.filter(|_| !self.options.is_empty()) else {
            return Ok(answer_of([text.trim().to_owned()]));
        };
        let labels: Option<Vec<String>> =
            numbers.iter().map(|number| Some(self.options.get(number.checked_sub(1)?)?.label.clone())).collect();
        let labels = labels.ok_or_else(|| match self.options.len() {
            1 => "there is only the option 1".to_owned(),
            last => format!("the options are 1 to {last}"),
        })?;
        let answer = answer_of(labels);
        self.given(&answer)?;
        Ok(answer)
    }

    /// Returns the answers that a filled form gives.
    ///
    /// # Errors
    /// One sentence about what is wrong.
    pub fn given(&self, values: &Map<String, Value>) -> Result<Vec<String>, String> {
        if let Some(unknown) = values.keys().find(|name| *name != ANSWER) {
            return Err(format!("a question takes only `{ANSWER}`, not {}", visible_line(unknown)));
        }
        let answers: Option<Vec<String>> = match values.get(ANSWER) {
            Some(Value::String(text)) => Some(vec![text.clone()]),
            Some(Value::Array(list)) => list.iter().map(|one| one.as_str().map(str::to_owned)).collect(),
            _ => None,
        };
        let mut answers = answers.ok_or_else(|| format!("`{ANSWER}` must be a text or a list of texts"))?;
        answers.retain(|answer| !is_blank(answer));
        match answers.len() {
            0 => Err("the answer is empty".to_owned()),
            2.. if !self.several => Err("only one answer can be chosen".to_owned()),
            _ => Ok(answers),
        }
    }
}

/// Returns an answer as a filled form.
pub fn answer_of(answers: impl IntoIterator<Item = String>) -> Map<String, Value> {
    let answers: Vec<Value> = answers.into_iter().map(Value::from).collect();
    let answer = match <[Value; 1]>::try_from(answers) {
        Ok([one]) => one,
        Err(several) => several.into(),
    };
    Map::from_iter([(ANSWER.to_owned(), answer)])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn question(several: bool) -> AgentQuestion {
        let option = |label: &str, description: &str| AnswerOption {
            label: label.to_owned(),
            description: description.to_owned(),
        };
        AgentQuestion {
            text: "Which database?".to_owned(),
            options: vec![option("SQLite", "one file"), option("Postgres", "")],
            several,
            default: Some("SQLite".to_owned()),
            default_after: None,
            waits: true,
        }
    }

    #[test]
    fn numbers_are_options_and_other_words_are_the_users_own() {
        let one = question(false);
        for (text, answer) in [
            ("1", json!({"answer": "SQLite"})),
            (" 2 ", json!({"answer": "Postgres"})),
            ("MariaDB, as at work", json!({"answer": "MariaDB, as at work"})),
        ] {
            assert_eq!(one.read_answer(text).map(Value::from), Ok(answer), "{text}");
        }
        assert_eq!(one.read_answer("3"), Err("the options are 1 to 2".to_owned()));
        assert_eq!(one.read_answer("0"), Err("the options are 1 to 2".to_owned()));
        assert_eq!(one.read_answer("1, 2"), Err("only one answer can be chosen".to_owned()));
        assert_eq!(one.read_answer(" "), Err("the answer is empty".to_owned()));
        let several = question(true).read_answer("1,2").map(Value::from);
        assert_eq!(several, Ok(json!({"answer": ["SQLite", "Postgres"]})));
        let open = AgentQuestion { options: Vec::new(), ..one };
        assert_eq!(open.read_answer("42").map(Value::from), Ok(json!({"answer": "42"})), "a number can be the answer");
    }

    #[test]
    fn an_answer_that_does_not_fit_is_said() {
        for (values, sentence) in [
            (json!({}), "`answer` must be a text or a list of texts"),
            (json!({"answer": 1}), "`answer` must be a text or a list of texts"),
            (json!({"answer": ["a", 1]}), "`answer` must be a text or a list of texts"),
            (json!({"answer": [" "]}), "the answer is empty"),
            (json!({"answer": ["a", "b"]}), "only one answer can be chosen"),
            (json!({"answer": "a", "why": "b"}), "a question takes only `answer`, not why"),
        ] {
            let Value::Object(map) = values.clone() else { unreachable!("an object") };
            assert_eq!(question(false).given(&map), Err(sentence.to_owned()), "{values}");
        }
    }

    #[test]
    fn what_is_asked_is_told_line_by_line() {
        let lines = "Which database?\n1 SQLite (default): one file\n2 Postgres";
        assert_eq!(question(false).lines(), lines);
    }
}
