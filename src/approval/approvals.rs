//! Where tools wait for an answer: one desk for the whole tree, shared by the agents and whoever answers.
//!
//! A short mutex, never held across an await. A question goes away when its call does; an answer to a question that is
//! gone does nothing and says so.

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::approval::act::digest;
use crate::approval::{
    Act, Answerer, Approved, Grant, Mode, ModeRefused, Policy, Proposal, Sandboxed, Standing, Taint, Verdict,
};
use crate::id::{AgentId, CallId};
use crate::text::is_blank;

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
    /// Who asks; `None` when the program itself does.
    pub asker: Option<Asker>,
    /// What it is about.
    pub subject: Subject,
    /// Why it is asked although the mode or a rule might allow it; empty when that is plain.
    pub why: String,
    /// What an answer for the session would cover.
    pub grant: Option<Grant>,
}

/// Is what a question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// What exactly a tool would do.
    Act(Act),
    /// Something of the program itself, as trust in a project.
    Plain {
        /// What is asked, in one line.
        title: String,
        /// What exactly would happen, of any length.
        detail: String,
    },
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
    Asked(Box<Request>),
    /// The question was answered.
    Answered(RequestId, Answer),
    /// Nobody answered: another mode, another policy or a grant allows it meanwhile.
    Allowed(RequestId),
    /// Nobody answered: it is denied meanwhile, for this reason.
    Denied(RequestId, String),
    /// The question went away unanswered.
    Withdrawn(RequestId),
}

/// Hears of each change. It must not block.
pub type Watcher = Arc<dyn Fn() + Send + Sync>;

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
    taints: HashMap<AgentId, Taint>,
    open: Vec<(Request, oneshot::Sender<Reply>)>,
    asked: u64,
    watchers: Vec<Watcher>,
}

/// Is how a question ends.
enum Reply {
    Answer(Answer),
    Allowed,
    Denied(String),
}

impl Approvals {
    /// Makes a desk with a policy and a first mode, which is not checked.
    pub fn new(policy: Policy, mode: Mode) -> Self {
        Self { inner: Mutex::new(Inner { mode, policy, ..Inner::default() }) }
    }

    /// Sets policy and mode, once they are known; open questions are decided about anew.
    pub fn configure(&self, policy: Policy, mode: Mode) {
        {
            let mut inner = self.lock();
            inner.policy = policy;
            inner.mode = mode;
            inner.settle();
        }
        self.changed();
    }

    /// Returns the mode.
    pub fn mode(&self) -> Mode {
        self.lock().mode
    }

    /// Returns the mode that a key switches to.
    pub fn next_mode(&self) -> Mode {
        let inner = self.lock();
        inner.mode.next(inner.policy.sandboxed.unwrap_or(Sandboxed::No))
    }

    /// Sets the mode. Open questions are decided about anew: what is allowed now runs, what is denied now does not.
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
            inner.settle();
        }
        self.changed();
        Ok(())
    }

    /// Returns the open questions, the oldest first.
    pub fn open(&self) -> Vec<Request> {
        self.lock().open.iter().map(|(request, _)| request.clone()).collect()
    }

    /// Returns what the user has allowed for this session.
    pub fn grants(&self) -> Vec<Grant> {
        self.lock().grants.clone()
    }

    /// Answers a question; false when it is gone, or offered nothing for the session. Words are trimmed, blank ones
    /// are none. What is allowed for the session answers the other open questions that it covers.
    pub fn answer(&self, id: RequestId, answer: Answer) -> bool {
        let answer = match answer {
            Answer::No(Some(words)) => Answer::No((!is_blank(&words)).then(|| words.trim().to_owned())),
            other => other,
        };
        let is_sent = {
            let mut inner = self.lock();
            let Some(place) = inner.open.iter().position(|(request, _)| request.id == id) else { return false };
            let offered = inner.open.get(place).and_then(|(request, _)| request.grant.clone());
            if answer == Answer::Session && offered.is_none() {
                return false;
            }
            let is_for_session = answer == Answer::Session;
            let (_, sender) = inner.open.remove(place);
            let is_sent = sender.send(Reply::Answer(answer)).is_ok();
            // A call that is gone leaves nothing behind.
            if is_for_session && is_sent {
                inner.grants.extend(offered);
                inner.settle();
            }
            is_sent
        };
        self.changed();
        is_sent
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
        let mut open = Open { approvals: self, id, tell, is_answered: false };
        tell(Told::Asked(Box::new(question.request)));
        let reply = question.reply.await;
        open.is_answered = reply.is_ok();
        match reply {
            Ok(Reply::Answer(answer)) => {
                tell(Told::Answered(id, answer.clone()));
                match answer {
                    Answer::Once | Answer::Session => Ok(Approved::new(act, fingerprint)),
                    Answer::No(None) => Err(Refusal("the user declined this".to_owned())),
                    Answer::No(Some(words)) => Err(Refusal(format!("the user declined this and says: {words}"))),
                }
            }
            Ok(Reply::Allowed) => {
                tell(Told::Allowed(id));
                Ok(Approved::new(act, fingerprint))
            }
            Ok(Reply::Denied(why)) => {
                tell(Told::Denied(id, why.clone()));
                Err(Refusal(why))
            }
            Err(_) => Err(Refusal("nobody answered".to_owned())),
        }
    }

    /// Asks something of the program itself; the default is no, also where nobody is there and under a standing yes.
    /// Dropping the future takes the question away.
    pub async fn ask_user(&self, title: impl Into<String>, detail: impl Into<String>) -> bool {
        let question = {
            let mut inner = self.lock();
            if inner.policy.answerer != Answerer::User {
                return false;
            }
            inner.open(None, Subject::Plain { title: title.into(), detail: detail.into() }, String::new(), None)
        };
        let mut open = Open { approvals: self, id: question.request.id, tell: &|_| {}, is_answered: false };
        self.changed();
        let reply = question.reply.await;
        open.is_answered = reply.is_ok();
        matches!(reply, Ok(Reply::Answer(Answer::Once | Answer::Session)))
    }

    /// Sets who answers from here on; open questions are decided about anew.
    pub fn answer_with(&self, answerer: Answerer) {
        {
            let mut inner = self.lock();
            inner.policy.answerer = answerer;
            inner.settle();
        }
        self.changed();
    }

    /// Returns what an agent holds.
    pub fn taint(&self, agent: &AgentId) -> Taint {
        self.lock().taint(agent)
    }

    /// Says that an agent now holds this too.
    pub fn mark(&self, agent: &AgentId, taint: Taint) {
        if taint != Taint::NONE {
            let mut inner = self.lock();
            let held = inner.taints.entry(agent.clone()).or_default();
            *held = held.and(taint);
        }
    }

    /// Forgets what an agent held, because the agent or its history is gone.
    pub fn forget(&self, agent: &AgentId) {
        self.lock().taints.remove(agent);
    }

    /// Opens a question where one is needed.
    fn ask(&self, asker: &Asker, act: Act) -> Result<Option<Question>, Refusal> {
        let question = {
            let mut inner = self.lock();
            match inner.decide(asker, &act) {
                Verdict::Allow => return Ok(None),
                Verdict::Deny(why) => return Err(Refusal(why)),
                Verdict::Ask { why, grant } => inner.open(Some(asker.clone()), Subject::Act(act), why, grant),
            }
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

impl Inner {
    fn taint(&self, agent: &AgentId) -> Taint {
        self.taints.get(agent).copied().unwrap_or_default()
    }

    fn decide(&self, asker: &Asker, act: &Act) -> Verdict {
        let standing = Standing { mode: self.mode, grants: &self.grants, taint: self.taint(&asker.agent) };
        self.policy.decide(act, &standing)
    }

    fn open(&mut self, asker: Option<Asker>, subject: Subject, why: String, grant: Option<Grant>) -> Question {
        self.asked += 1;
        let request = Request { id: RequestId(self.asked), asker, subject, why, grant };
        let (sender, reply) = oneshot::channel();
        self.open.push((request.clone(), sender));
        Question { request, reply }
    }

    /// Decides about the open questions anew; those that need no answer any more end.
    fn settle(&mut self) {
        for (mut request, sender) in mem::take(&mut self.open) {
            let verdict = match (&request.asker, &request.subject) {
                (Some(asker), Subject::Act(act)) => self.decide(asker, act),
                (_, Subject::Plain { .. }) | (None, Subject::Act(_)) => match self.policy.answerer {
                    Answerer::User => Verdict::Ask { why: request.why.clone(), grant: request.grant.clone() },
                    Answerer::Nobody | Answerer::Yes => Verdict::Deny(String::new()),
                },
            };
            // Its call may be gone already; then there is nobody to tell.
            let _ = match verdict {
                Verdict::Allow => sender.send(Reply::Allowed),
                Verdict::Deny(why) => sender.send(Reply::Denied(why)),
                Verdict::Ask { why, grant } => {
                    request.why = why;
                    request.grant = grant;
                    self.open.push((request, sender));
                    Ok(())
                }
            };
        }
    }
}

struct Question {
    request: Request,
    reply: oneshot::Receiver<Reply>,
}

/// Takes a question away whose call is gone.
struct Open<'a> {
    approvals: &'a Approvals,
    id: RequestId,
    tell: &'a (dyn Fn(Told) + Send + Sync),
    is_answered: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.approvals.withdraw(self.id);
            (self.tell)(Told::Withdrawn(self.id));
        }
    }
}
