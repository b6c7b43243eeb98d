//! The rules of the user on the screen: what became of a change.

use crate::id::MessageId;
use crate::protocol::Accepted;
use crate::steering::RuleChange;
use crate::text::visible_line;

/// Says what became of a change of a rule.
pub fn changed(id: &MessageId, change: &RuleChange, accepted: Accepted) -> String {
    let id = visible_line(id.as_str());
    match (accepted, change) {
        (Accepted::Yes, RuleChange::Withdraw) => format!("rule {id} holds no more; the agents tell their models so"),
        (Accepted::Yes, RuleChange::Edit { .. }) => format!("rule {id} is changed; the agents tell their models so"),
        (Accepted::No, RuleChange::Edit { text: Some(_), .. }) => {
            format!("rule {id} was not changed: it does not hold any more, or the words are blank")
        }
        (Accepted::No, RuleChange::Withdraw | RuleChange::Edit { .. }) => {
            format!("there is no rule {id}; /rules lists them")
        }
    }
}
