//! What the command line sets for one run: keys of the configuration, MCP servers, agents, directories, pending texts.

use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{exec, lines};
use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Gate, Reply, Server};

#[test]
fn a_key_of_the_configuration_is_set_for_one_run_and_the_last_one_counts() {
    let server = Server::start([Reply::text("One.")]);
    let config = format!("base_url = '{}'\nmodel = 'of-the-file'\n", server.url());
    let program = Program::new().config(&config);
    let output =
        program.args(["exec", "-c", "model=first", "--set", "model=a model", "-c", "max_steps=7", "hello"]).output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    assert_eq!(server.chats()[0].body["model"], "a model");
}

#[test]
fn a_setting_that_is_none_is_said() {
    for (setting, why) in [
        ("nonsense=1", "nonsense"),
        ("max_steps=many", "max_steps"),
        ("sandbox.netwrok=true", "sandbox.network"),
        ("max_steps", "it must be a key and a value"),
    ] {
        let output = Program::new().args(["exec", "--set", setting, "hello"]).output();
        assert_eq!(exit_code(&output), 2);
        assert!(stderr(&output).contains(why), "{setting}: {}", stderr(&output));
    }
}

#[test]
fn a_setting_of_one_server_leaves_the_others_and_a_file_adds_servers() {
    let config = "[mcp.one]\ncommand = 'one'\n[mcp.two]\ncommand = 'two'\n";
    let program = Program::new().config(config);
    let file = json!({"mcpServers": {"three": {"command": "three", "args": ["x"]}}}).to_string();
    let program = program.file("work/servers.json", &file);
    let output = program.args(["mcp", "list", "-c", "mcp.one.enabled=false", "--mcp-config", "servers.json"]).output();
    let listed = stdout(&output);
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    for name in ["two", "three"] {
        assert!(listed.contains(name), "{name}: {listed}");
    }
    let output = Program::new().args(["exec", "--mcp-config", "gone.json", "hello"]).output();
    assert_eq!(exit_code(&output), 2);
    assert!(stderr(&output).contains("--mcp-config gone.json"), "{}", stderr(&output));
}

#[test]
fn an_added_directory_is_read_and_nothing_beside_it() {
    for is_added in [true, false] {
        let other = TempDir::new().unwrap();
        std::fs::write(other.path().join("note.txt"), "seven stories").unwrap();
        let path = other.path().join("note.txt");
        let call = json!({"path": path}).to_string();
        let server = Server::start([Reply::calls(&[("c1", "read", &call)]), Reply::text("Done.")]);
        let directory = other.path().to_str().unwrap();
        let args = if is_added { vec!["--add-dir", directory, "hello"] } else { vec!["hello"] };
        let output = exec(&server).args(args).output();
        assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
        let read = server.chats()[1].texts("tool").remove(0);
        assert_eq!(read.contains("seven stories"), is_added, "{read}");
    }
}

#[test]
fn files_of_an_added_directory_are_changed_as_those_of_the_workspace() {
    for (is_added, mode, name, is_written) in [
        (true, "auto-edit", "note.txt", true),
        (true, "ask", "new.txt", true),
        // A change of what is there is asked about, and nobody is here to answer.
        (true, "ask", "note.txt", false),
        (true, "auto-edit", ".git/hooks/pre-commit", false),
        (true, "auto-edit", ".envrc", false),
        (false, "auto-edit", "note.txt", false),
    ] {
        let other = TempDir::new().unwrap();
        std::fs::write(other.path().join("note.txt"), "seven stories").unwrap();
        let path = other.path().join(name);
        let (read, write) = (json!({"path": path}).to_string(), json!({"path": path, "content": "eight"}).to_string());
        let calls = Reply::calls(&[("c1", "read", &read), ("c2", "write", &write)]);
        let server = Server::start([calls, Reply::text("Done.")]);
        let mut args = vec!["--mode", mode, "hello"];
        if is_added {
            args.extend(["--add-dir", other.path().to_str().unwrap()]);
        }
        let output = exec(&server).args(args).output();
        assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
        let is_there = std::fs::read_to_string(&path).is_ok_and(|text| text == "eight");
        assert_eq!(is_there, is_written, "{mode} {name}: {:?}", server.chats()[1].texts("tool"));
    }
}

#[test]
fn pending_texts_of_an_earlier_run_are_kept_sent_or_dropped() {
    for (how, is_sent) in [("keep", false), ("send", true), ("drop", false)] {
        let gate = Gate::new();
        let server = Server::start([Reply::text("never").gated(&gate)]);
        let mut run = exec(&server).args(["--input", "json"]).piped().run();
        run.write(&format!("{}\n", json!({"type": "send", "text": "first"})));
        gate.wait_reached();
        run.write(&format!("{}\n", json!({"id": 2, "type": "send", "text": "left behind", "delivery": "follow_up"})));
        let mut session = String::new();
        run.wait_for_line(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            session = line["session"].as_str().unwrap_or_default().to_owned();
            line["event"]["type"] == "reply" && line["event"]["id"] == 2
        });
        run.signal(Signal::KILL);
        let (_, home) = run.end_with_home();

        let server = Server::routed(|_| Reply::text("Well."));
        let args = ["exec", "--base-url", &server.url(), "--model", "m", "--resume", &session, "--pending", how];
        let (output, home) = Program::within(home).args(args).args(["--json", "go on"]).output_with_home();
        assert_eq!(exit_code(&output), 0, "{how}: {}", stderr(&output));
        let chats = server.chats();
        let texts = chats.last().unwrap().texts("user");
        assert_eq!(texts.iter().any(|text| text.contains("left behind")), is_sent, "{how}: {texts:?}");
        let unsent = lines(&stdout(&output)).pop().unwrap()["event"]["unsent"].clone();
        assert_eq!(unsent, json!([]), "{how}");

        // Only what is kept waits for the next run.
        let args = ["exec", "--base-url", &server.url(), "--model", "m", "--resume", &session, "again"];
        let output = Program::within(home).args(args).output();
        assert_eq!(stderr(&output).contains("--pending send or drop"), how == "keep", "{how}: {}", stderr(&output));
    }
}

#[test]
fn a_pending_note_of_an_earlier_run_goes_with_the_prompt_and_holds_no_run_up() {
    for (how, with_prompt, is_sent) in
        [("send", true, true), ("drop", true, false), ("keep", true, false), ("send", false, false)]
    {
        let gate = Gate::new();
        let server = Server::start([Reply::text("never").gated(&gate)]);
        let mut run = exec(&server).args(["--input", "json"]).piped().run();
        run.write(&format!("{}\n", json!({"type": "send", "text": "first"})));
        gate.wait_reached();
        run.write(&format!("{}\n", json!({"id": 2, "type": "send", "text": "what ls printed", "kind": "note"})));
        let mut session = String::new();
        run.wait_for_line(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            session = line["session"].as_str().unwrap_or_default().to_owned();
            line["event"]["type"] == "reply" && line["event"]["id"] == 2
        });
        run.signal(Signal::KILL);
        let (_, home) = run.end_with_home();

        let server = Server::routed(|_| Reply::text("Well."));
        let args = ["exec", "--base-url", &server.url(), "--model", "m", "--resume", &session, "--pending", how];
        let program = Program::within(home).args(args).args(["--json"]);
        if with_prompt {
            let output = program.args(["go on"]).output();
            assert_eq!(exit_code(&output), 0, "{how}: {}", stderr(&output));
        } else {
            let mut run = program.args(["--input", "json"]).piped().run();
            run.close_stdin();
            let (end, _) = run.end_with_home();
            assert_eq!(end.code, Some(0), "{how}: {}", end.stderr);
        }
        let texts: Vec<String> = server.chats().iter().flat_map(|chat| chat.texts("user")).collect();
        let count = texts.iter().filter(|text| text.contains("what ls printed")).count();
        assert_eq!(count, usize::from(is_sent), "{how}: {texts:?}");
    }
}
