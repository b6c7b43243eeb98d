//! The members of heads that count for nothing here, each with the files that have them, for one sentence each.
//!
//! Filled by whoever reads skills, commands and agent files. Always holds: what a file says is used or named.

use std::collections::BTreeMap;

use super::Document;
use crate::text::visible_line;

/// The members that count for nothing, with the names of what has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnusedMembers(BTreeMap<String, Vec<String>>);

impl UnusedMembers {
    /// Notes which of these members a head has.
    pub fn note(&mut self, document: &Document, members: &[&str], name: &str) {
        for member in members.iter().filter(|member| document.has(member)) {
            self.add(member, name);
        }
    }

    /// Notes that something has a member, or names a tool, which counts for nothing.
    pub fn add(&mut self, member: &str, name: &str) {
        let names = self.0.entry(visible_line(member).into_owned()).or_default();
        let name = visible_line(name);
        if !names.iter().any(|known| *known == name) {
            names.push(name.into_owned());
        }
    }

    /// Returns one part of a sentence for each member, those that most files have in front: `model (a, b)`.
    pub fn parts(&self) -> Vec<String> {
        let mut all: Vec<(&String, &Vec<String>)> = self.0.iter().collect();
        all.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
        all.into_iter().map(|(member, names)| format!("{member} ({})", names.join(", "))).collect()
    }

    /// Returns one sentence about all of them; `None` without any.
    pub fn sentence(&self, what: &str) -> Option<String> {
        let parts = self.parts();
        (!parts.is_empty()).then(|| format!("{what}: {}", parts.join("; ")))
    }
}
