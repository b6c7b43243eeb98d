//! What keys do within one pane or in several alike: each enum is one pane's, so that the pane matches all of it.
//!
//! Named by the tables in `keymap`; carried out by the panes.

named_keys! {
    /// One operation in the agent tree.
    pub enum TreeKey {
        /// Show less of the selected agent's children.
        Less = "less",
        /// Show more of them.
        More = "more",
        /// Collapse, or expand step by step.
        Toggle = "toggle",
        /// Type a filter.
        Filter = "filter",
        /// Go back to the tree, filtered.
        KeepFilter = "keep-filter",
        /// Delete the filter's last character.
        RubOut = "rub-out",
        /// Delete the filter's text.
        RubOutAll = "rub-out-all",
        /// Select the next agent with a warning.
        NextWarned = "next-odd",
        /// Show or hide the details of the selected agent.
        Details = "details",
        /// Cancel the selected agent.
        Cancel = "cancel-agent",
        /// Cancel the selected agent and everything beneath it.
        CancelAll = "cancel-agents",
    }
}

named_keys! {
    /// One change of how the screen is divided.
    pub enum LookKey {
        /// Let the pane fill the screen above the composer, or end that.
        Zoom = "zoom",
        /// Focus the details of the shown agent.
        Details = "focus-details",
        /// Give the pane less room.
        Smaller = "smaller",
        /// Give the pane more room.
        Larger = "larger",
        /// Give the pane its usual room.
        Usual = "usual-size",
    }
}

named_keys! {
    /// One operation on the message beyond its text and cursor, or in the search of what was sent before.
    pub enum WriteKey {
        /// Do again what was undone.
        Redo = "redo",
        /// Put the text of a chip in its place.
        Expand = "expand-chip",
        /// Search what was sent before; in the search: the next match.
        Search = "search-history",
        /// Take the chosen text into the message.
        TakeText = "take-text",
        /// Delete the last character of the search.
        RubOut = "rub-out",
        /// Delete the last word of the search.
        RubOutWord = "rub-out-word",
        /// Delete the text of the search.
        RubOutAll = "rub-out-all",
    }
}

named_keys! {
    /// One operation in a replay.
    pub enum ReplayKey {
        /// Go to the event before.
        EventBack = "event-back",
        /// Go to the event after.
        EventOn = "event-on",
        /// Go to the round before.
        RoundBack = "round-back",
        /// Go to the round after.
        RoundOn = "round-on",
        /// Go to the turn before.
        TurnBack = "turn-back",
        /// Go to the turn after.
        TurnOn = "turn-on",
        /// Go to the mark before.
        MarkBack = "mark-back",
        /// Go to the mark after.
        MarkOn = "mark-on",
        /// Go to the beginning.
        First = "first",
        /// Go to the end.
        Last = "last",
        /// Play or pause.
        Play = "play",
        /// Play twice as fast.
        Faster = "faster",
        /// Play half as fast.
        Slower = "slower",
        /// Type a time to go to.
        Time = "go-to-time",
        /// End the replay.
        End = "end-replay",
    }
}

named_keys! {
    /// One edit of the composer's text or cursor.
    pub enum Edit {
        /// One character left.
        Left = "left",
        /// One character right.
        Right = "right",
        /// One row up.
        Up = "up",
        /// One row down.
        Down = "down",
        /// One word left.
        WordLeft = "word-left",
        /// One word right.
        WordRight = "word-right",
        /// Start of the line.
        LineStart = "line-start",
        /// End of the line.
        LineEnd = "line-end",
        /// Delete the character before the cursor.
        Backspace = "backspace",
        /// Delete the character under the cursor.
        Delete = "delete",
        /// Delete the word before the cursor.
        DeleteWord = "delete-word",
        /// Delete the word after the cursor.
        DeleteNextWord = "delete-next-word",
        /// Delete to the start of the line.
        DeleteToStart = "delete-to-start",
        /// Delete to the end of the line.
        DeleteToEnd = "delete-to-end",
        /// Insert what was deleted last.
        Yank = "yank",
    }
}

impl Edit {
    /// Tells whether it changes the text.
    pub fn deletes(self) -> bool {
        match self {
            Self::Left
            | Self::Right
            | Self::Up
            | Self::Down
            | Self::WordLeft
            | Self::WordRight
            | Self::LineStart
            | Self::LineEnd => false,
            Self::Backspace
            | Self::Delete
            | Self::DeleteWord
            | Self::DeleteNextWord
            | Self::DeleteToStart
            | Self::DeleteToEnd
            | Self::Yank => true,
        }
    }
}

named_keys! {
    /// One step through a list or a text.
    pub enum Travel {
        /// Select the one before.
        Previous = "previous",
        /// Select the one after.
        Next = "next",
        /// Select the first, or go to the top.
        First = "first",
        /// Select the last, or follow the end.
        Last = "last",
        /// One page up.
        PageUp = "page-up",
        /// One page down.
        PageDown = "page-down",
    }
}

impl Travel {
    /// Returns the place to which it leads from another, with so many on a page; behind the last is as good as the last.
    #[must_use]
    pub fn from(self, place: usize, page: usize) -> usize {
        match self {
            Self::Previous => place.saturating_sub(1),
            Self::Next => place.saturating_add(1),
            Self::PageUp => place.saturating_sub(page),
            Self::PageDown => place.saturating_add(page),
            Self::First => 0,
            Self::Last => usize::MAX,
        }
    }
}

named_keys! {
    /// One change of the selected pending text.
    pub enum PendingKey {
        /// Edit the selected pending text.
        Edit = "edit-entry",
        /// Delete the selected pending text.
        Delete = "delete-entry",
        /// Let the selected pending text change places with the one before it.
        MoveEarlier = "move-earlier",
        /// Let the selected pending text change places with the one after it.
        MoveLater = "move-later",
        /// Make a follow-up of the selected pending text.
        AsFollowUp = "as-follow-up",
        /// Make a steer of the selected pending text.
        AsSteer = "as-steer",
        /// Let it be of the next kind.
        NextKind = "next-kind",
        /// Join the selected pending text with the one after it.
        Merge = "merge",
        /// Deliver it at once.
        DeliverNow = "deliver-now",
    }
}

named_keys! {
    /// One operation on the agent that is shown: it is paused or goes on, and its next call is decided about.
    pub enum PauseKey {
        /// Pause the agent that is shown, or let it go on.
        PauseOrGoOn = "pause-or-go-on",
        /// Let the agent that is shown go on.
        GoOn = "go-on",
        /// Focus the panel of the paused agent.
        Focus = "focus-paused",
        /// Let the paused agent go on to where it next comes by.
        Step = "step",
        /// Edit the arguments of the call before which the agent waits.
        EditCall = "edit-call",
        /// Skip that call, with a reason.
        SkipCall = "skip-call",
    }
}
