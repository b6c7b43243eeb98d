//! What the keys of the agent tree do: fold, filter, cancel, jump to what is worth a look.

use super::look;
use crate::id::AgentId;
use crate::protocol::Request;
use crate::tui::keymap::{Action, TreeKey};
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::focus::Pane;

/// Carries out one key of the tree.
pub fn act(app: &mut App, key: TreeKey) -> Vec<Effect> {
    match key {
        TreeKey::Less => app.tree.fold(),
        TreeKey::More => app.tree.unfold(),
        TreeKey::Toggle => app.tree.toggle_fold(),
        TreeKey::Filter => app.focus.go(Pane::Filter),
        TreeKey::KeepFilter => {
            app.tree.select_match();
            app.focus.go(Pane::Tree);
        }
        TreeKey::RubOut => {
            let mut text = app.tree.filter().text().to_owned();
            if text.pop().is_none() {
                app.focus.go(Pane::Tree);
            }
            app.tree.filter_by(text);
        }
        TreeKey::RubOutAll => app.tree.filter_by(""),
        TreeKey::NextOdd => {
            if !app.tree.select_odd() {
                app.status.say("no agent needs attention", app.now);
            }
        }
        TreeKey::Details => look::toggle_details(app),
        TreeKey::Cancel => return cancel(app),
        TreeKey::CancelAll => return cancel_all(app),
    }
    Vec::new()
}

/// Moves the selection.
pub fn travel(app: &mut App, action: Action) {
    app.sight.follow_selection();
    match action {
        Action::Previous => app.tree.select_previous(),
        Action::Next => app.tree.select_next(),
        Action::Last => app.tree.select(usize::MAX),
        _ => app.tree.select(0),
    }
}

/// Adds typed or pasted text to the filter, its white space as blanks.
pub fn type_filter(app: &mut App, text: &str) {
    let more: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let text = format!("{}{more}", app.tree.filter().text());
    app.tree.filter_by(text);
}

/// Shows all agents again.
pub fn clear_filter(app: &mut App) {
    app.tree.filter_by("");
    app.focus.go(Pane::Tree);
}

/// Tells which of the agents that were to be cancelled could be.
pub fn cancelled(app: &mut App, agents: &[AgentId]) {
    if agents.is_empty() {
        app.status.say("not cancelled: it has ended, or only ends with its parent", app.now);
    }
    app.tree.stopping(agents, app.now);
}

/// Cancels the selected agent alone.
fn cancel(app: &mut App) -> Vec<Effect> {
    let node = app.tree.selected_node();
    let beneath = node.totals().running.saturating_sub(usize::from(node.running()));
    let refusal = if node.id.is_main() {
        Some("Esc in the message stops the main agent; x cancels sub-agents".to_owned())
    } else if !node.running() {
        Some(format!("{} is not running", node.id))
    } else if beneath > 0 {
        let agents = if beneath == 1 { "agent" } else { "agents" };
        Some(format!("X cancels it and the {beneath} {agents} beneath"))
    } else {
        None
    };
    let agent = node.id.clone();
    match refusal {
        Some(why) => {
            app.status.say(why, app.now);
            Vec::new()
        }
        None => vec![Effect::Request(Request::Cancel { agents: vec![agent] })],
    }
}

/// Cancels the selected agent and everything beneath it; on the main agent this is the stop of the turn.
pub fn cancel_all(app: &mut App) -> Vec<Effect> {
    let id = app.tree.selected().clone();
    let agents = app.tree.running_of(&id);
    if agents.is_empty() {
        app.status.say("nothing is running here", app.now);
        return Vec::new();
    }
    if id.is_main() {
        app.tree.cancelling(app.now);
        return vec![Effect::Request(Request::Stop)];
    }
    vec![Effect::Request(Request::Cancel { agents })]
}
