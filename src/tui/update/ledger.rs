//! The keys of the ledger.

use crate::session::fold::receipt_words;
use crate::tui::keymap::Action;
use crate::tui::state::App;
use crate::tui::state::focus::{Overlay, Pane};
use crate::tui::transcript::scroll::ScrollRequest;

/// Opens the ledger at its newest row, or closes it.
pub fn toggle(app: &mut App) {
    app.focus.overlay = match app.focus.overlay {
        Some(Overlay::Ledger { .. }) => None,
        Some(Overlay::Help | Overlay::Choices) | None => {
            Some(Overlay::Ledger { selected: app.run.receipts.list().len().saturating_sub(1), top: 0 })
        }
    }
}

/// Selects another row.
pub fn travel(app: &mut App, action: Action) {
    let page = usize::from(app.size.height / 2).max(1);
    let last = app.run.receipts.list().len().saturating_sub(1);
    let Some(Overlay::Ledger { selected, .. }) = &mut app.focus.overlay else { return };
    let to = match action {
        Action::Previous => selected.saturating_sub(1),
        Action::Next => selected.saturating_add(1),
        Action::PageUp => selected.saturating_sub(page),
        Action::PageDown => selected.saturating_add(page),
        Action::Last => last,
        _ => 0,
    };
    *selected = to.min(last);
}

/// Selects the row at this place.
pub fn select(app: &mut App, row: usize) {
    if let Some(Overlay::Ledger { selected, .. }) = &mut app.focus.overlay {
        *selected = row;
    }
}

/// Closes the ledger and goes to the selected text in the transcript of its agent.
pub fn jump(app: &mut App) {
    let Some(Overlay::Ledger { selected, .. }) = app.focus.overlay else { return };
    let Some(receipt) = app.run.receipts.list().get(selected) else { return };
    let (agent, id) = (receipt.agent.clone(), receipt.id.clone());
    let Some(cell) = app.reader_mut(&agent).transcript.cell_of(&id) else {
        let state =
            app.run.receipts.get(&id).map(|receipt| receipt_words(receipt).parts.join(" · ")).unwrap_or_default();
        app.status.say(format!("{id} is not in the conversation: {state}"), app.now);
        return;
    };
    app.tree.select_agent(&agent);
    app.focus.go(Pane::Transcript);
    let reader = app.reader_mut(&agent);
    reader.selected = Some(cell);
    reader.scroll.ask(ScrollRequest::Reveal(cell));
}
