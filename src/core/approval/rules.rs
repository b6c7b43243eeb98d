//! The rules of the configuration: `allow`, `ask` and `deny`, each a list of `"tool: pattern"`, or `"tool"` for every use.
//!
//! An allow rule is read narrowly: one simple command, an exact host, a path within the workspace. Ask and deny rules are
//! read widely: any command of a chain, any spelling of a host, with further words and options, and for the tools of the
//! same kind (`write` and `edit`, `fetch` and `web_scrape`, those that read). Deny stands above everything, ask above allow.
//! `mcp` stands for the tools of servers; its patterns are about `server/tool`.

use std::path::{Path, PathBuf};

use crate::approval::address::{Address, AddressPattern};
use crate::approval::pattern::{Glob, PathPattern, Slash};
use crate::approval::shell::runners::{Reach, name_of, reach};
use crate::approval::shell::{Commands, FoundCommand, Shape, commands};
use crate::approval::{HiddenFiles, Operation, UseOperation, WriteOperation};
use steersman_base::protocol::SERVER_TOOLS;
use steersman_base::text::{composed, is_blank, visible_line};

/// The tools that rules are about.
const TOOLS: [(&str, PatternKind); 18] = [
    ("bash", PatternKind::Command),
    ("write", PatternKind::Path),
    ("edit", PatternKind::Path),
    ("read", PatternKind::Reading),
    ("grep", PatternKind::Reading),
    ("glob", PatternKind::Reading),
    ("fetch", PatternKind::Address),
    ("web_scrape", PatternKind::Address),
    ("web_search", PatternKind::Query),
    ("git_clone", PatternKind::Address),
    ("calculator", PatternKind::Query),
    ("agent", PatternKind::Query),
    ("skill", PatternKind::Query),
    ("plan", PatternKind::Query),
    ("ask_user", PatternKind::Query),
    ("job_output", PatternKind::Query),
    ("job_stop", PatternKind::Query),
    (SERVER_TOOLS, PatternKind::Query),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternKind {
    Command,
    Path,
    Reading,
    Address,
    Query,
}

/// What is wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the rule {rule:?} is invalid: {why}")]
pub struct RuleError {
    /// The rule as it was written, made safe to show.
    pub rule: String,
    /// What is wrong.
    pub why: String,
}

impl RuleError {
    pub(super) fn new(rule: &str, why: impl Into<String>) -> Self {
        Self { rule: visible_line(rule).into_owned(), why: why.into() }
    }
}

/// The rules of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    allow: Vec<Rule>,
    ask: Vec<Rule>,
    deny: Vec<Rule>,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    text: String,
    /// Its tool; `None` for every tool.
    tool: Option<&'static str>,
    pattern: Pattern,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pattern {
    Everything,
    Words(Words),
    Path {
        exact: PathPattern,
        /// In small letters, for rules that are read widely.
        lowercase: PathPattern,
    },
    Address(Box<AddressPattern>),
    Query(Glob),
}

/// The pattern of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words {
    words: Vec<WordPattern>,
    /// Whether any further words may follow.
    is_open: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum WordPattern {
    Exact(String),
    Glob(Glob),
    Any,
}

/// An operation as wide rules see it.
pub(super) struct JudgedOperation<'a> {
    pub operation: &'a Operation,
    /// What its command may run.
    pub commands: Option<&'a Commands>,
    pub root: Option<&'a Path>,
}

impl Rules {
    /// Reads the three lists.
    ///
    /// # Errors
    /// [`RuleError`] for the first rule that is none.
    pub fn parse<S: AsRef<str>>(allow: &[S], ask: &[S], deny: &[S]) -> Result<Self, RuleError> {
        let read = |rules: &[S]| rules.iter().map(|rule| Rule::parse(rule.as_ref())).collect::<Result<Vec<_>, _>>();
        Ok(Self { allow: read(allow)?, ask: read(ask)?, deny: read(deny)? })
    }

    /// Tells whether there is no rule at all.
    pub fn is_empty(&self) -> bool {
        self.allow.is_empty() && self.ask.is_empty() && self.deny.is_empty()
    }

    /// Returns the deny rule that covers an operation.
    pub(super) fn denies(&self, seen: &JudgedOperation<'_>) -> Option<&str> {
        self.deny.iter().find(|rule| rule.touches(seen)).map(|rule| rule.text.as_str())
    }

    /// Tells whether a deny rule may be about an operation: also where a command cannot be read.
    pub fn may_deny(&self, operation: &Operation, root: Option<&Path>) -> bool {
        let commands = match operation {
            Operation::Command(operation) => Some(commands(&operation.command, &Shape::parse(&operation.command))),
            _ => None,
        };
        let is_unclear = commands.as_ref().is_some_and(|commands| commands.unclear.is_some());
        let seen = JudgedOperation { operation, commands: commands.as_ref(), root };
        (is_unclear && self.deny_commands()) || self.denies(&seen).is_some()
    }

    /// Returns the ask rule that covers an operation.
    pub(super) fn asks(&self, seen: &JudgedOperation<'_>) -> Option<&str> {
        self.ask.iter().find(|rule| rule.touches(seen)).map(|rule| rule.text.as_str())
    }

    /// Tells whether an allow rule covers an operation; of a command, its shape decides.
    pub(super) fn allows(&self, operation: &Operation, shape: Option<&Shape>, root: Option<&Path>) -> bool {
        self.allow.iter().any(|rule| rule.allows(operation, shape, root))
    }

    /// Tells whether an allow rule covers an operation that names its tool: one for every tool does not.
    pub(super) fn allows_named(&self, operation: &Operation, root: Option<&Path>) -> bool {
        self.allow.iter().any(|rule| rule.tool.is_some() && rule.allows(operation, None, root))
    }

    /// Tells whether an allow rule is about tools of this server, or of all of them.
    pub(super) fn allow_server(&self, server: &str) -> bool {
        let servers = self.allow.iter().filter(|rule| rule.tool == Some(SERVER_TOOLS));
        servers
            .map(|rule| rule.text.split_once(':').map_or("*", |(_, pattern)| pattern.trim()))
            .any(|pattern| pattern == "*" || pattern.split_once('/').is_some_and(|(named, _)| named == server))
    }

    /// Returns the rules by which a search leaves out what it finds. Those that ask about its start were answered.
    pub(super) fn hiding(&self, start: &Path, root: Option<&Path>) -> Vec<Pattern> {
        let ask = self.ask.iter().filter(|rule| !rule.pattern.hides(start, root));
        let rules = self.deny.iter().chain(ask).filter(|rule| rule.is_about_reading());
        rules.map(|rule| rule.pattern.clone()).filter(|pattern| matches!(pattern, Pattern::Path { .. })).collect()
    }

    /// Returns which files deny rules keep from being read.
    pub fn unreadable(&self, root: Option<&Path>) -> HiddenFiles {
        let rules = self.deny.iter().filter(|rule| rule.is_about_reading());
        let patterns = rules.map(|rule| rule.pattern.clone()).filter(|pattern| matches!(pattern, Pattern::Path { .. }));
        HiddenFiles::new(patterns.collect(), root)
    }

    /// Returns the deny rule that keeps one of these files from being read.
    pub(super) fn denies_reading(&self, paths: &[PathBuf], root: Option<&Path>) -> Option<&str> {
        let is_about = |rule: &&Rule| paths.iter().any(|path| rule.pattern.hides(path, root));
        self.deny.iter().filter(|rule| rule.is_about_reading()).find(is_about).map(Rule::text)
    }

    /// Returns the first rule by which commands are denied or asked about, so that one which cannot be read must be asked
    /// about.
    pub(super) fn watching_commands(&self) -> Option<&str> {
        let mut rules = self.deny.iter().chain(&self.ask);
        rules.find(|rule| matches!(rule.pattern, Pattern::Words(_))).map(|rule| rule.text.as_str())
    }

    pub(super) fn deny_commands(&self) -> bool {
        self.deny.iter().any(|rule| matches!(rule.pattern, Pattern::Words(_)))
    }

    /// Tells whether a deny rule is about every use of a program; its file in a directory of the search path.
    pub fn denies_program(&self, file: &Path) -> bool {
        let path = file.to_string_lossy();
        self.deny.iter().any(|rule| match &rule.pattern {
            Pattern::Words(Words { words, .. }) => match words.as_slice() {
                [WordPattern::Any] => false,
                [program] => program.covers(&path) || program.covers(name_of(&path)),
                _ => false,
            },
            Pattern::Everything | Pattern::Path { .. } | Pattern::Address(_) | Pattern::Query(_) => false,
        })
    }

    /// Tells whether an allow rule is about commands.
    pub(super) fn allow_commands(&self) -> bool {
        self.allow.iter().any(|rule| rule.tool.is_none_or(|tool| tool == "bash"))
    }
}

/// Returns what a rule in the form of Claude Code, `Bash(git diff:*)`, is here, and one whose tool is written otherwise;
/// paths stay as they are written.
pub fn right_form(text: &str) -> Option<String> {
    let (name, pattern) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((name, pattern)) => (name, Some(pattern)),
        None => text.split_once(':').map_or((text, None), |(name, pattern)| (name, Some(pattern))),
    };
    let lower = name.trim().to_lowercase();
    let own = match lower.as_str() {
        "webfetch" => "fetch",
        "websearch" => "web_search",
        "multiedit" | "apply_patch" => "edit",
        "task" => "agent",
        "shell" => "bash",
        "todowrite" | "todoread" => "plan",
        "askuserquestion" => "ask_user",
        "bashoutput" | "taskoutput" => "job_output",
        "killshell" | "killbash" | "taskstop" => "job_stop",
        lower => match name.trim().strip_prefix("mcp__").map(|tool| tool.replacen("__", "/", 1)) {
            Some(tool) if tool.contains('/') => return Some(format!("{SERVER_TOOLS}: {tool}")),
            Some(server) => return Some(format!("{SERVER_TOOLS}: {server}/*")),
            None => TOOLS.into_iter().find(|(tool, _)| *tool == lower)?.0,
        },
    };
    let pattern = pattern.map(|pattern| match pattern.trim().strip_prefix("domain:") {
        Some(host) => format!("https://{}/*", host.trim()),
        None => pattern.trim().replace(":*", " *"),
    });
    let right = pattern
        .filter(|pattern| !is_blank(pattern) && pattern != "*")
        .map_or(own.to_owned(), |pattern| format!("{own}: {pattern}"));
    Rule::parse(&right).is_ok().then_some(right)
}

impl Rule {
    pub(super) fn parse(rule: &str) -> Result<Self, RuleError> {
        let fail = |why: String| RuleError::new(rule, why);
        let text = rule.trim();
        let (name, pattern) = match text.split_once(':') {
            Some((name, pattern)) => (name.trim(), Some(pattern.trim())),
            None => (text, None),
        };
        if name == "*" {
            return match pattern {
                None => Ok(Self { text: text.to_owned(), tool: None, pattern: Pattern::Everything }),
                Some(_) => Err(fail("a pattern needs the name of a tool before it".to_owned())),
            };
        }
        let Some((tool, kind)) = TOOLS.into_iter().find(|(tool, _)| *tool == name) else {
            let names: Vec<&str> = TOOLS.iter().map(|(tool, _)| *tool).collect();
            if let Some(right) = right_form(text) {
                return Err(fail(format!("write it as {right:?}")));
            }
            let name = visible_line(name);
            let form = "a rule is \"tool\" or \"tool: pattern\", as \"bash: git status\"";
            return Err(fail(format!("there is no tool {name:?}; those are: {}; {form}", names.join(", "))));
        };
        let pattern = match (pattern, kind) {
            (None | Some("*"), _) => Pattern::Everything,
            (Some(pattern), _) if is_blank(pattern) => {
                return Err(fail(format!("its pattern is empty; \"{name}\" alone covers every use")));
            }
            (Some(pattern), PatternKind::Command) => Pattern::Words(Words::parse(pattern).map_err(fail)?),
            (Some(pattern), PatternKind::Path | PatternKind::Reading) => Pattern::Path {
                exact: PathPattern::parse(pattern).map_err(fail)?,
                lowercase: PathPattern::parse(&composed(&pattern.to_lowercase())).map_err(fail)?,
            },
            (Some(pattern), PatternKind::Address) => {
                Pattern::Address(Box::new(AddressPattern::parse(pattern).map_err(fail)?))
            }
            (Some(pattern), PatternKind::Query) => Pattern::Query(Glob::new(pattern, Slash::Plain)),
        };
        Ok(Self { text: text.to_owned(), tool: Some(tool), pattern })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    fn is_about_reading(&self) -> bool {
        self.tool.is_some_and(|tool| is_like(tool, "read"))
    }

    /// Tells whether it covers one known program with these first words, one host, or one tool of a server, and nothing else.
    pub(super) fn is_narrow(&self) -> bool {
        match &self.pattern {
            Pattern::Words(words) => words.is_prefix_of_known(),
            Pattern::Address(pattern) => pattern.is_one_host(),
            Pattern::Query(_) => self.tool == Some(SERVER_TOOLS) && !self.text.contains(['*', '?']),
            Pattern::Everything | Pattern::Path { .. } => false,
        }
    }

    /// Tells whether it covers an operation, read narrowly.
    pub(super) fn allows(&self, operation: &Operation, shape: Option<&Shape>, root: Option<&Path>) -> bool {
        if self.tool.is_some_and(|tool| tool != operation.tool()) {
            return false;
        }
        match (operation, &self.pattern) {
            (Operation::Command(_), pattern) => match (shape, pattern) {
                // Also a rule for every command covers no chain and no program that runs other code.
                (Some(Shape::Simple(words)), Pattern::Everything) => is_tame(words),
                (Some(Shape::Simple(words)), Pattern::Words(pattern)) => pattern.allows(words),
                _ => false,
            },
            (Operation::Write(operation), Pattern::Everything) => is_within(operation, root),
            (Operation::Write(operation), Pattern::Path { exact, .. }) => {
                is_within(operation, root) && exact.matches(&operation.path, root)
            }
            (
                Operation::Fetch(_) | Operation::Search(_) | Operation::Clone(_) | Operation::ServerTool(_),
                Pattern::Everything,
            ) => true,
            (Operation::ServerTool(operation), Pattern::Query(pattern)) => pattern.matches(&operation.name()),
            (Operation::Search(operation), Pattern::Query(pattern)) => pattern.matches(&operation.query),
            (operation, Pattern::Address(pattern)) => {
                Address::from_operation(operation).is_some_and(|address| pattern.allows(&address))
            }
            _ => false,
        }
    }

    /// Tells whether it is about an operation in the widest sense.
    fn touches(&self, seen: &JudgedOperation<'_>) -> bool {
        if self.tool.is_some_and(|tool| !is_like(tool, seen.operation.tool())) {
            return false;
        }
        match (&self.pattern, seen.operation) {
            (Pattern::Everything, _) => true,
            (Pattern::Words(pattern), _) => {
                seen.commands.is_some_and(|commands| commands.found.iter().any(|found| pattern.touches(found)))
            }
            (Pattern::Path { exact, lowercase }, Operation::Write(operation)) => {
                let root = seen.root.map(lower);
                exact.matches(&operation.path, seen.root) || lowercase.matches(&lower(&operation.path), root.as_deref())
            }
            (pattern, Operation::Use(UseOperation { path: Some(path), .. })) => pattern.hides(path, seen.root),
            (Pattern::Query(pattern), Operation::Use(operation)) => pattern.matches_in_any_case(&operation.shown),
            // What is no address is refused by its tool; until then it counts as denied.
            (Pattern::Address(pattern), operation) => {
                Address::from_operation(operation).is_none_or(|address| pattern.touches(&address))
            }
            (Pattern::Query(pattern), Operation::Search(operation)) => pattern.matches_in_any_case(&operation.query),
            (Pattern::Query(pattern), Operation::ServerTool(operation)) => {
                pattern.matches_in_any_case(&operation.name())
            }
            _ => false,
        }
    }
}

impl Pattern {
    /// Returns the one place that it is about; `None` when there are more.
    pub(super) fn place(&self, root: Option<&Path>) -> Option<PathBuf> {
        let Self::Path { exact, .. } = self else { return None };
        exact.place(root)
    }

    /// Tells whether it is about reading a path: about the path itself, or about a directory that it lies in.
    pub(super) fn hides(&self, path: &Path, root: Option<&Path>) -> bool {
        let Self::Path { exact, lowercase } = self else { return false };
        let (folded_path, folded_root) = (lower(path), root.map(lower));
        path.ancestors().any(|path| exact.matches(path, root))
            || folded_path.ancestors().any(|path| lowercase.matches(path, folded_root.as_deref()))
    }
}

fn lower(path: &Path) -> PathBuf {
    PathBuf::from(&*composed(&path.to_string_lossy().to_lowercase()))
}

impl Words {
    fn parse(pattern: &str) -> Result<Self, String> {
        let is_exact = !pattern.contains(['*', '?']);
        // Only here can quotes be: the words are then those that a shell makes of it.
        match Shape::parse(pattern) {
            Shape::Simple(words) => {
                let words = words.into_iter().map(WordPattern::Exact).collect();
                return Ok(Self { words, is_open: false });
            }
            Shape::Complex { why } if is_exact => {
                return Err(format!("{why}; a rule names one simple command, and each command of a chain by itself"));
            }
            Shape::Complex { .. } => {}
        }
        // Without its stars it must be one simple command of plain words too.
        let plain = pattern.replace(['*', '?'], "x");
        let words: Vec<&str> = pattern.split_whitespace().collect();
        match Shape::parse(&plain) {
            Shape::Simple(plain) if plain.len() == words.len() && !pattern.contains(['\'', '"']) => {}
            Shape::Simple(_) => return Err("stars cannot stand beside quotes".to_owned()),
            Shape::Complex { why } => {
                return Err(format!("{why}; a rule names one simple command, and each command of a chain by itself"));
            }
        }
        let is_open = words.last() == Some(&"*");
        let kept = words.len() - usize::from(is_open);
        let word = |word: &&str| match *word {
            "*" => WordPattern::Any,
            word if word.contains(['*', '?']) => WordPattern::Glob(Glob::new(word, Slash::Separates)),
            word => WordPattern::Exact(word.to_owned()),
        };
        Ok(Self { words: words.iter().take(kept).map(word).collect(), is_open })
    }

    /// Tells whether it is the beginning of a command whose arguments run no other code, as it may be granted.
    fn is_prefix_of_known(&self) -> bool {
        let exact = |word: &WordPattern| match word {
            WordPattern::Exact(word) => Some(word.clone()),
            WordPattern::Glob(_) | WordPattern::Any => None,
        };
        let words: Option<Vec<String>> = self.words.iter().map(exact).collect();
        self.is_open && words.is_some_and(|words| matches!(reach(&words), Reach::Own(length) if length <= words.len()))
    }

    fn is_exact(&self) -> bool {
        !self.is_open && self.words.iter().all(|word| matches!(word, WordPattern::Exact(_)))
    }

    /// Tells whether it covers this command, and may.
    fn allows(&self, words: &[String]) -> bool {
        let has_length = if self.is_open { words.len() >= self.words.len() } else { words.len() == self.words.len() };
        let is_covered = has_length && self.words.iter().zip(words).all(|(pattern, word)| pattern.covers(word));
        is_covered && (self.is_exact() || is_tame_as(words, self.words.first()))
    }

    /// Tells whether a command that may run begins with it, options between its words left out; one pass, whatever the
    /// words are.
    fn touches(&self, found: &FoundCommand) -> bool {
        let Some((first, patterns)) = self.words.split_first() else { return true };
        // Which patterns may come next, and which of them right behind an option that may have a value.
        let mut open = vec![Next::default(); patterns.len()];
        for (place, word) in found.words.iter().enumerate() {
            let is_option = word.starts_with('-');
            let starts = place == 0 || found.anywhere;
            let mut is_reached = starts && (first.covers(word) || first.covers(name_of(word)));
            for (next, pattern) in open.iter_mut().zip(patterns) {
                let was_reached = std::mem::replace(&mut is_reached, next.is_open && pattern.covers(word));
                let stays = next.is_open && !is_reached && (is_option || next.has_option);
                *next = Next { is_open: stays || was_reached, has_option: stays && is_option };
            }
            if is_reached {
                return true;
            }
        }
        false
    }
}

/// A pattern that the words read so far may lead to.
#[derive(Debug, Clone, Copy, Default)]
struct Next {
    is_open: bool,
    /// True when an option stands before, whose value the next word may be.
    has_option: bool,
}

impl WordPattern {
    fn covers(&self, word: &str) -> bool {
        match self {
            Self::Exact(exact) => exact == word,
            // A star does not lead out of the directory before it.
            Self::Glob(glob) => glob.matches(word) && !word.split('/').any(|part| part == ".."),
            Self::Any => true,
        }
    }
}

/// Tells whether two tools do the same kind of thing.
fn is_like(left: &str, right: &str) -> bool {
    let kind_of = |name: &str| TOOLS.into_iter().find(|(tool, _)| *tool == name).map(|(_, kind)| kind);
    let kind = kind_of(left).filter(|kind| *kind != PatternKind::Query);
    let clones = left == "git_clone" || right == "git_clone";
    left == right || (kind.is_some() && kind == kind_of(right) && !clones)
}

/// Tells whether a wildcard may cover a command.
fn is_tame(words: &[String]) -> bool {
    is_tame_as(words, None)
}

/// As [`is_tame`], of a rule whose first word is this; one that is no name covers programs of the search path only.
fn is_tame_as(words: &[String], first: Option<&WordPattern>) -> bool {
    let is_named = matches!(first, Some(WordPattern::Exact(_)));
    let is_local = words.first().is_some_and(|program| program.contains('/'));
    reach(words) != Reach::Code && (is_named || !is_local)
}

/// Tells whether a file lies in the workspace.
pub(super) fn is_within(operation: &WriteOperation, root: Option<&Path>) -> bool {
    root.is_some_and(|root| !root.as_os_str().is_empty() && operation.path.starts_with(root))
}
