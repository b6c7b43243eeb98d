//! The keys of the message being written.

use super::{TableRow, also, key, row};
use crate::keymap::{Action as A, Edit, WriteKey};

pub const ROWS: &[TableRow] = &[
    key("Enter", A::Send, "send; while a turn runs it waits for the next tool boundary").brief("send"),
    key("Tab", A::FollowUp, "while a turn runs: send as a follow-up, only after the turn").brief("send after the turn"),
    row("Ctrl+J  Alt+Enter  Shift+Enter", A::Newline, "Ctrl+J  Alt/Shift+Enter", "new line").brief("new line"),
    key(
        "F5",
        A::DeliverNow,
        "deliver the message now, in place of the answer being written; when it is empty: what is pending",
    )
    .brief("deliver now"),
    key("Alt+V", A::NextKind, "what the text is: add to the task, instead of it, a note, a rule")
        .brief("kind: instead, note, rule"),
    key("Alt+Down", A::Forward, "for the running sub-agents of the agent instead; again: for both; again: back")
        .brief("to the sub-agents"),
    key("Ctrl+G  Ctrl+X Ctrl+E", A::Editor, "write the message in your editor").brief("write in your editor"),
    key("Ctrl+V", A::PasteImage, "put the picture of the clipboard into the message").brief("picture of the clipboard"),
    key(
        "Ctrl+B",
        A::BackgroundOrLeft,
        "while the shown agent waits for a command: send that to the background; else: left",
    )
    .brief("command to the background"),
    key("Ctrl+_", A::Undo, "undo the last edit, else as everywhere").brief("undo an edit"),
    key("Alt+R", A::Write(WriteKey::Redo), "redo what was undone"),
    key("Ctrl+R", A::Write(WriteKey::Search), "search the messages that you sent, in all sessions")
        .brief("what you sent before"),
    key("Alt+E", A::Write(WriteKey::Expand), "show the text of the folded paste at the cursor"),
    row(
        "Left",
        A::Edit(Edit::Left),
        "Arrows",
        "move the cursor; Up on the first row and Down on the last: what was sent before; Ctrl+P/N too",
    ),
    also("Right  Ctrl+F", A::Edit(Edit::Right)),
    also("Up  Ctrl+P", A::Edit(Edit::Up)),
    also("Down  Ctrl+N", A::Edit(Edit::Down)),
    row("Alt+B  Ctrl+Left  Alt+Left", A::Edit(Edit::WordLeft), "Alt+B/F  Ctrl+Left/Right", "move by words"),
    also("Alt+F  Ctrl+Right  Alt+Right", A::Edit(Edit::WordRight)),
    row("Home  Ctrl+A", A::Edit(Edit::LineStart), "Home  End  Ctrl+A/E", "start or end of the line"),
    also("End  Ctrl+E", A::Edit(Edit::LineEnd)),
    row("Ctrl+U", A::Edit(Edit::DeleteToStart), "Ctrl+U  Ctrl+K", "delete to the start or end of the line"),
    also("Ctrl+K", A::Edit(Edit::DeleteToEnd)),
    row(
        "Ctrl+W  Alt+Backspace  Ctrl+Backspace",
        A::Edit(Edit::DeleteWord),
        "Ctrl+W  Alt+D",
        "delete the word before or after",
    ),
    also("Alt+D  Ctrl+Delete", A::Edit(Edit::DeleteNextWord)),
    key("Ctrl+Y", A::Edit(Edit::Yank), "paste what you deleted last"),
    also("Backspace  Shift+Backspace  Ctrl+H", A::Edit(Edit::Backspace)),
    also("Delete", A::Edit(Edit::Delete)),
];
