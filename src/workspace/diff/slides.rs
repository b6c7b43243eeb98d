//! Where a group of changed lines is shown that could as well be shown higher or lower: where it divides the text best.
//!
//! Judges by the indentation around both ends of the group, with the weights that git found by experiment.

use std::ops::Range;

use imara_diff::Token;

/// Positions that are judged at most.
const POSITIONS: u32 = 100;
/// Blank lines that are looked past, and the widest indentation that counts.
const BLANKS: i64 = 20;
const WIDEST: i64 = 200;
const TAB: i64 = 8;

/// Weights: a higher sum is a worse place to divide a text.
const AT_START: i64 = 1;
const AT_END: i64 = 21;
const BLANK: i64 = -30;
const BLANK_BEHIND: i64 = 6;
/// For indentation that grows, shrinks before more, and shrinks; each without and with blank lines.
const DEEPER: [i64; 2] = [-4, 10];
const OUTER: [i64; 2] = [24, 17];
const SHALLOWER: [i64; 2] = [23, 17];
const INDENT: i64 = 60;

/// Returns the best end for a group of lines; it can end anywhere from `earliest` on.
pub(super) fn best_end<'a>(
    lines: &[Token],
    group: &Range<u32>,
    earliest: u32,
    text: impl Fn(Token) -> &'a [u8],
) -> u32 {
    let indents = |at: usize| lines.get(at).map(|token| indent(text(*token)));
    let size = group.end - group.start;
    let first = earliest.max(group.start.saturating_sub(1)).max(group.end.saturating_sub(POSITIONS));
    let mut best = None;
    for end in first..=group.end {
        let (above, below) = (Split::at(end as usize, &indents), Split::at((end - size) as usize, &indents));
        let (depth, penalty) = (above.depth() + below.depth(), above.penalty() + below.penalty());
        let better = |(_, best_depth, best_penalty): (u32, i64, i64)| {
            INDENT * (depth - best_depth).signum() + penalty - best_penalty <= 0
        };
        if best.is_none_or(better) {
            best = Some((end, depth, penalty));
        }
    }
    best.map_or(group.end, |(end, _, _)| end)
}

/// Returns the columns before a line's first character; `None` for a blank line.
fn indent(line: &[u8]) -> Option<i64> {
    let mut columns = 0;
    for byte in line {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns += TAB - columns % TAB,
            b'\n' | b'\r' | 0x0b | 0x0c => {}
            _ => return Some(columns),
        }
        if columns >= WIDEST {
            return Some(WIDEST);
        }
    }
    None
}

/// Is the surroundings of a place between two lines.
struct Split {
    at_end: bool,
    /// Of the line behind it, of the next line before it that is not blank, and of the one behind that line.
    own: Option<i64>,
    before: Option<i64>,
    behind: Option<i64>,
    blanks_before: i64,
    blanks_behind: i64,
}

impl Split {
    /// Looks around a place; `indents` returns `None` behind the last line.
    fn at(place: usize, indents: &impl Fn(usize) -> Option<Option<i64>>) -> Self {
        let own = indents(place);
        let look = |near: &mut dyn Iterator<Item = Option<i64>>| {
            let mut blanks = 0;
            for indent in near {
                if indent.is_some() {
                    return (indent, blanks);
                }
                blanks += 1;
                if blanks == BLANKS {
                    return (Some(0), blanks);
                }
            }
            (None, blanks)
        };
        let (before, blanks_before) = look(&mut (0..place).rev().map_while(indents));
        let (behind, blanks_behind) = look(&mut (place + 1..).map_while(indents));
        Self { at_end: own.is_none(), own: own.flatten(), before, behind, blanks_before, blanks_behind }
    }

    /// Returns the indentation that the place has; less than none when nothing follows.
    fn depth(&self) -> i64 {
        self.own.or(self.behind).unwrap_or(-1)
    }

    fn penalty(&self) -> i64 {
        let mut penalty = 0;
        if self.before.is_none() && self.blanks_before == 0 {
            penalty += AT_START;
        }
        if self.at_end {
            penalty += AT_END;
        }
        let behind = if self.own.is_none() { 1 + self.blanks_behind } else { 0 };
        let blanks = self.blanks_before + behind;
        penalty += BLANK * blanks + BLANK_BEHIND * behind;
        let [plain, blank] = match (self.own.or(self.behind), self.before) {
            (Some(own), Some(before)) if own > before => DEEPER,
            (Some(own), Some(before)) if own < before => {
                if self.behind.is_some_and(|behind| behind > own) {
                    OUTER
                } else {
                    SHALLOWER
                }
            }
            _ => [0, 0],
        };
        penalty + if blanks == 0 { plain } else { blank }
    }
}
