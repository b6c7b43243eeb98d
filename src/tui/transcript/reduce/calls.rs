//! Calls in a transcript: their output while they run, their results, and what the user was asked before.
//!
//! Used by the reducer of the transcript alone. A question stands in the cell of its call; one that no call waits for has a
//! line of its own. Either way one line, which turns into its answer.

use jiff::Timestamp;

use super::Transcript;
use crate::transcript::cell::{Answered, Body, CallCell, CallQuestion, CallState, Cell, CellId, Level, WentOn};
use crate::transcript::result::Shown;
use steersman_base::details::Details;
use steersman_base::event::JobOwner;
use steersman_base::id::CallId;
use steersman_base::limits::{PARALLEL_TOOLS, PROGRESS_BYTES};
use steersman_base::message::Arguments;
use steersman_base::text::{self, CommandOutput};

impl Transcript {
    /// Finds the call a result belongs to: the oldest open one of that id, else the newest of that id, not far back.
    fn find_call(&self, id: &CallId) -> Option<CellId> {
        let is_it = |cell: &Cell| cell.body().call().is_some_and(|call| call.id == *id);
        let open = self.open.iter().copied().find(|cell| self.get(*cell).is_some_and(is_it));
        open.or_else(|| self.cells.recent().rev().find(|cell| is_it(cell)).map(Cell::id))
    }

    pub(super) fn progress(&mut self, id: &CallId, piece: &str) -> bool {
        self.find_call(id).is_some_and(|cell| self.print(cell, piece))
    }

    /// Adds a piece to what a call has printed, if it still runs.
    pub(super) fn print(&mut self, cell: CellId, piece: &str) -> bool {
        let call = self.get(cell).and_then(|cell| cell.body().call());
        if !call.is_some_and(|call| matches!(call.state, CallState::Running { .. })) {
            return false;
        }
        if let Some(CallState::Running { progress, cut }) = self.change_call(cell).map(|call| &mut call.state) {
            progress.push(piece);
            if progress.shown().text.len() > PROGRESS_BYTES {
                *cut += progress.keep_newest(PROGRESS_BYTES / 2);
            }
        }
        self.printed = Some(cell);
        true
    }

    pub(super) fn result(&mut self, id: &CallId, content: &str, end: (bool, u64), at: Timestamp) {
        let (is_error, elapsed_ms) = end;
        let ended = |content: CommandOutput| CallState::Ended { content, is_error, elapsed_ms };
        let Some(cell) = self.find_call(id) else {
            // A result whose call was not seen: a log that begins in the middle.
            let none = Arguments::Object(serde_json::Map::new());
            let call = CallCell::new(id.clone(), "tool".to_owned(), none, String::new(), at);
            self.push(Body::Call(Box::new(CallCell { state: ended(CommandOutput::plain(content)), ..call })));
            return;
        };
        self.open.retain(|open| *open != cell);
        self.settle_waiting();
        if let Some(call) = self.change_call(cell) {
            let is_command = matches!(call.shown, Some(Shown::Command { .. }));
            let content = match &mut call.state {
                // The model gets it without colours.
                CallState::Running { progress, .. } if is_command => {
                    CommandOutput::parse(content).coloured_by(&std::mem::take(progress).finish())
                }
                _ if is_command => CommandOutput::parse(content),
                _ => CommandOutput::plain(content),
            };
            call.state = ended(content);
        }
    }

    /// Notes which of the open calls wait because as many before them run as can run together: they begin in order.
    pub(super) fn settle_waiting(&mut self) {
        let is_agents = |cell: &Cell| cell.body().call().is_some_and(|call| call.owner == JobOwner::Agent);
        let calls = self.open.iter().copied().filter(|cell| self.get(*cell).is_some_and(is_agents));
        let waits = |cell: CellId| self.get(cell).and_then(|cell| cell.body().call()).is_some_and(|call| call.waits);
        let changed: Vec<(CellId, bool)> = calls
            .enumerate()
            .map(|(place, cell)| (cell, place >= PARALLEL_TOOLS))
            .filter(|(cell, is_behind)| waits(*cell) != *is_behind)
            .collect();
        for (cell, is_behind) in changed {
            if let Some(call) = self.change_call(cell) {
                call.waits = is_behind;
            }
        }
    }

    pub(super) fn details(&mut self, id: &CallId, details: &Details) -> bool {
        let (Some(shown), Some(cell)) = (Shown::from_details(details), self.find_call(id)) else { return false };
        if matches!(shown, Shown::Command { .. }) {
            self.printed = Some(cell);
        }
        if let Some(call) = self.change_call(cell) {
            call.shown = Some(shown);
        }
        true
    }

    pub(super) fn question_asked(&mut self, id: &str, question: &str, call: Option<&CallId>, offer: Option<&str>) {
        let at = self.now;
        let place = call.and_then(|call| self.find_call(call));
        if let Some(call) = place.and_then(|cell| self.change_call(cell)) {
            let offer = offer.map(str::to_owned);
            call.asked.push(CallQuestion { id: id.to_owned(), at, offer, answer: None });
        }
        let asking = place.unwrap_or_else(|| self.notice(Level::Warning, &format!("asks: {question}")));
        self.questions.insert(id.to_owned(), asking);
    }

    pub(super) fn answered_question(&mut self, id: &str, answer: &str, words: Option<&str>) -> bool {
        let now = self.now;
        let place = self.questions.remove(id).and_then(|cell| self.cells.get_mut(cell.index()));
        match place.map(Cell::change) {
            Some(Body::Call(call)) => {
                if let Some(asked) = call.asked.iter_mut().find(|asked| asked.id == id) {
                    asked.answer = Some(describe_answer(answer, words, asked.offer.as_deref()));
                    let wait = asked.at.zip(now).map(|(asked, now)| now.duration_since(asked).as_millis());
                    call.waited_ms += wait.and_then(|wait| u64::try_from(wait).ok()).unwrap_or(0);
                }
            }
            Some(Body::Notice { level, text }) => {
                *level = Level::Info;
                let answer = describe_answer(answer, words, None).words;
                let question = text.strip_prefix("asks: ").unwrap_or(text);
                *text = format!("{question} {answer}");
            }
            // An answer whose question was not seen.
            Some(
                Body::User { .. }
                | Body::Thinking { .. }
                | Body::Assistant { .. }
                | Body::Compaction { .. }
                | Body::Child(_),
            )
            | None => {
                self.notice(Level::Info, &describe_answer(answer, words, None).words);
            }
        }
        true
    }

    /// Says which files the system prompt holds, when that is news.
    pub(super) fn guards(&mut self, context_files: &[String]) -> bool {
        if self.context_files == context_files {
            return false;
        }
        self.context_files = context_files.to_vec();
        let sentence = match context_files {
            [] => "no context file is in the system prompt any more".to_owned(),
            files => format!("in the system prompt: {}", files.join(", ")),
        };
        self.say(Level::Info, &sentence)
    }
}

/// Ends a call whose turn ended before it did.
pub(super) fn interrupt(call: &mut CallCell) {
    if let CallState::Running { progress, .. } = &mut call.state {
        call.state = CallState::Interrupted { progress: std::mem::take(progress).finish() };
    }
    for asked in call.asked.iter_mut().filter(|asked| asked.answer.is_none()) {
        asked.answer = Some(describe_answer("withdrawn", None, None));
    }
}

fn describe_answer(answer: &str, words: Option<&str>, offer: Option<&str>) -> Answered {
    let behind = |text: Option<&str>| text.map(|text| format!(": {text}")).unwrap_or_default();
    let (went_on, words) = match answer {
        "yes" => (WentOn::Yes, "approved once".to_owned()),
        "session" => (WentOn::Yes, format!("approved for this session{}", behind(offer))),
        "always" => (WentOn::Yes, "approved, and the rule is kept".to_owned()),
        "filled" => (WentOn::Yes, "answered".to_owned()),
        "no" => (WentOn::No, format!("declined{}", behind(words))),
        "allowed" => (WentOn::Yes, "allowed meanwhile, no answer needed".to_owned()),
        "denied" => (WentOn::No, format!("refused meanwhile{}", behind(words))),
        "withdrawn" => (WentOn::No, "withdrawn, nobody answered".to_owned()),
        other => (WentOn::No, format!("answered {other}{}", behind(words))),
    };
    Answered { went_on, words: text::visible_line(&words).into_owned() }
}
