//! Where tools wait for an answer: one desk for the whole tree, shared by the agents and whoever answers.
//!
//! A short mutex, never held across an await. A question goes away when its call does; an answer to a question that is
//! gone does nothing and says so.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::approval::act::digest;
use crate::approval::{Act, Answerer, Approved, Grant, Mode, ModeRefused, Policy, Proposal, Sandboxed, Verdict};
use crate::id::{AgentId, CallId};

/// Names one question of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub u64);

/// Names the call that wants to act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    /// The agent.
    pub agent: AgentId,
    /// Its call.
    pub call: CallId,
}

/// Is one open question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Names it.
    pub id: RequestId,
    /// Who asks.
    pub asker: Asker,
    /// What exactly would happen.
    pub act: Act,
    /// Why it is asked although the mode or a rule might allow it; empty when that is plain.
    pub why: String,
    /// What an answer for the session would cover.
    pub grant: Option<Grant>,
}

/// Is what the user says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// This once.
    Once,
    /// For the rest of the session, what the question offered.
    Session,
    /// No, with words for the model or without.
    No(Option<String>),
}

/// Says why an act is not carried out; the sentence is for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// Is told while an act is decided about, for the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// The user is asked.
    Asked(Request),
    /// The question was answered.
    Answered(RequestId, Answer),
    /// The question went away unanswered.
    Withdrawn(RequestId),
}

type Watcher = Arc<dyn Fn() + Send + Sync>;

/// Decides, or lets the user decide, about every act of the tree.
#[derive(Default)]
pub struct Approvals {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    mode: Mode,
    policy: Policy,
    grants: Vec<Grant>,
    open: Vec<(Request, oneshot::Sender<Answer>)>,
    asked: u64,
    watchers: Vec<Watcher>,
}

impl Approvals {
    /// Makes a desk with a policy and a first mode, which is not checked.
    pub fn new(policy: Policy, mode: Mode) -> Self {
        Self { inner: Mutex::new(Inner { mode, policy, ..Inner::default() }) }
    }

    /// Sets policy and mode, once they are known; open questions stay.
    pub fn configure(&self, policy: Policy, mode: Mode) {
        {
            let mut inner = self.lock();
            inner.policy = policy;
            inner.mode = mode;
        }
        self.changed();
    }

    /// Returns the mode.
    pub fn mode(&self) -> Mode {
        self.lock().mode
    }

    /// Sets the mode; open questions stay.
    ///
    /// # Errors
    /// [`ModeRefused`]; the mode is as it was.
    pub fn set_mode(&self, mode: Mode) -> Result<(), ModeRefused> {
        {
            let mut inner = self.lock();
            if mode == Mode::Auto && inner.policy.sandboxed != Some(Sandboxed::Yes) {
                return Err(ModeRefused::NotSandboxed);
            }
            inner.mode = mode;
        }
        self.changed();
        Ok(())
    }

    /// Returns the open questions, the oldest first.
    pub fn open(&self) -> Vec<Request> {
        self.lock().open.iter().map(|(request, _)| request.clone()).collect()
    }

    /// Answers a question; false when it is gone, or offered nothing for the session.
    pub fn answer(&self, id: RequestId, answer: Answer) -> bool {
        let sent = {
            let mut inner = self.lock();
            let Some(place) = inner.open.iter().position(|(request, _)| request.id == id) else { return false };
            if let (Answer::Session, Some((request, _))) = (&answer, inner.open.get(place)) {
                let Some(grant) = request.grant.clone() else { return false };
                inner.grants.push(grant);
            }
            let (_, sender) = inner.open.remove(place);
            sender.send(answer).is_ok()
        };
        self.changed();
        sent
    }

    /// Calls `watcher` after each change, now and later. It must not block.
    pub fn watch(&self, watcher: Watcher) {
        self.lock().watchers.push(watcher);
    }

    /// Decides about an act, waiting for the user where the policy says so; `tell` hears of the question for the record.
    /// Dropping the future takes the question away.
    ///
    /// # Errors
    /// [`Refusal`], one sentence for the model.
    pub async fn decide<A: Proposal>(
        &self,
        asker: &Asker,
        act: A,
        tell: &(dyn Fn(Told) + Send + Sync),
    ) -> Result<Approved<A>, Refusal> {
        let fingerprint = digest(&act);
        let Some(question) = self.ask(asker, act.clone().into())? else { return Ok(Approved::new(act, fingerprint)) };
        let id = question.request.id;
        tell(Told::Asked(question.request.clone()));
        let mut open = Open { approvals: self, id, tell, answered: false };
        let answer = question.answer.await;
        open.answered = answer.is_ok();
        match answer {
            Ok(answer) => {
                tell(Told::Answered(id, answer.clone()));
                match answer {
                    Answer::Once | Answer::Session => Ok(Approved::new(act, fingerprint)),
                    Answer::No(None) => Err(Refusal("the user declined this".to_owned())),
                    Answer::No(Some(words)) => Err(Refusal(format!("the user declined this and says: {words}"))),
                }
            }
            Err(_) => Err(Refusal("nobody answered".to_owned())),
        }
    }

    /// Opens a question where one is needed.
    fn ask(&self, asker: &Asker, act: Act) -> Result<Option<Question>, Refusal> {
        let question = {
            let mut inner = self.lock();
            let (why, grant) = match inner.policy.decide(&act, inner.mode, &inner.grants) {
                Verdict::Allow => return Ok(None),
                Verdict::Deny(why) => return Err(Refusal(why)),
                Verdict::Ask { why, grant } => (why, grant),
            };
            match inner.policy.answerer {
                Answerer::User => {}
                Answerer::Yes => return Ok(None),
                Answerer::Nobody => {
                    return Err(Refusal("this needs the user's approval, and nobody is there to give it".to_owned()));
                }
            }
            inner.asked += 1;
            let request = Request { id: RequestId(inner.asked), asker: asker.clone(), act, why, grant };
            let (sender, answer) = oneshot::channel();
            inner.open.push((request.clone(), sender));
            Question { request, answer }
        };
        self.changed();
        Ok(Some(question))
    }

    fn withdraw(&self, id: RequestId) {
        self.lock().open.retain(|(request, _)| request.id != id);
        self.changed();
    }

    fn changed(&self) {
        let watchers = self.lock().watchers.clone();
        for watcher in watchers {
            watcher();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Question {
    request: Request,
    answer: oneshot::Receiver<Answer>,
}

/// Takes a question away whose call is gone.
struct Open<'a> {
    approvals: &'a Approvals,
    id: RequestId,
    tell: &'a (dyn Fn(Told) + Send + Sync),
    answered: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.approvals.withdraw(self.id);
            (self.tell)(Told::Withdrawn(self.id));
        }
    }
}
