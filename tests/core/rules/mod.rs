//! Stories of the rules of a configuration: in which order rules, grants and the mode decide, and which grants are offered.

mod addresses;
mod patterns;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use steersman_core::approval::{
    Answerer, Circumstances, CloneOperation, CommandOperation, FetchOperation, Grant, Mode, Network, Operation, Policy,
    Rules, Sandboxed, SearchOperation, Taint, UseOperation, Verdict, WriteOperation,
};

const ROOT: &str = "/work/project";

fn policy(allow: &[&str], ask: &[&str], deny: &[&str]) -> Policy {
    Policy {
        answerer: Answerer::User,
        sandboxed: Some(Sandboxed::Yes),
        network: Network::Off,
        rules: Rules::parse(allow, ask, deny).unwrap(),
        root: Some(PathBuf::from(ROOT)),
        ..Policy::default()
    }
}

fn file(tool: &'static str, path: &str, before: Option<&[u8]>) -> Operation {
    Operation::Write(WriteOperation {
        tool: tool.into(),
        path: Path::new(ROOT).join(path),
        shown: path.to_owned(),
        before: before.map(|before| Arc::<[u8]>::from(before).into()),
        after: Arc::<[u8]>::from(&b"new"[..]).into(),
        diff: String::new(),
    })
}

fn change(path: &str) -> Operation {
    file("edit", path, Some(b"old"))
}

fn fetch(url: &str) -> Operation {
    Operation::Fetch(FetchOperation { tool: "fetch".into(), url: url.to_owned() })
}

fn scrape(url: &str) -> Operation {
    Operation::Fetch(FetchOperation { tool: "web_scrape".into(), url: url.to_owned() })
}

/// A use of a tool that reads this file of the workspace.
fn reading(tool: &'static str, path: &str) -> Operation {
    Operation::Use(UseOperation { tool: tool.into(), path: Some(Path::new(ROOT).join(path)), shown: path.to_owned() })
}

fn uses(tool: &'static str, what: &str) -> Operation {
    Operation::Use(UseOperation { tool: tool.into(), path: None, shown: what.to_owned() })
}

fn search(query: &str) -> Operation {
    Operation::Search(SearchOperation { query: query.to_owned(), services: vec!["duckduckgo".to_owned()] })
}

fn clone(url: &str) -> Operation {
    Operation::Clone(CloneOperation { url: url.to_owned(), into: PathBuf::from("/tmp/x/copy") })
}

fn command(command: &str) -> Operation {
    let (command, cwd) = (command.to_owned(), PathBuf::from(ROOT));
    Operation::Command(CommandOperation { command, cwd, timeout: Duration::from_mins(1), outside: false })
}

fn decide(policy: &Policy, mode: Mode, operation: &Operation) -> Verdict {
    policy.decide(operation, &Circumstances { mode, grants: &[], taint: Taint::NONE })
}

fn allows(policy: &Policy, operation: &Operation) -> bool {
    match decide(policy, Mode::Ask, operation) {
        Verdict::Allow => true,
        Verdict::Ask { .. } => false,
        Verdict::Deny(why) => panic!("{operation:?}: {why}"),
    }
}

fn denies(policy: &Policy, operation: &Operation) -> bool {
    matches!(decide(policy, Mode::AutoWithoutSandbox, operation), Verdict::Deny(_))
}

#[test]
fn modes_let_run_what_they_say() {
    let policy = policy(&[], &[], &[]);
    let operations = [
        ("new file", file("write", "new.txt", None)),
        ("overwrite", file("write", "old.txt", Some(b"old"))),
        ("edit", change("src/main.rs")),
        ("command", command("cargo test")),
        ("fetch", fetch("https://docs.rs/")),
        ("search", search("words")),
        ("clone", clone("https://github.com/a/b")),
        ("read", reading("read", "src/main.rs")),
        ("agent", uses("agent", "file_miner")),
    ];
    let table = |policy: &Policy| -> Vec<String> {
        let verdict = |mode: Mode, operation: &Operation| match decide(policy, mode, operation) {
            Verdict::Allow => 'r',
            Verdict::Ask { .. } => 'a',
            Verdict::Deny(_) => '-',
        };
        let row = |(name, operation): &(&str, Operation)| {
            let verdicts: String = Mode::ALL.map(|mode| verdict(mode, operation)).iter().collect();
            format!("{name}: {verdicts}")
        };
        operations.iter().map(row).collect()
    };
    // ask, auto-edit, auto, auto-without-sandbox, read-only, plan; runs, asks, denied.
    assert_eq!(
        table(&policy),
        [
            "new file: rrrr--",
            "overwrite: arrr--",
            "edit: arrr--",
            "command: aarr--",
            "fetch: aarr--",
            "search: aarr--",
            "clone: aarr--",
            "read: rrrrrr",
            "agent: rrrrrr"
        ]
    );
    // Without a sandbox `auto` is no more than `auto-edit`, should it ever be set.
    let bare = Policy { sandboxed: Some(Sandboxed::No), ..policy.clone() };
    assert_eq!(
        table(&bare),
        [
            "new file: rrrr--",
            "overwrite: arrr--",
            "edit: arrr--",
            "command: aaar--",
            "fetch: aaar--",
            "search: aaar--",
            "clone: aaar--",
            "read: rrrrrr",
            "agent: rrrrrr"
        ]
    );
    let unattended = Policy { answerer: Answerer::Nobody, ..policy.clone() };
    assert_eq!(
        table(&unattended),
        [
            "new file: rrrr--",
            "overwrite: -rrr--",
            "edit: -rrr--",
            "command: --rr--",
            "fetch: --rr--",
            "search: --rr--",
            "clone: --rr--",
            "read: rrrrrr",
            "agent: rrrrrr"
        ]
    );
    let yes = Policy { answerer: Answerer::Yes, ..policy };
    assert_eq!(
        table(&yes),
        [
            "new file: rrrr--",
            "overwrite: rrrr--",
            "edit: rrrr--",
            "command: rrrr--",
            "fetch: rrrr--",
            "search: rrrr--",
            "clone: rrrr--",
            "read: rrrrrr",
            "agent: rrrrrr"
        ]
    );
}

#[test]
fn a_file_outside_the_workspace_is_never_written_unasked() {
    for policy in
        [policy(&["write", "edit", "*"], &[], &[]), Policy { root: None, ..policy(&["write", "edit"], &[], &[]) }]
    {
        for mode in Mode::ALL {
            for path in ["/work/other/x", "/work/project-2/x", "/work/x"] {
                let verdict = policy.decide(
                    &file("write", path, None),
                    &Circumstances { mode, grants: &[Grant::Edits], taint: Taint::NONE },
                );
                assert_ne!(verdict, Verdict::Allow, "{path} in {mode:?}");
            }
        }
    }
}

#[test]
fn deny_stands_above_ask_and_ask_above_allow_and_all_above_the_mode() {
    let all = policy(&["edit: src/**"], &["edit: src/gen/**"], &["edit: src/gen/secret/**"]);
    for mode in [Mode::Ask, Mode::AutoEdit, Mode::Auto, Mode::AutoWithoutSandbox] {
        assert_eq!(decide(&all, mode, &change("src/main.rs")), Verdict::Allow);
        let verdict = decide(&all, mode, &change("src/gen/a.rs"));
        assert_eq!(
            verdict,
            Verdict::Ask { why: "your rule \"edit: src/gen/**\" asks about this".to_owned(), grant: None }
        );
        let verdict = decide(&all, mode, &change("src/gen/secret/a.rs"));
        let sentence = "the user's configuration denies this (rule \"edit: src/gen/secret/**\")";
        assert_eq!(verdict, Verdict::Deny(sentence.to_owned()));
    }
    assert!(
        matches!(decide(&all, Mode::ReadOnly, &change("src/main.rs")), Verdict::Deny(_)),
        "read-only stands above allow"
    );
}

#[test]
fn an_ask_rule_asks_whatever_was_allowed_for_the_session() {
    let policy = policy(&[], &["edit: src/**", "bash: cargo *", "fetch: https://docs.rs/*", "web_search"], &[]);
    let cwd = PathBuf::from(ROOT);
    let grants = [
        Grant::Edits,
        Grant::Prefix { words: vec!["cargo".to_owned(), "test".to_owned()], cwd: cwd.clone() },
        Grant::Command { command: "cargo test".to_owned(), cwd },
        Grant::Host("https://docs.rs".to_owned()),
        Grant::Searches,
    ];
    for operation in [change("src/a.rs"), command("cargo test"), fetch("https://docs.rs/x"), search("x")] {
        let verdict =
            policy.decide(&operation, &Circumstances { mode: Mode::Auto, grants: &grants, taint: Taint::NONE });
        assert!(matches!(verdict, Verdict::Ask { grant: None, .. }), "{operation:?}: {verdict:?}");
    }
}

#[test]
fn grants_are_narrow_and_offered_only_where_they_make_sense() {
    let policy = policy(&[], &[], &[]);
    let offered = |operation: &Operation| match decide(&policy, Mode::Ask, operation) {
        Verdict::Ask { grant, .. } => grant,
        other => panic!("{operation:?}: {other:?}"),
    };
    let covered = |grant: &Grant, operation: &Operation| {
        let standing = Circumstances { mode: Mode::Ask, grants: std::slice::from_ref(grant), taint: Taint::NONE };
        policy.decide(operation, &standing) == Verdict::Allow
    };
    let in_other = |text: &str| match command(text) {
        Operation::Command(operation) => {
            Operation::Command(CommandOperation { cwd: PathBuf::from("/work/project/sub"), ..operation })
        }
        other => other,
    };

    let edits = offered(&change("src/a")).unwrap();
    assert_eq!(edits.to_string(), "every edit in this directory");
    assert!(
        covered(&edits, &change("b")) && !covered(&edits, &change(".git/config")) && !covered(&edits, &command("ls"))
    );

    let tests = offered(&command("cargo test a")).unwrap();
    assert_eq!(tests.to_string(), "every command in this directory that begins with: cargo test");
    assert!(covered(&tests, &command("cargo test b")));
    assert!(!covered(&tests, &command("cargo build")) && !covered(&tests, &in_other("cargo test a")));

    let exact = offered(&command("make all")).unwrap();
    assert_eq!(exact.to_string(), "exactly this command in this directory");
    assert!(covered(&exact, &command("make all")));
    assert!(
        !covered(&exact, &command("make all "))
            && !covered(&exact, &command("make"))
            && !covered(&exact, &in_other("make all"))
    );

    let host = offered(&fetch("https://docs.rs/x?y")).unwrap();
    assert_eq!(host.to_string(), "every address of https://docs.rs");
    assert!(covered(&host, &fetch("https://DOCS.rs./z")) && covered(&host, &scrape("https://docs.rs/z")));
    assert!(
        !covered(&host, &fetch("http://docs.rs/"))
            && !covered(&host, &fetch("https://docs.rs:444/"))
            && !covered(&host, &clone("https://docs.rs/x"))
    );

    assert_eq!(offered(&search("x")), Some(Grant::Searches));
    assert_eq!(offered(&clone("https://github.com/a/b")), None);
    assert_eq!(offered(&change(".vscode/x")), None);
}
