//! Inside the screen: which part uses which, without circles, and that a pane changes its own state alone.

use std::collections::{BTreeMap, BTreeSet};

use super::{report, sources, uses};

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
