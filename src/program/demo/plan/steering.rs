//! What an intent makes the model do and what came of it, in words. For requests and for steering alike.
//! The sentences name what was asked for and rest on real results.

use crate::program::demo::markdown::{and_code, code, fenced, inline_quote, joined, list, number, section};
use crate::program::demo::plan::files;
use crate::program::demo::plan::report::{hit_list, kinds_of, language};
use crate::program::demo::plan::request::{Intent, Tool, ToolUse};
use crate::program::demo::plan::results::{self, extent};
use crate::program::demo::plan::view::{Request, View};
use steersman_base::steering::TextKind;

/// Lines shown of a file or of what a command printed.
const LINES: usize = 12;
/// Paths shown of a listing.
const PATHS: usize = 24;

/// Says what the model does for a request, in reply to it.
pub(super) fn promises(view: &View, request: &Request) -> String {
    match request.intents.as_slice() {
        _ if request.kind == TextKind::Rule => "I keep to it from here on.".to_owned(),
        [] => "I take it together with what follows.".to_owned(),
        intents => intents.iter().map(|intent| promise(view, intent)).collect::<Vec<_>>().join(" "),
    }
}

/// Says what the model does for an intent.
pub(super) fn promise(view: &View, intent: &Intent) -> String {
    match (intent, intent.tool_use()) {
        (_, Some(ToolUse { tool, .. })) if !view.talk.offers(tool.names().0) => {
            format!("For that I need the tool `{}`, and it is not available here; I take note of it.", tool.names().0)
        }
        (Intent::Focus(subject), _) => format!("From here on I focus on {}.", code(subject)),
        (_, Some(tool_use)) => format!("I {} {} now.", tool_use.tool.names().2, tool_use.subject()),
        (Intent::SmallTalk(answer), _) => format!("{} I go on with the work.", small_talk(view, answer)),
        (Intent::Stop, _) => "I stop here and answer from what I have.".to_owned(),
        (Intent::Brief, _) => "I keep the answer short.".to_owned(),
        (Intent::Skip(subject), _) => format!("I leave out {}.", code(subject)),
        (Intent::Agents(count), _) => format!("I plan with {}.", number(*count, "sub-agent")),
        (Intent::Survey(_) | Intent::Use(_), None) => "I take it into account.".to_owned(),
    }
}

/// Fills in the tools on offer.
pub(super) fn small_talk(view: &View, answer: &str) -> String {
    let tools: Vec<String> = view.talk.tools.iter().map(|tool| tool.name.clone()).collect();
    answer.replace("{tools}", &and_code(&tools)).trim().to_owned()
}

/// Says in one sentence what came of an intent in a turn.
fn outcome(view: &View, intent: &Intent) -> String {
    let tool_use = intent.tool_use();
    let call = tool_use.as_ref().and_then(|tool_use| view.call(tool_use));
    if let (Some(tool_use), Some(result)) = (tool_use, call.and_then(|call| view.talk.turn.result_of(&call))) {
        return tool_outcome(&tool_use, result);
    }
    match intent {
        Intent::SmallTalk(_) => "answered in passing.".to_owned(),
        Intent::Stop => "I stopped and answered from what I had.".to_owned(),
        Intent::Brief => "this answer leaves out the details.".to_owned(),
        Intent::Skip(subject) => format!("{} was left out.", code(subject)),
        Intent::Agents(count) => {
            let used = view.talk.turn.finished().filter(|done| done.call.name == "agent").count();
            format!("{count} wanted, {used} used.")
        }
        Intent::Survey(words) if words.is_empty() => "read, and nothing in it asked for a search.".to_owned(),
        Intent::Survey(words) => not_done(view, Tool::Grep, &code(&words.join(" "))),
        Intent::Focus(subject) => not_done(view, Tool::Grep, &code(subject)),
        Intent::Use(tool_use) => not_done(view, tool_use.tool, &tool_use.subject()),
    }
}

/// Returns why something that was wanted is not done, and what to do about it.
fn not_done(view: &View, tool: Tool, subject: &str) -> String {
    let (name, _, verb) = tool.names();
    if view.talk.offers(name) {
        format!("I did not {verb} {subject}: it came after the last round of tools. Send it again and I will.")
    } else {
        format!(
            "I cannot {verb} {subject}: {} is not available here. Allow that tool, or choose another model.",
            code(name)
        )
    }
}

fn tool_outcome(tool_use: &ToolUse, result: &str) -> String {
    let subject = tool_use.subject();
    match tool_use.tool {
        _ if results::failed(result) => format!("it failed: {}", code(result.lines().next().unwrap_or_default())),
        Tool::Calculator => format!("{subject} is {}.", code(result)),
        Tool::Bash => format!("I ran {subject}; it printed {}.", number(result.lines().count(), "line")),
        Tool::Write => format!("I wrote {subject}."),
        Tool::Glob => format!("{subject} matches {}.", extent(results::paths(result).len(), result, "file")),
        Tool::Read => format!("{subject} has {}.", extent(results::lines("", result).len(), result, "line")),
        Tool::Grep => {
            let matches = if tool_use.words.len() == 1 { "matches" } else { "match" };
            let hits = results::hits(result);
            let files = files::tally(hits.iter().map(|hit| hit.path.as_str()));
            let Some((path, most)) = files.first() else { return format!("{subject} {matches} nothing.") };
            let (lines, files) = (extent(hits.len(), result, "line"), number(files.len(), "file"));
            format!("{subject} {matches} {lines} of {files}, most of them in {} ({most}).", code(path))
        }
    }
}

/// Answers an intent at length.
pub(super) fn answer(view: &View, intent: &Intent) -> String {
    let Some(tool_use) = intent.tool_use() else {
        return match intent {
            Intent::SmallTalk(answer) => small_talk(view, answer),
            Intent::Stop => "Nothing is running, so there is nothing to stop.".to_owned(),
            Intent::Brief
            | Intent::Use(_)
            | Intent::Focus(_)
            | Intent::Skip(_)
            | Intent::Agents(_)
            | Intent::Survey(_) => outcome(view, intent),
        };
    };
    let result = view.result(view.call(&tool_use));
    let lines = || results::lines("", result);
    let detail = match tool_use.tool {
        Tool::Calculator | Tool::Write => String::new(),
        _ if results::failed(result) => String::new(),
        Tool::Grep => hit_list(&results::hits(result)),
        Tool::Glob => {
            let paths = results::paths(result);
            let more = (paths.len() > PATHS).then(|| format!("… and {} more", paths.len() - PATHS));
            joined(&kinds_of(&paths), &list(paths.iter().take(PATHS).map(|path| code(path)).chain(more)))
        }
        Tool::Bash => fenced("text", &result.lines().take(LINES).collect::<Vec<_>>()),
        Tool::Read => fenced(
            language(&tool_use.words.join(" ")),
            &lines().iter().take(LINES).map(|hit| &*hit.text).collect::<Vec<_>>(),
        ),
    };
    let outcome = outcome(view, intent);
    let mut chars = outcome.chars();
    let capital = chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect());
    joined(&capital, &detail)
}

/// Says at the end what came of each steering message.
pub(super) fn account(view: &View) -> String {
    let line = |(index, request): (usize, &Request)| {
        if request.kind == TextKind::Rule {
            return format!("{}. {}: a rule; I keep to it.", index + 1, inline_quote(&request.text));
        }
        let outcomes: Vec<String> = request.intents.iter().map(|intent| outcome(view, intent)).collect();
        let outcomes = if outcomes.is_empty() { "covered by this answer.".to_owned() } else { outcomes.join(" ") };
        format!("{}. {}: {outcomes}", index + 1, inline_quote(&request.text))
    };
    let steered = view.steering.iter().filter(|request| !request.is_settled).enumerate().map(line);
    let notes = view.talk.turn.notes.iter().map(|note| format!("- noted: {}", inline_quote(note)));
    section("Steering", &steered.chain(notes).collect::<Vec<_>>().join("\n"))
}
