//! What every pane may read and only the root changes: size, time, keys, theme, where the screen is, and the run.
//!
//! A pane's functions take its own state and this context; `App` keeps both beside each other, so that one can be changed
//! while the other is read.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::layout::Size;

use super::keymap::{Context, Keymap};
use super::state::Medium;
use super::theme::{Theme, Themes};
use super::tour::Tour;
use steersman_base::id::ClientId;
use steersman_base::protocol::{Unsaved, Update};
use steersman_session::model::RunState;

/// What every pane may read.
#[derive(Debug, Clone)]
pub struct UiContext {
    pub run: RunState,
    /// The run with the part of its past that has been read, until all of it is: nothing of that happens now.
    past: Option<Box<RunState>>,
    pub size: Size,
    /// The moment of the last message that carried one.
    pub now: Timestamp,
    pub keymap: Keymap,
    pub theme: Theme,
    pub themes: Themes,
    /// Whether frames are drawn or lines are written.
    pub medium: Medium,
    /// The zone that times are shown in.
    pub zone: TimeZone,
    /// The name of the working directory (untrusted).
    pub place: String,
    /// The branch of its repository, if it lies in one (untrusted).
    pub branch: String,
    /// The name that the session is saved by, if it is.
    pub session: Option<String>,
    /// Why it cannot be saved now; `None` while all is well.
    pub unsaved: Option<Unsaved>,
    /// The name of this client; `None` where the run was started with this screen.
    pub client: Option<ClientId>,
    /// What a newcomer is shown.
    pub tour: Tour,
}

impl UiContext {
    /// Makes the context of a screen that begins: the usual keys, universal time, no directory.
    pub fn new(size: Size, now: Timestamp, themes: Themes) -> Self {
        Self {
            run: RunState::default(),
            past: None,
            size,
            now,
            keymap: Keymap::default(),
            theme: themes.active(),
            themes,
            medium: Medium::default(),
            zone: TimeZone::UTC,
            place: String::new(),
            branch: String::new(),
            session: None,
            unsaved: None,
            client: None,
            tour: Tour::default(),
        }
    }

    /// Puts the past of the run aside from here on.
    pub fn begin_past(&mut self) {
        self.past = Some(Box::new(self.run.clone()));
    }

    /// Replaces the run by the one with its past: all of that is read.
    pub fn end_past(&mut self) {
        if let Some(past) = self.past.take() {
            self.run = *past;
        }
    }

    /// Returns the run that events are applied to.
    pub fn event_run(&mut self) -> &mut RunState {
        self.past.as_deref_mut().unwrap_or(&mut self.run)
    }

    /// Applies an update; an event is still to be applied to [`UiContext::event_run`].
    pub fn apply(&mut self, update: &Update) {
        let now = self.now;
        let is_past = matches!(update, Update::Envelope(_)) && self.past.is_some();
        let present = (!is_past).then_some(&mut self.run);
        present.into_iter().chain(self.past.as_deref_mut()).for_each(|run| run.apply_update(update, now));
    }

    /// Returns who sent a text, unless that is this client.
    pub fn from_elsewhere<'a>(&self, sender: Option<&'a ClientId>) -> Option<&'a str> {
        (sender != self.client.as_ref()).then(|| sender.map_or("first screen", ClientId::as_str))
    }

    /// Returns how many rows a page key moves.
    pub fn half_page(&self) -> usize {
        usize::from(self.size.height / 2).max(1)
    }

    /// Puts the keys in force into a text that names the usual ones of a context.
    pub fn spell<'a>(&self, context: Context, text: &'a str) -> Cow<'a, str> {
        self.keymap.spell(context, text)
    }
}
