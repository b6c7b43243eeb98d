//! `--permission-command`: a program of the user that decides about what would be asked.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::{Value, json};
use steersman_base::text::is_invisible;

use super::{exec, lines, of};
use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};
use crate::support::stream_schema::check;

fn removal(id: &str) -> Reply {
    Reply::calls(&[(id, "bash", r#"{"command":"rm kept"}"#)])
}

/// Puts a program beside the directory that `exec` works in; it keeps what it is asked in `asked`.
fn deciding(program: Program, script: &str) -> (Program, String) {
    let script = format!("#!/bin/sh\ncat >> \"$HOME/asked\"\n{script}\n");
    let program = program.file("bin/decide", &script).file("work/kept", "");
    let path = program.home().join("bin/decide");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (program, path)
}

#[test]
fn it_gets_the_question_as_json_and_its_yes_counts() {
    let server = Server::start([removal("c1"), Reply::text("Gone.")]);
    let (program, decide) = deciding(exec(&server), r#"echo '{"answer": "yes"}'"#);
    let work = program.work().canonicalize().unwrap();
    let program = program.args(["--json", "--permission-command", &decide, "hello"]);
    let (output, home) = program.output_with_home();
    assert_eq!((exit_code(&output), stderr(&output).as_str()), (0, ""));
    assert!(!home.path().join("work/kept").exists());
    let lines = lines(&stdout(&output));
    let answer = &of(&lines, "answer")[0]["event"];
    assert_eq!(
        (&answer["answer"], &answer["by"], &answer["number"]),
        (&json!("yes"), &json!("permission command"), &json!(1))
    );
    let asked: Value = serde_json::from_str(&fs::read_to_string(home.path().join("asked")).unwrap()).unwrap();
    check("permission_question", &asked);
    let question = &of(&lines, "question")[0];
    assert_eq!(asked["session"], question["session"]);
    for name in ["number", "kind", "directory", "reason", "text", "detail", "call", "offer", "rule"] {
        assert_eq!(asked[name], question["event"][name], "{name}");
    }
    assert_eq!((&asked["detail"], &asked["directory"]), (&json!("rm kept"), &json!(work)));
    let act = json!({"kind": "command", "command": "rm kept", "cwd": work, "timeout_ms": 120_000});
    assert_eq!(asked["subject"], json!({"type": "act", "act": act}));
    assert_eq!(question["event"]["subject"], asked["subject"]);
}

#[test]
fn it_gets_every_field_of_what_is_asked_and_nothing_raw() {
    let command = "rm kept\u{9b}2J\u{202e}\u{e0041}";
    let first = json!({"command": command, "timeout": 7}).to_string();
    let server = Server::start([Reply::calls(&[("c1", "bash", &first)]), Reply::text("I leave it.")]);
    let (program, decide) = deciding(exec(&server), r#"echo '{"answer": "no"}'"#);
    let (output, home) = program.args(["--permission-command", &decide, "hello"]).output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let asked = fs::read_to_string(home.path().join("asked")).unwrap();
    let raw: Vec<char> = asked.chars().filter(|c| *c != '\n' && is_invisible(*c)).collect();
    assert!(raw.is_empty(), "{raw:?}");
    let asked: Value = serde_json::from_str(&asked).unwrap();
    let act = &asked["subject"]["act"];
    assert_eq!((&act["command"], &act["timeout_ms"]), (&json!(command), &json!(7_000)));
}

#[test]
fn its_yes_can_change_the_arguments_and_the_call_is_checked_as_any_other() {
    let run = |script: &str, more: &[&str]| {
        let server = Server::start([removal("c1"), Reply::text("Done.")]);
        let (program, decide) = deciding(exec(&server), script);
        let program = program.args(["--permission-command", &decide, "--ephemeral"]).args(more.iter().copied());
        let (output, home) = program.args(["hello"]).output_with_home();
        assert_eq!(exit_code(&output), 0, "{script}: {}", stderr(&output));
        let is_there = |name: &str| home.path().join("work").join(name).exists();
        let asked = fs::read_to_string(home.path().join("asked")).unwrap().lines().count();
        (server.chats()[1].texts("tool")[0].clone(), is_there("kept"), is_there("touched"), asked)
    };
    let note = r#"Note: the answer changed the arguments of this call to {"command":"touch touched"}"#;
    for name in ["arguments", "updatedInput"] {
        let script = format!(r#"echo '{{"answer": "yes", "{name}": {{"command": "touch touched"}}}}'"#);
        let (result, kept, touched, asked) = run(&script, &[]);
        assert!(result.starts_with(note) && !result.contains("Error"), "{result}");
        assert_eq!((kept, touched, asked), (true, true, 1), "{name}");
    }
    // Its own arguments are a plain yes.
    let (_, kept, _, asked) = run(r#"echo '{"answer": "yes", "arguments": {"command": "rm kept"}}'"#, &[]);
    assert_eq!((kept, asked), (false, 1));
    let (result, kept, ..) = run(r#"echo '{"answer": "yes", "arguments": {"cmd": "touch touched"}}'"#, &[]);
    assert!(result.contains("changed the arguments to what the tool does not take") && kept, "{result}");
    let touch = r#"echo '{"answer": "yes", "arguments": {"command": "touch touched"}}'"#;
    let (result, kept, touched, _) = run(touch, &["--deny", "bash: touch *"]);
    assert!(result.contains("Error") && kept && !touched, "{result}");
    let always = r#"echo '{"answer": "always", "arguments": {"command": "touch touched"}}'"#;
    let (result, kept, touched, _) = run(always, &[]);
    assert!(result.contains("Error") && kept && !touched, "{result}");
}

#[test]
fn the_hooks_are_asked_again_about_the_arguments_that_an_answer_gives_the_call() {
    let answer = r#"echo '{"answer": "yes", "arguments": {"command": "touch touched"}}'"#;
    let denied = r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no touching"}}"#;
    let changed = r#"{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"touch other"}}}"#;
    for (said, result, made) in [
        (denied, "no touching", [false, false]),
        (changed, "a hook changed the arguments", [false, true]),
        ("{}", "the answer changed the arguments", [true, false]),
    ] {
        let server = Server::start([removal("c1"), Reply::text("Done.")]);
        let (program, decide) = deciding(exec(&server), answer);
        // A hook outside of a sandbox has another directory.
        let seen = program.home().join("seen");
        let command = format!("case \"$(tee -a '{}')\" in *'touch touched'*) echo '{said}';; esac", seen.display());
        let hooks = json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}});
        let program = program.file(".config/steersman/hooks.json", &hooks.to_string());
        let (output, home) = program.args(["--permission-command", &decide, "hello"]).output_with_home();
        assert_eq!(exit_code(&output), 0, "{said}: {}", stderr(&output));
        let text = server.chats()[1].texts("tool")[0].clone();
        assert!(text.contains(result), "{said}: {text}");
        let is_there = |name: &str| home.path().join("work").join(name).exists();
        assert_eq!((is_there("kept"), ["touched", "other"].map(is_there)), (true, made), "{said}");
        let seen = fs::read_to_string(home.path().join("seen")).unwrap();
        assert!(seen.contains("rm kept") && seen.contains("touch touched"), "{said}: {seen}");
    }
}

#[test]
fn its_no_has_a_reason_for_the_model_and_its_failure_is_a_no() {
    for (script, reason, said) in [
        (r#"echo '{"answer": "no", "reason": "keep it"}'"#, "keep it", ""),
        ("echo broken >&2; exit 1", "the permission command failed (exit status: 1): broken", "answered no"),
        ("echo fine", "the permission command did not print an answer", "answered no"),
        (r#"echo '{"answer": "always"}'"#, "answered always, which this question does not take", "answered no"),
    ] {
        let server = Server::start([removal("c1"), Reply::text("I leave it.")]);
        let (program, decide) = deciding(exec(&server), script);
        let (output, home) = program.args(["--permission-command", &decide, "--ephemeral", "hello"]).output_with_home();
        assert_eq!(exit_code(&output), 0, "{script}: {}", stderr(&output));
        assert!(home.path().join("work/kept").exists(), "{script}");
        assert!(server.chats()[1].texts("tool")[0].contains(reason), "{:?}", server.chats()[1].texts("tool"));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
}

#[test]
fn what_it_declines_is_in_the_result_apart_from_what_nobody_was_asked_about() {
    let server = Server::start([removal("c1"), Reply::text("I leave it.")]);
    let (program, decide) = deciding(exec(&server), r#"echo '{"answer": "no", "reason": "keep it"}'"#);
    let output = program.args(["--output", "result", "--strict", "--permission-command", &decide, "hello"]).output();
    let result: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let refused = &result["refused"][0];
    assert_eq!((&refused["kind"], &refused["name"]), (&json!("declined"), &json!("bash")), "{result}");
    assert!(refused["reason"].as_str().unwrap().contains("keep it"));
    // Somebody was asked and has decided.
    assert_eq!(exit_code(&output), 0);

    let server = Server::start([removal("c1"), Reply::text("I leave it.")]);
    let output = exec(&server).args(["--output", "result", "--strict", "hello"]).output();
    let result: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&result["refused"][0]["kind"], exit_code(&output)), (&json!("refused"), 3));
}

#[test]
fn several_questions_are_asked_one_after_the_other() {
    let calls: Vec<(String, String)> =
        (0..4).map(|number| (format!("c{number}"), format!(r#"{{"command":"rm file-{number}"}}"#))).collect();
    let calls: Vec<(&str, &str, &str)> = calls.iter().map(|(id, text)| (id.as_str(), "bash", text.as_str())).collect();
    let server = Server::start([Reply::calls(&calls), Reply::text("Done.")]);
    let script = "case $(tail -n 1 \"$HOME/asked\") in *file-2*) echo '{\"answer\":\"no\"}';; \
                  *) echo '{\"answer\":\"yes\"}';; esac";
    let (mut program, decide) = deciding(exec(&server), script);
    for number in 0..4 {
        program = program.file(&format!("work/file-{number}"), "");
    }
    let (output, home) = program.args(["--permission-command", &decide, "hello"]).output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let left: Vec<bool> = (0..4).map(|number| home.path().join(format!("work/file-{number}")).exists()).collect();
    assert_eq!(left, [false, false, true, false]);
}

#[test]
fn the_end_of_the_input_takes_nothing_from_it() {
    let server = Server::start([removal("c1"), Reply::text("Gone.")]);
    let (program, decide) = deciding(exec(&server), r#"echo '{"answer": "yes"}'"#);
    let program = program.args(["--steer-stdin", "--permission-command", &decide, "hello"]).piped();
    let mut run = program.run();
    run.close_stdin();
    let (end, home) = run.end_with_home();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(!home.path().join("work/kept").exists());
}

#[test]
fn a_signal_ends_a_run_and_the_program_that_is_deciding() {
    let server = Server::start([removal("c1"), Reply::text("never")]);
    let (program, decide) = deciding(exec(&server), "echo $$ > \"$HOME/pid\"; exec sleep 1000");
    // The script tells by a file of its own that it runs.
    let pid_file = program.home().join("pid");
    let run = program.args(["--json", "--permission-command", &decide, "hello"]).run();
    let pid = until_written(&pid_file);
    run.signal(Signal::INT);
    let end = run.end();
    assert_eq!(end.code, Some(130), "{}", end.stderr);
    // Nobody may reap it where no parent does: then it is a zombie.
    let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "{state}");
}

fn until_written(path: &PathBuf) -> u32 {
    let began = std::time::Instant::now();
    loop {
        if let Some(pid) = fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok()) {
            return pid;
        }
        assert!(began.elapsed().as_secs() < 120, "it does not start");
        std::thread::park_timeout(std::time::Duration::from_millis(5));
    }
}

#[test]
fn a_program_that_commands_of_the_agent_can_change_is_refused() {
    let server = Server::start([]);
    for line in ["work/decide", "/bin/sh work/decide", ""] {
        let program = exec(&server).file("work/decide", "#!/bin/sh\n");
        let here = program.home().to_str().unwrap().to_owned();
        let line = line.replace("work", &format!("{here}/work"));
        let output = program.args(["--permission-command", &line, "hello"]).output();
        assert_eq!(exit_code(&output), 2, "{line}");
        let said = stderr(&output);
        assert!(said.contains("--permission-command names"), "{said}");
    }
    let output = exec(&server).args(["--yes", "--permission-command", "true", "hello"]).output();
    assert!(exit_code(&output) == 2 && stderr(&output).contains("use one of them"), "{}", stderr(&output));
}
