//! What keys mean, and the name that each meaning has in a file of keys.
//!
//! Named by the tables in `keymap`; carried out by `update`.

use super::{ChangesKey, Edit, LookKey, ReadKey, ReplayKey, TreeKey, WriteKey};

/// What a key means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Send the composer's text; in an empty composer, let held-back texts go.
    Send,
    /// Send the composer's text as a follow-up.
    FollowUp,
    /// Insert a line break.
    Newline,
    /// Close the overlay, else focus the composer, else stop the turn.
    Escape,
    /// Clear the composer; twice quits.
    Clear,
    /// Quit when the composer is empty, else delete the character under the cursor.
    QuitOrDelete,
    /// Take the newest pending text back.
    TakeBack,
    /// Undo the last edit of the message, else bring back what a key removed.
    Undo,
    /// Bring back what a key removed.
    BringBack,
    /// Send the composer's text, or deliver the selected pending text, at once.
    DeliverNow,
    /// Focus the pending list.
    FocusPending,
    /// Edit the selected pending text.
    EditEntry,
    /// Delete the selected pending text.
    DeleteEntry,
    /// Let the selected pending text change places with the one before it.
    MoveEarlier,
    /// Let the selected pending text change places with the one after it.
    MoveLater,
    /// Make a follow-up of the selected pending text.
    AsFollowUp,
    /// Make a steer of the selected pending text.
    AsSteer,
    /// Join the selected pending text with the one after it.
    Merge,
    /// Take the next kind for the message, or for the selected pending text.
    NextKind,
    /// Move or delete within the composer.
    Edit(Edit),
    /// Focus the agent tree.
    FocusTree,
    /// Focus the transcript.
    FocusTranscript,
    /// Focus the composer.
    FocusComposer,
    /// Select the one before.
    Previous,
    /// Select the one after.
    Next,
    /// Select the first, or go to the top.
    First,
    /// Select the last, or follow the end.
    Last,
    /// Fold or open the selected block.
    Fold,
    /// Fold or open all blocks.
    FoldAll,
    /// One page up.
    PageUp,
    /// One page down.
    PageDown,
    /// Choose the model.
    ChooseModel,
    /// Begin this command in the composer.
    Prefill(&'static str),
    /// Take the next theme.
    NextTheme,
    /// Start a new conversation, after a question.
    New,
    /// Take the conversation back to its system prompt, after a question.
    Reset,
    /// End the program.
    Quit,
    /// Answer the question that is asked.
    Answer(Answer),
    /// Show or hide help.
    Help,
    /// Show or hide the ledger.
    Ledger,
    /// Show or hide the files that tools changed.
    Changes,
    /// Choose what the list of changed files shows, or take some of it back.
    InChanges(ChangesKey),
    /// Move through a replay.
    InReplay(ReplayKey),
    /// Hold the agent that is shown, or let it go on.
    HoldOrGoOn,
    /// Let the agent that is shown go on.
    GoOn,
    /// Focus the panel of the held agent.
    FocusGate,
    /// Let the paused agent go on to where it next comes by.
    Step,
    /// Edit the arguments of the call before which the agent waits.
    EditCall,
    /// Skip that call, with a reason.
    SkipCall,
    /// Show the selected text of the ledger in its transcript.
    Jump,
    /// Take back what the tools of the last turn changed, after a question.
    UndoChanges,
    /// Send the request again that failed.
    Retry,
    /// Switch to the next approval mode.
    NextMode,
    /// Write the whole screen again.
    Redraw,
    /// Open the message in the user's editor.
    Editor,
    /// Go to the shell.
    Suspend,
    /// Give the mouse to the terminal, or take it.
    Mouse,
    /// Fold, filter or cancel in the agent tree.
    Tree(TreeKey),
    /// Divide the screen otherwise.
    Look(LookKey),
    /// Search, jump, select or copy in the transcript.
    Read(ReadKey),
    /// Write with more than the keys of a text: undo's other way, history, chips, an editor.
    Write(WriteKey),
}

impl Action {
    /// Returns the name that it has in a file of keys.
    pub fn id(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::FollowUp => "follow-up",
            Self::Newline => "newline",
            Self::Escape => "escape",
            Self::Clear => "clear",
            Self::QuitOrDelete => "quit-or-delete",
            Self::TakeBack => "take-back",
            Self::Undo => "undo",
            Self::BringBack => "bring-back",
            Self::DeliverNow => "deliver-now",
            Self::FocusPending => "focus-pending",
            Self::EditEntry => "edit-entry",
            Self::DeleteEntry => "delete-entry",
            Self::MoveEarlier => "move-earlier",
            Self::MoveLater => "move-later",
            Self::AsFollowUp => "as-follow-up",
            Self::AsSteer => "as-steer",
            Self::Merge => "merge",
            Self::NextKind => "next-kind",
            Self::Edit(edit) => edit.id(),
            Self::FocusTree => "focus-tree",
            Self::FocusTranscript => "focus-transcript",
            Self::FocusComposer => "focus-composer",
            Self::Previous => "previous",
            Self::Next => "next",
            Self::First => "first",
            Self::Last => "last",
            Self::Fold => "fold",
            Self::FoldAll => "fold-all",
            Self::PageUp => "page-up",
            Self::PageDown => "page-down",
            Self::ChooseModel => "choose-model",
            Self::Prefill(words) => words.trim().trim_start_matches('/'),
            Self::NextTheme => "next-theme",
            Self::New => "new",
            Self::Reset => "reset",
            Self::Quit => "quit",
            Self::Answer(answer) => answer.id(),
            Self::Help => "help",
            Self::Ledger => "ledger",
            Self::Changes => "changes",
            Self::InChanges(key) => key.id(),
            Self::InReplay(key) => key.id(),
            Self::HoldOrGoOn => "hold-or-go-on",
            Self::GoOn => "go-on",
            Self::FocusGate => "focus-gate",
            Self::Step => "step",
            Self::EditCall => "edit-call",
            Self::SkipCall => "skip-call",
            Self::Jump => "jump",
            Self::UndoChanges => "undo-changes",
            Self::Retry => "retry",
            Self::NextMode => "next-mode",
            Self::Redraw => "redraw",
            Self::Editor => "editor",
            Self::Suspend => "suspend",
            Self::Mouse => "mouse",
            Self::Tree(key) => key.id(),
            Self::Look(key) => key.id(),
            Self::Read(key) => key.id(),
            Self::Write(key) => key.id(),
        }
    }
}

/// An answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Alt+Y: yes, this once.
    Once,
    /// Alt+S: yes, and do not ask again in this session.
    Session,
    /// Alt+A: yes, and keep a rule for later sessions.
    Always,
    /// Alt+N: no.
    No,
    /// Alt+W: no, with words that the composer takes.
    Words,
    /// Esc: no, with nothing done.
    Leave,
}

impl Answer {
    /// Tells whether it approves.
    pub fn is_yes(self) -> bool {
        match self {
            Self::Once | Self::Session | Self::Always => true,
            Self::No | Self::Words | Self::Leave => false,
        }
    }

    /// Returns the name that it has in a file of keys.
    pub fn id(self) -> &'static str {
        match self {
            Self::Once => "yes",
            Self::Session => "yes-for-session",
            Self::Always => "yes-always",
            Self::No => "no",
            Self::Words => "no-with-words",
            Self::Leave => "leave-question",
        }
    }

    /// Returns the name of its key.
    pub fn key(self) -> &'static str {
        match self {
            Self::Once => "Alt+Y",
            Self::Session => "Alt+S",
            Self::Always => "Alt+A",
            Self::No => "Alt+N",
            Self::Words => "Alt+W",
            Self::Leave => "Esc",
        }
    }
}
