//! What the desk does with the rules that the user keeps: they hold at once, and are written down off its lock.

use std::io;
use std::sync::Arc;

use super::Approvals;
use crate::approval::{Answer, Grant, KeptRule, RuleReach, RuleStore};
use steersman_base::sync::lock;

impl Approvals {
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
    pub(super) async fn keep(&self, rule: KeptRule) -> Result<(), String> {
        let Some(store) = lock(&self.inner).store.clone() else { return Err("there is no place for it".to_owned()) };
        let kept = aside(move || store.add(&rule)).await.map_err(|error| error.to_string())?;
        kept.map_err(|error| error.to_string())
    }
}

/// Returns the offered rule as an answer keeps it.
pub(super) fn rule_of(answer: &Answer, rule: KeptRule) -> KeptRule {
    match answer {
        Answer::Everywhere => rule.reaching(RuleReach::Everywhere),
        Answer::Once | Answer::Session | Answer::Always | Answer::Filled(_) | Answer::No(_) => rule,
    }
}

/// Does something that can take a moment, off the async threads where there are some.
pub(super) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, tokio::task::JoinError> {
    if tokio::runtime::Handle::try_current().is_err() {
        return Ok(work());
    }
    tokio::task::spawn_blocking(work).await
}
