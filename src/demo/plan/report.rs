//! The sections of answers: Markdown out of real results, nothing else.

use std::fmt::Write as _;

use crate::demo::markdown::{and, and_code, code, cut, fenced, inline_quote, joined, number, table};
use crate::demo::plan::files::{self, FileKind, is_among};
use crate::demo::plan::requests::{Intent, Tool};
use crate::demo::plan::results::{self, Hit};
use crate::demo::plan::task::{MARKS, Task};
use crate::demo::plan::view::{ReadFile, View};
use crate::demo::plan::{intents, steps};

/// Hits shown in a list.
const HITS: usize = 12;
/// Findings shown of one agent, and of the own work.
const FINDINGS: (usize, usize) = (5, 10);
/// Lines shown of a file.
const LINES: usize = 10;
/// Rows of the table of kinds.
const ROWS: usize = 8;
/// Characters of a summary, and of a line of a page.
const SUMMARY: usize = 600;
const PAGE_LINE: usize = 240;

/// Answers each thing that a plain request asks for.
pub fn answers(view: &View) -> Option<String> {
    Some(view.request.intents.iter().fold(String::new(), |text, intent| joined(&text, &intents::answer(view, intent))))
}

/// Says what was found before in this conversation, and how that compares.
pub fn memory(view: &View) -> Option<String> {
    let memory = view.memory().filter(|_| !view.talk.turn.rounds.is_empty())?;
    let (_, before) = view.talk.earlier_listing()?;
    let now = view.listing();
    Some(match results::paths(now).len() {
        _ if now.is_empty() => memory,
        same if same == before.len() => format!("{memory} That is as many as now."),
        files => format!("{memory} Now there are {files}."),
    })
}

/// Opens the report of a tour.
pub fn tour(view: &View) -> Option<String> {
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
        return Some(format!("# Report on {title}\n\n{why}"));
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
    Some(text)
}

/// Opens the report of a sub-agent on its files.
pub fn survey(view: &View) -> Option<String> {
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
    Some(text)
}

/// Answers what the request is about, by its words.
pub fn on_words(view: &View) -> Option<String> {
    let words = Intent::Survey(view.task.words.clone());
    steps::words(view).and_then(|call| view.talk.turn.result_of(&call))?;
    Some(format!("## On {}\n\n{}", and_code(&view.task.words), intents::answer(view, &words)))
}

/// Answers what else the request plainly asks for.
pub fn also_asked(view: &View) -> Option<String> {
    let plain = view.request.intents.iter().filter(|intent| matches!(intent, Intent::Use(_)));
    let text = plain.fold(String::new(), |text, intent| joined(&text, &intents::answer(view, intent)));
    (!text.is_empty()).then(|| format!("## Also asked\n\n{text}"))
}

/// Shows what the sub-agents found, or else what the own work did.
pub fn findings(view: &View) -> Option<String> {
    let mut text = String::new();
    for done in view.talk.turn.succeeded("agent") {
        let label = Task::read(done.call.text("task")).label.replace(['*', '`', '\n'], "");
        let counts = done.result.lines().find_map(|line| line.strip_prefix("Counted:")).unwrap_or_default();
        let hits: Vec<Hit> = results::references(&done.result).into_iter().filter(|hit| !is_open_end(hit)).collect();
        let lines: String = hits.iter().take(FINDINGS.0).map(finding).collect();
        text = joined(&text, &format!("**{label}**{counts}\n\n{lines}"));
    }
    if text.is_empty() {
        text = own_findings(view);
    }
    let failed = view.talk.turn.finished().filter(|done| results::failed(&done.result));
    for done in failed.filter(|done| done.call.name == "agent") {
        let failure = format!("One agent failed: {}.", code(done.result.lines().next().unwrap_or_default()));
        text = joined(&text, &failure);
    }
    (!text.trim().is_empty()).then(|| format!("## Findings\n\n{text}"))
}

fn own_findings(view: &View) -> String {
    let (wanted, lines) = view.found(steps::words(view), "line");
    let (defined, definitions) = view.found(steps::definitions(view), "definition");
    let (_, open_ends) = view.found(steps::open_ends(view), "open end");
    // The first definition of each file is in front: a survey shows breadth.
    let (first, rest): (Vec<_>, Vec<_>) = defined.iter().enumerate().partition(|(index, hit)| {
        index.checked_sub(1).and_then(|before| defined.get(before)).is_none_or(|before| before.path != hit.path)
    });
    let telling: Vec<Hit> = view.files_read().iter().flat_map(telling_lines).collect();
    let defined = first.into_iter().chain(rest).map(|(_, hit)| hit);
    let all = telling.iter().chain(wanted.iter().take(4)).chain(defined).filter(|hit| !is_open_end(hit));
    let list: String = each_once(all).into_iter().take(FINDINGS.1).map(finding).collect();
    let mut counts = vec![definitions, open_ends];
    if !view.task.words.is_empty() {
        counts.push(format!("{lines} with {}", and_code(&view.task.words)));
    }
    let failed = view.talk.turn.finished().filter(|done| results::failed(&done.result)).count();
    let failed = if failed == 0 { String::new() } else { format!(" {} failed.", number(failed, "call")) };
    if steps::search(view).is_empty() { list } else { joined(&list, &format!("Counted: {}.{failed}", and(&counts))) }
}

/// Shows what is here, by kind.
pub fn kinds(view: &View) -> Option<String> {
    (!view.files.is_empty()).then(|| format!("## What is here\n\n{}", kinds_of(&view.files)))
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
pub fn excerpts(view: &View) -> Option<String> {
    let (hits, _) = view.found(steps::words(view), "line");
    let excerpt = |file: ReadFile| {
        let at = hits.iter().find(|hit| hit.path == file.path).map_or(1, |hit| hit.line.saturating_sub(2).max(1));
        let lines: Vec<&str> =
            file.lines.iter().filter(|hit| hit.line >= at).map(|hit| &*hit.text).take(LINES).collect();
        let head = format!("## A closer look at {} ({}), from line {at}", code(file.path), file.length);
        format!("{head}\n\n{}", fenced(language(file.path), &lines))
    };
    let asked = view.request.intents.iter().filter_map(Intent::tool_use).filter(|tool_use| tool_use.tool == Tool::Read);
    let shown: Vec<String> = asked.flat_map(|tool_use| tool_use.words).collect();
    let files = view.files_read().into_iter().filter(|file| !shown.iter().any(|path| path == file.path));
    let text = files.map(excerpt).fold(String::new(), |text, excerpt| joined(&text, &excerpt));
    (!text.is_empty()).then_some(text)
}

/// Shows the lines with marks of open ends.
pub fn open_ends(view: &View) -> Option<String> {
    let reported = view.talk.turn.succeeded("agent").flat_map(|done| results::references(&done.result));
    let marks: Vec<Hit> =
        reported.chain(view.found(steps::open_ends(view), "open end").0).filter(is_open_end).collect();
    let marks: Vec<Hit> = each_once(&marks).into_iter().cloned().collect();
    (!marks.is_empty()).then(|| format!("## Open ends\n\n{}", hit_list(&marks)))
}

/// Says what could be asked next.
pub fn next_steps(view: &View) -> Option<String> {
    let next =
        steps::unread(view).into_iter().next().map(|path| format!("*read {path}* looks into the next telling file"));
    let part = view.files.iter().map(|path| files::top_of(path)).find(|top| !top.is_empty());
    let part = part.map(|top| format!("*focus on {top}/* goes deeper there"));
    let count = (!view.files.is_empty()).then(|| "*count TODO* counts the open ends, and any word finds it".to_owned());
    let steps = [next, part, count].into_iter().flatten().enumerate();
    let list: String = steps.map(|(index, step)| format!("{}. {step}\n", index + 1)).collect();
    (!list.is_empty()).then(|| format!("## Next steps\n\n{list}"))
}

/// Reports what pages of the web say.
pub fn pages(view: &View) -> Option<String> {
    let addresses = addresses(view);
    let question = inline_quote(&steps::question(view));
    if addresses.is_empty() {
        return Some(format!("On {question}: the search gave no page, so I have no answer."));
    }
    let mut text = format!("On {question}: {}.\n\n", number(addresses.len(), "address"));
    for (address, call) in addresses.iter().zip(steps::open_pages(view)) {
        let prose = |line: &&str| line.chars().filter(|c| c.is_alphabetic()).count() > 30 && !results::failed(line);
        let line = view.result(Some(call)).lines().find(prose);
        let said = line.map_or("nothing readable".to_owned(), |line| inline_quote(&cut(line, PAGE_LINE)));
        let _ = writeln!(text, "- <{address}>: {said}");
    }
    Some(text)
}

/// Returns the addresses that a search of the web found, each once.
pub fn addresses(view: &View) -> Vec<String> {
    let found = steps::search_web(view).pop().and_then(|call| view.talk.turn.result_of(&call)).unwrap_or_default();
    let words = found.split(|c: char| c.is_whitespace() || "()<>[]\"'`".contains(c));
    let words = words.map(|word| word.trim_end_matches(['.', ',', ';', ':']));
    let mut addresses: Vec<String> = Vec::new();
    for address in words.filter(|word| word.starts_with("https://") || word.starts_with("http://")) {
        if !addresses.iter().any(|known| known == address) {
            addresses.push(address.to_owned());
        }
    }
    addresses
}

/// Answers from the evidence that another agent gathered before it ran out of steps.
pub fn evidence(view: &View) -> Option<String> {
    let (head, evidence) = view.request.text.split_once("Evidence gathered:").unwrap_or_default();
    let question = inline_quote(head.trim().trim_start_matches("Question:").trim());
    let searched = evidence.lines().filter_map(|line| results::hits(line).into_iter().next());
    let places: Vec<Hit> = results::references(evidence).into_iter().chain(searched).collect();
    let places: Vec<Hit> =
        each_once(places.iter().filter(|hit| !hit.path.contains([' ', '`', '"', '{']))).into_iter().cloned().collect();
    let lines: Vec<&str> =
        evidence.lines().map(str::trim).filter(|line| line.contains(char::is_alphanumeric)).collect();
    let shown = match places.as_slice() {
        _ if lines.is_empty() || evidence.trim() == "(none)" => {
            "Nothing was gathered, so there is no answer yet.".to_owned()
        }
        [] => lines.iter().take(HITS / 2).map(|line| format!("- {}\n", code(line))).collect(),
        places => hit_list(places),
    };
    let missing = "Missing: the step budget ended before the rest was looked at. Ask again with a narrower question, or a higher \
                   `--max-steps`.";
    Some(format!(
        "On {question}, from the evidence gathered ({}):\n\n{}\n\n{missing}",
        number(lines.len(), "line"),
        shown.trim()
    ))
}

/// Answers without tools: small talk, a summary of a text, or that nothing can be looked up.
pub fn plain(view: &View) -> Option<String> {
    let prompt = &view.request.text;
    if let Some(Intent::SmallTalk(answer)) = view.request.intents.first() {
        return Some(view.fill(answer));
    }
    let sentences = prompt.split("\n\n").skip(1).filter_map(|paragraph| paragraph.split_inclusive(". ").next());
    let summary = sentences.map(str::trim).collect::<Vec<_>>().join(" ");
    if cut(prompt, 200).to_lowercase().contains("summar") && prompt.lines().count() > 1 {
        return Some(cut(if summary.is_empty() { prompt } else { &summary }, SUMMARY));
    }
    Some(view.fill(
        "You asked {request}. I am the embedded model, a fixed script that answers from the results of tools. No tool is on \
         offer in this request, so I cannot look anything up.",
    ))
}

/// Shows hits as a list, the first ones, and says how many more there are.
pub fn hit_list(hits: &[Hit]) -> String {
    let mut list: String = hits.iter().take(HITS).map(finding).collect();
    if hits.len() > HITS {
        let _ = writeln!(list, "- … and {} more", hits.len() - HITS);
    }
    list
}

/// Returns the word for a fence around lines of a file.
pub fn language(path: &str) -> &str {
    files::ending_of(path).filter(|_| files::has_known_ending(path)).unwrap_or("text")
}

/// Makes the line of a list that shows a hit: `path:line`, then the line.
fn finding(hit: &Hit) -> String {
    let place = code(&format!("{}:{}", hit.path, hit.line));
    if hit.text.trim().is_empty() { format!("- {place}\n") } else { format!("- {place} — {}\n", code(&hit.text)) }
}

fn each_once<'h>(hits: impl IntoIterator<Item = &'h Hit>) -> Vec<&'h Hit> {
    let mut once: Vec<&Hit> = Vec::new();
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
