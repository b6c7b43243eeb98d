//! The one table of keys: action, key, context and words. Keys are looked up here and help is made from here.
//!
//! A context's own binding goes before the global one. A character without a binding is text for the composer.

mod acts;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

pub use acts::{Edit, TreeKey};

/// Is what a key means.
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
    /// Hold the agent that is shown, or let it go on.
    HoldOrGoOn,
    /// Let the agent that is shown go on.
    GoOn,
    /// Focus the panel of the held agent.
    FocusGate,
    /// Let the parked agent go on to where it next comes by.
    Step,
    /// Edit the arguments of the call before which the agent waits.
    EditCall,
    /// Skip that call, with a reason.
    SkipCall,
    /// Show the selected text of the ledger in its transcript.
    Jump,
    /// Take back what the tools of the last turn changed, after a question.
    UndoChanges,
    /// Switch to the next approval mode.
    NextMode,
    /// Write the whole screen again.
    Redraw,
    /// Fold, filter or cancel in the agent tree.
    Tree(TreeKey),
}

/// Names an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Alt+Y: yes, this once.
    Once,
    /// Alt+S: yes, and do not ask again in this session.
    Session,
    /// Alt+N: no.
    No,
    /// Alt+W: no, with words that the composer takes.
    Words,
    /// Esc: no, with nothing done.
    Leave,
}

impl Answer {
    /// Returns the name of its key.
    pub fn key(self) -> &'static str {
        match self {
            Self::Once => "Alt+Y",
            Self::Session => "Alt+S",
            Self::No => "Alt+N",
            Self::Words => "Alt+W",
            Self::Leave => "Esc",
        }
    }
}

/// Says where a binding holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// Everywhere, unless the context has its own binding.
    Global,
    /// The composer has the focus.
    Composer,
    /// The agent tree has the focus.
    Tree,
    /// The filter of the agent tree is typed.
    Filter,
    /// The transcript has the focus.
    Transcript,
    /// The pending list has the focus.
    Pending,
    /// Help is open.
    Help,
    /// The panel of a held agent has the focus.
    Gate,
    /// The ledger is open.
    Ledger,
}

impl Context {
    /// Returns the heading of its keys in help.
    pub fn title(self) -> &'static str {
        match self {
            Self::Global => "Everywhere",
            Self::Composer => "Message",
            Self::Tree => "Agents",
            Self::Filter => "Filter of the agents",
            Self::Transcript => "Transcript",
            Self::Pending => "Pending",
            Self::Help => "Help",
            Self::Gate => "Held agent",
            Self::Ledger => "Ledger",
        }
    }
}

/// Is a key with its modifiers, in the one form that the table uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chord {
    /// The key; letters with Ctrl are lower case.
    pub code: KeyCode,
    /// The modifiers; Shift is dropped where the character already tells it.
    pub modifiers: KeyModifiers,
}

impl Chord {
    /// Brings a key event into the one form.
    pub fn of(key: &KeyEvent) -> Self {
        let known = KeyModifiers::SHIFT | KeyModifiers::CONTROL | KeyModifiers::ALT;
        let mut modifiers = key.modifiers & known;
        let mut code = key.code;
        if let KeyCode::Char(c) = code {
            if modifiers.contains(KeyModifiers::CONTROL) {
                // Terminals write Ctrl+_ in four ways: 0x1F (read as Ctrl+7), Ctrl+/, Ctrl+_ and Ctrl+Shift+-.
                let undo = matches!(c, '7' | '/' | '_') || (c == '-' && modifiers.contains(KeyModifiers::SHIFT));
                code = KeyCode::Char(if undo { '_' } else { c.to_ascii_lowercase() });
            }
            modifiers.remove(KeyModifiers::SHIFT);
        }
        if code == KeyCode::BackTab {
            code = KeyCode::Tab;
            modifiers.insert(KeyModifiers::SHIFT);
        }
        Self { code, modifiers }
    }

    /// Returns the character that this key types, if it types one.
    pub fn typed(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if self.modifiers.is_empty() => Some(c),
            _ => None,
        }
    }

    /// Returns the character of an Alt+character chord.
    pub fn alt_char(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if self.modifiers == KeyModifiers::ALT => Some(c),
            _ => None,
        }
    }
}

/// Is one row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    /// Where it holds.
    pub context: Context,
    /// The key.
    pub chord: Chord,
    /// What it does.
    pub action: Action,
    /// The key's name in help; empty where another row already names it.
    pub name: &'static str,
    /// What it does, in words.
    pub help: &'static str,
}

const NONE: KeyModifiers = KeyModifiers::NONE;
const CTRL: KeyModifiers = KeyModifiers::CONTROL;
const ALT: KeyModifiers = KeyModifiers::ALT;
const SHIFT: KeyModifiers = KeyModifiers::SHIFT;

const fn row(
    context: Context,
    modifiers: KeyModifiers,
    code: KeyCode,
    action: Action,
    name: &'static str,
    help: &'static str,
) -> Binding {
    Binding { context, chord: Chord { code, modifiers }, action, name, help }
}

const fn also(context: Context, modifiers: KeyModifiers, code: KeyCode, action: Action) -> Binding {
    row(context, modifiers, code, action, "", "")
}

use Action as A;
use Context::{Composer, Filter, Gate, Global, Help, Ledger, Pending, Transcript, Tree};
use KeyCode as K;

/// Holds every binding, in the order in which help shows them.
pub const BINDINGS: &[Binding] = &[
    row(Composer, NONE, K::Enter, A::Send, "Enter", "send; while a turn runs it waits for the next tool boundary"),
    row(Composer, NONE, K::Tab, A::FollowUp, "Tab", "send as a follow-up, only after the turn"),
    row(Composer, CTRL, K::Char('j'), A::Newline, "Ctrl+J  Alt/Shift+Enter", "new line"),
    also(Composer, ALT, K::Enter, A::Newline),
    also(Composer, SHIFT, K::Enter, A::Newline),
    row(Composer, NONE, K::F(5), A::DeliverNow, "F5", "send to be delivered now, in place of the answer being written"),
    row(Composer, CTRL, K::Char('_'), A::Undo, "Ctrl+_", "undo the last edit, else as everywhere"),
    row(Composer, NONE, K::Left, A::Edit(Edit::Left), "Arrows", "move the cursor"),
    also(Composer, NONE, K::Right, A::Edit(Edit::Right)),
    also(Composer, NONE, K::Up, A::Edit(Edit::Up)),
    also(Composer, NONE, K::Down, A::Edit(Edit::Down)),
    also(Composer, CTRL, K::Char('b'), A::Edit(Edit::Left)),
    also(Composer, CTRL, K::Char('f'), A::Edit(Edit::Right)),
    row(Composer, ALT, K::Char('b'), A::Edit(Edit::WordLeft), "Alt+B/F  Ctrl+Left/Right", "move by words"),
    also(Composer, ALT, K::Char('f'), A::Edit(Edit::WordRight)),
    also(Composer, CTRL, K::Left, A::Edit(Edit::WordLeft)),
    also(Composer, CTRL, K::Right, A::Edit(Edit::WordRight)),
    also(Composer, ALT, K::Left, A::Edit(Edit::WordLeft)),
    also(Composer, ALT, K::Right, A::Edit(Edit::WordRight)),
    row(Composer, NONE, K::Home, A::Edit(Edit::LineStart), "Home  End  Ctrl+A", "start or end of the line"),
    also(Composer, NONE, K::End, A::Edit(Edit::LineEnd)),
    also(Composer, CTRL, K::Char('a'), A::Edit(Edit::LineStart)),
    row(
        Composer,
        CTRL,
        K::Char('u'),
        A::Edit(Edit::DeleteToStart),
        "Ctrl+U  Ctrl+K",
        "delete to the start or end of the line",
    ),
    also(Composer, CTRL, K::Char('k'), A::Edit(Edit::DeleteToEnd)),
    row(Composer, CTRL, K::Char('w'), A::Edit(Edit::DeleteWord), "Ctrl+W  Alt+D", "delete the word before or after"),
    also(Composer, ALT, K::Char('d'), A::Edit(Edit::DeleteNextWord)),
    also(Composer, ALT, K::Backspace, A::Edit(Edit::DeleteWord)),
    also(Composer, CTRL, K::Backspace, A::Edit(Edit::DeleteWord)),
    also(Composer, CTRL, K::Delete, A::Edit(Edit::DeleteNextWord)),
    row(Composer, CTRL, K::Char('y'), A::Edit(Edit::Yank), "Ctrl+Y", "put back what was deleted"),
    also(Composer, NONE, K::Backspace, A::Edit(Edit::Backspace)),
    also(Composer, SHIFT, K::Backspace, A::Edit(Edit::Backspace)),
    also(Composer, CTRL, K::Char('h'), A::Edit(Edit::Backspace)),
    also(Composer, NONE, K::Delete, A::Edit(Edit::Delete)),
    row(Global, NONE, K::Esc, A::Escape, "Esc", "what it does next stands above the message: close, back, or stop"),
    row(Global, CTRL, K::Char('c'), A::Clear, "Ctrl+C", "clear the message; twice within a second quits"),
    row(Global, CTRL, K::Char('d'), A::QuitOrDelete, "Ctrl+D", "quit when the message is empty"),
    row(Global, ALT, K::Up, A::TakeBack, "Alt+Up", "take the newest pending text back"),
    row(
        Global,
        ALT,
        K::Char('y'),
        A::Answer(Answer::Once),
        "Alt+Y  Alt+S",
        "answer a question: yes; yes for this session",
    ),
    also(Global, ALT, K::Char('s'), A::Answer(Answer::Session)),
    row(Global, ALT, K::Char('n'), A::Answer(Answer::No), "Alt+N  Alt+W", "answer a question: no; no with words"),
    also(Global, ALT, K::Char('w'), A::Answer(Answer::Words)),
    row(Global, SHIFT, K::Tab, A::NextMode, "Shift+Tab", "the next approval mode: ask, auto-edit, auto, read-only"),
    row(Global, ALT, K::Char('z'), A::UndoChanges, "Alt+Z", "undo the changes of files of the last turn; asks first"),
    row(
        Global,
        ALT,
        K::Char('c'),
        A::Prefill("/compact "),
        "Alt+C",
        "compact the conversation: summarise older rounds",
    ),
    row(Global, ALT, K::Char('m'), A::Prefill("/budget "), "Alt+M", "what the session may spend"),
    row(Global, CTRL, K::Char('t'), A::FocusTree, "Ctrl+T  F3", "go to the agents"),
    also(Global, NONE, K::F(3), A::FocusTree),
    row(Global, CTRL, K::Char('o'), A::FocusTranscript, "Ctrl+O", "go to the transcript"),
    row(Global, CTRL, K::Char('e'), A::FoldAll, "Ctrl+E", "fold or open all blocks"),
    row(Global, NONE, K::PageUp, A::PageUp, "PageUp/PageDown", "scroll the transcript"),
    also(Global, NONE, K::PageDown, A::PageDown),
    row(Global, CTRL, K::Home, A::First, "Ctrl+Home/End", "top of the transcript, or follow its end"),
    also(Global, CTRL, K::End, A::Last),
    row(Global, CTRL, K::Char('l'), A::Redraw, "Ctrl+L", "draw the screen again"),
    row(Global, CTRL, K::Char('_'), A::BringBack, "Ctrl+_", "bring back what a key removed"),
    row(Global, NONE, K::F(1), A::Help, "F1", "help"),
    row(Global, NONE, K::F(2), A::FocusPending, "F2", "go to the pending texts"),
    row(
        Global,
        CTRL,
        K::Char('p'),
        A::HoldOrGoOn,
        "Ctrl+P",
        "hold the shown agent before its next call or request, or let it go on",
    ),
    row(Global, NONE, K::F(4), A::Ledger, "F4", "the ledger: every text that was sent, and what became of it"),
    row(Global, NONE, K::F(6), A::ChooseModel, "F6", "choose the model"),
    row(Global, NONE, K::F(7), A::Prefill("/export "), "F7", "export the transcript or the ledger"),
    row(Global, NONE, K::F(8), A::NextTheme, "F8", "the next theme"),
    row(Global, NONE, K::F(9), A::New, "F9", "new conversation on an empty screen; asks first"),
    row(Global, NONE, K::F(10), A::Reset, "F10", "back to the system prompt; asks first"),
    row(Global, NONE, K::F(11), A::FocusGate, "F11", "go to the call before which the shown agent is held"),
    row(Global, NONE, K::F(12), A::Quit, "F12", "quit; a running turn is stopped"),
    row(Tree, NONE, K::Up, A::Previous, "Up/Down  j/k", "select an agent and show its transcript"),
    also(Tree, NONE, K::Down, A::Next),
    also(Tree, NONE, K::Char('k'), A::Previous),
    also(Tree, NONE, K::Char('j'), A::Next),
    row(
        Tree,
        NONE,
        K::Left,
        A::Tree(TreeKey::Less),
        "Left/Right  h/l",
        "show fewer or more of its sub-agents, or go there",
    ),
    also(Tree, NONE, K::Right, A::Tree(TreeKey::More)),
    also(Tree, NONE, K::Char('h'), A::Tree(TreeKey::Less)),
    also(Tree, NONE, K::Char('l'), A::Tree(TreeKey::More)),
    row(
        Tree,
        NONE,
        K::Char(' '),
        A::Tree(TreeKey::Toggle),
        "Space",
        "fold its sub-agents into its row, or unfold them",
    ),
    row(Tree, NONE, K::Char('/'), A::Tree(TreeKey::Filter), "/", "filter by name, persona, task or state"),
    row(Tree, NONE, K::Char('!'), A::Tree(TreeKey::NextOdd), "!", "next agent that is worth a look"),
    row(Tree, NONE, K::Char('i'), A::Tree(TreeKey::Details), "i", "its task, persona, model, tools and budget"),
    row(Tree, NONE, K::Char('x'), A::Tree(TreeKey::Cancel), "x", "cancel this sub-agent; its parent goes on"),
    row(Tree, NONE, K::Char('X'), A::Tree(TreeKey::CancelAll), "X", "cancel it and every agent beneath it"),
    row(Tree, NONE, K::Home, A::First, "Home/End", "first or last agent"),
    also(Tree, NONE, K::End, A::Last),
    row(Tree, NONE, K::Enter, A::FocusComposer, "Enter", "back to the message, the agent stays shown"),
    row(Tree, NONE, K::Char('u'), A::BringBack, "u", "bring back what a key removed"),
    row(Tree, NONE, K::Char('?'), A::Help, "?", "help"),
    row(Filter, NONE, K::Enter, A::Tree(TreeKey::KeepFilter), "Enter", "keep the filter and go to the agents"),
    row(Filter, NONE, K::Backspace, A::Tree(TreeKey::RubOut), "Backspace  Ctrl+U", "delete a character, or all"),
    also(Filter, CTRL, K::Char('h'), A::Tree(TreeKey::RubOut)),
    also(Filter, CTRL, K::Char('u'), A::Tree(TreeKey::RubOutAll)),
    row(Filter, NONE, K::Up, A::Previous, "Up/Down", "select an agent"),
    also(Filter, NONE, K::Down, A::Next),
    row(Transcript, NONE, K::Up, A::Previous, "Up/Down", "select a block"),
    also(Transcript, NONE, K::Down, A::Next),
    row(Transcript, NONE, K::Enter, A::Fold, "Enter  Space", "fold or open the block"),
    also(Transcript, NONE, K::Char(' '), A::Fold),
    row(Transcript, NONE, K::Home, A::First, "Home/End", "top, or follow the end"),
    also(Transcript, NONE, K::End, A::Last),
    row(Transcript, NONE, K::Char('u'), A::BringBack, "u", "bring back what a key removed"),
    row(Transcript, NONE, K::Char('!'), A::Tree(TreeKey::NextOdd), "!", "next agent that is worth a look"),
    row(
        Transcript,
        NONE,
        K::Char('i'),
        A::Tree(TreeKey::Details),
        "i",
        "task, persona, model, tools and budget of the agent",
    ),
    row(Transcript, NONE, K::Char('?'), A::Help, "?", "help"),
    row(Pending, NONE, K::Up, A::Previous, "Up/Down  k/j", "select a pending text"),
    also(Pending, NONE, K::Down, A::Next),
    also(Pending, NONE, K::Char('k'), A::Previous),
    also(Pending, NONE, K::Char('j'), A::Next),
    row(Pending, NONE, K::Home, A::First, "Home/End", "first or last"),
    also(Pending, NONE, K::End, A::Last),
    row(Pending, NONE, K::Enter, A::EditEntry, "Enter  e", "edit it; it is not delivered meanwhile"),
    also(Pending, NONE, K::Char('e'), A::EditEntry),
    row(Pending, NONE, K::Char('d'), A::DeleteEntry, "d", "delete it"),
    row(Pending, NONE, K::Char('u'), A::BringBack, "u", "bring back what a key removed"),
    row(Pending, NONE, K::Char('K'), A::MoveEarlier, "K/J", "move it up or down"),
    also(Pending, NONE, K::Char('J'), A::MoveLater),
    row(Pending, NONE, K::Char('f'), A::AsFollowUp, "f/s", "make it a follow-up, or a steer"),
    also(Pending, NONE, K::Char('s'), A::AsSteer),
    row(Pending, NONE, K::Char('m'), A::Merge, "m", "join it with the next"),
    row(Pending, NONE, K::F(5), A::DeliverNow, "F5", "deliver it now, in place of the answer being written"),
    row(Pending, NONE, K::Char('?'), A::Help, "?", "help"),
    row(Gate, NONE, K::Enter, A::Step, "r  Enter", "run the call, or send the request, and wait again"),
    also(Gate, NONE, K::Char('r'), A::Step),
    row(Gate, NONE, K::Char('e'), A::EditCall, "e", "edit its arguments in the message; Enter runs it with them"),
    row(Gate, NONE, K::Char('s'), A::SkipCall, "s", "skip it; the model is told the reason that you write"),
    row(Gate, NONE, K::Char('g'), A::GoOn, "g", "let the agent go on"),
    row(Gate, NONE, K::Up, A::Previous, "Up/Down  k/j", "scroll the arguments"),
    also(Gate, NONE, K::Down, A::Next),
    also(Gate, NONE, K::Char('k'), A::Previous),
    also(Gate, NONE, K::Char('j'), A::Next),
    also(Gate, NONE, K::Home, A::First),
    also(Gate, NONE, K::End, A::Last),
    row(Gate, NONE, K::Char('u'), A::BringBack, "u", "bring back what a key removed"),
    row(Gate, NONE, K::Char('?'), A::Help, "?", "help"),
    row(Ledger, NONE, K::Up, A::Previous, "Up/Down  k/j", "select a text"),
    also(Ledger, NONE, K::Down, A::Next),
    also(Ledger, NONE, K::Char('k'), A::Previous),
    also(Ledger, NONE, K::Char('j'), A::Next),
    row(Ledger, NONE, K::Home, A::First, "Home/End", "first or last"),
    also(Ledger, NONE, K::End, A::Last),
    row(Ledger, NONE, K::Enter, A::Jump, "Enter", "show the text in the transcript"),
    row(Help, NONE, K::Up, A::Previous, "Up/Down  PageUp/PageDown", "scroll"),
    also(Help, NONE, K::Down, A::Next),
    also(Help, NONE, K::Home, A::First),
    also(Help, NONE, K::End, A::Last),
    row(Help, NONE, K::Char('?'), A::Help, "?  F1  Esc", "close help"),
];

/// Finds the action of a key: the context's own binding, else the global one.
pub fn lookup(context: Context, chord: Chord) -> Option<Action> {
    let find = |wanted: Context| BINDINGS.iter().find(|b| b.context == wanted && b.chord == chord).map(|b| b.action);
    find(context).or_else(|| find(Context::Global))
}

/// Tells whether the event is a key going down; a terminal with the kitty protocol also reports it coming up.
pub fn pressed(key: &KeyEvent) -> bool {
    match key.kind {
        KeyEventKind::Press | KeyEventKind::Repeat => true,
        KeyEventKind::Release => false,
    }
}

#[cfg(test)]
mod tests;
