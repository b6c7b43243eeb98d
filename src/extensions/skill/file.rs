//! Reads `SKILL.md` files and custom commands.
//!
//! Names that the formats do not allow are made fit, unknown members are ignored; only what could not be used at all
//! (a skill that says not what it is for, a command without a text) is refused, in the end of a sentence about the file.

use std::path::{Path, PathBuf};

use steersman_base::front_matter::{Document, UnusedMembers};
use steersman_base::limits;
use steersman_base::protocol::{PromptTemplate, TemplateKind};
use steersman_base::text::{is_blank, visible_line};

/// A skill, as it was read from its `SKILL.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// The name that the model and the user call it by.
    pub name: String,
    /// What it is for, on one line.
    pub description: String,
    /// The words that it wants behind its name.
    pub hint: String,
    /// Its instructions.
    pub text: String,
    /// Its directory, without links.
    pub directory: PathBuf,
    /// Whose it is.
    pub source: String,
    /// Who may start it.
    pub starters: SkillStarters,
    /// What the shell lines in it may run unasked, when the user starts it.
    pub allowed: Vec<String>,
}

/// Who may start a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillStarters {
    /// The model and the user.
    Both,
    /// The user (`disable-model-invocation: true`).
    User,
    /// The model (`user-invocable: false`).
    Model,
}

impl Skill {
    /// Reads the `SKILL.md` of a directory.
    ///
    /// # Errors
    /// What is wrong with the file, as the end of a sentence about it.
    pub fn parse(text: &str, directory: &Path, source: &str) -> Result<Self, String> {
        let document = Document::parse(text).map_err(|error| error.to_string())?;
        let folder = directory.file_name().unwrap_or_default().to_string_lossy();
        let name = document.text("name").unwrap_or(folder);
        let name = fit_name(&name).ok_or("needs a name")?;
        let description = document.text("description").ok_or("needs a description")?;
        let starters = match (document.is_set("disable-model-invocation"), document.is_denied("user-invocable")) {
            (true, _) => SkillStarters::User,
            (false, true) => SkillStarters::Model,
            (false, false) => SkillStarters::Both,
        };
        let text = document.body.replace("${CLAUDE_SKILL_DIR}", &directory.to_string_lossy());
        Ok(Self {
            name,
            description: one_line(&description, limits::SKILL_DESCRIPTION_CHARS),
            hint: document.text("argument-hint").map(|hint| visible_line(&hint).into_owned()).unwrap_or_default(),
            text: text.trim().to_owned(),
            directory: directory.to_path_buf(),
            source: source.to_owned(),
            starters,
            allowed: allowed(&document),
        })
    }

    /// Returns what `/skill NAME` sends; `None` for a skill that is not the user's to start.
    pub fn template(&self) -> Option<PromptTemplate> {
        (self.starters != SkillStarters::Model).then(|| PromptTemplate {
            name: self.name.clone(),
            kind: TemplateKind::Skill,
            source: self.source.clone(),
            hint: self.hint.clone(),
            description: self.description.clone(),
            text: format!("{}\n\nThe directory of the skill: {}", self.text, self.directory.display()),
            allowed: self.allowed.clone(),
        })
    }

    /// Returns whether the model may start it.
    pub fn is_for_model(&self) -> bool {
        self.starters != SkillStarters::User
    }
}

/// Reads a custom command.
///
/// # Errors
/// As [`Skill::parse`].
pub fn command(text: &str, name: &str, source: &str) -> Result<PromptTemplate, String> {
    let document = Document::parse(text).map_err(|error| error.to_string())?;
    if is_blank(&document.body) {
        return Err("has no text".to_owned());
    }
    let first = || document.body.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty());
    let description = document.text("description");
    let description = description.as_deref().or_else(first).unwrap_or_default();
    Ok(PromptTemplate {
        name: name.to_owned(),
        kind: TemplateKind::Command,
        source: source.to_owned(),
        hint: document.text("argument-hint").map(|hint| visible_line(&hint).into_owned()).unwrap_or_default(),
        description: one_line(description, limits::SKILL_DESCRIPTION_CHARS),
        text: document.body.trim().to_owned(),
        allowed: allowed(&document),
    })
}

/// Members of the heads of skills and commands that count for nothing here.
const UNUSED: [&str; 8] = ["model", "hooks", "disallowed-tools", "context", "agent", "effort", "paths", "shell"];

/// Notes what of the head of a skill or a command of this name counts for nothing.
pub fn note_unused(text: &str, name: &str, unused: &mut UnusedMembers) {
    if let Ok(document) = Document::parse(text) {
        unused.note(&document, &UNUSED, name);
    }
}

/// Returns the tools that a file says its shell lines may use.
fn allowed(document: &Document) -> Vec<String> {
    document.list("allowed-tools").unwrap_or_default().into_iter().take(limits::TEMPLATE_RULES).collect()
}

/// Returns the names of command files of one directory, by their paths below it: the name of the file, and its folder before
/// that where two files have the same one, or the program has a command of this name. `None` for a name that cannot be typed.
pub fn command_names(paths: &[PathBuf], is_taken: impl Fn(&str) -> bool) -> Vec<Option<String>> {
    let stem = |path: &PathBuf| fit_name(&path.file_stem()?.to_string_lossy());
    let stems: Vec<_> = paths.iter().map(stem).collect();
    let name = |(path, own): (&PathBuf, &Option<String>)| {
        let own = own.as_ref()?;
        if !is_taken(own) && stems.iter().flatten().filter(|other| *other == own).count() == 1 {
            return Some(own.clone());
        }
        let folders = path.parent().into_iter().flat_map(Path::components);
        let folders = folders.filter_map(|folder| fit_name(&folder.as_os_str().to_string_lossy()));
        Some(folders.chain([own.clone()]).collect::<Vec<_>>().join(":"))
    };
    paths.iter().zip(&stems).map(name).collect()
}

/// Makes a name fit: letters, digits, `_`, `.` and `-`, not too long; `None` when nothing is left.
fn fit_name(name: &str) -> Option<String> {
    let fit = |c: char| if c.is_alphanumeric() || matches!(c, '_' | '.') { c } else { '-' };
    let name: String = name.trim().chars().map(fit).take(limits::SKILL_NAME_CHARS).collect();
    let name = name.trim_matches('-');
    name.contains(char::is_alphanumeric).then(|| name.to_owned())
}

/// Returns a text on one line, cut where it is too long.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = visible_line(&words);
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default().trim_end()),
        None => line.into_owned(),
    }
}
