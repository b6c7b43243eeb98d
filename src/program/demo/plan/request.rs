//! What a person's words ask for: a small reader of requests, for the first message of a turn and for steering alike.
//!
//! Pure. Any text has a meaning: what no rule knows is an [`Intent::Survey`] with its telling words.

use crate::program::demo::markdown::and_code;
use crate::program::demo::plan::files::{ending_of_language, has_known_ending, is_among};

/// A thing that a text asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Intent {
    /// An answer in words, this one; `{tools}` stands for the tools on offer.
    SmallTalk(&'static str),
    /// The work ends with what is there.
    Stop,
    /// The report is short.
    Brief,
    Use(ToolUse),
    /// The work is narrowed to something.
    Focus(String),
    /// Something is left out.
    Skip(String),
    /// So many sub-agents.
    Agents(usize),
    /// Anything else about the files here, with the words that tell what about; often none.
    Survey(Vec<String>),
}

/// A tool with what it is to work on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolUse {
    pub tool: Tool,
    /// An expression, path, pattern or command; for a search the words, of which a quoted phrase is one; for a file that
    /// is written its path and its text.
    pub words: Vec<String>,
    /// The directory or file that a search stays in.
    pub scope: String,
}

/// The tools that a person can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Calculator,
    Read,
    Grep,
    Glob,
    Bash,
    Write,
}

/// Characters of a text that are understood; what is longer is a paste.
const UNDERSTOOD: usize = 600;
/// Words that are searched for together.
const WORDS: usize = 4;

const HELP: &str = "I am the embedded model: a fixed script inside this program, not a language model. I work with the real \
    tools here: {tools}.\n\n\
    - *look at this project*: I list it, send sub-agents into its parts and write a report\n\
    - *find WORD*, *count WORD*, *count files*, *list \\*.md*, *read FILE*, *write FILE with TEXT*, *2+3\\*4*, *run \
    `COMMAND`*\n\
    - **while I work**, type: *focus on X*, *skip X*, *count Y*, a path, a word, *be brief*, *stop after this*. It reaches me \
    with the next tool results, and I change what I do\n\n\
    For real thinking, connect a model with `--base-url URL --model NAME`.\n";
const HELLO: &str = "Hello! I am the model that is built into this program. Ask me about the files in this directory, or say \
    *what can you do*.\n";
const ONE_STYLE: &str = "I write this one form of English only; a model that you connect can answer in other ways.\n";

/// What small talk begins with, how many words it has at most, and the answer.
const SMALL_TALK: &[(&[&str], usize, &str)] = &[
    (&["hello", "hi", "hey", "hallo", "greetings", "moin", "good morning", "good evening", "good day"], 4, HELLO),
    (&["thanks", "thank", "thx", "great", "perfect", "nice", "cool"], 5, "You are welcome.\n"),
    (&["what can you do", "who are you", "what are you", "how do you work", "help me use"], 12, HELP),
    (&["help"], 2, HELP),
    (&["answer in", "reply in", "speak"], 6, ONE_STYLE),
];

/// Words that say how to go on, when little else is said.
const CONTROLS: &[(&[&str], Intent)] = &[
    (&["stop", "enough", "halt", "finish", "wrap up", "that's enough", "that is enough", "that's all"], Intent::Stop),
    (&["be brief", "be short", "briefly", "keep it brief", "keep it short", "in short"], Intent::Brief),
];
const LITTLE_ELSE: &str =
    "after this that it now here please thanks thank you the work working step one round right there ok up";

/// What is asked for with what stands behind a verb.
type IntentParser = fn(&str) -> Intent;
/// What a text begins with, and what is asked for with what stands behind it.
const VERBS: &[(&[&str], IntentParser)] = &[
    (&["focus only on", "focus on", "concentrate on", "only look at", "look only at", "only"], |rest| {
        Intent::Focus(subject(rest))
    }),
    (&["skip", "ignore", "leave out", "without"], |rest| Intent::Skip(subject(rest))),
    (&["count", "how many", "number of", "how often"], looked_up),
    (&["list", "ls", "show files", "show the files", "show all files", "what files", "which files"], looked_up),
    (&["find", "grep", "search for", "search", "where is", "where are", "look for", "locate"], looked_up),
];
/// Words that only lead to a request.
const LEADS: &[&str] = &["please", "now", "also", "then", "and", "but", "can you", "could you", "just"];

/// Words that tell nothing about a subject.
const FILLERS: &str = "a about again all also an and any are around as at be been but by can check could current describe did \
    directory do does everything explain file files find first folder for from get give go good had has have here \
    how i if in instead into is it its just know let like line lines list look looking make many may me more most much \
    my need new next no not now occurrence occurrences of off often ok okay on one only open or our out over \
    overview part please present project read really repo report repository review run same say see shall should \
    show so some something such summarise summarize summary survey take tell than that the their them then there \
    these they thing things think this those time times to too tour up us use used uses using very wait want was \
    we well were what when where which while who why will with word words work works would write you your";
/// Words that speak of the project as a whole.
const WHOLE: &str = "project repo repository codebase everything overview survey tour report directory workspace again";
/// Words that stand around an expression to compute.
const AROUND: &str = "what is what's calculate compute how much please eval evaluate the result of";
/// Words with a slash that are no paths.
const PAIRS: &str = "and/or client/server either/or i/o input/output n/a tcp/ip w/o yes/no";

/// Files that people name without their endings, as in "also the readme".
const DOCUMENTS: &[&str] = &["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "Dockerfile"];

/// Returns everything that a text asks for, in its order; never empty. Of a long text the beginning counts.
pub(super) fn understand(text: &str) -> Vec<Intent> {
    let head = text.char_indices().nth(UNDERSTOOD).and_then(|(end, _)| text.get(..end)).unwrap_or(text).trim();
    // A command is what stands between the marks, whatever else it looks like.
    let command =
        after(head, &["run", "execute", "please run"]).and_then(|rest| rest.strip_prefix('`')?.split_once('`'));
    let (first, rest) = match (command.filter(|(command, _)| !command.trim().is_empty()), written(head)) {
        (Some((command, rest)), _) => (Some(Intent::Use(ToolUse::new(Tool::Bash, command))), rest),
        (None, Some(file)) => (Some(Intent::Use(file)), ""),
        (None, None) => (None, head),
    };
    let mut intents: Vec<Intent> = first.into_iter().collect();
    for clause in clauses(rest) {
        match (single(&clause), intents.last_mut()) {
            (
                Intent::Survey(words),
                Some(Intent::Use(ToolUse { tool: Tool::Grep, words: before, .. }) | Intent::Survey(before)),
            ) => add(before, words),
            (Intent::Survey(words), Some(_)) if words.is_empty() => {}
            (Intent::SmallTalk(_), Some(_)) => {}
            (intent, Some(Intent::SmallTalk(_))) => intents = vec![intent],
            // The same thing twice, as a path that is named twice, is one.
            (intent, _) => {
                if !intents.contains(&intent) {
                    intents.push(intent);
                }
            }
        }
    }
    if intents.is_empty() { vec![Intent::Survey(Vec::new())] } else { intents }
}

/// Tells whether a text speaks of the project as a whole, not only of a part.
pub(super) fn speaks_of_the_whole(text: &str) -> bool {
    tokens(text).any(|word| is_among(WHOLE, word))
}

impl Intent {
    /// Returns what the intent needs a tool for, when it needs one.
    pub(super) fn tool_use(&self) -> Option<ToolUse> {
        match self {
            Self::Use(tool_use) => Some(tool_use.clone()),
            Self::Focus(path) if has_known_ending(path) => Some(ToolUse::new(Tool::Read, path)),
            Self::Focus(path) if path.contains('/') => {
                Some(ToolUse::new(Tool::Glob, &format!("{}/**/*", path.trim_end_matches('/'))))
            }
            Self::Focus(subject) => Some(ToolUse::new(Tool::Grep, subject)),
            Self::Survey(words) if !words.is_empty() => {
                Some(ToolUse { words: words.clone(), ..ToolUse::new(Tool::Grep, "") })
            }
            Self::Survey(_) | Self::SmallTalk(_) | Self::Stop | Self::Brief | Self::Skip(_) | Self::Agents(_) => None,
        }
    }
}

impl ToolUse {
    fn new(tool: Tool, word: &str) -> Self {
        Self { tool, words: vec![word.to_owned()], scope: String::new() }
    }

    /// Returns what it works on, for people.
    pub(super) fn subject(&self) -> String {
        match self.tool {
            Tool::Write => and_code(self.words.get(..1).unwrap_or_default()),
            Tool::Calculator | Tool::Read | Tool::Grep | Tool::Glob | Tool::Bash => and_code(&self.words),
        }
    }
}

impl Tool {
    /// Returns the tool's name, that of the argument for what it works on, and what it does, as in "I … it now".
    pub(super) fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Calculator => ("calculator", "expression", "compute"),
            Self::Read => ("read", "path", "read"),
            Self::Grep => ("grep", "pattern", "look for"),
            Self::Glob => ("glob", "pattern", "list"),
            Self::Bash => ("bash", "command", "run"),
            Self::Write => ("write", "path", "write"),
        }
    }
}

/// Reads "write FILE with TEXT", in which the text is everything behind the word.
fn written(text: &str) -> Option<ToolUse> {
    let rest = after(text, &["write", "please write", "create", "please create"])?;
    let (file, content) = [" with ", " containing ", ": "].iter().find_map(|link| rest.split_once(link))?;
    let path = path_in(file).filter(|path| has_known_ending(path))?;
    let content = after(content, &["the text", "text", "the content", "content"]).unwrap_or(content).trim();
    let content =
        ['"', '`'].iter().find_map(|mark| content.strip_prefix(*mark)?.strip_suffix(*mark)).unwrap_or(content);
    let words = vec![path.to_owned(), format!("{content}\n")];
    Some(ToolUse { tool: Tool::Write, words, scope: String::new() })
}

fn single(text: &str) -> Intent {
    let mut text = text;
    while let Some(rest) = after(text, LEADS) {
        text = rest;
    }
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|w| !w.is_empty()).collect();
    let said = words.join(" ");
    let alone = |rest: &str| rest.split(' ').all(|word| word.is_empty() || is_among(LITTLE_ELSE, word));
    if let Some((_, control)) = CONTROLS.iter().find(|(phrases, _)| after(&said, phrases).is_some_and(alone)) {
        return control.clone();
    }
    let small_talk =
        SMALL_TALK.iter().find(|(phrases, most, _)| words.len() <= *most && after(&said, phrases).is_some());
    if let Some((_, _, answer)) = small_talk {
        return Intent::SmallTalk(answer);
    }
    if let Some(expression) = expression(text) {
        return Intent::Use(ToolUse::new(Tool::Calculator, &expression));
    }
    if let Some(count) = agents(&words) {
        return Intent::Agents(count);
    }
    if let Some(intent) = VERBS.iter().find_map(|(phrases, intent)| Some(intent(after(text, phrases)?))) {
        return intent;
    }
    let telling = telling(text);
    match (path_in(text), document(&telling)) {
        (Some(path), _) if !has_known_ending(path) => Intent::Focus(path.to_owned()),
        (Some(path), _) if !speaks_of_the_whole(text) => Intent::Use(ToolUse::new(Tool::Read, path)),
        (None, Some(path)) => Intent::Use(ToolUse::new(Tool::Read, path)),
        (Some(_), _) | (None, None) => Intent::Survey(telling),
    }
}

/// Returns the file that people name without its ending, when the only telling word does.
fn document(telling: &[String]) -> Option<&'static str> {
    let [word] = telling else { return None };
    let stem = |path: &&str| path.split('.').next().is_some_and(|stem| stem.eq_ignore_ascii_case(word));
    DOCUMENTS.iter().copied().find(stem)
}

/// Returns what stands behind the first of some phrases at the start of a text, as whole words.
fn after<'a>(text: &'a str, phrases: &[&str]) -> Option<&'a str> {
    phrases.iter().find_map(|phrase| {
        let (start, rest) = text.split_at_checked(phrase.len())?;
        let whole = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '\'' || c == '_');
        (whole && start.eq_ignore_ascii_case(phrase)).then(|| rest.trim_start_matches([' ', ':']))
    })
}

fn agents(words: &[&str]) -> Option<usize> {
    const NUMBERS: [&str; 6] = ["no", "one", "two", "three", "four", "five"];
    let at = words.iter().position(|word| is_among("agent agents sub subagents subagent", word))?;
    let number = words.get(at.checked_sub(1)?)?;
    let count = number.parse().ok().or_else(|| NUMBERS.iter().position(|name| name == number))?;
    Some(count.min(5))
}

/// Reads what is to be listed, counted or found: the lines of a file, files by a pattern, or where words stand.
fn looked_up(rest: &str) -> Intent {
    let (what, scope) = scoped(rest);
    let words = telling(what);
    let names_files = rest.contains('*') || tokens(rest).any(|word| is_among("file files", word));
    Intent::Use(match path_in(rest) {
        Some(path) if has_known_ending(path) && tokens(rest).any(|word| is_among("line lines", word)) => {
            ToolUse::new(Tool::Read, path)
        }
        _ if names_files || words.is_empty() => ToolUse::new(Tool::Glob, &pattern(rest)),
        _ => ToolUse { tool: Tool::Grep, words, scope: scope.to_owned() },
    })
}

/// Splits "X in PATH" into X and the path.
fn scoped(text: &str) -> (&str, &str) {
    let split = [" in ", " under ", " within "].iter().find_map(|link| text.rsplit_once(link));
    match split.map(|(what, place)| (what, bare(place.split_whitespace().last().unwrap_or_default()))) {
        Some((what, place)) if is_path(place) => (what, place.trim_end_matches('/')),
        _ => (text, ""),
    }
}

/// Makes a glob pattern out of words: a pattern or path in them, a language, or everything.
fn pattern(text: &str) -> String {
    let mut words = text.split_whitespace().map(bare);
    let ending = words.clone().find_map(ending_of_language);
    match (words.find(|word| word.contains('*')), ending, path_in(text)) {
        (Some(pattern), ..) if pattern.contains('/') => pattern.to_owned(),
        (Some(pattern), ..) => format!("**/{pattern}"),
        (_, Some(ending), _) => format!("**/*.{ending}"),
        (_, _, Some(path)) if has_known_ending(path) => format!("**/{path}"),
        (_, _, Some(path)) => format!("{}/**/*", path.trim_end_matches('/')),
        (None, None, None) => "**/*".to_owned(),
    }
}

/// Returns the arithmetic in a text when there is little else.
fn expression(text: &str) -> Option<String> {
    let words = text.trim_end_matches(['=', ' ', '.']).split_whitespace();
    let kept: Vec<&str> = words.filter(|word| !is_among(AROUND, word.trim_end_matches(':'))).collect();
    let expression = kept.join(" ");
    let digits = expression.chars().filter(char::is_ascii_digit).count();
    let operators = expression.trim_start_matches('-').chars().filter(|c| "+-*/^%".contains(*c)).count();
    let plain = expression.chars().all(|c| c.is_ascii_digit() || "+-*/^%()., ".contains(c));
    (plain && digits > 1 && operators > 0).then_some(expression)
}

/// Returns what a "focus on …" names: a quoted phrase, a path, or its telling words.
fn subject(rest: &str) -> String {
    let named = quoted(rest).into_iter().next().or_else(|| path_in(rest).map(str::to_owned));
    let words = || Some(telling(rest).join(" ")).filter(|words| !words.is_empty());
    named.or_else(words).unwrap_or_else(|| bare(rest.trim()).to_owned())
}

/// Returns the telling words of a text: at most [`WORDS`], quoted phrases whole, each once.
fn telling(text: &str) -> Vec<String> {
    let telling = |word: &&str| word.chars().count() > 2 && !is_among(FILLERS, word);
    let (mut words, quoted) = (Vec::new(), quoted(text));
    let all = if quoted.is_empty() { tokens(text).filter(telling).map(str::to_owned).collect() } else { quoted };
    add(&mut words, all);
    words
}

fn path_in(text: &str) -> Option<&str> {
    text.split_whitespace().map(bare).find(|word| is_path(word))
}

fn clauses(text: &str) -> Vec<String> {
    let ends = [" and then ", " and ", " then ", ". ", ", ", "!", "?", ";"];
    let lines = ends.iter().fold(text.to_owned(), |text, end| text.replace(end, "\n"));
    let clauses = lines.lines().map(str::trim).filter(|clause| clause.contains(|c: char| c.is_alphanumeric()));
    clauses.map(str::to_owned).collect()
}

fn add(words: &mut Vec<String>, more: Vec<String>) {
    for word in more {
        if words.len() < WORDS && !words.iter().any(|other| other.eq_ignore_ascii_case(&word)) {
            words.push(word);
        }
    }
}

fn quoted(text: &str) -> Vec<String> {
    let phrases = ['`', '"'].into_iter().flat_map(|mark| text.split(mark).skip(1).step_by(2));
    phrases.filter(|phrase| !phrase.trim().is_empty()).map(str::to_owned).collect()
}

fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

fn bare(word: &str) -> &str {
    let marks = ['`', '"', '\'', '(', '[', '<', '“', ')', ']', '>', '”', ',', ';', ':', '!', '?'];
    word.trim_matches(marks).trim_end_matches('.')
}

fn is_path(word: &str) -> bool {
    let address = word.contains("://") || word.starts_with("//");
    let path = word.contains('/') || has_known_ending(word);
    path && word.chars().any(char::is_alphanumeric) && !address && !is_among(PAIRS, word) && !word.contains('*')
}
