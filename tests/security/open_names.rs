//! A kernel that lets nobody answer the system calls of a command, so that no sandbox closes a protected name: what may write
//! is asked about, and what nobody is asked about cannot write.

use serde_json::json;
use steersman_seccomp_notify::{ALLOW, Instruction, Listener};

use crate::advisories::{bash, home, run, sandboxes};
use crate::support::server::{Reply, Server};
use crate::support::terminal::Start;
use crate::support::users::tree;

/// Lets a thread start programs that cannot answer system calls of others: somebody else stands around them already, and
/// passes everything on. A kernel without such answers needs nothing of that.
fn with_open_names<R: Send>(start: impl FnOnce() -> R + Send) -> R {
    const RETURN: u16 = 0x06;
    let confined = || {
        rustix::thread::set_no_new_privs(true).unwrap();
        let _listener = Listener::install(&[Instruction { code: RETURN, jt: 0, jf: 0, k: ALLOW }]);
        start()
    };
    std::thread::scope(|scope| scope.spawn(confined).join().unwrap())
}

const SAID: &str =
    "each command that may write is asked about: the sandbox cannot keep it from what git and others run later";

#[test]
fn no_command_writes_unasked_where_no_sandbox_closes_a_name() {
    for sandbox in sandboxes() {
        let calls = [
            bash("touch made"),
            bash("cp kept.txt made"),
            bash("python3 -c 'open(\"made\", \"w\")'"),
            ("bash", json!({"command": "touch made", "background": true})),
            // What these run and write, the files of the project say, or the name of the branch.
            bash("cargo build"),
            bash("npm test"),
            bash("pytest"),
            bash("git remote add made ."),
            bash("git branch made"),
            bash("git add kept.txt"),
            bash("git status --short; ls; cat kept.txt"),
        ];
        for answers in [&["--mode", "auto"][..], &["--yes"]] {
            let home = home(&[("work/.git/HEAD", "ref: refs/heads/main\n"), ("work/kept.txt", "what is there")]);
            let arguments = [answers, &["--sandbox", sandbox]].concat();
            let run = with_open_names(|| run(home, &arguments, &calls));
            assert!(run.said.contains(SAID), "{sandbox}, {answers:?}: {}", run.said);
            let (looked, writes) = run.results.split_last().unwrap();
            assert_eq!(writes.len(), calls.len() - 1, "{sandbox}: {}", run.said);
            for result in writes {
                let why = "on this system the sandbox cannot keep a command from writing what git and other programs run later";
                assert!(result.contains(why) && result.contains("approv"), "{sandbox}, {answers:?}: {result}");
            }
            assert!(!run.is_there("work/made"), "{sandbox}, {answers:?}");
            assert!(looked.contains("what is there"), "{sandbox}, {answers:?}: {looked}");
        }
    }
}

/// A repository whose own settings name files of the project, none of which has a name that other programs obey.
const NAMED: [(&str, &str); 4] = [
    ("work/.git/HEAD", "ref: refs/heads/main\n"),
    (
        "work/.git/config",
        "[core]\n\thooksPath = tools/checks\n\tfsmonitor = tools/watch\n[include]\n\tpath = ../shared.cfg\n",
    ),
    ("work/tools/watch", "what is there"),
    ("work/kept.txt", "what is there"),
];

#[test]
fn what_a_project_itself_protects_stays_as_it_is_where_no_sandbox_closes_a_name() {
    let attack =
        "mkdir -p tools/checks; echo evil > tools/checks/pre-commit; echo evil > shared.cfg; echo evil > tools/watch";
    let write = |path: &str| ("write", json!({"path": path, "content": "evil"}));
    let calls = [
        bash(attack),
        bash("cp kept.txt tools/checks/post-commit"),
        bash("git config core.fsmonitor evil"),
        ("bash", json!({"command": attack, "background": true})),
        ("read", json!({"path": "tools/watch"})),
        write("tools/checks/pre-commit"),
        write("shared.cfg"),
        write("tools/watch"),
    ];
    // A rule of the user's for a program is no yes to a protected place either.
    let rules =
        "[rules]\nallow = [\"bash: mkdir *\", \"bash: echo *\", \"bash: cp *\", \"bash: git *\", \"write: **\"]\n";
    let hook =
        json!({"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": attack}]}]}}).to_string();
    for sandbox in sandboxes() {
        for answers in [&["--mode", "auto"][..], &["--yes"]] {
            let own = [(".config/steersman/config.toml", rules), (".config/steersman/hooks.json", &hook)];
            let home = home(&[&NAMED[..], &own].concat());
            let before = tree(&home.path().join("work"));
            let arguments = [answers, &["--sandbox", sandbox]].concat();
            let run = with_open_names(|| run(home, &arguments, &calls));
            assert!(run.said.contains(SAID), "{sandbox}, {answers:?}: {}", run.said);
            assert_eq!(run.results.len(), calls.len(), "{sandbox}, {answers:?}: {}", run.said);
            for (at, result) in run.results.iter().enumerate().filter(|(at, _)| *at != 4) {
                assert!(result.contains("approv"), "{sandbox}, {answers:?}: {:?}: {result}", calls[at]);
            }
            assert_eq!(tree(&run.path("work")), before, "{sandbox}, {answers:?}: {}", run.said);
        }
    }
}

#[test]
fn the_question_says_that_the_sandbox_closes_no_name_and_a_yes_runs_the_command() {
    let Some(sandbox) = sandboxes().first().copied() else { return };
    with_open_names(|| {
        let call = json!({"command": "touch made; ls"}).to_string();
        let server = Server::start([Reply::calls(&[("c1", "bash", &call)]), Reply::text("It is there.")]);
        let arguments = ["--mode", "auto", "--sandbox", sandbox];
        let mut terminal = arguments.into_iter().fold(Start::against(&server), Start::arg).run();
        terminal.wait_for("each command that may write is asked about");
        terminal.send("go\r");
        terminal.wait_for("Run this command?");
        terminal.wait_for("the sandbox cannot keep a command from");
        assert!(!terminal.home().join("work/made").exists());
        terminal.wait_for("● ready");
        terminal.send("\x1by");
        terminal.wait_for("It is there.");
        assert!(terminal.home().join("work/made").exists());
    });
}

#[test]
fn no_hook_of_the_sandbox_writes_in_the_workspace_where_no_name_is_closed() {
    for sandbox in sandboxes() {
        let hook = r#"{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "cat kept.txt >&2; touch made; exit 2"}]}]}}"#;
        let home = home(&[("work/kept.txt", "what is there"), (".config/steersman/hooks.json", hook)]);
        let run = with_open_names(|| run(home, &["--sandbox", sandbox], &[]));
        assert!(run.said.contains("what is there") && !run.is_there("work/made"), "{sandbox}: {}", run.said);
    }
}
