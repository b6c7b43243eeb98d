//! The two vocabularies of the screen: what it is told ([`Msg`]) and what it asks for ([`Effect`]).
//!
//! `update` folds the first into the state and answers with the second; `run` is the only one that carries effects out.

use crossterm::event::{KeyEvent, MouseEvent};
use jiff::Timestamp;
use ratatui::layout::Size;

use crate::error::Refused;
use crate::event::{Delivery, Envelope, Pending};
use crate::id::{AgentId, CallId, MessageId};
use crate::mode::Mode;
use crate::tui::export::{Request, Subject};
use crate::tui::fuzzy::{Hits, Quest};
use crate::tui::help::HelpDrawn;
use crate::tui::highlight::{Coloured, Job};
use crate::tui::state::approval::{Approval, ApprovalId, Reply, RuleAct};
use crate::tui::state::budget::{Limits, Spent};
use crate::tui::state::focus::Overlay;
use crate::tui::state::guards::ModeChoice;
use crate::tui::state::history::Sent;
use crate::tui::state::hold::{Gate, Shown, Verdict};
use crate::tui::state::lines::Report;
use crate::tui::state::paths::PathList;
use crate::tui::state::question::Seen;
use crate::tui::state::regions::Regions;
use crate::tui::state::scroll::{Point, Position};
use crate::tui::state::search::Found;
use crate::tui::state::selection::Selection;
use crate::tui::state::sight::Tops;
use crate::tui::state::status::Offer;
use crate::tui::state::undo::Change;
use crate::tui::theme::Ground;

pub use crate::tui::state::attention::{Attention, MouseMode};

/// Is one thing that the screen is told.
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
    Background(Ground),
    /// The terminal has this size now.
    Resize(Size),
    /// Time passed; sent while something with a clock is shown.
    Tick(Timestamp),
    /// The agent tree did something.
    Envelope(Envelope),
    /// The agent is built and takes turns.
    Ready,
    /// The agent could not be built.
    BuildFailed(String),
    /// The branch that is checked out; empty without one.
    Branch(String),
    /// A sentence for the user.
    Info(String),
    /// There will be no agent for these texts; they are the user's again.
    GivenBack(Vec<Pending>),
    /// The models that can be switched to, those of the server that answers first, or why there is no list.
    Models(Result<Vec<String>, String>),
    /// A model server answers on this machine while the embedded model is used.
    Offer(Offer),
    /// All pending queues after a change, and whether the main agent's waits for the user.
    Queue {
        /// What is pending for whom, each in delivery order; agents without anything are left out.
        queues: Vec<(AgentId, Vec<Pending>)>,
        /// True when a failed or stopped turn holds it back.
        paused: bool,
    },
    /// The approval mode, and everything that waits for leave, after a change of either.
    Approvals {
        /// The mode.
        mode: Mode,
        /// The oldest first.
        open: Vec<Approval>,
    },
    /// Answers [`Effect::Reply`].
    Replied {
        /// What was answered.
        id: ApprovalId,
        /// The answer.
        reply: Reply,
        /// Whether it was taken.
        accepted: Accepted,
        /// Why it was not.
        why: Option<String>,
    },
    /// Answers [`Effect::SetMode`] with the mode that holds now, or with why it is as it was.
    ModeSet(Result<Mode, String>),
    /// Answers [`Effect::LookAtChanges`]: the files that the last turn changed, and what an undo would do to each.
    Changes(Vec<Change>),
    /// What the session may spend from here on.
    Budget(Limits),
    /// What the session has spent up to here.
    Spent(Spent),
    /// Answers [`Effect::Rules`], in sentences.
    Rules(Vec<String>),
    /// Answers [`Effect::UndoChanges`]: what was done about each file.
    Undone(Vec<Change>),
    /// Answers [`Effect::Send`].
    Sent {
        /// The agent that it was for.
        to: AgentId,
        /// The text that was offered.
        text: String,
        /// Its id, or why the queue did not take it.
        outcome: Result<MessageId, Refused>,
    },
    /// Answers [`Effect::Stop`] with what was pending, in order.
    Stopped(Vec<Pending>),
    /// Answers [`Effect::Queue`].
    QueueAnswer {
        /// The agent whose queue it was.
        agent: AgentId,
        /// The entry.
        id: MessageId,
        /// What was asked for.
        act: QueueAct,
        /// What became of it.
        outcome: QueueOutcome,
    },
    /// Answers [`Effect::Write`].
    Written {
        /// What was to be written.
        subject: Subject,
        /// The path of the file, or why there is none.
        outcome: Result<String, String>,
    },
    /// What earlier sessions sent, the oldest first, or why nothing can be read.
    History(Result<Vec<Sent>, String>),
    /// Answers [`Effect::Remember`] when that did not succeed, with the reason.
    NotRemembered(String),
    /// Answers [`Effect::ListPaths`].
    Paths(PathList),
    /// Answers [`Effect::Match`].
    Matched(Hits),
    /// Answers [`Effect::Gate`].
    Gated {
        /// The agent; `None` for all.
        agent: Option<AgentId>,
        /// How its gate was to stand.
        gate: Gate,
        /// Whether it does.
        accepted: Accepted,
    },
    /// Answers [`Effect::Decide`].
    Decided {
        /// The agent.
        agent: AgentId,
        /// What was decided.
        verdict: Verdict,
        /// Whether it waited there to hear it.
        accepted: Accepted,
    },
    /// Answers [`Effect::Cancel`] with those that are being cancelled.
    Cancelling(Vec<AgentId>),
    /// Answers [`Effect::Copy`] with how the text went, or why it did not.
    Copied(Result<String, String>),
    /// Answers [`Effect::Edit`].
    Edited {
        /// What was opened.
        subject: Manuscript,
        /// The new text, for what can be changed; or why it is as it was.
        outcome: Result<String, String>,
    },
    /// Answers [`Effect::Colour`].
    Coloured(Vec<Coloured>),
    /// The layout was asked, before a frame.
    Looked(Looked),
    /// A frame was drawn; only it knows the heights that scrolling needs.
    Drawn(Drawn),
    /// A whole line was read, from a terminal that has a line editor of its own or from a pipe.
    Line(String, Timestamp),
    /// Lines were written with this question and this place where an agent waits.
    Printed(Option<Seen>, Shown),
    /// There will be no more input: nobody answers any more.
    NobodyThere(Timestamp),
    /// The terminal has taken a frame, with this question on it.
    Shown(Option<Seen>, Timestamp),
}

/// Is what the layout answers to the state before a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    /// The agent whose transcript was asked about.
    pub agent: AgentId,
    /// What the search found.
    pub found: Option<Found>,
    /// The selection with its ends where they were asked to be.
    pub selection: Option<Selection>,
    /// The place that is to come into view with it.
    pub reach: Option<Point>,
    /// The text that is selected, or why it is not copied.
    pub copy: Option<Result<String, String>>,
    /// Whether there is more to look through.
    pub rest: Rest,
}

/// Says whether a look was the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// Everything is answered.
    Done,
    /// Another frame goes on with it.
    More,
}

impl Looked {
    /// Makes an answer that says nothing.
    pub fn nothing(agent: AgentId) -> Self {
        Self { agent, found: None, selection: None, reach: None, copy: None, rest: Rest::Done }
    }
}

/// Is what a frame found out, to be remembered until the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// The agent whose transcript was shown.
    pub agent: AgentId,
    /// The place that was shown.
    pub position: Position,
    /// Its first visible row.
    pub top: Option<Point>,
    /// The number of cells that the transcript had.
    pub cells: usize,
    /// The overlay as it was shown, its place within its bounds.
    pub overlay: Option<Overlay>,
    /// The places in help, while it is open.
    pub help: Option<HelpDrawn>,
    /// The question that it shows.
    pub question: Option<Seen>,
    /// The panel of the held agent.
    pub gate: Shown,
    /// What lies where.
    pub regions: Regions,
    /// The first rows of what can be scrolled.
    pub tops: Tops,
    /// Code in view whose colours are not known.
    pub wanted: Vec<Job>,
}

/// Is one thing that the screen wants done outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Put a text into the queue.
    Send {
        /// The agent that it is for.
        to: AgentId,
        /// Exactly what the user typed.
        text: String,
        /// Where it shall enter.
        delivery: Delivery,
    },
    /// Stop the turn and take every pending text back.
    Stop,
    /// Let every text that was held for its age go, and hold none for it any more.
    NeverAskIfTrue,
    /// Change something about one pending text.
    Queue {
        /// The agent whose queue it is in.
        agent: AgentId,
        /// The entry.
        id: MessageId,
        /// What is to be done with it.
        act: QueueAct,
    },
    /// Close or open the gate at which an agent is held.
    Gate {
        /// The agent; `None` for all, also those that come later.
        agent: Option<AgentId>,
        /// How it shall stand.
        gate: Gate,
    },
    /// Say how a parked agent goes on.
    Decide {
        /// The agent.
        agent: AgentId,
        /// The call before which it waits; `None` at a boundary.
        call: Option<CallId>,
        /// How it goes on.
        verdict: Verdict,
    },
    /// Cancel these sub-agents; whoever spawned them goes on.
    Cancel {
        /// The one that was selected, or it and everything beneath it.
        agents: Vec<AgentId>,
    },
    /// Answer what waits for leave.
    Reply {
        /// What is answered.
        id: ApprovalId,
        /// The answer.
        reply: Reply,
    },
    /// Decide how much runs without a question.
    SetMode(ModeChoice),
    /// Look at what the tools of the last turn changed; answered with [`Msg::Changes`].
    LookAtChanges,
    /// Take these changes back; answered with [`Msg::Undone`].
    UndoChanges,
    /// List the kept rules, or remove one; answered with [`Msg::Rules`].
    Rules(RuleAct),
    /// Let what a failed turn holds back start a turn.
    Resume,
    /// Write a document into a file, away from the screen.
    Write {
        /// What it is and where it shall go.
        request: Request,
        /// The document.
        text: String,
    },
    /// Copy a text; answered with [`Msg::Copied`].
    Copy(String),
    /// Open a text in the user's editor; answered with [`Msg::Edited`].
    Edit {
        /// What it is.
        subject: Manuscript,
        /// The text.
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
    /// List the paths of the working directory; answered with [`Msg::Paths`].
    ListPaths,
    /// Search a list of texts; answered with [`Msg::Matched`], unless a newer search was begun meanwhile.
    Match(Quest),
    /// Set what the session may spend; answered with [`Msg::Budget`].
    SetBudget(Limits),
    /// Summarise older rounds; the words are what to keep in mind.
    Compact(Option<String>),
    /// Use this model from the next request on.
    SwitchModel(String),
    /// Ask the server for its models; answered with [`Msg::Models`].
    ListModels,
    /// Stop the turn and take the conversation back to its system prompt; answered with [`Msg::Stopped`].
    Reset,
    /// Find out the colours of code, away from the screen; answered with [`Msg::Coloured`].
    Colour(Vec<Job>),
    /// Write the whole screen again.
    Redraw,
    /// Tell this in lines.
    Tell(Report),
    /// End the program.
    Quit,
}

/// Says what an editor is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manuscript {
    /// The message being written.
    Draft,
    /// An entry of the transcript, to be read.
    Entry,
}

/// Says whether there was anybody to do what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepted {
    /// It is done.
    Yes,
    /// The agent has ended, or does not wait there any more.
    No,
}

/// Is one thing that the user does with a pending text. Each is one step: the agent takes the text before it or after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueAct {
    /// Keep it from being delivered while it is edited.
    Hold {
        /// What to go on with when an edit that was left is taken up again; `None` begins with the entry's own text.
        text: Option<String>,
    },
    /// End the edit and leave the text as it was.
    Release,
    /// End the edit with this text.
    Commit {
        /// The new text.
        text: String,
        /// Where it shall enter from now on; `None` leaves that as it was.
        delivery: Option<Delivery>,
    },
    /// Take it out of the queue.
    Withdraw {
        /// What becomes of the text.
        to: Place,
        /// The entries that stand before it, so that it can be put back.
        before: Vec<MessageId>,
    },
    /// Put it back behind the last of these that still waits, or to the front.
    Restore {
        /// As it was withdrawn.
        entry: Pending,
        /// The entries that stood before it.
        before: Vec<MessageId>,
    },
    /// Change places with its neighbour.
    Shift(Towards),
    /// Change where it will enter.
    Deliver(Delivery),
    /// Join it with the one behind it.
    Merge,
    /// Make two of it again.
    Part {
        /// The first as it was.
        first: Pending,
        /// The second as it was.
        second: Pending,
    },
    /// Say that it still holds, however long it has waited.
    Confirm,
}

/// Says where a text goes that leaves the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Away; it can be brought back.
    Removed,
    /// Into the message being written, before the draft.
    Message,
}

/// Says which of the two neighbours is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Towards {
    /// The one that is delivered before it.
    Front,
    /// The one that is delivered after it.
    Back,
}

/// Says what became of a [`QueueAct`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueOutcome {
    /// It is done.
    Done,
    /// It left the queue, as it was then.
    Withdrawn(Pending),
    /// The two were joined; as they were before.
    Merged(Pending, Pending),
    /// The agent had taken the entry before: nothing was changed.
    Gone,
    /// The agent has ended: what was pending comes back with [`crate::event::Event::Returned`].
    Ended,
    /// The queue did not take the text; the entry is as it was.
    Refused(Refused),
}
