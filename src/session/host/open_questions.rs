//! The questions of agents that are open beside their work, also when the calls that asked them have ended.
//!
//! The tool `ask_user` puts them here and the worker runs them. Always holds: an answer goes to the call while that waits, and
//! else, as a text of the user, through the queue of its agent; one that the queue refuses is asked for again. A question
//! goes away with its call where that is stopped, with the conversation and with the session.

use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::Notify;

use crate::host::{Handle, Notice};
use steersman_base::event::UserText;
use steersman_base::id::AgentId;
use steersman_base::sync::lock;
use steersman_core::approval::{AgentAnswer, AgentQuestion, Asker};
use steersman_core::tool::LateReport;
use steersman_tools::{AnswerSender, AskBeside};

/// The questions that the worker has not taken yet.
#[derive(Default)]
pub struct NewQuestions {
    asked: Mutex<Vec<BoxFuture<'static, ()>>>,
    wake: Notify,
}

impl NewQuestions {
    fn push(&self, question: BoxFuture<'static, ()>) {
        lock(&self.asked).push(question);
        self.wake.notify_one();
    }
}

/// Asks on behalf of the agents of a session.
pub(super) struct QuestionDesk(Handle);

impl QuestionDesk {
    /// Makes one for the tools of a session.
    pub(super) fn for_tools(handle: &Handle) -> Arc<dyn AskBeside> {
        Arc::new(Self(handle.clone()))
    }
}

impl AskBeside for QuestionDesk {
    fn ask(&self, asker: Asker, question: AgentQuestion, report: LateReport, reply: AnswerSender) {
        let handle = self.0.clone();
        self.0.new_questions().push(ask(handle, asker, question, report, reply).boxed());
    }
}

/// The open questions, as the worker runs them.
pub(super) struct OpenQuestions {
    new: Arc<NewQuestions>,
    open: FuturesUnordered<BoxFuture<'static, ()>>,
}

impl OpenQuestions {
    pub(super) fn new(handle: &Handle) -> Self {
        Self { new: Arc::clone(handle.new_questions()), open: FuturesUnordered::new() }
    }

    /// Runs the questions until one was answered or one more was asked.
    pub(super) async fn advance(&mut self) {
        tokio::select! {
            Some(()) = self.open.next() => {}
            () = self.new.wake.notified() => self.open.extend(std::mem::take(&mut *lock(&self.new.asked))),
        }
    }

    /// Withdraws all of them: the conversation that they belong to is given up.
    pub(super) fn withdraw(&mut self) {
        drop(std::mem::take(&mut *lock(&self.new.asked)));
        self.open.clear();
    }
}

impl Drop for OpenQuestions {
    fn drop(&mut self) {
        self.withdraw();
    }
}

/// Asks one question until its answer has reached the agent.
async fn ask(handle: Handle, asker: Asker, question: AgentQuestion, report: LateReport, mut reply: AnswerSender) {
    let approvals = Arc::clone(handle.approvals());
    let answer = {
        let answer = approvals.ask_for_agent(&asker, question.clone(), &*report);
        let mut answer = std::pin::pin!(answer);
        tokio::select! {
            biased;
            answer = &mut answer => answer,
            is_open = reply.given_up() => if is_open { answer.await } else { return },
        }
    };
    let Err(mut answer) = reply.send(answer) else { return };
    // From here on no call waits: a default counts for none.
    let question = AgentQuestion { waits: false, default_after: None, ..question };
    while let Some(text) = text_of(&question, answer) {
        let Err(why) = deliver(&handle, &asker.agent, text).await else { return };
        handle.notice(Notice::Info(format!(
            "your answer did not reach {}: {why}; the question is asked again",
            asker.agent
        )));
        answer = approvals.ask_for_agent(&asker, question.clone(), &*report).await;
    }
}

/// Sends an answer to the agent as a text of the user.
async fn deliver(handle: &Handle, to: &AgentId, text: String) -> Result<(), String> {
    let (handle, to) = (handle.clone(), to.clone());
    // It waits until the text is safe.
    let sent = tokio::task::spawn_blocking(move || handle.inject_user_message(&to, UserText::new(text))).await;
    match sent {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(refused)) => Err(refused.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns an answer as a text of the user; `None` where nobody has given one.
fn text_of(question: &AgentQuestion, answer: AgentAnswer) -> Option<String> {
    let asked = &question.text;
    match answer {
        AgentAnswer::Given(answers) => Some(format!("My answer to your question \"{asked}\": {}", answers.join(", "))),
        AgentAnswer::Declined(None) => Some(format!("I do not answer your question \"{asked}\": decide yourself.")),
        AgentAnswer::Declined(Some(words)) => Some(format!("I do not answer your question \"{asked}\": {words}")),
        AgentAnswer::Default(_) | AgentAnswer::Nobody => None,
    }
}
