//! The number of tokens of a conversation: the server's count, and a guess at what was added since.
//!
//! Pure; the agent asks before each request and passes on the usage of each reply. Where the server never counts,
//! or its count is impossible, everything is a guess; the last plausible count of the same model corrects later
//! guesses.

use steersman_base::event::Usage;
use steersman_base::limits;
use steersman_base::message::{Message, Part};
use steersman_core::provider::ToolSchema;

/// The quarters of a token that a message costs besides its text.
const MESSAGE_OVERHEAD: u64 = 16;
/// The quarters of a token that an image costs, as a guess: servers count its pixels, up to about this.
const IMAGE: u64 = 4 * 1_600;
/// The quarters of a token that a character outside ASCII counts as; an ASCII character counts as one quarter.
const NON_ASCII: u64 = 3;
/// The bytes of an opaque part that count as a quarter of a token.
const OPAQUE: u64 = 2;
/// The largest correction of a guess, as a factor either way.
const MOST_CORRECTION: u64 = 4;
/// A count below this part of the guess is impossible: no token is that long.
const IMPOSSIBLE: u64 = 64;
/// A count of more than this many context windows is impossible.
pub(super) const MOST_WINDOWS: u64 = 100;

/// The size of a conversation, counted or estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConversationSize {
    /// Tokens.
    pub tokens: u64,
    /// True when no server has counted all of them.
    pub estimated: bool,
}

/// The last count of a server and the correction of guesses that follows from it.
#[derive(Debug, Clone, Default)]
pub struct ContextSize {
    counted: Option<ServerCount>,
    ratio: Option<CountRatio>,
}

/// The last count of a server.
#[derive(Debug, Clone, Copy)]
struct ServerCount {
    /// The number of messages, from the first, that it covers.
    messages: usize,
    tokens: u64,
}

/// The last count of a model beside the guess at the same messages.
#[derive(Debug, Clone)]
struct CountRatio {
    model: String,
    truth: u64,
    guess: u64,
}

impl ContextSize {
    /// Returns the size of a conversation together with the schemas of the tools.
    pub fn measure(&self, model: &str, messages: &[Message], tools: &[ToolSchema]) -> ConversationSize {
        let behind = |counted: ServerCount| Some((counted, messages.get(counted.messages..)?));
        match self.counted.and_then(behind) {
            Some((counted, [])) => ConversationSize { tokens: counted.tokens, estimated: false },
            Some((counted, new)) => {
                let tokens = counted.tokens.saturating_add(self.corrected(model, guess(new, &[])));
                ConversationSize { tokens, estimated: true }
            }
            None => ConversationSize { tokens: self.corrected(model, guess(messages, tools)), estimated: true },
        }
    }

    /// Takes a server's usage of a request with these messages; returns false when it is impossible. `reply` is the
    /// number of messages after them that its output covers.
    pub fn record_usage(
        &mut self,
        model: &str,
        (messages, reply): (&[Message], usize),
        tools: &[ToolSchema],
        usage: &Usage,
        window: Option<u64>,
    ) -> bool {
        let guess = guess(messages, tools);
        let truth = usage.prompt();
        if truth == 0 || truth < guess / IMPOSSIBLE || is_impossible(usage, window) {
            return false;
        }
        self.ratio = Some(CountRatio { model: model.to_owned(), truth, guess: guess.max(1) });
        // Without an output the reply's own size stays a guess.
        let reply = if usage.output.is_some() { reply } else { 0 };
        self.counted = Some(ServerCount { messages: messages.len() + reply, tokens: usage.context() });
        true
    }

    /// Forgets the last count, since the conversation changed. The correction of guesses stays.
    pub fn forget(&mut self) {
        self.counted = None;
    }

    /// Returns the largest guess for a text that may have at most this many tokens.
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

    /// Returns the last count of a model and the guess at the same messages, at most [`MOST_CORRECTION`] apart.
    fn ratio_of(&self, model: &str) -> Option<(u64, u64)> {
        let ratio = self.ratio.as_ref().filter(|ratio| ratio.model == model)?;
        let least = (ratio.guess / MOST_CORRECTION).max(1);
        Some((ratio.truth.clamp(least, ratio.guess.saturating_mul(MOST_CORRECTION).max(least)), ratio.guess))
    }
}

/// Returns whether a server counts more tokens than a conversation can have.
pub(super) fn is_impossible(usage: &Usage, window: Option<u64>) -> bool {
    let window = window.filter(|window| *window > 0);
    usage.context() > window.map_or(limits::CONTEXT_MOST_TOKENS, |window| window.saturating_mul(MOST_WINDOWS))
}

/// Guesses the number of tokens of messages and tools.
pub fn guess(messages: &[Message], tools: &[ToolSchema]) -> u64 {
    let messages = messages.iter().map(message);
    let tools = tools.iter().map(|tool| {
        let parameters = tool.parameters.to_string();
        [tool.name.as_str(), &tool.description, &parameters]
            .into_iter()
            .map(quarters)
            .fold(MESSAGE_OVERHEAD, u64::saturating_add)
    });
    messages.chain(tools).fold(0, u64::saturating_add) / 4
}

/// Guesses the number of tokens of images.
pub fn guess_images(number: u64) -> u64 {
    IMAGE.saturating_mul(number) / 4
}

/// Guesses the number of tokens of an opaque part.
pub fn guess_opaque(json: &str) -> u64 {
    json.len() as u64 / OPAQUE / 4
}

/// Guesses the number of tokens of a text.
pub fn guess_text(text: &str) -> u64 {
    quarters(text) / 4
}

fn message(message: &Message) -> u64 {
    let own = match message {
        Message::System { content } | Message::Tool { content, .. } => quarters(content),
        Message::User { content, images, .. } => {
            quarters(content).saturating_add(IMAGE.saturating_mul(images.len() as u64))
        }
        Message::Assistant(reply) => {
            let calls = reply.tool_calls.iter().map(|call| {
                quarters(&call.name)
                    .saturating_add(quarters(&call.arguments.to_string()))
                    .saturating_add(MESSAGE_OVERHEAD)
            });
            let opaque = reply.original.iter().flat_map(|original| &original.parts).map(|part| match part {
                Part::Opaque(json) => json.len() as u64 / OPAQUE,
                Part::Text { .. } | Part::Call { .. } => 0,
            });
            calls.chain(opaque).fold(quarters(&reply.content), u64::saturating_add)
        }
    };
    own.saturating_add(MESSAGE_OVERHEAD)
}

fn quarters(text: &str) -> u64 {
    let characters = text.chars().count() as u64;
    // An ASCII character is one byte, any other has more.
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    ascii + (characters - ascii) * NON_ASCII
}

fn scaled(number: u64, by: u64, of: u64) -> u64 {
    let product = u128::from(number) * u128::from(by);
    u64::try_from(product.div_ceil(u128::from(of.max(1)))).unwrap_or(u64::MAX)
}
