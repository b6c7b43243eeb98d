//! The figures of a row: which of them there is room for, and how each is written.
//!
//! Every row of a frame shows the same figures at the same columns; those that say least go first.

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::theme::Theme;
use crate::widgets::fit::{clock, columns, put_right};
use steersman_base::summary::tokens as count;
use steersman_session::model::agents::AgentNode;

/// A figure of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figure {
    /// The tokens of all rounds of the agent.
    Tokens,
    /// How long the turn runs, or ran.
    Elapsed,
}

impl Figure {
    /// Returns its columns, the blank before it included.
    pub(super) fn width(self) -> u16 {
        match self {
            Self::Elapsed => 7,
            Self::Tokens => 10,
        }
    }
}

/// Picks the figures that there is room for, the time before the tokens. The time stands last, so that it has the same
/// columns where a reason takes the place of the tokens.
pub(super) fn fitting(room: u16) -> Vec<Figure> {
    let both = [Figure::Tokens, Figure::Elapsed];
    if both.iter().map(|figure| figure.width()).sum::<u16>() <= room {
        both.to_vec()
    } else if Figure::Elapsed.width() <= room {
        vec![Figure::Elapsed]
    } else {
        Vec::new()
    }
}

/// Draws figures to the right edge of a row; returns what is left of it.
pub(super) fn draw(
    figures: &[Figure],
    node: &AgentNode,
    now: Timestamp,
    theme: &Theme,
    line: Rect,
    buf: &mut Buffer,
) -> Rect {
    figures.iter().rev().fold(line, |left, figure| {
        let text = format!("{:>width$}", text(*figure, node, now), width = usize::from(figure.width()));
        // What is too wide for its place takes the blank before it, and then is not shown.
        let text = if columns(&text) > figure.width() { text.trim_start() } else { &text };
        put_right(buf, left, text, theme.dim)
    })
}

fn text(figure: Figure, node: &AgentNode, now: Timestamp) -> String {
    match figure {
        Figure::Elapsed => node.elapsed(now).map(clock).unwrap_or_default(),
        Figure::Tokens if node.spent == 0 => String::new(),
        Figure::Tokens => format!("{} tok", count(node.spent)),
    }
}
