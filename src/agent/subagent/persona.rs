//! Personas, the kinds of sub-agents: plain values, written in code or read from Markdown files.
//!
//! The file form is a TOML header between two `+++` lines, then the system prompt; files that begin with `---` are read in
//! the form of Claude Code (`claude_file.rs`).

use std::collections::HashSet;

use serde::Deserialize;

use crate::subagent::claude_file::{ClaudeFile, INHERITED};
use steersman_base::error::BuildError;
use steersman_base::limits;
use steersman_core::tool::WITHOUT;

/// A kind of sub-agent.
///
/// ```
/// use steersman_agent::subagent::Persona;
///
/// let scout = Persona::new("scout", "Looks around and reports.", "You look around.").tools(["look"]).max_steps(10);
/// assert_eq!(scout.tool_names, ["look"]);
/// // With a small model, and with a directory of its own that is deleted with it.
/// let scout = scout.model("small").temperature(0.2).temp_workspace();
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Persona {
    /// The name that the model picks; unique.
    pub name: String,
    /// The tasks it is for; the spawning model sees it, the child does not.
    pub description: String,
    /// The tools it may use; their order is the parent's. `*` stands for all of the parent's but those that reach the
    /// network. A name with [`WITHOUT`] before it takes tools away from those that other names stand for.
    pub tool_names: Vec<String>,
    /// The child's whole system prompt; nothing is inherited.
    pub system_prompt: String,
    /// The tool calls that one task may make.
    pub max_steps: u32,
    /// Whether each child works in a fresh directory of its own.
    pub temp_workspace: TempWorkspace,
    /// The model, on the server of the parent; the parent's when there is none.
    pub model: Option<String>,
    /// The sampling temperature, from 0; the parent's when there is none.
    pub temperature: Option<f64>,
}

/// The directory in which a child's file tools work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TempWorkspace {
    /// In the parent's workspace.
    #[default]
    No,
    /// In a fresh directory that is deleted when the child can no longer go on.
    Yes,
}

/// The members that the header of a file needs.
const HEADER: &str =
    "it needs name and description in quotes, tools as a list of names and max_steps as a whole number";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PersonaHeader {
    name: String,
    description: String,
    tools: Vec<String>,
    max_steps: u32,
    #[serde(default)]
    temp_workspace: bool,
    model: Option<String>,
    temperature: Option<f64>,
}

impl Persona {
    /// Makes a persona without tools, for tasks of at most 60 calls; see the setters.
    pub fn new(name: impl Into<String>, description: impl Into<String>, system_prompt: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            tool_names: Vec::new(),
            system_prompt: system_prompt.into(),
            max_steps: limits::AGENT_FILE_STEPS,
            temp_workspace: TempWorkspace::No,
            model: None,
            temperature: None,
        }
    }

    /// Sets the tools that it may use, by their names.
    #[must_use]
    pub fn tools<S: Into<String>>(self, names: impl IntoIterator<Item = S>) -> Self {
        Self { tool_names: names.into_iter().map(Into::into).collect(), ..self }
    }

    /// Sets the tool calls that one task may make.
    #[must_use]
    pub fn max_steps(self, max_steps: u32) -> Self {
        Self { max_steps, ..self }
    }

    /// Lets each child work in a fresh directory of its own, which is deleted when the child can no longer go on.
    #[must_use]
    pub fn temp_workspace(self) -> Self {
        Self { temp_workspace: TempWorkspace::Yes, ..self }
    }

    /// Sets the model, on the server of the parent.
    #[must_use]
    pub fn model(self, model: impl Into<String>) -> Self {
        Self { model: Some(model.into()), ..self }
    }

    /// Sets the sampling temperature, from 0.
    #[must_use]
    pub fn temperature(self, temperature: f64) -> Self {
        Self { temperature: Some(temperature), ..self }
    }

    /// Reads a persona from its file form, or from that of Claude Code.
    ///
    /// # Errors
    /// An argument error that says what is wrong with the file.
    pub fn parse(text: &str) -> Result<Self, BuildError> {
        if ClaudeFile::is_one(text) { ClaudeFile::parse(text).map(|file| file.persona) } else { Self::parse_own(text) }
    }

    fn parse_own(text: &str) -> Result<Self, BuildError> {
        let wrong = |what: String| BuildError::argument(format!("a persona file {what}"));
        let body = text.strip_prefix('\u{FEFF}').unwrap_or(text).replace("\r\n", "\n");
        let parts = body.strip_prefix("+++\n").and_then(|rest| rest.split_once("\n+++\n"));
        let Some((header, prompt)) = parts else {
            return Err(wrong(
                "needs a TOML header between two lines of '+++', or front matter between two lines of '---'".to_owned(),
            ));
        };
        let header: PersonaHeader = toml::from_str(header).map_err(|error| {
            let before = header.bytes().take(error.span().map_or(0, |span| span.start));
            let line = before.filter(|byte| *byte == b'\n').count() + 2;
            wrong(format!("has an invalid header, line {line}: {}; {HEADER}", error.message().replace('\n', ", ")))
        })?;
        let persona = Self {
            name: header.name,
            description: header.description,
            tool_names: header.tools,
            system_prompt: prompt.trim().to_owned(),
            max_steps: header.max_steps,
            temp_workspace: if header.temp_workspace { TempWorkspace::Yes } else { TempWorkspace::No },
            model: header.model,
            temperature: header.temperature,
        };
        match persona.error() {
            None => Ok(persona),
            Some(fault) => Err(wrong(fault)),
        }
    }

    /// Returns what is wrong with the persona, as the end of a sentence about it; `None` when nothing is.
    pub(super) fn error(&self) -> Option<String> {
        let blank = [("name", &self.name), ("description", &self.description), ("prompt", &self.system_prompt)]
            .into_iter()
            .find(|(_, value)| steersman_base::text::is_blank(value));
        if let Some((what, _)) = blank {
            return Some(format!("needs a {what}"));
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if !self.name.chars().all(plain)
            || self.name.len() > limits::SKILL_NAME_CHARS
            || ["main", "all"].contains(&self.name.as_str())
        {
            // The name is typed after an @, and shown beside a number.
            let name = steersman_base::text::visible_line(&self.name);
            return Some(format!(
                "needs a name of at most {} letters, digits, _ and -, which is not 'main' or 'all'; it has '{name}'",
                limits::SKILL_NAME_CHARS
            ));
        }
        if self.model.as_deref().is_some_and(steersman_base::text::is_blank) {
            return Some("needs a model, or none".to_owned());
        }
        if self.temperature.is_some_and(|temperature| !temperature.is_finite() || temperature < 0.0) {
            return Some("needs a temperature from 0".to_owned());
        }
        (self.max_steps == 0).then(|| "needs max_steps greater than 0".to_owned())
    }

    /// Checks personas that are to be offered together.
    ///
    /// # Errors
    /// An argument error when one is wrong, or two have the same name.
    pub(super) fn check_all(personas: &[Self]) -> Result<(), BuildError> {
        let mut seen = HashSet::new();
        for persona in personas {
            if let Some(fault) = persona.error() {
                let name = steersman_base::text::visible_line(&persona.name);
                return Err(BuildError::argument(format!("the persona '{name}' {fault}")));
            }
            if !seen.insert(persona.name.as_str()) {
                return Err(BuildError::argument(format!("there are two personas named '{}'", persona.name)));
            }
        }
        Ok(())
    }

    /// Returns the personas that are built into the program.
    ///
    /// # Errors
    /// A fault of the program's own files.
    pub fn bundled() -> Result<Vec<Self>, BuildError> {
        steersman_base::assets::PERSONAS.iter().map(|(_, text)| Self::parse(text)).collect()
    }

    /// Returns the tools it names that are not among `available`.
    pub fn missing_tools<'a>(&'a self, available: &[&str]) -> Vec<&'a str> {
        let is_tool = |name: &&str| *name != INHERITED && !name.starts_with(WITHOUT);
        let wanted = self.tool_names.iter().map(String::as_str).filter(is_tool);
        wanted.filter(|name| !available.contains(name)).collect()
    }
}
