//! One-line forms of what an event carries, for listeners that write lines of text.
//!
//! Everything here is sanitised and short: whatever a model or a tool sends, the result is one line of visible text.

use crate::limits;
use crate::message::Arguments;
use crate::summary;
use crate::text::{clip, is_blank, visible_line};

/// Returns the first line that shows something, cut to the summary's length; `…` says that there was more.
pub(super) fn one_line(text: &str) -> String {
    let columns = limits::SUMMARY_COLUMNS;
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

/// Returns a call: the tool, and in a few words what it is asked for.
pub(super) fn call(tool: &str, arguments: &Arguments) -> String {
    format!("{} {}", one_line(tool), one_line(&summary::call(tool, arguments))).trim_end().to_owned()
}

/// Returns how much a text is: `3 lines, 1.2 KiB`.
pub(super) fn size(text: &str) -> String {
    let lines = match text.lines().count() {
        1 => "1 line".to_owned(),
        n => format!("{n} lines"),
    };
    format!("{lines}, {}", summary::bytes(text.len() as u64))
}

/// Returns a duration: `12 ms`, `1.2 s`, `2 m 05 s`.
pub(super) fn duration(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        _ => format!("{} m {:02} s", millis / 60_000, millis % 60_000 / 1_000),
    }
}

/// Returns a number of tokens: `950`, `12.2k`, `1.2M`.
pub(super) fn tokens(count: u64) -> String {
    let rounded = |unit: u64| {
        let tenths = count.saturating_add(unit / 20) / (unit / 10);
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    match count {
        0..1_000 => count.to_string(),
        // From here on a rounding would show `1000.0k`.
        1_000..999_950 => format!("{}k", rounded(1_000)),
        _ => format!("{}M", rounded(1_000_000)),
    }
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
    fn numbers_are_short() {
        for (count, shown) in [(0, "0"), (999, "999"), (1_000, "1.0k"), (12_249, "12.2k"), (12_250, "12.3k")] {
            assert_eq!(tokens(count), shown);
        }
        for (count, shown) in [(999_949, "999.9k"), (999_950, "1.0M"), (1_250_000, "1.3M")] {
            assert_eq!(tokens(count), shown);
        }
        assert!(tokens(u64::MAX).ends_with('M'));
        for (millis, shown) in
            [(0, "0 ms"), (999, "999 ms"), (1_250, "1.2 s"), (59_999, "59.9 s"), (125_000, "2 m 05 s")]
        {
            assert_eq!(duration(millis), shown);
        }
        assert_eq!(size("a\nb\n"), "2 lines, 4 B");
        assert_eq!(size("a"), "1 line, 1 B");
        assert_eq!(size(""), "0 lines, 0 B");
    }
}
