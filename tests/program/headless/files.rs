//! Which files a call has changed, as the lines tell it.

use serde_json::{Value, json};

use super::{exec, lines, of};
use crate::support::program::{exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};

fn command(id: &str, command: &str) -> (String, Value) {
    (id.to_owned(), json!({"command": command}))
}

#[test]
fn files_that_a_command_changed_are_told_behind_its_result_and_at_the_end() {
    let calls = [
        command("c1", "echo new > made; echo more >> kept"),
        command("c2", "cat kept"),
        command("c3", "mkdir -p deep && echo x > deep/file"),
    ];
    let calls: Vec<(&str, &str, String)> =
        calls.iter().map(|(id, arguments)| (id.as_str(), "bash", arguments.to_string())).collect();
    let calls: Vec<(&str, &str, &str)> = calls.iter().map(|(id, name, text)| (*id, *name, text.as_str())).collect();
    let write = Reply::calls(&[("c4", "write", r#"{"path":"written","content":"one\n"}"#)]);
    let server = Server::start([Reply::calls(&calls), write, Reply::text("Done.")]);
    let program = exec(&server).args(["--json", "--yes", "hello"]).file("work/kept", "").file("work/other", "");
    let output = program.output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let lines = lines(&stdout(&output));
    let unknown = |path: &str| json!({"path": path, "created": null, "added": null, "removed": null});
    let told: Vec<&Value> = of(&lines, "files_changed").iter().map(|line| &line["event"]).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told[0]["id"], "c1");
    assert_eq!(told[0]["files"], json!([unknown("kept"), unknown("made")]));
    assert_eq!((&told[1]["id"], &told[1]["files"]), (&json!("c3"), &json!([unknown("deep/file")])));
    let file = json!({"path": "written", "created": true, "added": 1, "removed": 0});
    assert_eq!((&told[2]["id"], &told[2]["files"]), (&json!("c4"), &json!([file])));
    assert!(told.iter().all(|line| line["partial"] == false));
    let place = |name: &str, id: &str| {
        lines.iter().position(|line| line["event"]["type"] == name && line["event"]["id"] == id).unwrap()
    };
    assert_eq!(place("files_changed", "c1"), place("tool_result", "c1") + 1);
    let end = &lines.last().unwrap()["event"];
    assert_eq!(end["files"], json!(["deep/file", "kept", "made", "written"]));
    assert_eq!(end["files_partial"], false);
}
