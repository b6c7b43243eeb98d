//! What the panel of a paused agent holds: how far its arguments are scrolled, and what a key can be about.
//!
//! Always holds: a decision names the call that was on the screen when its key was pressed, and can meet no other.

use jiff::Timestamp;

use crate::event::Event;
use crate::limits;
use crate::session::fold::WaitingAgent;

/// The panel of a paused agent.
#[derive(Debug, Clone, Default)]
pub struct PausePane {
    /// The first row of the shown call's arguments that is shown.
    pub top: usize,
    /// What the last frame has shown.
    drawn: Option<WaitingAgent>,
    /// When Enter last ended a text.
    entered: Option<Timestamp>,
}

/// What a frame has shown of the panel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PauseDrawn {
    /// Who waits where, when the keys about it are on the screen.
    pub waiting: Option<WaitingAgent>,
    /// The first row of the arguments that is shown.
    pub top: usize,
}

impl PausePane {
    /// Notes what a frame has shown.
    pub fn drawn(&mut self, drawn: PauseDrawn) {
        self.drawn = drawn.waiting;
        self.top = drawn.top;
    }

    /// Forgets what the last frame has shown: no key is about it any more.
    pub fn hide(&mut self) {
        self.drawn = None;
    }

    /// Tells whether this was on the screen: only then a key can be about it.
    pub fn was_drawn(&self, waiting: &WaitingAgent) -> bool {
        self.drawn.as_ref() == Some(waiting)
    }

    /// Notes that Enter ended a text at this moment.
    pub fn entered(&mut self, at: Timestamp) {
        self.entered = Some(at);
    }

    /// Notes that another key was pressed: an Enter behind it is no echo.
    pub fn other_key(&mut self) {
        self.entered = None;
    }

    /// Tells whether Enter ended a text so shortly before that another one may only be its echo.
    pub fn has_just_entered(&self, at: Timestamp) -> bool {
        let quiet = |entered: Timestamp| entered.checked_add(limits::QUESTION_QUIET).unwrap_or(Timestamp::MAX);
        self.entered.is_some_and(|entered| (entered..quiet(entered)).contains(&at))
    }

    /// Shows the arguments of another call from their beginning.
    pub fn apply(&mut self, event: &Event) {
        if let Event::Parked { .. } = event {
            self.top = 0;
        }
    }
}
