//! What keys do within one pane: edits of the composer's text, acts in the agent tree.
//!
//! Named by the one table of keys in `keymap`; carried out by `update`.

use super::Action;

impl Action {
    /// Tells whether it shows something, and neither sends, decides nor changes anything.
    pub fn only_shows(self) -> bool {
        match self {
            Self::Tree(key) => !matches!(key, TreeKey::Cancel | TreeKey::CancelAll),
            Self::Read(key) => key.only_shows(),
            Self::Look(_)
            | Self::Previous
            | Self::Next
            | Self::First
            | Self::Last
            | Self::PageUp
            | Self::PageDown
            | Self::Fold
            | Self::FoldAll
            | Self::Help
            | Self::Ledger
            | Self::Changes
            | Self::Jump
            | Self::Redraw => true,
            _ => false,
        }
    }
}

/// One act in the agent tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeKey {
    /// Show less of the selected agent's children.
    Less,
    /// Show more of them.
    More,
    /// Fold, or unfold step by step.
    Toggle,
    /// Type a filter.
    Filter,
    /// Go back to the tree, filtered.
    KeepFilter,
    /// Delete the filter's last character.
    RubOut,
    /// Delete the filter's text.
    RubOutAll,
    /// Select the next agent with a warning.
    NextWarned,
    /// Show or hide the details of the selected agent.
    Details,
    /// Cancel the selected agent.
    Cancel,
    /// Cancel the selected agent and everything beneath it.
    CancelAll,
}

impl TreeKey {
    /// Returns the name that it has in a file of keys.
    pub fn id(self) -> &'static str {
        match self {
            Self::Less => "less",
            Self::More => "more",
            Self::Toggle => "toggle",
            Self::Filter => "filter",
            Self::KeepFilter => "keep-filter",
            Self::RubOut => "rub-out",
            Self::RubOutAll => "rub-out-all",
            Self::NextWarned => "next-odd",
            Self::Details => "details",
            Self::Cancel => "cancel-agent",
            Self::CancelAll => "cancel-agents",
        }
    }
}

/// One change of how the screen is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookKey {
    /// Let the pane fill the screen above the composer, or end that.
    Zoom,
    /// Focus the details of the shown agent.
    Details,
    /// Give the pane less room.
    Smaller,
    /// Give the pane more room.
    Larger,
    /// Give the pane its usual room.
    Usual,
}

impl LookKey {
    /// Returns the name that it has in a file of keys.
    pub fn id(self) -> &'static str {
        match self {
            Self::Zoom => "zoom",
            Self::Details => "focus-details",
            Self::Smaller => "smaller",
            Self::Larger => "larger",
            Self::Usual => "usual-size",
        }
    }
}

/// One act on the message beyond its text and cursor, or in the search of what was sent before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteKey {
    /// Do again what was undone.
    Redo,
    /// Put the text of a chip in its place.
    Expand,
    /// Search what was sent before; in the search: the next match.
    Search,
    /// Take the chosen text into the message.
    TakeText,
    /// Delete the last character of the search.
    RubOut,
    /// Delete the last word of the search.
    RubOutWord,
    /// Delete the text of the search.
    RubOutAll,
}

impl WriteKey {
    /// Returns the name that it has in a file of keys.
    pub fn id(self) -> &'static str {
        match self {
            Self::Redo => "redo",
            Self::Expand => "expand-chip",
            Self::Search => "search-history",
            Self::TakeText => "take-text",
            Self::RubOut => "rub-out",
            Self::RubOutWord => "rub-out-word",
            Self::RubOutAll => "rub-out-all",
        }
    }
}

/// One act in the list of changed files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangesKey {
    /// Show the changes of the turn before.
    EarlierTurn,
    /// Show the changes of the turn after, or of the whole session.
    LaterTurn,
    /// Show the changes of the next agent, or of all.
    NextAgent,
    /// Open the shown change in the user's editor.
    Open,
    /// Take back the shown changes of the file, after a question.
    UndoFile,
    /// Take back the turn that is shown, after a question.
    UndoTurn,
}

impl ChangesKey {
    /// Returns the name that it has in a file of keys.
    pub fn id(self) -> &'static str {
        match self {
            Self::EarlierTurn => "earlier-turn",
            Self::LaterTurn => "later-turn",
            Self::NextAgent => "next-agent",
            Self::Open => "open-change",
            Self::UndoFile => "undo-file",
            Self::UndoTurn => "undo-turn",
        }
    }
}

/// One act in a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayKey {
    /// Go to the event before.
    EventBack,
    /// Go to the event after.
    EventOn,
    /// Go to the round before.
    RoundBack,
    /// Go to the round after.
    RoundOn,
    /// Go to the turn before.
    TurnBack,
    /// Go to the turn after.
    TurnOn,
    /// Go to the mark before.
    MarkBack,
    /// Go to the mark after.
    MarkOn,
    /// Go to the beginning.
    First,
    /// Go to the end.
    Last,
    /// Play or pause.
    Play,
    /// Play twice as fast.
    Faster,
    /// Play half as fast.
    Slower,
    /// Type a time to go to.
    Time,
    /// End the replay.
    End,
}

impl ReplayKey {
    /// Returns the name that it has in a file of keys.
    pub fn id(self) -> &'static str {
        match self {
            Self::EventBack => "event-back",
            Self::EventOn => "event-on",
            Self::RoundBack => "round-back",
            Self::RoundOn => "round-on",
            Self::TurnBack => "turn-back",
            Self::TurnOn => "turn-on",
            Self::MarkBack => "mark-back",
            Self::MarkOn => "mark-on",
            Self::First => "first",
            Self::Last => "last",
            Self::Play => "play",
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Time => "go-to-time",
            Self::End => "end-replay",
        }
    }
}

/// One edit of the composer's text or cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// One character left.
    Left,
    /// One character right.
    Right,
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// One word left.
    WordLeft,
    /// One word right.
    WordRight,
    /// Start of the line.
    LineStart,
    /// End of the line.
    LineEnd,
    /// Delete the character before the cursor.
    Backspace,
    /// Delete the character under the cursor.
    Delete,
    /// Delete the word before the cursor.
    DeleteWord,
    /// Delete the word after the cursor.
    DeleteNextWord,
    /// Delete to the start of the line.
    DeleteToStart,
    /// Delete to the end of the line.
    DeleteToEnd,
    /// Insert what was deleted last.
    Yank,
}

impl Edit {
    /// Returns the name that it has in a file of keys.
    pub fn id(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
            Self::Up => "up",
            Self::Down => "down",
            Self::WordLeft => "word-left",
            Self::WordRight => "word-right",
            Self::LineStart => "line-start",
            Self::LineEnd => "line-end",
            Self::Backspace => "backspace",
            Self::Delete => "delete",
            Self::DeleteWord => "delete-word",
            Self::DeleteNextWord => "delete-next-word",
            Self::DeleteToStart => "delete-to-start",
            Self::DeleteToEnd => "delete-to-end",
            Self::Yank => "yank",
        }
    }
}
