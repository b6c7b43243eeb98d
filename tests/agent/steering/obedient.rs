//! A model that obeys everything which reads like an open instruction: it does each of them with a call of `do`, unless it
//! sees in the conversation that it did so. It has no memory but the request.
//!
//! What reads like one: a message of the user, or a text in it, that nothing marks as handled, replaced or withdrawn, and
//! that is neither a note, a rule nor the task, which it works on with calls of `work`.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use steersman_agent::{KEPT_HEAD, SUMMARY_HEAD};
use steersman_base::event::Usage;
use steersman_base::message::{Arguments, Message, ToolCall};
use steersman_core::provider::{ChatProvider, ChatRequest, Finish, ProviderError, Reply, Sink};

use crate::support::doubles::fault;

/// The model.
pub struct Obedient {
    /// The requests for a reply, and those for a summary.
    pub requests: Mutex<Vec<Vec<Message>>>,
    pub summaries: Mutex<Vec<Vec<Message>>>,
    faults: Mutex<Vec<String>>,
    /// Rounds after which it answers.
    rounds: usize,
}

/// A text of the user as the model reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    pub words: String,
    pub kind: String,
    /// What a mark says of it.
    pub state: Option<String>,
    /// True where it stands as the task.
    pub is_task: bool,
    /// The index of the message.
    pub place: usize,
}

impl Text {
    pub fn is_open(&self) -> bool {
        self.state.is_none() && !self.is_task && self.kind != "note" && self.kind != "rule"
    }
}

/// Reads every text of the user in a request, as a reader who knows tags and marks and nothing else.
pub fn texts(messages: &[Message]) -> Vec<Text> {
    let mut texts = Vec::new();
    let mut has_task = false;
    for (place, message) in messages.iter().enumerate() {
        let Message::User { content, .. } = message else { continue };
        if content.starts_with(SUMMARY_HEAD) {
            continue;
        }
        let whole = if content.starts_with(KEPT_HEAD) { content.as_str() } else { content.trim_start() };
        if !whole.starts_with(KEPT_HEAD) && !whole.starts_with("<steer-") {
            // Bare words: the first are the task, and so are those behind an answer.
            let answered = messages[..place].iter().rev().find_map(|before| match before {
                Message::Assistant(reply) => Some(reply.tool_calls.is_empty()),
                Message::System { .. } | Message::User { .. } | Message::Tool { .. } => None,
            });
            let is_task = !has_task || answered == Some(true);
            has_task = true;
            texts.push(Text { words: content.clone(), kind: "add".to_owned(), state: None, is_task, place });
            continue;
        }
        let mut rest = whole;
        while let Some(at) = rest.find('<') {
            let behind = &rest[at + 1..];
            let Some((head, inner)) = behind.split_once('>') else { break };
            let tag = head.split(' ').next().unwrap();
            let Some(end) = inner.find(&format!("</{tag}>")) else { break };
            let attribute = |name: &str| {
                let (_, value) = head.split_once(&format!("{name}=\""))?;
                Some(value.split('"').next().unwrap().to_owned())
            };
            let is_task = tag.starts_with("task-");
            has_task |= is_task;
            let rule = tag.starts_with("rule-").then(|| "rule".to_owned());
            let kind = rule.or_else(|| attribute("kind")).unwrap_or_else(|| "add".to_owned());
            let words = inner[..end].strip_prefix('\n').and_then(|words| words.strip_suffix('\n')).unwrap_or_default();
            let is_task = is_task || kind == "instead" && tag.starts_with("steer-");
            let state =
                attribute("state").or_else(|| attribute("change").filter(|change| change.starts_with("withdrawn")));
            texts.push(Text { words: words.to_owned(), kind, state, is_task, place });
            rest = &inner[end + tag.len() + 3..];
        }
    }
    texts
}

/// Returns the open instructions that no call has carried out.
pub fn open(messages: &[Message]) -> Vec<String> {
    let done = |words: &str| {
        messages.iter().any(|message| match message {
            Message::Assistant(reply) => reply.tool_calls.iter().any(|call| is_done_by(call, words)),
            Message::System { .. } | Message::User { .. } | Message::Tool { .. } => false,
        })
    };
    let open = texts(messages).into_iter().filter(Text::is_open).map(|text| text.words);
    open.filter(|words| !done(words)).collect()
}

fn is_done_by(call: &ToolCall, words: &str) -> bool {
    match &call.arguments {
        Arguments::Object(map) => call.name == "do" && map.get("text").and_then(|text| text.as_str()) == Some(words),
        Arguments::Raw(_) => false,
    }
}

impl Obedient {
    pub fn new(rounds: usize) -> Arc<Self> {
        Arc::new(Self { requests: Mutex::default(), summaries: Mutex::default(), faults: Mutex::default(), rounds })
    }

    /// Returns what a strict server would have refused.
    pub fn faults(&self) -> Vec<String> {
        self.faults.lock().unwrap().clone()
    }

    fn reply(&self, messages: &[Message]) -> Reply {
        if let Some(fault) = fault(messages) {
            self.faults.lock().unwrap().push(fault);
        }
        let size: usize = messages.iter().map(|message| format!("{message:?}").len()).sum();
        let usage = Usage { input: Some(size as u64 / 4), output: Some(1), ..Usage::default() };
        let is_summary = matches!(&messages[0], Message::System { content } if content.contains("the earlier part of a conversation"));
        if is_summary {
            self.summaries.lock().unwrap().push(messages.to_vec());
            return Reply { content: "Some of it is done.".to_owned(), usage, ..Reply::default() };
        }
        let mut requests = self.requests.lock().unwrap();
        let number = requests.len();
        requests.push(messages.to_vec());
        let call = |place: usize, name: &str, text: &str| ToolCall {
            id: format!("call-{number}-{place}").into(),
            name: name.to_owned(),
            arguments: Arguments::parse(&serde_json::json!({ "text": text }).to_string()),
        };
        let mut calls: Vec<ToolCall> =
            open(messages).iter().enumerate().map(|(place, words)| call(place, "do", words)).collect();
        if !requests.len().is_multiple_of(self.rounds) {
            calls.push(call(calls.len(), "work", "on"));
        }
        let content = if calls.is_empty() { "All of it is done.".to_owned() } else { String::new() };
        Reply { content, tool_calls: calls, usage, finish: Finish::Stop, ..Reply::default() }
    }
}

impl ChatProvider for Obedient {
    fn complete<'a>(
        &'a self,
        request: ChatRequest<'a>,
        _: &'a mut Sink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        let reply = self.reply(request.messages());
        async move { Ok(reply) }.boxed()
    }
}

#[test]
fn it_does_again_what_stands_bare_in_a_conversation_that_lost_the_call() {
    let bare = [Message::system("p"), Message::user("The task."), Message::assistant("x"), Message::user("also this")];
    let answered = [Message::system("p"), Message::user("The task."), Message::user("also this")];
    assert_eq!(open(&answered), ["also this"], "as a host without marks would present a handled text");
    assert_eq!(open(&bare), [""; 0], "behind an answer it is the next task");
}
