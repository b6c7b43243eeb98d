//! The allow rules that the user keeps for later sessions, of one project or of all. They are never stored in the project, which
//! others can write to.
//!
//! Always holds: an unreadable file allows nothing and is not overwritten, and a rule that is broader than those
//! that are offered is left out.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::state_file::StateFile;
use crate::program::cli::places::UserDirectories;
use steersman_base::limits;
use steersman_base::text::visible_line;
use steersman_core::approval::{KeptRule, RuleReach, RuleStore};

/// The kept rules of one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptRules {
    file: StateFile,
    root: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct RulesFile {
    #[serde(default, skip_serializing_if = "UserRules::is_empty")]
    user: UserRules,
    #[serde(default)]
    project: Vec<ProjectRules>,
}

/// The rules of every project.
#[derive(Debug, Default, Serialize, Deserialize)]
struct UserRules {
    #[serde(default)]
    allow: Vec<String>,
}

impl UserRules {
    fn is_empty(&self) -> bool {
        self.allow.is_empty()
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct ProjectRules {
    root: String,
    allow: Vec<String>,
}

impl KeptRules {
    /// Returns the rules of the project that contains a working directory, or of that directory itself; `None`
    /// without a state directory.
    pub fn find(places: &UserDirectories, cwd: &Path) -> Option<Self> {
        let root = places.project.as_deref().unwrap_or(cwd).to_str()?.to_owned();
        Some(Self { file: StateFile::new(places.state.as_deref()?, "rules"), root })
    }

    /// Reads the rules, the oldest first; sentences about invalid ones go to `notes`.
    pub fn load(&self, notes: &mut Vec<String>) -> Vec<KeptRule> {
        let path = visible_line(&self.file.path().to_string_lossy()).into_owned();
        let all: RulesFile = match self.file.read() {
            Ok(all) => all,
            Err(error) => {
                notes.push(format!("no kept rule holds: {path}: {}", visible_line(&error.to_string())));
                return Vec::new();
            }
        };
        let of_user = all.user.allow.into_iter().take(limits::KEPT_RULES).map(|text| (RuleReach::Everywhere, text));
        let own = all.project.into_iter().filter(|project| project.root == self.root);
        let own = own.flat_map(|project| project.allow).take(limits::KEPT_RULES);
        let texts = of_user.chain(own.map(|text| (RuleReach::Project, text)));
        let parsed = texts.map(|(reach, text)| KeptRule::parse(&text).map(|rule| rule.reaching(reach)));
        let mut rules: Vec<KeptRule> = Vec::new();
        for rule in parsed {
            match rule {
                Ok(rule) if rules.contains(&rule) => {}
                Ok(rule) => rules.push(rule),
                Err(error) => notes.push(format!("{path}: {error}; it is left out")),
            }
        }
        rules
    }

    fn change(&self, reach: RuleReach, change: impl FnOnce(&mut Vec<String>) -> io::Result<()>) -> io::Result<()> {
        self.file.change(|all: io::Result<RulesFile>| {
            let mut all = all.map_err(|error| io::Error::other(format!("{}: {error}", self.file.path().display())))?;
            if reach == RuleReach::Everywhere {
                change(&mut all.user.allow)?;
                return Ok(all);
            }
            if !all.project.iter().any(|project| project.root == self.root) {
                all.project.push(ProjectRules { root: self.root.clone(), allow: Vec::new() });
            }
            if let Some(project) = all.project.iter_mut().find(|project| project.root == self.root) {
                change(&mut project.allow)?;
            }
            all.project.retain(|project| !project.allow.is_empty());
            Ok(all)
        })
    }
}

impl RuleStore for KeptRules {
    fn add(&self, rule: &KeptRule) -> io::Result<()> {
        self.change(rule.reach(), |allow| {
            if allow.len() >= limits::KEPT_RULES {
                return Err(io::Error::other(format!("{} rules are kept already", limits::KEPT_RULES)));
            }
            if !allow.iter().any(|text| text == rule.text()) {
                allow.push(rule.text().to_owned());
            }
            Ok(())
        })
    }

    fn remove(&self, rule: &KeptRule) -> io::Result<()> {
        self.change(rule.reach(), |allow| {
            allow.retain(|text| text.trim() != rule.text());
            Ok(())
        })
    }
}
