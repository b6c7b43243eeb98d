//! Real work through `exec` against a scripted server: read, edit, test, fix, with each way of approval.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use steersman_base::details::Details;
use steersman_base::event::{Envelope, Event};
use steersman_tools::workspace::sandbox::SandboxChoice;

use crate::support::program::{End, Program, Running, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};
use crate::support::skip::{Need, skip};

const SOURCE: &str = "add() {\n    echo $(($1 - $2))\n}\n";
const CHECK: &str = "#!/bin/sh\n. ./sum.sh\nif [ \"$(add 2 3)\" = 5 ]; then echo 1 passed; else echo \"add 2 3 is $(add 2 3)\"; exit 1; fi\n";

fn envelopes(lines: &str) -> Vec<Envelope> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// The model that reads, edits wrongly, tests, fixes and tests again.
fn worker() -> Server {
    let wrong = r#"{"path":"sum.sh","old_string":"$1 - $2","new_string":"$1 * $2"}"#;
    let right = r#"{"path":"sum.sh","old_string":"$1 * $2","new_string":"$1 + $2"}"#;
    let check = r#"{"command":"./check"}"#;
    Server::start([
        Reply::calls(&[("c1", "read", r#"{"path":"sum.sh"}"#)]),
        Reply::calls(&[("c2", "edit", wrong)]),
        Reply::calls(&[("c3", "bash", check)]),
        Reply::calls(&[("c4", "edit", right)]),
        Reply::calls(&[("c5", "bash", check)]),
        Reply::text("`add` adds now: `./check` says 1 passed."),
    ])
}

/// Starts `exec` in a project whose test fails.
fn exec(server: &Server, config: &str) -> Program {
    let program =
        Program::new().args(["exec", "--json", "--base-url", &server.url(), "--model", "m", "make ./check pass"]);
    let program = program.config(config).file("work/sum.sh", SOURCE).file("work/check", CHECK);
    fs::set_permissions(program.work().join("check"), fs::Permissions::from_mode(0o755)).unwrap();
    program
}

/// Returns the last tool result of each request.
fn results(server: &Server) -> Vec<String> {
    server.chats().iter().filter_map(|chat| chat.texts("tool").last().cloned()).collect()
}

fn assert_done(server: &Server, work: &Path) {
    let results = results(server);
    assert_eq!(results.len(), 5);
    assert!(results[0].contains("echo $(($1 - $2))"), "{}", results[0]);
    assert!(results[2].contains("add 2 3 is 6") && results[2].contains("exit code 1"), "{}", results[2]);
    assert!(results[4].contains("1 passed") && !results[4].contains("exit code"), "{}", results[4]);
    assert_eq!(fs::read_to_string(work.join("sum.sh")).unwrap(), SOURCE.replace('-', "+"));
}

const RULES: &str = "rules.allow = ['edit: *.sh', 'bash: ./check']";

#[test]
fn a_file_is_edited_tested_fixed_and_tested_again_by_rules() {
    let server = worker();
    let program = exec(&server, RULES);
    let (output, home) = program.output_with_home();
    assert_eq!((exit_code(&output), stderr(&output)), (0, String::new()));
    assert_done(&server, &home.path().join("work"));
    let events = envelopes(&stdout(&output));
    let live = events.iter().any(|e| matches!(&e.event, Event::ToolProgress { text, .. } if text.contains("1 passed")));
    assert!(live, "the output was shown live");
    assert!(!events.iter().any(|e| matches!(e.event, Event::Question { .. })), "nobody was asked");
}

#[test]
fn the_same_by_a_standing_yes_and_by_the_mode() {
    for flags in [&["--yes"][..], &["--mode", "auto-without-sandbox", "--sandbox", "off"], &["--mode", "auto"]] {
        let server = worker();
        let (output, home) = exec(&server, "").args(flags.iter().copied()).output_with_home();
        if flags.last() == Some(&"auto") && stderr(&output).contains("the mode auto needs a sandbox") {
            skip(Need::of_sandbox(SandboxChoice::Auto), "the mode auto needs a sandbox");
            server.chats();
            continue;
        }
        assert_eq!((exit_code(&output), stderr(&output)), (0, String::new()), "{flags:?}");
        assert_done(&server, &home.path().join("work"));
    }
}

#[test]
fn the_diffs_that_are_told_are_those_of_git() {
    if Command::new("git").arg("--version").output().is_err() {
        skip(Need::Program("git"), "diffs are compared with its own");
        return;
    }
    let server = Server::start([
        Reply::calls(&[("c1", "read", r#"{"path":"sum.sh"}"#)]),
        Reply::calls(&[("c2", "edit", r#"{"path":"sum.sh","old_string":"$1 - $2","new_string":"$1 + $2"}"#)]),
        Reply::text("done"),
    ]);
    let program = exec(&server, RULES);
    let work = program.work();
    let git = |args: &[&str]| {
        let output = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "core.autocrlf=false"])
            .args(args)
            .current_dir(&work)
            .output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "before"]);
    // Its home goes away with it, so it is kept.
    let run = program.run();
    let (end, _home) = run.end_with_home();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    let diff = git(&["diff", "--no-ext-diff", "--no-color"]);
    let hunks = &diff[diff.find("@@").expect("a change")..];
    let told: Vec<String> = envelopes(&end.stdout)
        .into_iter()
        .filter_map(|envelope| match envelope.event {
            Event::ToolDetails { details: Details::Diff(diff), .. } => Some(diff.hunks),
            _ => None,
        })
        .collect();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].trim_end(), hunks.trim_end());
}

// --- questions without a screen

fn is_question(line: &str) -> bool {
    matches!(serde_json::from_str::<Envelope>(line).unwrap().event, Event::Question { .. })
}

/// Answers so many questions by a line each.
fn answer(run: &mut Running, answers: &[&str]) {
    for answer in answers {
        run.wait_for_error("answer: /yes");
        run.write(&format!("{answer}\n"));
    }
}

fn steered(server: &Server) -> Running {
    exec(server, "").args(["--steer-stdin", "--sandbox", "off"]).piped().run()
}

#[test]
fn questions_are_answered_by_lines_and_said_on_standard_error() {
    let server = worker();
    let mut run = steered(&server);
    // The edits of the session, then each command.
    answer(&mut run, &["/session", "/yes", "/yes"]);
    let (end, home) = run.end_with_home();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert_done(&server, &home.path().join("work"));
    let said = &end.stderr;
    assert!(said.contains("steersman: question 1: Change this file?\n    file: sum.sh\n    │ place: "), "{said}");
    assert!(said.contains("\n    │ added:     echo $(($1 * $2))\n"), "{said}");
    assert!(said.contains("question 2: Run this command?\n    │ ./check\n    in: "), "{said}");
    assert_eq!(said.matches("or /no 2 WORDS\n").count(), 1, "{said}");
}

#[test]
fn a_no_with_words_reaches_the_model_and_nothing_is_changed() {
    let server =
        Server::start([Reply::calls(&[("c1", "bash", r#"{"command":"rm sum.sh"}"#)]), Reply::text("I leave it.")]);
    let mut run = steered(&server);
    answer(&mut run, &["/no keep it, please"]);
    let (end, home) = run.end_with_home();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(results(&server)[0].contains("keep it, please"), "{:?}", results(&server));
    assert!(home.path().join("work/sum.sh").exists());
}

#[test]
fn an_answer_without_a_question_is_said_and_a_doubled_slash_is_text() {
    let gate = crate::support::server::Gate::new();
    let server = Server::start([Reply::text("one").gated(&gate), Reply::text("two")]);
    let mut run = steered(&server);
    gate.wait_reached();
    run.write("/yes\n//yes\n");
    run.wait_for_line(|line| line.contains("\"pending\"") && line.contains("/yes"));
    gate.open();
    let end: End = run.end();
    assert!(end.stderr.contains("not answered: no question is open"), "{}", end.stderr);
    assert_eq!(server.chats()[1].texts("user").last().map(String::as_str), Some("/yes"));
}

#[test]
fn the_end_of_input_ends_what_is_asked() {
    let server =
        Server::start([Reply::calls(&[("c1", "bash", r#"{"command":"rm sum.sh"}"#)]), Reply::text("I leave it.")]);
    let mut run = steered(&server);
    run.wait_for_line(is_question);
    run.close_stdin();
    let (end, home) = run.end_with_home();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(results(&server)[0].starts_with("Error: "), "{:?}", results(&server));
    assert!(home.path().join("work/sum.sh").exists());
}

#[test]
fn what_nobody_can_be_asked_about_is_refused_and_listed() {
    let server = Server::start([
        Reply::calls(&[
            ("c1", "read", r#"{"path":"sum.sh"}"#),
            ("c2", "edit", r#"{"path":"sum.sh","old_string":"-","new_string":"+"}"#),
            ("c3", "bash", r#"{"command":"./check"}"#),
        ]),
        Reply::text("I was not allowed to."),
    ]);
    let (output, home) = exec(&server, "").output_with_home();
    assert_eq!(exit_code(&output), 0);
    let said = stderr(&output);
    assert!(said.starts_with("steersman: 2 calls were refused because nobody was there to ask; --yes, "), "{said}");
    assert!(said.contains("\n    edit {") && said.contains("\n    bash {\"command\":\"./check\"}\n"), "{said}");
    let texts = server.chats()[1].texts("tool");
    assert!(texts[1].starts_with("Error: ") && texts[1].contains("nobody is there to give it"), "{texts:?}");
    assert_eq!(fs::read_to_string(home.path().join("work/sum.sh")).unwrap(), SOURCE);
}

#[test]
fn a_deny_rule_stands_above_a_standing_yes_and_above_every_mode() {
    let server = Server::start([
        Reply::calls(&[
            ("c1", "bash", r#"{"command":"rm -f sum.sh"}"#),
            ("c2", "bash", r#"{"command":"true && rm sum.sh"}"#),
        ]),
        Reply::text("Denied."),
    ]);
    let program = exec(&server, "rules.deny = ['bash: rm *']\nrules.allow = ['bash: *']");
    let program = program.args(["--yes", "--mode", "auto-without-sandbox", "--sandbox", "off"]);
    let (output, home) = program.output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    assert!(server.chats()[1].texts("tool").iter().all(|text| text.starts_with("Error: ")));
    assert!(home.path().join("work/sum.sh").exists());
}

#[test]
fn a_rule_that_is_none_is_a_wrong_configuration() {
    let server = Server::start([]);
    let output = exec(&server, "rules.allow = ['bsh: ls']").output();
    assert_eq!(exit_code(&output), 2);
    assert!(stderr(&output).contains("bsh: ls"), "{}", stderr(&output));
}

// --- guards

#[test]
fn the_guards_name_mode_and_sandbox() {
    let guards = |flags: &[&str]| {
        let server = Server::start([Reply::text("ok")]);
        let output = exec(&server, "").args(flags.iter().copied()).output();
        let guards = envelopes(&stdout(&output)).into_iter().find_map(|envelope| match envelope.event {
            Event::Guards { mode, sandbox, .. } => Some((mode, sandbox)),
            _ => None,
        });
        (guards.unwrap(), stderr(&output))
    };
    assert_eq!(guards(&["--sandbox", "off"]), (("ask".to_owned(), None), String::new()));
    let ((_, sandbox), said) = guards(&[]);
    match sandbox.as_deref() {
        Some("namespaces" | "bubblewrap" | "landlock") => assert_eq!(said, ""),
        None => assert!(said.contains("commands are not sandboxed"), "{said}"),
        Some(other) => panic!("{other}"),
    }
}

#[test]
fn the_mode_auto_without_a_sandbox_is_a_wrong_configuration_and_nothing_runs() {
    let sentence =
        "steersman: the mode auto needs a sandbox, and there is none; the mode auto-without-sandbox does without\n";
    for (config, flags) in [
        ("", &["--mode", "auto", "--sandbox", "off"][..]),
        ("mode = 'auto'", &["--sandbox", "off"]),
        ("mode = 'auto'\nsandbox.kind = 'off'", &[]),
    ] {
        let server = Server::start([]);
        let output = exec(&server, config).args(flags.iter().copied()).output();
        assert_eq!((exit_code(&output), stderr(&output).as_str()), (2, sentence), "{config} {flags:?}");
        assert!(server.chats().is_empty());
    }
}

#[test]
fn what_a_rule_forbids_to_read_is_in_no_result() {
    let server = Server::start([
        Reply::calls(&[
            ("c1", "read", r#"{"path":"secrets/key"}"#),
            ("c2", "grep", r#"{"pattern":"canary"}"#),
            ("c3", "glob", r#"{"pattern":"**/*"}"#),
            ("c4", "grep", r#"{"pattern":"canary","path":"secrets/key"}"#),
            ("c5", "read", r#"{"path":"drafts/one"}"#),
        ]),
        Reply::text("ok"),
    ]);
    let program = exec(&server, "rules.deny = ['read: secrets/*']\nrules.ask = ['read: drafts/*']")
        .file("work/secrets/key", "the canary key\n")
        .file("work/drafts/one", "a canary draft\n")
        .file("work/plain", "a plain canary\n");
    let output = program.output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let results = server.chats()[1].texts("tool");
    let denied = "Error: the user's configuration denies this (rule \"read: secrets/*\")";
    assert_eq!((results[0].as_str(), results[3].as_str()), (denied, denied));
    assert_eq!(results[1], "plain:1:a plain canary\n[left out by the user's rules: 2]\n");
    assert!(
        results[2].contains("plain\n") && results[2].contains("[left out by the user's rules: 2]"),
        "{}",
        results[2]
    );
    assert!(!results.concat().contains("key\n") && !results.concat().contains("draft\n"), "{results:?}");
    assert!(results[4].contains("nobody is there to give it"), "{}", results[4]);
}

#[test]
fn a_search_of_a_directory_that_was_asked_about_finds_what_is_in_it() {
    let server = Server::start([
        Reply::calls(&[("c1", "grep", r#"{"pattern":"canary","path":"drafts"}"#)]),
        Reply::calls(&[("c2", "grep", r#"{"pattern":"canary"}"#)]),
        Reply::text("ok"),
    ]);
    let program = exec(&server, "rules.ask = ['read: drafts']").file("work/drafts/one", "a canary draft\n");
    let output = program.args(["--yes"]).output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    assert_eq!(results(&server)[0], "drafts/one:1:a canary draft\n");
    // The directory itself and the file in it.
    assert!(results(&server)[1].ends_with("[left out by the user's rules: 2]\n"), "{}", results(&server)[1]);
}

#[test]
fn the_command_for_a_key_is_never_one_that_commands_could_have_made() {
    let server = Server::start([]);
    let program = exec(&server, "api_key_command = ['give-key']")
        .file("work/.venv/bin/give-key", "#!/bin/sh\necho > \"$0.ran\"\necho key\n");
    let bin = program.work().join(".venv/bin");
    fs::set_permissions(bin.join("give-key"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
    let (output, _home) = program.env("PATH", &path).output_with_home();
    assert_eq!(exit_code(&output), 2);
    let said = stderr(&output);
    assert!(said.contains("api_key_command names give-key, which lies only where commands can change it"), "{said}");
    assert!(!bin.join("give-key.ran").exists());
}

#[test]
fn the_home_directory_warns() {
    let server = Server::start([Reply::text("ok")]);
    let program = exec(&server, "");
    let home = program.home().to_str().unwrap().to_owned();
    let output = program.args(["--cwd", &home]).output();
    assert!(
        stderr(&output).contains("this is your home directory: tools reach all that is in it"),
        "{}",
        stderr(&output)
    );
    let server = Server::start([Reply::text("ok")]);
    let output = exec(&server, "").args(["--cwd", "/"]).output();
    assert!(stderr(&output).contains("this is the root of the file system"), "{}", stderr(&output));
}
