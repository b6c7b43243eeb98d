//! Where tools wait for an answer: one desk for the whole tree, shared by the agents and whoever answers.
//!
//! A short mutex, never held across an await; what is found out about an operation is found out before, once. A question goes
//! away when its call does; an answer to a question that is gone does nothing and says so. Only the user answers: a
//! change of the mode or of the rules never does, but a yes that they forbid by then is not taken.
//!
//! # Where things are
//!
//! - what a hook, an answer before, or the custom command that it belongs to says of the permission of one call:
//!   `call_permission.rs`
//! - questions that belong to no operation: of the program itself, plans, and forms of servers: `questions.rs`

mod call_permission;
mod questions;

use std::collections::HashMap;
use std::io;
use std::mem;
use std::path::Path;
use std::sync::{Arc, Mutex};

use tokio::sync::oneshot;

use self::call_permission::CallPermissions;
pub use self::call_permission::{CallPermission, CallPermit};
use self::questions::fitting;
use crate::approval::policy::Study;
use crate::approval::{
    Answer, Answerer, ApprovalId, ApprovalRecord, ApprovalRequest, ApprovalSubject, Asker, Circumstances, Grant,
    HiddenFiles, KeptRule, Mode, ModeRefused, NOBODY, OfferedRule, Operation, Policy, Refusal, RuleReach, RuleStore,
    Sandboxed, Taint, Unanswered, Verdict,
};
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::sync::lock;
use steersman_base::text::is_blank;

/// A kind of act.
pub trait Proposal: Clone + Into<Operation> {}

impl<A: Clone + Into<Operation>> Proposal for A {}

/// An operation that may be carried out: the very value that was decided about. Only [`Approvals`] makes one.
#[derive(Debug)]
pub struct Approved<A>(A, bool);

impl<A> Approved<A> {
    /// Returns whether somebody was asked about it.
    pub fn was_asked(&self) -> bool {
        self.1
    }

    /// Gives the operation for its carrying out, once.
    pub fn take(self) -> A {
        self.0
    }
}

/// Hears of each change. It must not block.
pub(super) type Watcher = Arc<dyn Fn() + Send + Sync>;

/// Decides, or lets the user decide, about every operation of the tree.
///
/// Example: "An approval" in the documentation of `steersman::prelude`.
#[derive(Default)]
pub struct Approvals {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    mode: Mode,
    /// True once the mode was set; from then on no setup chooses it.
    is_mode_set: bool,
    policy: Arc<Policy>,
    grants: Vec<Grant>,
    /// Where rules are kept for later sessions; none is offered without.
    store: Option<Arc<dyn RuleStore>>,
    taints: HashMap<AgentId, Taint>,
    /// What hooks say of calls that run.
    permissions: CallPermissions,
    open: Vec<OpenQuestion>,
    asked: u64,
    watchers: Vec<Watcher>,
    /// True once nobody can answer any more, whatever is configured later.
    is_alone: bool,
}

/// How a question ends.
enum Reply {
    Answer(Answer),
    Allowed,
    Denied(String),
}

/// An open question, with what is known about its operation.
struct OpenQuestion {
    request: ApprovalRequest,
    grant: Option<Grant>,
    rule: Option<KeptRule>,
    study: Option<Arc<Study>>,
    sender: oneshot::Sender<Reply>,
}

impl Approvals {
    /// Makes a desk with a policy and a first mode, which is not checked.
    pub fn new(policy: Policy, mode: Mode) -> Self {
        Self { inner: Mutex::new(Inner { mode, policy: Arc::new(policy), ..Inner::default() }) }
    }

    /// Sets the policy once it is known, and the mode unless it was set. Open questions stay, unless nobody is left to
    /// answer them.
    pub fn configure(&self, policy: Policy, mode: Mode) {
        {
            let mut inner = lock(&self.inner);
            inner.policy = Arc::new(policy);
            if !inner.is_mode_set {
                inner.mode = mode;
            }
            inner.note_absence();
            inner.changed();
        }
        self.changed();
    }

    /// Returns the open questions, the oldest first.
    pub fn open(&self) -> Vec<ApprovalRequest> {
        lock(&self.inner).open.iter().map(|waiting| waiting.request.clone()).collect()
    }

    /// Returns what the user has allowed for this session.
    pub fn grants(&self) -> Vec<Grant> {
        lock(&self.inner).grants.clone()
    }

    /// Answers a question and tells whether the answer was taken; see [`Approvals::try_answer`].
    pub fn answer(&self, id: ApprovalId, answer: Answer) -> bool {
        self.try_answer(id, answer).is_ok()
    }

    /// Answers a question. Words are trimmed, blank ones are none. What is allowed for the session, or for good, answers the
    /// other open questions that it covers.
    ///
    /// # Errors
    /// [`Unanswered`]; what is still open stays open.
    pub fn try_answer(&self, id: ApprovalId, answer: Answer) -> Result<(), Unanswered> {
        let answer = if let Answer::No(Some(words)) = answer {
            Answer::No((!is_blank(&words)).then(|| words.trim().to_owned()))
        } else {
            answer
        };
        let is_yes = matches!(answer, Answer::Once | Answer::Session | Answer::Always | Answer::Everywhere);
        {
            let mut inner = lock(&self.inner);
            let place = inner.open.iter().position(|waiting| waiting.request.id == id).ok_or(Unanswered::Gone)?;
            let waiting = inner.open.get(place).ok_or(Unanswered::Gone)?;
            let answer = fitting(&waiting.request.subject, answer)?;
            let granted = match answer {
                // It chooses a mode, and covers no other question.
                Answer::Session if matches!(waiting.request.subject, ApprovalSubject::Plan { .. }) => None,
                Answer::Session => Some(waiting.grant.clone().ok_or(Unanswered::NotForSession)?),
                Answer::Always | Answer::Everywhere => Some(
                    waiting
                        .rule
                        .clone()
                        .map(|rule| rule_of(&answer, rule))
                        .map(Grant::Kept)
                        .ok_or(Unanswered::NotKept)?,
                ),
                Answer::Once | Answer::Filled(_) | Answer::No(_) | Answer::NotNow => None,
            };
            if is_yes && let Some(why) = inner.forbids(waiting) {
                return Err(Unanswered::Forbidden(why));
            }
            let waiting = inner.open.remove(place);
            // A call that is gone leaves nothing behind.
            let is_sent = waiting.sender.send(Reply::Answer(answer)).is_ok();
            if let (Some(granted), true) = (granted, is_sent) {
                if !inner.grants.contains(&granted) {
                    inner.grants.push(granted);
                }
                inner.allow_granted();
            }
            if !is_sent {
                drop(inner);
                self.changed();
                return Err(Unanswered::Gone);
            }
        }
        self.changed();
        Ok(())
    }

    /// Calls `watcher` after each change, now and later. It must not block.
    pub fn watch(&self, watcher: Watcher) {
        lock(&self.inner).watchers.push(watcher);
    }

    /// Decides about an operation, waiting for the user where the policy says so; `tell` hears of the question for the record.
    /// Dropping the future takes the question away.
    ///
    /// # Errors
    /// [`Refusal`], one sentence for the model.
    pub async fn decide<A: Proposal>(
        &self,
        asker: &Asker,
        operation: A,
        report: &(dyn Fn(ApprovalRecord) + Send + Sync),
    ) -> Result<Approved<A>, Refusal> {
        let Some(question) = self.ask(asker, operation.clone().into()).await? else {
            return Ok(Approved(operation, false));
        };
        let rule = question.rule.clone();
        match self.reply(question, report).await {
            Some(Reply::Answer(answer)) => {
                if let (Answer::Always | Answer::Everywhere, Some(rule)) = (&answer, rule) {
                    let rule = rule_of(&answer, rule);
                    let outcome = self.keep(rule.clone()).await;
                    report(ApprovalRecord::Kept(rule, outcome));
                }
                match answer {
                    Answer::Once | Answer::Session | Answer::Always | Answer::Everywhere => {
                        Ok(Approved(operation, true))
                    }
                    // A yes to what the call has by now.
                    Answer::Filled(arguments) if lock(&self.inner).permissions.has(asker, &arguments) => {
                        Ok(Approved(operation, true))
                    }
                    Answer::Filled(_) => Err(Refusal::declined("the answer changed the arguments of the call")),
                    Answer::No(None) | Answer::NotNow => Err(Refusal::declined("the user declined this")),
                    Answer::No(Some(words)) => {
                        Err(Refusal::declined(format!("the user declined this and says: {words}")))
                    }
                }
            }
            Some(Reply::Allowed) => Ok(Approved(operation, false)),
            Some(Reply::Denied(why)) => Err(Refusal::refused(why)),
            None => Err(Refusal::refused("nobody answered")),
        }
    }

    /// Returns whether an operation runs now without a question. What is found out about a long command takes too long for this:
    /// it counts as asked about.
    pub fn runs_without_question(&self, asker: &Asker, operation: &Operation) -> bool {
        if matches!(operation, Operation::Command(operation) if operation.command.len() > limits::RULED_COMMAND_BYTES) {
            return false;
        }
        let policy = Arc::clone(&lock(&self.inner).policy);
        let study = policy.study(operation);
        let inner = lock(&self.inner);
        Arc::ptr_eq(&policy, &inner.policy) && inner.judge(asker, operation, &study) == Verdict::Allow
    }

    /// Says that from here on nobody is there to answer, also when the policy comes later; a standing yes stays. Open
    /// questions end.
    pub fn user_left(&self) {
        {
            let mut inner = lock(&self.inner);
            inner.is_alone = true;
            inner.note_absence();
            inner.changed();
        }
        self.changed();
    }

    /// Returns what a search leaves out of what it finds below its start, a real path that was asked about where a rule
    /// wants that.
    pub fn hidden_files(&self, start: &Path) -> HiddenFiles {
        lock(&self.inner).policy.hidden_files(start)
    }

    /// Returns what an agent holds.
    pub fn taint(&self, agent: &AgentId) -> Taint {
        lock(&self.inner).taint(agent)
    }

    /// Says that an agent now holds this too.
    pub fn mark(&self, agent: &AgentId, taint: Taint) {
        if taint != Taint::NONE {
            let mut inner = lock(&self.inner);
            let held = inner.taints.entry(agent.clone()).or_default();
            *held = held.and(taint);
        }
    }

    /// Forgets what an agent held, because the agent or its history is gone.
    pub fn forget(&self, agent: &AgentId) {
        lock(&self.inner).taints.remove(agent);
    }

    /// Returns the mode.
    pub fn mode(&self) -> Mode {
        lock(&self.inner).mode
    }

    /// Returns whether the user lets a server of tools run: by a rule that allows some of its tools, in a mode that does not
    /// refuse them all.
    pub fn allows_server(&self, server: &str) -> bool {
        let inner = lock(&self.inner);
        match inner.mode {
            Mode::ReadOnly | Mode::Plan => false,
            Mode::Ask | Mode::AutoEdit | Mode::Auto | Mode::AutoWithoutSandbox => {
                inner.policy.rules.allow_server(server)
            }
        }
    }

    /// Returns whether the user has said yes beforehand to what is asked about (`--yes`).
    pub fn has_standing_yes(&self) -> bool {
        matches!(lock(&self.inner).policy.answerer, Answerer::Yes | Answerer::YesOrUser)
    }

    /// Returns the mode that a key switches to.
    pub fn next_mode(&self) -> Mode {
        let inner = lock(&self.inner);
        inner.mode.next(inner.policy.sandboxed.unwrap_or(Sandboxed::No))
    }

    /// Sets the mode, for what is asked from here on. It answers no open question: those stay as they are.
    ///
    /// # Errors
    /// [`ModeRefused`]; the mode is as it was.
    pub fn set_mode(&self, mode: Mode) -> Result<(), ModeRefused> {
        {
            let mut inner = lock(&self.inner);
            if mode == Mode::Auto && inner.policy.sandboxed != Some(Sandboxed::Yes) {
                return Err(ModeRefused::NotSandboxed);
            }
            inner.mode = mode;
            inner.is_mode_set = true;
        }
        self.changed();
        Ok(())
    }

    /// Sets the mode of a setup, unless the user has chosen one while it was made.
    ///
    /// # Errors
    /// As for [`Self::set_mode`].
    pub fn start_in(&self, mode: Mode) -> Result<(), ModeRefused> {
        if lock(&self.inner).is_mode_set { Ok(()) } else { self.set_mode(mode) }
    }

    /// Takes the rules that earlier sessions kept, and where new ones are kept.
    pub fn keep_rules_in(&self, store: Arc<dyn RuleStore>, rules: impl IntoIterator<Item = KeptRule>) {
        let mut inner = lock(&self.inner);
        inner.store = Some(store);
        inner.grants.extend(rules.into_iter().map(Grant::Kept));
    }

    /// Returns the rules that hold in later sessions too, the oldest first.
    pub fn kept_rules(&self) -> Vec<KeptRule> {
        let kept = |grant: &Grant| if let Grant::Kept(rule) = grant { Some(rule.clone()) } else { None };
        lock(&self.inner).grants.iter().filter_map(kept).collect()
    }

    /// Takes a kept rule back, at once and for later sessions. Writes a file, so it takes a moment.
    ///
    /// # Errors
    /// What the system says; then later sessions still have it.
    pub fn remove_rule(&self, rule: &KeptRule) -> io::Result<()> {
        let store = {
            let mut inner = lock(&self.inner);
            inner.grants.retain(|grant| *grant != Grant::Kept(rule.clone()));
            inner.store.clone()
        };
        store.map_or(Ok(()), |store| store.remove(rule))
    }

    /// Writes a rule down for later sessions. Goes on where the call that asked is gone meanwhile.
    async fn keep(&self, rule: KeptRule) -> Result<(), String> {
        let Some(store) = lock(&self.inner).store.clone() else { return Err("there is no place for it".to_owned()) };
        let kept = aside(move || store.add(&rule)).await.map_err(|error| error.to_string())?;
        kept.map_err(|error| error.to_string())
    }

    /// Opens a question where one is needed.
    async fn ask(&self, asker: &Asker, operation: Operation) -> Result<Option<Question>, Refusal> {
        loop {
            let policy = Arc::clone(&lock(&self.inner).policy);
            let study = studied(&policy, &operation).await?;
            let mut inner = lock(&self.inner);
            // What was found out holds for this policy only.
            if !Arc::ptr_eq(&policy, &inner.policy) {
                continue;
            }
            return match inner.judge(asker, &operation, &study) {
                Verdict::Allow => Ok(None),
                Verdict::Deny(why) => Err(Refusal::refused(why)),
                Verdict::Ask { why, grant } => {
                    let subject = ApprovalSubject::Operation { operation };
                    Ok(Some(inner.open(Some(asker.clone()), subject, why, grant, Some(study))))
                }
            };
        }
    }

    /// Waits for the end of a question, which goes away with the future; `None` when nobody can answer any more.
    async fn reply(&self, question: Question, report: &(dyn Fn(ApprovalRecord) + Send + Sync)) -> Option<Reply> {
        let id = question.request.id;
        let mut open = Open { approvals: self, id, report, is_answered: false };
        report(ApprovalRecord::Asked(Box::new(question.request)));
        self.changed();
        let reply = question.reply.await.ok()?;
        open.is_answered = true;
        report(match &reply {
            Reply::Answer(answer) => ApprovalRecord::Answered(id, answer.clone()),
            Reply::Allowed => ApprovalRecord::Allowed(id),
            Reply::Denied(why) => ApprovalRecord::Denied(id, why.clone()),
        });
        Some(reply)
    }

    fn withdraw(&self, id: ApprovalId) {
        lock(&self.inner).open.retain(|waiting| waiting.request.id != id);
        self.changed();
    }

    fn changed(&self) {
        let watchers = lock(&self.inner).watchers.clone();
        for watcher in watchers {
            watcher();
        }
    }
}

impl Inner {
    fn taint(&self, agent: &AgentId) -> Taint {
        self.taints.get(agent).copied().unwrap_or_default()
    }

    fn note_absence(&mut self) {
        if self.is_alone && self.policy.answerer.is_present() {
            let policy = Arc::make_mut(&mut self.policy);
            policy.answerer = policy.answerer.without_user();
        }
    }

    fn standing(&self, asker: &Asker) -> Circumstances<'_> {
        Circumstances { mode: self.mode, grants: &self.grants, taint: self.taint(&asker.agent) }
    }

    fn judge(&self, asker: &Asker, operation: &Operation, study: &Study) -> Verdict {
        let grants = self.permissions.grants(asker, &self.grants);
        let standing = Circumstances { grants: &grants, ..self.standing(asker) };
        let verdict = if asker.agent.is_main() {
            self.policy.judge_main(operation, study, &standing)
        } else {
            self.policy.judge(operation, study, &standing)
        };
        self.permissions.narrowed(asker, verdict, &self.policy)
    }

    fn open(
        &mut self,
        asker: Option<Asker>,
        subject: ApprovalSubject,
        why: String,
        grant: Option<Grant>,
        study: Option<Arc<Study>>,
    ) -> Question {
        self.asked += 1;
        let rule =
            if let (Some(_), ApprovalSubject::Operation { operation }, Some(grant)) = (&self.store, &subject, &grant) {
                KeptRule::offered(operation, grant, self.policy.root.as_deref())
            } else {
                None
            };
        let session = if matches!(subject, ApprovalSubject::Plan { .. }) {
            Some("edits of files in the workspace".to_owned())
        } else {
            grant.as_ref().map(ToString::to_string)
        };
        let offered =
            rule.as_ref().map(|rule| OfferedRule { text: rule.to_string(), pattern: rule.pattern().to_owned() });
        let request = ApprovalRequest { id: ApprovalId(self.asked), asker, subject, why, session, rule: offered };
        let (sender, reply) = oneshot::channel();
        self.open.push(OpenQuestion { request: request.clone(), grant, rule: rule.clone(), study, sender });
        Question { request, rule, reply }
    }

    /// Returns why no yes lets what is asked about run.
    fn forbids(&self, waiting: &OpenQuestion) -> Option<String> {
        let (ApprovalSubject::Operation { operation }, Some(study)) = (&waiting.request.subject, &waiting.study) else {
            return None;
        };
        self.policy.forbids(operation, study, self.mode)
    }

    /// Ends the questions that nobody is left to answer.
    fn changed(&mut self) {
        if self.policy.answerer.is_present() {
            return;
        }
        for waiting in mem::take(&mut self.open) {
            // Its call may be gone already; then there is nobody to tell.
            let _ = waiting.sender.send(Reply::Denied(NOBODY.to_owned()));
        }
    }

    /// Ends the questions that what the user allowed for the session answers, of those that such an answer could have
    /// answered.
    fn allow_granted(&mut self) {
        for waiting in mem::take(&mut self.open) {
            let is_granted = match (&waiting.request, &waiting.grant, &waiting.study) {
                (
                    ApprovalRequest { asker: Some(asker), subject: ApprovalSubject::Operation { operation }, .. },
                    Some(_),
                    Some(study),
                ) => {
                    // The mode may allow it meanwhile, which answers nothing.
                    self.policy.is_granted(operation, study, &self.standing(asker))
                        && self.judge(asker, operation, study) == Verdict::Allow
                }
                _ => false,
            };
            if is_granted {
                let _ = waiting.sender.send(Reply::Allowed);
            } else {
                self.open.push(waiting);
            }
        }
    }
}

/// Finds out about an operation, off the async threads where that can take a moment.
async fn studied(policy: &Arc<Policy>, operation: &Operation) -> Result<Arc<Study>, Refusal> {
    let is_long =
        matches!(operation, Operation::Command(operation) if operation.command.len() > limits::RULED_COMMAND_BYTES);
    if !is_long {
        return Ok(Arc::new(policy.study(operation)));
    }
    let (policy, operation) = (Arc::clone(policy), operation.clone());
    aside(move || policy.study(&operation))
        .await
        .map(Arc::new)
        .map_err(|error| Refusal::refused(format!("nothing could be found out about this: {error}")))
}

/// Returns the offered rule as an answer keeps it.
fn rule_of(answer: &Answer, rule: KeptRule) -> KeptRule {
    match answer {
        Answer::Everywhere => rule.reaching(RuleReach::Everywhere),
        Answer::Once | Answer::Session | Answer::Always | Answer::Filled(_) | Answer::No(_) | Answer::NotNow => rule,
    }
}

/// Does something that can take a moment, off the async threads where there are some.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, tokio::task::JoinError> {
    if tokio::runtime::Handle::try_current().is_err() {
        return Ok(work());
    }
    tokio::task::spawn_blocking(work).await
}

struct Question {
    request: ApprovalRequest,
    rule: Option<KeptRule>,
    reply: oneshot::Receiver<Reply>,
}

/// Takes a question away whose call is gone.
struct Open<'a> {
    approvals: &'a Approvals,
    id: ApprovalId,
    report: &'a (dyn Fn(ApprovalRecord) + Send + Sync),
    is_answered: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.approvals.withdraw(self.id);
            (self.report)(ApprovalRecord::Withdrawn(self.id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::CommandOperation;

    #[tokio::test]
    async fn a_yes_for_the_session_to_a_call_that_has_just_gone_allows_nothing_later() {
        let approvals = Approvals::new(Policy { answerer: Answerer::User, ..Policy::default() }, Mode::Ask);
        let asker = Asker { agent: AgentId::main(), call: "c1".into() };
        let operation = CommandOperation {
            command: "cargo test".to_owned(),
            cwd: "/work".into(),
            timeout: std::time::Duration::ZERO,
            outside: false,
        };
        let Ok(Some(question)) = approvals.ask(&asker, operation.into()).await else { panic!("it is asked about") };
        assert!(question.request.session.is_some(), "the session can be offered");
        // The call goes; the question is not taken away yet.
        drop(question.reply);
        assert!(!approvals.answer(question.request.id, Answer::Session));
        assert_eq!(approvals.grants(), []);
    }
}
