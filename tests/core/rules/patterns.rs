//! Which tools and paths the pattern of a rule covers, and what is wrong with a pattern that is none.

use steersman_core::approval::{Mode, Operation, Rules, ServerToolOperation, Verdict};

use super::{allows, change, clone, command, decide, denies, fetch, file, policy, reading, scrape, search, uses};

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
    for operation in [
        file("write", "src/a", None),
        change("src/a"),
        change("SRC/A"),
        fetch("https://docs.rs/x"),
        scrape("https://docs.rs/x"),
    ] {
        assert!(denies(&wide, &operation), "{operation:?}");
    }
    assert!(!denies(&wide, &clone("https://docs.rs/x")));
    let everything = policy(&[], &[], &["*"]);
    for operation in [change("a"), command("ls"), fetch("https://a.example"), search("x"), clone("https://a.example/b")]
    {
        assert!(denies(&everything, &operation), "{operation:?}");
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
    for operation in [reading("read", "a"), uses("agent", "worker"), uses("calculator", "1")] {
        assert!(denies(&everything, &operation), "{operation:?}");
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
fn a_rule_that_is_none_is_named_with_what_is_wrong() {
    let wrong = |rule: &str| Rules::parse(&[rule], &[], &[]).expect_err(rule).to_string();
    let tools = "those are: bash, write, edit, read, grep, glob, fetch, web_scrape, web_search, git_clone, calculator, agent, skill, plan, ask_user, job_output, job_stop, mcp; a rule is \"tool\" or \"tool: pattern\", as \"bash: git status\"";
    assert_eq!(wrong("bsh: ls"), format!("the rule \"bsh: ls\" is invalid: there is no tool \"bsh\"; {tools}"));
    for (rule, right) in [
        ("Bash(git diff:*)", "bash: git diff *"),
        ("Bash: ls", "bash: ls"),
        ("Bash", "bash"),
        ("Bash(*)", "bash"),
        ("Edit(src/**)", "edit: src/**"),
        ("WebFetch(domain:docs.rs)", "fetch: https://docs.rs/*"),
        ("mcp__memory__create", "mcp: memory/create"),
        ("mcp__memory", "mcp: memory/*"),
        ("Task(researcher)", "agent: researcher"),
    ] {
        assert_eq!(wrong(rule), format!("the rule {rule:?} is invalid: write it as {right:?}"));
    }
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

#[test]
fn a_deny_rule_for_a_tool_of_a_server_holds_in_any_case_and_an_allow_rule_as_it_is_written() {
    let of_server = |server: &str, tool: &str| {
        Operation::ServerTool(ServerToolOperation {
            server: server.to_owned(),
            reached: "x".to_owned(),
            tool: tool.to_owned(),
            arguments: "{}".to_owned(),
            hints: Vec::new(),
            sends: false,
        })
    };
    for rule in ["mcp: GitHub/Delete*", "mcp: github/delete*", "mcp: GITHUB/*", "mcp: Git?ub/DELETE_REPO"] {
        let rules = policy(&[], &[], &[rule]);
        for (server, tool) in [("github", "delete_repo"), ("GitHub", "Delete_Repo"), ("gitHUB", "DELETE_REPO")] {
            assert!(denies(&rules, &of_server(server, tool)), "{rule} {server}/{tool}");
        }
        assert!(!denies(&rules, &of_server("gitlab", "delete_repo")), "{rule}");
    }
    for rule in ["mcp: GitHub/Read", "mcp: GitHub/*"] {
        let rules = policy(&[rule], &[], &[]);
        assert!(allows(&rules, &of_server("GitHub", "Read")), "{rule}");
        assert!(!allows(&rules, &of_server("github", "read")), "{rule}");
    }
    for rule in ["web_search: *Secret*", "web_search: *secret*"] {
        assert!(denies(&policy(&[], &[], &[rule]), &search("the SECRET name")), "{rule}");
    }
}

#[test]
fn a_rule_that_denies_holds_for_a_name_in_either_spelling() {
    for (rule, there) in [("caf\u{e9}.txt", "cafe\u{301}.txt"), ("cafe\u{301}.txt", "CAF\u{c9}.txt")] {
        let policy = policy(&[], &[], &[&format!("read: {rule}"), &format!("edit: {rule}")]);
        for operation in [reading("read", there), change(there)] {
            assert!(denies(&policy, &operation), "{rule} {there}");
        }
    }
}
