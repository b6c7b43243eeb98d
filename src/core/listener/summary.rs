//! One-line forms of events, for listeners that write lines of text.
//!
//! All results are sanitised and short: one line of visible text, whatever a model or a tool sends.

use steersman_base::details::CommandEnd;
use steersman_base::limits;
use steersman_base::message::Arguments;
use steersman_base::summary;
use steersman_base::text::{clip, is_blank, visible_line};

/// Returns the first visible line, cut to the summary's length; `…` marks that there was more.
pub(super) fn one_line(text: &str) -> String {
    line_of(text, limits::SUMMARY_COLUMNS)
}

/// Returns the first visible line of what says why something was not done, or of a sentence of the program: with more room.
pub(super) fn reason(text: &str) -> String {
    line_of(text, limits::REASON_COLUMNS)
}

fn line_of(text: &str, columns: usize) -> String {
    let mut lines = text.trim_end().lines().skip_while(|line| is_blank(line));
    let line = lines.next().unwrap_or_default().trim();
    // One character more than fits: enough for `clip` to see that there is more, however long the line is.
    let end = line.char_indices().nth(columns + 1).map_or(line.len(), |(end, _)| end);
    let mut shown = clip(&visible_line(line.get(..end).unwrap_or_default()), columns).into_owned();
    if (end < line.len() || lines.next().is_some()) && !shown.ends_with('…') {
        shown.push('…');
    }
    shown
}

/// Returns a call in a few words: the tool and its main argument.
pub(super) fn call(tool: &str, arguments: &Arguments) -> String {
    format!("{} {}", one_line(tool), one_line(&summary::call(tool, arguments))).trim_end().to_owned()
}

/// Returns the size of a text: `3 lines, 1.2 KiB`.
pub(super) fn size(text: &str) -> String {
    let lines = match text.lines().count() {
        1 => "1 line".to_owned(),
        n => format!("{n} lines"),
    };
    format!("{lines}, {}", summary::bytes(text.len() as u64))
}

/// Returns how much a command printed, and how much of it the model got.
pub(super) fn printed(end: &CommandEnd, content: &str) -> String {
    let Some(lines) = end.lines else { return size(content) };
    let got = match end.lines_left_out {
        0 => String::new(),
        left_out => format!(", the model got {}", lines.saturating_sub(left_out)),
    };
    let lines = summary::count(usize::try_from(lines).unwrap_or(usize::MAX), "line");
    format!("{lines}, {}{got}", summary::bytes(end.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_one_short_visible_line() {
        assert_eq!(one_line("\n \n  first part \nsecond\n"), "first part…");
        assert_eq!(one_line("only\n\n"), "only");
        assert_eq!(one_line(""), "");
        assert_eq!(one_line("\u{1b}[31mred"), "␛[31mred");
        let most = limits::SUMMARY_COLUMNS;
        assert_eq!(one_line(&"é".repeat(most)), "é".repeat(most));
        assert_eq!(one_line(&"é".repeat(most + 1)), "é".repeat(most - 1) + "…");
        assert_eq!(one_line(&"é".repeat(most * 9)), "é".repeat(most - 1) + "…");
        assert_eq!(one_line(&"语".repeat(most)), "语".repeat(most / 2 - 1) + "…");
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!(size("a\nb\n"), "2 lines, 4 B");
        assert_eq!(size("a"), "1 line, 1 B");
        assert_eq!(size(""), "0 lines, 0 B");
    }
}
