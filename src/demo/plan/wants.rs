//! Single wants: which calls one intent needs, and what came of it. For requests and for steering alike.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::demo::facts::{self, Hit};
use crate::demo::plan::markdown::{and, code, fenced, finding, number, table};
use crate::demo::plan::offer::Offer;
use crate::demo::plan::talk::{Call, Turn};
use crate::demo::words::{Intent, Search};

/// Hits shown in an answer.
const SHOWN: usize = 12;
/// Lines of a file shown in an answer.
const LINES: usize = 12;

/// Returns the calls that an intent needs; none when it needs no tool or the tool is not on offer.
pub fn calls(intent: &Intent, offer: &Offer) -> Vec<Call> {
    let call = match intent {
        Intent::Calculate(expression) => offer.calculator(expression),
        Intent::Read(path) => offer.read(path),
        Intent::Find(search) | Intent::Count(search) => offer.grep(&expression(&search.words), search.scope.as_deref()),
        Intent::List(pattern) | Intent::CountFiles(pattern) => offer.glob(pattern),
        Intent::Focus(subject) if subject.contains('/') && !facts::has_known_ending(subject) => {
            offer.glob(&format!("{}/**/*", subject.trim_end_matches('/')))
        }
        Intent::Focus(subject) if facts::has_known_ending(subject) => offer.read(subject),
        Intent::Focus(subject) => offer.grep(&expression(std::slice::from_ref(subject)), None),
        Intent::Survey(words) if !words.is_empty() => offer.grep(&expression(words), None),
        Intent::Survey(_)
        | Intent::Greeting
        | Intent::Thanks
        | Intent::Help
        | Intent::Stop
        | Intent::Skip(_)
        | Intent::Agents(_) => None,
    };
    call.into_iter().collect()
}

/// Says in one sentence what an intent makes the model do, in reply to it.
pub fn promise(intent: &Intent, offer: &Offer) -> String {
    let missing =
        |tool: &str| format!("For that I need the tool `{tool}`, and it is not on offer here; I take note of it.");
    let words = |search: &Search| and(&search.words.iter().map(|word| code(word)).collect::<Vec<_>>());
    match intent {
        Intent::Calculate(_) if !offer.has("calculator") => missing("calculator"),
        Intent::Calculate(expression) => format!("I compute {} now.", code(expression)),
        Intent::Read(_) if !offer.has("read") => missing("read"),
        Intent::Read(path) => format!("I read {} now.", code(path)),
        Intent::Find(_) | Intent::Count(_) if !offer.has("grep") => missing("grep"),
        Intent::Find(search) => format!("I look for {} now.", words(search)),
        Intent::Count(search) => format!("I count {} now.", words(search)),
        Intent::List(_) | Intent::CountFiles(_) if !offer.has("glob") => missing("glob"),
        Intent::List(pattern) => format!("I list {} now.", code(pattern)),
        Intent::CountFiles(pattern) => format!("I count the files of {} now.", code(pattern)),
        Intent::Focus(subject) => format!("From here on I focus on {}.", code(subject)),
        Intent::Skip(subject) => format!("I leave out {}.", code(subject)),
        Intent::Agents(count) => format!("I plan with {}.", number(*count, "sub-agent")),
        Intent::Stop => "I stop here and answer from what I have.".to_owned(),
        Intent::Survey(words) if words.is_empty() => "I take it into account.".to_owned(),
        Intent::Survey(_) if !offer.has("grep") => missing("grep"),
        Intent::Survey(words) => {
            format!("I look for {} now.", and(&words.iter().map(|word| code(word)).collect::<Vec<_>>()))
        }
        Intent::Greeting => "Hello! I go on with the work.".to_owned(),
        Intent::Thanks => "Thank you. I go on with the work.".to_owned(),
        Intent::Help => "I work on your request; tell me a word, a path, “focus on …”, “count …” or “stop”.".to_owned(),
    }
}

/// Says in one sentence what came of an intent in a turn.
pub fn outcome(intent: &Intent, turn: &Turn, offer: &Offer) -> String {
    let call = calls(intent, offer).into_iter().next();
    let result = call.as_ref().and_then(|call| turn.result_of(call));
    match (intent, result) {
        (_, Some(failure)) if facts::failed(failure) => format!("it failed: {}", code(first_line(failure))),
        (Intent::Calculate(expression), Some(value)) => format!("{} is {}.", code(expression), code(value)),
        (Intent::Read(path), Some(text)) => {
            let lines = facts::lines(path, text);
            let first = lines.iter().find(|hit| !hit.text.trim().is_empty());
            let opening = first.map_or(String::new(), |hit| format!("; it opens with {}", code(&hit.text)));
            format!("{} has {}{opening}.", code(path), extent(lines.len(), text, "line"))
        }
        (
            Intent::Find(Search { words, .. }) | Intent::Count(Search { words, .. }) | Intent::Survey(words),
            Some(text),
        ) => tally(words, text),
        (Intent::Focus(subject), Some(text)) if subject.contains('/') || facts::has_known_ending(subject) => {
            let lines = facts::lines(subject, text).len();
            let (count, noun) = if lines > 0 { (lines, "line") } else { (facts::paths(text).len(), "file") };
            format!("{} has {}; the work after it went there.", code(subject), extent(count, text, noun))
        }
        (Intent::Focus(subject), Some(text)) => tally(std::slice::from_ref(subject), text),
        (Intent::List(pattern) | Intent::CountFiles(pattern), Some(text)) => {
            format!("{} matches {}.", code(pattern), extent(facts::paths(text).len(), text, "file"))
        }
        (Intent::Stop, _) => "I stopped and answered from what I had.".to_owned(),
        (Intent::Skip(subject), _) => format!("{} was left out.", code(subject)),
        (Intent::Agents(count), _) => {
            let made = turn.done().filter(|done| done.call.name == "agent").count();
            format!("{count} wanted, {made} used.")
        }
        (Intent::Greeting | Intent::Thanks | Intent::Help, _) => "answered in passing.".to_owned(),
        (Intent::Survey(words), None) if words.is_empty() => "read, and nothing in it asked for a search.".to_owned(),
        (_, None) => "not done: the tool for it was not on offer, or there was no round left.".to_owned(),
    }
}

/// Answers an intent at length, as its own section.
pub fn section(intent: &Intent, turn: &Turn, offer: &Offer) -> String {
    let sentence = capital(&outcome(intent, turn, offer));
    let call = calls(intent, offer).into_iter().next();
    let Some(result) = call.as_ref().and_then(|call| turn.result_of(call)).filter(|text| !facts::failed(text)) else {
        return format!("{sentence}\n");
    };
    let detail = match intent {
        Intent::Read(path) => {
            let lines = facts::lines(path, result);
            let shown: Vec<&str> = lines.iter().take(LINES).map(|hit| hit.text.as_str()).collect();
            if shown.is_empty() { String::new() } else { fenced(&fence_language(path), &shown) }
        }
        Intent::Find(_) | Intent::Count(_) | Intent::Survey(_) | Intent::Focus(_) => hit_list(&facts::hits(result)),
        Intent::List(_) | Intent::CountFiles(_) => listing(&facts::paths(result)),
        Intent::Greeting
        | Intent::Thanks
        | Intent::Help
        | Intent::Stop
        | Intent::Calculate(_)
        | Intent::Skip(_)
        | Intent::Agents(_) => String::new(),
    };
    format!("{sentence}\n\n{detail}").trim_end().to_owned() + "\n"
}

/// Shows hits as a list, the first ones, and says how many more there are.
pub fn hit_list(hits: &[Hit]) -> String {
    let mut list: String = hits.iter().take(SHOWN).map(finding).collect();
    if hits.len() > SHOWN {
        let _ = writeln!(list, "- … and {} more", hits.len() - SHOWN);
    }
    list
}

/// Writes a regular expression that finds any of some words; lower-case words are found in any case.
pub fn expression(words: &[String]) -> String {
    let escaped: Vec<String> = words.iter().map(|word| escape(word)).collect();
    let any_case = words.iter().all(|word| !word.chars().any(char::is_uppercase));
    format!("{}{}", if any_case { "(?i)" } else { "" }, escaped.join("|"))
}

/// Names what a fence holds, by the ending of a path.
pub fn fence_language(path: &str) -> String {
    let ending = facts::name_of(path).rsplit_once('.').map_or("text", |(_, ending)| ending);
    if facts::has_known_ending(path) && ending.chars().all(char::is_alphanumeric) {
        ending.to_owned()
    } else {
        "text".to_owned()
    }
}

/// Writes a number of things found; a result that is not the whole says "at least", unless it knows the whole number.
fn extent(count: usize, result: &str, noun: &str) -> String {
    if let Some(total) = facts::total_paths(result) {
        return number(total, noun);
    }
    let least = if facts::is_cut(result) { "at least " } else { "" };
    format!("{least}{}", number(count, noun))
}

fn tally(words: &[String], result: &str) -> String {
    let hits = facts::hits(result);
    let names = and(&words.iter().map(|word| code(word)).collect::<Vec<_>>());
    let stands = if words.len() == 1 { "stands" } else { "stand" };
    let mut files: BTreeMap<&str, usize> = BTreeMap::new();
    for hit in &hits {
        *files.entry(hit.path.as_str()).or_default() += 1;
    }
    let most = files.iter().max_by_key(|(path, count)| (**count, std::cmp::Reverse(**path)));
    match most {
        None => format!("{names} {stands} nowhere."),
        Some((path, count)) => format!(
            "{names} {stands} in {} of {}; most often in {} ({count}).",
            extent(hits.len(), result, "line"),
            number(files.len(), "file"),
            code(path),
        ),
    }
}

fn listing(paths: &[String]) -> String {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for path in paths {
        *kinds.entry(facts::language_of(path)).or_default() += 1;
    }
    let rows: Vec<Vec<String>> = kinds.into_iter().map(|(kind, count)| vec![kind, count.to_string()]).collect();
    let mut text = if paths.is_empty() { String::new() } else { format!("{}\n", table(&["Kind", "Files"], &rows)) };
    for path in paths.iter().take(SHOWN * 2) {
        let _ = writeln!(text, "- {}", code(path));
    }
    if paths.len() > SHOWN * 2 {
        let _ = writeln!(text, "- … and {} more", paths.len() - SHOWN * 2);
    }
    text
}

fn escape(word: &str) -> String {
    let mut escaped = String::new();
    for c in word.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn capital(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
