//! What the list of changed files shows, and what its keys do. Esc is not among them: one rule says what that does
//! everywhere.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::view;
use crate::details::FileDiff;
use crate::id::AgentId;
use crate::protocol::{Request, UndoScope};
use crate::session::fold::{ChangedFile, FileChange};
use crate::target::name_of;
use crate::tui::effect::{EditorSubject, Effect, Outcome, PaneEffect};
use crate::tui::facts::Facts;
use crate::tui::keymap::{Action, ChangesKey, Chord, Context, Travel};
use crate::tui::overlay::{Overlay, OverlayDrawn, OverlayPosition};
use crate::tui::state::pointer::Presses;
use crate::tui::state::regions::Regions;

/// The list, from its opening to its end.
#[derive(Debug, Default)]
pub struct ChangesPane {
    pub(super) selected: usize,
    /// The first row of the change that is shown.
    pub(super) top: usize,
    /// The turn whose changes are shown; `None` for the whole session.
    pub(super) turn: Option<u32>,
    /// The agent whose changes are shown; `None` for all.
    pub(super) agent: Option<AgentId>,
    /// How files differ from what they were at the start, once the run has said so.
    whole: Vec<FileDiff>,
}

impl ChangesPane {
    /// Takes how files differ from what they were at the start.
    pub fn take(&mut self, whole: Vec<FileDiff>) {
        self.whole = whole;
    }

    /// Returns the rows, the newest change first.
    pub(super) fn rows<'a>(&self, facts: &'a Facts) -> Vec<ChangedFile<'a>> {
        let mut rows = facts.run.changes.files(self.turn, self.agent.as_ref());
        rows.reverse();
        rows
    }

    /// Returns the parts of a file's change with a heading for each: the whole difference to the start where that is
    /// wanted and known, else change by change.
    pub(super) fn parts<'a>(&'a self, row: &ChangedFile<'a>) -> Vec<(String, &'a FileDiff)> {
        let whole = self.whole.iter().find(|diff| diff.path == row.path);
        if let Some(whole) = whole.filter(|_| self.turn.is_none() && self.agent.is_none()) {
            return vec![("since the start of the session".to_owned(), whole)];
        }
        let part =
            |change: &&'a FileChange| (format!("turn {}, {}", change.turn, name_of(&change.agent)), &change.diff);
        row.changes.iter().map(part).collect()
    }

    fn select(&mut self, row: usize) {
        (self.selected, self.top) = (row, 0);
    }

    fn show(&mut self, turn: Option<u32>, agent: Option<AgentId>) -> Outcome {
        (self.turn, self.agent) = (turn, agent);
        self.select(0);
        Outcome::DONE
    }

    fn act(&mut self, key: ChangesKey, facts: &Facts) -> Outcome {
        let turns = facts.run.changes.turns();
        let rows = self.rows(facts);
        let row = rows.get(self.selected.min(rows.len().saturating_sub(1)));
        match (key, row) {
            (ChangesKey::EarlierTurn, _) => {
                let earlier = turns.iter().rev().find(|turn| self.turn.is_none_or(|shown| **turn < shown));
                let turn = earlier.copied().or(self.turn);
                self.show(turn, self.agent.clone())
            }
            (ChangesKey::LaterTurn, _) => {
                let later = self.turn.and_then(|shown| turns.into_iter().find(|turn| *turn > shown));
                self.show(later, self.agent.clone())
            }
            (ChangesKey::NextAgent, _) => {
                let agents = facts.run.changes.agents();
                let shown = self.agent.as_ref().and_then(|shown| agents.iter().position(|agent| *agent == shown));
                let next = agents.get(shown.map_or(0, |shown| shown + 1)).map(|agent| (*agent).clone());
                self.show(self.turn, next)
            }
            (ChangesKey::UndoTurn, _) => match self.turn {
                Some(turn) => undo(UndoScope::Turn(turn), facts),
                None => say("choose a turn first: Left shows one, U undoes it"),
            },
            (_, None) => say("no tool has changed a file"),
            (ChangesKey::Open, Some(row)) => {
                let part = |(heading, diff): (String, &FileDiff)| format!("{heading}\n{}", diff.hunks);
                let parts: Vec<String> = self.parts(row).into_iter().map(part).collect();
                let text = format!("{}\n\n{}", row.path, parts.join("\n"));
                Outcome::one(PaneEffect::Outside(Effect::Edit { subject: EditorSubject::Entry, text }))
            }
            (ChangesKey::UndoFile, Some(_)) if self.turn.is_some() || self.agent.is_some() => {
                say("u undoes all changes of a file: show all turns (Right) and all agents (a) first")
            }
            (ChangesKey::UndoFile, Some(row)) => undo(UndoScope::File(row.path.to_owned()), facts),
        }
    }
}

/// Asks the run what an undo would do; its reply becomes a question, which the list must not cover.
fn undo(scope: UndoScope, facts: &Facts) -> Outcome {
    if facts.run.is_under_way() {
        return say("not undone: a turn runs; stop it first, or wait for its end");
    }
    Outcome::Consumed(vec![PaneEffect::CloseOverlay, Request::PreviewUndo { scope }.into()])
}

fn say(sentence: &str) -> Outcome {
    Outcome::one(PaneEffect::Say(sentence.to_owned()))
}

impl Overlay for ChangesPane {
    fn context(&self) -> Context {
        Context::Changes
    }

    fn closing_words(&self) -> &'static str {
        "Esc closes the list"
    }

    fn escape_words(&self) -> &'static [&'static str] {
        &["Esc: closes the list", "Esc: closes"]
    }

    fn key(&mut self, key: Chord, facts: &Facts) -> Outcome {
        let last = self.rows(facts).len().saturating_sub(1);
        let page = usize::from(facts.size.height / 3).max(1);
        match facts.keymap.lookup(Context::Changes, key) {
            Some(Action::Travel(travel @ (Travel::PageUp | Travel::PageDown))) => {
                self.top = travel.from(self.top, page);
            }
            Some(Action::Travel(travel)) => self.select(travel.from(self.selected, page).min(last)),
            Some(Action::InChanges(key)) => return self.act(key, facts),
            Some(_) | None => return Outcome::Ignored,
        }
        Outcome::DONE
    }

    fn press(&mut self, row: usize, _: Presses, _: &Facts) {
        self.select(row);
    }

    fn wheel(&mut self, lines: isize) {
        self.top = self.top.saturating_add_signed(lines);
    }

    fn draw(&self, facts: &Facts, screen: Rect, regions: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn {
        OverlayDrawn { cursor: None, position: view::draw(self, facts, screen, regions, buffer) }
    }

    fn drawn(&mut self, position: OverlayPosition) {
        if let OverlayPosition::List { selected, top } = position {
            (self.selected, self.top) = (selected, top);
        }
    }
}
