//! How many tokens a conversation holds: what the server counted, and a guess at what came since.
//!
//! Pure; the agent asks before each request and tells what each reply says. Where the server never counts, or counts
//! nonsense, everything is a guess; the last true count of the same model corrects later ones.

use crate::event::Usage;
use crate::limits;
use crate::message::{Message, Part};
use crate::provider::ToolSchema;

/// Quarters of a token that a message costs beside its text.
const FRAME: u64 = 16;
/// Quarters of a token that a character beyond ASCII is taken for; one of ASCII is taken for one.
const WIDE: u64 = 3;
/// Bytes of an opaque part that are taken for a quarter of a token.
const OPAQUE: u64 = 2;
/// How far the truth may be from a guess before it corrects no more, as a factor either way.
const FAR: u64 = 4;
/// A count below this part of the guess is impossible: no token is that long.
const IMPOSSIBLE: u64 = 64;
/// A count of more than so many windows is nonsense.
pub(super) const WINDOWS: u64 = 100;

/// Is the size of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Tokens.
    pub tokens: u64,
    /// True when no server has counted all of them.
    pub estimated: bool,
}

/// Knows how large a conversation is.
#[derive(Debug, Clone, Default)]
pub struct ContextSize {
    counted: Option<Counted>,
    ratio: Option<Ratio>,
}

/// Is the last count of a server.
#[derive(Debug, Clone, Copy)]
struct Counted {
    /// How many messages, from the first, it is about.
    messages: usize,
    tokens: u64,
}

/// Is what a model made of a guess.
#[derive(Debug, Clone)]
struct Ratio {
    model: String,
    truth: u64,
    guess: u64,
}

impl ContextSize {
    /// Returns the size of a conversation together with the tools that go along.
    pub fn of(&self, model: &str, messages: &[Message], tools: &[ToolSchema]) -> Size {
        let behind = |counted: Counted| Some((counted, messages.get(counted.messages..)?));
        match self.counted.and_then(behind) {
            Some((counted, [])) => Size { tokens: counted.tokens, estimated: false },
            Some((counted, new)) => {
                let tokens = counted.tokens.saturating_add(self.corrected(model, guess(new, &[])));
                Size { tokens, estimated: true }
            }
            None => Size { tokens: self.corrected(model, guess(messages, tools)), estimated: true },
        }
    }

    /// Takes what a server says about a request with these messages, and tells whether it is to be believed; `reply` is
    /// how many messages stand behind them that its output is about.
    pub fn learn(
        &mut self,
        model: &str,
        (messages, reply): (&[Message], usize),
        tools: &[ToolSchema],
        usage: &Usage,
        window: Option<u64>,
    ) -> bool {
        let guess = guess(messages, tools);
        let truth = usage.prompt();
        if truth == 0 || truth < guess / IMPOSSIBLE || is_absurd(usage, window) {
            return false;
        }
        self.ratio = Some(Ratio { model: model.to_owned(), truth, guess: guess.max(1) });
        // Without an output the reply's own size stays a guess.
        let reply = if usage.output.is_some() { reply } else { 0 };
        self.counted = Some(Counted { messages: messages.len() + reply, tokens: usage.context() });
        true
    }

    /// Forgets the last count: the conversation it was about is another now. What it taught about guesses stays.
    pub fn forget(&mut self) {
        self.counted = None;
    }

    /// Returns how large a guess may be for a text that is to have at most so many tokens.
    pub fn room(&self, model: &str, tokens: u64) -> u64 {
        match self.ratio_of(model) {
            Some((truth, guess)) => scaled(tokens, guess, truth),
            None => tokens,
        }
    }

    fn corrected(&self, model: &str, guess: u64) -> u64 {
        match self.ratio_of(model) {
            Some((truth, guessed)) => scaled(guess, truth, guessed),
            None => guess,
        }
    }

    /// Returns the last true count of a model and the guess of that time, no further apart than [`FAR`].
    fn ratio_of(&self, model: &str) -> Option<(u64, u64)> {
        let ratio = self.ratio.as_ref().filter(|ratio| ratio.model == model)?;
        let least = (ratio.guess / FAR).max(1);
        Some((ratio.truth.clamp(least, ratio.guess.saturating_mul(FAR).max(least)), ratio.guess))
    }
}

/// Tells whether a server counts more tokens than any conversation has.
pub(super) fn is_absurd(usage: &Usage, window: Option<u64>) -> bool {
    let window = window.filter(|window| *window > 0);
    usage.context() > window.map_or(limits::CONTEXT_MOST_TOKENS, |window| window.saturating_mul(WINDOWS))
}

/// Guesses how many tokens messages and tools have.
pub fn guess(messages: &[Message], tools: &[ToolSchema]) -> u64 {
    let messages = messages.iter().map(message);
    let tools = tools.iter().map(|tool| {
        let parameters = tool.parameters.to_string();
        [tool.name.as_str(), &tool.description, &parameters].into_iter().map(quarters).fold(FRAME, u64::saturating_add)
    });
    messages.chain(tools).fold(0, u64::saturating_add) / 4
}

/// Guesses how many tokens a text has.
pub fn guess_text(text: &str) -> u64 {
    quarters(text) / 4
}

fn message(message: &Message) -> u64 {
    let own = match message {
        Message::System { content } | Message::User { content } | Message::Tool { content, .. } => quarters(content),
        Message::Assistant(reply) => {
            let calls = reply.tool_calls.iter().map(|call| {
                quarters(&call.name).saturating_add(quarters(&call.arguments.to_string())).saturating_add(FRAME)
            });
            let opaque = reply.original.iter().flat_map(|original| &original.parts).map(|part| match part {
                Part::Opaque(json) => json.len() as u64 / OPAQUE,
                Part::Text { .. } | Part::Call { .. } => 0,
            });
            calls.chain(opaque).fold(quarters(&reply.content), u64::saturating_add)
        }
    };
    own.saturating_add(FRAME)
}

fn quarters(text: &str) -> u64 {
    let characters = text.chars().count() as u64;
    // A character of ASCII is one byte, any other has more.
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    ascii + (characters - ascii) * WIDE
}

fn scaled(number: u64, by: u64, of: u64) -> u64 {
    let product = u128::from(number) * u128::from(by);
    u64::try_from(product.div_ceil(u128::from(of.max(1)))).unwrap_or(u64::MAX)
}
