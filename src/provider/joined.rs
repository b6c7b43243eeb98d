//! Replies of every dialect in which halves of characters come in different pieces.
//!
//! Stands between the HTTP provider and the assembler of a dialect: halves are marked before a frame is read, and what comes of
//! it has whole characters only.

use crate::sse::Frame;
use crate::wire::{Assemble, Wire};
use steersman_base::message::{Arguments, Original, Part};
use steersman_base::text::halves::{self, Marked};
use steersman_core::provider::{Piece, ProviderError, Reply};

/// The assembler of a dialect, behind which every character is whole.
pub(super) struct Joined {
    inner: Box<dyn Assemble>,
    has_halves: bool,
    thinking: Rest,
    text: Rest,
}

/// The first half of a character at the end of what is shown, whose second may come in the next piece.
#[derive(Default)]
struct Rest(Option<char>);

impl Rest {
    fn join(&mut self, piece: &mut String) {
        if piece.is_empty() {
            return;
        }
        if let Some(half) = self.0.take() {
            piece.insert(0, half);
        }
        self.0 = halves::take_first_half(piece);
        halves::settle(piece);
    }
}

impl Joined {
    /// Starts reading a stream of a dialect.
    pub(super) fn boxed(wire: Wire) -> Box<dyn Assemble> {
        let inner = (wire.assembler)();
        Box::new(Self { inner, has_halves: false, thinking: Rest::default(), text: Rest::default() })
    }

    /// Reads a reply that came in one body.
    ///
    /// # Errors
    /// As the dialect.
    pub(super) fn whole(wire: Wire, body: &str) -> Result<Reply, ProviderError> {
        let Marked { json, has_halves } = halves::mark(body);
        settled((wire.whole)(&json), has_halves)
    }
}

impl Assemble for Joined {
    fn take_frame(&mut self, frame: Frame<'_>) -> Result<Option<Piece>, ProviderError> {
        let data = match frame {
            Frame::Event { data, .. } => data,
            Frame::Field { value, .. } => value,
            Frame::Comment | Frame::Retry(_) => "",
        };
        let Marked { json, has_halves } = halves::mark(data);
        self.has_halves |= has_halves;
        let piece = self.inner.take_frame(match frame {
            Frame::Event { name, id, .. } => Frame::Event { name, id, data: &json },
            Frame::Field { name, .. } => Frame::Field { name, value: &json },
            Frame::Comment => Frame::Comment,
            Frame::Retry(wait) => Frame::Retry(wait),
        });
        Ok(match piece.map_err(|error| if self.has_halves { settled_error(error) } else { error })? {
            Some(Piece::Chunk { mut thinking, mut text }) if self.has_halves => {
                self.thinking.join(&mut thinking);
                self.text.join(&mut text);
                Some(Piece::Chunk { thinking, text })
            }
            piece => piece,
        })
    }

    fn is_done(&self) -> bool {
        self.inner.is_done()
    }

    fn is_whole(&self) -> bool {
        self.inner.is_whole()
    }

    fn finish(self: Box<Self>) -> Result<Reply, ProviderError> {
        let has_halves = self.has_halves;
        settled(self.inner.finish(), has_halves)
    }
}

fn settled(read: Result<Reply, ProviderError>, has_halves: bool) -> Result<Reply, ProviderError> {
    if !has_halves {
        return read;
    }
    read.map(settled_reply).map_err(settled_error)
}

/// Settles the words of a server in its report of a failure.
fn settled_error(mut error: ProviderError) -> ProviderError {
    match &mut error {
        ProviderError::Status { message, .. }
        | ProviderError::Overflow { message, .. }
        | ProviderError::AsksToWait { message, .. }
        | ProviderError::Spent(message)
        | ProviderError::Server(message)
        | ProviderError::Malformed(message)
        | ProviderError::Configuration(message)
        | ProviderError::Redirect(message)
        | ProviderError::Unreachable { reason: message, .. } => halves::settle(message),
        ProviderError::CutOff
        | ProviderError::Stalled(_)
        | ProviderError::InvalidHistory(_)
        | ProviderError::Cancelled(_) => {}
    }
    error
}

fn settled_reply(mut reply: Reply) -> Reply {
    let Reply { content, thinking, tool_calls, usage, scope: _, finish: _, explanation, original } = &mut reply;
    halves::settle(content);
    halves::settle(thinking);
    usage.model.iter_mut().chain(explanation).for_each(halves::settle);
    for call in tool_calls {
        halves::settle(&mut call.name);
        match &mut call.arguments {
            Arguments::Object(members) => halves::settle_object(members),
            Arguments::Raw(text) => halves::settle(text),
        }
    }
    for part in original.iter_mut().flat_map(|Original { parts, .. }| parts) {
        match part {
            Part::Opaque(json) => halves::settle(json),
            Part::Text { text, mark } => {
                halves::settle(text);
                mark.iter_mut().for_each(halves::settle);
            }
            Part::Call { mark, .. } => mark.iter_mut().for_each(halves::settle),
        }
    }
    reply
}
