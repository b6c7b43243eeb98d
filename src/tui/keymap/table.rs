//! The tables, each context in the order in which help shows its rows: the message, everywhere, the agents, the lists over
//! the screen, what is read.

use super::{
    Action as A, Action, Answer, Binding, Chord, Edit, LookKey, PauseKey, PendingKey, Prefill, ReadKey, ReplayKey,
    SearchKey, Travel, TreeKey, WriteKey,
};

/// A row of a table: keys that do the same, with two blanks between them, and what help says of them.
#[derive(Debug, Clone, Copy)]
pub struct TableRow {
    pub(super) keys: &'static str,
    pub(super) action: Action,
    name: &'static str,
    help: &'static str,
    /// What the list of the most used keys says; empty for a key that is not in it.
    brief: &'static str,
}

impl TableRow {
    /// Puts the row into the list of the most used keys, with these words.
    pub(crate) const fn brief(self, words: &'static str) -> Self {
        Self { brief: words, ..self }
    }
}

/// Makes a row that help shows by its keys.
pub(crate) const fn key(keys: &'static str, action: Action, help: &'static str) -> TableRow {
    row(keys, action, keys, help)
}

/// Makes a row that help shows by another name: it speaks for those behind it too.
pub(crate) const fn row(keys: &'static str, action: Action, name: &'static str, help: &'static str) -> TableRow {
    TableRow { keys, action, name, help, brief: "" }
}

/// Makes a row that the one before it speaks for.
pub(crate) const fn also(keys: &'static str, action: Action) -> TableRow {
    row(keys, action, "", "")
}

/// Returns a binding for each key of a table, and for what stands in for it.
pub(super) fn bindings(rows: &[TableRow]) -> Vec<Binding> {
    let of_row = |row: &TableRow| {
        let TableRow { keys, action, name, help, brief } = *row;
        let chords: Vec<Chord> = keys.split("  ").filter_map(|key| Chord::parse(key).ok()).collect();
        let stand_ins: Vec<Chord> = chords.iter().filter_map(|chord| chord.stand_in()).collect();
        let chords = chords.into_iter().chain(stand_ins);
        let names = std::iter::once((name, help, brief)).chain(std::iter::repeat(("", "", "")));
        chords.zip(names).map(move |(chord, (name, help, brief))| Binding { chord, action, name, help, brief })
    };
    rows.iter().flat_map(of_row).collect()
}

/// The keys of the message being written.
pub(super) const MESSAGE: &[TableRow] = &[
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

/// The keys that hold in every pane, unless the pane has its own.
pub(super) const EVERYWHERE: &[TableRow] = &[
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

/// The keys of the agent tree.
pub(super) const AGENTS: &[TableRow] = &[
    row("Up  k", A::Travel(Travel::Previous), "Up/Down  j/k", "select an agent and show its transcript"),
    also("Down  j", A::Travel(Travel::Next)),
    row("Left  h", A::Tree(TreeKey::Less), "Left/Right  h/l", "show fewer or more of its sub-agents, or go there"),
    also("Right  l", A::Tree(TreeKey::More)),
    key("Space", A::Tree(TreeKey::Toggle), "fold its sub-agents into its row, or unfold them"),
    key("/", A::Tree(TreeKey::Filter), "filter by name, persona, task or state"),
    key("!", A::Tree(TreeKey::NextWarned), "next agent that needs attention"),
    key("i", A::Tree(TreeKey::Details), "its task, persona, model, tools and budget"),
    key("x", A::Tree(TreeKey::Cancel), "cancel this sub-agent; its parent goes on"),
    key("X", A::Tree(TreeKey::CancelAll), "cancel it and every agent beneath it"),
    row("Home", A::Travel(Travel::First), "Home/End", "first or last agent"),
    also("End", A::Travel(Travel::Last)),
    key("z", A::Look(LookKey::Zoom), "let it fill the screen above the message; again: back"),
    row("<", A::Look(LookKey::Smaller), "</>  =", "less, more or the usual room for it"),
    also(">", A::Look(LookKey::Larger)),
    also("=", A::Look(LookKey::Usual)),
    key("Enter", A::FocusComposer, "back to the message, the agent stays shown"),
    key("u", A::BringBack, "bring back what a key removed"),
    key("?", A::Help, "help"),
];

/// The keys of the agent tree's filter.
pub(super) const AGENT_FILTER: &[TableRow] = &[
    key("Enter", A::Tree(TreeKey::KeepFilter), "keep the filter and go to the agents"),
    row("Backspace  Ctrl+H", A::Tree(TreeKey::RubOut), "Backspace  Ctrl+U", "delete a character, or all"),
    also("Ctrl+U", A::Tree(TreeKey::RubOutAll)),
    row("Up", A::Travel(Travel::Previous), "Up/Down", "select an agent"),
    also("Down", A::Travel(Travel::Next)),
];

/// The keys of the details of the shown agent.
pub(super) const AGENT_DETAILS: &[TableRow] = &[
    row("Up  k", A::Travel(Travel::Previous), "Up/Down  k/j", "scroll"),
    also("Down  j", A::Travel(Travel::Next)),
    row("Home", A::Travel(Travel::First), "Home/End", "first or last line"),
    also("End", A::Travel(Travel::Last)),
    key("i", A::Tree(TreeKey::Details), "fold them"),
    key("z", A::Look(LookKey::Zoom), "let them fill the screen above the message; again: back"),
    row("<", A::Look(LookKey::Smaller), "</>  =", "less, more or the usual room"),
    also(">", A::Look(LookKey::Larger)),
    also("=", A::Look(LookKey::Usual)),
    key("Enter", A::FocusComposer, "back to the message"),
    key("u", A::BringBack, "bring back what a key removed"),
    key("?", A::Help, "help"),
];

/// The keys of the panel of a paused agent.
pub(super) const PAUSED_AGENT: &[TableRow] = &[
    row("Enter  r", A::Pause(PauseKey::Step), "r  Enter", "run the call, or send the request, and wait again"),
    key("e", A::Pause(PauseKey::EditCall), "edit its arguments in the message; Enter runs it with them"),
    key("s", A::Pause(PauseKey::SkipCall), "skip it; the model is told the reason that you write"),
    key("g", A::Pause(PauseKey::GoOn), "let the agent go on"),
    row("Up  k", A::Travel(Travel::Previous), "Up/Down  k/j", "scroll the arguments"),
    also("Down  j", A::Travel(Travel::Next)),
    also("Home", A::Travel(Travel::First)),
    also("End", A::Travel(Travel::Last)),
    key("z", A::Look(LookKey::Zoom), "let it fill the screen above the message; again: back"),
    key("u", A::BringBack, "bring back what a key removed"),
    key("?", A::Help, "help"),
];

/// The keys of the pending list.
pub(super) const PENDING: &[TableRow] = &[
    row("Up  k", A::Travel(Travel::Previous), "Up/Down  k/j", "select a pending text"),
    also("Down  j", A::Travel(Travel::Next)),
    row("Home", A::Travel(Travel::First), "Home/End", "first or last"),
    also("End", A::Travel(Travel::Last)),
    key("Enter  e", A::Pending(PendingKey::Edit), "edit it; it is not delivered meanwhile"),
    key("d", A::Pending(PendingKey::Delete), "delete it"),
    key("u", A::BringBack, "bring back what a key removed"),
    row("K", A::Pending(PendingKey::MoveEarlier), "K/J", "move it up or down"),
    also("J", A::Pending(PendingKey::MoveLater)),
    row("f", A::Pending(PendingKey::AsFollowUp), "f/s", "make it a follow-up, or a steer"),
    also("s", A::Pending(PendingKey::AsSteer)),
    key("v", A::Pending(PendingKey::NextKind), "what it is: add to the task, instead of it, a note, a rule"),
    key("m", A::Pending(PendingKey::Merge), "join it with the next"),
    key("z", A::Look(LookKey::Zoom), "let it fill the screen above the message; again: back"),
    key("F5", A::Pending(PendingKey::DeliverNow), "deliver it now, in place of the answer being written"),
    key("?", A::Help, "help"),
];

/// The keys of help; letters filter its list.
pub(super) const HELP: &[TableRow] = &[
    row("Up", A::Travel(Travel::Previous), "Up/Down  PageUp/PageDown", "select an entry; scroll"),
    also("Down", A::Travel(Travel::Next)),
    row("Home", A::Travel(Travel::First), "Home/End", "first or last; the pages of the manual are the last"),
    also("End", A::Travel(Travel::Last)),
    key("Enter", A::Jump, "open the manual where it tells of the entry"),
    row(
        "Backspace  Ctrl+H",
        A::Write(WriteKey::RubOut),
        "Backspace  Ctrl+W  Ctrl+U",
        "delete a character, a word, or all; on a page Backspace goes back to the list",
    ),
    also("Ctrl+W", A::Write(WriteKey::RubOutWord)),
    also("Ctrl+U", A::Write(WriteKey::RubOutAll)),
];

/// The keys of a list of sessions, messages or servers; letters filter it.
pub(super) const CHOICES: &[TableRow] = &[
    row("Up", A::Travel(Travel::Previous), "Up/Down  PageUp/PageDown", "select a session, a message or a server"),
    also("Down", A::Travel(Travel::Next)),
    row("Home", A::Travel(Travel::First), "Home/End", "first or last"),
    also("End", A::Travel(Travel::Last)),
    key("Enter", A::Jump, "go on with the session; branch from just before the message; start the MCP server"),
    row(
        "Backspace  Ctrl+H",
        A::Write(WriteKey::RubOut),
        "Backspace  Ctrl+W  Ctrl+U",
        "delete a character, a word, or all of the filter",
    ),
    also("Ctrl+W", A::Write(WriteKey::RubOutWord)),
    also("Ctrl+U", A::Write(WriteKey::RubOutAll)),
];

/// The keys of the transcript.
pub(super) const TRANSCRIPT: &[TableRow] = &[
    row("Up", A::Travel(Travel::Previous), "Up/Down", "select a block; while lines are selected: move their end"),
    also("Down", A::Travel(Travel::Next)),
    key("Enter  Space", A::Read(ReadKey::Fold), "fold or open the block"),
    key("/", A::Read(ReadKey::Search), "search the whole transcript, folded blocks too"),
    row("n", A::Read(ReadKey::NextFound), "n/N", "the next place that was found, the previous one"),
    also("N", A::Read(ReadKey::PreviousFound)),
    row("[", A::Read(ReadKey::PreviousMessage), "[  ]", "your previous message, your next one"),
    also("]", A::Read(ReadKey::NextMessage)),
    row("{", A::Read(ReadKey::PreviousFailure), "{  }", "the previous failure, the next one"),
    also("}", A::Read(ReadKey::NextFailure)),
    key("v", A::Read(ReadKey::Select), "select lines; Up, Down, PageUp, Home, [ … move their end"),
    key("y", A::Read(ReadKey::Copy), "copy what is selected, else the text of the block"),
    key("e  o", A::Read(ReadKey::Open), "open the whole block in $EDITOR"),
    key("w", A::Read(ReadKey::Write), "write the transcript into a file, as Markdown"),
    key("t", A::Read(ReadKey::Times), "show when each block came and how long it took, or hide it"),
    key(
        "b",
        A::Read(ReadKey::Branch),
        "branch: a new session from just before the selected message, its text to be edited; asks first",
    ),
    row("Home", A::Travel(Travel::First), "Home/End", "top, or follow the end"),
    also("End", A::Travel(Travel::Last)),
    key("z", A::Look(LookKey::Zoom), "let it fill the screen above the message; again: back"),
    key("u", A::BringBack, "bring back what a key removed"),
    key("!", A::Tree(TreeKey::NextWarned), "next agent that needs attention"),
    key("i", A::Tree(TreeKey::Details), "task, persona, model, tools and budget of the agent"),
    key("?", A::Help, "help"),
];

/// The keys of the search in a transcript.
pub(super) const SEARCH: &[TableRow] = &[
    key("Enter", A::Read(ReadKey::KeepSearch), "stay where it led; n and N go on from there"),
    row("Tab", A::Read(ReadKey::NextFound), "Tab  Shift+Tab", "the next place, the previous one"),
    also("Shift+Tab", A::Read(ReadKey::PreviousFound)),
    row("Up", A::Read(ReadKey::Type(SearchKey::EarlierSearch)), "Up/Down", "earlier searches"),
    also("Down", A::Read(ReadKey::Type(SearchKey::LaterSearch))),
    row(
        "Backspace  Ctrl+H",
        A::Read(ReadKey::Type(SearchKey::RubOut)),
        "Backspace  Ctrl+W/U",
        "delete a character, a word, or all before it",
    ),
    also("Ctrl+W", A::Read(ReadKey::Type(SearchKey::RubOutWord))),
    also("Ctrl+U", A::Read(ReadKey::Type(SearchKey::RubOutAll))),
    row("Left", A::Read(ReadKey::Type(SearchKey::Left)), "Left/Right", "move the cursor; Home and End to the ends"),
    also("Right", A::Read(ReadKey::Type(SearchKey::Right))),
    also("Home", A::Read(ReadKey::Type(SearchKey::Start))),
    also("End", A::Read(ReadKey::Type(SearchKey::End))),
];

/// The keys of the search of what was sent before.
pub(super) const HISTORY: &[TableRow] = &[
    row("Enter  Tab", A::Write(WriteKey::TakeText), "Enter", "take the text into the message; nothing is sent"),
    row("Up", A::Travel(Travel::Previous), "Up/Down  Ctrl+R", "choose"),
    also("Down", A::Travel(Travel::Next)),
    also("Ctrl+R", A::Write(WriteKey::Search)),
    row(
        "Backspace  Ctrl+H",
        A::Write(WriteKey::RubOut),
        "Backspace  Ctrl+W  Ctrl+U",
        "delete a character, a word, or all",
    ),
    also("Ctrl+W", A::Write(WriteKey::RubOutWord)),
    also("Ctrl+U", A::Write(WriteKey::RubOutAll)),
];

pub(super) const REPLAY: &[TableRow] = &[
    row("Left", A::InReplay(ReplayKey::EventBack), "Left/Right", "the event before or after"),
    also("Right", A::InReplay(ReplayKey::EventOn)),
    row("Shift+Left", A::InReplay(ReplayKey::RoundBack), "Shift+Left/Right", "the round before or after"),
    also("Shift+Right", A::InReplay(ReplayKey::RoundOn)),
    row("Ctrl+Left", A::InReplay(ReplayKey::TurnBack), "Ctrl+Left/Right", "the turn before or after"),
    also("Ctrl+Right", A::InReplay(ReplayKey::TurnOn)),
    row("[", A::InReplay(ReplayKey::MarkBack), "[ ]", "the message, failure or new agent before or after"),
    also("]", A::InReplay(ReplayKey::MarkOn)),
    row("Home", A::InReplay(ReplayKey::First), "Home/End", "the beginning or the end"),
    also("End", A::InReplay(ReplayKey::Last)),
    key("Space", A::InReplay(ReplayKey::Play), "play, or pause"),
    row("+", A::InReplay(ReplayKey::Faster), "+/-", "twice or half as fast, 1x to 64x"),
    also("-", A::InReplay(ReplayKey::Slower)),
    key("g", A::InReplay(ReplayKey::Time), "type a time since the beginning, such as 2:30; Enter goes there"),
    key("q", A::InReplay(ReplayKey::End), "end the replay, as Esc"),
];
