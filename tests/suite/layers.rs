//! The structure of the sources, as a test: one-way layers, small files, a header each, no panics on outside data.
//!
//! The layers are the design's. A module that wants an edge which is not here is in the wrong layer.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const WORDS: &[&str] = &[
    "id",
    "dialect",
    "image",
    "message",
    "event",
    "error",
    "text",
    "details",
    "mode",
    "target",
    "temporary",
    "price",
    "limits",
    "assets",
    "summary",
    "packed",
    "sync",
    "regular_file",
    "front_matter",
    "fault",
    "clock",
    "manual",
    "protocol",
    "steering",
    "plan",
    "tls",
];
const PARTS: &[&str] = &["approval", "control", "listener", "provider", "web", "workspace"];
/// They tie everything together, so they may use everything.
const PROGRAM: &[&str] = &["main", "lib", "prelude", "cli", "config", "demo"];

/// Files that may be longer than 500 lines, each with its reason.
const LONG_FILES: &[(&str, &str)] = &[];

/// Lines that may panic, as (file, part of the line, why it cannot happen).
const PANICS: &[(&str, &str, &str)] = &[];

/// Returns what a module may use besides itself; `None` for a module that is in no layer.
fn allowed(module: &str) -> Option<BTreeSet<&'static str>> {
    let layers: &[&[&str]] = match module {
        word if WORDS.contains(&word) => &[WORDS],
        part if PARTS.contains(&part) => &[WORDS],
        // Of the provider it takes the schema, which is what goes to a model.
        "tool" => &[WORDS, &["approval", "control", "workspace", "provider", "web"]],
        "agent" => &[WORDS, PARTS, &["tool"]],
        "subagent" | "mcp" | "skill" | "hooks" => &[WORDS, PARTS, &["tool", "agent"]],
        "host" => &[WORDS, PARTS, &["tool", "agent", "subagent", "mcp", "skill", "hooks"]],
        "session" => &[WORDS, PARTS, &["tool", "agent", "subagent", "host"]],
        // A client sees a run only through the protocol; only `tui/run` holds a client, see below.
        "tui" => &[WORDS, &["session"]],
        program if PROGRAM.contains(&program) => {
            &[WORDS, PARTS, PROGRAM, &["tool", "agent", "subagent", "mcp", "skill", "hooks", "host", "session", "tui"]]
        }
        _ => return None,
    };
    Some(layers.iter().flat_map(|layer| layer.iter().copied()).collect())
}

/// One source file, without its tests and comments.
struct Source {
    /// As in `src/tui/view/tree.rs`.
    path: String,
    whole: String,
    code: String,
    /// As in `tui`, `view`, `tree`.
    module: Vec<String>,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    collect(&root.join("src"), &mut files);
    assert!(files.len() > 50, "the sources are not where this test looks");
    files
        .into_iter()
        .map(|file| {
            let path = file.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            let whole = fs::read_to_string(&file).unwrap();
            let module = path.trim_start_matches("src/").trim_end_matches(".rs").trim_end_matches("/mod");
            let module = module.split('/').map(str::to_owned).collect();
            Source { code: code_of(&whole), path, whole, module }
        })
        .collect()
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Leaves out comments and every item under a `cfg` of tests, which by our format ends with a `}` or `;` at its own indent.
fn code_of(whole: &str) -> String {
    let mut code = String::new();
    let mut lines = whole.lines();
    while let Some(line) = lines.next() {
        let text = line.trim_start();
        if text == "#[cfg(test)]" || text.starts_with("#[cfg(all(test, ") {
            let indent = &line[..line.len() - text.len()];
            let ends = [format!("{indent}}}"), format!("{indent}}};")];
            for skipped in lines.by_ref() {
                let one_line =
                    skipped.starts_with(indent) && skipped.ends_with(';') && !skipped[indent.len()..].starts_with(' ');
                if ends.contains(&skipped.to_owned()) || one_line {
                    break;
                }
            }
        } else if !text.starts_with("//") {
            code.push_str(line);
            code.push('\n');
        }
    }
    code
}

/// Returns the modules that a file names by `crate::…` and `super::…`, as paths from the crate's root; of a list in braces
/// each member. One segment too many (an item's name) does not matter.
fn uses(source: &Source) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    for (at, _) in source.code.match_indices("crate::") {
        expand(Vec::new(), &source.code[at + "crate::".len()..], &mut found);
    }
    let mut rest = source.code.as_str();
    while let Some(at) = rest.find("super::") {
        let mut base = source.module.clone();
        rest = &rest[at..];
        while let Some(behind) = rest.strip_prefix("super::") {
            base.pop();
            rest = behind;
        }
        expand(base, rest, &mut found);
    }
    found
}

/// Reads `a::b::{c, d::e}` behind a base; two more segments are enough to know the module.
fn expand(base: Vec<String>, text: &str, found: &mut BTreeSet<Vec<String>>) {
    if let Some(list) = text.strip_prefix('{') {
        let mut depth = 0;
        let mut start = 0;
        for (at, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    let member = list[start..at].trim();
                    if !member.is_empty() {
                        expand(base.clone(), member, found);
                    }
                    if c == '}' {
                        return;
                    }
                    start = at + 1;
                }
                _ => {}
            }
        }
        panic!("a list of uses without an end: {text:.80}");
    }
    let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let behind = &text[name.len()..];
    let path: Vec<String> = base.into_iter().chain([name]).collect();
    match behind.strip_prefix("::") {
        Some(more) if path.len() < 3 => expand(path, more, found),
        _ => {
            found.insert(path);
        }
    }
}

fn report(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn every_module_uses_only_the_layers_above_it() {
    let mut faults = Vec::new();
    for source in sources() {
        let module = source.module[0].as_str();
        let Some(allowed) = allowed(module) else {
            faults.push(format!("{}: give `{module}` a layer in this test and in the design", source.path));
            continue;
        };
        for used in uses(&source) {
            let used = used[0].as_str();
            // What the library's root itself holds has no module.
            let is_module = allowed_anywhere(used);
            if is_module && used != module && !allowed.contains(used) {
                faults.push(format!("{}: `{module}` must not use `{used}`", source.path));
            }
        }
    }
    report(&faults);
}

fn allowed_anywhere(name: &str) -> bool {
    allowed(name).is_some()
}

#[test]
fn only_the_loop_of_the_screen_holds_a_client_of_the_run() {
    let faults: Vec<String> = sources()
        .iter()
        .filter(|source| source.module[0] == "tui" && source.module.get(1).is_none_or(|part| part != "run"))
        .filter(|source| {
            uses(source).iter().any(|used| used[0] == "session" && used.get(1).is_none_or(|part| part != "fold"))
        })
        .map(|source| format!("{} names the session", source.path))
        .collect();
    report(&faults);
}

#[test]
fn what_a_client_knows_of_a_run_is_folded_from_words_alone() {
    let faults: Vec<String> = sources()
        .iter()
        .filter(|source| source.path.starts_with("src/session/fold/"))
        .flat_map(|source| {
            let foreign = uses(source).into_iter().filter(|used| {
                let is_own = used[0] == "session" && used.get(1).is_none_or(|part| part == "fold");
                !is_own && !WORDS.contains(&used[0].as_str())
            });
            let foreign = foreign.map(|used| used.join("::")).collect::<Vec<_>>();
            let drawing = ["ratatui", "crossterm"].into_iter().filter(|name| source.code.contains(name));
            foreign.into_iter().chain(drawing.map(str::to_owned)).map(|name| format!("{} uses {name}", source.path))
        })
        .collect();
    report(&faults);
}

#[test]
fn a_run_without_a_screen_is_steered_through_its_client_alone() {
    let faults: Vec<String> = sources()
        .iter()
        .filter(|source| source.path == "src/cli/exec/steering.rs" || source.path == "src/cli/exec/progress.rs")
        .flat_map(|source| uses(source).into_iter().map(|used| (source.path.clone(), used)))
        .filter(|(_, used)| ["host", "control", "approval", "agent"].contains(&used[0].as_str()))
        .map(|(path, used)| format!("{path} uses {}", used.join("::")))
        .collect();
    report(&faults);
}

#[expect(clippy::too_many_lines, reason = "the table of all arrows of the screen")]
#[test]
fn inside_the_screen_the_arrows_point_at_the_state() {
    let below = |part: &str| -> &[&str] {
        match part {
            "theme" | "keymap" | "frame_clock" | "fuzzy" | "handover" | "highlight" | "history_file" | "switch"
            | "tour" => &[],
            "widgets" => &["theme", "highlight"],
            // Rows of cells, and what the terminal is given for them.
            "pictures" => &["widgets"],
            "transcript" => &[
                "widgets",
                "facts",
                "effect",
                "export",
                "pause",
                "pictures",
                "state",
                "theme",
                "keymap",
                "highlight",
                "view",
            ],
            "commands" => &["theme", "keymap"],
            "export" => &["state"],
            // What every pane reads, and what it answers.
            "facts" => &["state", "keymap", "theme", "tour"],
            "effect" => &["commands", "state", "export", "fuzzy", "highlight", "pictures", "switch"],
            // A pane in its own folder: `App` keeps its state, which knows nothing of `App`.
            "overlay" => &["facts", "effect", "state", "keymap", "theme", "widgets"],
            "focus" => &["overlay", "state", "keymap"],
            "timeline" => &["facts", "keymap", "theme", "widgets", "switch"],
            "help" => &["facts", "effect", "state", "keymap", "commands", "overlay"],
            // A question about a text acts on the list of pending ones.
            "agents" => &["facts", "effect", "focus", "state", "keymap", "transcript"],
            "alerts" => &["effect", "state", "status", "approval"],
            "approval" | "pause" | "pending" => {
                &["commands", "facts", "effect", "overlay", "state", "keymap", "pending", "switch"]
            }
            // A list over the screen says what its rows look like, beside what they are.
            "changes" | "compared" | "context" | "jobs" | "plan" | "sessions" => {
                &["facts", "effect", "overlay", "keymap", "state", "switch", "theme", "widgets"]
            }
            "ledger" => &["facts", "effect", "overlay", "keymap", "state", "theme", "view", "widgets"],
            "message" => &["facts", "effect", "focus", "overlay", "state", "status", "keymap", "commands", "fuzzy"],
            "status" => &["facts", "keymap", "state", "agents"],
            // It reads the message, and changes it by an effect.
            "palette" => &["facts", "effect", "overlay", "state", "keymap", "commands", "theme", "message"],
            "app" => &[
                "agents",
                "alerts",
                "focus",
                "timeline",
                "facts",
                "message",
                "palette",
                "compared",
                "sessions",
                "state",
                "status",
                "theme",
                "help",
                "highlight",
                "transcript",
                "approval",
                "ledger",
                "pause",
                "pending",
                "switch",
            ],
            "state" => &["app", "theme", "keymap", "commands", "highlight", "transcript"],
            "msg" => &[
                "agents",
                "alerts",
                "effect",
                "message",
                "state",
                "theme",
                "export",
                "fuzzy",
                "highlight",
                "overlay",
                "transcript",
                "switch",
                "timeline",
                "approval",
                "pause",
                "pictures",
            ],
            "view" => &[
                "timeline",
                "agents",
                "alerts",
                "app",
                "approval",
                "commands",
                "effect",
                "facts",
                "palette",
                "help",
                "highlight",
                "keymap",
                "ledger",
                "message",
                "msg",
                "pause",
                "pending",
                "pictures",
                "state",
                "status",
                "theme",
                "transcript",
                "widgets",
                "compared",
                "sessions",
                "tour",
            ],
            "update" => &[
                "agents",
                "alerts",
                "app",
                "approval",
                "changes",
                "context",
                "jobs",
                "facts",
                "focus",
                "overlay",
                "timeline",
                "palette",
                "commands",
                "effect",
                "export",
                "fuzzy",
                "help",
                "keymap",
                "ledger",
                "message",
                "msg",
                "compared",
                "sessions",
                "switch",
                "pause",
                "pending",
                "plan",
                "state",
                "status",
                "theme",
                "transcript",
            ],
            "lines" => &[
                "agents",
                "approval",
                "message",
                "state",
                "status",
                "keymap",
                "commands",
                "view",
                "transcript",
                "widgets",
                "pause",
            ],
            "input" => &["msg", "keymap", "handover", "pictures"],
            "terminal" => &["theme", "frame_clock", "msg", "handover", "pictures"],
            _ => &[
                "agents",
                "alerts",
                "app",
                "approval",
                "changes",
                "context",
                "jobs",
                "commands",
                "effect",
                "export",
                "facts",
                "files",
                "focus",
                "frame_clock",
                "fuzzy",
                "handover",
                "help",
                "highlight",
                "history_file",
                "input",
                "keymap",
                "ledger",
                "lines",
                "message",
                "msg",
                "outside",
                "overlay",
                "palette",
                "pause",
                "pending",
                "pictures",
                "run",
                "compared",
                "sessions",
                "state",
                "status",
                "switch",
                "terminal",
                "theme",
                "timeline",
                "tour",
                "transcript",
                "update",
                "view",
                "widgets",
            ],
        }
    };
    let mut faults = Vec::new();
    for source in sources().iter().filter(|source| source.module[0] == "tui" && source.module.len() > 1) {
        let part = source.module[1].as_str();
        // How a pane is drawn stands in its own folder.
        let draws = source.module.get(2).is_some_and(|file| file == "view");
        for used in uses(source).iter().filter(|used| used[0] == "tui" && used.len() > 1) {
            let used = used[1].as_str();
            let is_for_drawing = draws && ["view", "theme", "widgets"].contains(&used);
            if used != part && !is_for_drawing && !below(part).contains(&used) {
                faults.push(format!("{}: `{part}` must not use `{used}`", source.path));
            }
        }
    }
    report(&faults);
}

/// The root of the screen: what knows every pane. Everything else is a pane or stands below them.
const ROOT: &[&str] = &[
    "src/tui/app/mod.rs",
    "src/tui/update/mod.rs",
    "src/tui/update/command.rs",
    "src/tui/update/escape.rs",
    "src/tui/update/keys.rs",
    "src/tui/update/line.rs",
    "src/tui/update/message.rs",
    "src/tui/update/mouse.rs",
    "src/tui/update/post.rs",
    "src/tui/update/replay.rs",
    "src/tui/update/transcript.rs",
];

/// Fields of `App`: one for each pane and one for the facts.
const MOST_FIELDS: usize = 15;

#[test]
fn outside_the_root_of_the_screen_no_function_takes_the_whole_app_to_change_it() {
    let faults: Vec<String> = sources()
        .iter()
        .filter(|source| source.path.starts_with("src/tui/") && source.code.contains("&mut App"))
        .filter(|source| !ROOT.contains(&source.path.as_str()))
        .map(|source| format!("{} takes `&mut App`: let it take its own state and the facts", source.path))
        .collect();
    report(&faults);
}

#[test]
fn no_circle_leads_through_the_parts_of_the_screen() {
    // They tie the panes together.
    let root = ["app", "update", "view", "run", "lines"];
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources().iter().filter(|source| source.module[0] == "tui" && source.module.len() > 1) {
        let part = &source.module[1];
        let used =
            uses(source).into_iter().filter(|used| used[0] == "tui" && used.len() > 1).map(|used| used[1].clone());
        let is_meant = |used: &str| used != part && !root.contains(&used);
        let used = used.filter(|used| is_meant(used));
        if !root.contains(&part.as_str()) {
            edges.entry(part.clone()).or_default().extend(used);
        }
    }
    assert!(edges["help"].contains("keymap") && edges.len() > 10, "{edges:?}");
    // What uses nothing that is left is in no circle.
    loop {
        let left: BTreeSet<String> = edges.keys().cloned().collect();
        for used in edges.values_mut() {
            used.retain(|used| left.contains(used));
        }
        edges.retain(|_, used| !used.is_empty());
        if edges.len() == left.len() {
            break;
        }
    }
    report(
        &edges
            .iter()
            .map(|(part, used)| format!("`{part}` uses {used:?}, in a circle or above one"))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn the_app_holds_panes_and_facts() {
    let sources = sources();
    let app = sources.iter().find(|source| source.path == "src/tui/app/mod.rs").unwrap();
    let fields = app.code.split_once("pub struct App {").and_then(|(_, rest)| rest.split_once("\n}")).unwrap().0;
    let count = fields.lines().filter(|line| line.contains(": ")).count();
    assert!((1..=MOST_FIELDS).contains(&count), "{count} fields; put what belongs together into one pane:\n{fields}");
}

#[test]
fn state_and_update_use_no_outside_thing_and_no_clock() {
    const OUTSIDE: [&str; 13] = [
        "std::fs",
        "std::net",
        "std::io",
        "std::env",
        "std::process",
        "std::thread",
        "tokio",
        // The names of keys are values; reading or writing a terminal is not.
        "crossterm::terminal",
        "crossterm::event::read",
        "crossterm::execute",
        "Instant::now",
        "SystemTime",
        "Timestamp::now",
    ];
    let mut faults = Vec::new();
    for source in sources() {
        if [
            "src/tui/message/",
            "src/tui/state.rs",
            "src/tui/update/",
            "src/tui/help/",
            "src/tui/transcript/",
            "src/tui/pending/",
            "src/tui/pause/",
            "src/tui/ledger.rs",
            "src/tui/approval/",
        ]
        .iter()
        .any(|folder| source.path.starts_with(folder))
        {
            for outside in OUTSIDE.iter().filter(|outside| source.code.contains(**outside)) {
                faults.push(format!("{} uses {outside}", source.path));
            }
        }
    }
    report(&faults);
}

#[test]
fn no_file_is_longer_than_500_lines() {
    let mut faults = Vec::new();
    for source in sources() {
        let lines = source.whole.lines().count();
        let excused = LONG_FILES.iter().any(|(path, _)| *path == source.path);
        if lines > 500 && !excused {
            faults.push(format!("{} has {lines} lines: split it by concept", source.path));
        }
        if lines <= 500 && excused {
            faults.push(format!("{} is short enough: take it off the list", source.path));
        }
    }
    report(&faults);
}

#[test]
fn every_file_opens_with_what_it_is_for() {
    let mut faults = Vec::new();
    for source in sources() {
        let header = source.whole.lines().take_while(|line| line.starts_with("//!")).count();
        if header == 0 || source.whole.lines().next().is_some_and(|line| line.trim() == "//!") {
            faults.push(format!("{} has no header", source.path));
        }
    }
    report(&faults);
}

#[test]
fn nothing_outside_tests_panics_on_a_missing_value() {
    let mut faults = Vec::new();
    for source in sources() {
        for line in source.code.lines() {
            let panics = [".unwrap()", ".expect(", ".unwrap_err()", ".expect_err(", "todo!(", "unimplemented!("];
            let excused = PANICS.iter().any(|(path, part, _)| *path == source.path && line.contains(part));
            if panics.iter().any(|call| line.contains(call)) && !excused {
                faults.push(format!("{}: {}", source.path, line.trim()));
            }
        }
    }
    report(&faults);
}

#[test]
fn the_reader_of_these_rules_sees_what_it_must() {
    let source = Source {
        path: "src/tui/view/x.rs".to_owned(),
        whole: String::new(),
        code: code_of(
            "use crate::host::{Handle, Post};\n// use crate::cli::x;\nuse crate::{id, tui::{state::Cell, msg}, text::visible};\n\
             use super::super::update::keys;\nuse super::fit::{columns,\n    row};\nfn f() { crate::limits::X; }\n\
             #[cfg(test)]\nuse crate::demo::y;\n#[cfg(test)]\nmod tests {\n    use crate::config::z;\n}\nuse crate::agent;\n",
        ),
        module: ["tui", "view", "x"].map(str::to_owned).to_vec(),
    };
    let found: Vec<String> = uses(&source).iter().map(|path| path.join("::")).collect();
    assert_eq!(
        found,
        [
            "agent",
            "host::Handle",
            "host::Post",
            "id",
            "limits::X",
            "text::visible",
            "tui::msg",
            "tui::state::Cell",
            "tui::update::keys",
            "tui::view::fit",
        ]
    );
}

// A time of day that jumps would let a key answer a question that nobody can have read.
#[test]
fn waits_and_rules_count_with_a_clock_that_nobody_can_set() {
    let counts = |source: &Source| ["tui", "approval", "control"].contains(&source.module[0].as_str());
    let dated = ["src/tui/files.rs", "src/tui/run/memory.rs"];
    for source in sources().iter().filter(|source| counts(source) && !dated.contains(&source.path.as_str())) {
        for set in ["Timestamp::now", "SystemTime", "Zoned::now"] {
            assert!(!source.code.contains(set), "{}: {set}; take `clock::now`", source.path);
        }
    }
    let began = jiff::Timestamp::from_second(1_000).unwrap();
    let clock = steersman::clock::SteadyClock::new(began, jiff::SignedDuration::from_secs(50));
    let later = clock.at(jiff::SignedDuration::from_millis(50_349));
    // Whatever the time of day reads by then, a question shown at the beginning takes no key yet.
    let mut questions = steersman::tui::approval::Questions::default();
    questions.heard(began);
    assert!(!questions.is_quiet(later) && questions.is_quiet(clock.at(jiff::SignedDuration::from_millis(50_351))));
}
