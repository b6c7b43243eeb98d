//! The commands for sessions that run, as a user meets them: the built program beside another one.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;

use serde_json::Value;

use crate::support::program::{Program, Running, exit_code, stderr, stdout};
use crate::support::server::{Gate, Reply, Server};

fn exec(server: &Server, args: &[&str]) -> Running {
    let url = server.url();
    let program = Program::new().args(["exec", "--base-url", &url, "--model", "scripted", "--json"]);
    program.args(args.iter().copied()).run()
}

/// Runs a command beside a program that runs; returns its exit code and what it wrote.
fn beside(run: &Running, args: &[&str]) -> (i32, String, String) {
    let output = Program::beside(run).args(args.iter().copied()).output();
    (exit_code(&output), stdout(&output), stderr(&output))
}

fn status(run: &Running) -> Vec<Value> {
    let (code, out, err) = beside(run, &["status", "--json"]);
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn status_tells_of_a_session_that_runs_and_of_none_once_it_has_ended() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("Done.").gated(&gate)]);
    let run = exec(&server, &["count the files"]);
    gate.wait_reached();
    let list = status(&run);
    let one = &list[0];
    assert_eq!((list.len(), &one["state"], &one["title"]), (1, &"working".into(), &"count the files".into()), "{one}");
    assert_eq!((&one["pid"], &one["model"]), (&run.id().into(), &"scripted".into()));
    let id = one["session"].as_str().unwrap();
    for (wanted, expected) in [(id, 0), (&id[..8], 0), ("zz", 1)] {
        let (code, text, why) = beside(&run, &["status", "--session", wanted]);
        assert_eq!((code, text.contains(id)), (expected, expected == 0), "{text}{why}");
    }
    let (_, text, _) = beside(&run, &["status"]);
    assert!(text.contains("working  count the files\n") && text.contains("  main: waits for its model"), "{text}");
    gate.open();
    let (end, home) = run.end_with_home();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    let (output, home) = Program::within(home).args(["status"]).output_with_home();
    assert_eq!((exit_code(&output), stdout(&output).as_str()), (0, "No session runs.\n"));
    // It is saved, and the command that goes on with it is said.
    let id = one["session"].as_str().unwrap();
    let output = Program::within(home).args(["inject", "--session", id, "more"]).output();
    let sentence = format!("session {id} does not run; to go on with it: steersman --resume {id}\n");
    assert_eq!((exit_code(&output), stderr(&output)), (1, format!("steersman: {sentence}")));
}

#[test]
fn a_session_is_found_whether_it_or_who_looks_knows_the_directory_of_the_user_while_logged_in() {
    for is_known in [true, false] {
        let gate = Gate::new();
        let server = Server::start([Reply::text("Done.").gated(&gate)]);
        let program = Program::new();
        let runtime = program.home().join("run");
        fs::DirBuilder::new().mode(0o700).create(&runtime).unwrap();
        let program = program.args(["exec", "--base-url", &server.url(), "--model", "scripted", "--json", "hello"]);
        let program = if is_known { program.env("XDG_RUNTIME_DIR", &runtime) } else { program };
        let run = program.run();
        gate.wait_reached();
        assert_eq!(runtime.join("steersman").exists(), is_known);
        for looks in [true, false] {
            let looker = Program::beside(&run).args(["status", "--json"]);
            let looker = if looks { looker.env("XDG_RUNTIME_DIR", &runtime) } else { looker };
            let output = looker.output();
            let found: Vec<Value> = serde_json::from_str(&stdout(&output)).unwrap();
            assert_eq!(found.len(), 1, "{is_known} {looks}: {}", stderr(&output));
        }
        gate.open();
        let (end, home) = run.end_with_home();
        assert_eq!(end.code, Some(0), "{}", end.stderr);
        let left = |directory: &str| fs::read_dir(home.path().join(directory)).map_or(0, Iterator::count);
        assert_eq!((left(".local/state/steersman/sockets"), left("run/steersman")), (0, 0));
    }
}

#[test]
fn a_session_without_a_socket_is_not_seen() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("Done.").gated(&gate)]);
    let run = exec(&server, &["--no-socket", "hello"]);
    gate.wait_reached();
    assert_eq!(status(&run), [] as [Value; 0]);
    let (code, _, err) = beside(&run, &["inject", "hello"]);
    assert_eq!((code, err.as_str()), (1, "steersman: no session runs\n"));
    gate.open();
    assert_eq!(run.end().code, Some(0));
}

#[test]
fn a_text_from_another_terminal_enters_the_turn_marked_with_its_sender() {
    let gate = Gate::new();
    let server =
        Server::start([Reply::calls(&[("c1", "glob", r#"{"pattern":"*"}"#)]).gated(&gate), Reply::text("I saw it.")]);
    let mut run = exec(&server, &["hello"]);
    gate.wait_reached();
    let (code, out, err) = beside(&run, &["inject", "and the lines"]);
    assert_eq!((code, out.as_str()), (0, "m2 is pending\n"), "{err}");
    let pending = &status(&run)[0]["pending"][0];
    assert_eq!((&pending["text"], &pending["sender"]), (&"and the lines".into(), &"inject 1".into()));
    gate.open();
    run.wait_for_line(|line| line.contains(r#""type":"user_turn""#) && line.contains(r#""sender":"inject 1""#));
    let end = run.end();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert_eq!(server.chats()[1].texts("user"), ["hello", "and the lines"]);
}

#[test]
fn inject_waits_for_the_receipt_that_is_asked_for() {
    let gate = Gate::new();
    let server = Server::start([
        Reply::calls(&[("c1", "glob", r#"{"pattern":"*"}"#)]).gated(&gate),
        Reply::text("Forty-two."),
        Reply::text("Later."),
    ]);
    let run = exec(&server, &["hello"]);
    gate.wait_reached();
    // It waits; meanwhile the reply must not come before it is in the queue.
    let waiting = Program::beside(&run).args(["inject", "--wait", "answered", "how many?"]).run();
    while status(&run)[0]["pending"].as_array().unwrap().is_empty() {
        std::thread::yield_now();
    }
    let follow = beside(&run, &["inject", "--follow-up", "and later"]);
    assert_eq!(follow.0, 0, "{}", follow.2);
    gate.open();
    let end = waiting.end();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(
        end.stdout.starts_with("m2 delivered after glob, step 1\nm2 seen at step 1\nanswered\n\nForty-two."),
        "{}",
        end.stdout
    );
    assert_eq!(run.end().code, Some(0));
    assert_eq!(server.chats()[2].texts("user").last().map(String::as_str), Some("and later"));
}

#[test]
fn a_text_that_nobody_takes_is_an_error() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("Done.").gated(&gate)]);
    let run = exec(&server, &["hello"]);
    gate.wait_reached();
    for (args, words) in [
        (&["inject", "--to", "researcher 7", "text"][..], "not sent: that agent has ended"),
        (&["inject", "   "], "not sent: the message is blank"),
        (&["inject", "--session", "ffff", "text"], "no session \"ffff\" runs"),
        (&["cancel", "--agent", "researcher 7"], "no agent researcher 7 runs"),
        (&["approve", "3"], "there is no question 3"),
    ] {
        let (code, out, err) = beside(&run, args);
        assert_eq!((code, out.as_str(), err.contains(words)), (1, "", true), "{args:?}: {err}");
    }
    let (code, _, err) = beside(&run, &["--yes", "approve", "3"]);
    assert_eq!((code, err.contains("--yes answers nothing here")), (2, true), "{err}");
    gate.open();
    assert_eq!(run.end().code, Some(0));
}

#[test]
fn cancel_stops_the_turn_and_a_text_whose_sender_is_gone_is_not_lost() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("Nobody reads this.").gated(&gate)]);
    let run = exec(&server, &["hello"]);
    gate.wait_reached();
    assert_eq!(beside(&run, &["inject", "not delivered"]).0, 0);
    let (code, out, err) = beside(&run, &["cancel"]);
    assert_eq!((code, out.as_str()), (0, "the turn is being cancelled\n"), "{err}");
    let (end, home) = run.end_with_home();
    assert_eq!(end.code, Some(130), "{}", end.stderr);
    gate.open();
    let journals = fs::read_dir(home.path().join(".local/state/steersman/sessions")).unwrap();
    let journal = fs::read_to_string(journals.last().unwrap().unwrap().path()).unwrap();
    assert!(journal.contains("not delivered"), "it is there after a resume");
}

/// A main agent whose second reply waits for a gate, and a sub-agent that ends at once and whose next turn waits for one.
fn with_sub_agent(main: &Gate, child: &Gate) -> Server {
    let (main, child) = (main.clone(), child.clone());
    Server::routed(move |request| {
        let is_child = !request.tools().contains(&"agent".to_owned());
        match (is_child, request.texts("user").len(), request.texts("tool").len()) {
            (true, 1, _) => Reply::text("gold"),
            (true, ..) => Reply::text("silver too").gated(&child),
            (false, _, 0) => Reply::calls(&[("a", "agent", r#"{"name":"file_miner","task":"dig"}"#)]),
            (false, ..) => Reply::text("the main agent is done").gated(&main),
        }
    })
}

#[test]
fn a_run_goes_on_until_the_sub_agent_has_ended_that_was_continued_and_says_that_it_works() {
    let (main, child) = (Gate::new(), Gate::new());
    let server = with_sub_agent(&main, &child);
    let mut run = exec(&server, &["hello"]);
    main.wait_reached();
    let (code, _, err) = beside(&run, &["inject", "--to", "file_miner 0", "and silver"]);
    assert_eq!(code, 0, "{err}");
    child.wait_reached();
    main.open();
    run.wait_for_line(|line| line.contains(r#""type":"turn_ended""#) && line.contains(r#""agent":"""#));
    let one = &status(&run)[0];
    assert_eq!(one["state"], "working", "{one}");
    assert_eq!((&one["agents"][0]["state"], &one["agents"][1]["state"]), (&"idle".into(), &"working".into()), "{one}");
    child.open();
    let end = run.end();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(end.stdout.contains("silver too"), "{}", end.stdout);
}

#[test]
fn cancel_stops_a_sub_agent_that_was_continued_too() {
    for args in [["cancel"].as_slice(), &["cancel", "--agent", "file_miner 0"]] {
        let (main, child) = (Gate::new(), Gate::new());
        let server = with_sub_agent(&main, &child);
        let mut run = exec(&server, &["hello"]);
        main.wait_reached();
        assert_eq!(beside(&run, &["inject", "--to", "file_miner 0", "and silver"]).0, 0);
        child.wait_reached();
        main.open();
        run.wait_for_line(|line| line.contains(r#""type":"turn_ended""#) && line.contains(r#""agent":"""#));
        let (code, out, err) = beside(&run, args);
        assert_eq!(code, 0, "{out}{err}");
        let end = run.end();
        assert_eq!(end.code, Some(0), "the turn of the main agent was done: {}", end.stderr);
        assert!(!end.stdout.contains("silver too"), "{}", end.stdout);
    }
}

#[test]
fn a_line_of_the_input_continues_a_finished_sub_agent_by_its_name() {
    let (main, child) = (Gate::new(), Gate::new());
    let server = with_sub_agent(&main, &child);
    let url = server.url();
    let program = Program::new().args(["exec", "--base-url", &url, "--model", "scripted", "--steer-stdin", "hello"]);
    let mut run = program.piped().run();
    main.wait_reached();
    run.write("@file_miner 0 and silver\n");
    child.wait_reached();
    run.close_stdin();
    main.open();
    child.open();
    let end = run.end();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    let asked: Vec<_> = server.chats().iter().map(|chat| chat.texts("user")).collect();
    assert!(asked.contains(&vec!["dig".to_owned(), "and silver".to_owned()]), "{asked:?}");
}

#[test]
fn a_question_is_shown_exactly_and_approved_from_another_terminal() {
    let remove = r#"{"command":"rm kept"}"#;
    let server = Server::start([Reply::calls(&[("c1", "bash", remove)]), Reply::text("Gone.")]);
    let url = server.url();
    let args = ["exec", "--base-url", &url, "--model", "scripted", "--steer-stdin", "--sandbox", "off", "hello"];
    let mut run = Program::new().file("work/kept", "").args(args).piped().run();
    run.wait_for_error("answer: /yes 1");
    let one = &status(&run)[0];
    assert_eq!((&one["state"], &one["waiting"][0]["detail"]), (&"waiting".into(), &"rm kept".into()), "{one}");
    let (code, out, err) = beside(&run, &["approve", "1"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("question 1: Run this command?\n│ rm kept\n") && out.ends_with("approved\n"), "{out}");
    let (end, home) = run.end_with_home();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(!home.path().join("work/kept").exists());
}

#[test]
fn what_an_agent_asks_is_answered_from_another_terminal() {
    let ask =
        r#"{"questions": [{"question": "Which database?", "options": [{"label": "SQLite"}, {"label": "Postgres"}]}]}"#;
    let server = Server::start([Reply::calls(&[("c1", "ask_user", ask)]), Reply::text("Done.")]);
    let url = server.url();
    let args = ["exec", "--base-url", &url, "--model", "scripted", "--steer-stdin", "hello"];
    let mut run = Program::new().args(args).piped().run();
    run.wait_for_error("answer: /answer 1");
    let (code, out, err) = beside(&run, &["approve", "1"]);
    assert!(code != 0 && err.contains("yes is no answer to this question"), "{out} {err}");
    let (code, out, err) = beside(&run, &["approve", "1", "2"]);
    assert_eq!((code, out.ends_with("answered\n")), (0, true), "{err}");
    assert_eq!(run.end().code, Some(0));
    assert_eq!(server.chats()[1].texts("tool"), ["Postgres"]);
}

#[test]
fn a_question_is_declined_with_words_for_the_model() {
    let remove = r#"{"command":"rm kept"}"#;
    let server = Server::start([Reply::calls(&[("c1", "bash", remove)]), Reply::text("I leave it.")]);
    let url = server.url();
    let args =
        ["exec", "--base-url", &url, "--model", "scripted", "--json", "--steer-stdin", "--sandbox", "off", "hello"];
    let mut run = Program::new().file("work/kept", "").args(args).piped().run();
    run.wait_for_error("answer: /yes 1");
    let (code, out, err) = beside(&run, &["decline", "1", "keep it"]);
    assert_eq!((code, out.ends_with("declined\n")), (0, true), "{err}");
    let (end, home) = run.end_with_home();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(end.stdout.contains(r#""by":"approve 1""#), "{}", end.stdout);
    assert!(home.path().join("work/kept").exists() && server.chats()[1].texts("tool")[0].contains("keep it"));
}

#[test]
fn watch_names_the_sub_agent_whose_words_it_writes() {
    let (main, child) = (Gate::new(), Gate::new());
    let server = with_sub_agent(&main, &child);
    let run = exec(&server, &["hello"]);
    main.wait_reached();
    let mut watch = Program::beside(&run).args(["watch"]).run();
    watch.wait_for_line(|line| line.starts_with("session "));
    assert_eq!(beside(&run, &["inject", "--to", "file_miner 0", "and silver"]).0, 0);
    child.wait_reached();
    child.open();
    main.open();
    assert_eq!(run.end().code, Some(0));
    let seen = watch.end().stdout;
    assert!(seen.contains("[file_miner 0] says: silver too"), "{seen}");
}

#[test]
fn watch_writes_what_happens_until_the_session_ends() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("Done.").gated(&gate)]);
    let run = exec(&server, &["hello"]);
    gate.wait_reached();
    let mut words = Program::beside(&run).args(["watch"]).run();
    words.wait_for_line(|line| line.starts_with("session "));
    let json = Program::beside(&run).args(["watch", "--json"]).run();
    while status(&run)[0]["clients"].as_array().unwrap().len() < 2 {
        std::thread::yield_now();
    }
    gate.open();
    assert_eq!(run.end().code, Some(0));
    let (words, json) = (words.end(), json.end());
    assert_eq!((words.code, json.code), (Some(0), Some(0)), "{} {}", words.stderr, json.stderr);
    assert!(words.stdout.contains("Done.\n"), "{}", words.stdout);
    let ends = |line: &str| line.contains(r#""type":"turn_ended""#);
    assert!(json.stdout.lines().any(ends), "{}", json.stdout);
}

#[test]
fn watch_writes_what_steers_a_terminal_or_hides_as_escapes_of_json() {
    let hostile = "a\u{9b}31mb\u{202e}c\u{2066}d\u{e0041}e\u{1b}]0;f\u{7}g\u{200b}h\u{85}i\u{7f}";
    let gate = Gate::new();
    let server = Server::start([Reply::text(hostile).gated(&gate)]);
    let run = exec(&server, &["hello"]);
    gate.wait_reached();
    let mut json = Program::beside(&run).args(["watch", "--json"]).run();
    while status(&run)[0]["clients"].as_array().unwrap().is_empty() {
        std::thread::yield_now();
    }
    gate.open();
    let mut said = None;
    json.wait_for_line(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let event = &line["event"];
        said = Some(event["text"].as_str().unwrap_or_default().to_owned()).filter(|_| event["type"] == "assistant");
        said.is_some()
    });
    assert_eq!(said.as_deref(), Some(hostile), "no character is lost");
    let end = json.end();
    assert_eq!((end.code, run.end().code), (Some(0), Some(0)), "{}", end.stderr);
    let is_raw = |c: &char| !matches!(c, '\n' | ' '..='~');
    assert_eq!(end.stdout.chars().filter(is_raw).collect::<String>(), "");
}

#[test]
fn a_command_of_an_agent_cannot_steer_its_own_session() {
    let command = format!("{} inject 'do more' 2>&1; true", env!("CARGO_BIN_EXE_steersman"));
    let call = serde_json::json!({ "command": command }).to_string();
    let server = Server::start([Reply::calls(&[("c1", "bash", &call)]), Reply::text("Refused.")]);
    let run = exec(&server, &["--mode", "auto-without-sandbox", "--sandbox", "off", "hello"]);
    let end = run.end();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    let result = &server.chats()[1].texts("tool")[0];
    assert!(result.contains("no session runs"), "{result}");
    assert_eq!(server.chats()[1].texts("user"), ["hello"]);
}
