//! The figures of a row: which of them there is room for, and how each is written.
//!
//! Every row of a frame shows the same figures at the same columns; those that say least go first.

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::words::{money, tokens};
use crate::summary::tokens as count;
use crate::tui::state::tree::Node;
use crate::tui::theme::Theme;
use crate::tui::view::fit::{clock, columns, put_right};

/// Names one figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figure {
    /// Steps and budget, with a bar.
    Steps,
    /// The share of the context window, with a bar.
    Context,
    /// The tokens of its last round; of all rounds of the subtree where [`Figure::Total`] has no room.
    Tokens,
    /// The tokens of the subtree.
    Total,
    /// The cost of the subtree.
    Cost,
    /// The last minute, in this many columns.
    Spark(u16),
    /// How long the turn runs, or ran.
    Elapsed,
}

/// The order in which they stand.
const ORDER: [fn(&Figure) -> bool; 7] = [
    |figure| matches!(figure, Figure::Steps),
    |figure| matches!(figure, Figure::Context),
    |figure| matches!(figure, Figure::Tokens),
    |figure| matches!(figure, Figure::Total),
    |figure| matches!(figure, Figure::Cost),
    |figure| matches!(figure, Figure::Spark(_)),
    |figure| matches!(figure, Figure::Elapsed),
];

/// Fewest columns of the last minute.
pub(super) const LEAST_SPARK: u16 = 6;
/// Columns that a bar has.
const BAR: u16 = 3;

impl Figure {
    /// Returns its columns, the blank before it included.
    pub fn width(self) -> u16 {
        match self {
            Self::Steps => 2 + BAR + 5,
            Self::Context => 2 + BAR + 8,
            Self::Tokens => 11,
            Self::Total | Self::Cost => 8,
            Self::Elapsed => 7,
            Self::Spark(columns) => 1 + columns,
        }
    }
}

/// Picks the figures that there is room for, of a list that begins with those that say most.
pub(super) fn fitting(wanted: &[Figure], mut room: u16) -> Vec<Figure> {
    let mut picked = Vec::new();
    for figure in wanted {
        let figure = match figure {
            // The more columns, the fewer seconds in each.
            Figure::Spark(_) => [60, 30, 20, 15, 12, 10, LEAST_SPARK]
                .into_iter()
                .map(Figure::Spark)
                .find(|f| f.width() <= room)
                .unwrap_or(*figure),
            other => *other,
        };
        if figure.width() > room {
            continue;
        }
        room -= figure.width();
        picked.push(figure);
    }
    let place = |figure: &Figure| ORDER.iter().position(|is| is(figure));
    picked.sort_by_key(place);
    picked
}

/// Draws figures to the right edge of a row; returns what is left of it.
pub(super) fn draw(
    figures: &[Figure],
    node: &Node,
    now: Timestamp,
    theme: &Theme,
    line: Rect,
    buf: &mut Buffer,
) -> Rect {
    let has_total = figures.contains(&Figure::Total);
    figures.iter().rev().fold(line, |left, figure| {
        let text = text(*figure, node, now, has_total);
        let text = format!("{text:>width$}", width = usize::from(figure.width()));
        // What is too wide for its place takes the blank before it, and then is not shown.
        let text = if columns(&text) > figure.width() { text.trim_start() } else { &text };
        let style = match figure {
            Figure::Spark(_) => theme.accent,
            _ => theme.dim,
        };
        put_right(buf, left, text, style)
    })
}

fn text(figure: Figure, node: &Node, now: Timestamp, has_total: bool) -> String {
    match figure {
        Figure::Steps => steps(node),
        Figure::Context => node.context_percent().map_or_else(String::new, |percent| {
            let mark = if node.estimated { "~" } else { "" };
            let text = if percent > 999 { ">999%".to_owned() } else { format!("{mark}{percent}%") };
            format!("ctx {} {text:>4}", bar(percent, 100, BAR, ["━", "─"]))
        }),
        Figure::Tokens | Figure::Total if node.totals().tokens == 0 => String::new(),
        Figure::Tokens if node.has_children() && !has_total => format!("Σ{} tok", count(node.totals().tokens())),
        Figure::Tokens => tokens(node).map(|tokens| format!("{tokens} tok")).unwrap_or_default(),
        Figure::Total if node.has_children() => format!("Σ {}", count(node.totals().tokens())),
        Figure::Total => String::new(),
        Figure::Cost => money(node.totals()).unwrap_or_default(),
        Figure::Spark(columns) => spark(node, now, columns),
        Figure::Elapsed => node.elapsed(now).map(clock).unwrap_or_default(),
    }
}

fn steps(node: &Node) -> String {
    let Some(max) = node.max_steps else {
        return match node.steps {
            0 => String::new(),
            1 => "1 step".to_owned(),
            steps => format!("{steps} steps"),
        };
    };
    // The call that went beyond the budget was not carried out.
    let steps = node.steps.min(max);
    let text = format!("{steps}/{max}");
    let room = Figure::Steps.width().saturating_sub(2 + columns(&text)).min(BAR);
    format!("{} {text:>5}", bar(steps.into(), max.into(), room, ["▰", "▱"]))
}

/// Draws a bar of so many columns; anything above nothing fills at least one, and only everything fills all.
fn bar(part: u64, whole: u64, columns: u16, [full, empty]: [&str; 2]) -> String {
    let columns = u64::from(columns);
    let filled = match part.saturating_mul(columns).checked_div(whole).unwrap_or(0) {
        0 if part > 0 => 1,
        filled => filled.min(columns),
    };
    let repeat = |symbol: &str, times: u64| symbol.repeat(usize::try_from(times).unwrap_or(0));
    format!("{}{}", repeat(full, filled.min(columns)), repeat(empty, columns.saturating_sub(filled)))
}

/// Draws the last minute: each step stands for twice as much as the one below it.
fn spark(node: &Node, now: Timestamp, columns: u16) -> String {
    const STEPS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let group = i64::from(60 / columns.clamp(1, 60));
    let height = |amount: u16| match amount {
        0 => 0,
        1..4 => 1,
        more => usize::try_from(more.ilog2()).unwrap_or(0).min(8),
    };
    let end = node.ended.unwrap_or(now);
    node.sparks.columns(end, group).map(|amount| STEPS.get(height(amount)).copied().unwrap_or(' ')).collect()
}
