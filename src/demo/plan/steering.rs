//! Steering: what the person said while the turn ran, laid over whatever a role would do next.
//!
//! Each new message is acknowledged in the next reply, quoted word for word and in order; what it asks for is done in the
//! same batch; the final answer says what came of each. "Stop" ends the turn, after what came together with it.

use std::fmt::Write as _;

use crate::demo::plan::markdown::{block_quote, inline_quote};
use crate::demo::plan::talk::{Call, Talk, Turn};
use crate::demo::plan::{Step, wants};
use crate::demo::words::{self, Intent};

/// Rounds after which a turn answers, whatever is still open.
const MOST_ROUNDS: usize = 24;

/// Is one message of the person with what it asks for.
#[derive(Debug)]
pub struct Request {
    /// The words.
    pub text: String,
    /// What they ask for, in order.
    pub intents: Vec<Intent>,
    /// How many rounds were over when it came; 0 for those that opened the turn.
    pub after: usize,
}

/// Is all that was said in a turn.
#[derive(Debug)]
pub struct Steering {
    /// The request that the turn is about.
    pub primary: Request,
    /// What was said besides, in order.
    pub others: Vec<Request>,
    /// Whether the turn is to end now.
    pub stop: bool,
}

impl Steering {
    /// Reads what was said in a turn. The last of several opening messages is what the turn is about.
    pub fn of(turn: &Turn) -> Self {
        let mut opening: Vec<Request> = turn.asks.iter().map(|text| Request::new(text, 0)).collect();
        let primary = opening.pop().unwrap_or_else(|| Request::new("", 0));
        // An earlier opening message that asks for no particular thing is covered by the last one.
        for request in &mut opening {
            request.intents.retain(|intent| !matches!(intent, Intent::Survey(_)));
        }
        let mut others = opening;
        for (index, round) in turn.rounds.iter().enumerate() {
            others.extend(round.steers.iter().map(|text| Request::new(text, index + 1)));
        }
        let stop = others.iter().flat_map(|request| &request.intents).any(|intent| *intent == Intent::Stop)
            || turn.rounds.len() >= MOST_ROUNDS;
        Self { primary, others, stop }
    }

    /// Returns every intent of the turn with the round after which it came, the request's own first.
    pub fn intents(&self) -> impl Iterator<Item = (usize, &Intent)> {
        let all = std::iter::once(&self.primary).chain(&self.others);
        all.flat_map(|request| request.intents.iter().map(move |intent| (request.after, intent)))
    }

    fn fresh(&self, turn: &Turn) -> impl Iterator<Item = &Request> {
        let rounds = turn.rounds.len();
        self.others.iter().filter(move |request| request.after == rounds)
    }
}

impl Request {
    fn new(text: &str, after: usize) -> Self {
        Self { text: text.to_owned(), intents: words::understand(text), after }
    }
}

/// Plans a step of a role and lays the steering over it.
pub fn lay_over(talk: &Talk, role: impl FnOnce(&Talk, &Steering) -> Step) -> Step {
    let turn = &talk.turn;
    let steering = Steering::of(turn);
    let acknowledged = acknowledge(talk, &steering);
    let open = missing(talk, &steering);
    let step = role(talk, &steering);
    let aloud = |thinking: String| {
        let fresh: Vec<String> = steering.fresh(turn).map(|request| inline_quote(&request.text)).collect();
        if fresh.is_empty() {
            return thinking;
        }
        format!("The person steers me: {}. That comes before my own plan. {thinking}", fresh.join(", then "))
    };
    match step {
        Step::Work { thinking, say, calls } => {
            let calls = turn.missing(open.into_iter().chain(calls).collect());
            Step::Work { thinking: aloud(thinking), say: joined(&acknowledged, &say), calls }
        }
        Step::Answer { .. } if !open.is_empty() => {
            let thinking = aloud("It needs a look at the real files before I answer.".to_owned());
            Step::Work { thinking, say: acknowledged, calls: open }
        }
        Step::Answer { thinking, text } => {
            let text = joined(&joined(&acknowledged, &text), &account(talk, &steering));
            Step::Answer { thinking: aloud(thinking), text }
        }
    }
}

/// Returns the calls that steering asks for and that were not made yet.
fn missing(talk: &Talk, steering: &Steering) -> Vec<Call> {
    if talk.turn.rounds.len() >= MOST_ROUNDS {
        return Vec::new();
    }
    let intents = steering.others.iter().flat_map(|request| &request.intents);
    talk.turn.missing(intents.flat_map(|intent| wants::calls(intent, &talk.offer)).collect())
}

fn acknowledge(talk: &Talk, steering: &Steering) -> String {
    let mut text = String::new();
    for request in steering.fresh(&talk.turn) {
        let promises: Vec<String> = request.intents.iter().map(|intent| wants::promise(intent, &talk.offer)).collect();
        let promises =
            if promises.is_empty() { "I take it together with what follows.".to_owned() } else { promises.join(" ") };
        text = joined(&text, &format!("{}\n{promises}", block_quote(&request.text)));
    }
    text
}

/// Says at the end what came of each message.
fn account(talk: &Talk, steering: &Steering) -> String {
    if steering.others.is_empty() {
        return String::new();
    }
    let mut section = "## Steering\n\n".to_owned();
    for (index, request) in steering.others.iter().enumerate() {
        let outcomes: Vec<String> =
            request.intents.iter().map(|intent| wants::outcome(intent, &talk.turn, &talk.offer)).collect();
        let outcomes = if outcomes.is_empty() { "covered by this answer.".to_owned() } else { outcomes.join(" ") };
        let _ = writeln!(section, "{}. {}: {outcomes}", index + 1, inline_quote(&request.text));
    }
    section
}

/// Puts two blocks of Markdown together, a blank line between.
fn joined(first: &str, second: &str) -> String {
    match (first.trim().is_empty(), second.trim().is_empty()) {
        (true, _) => second.to_owned(),
        (_, true) => first.to_owned(),
        _ => format!("{}\n\n{second}", first.trim_end()),
    }
}
