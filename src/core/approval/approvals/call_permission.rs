//! What a hook, an answer before, or the custom command that it belongs to says of the permission of one call.
//!
//! Always holds: an allow answers only a question that a rule of the user could answer, so deny rules, the mode read-only,
//! protected places and ask rules stand above it; an ask stands above everything that would run without a question.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Approvals, OpenQuestion, Reply};
use crate::approval::{
    Answerer, ApprovalId, ApprovalSubject, Asker, Circumstances, Grant, NOBODY, Policy, Rules, Verdict,
};
use steersman_base::id::{AgentId, CallId};
use steersman_base::sync::lock;

/// What a hook says of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallPermission {
    /// It may run where a rule of the user could let it.
    Allow,
    /// The user is to be asked, for this reason (untrusted).
    Ask(String),
    /// A hook that could have forbidden it has not looked at it, for this reason (untrusted): the user's own yes is needed.
    Unseen(String),
    /// An answer changed its arguments to these, which may run where a rule of the user could let them.
    Changed(Map<String, Value>),
    /// A custom command wants it: its file allows what these rules cover.
    Template {
        /// The command, and whose it is (untrusted).
        from: String,
        /// What its file allows.
        rules: Arc<Rules>,
    },
}

/// A permission while its call runs. Dropping it ends it.
pub struct CallPermit {
    approvals: Arc<Approvals>,
    asker: Asker,
}

impl Drop for CallPermit {
    fn drop(&mut self) {
        lock(&self.approvals.inner).permissions.0.remove(&key(&self.asker));
    }
}

/// The permissions of the calls that run.
#[derive(Debug, Default)]
pub(super) struct CallPermissions(HashMap<(AgentId, CallId), CallPermission>);

impl Approvals {
    /// Notes what a hook says of a call, until what is returned is dropped.
    #[must_use]
    pub fn permit(self: &Arc<Self>, asker: &Asker, permission: CallPermission) -> CallPermit {
        lock(&self.inner).permissions.0.insert(key(asker), permission);
        CallPermit { approvals: Arc::clone(self), asker: asker.clone() }
    }
}

impl Approvals {
    /// Ends an open question with a yes of a hook, where a rule of the user could have let the operation run.
    pub fn allow_question(&self, id: ApprovalId) {
        let mut inner = lock(&self.inner);
        let is_allowed = |waiting: &OpenQuestion| {
            let (Some(asker), ApprovalSubject::Operation { operation }) =
                (&waiting.request.asker, &waiting.request.subject)
            else {
                return false;
            };
            let by_hook = Circumstances { grants: &[Grant::Call], ..inner.standing(asker) };
            waiting.request.id == id
                && waiting.grant.is_some()
                && waiting.study.as_ref().is_some_and(|study| {
                    inner.policy.is_granted(operation, study, &by_hook)
                        && inner.policy.forbids(operation, study, inner.mode).is_none()
                })
        };
        if let Some(at) = inner.open.iter().position(is_allowed) {
            // Its call may be gone already; then there is nobody to tell.
            let _ = inner.open.remove(at).sender.send(Reply::Allowed);
            drop(inner);
            self.changed();
        }
    }
}

impl CallPermissions {
    /// Returns the grants under which an operation of a call is decided about.
    pub(super) fn grants<'a>(&self, asker: &Asker, grants: &'a [Grant]) -> Cow<'a, [Grant]> {
        match self.for_asker(asker) {
            Some(CallPermission::Allow | CallPermission::Changed(_)) => Cow::Owned([grants, &[Grant::Call]].concat()),
            Some(CallPermission::Template { rules, .. }) => {
                Cow::Owned([grants, &[Grant::Template(Arc::clone(rules))]].concat())
            }
            Some(CallPermission::Ask(_) | CallPermission::Unseen(_)) | None => Cow::Borrowed(grants),
        }
    }

    /// Makes a question of what would run, where a hook wants one.
    pub(super) fn narrowed(&self, asker: &Asker, verdict: Verdict, policy: &Policy) -> Verdict {
        match (self.for_asker(asker), verdict) {
            (Some(CallPermission::Unseen(said)), Verdict::Allow | Verdict::Ask { .. }) => {
                let why = format!("the hook that guards this call has not looked at it: {said}");
                match policy.answerer {
                    Answerer::User | Answerer::YesOrUser => Verdict::Ask { why, grant: None },
                    Answerer::Yes => {
                        Verdict::Deny(format!("{why}; that needs the user's own approval, a general yes is not enough"))
                    }
                    Answerer::Nobody => Verdict::Deny(format!("{why}; {NOBODY}")),
                }
            }
            (Some(CallPermission::Ask(said)), Verdict::Allow) => {
                policy.ask(&format!("a hook asks about this: {said}"), None)
            }
            // What is asked about already stays so, whoever else would answer.
            (Some(CallPermission::Ask(said)), Verdict::Ask { why, .. }) if why.is_empty() => {
                Verdict::Ask { why: format!("a hook asks about this: {said}"), grant: None }
            }
            (Some(CallPermission::Ask(said)), Verdict::Ask { why, .. }) => {
                Verdict::Ask { why: format!("{why}; a hook asks about this: {said}"), grant: None }
            }
            (Some(CallPermission::Template { from, .. }), Verdict::Ask { why, grant }) => {
                let why = if why.is_empty() { format!("for {from}") } else { format!("for {from}; {why}") };
                Verdict::Ask { why, grant }
            }
            (_, verdict) => verdict,
        }
    }

    /// Tells whether these are the arguments that an answer has given the call already.
    pub(super) fn has(&self, asker: &Asker, arguments: &Map<String, Value>) -> bool {
        matches!(self.for_asker(asker), Some(CallPermission::Changed(changed)) if changed == arguments)
    }

    fn for_asker(&self, asker: &Asker) -> Option<&CallPermission> {
        if self.0.is_empty() { None } else { self.0.get(&key(asker)) }
    }
}

fn key(asker: &Asker) -> (AgentId, CallId) {
    (asker.agent.clone(), asker.call.clone())
}
