//! What an agent asks the user: an answer among its options, one in the user's own words, and the questions that were put off.
//!
//! An answer goes to the run as a filled form of one field. Always holds: a question that was put off is answered by nothing
//! until it is shown again.

use super::update::{about, say_while};
use super::{NumberedAnswer, Question, QuestionSubject, Questions, write_answer};
use crate::commands::{CommandEntry, Takes};
use crate::effect::{Outcome, PaneEffect};
use crate::keymap::Answer;
use crate::message::purpose::QuestionText;
use crate::state::{Cause, Medium, QuestionId};
use crate::ui_context::UiContext;
use steersman_base::id::AgentId;
use steersman_base::protocol::{self, AgentQuestion, ApprovalId, ApprovalSubject, Request, answer_of};
use steersman_base::target::name_of;
use steersman_base::text::{clip, visible_line};

/// Columns of a question in the list.
const LISTED: usize = 60;

pub const ANSWER_COMMAND: CommandEntry = CommandEntry::new(
    "/answer TEXT",
    Takes::Text,
    "Alt+W",
    "answer what an agent asks: the numbers of options, or your own words",
    |_, argument| {
        let argument = argument.to_owned();
        vec![PaneEffect::call(move |app| answer(&mut app.questions, &argument, &app.ui).into_iter().collect())]
    },
);

pub const QUESTIONS_COMMAND: CommandEntry = CommandEntry::new(
    "/questions [N]",
    Takes::Any,
    "",
    "list the open questions; with a number: show this one first, also one that you put off",
    |_, argument| {
        let argument = argument.to_owned();
        vec![PaneEffect::call(move |app| show(&mut app.questions, &argument, &app.ui))]
    },
);

/// Gives an answer to the shown question of an agent.
pub(super) fn give(questions: &mut Questions, id: ApprovalId, answer: NumberedAnswer, ui: &UiContext) -> Outcome {
    match answer {
        NumberedAnswer::Option(index) if questions.current().is_some_and(Question::takes_several) => {
            questions.toggle(index);
            // It stays selected, so that the next number is one too, however soon it comes.
            questions.select_answer(answer);
            match ui.medium {
                Medium::Screen => Outcome::DONE,
                Medium::Lines => {
                    let marked = questions.marked().join(", ");
                    say_while(None, format!("marked: {}; /yes sends it", visible_line(&marked)))
                }
            }
        }
        NumberedAnswer::Option(index) => {
            let options = questions.current().map(|question| question.options.as_slice()).unwrap_or_default();
            let label = options.get(index).map(|option| option.label.clone());
            label.map_or(Outcome::Ignored, |label| send(questions, id, [label], ui))
        }
        NumberedAnswer::Answer(Answer::Words) if ui.medium == Medium::Screen => {
            questions.unselect_answer();
            Outcome::one(write_answer(id, QuestionText::Answer))
        }
        NumberedAnswer::Answer(Answer::Words) => say_while(about(questions, Cause::Question), "write /answer TEXT"),
        NumberedAnswer::Answer(Answer::Leave) => {
            questions.put_off(ui.now);
            Outcome::one(PaneEffect::Say("the question is put off: /questions shows it again".to_owned()))
        }
        NumberedAnswer::Answer(Answer::No) => {
            questions.take_question(ui.now);
            Outcome::request(Request::Answer { id, answer: protocol::Answer::No(None) })
        }
        NumberedAnswer::Answer(Answer::Once | Answer::Session | Answer::Always | Answer::Everywhere) => {
            let marked = questions.marked();
            if marked.is_empty() {
                questions.unselect_answer();
                return say_while(about(questions, Cause::Unselected), "first mark an answer: its number, then Enter");
            }
            send(questions, id, marked, ui)
        }
    }
}

/// Answers a question of an agent with these words, or says that they are missing.
pub(super) fn give_words(questions: &mut Questions, id: ApprovalId, words: &str, ui: &UiContext) -> Outcome {
    if words.trim().is_empty() {
        return say_while(Some(Cause::Message(words.to_owned())), "write your answer; Esc goes back to the question");
    }
    send(questions, id, [words.trim().to_owned()], ui)
}

fn send(
    questions: &mut Questions,
    id: ApprovalId,
    answers: impl IntoIterator<Item = String>,
    ui: &UiContext,
) -> Outcome {
    questions.take_question(ui.now);
    Outcome::request(Request::Answer { id, answer: protocol::Answer::Filled(answer_of(answers)) })
}

/// Carries out `/answer`: what was shown long enough is answered by numbers of options, or by words.
fn answer(questions: &mut Questions, text: &str, ui: &UiContext) -> Outcome {
    let asked = questions.current().and_then(|question| match &question.subject {
        QuestionSubject::Approval(id, _) => Some((*id, agent_question(*id, ui)?)),
        _ => None,
    });
    let Some((id, asked)) = asked else {
        return say_while(None, "not answered: no agent asks you anything; /questions lists what is open");
    };
    if let Some(unarmed) = questions.unarmed_line(None, ui.now).filter(|_| !questions.armed(ui.now)) {
        return super::not_answered(questions, unarmed);
    }
    match asked.read_answer(text) {
        Ok(values) => {
            questions.take_question(ui.now);
            Outcome::request(Request::Answer { id, answer: protocol::Answer::Filled(values) })
        }
        Err(why) => say_while(about(questions, Cause::Question), format!("not answered: {why}")),
    }
}

/// Carries out `/questions`.
fn show(questions: &mut Questions, argument: &str, ui: &UiContext) -> Vec<PaneEffect> {
    if let Ok(number) = argument.parse() {
        return if questions.show(number, ui.now) {
            Vec::new()
        } else {
            vec![PaneEffect::Reply(format!("there is no question {number}; /questions lists them"))]
        };
    }
    if !argument.is_empty() {
        return vec![PaneEffect::Reply("it is /questions N, or /questions alone, which lists them".to_owned())];
    }
    if questions.all().next().is_none() {
        return vec![PaneEffect::Reply("no question is open".to_owned())];
    }
    // One that was put off, and stands alone, needs no number.
    if questions.is_empty() && questions.put_off_count() == 1 {
        let number = questions.all().next().map(|(id, _)| id.number());
        if let Some(number) = number {
            questions.show(number, ui.now);
        }
        return Vec::new();
    }
    let row = |(place, (id, question)): (usize, &(QuestionId, Question))| {
        let who = question.agent.as_ref().map_or_else(|| "Steersman".to_owned(), name_of);
        let asked = match &question.subject {
            QuestionSubject::Approval(id, _) => agent_question(*id, ui).map(|asked| asked.text.clone()),
            _ => None,
        };
        let what = asked.unwrap_or_else(|| question.title.clone());
        let state = if place < questions.len() { "" } else { " (put off)" };
        format!("question {}, {who}: {}{state}", id.number(), clip(&visible_line(&what), LISTED))
    };
    let rows = questions.all().enumerate().map(row);
    let rows = rows.chain(["/questions N shows question N first".to_owned()]);
    rows.map(|row| PaneEffect::Note(AgentId::main(), row)).collect()
}

/// Returns what an agent asks, while that is open.
fn agent_question(id: ApprovalId, ui: &UiContext) -> Option<&AgentQuestion> {
    let subject = ui.run.permissions.open.iter().find(|open| open.id == id).map(|open| &open.subject);
    if let Some(ApprovalSubject::AgentQuestion { question }) = subject { Some(question) } else { None }
}
