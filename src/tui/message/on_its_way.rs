//! Drafts that were sent and that no queue has answered yet: a session in another program takes a moment.
//!
//! Always holds: such a draft stands in the message until a queue has taken it, and what is typed behind it meanwhile is a
//! text of its own: neither is sent twice, and neither gets into the other.

use super::Message;
use super::composer::Composer;
use steersman_base::protocol::Request;

/// A draft on its way to its queues.
#[derive(Debug)]
struct Sending {
    /// As it stands in the message.
    draft: String,
    /// As the queues got it.
    text: String,
    /// How many of them have not answered.
    unanswered: usize,
    /// Whether it still stands in the message.
    is_here: bool,
}

/// The drafts on their way, in the order in which they stand in the message.
#[derive(Debug, Default)]
pub(super) struct OnItsWay(Vec<Sending>);

/// A draft that a queue has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredDraft {
    /// As it stands, or stood, in the message.
    pub draft: String,
    /// Where in the message it begins, in bytes; `None` once it is not there any more.
    place: Option<usize>,
    /// Its number among those on their way.
    index: usize,
}

/// A custom command whose shell lines the session runs: what is sent once they have, and how.
#[derive(Debug)]
pub(super) struct Filling {
    /// What the session was asked for: the draft with all that is collapsed in it.
    pub call: String,
    /// Where the filled-in text goes, each with what is to be filled in.
    pub requests: Vec<Request>,
}

impl OnItsWay {
    fn is_waiting(&self) -> bool {
        self.0.iter().any(|sending| sending.unanswered > 0)
    }
}

impl Message {
    /// Notes that this draft goes out to so many queues, as this text.
    pub fn goes_out(&mut self, draft: &str, text: &str, queues: usize) {
        self.outgoing = Some(draft.to_owned());
        let (draft, text) = (draft.to_owned(), text.to_owned());
        self.on_its_way.0.push(Sending { draft, text, unanswered: queues, is_here: true });
    }

    /// Notes that the session fills in this draft first.
    pub(super) fn is_filled_in(&mut self, filling: Filling) {
        self.filling.push(filling);
    }

    /// Returns the command whose shell lines run.
    pub fn filling(&self) -> Option<&str> {
        self.filling.first().map(|filling| filling.call.as_str())
    }

    /// Takes the text of a command whose shell lines have run; returns the requests that send it. With an error the draft is one
    /// like any other.
    pub fn filled_in(&mut self, call: &str, outcome: &Result<String, String>) -> Vec<Request> {
        let Some(at) = self.filling.iter().position(|filling| filling.call == call) else { return Vec::new() };
        let mut requests = self.filling.remove(at).requests;
        let sending = self.on_its_way.0.iter_mut().find(|sending| sending.unanswered > 0 && sending.text == call);
        let Some(sending) = sending else { return Vec::new() };
        let Ok(text) = outcome else {
            sending.unanswered = 0;
            if !self.on_its_way.is_waiting() {
                self.expect_no_answers();
            }
            return Vec::new();
        };
        sending.unanswered = requests.len();
        sending.text.clone_from(text);
        for request in &mut requests {
            if let Request::Inject { message, .. } = request {
                message.text.clone_from(text);
            }
        }
        requests
    }

    /// Tells whether a draft was sent and not answered yet.
    pub fn is_waiting_for_answer(&self) -> bool {
        self.on_its_way.is_waiting()
    }

    /// Returns what the message holds behind the drafts that are on their way.
    pub fn next_draft(&self) -> String {
        let shown = self.shown();
        if !self.is_waiting_for_answer() {
            return shown;
        }
        let front = self.front(self.on_its_way.0.len());
        shown.strip_prefix(&front).map(str::to_owned).unwrap_or(shown)
    }

    /// Removes what the message holds behind the drafts that are on their way.
    pub fn drop_next_draft(&mut self) {
        let shown = self.shown();
        let kept = shown.strip_suffix(&self.next_draft()).unwrap_or_default();
        let kept = self.whole(kept);
        self.load(&kept);
    }

    /// Takes the answer of one queue to a text; `None` when the text was no draft.
    pub fn answered(&mut self, text: &str) -> Option<AnsweredDraft> {
        let index = self.on_its_way.0.iter().position(|sending| sending.unanswered > 0 && sending.text == text)?;
        let before = self.front(index).len();
        let sending = self.on_its_way.0.get_mut(index)?;
        sending.unanswered -= 1;
        let place = sending.is_here.then_some(before);
        let answered = AnsweredDraft { draft: sending.draft.clone(), place, index };
        if !self.on_its_way.is_waiting() {
            // What was refused is a draft like any other.
            self.expect_no_answers();
        }
        Some(answered)
    }

    /// Takes a draft that a queue has taken out of the message; returns it, for the history of what was sent.
    pub fn take_sent(&mut self, AnsweredDraft { draft, place, index }: &AnsweredDraft) -> Option<String> {
        let part = (*place)?..(*place)? + draft.len();
        let stands_in = |composer: &Composer| composer.shown().get(part.clone()) == Some(draft);
        let composer = if stands_in(self.top()) { self.top_mut() } else { &mut self.draft };
        if !stands_in(composer) {
            return None;
        }
        let mut rest = composer.shown();
        rest.replace_range(part, "");
        let (whole, rest) = (composer.whole(draft), composer.whole(&rest));
        if rest.is_empty() {
            composer.forget();
        } else {
            composer.load(&rest);
        }
        if let Some(sending) = self.on_its_way.0.get_mut(*index) {
            sending.is_here = false;
        }
        self.remember(&whole)
    }

    /// Expects no more answers: drafts that are on their way are drafts like any other.
    pub fn expect_no_answers(&mut self) {
        self.filling.clear();
        self.on_its_way.0.clear();
    }

    /// Returns the drafts before one of them, as far as they still stand in the message.
    fn front(&self, index: usize) -> String {
        let before = self.on_its_way.0.iter().take(index).filter(|sending| sending.is_here);
        before.map(|sending| sending.draft.as_str()).collect()
    }
}
