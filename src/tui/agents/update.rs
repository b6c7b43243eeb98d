//! What keys and the mouse do in the list of agents: select, collapse, filter, cancel, go to what needs attention.
//!
//! Called by `tui::update`; the keys of the details and of the lines between panes are in `look.rs`. Esc is not among the
//! keys, since one rule says what that does everywhere.

use super::{AgentsContext, AgentsPane, look};
use crate::effect::{Outcome, PaneEffect};
use crate::keymap::{Travel, TreeKey};
use crate::state::{Pane, Presses};
use steersman_base::id::AgentId;
use steersman_base::protocol::Request;
use steersman_base::summary::count;
use steersman_session::model::agents::Agents;

/// Moves through the list or the details, whichever has the focus; ignored where neither has.
pub fn travel(pane: &mut AgentsPane, to: Travel, ui: &AgentsContext<'_>) -> Outcome {
    let pages = matches!(to, Travel::PageUp | Travel::PageDown);
    if ui.focus.is_on(Pane::Details) {
        look::scroll_details(pane, to, ui);
        return Outcome::DONE;
    }
    if pages || !(ui.focus.is_on(Pane::Tree) || ui.focus.is_on(Pane::Filter)) {
        return Outcome::Ignored;
    }
    pane.viewport.follow_selection();
    match to {
        Travel::Previous => pane.select_previous(ui.agents),
        Travel::Next => pane.select_next(ui.agents),
        Travel::First => pane.select(0, ui.agents),
        Travel::Last => pane.select(usize::MAX, ui.agents),
        Travel::PageUp | Travel::PageDown => {}
    }
    Outcome::DONE
}

/// Carries out a key of the list, which means the same in other panes.
pub fn tree_key(pane: &mut AgentsPane, key: TreeKey, ui: &AgentsContext<'_>) -> Outcome {
    let agents = ui.agents;
    match key {
        TreeKey::Less => pane.collapse(agents),
        TreeKey::More => pane.expand(agents),
        TreeKey::Toggle => pane.toggle_expansion(agents),
        TreeKey::Filter => return Outcome::one(PaneEffect::Focus(Pane::Filter)),
        TreeKey::KeepFilter => {
            pane.select_match(agents);
            return Outcome::one(PaneEffect::Focus(Pane::Tree));
        }
        TreeKey::RubOut => {
            let mut text = pane.filter().text().to_owned();
            let was_empty = text.pop().is_none();
            pane.filter_by(text, agents);
            if was_empty {
                return Outcome::one(PaneEffect::Focus(Pane::Tree));
            }
        }
        TreeKey::RubOutAll => pane.filter_by("", agents),
        TreeKey::NextWarned => {
            if !pane.select_warned(agents) {
                return Outcome::say("no agent needs attention");
            }
        }
        TreeKey::Details => return look::toggle_details(pane, ui),
        TreeKey::Cancel => return cancel(pane, ui),
        TreeKey::CancelAll => return cancel_all(pane.selected(), agents),
    }
    Outcome::DONE
}

/// Adds typed or pasted text to the filter, its white space as blanks.
pub fn type_filter(pane: &mut AgentsPane, text: &str, ui: &AgentsContext<'_>) -> Outcome {
    let more: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let text = format!("{}{more}", pane.filter().text());
    pane.filter_by(text, ui.agents);
    Outcome::DONE
}

/// Shows all agents again.
pub fn clear_filter(pane: &mut AgentsPane, ui: &AgentsContext<'_>) -> Outcome {
    pane.filter_by("", ui.agents);
    Outcome::one(PaneEffect::Focus(Pane::Tree))
}

/// Shows an agent whose row was pressed; a double press also collapses or expands what stands beneath it.
pub fn press_row(pane: &mut AgentsPane, agent: &AgentId, presses: Presses, ui: &AgentsContext<'_>) -> Outcome {
    pane.select_agent(agent, ui.agents);
    pane.viewport.keep_list(agent);
    if presses == Presses::Two {
        pane.toggle_expansion(ui.agents);
    }
    if ui.focus.is_on(Pane::Filter) { Outcome::DONE } else { Outcome::one(PaneEffect::Focus(Pane::Tree)) }
}

/// Shows the children of an agent that are left out because they ended.
pub fn press_past(pane: &mut AgentsPane, parent: &AgentId, ui: &AgentsContext<'_>) -> Outcome {
    pane.select_agent(parent, ui.agents);
    pane.expand(ui.agents);
    Outcome::one(PaneEffect::Focus(Pane::Tree))
}

/// Cancels the selected agent alone.
fn cancel(pane: &AgentsPane, ui: &AgentsContext<'_>) -> Outcome {
    let node = ui.agents.get_or_main(pane.selected());
    let beneath = node.totals().running.saturating_sub(usize::from(node.running()));
    if node.id.is_main() {
        Outcome::say("Esc in the message stops the main agent; x cancels sub-agents")
    } else if !node.running() {
        Outcome::say(format!("{} is not running", node.id))
    } else if beneath > 0 {
        Outcome::say(format!("X cancels it and the {} beneath", count(beneath, "agent")))
    } else {
        Outcome::request(Request::Cancel { agents: vec![node.id.clone()] })
    }
}

/// Cancels an agent and everything beneath it; of the main agent this stops the turn.
pub fn cancel_all(id: &AgentId, agents: &Agents) -> Outcome {
    let running = agents.running_of(id);
    if running.is_empty() {
        return Outcome::say("nothing is running here");
    }
    Outcome::request(if id.is_main() { Request::Stop } else { Request::Cancel { agents: running } })
}
