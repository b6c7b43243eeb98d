//! Texts that the user calls by a command: custom commands and skills, filled in with the words behind the command.
//!
//! Clients get them with a notice, offer them and send the filled-in text like any other. Always holds: a template runs
//! nothing; a shell line in it becomes a request to the agent, which asks as for every other command. The placeholders are
//! those of Claude Code, see <https://code.claude.com/docs/en/slash-commands> and
//! <https://code.claude.com/docs/en/skills>.

use serde::{Deserialize, Serialize};

use crate::limits;

/// A text that a command of the user's set-up sends. All of it is untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptTemplate {
    /// Its name, without the slash.
    pub name: String,
    /// What it is.
    pub kind: TemplateKind,
    /// Whose it is, and the folder that it lies in.
    pub source: String,
    /// The words that it wants.
    pub hint: String,
    /// What it is for.
    pub description: String,
    /// The text, with its placeholders.
    pub text: String,
}

/// The kinds of templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TemplateKind {
    /// A custom command: `/NAME`.
    Command,
    /// The instructions of a skill: `/skill NAME`.
    Skill,
}

/// The command before the name of a skill.
const SKILL: &str = "skill";

impl PromptTemplate {
    /// Finds the template that a draft calls at its very start; returns it with the words behind the command. As in Claude
    /// Code, a skill is called by its bare name too, unless a custom command has that.
    pub fn called<'a, 'b>(templates: &'a [Self], draft: &'b str) -> Option<(&'a Self, &'b str)> {
        let find = |kind, name: &str| templates.iter().find(|template| template.kind == kind && template.name == name);
        let (name, words) = first_word(draft.strip_prefix('/')?);
        if name == SKILL {
            let (name, words) = first_word(words);
            return Some((find(TemplateKind::Skill, name)?, words));
        }
        let found = find(TemplateKind::Command, name).or_else(|| find(TemplateKind::Skill, name));
        Some((found?, words))
    }

    /// Returns the command that calls it.
    pub fn command(&self) -> String {
        match self.kind {
            TemplateKind::Command => format!("/{}", self.name),
            TemplateKind::Skill => format!("/{SKILL} {}", self.name),
        }
    }

    /// Returns the text to send, filled in with the words behind the command.
    pub fn fill(&self, words: &str) -> String {
        match self.kind {
            TemplateKind::Command => {
                let (text, has_place) = filled(&self.text, words, Places::FromOne);
                if has_place || words.is_empty() { text } else { format!("{text}\n\nARGUMENTS: {words}") }
            }
            TemplateKind::Skill => {
                let name = &self.name;
                let task = if words.is_empty() { "Use this skill." } else { words };
                let (text, _) = filled(&self.text, words, Places::FromZero);
                format!("{task}\n\n<skill name=\"{name}\">\n{text}\n</skill>")
            }
        }
    }
}

fn first_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

/// How the words behind a command are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Places {
    /// `$1` is the first of a custom command; without a word it is empty.
    FromOne,
    /// `$0` is the first of a skill; without a word it stays, as it may be anything.
    FromZero,
}

impl Places {
    /// Returns what stands in place of a digit; `None` where it is no place.
    fn word(self, digit: usize, list: &[String]) -> Option<&str> {
        match self {
            Self::FromOne => (1..=limits::COMMAND_PLACES)
                .contains(&digit)
                .then(|| digit.checked_sub(1).and_then(|place| list.get(place)).map_or("", String::as_str)),
            Self::FromZero => list.get(digit).map(String::as_str),
        }
    }
}

/// Puts the words in place of `$ARGUMENTS`, `$ARGUMENTS[0]`… and of single digits. Returns also whether the text has a place
/// for any.
fn filled(text: &str, words: &str, places: Places) -> (String, bool) {
    let list = separate(words);
    let mut out = String::new();
    let mut has_place = false;
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        out.push_str(before);
        if let Some(behind) = behind.strip_prefix("ARGUMENTS") {
            has_place = true;
            let indexed = behind.strip_prefix('[').and_then(|inside| inside.split_once(']'));
            let indexed = indexed.and_then(|(index, behind)| Some((index.parse::<usize>().ok()?, behind)));
            let (words, behind) = match indexed {
                Some((index, behind)) => (list.get(index).map_or("", String::as_str), behind),
                None => (words, behind),
            };
            out.push_str(words);
            rest = behind;
            continue;
        }
        let mut chars = behind.chars();
        let digit = chars.next().and_then(|c| c.to_digit(10)).and_then(|digit| usize::try_from(digit).ok());
        let word = digit.filter(|_| !goes_on(chars.as_str())).and_then(|digit| places.word(digit, &list));
        let name = behind.find(|c: char| !c.is_ascii_uppercase() && !c.is_ascii_digit() && c != '_');
        let (name, after) = behind.split_at(name.unwrap_or(behind.len()));
        let named =
            list.iter().filter(|_| !name.is_empty()).find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        if let Some(word) = word {
            has_place = true;
            out.push_str(word);
            rest = chars.as_str();
        } else if let Some(word) = named {
            has_place = true;
            out.push_str(word);
            rest = after;
        } else {
            out.push('$');
            rest = behind;
        }
    }
    out.push_str(rest);
    (requested(&out).trim().to_owned(), has_place)
}

/// Tells whether a number goes on behind its first digit: `$100` and `$1.50` are prices.
fn goes_on(behind: &str) -> bool {
    let behind = behind
        .strip_prefix(['.', ','])
        .map_or(behind, |fraction| if fraction.starts_with(|c: char| c.is_ascii_digit()) { fraction } else { "" });
    behind.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Splits words at blanks; what stands in quotes is one word.
fn separate(words: &str) -> Vec<String> {
    let (mut all, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in words.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '"' | '\'') && word.as_deref().is_none_or(|word| word.ends_with('=')) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => all.extend(word.take()),
            Some(_) | None => word.get_or_insert_default().push(c),
        }
    }
    all.extend(word);
    all
}

/// Makes a request to the agent of each shell line: ``!`git status` ``.
fn requested(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("!`") {
        let line_ends = behind.find('\n').unwrap_or(behind.len());
        let begins = before.is_empty() || before.ends_with(|c: char| !c.is_alphanumeric() && c != '`');
        let (out_before, next) = match behind.find('`').filter(|end| begins && *end > 0 && *end < line_ends) {
            Some(end) => {
                let (command, next) = behind.split_at(end);
                (format!("{before}[run `{command}` with bash: its output belongs here]"), next.get(1..).unwrap_or(""))
            }
            None => (format!("{before}!`"), behind),
        };
        out.push_str(&out_before);
        rest = next;
    }
    out.push_str(rest);
    out
}
