//! The calls of the steps of the scripts. Each function returns all calls of its step, also those that were made already;
//! none when the step does not apply.

use crate::demo::markdown::cut;
use crate::demo::plan::answers;
use crate::demo::plan::conversation::Call;
use crate::demo::plan::files::{self, FileKind, KINDS};
use crate::demo::plan::requests::Intent;
use crate::demo::plan::script::Role;
use crate::demo::plan::task::{MARKS, Task};
use crate::demo::plan::view::{View, either};

/// The persona that looks at files.
const FILE_PERSONA: &str = "file_miner";
/// Parts of a tour, unless the person says another number.
const PARTS: usize = 3;
/// Files that are read together, and pages.
const TOGETHER: usize = 2;

/// Does what the request plainly asks for.
pub fn asked(view: &View) -> Vec<Call> {
    let plain = view.request.intents.iter().filter(|intent| matches!(intent, Intent::Use(_)));
    plain.filter_map(|intent| view.call(&intent.tool_use()?)).collect()
}

/// Lists the files.
pub fn list(view: &View) -> Vec<Call> {
    view.talk.call("glob", &[("pattern", &view.task.pattern)]).into_iter().collect()
}

/// Hands the parts of the project to sub-agents, once, and does what the request asks for besides.
pub fn delegate(view: &View) -> Vec<Call> {
    if view.talk.turn.first_delegation().is_some() {
        return Vec::new();
    }
    let count = |intent: &Intent| if let Intent::Agents(count) = intent { Some(*count) } else { None };
    let most = view.intents().filter_map(|(_, intent)| count(intent)).last().unwrap_or(PARTS);
    let words = || view.focus().into_iter().chain(&view.task.words).cloned();
    let tasks = Task::divide(&view.files, most).into_iter();
    let delegated = tasks.map(|task| Task { words: task.words.iter().cloned().chain(words()).collect(), ..task });
    let delegated: Vec<Call> = delegated.filter_map(|task| delegation(view, &task)).collect();
    if delegated.is_empty() { delegated } else { with_request(view, delegated) }
}

/// Sends sub-agents after a focus that came when the first ones were on their way already.
pub fn delegate_focus(view: &View) -> Vec<Call> {
    let Some(round) = view.talk.turn.first_delegation().filter(|_| view.has_reports()) else { return Vec::new() };
    let late = view.intents().filter_map(|(after, intent)| match intent {
        Intent::Focus(subject) if after > round => Some(subject),
        _ => None,
    });
    let task = |subject: &String| {
        let about = Some(files::about(&view.listed, subject)).filter(|files| !files.is_empty());
        Task { words: vec![subject.clone()], ..Task::whole(subject, about.unwrap_or_else(|| view.listed.clone())) }
    };
    late.filter_map(|subject| delegation(view, &task(subject))).collect()
}

/// Reads the most telling files, where no sub-agent does.
pub fn read_telling(view: &View) -> Vec<Call> {
    if view.has_reports() {
        return Vec::new();
    }
    let reads = view.read(&telling(view));
    if view.role == Role::Survey { reads } else { with_request(view, reads) }
}

/// Searches for definitions, open ends and the words of the task, where no sub-agent does.
pub fn search(view: &View) -> Vec<Call> {
    if view.has_reports() || (view.files.is_empty() && view.talk.offers("glob")) {
        return Vec::new();
    }
    [words(view), definitions(view), open_ends(view)].into_iter().flatten().collect()
}

/// Reads the file at the centre, so that the report can show it, when no file was read yet.
pub fn read_centre(view: &View) -> Vec<Call> {
    let none_read = view.talk.turn.succeeded("read").next().is_none();
    view.read(files::most_telling(&view.files).iter().take(usize::from(none_read)))
}

/// Reads the file that defines the most.
pub fn read_densest(view: &View) -> Vec<Call> {
    view.read(&densest(view))
}

/// Searches for the words of a question, and does what the request asks for besides.
pub fn search_words(view: &View) -> Vec<Call> {
    if view.task.words.is_empty() { Vec::new() } else { with_request(view, Vec::new()) }
}

/// Reads the next telling files that no turn has read, when the request names no words.
pub fn read_on(view: &View) -> Vec<Call> {
    let calls = view.read(unread(view).iter().take(TOGETHER)).into_iter().chain(open_ends(view));
    if view.task.words.is_empty() && view.files_read().is_empty() {
        with_request(view, calls.collect())
    } else {
        Vec::new()
    }
}

/// Reads the files that have most of the words, by their lines or names, when no file was read yet.
pub fn read_found(view: &View) -> Vec<Call> {
    let (hits, _) = view.found(words(view), "line");
    let named: Vec<String> = view.task.words.iter().flat_map(|word| files::about(&view.listed, word)).collect();
    let most = files::tally(hits.iter().map(|hit| hit.path.as_str()).chain(named.iter().map(String::as_str)));
    let most: Vec<String> = most.into_iter().take(TOGETHER).map(|(path, _)| path.to_owned()).collect();
    if view.files_read().is_empty() { view.read(&most) } else { Vec::new() }
}

/// Searches the web for the question.
pub fn search_web(view: &View) -> Vec<Call> {
    view.talk.call("web_search", &[("query", &question(view))]).into_iter().collect()
}

/// Opens the first pages that were found, as text where that is on offer.
pub fn open_pages(view: &View) -> Vec<Call> {
    let found = answers::addresses(view).into_iter().take(TOGETHER);
    let open = |address: String| {
        let url = [("url", address.as_str())];
        view.talk.call("web_scrape", &url).or_else(|| view.talk.call("fetch", &url))
    };
    found.filter_map(open).collect()
}

/// Returns the question of a task for the web.
pub fn question(view: &View) -> String {
    cut(view.request.text.lines().next().unwrap_or_default(), 240)
}

/// Returns the files to begin with: those that the task names, then the most telling.
pub fn telling(view: &View) -> Vec<String> {
    let listed = |path: &&String| view.listed.is_empty() || view.listed.contains(path);
    let mut chosen: Vec<String> = view.task.files.iter().filter(listed).cloned().collect();
    chosen.extend(files::most_telling(&view.files).into_iter().filter(|path| !view.task.files.contains(path)));
    chosen.truncate(TOGETHER);
    chosen
}

/// Returns the file that defines the most.
pub fn densest(view: &View) -> Option<String> {
    let (hits, _) = view.found(definitions(view), "definition");
    files::tally(hits.iter().map(|hit| hit.path.as_str())).first().map(|(path, _)| (*path).to_owned())
}

/// Returns the telling files that no turn has read, in order.
pub fn unread(view: &View) -> Vec<String> {
    let turns = view.talk.earlier.iter().chain([&view.talk.turn]);
    let read: Vec<&str> = turns.flat_map(|turn| turn.succeeded("read")).map(|done| done.call.text("path")).collect();
    files::most_telling(&view.files).into_iter().filter(|path| !read.contains(&path.as_str())).collect()
}

/// Makes the search for the words of the task.
pub fn words(view: &View) -> Option<Call> {
    view.grep(&either(&view.task.words), view.task.scope()).filter(|_| !view.task.words.is_empty())
}

/// Makes the search for open ends.
pub fn open_ends(view: &View) -> Option<Call> {
    view.grep(&MARKS.join("|"), view.task.scope())
}

/// Makes the search for definitions in files of the most frequent kind.
pub fn definitions(view: &View) -> Option<Call> {
    let count = |kind: &FileKind| view.files.iter().filter(|path| FileKind::of(path) == *kind).count();
    let most = KINDS.map(|(kind, ..)| kind).into_iter().rev().max_by_key(count);
    let pattern = match most.unwrap_or(FileKind::Source) {
        FileKind::Source | FileKind::Test => {
            r"^[ \t]*(pub(\([a-z]+\))? |export |default |async |public |private |static |abstract )*(fn|struct|enum|trait|class|def|func|function|interface|type|module|mod) [A-Za-z_]"
        }
        FileKind::Document => r"^#{1,3} [^ ]",
        FileKind::Settings => {
            r#"^[ \t]*"?(name|version|description|edition|main|scripts|dependencies)"?[ \t]*[:=]|^\[[^\]]+\]"#
        }
        FileKind::Other => r"^[^ ]",
    };
    view.grep(pattern, view.task.scope())
}

/// Adds what the request plainly asks for and the search for its words.
fn with_request(view: &View, calls: Vec<Call>) -> Vec<Call> {
    asked(view).into_iter().chain(calls).chain(words(view)).collect()
}

fn delegation(view: &View, task: &Task) -> Option<Call> {
    view.talk.call("agent", &[("name", FILE_PERSONA), ("task", &task.text(&view.request.text))])
}
