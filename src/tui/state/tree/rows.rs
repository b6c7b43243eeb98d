//! Which rows the tree shows, in which order: a cache over the agents that is made anew only after the structure, a
//! fold, the filter or the selection's path changed.
//!
//! Always holds: a child stands behind its parent and its elder siblings' subtrees; the selected agent has a row; the
//! ancestors of every row have rows.

use super::Tree;
use super::node::{Node, State};

/// No row.
const NOWHERE: usize = usize::MAX;

/// How much of its children an agent shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fold {
    /// All but those that ended a while ago; these are counted in a row of their own.
    #[default]
    Brief,
    /// All.
    Full,
    /// None; its row shows the sums.
    Closed,
}

/// One row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The place of the agent in [`Tree::nodes`]; for [`Kind::Ended`] that of the parent.
    pub agent: usize,
    /// What it shows.
    pub kind: Kind,
    /// How deep it stands.
    pub depth: usize,
    /// Whether no later row hangs on the same parent.
    pub last: bool,
}

/// What a row shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An agent.
    Agent,
    /// An agent, and the sums of everything beneath it.
    Folded,
    /// The children of an agent that ended a while ago.
    Ended {
        /// All of them.
        children: usize,
        /// Those among them that the user stopped.
        cancelled: usize,
    },
}

impl Kind {
    /// Tells whether the row stands for one agent, so that it can be selected.
    pub fn is_agent(self) -> bool {
        match self {
            Self::Agent | Self::Folded => true,
            Self::Ended { .. } => false,
        }
    }
}

/// The rows, and where each agent's row is.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub rows: Vec<Row>,
    places: Vec<usize>,
}

impl Rows {
    /// Returns the place of an agent's row.
    pub fn place(&self, agent: usize) -> Option<usize> {
        self.places.get(agent).copied().filter(|place| *place != NOWHERE)
    }

    /// Lays the rows out.
    pub fn of(tree: &Tree) -> Self {
        let path = tree.path(tree.selected);
        let kept = tree.filter.is_active().then(|| kept(tree));
        let mut rows = Self { rows: Vec::new(), places: vec![NOWHERE; tree.nodes.len()] };
        let mut left = vec![Row { agent: 0, kind: Kind::Agent, depth: 0, last: true }];
        while let Some(mut row) = left.pop() {
            let node = &tree.nodes[row.agent];
            if row.kind == Kind::Agent {
                rows.places[row.agent] = rows.rows.len();
                match &kept {
                    Some(kept) => push_children(&row, node.children.iter().copied().filter(|c| kept[*c]), &mut left),
                    None if node.fold == Fold::Closed && !node.children.is_empty() => row.kind = Kind::Folded,
                    None => unfold(tree, &row, node, &path, &mut left),
                }
            }
            rows.rows.push(row);
        }
        rows
    }
}

/// Lays out the children of an agent that is not closed, those that fold away as one row behind the others.
fn unfold(tree: &Tree, row: &Row, node: &Node, path: &[usize], left: &mut Vec<Row>) {
    let folds = |child: &usize| node.fold == Fold::Brief && tree.folds_away(*child) && !path.contains(child);
    let (mut children, mut cancelled) = (0, 0);
    for child in node.children.iter().filter(|child| folds(child)) {
        children += 1;
        cancelled += usize::from(tree.nodes[*child].state() == State::Cancelled);
    }
    if children == 0 {
        return push_children(row, node.children.iter().copied(), left);
    }
    let kind = Kind::Ended { children, cancelled };
    left.push(Row { agent: row.agent, kind, depth: row.depth + 1, last: true });
    let shown = node.children.iter().rev().filter(|child| !folds(child));
    left.extend(shown.map(|child| Row { agent: *child, kind: Kind::Agent, depth: row.depth + 1, last: false }));
}

/// Puts children onto the stack so that the eldest comes off it first.
fn push_children(row: &Row, children: impl DoubleEndedIterator<Item = usize>, left: &mut Vec<Row>) {
    let depth = row.depth + 1;
    let rows = children.rev().enumerate();
    left.extend(rows.map(|(behind, agent)| Row { agent, kind: Kind::Agent, depth, last: behind == 0 }));
}

/// Returns for each agent whether the filter keeps it: it matches, it is selected, or one beneath it is kept.
fn kept(tree: &Tree) -> Vec<bool> {
    let mut kept = vec![false; tree.nodes.len()];
    kept[0] = true;
    for (index, node) in tree.nodes.iter().enumerate() {
        if !node.matches && index != tree.selected {
            continue;
        }
        let mut at = Some(index);
        while let Some(index) = at.filter(|index| !kept[*index]) {
            kept[index] = true;
            at = tree.nodes[index].above;
        }
    }
    kept
}

impl Tree {
    /// Returns the rows that are shown.
    pub fn rows(&self) -> &[Row] {
        &self.laid_out().rows
    }

    /// Returns the place of the selected agent's row.
    pub fn selected_row(&self) -> usize {
        self.laid_out().place(self.selected).unwrap_or(0)
    }

    /// Returns for a row and each of its ancestors but the root whether no later row hangs on the same parent, the
    /// outermost first: what its guide lines are drawn from.
    pub fn guide(&self, row: &Row) -> Vec<bool> {
        let laid_out = self.laid_out();
        let mut lasts = Vec::with_capacity(row.depth);
        let mut at = match row.kind {
            Kind::Agent | Kind::Folded => {
                if row.depth > 0 {
                    lasts.push(row.last);
                }
                self.nodes[row.agent].above
            }
            Kind::Ended { .. } => {
                lasts.push(row.last);
                Some(row.agent)
            }
        };
        while let Some(index) = at {
            let above = self.nodes[index].above;
            if above.is_some() {
                lasts.push(laid_out.place(index).and_then(|place| laid_out.rows.get(place)).is_none_or(|row| row.last));
            }
            at = above;
        }
        lasts.reverse();
        lasts
    }

    /// Shows less of the selected agent's children; with nothing to fold, selects its parent.
    pub fn fold(&mut self) {
        let node = &self.nodes[self.selected];
        let next = match node.fold {
            _ if self.filter.is_active() => None,
            Fold::Full if self.any_folds_away() => Some(Fold::Brief),
            Fold::Full | Fold::Brief if node.has_children() => Some(Fold::Closed),
            Fold::Full | Fold::Brief | Fold::Closed => None,
        };
        match (next, node.above) {
            (Some(fold), _) => self.set_fold(fold),
            (None, Some(above)) => self.go(above),
            (None, None) => {}
        }
    }

    /// Shows more of the selected agent's children; with everything shown, selects the first of them.
    pub fn unfold(&mut self) {
        let node = &self.nodes[self.selected];
        match node.fold {
            Fold::Closed if node.has_children() && !self.filter.is_active() => self.set_fold(Fold::Brief),
            Fold::Brief if self.any_folds_away() && !self.filter.is_active() => self.set_fold(Fold::Full),
            Fold::Closed | Fold::Brief | Fold::Full => {
                let row = self.selected_row();
                let next = self.rows().get(row + 1).filter(|next| next.depth > node.depth && next.kind.is_agent());
                if let Some(first) = next.map(|next| next.agent) {
                    self.go(first);
                }
            }
        }
    }

    /// Folds the selected agent, or unfolds it step by step.
    pub fn toggle_fold(&mut self) {
        let node = &self.nodes[self.selected];
        if !node.has_children() || self.filter.is_active() {
            return;
        }
        self.set_fold(match node.fold {
            Fold::Closed => Fold::Brief,
            Fold::Brief if self.any_folds_away() => Fold::Full,
            Fold::Brief | Fold::Full => Fold::Closed,
        });
    }

    /// Opens everything above an agent and selects it.
    pub(super) fn reveal(&mut self, agent: usize) {
        let mut at = self.nodes[agent].above;
        while let Some(index) = at {
            if self.nodes[index].fold == Fold::Closed {
                self.nodes[index].fold = Fold::Brief;
                self.forget_rows();
            }
            at = self.nodes[index].above;
        }
        self.go(agent);
    }

    /// Tells whether a child's row may go: it ended a while ago and nothing beneath it needs anybody.
    pub(super) fn folds_away(&self, agent: usize) -> bool {
        let node = &self.nodes[agent];
        node.aged && node.totals.quiet()
    }

    fn any_folds_away(&self) -> bool {
        self.nodes[self.selected].children.iter().any(|child| self.folds_away(*child))
    }

    fn set_fold(&mut self, fold: Fold) {
        self.nodes[self.selected].fold = fold;
        self.forget_rows();
    }

    fn laid_out(&self) -> &Rows {
        self.laid_out.get_or_init(|| Rows::of(self))
    }
}
