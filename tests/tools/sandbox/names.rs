//! Names that no command may change: each system call that could, on each class of them, in races and at random; and the
//! work that must not notice.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use steersman_base::protected::{DirectoryRole, ProtectedPlaces};
use steersman_tools::workspace::Sandbox;

use crate::support::grounds::{Grounds, KINDS, PATH};

const ATTEMPTS: &str = include_str!("../../fixtures/protected_names.py");

/// What is there and what is not, in each class and in another letter case.
const NAMES: [&str; 16] = [
    ".git/config",
    ".git/CONFIG",
    ".Git/config.worktree",
    ".git/hooks/pre-commit",
    ".git/hooks/post-checkout",
    ".git/commondir",
    ".git/info/attributes",
    ".git/objects/info/alternates",
    ".git/modules/sub/config",
    ".claude/settings.json",
    ".claude/new.json",
    ".Codex/config.toml",
    "sub/.envrc",
    "sub/.ENVRC",
    ".github/workflows/new.yml",
    "AGENTS.md",
];

/// A repository with something protected of each class.
fn prepare(grounds: &Grounds) {
    let script = "git init -q && mkdir -p .git/hooks .claude sub .github/workflows && echo '{}' > .claude/settings.json \
                  && echo '#!/bin/sh' > .git/hooks/pre-commit && chmod 644 .git/hooks/pre-commit && echo a > sub/a \
                  && echo x > .github/workflows/x.yml && git add . && git commit -q -m one";
    users(&grounds.work, &grounds.home, script);
    fs::write(grounds.work.join("attempts.py"), ATTEMPTS).unwrap();
}

/// Runs a command of the user's, outside of every sandbox.
fn users(work: &Path, home: &Path, script: &str) {
    let mut command = Command::new("bash");
    command.args(["-e", "-c", script]).current_dir(work).env_clear().env("PATH", PATH).env("HOME", home);
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "A").env(format!("GIT_{who}_EMAIL"), "a@example.com");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the protected files below a directory: their rights, number and content.
fn protected(work: &Path) -> BTreeMap<PathBuf, (u32, u64, Vec<u8>)> {
    let places = ProtectedPlaces::default().with(DirectoryRole::Writable, work);
    let mut found = BTreeMap::new();
    collect(work, &places, &mut found);
    found
}

fn collect(directory: &Path, places: &ProtectedPlaces, found: &mut BTreeMap<PathBuf, (u32, u64, Vec<u8>)>) {
    let before = fs::symlink_metadata(directory).unwrap().permissions();
    // A command may have closed what it may write; what lies there is looked at all the same.
    fs::set_permissions(directory, fs::Permissions::from_mode(0o700)).unwrap();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        if places.refuses(&path).is_some() {
            let content = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            // That of a directory changes with what is made in it.
            let number = if metadata.is_dir() { 0 } else { metadata.ino() };
            found.insert(path.clone(), (metadata.mode(), number, content));
        }
        if metadata.is_dir() {
            collect(&path, places, found);
        }
    }
    fs::set_permissions(directory, before).unwrap();
}

/// Runs the attempts; returns what they printed, the last line last.
async fn attempt(grounds: &Grounds, sandbox: &Sandbox, arguments: &[&str]) -> Vec<String> {
    let argv: Vec<&str> = ["python3", "attempts.py"].iter().chain(arguments).copied().collect();
    let (ended, output) = grounds.run(sandbox, &grounds.job(&argv)).await;
    assert_eq!(ended.code, Some(0), "{:?}: {output}", sandbox.name());
    output.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn no_call_changes_a_protected_name() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        assert!(sandbox.closes_names(), "{:?}", sandbox.name());
        prepare(&grounds);
        let before = protected(&grounds.work);
        assert!(before.len() >= 6, "{before:?}");
        let arguments: Vec<&str> = ["calls"].iter().chain(&NAMES).copied().collect();
        let printed = attempt(&grounds, &sandbox, &arguments).await;
        let (tries, others) = printed.split_last().unwrap();
        assert!(tries.parse::<usize>().unwrap() >= NAMES.len() * 40, "{tries}");
        assert!(others.is_empty(), "{:?}: {others:#?}", sandbox.name());
        assert_eq!(protected(&grounds.work), before, "{:?}", sandbox.name());
    }
}

#[tokio::test]
async fn no_race_changes_a_protected_name() {
    // More where there is time: `tests/repeat.sh`.
    let tries = std::env::var("STEERSMAN_TEST_RACES").unwrap_or_else(|_| "3000".to_owned());
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        prepare(&grounds);
        let before = protected(&grounds.work);
        for path in [".git/config", ".git/commondir", ".claude/settings.json"] {
            let printed = attempt(&grounds, &sandbox, &["races", path, &tries]).await;
            assert_eq!(printed, [&*tries], "{:?}: {path}", sandbox.name());
            assert_eq!(protected(&grounds.work), before, "{:?}: {path}", sandbox.name());
            users(&grounds.work, &grounds.home, "rm -rf own*");
        }
    }
}

/// Makes a part of a repository over and over, and says when there is a whole one.
const PARTS: &str = r#"
import os, sys
name, tries = sys.argv[1], int(sys.argv[2])
for _ in range(tries):
    try:
        os.mkdir("d/refs") if name == "refs" else open("d/HEAD", "x").close()
        if os.path.exists("d/HEAD") and os.path.exists("d/refs"):
            print("a repository")
            break
        os.rmdir("d/refs") if name == "refs" else os.unlink("d/HEAD")
    except OSError:
        pass
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_of_two_sessions_of_which_one_works_below_the_other_make_no_repository() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let below = grounds.work.join("below");
        fs::create_dir_all(below.join("d/objects")).unwrap();
        let job = |name: &str, root: &Path| {
            let mut job = grounds.job(&["python3", "-c", PARTS, name, "4000"]);
            job.cwd.clone_from(&below);
            job.confinement.writable = vec![root.to_owned()];
            job
        };
        let (above, inner) = (job("refs", &grounds.work), job("HEAD", &below));
        let (one, other) = tokio::join!(grounds.run(&sandbox, &above), grounds.run(&sandbox, &inner));
        for (ended, output) in [one, other] {
            assert_eq!((ended.code, output.as_str()), (Some(0), ""), "{:?}", sandbox.name());
        }
    }
}

#[tokio::test]
async fn no_random_commands_change_a_protected_name() {
    for kind in KINDS {
        for seed in ["1", "2", "3"] {
            let grounds = Grounds::new();
            let Some(sandbox) = grounds.sandbox(kind).await else { continue };
            prepare(&grounds);
            let before = protected(&grounds.work);
            let arguments: Vec<&str> = ["random", seed, "500"].iter().chain(&NAMES).copied().collect();
            let printed = attempt(&grounds, &sandbox, &arguments).await;
            assert!(printed.last().unwrap().parse::<usize>().is_ok(), "{printed:?}");
            assert_eq!(protected(&grounds.work), before, "{:?}: {seed}", sandbox.name());
        }
    }
}

#[tokio::test]
async fn a_closed_directory_switches_nothing_off() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        prepare(&grounds);
        let before = protected(&grounds.work);
        let script = "chmod 0111 . sub; echo x > sub/.envrc; echo x > .git/commondir; echo x >> .git/config; \
                      mkdir -p .codex; echo x > AGENTS.md; chmod 0755 . sub; echo x > sub/.envrc; echo done";
        let (_, output) = grounds.run(&sandbox, &grounds.shell(script)).await;
        assert!(output.ends_with("done\n") && output.contains("Read-only file system"), "{output}");
        assert_eq!(protected(&grounds.work), before, "{:?}", sandbox.name());
    }
}

#[tokio::test]
async fn a_command_runs_in_a_directory_that_cannot_be_listed() {
    for kind in KINDS {
        for mode in ["0311", "0111"] {
            let grounds = Grounds::new();
            let Some(sandbox) = grounds.sandbox(kind).await else { continue };
            prepare(&grounds);
            let before = protected(&grounds.work);
            grounds.works(&sandbox, &format!("chmod {mode} .")).await;
            let script =
                "stat -c %a .; cat sub/a; echo x > sub/b; cat sub/b; ls; echo x > .git/config; echo x > sub/.envrc";
            let (_, output) = grounds.run(&sandbox, &grounds.shell(script)).await;
            assert!(
                output.starts_with(&format!("{}\na\nx\n", mode.trim_start_matches('0'))),
                "{kind:?}, {mode}: {output}"
            );
            assert_eq!(output.matches("Read-only file system").count(), 2, "{kind:?}, {mode}: {output}");
            assert!(output.contains("ls: cannot open directory"), "{kind:?}, {mode}: {output}");
            assert_eq!(protected(&grounds.work), before, "{kind:?}, {mode}");
            grounds.works(&sandbox, "chmod 755 . && ls").await;
        }
    }
}

#[tokio::test]
async fn plain_work_with_git_does_not_notice() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        prepare(&grounds);
        users(
            &grounds.work,
            &grounds.home,
            "git worktree add -q ../tree && git clone -q . ../other && git remote add o $PWD/../other",
        );
        let git = "git -c user.name=A -c user.email=a@example.com";
        for command in [
            "echo b >> sub/a && git add sub/a && {git} commit -q -m two && git status --short && git log --oneline | wc -l | grep -qx 2",
            "git switch -q -c topic && echo c > c && git add c && {git} commit -q -m three && git tag v1 && {git} tag -a v2 -m x",
            "git switch -q - && echo d > d && git add d && {git} commit -q -m four && {git} merge -q -m merged topic && test -e c",
            "echo e >> d && {git} stash -q && ! grep -q e d && git stash pop -q && grep -q e d && {git} commit -qam five",
            "GIT_SEQUENCE_EDITOR=\"sed -i 's/^pick/reword/'\" GIT_EDITOR=\"echo six >\" {git} rebase -q -i HEAD~1",
            "git log --oneline | grep -q six && {git} revert --no-edit HEAD && {git} cherry-pick HEAD~1",
            "git bisect start && git bisect bad && git bisect good v1 && git bisect reset",
            "git branch -D topic && git gc -q && git fsck && git repack -adq && git pack-refs --all && git reflog expire --all",
            "git mv d moved && git rm -q c && {git} commit -q -m seven && git checkout -q HEAD~1 -- c && git reset -q --hard",
            "git notes add -m n && git apply --check < /dev/null || :; git diff HEAD~1 > p && git apply -R p && git clean -fdq",
        ] {
            grounds.works(&sandbox, &command.replace("{git}", git)).await;
        }
        // The repositories beside: one is fetched from, where it can be seen, and one worktree is worked in.
        users(&grounds.work, &grounds.home, "git fsck && git status");
    }
}

#[tokio::test]
async fn ordinary_programs_do_not_notice_who_opens_their_files() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let works = async |command: &str| grounds.works(&sandbox, command).await;
        assert_eq!(
            works("echo out > /dev/stdout; echo err > /dev/stderr; echo fd > /dev/fd/1").await,
            "out\nerr\nfd\n"
        );
        assert_eq!(works("echo both | tee /dev/stderr").await, "both\nboth\n");
        assert_eq!(
            works("cat <<< here; cat < <(echo in); echo x > >(cat); wait $!; diff <(echo a) <(echo a)").await,
            "here\nin\nx\n"
        );
        assert_eq!(
            works("mkfifo f; cat f & echo through > f; wait; (sleep 0.1; cat f) & echo later > f; wait").await,
            "through\nlater\n"
        );
        works("echo a > a && install -m 750 a b && test $(stat -c %a b) = 750 && f=$(mktemp) && echo x > $f && test $(stat -c %a $f) = 600").await;
        works("umask 027 && touch c && mkdir d && test $(stat -c %a c) = 640 && test $(stat -c %a d) = 750").await;
        works("mkdir -p d/e d/e && ! mkdir d 2> /dev/null && touch d/e/f && rm -r d && ! rmdir d 2> /dev/null").await;
        works("ln -s nowhere dangling && echo made > dangling && test $(cat nowhere) = made && ! (set -C; echo x > dangling) 2> /dev/null").await;
        works("echo one > log && echo two >> log && test $(wc -l < log) = 2 && truncate -s 1 log && test $(stat -c %s log) = 1").await;
        works("exec 3<> log; echo -n xyz >&3; test $(cat log) = xyz; chmod +x log && cp -a log copy && mv copy log && test -x log").await;
        works("python3 -c 'import tempfile, os; f = tempfile.TemporaryFile(); f.write(b\"x\"); d = tempfile.mkdtemp(); os.rmdir(d)'").await;
        works("python3 -c 'import os; f = os.open(\".\", os.O_TMPFILE | os.O_RDWR); os.link(f\"/proc/self/fd/{f}\", \"named\", src_dir_fd=0, follow_symlinks=True)' && test -e named").await;
        works("python3 -c 'import os; os.close(os.open(\"/proc/self/fd/1\", os.O_WRONLY)); os.replace(\"named\", \"again\"); os.truncate(\"again\", 3)'").await;
        works("python3 -c 'import ctypes; assert ctypes.CDLL(None).prctl(4, 0) == 0' && for n in $(seq 200); do echo $n > n-$n; done && rm n-*").await;
        assert_eq!(works("mkdir -p long; cd long; for n in $(seq 40); do mkdir -p dddddddddddddddddddddddddddd; cd ddd*; done; echo x > y; cat y").await, "x\n");
        works("ln -s loop loop; ! echo x > loop; ! echo x > no/such; ! echo x > log/y; ! echo x > .").await;
        works("! echo x > /proc/1/mem; ! echo x > /proc/$PPID/fd/3; ! echo x > /proc/self/mem; ! echo x > /dev/full")
            .await;
        // What is opened in the job's place is not what only the supervisor may open.
        for name in ["environ", "mem", "fd/3", "task/$PPID/environ", "cwd/x"] {
            let open = "import os, sys; os.open(sys.argv[1], os.O_RDONLY | os.O_CREAT)";
            works(&format!("! python3 -c '{open}' /proc/$PPID/{name} 2> /dev/null")).await;
        }
        if kind != super::SandboxChoice::Landlock {
            works("python3 -c 'import socket as s; l = s.socket(s.AF_UNIX); l.bind(\"sock\"); l.listen(); assert l.getsockname() == \"sock\"; \
                   c = s.socket(s.AF_UNIX); c.connect(\"sock\")' && test -S sock").await;
            works("cd long && python3 -c 'import socket as s; [s.socket(f).bind(a) for f, a in [(s.AF_UNIX, \"../sock2\"), (s.AF_UNIX, b\"\\0name\"), \
                   (s.AF_INET, (\"127.0.0.1\", 0)), (s.AF_INET6, (\"::1\", 0))]]' && test -S ../sock2").await;
            assert_eq!(works("python3 -c 'import pty; pty.spawn([\"sh\", \"-c\", \"echo tty > /dev/tty\"])' < /dev/null | tr -d '\\r'").await, "tty\n");
        }
    }
}
