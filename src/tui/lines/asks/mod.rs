//! What waits for the user: questions, and the place before which a paused agent waits, as lines.
//!
//! Called by the printer. A question is written whole, every part of what it asks about; of a very long one the rest is
//! written on demand, and a yes counts only then.

use super::page::Page;
use crate::approval::{AnswerChoices, Question, QuestionSubject, ShownQuestion};
use crate::keymap::Answer;
use crate::pause::editable;
use crate::state::{App, QuestionId};
use crate::widgets::exact;
use steersman_base::limits;
use steersman_base::message::ToolCall;
use steersman_base::protocol::PausePlace;
use steersman_base::summary;
use steersman_base::target::name_of;
use steersman_base::text::visible_line;
use steersman_session::model::{DetailPart, WaitingAgent};

/// The question that was written last, as far as it was written.
#[derive(Debug)]
pub(super) struct WrittenQuestion {
    id: QuestionId,
    rows: Vec<String>,
    written: usize,
}

impl WrittenQuestion {
    pub(super) fn write(app: &App, id: QuestionId, question: &Question, page: &mut Page) -> Self {
        let who = question.agent.as_ref().map_or_else(|| "Steersman".to_owned(), name_of);
        let others = match app.questions.len() {
            0 | 1 => String::new(),
            count => format!(" ({} more after it)", count - 1),
        };
        page.say(&format!("question {}", id.number()), &format!("{who} asks: {}{others}", question.title));
        let mut asked = Self { id, rows: rows(&question.detail, ""), written: 0 };
        asked.more(page);
        page.say("answers", &answers(question, id.number()));
        asked
    }

    /// Writes what was not written yet, up to a limit.
    pub(super) fn more(&mut self, page: &mut Page) {
        for row in self.rows.iter().skip(self.written).take(limits::QUESTION_LINES) {
            page.add(row);
        }
        self.written = (self.written + limits::QUESTION_LINES).min(self.rows.len());
        if self.below() > 0 {
            let rest = summary::count(self.below(), "line");
            page.say("more", &format!("{rest}: /more reads on; a yes counts once all was read"));
        }
    }

    pub(super) fn id(&self) -> QuestionId {
        self.id
    }

    /// Returns what was written, as the state wants to know it.
    pub(super) fn seen(&self) -> ShownQuestion {
        ShownQuestion {
            id: self.id,
            top: 0,
            shown: u16::try_from(self.written).unwrap_or(u16::MAX),
            below: self.below(),
        }
    }

    fn below(&self) -> usize {
        self.rows.len().saturating_sub(self.written)
    }
}

pub(super) fn paused(app: &App, waiting: &WaitingAgent, page: &mut Page) {
    let name = name_of(&waiting.agent);
    match app.ui.run.pauses.place(&waiting.agent) {
        Some(PausePlace::Call(call)) => {
            page.say(
                "paused",
                &format!(
                    "{name} waits before {}: {}; /step runs it, /edit-call JSON runs it changed, /skip REASON skips it, \
                     /go lets {name} go on",
                    visible_line(&call.name),
                    summary::call(&call.name, &call.arguments)
                ),
            );
            arguments(call, page);
        }
        Some(PausePlace::Boundary) => {
            page.say("paused", &format!("{name} waits before the next request; /step sends it, /go lets {name} go on"));
        }
        None => {}
    }
}

pub(super) fn arguments(call: &ToolCall, page: &mut Page) {
    for line in editable(&call.arguments).lines() {
        page.add(&format!("argument: {line}"));
    }
}

/// Returns every line of what a question asks about; `gutter` stands before the lines of a text in which every character
/// counts.
pub fn rows(detail: &[DetailPart], gutter: &str) -> Vec<String> {
    let exactly = exact::plain;
    let mut rows = Vec::new();
    for part in detail {
        match part {
            DetailPart::Text(text) => rows.extend(numbered(&steersman_base::text::visible(text), gutter)),
            DetailPart::Note(words) => rows.push(visible_line(words).into_owned()),
            DetailPart::Fact(label, covers) if label.starts_with(|c: char| c.is_ascii_digit()) => {
                // Here an answer has a command in place of its number.
                let command = if label.starts_with('2') { "/session" } else { "/always" };
                let label = label.get(1..).unwrap_or_default().trim_end();
                rows.push(format!("{command}{label}: {}", exactly(covers)));
            }
            DetailPart::Fact(label, value) => rows.push(format!("{label}: {}", exactly(value))),
            DetailPart::Exact(text) => rows.extend(numbered(text, gutter)),
            DetailPart::Diff(diff) => {
                for line in diff.strip_suffix('\n').unwrap_or(diff).split('\n') {
                    let (word, text) = match line.as_bytes().first() {
                        Some(b'+') => ("added", line.get(1..)),
                        Some(b'-') => ("removed", line.get(1..)),
                        Some(b' ') => ("same", line.get(1..)),
                        _ => ("place", Some(line)),
                    };
                    rows.push(format!("{gutter}{word}: {}", exactly(text.unwrap_or_default())));
                }
            }
        }
    }
    rows
}

/// Returns the lines of a text. Where nothing marks them, each has its number, so that none looks like a line of the program.
fn numbered(text: &str, gutter: &str) -> impl Iterator<Item = String> {
    let has_numbers = gutter.is_empty() && text.contains('\n');
    text.split('\n').enumerate().map(move |(at, line)| {
        let number = if has_numbers { format!("line {}: ", at + 1) } else { String::new() };
        format!("{gutter}{number}{}", exact::plain(line))
    })
}

fn answers(question: &Question, number: u64) -> String {
    let mut words: Vec<String> = Vec::new();
    for (number, option) in (1..).zip(&question.options) {
        words.push(format!("{number} {}", visible_line(&option.label)));
    }
    let is_of_agent = matches!(question.subject, QuestionSubject::Approval(_, AnswerChoices::Agent { .. }));
    for (answer, meaning) in question.subject.answers() {
        let command = match answer {
            Answer::Once => "/yes",
            Answer::Session => "/session",
            Answer::Always => "/always",
            Answer::Everywhere => "/everywhere",
            Answer::No => "/no",
            Answer::Words if is_of_agent => "/answer TEXT",
            Answer::Leave if is_of_agent => "/leave",
            Answer::Words if question.subject.must_be_read() => "/no WORDS",
            Answer::Words => "/edit N TEXT",
            // It is the same as no.
            Answer::Leave if question.subject.must_be_read() => continue,
            Answer::Leave => "/leave",
        };
        let what = match answer {
            Answer::Session if !question.session.is_empty() => format!("{meaning}: {}", question.session),
            Answer::Always | Answer::Everywhere => {
                let rule = question.rule.as_deref().unwrap_or_default();
                format!("{meaning} for \"{}\"", visible_line(rule))
            }
            Answer::Once | Answer::Session | Answer::No | Answer::Words | Answer::Leave => (*meaning).to_owned(),
        };
        words.push(format!("{command} {what}"));
    }
    let words = words.join(", ");
    if is_of_agent { words } else { format!("{words}; or with its number: /yes {number}") }
}

#[cfg(test)]
mod tests;
