//! What keys do for somebody who reads a transcript: search, jump, select, copy, open, write, show times.
//!
//! Named by the tables in `keymap`; carried out by `update/transcript.rs`.

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
