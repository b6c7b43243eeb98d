//! What comes of a key, an update or a click: effects outside the screen ([`Effect`]), and what a pane wants of the root and
//! of its siblings ([`Outcome`]).
//!
//! `run` alone carries effects out; the root (`update`) alone carries out what a pane wants.

use std::fmt;
use std::rc::Rc;

use super::app::App;
use super::export::ExportRequest;
use super::fuzzy::FuzzyQuery;
use super::highlight::Job;
use super::pictures::{NewPicture, PictureJob};
use super::state::{Cause, MouseMode, Pane, Report};
use super::switch::{SessionPlace, SessionsFor, Switch};
use steersman_base::id::AgentId;
use steersman_base::protocol::Request;

/// What a pane did with a key or a click.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Outcome {
    /// It was not for the pane: it means what it means elsewhere.
    Ignored,
    /// It was, and this is left to be done, in order.
    Consumed(Vec<PaneEffect>),
}

/// One thing that a pane cannot do by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaneEffect {
    Outside(Effect),
    /// A sentence in the status line for a while.
    Say(String),
    /// A sentence in the status line that goes with its cause.
    SayWhile(Option<Cause>, String),
    /// A reply to the user, which is kept in the transcript where the status line is too short.
    Reply(String),
    /// The focus for a pane; overlays close.
    Focus(Pane),
    CloseOverlay,
    /// No sentence in the status line any more: what it was about is done.
    Quiet,
    /// A note at the end of an agent's transcript.
    Note(AgentId, String),
    /// Something that crosses panes.
    Call(RootCall),
}

/// A deferred call on the root, for what one pane asks of another. Two of them are the same only if they were copied.
#[derive(Clone)]
pub struct RootCall(Rc<OnRoot>);

type OnRoot = dyn Fn(&mut App) -> Vec<PaneEffect>;

impl RootCall {
    /// Carries it out; returns what follows from it.
    pub fn carry_out(&self, app: &mut App) -> Vec<PaneEffect> {
        (self.0)(app)
    }
}

impl fmt::Debug for RootCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RootCall")
    }
}

impl PartialEq for RootCall {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for RootCall {}

impl PaneEffect {
    /// Makes a deferred call on the root.
    pub fn call(call: impl Fn(&mut App) -> Vec<Self> + 'static) -> Self {
        Self::Call(RootCall(Rc::new(call)))
    }

    /// Makes a deferred call on the root that leaves nothing to be done.
    pub fn change(change: impl Fn(&mut App) + 'static) -> Self {
        Self::call(move |app| {
            change(app);
            Vec::new()
        })
    }
}

impl Outcome {
    /// The key is used up, and nothing is left to be done.
    pub const DONE: Self = Self::Consumed(Vec::new());

    /// Makes the outcome of something that leaves one thing to be done.
    pub fn one(effect: PaneEffect) -> Self {
        Self::Consumed(vec![effect])
    }

    /// Makes the outcome of something that leaves a sentence to be said.
    pub fn say(sentence: impl Into<String>) -> Self {
        Self::one(PaneEffect::Say(sentence.into()))
    }

    pub fn request(request: Request) -> Self {
        Self::one(request.into())
    }
}

impl IntoIterator for Outcome {
    type Item = PaneEffect;
    type IntoIter = std::vec::IntoIter<PaneEffect>;

    /// Returns what is left to be done; where nothing else takes a key that was ignored, that is nothing.
    fn into_iter(self) -> Self::IntoIter {
        match self {
            Self::Ignored => Vec::new(),
            Self::Consumed(wanted) => wanted,
        }
        .into_iter()
    }
}

impl From<Request> for PaneEffect {
    fn from(request: Request) -> Self {
        Self::Outside(Effect::Request(request))
    }
}

/// One thing that the screen wants done outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Ask the run for something.
    Request(Request),
    /// Write a document into a file, away from the screen.
    Write {
        request: ExportRequest,
        text: String,
    },
    /// Copy a text; answered with `Msg::Copied`.
    Copy(String),
    /// Open a text in the user's editor; answered with `Msg::Edited`.
    Edit {
        subject: EditorSubject,
        text: String,
    },
    /// Tell the user, who does not look at the screen.
    Notify(String),
    /// Go to the shell that started the program, until that brings it back.
    Suspend,
    /// Ask the terminal for the mouse, or leave it to the terminal.
    Mouse(MouseMode),
    /// Write what was sent into the history of all sessions.
    Remember(String),
    /// Read an image that the user names; answered with `Msg::ImageRead`.
    ReadImage {
        /// What stands for it in the message.
        written: String,
        path: String,
    },
    /// Take the picture out of the clipboard; answered with `Msg::ImageRead` for an empty text.
    PasteImage,
    /// List the paths of the working directory; answered with `Msg::Paths`.
    ListPaths,
    /// Search a list of texts; answered with `Msg::Matched`, unless a newer search was begun meanwhile.
    Match(FuzzyQuery),
    /// Find out the colours of code, away from the screen; answered with `Msg::Coloured`.
    Colour(Vec<Job>),
    /// Make a picture of an image, away from the screen; answered with `Msg::PictureMade`.
    MakePicture(PictureJob),
    /// Keep a picture for the frames that show it.
    KeepPicture(NewPicture),
    /// Write the whole screen again.
    Redraw,
    /// Read what is recorded of a session; answered with `Msg::Replayed`.
    ReadSession(SessionPlace),
    /// List the saved sessions for this, or search them; answered with `Msg::Sessions`.
    ListSessions(SessionsFor),
    /// Compare two saved sessions; answered with `Msg::Compared`.
    Compare([String; 2]),
    /// Close the screen and go on with another session or a branch.
    Switch(Switch),
    Tell(Report),
    /// End the program, and the run if nobody else is left.
    Quit,
    /// End the program and leave the run as it is.
    Detach,
}

/// What an editor is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditorSubject {
    /// The message being written.
    Draft,
    /// An entry of the transcript, to be read.
    Entry,
}
