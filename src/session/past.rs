//! What a client that connects later is told first, so that its folds are as whole as those of the others.
//!
//! Events and notices are kept in order up to a limit. Pieces of a text are kept only until the whole text follows them.

use std::collections::VecDeque;
use std::io;

use crate::event::{Envelope, Event};
use crate::limits;
use crate::protocol::{Notice, Post};

/// The past of a run.
#[derive(Debug, Default)]
pub(super) struct Past {
    posts: VecDeque<(Post, usize)>,
    bytes: usize,
    /// Posts that found no room any more.
    dropped: usize,
    /// The pieces of what is not whole yet, merged.
    pieces: Vec<Envelope>,
}

impl Past {
    /// Takes a post that the run made, with its size.
    pub(super) fn push(&mut self, post: &Post, size: usize) {
        if let Post::Envelope(envelope) = post {
            if post.piece_bytes() > 0 {
                return self.add_piece(envelope);
            }
            self.pieces.retain(|piece| !is_replaced(piece, envelope));
        }
        self.posts.push_back((post.clone(), size));
        self.bytes += size;
        while self.bytes > limits::KEPT_PAST {
            let Some((_, size)) = self.posts.pop_front() else { return };
            self.bytes -= size;
            self.dropped += 1;
        }
    }

    fn add_piece(&mut self, envelope: &Envelope) {
        if !self.pieces.iter_mut().any(|piece| piece.merge(envelope)) {
            self.pieces.push(envelope.clone());
        }
    }

    /// Returns everything, in order.
    pub(super) fn all(&self) -> Vec<Post> {
        let note = (self.dropped > 0).then(|| {
            Post::Notice(Notice::Info(format!("the first {} events of this session are not shown", self.dropped)))
        });
        let pieces = self.pieces.iter().cloned().map(Post::Envelope);
        note.into_iter().chain(self.posts.iter().map(|(post, _)| post.clone())).chain(pieces).collect()
    }
}

/// Tells whether an event says whole, or makes void, what a piece was a part of.
fn is_replaced(piece: &Envelope, by: &Envelope) -> bool {
    if piece.agent != by.agent {
        return false;
    }
    match (&piece.event, &by.event) {
        (_, Event::RoundStarted { .. } | Event::TurnEnded { .. } | Event::Reset {})
        | (Event::AssistantDelta { .. }, Event::Assistant { .. })
        | (Event::ThinkingDelta { .. }, Event::Thinking { .. }) => true,
        (Event::ToolProgress { id, .. }, Event::ToolResult { id: ended, .. }) => id == ended,
        _ => false,
    }
}

/// Returns the size of a post in its wire form, bytes.
pub(super) fn size(post: &Post) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    let _ = serde_json::to_writer(&mut count, post);
    count.0
}
