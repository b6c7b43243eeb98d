//! Divides the screen: pure arithmetic on its size and on what the panes ask for.
//!
//! The composer comes first, then the status line, then the transcript; everything else gives way on small screens, and on
//! a narrow one there is one pane with a line of tabs. Works at any size, an empty one too.

use ratatui::layout::Rect;

use crate::agents::Sizes;
use crate::state::Pane;
pub use crate::state::{BROAD, MEDIUM};

/// What the panes ask for.
#[derive(Debug, Clone, Copy)]
pub struct Demand {
    /// Rows of the composer's text.
    pub composer: u16,
    /// Rows of the question that is asked.
    pub question: u16,
    /// Rows of the rules that hold.
    pub rules: u16,
    /// Rows of the tour.
    pub tour: u16,
    /// Texts that wait for delivery.
    pub pending: u16,
    pub list: PaneUse,
    /// Rows of the panel of a paused agent.
    pub pause: u16,
    /// Rows of the tree.
    pub agents: u16,
    pub sub_agents: SubAgents,
    pub tree: PaneUse,
    /// Whether the details of the shown agent are open.
    pub details: DetailsUse,
    /// The pane that a narrow screen shows.
    pub tab: Pane,
    /// The pane that has all the room above the composer.
    pub zoom: Option<Pane>,
    pub sizes: Sizes,
}

/// Whether the user works in a pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaneUse {
    Watched,
    /// It has the focus, so it gets more room on a small screen.
    Focused,
}

/// Whether sub-agents work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubAgents {
    AtWork,
    /// None works any more: the tree gives most of its columns back.
    Ended,
}

/// Whether the details are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DetailsUse {
    Collapsed,
    Open,
}

/// How the tree is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeForm {
    /// A column with one row for each agent.
    Column,
    /// Rows for each agent, as many as fit.
    Rows,
    Line,
}

/// Where everything goes. Areas may be empty; none reaches beyond the screen and no two overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panes {
    pub tabs: Rect,
    pub tree: Rect,
    pub form: TreeForm,
    /// The line between the tree and the transcript.
    pub divider: Rect,
    /// The title of the transcript, or of the pane that is zoomed.
    pub title: Rect,
    /// The details of the selected agent; empty while they are collapsed.
    pub details: Rect,
    /// The line between the transcript and the details beside it.
    pub details_divider: Rect,
    pub transcript: Rect,
    pub rules: Rect,
    pub tour: Rect,
    pub pending: Rect,
    /// The panel of a paused agent.
    pub pause: Rect,
    pub question: Rect,
    /// The line above the composer.
    pub rule: Rect,
    pub composer: Rect,
    /// The status line; one or two rows.
    pub status: Rect,
    pub zoom: Option<Pane>,
}

/// Columns from which the tree stands beside the transcript.
const WIDE: u16 = 96;
/// Fewest columns of a pane beside the transcript.
const LEAST: u16 = 20;
/// Columns of the tree when all sub-agents have ended: signs, names and what the main agent does.
const ENDED: u16 = 30;
/// Columns that are left to the transcript beside other panes.
const TRANSCRIPT: u16 = 40;

impl Panes {
    /// Returns what there is for everything above the line above the composer.
    pub fn body(area: Rect, composer: u16) -> Rect {
        let (status, composer, rule) = fixed(area.height, composer);
        Rect { height: area.height.saturating_sub(status + composer + rule), ..area }
    }

    pub fn divide(area: Rect, demand: Demand) -> Self {
        let (status, composer, rule) = fixed(area.height, demand.composer);
        let mut rest = area;
        let mut panes = Self::empty(area);
        panes.status = take_bottom(&mut rest, status);
        panes.composer = take_bottom(&mut rest, composer);
        panes.rule = take_bottom(&mut rest, rule);
        panes.question = take_bottom(&mut rest, demand.question);
        panes.rules = take_bottom(&mut rest, demand.rules);
        panes.tour = take_bottom(&mut rest, demand.tour);
        panes.pending = take_bottom(&mut rest, 0);
        panes.pause = panes.pending;
        if let Some(pane) = demand.zoom {
            let title = u16::from(rest.height >= 3);
            panes.title = take_top(&mut rest, title);
            panes.zoom = Some(pane);
            return panes.only(pane, rest);
        }
        let has_tabs = area.width < MEDIUM;
        if has_tabs && demand.tab != Pane::Transcript {
            let tabs = u16::from(rest.height >= 4);
            panes.tabs = take_top(&mut rest, tabs);
            return panes.only(demand.tab, rest);
        }
        let pending = pending_rows(area, rest.height, demand);
        panes.pending = take_bottom(&mut rest, pending);
        // It asks something of the user: it may take more than half of what is left, to show a call whole.
        panes.pause = take_pause(&mut rest, demand);
        if has_tabs {
            let tabs = u16::from(rest.height >= 4);
            panes.tabs = take_top(&mut rest, tabs);
            return panes.only(Pane::Transcript, rest);
        }
        let details = details_columns(area.width, rest, demand);
        (panes.tree, panes.form, panes.divider) = take_tree(&mut rest, area.width, details, demand);
        panes.details = take_right(&mut rest, details);
        panes.details_divider = take_right(&mut rest, u16::from(details > 0));
        panes.title = take_top(&mut rest, u16::from(panes.form == TreeForm::Column));
        panes.transcript = rest;
        panes
    }

    /// Returns everything above the composer and its rule.
    pub fn above(&self, screen: Rect) -> Rect {
        Rect { height: self.composer.y.saturating_sub(self.rule.height).saturating_sub(screen.y), ..screen }
    }

    fn empty(area: Rect) -> Self {
        let none = Rect { height: 0, ..area };
        Self {
            tabs: none,
            tree: none,
            form: TreeForm::Rows,
            divider: none,
            title: none,
            details: none,
            details_divider: none,
            transcript: none,
            rules: none,
            tour: none,
            pending: none,
            pause: none,
            question: none,
            rule: none,
            composer: none,
            status: none,
            zoom: None,
        }
    }

    fn only(mut self, pane: Pane, room: Rect) -> Self {
        match pane {
            Pane::Tree | Pane::Filter => self.tree = room,
            Pane::Pending => self.pending = room,
            Pane::Pause => self.pause = room,
            Pane::Details => self.details = room,
            Pane::Transcript | Pane::Search | Pane::Composer | Pane::History => self.transcript = room,
        }
        self
    }
}

/// Returns the rows of the status line, of the composer and of the line above it.
fn fixed(height: u16, composer: u16) -> (u16, u16, u16) {
    let composer = composer.clamp(1, (height / 3).max(1)).min(height);
    let status = match height {
        0..2 => 0,
        2..16 => 1,
        _ => 2,
    };
    let rule = u16::from(height >= 8);
    (status.min(height.saturating_sub(composer)), composer, rule.min(height.saturating_sub(composer + status)))
}

fn pending_rows(area: Rect, body: u16, demand: Demand) -> u16 {
    let share = match demand.list {
        PaneUse::Watched => body / 3,
        PaneUse::Focused => body / 2,
    };
    let most = share.max(1).min(body.saturating_sub(1));
    // On a narrow screen each forecast has a row of its own, unless that takes too many.
    let two_rows = demand.pending.saturating_mul(2);
    if area.width < MEDIUM && two_rows <= most { two_rows } else { demand.pending.min(most) }
}

fn take_pause(rest: &mut Rect, demand: Demand) -> Rect {
    let most = (rest.height / 2 + 1).min(rest.height.saturating_sub(1));
    // A question may leave a single row, which says that the agent is paused.
    let least = u16::from(demand.question > 0).min(rest.height);
    take_bottom(rest, demand.pause.min(most.max(least)))
}

/// Returns the columns of the details beside the transcript; 0 where they have no place there.
fn details_columns(width: u16, rest: Rect, demand: Demand) -> u16 {
    if demand.details == DetailsUse::Collapsed || width < BROAD || rest.height < 4 {
        return 0;
    }
    let usual = (width / 4).clamp(34, 56);
    // The tree may be as narrow as it gets, the transcript may not.
    let most = width.saturating_sub(TRANSCRIPT + LEAST + 2);
    demand.sizes.details_columns.unwrap_or(usual).clamp(LEAST, most.max(LEAST))
}

fn take_tree(rest: &mut Rect, width: u16, details: u16, demand: Demand) -> (Rect, TreeForm, Rect) {
    let body = rest.height;
    // One agent alone needs no column: the transcript gets the room.
    let is_of_use = demand.agents > 1 || demand.tree == PaneUse::Focused;
    if width >= WIDE && body >= 4 && is_of_use {
        let usual = match (demand.sub_agents, demand.tree) {
            (SubAgents::Ended, PaneUse::Watched) => ENDED,
            _ if details > 0 => (width * 2 / 7).clamp(36, 64),
            _ => (width * 3 / 7).clamp(36, 60),
        };
        let most = width.saturating_sub(TRANSCRIPT + details + 2).max(LEAST);
        let tree = take_left(rest, demand.sizes.tree_columns.unwrap_or(usual).clamp(LEAST, most));
        return (tree, TreeForm::Column, take_left(rest, 1));
    }
    let (wanted, most) = match demand.tree {
        PaneUse::Watched => (demand.agents, body / 4),
        PaneUse::Focused => (demand.agents.max(1), (body * 2 / 3).max(1)),
    };
    // What the user chose may be more than usual, but leaves something to the transcript.
    let most = demand.sizes.tree_rows.map_or(most, |rows| rows.clamp(1, body.saturating_sub(4).max(1)));
    let rows = wanted.min(most);
    let (form, rows) = match demand.tree {
        PaneUse::Focused => (TreeForm::Rows, rows),
        PaneUse::Watched if rows > 1 => (TreeForm::Rows, rows),
        PaneUse::Watched => (TreeForm::Line, u16::from(body >= 4)),
    };
    let tree = take_top(rest, rows);
    let divider = take_top(rest, u16::from(body >= 10 && form == TreeForm::Rows));
    (tree, form, divider)
}

fn take_top(rest: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(rest.height);
    let taken = Rect { height: rows, ..*rest };
    *rest = Rect { y: rest.y + rows, height: rest.height - rows, ..*rest };
    taken
}

fn take_bottom(rest: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(rest.height);
    let taken = Rect { y: rest.bottom() - rows, height: rows, ..*rest };
    rest.height -= rows;
    taken
}

fn take_left(rest: &mut Rect, columns: u16) -> Rect {
    let columns = columns.min(rest.width);
    let taken = Rect { width: columns, ..*rest };
    *rest = Rect { x: rest.x + columns, width: rest.width - columns, ..*rest };
    taken
}

fn take_right(rest: &mut Rect, columns: u16) -> Rect {
    let columns = columns.min(rest.width);
    let taken = Rect { x: rest.right() - columns, width: columns, ..*rest };
    rest.width -= columns;
    taken
}
