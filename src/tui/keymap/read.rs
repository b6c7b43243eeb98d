//! What keys do for somebody who reads a transcript: search, jump, select, copy, open, write, show times.
//!
//! Named by the tables in `keymap`; carried out by `update/transcript.rs`.

/// One act in a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadKey {
    /// Begin a search.
    Search,
    /// Go to the next place that was found.
    NextFound,
    /// Go to the previous one.
    PreviousFound,
    /// Stay where the search led.
    KeepSearch,
    /// Delete the character before the cursor of the search.
    RubOut,
    /// Delete the word before it.
    RubOutWord,
    /// Delete everything before it.
    RubOutAll,
    /// Move it to the left.
    Left,
    /// Move it to the right.
    Right,
    /// Move it to the start.
    Start,
    /// Move it to the end.
    End,
    /// Bring an earlier search back.
    EarlierSearch,
    /// Go back towards what was typed.
    LaterSearch,
    /// Go to the previous message of the user.
    PreviousMessage,
    /// Go to the next one.
    NextMessage,
    /// Go to the previous failure.
    PreviousFailure,
    /// Go to the next one.
    NextFailure,
    /// Begin or end a selection of lines.
    Select,
    /// Copy the selection, else the selected block.
    Copy,
    /// Open the selected block in the user's editor.
    Open,
    /// Write the transcript into a file.
    Write,
    /// Show or hide times.
    Times,
    /// Branch from just before the selected message.
    Branch,
}

impl ReadKey {
    /// Returns the name that it has in a file of keys.
    pub fn id(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::NextFound => "next-found",
            Self::PreviousFound => "previous-found",
            Self::KeepSearch => "keep-search",
            Self::RubOut => "rub-out",
            Self::RubOutWord => "rub-out-word",
            Self::RubOutAll => "rub-out-all",
            Self::Left => "left",
            Self::Right => "right",
            Self::Start => "start",
            Self::End => "end",
            Self::EarlierSearch => "earlier-search",
            Self::LaterSearch => "later-search",
            Self::PreviousMessage => "previous-message",
            Self::NextMessage => "next-message",
            Self::PreviousFailure => "previous-failure",
            Self::NextFailure => "next-failure",
            Self::Select => "select",
            Self::Copy => "copy",
            Self::Open => "open",
            Self::Write => "write-transcript",
            Self::Times => "times",
            Self::Branch => "branch",
        }
    }

    /// Tells whether it leaves everything outside the screen as it was.
    pub fn only_shows(self) -> bool {
        match self {
            Self::Copy | Self::Open | Self::Write | Self::Branch => false,
            Self::Search
            | Self::NextFound
            | Self::PreviousFound
            | Self::KeepSearch
            | Self::RubOut
            | Self::RubOutWord
            | Self::RubOutAll
            | Self::Left
            | Self::Right
            | Self::Start
            | Self::End
            | Self::EarlierSearch
            | Self::LaterSearch
            | Self::PreviousMessage
            | Self::NextMessage
            | Self::PreviousFailure
            | Self::NextFailure
            | Self::Select
            | Self::Times => true,
        }
    }
}
