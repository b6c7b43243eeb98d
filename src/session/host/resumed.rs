//! What a session goes on with that an earlier process began. The worker takes it up before the first turn.
//!
//! Its events are told in parts, so that a session of any length takes no more memory than what is shown of it.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::{io, mem};

use crate::host::Handle;
use crate::host::open_questions::QuestionDesk;
use steersman_agent::subagent::FinishedAgents;
use steersman_agent::{Agent, question_event};
use steersman_base::details::UndoneFile;
use steersman_base::event::{Envelope, Event};
use steersman_base::id::{AgentId, CallId};
use steersman_base::message::Message;
use steersman_base::plan::PlanChanged;
use steersman_base::protocol::{AgentQuestion, Unfinished};
use steersman_base::steering::Rule;
use steersman_core::approval::Asker;
use steersman_core::control::AgentNote;
use steersman_core::tool::{Outputs, shorten};
use steersman_tools::AnswerSender;

/// A session that an earlier process left: first what happened in it, then what it goes on with.
pub trait ResumeSource: Send + Debug {
    /// Returns the next events for a screen to show again; none when there are no more. May take a moment.
    ///
    /// # Errors
    /// When the session cannot be read any further.
    fn events(&mut self) -> io::Result<Vec<Envelope>>;

    /// Returns what the session goes on with, as far as its events were returned.
    fn resumed(self: Box<Self>) -> Resumed;
}

/// A session as its earlier process left it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Resumed {
    /// The conversation as it was recorded; calls may be open in it.
    pub messages: Vec<Message>,
    /// The sub-agents that can go on.
    pub agents: FinishedAgents,
    /// Answers of sub-agents in the background that did not reach the main agent.
    pub answers: Vec<AgentNote>,
    /// What the main agent has asked and works on without.
    pub questions: Vec<LeftQuestion>,
    /// Whether the task of the main agent waits for an answer; `None` where only the conversation tells it.
    pub task_open: Option<bool>,
    /// What happened and was not told yet, for a screen to show again.
    pub envelopes: Vec<Envelope>,
    /// Sentences for the user about how it was read.
    pub notes: Vec<String>,
    /// What ends everything that was open, the innermost first.
    pub closing: Vec<ClosingEvent>,
    /// What waits for the user; each text is held until the user says that it still holds.
    pub unfinished: Unfinished,
    /// Undos that the model was not told of: the turn, and what was done about each file.
    pub undone: Vec<(Option<u32>, Vec<UndoneFile>)>,
    /// The rules that held; `None` where none was ever set.
    pub rules: Option<Vec<Rule>>,
    /// The plan of the main agent; `None` where it had none.
    pub plan: Option<PlanChanged>,
    /// Where the numbering goes on.
    pub numbers: Numbers,
}

/// A question that an agent has asked and does not wait for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftQuestion {
    /// The call that asked it.
    pub call: CallId,
    /// The question.
    pub question: AgentQuestion,
}

impl Resumed {
    /// Gives the main agent what it goes on with, and its sub-agents, and asks its open questions again; what was open ends, and an answer that is too long for the
    /// conversation is stored among `outputs`. Returns the system prompt that
    /// it was recorded with, where the agent has another one now.
    pub(super) async fn hand_over(
        self,
        agent: &mut Agent,
        handle: &Handle,
        outputs: Option<&Outputs>,
    ) -> Option<String> {
        for ClosingEvent { agent: of, parent, event } in self.closing {
            agent.listeners().emit_as(of, parent, event);
        }
        let replaced = agent.resume(&self.messages, self.numbers.turns);
        agent.resume_task(self.task_open);
        handle.continuations().take_over(self.agents);
        let desk = QuestionDesk::for_tools(handle);
        for LeftQuestion { call, question } in self.questions {
            let listeners = agent.listeners().clone();
            let report = Arc::new(move |record| listeners.emit(question_event(record)));
            desk.ask(Asker { agent: agent.id().clone(), call }, question, report, AnswerSender::without_call());
        }
        for note in self.answers {
            agent.resume_answer(AgentNote { answer: shorten(note.answer, outputs).await, ..note });
        }
        if let Some(rules) = self.rules {
            agent.rules().take_over(rules);
        }
        if let Some(plan) = self.plan {
            agent.plans().take_over(agent.id(), plan);
        }
        replaced
    }
}

impl ResumeSource for Resumed {
    fn events(&mut self) -> io::Result<Vec<Envelope>> {
        Ok(mem::take(&mut self.envelopes))
    }

    fn resumed(self: Box<Self>) -> Resumed {
        *self
    }
}

/// An event that ends something for an agent that no longer runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosingEvent {
    /// The agent.
    pub agent: AgentId,
    /// The agent that spawned it.
    pub parent: Option<AgentId>,
    /// The event.
    pub event: Event,
}

/// The highest numbers that were given, so that none is given again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Of an event.
    pub seq: u64,
    /// Of a text.
    pub texts: u64,
    /// Of a turn of the main agent.
    pub turns: u32,
    /// Of a job.
    pub jobs: u64,
    /// The next number of each persona.
    pub agents: HashMap<String, u64>,
}
