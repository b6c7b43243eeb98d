//! What a role knows when it plans: the conversation, what was asked and steered, its task, the files in view.
//!
//! Everything is derived anew for each request; steps and sections only read it.

use crate::demo::markdown::{and, and_code, code, inline_quote, number};
use crate::demo::plan::conversation::{Call, Conversation};
use crate::demo::plan::files::{self, KINDS};
use crate::demo::plan::requests::{Intent, Tool, ToolUse, understand};
use crate::demo::plan::results::{self, Hit};
use crate::demo::plan::script::Role;
use crate::demo::plan::task::Task;
use crate::demo::plan::{intents, steps};

/// Rounds after which a turn answers, whatever is still open.
const MOST_ROUNDS: usize = 24;

/// A message of the person with what it asks for.
#[derive(Debug)]
pub struct Request {
    /// The words.
    pub text: String,
    /// What they ask for, in order.
    pub intents: Vec<Intent>,
    /// How many rounds were over when it came; 0 for those that opened the turn.
    pub after: usize,
}

/// What a role knows when it plans.
#[derive(Debug)]
pub struct View<'a> {
    /// The conversation.
    pub talk: &'a Conversation,
    /// As whom the model is asked.
    pub role: Role,
    /// The request that the turn is about.
    pub request: Request,
    /// What was said besides, in order.
    pub steering: Vec<Request>,
    /// Whether the turn is to end now.
    pub stop: bool,
    /// What to look at and for.
    pub task: Task,
    /// The files that the listing shows.
    pub listed: Vec<String>,
    /// Those in focus, without what is to be skipped.
    pub files: Vec<String>,
}

/// A file that was read in the turn.
#[derive(Debug)]
pub struct ReadFile<'a> {
    /// Its path.
    pub path: &'a str,
    /// Its lines, as far as they were read.
    pub lines: Vec<Hit>,
    /// How long it is, for people.
    pub length: String,
}

impl Request {
    fn new(text: &str, after: usize) -> Self {
        Self { text: text.to_owned(), intents: understand(text), after }
    }
}

impl<'a> View<'a> {
    /// Derives what is known. The last of several opening messages is what the turn is about.
    pub fn of(talk: &'a Conversation) -> Self {
        let mut steering: Vec<Request> = talk.turn.opening.iter().map(|text| Request::new(text, 0)).collect();
        let request = steering.pop().unwrap_or_else(|| Request::new("", 0));
        // An earlier opening message that asks for no particular thing is covered by the last one.
        for request in &mut steering {
            request.intents.retain(|intent| !matches!(intent, Intent::Survey(_)));
        }
        for (index, round) in talk.turn.rounds.iter().enumerate() {
            steering.extend(round.steering.iter().map(|text| Request::new(text, index + 1)));
        }
        let role = Role::of(talk, &request);
        let task =
            if role == Role::Survey { Task::read(&request.text) } else { Task::whole("whole project", Vec::new()) };
        let mut view = Self { talk, role, request, steering, stop: false, task, listed: Vec::new(), files: Vec::new() };
        view.stop =
            !view.has_rounds_left() || view.steering.iter().any(|request| request.intents.contains(&Intent::Stop));
        view.listed = match talk.earlier_listing() {
            Some((_, files)) if role == Role::FollowUp => files,
            _ => results::paths(view.listing()),
        };
        if role != Role::Survey {
            view.task.words = view.request.intents.iter().flat_map(survey_words).cloned().collect();
            view.task.words.extend(view.focus().filter(|_| role == Role::FollowUp).cloned());
        }
        view.files = view.in_view();
        view
    }

    fn in_view(&self) -> Vec<String> {
        let mut left = self.listed.clone();
        for skipped in self.intents().filter_map(|(_, intent)| skipped(intent)) {
            let about = files::about(&left, skipped);
            left.retain(|path| !about.contains(path));
        }
        let focused = self.focus().map_or(Vec::new(), |subject| files::about(&left, subject));
        if focused.is_empty() || self.role == Role::Survey { left } else { focused }
    }

    /// Returns every intent of the turn with the round after which it came, the request's own first.
    pub fn intents(&self) -> impl Iterator<Item = (usize, &Intent)> {
        let all = std::iter::once(&self.request).chain(&self.steering);
        all.flat_map(|request| request.intents.iter().map(|intent| (request.after, intent)))
    }

    /// Tells whether the turn may have another round.
    pub fn has_rounds_left(&self) -> bool {
        self.talk.turn.rounds.len() < MOST_ROUNDS
    }

    /// Tells whether the answer is to be short.
    pub fn is_brief(&self) -> bool {
        self.intents().any(|(_, intent)| *intent == Intent::Brief)
    }

    /// Returns the newest focus, when there is one.
    pub fn focus(&self) -> Option<&String> {
        self.intents().filter_map(|(_, intent)| focused(intent)).last()
    }

    /// Returns the steering that came since the last reply.
    pub fn fresh(&self) -> impl Iterator<Item = &Request> {
        self.steering.iter().filter(|request| request.after == self.talk.turn.rounds.len())
    }

    /// Tells whether a sub-agent has reported.
    pub fn has_reports(&self) -> bool {
        self.talk.turn.succeeded("agent").next().is_some()
    }

    /// Makes the call for a use of a tool, when that is on offer.
    pub fn call(&self, tool_use: &ToolUse) -> Option<Call> {
        let (name, argument) = tool_use.tool.names();
        match tool_use.tool {
            Tool::Grep => self.grep(&either(&tool_use.words), &tool_use.scope),
            Tool::Calculator | Tool::Read | Tool::Glob | Tool::Bash => {
                self.talk.call(name, &[(argument, &tool_use.words.join(" "))])
            }
        }
    }

    /// Makes the call that searches a regular expression, everywhere or under a path.
    pub fn grep(&self, pattern: &str, scope: &str) -> Option<Call> {
        self.talk.call("grep", &[("pattern", pattern), ("path", scope)])
    }

    /// Makes the calls that read files.
    pub fn read<'p>(&self, paths: impl IntoIterator<Item = &'p String>) -> Vec<Call> {
        paths.into_iter().filter_map(|path| self.talk.call("read", &[("path", path)])).collect()
    }

    /// Returns the result of a call; empty when it was not made.
    pub fn result(&self, call: Option<Call>) -> &'a str {
        call.and_then(|call| self.talk.turn.result_of(&call)).unwrap_or_default()
    }

    /// Returns the result of the listing.
    pub fn listing(&self) -> &'a str {
        self.result(self.talk.call("glob", &[("pattern", &self.task.pattern)]))
    }

    /// Returns what a search found in the files in view, and how much that is for people.
    pub fn found(&self, call: Option<Call>, noun: &str) -> (Vec<Hit>, String) {
        let result = self.result(call);
        let all = self.listed.is_empty() || (results::is_cut(self.listing()) && self.role != Role::Survey);
        let mut hits = results::hits(result);
        hits.retain(|hit| all || self.files.contains(&hit.path));
        let count = results::extent(hits.len(), result, noun);
        (hits, count)
    }

    /// Returns the files that were read in the turn, in order.
    pub fn files_read(&self) -> Vec<ReadFile<'a>> {
        let read = self.talk.turn.succeeded("read").map(|done| {
            let lines = results::lines(done.call.text("path"), &done.result);
            let length = results::extent(lines.len(), &done.result, "line");
            ReadFile { path: done.call.text("path"), lines, length }
        });
        read.filter(|file| !file.lines.is_empty()).collect()
    }

    /// Says what was found before in this conversation, when something was.
    pub fn memory(&self) -> Option<String> {
        let (turn, files) = self.talk.earlier_listing()?;
        let request = inline_quote(turn.opening.last().map(String::as_str).unwrap_or_default());
        Some(format!("Earlier in this conversation, for {request}, I listed {} here.", number(files.len(), "file")))
    }

    /// Fills in what stands in braces in a text of a script.
    pub fn fill(&self, template: &str) -> String {
        let mut parts = template.split(['{', '}']);
        let mut text = parts.next().unwrap_or_default().to_owned();
        while let (Some(name), rest) = (parts.next(), parts.next()) {
            text = text + &self.value(name) + rest.unwrap_or_default();
        }
        text.trim().to_owned()
    }

    fn value(&self, name: &str) -> String {
        let calls = |name: &str| steps::delegate(self).iter().filter(|call| call.name == name).count();
        match name {
            "request" => inline_quote(&self.request.text),
            "tools" => and_code(&self.talk.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>()),
            "promises" => intents::promises(self, &self.request),
            "memory" => self.memory().unwrap_or_default(),
            "files" => number(self.files.len(), "file"),
            "kinds" => and(&self.kinds()),
            "agents" => number(calls("agent"), "agent"),
            "label" => self.task.label.clone(),
            "pattern" => code(&self.task.pattern),
            "words" => and_code(&self.task.words),
            "telling" => and_code(&steps::telling(self)),
            "centre" => and_code(&files::most_telling(&self.files).into_iter().take(1).collect::<Vec<_>>()),
            "densest" => and_code(&steps::densest(self).into_iter().collect::<Vec<_>>()),
            "results" => number(self.talk.turn.finished().count(), "result"),
            unknown => unknown.to_owned(),
        }
    }

    fn kinds(&self) -> Vec<String> {
        let tasks = Task::divide(&self.files, KINDS.len()).into_iter().filter(|task| task.words.is_empty());
        tasks.map(|task| number(task.files.len(), task.label.trim_end_matches('s'))).collect()
    }
}

/// Writes a regular expression that finds any of some words; lower-case words are found in any case.
pub fn either(words: &[String]) -> String {
    let any_case = !words.iter().any(|word| word.chars().any(char::is_uppercase));
    let escaped: Vec<String> = words.iter().map(|word| escape(word)).collect();
    format!("{}{}", if any_case && !words.is_empty() { "(?i)" } else { "" }, escaped.join("|"))
}

fn escape(word: &str) -> String {
    let escaped = |c: char| r"\.+*?()|[]{}^$#&-~".contains(c).then_some('\\').into_iter().chain([c]);
    word.chars().flat_map(escaped).collect()
}

fn focused(intent: &Intent) -> Option<&String> {
    if let Intent::Focus(subject) = intent { Some(subject) } else { None }
}

fn skipped(intent: &Intent) -> Option<&String> {
    if let Intent::Skip(subject) = intent { Some(subject) } else { None }
}

fn survey_words(intent: &Intent) -> &[String] {
    if let Intent::Survey(words) = intent { words } else { &[] }
}
