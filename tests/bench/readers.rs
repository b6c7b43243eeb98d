//! What the readers of hostile text take for the texts that are hardest on them: `cargo bench --bench readers`.
//!
//! A row is one reader: its slowest texts, each with the time of a processor that one reading takes, the shortest of
//! three; other work of the machine does not count. Arguments pick rows by a part of a name.

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use steersman_base::message::Arguments;
use steersman_base::text::{CommandOutputReader, visible};
use steersman_core::approval::{Circumstances, CommandOperation, Mode, Operation, Policy, Rules, Taint};
use steersman_tools::web::readable;
use steersman_tui::theme::Theme;
use steersman_tui::widgets::stream::{Format, Layout};

/// Longest command that a model may ask for.
const COMMAND: usize = steersman_base::limits::COMMAND_LENGTH;
/// A text that no reader is to stumble over.
const MEGABYTE: usize = 1_000_000;
/// Texts that are printed of each reader.
const SLOWEST: usize = 4;

/// What nests, quotes, expands or repeats in a shell.
const SHELL: [&str; 40] = [
    "(",
    "((",
    "$(",
    "$((",
    "${x:-",
    "\"$(",
    "`",
    "case x in x) ",
    "if ",
    "for x in a; do ",
    "{ ",
    "[[ ( ",
    "! ",
    "f() ",
    "coproc ",
    "<(",
    "<<E ",
    "<<E\n",
    "\nE\n",
    "x=(",
    "\"",
    "'",
    "\\",
    "{a,",
    "(ls;",
    "git ",
    "git -a ",
    "xargs git -a ",
    "a/",
    "x/HEAD ",
    ".git/",
    "*",
    "?",
    ">",
    "bash -c '",
    "ls\n",
    "ls;",
    "x=1 ",
    "é",
    "\u{202e}",
];

/// What is hard on a reader of HTML.
const HTML: [&str; 16] = [
    "&#",
    "&#x41;",
    "&",
    "&amp",
    "<",
    "<a ",
    "<a>",
    "<b><p>",
    "<div>",
    "<table>",
    "<table><tr><td>",
    "<!--",
    "</a>",
    "<a href='",
    "<svg><title>",
    "\u{a0}",
];

/// What is hard on a reader of Markdown.
const MARKDOWN: [&str; 20] = [
    ">",
    "*",
    "**a ",
    "[",
    "![",
    "[a](",
    "`",
    "- ",
    "1. ",
    "a|",
    "|",
    "<a ",
    "<!--",
    "&#",
    "[x][",
    "_a_",
    "#",
    "\\",
    "\n\n",
    "👩‍🚀",
];

/// What is hard on a reader of a terminal's output.
const OUTPUT: [&str; 12] =
    ["\x1b", "\x1b[", "\x1b[1;", "\x1b[31m", "\x1b]0;", "\r", "a\r", "\x08", "e\u{301}", "\x1b[A", "\x1b[K", "👩‍🚀"];

/// What is hard on a reader of JSON.
const JSON: [&str; 6] = ["[", "{\"a\":", "\"\\u0000", "1e9,", "[1,", "\\"];

fn main() {
    let picked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let row = |name: &str, texts: &[(String, String)], read: &dyn Fn(&str)| {
        if picked.is_empty() || picked.iter().any(|pick| name.contains(pick.as_str())) {
            print(name, texts, read);
        }
    };
    let few = [("40 × (".to_owned(), "(".repeat(40) + "ls"), ("30 × case".to_owned(), "case x in x) ".repeat(30))];
    row("shell, few characters", &few, &shell);
    row("shell, 96 KiB", &texts(&SHELL, COMMAND), &shell);
    row("shell, 96 KiB, mixed", &mixed(), &shell);
    row("shell, 1 MB", &texts(&SHELL, MEGABYTE), &shell);
    row("patterns, 96 KiB", &texts(&["a", "ab", "a ", "/a"], COMMAND), &patterns);
    row("HTML, 1 MB", &texts(&HTML, MEGABYTE), &html);
    row("Markdown, 1 MB, on the screen", &texts(&MARKDOWN, MEGABYTE), &markdown);
    row("output of a command, 1 MB", &texts(&OUTPUT, MEGABYTE), &output);
    row("JSON, 1 MB", &texts(&JSON, MEGABYTE), &|text| drop(black_box(Arguments::parse(text))));
    row("text made visible, 1 MB", &texts(&OUTPUT, MEGABYTE), &|text| drop(black_box(visible(text))));
}

/// Returns each unit as a text of a length, named by the unit.
fn texts(units: &[&str], bytes: usize) -> Vec<(String, String)> {
    units.iter().map(|unit| (unit.escape_debug().to_string(), unit.repeat(bytes / unit.len()))).collect()
}

/// Returns commands of a few units each, chosen by chance but always the same, as one runs into the other.
fn mixed() -> Vec<(String, String)> {
    let mut seed: u32 = 12345;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12345) & 0x7FFF_FFFF;
        (seed >> 12) as usize % below
    };
    let mut text = || {
        let mut text = String::new();
        for _ in 0..2 {
            let units: String = (0..=next(4)).map(|_| SHELL[next(SHELL.len())]).collect();
            text.push_str(&units.repeat(COMMAND / 2 / units.len()));
        }
        let name: String = text.chars().take(24).collect();
        (name.escape_debug().to_string(), text)
    };
    (0..60).map(|_| text()).collect()
}

fn print(name: &str, texts: &[(String, String)], read: &dyn Fn(&str)) {
    let time = |text: &str| {
        let began = now();
        read(text);
        now().saturating_sub(began)
    };
    let shortest = |text: &str| (0..3).map(|_| time(text)).min().unwrap_or_default();
    let mut times: Vec<(Duration, &str)> = texts.iter().map(|(name, text)| (shortest(text), name.as_str())).collect();
    times.sort_unstable_by(|one, other| other.cmp(one));
    let slowest =
        times.iter().take(SLOWEST).map(|(time, unit)| format!("{:.1} ms {unit}", time.as_secs_f64() * 1000.0));
    println!("{name:<32} {}", slowest.collect::<Vec<_>>().join("   "));
}

/// Returns the time that this thread has had a processor.
fn now() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// Decides about a command with rules of every kind.
fn shell(text: &str) {
    decide(Rules::parse(&["bash: git *"], &["bash: make *"], &["bash: rm *", "bash: git push *"]).unwrap(), text);
}

/// Decides about a command with patterns that try many places.
fn patterns(text: &str) {
    let many = format!("bash: {}b", "a*".repeat(30));
    decide(
        Rules::parse(&[], &[many.as_str(), "bash: *a*a*a*a*b"], &["bash: *a *a *a *b", "bash: ?*?*?*?*b"]).unwrap(),
        text,
    );
}

fn decide(rules: Rules, text: &str) {
    let policy = Policy { rules, root: Some("/work".into()), ..Policy::default() };
    let operation = CommandOperation {
        command: text.to_owned(),
        cwd: "/work".into(),
        timeout: Duration::from_secs(1),
        outside: false,
    };
    black_box(
        policy.decide(
            &Operation::Command(operation),
            &Circumstances { mode: Mode::Auto, grants: &[], taint: Taint::NONE },
        ),
    );
}

fn html(text: &str) {
    black_box(readable(text, &"https://example.org/".parse().unwrap()));
}

fn markdown(text: &str) {
    let theme = Theme::dark();
    let mut layout = Layout::new(Format::Markdown, 80);
    layout.update(text, &theme);
    layout.finish(text, &theme);
    black_box(layout.rows().len());
}

fn output(text: &str) {
    let mut reader = CommandOutputReader::default();
    reader.push(text);
    black_box(reader.finish());
}
