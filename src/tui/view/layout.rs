//! Divides the screen: pure arithmetic on its size and on what the panes ask for.
//!
//! The composer comes first, then the status line, then the transcript; everything else gives way on small screens.
//! Works at any size, an empty one too.

use ratatui::layout::Rect;

/// Is what the panes ask for.
#[derive(Debug, Clone, Copy)]
pub struct Demand {
    /// Rows of the composer's text.
    pub composer: u16,
    /// Texts that wait for delivery.
    pub pending: u16,
    /// What the list of them is for at the moment.
    pub list: ListUse,
    /// Rows of the panel of a held agent.
    pub gate: u16,
    /// Agents in the tree.
    pub agents: u16,
    /// What the tree is for at the moment.
    pub tree: TreeUse,
}

/// Says whether the user works in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeUse {
    /// It is looked at.
    Watched,
    /// It has the focus, so a small screen makes room for it.
    Focused,
}

/// Says whether the user works in the pending list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListUse {
    /// It is looked at.
    Watched,
    /// It has the focus, so it may take half of the room.
    Focused,
}

/// Says how the tree is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeForm {
    /// A column with two rows for each agent.
    Column,
    /// One row for each agent.
    Rows,
    /// One row for all.
    Line,
}

/// Holds where everything goes. Areas may be empty; none reaches beyond the screen and no two overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panes {
    /// The agent tree.
    pub tree: Rect,
    /// How it is drawn.
    pub form: TreeForm,
    /// The line between the tree and the transcript.
    pub divider: Rect,
    /// The title of the transcript.
    pub title: Rect,
    /// The details of the selected agent; empty while they are folded.
    pub details: Rect,
    /// The transcript.
    pub transcript: Rect,
    /// The texts that wait.
    pub pending: Rect,
    /// The panel of a held agent.
    pub gate: Rect,
    /// The line above the composer.
    pub rule: Rect,
    /// The composer with its prompt.
    pub composer: Rect,
    /// The status line; one or two rows.
    pub status: Rect,
}

/// Columns from which the tree stands beside the transcript.
const WIDE: u16 = 96;
/// Columns from which each agent's figures fit into one row, and a pending text beside its forecast.
pub const MEDIUM: u16 = 60;

impl Panes {
    /// Divides an area.
    pub fn of(area: Rect, demand: Demand) -> Self {
        let height = area.height;
        let composer = demand.composer.clamp(1, (height / 3).max(1)).min(height);
        let status = match height {
            0..2 => 0,
            2..16 => 1,
            _ => 2,
        };
        let rule = u16::from(height >= 8);
        let body = height.saturating_sub(composer + status + rule);
        let share = match demand.list {
            ListUse::Watched => body / 3,
            ListUse::Focused => body / 2,
        };
        let most = share.max(1).min(body.saturating_sub(1));
        // On a narrow screen each forecast has a row of its own, unless that takes too many.
        let two_rows = demand.pending.saturating_mul(2);
        let pending = if area.width < MEDIUM && two_rows <= most { two_rows } else { demand.pending.min(most) };

        let mut rest = area;
        let status = take_bottom(&mut rest, status);
        let composer = take_bottom(&mut rest, composer);
        let rule = take_bottom(&mut rest, rule);
        let pending = take_bottom(&mut rest, pending);
        // It asks something of the user: it may take more than half of what is left, to show a call whole.
        let gate = take_gate(&mut rest, demand.gate);
        let (tree, form, divider) = take_tree(&mut rest, area.width, demand);
        let title = if form == TreeForm::Column { take_top(&mut rest, 1) } else { take_top(&mut rest, 0) };
        let details = Rect { height: 0, ..rest };
        Self { tree, form, divider, title, details, transcript: rest, pending, gate, rule, composer, status }
    }

    /// Returns everything above the composer and its rule.
    pub fn above(&self, screen: Rect) -> Rect {
        Rect { height: self.composer.y.saturating_sub(self.rule.height).saturating_sub(screen.y), ..screen }
    }
}

fn take_gate(rest: &mut Rect, rows: u16) -> Rect {
    let most = (rest.height / 2 + 1).min(rest.height.saturating_sub(1));
    take_bottom(rest, rows.min(most))
}

fn take_tree(rest: &mut Rect, width: u16, demand: Demand) -> (Rect, TreeForm, Rect) {
    let body = rest.height;
    // One agent alone needs no column: the transcript gets the room.
    let is_of_use = demand.agents > 1 || demand.tree == TreeUse::Focused;
    if width >= WIDE && body >= 4 && is_of_use {
        let tree = take_left(rest, (width / 3 - 2).clamp(36, 64));
        return (tree, TreeForm::Column, take_left(rest, 1));
    }
    let rows = match demand.tree {
        TreeUse::Watched => demand.agents.min(body / 4),
        TreeUse::Focused => demand.agents.min(body * 2 / 3).max(1),
    };
    let (form, rows) = match demand.tree {
        TreeUse::Focused => (TreeForm::Rows, rows),
        TreeUse::Watched if width >= MEDIUM && rows > 1 => (TreeForm::Rows, rows),
        TreeUse::Watched => (TreeForm::Line, u16::from(body >= 4)),
    };
    let tree = take_top(rest, rows);
    let divider = take_top(rest, u16::from(body >= 10));
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
