//! The clients in `assets/clients`: their types are those of the schema, and each runs a script with questions, a second turn,
//! a refused request and the end.
//!
//! `STEERSMAN_UPDATE_MANUAL=1 cargo test --test program clients::` writes the types anew.

mod types;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::built_program;
use crate::support::program::{stderr, stdout};
use crate::support::server::{Reply, Server};
use crate::support::skip::{Need, skip};
use crate::support::stream_schema::schema;

/// Around the types of a client, behind the sign of a comment.
const BEGIN: &str = " --- types, made from the schema\n\n";
const END: &str = " --- end of types\n";

fn client(name: &str) -> PathBuf {
    crate::support::root().join("assets/clients").join(name)
}

#[test]
fn the_types_of_the_clients_are_those_of_the_schema() {
    let definitions = types::definitions(schema());
    let clients =
        [("steersman.py", "#", types::python(&definitions)), ("steersman.ts", "//", types::typescript(&definitions))];
    for (name, comment, made) in clients {
        let text = fs::read_to_string(client(name)).unwrap();
        let (before, rest) = text.split_once(&format!("{comment}{BEGIN}")).unwrap();
        let (_, behind) = rest.split_once(&format!("{comment}{END}")).unwrap();
        let whole = format!("{before}{comment}{BEGIN}{made}\n{comment}{END}{behind}");
        if std::env::var_os("STEERSMAN_UPDATE_MANUAL").is_some() {
            fs::write(client(name), whole).unwrap();
        } else {
            assert!(text == whole, "the types of {name} are old, see the head of this file");
        }
    }
}

const PYTHON: &str = r#"
import sys
from steersman import Steersman

def decide(question):
    print("asked", question["kind"], question["detail"])
    return "no"

run = Steersman(*sys.argv[2:], program=sys.argv[1])
turn = run.ask("remove it", on_question=decide)
print(turn["answer"], turn["outcome"])
print(run.request("sing")["ok"])
print(run.send("again")["ok"])
for line in run:
    if line["event"]["type"] == "assistant":
        print(line["event"]["text"])
    elif line["event"]["type"] == "turn_ended":
        break
result = run.close()
print(result["turns"], result["exit_code"], result["answer"])
print(run.send("late")["ok"], list(run))
"#;

const TYPESCRIPT: &str = r#"
import { Steersman } from "./steersman.ts";

const run = new Steersman(process.argv.slice(3), process.argv[2]);
const turn = await run.ask("remove it", {
  onQuestion: (question) => {
    console.log("asked", question.kind, question.detail);
    return "no";
  },
});
console.log(turn.answer, turn.outcome);
console.log((await run.request({ type: "sing" } as never)).ok);
console.log((await run.send("again")).ok);
for await (const { event } of run) {
  if (event.type === "assistant") console.log(event.text);
  else if (event.type === "turn_ended") break;
}
const result = await run.close();
console.log(result?.turns, result?.exit_code, result?.answer);
const left = [];
for await (const line of run) left.push(line);
console.log((await run.send("late")).ok, left);
"#;

const SAID: &str = "asked command rm kept
I leave it. completed
false
true
As you say.
2 0 As you say.
false []
";

/// Runs a script with a model that wants to remove a file and then says two things.
fn said(command: &mut Command, script: &Path, home: &Path) -> String {
    let removal = Reply::calls(&[("c1", "bash", r#"{"command":"rm kept"}"#)]);
    let server = Server::start([removal, Reply::text("I leave it."), Reply::text("As you say.")]);
    let output = command
        .arg(script)
        .arg(built_program())
        .args(["--base-url", &server.url(), "--model", "m", "--sandbox", "off"])
        .env("HOME", home)
        .env("STEERSMAN_LOCAL_PORTS", "none")
        .current_dir(home)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    stdout(&output)
}

#[test]
fn the_client_in_python_asks_answers_reads_and_ends() {
    if Command::new("python3").arg("--version").output().is_err() {
        return skip(Need::Program("python3"), "the client in Python");
    }
    let home = tempfile::TempDir::new().unwrap();
    let script = home.path().join("script.py");
    fs::write(&script, PYTHON).unwrap();
    let mut command = Command::new("python3");
    command.env("PYTHONPATH", client("")).env("PYTHONDONTWRITEBYTECODE", "1");
    let said = said(&mut command, &script, home.path());
    assert_eq!(said.to_lowercase(), SAID.to_lowercase(), "only `false` is written otherwise");
}

#[test]
fn the_client_in_typescript_asks_answers_reads_and_ends() {
    let version = Command::new("node").arg("--version").output().map(|output| stdout(&output)).unwrap_or_default();
    let numbers: Vec<u32> = version.trim().trim_start_matches('v').split('.').filter_map(|n| n.parse().ok()).collect();
    if numbers.get(..2) < Some(&[22, 6][..]) {
        return skip(Need::RecentNode, "the client in TypeScript");
    }
    let home = tempfile::TempDir::new().unwrap();
    let script = home.path().join("script.ts");
    fs::copy(client("steersman.ts"), home.path().join("steersman.ts")).unwrap();
    fs::write(&script, TYPESCRIPT).unwrap();
    let mut command = Command::new("node");
    command.args(["--experimental-strip-types", "--no-warnings"]);
    assert_eq!(said(&mut command, &script, home.path()), SAID);
}
