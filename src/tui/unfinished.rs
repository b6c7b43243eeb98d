//! What an earlier process of the session left on the screen: drafts come back, and one question is about all texts that
//! wait.
//!
//! What is left: `Unfinished` in `src/base/protocol/update.rs`; tests: `session_screen.rs`, `tests/program/sessions/resume.rs`.

use crate::approval::{Question, QuestionSubject, Questions};
use crate::commands::Verb;
use crate::effect::PaneEffect;
use crate::keymap::{Answer, Context};
use crate::message::Message;
use crate::message::edit_entry;
use crate::message::removed::Removed;
use crate::state::Medium;
use crate::ui_context::UiContext;
use crate::{pending, update};
use steersman_base::event::{Delivery, Pending};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::protocol::{QueueOperation, Request, Unfinished};
use steersman_base::steering::{TextKind, Trigger};
use steersman_session::model::DetailPart;

/// Takes what an earlier process of the session left: the drafts are back, and one question is about all texts that wait.
pub fn begin(questions: &mut Questions, message: &mut Message, left: &Unfinished, ui: &UiContext) -> Vec<PaneEffect> {
    let mut wanted = Vec::new();
    for draft in &left.drafts {
        message.know(&draft.text, &left.images);
    }
    match ui.medium {
        Medium::Screen => {
            message.restore_drafts(&left.drafts);
            wanted.extend(message.read_again(&left.drafts));
        }
        // Nothing gets into a line that is being typed; `/back` brings it there.
        Medium::Lines => {
            for draft in &left.drafts {
                let line = format!("you were writing: {}; /back brings it into the line", draft.text);
                wanted.push(PaneEffect::Note(AgentId::main(), line));
                message.set_aside(Removed::Draft(draft.text.clone()));
            }
        }
    }
    let Some(question) = question(left) else {
        wanted.extend(left.sentence().map(PaneEffect::Reply));
        return wanted;
    };
    let is_about = |subject: &QuestionSubject| {
        left.pending.iter().any(|entry| *subject == QuestionSubject::StillTrue(entry.id.clone()))
    };
    questions.retain(ui.now, |subject| !is_about(subject));
    for entry in &left.pending {
        questions.leave(QuestionSubject::StillTrue(entry.id.clone()));
    }
    questions.ask_once(question);
    wanted
}

/// Returns the question about texts that an earlier process of the session left; `None` when none waits. One question is
/// about all, so that one key decides.
fn question(left: &Unfinished) -> Option<Question> {
    let ids: Vec<MessageId> = left.pending.iter().map(|entry| entry.id.clone()).collect();
    if ids.is_empty() {
        return None;
    }
    let texts = left.pending.iter().map(|entry| DetailPart::Text(described(entry)));
    // The answer is about the texts alone.
    let agents =
        left.interrupted().map(|agents| DetailPart::Note(format!("{agents}; each goes on with a text for it")));
    let title = format!("{} pending: continue, edit or discard?", ids.len());
    Some(Question::new(QuestionSubject::Unfinished(ids), title, texts.chain(agents).collect()))
}

/// Returns a text with its condition, its kind and its delivery, where it has other than the usual ones.
fn described(entry: &Pending) -> String {
    let condition = entry.trigger.as_ref().map(Trigger::sentence);
    let kind = (entry.kind != TextKind::Add).then(|| entry.kind.to_string());
    let later = (entry.delivery == Delivery::FollowUp).then(|| "follow-up".to_owned());
    let before: Vec<String> = [condition, kind, later].into_iter().flatten().collect();
    if before.is_empty() { entry.text.clone() } else { format!("{}: {}", before.join(", "), entry.text) }
}

/// Returns what is done with texts that an earlier process left.
pub fn answered(ids: Vec<MessageId>, answer: Answer, ui: &UiContext) -> Vec<PaneEffect> {
    let waits = |id: &MessageId| ui.run.pending.get(id).is_some();
    let ids: Vec<MessageId> = ids.into_iter().filter(waits).collect();
    match (answer, ids.as_slice()) {
        (Answer::Once | Answer::Session | Answer::Always | Answer::Everywhere, _) => {
            let confirm = |id| Request::Queue { agent: AgentId::main(), id, operation: QueueOperation::Confirm };
            ids.into_iter().map(|id| confirm(id).into()).collect()
        }
        (Answer::Words, [id]) => vec![edit_entry(AgentId::main(), id.clone())],
        (Answer::Words, _) => vec![update::run(Verb::Pending, "")],
        (Answer::No, _) => {
            ids.iter().filter_map(|id| pending::delete(&ui.run.pending, id)).map(PaneEffect::from).collect()
        }
        (Answer::Leave, _) => vec![PaneEffect::Say(
            ui.spell(Context::Composer, "nothing is sent: the texts stay in the list; F2, then F5 sends one")
                .into_owned(),
        )],
    }
}
