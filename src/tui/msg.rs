//! What the root of the screen takes in ([`Msg`]): input, updates, and the answers to effects.
//!
//! `update` applies it to the state and answers with effects; `run` is the only one that carries effects out.

use crossterm::event::{KeyEvent, MouseEvent};
use jiff::Timestamp;
use ratatui::layout::Size;

use crate::agents::AgentsDrawn;
use crate::approval::ShownQuestion;
use crate::choices::ListChoice;
use crate::export::ExportSubject;
use crate::fuzzy::FuzzyMatches;
use crate::highlight::Coloured;
use crate::message::history::Sent;
use crate::message::paths::PathList;
use crate::overlay::OverlayPosition;
use crate::pause::PauseDrawn;
use crate::pictures::PictureProtocol;
use crate::state::Regions;
use crate::switch::SessionsFor;
use crate::theme::Background;
use crate::timeline::Recorded;
use crate::transcript::{Looked, TranscriptDrawn};
use steersman_base::event::Envelope;
use steersman_base::image::ImageDigest;
use steersman_base::protocol::{Notice, Update};
use steersman_base::summary::ComparedTable;
use steersman_images::{FittedImage, Preview};

pub use super::effect::{EditorSubject, Effect};
pub use crate::alerts::Attention;
pub use crate::state::MouseMode;

/// One message to the screen.
#[derive(Debug, Clone, PartialEq)]
pub enum Msg {
    /// A key was pressed; read from the terminal at this moment.
    Key(KeyEvent, Timestamp),
    /// Many plain characters came at once, as a terminal without bracketed paste sends them.
    Typed(String, Timestamp),
    /// The terminal delivered a bracketed paste.
    Paste(String, Timestamp),
    /// The mouse did something; read from the terminal at this moment.
    Mouse(MouseEvent, Timestamp),
    /// The terminal got or lost the focus.
    Attention(Attention),
    /// The terminal says what its background is like.
    Background(Background),
    Resize(Size),
    /// Time passed; sent while something with a clock is shown.
    Tick(Timestamp),
    /// The run says something.
    Update(Update),
    /// The branch that is checked out; empty without one.
    Branch(String),
    /// The user's command for the status line printed this, or why it did not.
    StatusLine(String),
    /// Answers [`Effect::Write`].
    Written {
        subject: ExportSubject,
        /// The path of the file, or why there is none.
        outcome: Result<String, String>,
    },
    /// What earlier sessions sent, the oldest first, or why nothing can be read.
    History(Result<Vec<Sent>, String>),
    /// Answers [`Effect::Remember`] when that did not succeed, with the reason.
    NotRemembered(String),
    /// Answers [`Effect::ReadImage`] and [`Effect::PasteImage`].
    ImageRead {
        /// What stands for it in the message; empty for one that goes to the cursor.
        written: String,
        outcome: Result<FittedImage, String>,
    },
    /// Answers [`Effect::ListPaths`].
    Paths(PathList),
    /// Answers [`Effect::Match`].
    Matched(FuzzyMatches),
    /// Answers [`Effect::ListSessions`]: the saved sessions or what was found in them, the newest first, or why there is
    /// no list.
    Sessions(SessionsFor, Result<Vec<ListChoice>, String>),
    /// Answers [`Effect::ReadSession`]: what the session sent to its screen until now.
    Replayed(Result<Recorded, String>),
    /// Answers [`Effect::Compare`].
    Compared(Result<ComparedTable, String>),
    /// The program was started to choose a session.
    ChooseSession,
    /// Answers [`Effect::Copy`] with how the text went, or why it did not.
    Copied(Result<String, String>),
    /// Answers [`Effect::Edit`].
    Edited {
        subject: EditorSubject,
        /// The new text, for what can be changed; or why it is as it was.
        outcome: Result<String, String>,
    },
    /// Answers [`Effect::Colour`].
    Coloured(Vec<Coloured>),
    /// The terminal shows pictures, and its cells have this width and height in pixels.
    Pictures(PictureProtocol, (u16, u16)),
    /// Answers [`Effect::MakePicture`].
    PictureMade {
        digest: ImageDigest,
        /// The picture, or why there is none.
        outcome: Result<Preview, String>,
    },
    /// The layout was asked, before a frame.
    Looked(Looked),
    /// A frame was drawn; only it knows the heights that scrolling needs.
    Drawn(Drawn),
    /// A whole line was read, from a terminal that has a line editor of its own or from a pipe.
    Line(String, Timestamp),
    /// Lines were written with this question and this place where an agent waits.
    Printed(Option<ShownQuestion>, PauseDrawn),
    /// There will be no more input: nobody answers any more.
    NobodyThere(Timestamp),
    /// The terminal has taken a frame, with this question on it.
    Shown(Option<ShownQuestion>, Timestamp),
}

impl From<Notice> for Msg {
    fn from(notice: Notice) -> Self {
        Self::Update(Update::Notice(notice))
    }
}

impl From<Envelope> for Msg {
    fn from(envelope: Envelope) -> Self {
        Self::Update(Update::Envelope(envelope))
    }
}

/// What a frame found out, to be remembered until the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// The transcript that was shown, and its place.
    pub transcript: TranscriptDrawn,
    pub overlay: OverlayPosition,
    pub question: Option<ShownQuestion>,
    /// The panel of the held agent.
    pub pause: PauseDrawn,
    pub regions: Regions,
    /// The first rows of the agents and their details.
    pub agents: AgentsDrawn,
}
