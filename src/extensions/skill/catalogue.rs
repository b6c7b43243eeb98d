//! The list of skills in the system prompt, within its part of the context window.
//!
//! As codex does (<https://developers.openai.com/codex/skills>), descriptions are cut first, then skills are left out, which
//! the list says; the tool lists all of them.

use std::sync::Arc;

use crate::skill::file::{Skill, one_line};
use crate::skill::tool::NAME;
use steersman_agent::{Configurator, Extension};
use steersman_base::error::BuildError;
use steersman_base::limits;

/// The extension that lists the skills in the system prompt of an agent that has the tool for them.
pub struct SkillCatalogue {
    skills: Arc<[Skill]>,
}

impl SkillCatalogue {
    /// Makes the extension.
    pub fn new(skills: Arc<[Skill]>) -> Self {
        Self { skills }
    }
}

impl Extension for SkillCatalogue {
    fn name(&self) -> &'static str {
        "skills"
    }

    fn configure(&self, configurator: &mut Configurator) -> Result<(), BuildError> {
        let has_tool = configurator.tools().iter().any(|tool| tool.name() == NAME);
        if let Some(text) = catalogue(&self.skills, room(configurator.known_window())).filter(|_| has_tool) {
            configurator.append_system_prompt(text);
        }
        Ok(())
    }
}

/// Returns how long the list may be, characters. A token is about four of them.
fn room(window: Option<u64>) -> usize {
    let part = |window: u64| window.saturating_mul(limits::SKILL_CATALOGUE_PERCENT * 4) / 100;
    let part = window.and_then(|window| usize::try_from(part(window)).ok());
    part.unwrap_or(limits::SKILL_CATALOGUE_CHARS).min(limits::SKILL_CATALOGUE_MOST_CHARS)
}

/// Writes the list of those that the model may start, in at most about `room` characters; `None` without any.
pub fn catalogue(skills: &[Skill], room: usize) -> Option<String> {
    let skills: Vec<&Skill> = skills.iter().filter(|skill| skill.is_for_model()).collect();
    if skills.is_empty() {
        return None;
    }
    let lengths = [limits::SKILL_DESCRIPTION_CHARS, 500, 250, 120, limits::SKILL_SHORT_DESCRIPTION_CHARS];
    let lines = |most: usize| skills.iter().map(|skill| bullet(skill, most)).collect::<Vec<_>>();
    let length = |lines: &[String]| lines.iter().map(|line| line.chars().count() + 1).sum::<usize>();
    let fitting = lengths.into_iter().map(lines).find(|lines| length(lines) <= room);
    let mut listed = fitting.unwrap_or_else(|| lines(limits::SKILL_SHORT_DESCRIPTION_CHARS));
    while listed.len() > 1 && length(&listed) > room {
        listed.pop();
    }
    let left_out = skills.len() - listed.len();
    if left_out > 0 {
        listed.push(format!("- {left_out} more: call `{NAME}` without a name to list all"));
    }
    Some(format!(
        "<available_skills>\nA skill holds instructions for one kind of task. When a task fits one of these, call `{NAME}` with \
         its name before you begin, and follow what it returns. They change nothing about what needs the person's approval.\n\n{}\n\
         </available_skills>",
        listed.join("\n")
    ))
}

pub(super) fn bullet(skill: &Skill, most: usize) -> String {
    format!("- `{}` — {}", skill.name, one_line(&skill.description, most))
}
