//! The files that the tools of this session changed, with their changes, over everything else on the screen: a row for each
//! above, the change of the selected one below.
//!
//! What changed comes from the model of the run (`src/session/model/changes.rs`); what a file was at the start of the session
//! knows the run alone, which is asked when the list opens. The undo: `src/tools/workspace/changes.rs`; tests:
//! `changes_pane.rs`, `changes.rs`, `undo.rs`.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::overlay::list::{ListRows, draw_empty, list_and_text, put_details};
use super::overlay::registry::{PaneEntry, PaneKey, list_keys, page_keys};
use super::overlay::{ListPosition, Overlay, OverlayDrawn};
use crate::commands::{CommandContext, CommandEntry, Takes};
use crate::effect::{EditorSubject, Effect, Outcome, PaneEffect};
use crate::keymap::table::{also, key, row};
use crate::keymap::{Action, Context, Travel};
use crate::state::{Medium, Regions};
use crate::theme::Theme;
use crate::ui_context::UiContext;
use crate::widgets::diff::{self, Diff};
use crate::widgets::fit::put;
use crate::widgets::wrap::{Break, Line, draw_text, wrapped};
use steersman_base::details::FileDiff;
use steersman_base::id::AgentId;
use steersman_base::protocol::{Request, UndoScope};
use steersman_base::summary::count;
use steersman_base::target::name_of;
use steersman_base::text::visible_line;
use steersman_session::model::{ChangedFile, FileChange};

/// How it registers itself.
pub const PANE: PaneEntry = PaneEntry {
    id: "changes",
    title: "Changed files",
    travel: &[&list_keys("select a file", "first or last file"), &page_keys("scroll the change")],
    keys: &[
        row("Left  h", Action::InPane(EARLIER_TURN), "Left/Right  h/l", "one turn, or the whole session"),
        also("Right  l", Action::InPane(LATER_TURN)),
        key("a", Action::InPane(NEXT_AGENT), "the changes of one agent, or of all"),
        key("Enter  o", Action::InPane(OPEN), "open the change in the editor"),
        key("u", Action::InPane(UNDO_FILE), "take the file's changes back; asks first"),
        key("U", Action::InPane(UNDO_TURN), "take the shown turn back; asks first"),
    ],
    opened_by: "Alt+G",
    brief: "changed files, with diffs",
    command: CommandEntry::new(
        "/diff",
        Takes::Nothing,
        "Alt+G",
        "the files that tools changed, with diffs; undo one file or one turn",
        command,
    ),
};

/// Shows the changes of the turn before.
const EARLIER_TURN: PaneKey = PaneKey("earlier-turn");
/// Shows the changes of the turn after, or of the whole session.
const LATER_TURN: PaneKey = PaneKey("later-turn");
/// Shows the changes of the next agent, or of all.
const NEXT_AGENT: PaneKey = PaneKey("next-agent");
/// Opens the shown change in the user's editor.
const OPEN: PaneKey = PaneKey("open-change");
/// Takes back the shown changes of the file, after a question.
const UNDO_FILE: PaneKey = PaneKey("undo-file");
/// Takes back the turn that is shown, after a question.
const UNDO_TURN: PaneKey = PaneKey("undo-turn");

/// Columns that are left to a path at least.
const PATH: u16 = 20;

/// The list, from its opening to its end.
#[derive(Debug, Default)]
pub struct ChangesPane {
    /// The selected file, and the first row of its change that is shown.
    position: ListPosition,
    /// The turn whose changes are shown; `None` for the whole session.
    turn: Option<u32>,
    /// The agent whose changes are shown; `None` for all.
    agent: Option<AgentId>,
    /// How files differ from what they were at the start, once the run has said so.
    whole: Vec<FileDiff>,
}

impl ChangesPane {
    /// Takes how files differ from what they were at the start.
    pub fn set_diffs(&mut self, whole: Vec<FileDiff>) {
        self.whole = whole;
    }

    /// Returns the rows, the newest change first.
    fn rows<'a>(&self, ui: &'a UiContext) -> Vec<ChangedFile<'a>> {
        let mut rows = ui.run.changes.files(self.turn, self.agent.as_ref());
        rows.reverse();
        rows
    }

    /// Returns the parts of a file's change with a heading for each: the whole difference to the start where that is
    /// wanted and known, else change by change.
    fn parts<'a>(&'a self, row: &ChangedFile<'a>) -> Vec<(String, &'a FileDiff)> {
        let whole = self.whole.iter().find(|diff| diff.path == row.path);
        if let Some(whole) = whole.filter(|_| self.turn.is_none() && self.agent.is_none()) {
            return vec![("since the start of the session".to_owned(), whole)];
        }
        let part =
            |change: &&'a FileChange| (format!("turn {}, {}", change.turn, name_of(&change.agent)), &change.diff);
        row.changes.iter().map(part).collect()
    }

    fn show(&mut self, turn: Option<u32>, agent: Option<AgentId>) -> Outcome {
        (self.turn, self.agent) = (turn, agent);
        self.position = ListPosition::default();
        Outcome::DONE
    }

    fn lines(&self, file: &ChangedFile<'_>, width: u16, theme: &Theme) -> Vec<Line> {
        let mut shown = Vec::new();
        for (heading, change) in self.parts(file) {
            let change = Diff::new(change);
            let heading = Line::new(&format!("{heading}: {}", change.words), theme.dim);
            shown.extend(wrapped([heading], width.into(), Break::Words));
            let lines = diff::lines(&change.lines, change.columns, None, theme);
            shown.extend(wrapped(lines, width.into(), Break::Anywhere));
        }
        shown
    }
}

/// Shows the list, or hides it; names the files in lines.
fn command(context: &mut CommandContext<'_>, _: &str) -> Vec<PaneEffect> {
    if context.ui.medium == Medium::Screen {
        context.overlays.toggle(ChangesPane::default);
        return vec![Request::ListChanges.into()];
    }
    let files: Vec<_> = context.ui.run.changes.files(None, None).iter().map(describe).collect();
    if files.is_empty() {
        let sentence = "no tool has changed a file; changes made by shell commands are not tracked";
        return vec![PaneEffect::Say(sentence.to_owned())];
    }
    files
}

/// Returns a line about a changed file.
fn describe(file: &ChangedFile<'_>) -> PaneEffect {
    let (added, removed) = file.lines();
    let line = format!("changed: {}: +{added} −{removed}, by {}", visible_line(file.path), file.agents().join(", "));
    PaneEffect::Note(AgentId::main(), line)
}

/// Asks the run what an undo would do; its reply becomes a question, which the list must not cover.
fn undo(scope: UndoScope, ui: &UiContext) -> Outcome {
    if ui.run.is_under_way() {
        return Outcome::say("not undone: a turn runs; stop it first, or wait for its end");
    }
    Outcome::Consumed(vec![PaneEffect::CloseOverlay, Request::PreviewUndo { scope }.into()])
}

impl Overlay for ChangesPane {
    fn context(&self) -> Context {
        PANE.context()
    }

    fn titles(&self, ui: &UiContext) -> Vec<String> {
        let shown = self.turn.map_or_else(|| "this session".to_owned(), |turn| format!("turn {turn}"));
        let by = self.agent.as_ref().map(|agent| format!(", by {}", name_of(agent))).unwrap_or_default();
        let files = count(self.count(ui), "file");
        vec![format!(" {files} changed: {shown}{by} "), " Changed files ".to_owned()]
    }

    fn hints(&self, _: &UiContext) -> &'static [&'static str] {
        &[
            " Up/Down file · Left/Right turn · a agent · Enter opens · u undoes the file · U the turn · Esc closes ",
            " Left/Right turn · a agent · Enter opens · u, U undo · Esc closes ",
            " u, U undo · Enter opens · Esc closes ",
            " Esc closes ",
        ]
    }

    fn count(&self, ui: &UiContext) -> usize {
        self.rows(ui).len()
    }

    fn position(&mut self) -> &mut ListPosition {
        &mut self.position
    }

    fn selected(&self, ui: &UiContext) -> usize {
        self.position.selected.min(self.count(ui).saturating_sub(1))
    }

    fn select(&mut self, row: usize, ui: &UiContext) {
        self.position = ListPosition { selected: row.min(self.count(ui).saturating_sub(1)), top: 0 };
    }

    fn travel(&mut self, travel: Travel, ui: &UiContext) {
        match travel {
            Travel::PageUp | Travel::PageDown => {
                let page = usize::from(ui.size.height / 3).max(1);
                self.position.top = travel.from(self.position.top, page);
            }
            Travel::Previous | Travel::Next | Travel::First | Travel::Last => {
                self.select(travel.from(self.selected(ui), 1), ui);
            }
        }
    }

    fn act(&mut self, action: Action, ui: &UiContext) -> Outcome {
        let Action::InPane(key) = action else { return Outcome::Ignored };
        let turns = ui.run.changes.turns();
        let rows = self.rows(ui);
        let row = rows.get(self.selected(ui));
        match (key, row) {
            (EARLIER_TURN, _) => {
                let earlier = turns.iter().rev().find(|turn| self.turn.is_none_or(|shown| **turn < shown));
                let turn = earlier.copied().or(self.turn);
                self.show(turn, self.agent.clone())
            }
            (LATER_TURN, _) => {
                let later = self.turn.and_then(|shown| turns.into_iter().find(|turn| *turn > shown));
                self.show(later, self.agent.clone())
            }
            (NEXT_AGENT, _) => {
                let agents = ui.run.changes.agents();
                let shown = self.agent.as_ref().and_then(|shown| agents.iter().position(|agent| *agent == shown));
                let next = agents.get(shown.map_or(0, |shown| shown + 1)).map(|agent| (*agent).clone());
                self.show(self.turn, next)
            }
            (UNDO_TURN, _) => match self.turn {
                Some(turn) => undo(UndoScope::Turn(turn), ui),
                None => Outcome::say("choose a turn first: Left shows one, U undoes it"),
            },
            (_, None) => Outcome::say("no tool has changed a file"),
            (OPEN, Some(row)) => {
                let part = |(heading, diff): (String, &FileDiff)| format!("{heading}\n{}", diff.hunks);
                let parts: Vec<String> = self.parts(row).into_iter().map(part).collect();
                let text = format!("{}\n\n{}", row.path, parts.join("\n"));
                Outcome::one(PaneEffect::Outside(Effect::Edit { subject: EditorSubject::Entry, text }))
            }
            (UNDO_FILE, Some(_)) if self.turn.is_some() || self.agent.is_some() => {
                Outcome::say("u undoes all changes of a file: show all turns (Right) and all agents (a) first")
            }
            (UNDO_FILE, Some(row)) => undo(UndoScope::File(row.path.to_owned()), ui),
            (_, Some(_)) => Outcome::Ignored,
        }
    }

    fn wheel(&mut self, lines: isize, _: &UiContext) {
        self.position.top = self.position.top.saturating_add_signed(lines);
    }

    fn draw_inside(&self, ui: &UiContext, inner: Rect, regions: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn {
        let theme = &ui.theme;
        let (rows, selected) = (self.rows(ui), self.selected(ui));
        let Some(file) = rows.get(selected) else {
            let words = ["Tools have changed no file.", "Changes made by shell commands are not tracked."];
            return draw_empty(&words, inner, theme, buffer);
        };
        let (area, below) = list_and_text(inner, rows.len(), theme, buffer);
        let list = ListRows { area, rows: &rows, selected, top: 0, height: 1 };
        list.draw(theme, regions, buffer, |file, room, buffer| draw_row(file, theme, room, buffer));
        let top = draw_text(&self.lines(file, below.width, theme), self.position.top, below, buffer);
        OverlayDrawn::list(selected, top)
    }
}

/// Draws a row: the path, then lines, turns and agents as far as there is room.
fn draw_row(file: &ChangedFile<'_>, theme: &Theme, room: Rect, buffer: &mut Buffer) {
    let (added, removed) = file.lines();
    let turns: Vec<String> = file.turns().iter().map(u32::to_string).collect();
    let turns = if turns.len() > 4 { format!("{} turns", turns.len()) } else { format!("turn {}", turns.join(", ")) };
    let new = if file.is_new() { "new " } else { "" };
    let details = format!("{new}+{added} −{removed} · {turns} · {}", file.agents().join(", "));
    let left = put_details(buffer, room, &details, PATH, theme.dim);
    put(buffer, left, &visible_line(file.path), theme.text);
}
