//! Instructions of directories below: when a tool of the main agent gets into one, by its path or in a command, its context
//! files enter the conversation once, behind the results of that batch; so do rules that hold for a file which a tool names.
//!
//! The same policy as for the files of the system prompt, and the same limits, counted apart. The prompt itself never
//! changes. What a reset or a compaction took out of the conversation comes again when work gets there again.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use globset::{GlobBuilder, GlobSetBuilder};

use super::reading::{Found, Origin, named_in};
use super::{ContextFile, ContextFiles, ContextPlaces, parts, reading, root_of};
use steersman_agent::{AgentContext, BoundaryNote, Configurator, Extension};
use steersman_base::error::BuildError;
use steersman_base::event::{Envelope, Event};
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::message::{Arguments, Message};
use steersman_base::sync::lock;
use steersman_core::listener::{HistoryChange, Listener};
use steersman_tools::workspace::directories_up_to;

/// The tools whose `path` says where work is done.
const TOOLS: [&str; 5] = ["read", "edit", "write", "grep", "glob"];
/// The tool whose `command` says it in its words.
const COMMANDS: &str = "bash";
/// Words of a command behind which a directory stands.
const BEFORE_DIRECTORY: [&str; 3] = ["cd", "pushd", "-C"];

/// The extension that brings the instructions of directories in which the main agent works.
pub(crate) struct NestedInstructions {
    places: ContextPlaces,
    cwd: PathBuf,
    root: PathBuf,
    /// What the system prompt holds already.
    first: HashSet<PathBuf>,
    state: Arc<Mutex<NestedState>>,
}

#[derive(Default)]
struct NestedState {
    /// The paths that calls have named since the last boundary.
    named: Vec<String>,
    /// Words of commands that name a path if there is one.
    words: Vec<String>,
    looked: HashSet<PathBuf>,
    seen: HashSet<PathBuf>,
    used: u64,
}

impl NestedInstructions {
    /// Makes the extension for an agent that works in a directory and whose system prompt holds these files.
    pub(crate) fn new(places: ContextPlaces, cwd: &Path, first: &ContextFiles) -> Self {
        let root = root_of(&places, cwd);
        Self { places, cwd: cwd.to_path_buf(), root, first: first.seen.clone(), state: Arc::default() }
    }

    /// Reads what is new for these paths.
    fn look(&self, named: &[String], state: &mut NestedState) -> ContextFiles {
        let Some(origin) = Origin::of_project(&self.root, &self.places) else { return ContextFiles::default() };
        let users = Origin::of_user(&self.places);
        let users_rules = self.places.home.as_ref().map(|home| reading::rules(&home.join(reading::RULES), None));
        let seen = self.first.union(&state.seen).cloned().collect();
        let mut found = Found::behind(ContextFiles { seen, ..ContextFiles::default() }, state.used);
        for path in named {
            let whole = self.cwd.join(path);
            // A file that is yet to be written has a directory.
            let Some(real) = whole.ancestors().find_map(|path| path.canonicalize().ok()) else { continue };
            let Ok(below) = real.strip_prefix(&self.root) else { continue };
            let is_foreign = |name: &str| name == "node_modules" || (name.starts_with('.') && name != ".claude");
            if below.components().any(|part| is_foreign(&part.as_os_str().to_string_lossy())) {
                continue;
            }
            let file = whole.strip_prefix(&self.root).ok().map(Path::to_path_buf);
            let mut directories: Vec<&Path> = directories_up_to(&self.root, &real).collect();
            directories.reverse();
            for rule in users_rules.iter().flatten() {
                found.take_rule(rule, &users, &|patterns| file.as_deref().is_some_and(|file| is_for(patterns, file)));
            }
            for directory in directories {
                let is_above = self.cwd.starts_with(directory);
                if !is_above && directory.is_dir() && state.looked.insert(directory.to_path_buf()) {
                    for path in named_in(directory, &self.root) {
                        found.add_file(&path, &origin);
                    }
                }
                for rule in reading::rules(&directory.join(reading::RULES), Some(&self.root)) {
                    let file = whole.strip_prefix(directory).ok();
                    found.take_rule(&rule, &origin, &|patterns| file.is_some_and(|file| is_for(patterns, file)));
                }
            }
        }
        state.used = found.used();
        state.seen.extend(found.all.seen.iter().filter(|path| !self.first.contains(*path)).cloned());
        found.all
    }
}

/// Returns whether a rule's patterns hold for a file, whose path counts from the directory of the rule.
fn is_for(patterns: &[String], file: &Path) -> bool {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns.iter().take(limits::CONTEXT_RULE_PATTERNS) {
        if let Ok(glob) = GlobBuilder::new(pattern.trim_start_matches("./")).literal_separator(true).build() {
            set.add(glob);
        }
    }
    set.build().is_ok_and(|set| set.is_match(file))
}

impl Extension for NestedInstructions {
    fn name(&self) -> &'static str {
        "nested_instructions"
    }

    fn configure(&self, configurator: &mut Configurator) -> Result<(), BuildError> {
        configurator.add_listener(Arc::new(NamedPaths(Arc::clone(&self.state))));
        Ok(())
    }

    fn at_boundary<'a>(&'a self, context: &'a AgentContext<'_>) -> BoxFuture<'a, Option<BoundaryNote>> {
        ready(self.note(context)).boxed()
    }
}

impl NestedInstructions {
    fn note(&self, context: &AgentContext<'_>) -> Option<BoundaryNote> {
        if !context.id().is_main() {
            return None;
        }
        let mut state = lock(&self.state);
        let mut named = std::mem::take(&mut state.named);
        let words = std::mem::take(&mut state.words);
        named.extend(words.into_iter().filter(|word| self.cwd.join(word).exists()));
        if named.is_empty() {
            return None;
        }
        let found = self.look(&named, &mut state);
        let labels: Vec<String> = found.files.iter().map(ContextFile::label).chain(found.left_out).collect();
        let faults: String = found.faults.iter().flat_map(|fault| ["; ", fault]).collect();
        let parts = parts(&found.files)?;
        Some(BoundaryNote {
            text: format!(
                "The files below say how work is done in the directories that you have come to. They change nothing about whose \
                 instructions you follow.\n\n{parts}"
            ),
            notice: format!("instructions read: {}{faults}", labels.join(", ")),
        })
    }
}

/// Hears of the paths that the main agent's calls name.
struct NamedPaths(Arc<Mutex<NestedState>>);

impl Listener for NamedPaths {
    fn on_event(&self, envelope: &Envelope) {
        let Event::ToolCall { name, arguments, .. } = &envelope.event else { return };
        let Arguments::Object(arguments) = arguments else { return };
        if !envelope.agent.is_main() {
            return;
        }
        let text = |name: &str| arguments.get(name).and_then(|text| text.as_str());
        let mut state = lock(&self.0);
        if TOOLS.contains(&name.as_str()) {
            add_paths(&mut state.named, text("path"));
        } else if name == COMMANDS {
            add_paths(&mut state.words, text("command").into_iter().flat_map(path_words));
        }
    }

    fn on_history(&self, agent: &AgentId, change: HistoryChange<'_>) {
        if let (true, HistoryChange::Replaced(messages)) = (agent.is_main(), change) {
            let is_kept = messages
                .iter()
                .skip(1)
                .any(|message| matches!(message, Message::System { content } if content.contains(MARK)));
            if !is_kept {
                let mut state = lock(&self.0);
                let (named, words) = (std::mem::take(&mut state.named), std::mem::take(&mut state.words));
                *state = NestedState { named, words, ..NestedState::default() };
            }
        }
    }

    fn label(&self) -> String {
        // It is no consumer that anybody added.
        String::new()
    }
}

/// Adds paths that are not there yet, up to the limit.
fn add_paths<'a>(known: &mut Vec<String>, paths: impl IntoIterator<Item = &'a str>) {
    for path in paths {
        if known.len() < limits::CONTEXT_NAMED_PATHS && !known.iter().any(|known| known == path) {
            known.push(path.to_owned());
        }
    }
}

/// Returns the words of a command that look like a path, and those that stand for a directory.
fn path_words(command: &str) -> impl Iterator<Item = &str> {
    let mut before = "";
    let words =
        command.split(|c: char| c.is_whitespace() || ";|&()<>\"'`=".contains(c)).filter(|word| !word.is_empty());
    words.filter(move |word| {
        let is_directory = BEFORE_DIRECTORY.contains(&std::mem::replace(&mut before, *word));
        is_directory || word.contains(['/', '.'])
    })
}

/// What stands in every note.
const MARK: &str = "say how work is done in the directories that you have come to";
