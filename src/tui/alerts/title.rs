//! The words of the terminal's title: what the agents do, and where. No clock: it changes seldom.

use crate::session::fold::RunState;
use crate::tui::approval::Questions;
use crate::tui::status::HostState;

/// What the title is made from.
#[derive(Debug, Clone, Copy)]
pub struct TitleFacts<'a> {
    /// What is known of the host.
    pub host: &'a HostState,
    /// What every client knows of the run.
    pub run: &'a RunState,
    /// What the user is asked.
    pub questions: &'a Questions,
    /// The name of the working directory (untrusted).
    pub place: &'a str,
}

/// Returns the title.
pub fn title(facts: &TitleFacts<'_>) -> String {
    let state = match facts.host {
        HostState::Failed(_) => "✗ cannot run",
        _ if !facts.questions.is_empty() => "? asks",
        _ if facts.run.pauses.any_waits() => "‖ paused",
        HostState::Starting | HostState::Ready if facts.run.runs() => "● works",
        HostState::Starting | HostState::Ready => "○ ready",
    };
    if facts.place.is_empty() {
        format!("{state} · steersman")
    } else {
        format!("{state} · {} · steersman", facts.place)
    }
}
