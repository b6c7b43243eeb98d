//! The layers of the modules, as a test: each uses only those above it.
//!
//! The layers are the design's. A module that wants an edge which is not here is in the wrong layer.

mod screen;
mod style;

use std::collections::BTreeSet;
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
    "named_file",
    "front_matter",
    "fault",
    "clock",
    "manual",
    "protected",
    "protocol",
    "steering",
    "plan",
    "tls",
];
const PARTS: &[&str] = &["approval", "control", "listener", "provider", "web", "workspace"];
/// They tie everything together, so they may use everything.
const PROGRAM: &[&str] = &["main", "lib", "prelude", "cli", "config", "demo"];

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
        // A crate of its own, which knows nothing of this one.
        "seccomp_notify" => &[],
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

/// What starts a process: everything that starts one outside of the sandbox takes an `OutsideCommand`, which is checked.
#[test]
fn nothing_starts_a_process_outside_of_the_sandbox_unchecked() {
    // The check itself; the guard, which starts what it was given; the sandbox, which starts what it confines; the starter
    // of the guard.
    let makers = ["outside.rs", "guard.rs", "spawner.rs", "sandbox/inner.rs", "sandbox/namespaces.rs"];
    let makers = makers.map(|file| format!("src/workspace/{file}"));
    let mut checked = 0;
    for source in sources() {
        let is_whole = |at: usize| !source.code[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        let makes = source.code.match_indices("Command::new(").filter(|(at, _)| is_whole(*at)).count();
        assert!(makes <= usize::from(makers.contains(&source.path)), "{}: {makes} commands", source.path);
        for (at, _) in source.code.match_indices("Command::from(") {
            let rest = &source.code[at..source.code[at..].find('\n').map_or(source.code.len(), |end| at + end)];
            assert!(rest.contains("utside") && rest.contains(".command()"), "{}: {rest}", source.path);
            checked += 1;
        }
        let unconfined = source.code.matches("start_unconfined(").count();
        let may = ["src/workspace/spawner.rs", "src/host/shell.rs"].contains(&source.path.as_str());
        assert!(unconfined == usize::from(may), "{}: only what the user types", source.path);
        assert!(!source.code.contains("posix_spawn"), "{}", source.path);
    }
    assert!(checked >= 3, "the sources are not where this test looks");
}
