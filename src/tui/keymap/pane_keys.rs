//! What keys do within one pane or in several alike: each enum is one pane's, so that the pane matches all of it.
//!
//! Named by the tables in `keymap`; carried out by the panes.

/// Makes an enum of what keys do from one table: the meaning, its documentation, and its name in a file of keys. Those of
/// single panes stand within the enum of all.
macro_rules! named_keys {
    (
        $(#[$doc:meta])*
        pub enum $enum:ident { $($(#[$key_doc:meta])* $key:ident = $name:literal,)* }
        $(within { $($(#[$part_doc:meta])* $part:ident($type:ident),)* })?
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $enum {
            $($(#[$key_doc])* $key,)*
            $($($(#[$part_doc])* $part($type),)*)?
        }

        impl $enum {
            /// Returns the name that it has in a file of keys.
            pub fn id(self) -> &'static str {
                match self {
                    $(Self::$key => $name,)*
                    $($(Self::$part(part) => part.id(),)*)?
                }
            }
        }
    };
}

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

named_keys! {
    /// One operation in a transcript.
    pub enum ReadKey {
        /// Focus the transcript.
        Focus = "focus-transcript",
        /// Fold or open the selected block.
        Fold = "fold",
        /// Fold or open all blocks.
        FoldAll = "fold-all",
        /// Begin a search.
        Search = "search",
        /// Go to the next place that was found.
        NextFound = "next-found",
        /// Go to the previous one.
        PreviousFound = "previous-found",
        /// Stay where the search led.
        KeepSearch = "keep-search",
        /// Go to the previous message of the user.
        PreviousMessage = "previous-message",
        /// Go to the next one.
        NextMessage = "next-message",
        /// Go to the previous failure.
        PreviousFailure = "previous-failure",
        /// Go to the next one.
        NextFailure = "next-failure",
        /// Begin or end a selection of lines.
        Select = "select",
        /// Copy the selection, else the selected block.
        Copy = "copy",
        /// Open the selected block in the user's editor.
        Open = "open",
        /// Write the transcript into a file.
        Write = "write-transcript",
        /// Show or hide times.
        Times = "times",
        /// Branch from just before the selected message.
        Branch = "branch",
    } within {
        /// Write in the search, while it is typed.
        Type(SearchKey),
    }
}

named_keys! {
    /// One change of the search that is typed.
    pub enum SearchKey {
        /// Delete the character before the cursor of the search.
        RubOut = "rub-out",
        /// Delete the word before it.
        RubOutWord = "rub-out-word",
        /// Delete everything before it.
        RubOutAll = "rub-out-all",
        /// Move it to the left.
        Left = "left",
        /// Move it to the right.
        Right = "right",
        /// Move it to the start.
        Start = "start",
        /// Move it to the end.
        End = "end",
        /// Bring an earlier search back.
        EarlierSearch = "earlier-search",
        /// Go back towards what was typed.
        LaterSearch = "later-search",
    }
}

impl ReadKey {
    /// Tells whether it leaves everything outside the screen as it was.
    pub fn only_shows(self) -> bool {
        match self {
            Self::Copy | Self::Open | Self::Write | Self::Branch => false,
            Self::Focus
            | Self::Fold
            | Self::FoldAll
            | Self::Search
            | Self::NextFound
            | Self::PreviousFound
            | Self::KeepSearch
            | Self::PreviousMessage
            | Self::NextMessage
            | Self::PreviousFailure
            | Self::NextFailure
            | Self::Select
            | Self::Times
            | Self::Type(_) => true,
        }
    }
}
