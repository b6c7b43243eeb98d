//! The report at the end of a tour: Markdown out of real results, nothing else.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::demo::facts::{self, Hit};
use crate::demo::plan::areas::Task;
use crate::demo::plan::digest::{self, files_read};
use crate::demo::plan::main_agent::memory;
use crate::demo::plan::markdown::{and, code, fenced, finding, inline_quote, number, table};
use crate::demo::plan::steering::Steering;
use crate::demo::plan::talk::{Done, Talk};
use crate::demo::plan::{tour, wants};
use crate::demo::words::Intent;

/// Rows of the table of kinds.
const ROWS: usize = 8;
/// Findings shown of one agent.
const FINDINGS: usize = 5;
/// Lines shown of a file.
const LINES: usize = 10;

/// Says aloud what the report will rest on.
pub fn thinking(talk: &Talk) -> String {
    let found: usize = reports(talk).iter().map(|done| facts::references(&done.result).len()).sum();
    let calls = talk.turn.done().count();
    format!(
        "Everything is in: {}, {} with a place. I write the report now, the numbers first, then the findings, each with \
         path and line, and say what is missing.",
        number(calls, "result"),
        number(found, "finding"),
    )
}

/// Writes the report.
pub fn write(talk: &Talk, steering: &Steering) -> String {
    let all = tour::listing(talk);
    let files = tour::in_view(talk, steering);
    let name = facts::name_of(talk.directory());
    let title = if name.is_empty() { "this directory".to_owned() } else { code(name) };
    let mut parts = vec![format!("# Report on {title}\n")];
    if all.files.is_empty() {
        parts.push(nothing(talk));
    } else {
        parts.push(opening(talk, steering, &all, &files));
        parts.push(format!("## What is here\n\n{}", kinds(&files)));
    }
    parts.extend(findings(talk));
    parts.extend(question(talk, steering));
    parts.extend(closer_look(talk));
    parts.extend(open_ends(talk));
    for intent in steering.primary.intents.iter().filter(|intent| has_section(intent)) {
        parts.push(format!("## Also asked\n\n{}", wants::section(intent, &talk.turn, &talk.offer)));
    }
    if !all.files.is_empty() {
        parts.push(next_steps(talk, &files));
    }
    parts.join("\n")
}

fn opening(talk: &Talk, steering: &Steering, all: &tour::Listing, files: &[String]) -> String {
    let agents = talk.turn.results("agent").count();
    let by = match agents {
        0 => "looked at with my own tools".to_owned(),
        1 => "looked at by 1 agent".to_owned(),
        _ => format!("looked at by {agents} agents"),
    };
    let least = if all.cut { "at least " } else { "" };
    let mut directories: Vec<&str> =
        all.files.iter().filter_map(|path| path.rsplit_once('/')).map(|(directory, _)| directory).collect();
    directories.sort_unstable();
    directories.dedup();
    let mut text = format!(
        "For {}: {least}**{}** in {}, {by}.",
        inline_quote(&steering.primary.text),
        number(all.total, "file"),
        number(directories.len() + 1, "directory"),
    );
    if all.total > all.files.len() {
        let _ = write!(text, " The listing shows {} of them; what follows rests on these.", all.files.len());
    }
    if let Some(subject) = tour::focus(steering) {
        let _ = write!(text, " In focus: {} ({}).", code(subject), number(files.len(), "file"));
    }
    if steering.stop {
        text.push_str(" You stopped the work, so this is what was known by then.");
    }
    if let Some(memory) = memory(talk) {
        let before = talk.earlier_listing().map_or(0, |files| files.len());
        let change = if before == all.files.len() {
            "as many as now".to_owned()
        } else {
            format!("{} are here now", all.files.len())
        };
        let _ = write!(text, "\n\n{memory} That is {change}.");
    }
    text.push('\n');
    text
}

fn nothing(talk: &Talk) -> String {
    let listing = talk.offer.glob("**/*").and_then(|call| talk.turn.result_of(&call));
    match listing {
        Some(failure) if facts::failed(failure) => {
            format!(
                "The listing failed: {}. So I can say nothing about the files.\n",
                code(failure.lines().next().unwrap_or_default())
            )
        }
        Some(_) => "The directory holds no files that I can see: it is empty, or everything in it is ignored. \
                    Start me in another directory with `--cwd DIR`, or put a file here and ask again.\n"
            .to_owned(),
        None if talk.offer.has("glob") => "You stopped me before I had listed anything.\n".to_owned(),
        None => "The tool `glob` is not on offer here, so I have no listing; what follows rests on the other tools.\n"
            .to_owned(),
    }
}

fn kinds(files: &[String]) -> String {
    let mut kinds: BTreeMap<String, Vec<&String>> = BTreeMap::new();
    for path in files {
        kinds.entry(facts::language_of(path)).or_default().push(path);
    }
    let mut kinds: Vec<(String, Vec<&String>)> = kinds.into_iter().collect();
    kinds.sort_by_key(|(kind, paths)| (std::cmp::Reverse(paths.len()), kind.clone()));
    let hidden: usize = kinds.iter().skip(ROWS).map(|(_, paths)| paths.len()).sum();
    let row = |(kind, paths): &(String, Vec<&String>)| {
        let owned: Vec<String> = paths.iter().map(|path| (*path).clone()).collect();
        let shown = facts::by_weight(&owned).into_iter().next().or(paths.first().map(|path| path.as_str()));
        vec![kind.clone(), paths.len().to_string(), shown.map_or(String::new(), code)]
    };
    let mut rows: Vec<Vec<String>> = kinds.iter().take(ROWS).map(row).collect();
    if hidden > 0 {
        rows.push(vec!["other".to_owned(), hidden.to_string(), String::new()]);
    }
    table(&["Kind", "Files", "For example"], &rows)
}

fn findings(talk: &Talk) -> Option<String> {
    let mut text = String::new();
    for done in reports(talk) {
        let label = Task::read(done.call.text("task")).label;
        let sums = done.result.lines().find(|line| line.starts_with("Counted:")).unwrap_or_default();
        let lines: Vec<Hit> =
            facts::references(&done.result).into_iter().filter(|hit| !digest::is_open_end(hit)).collect();
        let _ = write!(
            text,
            "**{}** {}\n\n",
            label.replace(['*', '`', '\n'], ""),
            sums.trim_start_matches("Counted:").trim()
        );
        text.extend(lines.iter().take(FINDINGS).map(finding));
        text.push('\n');
    }
    for done in talk.turn.done().filter(|done| done.call.name == "agent" && facts::failed(&done.result)) {
        let failure = done.result.lines().next().unwrap_or_default();
        let _ = write!(text, "One agent failed: {}.\n\n", code(failure));
    }
    if reports(talk).is_empty() {
        let own: Vec<Hit> = files_read(&talk.turn).iter().flat_map(digest::telling_lines).collect();
        let defined = definitions(talk);
        text.extend(own.iter().chain(defined.iter().take(FINDINGS)).map(finding));
        if !defined.is_empty() {
            let _ = writeln!(text, "\nCounted: {}.", number(defined.len(), "definition"));
        }
    }
    (!text.trim().is_empty()).then(|| format!("## Findings\n\n{}\n", text.trim_end()))
}

fn question(talk: &Talk, steering: &Steering) -> Option<String> {
    let words = tour::question_words(steering);
    let result = talk.offer.grep(&wants::expression(&words), None).and_then(|call| talk.turn.result_of(&call))?;
    let names: Vec<String> = words.iter().map(|word| code(word)).collect();
    let hits = facts::hits(result);
    let list = if hits.is_empty() { "Nothing here speaks of it.\n".to_owned() } else { wants::hit_list(&hits) };
    (!words.is_empty()).then(|| format!("## On {}\n\n{list}", and(&names)))
}

fn closer_look(talk: &Talk) -> Option<String> {
    let file = files_read(&talk.turn).into_iter().next()?;
    let lines: Vec<&str> = file.lines.iter().map(|hit| hit.text.as_str()).take(LINES).collect();
    let more = file.lines.len().saturating_sub(lines.len());
    let rest = if more > 0 { format!("\n… and {} more.\n", number(more, "line")) } else { String::new() };
    Some(format!(
        "## A closer look at {}\n\n{}{rest}",
        code(&file.path),
        fenced(&wants::fence_language(&file.path), &lines)
    ))
}

fn open_ends(talk: &Talk) -> Option<String> {
    let mut hits: Vec<Hit> = reports(talk).iter().flat_map(|done| facts::references(&done.result)).collect();
    let own = talk.offer.grep(&digest::open_ends(), None).and_then(|call| talk.turn.result_of(&call));
    hits.extend(facts::hits(own.unwrap_or_default()));
    let mut marks: Vec<Hit> = Vec::new();
    for hit in hits.into_iter().filter(digest::is_open_end) {
        if !marks.iter().any(|other| other.path == hit.path && other.line == hit.line) {
            marks.push(hit);
        }
    }
    (!marks.is_empty()).then(|| format!("## Open ends\n\n{}", wants::hit_list(&marks)))
}

fn next_steps(talk: &Talk, files: &[String]) -> String {
    let read: Vec<String> = files_read(&talk.turn).into_iter().map(|file| file.path).collect();
    let unread = facts::by_weight(files).into_iter().find(|path| !read.iter().any(|other| other == path));
    let mut steps = Vec::new();
    if let Some(path) = unread {
        steps.push(format!("say *read {path}* to look into the next telling file"));
    }
    if let Some(area) = files.iter().map(|path| facts::top_of(path)).find(|top| *top != ".") {
        steps.push(format!("say *focus on {area}/* to go deeper there"));
    }
    steps.push("say *count TODO* for the open ends, or any word to find it".to_owned());
    let mut text = "## Next steps\n\n".to_owned();
    for (index, step) in steps.iter().enumerate() {
        let _ = writeln!(text, "{}. {step}", index + 1);
    }
    text
}

/// Returns the sub-agents' reports.
fn reports(talk: &Talk) -> Vec<&Done> {
    talk.turn.results("agent").collect()
}

fn definitions(talk: &Talk) -> Vec<Hit> {
    let call = talk.offer.grep(digest::definitions(facts::Kind::Source), None);
    facts::hits(call.and_then(|call| talk.turn.result_of(&call)).unwrap_or_default())
}

fn has_section(intent: &Intent) -> bool {
    match intent {
        Intent::Calculate(_)
        | Intent::Read(_)
        | Intent::Find(_)
        | Intent::Count(_)
        | Intent::List(_)
        | Intent::CountFiles(_) => true,
        Intent::Greeting
        | Intent::Thanks
        | Intent::Help
        | Intent::Stop
        | Intent::Focus(_)
        | Intent::Skip(_)
        | Intent::Agents(_)
        | Intent::Survey(_) => false,
    }
}
