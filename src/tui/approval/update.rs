//! What the keys do about a question. Whether a key may answer is decided in the state.

use super::agent_question;
use super::in_message::write_answer;
use super::state::usual_width;
use super::{AnswerChoices, NumberedAnswer, QuestionSubject, Questions, Unarmed};
use crate::approval::Question;
use crate::effect::{Effect, Outcome, PaneEffect};
use crate::keymap::{Action, Answer, Chord, Context, Edit, Travel};
use crate::message::edit_entry;
use crate::message::purpose::QuestionText;
use crate::state::{Cause, Medium, QuestionId};
use crate::ui_context::UiContext;
use crate::{pending, rules, unfinished};
use steersman_base::id::AgentId;
use steersman_base::mode::Mode;
use steersman_base::protocol::{self, ApprovalId, FormField, ModeChoice, QueueOperation, Request, read_form};
use steersman_base::summary::count;
use steersman_base::target::name_of;
use steersman_base::text::is_blank;

/// What the message is used for now, as far as a question goes by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageUse {
    /// It is empty and has the keys: a number selects an answer.
    Free,
    /// It holds what is written for the question.
    Writes(QuestionText),
    /// It holds something else, or something else has the keys.
    Other,
}

/// Gives an answer to the shown question; ignored when no question is open.
pub(super) fn answer(questions: &mut Questions, answer: Answer, message: MessageUse, ui: &UiContext) -> Outcome {
    if let MessageUse::Writes(what) = message {
        let sends = match what {
            QuestionText::No => "sends your words as a no",
            QuestionText::Form => "sends what you wrote to the server",
            QuestionText::Answer => "sends your words as the answer",
        };
        let words = format!("first Enter, which {sends}, or Esc, which goes back to the question");
        return say_while(Some(Cause::NoDraft), words);
    }
    match questions.unarmed(ui.now) {
        Some(Unarmed::Nothing) => Outcome::Ignored,
        Some(unarmed) => not_answered(questions, unarmed),
        None => give(questions, answer.into(), ui),
    }
}

/// Carries out a key that selects an answer or gives the selected one; ignored when it is for something else.
pub(super) fn choose(questions: &mut Questions, chord: Chord, message: MessageUse, ui: &UiContext) -> Outcome {
    if message != MessageUse::Free || !questions.is_shown() {
        return Outcome::Ignored;
    }
    if let Some(c) = chord.typed() {
        let selects = !questions.is_digit_typed() && questions.select_digit(c, ui.now);
        return if selects { Outcome::DONE } else { before_the_end(questions, c) };
    }
    let moves = match ui.keymap.lookup(Context::Composer, chord) {
        Some(Action::Edit(edit @ (Edit::Up | Edit::Down))) => {
            if !questions.select_next(edit == Edit::Down, ui.now) {
                return not_answered(questions, Unarmed::Typing);
            }
            true
        }
        Some(Action::Edit(Edit::Backspace)) => questions.unselect_answer(),
        Some(Action::Edit(edit @ (Edit::LineStart | Edit::LineEnd))) if questions.is_longer() => {
            questions.page(if edit == Edit::LineStart { Travel::First } else { Travel::Last });
            true
        }
        Some(Action::Send) => {
            let Some(selected) = questions.selected_answer() else {
                let numbers = questions.current().map(Question::numbers).unwrap_or_default();
                let words = format!("answer the question: {numbers}, then Enter");
                return say_while(about(questions, Cause::Unselected), words);
            };
            return give(questions, selected, ui);
        }
        _ => false,
    };
    if moves { Outcome::DONE } else { Outcome::Ignored }
}

/// Returns a text without what is written around an answer: blanks, line ends, a full stop; the wide letters and digits of
/// keyboards for Chinese and Japanese as the usual ones. A line end within it makes a text of it.
fn bare(text: &str) -> String {
    let usual: String = text.trim().chars().map(usual_width).collect();
    usual.trim_end_matches(['.', ')', '!', ',', ':', ';', '\u{3002}', '\u{3001}']).to_owned()
}

/// Tells whether a text looks like an answer to a question, whether or not the one that is asked has such a one.
pub fn seems_answer(text: &str) -> bool {
    let text = bare(text);
    let is_number = !text.is_empty() && text.len() < 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    let words = ["y", "yes", "n", "no", "ok", "okay", "sure", "yep", "yeah", "nope", "always"];
    is_number || words.iter().any(|word| word.eq_ignore_ascii_case(&text))
}

/// Says that a text looks like an answer and is none to the question that is asked.
pub fn no_such_answer(questions: &Questions, medium: Medium) -> String {
    let numbers = questions.current().map(Question::numbers).unwrap_or_default();
    match medium {
        Medium::Screen => format!("no such answer: {numbers}, then Enter. Enter again sends it as text"),
        Medium::Lines => "no such answer: /yes or /no answers. The same line again sends it as text".to_owned(),
    }
}

/// Carries out a letter before a question of the program itself was read to its end: it begins an answer in words, or is no
/// text of the conversation, which has not begun where a project is to be trusted.
fn before_the_end(questions: &mut Questions, c: char) -> Outcome {
    let is_own = questions.current().is_some_and(|question| question.agent.is_none());
    if !is_own || questions.is_read() || "ynYN".contains(c) {
        return Outcome::Ignored;
    }
    if c == ' ' {
        questions.page(Travel::PageDown);
        return Outcome::DONE;
    }
    unread(questions)
}

/// Says that a question was not read to its end.
fn unread(questions: &Questions) -> Outcome {
    let below = count(questions.below(), "line");
    say_while(about(questions, Cause::Unread), format!("read to the end first: PgDn, {below} below; End goes there"))
}

/// Returns the answer to the shown question that a text is, and nothing else: its number, `y`, `yes`, `n` or `no`.
pub fn lone_answer(questions: &Questions, text: &str, medium: Medium) -> Option<NumberedAnswer> {
    let question = questions.current()?;
    let text = bare(text);
    let word = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(&text));
    let answer = if word(&["y", "yes"]) {
        Some(NumberedAnswer::Answer(Answer::Once))
    } else if word(&["n", "no"]) {
        Some(NumberedAnswer::Answer(Answer::No))
    } else {
        // Written in lines only what an agent offers has a number.
        let is_numbered =
            |answer: &NumberedAnswer| medium == Medium::Screen || matches!(answer, NumberedAnswer::Option(_));
        let number: usize = text.parse().ok()?;
        question.numbered().get(number.checked_sub(1)?).map(|(answer, _)| *answer).filter(is_numbered)
    };
    answer.filter(|answer| question.takes(*answer))
}

/// Says why nothing was answered.
pub fn not_answered(questions: &Questions, unarmed: Unarmed) -> Outcome {
    let why = match unarmed {
        Unarmed::Nothing => "nothing was answered: no question is open",
        Unarmed::Gone => "nothing was answered: the question is gone",
        Unarmed::Hidden => "the question was not answered: it was not on the screen",
        Unarmed::Typing => "the question was not answered, as you may still have typed: answer again",
    };
    say_while(about(questions, Cause::Question), why)
}

pub fn give(questions: &mut Questions, answer: NumberedAnswer, ui: &UiContext) -> Outcome {
    let Some(question) = questions.current().filter(|question| question.takes(answer)) else {
        let key = if let NumberedAnswer::Answer(answer) = answer { answer.key() } else { "it" };
        return say_while(about(questions, Cause::Question), format!("{key} is not an answer to this question"));
    };
    let subject = &question.subject;
    if answer.is_yes() && !questions.is_read() {
        // The number was an answer, and stays one; it is no text of what is written now.
        if questions.selected_answer() == Some(answer) {
            questions.select_answer(answer);
        }
        return unread(questions);
    }
    if let QuestionSubject::Approval(id, AnswerChoices::Agent { .. }) = subject {
        return agent_question::give(questions, *id, answer, ui);
    }
    let NumberedAnswer::Answer(answer) = answer else { return Outcome::Ignored };
    if let (QuestionSubject::Approval(id, _), Answer::Words) = (subject, answer) {
        let wanted = write_answer(*id, QuestionText::No);
        // The number was an answer; it is no text of what is written now.
        questions.unselect_answer();
        return Outcome::one(wanted);
    }
    // In lines there is no text to begin with: a yes sends what the form holds at first.
    if let (QuestionSubject::Approval(id, AnswerChoices::Form), Answer::Once, Medium::Screen) =
        (subject, answer, ui.medium)
    {
        let wanted = write_answer(*id, QuestionText::Form);
        questions.unselect_answer();
        return Outcome::one(wanted);
    }
    let asked = questions.take_question(ui.now);
    Outcome::Consumed(asked.map(|asked| carry_out(questions, asked, answer, ui)).unwrap_or_default())
}

pub fn carry_out(questions: &mut Questions, asked: Question, answer: Answer, ui: &UiContext) -> Vec<PaneEffect> {
    let Question { agent, subject, .. } = asked;
    let agent = agent.unwrap_or_else(AgentId::main);
    match (subject, answer) {
        (QuestionSubject::StillTrue(id), Answer::Once) => {
            vec![Request::Queue { agent, id, operation: QueueOperation::Confirm }.into()]
        }
        (QuestionSubject::StillTrue(_), Answer::Session | Answer::Always | Answer::Everywhere) => {
            vec![Request::NeverAskIfTrue.into()]
        }
        (QuestionSubject::StillTrue(id), Answer::Words) => vec![edit_entry(agent, id)],
        (QuestionSubject::StillTrue(id), Answer::No) => {
            pending::delete(&ui.run.pending, &id).into_iter().map(PaneEffect::from).collect()
        }
        (QuestionSubject::StillTrue(id), Answer::Leave) => {
            questions.leave(QuestionSubject::StillTrue(id));
            let sentence = format!("not sent to {}: it stays in the list, held", name_of(&agent));
            vec![PaneEffect::Say(sentence)]
        }
        (QuestionSubject::Approval(id, _), answer) => vec![Request::Answer { id, answer: answer_of(answer) }.into()],
        (QuestionSubject::Unfinished(ids), answer) => unfinished::answered(ids, answer, ui),
        (QuestionSubject::Rule(text), answer) => rules::answered(&text, answer),
        (
            QuestionSubject::New
            | QuestionSubject::Reset
            | QuestionSubject::Quit
            | QuestionSubject::StopJob(_)
            | QuestionSubject::Undo(_)
            | QuestionSubject::Switch(..),
            Answer::No | Answer::Words | Answer::Leave,
        ) => Vec::new(),
        (QuestionSubject::Switch(switch, _), answer) => {
            let goes_back = answer != Answer::Once;
            vec![PaneEffect::Outside(Effect::Switch(if goes_back { switch.with_files() } else { switch }))]
        }
        (subject @ (QuestionSubject::StopJob(_) | QuestionSubject::Undo(_)), _) => {
            subject.decided().into_iter().collect()
        }
        (subject @ (QuestionSubject::New | QuestionSubject::Reset | QuestionSubject::Quit), answer) => {
            if answer != Answer::Once {
                questions.waive(subject.clone());
            }
            subject.decided().into_iter().collect()
        }
    }
}

/// Carries out `/mode`.
pub fn mode(ui: &UiContext, name: &str) -> PaneEffect {
    if let Some(mode) = Mode::named(name) {
        return Request::SetMode { choice: ModeChoice::Named(mode) }.into();
    }
    let names: Vec<&str> = Mode::ALL.iter().map(|mode| mode.name()).collect();
    PaneEffect::Reply(if name.is_empty() {
        let mode = ui.run.permissions.mode;
        format!("the mode is {}: {}; there are {}", mode.name(), mode.help(), names.join(", "))
    } else {
        format!("no mode is called {name}; there are {}", names.join(", "))
    })
}

/// Takes the answer to a choice of the mode.
pub fn mode_set(outcome: Result<Mode, String>) -> PaneEffect {
    match outcome {
        Ok(mode) => PaneEffect::Say(format!("mode: {}", mode.name())),
        Err(why) => PaneEffect::Reply(format!("the mode did not change: {why}")),
    }
}

fn answer_of(answer: Answer) -> protocol::Answer {
    match answer {
        Answer::Once => protocol::Answer::Once,
        Answer::Session => protocol::Answer::Session,
        Answer::Always => protocol::Answer::Always,
        Answer::Everywhere => protocol::Answer::Everywhere,
        Answer::No | Answer::Words => protocol::Answer::No(None),
        Answer::Leave => protocol::Answer::NotNow,
    }
}

/// Answers a request with a no and these words, or says that they are missing.
pub(super) fn no_with_words(questions: &mut Questions, id: ApprovalId, words: String, ui: &UiContext) -> Outcome {
    if is_blank(&words) {
        let sentence = "write what the model is to be told; Esc goes back to the question";
        return say_while(Some(Cause::Message(words)), sentence);
    }
    questions.take_question(ui.now);
    Outcome::request(Request::Answer { id, answer: protocol::Answer::No(Some(words)) })
}

/// Answers a form with these words, or says what is wrong with them.
pub(super) fn fill_form(questions: &mut Questions, id: ApprovalId, words: &str, ui: &UiContext) -> Outcome {
    let Some(fields) = form_fields(id, ui) else {
        return say_while(None, "nothing was sent: the question is gone");
    };
    match read_form(fields, words) {
        Ok(values) => {
            questions.take_question(ui.now);
            Outcome::request(Request::Answer { id, answer: protocol::Answer::Filled(values) })
        }
        Err(sentence) => {
            say_while(Some(Cause::Message(words.to_owned())), format!("nothing was sent: {sentence}; Esc goes back"))
        }
    }
}

/// Returns the fields of the form that a request asks for, while it is open.
pub(super) fn form_fields(id: ApprovalId, ui: &UiContext) -> Option<&[FormField]> {
    let subject = ui.run.permissions.open.iter().find(|open| open.id == id).map(|open| &open.subject);
    if let Some(protocol::ApprovalSubject::Form { fields, .. }) = subject { Some(fields) } else { None }
}

pub(super) fn about(questions: &Questions, cause: fn(QuestionId) -> Cause) -> Option<Cause> {
    questions.current_id().map(cause)
}

pub(super) fn say_while(cause: Option<Cause>, sentence: impl Into<String>) -> Outcome {
    Outcome::one(PaneEffect::SayWhile(cause, sentence.into()))
}
