//! What every pane may read and only the root changes: size, time, keys, theme, and where the screen is.
//!
//! A pane's functions take its own state and these facts; `App` keeps both beside each other, so that one can be changed
//! while the other is read.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::layout::Size;

use super::keymap::{Context, Keymap};
use super::state::lines::Medium;
use super::theme::{Theme, Themes};

/// The facts that every pane goes by.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The size of the screen.
    pub size: Size,
    /// The moment of the last message that carried one.
    pub now: Timestamp,
    /// The keys in force.
    pub keymap: Keymap,
    /// The active theme.
    pub theme: Theme,
    /// All themes.
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
}

impl Facts {
    /// Makes the facts of a screen that begins: the usual keys, universal time, no directory.
    pub fn new(size: Size, now: Timestamp, themes: Themes) -> Self {
        Self {
            size,
            now,
            keymap: Keymap::default(),
            theme: themes.worn(),
            themes,
            medium: Medium::default(),
            zone: TimeZone::UTC,
            place: String::new(),
            branch: String::new(),
            session: None,
        }
    }

    /// Puts the keys in force into a text that names the usual ones of a context.
    pub fn spell<'a>(&self, context: Context, text: &'a str) -> Cow<'a, str> {
        self.keymap.spell(context, text)
    }
}
