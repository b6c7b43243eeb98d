//! Rules that deny: each finds its command wherever it hides, at any size and depth, and what could hide it is asked about.

use std::time::Duration;

use steersman_core::approval::{Answerer, Mode, Policy, Verdict};

use super::{NONE, decide, lines, policy};
use crate::support::cpu_time::CpuTime;

/// What a rule against `rm`, `git push` and `curl` is about.
const DENIED: &str = include_str!("../../fixtures/shell/denied.txt");

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
        assert!(why.starts_with("the rule \"bash: curl *\" may be about this, and the program cannot tell: "), "{why}");
        assert!(matches!(decide(&watched, Mode::Ask, &text), Verdict::Ask { .. }), "{text}");
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
