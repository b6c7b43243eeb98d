//! Calls and results of tools in a few words for people, by name and arguments alone.
//!
//! One place for the screen and for plain output. Everything that is returned is one line of visible text.

use serde_json::{Map, Value};

use crate::details::{CommandEnd, PageInfo};
use crate::limits;
use crate::message::Arguments;
use crate::text::visible_line;

/// The arguments that describe a call best, the best first.
const DESCRIPTIVE: [&str; 12] =
    ["path", "file", "pattern", "command", "query", "url", "expression", "persona", "task", "name", "content", "text"];

/// Sums up a call: the path of a `read`, the command of a `bash` after `$`, the name and the task of an `agent` call.
///
/// A call of an unknown tool is summed up by its most descriptive argument, followed by the others as `name=value`.
pub fn call(tool: &str, arguments: &Arguments) -> String {
    let map = match arguments {
        Arguments::Raw(raw) => return one_line(raw),
        Arguments::Object(map) => map,
    };
    tool_summary(tool, &ArgumentFields(map)).unwrap_or_else(|| any(map))
}

/// Returns how a command ended, in a word or two.
pub fn ended(end: &CommandEnd) -> String {
    let how = match (end.timed_out, &end.signal, end.code) {
        (true, _, _) => "timed out".to_owned(),
        (false, Some(signal), _) => format!("ended by {}", one_line(signal)),
        (false, None, Some(code)) => format!("exit {code}"),
        (false, None, None) => "ended".to_owned(),
    };
    match end.killed {
        0 => how,
        1 => format!("{how}, 1 process killed"),
        killed => format!("{how}, {killed} processes killed"),
    }
}

/// Returns the facts of a page: status, type and size.
pub fn page(page: &PageInfo) -> String {
    let kind = page.content_type.split(';').next().unwrap_or_default().trim();
    let parts = [page.status.to_string(), one_line(kind), bytes(page.bytes)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Returns the effect of a compaction: the tokens before and after, as shares of the window where that is known,
/// and the number of summarised messages.
pub fn compacted(sizes: [Option<u64>; 2], window: Option<u64>, messages: usize) -> String {
    let window = window.filter(|window| *window > 0);
    let size = |amount: Option<u64>| match (amount, window) {
        (Some(amount), Some(window)) => format!("{} %", amount.saturating_mul(100) / window),
        (Some(amount), None) => tokens(amount),
        (None, _) => "?".to_owned(),
    };
    let [before, after] = sizes.map(size);
    let unit = if window.is_some() { "" } else { " tokens" };
    let what = if messages == 0 { "long results shortened".to_owned() } else { count(messages, "message") };
    format!("compacted: {before} → {after}{unit}, {what}")
}

/// Returns what a call has found: the lines of a `read`, the matches of a `grep`. `None` when the result itself
/// says it best, or for an unknown tool.
pub fn found(tool: &str, result: &str) -> Option<String> {
    let is_note = |line: &&str| line.starts_with('[');
    let lines = || result.lines().filter(|line| !is_note(line) && !line.is_empty());
    let notes = || result.lines().filter(is_note);
    match tool {
        "read" => {
            let window =
                notes().find_map(|note| note.strip_prefix("[lines ")?.split_once(';')).map(|(window, _)| window);
            let size = window.and_then(|window| window.split_once(" of a file of ")?.1.split(' ').next()?.parse().ok());
            let read = count(lines().count(), "line");
            Some(size.map_or(read.clone(), |size| format!("{read} of {}", bytes(size))))
        }
        "grep" => {
            let is_hit = |line: &&str| {
                let number = line.split(':').nth(1).unwrap_or_default();
                !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            };
            let more = if notes().any(|note| note.contains("there are more")) { "more than " } else { "" };
            let hits = lines().filter(is_hit).count();
            Some(format!("{more}{hits} {}", if hits == 1 { "match" } else { "matches" }))
        }
        "glob" => {
            let all = notes().find_map(|note| note.split_once(" of ")?.1.split_once(" paths:").map(|(all, _)| all));
            let paths = lines().count();
            Some(all.map_or_else(|| count(paths, "path"), |all| format!("{paths} of {} paths", one_line(all))))
        }
        "web_search" => {
            let is_result =
                |line: &&str| line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
            Some(count(lines().filter(is_result).count(), "result"))
        }
        "bash" => {
            let (how, job) = notes().find_map(|note| {
                let said = note.strip_prefix('[')?.split_once(": job_output reads")?.0;
                let moved = said.rsplit_once(", where it continues as ").map(|(_, job)| ("continues", job));
                moved.or_else(|| Some(("runs", said.strip_suffix(" runs in the background")?)))
            })?;
            Some(format!("{how} in the background as {}", one_line(job)))
        }
        "calculator" => Some(format!("= {}", one_line(result))).filter(|_| result.lines().count() == 1),
        _ => None,
    }
}

/// Returns a number of bytes for people: `950 B`, `1.2 KiB`.
pub fn bytes(count: u64) -> String {
    const KIB: u64 = 1024;
    const MIB: u64 = 1024 * KIB;
    const GIB: u64 = 1024 * MIB;
    if count < KIB {
        return format!("{count} B");
    }
    let units = [(KIB, "KiB"), (MIB, "MiB"), (GIB, "GiB")];
    // Of a number just below the next unit, rounding would make 1024.0.
    let fitting = units.into_iter().find(|(unit, _)| tenths(count, *unit) < 10 * 1024);
    let (unit, name) = fitting.unwrap_or((GIB, "GiB"));
    format!("{} {name}", with_tenth(count, unit))
}

/// Returns a number of tokens for people: `950`, `12.3k`, `131k`, `1.2M`.
pub fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..99_950 => format!("{}k", with_tenth(count, 1_000)),
        99_950..999_500 => format!("{}k", count.saturating_add(500) / 1_000),
        _ => format!("{}M", with_tenth(count, 1_000_000)),
    }
}

/// Returns a time for people: `250 ms`, `1.5 s`, `2:05 min`.
pub fn seconds(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..59_950 => format!("{} s", with_tenth(millis, 1_000)),
        _ => {
            let seconds = millis.saturating_add(500) / 1_000;
            format!("{}:{:02} min", seconds / 60, seconds % 60)
        }
    }
}

/// Returns the time of a call, and the time for which it waited for the user.
pub fn took(own_ms: u64, waited_ms: u64) -> String {
    match waited_ms {
        0 => seconds(own_ms),
        waited => format!("{} (waited {} for you)", seconds(own_ms), seconds(waited)),
    }
}

/// Returns a number in units, rounded to the nearest tenth.
fn with_tenth(count: u64, unit: u64) -> String {
    let tenths = tenths(count, unit);
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn tenths(count: u64, unit: u64) -> u64 {
    let tenths = (u128::from(count) * 10 + u128::from(unit) / 2) / u128::from(unit);
    u64::try_from(tenths).unwrap_or(u64::MAX)
}

/// Returns how many tool calls a turn has made: `1 call made`.
pub fn calls_made(made: u32) -> String {
    if made == 1 { "1 call made".to_owned() } else { format!("{made} calls made") }
}

/// Returns a number with its noun: `1 line`, `3 lines`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

struct ArgumentFields<'a>(&'a Map<String, Value>);

impl<'a> ArgumentFields<'a> {
    fn str(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).and_then(Value::as_str)
    }

    fn int(&self, name: &str) -> Option<i64> {
        self.0.get(name).and_then(Value::as_i64)
    }

    fn is_set(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }
}

/// Sums up a call of a built-in tool; `None` for another tool, or when an argument is missing.
fn tool_summary(tool: &str, fields: &ArgumentFields<'_>) -> Option<String> {
    let line = |name: &str| fields.str(name).map(one_line);
    Some(match tool {
        "read" => format!("{}{}", line("path")?, lines(fields)),
        "write" => format!("{} ({})", line("path")?, bytes(fields.str("content")?.len() as u64)),
        "edit" if fields.is_set("replace_all") => format!("{} (every place)", line("path")?),
        "edit" => line("path")?,
        "grep" => {
            let case = if fields.is_set("ignore_case") { ", any case" } else { "" };
            let place = [line("path"), line("glob")].into_iter().flatten().collect::<Vec<_>>().join(" ");
            let place = if place.is_empty() { String::new() } else { format!(" in {place}") };
            format!("{}{place}{case}", line("pattern")?)
        }
        "glob" => {
            let place = line("path").map(|path| format!(" in {path}")).unwrap_or_default();
            format!("{}{place}", line("pattern")?)
        }
        "bash" => command(fields.str("command")?),
        "fetch" | "web_scrape" | "git_clone" => line("url")?,
        "web_search" => format!("“{}”", line("query")?),
        "agent" => format!("{}: {}", line("name")?, line("task")?),
        "calculator" => line("expression")?,
        "plan" => plan(fields),
        "ask_user" => questions(fields)?,
        _ => return None,
    })
}

/// Returns the first question of a call, and how many come behind it.
fn questions(fields: &ArgumentFields<'_>) -> Option<String> {
    let questions = fields.0.get("questions").and_then(Value::as_array)?;
    let first = one_line(questions.first()?.get("question").and_then(Value::as_str)?);
    Some(match questions.len() {
        1 => first,
        count => format!("{first} (+{} more)", count - 1),
    })
}

/// Returns how far a plan is that a call writes: `4 steps, 1 done: write the tests`, with the step that runs.
fn plan(fields: &ArgumentFields<'_>) -> String {
    let submits = if fields.is_set("submit") { "for your acceptance" } else { "" };
    let Some(steps) = fields.0.get("steps").and_then(Value::as_array) else { return submits.to_owned() };
    let field = |step: &Value, name: &str| step.get(name).and_then(Value::as_str).map(str::to_owned);
    let is = |step: &&Value, state: &str| field(step, "state").as_deref() == Some(state);
    let done = match steps.iter().filter(|step| is(step, "done")).count() {
        0 => String::new(),
        done => format!("{done} done"),
    };
    let parts = [count(steps.len(), "step"), done, submits.to_owned()];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let running = steps.iter().find(|step| is(step, "running")).and_then(|step| field(step, "text"));
    let running = running.map(|text| format!(": {}", one_line(&text))).unwrap_or_default();
    format!("{}{running}", parts.join(", "))
}

/// Returns the first visible line of a command, and the number of lines after it.
fn command(command: &str) -> String {
    let mut lines = command.lines().skip_while(|line| line.trim().is_empty());
    let first = one_line(lines.next().unwrap_or_default());
    match lines.count() {
        0 => format!("$ {first}"),
        more => format!("$ {first} (+{})", count(more, "line")),
    }
}

/// Returns the lines that a `read` requests.
fn lines(fields: &ArgumentFields<'_>) -> String {
    match (fields.int("offset"), fields.int("limit")) {
        (None, None) => String::new(),
        (Some(first), None) => format!(", from line {first}"),
        (first, Some(limit)) => {
            let first = first.unwrap_or(1);
            format!(", lines {first}–{}", first.saturating_add(limit).saturating_sub(1))
        }
    }
}

/// Sums up any call.
fn any(map: &Map<String, Value>) -> String {
    let rank = |key: &str| DESCRIPTIVE.iter().position(|descriptive| *descriptive == key).unwrap_or(DESCRIPTIVE.len());
    let mut fields: Vec<_> = map.iter().collect();
    fields.sort_by_key(|(key, _)| rank(key));
    let mut line = String::new();
    for (key, value) in fields {
        let value = match value {
            Value::String(text) => one_line(text),
            other => one_line(&other.to_string()),
        };
        if line.is_empty() && rank(key) < DESCRIPTIVE.len() {
            line.push_str(&value);
        } else {
            let gap = if line.is_empty() { "" } else { " " };
            line.extend([gap, &one_line(key), "=", &value]);
        }
    }
    line
}

/// Returns the beginning of a text as one visible line, with single blanks.
fn one_line(text: &str) -> String {
    let words = text.split_whitespace().flat_map(|word| [" ", word]).flat_map(str::chars);
    let line: String = words.skip(1).take(limits::SUMMARY_CHARS).collect();
    visible_line(&line).into_owned()
}

/// Two sessions, row by row. All texts are safe to be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComparedTable {
    /// One sentence about what both share.
    pub heading: String,
    /// The rows, in the order of the screen.
    pub rows: Vec<ComparedRow>,
}

/// One thing about both sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedRow {
    /// What it is.
    pub name: &'static str,
    /// What each has, line by line.
    pub sides: [Vec<String>; 2],
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summed(tool: &str, arguments: &str) -> String {
        call(tool, &Arguments::parse(arguments))
    }

    #[test]
    fn each_tool_is_summed_up_as_people_say_it() {
        for (tool, arguments, shown) in [
            ("read", r#"{"path":"src/a.rs"}"#, "src/a.rs"),
            ("ask_user", r#"{"questions":[{"question":"Which one?"}]}"#, "Which one?"),
            ("ask_user", r#"{"questions":[{"question":"One?"},{"question":"Two?"}]}"#, "One? (+1 more)"),
            ("read", r#"{"path":"src/a.rs","offset":10,"limit":50}"#, "src/a.rs, lines 10–59"),
            ("read", r#"{"path":"src/a.rs","offset":10}"#, "src/a.rs, from line 10"),
            ("write", r#"{"path":"a","content":"12345"}"#, "a (5 B)"),
            ("edit", r#"{"path":"a","old_string":"x","new_string":"y"}"#, "a"),
            ("edit", r#"{"path":"a","old_string":"x","new_string":"y","replace_all":true}"#, "a (every place)"),
            ("bash", r#"{"command":"cargo test\n echo\nls"}"#, "$ cargo test (+2 lines)"),
            ("bash", r#"{"command":"\n ls  -l","timeout":5}"#, "$ ls -l"),
            ("grep", r#"{"pattern":"fn .*","path":"src"}"#, "fn .* in src"),
            ("grep", r#"{"pattern":"x","glob":"*.rs","ignore_case":true}"#, "x in *.rs, any case"),
            ("glob", r#"{"pattern":"**/*.rs"}"#, "**/*.rs"),
            ("fetch", r#"{"url":"https://a.example/"}"#, "https://a.example/"),
            ("web_search", r#"{"query":"rust pty"}"#, "“rust pty”"),
            ("git_clone", r#"{"url":"https://a.example/b.git"}"#, "https://a.example/b.git"),
            ("agent", r#"{"name":"researcher","task":"find it\nall"}"#, "researcher: find it all"),
            ("calculator", r#"{"expression":"1 + 1"}"#, "1 + 1"),
            ("read", r#"{"file":"odd"}"#, "odd"),
            ("other", r#"{"limit":5,"path":"x"}"#, "x limit=5"),
            ("other", "{", "{"),
            ("other", "{}", ""),
        ] {
            assert_eq!(summed(tool, arguments), shown, "{tool} {arguments}");
        }
    }

    #[test]
    fn what_was_found_is_counted_as_people_count_it() {
        for (tool, result, said) in [
            ("read", "     1\ta\n     2\tb\n", "2 lines"),
            (
                "read",
                "     1  a\n[lines 1 to 1 of a file of 2048 bytes; to go on, use offset 2]\n",
                "1 line of 2.0 KiB",
            ),
            ("grep", "a.rs:3:x\nb.rs:14:y: z\n", "2 matches"),
            ("grep", "[no hits for x in .: 3 files searched]\n", "0 matches"),
            ("grep", "a:1:x\n[1 hits, there are more: narrow the pattern, glob or path]\n", "more than 1 match"),
            ("glob", "a\nb\n", "2 paths"),
            ("glob", "a\n[1 of 900 paths: narrow the pattern or the path]\n", "1 of 900 paths"),
            ("web_search", "Results for \"a\" (b):\n\n1. T\n   <u>\n   2. not\n\n2. U\n   <v>\n", "2 results"),
            ("calculator", "42", "= 42"),
        ] {
            assert_eq!(found(tool, result).as_deref(), Some(said), "{tool}: {result}");
        }
        assert_eq!(found("bash", "a\nb"), None);
        let started = "[j1 runs in the background: job_output reads what it prints; you are told when it ends]\n";
        assert_eq!(found("bash", started).as_deref(), Some("runs in the background as j1"));
        let moved = "[the user sent this command to the background, where it continues as j2: job_output reads what it \
                     prints; you are told when it ends]\n";
        assert_eq!(found("bash", moved).as_deref(), Some("continues in the background as j2"));
        assert_eq!(found("other", "a"), None);
    }

    #[test]
    fn numbers_are_rounded_not_cut() {
        for (count, shown) in [(0, "0"), (999, "999"), (1_000, "1.0k"), (8_192, "8.2k"), (12_249, "12.2k")] {
            assert_eq!(tokens(count), shown);
        }
        for (count, shown) in [(99_949, "99.9k"), (99_950, "100k"), (131_500, "132k"), (999_500, "1.0M")] {
            assert_eq!(tokens(count), shown);
        }
        assert!(tokens(u64::MAX).ends_with('M'));
        for (count, shown) in [(1_023, "1023 B"), (12_700, "12.4 KiB"), (1_048_570, "1.0 MiB"), (1_992_294, "1.9 MiB")]
        {
            assert_eq!(bytes(count), shown);
        }
        for (millis, shown) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (1_250, "1.3 s"),
            (59_949, "59.9 s"),
            (59_950, "1:00 min"),
            (125_499, "2:05 min"),
        ] {
            assert_eq!(seconds(millis), shown);
        }
    }

    #[test]
    fn nothing_in_a_summary_is_obeyed() {
        let evil = "\u{1b}]0;x\u{7}\u{202e}a\r\u{9b}2J";
        for tool in ["read", "write", "edit", "bash", "grep", "glob", "fetch", "web_search", "agent", "calculator", "x"]
        {
            let names = ["path", "command", "pattern", "url", "query", "name", "task", "expression", "content", evil];
            let map: Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), Value::from(evil))).collect();
            let line = call(tool, &Arguments::Object(map));
            assert!(!line.contains(|c: char| c.is_control() || c == '\u{202e}'), "{tool}: {line:?}");
        }
    }

    #[test]
    fn ends_and_pages_are_told_in_words() {
        let end = CommandEnd {
            code: Some(1),
            signal: None,
            timed_out: false,
            bytes: 0,
            lines: None,
            lines_left_out: 0,
            killed: 0,
            saved: None,
            ..CommandEnd::default()
        };
        assert_eq!(ended(&end), "exit 1");
        assert_eq!(ended(&CommandEnd { timed_out: true, killed: 2, ..end.clone() }), "timed out, 2 processes killed");
        assert_eq!(ended(&CommandEnd { code: None, signal: Some("SIGKILL".to_owned()), ..end }), "ended by SIGKILL");
        let facts = PageInfo {
            url: String::new(),
            status: 200,
            content_type: "text/html; charset=utf-8".to_owned(),
            bytes: 12_700,
        };
        assert_eq!(page(&facts), "200, text/html, 12.4 KiB");
    }
}
