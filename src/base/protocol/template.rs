//! Texts that the user calls by a command: custom commands and skills, filled in with the words behind the command.
//!
//! Clients get them with a notice, offer them and send the filled-in text like any other. One with shell lines is filled in
//! by the host, which runs these as `bash` would. Always holds: a template runs nothing by itself, and what stands in the
//! words behind a command is never a shell line. The placeholders are those of Claude Code, see
//! <https://code.claude.com/docs/en/slash-commands> and <https://code.claude.com/docs/en/skills>.

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::text::{closing_quotes, is_blank};

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
    /// What its shell lines may run unasked, as its file says it: `Bash(git status:*)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<String>,
}

/// What a text of a script stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptText<'a, 'b> {
    /// A call of a custom command or a skill, with the words behind it.
    Command(&'a PromptTemplate, &'b str),
    /// A text, which is sent as this.
    Text(&'b str),
}

/// Why nothing is filled in for a text that calls no command.
pub const NO_SUCH_COMMAND: &str = "there is no such command in this session";

/// The kinds of templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TemplateKind {
    /// A custom command: `/NAME`.
    Command,
    /// The instructions of a skill: `/skill NAME`.
    Skill,
}

/// What stands in a source between whose a text is and the folder that it lies in.
pub const SOURCE_FOLDER: &str = " · ";
/// The command before the name of a skill.
const SKILL: &str = "skill";

impl PromptTemplate {
    /// Finds the template that a draft calls at its very start; returns it with the words behind the command. As in Claude
    /// Code, a skill is called by its bare name too, unless a custom command has that.
    pub fn called<'a, 'b>(templates: &'a [Self], draft: &'b str) -> Option<(&'a Self, &'b str)> {
        let find = |kind, name: &str| {
            let of_kind = || templates.iter().filter(move |template| template.kind == kind);
            // What a plugin brings is called by the plugin's name before its own too.
            let of_plugin = || {
                let (plugin, name) = name.split_once(':')?;
                of_kind().find(|found| found.name == name && found.source.strip_prefix("plugin ") == Some(plugin))
            };
            // And what lies in a folder by that of the folder, or of whose it is: `/git:status`, `/project:status`.
            let of_folder = || {
                let (folder, name) = name.rsplit_once(':')?;
                of_kind().find(|found| found.name == name && found.lies_in(folder))
            };
            of_kind().find(|template| template.name == name).or_else(of_plugin).or_else(of_folder)
        };
        let (name, words) = first_word(draft.strip_prefix('/')?);
        if name == SKILL {
            let (name, words) = first_word(words);
            return Some((find(TemplateKind::Skill, name)?, words));
        }
        let found = find(TemplateKind::Command, name).or_else(|| find(TemplateKind::Skill, name));
        Some((found?, words))
    }

    /// Reads a text that no screen reads. A doubled slash before what would be a call makes it a text; any other text stays as
    /// it is.
    pub fn script_text<'a, 'b>(templates: &'a [Self], text: &'b str) -> ScriptText<'a, 'b> {
        if let Some((template, words)) = Self::called(templates, text) {
            return ScriptText::Command(template, words);
        }
        let escaped = text.strip_prefix('/').filter(|rest| Self::called(templates, rest).is_some());
        ScriptText::Text(escaped.unwrap_or(text))
    }

    /// Returns whether it lies in a folder, which is named from its end with colons, or is of whom this names.
    pub fn lies_in(&self, folder: &str) -> bool {
        let (owner, place) = self.source.split_once(SOURCE_FOLDER).unwrap_or((&self.source, ""));
        let whole = format!("{owner}:{}", place.replace('/', ":"));
        let whole = whole.trim_end_matches(':');
        whole == folder
            || whole.strip_suffix(folder).is_some_and(|before| before.ends_with(':'))
            || (folder == owner && !place.is_empty())
    }

    /// Returns the command that calls it.
    pub fn command(&self) -> String {
        match self.kind {
            TemplateKind::Command => format!("/{}", self.name),
            TemplateKind::Skill => format!("/{SKILL} {}", self.name),
        }
    }

    /// Returns whether it has shell lines, which the host runs.
    pub fn has_commands(&self) -> bool {
        pieces(&self.text).iter().any(|piece| matches!(piece, Piece::Command(_)))
    }

    /// Returns its shell lines, filled in with the words behind the command.
    pub fn commands(&self, words: &str) -> Vec<String> {
        let mut commands = Vec::new();
        self.fill_with(words, |command| {
            commands.push(command.to_owned());
            String::new()
        });
        commands
    }

    /// Returns the text to send, filled in with the words behind the command. A shell line becomes a request to the agent.
    pub fn fill(&self, words: &str) -> String {
        self.fill_with(words, |command| format!("[run `{command}` with bash: its output belongs here]"))
    }

    /// Returns the text to send, filled in with the words behind the command, and with what `output` returns for each shell
    /// line, in order.
    pub fn fill_with(&self, words: &str, mut output: impl FnMut(&str) -> String) -> String {
        let places = match self.kind {
            TemplateKind::Command => Places::FromOne,
            TemplateKind::Skill => Places::FromZero,
        };
        let (mut text, mut has_place) = (String::new(), false);
        for piece in pieces(&self.text) {
            let (Piece::Text(raw) | Piece::Command(raw)) = piece;
            let (part, has) = filled(raw, words, places);
            has_place |= has;
            match piece {
                Piece::Text(_) => text.push_str(&part),
                Piece::Command(_) => text.push_str(&output(part.trim())),
            }
        }
        let text = text.trim();
        match self.kind {
            TemplateKind::Command if has_place || words.is_empty() => text.to_owned(),
            TemplateKind::Command => format!("{text}\n\nARGUMENTS: {words}"),
            TemplateKind::Skill => {
                let name = &self.name;
                let task = if words.is_empty() { "Use this skill." } else { words };
                format!("{task}\n\n<skill name=\"{name}\">\n{text}\n</skill>")
            }
        }
    }
}

/// A piece of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    /// A shell line: ``!`git status` ``.
    Command(&'a str),
}

/// Splits a template at its shell lines: ``!`git status` ``, and blocks that begin with a line ```` ```! ```` or `~~~!`.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let (mut pieces, mut begin, mut from) = (Vec::new(), 0, 0);
    let next = |from: usize| {
        let rest = text.get(from..)?;
        ["!`"].iter().chain(&BLOCKS).filter_map(|mark| rest.find(mark)).min().map(|at| from + at)
    };
    while let Some(at) = next(from) {
        let rest = text.get(at..).unwrap_or_default();
        if let Some(mark) = BLOCKS.iter().find(|mark| rest.starts_with(**mark)) {
            from = at + mark.len();
            let is_line = at == 0 || text.get(..at).is_some_and(|before| before.ends_with('\n'));
            // What begins it, without the mark of a shell line, also ends it.
            let fence = mark.trim_end_matches('!');
            let body =
                rest.split_once('\n').filter(|(line, _)| is_line && line.get(mark.len()..).is_some_and(is_blank));
            if let Some((line, (command, _))) =
                body.and_then(|(line, body)| Some((line, body.split_once(&format!("\n{fence}"))?)))
            {
                pieces.push(Piece::Text(text.get(begin..at).unwrap_or_default()));
                pieces.push(Piece::Command(command));
                from = at + line.len() + 1 + command.len() + 1 + fence.len();
                begin = from;
            }
            continue;
        }
        from = at + 2;
        let (before, behind) = (text.get(..at).unwrap_or_default(), text.get(from..).unwrap_or_default());
        let line = behind.split('\n').next().unwrap_or_default();
        let begins = before.is_empty() || before.ends_with(|c: char| !c.is_alphanumeric() && c != '`');
        if let Some(end) = line.find('`').filter(|end| begins && *end > 0) {
            pieces.push(Piece::Text(text.get(begin..at).unwrap_or_default()));
            pieces.push(Piece::Command(line.get(..end).unwrap_or_default()));
            (begin, from) = (from + end + 1, from + end + 1);
        }
    }
    pieces.push(Piece::Text(text.get(begin..).unwrap_or_default()));
    pieces
}

/// What begins a block of shell lines.
const BLOCKS: [&str; 2] = ["```!", "~~~!"];

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
    (out, has_place)
}

/// Tells whether a number goes on behind its first digit: `$100` and `$1.50` are prices.
fn goes_on(behind: &str) -> bool {
    let behind = behind
        .strip_prefix(['.', ','])
        .map_or(behind, |fraction| if fraction.starts_with(|c: char| c.is_ascii_digit()) { fraction } else { "" });
    behind.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Splits words at blanks; what stands in quotes is one word. A quote that is not closed is a sign like any other.
fn separate(words: &str) -> Vec<String> {
    let (mut all, mut word, mut rest) = (Vec::new(), None::<String>, words);
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        if c.is_whitespace() {
            all.extend(word.take());
            continue;
        }
        let begins = word.as_deref().is_none_or(|word| word.ends_with('='));
        match in_quotes(c, rest).filter(|_| begins) {
            Some((inner, behind)) => {
                word.get_or_insert_default().push_str(inner);
                rest = behind;
            }
            None => word.get_or_insert_default().push(c),
        }
    }
    all.extend(word);
    all
}

/// Splits off what an opened quotation holds; `None` where it is not closed. An apostrophe within a word closes none.
fn in_quotes(open: char, rest: &str) -> Option<(&str, &str)> {
    let closing = closing_quotes(open);
    let closes = |at: usize, sign: &str| {
        let behind = rest.get(at + sign.len()..).unwrap_or_default();
        open.is_ascii() || behind.is_empty() || behind.starts_with(char::is_whitespace)
    };
    let (at, sign) = rest.match_indices(closing).find(|(at, sign)| closes(*at, sign))?;
    Some((rest.get(..at)?, rest.get(at + sign.len()..)?))
}
