//! The keys that hold in every pane, unless the pane has its own.

use super::{TableRow, also, key, row};
use crate::keymap::{Action as A, Answer, LookKey, PauseKey, Prefill, ReadKey, Travel};

pub const ROWS: &[TableRow] = &[
    key("Esc", A::Escape, "close, go back, or stop; the line above the message says which")
        .brief("close, go back, or stop"),
    key("Ctrl+C", A::Clear, "clear the message; when it is empty: stop the turn; twice with no turn: quit")
        .brief("clear, stop, quit"),
    key("Ctrl+D", A::QuitOrDelete, "quit when the message is empty; asks while a turn runs"),
    key("Alt+Up", A::TakeBack, "take the newest pending text back").brief("take a pending text back"),
    row(
        "Alt+Y",
        A::Answer(Answer::Once),
        "Alt+Y  Alt+S  Alt+A  Alt+U",
        "answer a question: yes; for this session; always here; always everywhere",
    ),
    also("Alt+S", A::Answer(Answer::Session)),
    also("Alt+A", A::Answer(Answer::Always)),
    also("Alt+U", A::Answer(Answer::Everywhere)),
    row("Alt+N", A::Answer(Answer::No), "Alt+N  Alt+W", "answer a question: no; no with words"),
    also("Alt+W", A::Answer(Answer::Words)),
    key("Shift+Tab", A::NextMode, "the next approval mode: ask, auto-edit, auto, read-only, plan")
        .brief("approval mode"),
    key("Alt+Z", A::UndoChanges, "undo the file changes of the last turn; asks first").brief("undo the turn's changes"),
    key("Alt+T", A::Retry, "send the failed request again; with a text: replace the open task")
        .brief("send what failed again"),
    key("Alt+C", A::Prefill(Prefill("/compact ")), "compact the conversation: summarise older rounds"),
    key("Alt+M", A::Prefill(Prefill("/budget ")), "what the session may spend"),
    key("Alt+K", A::Prefill(Prefill("/rules ")), "your rules: list, change or withdraw them"),
    key("F3", A::FocusTree, "go to the agents").brief("agents"),
    key("Ctrl+O", A::Read(ReadKey::Focus), "go to the transcript").brief("transcript"),
    key("Alt+I", A::Look(LookKey::Details), "go to the details of the shown agent"),
    key("Alt+L", A::Look(LookKey::Zoom), "let one pane fill the screen above the message; again: back"),
    key("Alt+/", A::Read(ReadKey::Search), "search the transcript").brief("search the transcript"),
    row("Alt+O  Ctrl+E", A::Read(ReadKey::FoldAll), "Alt+O", "fold or open all blocks; Ctrl+E outside the message"),
    row("PageUp", A::Travel(Travel::PageUp), "PageUp/PageDown", "scroll the transcript"),
    also("PageDown", A::Travel(Travel::PageDown)),
    row("Ctrl+Home", A::Travel(Travel::First), "Ctrl+Home/End", "top of the transcript, or follow its end"),
    also("Ctrl+End", A::Travel(Travel::Last)),
    key("Ctrl+L", A::Redraw, "draw the screen again"),
    key("Ctrl+Z", A::Suspend, "to the shell; fg brings everything back"),
    key("Alt+P", A::Mouse, "the mouse: off and on; Shift+drag selects with the terminal itself"),
    key("Ctrl+_", A::BringBack, "bring back what a key removed"),
    key("F1", A::Help, "help").brief("all keys, and the manual"),
    key("F2", A::FocusPending, "go to the pending texts").brief("pending texts"),
    row(
        "Alt+H  Ctrl+P",
        A::Pause(PauseKey::PauseOrGoOn),
        "Alt+H",
        "pause the shown agent before its next call or request, or let it go on; Ctrl+P outside the message",
    )
    .brief("pause the agent, or go on"),
    key("Ctrl+B  Alt+Q", A::ToBackground, "send the command that the shown agent waits for to the background"),
    key("F6", A::ChooseModel, "choose the model").brief("model"),
    key("F7", A::Prefill(Prefill("/export ")), "export the transcript or the ledger"),
    key("F8", A::NextTheme, "the next theme"),
    key("F9", A::New, "new conversation on an empty screen; asks first").brief("new conversation"),
    key("F10", A::Reset, "clear the conversation, keep the screen; asks first"),
    key("F11", A::Pause(PauseKey::Focus), "go to the call before which the shown agent waits"),
    key("F12", A::Quit, "quit; stops a running turn").brief("quit"),
];
