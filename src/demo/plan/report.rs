//! The sections of reports on files: Markdown out of real results, nothing else.
//! The scripts list them; each is empty when it has nothing to say.

use std::fmt::Write as _;

use crate::demo::markdown::{
    all_joined, and, and_code, code, fenced, inline_quote, joined, list, number, section, table,
};
use crate::demo::plan::files::{self, FileKind, is_among};
use crate::demo::plan::requests::Intent;
use crate::demo::plan::results::{self, Hit};
use crate::demo::plan::task::{MARKS, Task};
use crate::demo::plan::view::{ReadFile, View};
use crate::demo::plan::{intents, steps};

/// Hits shown in a list.
pub const HITS: usize = 12;
/// Findings shown of one agent, and of the own work.
const FINDINGS: (usize, usize) = (5, 10);
/// Lines shown of a file.
const LINES: usize = 10;
/// Rows of the table of kinds.
const ROWS: usize = 8;

/// Says what was found before in this conversation, and how that compares.
pub fn memory(view: &View) -> String {
    let before = view.talk.earlier_listing().filter(|_| !view.talk.turn.rounds.is_empty());
    let (Some((_, before)), Some(memory)) = (before, view.memory()) else { return String::new() };
    match results::paths(view.listing()).len() {
        _ if view.listing().is_empty() => memory,
        same if same == before.len() => format!("{memory} That is as many as now."),
        files => format!("{memory} Now there are {files}."),
    }
}

/// Opens the report of a tour.
pub fn tour(view: &View) -> String {
    let name = files::name_of(view.talk.directory());
    let title = if name.is_empty() { "this directory".to_owned() } else { code(name) };
    let listing = view.listing();
    if view.listed.is_empty() {
        let why = match listing {
            failure if results::failed(failure) => {
                let first = failure.lines().next().unwrap_or_default();
                format!("The listing failed: {}. So I can say nothing about the files.", code(first))
            }
            "" if view.talk.offers("glob") => "You stopped me before I had listed anything.".to_owned(),
            "" => "The tool `glob` is not on offer here, so I have no listing.".to_owned(),
            _ => {
                "The directory holds no files that I can see: it is empty, or everything in it is ignored. Start me in \
                  another directory with `--cwd DIR`, or put a file here and ask again."
                    .to_owned()
            }
        };
        return format!("# Report on {title}\n\n{why}");
    }
    let by = match view.talk.turn.succeeded("agent").count() {
        0 => "with my own tools".to_owned(),
        agents => format!("by {}", number(agents, "agent")),
    };
    let total = results::extent(view.listed.len(), listing, "file");
    let directories = files::tally(view.listed.iter().map(|path| path.rsplit_once('/').map_or(".", |(name, _)| name)));
    let (request, directories) = (inline_quote(&view.request.text), directories.len());
    let mut text = format!(
        "# Report on {title}\n\nFor {request}: **{total}** in {}, looked at {by}.",
        number(directories, "directory")
    );
    if results::is_cut(listing) {
        let _ = write!(text, " The listing shows {} of them; what follows rests on these.", view.listed.len());
    }
    if let Some(subject) = view.focus() {
        let _ = write!(text, " In focus: {} ({}).", code(subject), number(view.files.len(), "file"));
    }
    if view.stop {
        text.push_str(" You stopped the work, so this is what was known by then.");
    }
    text
}

/// Opens the report of a sub-agent on its files.
pub fn survey(view: &View) -> String {
    let count = results::extent(view.files.len(), view.listing(), "file");
    let mut text = view.fill(&format!("**{{label}}**: {count} under {{pattern}}."));
    let read: Vec<String> =
        view.files_read().iter().map(|file| format!("{} ({})", code(file.path), file.length)).collect();
    if !read.is_empty() {
        let _ = write!(text, " Read: {}.", and(&read));
    }
    if view.files.is_empty() {
        text.push_str(" I found no file for this task.");
    }
    text
}

/// Answers what the request is about, by its words.
pub fn on_words(view: &View) -> String {
    let words = Intent::Survey(view.task.words.clone());
    let searched = steps::words(view).is_some_and(|call| view.talk.turn.result_of(&call).is_some());
    let answer = if searched { intents::answer(view, &words) } else { String::new() };
    section(&format!("On {}", and_code(&view.task.words)), &answer)
}

/// Answers what else the request plainly asks for.
pub fn also_asked(view: &View) -> String {
    let plain = view.request.intents.iter().filter(|intent| matches!(intent, Intent::Use(_)));
    section("Also asked", &all_joined(plain.map(|intent| intents::answer(view, intent))))
}

/// Shows what the sub-agents found, or else what the own work did.
pub fn findings(view: &View) -> String {
    let mut text = String::new();
    for done in view.talk.turn.succeeded("agent") {
        let label = Task::read(done.call.text("task")).label.replace(['*', '`', '\n'], "");
        let counts = done.result.lines().find_map(|line| line.strip_prefix("Counted:")).unwrap_or_default();
        let hits: Vec<Hit> = results::references(&done.result).into_iter().filter(|hit| !is_open_end(hit)).collect();
        let lines = list(hits.iter().take(FINDINGS.0).map(finding));
        text = joined(&text, &format!("**{label}**{counts}\n\n{lines}"));
    }
    if text.is_empty() {
        text = own_findings(view);
    }
    for done in view.talk.turn.finished().filter(|done| done.call.name == "agent" && results::failed(&done.result)) {
        let failure = format!("One agent failed: {}.", code(done.result.lines().next().unwrap_or_default()));
        text = joined(&text, &failure);
    }
    section("Findings", &text)
}

fn own_findings(view: &View) -> String {
    let (wanted, lines) = view.found(steps::words(view), "line");
    let (defined, definitions) = view.found(steps::definitions(view), "definition");
    let (_, open_ends) = view.found(steps::open_ends(view), "open end");
    // The first definition of each file is in front: a survey shows breadth.
    let mut seen = "";
    let (first, rest): (Vec<&Hit>, Vec<&Hit>) =
        defined.iter().partition(|hit| std::mem::replace(&mut seen, &hit.path) != hit.path);
    let telling: Vec<Hit> = view.files_read().iter().flat_map(telling_lines).collect();
    let all = telling.iter().chain(wanted.iter().take(4)).chain(first).chain(rest).filter(|hit| !is_open_end(hit));
    let list = list(each_once(all.cloned()).iter().take(FINDINGS.1).map(finding));
    let mut counts = vec![definitions, open_ends];
    if !view.task.words.is_empty() {
        counts.push(format!("{lines} with {}", and_code(&view.task.words)));
    }
    let failed = view.talk.turn.finished().filter(|done| results::failed(&done.result)).count();
    let failed = if failed == 0 { String::new() } else { format!(" {} failed.", number(failed, "call")) };
    if steps::search(view).is_empty() { list } else { joined(&list, &format!("Counted: {}.{failed}", and(&counts))) }
}

/// Shows what is here, by kind.
pub fn kinds(view: &View) -> String {
    section("What is here", &kinds_of(&view.files))
}

/// Makes a table of files by what they are written in.
pub fn kinds_of(paths: &[String]) -> String {
    let languages: Vec<(String, &String)> = paths.iter().map(|path| (files::language_of(path), path)).collect();
    let counts = files::tally(languages.iter().map(|(language, _)| language.as_str()));
    let row = |(name, count): &(&str, usize)| {
        let of_kind: Vec<String> =
            languages.iter().filter(|(language, _)| language == name).map(|(_, path)| (*path).clone()).collect();
        let example = files::most_telling(&of_kind).into_iter().chain(of_kind).next();
        vec![(*name).to_owned(), count.to_string(), code(&example.unwrap_or_default())]
    };
    let mut rows: Vec<Vec<String>> = counts.iter().take(ROWS).map(row).collect();
    let hidden: usize = counts.iter().skip(ROWS).map(|(_, count)| count).sum();
    rows.extend((hidden > 0).then(|| vec!["other".to_owned(), hidden.to_string(), String::new()]));
    if rows.is_empty() { String::new() } else { table(&["Kind", "Files", "For example"], &rows) }
}

/// Shows lines of the files that were read, from where the words stand.
pub fn excerpts(view: &View) -> String {
    let (hits, _) = view.found(steps::words(view), "line");
    let excerpt = |file: ReadFile| {
        let at = hits.iter().find(|hit| hit.path == file.path).map_or(1, |hit| hit.line.saturating_sub(2).max(1));
        let lines: Vec<&str> =
            file.lines.iter().filter(|hit| hit.line >= at).map(|hit| &*hit.text).take(LINES).collect();
        let from = if at == 1 { String::new() } else { format!(", from line {at}") };
        let head = format!("## A closer look at {} ({}){from}", code(file.path), file.length);
        format!("{head}\n\n{}", fenced(language(file.path), &lines))
    };
    all_joined(view.files_read().into_iter().map(excerpt))
}

/// Shows the lines with marks of open ends.
pub fn open_ends(view: &View) -> String {
    let reported = view.talk.turn.succeeded("agent").flat_map(|done| results::references(&done.result));
    let marks = reported.chain(view.found(steps::open_ends(view), "open end").0).filter(is_open_end);
    section("Open ends", &hit_list(&each_once(marks)))
}

/// Says what could be asked next.
pub fn next_steps(view: &View) -> String {
    let next =
        steps::unread(view).into_iter().next().map(|path| format!("*read {path}* looks into the next telling file"));
    let part = view.files.iter().map(|path| files::top_of(path)).find(|top| !top.is_empty());
    let part = part.map(|top| format!("*focus on {top}/* goes deeper there"));
    let count = (!view.files.is_empty()).then(|| "*count TODO* counts the open ends, and any word finds it".to_owned());
    let steps = [next, part, count].into_iter().flatten().enumerate();
    section("Next steps", &steps.map(|(index, step)| format!("{}. {step}", index + 1)).collect::<Vec<_>>().join("\n"))
}

/// Shows hits as a list, the first ones, and says how many more there are.
pub fn hit_list(hits: &[Hit]) -> String {
    let more = hits.len().saturating_sub(HITS);
    list(hits.iter().take(HITS).map(finding).chain((more > 0).then(|| format!("… and {more} more"))))
}

/// Returns the word for a fence around lines of a file.
pub fn language(path: &str) -> &str {
    files::ending_of(path).filter(|_| files::has_known_ending(path)).unwrap_or("text")
}

/// Writes a hit for a list: `path:line`, then the line.
fn finding(hit: &Hit) -> String {
    let place = code(&format!("{}:{}", hit.path, hit.line));
    if hit.text.trim().is_empty() { place } else { format!("{place} — {}", code(&hit.text)) }
}

/// Keeps the first of the hits on the same line.
pub fn each_once(hits: impl IntoIterator<Item = Hit>) -> Vec<Hit> {
    let mut once: Vec<Hit> = Vec::new();
    for hit in hits {
        if !once.iter().any(|other| other.path == hit.path && other.line == hit.line) {
            once.push(hit);
        }
    }
    once
}

fn is_open_end(hit: &Hit) -> bool {
    MARKS.iter().any(|mark| hit.text.contains(mark))
}

/// Returns the few lines that say what a file is.
fn telling_lines(file: &ReadFile) -> Vec<Hit> {
    let first = |most: usize, wanted: fn(&str) -> bool| {
        file.lines.iter().filter(move |hit| wanted(hit.text.trim())).take(most).cloned()
    };
    match FileKind::of(file.path) {
        FileKind::Source | FileKind::Test => first(1, is_comment).chain(first(1, is_definition)).collect(),
        FileKind::Document => first(2, |line| line.starts_with('#') || line.len() > 20).collect(),
        FileKind::Settings => first(2, |line| {
            let start = line.trim_start_matches('"');
            ["name", "version", "description", "[", "module"].iter().any(|key| start.starts_with(key))
        })
        .collect(),
        FileKind::Other => first(2, |line| !line.is_empty()).collect(),
    }
}

fn is_comment(line: &str) -> bool {
    ["//", "\"\"\"", "/**", "# ", "--"].iter().any(|mark| line.starts_with(mark)) && line.len() > 10
}

fn is_definition(line: &str) -> bool {
    const BEFORE: &str = "pub pub(crate) export default async public private static abstract";
    const STARTS: &str = "fn struct enum trait class def func function interface type module";
    let mut words = line.split_whitespace().skip_while(|word| is_among(BEFORE, word));
    words.next().is_some_and(|word| is_among(STARTS, word)) && words.next().is_some()
}
