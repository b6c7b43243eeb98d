//! The answers: Markdown out of real results, nothing else. Each section is empty when it has nothing to say.

use crate::program::demo::markdown::{
    all_joined, and, and_code, code, fenced, inline_quote, joined, list, number, section, table, truncate,
};
use crate::program::demo::plan::request::Intent;
use crate::program::demo::plan::results::{self, Hit};
use crate::program::demo::plan::task::{MARKS, Task};
use crate::program::demo::plan::view::{Role, View};
use crate::program::demo::plan::{files, steering};

/// Hits shown in a list.
const HITS: usize = 12;
/// Findings shown of one agent, and of the own work.
const FINDINGS: (usize, usize) = (5, 10);
/// Lines shown of a file.
const LINES: usize = 10;
/// Rows of the table of kinds.
const ROWS: usize = 8;
/// Characters of a summary.
const SUMMARY: usize = 600;

/// Writes the answer of a turn.
pub(super) fn answer(view: &View) -> String {
    let sections: &[fn(&View) -> String] = match view.role {
        Role::NoTools => &[without_tools],
        Role::Direct => &[request_line],
        Role::Survey => &[survey, findings, open_ends],
        Role::Tour if view.is_brief() => &[tour, memory, request_line, findings],
        Role::Tour => &[tour, memory, request_line, findings, kinds, excerpts, open_ends, next_steps],
        Role::FollowUp if view.is_brief() => &[memory, request_line],
        Role::FollowUp => &[memory, request_line, excerpts, next_steps],
    };
    all_joined(sections.iter().map(|section| section(view)))
}

/// Says what was found before in this conversation.
fn memory(view: &View) -> String {
    view.memory()
}

/// Answers each thing that the request asks for.
fn request_line(view: &View) -> String {
    let is_plain = |intent: &&Intent| view.role == Role::Direct || intent.tool_use().is_some();
    let answers = view.request.intents.iter().filter(is_plain).map(|intent| steering::answer(view, intent));
    if view.role == Role::Direct { all_joined(answers) } else { section("Asked for", &all_joined(answers)) }
}

/// Opens the report of a tour.
fn tour(view: &View) -> String {
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
            "" => "The tool `glob` is not available here, so I have no listing.".to_owned(),
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
    let request = inline_quote(&view.request.text);
    let mut sentences = vec![format!("# Report on {title}\n\nFor {request}: **{total}**, looked at {by}.")];
    if results::is_truncated(listing) {
        sentences.push(format!("The listing shows {} of them; what follows rests on these.", view.listed.len()));
    }
    if let Some(subject) = view.focus() {
        sentences.push(format!("In focus: {} ({}).", code(subject), number(view.files.len(), "file")));
    }
    if view.is_stopped() {
        sentences.push("You stopped the work, so this is what was known by then.".to_owned());
    }
    sentences.join(" ")
}

/// Opens the report of a sub-agent on its files.
fn survey(view: &View) -> String {
    let count = results::extent(view.files.len(), view.listing(), "file");
    let read: Vec<String> = view.files_read().iter().map(|(path, _)| code(path)).collect();
    let read = if read.is_empty() { String::new() } else { format!(" I read {}.", and(&read)) };
    format!("**{}**: {count} under {}.{read}", view.task.label, code(&view.task.pattern))
}

/// Shows what the sub-agents found, or else what the own work did.
fn findings(view: &View) -> String {
    let found = |hit: &Hit| !is_open_end(hit);
    // One that looked at nothing but what is to be skipped has nothing for the answer.
    let counts = |result: &str| {
        let hits = results::references(result);
        hits.is_empty() || !hits.iter().all(|hit| view.is_skipped(hit))
    };
    let agents = view.talk.turn.succeeded("agent").filter(|done| counts(&done.result)).map(|done| {
        let label = Task::parse(done.call.text("task")).map_or("An agent".to_owned(), |task| task.label);
        let counts = done.result.lines().find_map(|line| line.strip_prefix("Counted:")).unwrap_or_default();
        let hits = results::references(&done.result).into_iter().filter(|hit| found(hit) && !view.is_skipped(hit));
        let hits: Vec<Hit> = hits.take(FINDINGS.0).collect();
        format!("**{}**{counts}\n\n{}", label.replace(['*', '`', '\n'], ""), hit_list(&hits))
    });
    let mut text = all_joined(agents);
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
    let (wanted, lines) = view.found(view.search_for_task(), "line");
    let (defined, definitions) = view.found(view.definitions(), "definition");
    let (_, open_ends) = view.found(view.open_ends(), "open TODO");
    // The first definition of each file is in front: a survey shows breadth.
    let mut seen = "";
    let (first, rest): (Vec<&Hit>, Vec<&Hit>) =
        defined.iter().partition(|hit| std::mem::replace(&mut seen, &hit.path) != hit.path);
    let read = view.files_read();
    let opening = read.iter().flat_map(|(_, lines)| lines.iter().filter(|hit| hit.text.len() > 10).take(2));
    let all = opening.chain(wanted.iter().take(4)).chain(first).chain(rest).filter(|hit| !is_open_end(hit));
    let list = list(each_once(all.cloned()).iter().take(FINDINGS.1).map(finding));
    let mut counts = vec![definitions, open_ends];
    if !view.task.words.is_empty() {
        counts.push(format!("{lines} with {}", and_code(&view.task.words)));
    }
    if view.files.is_empty() { list } else { joined(&list, &format!("Counted: {}.", and(&counts))) }
}

/// Shows what is here, by kind.
fn kinds(view: &View) -> String {
    section("What is here", &kinds_of(&view.files))
}

/// Makes a table of files by what they are written in.
pub(super) fn kinds_of(paths: &[String]) -> String {
    let languages: Vec<(String, &String)> = paths.iter().map(|path| (files::language_of(path), path)).collect();
    let counts = files::tally(languages.iter().map(|(language, _)| language.as_str()));
    let row = |(name, count): &(&str, usize)| {
        let example = languages.iter().find(|(language, _)| language == name).map_or("", |(_, path)| path);
        vec![(*name).to_owned(), count.to_string(), code(example)]
    };
    let mut rows: Vec<Vec<String>> = counts.iter().take(ROWS).map(row).collect();
    let hidden: usize = counts.iter().skip(ROWS).map(|(_, count)| count).sum();
    rows.extend((hidden > 0).then(|| vec!["other".to_owned(), hidden.to_string(), String::new()]));
    if rows.is_empty() { String::new() } else { table(&["Kind", "Files", "For example"], &rows) }
}

/// Shows lines of the files that were read, from where the words stand.
fn excerpts(view: &View) -> String {
    let (hits, _) = view.found(view.search_for_task(), "line");
    let excerpt = |(path, lines): (&str, Vec<Hit>)| {
        let at = hits.iter().find(|hit| hit.path == path).map_or(1, |hit| hit.line.saturating_sub(2).max(1));
        let shown: Vec<&str> = lines.iter().filter(|hit| hit.line >= at).map(|hit| &*hit.text).take(LINES).collect();
        format!("## A closer look at {}, from line {at}\n\n{}", code(path), fenced(language(path), &shown))
    };
    all_joined(view.files_read().into_iter().map(excerpt))
}

/// Shows the lines with marks of open TODOs.
fn open_ends(view: &View) -> String {
    let reported = view.talk.turn.succeeded("agent").flat_map(|done| results::references(&done.result));
    let marks = reported.chain(view.found(view.open_ends(), "open TODO").0).filter(is_open_end);
    let marks = marks.filter(|hit| !view.is_skipped(hit));
    section("Open TODOs", &hit_list(&each_once(marks)))
}

/// Says what could be asked next.
fn next_steps(view: &View) -> String {
    let next = view.unread().into_iter().next().map(|path| format!("*read {path}* reads the next of the main files"));
    let part = view.files.iter().map(|path| files::top_of(path)).find(|top| !top.is_empty());
    let part = part.map(|top| format!("*focus on {top}/* looks closer there"));
    let count = (!view.files.is_empty())
        .then(|| "*count TODO* counts the open TODOs; any other word is searched for".to_owned());
    section("Next steps", &list([next, part, count].into_iter().flatten()))
}

/// Answers without tools: small talk, from evidence, a summary of a text, or that nothing can be looked up.
fn without_tools(view: &View) -> String {
    let prompt = &view.request.text;
    if let Some((head, evidence)) = prompt.split_once("Evidence gathered:") {
        return from_evidence(head.trim().trim_start_matches("Question:").trim(), evidence);
    }
    if let Some(Intent::SmallTalk(answer)) = view.request.intents.first() {
        return steering::small_talk(view, answer);
    }
    let sentences = prompt.split("\n\n").skip(1).filter_map(|paragraph| paragraph.split_inclusive(". ").next());
    let summary = sentences.map(str::trim).collect::<Vec<_>>().join(" ");
    if truncate(prompt, 200).to_lowercase().contains("summar") && prompt.lines().count() > 1 {
        return truncate(if summary.is_empty() { prompt } else { &summary }, SUMMARY);
    }
    format!(
        "You asked {}. I am the embedded model, a fixed script that answers from the results of tools. No tool is on offer \
         in this request, so I cannot look anything up.",
        inline_quote(prompt)
    )
}

/// Answers from the evidence that another agent gathered before it ran out of steps.
fn from_evidence(question: &str, evidence: &str) -> String {
    let named = results::references(evidence).into_iter().chain(results::hits(evidence));
    let places = each_once(named.filter(|hit| !hit.path.contains([' ', '`', '"', '{'])));
    let lines: Vec<&str> =
        evidence.lines().map(str::trim).filter(|line| line.contains(char::is_alphanumeric)).collect();
    let shown = match places.as_slice() {
        [] => list(lines.iter().take(HITS / 2).map(|line| code(line))),
        places => hit_list(places),
    };
    format!(
        "On {}, from the evidence gathered ({}):\n\n{shown}\n\nMissing: the step budget ended before the rest was looked at. \
         Ask again with a narrower question, or a higher `--max-steps`.",
        inline_quote(question),
        number(lines.len(), "line")
    )
}

/// Shows hits as a list, the first ones, and says how many more there are.
pub(super) fn hit_list(hits: &[Hit]) -> String {
    let more = hits.len().saturating_sub(HITS);
    list(hits.iter().take(HITS).map(finding).chain((more > 0).then(|| format!("… and {more} more"))))
}

/// Returns the word for a fence around lines of a file.
pub(super) fn language(path: &str) -> &str {
    files::ending_of(path).filter(|_| files::has_known_ending(path)).unwrap_or("text")
}

/// Writes a hit for a list: `path:line`, then the line.
fn finding(hit: &Hit) -> String {
    let place = code(&format!("{}:{}", hit.path, hit.line));
    if hit.text.trim().is_empty() { place } else { format!("{place} — {}", code(&hit.text)) }
}

/// Keeps the first of the hits on the same line.
fn each_once(hits: impl IntoIterator<Item = Hit>) -> Vec<Hit> {
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
