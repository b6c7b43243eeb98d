//! What a person's words ask for: a small reader of requests, for the first message of a turn and for steering alike.
//!
//! Pure. Any text has a meaning: what no rule knows is a [`Intent::Survey`] with its telling words.

use crate::demo::facts::has_known_ending;

/// Is one thing that a text asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intent {
    /// Says hello.
    Greeting,
    /// Says thanks, or that all is well.
    Thanks,
    /// Asks what can be done here.
    Help,
    /// Wants the work to end with what is there.
    Stop,
    /// Wants an expression computed.
    Calculate(String),
    /// Wants a file read.
    Read(String),
    /// Wants places where any of the words stands, perhaps only under a path.
    Find(Search),
    /// Wants to know how often words stand, perhaps only under a path.
    Count(Search),
    /// Wants the paths that match a pattern.
    List(String),
    /// Wants to know how many paths match a pattern.
    CountFiles(String),
    /// Wants the work narrowed to something.
    Focus(String),
    /// Wants something left out.
    Skip(String),
    /// Wants so many sub-agents.
    Agents(usize),
    /// Anything else about the files here, with the words that tell what about; often none.
    Survey(Vec<String>),
}

/// Says what to search for and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// The words; a quoted phrase is one.
    pub words: Vec<String>,
    /// The directory or file to stay in.
    pub scope: Option<String>,
}

/// Characters of a text that are understood; what is longer is a paste.
const UNDERSTOOD: usize = 600;
/// Things that one text can ask for.
const INTENTS: usize = 6;
/// Words that are searched for together.
const WORDS: usize = 4;

/// Words that tell nothing about a subject.
const FILLERS: &str = "a about again all also an and any are around as at be been but by can check could current describe did \
    directory do does everything explain file files find first folder for from get give go good had has have here \
    how i if in instead into is it its just know let like line list look looking make many may me more most much \
    my need new next no not now occurrence occurrences of off often ok okay on one only open or our out over \
    overview part please present project read really repo report repository review run same say see shall should \
    show so some something such summarise summarize summary survey take tell than that the their them then there \
    these they thing things think this those time times to too tour up us use used uses using very wait want was \
    we well were what when where which while who why will with word words work works would write you your";

/// Words with a slash that are no paths.
const PAIRS: &[&str] =
    &["and/or", "client/server", "either/or", "i/o", "input/output", "n/a", "tcp/ip", "w/o", "yes/no"];

/// Returns everything that a text asks for, in its order; never empty. Of a long text the beginning counts.
pub fn understand(text: &str) -> Vec<Intent> {
    let head = text.char_indices().nth(UNDERSTOOD).and_then(|(end, _)| text.get(..end)).unwrap_or(text);
    let clauses = clauses(head);
    if clauses.len() == 1 {
        return vec![single(head)];
    }
    let mut intents: Vec<Intent> = Vec::new();
    for clause in clauses {
        match (single(&clause), intents.last_mut()) {
            (Intent::Survey(words), Some(Intent::Find(search) | Intent::Count(search))) => {
                add(&mut search.words, words);
            }
            (Intent::Survey(words), Some(Intent::Survey(before))) => add(before, words),
            (Intent::Survey(words), Some(_)) if words.is_empty() => {}
            (Intent::Greeting | Intent::Thanks, Some(_)) => {}
            (intent, _) => {
                if matches!(intents.as_slice(), [Intent::Greeting | Intent::Thanks]) {
                    intents.clear();
                }
                intents.push(intent);
            }
        }
    }
    intents.truncate(INTENTS);
    if intents.is_empty() { vec![single(head)] } else { intents }
}

fn add(words: &mut Vec<String>, more: Vec<String>) {
    for word in more {
        if words.len() < WORDS && !words.iter().any(|other| other.eq_ignore_ascii_case(&word)) {
            words.push(word);
        }
    }
}

/// Tells whether a text speaks of the project as a whole, not only of a part.
pub fn speaks_of_the_whole(text: &str) -> bool {
    const WHOLE: &[&str] = &[
        "project",
        "repo",
        "repository",
        "codebase",
        "everything",
        "overview",
        "survey",
        "tour",
        "report",
        "directory",
        "workspace",
        "again",
    ];
    tokens(text).iter().any(|word| WHOLE.contains(&word.to_lowercase().as_str()))
}

/// Returns the telling words of a text: at most [`WORDS`], quoted phrases whole, each once.
pub fn telling(text: &str) -> Vec<String> {
    let mut words = quoted(text);
    if words.is_empty() {
        words = tokens(text)
            .into_iter()
            .filter(|word| word.chars().count() > 2 && !is_filler(word))
            .map(str::to_owned)
            .collect();
    }
    let mut seen = Vec::new();
    add(&mut seen, words);
    seen
}

/// Returns the path that a text names, if it names one.
pub fn path_in(text: &str) -> Option<String> {
    text.split_whitespace().map(bare).find(|word| is_path(word)).map(str::to_owned)
}

fn single(text: &str) -> Intent {
    let text = without_lead(text);
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|w| !w.is_empty()).collect();
    if let Some(intent) = courtesy(&lower, &words) {
        return intent;
    }
    if let Some(expression) = expression(text) {
        return Intent::Calculate(expression);
    }
    if let Some(count) = agents(&words) {
        return Intent::Agents(count);
    }
    if let Some(rest) = behind(text, &["focus only on ", "focus on ", "concentrate on ", "only look at ", "only "]) {
        return Intent::Focus(subject(rest));
    }
    if let Some(rest) = behind(text, &["skip ", "ignore ", "leave out ", "without "]) {
        return Intent::Skip(subject(rest));
    }
    if let Some(rest) = behind(text, &["count ", "how many ", "number of ", "how often "]) {
        return counted(rest);
    }
    let listing =
        behind(text, &["list ", "ls", "show files", "show the files", "show all files", "what files", "which files"]);
    if let Some(rest) =
        listing.filter(|rest| rest.is_empty() || rest.starts_with([' ', '?', '.']) || lower.starts_with("list "))
    {
        return listed(rest);
    }
    let finding = ["find ", "grep ", "search for ", "search ", "where is ", "where are ", "look for ", "locate "];
    if let Some(rest) = behind(text, &finding) {
        return found(rest);
    }
    match path_in(text) {
        Some(path) if has_known_ending(&path) && !speaks_of_the_whole(text) => Intent::Read(path),
        Some(path) if !has_known_ending(&path) => Intent::Focus(path),
        _ => Intent::Survey(telling(text)),
    }
}

fn courtesy(lower: &str, words: &[&str]) -> Option<Intent> {
    let first = words.first().copied().unwrap_or_default();
    if words.len() <= 4 && ["hello", "hi", "hey", "hallo", "greetings", "moin"].contains(&first) {
        return Some(Intent::Greeting);
    }
    if words.len() <= 3
        && lower.starts_with("good ")
        && ["morning", "evening", "day", "afternoon"].iter().any(|w| lower.contains(w))
    {
        return Some(Intent::Greeting);
    }
    if words.len() <= 5 && ["thanks", "thank", "thx", "great", "perfect", "nice", "cool"].contains(&first) {
        return Some(Intent::Thanks);
    }
    let help = ["what can you do", "who are you", "what are you", "how do you work", "help me use"];
    if help.iter().any(|phrase| lower.contains(phrase)) || (words.len() <= 2 && first == "help") {
        return Some(Intent::Help);
    }
    stops(words).then_some(Intent::Stop)
}

/// Tells whether words say no more than "stop".
fn stops(words: &[&str]) -> bool {
    const STOP: &[&str] = &[
        "stop",
        "enough",
        "halt",
        "finish",
        "wrap up",
        "that's enough",
        "that is enough",
        "that's all",
        "that is all",
    ];
    const REST: &str =
        "after this that it now here please thanks thank you the work working step one round right there ok up";
    let said = words.join(" ");
    STOP.iter().filter_map(|phrase| said.strip_prefix(phrase)).any(|rest| {
        (rest.is_empty() || rest.starts_with(' '))
            && rest.split_whitespace().all(|word| REST.split(' ').any(|known| known == word))
    })
}

fn agents(words: &[&str]) -> Option<usize> {
    const NUMBERS: [&str; 6] = ["no", "one", "two", "three", "four", "five"];
    let at = words
        .iter()
        .position(|word| ["agent", "agents", "sub", "subagents", "subagent", "miners", "miner"].contains(word))?;
    let number = words.get(at.checked_sub(1)?)?;
    let count = number.parse().ok().or_else(|| NUMBERS.iter().position(|name| name == number))?;
    Some(count.min(5))
}

/// Lists files, or what else is to be listed: the places where it stands.
fn listed(rest: &str) -> Intent {
    let pattern = pattern(rest);
    if pattern == "**/*" && !telling(rest).is_empty() { found(rest) } else { Intent::List(pattern) }
}

fn counted(rest: &str) -> Intent {
    let lower = rest.to_lowercase();
    let (what, scope) = scoped(rest);
    if lower.contains("line")
        && let Some(path) = path_in(rest).filter(|path| has_known_ending(path))
    {
        return Intent::Read(path);
    }
    if lower.contains("file") || lower.contains("line") || what.contains('*') {
        return Intent::CountFiles(pattern(rest));
    }
    Intent::Count(Search { words: wanted(what), scope })
}

fn found(rest: &str) -> Intent {
    let (what, scope) = scoped(rest);
    if what.contains('*') || (what.to_lowercase().contains("file") && path_in(what).is_some()) {
        return Intent::List(pattern(what));
    }
    Intent::Find(Search { words: wanted(what), scope })
}

/// Returns the words to search for; when all of them are fillers, the longest of them all the same.
fn wanted(text: &str) -> Vec<String> {
    let words = telling(text);
    if !words.is_empty() {
        return words;
    }
    let fallback = tokens(text).into_iter().max_by_key(|word| word.len()).unwrap_or("TODO");
    vec![fallback.to_owned()]
}

/// Splits "X in PATH" into X and the path.
fn scoped(text: &str) -> (&str, Option<String>) {
    for link in [" in ", " under ", " within "] {
        if let Some((what, place)) = text.rsplit_once(link) {
            let place = bare(place.split_whitespace().last().unwrap_or_default());
            if is_path(place) {
                return (what, Some(place.trim_end_matches('/').to_owned()));
            }
        }
    }
    (text, None)
}

/// Makes a glob pattern out of words: a pattern or path in them, a language, or everything.
fn pattern(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().map(bare).collect();
    if let Some(word) = words.iter().find(|word| word.contains('*')) {
        return if word.contains('/') { (*word).to_owned() } else { format!("**/{word}") };
    }
    if let Some(ending) = words.iter().find_map(|word| crate::demo::facts::ending_of_language(word)) {
        return format!("**/*.{ending}");
    }
    match words.iter().find(|word| is_path(word)) {
        Some(path) if has_known_ending(path) => format!("**/{path}"),
        Some(path) => format!("{}/**/*", path.trim_end_matches('/')),
        None => "**/*".to_owned(),
    }
}

/// Returns the arithmetic in a text when there is little else.
fn expression(text: &str) -> Option<String> {
    const AROUND: &[&str] = &[
        "what",
        "is",
        "what's",
        "calculate",
        "compute",
        "how",
        "much",
        "please",
        "eval",
        "evaluate",
        "the",
        "result",
        "of",
    ];
    let mut kept: Vec<&str> = Vec::new();
    for word in text.trim_end_matches(['?', '=', ' ', '.']).split_whitespace() {
        if !word.chars().any(char::is_alphabetic) {
            kept.push(word);
        } else if !AROUND.contains(&word.to_lowercase().trim_end_matches(':')) {
            return None;
        }
    }
    let expression = kept.join(" ");
    let digits = expression.chars().filter(char::is_ascii_digit).count();
    let operators = expression.trim_start_matches('-').chars().filter(|c| "+-*/^%".contains(*c)).count();
    let plain = expression.chars().all(|c| c.is_ascii_digit() || "+-*/^%()., ".contains(c));
    (plain && digits > 1 && operators > 0 && expression.len() <= crate::limits::EXPRESSION_CHARS).then_some(expression)
}

/// Returns what stands behind the first of some phrases at the start of a text.
fn behind<'a>(text: &'a str, phrases: &[&str]) -> Option<&'a str> {
    let behind = |phrase: &&str| {
        let (start, rest) = text.split_at_checked(phrase.len())?;
        start.eq_ignore_ascii_case(phrase).then_some(rest)
    };
    phrases.iter().find_map(behind)
}

/// Drops the words that only lead to a request.
fn without_lead(text: &str) -> &str {
    const LEADS: &[&str] = &["please ", "now ", "also ", "then ", "and ", "but ", "can you ", "could you ", "just "];
    let mut rest = text.trim();
    while let Some(next) = behind(rest, LEADS) {
        rest = next.trim_start();
    }
    rest
}

/// Returns what a "focus on …" names: a quoted phrase, a path, or its telling words.
fn subject(rest: &str) -> String {
    let words = telling(rest);
    quoted(rest)
        .into_iter()
        .next()
        .or_else(|| path_in(rest))
        .or_else(|| (!words.is_empty()).then(|| words.join(" ")))
        .unwrap_or_else(|| bare(rest.trim()).to_owned())
}

fn clauses(text: &str) -> Vec<String> {
    let text =
        text.replace(" and then ", "\n").replace(" and ", "\n").replace(" then ", "\n").replace(['!', '?', ';'], "\n");
    text.replace(". ", "\n")
        .replace(", ", "\n")
        .lines()
        .map(str::trim)
        .filter(|c| !c.is_empty())
        .map(str::to_owned)
        .collect()
}

fn quoted(text: &str) -> Vec<String> {
    ['`', '"']
        .iter()
        .flat_map(|mark| text.split(*mark).skip(1).step_by(2))
        .filter(|s| !s.trim().is_empty())
        .map(str::to_owned)
        .collect()
}

fn is_filler(word: &str) -> bool {
    FILLERS.split(' ').any(|filler| filler.eq_ignore_ascii_case(word))
}

fn tokens(text: &str) -> Vec<&str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty()).collect()
}

fn bare(word: &str) -> &str {
    word.trim_start_matches(['`', '"', '\'', '(', '[', '<', '“'])
        .trim_end_matches(['`', '"', '\'', ')', ']', '>', '”', ',', ';', ':', '!', '?', '.'])
}

fn is_path(word: &str) -> bool {
    let lower = word.to_lowercase();
    let address = word.contains("://") || word.starts_with("//");
    let named = word.chars().any(char::is_alphanumeric);
    named
        && !address
        && !PAIRS.contains(&lower.as_str())
        && !word.contains('*')
        && (word.contains('/') || has_known_ending(word))
}
