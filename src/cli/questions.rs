//! Questions without a screen: said on standard error, answered by lines of standard input; and what was refused because
//! nobody was there.

use std::collections::{HashMap, HashSet};

use crate::approval::{Act, Answer, Approvals, NOBODY, Request, RequestId, Subject};
use crate::cli::exit::say;
use crate::event::{Envelope, Event};
use crate::id::{AgentId, CallId};
use crate::limits;
use crate::message::Arguments;

/// Says each open question once.
#[derive(Debug, Default)]
pub struct Questions {
    said: HashSet<RequestId>,
}

impl Questions {
    /// Says the open questions that were not said yet, the oldest first.
    pub fn say_new(&mut self, approvals: &Approvals) {
        for request in approvals.open() {
            if self.said.insert(request.id) {
                say(&words(&request));
            }
        }
    }

    /// Answers the oldest open question, and says so when that was not possible.
    pub fn answer(approvals: &Approvals, answer: Answer) {
        let Some(oldest) = approvals.open().into_iter().next() else { return say("not answered: no question is open") };
        if answer == Answer::Session && oldest.grant.is_none() {
            return say("not answered: this is asked about each time; /yes or /no WORDS answers it");
        }
        if !approvals.answer(oldest.id, answer) {
            say("not answered: the question is gone");
        }
    }
}

/// Returns a question with all that would happen, and how it is answered.
fn words(request: &Request) -> String {
    let who = match &request.asker {
        Some(asker) if !asker.agent.is_main() => format!("{}: ", asker.agent),
        Some(_) | None => String::new(),
    };
    let (question, detail) = match &request.subject {
        Subject::Plain { title, detail } => (title.clone(), detail.clone()),
        Subject::Act(Act::Command(act)) => (format!("run this command in {}?", act.cwd.display()), act.command.clone()),
        Subject::Act(Act::Write(act)) => (format!("{} {}?", act.tool, act.shown), act.diff.clone()),
        Subject::Act(Act::Fetch(act)) => ("get this address?".to_owned(), act.url.clone()),
        Subject::Act(Act::Search(act)) => {
            (format!("search the web ({}) for this?", act.services.join(", ")), act.query.clone())
        }
        Subject::Act(Act::Clone(act)) => ("clone this repository?".to_owned(), act.url.clone()),
    };
    let why = if request.why.is_empty() { String::new() } else { format!(" ({})", request.why) };
    let session = request.grant.as_ref().map(|grant| format!("/session ({grant}), ")).unwrap_or_default();
    format!("{who}{question}{why}\n{}\n/yes, {session}/no or /no WORDS answers", detail.trim_end())
}

/// Collects the calls that were refused because nobody was there to ask.
#[derive(Debug, Default)]
pub struct Unasked {
    calls: HashMap<(AgentId, CallId), String>,
    refused: Vec<String>,
}

impl Unasked {
    /// Takes one event.
    pub fn saw(&mut self, envelope: &Envelope) {
        let key = |id: &CallId| (envelope.agent.clone(), id.clone());
        match &envelope.event {
            Event::ToolCall { id, name, arguments } => {
                self.calls.insert(key(id), summary(name, arguments));
            }
            Event::ToolResult { id, content, is_error, .. } => {
                let call = self.calls.remove(&key(id));
                if let (true, Some(call)) = (*is_error && content.trim_end().ends_with(NOBODY), call) {
                    self.refused.push(call);
                }
            }
            _ => {}
        }
    }

    /// Says what was refused, and what would allow it.
    pub fn say(&self) {
        if self.refused.is_empty() {
            return;
        }
        let count = self.refused.len();
        let acts = if count == 1 { "1 act was".to_owned() } else { format!("{count} acts were") };
        let shown = self.refused.iter().take(limits::REFUSED_SHOWN);
        let mut text = shown.fold(String::new(), |text, call| format!("{text}\n{call}"));
        if count > limits::REFUSED_SHOWN {
            text.push_str("\n…");
        }
        say(&format!(
            "{acts} refused, for nobody was there to ask; --yes, --mode or rules in the configuration allow them:{text}"
        ));
    }
}

fn summary(name: &str, arguments: &Arguments) -> String {
    let whole = format!("{name} {}", serde_json::to_string(arguments).unwrap_or_default());
    crate::text::clip(&crate::text::visible_line(&whole), limits::SUMMARY_COLUMNS).into_owned()
}
