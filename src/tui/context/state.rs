//! What the list of the context window shows, and what its keys do. Esc is not among them: one rule says what that does
//! everywhere.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::view;
use crate::id::AgentId;
use crate::protocol::{ContextAct, ContextPart, ContextReport, ContextWish, Request};
use crate::tui::effect::{Outcome, PaneEffect};
use crate::tui::facts::Facts;
use crate::tui::keymap::{Action, Chord, Context, ContextKey};
use crate::tui::overlay::{Overlay, OverlayDrawn, OverlayPosition};
use crate::tui::state::pointer::Presses;
use crate::tui::state::regions::Regions;

/// The list, from its opening to its end.
#[derive(Debug)]
pub struct ContextPane {
    /// The agent whose window is shown.
    pub(super) agent: AgentId,
    pub(super) selected: usize,
    /// What the run said; `None` before that.
    pub(super) reports: Option<Vec<ContextReport>>,
}

impl ContextPane {
    /// Opens the list at an agent.
    pub fn at(agent: AgentId) -> Self {
        Self { agent, selected: 0, reports: None }
    }

    /// Takes what the run says.
    pub fn take(&mut self, reports: Vec<ContextReport>) {
        self.reports = Some(reports);
    }

    /// Returns what is shown: the chosen agent's, or the first one's when that has ended.
    pub(super) fn report(&self) -> Option<&ContextReport> {
        let reports = self.reports.as_ref()?;
        reports.iter().find(|report| report.agent == self.agent).or_else(|| reports.first())
    }

    fn part(&self) -> Option<(&ContextReport, &ContextPart)> {
        let report = self.report()?;
        let last = report.parts.len().checked_sub(1)?;
        Some((report, report.parts.get(self.selected.min(last))?))
    }

    fn next_agent(&mut self) {
        let reports = self.reports.as_deref().unwrap_or_default();
        let place = reports.iter().position(|report| report.agent == self.agent).map_or(0, |place| place + 1);
        if let Some(report) = reports.get(place).or(reports.first()) {
            self.agent = report.agent.clone();
            self.selected = 0;
        }
    }

    fn act(&mut self, key: ContextKey) -> Outcome {
        let wanted = match key {
            ContextKey::NextAgent => {
                self.next_agent();
                return Outcome::DONE;
            }
            ContextKey::Drop => ContextWish::Drop,
            ContextKey::Pin => ContextWish::Pin,
        };
        let Some((report, part)) = self.part() else { return Outcome::DONE };
        let Some(call) = part.call.clone() else {
            return Outcome::one(PaneEffect::Say(
                "only a file that was read or a result can be taken out or pinned".to_owned(),
            ));
        };
        // The same key again takes the wish back.
        let wish = Some(wanted).filter(|wanted| part.wish != Some(*wanted));
        let said = match wish {
            Some(ContextWish::Drop) => {
                "taken out at the next boundary; the server then reads what is behind it anew, once"
            }
            Some(ContextWish::Pin) => "pinned: a compaction keeps it word for word",
            None => "left as it is",
        };
        let act = ContextAct::Wish { agent: report.agent.clone(), call, wish };
        Outcome::Consumed(vec![PaneEffect::Say(said.to_owned()), Request::Context { act }.into()])
    }
}

impl Overlay for ContextPane {
    fn context(&self) -> Context {
        Context::Window
    }

    fn closing_words(&self) -> &'static str {
        "Esc closes the list"
    }

    fn escape_words(&self) -> &'static [&'static str] {
        &["Esc: closes the list", "Esc: closes"]
    }

    fn key(&mut self, key: Chord, facts: &Facts) -> Outcome {
        let last = self.report().map_or(0, |report| report.parts.len().saturating_sub(1));
        let page = usize::from(facts.size.height / 2).max(1);
        match facts.keymap.lookup(Context::Window, key) {
            Some(Action::Travel(travel)) => self.selected = travel.from(self.selected, page).min(last),
            Some(Action::InWindow(key)) => return self.act(key),
            Some(_) | None => return Outcome::Ignored,
        }
        Outcome::DONE
    }

    fn press(&mut self, row: usize, _: Presses, _: &Facts) {
        self.selected = row;
    }

    fn wheel(&mut self, lines: isize) {
        self.selected = self.selected.saturating_add_signed(lines);
    }

    fn draw(&self, facts: &Facts, screen: Rect, regions: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn {
        OverlayDrawn { cursor: None, position: view::draw(self, facts, screen, regions, buffer) }
    }

    fn drawn(&mut self, position: OverlayPosition) {
        if let OverlayPosition::List { selected, .. } = position {
            self.selected = selected;
        }
    }
}
