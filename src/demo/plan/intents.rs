//! What an intent makes the model do and what came of it, in words. For requests and for steering alike.
//! The sentences name what was asked for and rest on real results.

use crate::demo::markdown::{code, fenced, inline_quote, joined, list, number, section};
use crate::demo::plan::files;
use crate::demo::plan::report::{hit_list, kinds_of, language};
use crate::demo::plan::requests::{Intent, Tool, ToolUse};
use crate::demo::plan::results::{self, extent};
use crate::demo::plan::view::{Request, View};

/// Lines shown of a file or of what a command printed.
const LINES: usize = 12;
/// Paths shown of a listing.
const PATHS: usize = 24;

/// Says what the model does for a request, in reply to it.
pub fn promises(view: &View, request: &Request) -> String {
    if request.intents.is_empty() {
        return "I take it together with what follows.".to_owned();
    }
    request.intents.iter().map(|intent| promise(view, intent)).collect::<Vec<_>>().join(" ")
}

fn promise(view: &View, intent: &Intent) -> String {
    match (intent, intent.tool_use()) {
        (_, Some(ToolUse { tool, .. })) if !view.talk.offers(tool.names().0) => {
            format!("For that I need the tool `{}`, and it is not on offer here; I take note of it.", tool.names().0)
        }
        (Intent::Focus(subject), _) => format!("From here on I focus on {}.", code(subject)),
        (_, Some(tool_use)) => format!("I {} {} now.", tool_use.verb, tool_use.subject()),
        (Intent::SmallTalk(answer), _) => format!("{} I go on with the work.", view.fill(answer)),
        (Intent::Stop, _) => "I stop here and answer from what I have.".to_owned(),
        (Intent::Brief, _) => "I keep the answer short.".to_owned(),
        (Intent::Skip(subject), _) => format!("I leave out {}.", code(subject)),
        (Intent::Agents(count), _) => format!("I plan with {}.", number(*count, "sub-agent")),
        (Intent::Survey(_) | Intent::Use(_), None) => "I take it into account.".to_owned(),
    }
}

/// Says in one sentence what came of an intent in a turn.
pub fn outcome(view: &View, intent: &Intent) -> String {
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
        Intent::Survey(_) | Intent::Focus(_) | Intent::Use(_) => {
            "not done: the tool for it was not on offer, or there was no round left.".to_owned()
        }
    }
}

fn tool_outcome(tool_use: &ToolUse, result: &str) -> String {
    let subject = tool_use.subject();
    let first = result.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    match tool_use.tool {
        _ if results::failed(result) => format!("it failed: {}", code(first)),
        Tool::Calculator => format!("{subject} is {}.", code(result)),
        Tool::Bash => format!("I ran {subject}; it printed {}.", number(result.lines().count(), "line")),
        Tool::Glob => format!("{subject} matches {}.", extent(results::paths(result).len(), result, "file")),
        Tool::Read => {
            let lines = results::lines("", result);
            let opening = lines.iter().find(|hit| !hit.text.trim().is_empty());
            let opening = opening.map_or(String::new(), |hit| format!("; it opens with {}", code(&hit.text)));
            format!("{subject} has {}{opening}.", extent(lines.len(), result, "line"))
        }
        Tool::Grep => {
            let stands = if tool_use.words.len() == 1 { "stands" } else { "stand" };
            let hits = results::hits(result);
            let files = files::tally(hits.iter().map(|hit| hit.path.as_str()));
            let Some((path, most)) = files.first() else { return format!("{subject} {stands} nowhere.") };
            let (lines, files) = (extent(hits.len(), result, "line"), number(files.len(), "file"));
            format!("{subject} {stands} in {lines} of {files}; most often in {} ({most}).", code(path))
        }
    }
}

/// Answers an intent at length.
pub fn answer(view: &View, intent: &Intent) -> String {
    let outcome = match intent {
        Intent::SmallTalk(answer) => view.fill(answer),
        Intent::Stop => "Nothing is running, so there is nothing to stop.".to_owned(),
        Intent::Brief | Intent::Use(_) | Intent::Focus(_) | Intent::Skip(_) | Intent::Agents(_) | Intent::Survey(_) => {
            outcome(view, intent)
        }
    };
    let Some(tool_use) = intent.tool_use() else { return outcome };
    let result = view.result(view.call(&tool_use));
    let detail = match tool_use.tool {
        Tool::Calculator => String::new(),
        _ if results::failed(result) => String::new(),
        Tool::Grep => hit_list(&results::hits(result)),
        Tool::Glob => {
            let paths = results::paths(result);
            let more = paths.len().saturating_sub(PATHS);
            let more = (more > 0).then(|| format!("… and {more} more"));
            joined(&kinds_of(&paths), &list(paths.iter().take(PATHS).map(|path| code(path)).chain(more)))
        }
        Tool::Bash => fenced("text", &result.lines().take(LINES).collect::<Vec<_>>()),
        Tool::Read => {
            let lines = results::lines("", result);
            let path = tool_use.words.join(" ");
            fenced(language(&path), &lines.iter().take(LINES).map(|hit| &*hit.text).collect::<Vec<_>>())
        }
    };
    let mut chars = outcome.chars();
    let capital = chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect());
    joined(&capital, &detail)
}

/// Says at the end what came of each steering message.
pub fn account(view: &View) -> String {
    let line = |(index, request): (usize, &Request)| {
        let outcomes: Vec<String> = request.intents.iter().map(|intent| outcome(view, intent)).collect();
        let outcomes = if outcomes.is_empty() { "covered by this answer.".to_owned() } else { outcomes.join(" ") };
        format!("{}. {}: {outcomes}", index + 1, inline_quote(&request.text))
    };
    section("Steering", &view.steering.iter().enumerate().map(line).collect::<Vec<_>>().join("\n"))
}
