//! Requests about approvals, the mode, kept rules and undo.

use crate::approval::KeptRule;
use crate::host::Handle;
use crate::mode::Mode;
use crate::protocol::{Answer, ApprovalId, ModeChoice, Reply, RuleRequest};

pub(super) fn answer(handle: &Handle, id: ApprovalId, answer: Answer) -> Reply {
    let outcome = handle.approvals().try_answer(id, answer.clone()).map_err(|why| why.to_string());
    Reply::Answered { id, answer, outcome }
}

pub(super) fn set_mode(handle: &Handle, choice: ModeChoice) -> Reply {
    let approvals = handle.approvals();
    let set = |mode: Mode| approvals.set_mode(mode).map(|()| mode).map_err(|why| why.to_string());
    Reply::Mode(match choice {
        ModeChoice::Named(mode) => set(mode),
        ModeChoice::Next => set(approvals.next_mode()),
    })
}

/// Lists the kept rules, or removes one, which writes a file.
pub(super) fn rules(handle: &Handle, request: RuleRequest) -> Reply {
    let approvals = handle.approvals();
    let rules = approvals.kept_rules();
    Reply::Rules(match request {
        RuleRequest::List if rules.is_empty() => {
            vec!["no rule is kept for this project or for all; the answer \"yes, always\" keeps one".to_owned()]
        }
        RuleRequest::List => {
            let row = |(rule, number): (&KeptRule, usize)| format!("rule {number}: {rule} ({})", rule.reach().words());
            let rows = rules.iter().zip(1..).map(row);
            rows.chain(["/rules remove N takes rule N back".to_owned()]).collect()
        }
        RuleRequest::Remove(number) => vec![match number.checked_sub(1).and_then(|index| rules.get(index)) {
            None => format!("there is no rule {number}; /rules lists them"),
            Some(rule) => match approvals.remove_rule(rule) {
                Ok(()) => format!("removed the rule {rule}: it is asked about again"),
                Err(error) => format!("removed the rule {rule} for this session only: {error}"),
            },
        }],
    })
}
