//! Makes the words of the terminal's title: what the agents do, and where. No clock: it changes seldom.

use crate::tui::state::App;
use crate::tui::state::status::HostState;

/// Returns the title.
pub fn title(app: &App) -> String {
    let state = match &app.status.host {
        HostState::Failed(_) => "✗ cannot run",
        _ if !app.questions.is_empty() => "? asks",
        _ if app.run.pauses.any_waits() => "‖ held",
        HostState::Starting | HostState::Ready if app.tree.main().running() => "● works",
        HostState::Starting | HostState::Ready => "○ ready",
    };
    if app.place.is_empty() {
        format!("{state} · steersman")
    } else {
        format!("{state} · {} · steersman", app.place)
    }
}
