//! Stories of shell commands under rules: nothing hostile runs unasked, little that is harmless is asked about, and what
//! counts as one simple command is to bash exactly what it is to us (faults S1, S2, S3; row B15).

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use steersman::approval::{
    Act, Answerer, Circumstances, CommandAct, Grant, Mode, Policy, Rules, Sandboxed, Shape, Taint, Verdict,
};

use crate::support::cpu_time::CpuTime;

/// No rule.
const NONE: &[&str] = &[];

/// What a careless user allows.
const ALLOWED: &str = "\
    ls *, cat *, head *, echo *, grep *, rg *, find *, fd *, sed *, awk *, sort *, uniq *, tar *, man *, less *, git \
    *, git status *, git log *, git diff *, cargo test *, cargo *, npm test *, go test *, env *, xargs *, make *, \
    tree *, xxd *, printf *, test *";

fn command(command: &str) -> Act {
    let (command, cwd) = (command.to_owned(), PathBuf::from("/work/project"));
    Act::Command(CommandAct { command, cwd, timeout: Duration::from_mins(2) })
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
const CARRIERS: &str = include_str!("../fixtures/shell/carriers.txt");

/// What a rule against `rm`, `git push` and `curl` is about.
const DENIED: &str = include_str!("../fixtures/shell/denied.txt");

/// What is hostile by itself. One per line; `⏎ ␍ ␉ <U+…>` stand for what cannot be in one.
const HOSTILE: &str = include_str!("../fixtures/shell/hostile.txt");

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

const BENIGN: &str = include_str!("../fixtures/shell/benign.txt");

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

/// Returns the argument vector that bash makes of each command, of programs that exist nowhere.
fn argv(commands: &[String]) -> Vec<Vec<u8>> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    for command in commands {
        file.write_all(command.as_bytes()).unwrap();
        file.write_all(b"\0").unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    // Each command is read anew, as `bash -c` reads it; what is not found prints its words, each ended by a NUL.
    let driver = "command_not_found_handle() { printf '%s\\0' \"$@\"; }
        while IFS= read -r -d '' line; do ( eval \"$line\" ) </dev/null; printf '\\1'; done < \"$1\"";
    let output = Command::new("/bin/bash")
        .args(["--norc", "--noprofile", "-c", driver, "driver"])
        .arg(file.path())
        .env_clear()
        .env("PATH", dir.path())
        .env("LC_ALL", "C.UTF-8")
        .current_dir(dir.path())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    output.stdout.split(|byte| *byte == 1).map(<[u8]>::to_vec).collect()
}

fn expected(words: &[String]) -> Vec<u8> {
    words.iter().flat_map(|word| word.bytes().chain([0])).collect()
}

/// Compares with bash; the programs must be such that no builtin of bash has their name.
fn compare(commands: &[String]) -> usize {
    let simple: Vec<(String, Vec<String>)> = commands
        .iter()
        .filter_map(|command| match Shape::of(command) {
            Shape::Simple(words) => Some((command.clone(), words)),
            Shape::Complex { .. } => None,
        })
        .filter(|(_, words)| !words[0].contains('/'))
        .collect();
    let texts: Vec<String> = simple.iter().map(|(text, _)| text.clone()).collect();
    let outputs = argv(&texts);
    assert_eq!(outputs.len(), simple.len() + 1, "bash stopped in the middle");
    for ((text, words), output) in simple.iter().zip(&outputs) {
        let output = String::from_utf8_lossy(output);
        assert_eq!(output, String::from_utf8(expected(words)).unwrap(), "bash reads {text:?} otherwise");
    }
    simple.len()
}

fn without_builtins(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    const BUILTINS: &str = "echo pwd printf test set let cd exit true false read eval exec type wait jobs bg fg kill trap \
                            umask ulimit times shift unset alias hash help local break continue return source command builtin \
                            export readonly declare typeset dirs popd pushd suspend logout history fc bind caller compgen \
                            complete compopt disown enable getopts mapfile readarray shopt unalias . :";
    let is_builtin = |text: &String| {
        text.split_whitespace().next().is_none_or(|first| BUILTINS.split_whitespace().any(|name| name == first))
    };
    texts.into_iter().filter(|text| !is_builtin(text)).collect()
}

#[test]
fn bash_runs_what_we_read_of_every_command_of_these_lists() {
    let texts = lines(BENIGN).into_iter().chain(hostile());
    let compared = compare(&without_builtins(texts));
    assert!(compared > 150, "{compared}");
}

/// Pieces of which commands are thrown together; the odd ones are frequent.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[a-z]{1,4}",
        4 => Just(" ".to_owned()),
        4 => prop::sample::select(vec![
            "'", "\"", "\\", "$", "`", "~", "^", "=", "#", "!", "*", "?", "[", "]", "{", "}", "(", ")", "<", ">", "|", "&", ";",
            "\n", "\r", "\t", ":", ",", "%", "@", "+", "-", "_", ".", "/", "\u{a0}", "é", "\u{200b}", "--", "\\\\", "\\\"", "\"\"",
            "''", "' '", "\" \"", "'a b'", "\"a b\"", "a=b", "~/x", "x~", "$x", "$(x)", "'$x'", "\"\\x\"", "{a,b}", "'{a,b}'",
        ])
        .prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| format!("prog {}", pieces.concat()))
}

#[test]
fn bash_runs_what_we_read_of_thousands_of_random_commands() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = pieces();
    let started = Instant::now();
    let mut texts = Vec::new();
    for _ in 0..6_000 {
        texts.push(strategy.new_tree(&mut runner).unwrap().current());
    }
    let compared = compare(&texts);
    assert!(compared > 1_500, "only {compared} of them were simple");
    eprintln!("{compared} of {} commands compared in {:?}", texts.len(), started.elapsed());
}

// S3: what bash calls an error is no simple command.
#[test]
fn what_bash_cannot_read_is_never_simple() {
    for text in hostile() {
        if text.contains('\0') || text.len() > 10_000 {
            continue;
        }
        let reads = Command::new("bash").args(["-n", "-c", &text]).stderr(Stdio::null()).status().unwrap().success();
        assert!(reads || matches!(Shape::of(&text), Shape::Complex { .. }), "{text:?}");
    }
}

#[test]
fn a_deny_rule_finds_its_command_wherever_it_hides() {
    let policy = policy(&["bash: ls *"], &["bash: rm *", "bash: git push *", "bash: curl"]);
    let texts = lines(DENIED);
    assert!(texts.len() > 100, "{}", texts.len());
    for text in &texts {
        for mode in [Mode::Ask, Mode::AutoEdit, Mode::Auto, Mode::AutoWithoutSandbox] {
            let verdict = decide(&policy, mode, text);
            assert!(matches!(verdict, Verdict::Deny(_)), "{text:?} in {mode:?}: {verdict:?}");
        }
    }
    for text in [
        "ls rm",
        "cat rm",
        "git log",
        "git log push",
        "ls --rm",
        "echo 'rm x'",
        "git commit -m 'rm the old file'",
        "git log rm",
        "git log --grep 'rm x'",
        "grep -rn 'curl' src",
    ] {
        assert!(!matches!(decide(&policy, Mode::Ask, text), Verdict::Deny(_)), "{text:?}");
    }
}

// S1: no length or depth at which a denied command is only asked about, or hides.
#[test]
fn a_deny_rule_holds_at_any_size_and_depth() {
    let policy = policy(NONE, &["bash: rm *"]);
    let nested = |depth: usize| "ls $(".repeat(depth) + "rm x" + &")".repeat(depth);
    let mut texts = vec![nested(3), nested(30), nested(300), nested(30_000), "(".repeat(100_000) + "rm x"];
    texts.push("ls; ".repeat(50_000) + "rm x");
    texts.push("ls\n".repeat(50_000) + "rm x");
    texts.push(format!("ls {}; rm x", "a ".repeat(100_000)));
    texts.push("if ".repeat(20_000) + "rm x");
    texts.push("`".repeat(10_001) + "rm x");
    texts.push("{ ".repeat(10_000) + "rm x; " + &"}; ".repeat(10_000));
    texts.push("bash -c '".to_owned() + &"ls; ".repeat(10_000) + "rm x'");
    texts.push("xargs ".repeat(20_000) + "rm");
    texts.push("[[ -n $(ls) ]]; ".repeat(5_000) + "[[ -n $(rm x) ]]");
    texts.push("! ".repeat(5_000) + "rm x");
    for text in texts {
        let started = CpuTime::now();
        let verdict = decide(&policy, Mode::Auto, &text);
        assert!(matches!(verdict, Verdict::Deny(_)), "{text:.60}");
        assert!(started.elapsed() < Duration::from_secs(5), "{text:.60} took {:?}", started.elapsed());
    }
}

/// Texts that took an earlier reader exponential time, ended it by an overflow of the stack, or took a rule quadratic time.
fn freezing() -> Vec<String> {
    const MOST: usize = 96 * 1024;
    let units = [
        "(",
        "((",
        "( (",
        "$(",
        "$((",
        "${x:-",
        "\"$(",
        "\"${x:-",
        "`",
        "case x in x) ",
        "case x in (x) ",
        "if ",
        "if ls; then ",
        "while ",
        "for x in a; do ",
        "select x in a; do ",
        "{ ",
        "[[ ! ",
        "[[ ( ",
        "! ",
        "time ",
        "coproc ",
        "f() ",
        "function f ",
        "<(",
        "<<E ",
        "<<E\n",
        "\nE\n",
        "@(",
        "$[",
        "a[",
        "x=(",
        "x=((",
        "\"\"",
        "'",
        "\"",
        "$'",
        "\\",
        "{a,",
        "~",
        "#",
        " #",
        "(ls;",
        "git ",
        "git -a ",
        "-a git ",
        "git -c x ",
        "a/",
        "x/HEAD ",
        ".git/",
        "=",
        "*",
        "?",
        "[",
        ">",
        "2>",
        "bash -c '",
        "é",
        "\u{202e}",
    ];
    let mut texts = vec!["(".repeat(40) + "ls", "case x in x) ".repeat(30), "$((".repeat(14)];
    for unit in units {
        for count in [40, MOST] {
            let text: String = unit.chars().cycle().take((unit.chars().count() * count).min(MOST)).collect();
            let text: String = text
                .chars()
                .scan(0, |bytes, c| {
                    *bytes += c.len_utf8();
                    (*bytes < MOST).then_some(c)
                })
                .collect();
            texts.push(format!("xargs {text}"));
            texts.push(text);
        }
    }
    texts
}

/// Decides with and without rules, and returns how long the longest decision took.
fn longest(text: &str, modes: &[Mode]) -> Duration {
    let policy = policy(&["bash: *", "bash: git *"], &["bash: rm *", "bash: git push *"]);
    let time = |mode: &Mode| {
        let started = CpuTime::now();
        decide(&policy, *mode, text);
        started.elapsed()
    };
    modes.iter().map(time).max().unwrap()
}

#[test]
fn forty_brackets_and_whatever_else_nests_freeze_nothing_in_any_mode() {
    let mut worst = (Duration::ZERO, String::new());
    for (number, text) in freezing().into_iter().enumerate() {
        let modes = if number < 3 { &Mode::ALL[..] } else { &[Mode::Auto] };
        let time = longest(&text, modes);
        assert!(time < Duration::from_secs(20), "{time:?} for {} bytes of {text:.60}", text.len());
        if time > worst.0 {
            worst = (time, format!("{} bytes of {text:.60}", text.len()));
        }
    }
    eprintln!("longest: {worst:?}");
}

#[test]
fn what_does_not_end_is_asked_about_as_what_it_is() {
    let watched = policy(NONE, &["bash: curl *"]);
    for text in [
        "(".repeat(40) + "ls",
        "case x in x) ".repeat(30),
        "$((".repeat(14),
        "ls 'a".to_owned(),
        "x() { ls; }".to_owned(),
    ] {
        let Verdict::Ask { why, .. } = decide(&watched, Mode::Auto, &text) else { panic!("{text}") };
        assert!(why.starts_with("one of your rules may be about this, and the program cannot tell: "), "{why}");
        assert!(matches!(decide(&watched, Mode::Ask, &text), Verdict::Ask { .. }), "{text}");
    }
}

/// Scraps that nest, for texts as the fuzz target makes them.
fn scraps() -> impl Strategy<Value = String> {
    let scrap = prop::sample::select(vec![
        "(",
        ")",
        "((",
        "))",
        "$(",
        "$((",
        "${x:-",
        "}",
        "{ ",
        "; }",
        "[[ ",
        "]]",
        "`",
        "'",
        "\"",
        "$'",
        "\\",
        "case x in x) ",
        ";;",
        "esac",
        "if ",
        "; then ",
        "fi",
        "while ",
        "; do ",
        "done",
        "! ",
        "time ",
        "f() ",
        "<(",
        "<<E",
        "\nE\n",
        "@(",
        "$[",
        "a[",
        "=(",
        "ls",
        " ",
        "\n",
        ";",
        "|",
        " #",
        "coproc ",
        "xargs ",
        "git ",
        "-c ",
        "bash -c ",
        "a/",
        "HEAD ",
    ]);
    let unit = prop::collection::vec(scrap, 1..6).prop_map(|scraps| scraps.concat());
    (unit.clone(), 1..2_000_usize, unit, 0..2_000_usize).prop_map(|(first, count, second, other)| {
        let text = first.repeat(count) + "ls" + &second.repeat(other);
        text.chars().take(96 * 1024).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_text_takes_long_to_decide_about(text in scraps()) {
        let time = longest(&text, &[Mode::Auto]);
        prop_assert!(time < Duration::from_secs(20), "{:?} for {} bytes", time, text.len());
    }
}

/// Ways to run `git push` that a list of spellings would not have.
const OTHER_SPELLINGS: &str = "\
git -c core.fsmonitor=x status
git -c alias.x=push x
git --config-env=core.pager=X log
git --exec-path=. status
git config alias.x push
git bisect run ./x
git submodule foreach x
git rebase -x ./x main
git fetch ext::./x
GIT_SSH_COMMAND=./x git fetch
GIT_CONFIG_COUNT=1 git status
PATH=. ls
export PATH=.
prlimit --nofile=5 x
linux64 x
linux32 x
setarch x86_64 x
x86_64 x
/lib64/ld-linux-x86-64.so.2 /usr/bin/x
ld.so x
compgen -C x
complete -C x y
jobs -x y
env -S x
env x
sed e
sed '1e x' f
sed 's/a/b/e' f
sed -f x f
tar --checkpoint=1 --checkpoint-action=exec=x -cf /dev/null y
tar -I x -xf y
sqlite3 :memory: '.shell x'
awk 'BEGIN{x}'
busybox x
xargs x
nohup x
setsid x
nice x
stdbuf -o0 x
ionice x
chrt 1 x
taskset 1 x
unshare x
nsenter x
script -c x
vim -c x
vi +x
emacs --eval x
ed x
less x
man x
python3 -c x
perl -e x
ruby -e x
node -e x
php -r x
lua -e x
ssh -o ProxyCommand=x h
rsync -e x a b
find . -exec x ;
fd -x y
rg --pre x y
sort --compress-program=x y
gdb -ex x
strace x
watch x
parallel x
entr x
make -f x
make SHELL=./x
cargo run
cargo --config x build
npm exec x
npx x
go run x
timeout 5 env x
./x
sub/ls
unknown x
trap x EXIT
enable -f x y
hash -p x ls
alias ls=x
test -v 'a[$(x)]'
[ 'a[$(x)]' -eq 1 ]
declare 'a[$(x)]=1'
read PATH
printf -v PATH x";

#[test]
fn with_a_deny_rule_whatever_can_run_another_program_is_asked_about() {
    let watched = policy(NONE, &["bash: git push *"]);
    let ran: Vec<&str> =
        OTHER_SPELLINGS.lines().filter(|text| decide(&watched, Mode::Auto, text) == Verdict::Allow).collect();
    assert!(ran.is_empty(), "{ran:#?}");
    // Ordinary work is not.
    for text in [
        "git status",
        "git commit -m 'a b'",
        "git add -A && git commit -m x",
        "git checkout -b x",
        "git branch x",
        "cargo test --lib 2>&1 | tail -5",
        "timeout 60 cargo test",
        "make -j4 all",
        "npm run build",
        "mkdir -p a/b && cp x a/b && rm -rf y",
        "cat > f <<'EOF'\nit's (a text)\nEOF",
        "for f in *.rs; do wc -l \"$f\"; done",
        "if [ -f x ]; then cat x; fi",
        "[[ -n $x && -f y ]] && echo \"$(date)\"",
        "cd sub && ls # all of it",
        "RUST_BACKTRACE=1 cargo test",
        "sed -i 's/a/b/g' f",
        "echo $((1 + 2)) ${x:-y}",
        "find . -name '*.rs' | sort > out",
        "while read -r line; do echo \"$line\"; done < f",
        "grep -rn x src | head -5 || true",
    ] {
        assert_eq!(decide(&watched, Mode::Auto, text), Verdict::Allow, "{text}");
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

// In auto mode what is not known beforehand could be what is denied.
#[test]
fn with_a_deny_rule_what_is_known_at_its_run_only_is_asked_about() {
    let watched = policy(NONE, &["bash: rm *"]);
    let free = policy(NONE, NONE);
    for text in [
        "$x -rf y",
        "$(cat cmd) x",
        "eval \"$x\"",
        "cat x | bash",
        "bash x.sh",
        "source x",
        ". x",
        "`cat x`",
        "sh < x",
        "xargs -I{} {} x",
        "f() { ls; }; f",
    ] {
        assert!(matches!(decide(&watched, Mode::Auto, text), Verdict::Ask { .. }), "{text}");
        assert_eq!(decide(&free, Mode::Auto, text), Verdict::Allow, "{text}");
        let standing_yes = Policy { answerer: Answerer::Yes, ..watched.clone() };
        assert!(matches!(decide(&standing_yes, Mode::Ask, text), Verdict::Deny(_)), "{text}");
    }
    for text in [
        "ls",
        "cargo test && cargo clippy",
        "for f in *.rs; do wc -l $f; done",
        "ls | sort | uniq -c > out",
        "X=1 make all",
    ] {
        assert_eq!(decide(&watched, Mode::Auto, text), Verdict::Allow, "{text}");
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

proptest! {
    // Whatever it is given, it ends with a verdict.
    #[test]
    fn no_text_breaks_the_reader(text in ".{0,60}", more in pieces()) {
        let policy = policy(&["bash: *"], &["bash: rm *"]);
        decide(&policy, Mode::Auto, &text);
        decide(&policy, Mode::Auto, &more);
        decide(&policy, Mode::Auto, &format!("{text}$({more})"));
    }
}

#[test]
fn the_tests_look_where_they_think() {
    assert_eq!(
        Shape::of("ls 'a b' \"c\\d\" e''f"),
        Shape::Simple(["ls", "a b", "c\\d", "ef"].map(str::to_owned).to_vec())
    );
    assert!(matches!(Shape::of("ls; rm"), Shape::Complex { why: "it has several commands" }));
}
