//! What keys mean, and the name that each meaning has in a file of keys.
//!
//! Named by the tables in `keymap`; carried out by `update`. What only one pane does is in `pane_keys.rs`.

use crate::overlay::registry::{PaneId, PaneKey};

use super::{Edit, LookKey, PauseKey, PendingKey, ReadKey, ReplayKey, Travel, TreeKey, WriteKey};

named_keys! {
    /// What a key means.
    pub enum Action {
        /// Send the composer's text; in an empty composer, let held-back texts go.
        Send = "send",
        /// Send the composer's text as a follow-up.
        FollowUp = "follow-up",
        /// Insert a line break.
        Newline = "newline",
        /// Close the overlay, else focus the composer, else stop the turn.
        Escape = "escape",
        /// Clear the composer; twice quits.
        Clear = "clear",
        /// Quit when the composer is empty, else delete the character under the cursor.
        QuitOrDelete = "quit-or-delete",
        /// Take the newest pending text back.
        TakeBack = "take-back",
        /// Undo the last edit of the message, else bring back what a key removed.
        Undo = "undo",
        /// Bring back what a key removed.
        BringBack = "bring-back",
        /// Send the composer's text, or deliver what is pending, at once.
        DeliverNow = "deliver-now",
        /// Take the next kind for what is written.
        NextKind = "next-kind",
        /// Let the message go to the running sub-agents instead, then as well, then not.
        Forward = "forward",
        /// Focus the pending list.
        FocusPending = "focus-pending",
        /// Focus the agent tree.
        FocusTree = "focus-tree",
        /// Focus the composer.
        FocusComposer = "focus-composer",
        /// Choose the model.
        ChooseModel = "choose-model",
        /// Take the next theme.
        NextTheme = "next-theme",
        /// Start a new conversation, after a question.
        New = "new",
        /// Take the conversation back to its system prompt, after a question.
        Reset = "reset",
        /// End the program.
        Quit = "quit",
        /// Show or hide help.
        Help = "help",
        /// Send the command that the shown agent waits for to the background.
        ToBackground = "to-background",
        /// Send the command that the shown agent waits for to the background; without one move the cursor to the left.
        BackgroundOrLeft = "background-or-left",
        /// Open the selected entry of help, or take the selected choice.
        Jump = "jump",
        /// Take back what the tools of the last turn changed, after a question.
        UndoChanges = "undo-changes",
        /// Send the request again that failed.
        Retry = "retry",
        /// Switch to the next approval mode.
        NextMode = "next-mode",
        /// Write the whole screen again.
        Redraw = "redraw",
        /// Put the picture of the clipboard into the message.
        PasteImage = "paste-image",
        /// Open the message in the user's editor.
        Editor = "editor",
        /// Go to the shell.
        Suspend = "suspend",
        /// Give the mouse to the terminal, or take it.
        Mouse = "mouse",
    } within {
        /// Move or delete within the composer.
        Edit(Edit),
        /// Begin this command in the composer.
        Prefill(Prefill),
        /// Answer the question that is asked.
        Answer(Answer),
        /// Show or hide a pane of the registry.
        Open(PaneId),
        /// Do what a pane of the registry says.
        InPane(PaneKey),
        /// Move through a replay.
        InReplay(ReplayKey),
        /// Fold, filter or cancel in the agent tree.
        Tree(TreeKey),
        /// Divide the screen otherwise.
        Look(LookKey),
        /// Search, jump, select or copy in the transcript.
        Read(ReadKey),
        /// Write with more than the keys of a text: undo's other way, history, chips, an editor.
        Write(WriteKey),
        /// Move through a list or a text.
        Travel(Travel),
        /// Change the selected pending text.
        Pending(PendingKey),
        /// Pause an agent, or decide about the call before which it waits.
        Pause(PauseKey),
    }
}

impl Action {
    /// Tells whether it shows something, and neither sends, decides nor changes anything.
    pub fn only_shows(self) -> bool {
        match self {
            Self::Tree(key) => !matches!(key, TreeKey::Cancel | TreeKey::CancelAll),
            Self::Read(key) => key.only_shows(),
            other => matches!(
                other,
                Self::Look(_) | Self::Travel(_) | Self::Help | Self::Open(_) | Self::Jump | Self::Redraw
            ),
        }
    }
}

/// A command that a key begins in the composer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefill(pub &'static str);

impl Prefill {
    /// Returns the name that it has in a file of keys: the command's.
    pub fn id(self) -> &'static str {
        self.0.trim().trim_start_matches('/')
    }
}

named_keys! {
    /// An answer.
    pub enum Answer {
        /// Alt+Y: yes, this once.
        Once = "yes",
        /// Alt+S: yes, and do not ask again in this session.
        Session = "yes-for-session",
        /// Alt+A: yes, and keep a rule for later sessions.
        Always = "yes-always",
        /// Alt+U: yes, and keep a rule for later sessions of every project.
        Everywhere = "yes-everywhere",
        /// Alt+N: no.
        No = "no",
        /// Alt+W: no, with words that the composer takes.
        Words = "no-with-words",
        /// Esc: no, with nothing done.
        Leave = "leave-question",
    }
}

impl Answer {
    /// Tells whether it approves.
    pub fn is_yes(self) -> bool {
        match self {
            Self::Once | Self::Session | Self::Always | Self::Everywhere => true,
            Self::No | Self::Words | Self::Leave => false,
        }
    }

    /// Returns the name of its key.
    pub fn key(self) -> &'static str {
        match self {
            Self::Once => "Alt+Y",
            Self::Session => "Alt+S",
            Self::Always => "Alt+A",
            Self::Everywhere => "Alt+U",
            Self::No => "Alt+N",
            Self::Words => "Alt+W",
            Self::Leave => "Esc",
        }
    }
}
