//! One-line forms of what an event carries, for listeners that write lines of text.
//!
//! Everything here is sanitised and short: whatever a model or a tool sends, the result is one line of visible text.

use crate::limits;
use crate::message::Arguments;
use crate::text::{clip, is_blank, visible_line};

/// Returns the first line that shows something, cut to the summary's length; `…` says that there was more.
pub(super) fn one_line(text: &str) -> String {
    one_line_of(text, limits::SUMMARY_COLUMNS)
}

fn one_line_of(text: &str, columns: usize) -> String {
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

/// Returns the arguments of a call: the value of an only text, `key=value` of several, or the raw text.
pub(super) fn arguments(arguments: &Arguments) -> String {
    let map = match arguments {
        Arguments::Raw(text) => return one_line(text),
        Arguments::Object(map) => map,
    };
    let value = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => one_line_of(text, limits::SUMMARY_COLUMNS / 2),
        other => one_line_of(&other.to_string(), limits::SUMMARY_COLUMNS / 2),
    };
    if let (1, Some(only @ serde_json::Value::String(_))) = (map.len(), map.values().next()) {
        return value(only);
    }
    let pairs: Vec<String> =
        map.iter().map(|(key, given)| format!("{}={}", one_line_of(key, 40), value(given))).collect();
    one_line(&pairs.join(" "))
}

/// Returns how much a text is: `3 lines, 1.2 KiB`.
pub(super) fn size(text: &str) -> String {
    let lines = match text.lines().count() {
        1 => "1 line".to_owned(),
        n => format!("{n} lines"),
    };
    format!("{lines}, {}", bytes(text.len()))
}

fn bytes(count: usize) -> String {
    const KIB: usize = 1024;
    const MIB: usize = 1024 * KIB;
    let tenths = |unit: usize| format!("{}.{}", count / unit, count % unit * 10 / unit);
    match count {
        0..KIB => format!("{count} B"),
        KIB..MIB => format!("{} KiB", tenths(KIB)),
        _ => format!("{} MiB", tenths(MIB)),
    }
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
    fn arguments_become_one_line() {
        for (given, shown) in [
            (r#"{"path":"README.md"}"#, "README.md"),
            (r#"{"pattern":"a\nb","path":"src"}"#, "pattern=a… path=src"),
            (r#"{"limit":5}"#, "limit=5"),
            (r#"{"names":["a","b"],"deep":{"x":null}}"#, r#"names=["a","b"] deep={"x":null}"#),
            ("{}", ""),
            ("", ""),
            (r#"{"path": "#, r#"{"path":"#),
        ] {
            assert_eq!(arguments(&Arguments::parse(given)), shown, "{given}");
        }
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
        for (count, shown) in [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (2 << 20, "2.0 MiB")]
        {
            assert_eq!(bytes(count), shown);
        }
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
