//! The script: what the model does in a turn, step by step.
//!
//! The first step that has calls which were not made yet comes next; when none has, the answer does.

use crate::program::demo::markdown::{and_code, inline_quote, number};
use crate::program::demo::plan::conversation::Call;
use crate::program::demo::plan::files;
use crate::program::demo::plan::request::Intent;
use crate::program::demo::plan::task::Task;
use crate::program::demo::plan::view::{Role, View};

/// The persona that looks at files.
const FILE_PERSONA: &str = "file_miner";
/// Parts of a tour, unless the person says another number.
const PARTS: usize = 3;
/// The step of a tour's plan that the sub-agents are.
const DELEGATE: &str = "send agents into the parts";
const PLAN: [&str; 3] = ["list the files", DELEGATE, "read the main files"];
/// Files that are read together.
const TOGETHER: usize = 2;

/// A step: its calls, the reason for them aloud, and what is said before them.
#[derive(Debug, Default)]
pub(super) struct Step {
    /// The calls, also those that were made already; none when the step does not apply.
    pub calls: Vec<Call>,
    /// The reason, aloud.
    pub thinking: String,
    pub text: String,
}

/// Returns the next step of a turn that has calls to make; none when the answer is due.
pub(super) fn next(view: &View) -> Option<Step> {
    let steps: &[fn(&View) -> Step] = match view.role {
        _ if view.is_stopped() => &[],
        Role::NoTools => &[],
        Role::Direct => &[question_step],
        Role::FollowUp => &[look_for_words, read_found],
        Role::Tour | Role::Survey => &[list, delegate, delegate_focus, read_step, search],
    };
    let open = |step: Step| Step { calls: view.talk.turn.missing(step.calls), ..step };
    steps.iter().map(|step| open(step(view))).find(|step| !step.calls.is_empty())
}

/// Does what the request plainly asks for.
fn question_step(view: &View) -> Step {
    let request = inline_quote(&view.request.text);
    let thinking = format!("The request is {request}. One tool is made for this; no tour is needed.");
    let promises = view.request.intents.iter().map(|intent| super::steering::promise(view, intent));
    Step { calls: plain(view), thinking, text: promises.collect::<Vec<_>>().join(" ") }
}

fn list(view: &View) -> Step {
    let thinking = format!(
        "The task is {}. Before I say anything about these files I have to see them. One listing is cheap, and it tells me \
         how to divide the work.",
        inline_quote(&view.request.text)
    );
    let calls = view.talk.call("glob", &[("pattern", &view.task.pattern)]).into_iter().collect();
    let calls = with_plan(view, calls, 1);
    Step { calls, thinking, text: "I look at what is here first.".to_owned() }
}

/// Hands the parts of the project to sub-agents, once, and does what the request asks for besides.
fn delegate(view: &View) -> Step {
    let is_struck_out = view.talk.turn.struck_out.iter().any(|step| step == DELEGATE);
    if view.talk.turn.first_delegation().is_some() || is_struck_out {
        return Step::default();
    }
    let count = |(_, intent): (usize, &Intent)| if let Intent::Agents(count) = intent { Some(*count) } else { None };
    let most = view.intents().filter_map(count).last().unwrap_or(PARTS);
    let mut tasks = Task::divide(&view.files, most);
    for task in &mut tasks {
        task.words.extend(view.focus().into_iter().chain(&view.task.words).cloned());
    }
    let calls: Vec<Call> = tasks.iter().filter_map(|task| delegation(view, task, &view.files)).collect();
    if calls.is_empty() {
        return Step::default();
    }
    let (files, agents) = (number(view.files.len(), "file"), number(calls.len(), "agent"));
    let labels: Vec<String> = tasks.into_iter().map(|task| task.label).collect();
    let thinking = format!(
        "The listing shows {files}. The parts do not depend on each other, so {agents} can work at the same time: {}. They \
         see nothing of this conversation: each needs a task that stands by itself, with its pattern and the files to begin \
         with.",
        and_code(&labels)
    );
    let text = format!("I see {files} here, and send {agents} into them at the same time.");
    Step { calls: with_plan(view, with_request(view, calls), 2), thinking, text }
}

/// Sends sub-agents after a focus that came when the first ones were on their way already.
fn delegate_focus(view: &View) -> Step {
    let Some(round) = view.talk.turn.first_delegation().filter(|_| has_reports(view)) else { return Step::default() };
    let send = |(after, intent): (usize, &Intent)| {
        let Intent::Focus(subject) = intent else { return None };
        let about = Some(files::about(&view.listed, subject)).filter(|files| !files.is_empty());
        let task = Task::whole(subject, vec![subject.clone()]);
        (after > round).then(|| delegation(view, &task, &about.unwrap_or_else(|| view.listed.clone())))?
    };
    Step {
        calls: view.intents().filter_map(send).collect(),
        thinking: "The agents have reported, and the focus has changed since. Another agent can look there.".to_owned(),
        text: "I send one more agent after the new focus.".to_owned(),
    }
}

/// Reads the main files; behind the reports of sub-agents the one at the centre, so that the answer can show it.
fn read_step(view: &View) -> Step {
    let telling = files::by_importance(&view.files);
    if has_reports(view) {
        let centre = telling.get(..usize::from(view.files_read().is_empty())).unwrap_or_default();
        let named = and_code(centre);
        return Step {
            calls: with_plan(view, view.read_files(centre), 3),
            thinking: format!("The reports are data. I read {named} myself, to quote a real line or two."),
            text: format!("The agents have reported. I read {named} myself, then I answer."),
        };
    }
    let telling: Vec<String> = telling.into_iter().take(TOGETHER).collect();
    if telling.is_empty() {
        return Step {
            thinking: "Nothing is listed here, so there is no file to read.".to_owned(),
            text: "I see no file here that I could read.".to_owned(),
            calls: with_plan(view, with_request(view, Vec::new()), 3),
        };
    }
    Step {
        thinking: format!("{} here. I read the main ones myself.", number(view.files.len(), "file")),
        text: format!("I read the main files: {}.", and_code(&telling)),
        calls: with_plan(view, with_request(view, view.read_files(&telling)), 3),
    }
}

/// Searches for definitions, open TODOs and the words of the task, where no sub-agent does.
fn search(view: &View) -> Step {
    if has_reports(view) || (view.files.is_empty() && view.talk.offers("glob")) {
        return Step::default();
    }
    Step {
        calls: [view.search_for_task(), view.definitions(), view.open_ends()].into_iter().flatten().collect(),
        thinking: "Now the definitions and the open TODOs, in one batch; the hits show where most of the code is."
            .to_owned(),
        text: "I search for definitions and open TODOs.".to_owned(),
    }
}

/// Searches for the words of a question, and does what it asks for besides.
fn look_for_words(view: &View) -> Step {
    let words = and_code(&view.task.words);
    Step {
        calls: with_request(view, Vec::new()),
        thinking: format!("A question after my first look: I know the listing; now I look for {words}."),
        text: format!("{} Now I look for {words}.", view.memory()),
    }
}

/// Reads the files that have most of the words, by their lines or names; the next main files where there are none.
fn read_found(view: &View) -> Step {
    if !view.files_read().is_empty() {
        return Step::default();
    }
    let (hits, _) = view.found(view.search_for_task(), "line");
    let named: Vec<String> = view.task.words.iter().flat_map(|word| files::about(&view.listed, word)).collect();
    let most = files::tally(hits.iter().map(|hit| hit.path.as_str()).chain(named.iter().map(String::as_str)));
    let most: Vec<String> = most.into_iter().map(|(path, _)| path.to_owned()).collect();
    let paths = if view.task.words.is_empty() { view.unread() } else { most };
    Step {
        calls: view.read_files(paths.iter().take(TOGETHER)),
        thinking: "There is more to see: the lines around the hits say more.".to_owned(),
        text: format!("I read {}.", and_code(paths.get(..TOGETHER.min(paths.len())).unwrap_or_default())),
    }
}

/// Adds the plan of a tour behind the calls of a step, with so many steps done: those are over when the plan is written. In
/// a mode that wants a plan first it is written once.
fn with_plan(view: &View, calls: Vec<Call>, done: usize) -> Vec<Call> {
    let keeps_one = view.role == Role::Tour && !calls.is_empty();
    let plan = view.talk.plan_call(&PLAN, done).filter(|_| keeps_one);
    calls.into_iter().chain(plan).collect()
}

fn has_reports(view: &View) -> bool {
    view.talk.turn.succeeded("agent").next().is_some()
}

/// Adds what the request plainly asks for and the search for its words; a task of a sub-agent asks for neither.
fn with_request(view: &View, calls: Vec<Call>) -> Vec<Call> {
    let besides = plain(view).into_iter().filter(|_| view.role != Role::Survey);
    besides.chain(calls).chain(view.search_for_task().filter(|_| view.role != Role::Survey)).collect()
}

fn plain(view: &View) -> Vec<Call> {
    let plain = view.request.intents.iter().filter(|intent| matches!(intent, Intent::Use(_)));
    plain.filter_map(|intent| view.call(&intent.tool_use()?)).collect()
}

fn delegation(view: &View, task: &Task, paths: &[String]) -> Option<Call> {
    let text = task.text(paths, &view.request.text);
    view.talk.call("agent", &[("name", FILE_PERSONA), ("task", &text)])
}
