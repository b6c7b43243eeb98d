//! The sandbox, by commands that try to get out of it, and by ordinary work that must not notice it.
//!
//! Everything runs under each kind that this machine has, through the spawner as the program does.

mod jobs;
mod later;
mod links;
mod names;
mod namespaces;
mod promises;
mod protected;
mod redirections;
mod relied_on;
mod tool;
mod work;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::support::grounds::{CANARY, Grounds, KINDS, PATH};
use crate::support::{built_program, users};
use steersman_base::protected::ProtectedPlaces;
use steersman_core::approval::{Answerer, Approvals, Mode, ModeRefused, Policy, Sandboxed};
use steersman_tools::workspace::sandbox::{SUBCOMMAND, SandboxChoice, Surroundings, inner};
use steersman_tools::workspace::{Network, Sandbox};

use crate::support::processes::{alive, unique};
use crate::support::skip::{Need, skip};

const PROBES: &str = include_str!("../../fixtures/sandbox_probes.py");

/// Runs the probes; returns what each came to.
async fn probe(grounds: &Grounds, sandbox: &Sandbox, more: &[&str]) -> Vec<(String, String)> {
    fs::write(grounds.work.join("probes.py"), PROBES).unwrap();
    let argv: Vec<&str> = ["python3", "probes.py"].iter().chain(more).copied().collect();
    let (ended, output) = grounds.run(sandbox, &grounds.job(&argv)).await;
    assert_eq!(ended.code, Some(0), "{output}");
    assert!(!output.contains(CANARY), "{output}");
    let lines = output.lines().filter_map(|line| line.split_once(": "));
    lines.map(|(name, end)| (name.to_owned(), end.to_owned())).collect()
}

#[tokio::test]
async fn no_probe_gets_out() {
    for kind in KINDS {
        let mut grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let results = probe(&grounds, &sandbox, &[]).await;
        assert_eq!(results.len(), PROBES.matches("\n@probe(").count(), "{results:#?}");
        assert!(results.len() >= 40);
        let out: Vec<_> = results.iter().filter(|(_, end)| !end.starts_with("denied")).collect();
        assert!(out.is_empty(), "{:?}: {out:#?}", sandbox.name());
        grounds.assert_untouched();
    }
}

#[tokio::test]
async fn the_probes_get_out_where_there_is_no_sandbox() {
    let grounds = Grounds::new();
    let results = probe(&grounds, &Sandbox::none(), &["--control"]).await;
    assert!(results.len() >= 30, "{}", results.len());
    let denied: Vec<_> = results.iter().filter(|(_, end)| end != "got in").collect();
    assert!(denied.is_empty(), "{denied:#?}");
}

#[tokio::test]
async fn ordinary_work_does_not_notice_the_sandbox() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let works = async |command: &str| grounds.works(&sandbox, command).await;

        works("printf 'int puts(const char *); int main(void) { return puts(\"built\") < 0; }' > a.c && cc a.c -o a")
            .await;
        assert_eq!(works("./a").await, "built\n");
        let git = "git -c user.name=A -c user.email=a@example.com";
        users::user(&grounds.work, &grounds.home, "git init -q .");
        works("git add a.c && git status --short").await;
        works(&format!("{git} commit -q -m first && echo more >> a.c && git diff --stat && {git} commit -qam second"))
            .await;
        works(&format!("git checkout -q -b topic && git stash list && {git} log --oneline | wc -l | grep -qx 2")).await;
        assert_eq!(works("python3 -c 'import json, ssl, sqlite3; print(json.dumps([1]))'").await, "[1]\n");
        works("python3 -c 'import subprocess as s; s.run([\"true\"], check=True)'").await;
        works("f=$(mktemp) && echo x > $f && mkdir -p deep/er && cp $f deep/er/x && mv deep/er/x deep/x && rm -r deep")
            .await;
        works("ln -s a.c soft && ln a.c hard && mkfifo fifo && chmod 755 a.c && touch -d yesterday a.c && rm soft hard fifo").await;
        works("seq 1000 | sort -rn | head -1 | grep -qx 1000; diff <(echo a) <(echo a); cat <<< here | grep -q here")
            .await;
        works("(sleep 0.01; echo late > late) & wait; test -s late && cat /etc/passwd > /dev/null && id -un").await;
        works("test \"$(pwd)\" = \"$PWD\" && test -d \"$HOME\" && date > /dev/null && head -c 8 /dev/urandom | wc -c")
            .await;
        works("ulimit -n 512 && test $(ulimit -n) = 512 && ulimit -S -n 64 && ulimit -c 0 && ulimit -f 1000").await;
        works("nice -n 5 true && timeout 9 true && ionice -c 3 true && chrt -b 0 true && taskset ffffffff true").await;
        works("sleep 600 & kill $!; ! wait $!; prlimit --pid $$ > /dev/null; prlimit --nofile=64 true").await;
        works("python3 -c 'import resource as r, os; r.setrlimit(r.RLIMIT_NOFILE, (64, 64)); os.nice(1); os.kill(os.getpid(), 0)'").await;
        works("python3 -c 'import os; os.sched_setaffinity(0, os.sched_getaffinity(0)); os.setpriority(os.PRIO_PROCESS, 0, max(3, os.getpriority(os.PRIO_PROCESS, 0)))'").await;
        works("printf 'all: a b c\na b c: ; @sleep 0.01\n' > Makefile && make -s -j 3").await;
        assert_eq!(works("cat ~/.cargo/bin/tool").await, "a tool\n");
        let (_, refused) = grounds.run(&sandbox, &grounds.shell("echo x >> ~/.cargo/bin/tool")).await;
        assert!(refused.contains("denied") || refused.contains("Read-only"), "{refused}");
        assert_eq!(fs::read_to_string(grounds.home.join(".cargo/bin/tool")).unwrap(), "a tool\n");
        if kind != SandboxChoice::Landlock {
            // A network of its own has a loopback of its own.
            let serve =
                "import socket as s; l = s.create_server(('127.0.0.1', 0)); s.create_connection(l.getsockname())";
            works(&format!("python3 -c \"{serve}\"")).await;
            works("python3 -c 'import multiprocessing as m; print(m.Lock())' && echo x > /tmp/x && echo y > ~/.cache")
                .await;
            works("python3 -c 'import pty, os; m, s = pty.openpty(); os.write(s, b\"x\"); print(os.read(m, 1))'").await;
        }
    }
}

#[tokio::test]
async fn a_command_that_attacks_its_guard_and_its_host_reaches_neither() {
    let before = rustix::process::getrlimit(rustix::process::Resource::Fsize);
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let mark = unique();
        let mut job = grounds.shell(
            "for pid in $PPID $HOST; do for limit in nofile fsize cpu as; do
                 prlimit --pid $pid --$limit=0:0 && echo changed $limit of $pid
             done; done 2> /dev/null
             for signal in STOP KILL; do kill -$signal $PPID $HOST -$HOST; done 2> /dev/null
             (trap '' TERM; setsid sleep 600 &); sleep 600 & echo done; exit 6",
        );
        job.environment.push(("TEST_MARK".into(), mark.clone().into()));
        let (ended, output) = grounds.run(&sandbox, &job).await;
        assert_eq!(
            (output.as_str(), ended.code, ended.left),
            ("done\n", Some(6), 0),
            "{:?}: {ended:?}",
            sandbox.name()
        );
        assert_eq!((ended.failure, alive(&mark)), (None, Vec::new()), "{:?}", sandbox.name());
    }
    assert_eq!(rustix::process::getrlimit(rustix::process::Resource::Fsize), before);
}

#[tokio::test]
async fn a_session_has_a_temporary_directory_of_its_own() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        grounds.works(&sandbox, "echo kept > $TMPDIR/between-commands").await;
        assert_eq!(grounds.works(&sandbox, "cat $TMPDIR/between-commands").await, "kept\n");
        assert!(!Path::new("/tmp/between-commands").exists());
        let other = grounds.sandbox(kind).await.unwrap();
        grounds.works(&other, "test ! -e $TMPDIR/between-commands").await;
    }
}

#[tokio::test]
async fn a_network_that_is_allowed_opens_nothing_else() {
    for kind in KINDS {
        let mut grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let mut job = grounds.job(&["python3", "-c"]);
        job.confinement.network = Network::On;
        job.argv.push("import os, socket; socket.create_connection(('127.0.0.1', int(os.environ['TCP'])))".into());
        let (ended, output) = grounds.run(&sandbox, &job).await;
        assert_eq!(ended.code, Some(0), "{output}");
        for closed in [
            "socket.socket(socket.AF_UNIX).connect('\\0' + os.environ['ABSTRACT'])",
            "socket.socket(socket.AF_UNIX).connect(os.environ['OUTSIDE'] + '/socket')",
            "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
            "open(os.environ['HOME'] + '/.netrc').read()",
        ] {
            job.argv.pop();
            job.argv.push(format!("import os, socket; {closed}").into());
            let (ended, output) = grounds.run(&sandbox, &job).await;
            assert_eq!(ended.code, Some(1), "{:?}: {closed}", sandbox.name());
            assert!(output.contains("Error"), "{output}");
        }
        // The one connection that was allowed.
        grounds.take_connection();
        grounds.assert_untouched();
    }
}

#[tokio::test]
async fn children_get_no_key_by_name_nor_by_pattern() {
    let grounds = Grounds::new();
    let mut kinds = vec![Sandbox::none()];
    for kind in KINDS {
        kinds.extend(grounds.sandbox(kind).await);
    }
    for sandbox in kinds {
        let output = grounds
            .works(&sandbox, "env; cat /proc/self/environ; set; tr '\\0' '\\n' < /proc/$PPID/environ || :")
            .await;
        assert!(output.contains("PATH="), "{output}");
        for closed in [CANARY, "OPENAI", "ANTHROPIC", "MY_SERVICE_TOKEN", "DB_PASSWORD", "MY_SERVER", "STEERSMAN_"] {
            assert!(!output.contains(closed), "{:?}: {closed}\n{output}", sandbox.name());
        }
    }
}

#[tokio::test]
async fn a_workspace_that_holds_the_home_keeps_its_secrets() {
    let grounds = Grounds::new();
    let home = &grounds.home;
    for kind in [SandboxChoice::Namespaces, SandboxChoice::Bubblewrap] {
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let mut job = grounds.shell("");
        job.cwd.clone_from(home);
        job.confinement.writable = vec![home.clone()];
        for (command, passes) in [
            ("echo fine > note && cat note", true),
            ("cat .ssh/id_ed25519", false),
            ("test -s .netrc", false),
            ("test -s .cargo/credentials.toml", false),
            ("cat .config/steersman/config.toml", false),
            ("echo evil >> .bashrc", false),
            ("mv .bashrc away", false),
            ("echo evil >> .cargo/bin/tool", false),
            ("git config --global alias.st '!evil'", false),
        ] {
            job.argv[2] = command.into();
            let (ended, output) = grounds.run(&sandbox, &job).await;
            assert_eq!(ended.code == Some(0), passes, "{command}: {output}");
            assert!(!output.contains(CANARY), "{command}");
        }
        assert_eq!(fs::read_to_string(home.join(".bashrc")).unwrap(), CANARY);
    }
    if let Some(sandbox) = grounds.sandbox(SandboxChoice::Landlock).await {
        let mut job = grounds.shell("true");
        job.confinement.writable = vec![home.parent().unwrap().to_owned()];
        let error = sandbox.wrap(&job).unwrap_err().to_string();
        assert!(error.contains("holds the home directory") && error.contains("bubblewrap"), "{error}");
    }
}

#[tokio::test]
async fn nothing_is_confined_that_may_write_everywhere() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let mut job = grounds.shell("true");
        job.confinement.writable = vec!["/".into()];
        let error = sandbox.wrap(&job).unwrap_err().to_string();
        assert!(error.contains("cannot confine a command that may write in /"), "{error}");
    }
}

#[tokio::test]
async fn a_refusal_is_explained_and_a_failure_of_its_own_is_not() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let name = sandbox.name().unwrap();
        for command in [
            "cat ~/.ssh/id_ed25519",
            "echo x > /etc/planted",
            "echo x > /usr/planted",
            "mkdir mounted && mount -t tmpfs none mounted",
            "unshare -Ur true",
            "python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 80), 2)'",
            "python3 -c 'import socket; socket.getaddrinfo(\"example.com\", 80)'",
        ] {
            let job = grounds.shell(command);
            let (ended, output) = grounds.run(&sandbox, &job).await;
            assert_ne!(ended.code, Some(0), "{command}");
            let words = sandbox.explain(&job, &output).unwrap_or_else(|| panic!("{name}: {command}: {output}"));
            assert!(words.contains(name) && words.contains("no network") && words.contains(".git/hooks"), "{words}");
        }
        for command in ["cat missing.txt", "echo 'assertion failed' && false", "cc nothing.c"] {
            let job = grounds.shell(command);
            let (ended, output) = grounds.run(&sandbox, &job).await;
            assert_ne!(ended.code, Some(0), "{command}");
            assert_eq!(sandbox.explain(&job, &output), None, "{command}: {output}");
        }
    }
    let grounds = Grounds::new();
    assert_eq!(Sandbox::none().explain(&grounds.shell("true"), "Permission denied"), None);
}

#[tokio::test]
async fn commits_are_the_users_and_nothing_else_of_the_settings_is_seen() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let config = format!(
            "[user]\n\tname = A \\\"B\\\" C\n\temail = a@example.com\n[http]\n\textraHeader = {CANARY}\n[core]\n\tpager = x\n"
        );
        fs::write(grounds.home.join(".gitconfig"), config).unwrap();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        users::user(&grounds.work, &grounds.home, "git init -q .");
        let log = "git commit -q --allow-empty -m one && git log --format='%an <%ae>'";
        assert_eq!(grounds.works(&sandbox, log).await, "A \"B\" C <a@example.com>\n");
        let seen = grounds.works(&sandbox, "git config --list; cat ~/.gitconfig 2>&1 || :").await;
        assert!(!seen.contains(CANARY) && !seen.contains("pager=x"), "{seen}");
    }
}

#[tokio::test]
async fn a_worktree_works_with_the_repository_that_it_belongs_to() {
    for kind in KINDS {
        let mut grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let main = grounds.home.join("main");
        let tree = grounds.home.join("tree");
        let script = "git init -q main && cd main && git -c user.name=A -c user.email=a commit -q --allow-empty -m one \
                      && git worktree add -q ../tree";
        assert!(Command::new("sh").args(["-c", script]).current_dir(&grounds.home).status().unwrap().success());
        grounds.work.clone_from(&tree);
        let commit =
            "git status --short && git -c user.name=A -c user.email=a commit -q --allow-empty -m two && git log";
        assert!(grounds.works(&sandbox, commit).await.contains("two"));
        let before = fs::read(main.join(".git/config")).unwrap();
        for command in ["git config core.fsmonitor evil", "echo evil > ../main/.git/hooks/pre-commit"] {
            let (ended, output) = grounds.run(&sandbox, &grounds.shell(command)).await;
            assert_ne!(ended.code, Some(0), "{command}: {output}");
        }
        assert_eq!(fs::read(main.join(".git/config")).unwrap(), before);
        assert!(!main.join(".git/hooks/pre-commit").exists());
        // A link that only one side knows of could have been made by a command.
        fs::write(tree.join(".git"), format!("gitdir: {}\n", grounds.home.join("forged/worktrees/x").display()))
            .unwrap();
        fs::create_dir_all(grounds.home.join("forged/worktrees/x")).unwrap();
        fs::create_dir_all(grounds.home.join("forged/objects")).unwrap();
        fs::write(grounds.home.join("forged/secret"), CANARY).unwrap();
        let (ended, output) = grounds.run(&sandbox, &grounds.shell("cat ../forged/secret")).await;
        assert!(ended.code != Some(0) && !output.contains(CANARY), "{output}");
    }
}

/// Runs something in a thread where the kernel has no Landlock.
fn without_landlock<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    without(&[libc::SYS_landlock_create_ruleset], work)
}

/// Runs something in a thread where the kernel has none of these calls.
fn without<T: Send + 'static>(calls: &[libc::c_long], work: impl FnOnce() -> T + Send + 'static) -> T {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};
    let refused = calls.iter().map(|call| (*call, vec![])).collect();
    let thread = std::thread::spawn(move || {
        let arch = TargetArch::try_from(std::env::consts::ARCH).unwrap();
        let absent = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
        let filter = SeccompFilter::new(refused, SeccompAction::Allow, absent, arch).unwrap();
        seccompiler::apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
        work()
    });
    thread.join().unwrap()
}

fn detect(wanted: SandboxChoice, path: &str) -> Result<Sandbox, String> {
    let around = Surroundings {
        program: built_program().into(),
        home: None,
        path: path.into(),
        writable: Vec::new(),
        hidden: Vec::new(),
        protected: ProtectedPlaces::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(Sandbox::detect(wanted, &around)).map_err(|missing| missing.to_string())
}

#[test]
fn without_any_sandbox_it_says_so_and_auto_is_refused() {
    let empty = tempfile::TempDir::new().unwrap();
    let path = empty.path().to_str().unwrap().to_owned();
    let calls = [libc::SYS_landlock_create_ruleset, libc::SYS_unshare];
    let sandbox = without(&calls, move || detect(SandboxChoice::Auto, &path)).unwrap();
    assert_eq!(sandbox.name(), None);
    let why = sandbox.why_none().unwrap();
    assert!(why.starts_with("namespaces: ") && why.contains("no new namespaces: "), "{why}");
    assert!(why.contains("; bubblewrap: bwrap is not installed; landlock: "), "{why}");

    let sandboxed = if sandbox.name().is_some() { Sandboxed::Yes } else { Sandboxed::No };
    let policy = Policy { answerer: Answerer::User, sandboxed: Some(sandboxed), ..Policy::default() };
    let approvals = Approvals::new(policy, Mode::Ask);
    assert_eq!(approvals.set_mode(Mode::Auto), Err(ModeRefused::NotSandboxed));
    assert_eq!(approvals.mode(), Mode::Ask);
}

#[test]
fn a_sandbox_that_is_asked_for_by_name_and_missing_is_an_error() {
    let empty = tempfile::TempDir::new().unwrap();
    let path = empty.path().to_str().unwrap().to_owned();
    let error = detect(SandboxChoice::Bubblewrap, &path).unwrap_err();
    assert_eq!(error, "the sandbox bubblewrap does not work here: bwrap is not installed");
    let error = without(&[libc::SYS_unshare], || detect(SandboxChoice::Namespaces, PATH)).unwrap_err();
    assert!(error.starts_with("the sandbox namespaces does not work here: "), "{error}");
    let error = without_landlock(|| detect(SandboxChoice::Landlock, PATH)).unwrap_err();
    assert!(error.starts_with("the sandbox landlock does not work here: "), "{error}");
    assert_eq!(detect(SandboxChoice::Off, PATH).unwrap().name(), None);
}

#[test]
fn a_bubblewrap_that_does_not_work_is_not_taken() {
    let fake = tempfile::TempDir::new().unwrap();
    let bwrap = fake.path().join("bwrap");
    fs::write(&bwrap, "#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n").unwrap();
    fs::set_permissions(&bwrap, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{PATH}", fake.path().display());
    let error = detect(SandboxChoice::Bubblewrap, &path).unwrap_err();
    assert!(error.ends_with("bwrap: No permissions to create a new namespace"), "{error}");
    assert_ne!(detect(SandboxChoice::Auto, &path).unwrap().name(), Some("bubblewrap"));

    fs::set_permissions(&bwrap, fs::Permissions::from_mode(0o4755)).unwrap();
    let error = detect(SandboxChoice::Bubblewrap, &path).unwrap_err();
    assert!(error.contains("rights of another user"), "{error}");
}

#[test]
fn what_cannot_be_confined_does_not_run() {
    let dir = tempfile::TempDir::new().unwrap();
    let ran = dir.path().join("ran");
    let run = |options: &[&str]| {
        let mut command = Command::new(built_program());
        command.arg(SUBCOMMAND).args(options).args(["--", "touch"]).arg(&ran).env_clear().env("PATH", PATH);
        move || command.output().unwrap()
    };
    let all = ["--ro", "/", "--rw", "/"];
    let mut wrong = run(&["--ro", "/", "--unheard-of"]);
    let refused = run(&all);
    for output in [wrong(), without_landlock(refused)] {
        assert_eq!(output.status.code(), Some(i32::from(inner::FAILED)));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with("steersman: the sandbox cannot be set up, so nothing was run: "), "{said}");
        assert!(!ran.exists());
    }
    let mut works = run(&all);
    let output = works();
    if output.status.code() == Some(i32::from(inner::FAILED)) {
        skip(Need::Landlock, &String::from_utf8_lossy(&output.stderr));
        return;
    }
    assert!(output.status.success() && ran.exists());
    let missing =
        Command::new(built_program()).args([SUBCOMMAND, "--ro", "/", "--", "no-such-program"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(127));
}
