//! Approvals, the mode and undo, between the host's words and the screen's.
//!
//! Called by the loop and by `steer`. Nothing here waits for an agent; undo looks at files and has a thread of its own.

use crate::host::{self, Act, Handle, Request, RequestId, Subject};
use crate::mode::Mode;
use crate::tui::msg::{Accepted, Msg};
use crate::tui::state::approval::{Approval, ApprovalId, Reply, RuleAct, Wanted};
use crate::tui::state::guards::ModeChoice;
use crate::tui::state::undo::{Change, Fate};

/// Takes a snapshot of the mode and of everything that waits for leave.
pub fn approvals(handle: &Handle) -> Msg {
    let desk = handle.approvals();
    Msg::Approvals { mode: desk.mode(), open: desk.open().into_iter().map(approval).collect() }
}

/// Passes an answer on.
pub(super) fn reply(handle: &Handle, id: ApprovalId, reply: Reply) -> Vec<Msg> {
    let answer = match reply.clone() {
        Reply::Once => host::Answer::Once,
        Reply::Session => host::Answer::Session,
        Reply::Always => host::Answer::Always,
        Reply::No(words) => host::Answer::No(words),
    };
    let outcome = handle.approvals().try_answer(RequestId(id.0), answer);
    let why = outcome.as_ref().err().map(ToString::to_string);
    let accepted = if why.is_none() { Accepted::Yes } else { Accepted::No };
    vec![Msg::Replied { id, reply, accepted, why }, approvals(handle)]
}

/// Sets the mode.
pub(super) fn set_mode(handle: &Handle, choice: ModeChoice) -> Vec<Msg> {
    let desk = handle.approvals();
    let set = |mode: Mode| desk.set_mode(mode).map(|()| mode).map_err(|why| why.to_string());
    let outcome = match choice {
        ModeChoice::Named(mode) => set(mode),
        ModeChoice::Next => set(desk.next_mode()),
    };
    vec![Msg::ModeSet(outcome), approvals(handle)]
}

/// Lists the kept rules, or removes one. Writes a file, so it takes a moment.
pub(super) fn rules(handle: &Handle, act: RuleAct) -> Msg {
    let desk = handle.approvals();
    let rules = desk.kept_rules();
    Msg::Rules(match act {
        RuleAct::List if rules.is_empty() => {
            vec!["no rule is kept for this project; the answer \"yes, always\" keeps one".to_owned()]
        }
        RuleAct::List => {
            let rows = rules.iter().zip(1..).map(|(rule, number)| format!("rule {number}: {rule}"));
            rows.chain(["/rules remove N takes rule N back".to_owned()]).collect()
        }
        RuleAct::Remove(number) => vec![match number.checked_sub(1).and_then(|place| rules.get(place)) {
            None => format!("there is no rule {number}; /rules lists them"),
            Some(rule) => match desk.remove_rule(rule) {
                Ok(()) => format!("removed the rule {rule}: it is asked about again"),
                Err(error) => format!("removed the rule {rule} for this session only: {error}"),
            },
        }],
    })
}

/// Looks at what the tools of the last turn changed. Looks at files, so it takes a moment.
pub(super) fn look_at_changes(handle: &Handle) -> Msg {
    Msg::Changes(handle.undo_preview().into_iter().map(change).collect())
}

/// Takes these changes back. Writes files, so it takes a moment.
pub(super) fn undo_changes(handle: &Handle) -> Msg {
    Msg::Undone(handle.undo().into_iter().map(change).collect())
}

fn change(change: host::Change) -> Change {
    let fate = if change.undo.is_done() { Fate::TakenBack } else { Fate::Stays };
    Change { path: change.path, fate, words: change.undo.to_string() }
}

/// Puts a request of the host into the words of a question.
pub fn approval(request: Request) -> Approval {
    let wanted = match request.subject {
        Subject::Plain { title, detail } => Wanted::Plain { title, detail },
        Subject::MoreCalls { made, more } => Wanted::MoreCalls { made, more },
        Subject::Act(act) => wanted(act),
    };
    let (agent, call) = request.asker.map(|asker| (asker.agent, asker.call)).unzip();
    let session = request.grant.map(|grant| grant.to_string());
    let rule = request.rule.map(|rule| rule.pattern().to_owned());
    Approval { id: ApprovalId(request.id.0), agent, call, wanted, why: request.why, session, rule }
}

fn wanted(act: Act) -> Wanted {
    let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
    match act {
        Act::Command(act) => Wanted::Command { command: act.command, cwd: path(&act.cwd), timeout: act.timeout },
        Act::Write(act) => Wanted::Write {
            path: act.shown,
            before: act.before.map(|before| before.len()),
            after: act.after.len(),
            diff: act.diff,
        },
        Act::Fetch(act) => Wanted::Page { url: act.url },
        Act::Search(act) => Wanted::Search { query: act.query, services: act.services },
        Act::Clone(act) => Wanted::Clone { url: act.url, into: path(&act.into) },
        Act::Use(act) => Wanted::Use { tool: act.tool, what: act.shown },
    }
}
