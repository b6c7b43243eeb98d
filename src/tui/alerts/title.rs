//! The words of the terminal's title: what the agents do, and where. No clock: it changes seldom.

use crate::session::fold::agents::Agents;
use crate::tui::state::hold::Holds;
use crate::tui::state::question::Questions;
use crate::tui::state::status::HostState;

/// What the title is made from.
#[derive(Debug, Clone, Copy)]
pub struct TitleFacts<'a> {
    /// What is known of the host.
    pub host: &'a HostState,
    /// The agents.
    pub agents: &'a Agents,
    /// What the user is asked.
    pub questions: &'a Questions,
    /// Which agents are paused.
    pub holds: &'a Holds,
    /// The name of the working directory (untrusted).
    pub place: &'a str,
}

/// Returns the title.
pub fn title(facts: &TitleFacts<'_>) -> String {
    let state = match facts.host {
        HostState::Failed(_) => "✗ cannot run",
        _ if !facts.questions.is_empty() => "? asks",
        _ if facts.holds.any_parked() => "‖ paused",
        HostState::Starting | HostState::Ready if facts.agents.main().running() => "● works",
        HostState::Starting | HostState::Ready => "○ ready",
    };
    if facts.place.is_empty() {
        format!("{state} · steersman")
    } else {
        format!("{state} · {} · steersman", facts.place)
    }
}
