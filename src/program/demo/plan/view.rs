//! What the model knows when it plans: the conversation, what was asked and steered, its task, the files in view.
//!
//! Everything is derived anew for each request; steps and reports only read it.

use crate::program::demo::markdown::{inline_quote, number};
use crate::program::demo::plan::conversation::{Call, Conversation, SteeringText};
use crate::program::demo::plan::files;
use crate::program::demo::plan::request::{Intent, Tool, ToolUse, speaks_of_the_whole, understand};
use crate::program::demo::plan::results::{self, Hit};
use crate::program::demo::plan::task::{MARKS, Task};
use steersman_base::steering::TextKind;

/// Rounds after which a turn answers, whatever is still open.
const MOST_ROUNDS: usize = 24;

/// What a turn is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Plain requests, each done by its tool.
    Direct,
    /// A look at the whole project.
    Tour,
    /// A question after a tour.
    FollowUp,
    /// A sub-agent's part of a tour.
    Survey,
    /// Anything, without tools.
    NoTools,
}

/// A message of the person with what it asks for.
#[derive(Debug)]
pub(super) struct Request {
    pub text: String,
    /// What they ask for, in order.
    pub intents: Vec<Intent>,
    /// How many rounds were over when it came; 0 for those that opened the turn.
    pub after: usize,
    /// What it is: an addition to the task or a rule.
    pub kind: TextKind,
    /// True for what was handled before, and for a rule of an earlier turn: it still holds, and nothing new is done for it.
    pub is_settled: bool,
}

/// What the model knows when it plans.
#[derive(Debug)]
pub(super) struct View<'a> {
    pub talk: &'a Conversation,
    /// What the turn is about.
    pub role: Role,
    /// The request that the turn is about.
    pub request: Request,
    /// What was said besides, in order.
    pub steering: Vec<Request>,
    pub task: Task,
    /// The files that the listing shows.
    pub listed: Vec<String>,
    /// Those that are to be skipped.
    skipped: Vec<String>,
    /// Those in focus, without what is to be skipped.
    pub files: Vec<String>,
}

impl Request {
    fn new(text: &str, after: usize) -> Self {
        Self { text: text.to_owned(), intents: understand(text), after, kind: TextKind::Add, is_settled: false }
    }

    fn settled(text: &str) -> Self {
        Self { is_settled: true, ..Self::new(text, 0) }
    }
}

impl Role {
    fn new(talk: &Conversation, request: &Request, task: Option<&Task>) -> Self {
        let is_wide = |intent: &Intent| match intent {
            Intent::Survey(_) | Intent::Focus(_) | Intent::Skip(_) | Intent::Agents(_) | Intent::Brief => true,
            Intent::SmallTalk(_) | Intent::Stop | Intent::Use(_) => false,
        };
        match task {
            _ if talk.tools.is_empty() => Self::NoTools,
            Some(_) => Self::Survey,
            None if !request.intents.iter().any(is_wide) => Self::Direct,
            None if talk.earlier_listing().is_some() && !speaks_of_the_whole(&request.text) => Self::FollowUp,
            None => Self::Tour,
        }
    }
}

impl<'a> View<'a> {
    /// Derives what is known. The last of several opening messages is what the turn is about.
    pub(super) fn new(talk: &'a Conversation) -> Self {
        let mut steering: Vec<Request> = talk.turn.opening.iter().map(|text| Request::new(text, 0)).collect();
        let request = steering.pop().unwrap_or_else(|| Request::new("", 0));
        // An earlier opening message that asks for no particular thing is covered by the last one.
        for request in &mut steering {
            request.intents.retain(|intent| !matches!(intent, Intent::Survey(_)));
        }
        let heard = talk.turn.rounds.iter().flat_map(|round| &round.steering);
        let is_new = |text: &String| heard.clone().any(|heard| heard.text == *text);
        let rules = talk.rules.iter().map(|(_, text)| text).filter(|text| !is_new(text));
        steering.extend(talk.turn.handled.iter().chain(rules).map(|text| Request::settled(text)));
        for (index, round) in talk.turn.rounds.iter().enumerate() {
            let steered = |heard: &SteeringText| Request { kind: heard.kind, ..Request::new(&heard.text, index + 1) };
            steering.extend(round.steering.iter().map(steered));
        }
        let task = Task::parse(&request.text);
        let role = Role::new(talk, &request, task.as_ref());
        let task = task.unwrap_or_else(|| Task::whole("the whole project", Vec::new()));
        let mut view =
            Self { talk, role, request, steering, task, listed: Vec::new(), skipped: Vec::new(), files: Vec::new() };
        view.listed = match talk.earlier_listing() {
            Some((_, files)) if role == Role::FollowUp => files,
            _ => results::paths(view.listing()),
        };
        if role != Role::Survey {
            let asked = view.request.intents.iter().filter_map(|intent| match intent {
                Intent::Survey(words) => Some(words.clone()),
                Intent::Focus(subject) if role == Role::FollowUp => Some(vec![subject.clone()]),
                _ => None,
            });
            view.task.words = asked.flatten().collect();
        }
        view.skipped = view.to_skip();
        view.files = view.in_view();
        view
    }

    fn to_skip(&self) -> Vec<String> {
        let subjects = self.intents().filter_map(|(_, intent)| match intent {
            Intent::Skip(subject) => Some(subject),
            _ => None,
        });
        subjects.flat_map(|subject| files::about(&self.listed, subject)).collect()
    }

    /// Tells whether what is found there stays out of the answer.
    pub(super) fn is_skipped(&self, hit: &Hit) -> bool {
        self.skipped.contains(&hit.path)
    }

    fn in_view(&self) -> Vec<String> {
        let left: Vec<String> = self.listed.iter().filter(|path| !self.skipped.contains(path)).cloned().collect();
        let focused = self.focus().map_or(Vec::new(), |subject| files::about(&left, subject));
        if focused.is_empty() { left } else { focused }
    }

    /// Returns every intent of the turn with the round after which it came, the request's own first.
    pub(super) fn intents(&self) -> impl Iterator<Item = (usize, &Intent)> {
        let all = std::iter::once(&self.request).chain(&self.steering);
        all.flat_map(|request| request.intents.iter().map(|intent| (request.after, intent)))
    }

    /// Tells whether the turn may have another round.
    pub(super) fn has_rounds_left(&self) -> bool {
        self.talk.turn.rounds.len() < MOST_ROUNDS
    }

    /// Tells whether the turn is to end now.
    pub(super) fn is_stopped(&self) -> bool {
        !self.has_rounds_left() || self.steering.iter().any(|request| request.intents.contains(&Intent::Stop))
    }

    /// Tells whether the answer is to be short.
    pub(super) fn is_brief(&self) -> bool {
        self.intents().any(|(_, intent)| *intent == Intent::Brief)
    }

    /// Returns the newest focus, when there is one.
    pub(super) fn focus(&self) -> Option<&String> {
        self.intents()
            .filter_map(|(_, intent)| if let Intent::Focus(subject) = intent { Some(subject) } else { None })
            .last()
    }

    /// Returns the steering that came since the last reply.
    pub(super) fn fresh(&self) -> impl Iterator<Item = &Request> {
        let rounds = self.talk.turn.rounds.len();
        self.steering.iter().filter(move |request| request.after == rounds && !request.is_settled)
    }

    pub(super) fn call(&self, tool_use: &ToolUse) -> Option<Call> {
        let (name, argument, _) = tool_use.tool.names();
        match tool_use.tool {
            Tool::Grep => self.grep(&either(&tool_use.words), &tool_use.scope),
            Tool::Calculator | Tool::Read | Tool::Glob | Tool::Bash => {
                self.talk.call(name, &[(argument, &tool_use.words.join(" "))])
            }
            Tool::Write => {
                let [path, content] = tool_use.words.as_slice() else { return None };
                self.talk.call(name, &[(argument, path), ("content", content)])
            }
        }
    }

    pub(super) fn read_files<'p>(&self, paths: impl IntoIterator<Item = &'p String>) -> Vec<Call> {
        paths.into_iter().filter_map(|path| self.talk.call("read", &[("path", path)])).collect()
    }

    /// Makes the search for the words of the task.
    pub(super) fn search_for_task(&self) -> Option<Call> {
        self.grep(&either(&self.task.words), self.task.scope()).filter(|_| !self.task.words.is_empty())
    }

    /// Makes the search for open TODOs.
    pub(super) fn open_ends(&self) -> Option<Call> {
        self.grep(&MARKS.join("|"), self.task.scope())
    }

    /// Makes the search for definitions: headings where most files are documents.
    pub(super) fn definitions(&self) -> Option<Call> {
        let documents = self.files.iter().filter(|path| files::is_document(path)).count();
        let pattern = if documents * 2 > self.files.len() {
            r"^#{1,3} [^ ]"
        } else {
            r"^[ \t]*(pub(\([a-z]+\))? |export |default |async |public |private |static |abstract )*(fn|struct|enum|trait|class|def|func|function|interface|type|module|mod) [A-Za-z_]"
        };
        self.grep(pattern, self.task.scope())
    }

    fn grep(&self, pattern: &str, scope: &str) -> Option<Call> {
        self.talk.call("grep", &[("pattern", pattern), ("path", scope)])
    }

    /// Returns the result of a call; empty when it was not made.
    pub(super) fn result(&self, call: Option<Call>) -> &'a str {
        call.and_then(|call| self.talk.turn.result_of(&call)).unwrap_or_default()
    }

    pub(super) fn listing(&self) -> &'a str {
        self.result(self.talk.call("glob", &[("pattern", &self.task.pattern)]))
    }

    /// Returns what a search found in the files in view, and how much that is for people.
    pub(super) fn found(&self, call: Option<Call>, noun: &str) -> (Vec<Hit>, String) {
        let result = self.result(call);
        let mut hits = results::hits(result);
        hits.retain(|hit| {
            self.listed.is_empty() || results::is_truncated(self.listing()) || self.files.contains(&hit.path)
        });
        let count = results::extent(hits.len(), result, noun);
        (hits, count)
    }

    /// Returns the path and the lines of each file that was read in the turn, in order.
    pub(super) fn files_read(&self) -> Vec<(&'a str, Vec<Hit>)> {
        let read = self.talk.turn.succeeded("read").map(|done| {
            let path = done.call.text("path");
            (path, results::lines(path, &done.result))
        });
        read.filter(|(_, lines)| !lines.is_empty()).collect()
    }

    /// Returns the main files that no turn has read, in order.
    pub(super) fn unread(&self) -> Vec<String> {
        let turns = self.talk.earlier.iter().chain([&self.talk.turn]);
        let read: Vec<&str> =
            turns.flat_map(|turn| turn.succeeded("read")).map(|done| done.call.text("path")).collect();
        files::by_importance(&self.files).into_iter().filter(|path| !read.contains(&path.as_str())).collect()
    }

    /// Says what was found before in this conversation; empty when nothing was.
    pub(super) fn memory(&self) -> String {
        let Some((turn, files)) = self.talk.earlier_listing() else { return String::new() };
        let request = inline_quote(turn.opening.last().map(String::as_str).unwrap_or_default());
        format!("Earlier in this conversation, for {request}, I listed {} here.", number(files.len(), "file"))
    }
}

/// Writes a regular expression that finds any of some words; lower-case words are found in any case.
fn either(words: &[String]) -> String {
    let any_case = !words.iter().any(|word| word.chars().any(char::is_uppercase));
    let escape = |c: char| r"\.+*?()|[]{}^$#&-~".contains(c).then_some('\\').into_iter().chain([c]);
    let escaped: Vec<String> = words.iter().map(|word| word.chars().flat_map(escape).collect()).collect();
    format!("{}{}", if any_case && !words.is_empty() { "(?i)" } else { "" }, escaped.join("|"))
}
