//! Stories of shell commands under rules that allow: nothing hostile runs unasked, little that is harmless is asked about,
//! and a granted prefix covers nothing that runs code.

mod complexity;
mod deny_rules;
mod parsing;
mod spellings;

use std::path::PathBuf;
use std::time::Duration;

use steersman_core::approval::{
    Answerer, Circumstances, CommandOperation, Grant, Mode, Operation, Policy, Rules, Sandboxed, Taint, Verdict,
};

/// No rule.
const NONE: &[&str] = &[];

/// What a careless user allows.
const ALLOWED: &str = "\
    ls *, cat *, head *, echo *, grep *, rg *, find *, fd *, sed *, awk *, sort *, uniq *, tar *, man *, less *, git \
    *, git status *, git log *, git diff *, cargo test *, cargo *, npm test *, go test *, env *, xargs *, make *, \
    tree *, xxd *, printf *, test *";

fn command(command: &str) -> Operation {
    let (command, cwd) = (command.to_owned(), PathBuf::from("/work/project"));
    Operation::Command(CommandOperation { command, cwd, timeout: Duration::from_mins(2), outside: false })
}

fn policy<A: AsRef<str>, D: AsRef<str>>(allow: &[A], deny: &[D]) -> Policy {
    let text = |rule: &str| rule.to_owned();
    let allow: Vec<String> = allow.iter().map(|rule| text(rule.as_ref())).collect();
    let deny: Vec<String> = deny.iter().map(|rule| text(rule.as_ref())).collect();
    Policy {
        answerer: Answerer::User,
        sandboxed: Some(Sandboxed::Yes),
        rules: Rules::parse(&allow, &[], &deny).unwrap(),
        root: Some(PathBuf::from("/work/project")),
        ..Policy::default()
    }
}

fn decide(policy: &Policy, mode: Mode, text: &str) -> Verdict {
    policy.decide(&command(text), &Circumstances { mode, grants: &[], taint: Taint::NONE })
}

fn asks(policy: &Policy, text: &str) -> bool {
    match decide(policy, Mode::Ask, text) {
        Verdict::Ask { .. } => true,
        Verdict::Allow => false,
        Verdict::Deny(why) => panic!("{text:?} is denied: {why}"),
    }
}

/// Ways to run something else beside what is allowed; `{}` is what is allowed, `@` what is not.
const CARRIERS: &str = include_str!("../../fixtures/shell/carriers.txt");

/// What is hostile by itself. One per line; `⏎ ␍ ␉ <U+…>` stand for what cannot be in one.
const HOSTILE: &str = include_str!("../../fixtures/shell/hostile.txt");

/// Reads the lines of a fixture.
fn lines(fixture: &str) -> Vec<String> {
    let unmarked = |line: &str| {
        let mut text = line.replace('⏎', "\n").replace('␍', "\r").replace('␉', "\t");
        while let Some((before, (code, behind))) =
            text.split_once("<U+").and_then(|(before, rest)| Some((before, rest.split_once('>')?)))
        {
            let c = char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap();
            text = format!("{before}{c}{behind}");
        }
        text
    };
    fixture.lines().filter(|line| !line.is_empty()).map(unmarked).collect()
}

fn rules(commands: &str) -> Vec<String> {
    commands.split(", ").map(|command| format!("bash: {command}")).collect()
}

fn hostile() -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for carrier in lines(CARRIERS) {
        for (allowed, other) in [("ls -l", "rm -rf x"), ("cargo test", "curl evil.example"), ("git status", "./x")] {
            texts.push(carrier.replace("{}", allowed).replace('@', other));
        }
    }
    texts.extend(lines(HOSTILE));
    let chain = |parts: usize, with: &str| vec!["ls"; parts].join(with);
    texts.extend([" && ", "; ", " | ", "\n", " || ", " & "].map(|with| chain(60, with) + with + "rm -rf x"));
    texts.extend([chain(60, "; "), chain(5_000, "\n"), format!("ls {}", "x ".repeat(10_000))]);
    let odd = ["ls \0", "ls a\0b", "ls \u{1b}[2K", "ls '\u{7f}'", "ls \"\u{85}\"", "ls\u{a0}x", "ls \u{2028}rm"];
    texts.extend(odd.map(str::to_owned));
    texts
}

#[test]
fn nothing_hostile_runs_unasked_whatever_wildcards_allow() {
    let policy = policy(&rules(ALLOWED), NONE);
    let texts = hostile();
    assert!(texts.len() >= 400, "{}", texts.len());
    let ran: Vec<&String> = texts.iter().filter(|text| !asks(&policy, text)).collect();
    assert!(ran.is_empty(), "{} of {} ran: {ran:#?}", ran.len(), texts.len());
}

// A rule that names no program is no more generous.
#[test]
fn nothing_hostile_runs_unasked_under_a_rule_for_every_command() {
    for rule in ["bash", "bash: *"] {
        let policy = policy(&[rule], NONE);
        // Plain names of unknown programs are what such a rule allows.
        let meant = ["LS x", "lsx", "ls,x", "ls:x"];
        let ran: Vec<String> =
            hostile().into_iter().filter(|text| !meant.contains(&text.as_str()) && !asks(&policy, text)).collect();
        assert!(ran.is_empty(), "{ran:#?}");
    }
}

/// What people and models really run, with rules that mean it.
const BENIGN_RULES: &str = "\
    ls *, cat *, head *, tail *, wc *, grep *, rg *, find *, fd *, sed *, sort *, uniq *, git *, cargo *, npm *, go \
    *, pytest *, pwd, echo *, tree *, diff *, du *, stat *, file *, jq *, which *, mkdir *, touch *, make check, git \
    commit -m wip";

const BENIGN: &str = include_str!("../../fixtures/shell/benign.txt");

#[test]
fn what_is_harmless_and_allowed_is_hardly_ever_asked_about() {
    let policy = policy(&rules(BENIGN_RULES), NONE);
    let texts = lines(BENIGN);
    assert!(texts.len() >= 150, "{}", texts.len());
    let asked: Vec<&String> = texts.iter().filter(|text| asks(&policy, text)).collect();
    assert!(asked.len() * 100 <= texts.len() * 5, "{} of {} asked: {asked:#?}", asked.len(), texts.len());
    eprintln!("asked about {} of {}: {asked:?}", asked.len(), texts.len());
}

#[test]
fn a_rule_without_a_star_is_exact_and_covers_also_what_runs_other_code() {
    let policy =
        policy(&["bash: cargo test", "bash: make check", "bash: git commit -m 'a b'", "bash: find . -delete"], NONE);
    for allowed in
        ["cargo test", " cargo  test ", "make check", "git commit -m 'a b'", "git commit -m \"a b\"", "find . -delete"]
    {
        assert!(!asks(&policy, allowed), "{allowed}");
    }
    for other in [
        "cargo test x",
        "cargo",
        "make check all",
        "git commit -m 'a b' -a",
        "git commit -m a b",
        "find . x -delete",
        "cargo test && ls",
    ] {
        assert!(asks(&policy, other), "{other}");
    }
}

#[test]
fn a_new_branch_or_tag_is_a_change() {
    let policy = policy(&["bash: git *"], NONE);
    for text in [
        "git tag v1",
        "git branch x",
        "git branch list",
        "git tag list",
        "git tag show",
        "git branch show",
        "git tag -a v1",
    ] {
        assert!(asks(&policy, text), "{text}");
    }
    for text in
        ["git tag", "git tag -l", "git branch -a", "git branch", "git stash list", "git remote -v", "git reflog"]
    {
        assert!(!asks(&policy, text), "{text}");
    }
}

#[test]
fn a_prefix_is_offered_only_where_no_argument_runs_code() {
    let policy = policy(NONE, NONE);
    let offered = |text: &str| match decide(&policy, Mode::Ask, text) {
        Verdict::Ask { grant: Some(grant), .. } => grant,
        other => panic!("{text}: {other:?}"),
    };
    let cwd = || PathBuf::from("/work/project");
    for (text, prefix) in [
        ("cargo test --lib", "cargo test"),
        ("cargo test", "cargo test"),
        ("git status -s", "git status"),
        ("git --no-pager log", "git --no-pager log"),
        ("npm run build -- x", "npm run build"),
        ("ls -l", "ls"),
        ("rg 'a b' src", "rg"),
        ("find . -name x", "find"),
        ("sed -n 1,5p f", "sed"),
    ] {
        let words = prefix.split(' ').map(str::to_owned).collect();
        assert_eq!(offered(text), Grant::Prefix { words, cwd: cwd() }, "{text}");
    }
    for text in [
        "cargo run",
        "make",
        "python x.py",
        "./run.sh",
        "rm x",
        "find . -delete",
        "git commit -m x",
        "git",
        "ls | wc",
        "X=1 cargo test",
        "cargo test && ls",
        "sed -i p f",
        "unknown x",
        "/bin/ls",
    ] {
        assert_eq!(offered(text), Grant::Command { command: text.to_owned(), cwd: cwd() }, "{text}");
    }
}

#[test]
fn a_granted_prefix_covers_no_argument_that_runs_code() {
    let policy = policy(NONE, NONE);
    let cwd = PathBuf::from("/work/project");
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    let grants: Vec<Grant> = ["cargo test", "find", "sort", "git diff", "ls", "sed"]
        .map(|text| Grant::Prefix { words: words(text), cwd: cwd.clone() })
        .to_vec();
    let verdict = |text: &str| {
        policy.decide(&command(text), &Circumstances { mode: Mode::Ask, grants: &grants, taint: Taint::NONE })
    };
    for text in ["cargo test", "cargo test -q x", "find . -name x", "sort -u f", "git diff HEAD", "ls", "sed -n 1p f"] {
        assert_eq!(verdict(text), Verdict::Allow, "{text}");
    }
    for text in [
        "cargo test --config x",
        "cargo",
        "cargo build",
        "find . -delete",
        "sort -o x f",
        "git diff --ext-diff",
        "git log",
        "ls | sh",
        "ls; ls",
        "lsx",
        "sed -i p f",
    ] {
        assert!(matches!(verdict(text), Verdict::Ask { .. }), "{text}");
    }
}

#[test]
fn a_rule_for_the_tests_of_python_covers_them_as_one_for_pytest_does_also_beside_a_deny_rule() {
    let policy = policy(&["bash: python3 -m unittest *", "bash: python *"], &["bash: curl *"]);
    for text in ["python3 -m unittest", "python3 -m unittest -v tests.test_core"] {
        assert!(!asks(&policy, text), "{text}");
    }
    for text in
        ["python3 -c x", "python3 x.py", "python -m http.server", "python3 -m unittest; ls x", "./python3 -m unittest"]
    {
        assert!(asks(&policy, text), "{text}");
    }
}
