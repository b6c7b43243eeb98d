//! The policy: from an operation to a verdict. What is found out about an operation once ([`Policy::study`]) is apart from what is
//! decided about it again ([`Policy::judge`]); whoever waits for an answer is not its concern.
//!
//! The order, first match: deny rule; read-only, which no question makes weaker; protected place (asked about whatever else
//! says yes); taint (an agent that holds private data and untrusted content sends nothing unasked, but by a tool of a server
//! that the user has allowed by its name); ask rule; allow rule or grant; mode. Reading needs no leave beyond that of the rules.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::approval::rules::{JudgedOperation, Pattern, is_within};
use crate::approval::shell::runners::{Reach, keeps_files, name_of, only_looks, only_reads_files, reach};
use crate::approval::shell::{Commands, Shape, commands, plain_words};
use crate::approval::{Grant, Mode, Operation, Rules, Sandboxed};
use steersman_base::limits;
use steersman_base::protected::{DirectoryRole, ProtectedPlaces, settings};
use steersman_base::text::visible_line;

/// Ends the sentence of what was refused because nobody was there to ask.
pub const NOBODY: &str = "this needs the user's approval, and nobody is there to give it";

/// Who answers questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Answerer {
    /// The user, each time.
    User,
    /// Nobody is there: what would be asked is refused.
    #[default]
    Nobody,
    /// A standing yes, for all but protected places; nobody is there to be asked about those.
    Yes,
    /// A standing yes with the user behind it, who is asked about what a standing yes does not cover.
    YesOrUser,
}

impl Answerer {
    /// Tells whether somebody is there who can be asked.
    pub fn is_present(self) -> bool {
        match self {
            Self::User | Self::YesOrUser => true,
            Self::Nobody | Self::Yes => false,
        }
    }

    /// Returns who answers once the user has left.
    #[must_use]
    pub fn without_user(self) -> Self {
        match self {
            Self::User | Self::Nobody => Self::Nobody,
            Self::YesOrUser | Self::Yes => Self::Yes,
        }
    }
}

/// Whether commands reach the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Network {
    /// They do, or nobody can tell.
    #[default]
    On,
    /// The sandbox keeps them from it.
    Off,
}

/// How the main agent's own requests to the web are decided about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MainWeb {
    /// As those of any agent.
    #[default]
    AsAny,
    /// Each is asked about.
    Asked,
}

/// What an agent has seen so far: private data, untrusted content, or both. The desk keeps it per agent; tools say
/// what their results bring. An agent that holds both can be made to send the one by the other, so whatever sends is asked about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Taint {
    /// Files of the user, or what commands said about them.
    pub private: bool,
    /// Text that strangers wrote.
    pub untrusted: bool,
}

impl Taint {
    /// Holds nothing.
    pub const NONE: Self = Self { private: false, untrusted: false };

    /// Returns both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { private: self.private || other.private, untrusted: self.untrusted || other.untrusted }
    }

    /// Tells whether private data could be sent on behalf of a stranger.
    pub fn is_both(self) -> bool {
        self.private && self.untrusted
    }
}

/// The files that searches leave out, because a rule denies reading them or wants a question first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HiddenFiles {
    rules: Vec<Pattern>,
    root: Option<PathBuf>,
}

impl HiddenFiles {
    pub(super) fn new(rules: Vec<Pattern>, root: Option<&Path>) -> Self {
        Self { rules, root: root.map(Path::to_path_buf) }
    }

    /// Tells whether nothing is left out.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the places that rules name without wildcards, and whether there are other rules.
    pub fn places(&self) -> (Vec<PathBuf>, bool) {
        let places: Vec<PathBuf> = self.rules.iter().filter_map(|rule| rule.place(self.root.as_deref())).collect();
        let has_more = places.len() < self.rules.len();
        (places, has_more)
    }

    /// Tells whether a real path is left out.
    pub fn hides(&self, path: &Path) -> bool {
        self.rules.iter().any(|rule| rule.hides(path, self.root.as_deref()))
    }
}

/// What decides besides the mode.
///
/// ```
/// use steersman_core::approval::{Answerer, Policy, Rules};
///
/// // What is allowed, what is asked about in every mode, what is denied.
/// let rules = Rules::parse(&["bash:cargo test"], &["bash:git push"], &["read:secrets/**"])?;
/// let policy = Policy { answerer: Answerer::Yes, rules, ..Policy::default() };
/// assert_eq!(policy.root, None, "without a workspace no file is within it");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// Who answers.
    pub answerer: Answerer,
    /// Whether commands are confined.
    pub sandboxed: Option<Sandboxed>,
    /// Whether a sandbox leaves open what git and other programs run later: the system cannot close it by name.
    pub names_are_open: bool,
    /// Whether commands reach the network.
    pub network: Network,
    /// Whether the main agent's own requests to the web are asked about each time.
    pub main_web: MainWeb,
    /// The rules of the configuration.
    pub rules: Rules,
    /// The workspace; real and absolute. Without one no file is within it.
    pub root: Option<PathBuf>,
    /// Further directories in which the modes let files be changed as in the workspace; real and absolute. Rules and what the
    /// user has allowed for a session do not reach there.
    pub added: Vec<PathBuf>,
    /// The user's directories in which a change is always asked about.
    pub protected: ProtectedPlaces,
    /// The user's home directory, which `~` in a command stands for.
    pub home: Option<PathBuf>,
}

/// What there is to know about who acts, and when.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances<'a> {
    /// The mode now.
    pub mode: Mode,
    /// What the user has allowed in this session.
    pub grants: &'a [Grant],
    /// What the agent holds.
    pub taint: Taint,
}

/// What the policy says about an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Allow,
    /// The user is asked.
    Ask {
        /// Why, in a few words for the user; empty when that is plain. Untrusted where it names a path.
        why: String,
        /// What an answer for the session would cover; `None` when it is asked about each time.
        grant: Option<Grant>,
    },
    /// It does not run; the sentence is for the model.
    Deny(String),
}

/// The refusal of what a deny rule may cover, where only a general yes answers.
const UNCLEAR: &str = "the program cannot tell whether the user's deny rules cover this; write it as plain commands";

impl Policy {
    /// Decides about an operation.
    pub fn decide(&self, operation: &Operation, standing: &Circumstances<'_>) -> Verdict {
        self.judge(operation, &self.study(operation), standing)
    }

    /// Finds out about an operation what no mode and no answer changes. Reads the whole act, and looks at files beside those
    /// that it names: not to be called under a lock.
    pub(super) fn study(&self, operation: &Operation) -> Study {
        let mut study = match operation {
            Operation::Command(operation) => {
                let shape = Shape::parse(&operation.command);
                let commands = commands(&operation.command, &shape);
                let named = self.named_by(&commands, &operation.cwd);
                Study { commands: Some(commands), shape: Some(shape), named, protected: None }
            }
            Operation::Input(operation) => {
                let commands = commands(&operation.text, &Shape::parse(&operation.text));
                // Nobody knows what a program makes of its input: no allow rule and no grant covers it.
                let unclear = commands.unclear.or(Some("a program does with its input what it wants"));
                Study { commands: Some(Commands { unclear, ..commands }), ..Study::default() }
            }
            Operation::Write(_)
            | Operation::Fetch(_)
            | Operation::Search(_)
            | Operation::Clone(_)
            | Operation::Use(_)
            | Operation::ServerTool(_)
            | Operation::Custom(_) => Study::default(),
        };
        study.protected = self.protected(operation, &study);
        study
    }

    /// Returns why no answer lets an operation run: a rule, or the mode.
    pub(super) fn forbids(&self, operation: &Operation, study: &Study, mode: Mode) -> Option<String> {
        let seen = JudgedOperation { operation, commands: study.commands.as_ref(), root: self.root.as_deref() };
        if let Some(rule) = self.rules.denies(&seen).or_else(|| self.rules.denies_reading(&study.named, seen.root)) {
            return Some(format!("the user's configuration denies this (rule {:?})", visible_line(rule)));
        }
        let reads = matches!(operation, Operation::Use(_));
        let why = match mode {
            Mode::ReadOnly => "the mode is read-only: files stay as they are, no command runs and nothing is sent",
            Mode::Plan => {
                "the mode is plan: until the user accepts the plan, files stay as they are, no command runs and nothing \
                 is sent"
            }
            Mode::Ask | Mode::AutoEdit | Mode::Auto | Mode::AutoWithoutSandbox => return None,
        };
        (!reads).then(|| why.to_owned())
    }

    /// Tells whether what the user allowed for the session covers an operation that may be covered at all.
    pub(super) fn is_granted(&self, operation: &Operation, study: &Study, standing: &Circumstances<'_>) -> bool {
        let (shape, root) = (study.shape.as_ref(), self.root.as_deref());
        standing.grants.iter().any(|grant| grant.covers(operation, shape, root))
    }

    /// Decides about an operation of which this is known.
    pub(super) fn judge(&self, operation: &Operation, study: &Study, standing: &Circumstances<'_>) -> Verdict {
        if let Some(why) = self.forbids(operation, study, standing.mode) {
            return Verdict::Deny(why);
        }
        let seen = JudgedOperation { operation, commands: study.commands.as_ref(), root: self.root.as_deref() };
        if let Some(why) = study.protected.clone() {
            return match self.answerer {
                Answerer::User | Answerer::YesOrUser => Verdict::Ask { why, grant: None },
                Answerer::Yes => {
                    Verdict::Deny(format!("{why}: that needs the user's own approval, a general yes is not enough"))
                }
                Answerer::Nobody => Verdict::Deny(format!("{why}: {NOBODY}")),
            };
        }
        if standing.taint.is_both() && self.sends(operation) && !self.is_named(operation, standing) {
            let why = "the agent has seen your files or what commands print, and text from outside, of a server or the web; such a \
                 text could make it send your files away";
            let grant = Grant::offered(operation, None, self.root.as_deref())
                .filter(|_| matches!(operation, Operation::ServerTool(_)));
            return self.ask(why, grant);
        }
        if let Some(rule) = self.rules.asks(&seen) {
            return self.ask(&format!("your rule {:?} asks about this", visible_line(rule)), None);
        }
        if let Operation::Use(_) = operation {
            return Verdict::Allow;
        }
        let root = self.root.as_deref();
        let shape = study.shape.as_ref();
        if self.rules.allows(operation, shape, root) || self.is_granted(operation, study, standing) {
            return Verdict::Allow;
        }
        let unclear = study.commands.as_ref().and_then(|commands| commands.unclear);
        // A sandbox keeps what rules deny to read from every command.
        let reads_all = self.sandboxed != Some(Sandboxed::Yes) && !self.rules.unreadable(root).is_empty();
        let unclear = unclear.or_else(|| study.commands.as_ref().filter(|_| reads_all)?.pattern());
        if let Some(unclear) = unclear.filter(|_| self.rules.watching_commands().is_some() || reads_all) {
            let rule = self.rules.watching_commands().map(visible_line);
            let why = match rule {
                Some(rule) => format!("the rule {rule:?} may be about this, and the program cannot tell: {unclear}"),
                None => format!("a rule about reading may be about this, and the program cannot tell: {unclear}"),
            };
            let grant = Grant::offered(operation, shape, root);
            return match self.answerer {
                // A general yes is no answer to what a deny rule may be about.
                Answerer::Yes if self.rules.deny_commands() => Verdict::Deny(UNCLEAR.to_owned()),
                Answerer::YesOrUser if self.rules.deny_commands() => Verdict::Ask { why, grant },
                Answerer::User | Answerer::Yes | Answerer::YesOrUser | Answerer::Nobody => self.ask(&why, grant),
            };
        }
        if self.runs(operation, standing.mode) {
            return Verdict::Allow;
        }
        self.ask(study.why(self), Grant::offered(operation, shape, root))
    }

    /// Decides about an operation of the main agent of which this is known.
    pub(super) fn judge_main(&self, operation: &Operation, study: &Study, standing: &Circumstances<'_>) -> Verdict {
        let is_web = matches!(operation, Operation::Fetch(_) | Operation::Search(_) | Operation::Clone(_));
        match self.judge(operation, study, standing) {
            Verdict::Allow | Verdict::Ask { grant: Some(_), .. } if is_web && self.main_web == MainWeb::Asked => {
                self.ask("the main agent holds your files; this could send one of them", None)
            }
            verdict @ (Verdict::Allow | Verdict::Ask { .. } | Verdict::Deny(_)) => verdict,
        }
    }

    /// Returns what a search leaves out of what it finds below its start.
    pub(super) fn hidden_files(&self, start: &Path) -> HiddenFiles {
        HiddenFiles::new(self.rules.hiding(start, self.root.as_deref()), self.root.as_deref())
    }

    /// Asks whoever answers.
    pub(super) fn ask(&self, why: &str, grant: Option<Grant>) -> Verdict {
        match self.answerer {
            Answerer::User => Verdict::Ask { why: why.to_owned(), grant },
            Answerer::Yes | Answerer::YesOrUser => Verdict::Allow,
            Answerer::Nobody => Verdict::Deny(NOBODY.to_owned()),
        }
    }

    /// Tells whether the mode alone lets an operation run.
    fn runs(&self, operation: &Operation, mode: Mode) -> bool {
        let is_auto = match mode {
            Mode::Auto => self.sandboxed == Some(Sandboxed::Yes),
            Mode::AutoWithoutSandbox => true,
            Mode::Ask | Mode::AutoEdit | Mode::ReadOnly | Mode::Plan => false,
        };
        match operation {
            Operation::Write(write) => {
                let is_free = match mode {
                    Mode::Ask => write.before.is_none(),
                    Mode::AutoEdit | Mode::Auto | Mode::AutoWithoutSandbox => true,
                    Mode::ReadOnly | Mode::Plan => false,
                };
                let mut roots = self.root.iter().chain(&self.added);
                is_free && roots.any(|root| is_within(write, Some(root)))
            }
            Operation::Command(_)
            | Operation::Input(_)
            | Operation::Fetch(_)
            | Operation::Search(_)
            | Operation::Clone(_) => is_auto,
            // No sandbox is around a server or a tool of the host, whatever is around commands.
            Operation::ServerTool(_) | Operation::Custom(_) => mode == Mode::AutoWithoutSandbox,
            Operation::Use(_) => true,
        }
    }

    /// Tells whether the user has allowed this very tool of a server: by a rule for such tools, or by a yes for the session or
    /// for good. That holds for whatever an agent has read.
    fn is_named(&self, operation: &Operation, standing: &Circumstances<'_>) -> bool {
        let Operation::ServerTool(_) = operation else { return false };
        let root = self.root.as_deref();
        let is_yes = |grant: &&Grant| matches!(grant, Grant::ServerTool(_) | Grant::Kept(_));
        self.rules.allows_named(operation, root)
            || standing.grants.iter().filter(is_yes).any(|yes| yes.covers(operation, None, root))
    }

    /// Tells whether an operation can send something out of this machine.
    fn sends(&self, operation: &Operation) -> bool {
        match operation {
            Operation::Fetch(_) | Operation::Search(_) | Operation::Clone(_) => true,
            // What nothing confines has the machine's network, whatever the setting says.
            Operation::Command(_) | Operation::Input(_) => {
                self.network == Network::On || self.sandboxed == Some(Sandboxed::No)
            }
            Operation::ServerTool(operation) => operation.sends,
            Operation::Custom(operation) => operation.sends,
            Operation::Write(_) | Operation::Use(_) => false,
        }
    }

    /// Returns the places that a change is always asked about.
    fn places(&self) -> ProtectedPlaces {
        let roots = self.root.iter().chain(&self.added);
        roots.fold(self.protected.clone(), |places, root| places.with(DirectoryRole::Writable, root))
    }

    /// Returns the files that the words of a command may name, also by links, if a rule denies reading any.
    fn named_by(&self, commands: &Commands, cwd: &Path) -> Vec<PathBuf> {
        if self.rules.unreadable(self.root.as_deref()).is_empty() {
            return Vec::new();
        }
        let mut paths = commands.named_paths(cwd, self.home.as_deref());
        let real: Vec<PathBuf> =
            paths.iter().take(limits::NAMED_PATHS).filter_map(|path| path.canonicalize().ok()).collect();
        paths.extend(real);
        paths
    }

    /// Returns why a command that may write is asked about where the sandbox does not keep protected names closed.
    fn leaves_open(&self, may_write: bool) -> Option<String> {
        let is_open = may_write && self.names_are_open && self.sandboxed == Some(Sandboxed::Yes);
        is_open.then(|| {
            "on this system the sandbox cannot keep a command from writing what git and other programs run later"
                .to_owned()
        })
    }

    /// Returns why an operation concerns a protected place.
    fn protected(&self, operation: &Operation, study: &Study) -> Option<String> {
        let places = self.places();
        match operation {
            Operation::Write(operation) => {
                let planned = std::slice::from_ref(&operation.path);
                let roots: Vec<PathBuf> = self.root.iter().chain(&self.added).cloned().collect();
                settings::named(&roots, self.home.as_deref(), &self.protected)
                    .iter()
                    .fold(places, |places, named| places.with(DirectoryRole::Named, named))
                    .what_with(&operation.path, planned)
                    .map(|what| format!("{} is {what} (protected)", visible_line(&operation.shown)))
            }
            Operation::Command(operation) if operation.outside => Some("it runs outside of the sandbox".to_owned()),
            Operation::Command(operation) => {
                let touched = study.touched(&operation.command, &operation.cwd, &places);
                touched.or_else(|| self.leaves_open(!study.are_all(&operation.command, only_reads_files)))
            }
            Operation::Input(operation) => {
                let touched = study.touched(&operation.text, self.root.as_deref().unwrap_or(Path::new("/")), &places);
                touched.or_else(|| self.leaves_open(true))
            }
            Operation::Clone(operation) => {
                places.what(&operation.into).map(|what| format!("the place for the copy is {what} (protected)"))
            }
            Operation::Fetch(_)
            | Operation::Search(_)
            | Operation::Use(_)
            | Operation::ServerTool(_)
            | Operation::Custom(_) => None,
        }
    }
}

/// Returns whether a command only looks at files, as far as its words say: then nothing that comes later builds on it.
pub fn only_reads(command: &str) -> bool {
    let shape = Shape::parse(command);
    let looks = |words: &[String]| {
        let program = words.first().is_some_and(|program| only_looks(name_of(program)));
        program && matches!(reach(words), Reach::Own(_))
    };
    match &shape {
        Shape::Simple(words) => looks(words),
        Shape::Complex { .. } => {
            let commands = commands(command, &shape);
            commands.unclear.is_none()
                && !command.contains('>')
                && commands.found.iter().all(|found| looks(&found.words))
        }
    }
}

/// What is found out about an operation once.
#[derive(Debug, Default)]
pub(super) struct Study {
    shape: Option<Shape>,
    commands: Option<Commands>,
    /// The files that its words may name, where a rule is about reading.
    named: Vec<PathBuf>,
    /// Why it concerns a protected place.
    protected: Option<String>,
}

impl Study {
    /// Says why no allow rule covers a command; empty where there is none.
    fn why(&self, policy: &Policy) -> &'static str {
        match &self.shape {
            Some(shape) if policy.rules.allow_commands() => match shape {
                Shape::Simple(words) if reach(words) == Reach::Code => {
                    "its arguments can run other code, or write files"
                }
                Shape::Simple(_) => "",
                Shape::Complex { why } => why,
            },
            _ => "",
        }
    }

    /// Tells whether all that may run of a command is so, and it redirects nothing. Without a shape it is an input, of which nothing is known.
    fn are_all(&self, command: &str, is_so: fn(&[String]) -> bool) -> bool {
        let found = || self.commands.iter().flat_map(|commands| &commands.found);
        match &self.shape {
            Some(Shape::Simple(words)) => is_so(words),
            Some(Shape::Complex { .. }) => found().all(|found| is_so(&found.words)) && !command.contains('>'),
            None => false,
        }
    }

    /// Returns why a command may change a protected place: best effort, the sandbox confines what it really does.
    fn touched(&self, command: &str, cwd: &Path, places: &ProtectedPlaces) -> Option<String> {
        if self.are_all(command, keeps_files) {
            return None;
        }
        // Few words can be such a name at all.
        let may_be_one = |word: &String| {
            let is_plain = word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
            !is_plain || word.len() > 6 || ProtectedPlaces::may_be_part(Path::new(word))
        };
        let words: BTreeSet<String> = plain_words(command).filter(may_be_one).collect();
        let place = |word: &String| cwd.join(word);
        let planned: Vec<PathBuf> = words
            .iter()
            .map(place)
            .filter(|path| ProtectedPlaces::may_be_part(path))
            .take(limits::PLANNED_PATHS)
            .collect();
        words.iter().find_map(|word| {
            let path = place(word);
            let what = if planned.contains(&path) { places.what_with(&path, &planned) } else { places.what(&path) }?;
            Some(format!("it may change {}, which is {what} (protected)", visible_line(word)))
        })
    }
}
