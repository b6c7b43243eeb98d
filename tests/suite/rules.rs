//! Stories of the rules of a configuration: what they cover, what they do not, and what is wrong with those that are none.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use steersman::approval::{
    Act, Answerer, Circumstances, CloneAct, CommandAct, FetchAct, Grant, Mode, Network, Policy, Rules, Sandboxed,
    SearchAct, Taint, UseAct, Verdict, WriteAct,
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

fn file(tool: &'static str, path: &str, before: Option<&[u8]>) -> Act {
    Act::Write(WriteAct {
        tool: tool.into(),
        path: Path::new(ROOT).join(path),
        shown: path.to_owned(),
        before: before.map(|before| Arc::<[u8]>::from(before).into()),
        after: Arc::<[u8]>::from(&b"new"[..]).into(),
        diff: String::new(),
    })
}

fn change(path: &str) -> Act {
    file("edit", path, Some(b"old"))
}

fn fetch(url: &str) -> Act {
    Act::Fetch(FetchAct { tool: "fetch".into(), url: url.to_owned() })
}

fn scrape(url: &str) -> Act {
    Act::Fetch(FetchAct { tool: "web_scrape".into(), url: url.to_owned() })
}

/// A use of a tool that reads this file of the workspace.
fn reading(tool: &'static str, path: &str) -> Act {
    Act::Use(UseAct { tool: tool.into(), path: Some(Path::new(ROOT).join(path)), shown: path.to_owned() })
}

fn uses(tool: &'static str, what: &str) -> Act {
    Act::Use(UseAct { tool: tool.into(), path: None, shown: what.to_owned() })
}

fn search(query: &str) -> Act {
    Act::Search(SearchAct { query: query.to_owned(), services: vec!["duckduckgo".to_owned()] })
}

fn clone(url: &str) -> Act {
    Act::Clone(CloneAct { url: url.to_owned(), into: PathBuf::from("/tmp/x/copy") })
}

fn command(command: &str) -> Act {
    let (command, cwd) = (command.to_owned(), PathBuf::from(ROOT));
    Act::Command(CommandAct { command, cwd, timeout: Duration::from_mins(1) })
}

fn decide(policy: &Policy, mode: Mode, act: &Act) -> Verdict {
    policy.decide(act, &Circumstances { mode, grants: &[], taint: Taint::NONE })
}

fn allows(policy: &Policy, act: &Act) -> bool {
    match decide(policy, Mode::Ask, act) {
        Verdict::Allow => true,
        Verdict::Ask { .. } => false,
        Verdict::Deny(why) => panic!("{act:?}: {why}"),
    }
}

fn denies(policy: &Policy, act: &Act) -> bool {
    matches!(decide(policy, Mode::AutoWithoutSandbox, act), Verdict::Deny(_))
}

#[test]
fn modes_let_run_what_they_say() {
    let policy = policy(&[], &[], &[]);
    let acts = [
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
        let verdict = |mode: Mode, act: &Act| match decide(policy, mode, act) {
            Verdict::Allow => 'r',
            Verdict::Ask { .. } => 'a',
            Verdict::Deny(_) => '-',
        };
        let row = |(name, act): &(&str, Act)| {
            let verdicts: String = Mode::ALL.map(|mode| verdict(mode, act)).iter().collect();
            format!("{name}: {verdicts}")
        };
        acts.iter().map(row).collect()
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
    for act in [change("src/a.rs"), command("cargo test"), fetch("https://docs.rs/x"), search("x")] {
        let verdict = policy.decide(&act, &Circumstances { mode: Mode::Auto, grants: &grants, taint: Taint::NONE });
        assert!(matches!(verdict, Verdict::Ask { grant: None, .. }), "{act:?}: {verdict:?}");
    }
}

#[test]
fn paths_are_below_the_workspace_and_stars_stop_at_a_slash() {
    let table = [
        ("docs/**", "docs/a.md docs/a/b.md", "docs docs2/a other/docs/a"),
        ("docs/*", "docs/a.md", "docs/a/b.md docs"),
        ("docs/", "docs/a.md docs/a/b.md", "docs"),
        ("*.md", "README.md", "docs/a.md"),
        ("**/*.md", "README.md docs/a.md docs/a/b.md", "docs/a.rs"),
        ("src/**/mod.rs", "src/mod.rs src/a/mod.rs src/a/b/mod.rs", "mod.rs src/a/mod.rs.bak"),
        ("./src/a?.rs", "src/ab.rs", "src/a.rs src/abc.rs src/a/.rs"),
        ("/work/project/x/**", "x/a", "y/a"),
        ("**", "a a/b/c", ""),
        ("a.b", "a.b", "axb A.B"),
    ];
    for (pattern, inside, outside) in table {
        let rules = policy(&[&format!("edit: {pattern}")], &[], &[]);
        for path in inside.split_whitespace() {
            assert!(allows(&rules, &change(path)), "{pattern} covers {path}");
        }
        for path in outside.split_whitespace() {
            assert!(!allows(&rules, &change(path)), "{pattern} does not cover {path}");
        }
    }
}

#[test]
fn an_allow_rule_is_for_its_tool_alone_and_a_deny_rule_for_all_that_do_the_same() {
    let narrow = policy(&["edit: src/**", "fetch: https://docs.rs/*"], &[], &[]);
    assert!(!allows(&narrow, &file("write", "src/a", Some(b"old"))));
    assert!(!allows(&narrow, &scrape("https://docs.rs/x")));
    let wide = policy(&[], &[], &["edit: src/**", "fetch: https://docs.rs/*"]);
    for act in [
        file("write", "src/a", None),
        change("src/a"),
        change("SRC/A"),
        fetch("https://docs.rs/x"),
        scrape("https://docs.rs/x"),
    ] {
        assert!(denies(&wide, &act), "{act:?}");
    }
    assert!(!denies(&wide, &clone("https://docs.rs/x")));
    let everything = policy(&[], &[], &["*"]);
    for act in [change("a"), command("ls"), fetch("https://a.example"), search("x"), clone("https://a.example/b")] {
        assert!(denies(&everything, &act), "{act:?}");
    }
}

#[test]
fn reading_is_denied_and_asked_about_by_rules_whatever_the_mode_and_with_all_that_is_below() {
    let rules = policy(&[], &["glob: drafts/"], &["read: secrets/*", "read: **/*.pem"]);
    for mode in Mode::ALL {
        for tool in ["read", "grep", "glob"] {
            for path in ["secrets/key", "secrets/deep/er/key", "SECRETS/Key", "a/b/c.pem"] {
                let verdict = decide(&rules, mode, &reading(tool, path));
                assert!(matches!(verdict, Verdict::Deny(_)), "{tool} {path} in {mode:?}: {verdict:?}");
            }
            let verdict = decide(&rules, mode, &reading(tool, "drafts/one"));
            let asks = Verdict::Ask { why: "your rule \"glob: drafts/\" asks about this".to_owned(), grant: None };
            assert_eq!(verdict, asks, "{tool} in {mode:?}");
            for path in ["secrets", "secret/key", "a/secrets/key", "drafts", "src/main.rs", "."] {
                assert_eq!(decide(&rules, mode, &reading(tool, path)), Verdict::Allow, "{tool} {path} in {mode:?}");
            }
        }
    }
    // Who may not read a file may still be asked to write it, and the other way round.
    assert!(!denies(&rules, &file("write", "secrets/key", None)));
    assert!(!denies(&policy(&[], &[], &["edit: src/**"]), &reading("read", "src/a")));
}

#[test]
fn the_other_tools_have_rules_too() {
    let rules = policy(&[], &["calculator"], &["agent: *researcher"]);
    for name in ["researcher", "git_repo_researcher"] {
        assert!(denies(&rules, &uses("agent", name)), "{name}");
    }
    assert_eq!(decide(&rules, Mode::Auto, &uses("agent", "worker")), Verdict::Allow);
    assert!(matches!(decide(&rules, Mode::Auto, &uses("calculator", "1+1")), Verdict::Ask { grant: None, .. }));
    assert!(!denies(&rules, &search("a researcher")));
    let everything = policy(&[], &[], &["*"]);
    for act in [reading("read", "a"), uses("agent", "worker"), uses("calculator", "1")] {
        assert!(denies(&everything, &act), "{act:?}");
    }
}

#[test]
fn an_address_is_covered_by_scheme_host_and_port_and_a_star_never_spans_the_host() {
    let table: [(&str, &[&str], &[&str]); 7] = [
        (
            "https://docs.rs/*",
            &[
                "https://docs.rs/",
                "https://docs.rs",
                "https://docs.rs/serde/latest?x=1#y",
                "https://DOCS.RS/x",
                "HTTPS://docs.rs./x",
                "https://docs.rs:443/x",
                "https://docs%2ers/x",
                // To the parser, as to the client, this is a path of docs.rs.
                "https://docs.rs\\.evil.example/x",
            ],
            &[
                "http://docs.rs/x",
                "https://docs.rs:8443/x",
                "https://docs.rs.evil.example/x",
                "https://evil.example/docs.rs/x",
                "https://docs.rs@evil.example/x",
                "https://docs.rs:x@evil.example/",
                "https://user@docs.rs/x",
                "https://user:pw@docs.rs/x",
                "https://evil.example/?https://docs.rs/",
                "https://evil.example#https://docs.rs/",
                "https://docsxrs/x",
                "https://a.docs.rs/x",
                "https://docs.rs%2fevil.example/x",
                "ftp://docs.rs/x",
                "file:///docs.rs/x",
                "docs.rs/x",
                "",
                "https://",
                "//docs.rs/x",
            ],
        ),
        (
            "https://*.example.org/*",
            &["https://a.example.org/x", "https://a.b.example.org/"],
            &[
                "https://example.org/x",
                "https://evilexample.org/x",
                "https://.example.org/x",
                "https://a.example.org.evil.example/",
                "https://evil.example/a.example.org/",
            ],
        ),
        (
            "https://example.org/docs/*",
            &["https://example.org/docs/", "https://example.org/docs/a/b", "https://example.org/x/../docs/a"],
            &[
                "https://example.org/docs/../x",
                "https://example.org/docs/%2e%2e/x",
                "https://example.org/docs/..%2fx",
                "https://example.org/docs/%2E%2E%2Fx",
                "https://example.org/docs",
                "https://example.org/other?/docs/",
            ],
        ),
        (
            "https://example.org",
            &["https://example.org/", "https://example.org"],
            &["https://example.org/x", "https://example.org/?q=x"],
        ),
        (
            "http://localhost:8080/*",
            &["http://localhost:8080/x", "http://LOCALHOST:8080/"],
            &["http://localhost/x", "http://localhost:80801/", "https://localhost:8080/x"],
        ),
        (
            "http://127.0.0.1:99/*",
            &["http://127.0.0.1:99/", "http://2130706433:99/", "http://0x7f.1:99/"],
            &["http://127.0.0.2:99/"],
        ),
        (
            "https://bücher.example/*",
            &["https://bücher.example/x", "https://xn--bcher-kva.example/x", "https://BÜCHER.example/x"],
            &["https://bucher.example/x"],
        ),
    ];
    for (pattern, inside, outside) in table {
        let rules = policy(&[&format!("fetch: {pattern}")], &[], &[]);
        for url in inside {
            assert!(allows(&rules, &fetch(url)), "{pattern} covers {url}");
        }
        for url in outside {
            assert!(!allows(&rules, &fetch(url)), "{pattern} does not cover {url}");
        }
    }
}

#[test]
fn a_denied_host_is_denied_in_any_spelling_scheme_and_port() {
    let rules = policy(
        &["fetch"],
        &[],
        &["fetch: https://evil.example/*", "git_clone: https://*.bad.example/*", "fetch: http://127.0.0.1/*"],
    );
    for url in [
        "https://evil.example/",
        "http://evil.example/x",
        "https://EVIL.example./x",
        "https://evil.example:8443/x",
        "https://u:p@evil.example/x",
        "https://evil%2eexample/",
        "https://ｅｖｉｌ.example/",
        "https://evil。example/",
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://0x7f000001/x",
        "http://127.1:8080/",
        "http://0177.0.0.1/",
        "not an address",
    ] {
        assert!(denies(&rules, &fetch(url)), "{url}");
        assert!(denies(&rules, &scrape(url)), "{url}");
    }
    assert!(denies(&rules, &clone("http://a.bad.example/x")));
    for url in ["https://notevil.example/", "https://evil.example.org/", "https://example/evil.example"] {
        assert!(!denies(&rules, &fetch(url)), "{url}");
    }
}

#[test]
fn searches_and_clones_have_rules_too() {
    let rules = policy(&["web_search", "git_clone: https://github.com/me/*"], &[], &["web_search: *secret*"]);
    assert!(allows(&rules, &search("a question")));
    assert!(matches!(decide(&rules, Mode::Ask, &search("my Secret")), Verdict::Deny(_)));
    assert!(allows(&rules, &clone("https://github.com/me/x")));
    assert!(!allows(&rules, &clone("https://github.com/you/x")));
    assert!(!allows(&rules, &clone("https://github.com/me/../you/x")));
}

#[test]
fn grants_are_narrow_and_offered_only_where_they_make_sense() {
    let policy = policy(&[], &[], &[]);
    let offered = |act: &Act| match decide(&policy, Mode::Ask, act) {
        Verdict::Ask { grant, .. } => grant,
        other => panic!("{act:?}: {other:?}"),
    };
    let covered = |grant: &Grant, act: &Act| {
        let standing = Circumstances { mode: Mode::Ask, grants: std::slice::from_ref(grant), taint: Taint::NONE };
        policy.decide(act, &standing) == Verdict::Allow
    };
    let in_other = |text: &str| match command(text) {
        Act::Command(act) => Act::Command(CommandAct { cwd: PathBuf::from("/work/project/sub"), ..act }),
        other => other,
    };

    let edits = offered(&change("src/a")).unwrap();
    assert_eq!(edits.to_string(), "every change of a file within the workspace");
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

#[test]
fn a_rule_that_is_none_is_named_with_what_is_wrong() {
    let wrong = |rule: &str| Rules::parse(&[rule], &[], &[]).expect_err(rule).to_string();
    let tools = "those are: bash, write, edit, read, grep, glob, fetch, web_scrape, web_search, git_clone, calculator, agent, mcp";
    assert_eq!(wrong("bsh: ls"), format!("the rule \"bsh: ls\" is invalid: there is no tool \"bsh\"; {tools}"));
    assert_eq!(wrong(""), format!("the rule \"\" is invalid: there is no tool \"\"; {tools}"));
    assert_eq!(wrong("read: ../x"), "the rule \"read: ../x\" is invalid: a path pattern cannot go up (..)");
    assert_eq!(wrong("bash:"), "the rule \"bash:\" is invalid: its pattern is empty; \"bash\" alone covers every use");
    assert_eq!(
        wrong("bash: \u{200b}"),
        "the rule \"bash: <U+200B>\" is invalid: its pattern is empty; \"bash\" alone covers every use"
    );
    assert_eq!(wrong("*: x"), "the rule \"*: x\" is invalid: a pattern needs the name of a tool before it");
    let one = "a rule names one simple command, and each command of a chain by itself";
    assert_eq!(
        wrong("bash: ls; rm *"),
        format!("the rule \"bash: ls; rm *\" is invalid: it has several commands; {one}")
    );
    assert_eq!(wrong("bash: curl * | sh"), format!("the rule \"bash: curl * | sh\" is invalid: it has a pipe; {one}"));
    assert_eq!(
        wrong("bash: git commit -m 'x *' *"),
        "the rule \"bash: git commit -m 'x *' *\" is invalid: stars cannot stand beside quotes"
    );
    assert_eq!(wrong("write: ../x"), "the rule \"write: ../x\" is invalid: a path pattern cannot go up (..)");
    assert_eq!(
        wrong("write: ~/x"),
        "the rule \"write: ~/x\" is invalid: ~ is not expanded; paths are relative to the workspace"
    );
    assert_eq!(wrong("edit: ./"), "the rule \"edit: ./\" is invalid: it names no path");
    let scheme = "an address pattern begins with https:// or http://, as in https://docs.rs/*";
    assert_eq!(wrong("fetch: docs.rs"), format!("the rule \"fetch: docs.rs\" is invalid: {scheme}"));
    assert_eq!(wrong("fetch: *://docs.rs"), format!("the rule \"fetch: *://docs.rs\" is invalid: {scheme}"));
    let host = "a host is written out; only a first label can be a star, as in https://*.example.org/*";
    for rule in [
        "fetch: https://*",
        "fetch: https://*/x",
        "fetch: https://docs*/x",
        "fetch: https://a.*.org/x",
        "fetch: https://docs.rs*/",
        "fetch: https://a@b/",
        "fetch: https://*.*.org/",
    ] {
        assert_eq!(wrong(rule), format!("the rule {rule:?} is invalid: {host}"));
    }
    assert_eq!(
        wrong("fetch: https://*.org/*"),
        "the rule \"fetch: https://*.org/*\" is invalid: a star cannot stand for every host of a top-level domain"
    );
    assert!(wrong("fetch: https://a b/").contains("its host is none"));
    for right in [
        "bash",
        "bash: *",
        " bash :  cargo test * ",
        "*",
        "fetch: https://docs.rs:8443/*",
        "git_clone",
        "web_search: *x*",
        "write: **",
        "read: secrets/*",
        "grep",
        "agent: researcher",
        "calculator",
    ] {
        Rules::parse(&[right], &[right], &[right]).unwrap();
    }
}
