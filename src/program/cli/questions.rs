//! Questions without a screen: written to standard error as on the screen, answered by lines of standard input; and the
//! calls that were refused because nobody could be asked.
//!
//! Always holds: a yes counts only when its line began after the whole question was written, so nothing is approved
//! unseen.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use crate::program::cli::output::Output;
use crate::program::cli::steer_stdin::Lines;
use steersman_base::event::{Envelope, Event};
use steersman_base::id::{AgentId, CallId};
use steersman_base::limits;
use steersman_base::message::Arguments;
use steersman_base::protocol::{Answer, ApprovalId, ApprovalRequest, ApprovalSubject};
use steersman_base::sync::lock;
use steersman_base::text::visible_line;
use steersman_core::approval::NOBODY;
use steersman_core::listener::Listener;
use steersman_session::model::approval_parts;
use steersman_tui::lines::question_rows;

/// The position in the input at which each question was written, by its number; shared with the writer threads.
#[derive(Clone, Default)]
struct QuestionPositions {
    places: Arc<Mutex<HashMap<u64, u64>>>,
}

impl QuestionPositions {
    /// Notes the position of a question, unless another output wrote it already.
    fn note(&self, number: u64, place: u64) {
        lock(&self.places).entry(number).or_insert(place);
    }

    fn place_of(&self, number: u64) -> Option<u64> {
        lock(&self.places).get(&number).copied()
    }
}

/// The questions of a run: writes each open one once, and takes the answers.
pub(super) struct Questions {
    err: Output,
    lines: Option<Lines>,
    written: HashSet<ApprovalId>,
    positions: QuestionPositions,
}

impl Questions {
    /// Makes the state before any question; answers come from `lines`.
    pub(super) fn new(err: Output, lines: Option<Lines>) -> Self {
        Self { err, lines, written: HashSet::new(), positions: QuestionPositions::default() }
    }

    /// Returns a listener that notes the positions of questions in the JSON output, for a program that reads it.
    pub(super) fn in_json(&self, out: Output) -> impl Listener + use<> {
        QuestionListener { out, lines: self.lines.clone(), positions: self.positions.clone() }
    }

    /// Writes the open questions that were not written yet, the oldest first.
    pub(super) fn say_new(&mut self, open: &[ApprovalRequest]) {
        for request in open {
            if self.written.insert(request.id) {
                mark_at_end(&self.err, self.lines.as_ref(), &self.positions, request.id.0);
                self.err.say(&describe(request));
            }
        }
    }

    /// Answers a question with a line that began at this position of the input.
    ///
    /// # Errors
    /// One sentence for the user.
    pub(super) fn answered(
        &self,
        open: &[ApprovalRequest],
        number: Option<u64>,
        answer: &Answer,
        began: u64,
    ) -> Result<ApprovalId, String> {
        let names = || open.iter().map(|request| request.id.0.to_string()).collect::<Vec<_>>().join(", ");
        let request = match (number, open) {
            (_, []) => return Err("not answered: no question is open".to_owned()),
            (Some(number), _) => open
                .iter()
                .find(|request| request.id.0 == number)
                .ok_or_else(|| format!("not answered: no question {number} is open; open: {}", names()))?,
            (None, [only]) => only,
            (None, _) => {
                return Err(format!("not answered: several questions are open; name one of them: {}", names()));
            }
        };
        let id = request.id.0;
        // A no that names its question is always safe.
        let is_safe = number.is_some() && matches!(answer, Answer::No(_));
        if !is_safe && self.positions.place_of(id).is_none_or(|written| began < written) {
            return Err(format!(
                "not answered: the line was there before question {id} was written; read it, then answer"
            ));
        }
        if *answer == Answer::Session && request.session.is_none() {
            return Err(format!(
                "not answered: question {id} is asked each time; /yes {id} or /no {id} WORDS answers it"
            ));
        }
        Ok(request.id)
    }
}

/// The listener that notes a question before the JSON output has it.
struct QuestionListener {
    out: Output,
    lines: Option<Lines>,
    positions: QuestionPositions,
}

impl Listener for QuestionListener {
    fn on_event(&self, envelope: &Envelope) {
        if let Event::Question { id, .. } = &envelope.event
            && let Some(number) = id.rsplit(' ').next().and_then(|number| number.parse().ok())
        {
            mark_at_end(&self.out, self.lines.as_ref(), &self.positions, number);
        }
    }

    fn label(&self) -> String {
        "Questions".to_owned()
    }
}

/// Notes the position of the input once all of the next text but its line end is written.
fn mark_at_end(output: &Output, lines: Option<&Lines>, positions: &QuestionPositions, number: u64) {
    let Some(lines) = lines.cloned() else { return };
    let positions = positions.clone();
    output.before_next_end(move || positions.note(number, lines.position()));
}

/// Returns a question with all that would happen, and how it is answered.
fn describe(request: &ApprovalRequest) -> String {
    let (number, has_grant, has_rule) = (request.id.0, request.session.is_some(), request.rule.is_some());
    let session = if has_grant { format!("/session {number}, ") } else { String::new() };
    let always = if has_rule { format!("/always {number}, ") } else { String::new() };
    if matches!(request.subject, ApprovalSubject::AgentQuestion { .. }) {
        return format!(
            "question {number}: {}\nanswer: /answer {number} and the number of an option or your own words, /no {number} or /no {number} WORDS",
            question(request),
        );
    }
    format!(
        "question {number}: {}\nanswer: /yes {number}, {session}{always}/no {number} or /no {number} WORDS",
        question(request),
    )
}

/// Returns who asks what, with all that would happen.
pub(super) fn question(request: &ApprovalRequest) -> String {
    let who = request.asker.as_ref().filter(|asker| !asker.agent.is_main());
    let who = who.map(|asker| format!("{} asks: ", visible_line(asker.agent.as_str()))).unwrap_or_default();
    let rows = question_rows(&approval_parts(request), "│ ");
    format!("{who}{}\n{}", visible_line(&request.subject.title()), rows.join("\n"))
}

/// The calls that were refused because nobody could be asked.
#[derive(Debug, Default)]
pub(super) struct RefusedCalls {
    calls: HashMap<(AgentId, CallId), String>,
    refused: Vec<String>,
}

impl RefusedCalls {
    pub(super) fn saw(&mut self, envelope: &Envelope) {
        let key = |id: &CallId| (envelope.agent.clone(), id.clone());
        match &envelope.event {
            Event::ToolCall { id, name, arguments } => {
                self.calls.insert(key(id), summary(name, arguments));
            }
            Event::ToolResult { id, content, is_error, .. } => {
                let call = self.calls.remove(&key(id));
                if let (true, Some(call)) = (*is_error && content.trim_end().ends_with(NOBODY), call) {
                    self.refused.push(call);
                }
            }
            _ => {}
        }
    }

    /// Reports the refused calls, and the settings that would allow them.
    pub(super) fn say(&self, err: &Output) {
        if self.refused.is_empty() {
            return;
        }
        let count = self.refused.len();
        let calls = if count == 1 { "1 call was".to_owned() } else { format!("{count} calls were") };
        let shown = self.refused.iter().take(limits::REFUSED_SHOWN);
        let mut text = shown.fold(String::new(), |text, call| format!("{text}\n{call}"));
        if count > limits::REFUSED_SHOWN {
            text.push_str("\n…");
        }
        err.say(&format!(
            "{calls} refused because nobody was there to ask; --yes, --mode or rules in the configuration allow them:{text}"
        ));
    }
}

fn summary(name: &str, arguments: &Arguments) -> String {
    let whole = format!("{name} {}", serde_json::to_string(arguments).unwrap_or_default());
    steersman_base::text::clip(&visible_line(&whole), limits::SUMMARY_COLUMNS).into_owned()
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use super::*;
    use steersman_base::text::QuestionText;
    use steersman_core::approval::{Answerer, Approvals, Mode, Policy};

    #[tokio::test]
    async fn with_several_open_an_answer_names_one_and_a_yes_needs_its_question_to_be_written() {
        let approvals = Approvals::default();
        approvals.configure(Policy { answerer: Answerer::User, ..Policy::default() }, Mode::default());
        let (_reader, writer) = std::io::pipe().unwrap();
        let questions = Questions::new(Output::start(writer.as_fd()).unwrap(), None);
        let asked = async {
            tokio::join!(
                approvals.ask_user("one?", QuestionText::default()),
                approvals.ask_user("two?", QuestionText::default())
            )
        };
        let answered = async {
            let answer = |number, answer, began| {
                let id = questions.answered(&approvals.open(), number, &answer, began)?;
                approvals.try_answer(id, answer).map_err(|why| why.to_string())
            };
            assert!(answer(None, Answer::No(None), 9).unwrap_err().ends_with("name one of them: 1, 2"));
            assert!(answer(Some(3), Answer::Once, 9).unwrap_err().ends_with("no question 3 is open; open: 1, 2"));
            assert!(answer(Some(2), Answer::Once, 9).unwrap_err().contains("before question 2 was written"));
            questions.positions.note(2, 5);
            assert!(answer(Some(2), Answer::Once, 4).unwrap_err().contains("before question 2 was written"));
            answer(Some(2), Answer::Once, 5).unwrap();
            answer(Some(1), Answer::No(None), 0).unwrap();
            assert!(answer(None, Answer::Once, 9).unwrap_err().ends_with("no question is open"));
        };
        assert_eq!(tokio::join!(asked, answered).0, (false, true));
    }
}
