//! `steersman mcp list`, `doctor` and `import`, as a user runs them.

use std::path::Path;
use std::time::Duration;

use crate::support::processes::{alive, wait_until};
use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::skip::{Need, skip};

/// Returns the section of the scripted server, whose log is `NAME.log` beside the working directory.
pub fn section(name: &str, program: &Program, arguments: &[&str]) -> String {
    let script = crate::support::root().join("tests/fixtures/mcp_server.py");
    let logs = program.home().join("logs");
    std::fs::create_dir_all(&logs).unwrap();
    let log = logs.join(format!("{name}.log"));
    let words = ["-u", script.to_str().unwrap(), "--log", log.to_str().unwrap()];
    let args: Vec<&str> = words.iter().chain(arguments).copied().collect();
    format!("[mcp.{name}]\ncommand = \"python3\"\nargs = {args:?}\nwritable = [\"{}\"]\n", logs.display())
}

pub fn has_python(what: &str) -> bool {
    let has = Program::new().home().exists() && std::process::Command::new("python3").arg("-V").output().is_ok();
    if !has {
        skip(Need::Program("python3"), what);
    }
    has
}

#[tokio::test]
async fn the_doctor_says_of_each_server_what_it_offers_or_what_is_wrong_and_leaves_no_process() {
    if !has_python("the check of servers") {
        return;
    }
    let program = Program::new();
    let config = [
        section("fine", &program, &[]),
        section("above", &program, &[]).replace("/tests/fixtures/", "/src/../tests/fixtures/"),
        section("mute", &program, &["--silent", "initialize"]) + "start_timeout = 1\n",
        section("dead", &program, &["--errors", "1", "--die", "initialize"]),
        "[mcp.gone]\ncommand = \"no-such-program\"\n[mcp.off]\ncommand = \"x\"\nenabled = false\n".to_owned(),
        "[mcp.unset]\ncommand = \"x\"\nargs = [\"${NO_SUCH_VARIABLE}\"]\n".to_owned(),
    ]
    .concat();
    let (output, home) = program.config(&config).args(["mcp", "doctor"]).output_with_home();
    let (out, err) = (stdout(&output), stderr(&output));
    assert_eq!(exit_code(&output), 1, "{out}{err}");
    for part in [
        "fine  started  9 tools\n",
        "tools: mcp__fine__echo, mcp__fine__slow",
        "above  started  9 tools\n",
        "error: it did not answer within 1 s",
        "dead  failed  0 tools\n",
        "error output: ",
        "gone  failed  0 tools\n",
        "no-such-program",
    ] {
        assert!(out.contains(part), "{part:?} is missing in\n{out}");
    }
    assert!(!out.contains("off "), "{out}");
    assert!(err.contains("the MCP server unset is not used: the variable NO_SUCH_VARIABLE is not set"), "{err}");
    let log = home.path().join("logs/fine.log").display().to_string();
    wait_until("no server is left", Duration::from_mins(5), || alive(&log).is_empty()).await;

    // What it offers is known from here on, and nothing is started for it.
    let started = |home: &Path| std::fs::read_to_string(home.join("logs/fine.log")).unwrap().matches("start ").count();
    let before = started(home.path());
    let (output, home) = Program::within(home).args(["mcp", "list"]).output_with_home();
    let out = stdout(&output);
    assert!(out.contains("fine  known  9 tools\n  reached by: python3 -u "), "{out}");
    assert!(out.contains("gone  configured  0 tools\n  reached by: no-such-program\n  from: config.toml\n"), "{out}");
    assert_eq!((exit_code(&output), started(home.path())), (0, before));

    let (output, home) = Program::within(home).args(["mcp", "doctor", "fine"]).output_with_home();
    assert!(stdout(&output).starts_with("fine ") && !stdout(&output).contains("gone"), "{}", stdout(&output));
    let output = Program::within(home).args(["mcp", "doctor", "fien"]).output();
    assert_eq!(exit_code(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("there is no server fien"), "{}", stderr(&output));
}

#[test]
fn the_list_is_json_for_programs_and_shows_the_name_of_a_variable_and_never_its_value() {
    let config = "[mcp.a]\ncommand = \"run\"\nargs = [\"--key=${A_TOKEN}\"]\nenv = { B_TOKEN = \"plain-secret-1\" }\n\
                  [mcp.b]\nurl = \"https://example.org/mcp\"\nheaders = { X-Key = \"plain-secret-2\" }\n";
    for (args, parts) in [
        (&["mcp", "list"][..], ["reached by: run '--key=${A_TOKEN}'", "gets: B_TOKEN", "gets: X-Key"]),
        (&["mcp", "list", "--json"][..], ["\"state\": \"configured\"", "\"B_TOKEN\"", "\"https://example.org/mcp\""]),
    ] {
        let output = Program::new().config(config).env("A_TOKEN", "plain-secret-3").args(args.iter().copied()).output();
        let out = stdout(&output);
        assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
        assert!(parts.iter().all(|part| out.contains(part)), "{out}");
        assert!(!out.contains("plain-secret"), "{out}");
    }
    let output = Program::new().args(["mcp", "list"]).output();
    assert!(stderr(&output).contains("no MCP server is configured"), "{}", stderr(&output));
}

const CLAUDE: &str = r#"{"numStartups": 7, "mcpServers": {
    "git hub": {"type": "http", "url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
    "files": {"command": "npx", "args": ["-y", "files", "."], "env": {"DEBUG": "1"}},
    "old": {"type": "sse", "url": "https://example.org/sse"},
    "mine": {"command": "other"}}}"#;
const CODEX: &str = "model = \"x\"\n[mcp_servers.docs]\ncommand = \"docs\"\nenv_vars = [\"DOCS_KEY\"]\nstartup_timeout_sec = 20\n\
                     [mcp_servers.web]\nurl = \"https://example.org/web\"\nbearer_token_env_var = \"WEB_TOKEN\"\n\
                     [mcp_servers.files]\ncommand = \"another\"\n";

#[test]
fn servers_of_other_programs_are_printed_as_sections_and_added_where_that_is_asked_for() {
    let program = || {
        let own = "[mcp.mine]\ncommand = \"own\"\n";
        Program::new().config(own).file(".claude.json", CLAUDE).file(".codex/config.toml", CODEX)
    };
    let (output, home) = program().args(["mcp", "import"]).output_with_home();
    let (out, err) = (stdout(&output), stderr(&output));
    for part in [
        "[mcp.files]\nargs = [\"-y\", \"files\", \".\"]\ncommand = \"npx\"\n\n[mcp.files.env]\nDEBUG = \"1\"\n",
        "[mcp.git-hub]\nurl = \"https://example.org/mcp\"\n\n[mcp.git-hub.headers]\nAuthorization = \"Bearer ${TOKEN}\"\n",
        "[mcp.docs]\ncommand = \"docs\"\npass_env = [\"DOCS_KEY\"]\nstart_timeout = 20\n",
        "[mcp.web]\nbearer_token_env = \"WEB_TOKEN\"\nurl = \"https://example.org/web\"\n",
    ] {
        assert!(out.contains(part), "{part} is missing in\n{out}");
    }
    for part in [
        "the server old is left out: it speaks HTTP+SSE",
        "the server git hub is called git-hub here",
        "the server mine is left out: there is one of this name already",
        "config.toml: the server files is left out: there is one of this name already",
    ] {
        assert!(err.contains(part), "{part} is missing in\n{err}");
    }
    let own = home.path().join(".config/steersman/config.toml");
    assert_eq!(std::fs::read_to_string(&own).unwrap(), "[mcp.mine]\ncommand = \"own\"\n");

    let (output, home) = program().args(["mcp", "import", "--write"]).output_with_home();
    assert!(stderr(&output).contains("docs, files, git-hub, web; steersman mcp doctor tries them"), "{output:?}");
    let own = home.path().join(".config/steersman/config.toml");
    assert!(std::fs::read_to_string(own).unwrap().starts_with("[mcp.mine]\ncommand = \"own\"\n\n[mcp."));
    let list = Program::within(home).env("TOKEN", "t").env("DOCS_KEY", "k").env("WEB_TOKEN", "w").args(["mcp", "list"]);
    let (output, home) = list.output_with_home();
    let names: Vec<String> = stdout(&output).lines().filter(|line| !line.starts_with(' ')).map(str::to_owned).collect();
    let names: Vec<&str> = names.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["docs", "files", "git-hub", "mine", "web"], "{}", stderr(&output));

    // A second time there is nothing left to add.
    let output = Program::within(home).args(["mcp", "import", "--write"]).output();
    assert!(stderr(&output).contains("there is nothing to add"), "{}", stderr(&output));
}

#[test]
fn a_file_that_is_none_is_named_and_nothing_is_written() {
    let program =
        Program::new().file("work/.mcp.json", "{\"mcpServers\": [").file("work/big.json", &" ".repeat(17 << 20));
    let (output, home) = program.args(["mcp", "import", ".mcp.json", "--write"]).output_with_home();
    assert_eq!(exit_code(&output), 2);
    assert!(stderr(&output).contains(".mcp.json: it is no JSON"), "{}", stderr(&output));
    let (output, home) = Program::within(home).args(["mcp", "import", "big.json"]).output_with_home();
    assert!(exit_code(&output) == 2 && stderr(&output).contains("big.json: "), "{}", stderr(&output));
    let (output, home) = Program::within(home).args(["mcp", "import"]).output_with_home();
    assert!(stderr(&output).contains("there is neither ~/.claude.json nor"), "{}", stderr(&output));
    assert!(!home.path().join(".config/steersman/config.toml").exists());
}
