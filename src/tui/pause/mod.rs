//! The panel of a paused agent: where it waits, the call that would run next, and what can be decided about it.
//!
//! # Where things are
//!
//! - what it holds, the arguments as the user edits them: `mod.rs`; what its keys do: `update.rs`;
//!   the message about a call: `call_text.rs`; how it is drawn:
//!   `view.rs`; tests: `pause.rs`, `tests/pty/pause.rs`

mod call_text;
mod update;
pub mod view;

pub use call_text::{decide_call, decided, follow, settle_focus};
pub use update::{Panel, act, all, enter, focus, panel, paused, travel};

use jiff::Timestamp;

use steersman_base::event::Event;
use steersman_base::limits;
use steersman_base::message::Arguments;
use steersman_session::model::WaitingAgent;

/// Writes arguments as the user edits them: JSON with line breaks, or the text that is none.
pub fn editable(arguments: &Arguments) -> String {
    match arguments {
        Arguments::Object(map) => serde_json::to_string_pretty(map).unwrap_or_default(),
        Arguments::Raw(text) => text.clone(),
    }
}

/// Reads edited arguments.
///
/// # Errors
/// One sentence, when the text is no JSON object.
pub fn read_arguments(text: &str) -> Result<Arguments, String> {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(serde_json::Value::Object(map)) => Ok(Arguments::Object(map)),
        Ok(_) => Err("arguments must be a JSON object: { … }".to_owned()),
        Err(error) => Err(format!("invalid JSON: {error}")),
    }
}

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
        if let Event::Paused { .. } = event {
            self.top = 0;
        }
    }
}
