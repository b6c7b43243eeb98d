//! Questions: when one is asked, and what the answers do. Whether a key may answer is decided in the state.

use super::{approval, command, editing, line, pending, undo};
use crate::id::{AgentId, MessageId};
use crate::protocol::{QueueAct, Request, Unfinished};
use crate::session::fold::DetailPart;
use crate::session::fold::{PendingStage, PendingText};
use crate::tui::keymap::{Action, Answer, Chord, Context, Edit};
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::cause::Cause;
use crate::tui::state::lines::Medium;
use crate::tui::state::question::{Question, Subject, Unarmed};
use crate::tui::transcript::cell::Level;

/// Asks about every pending text that is held for its age, and stops asking about those that are gone.
pub fn ask_about_stale(app: &mut App) {
    let stale = |entry: &&PendingText| {
        entry.stage == PendingStage::Waiting && entry.message.stale && !app.message.is_edited(&entry.message.id)
    };
    let entries: Vec<PendingText> = app.run.pending.entries().iter().filter(stale).cloned().collect();
    app.questions.retain(app.now, |subject| match subject {
        Subject::StillTrue(id) => entries.iter().any(|entry| entry.message.id == *id),
        Subject::Unfinished(ids) => ids.iter().any(|id| app.run.pending.get(id).is_some()),
        Subject::New | Subject::Reset | Subject::Quit | Subject::Undo | Subject::Switch(..) | Subject::Approval(..) => {
            true
        }
    });
    for entry in entries {
        app.questions.ask_once(Question {
            agent: Some(entry.agent),
            title: "Still true? Typed a while ago, not sent yet.".to_owned(),
            detail: vec![DetailPart::Text(entry.message.text)],
            session: "sends every old text of this session without asking".to_owned(),
            rule: None,
            subject: Subject::StillTrue(entry.message.id),
        });
    }
}

/// Stops asking whether to quit as soon as no turn runs: nothing would be lost any more.
pub fn settle_quit(app: &mut App) {
    if app.questions.current().is_some() && !app.tree.main().running() {
        app.questions.retain(app.now, |subject| *subject != Subject::Quit);
    }
}

/// Gives an answer to the shown question; `None` when the key has nothing to do with a question.
pub fn answer(app: &mut App, answer: Answer) -> Option<Vec<Effect>> {
    if app.message.declining().is_some() {
        let words = "first Enter, which sends your words as a no, or Esc, which goes back to the question";
        app.status.say_while(Cause::NoDraft, words, app.now);
        return Some(Vec::new());
    }
    if let Some(unarmed) = app.questions.unarmed(app.now) {
        if unarmed == Unarmed::Nothing {
            return None;
        }
        not_answered(app, unarmed);
        return Some(Vec::new());
    }
    Some(give(app, answer))
}

/// Carries out a key that selects an answer or gives the selected one; `None` when it is for something else. Any other
/// character makes a text of itself and of the digit before it.
pub fn choose(app: &mut App, chord: Chord) -> Option<Vec<Effect>> {
    let is_free = app.medium == Medium::Screen && app.is_drafting() && app.message.is_empty();
    if !is_free || !app.questions.is_shown() {
        return None;
    }
    if let Some(c) = chord.typed() {
        if app.questions.selected().is_none() && app.questions.select_digit(c, app.now) {
            return Some(Vec::new());
        }
        type_digit(app);
        return None;
    }
    match app.keymap.lookup(Context::Composer, chord)? {
        Action::Edit(Edit::Up) => app.questions.select_next(false, app.now).then(Vec::new),
        Action::Edit(Edit::Down) => app.questions.select_next(true, app.now).then(Vec::new),
        Action::Edit(Edit::Backspace) if app.questions.selected().is_some() => {
            app.questions.unselect();
            Some(Vec::new())
        }
        Action::Send => {
            let selected = app.questions.selected_answer();
            if selected.is_none() {
                let cause = app.about_question(Cause::Unselected);
                app.status.say_while(cause, "nothing was answered: first choose an answer by its number", app.now);
            }
            Some(selected.map(|answer| give(app, answer)).unwrap_or_default())
        }
        _ => None,
    }
}

/// Makes a text of the digit that has selected an answer: more text comes behind it.
pub fn type_digit(app: &mut App) {
    if let Some(digit) = app.questions.unselect() {
        app.message.type_char(digit);
    }
}

/// Says why nothing was answered.
pub fn not_answered(app: &mut App, unarmed: Unarmed) {
    let why = match unarmed {
        Unarmed::Nothing => "nothing was answered: no question is open",
        Unarmed::Gone => "nothing was answered: the question is gone",
        Unarmed::Hidden => "the question was not answered: it was not on the screen",
        Unarmed::Typing => "the question was not answered: it came up while you typed",
    };
    app.status.say_while(app.about_question(Cause::Question), why, app.now);
}

/// Gives an answer to the question, which is armed.
pub fn give(app: &mut App, answer: Answer) -> Vec<Effect> {
    if !app.questions.current().is_some_and(|question| question.subject.takes(answer)) {
        let cause = app.about_question(Cause::Question);
        app.status.say_while(cause, format!("{} is not an answer to this question", answer.key()), app.now);
        return Vec::new();
    }
    if answer.is_yes() && !app.questions.is_read() {
        let below = app.questions.below();
        let lines = if below == 1 { "line" } else { "lines" };
        let cause = app.about_question(Cause::Unread);
        app.status.say_while(cause, format!("read to the end first: PgDn, {below} {lines} below"), app.now);
        return Vec::new();
    }
    if let (Some(Subject::Approval(id, _)), Answer::Words) =
        (app.questions.current().map(|q| q.subject.clone()), answer)
    {
        approval::decline(app, id);
        return Vec::new();
    }
    app.questions.take(app.now).map(|question| carry_out(app, question, answer)).unwrap_or_default()
}

/// Does what an answer decides.
pub fn carry_out(app: &mut App, question: Question, answer: Answer) -> Vec<Effect> {
    let Question { agent, subject, .. } = question;
    let agent = agent.unwrap_or_else(AgentId::main);
    match subject {
        Subject::StillTrue(id) => match answer {
            Answer::Once => vec![Effect::Request(Request::Queue { agent, id, act: QueueAct::Confirm })],
            Answer::Session | Answer::Always => vec![Effect::Request(Request::NeverAskIfTrue)],
            Answer::Words => editing::ask(app, agent, id),
            Answer::No => pending::delete(app, &id),
            Answer::Leave => {
                app.questions.leave(Subject::StillTrue(id));
                app.status.say(format!("not sent to {}: it stays in the list, held", pending::name(&agent)), app.now);
                Vec::new()
            }
        },
        Subject::Unfinished(ids) => unfinished(app, ids, answer),
        Subject::New | Subject::Reset | Subject::Quit => match answer {
            Answer::Once => command::decided(app, &subject),
            Answer::Session | Answer::Always => {
                app.questions.waive(subject.clone());
                command::decided(app, &subject)
            }
            Answer::No | Answer::Words | Answer::Leave => Vec::new(),
        },
        Subject::Switch(switch, _) => super::sessions::decided(switch, answer),
        Subject::Undo => match answer {
            Answer::Once | Answer::Session | Answer::Always => undo::confirmed(app),
            Answer::No | Answer::Words | Answer::Leave => Vec::new(),
        },
        Subject::Approval(id, _) => vec![Effect::Request(Request::Answer { id, answer: approval::answer_of(answer) })],
    }
}

/// Takes what an earlier process of the session left: the drafts are back, and one question is about all texts that wait.
pub fn begin_unfinished(app: &mut App, left: &Unfinished) {
    match app.medium {
        Medium::Screen => app.message.restore_drafts(&left.drafts),
        // Nothing gets into a line that is being typed; `/back` brings it there.
        Medium::Lines => {
            for draft in &left.drafts {
                let told = format!("you were writing: {}; /back brings it into the line", draft.text);
                app.reader_mut(&AgentId::main()).transcript.tell(Level::Info, &told);
                line::keep(app, draft.text.clone());
            }
        }
    }
    let Some(question) = super::sessions::unfinished(left) else {
        if let Some(sentence) = left.sentence() {
            app.reply(&sentence);
        }
        return;
    };
    let is_about =
        |subject: &Subject| left.pending.iter().any(|entry| *subject == Subject::StillTrue(entry.id.clone()));
    app.questions.retain(app.now, |subject| !is_about(subject));
    for entry in &left.pending {
        app.questions.leave(Subject::StillTrue(entry.id.clone()));
    }
    app.questions.ask_once(question);
}

/// Does what was decided about texts that an earlier process left.
fn unfinished(app: &mut App, ids: Vec<MessageId>, answer: Answer) -> Vec<Effect> {
    let ids: Vec<MessageId> = ids.into_iter().filter(|id| app.run.pending.get(id).is_some()).collect();
    match (answer, ids.as_slice()) {
        (Answer::Once | Answer::Session | Answer::Always, _) => {
            let confirm = |id| Request::Queue { agent: AgentId::main(), id, act: QueueAct::Confirm };
            ids.into_iter().map(confirm).map(Effect::Request).collect()
        }
        (Answer::Words, [id]) => editing::ask(app, AgentId::main(), id.clone()),
        (Answer::Words, _) => {
            pending::focus(app);
            Vec::new()
        }
        (Answer::No, _) => ids.iter().flat_map(|id| pending::delete(app, id)).collect(),
        (Answer::Leave, _) => {
            app.status.say("nothing is sent: the texts stay in the list, held", app.now);
            Vec::new()
        }
    }
}
