//! The servers that a project brings: shown whole, used after a yes, asked about again; before that nothing of them acts.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::fs::{CWD, Mode as FileMode, mkfifoat};
use serde_json::json;
use steersman::program::cli::places::UserDirectories;
use steersman::program::cli::project::{FrontEnd, ProjectOffer, TrustQuestion, TrustRecord, trusted};
use steersman_base::limits;
use steersman_core::approval::{Answer, Answerer, ApprovalSubject, Approvals, Mode, Policy};
use steersman_tools::workspace::NamedFiles;
use tempfile::TempDir;

use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};

const SERVERS: &str = r#"{"mcpServers": {
    "build": {"command": "./tools/server", "args": ["--root", "a b", "x\u202ey"], "env": {"DEBUG": "1", "KEY": "${HOME_KEY}"}, "cwd": "tools"},
    "web": {"type": "http", "url": "https://example.org/${TENANT:-none}", "headers": {"Authorization": "Bearer ${WEB_TOKEN}"}}}}"#;

/// A project with a `.mcp.json`.
struct Project {
    home: TempDir,
    root: PathBuf,
    places: UserDirectories,
}

impl Project {
    fn new(servers: &str) -> Self {
        let home = TempDir::new().unwrap();
        let real = home.path().canonicalize().unwrap();
        let root = real.join("p");
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::write(root.join(".mcp.json"), servers).unwrap();
        let state = Some(real.join("state"));
        let places =
            UserDirectories { home: Some(real), state, project: Some(root.clone()), ..UserDirectories::default() };
        Self { home, root, places }
    }

    fn offer(&self) -> Option<ProjectOffer> {
        ProjectOffer::load(&self.root, &[])
    }

    /// Starts as the screen does; returns whether it is trusted, and what was asked.
    async fn start(&self, answer: Answer) -> (bool, Vec<String>) {
        let approvals = Arc::new(Approvals::new(Policy { answerer: Answerer::User, ..Policy::default() }, Mode::Ask));
        let (desk, asked) = (Arc::clone(&approvals), Arc::new(std::sync::Mutex::new(Vec::new())));
        let questions = Arc::clone(&asked);
        approvals.watch(Arc::new(move || {
            for request in desk.open() {
                let ApprovalSubject::Plain { title, detail } = &request.subject else { panic!("not of the program") };
                questions.lock().unwrap().push(format!("{title}\n{detail}"));
                desk.answer(request.id, answer.clone());
            }
        }));
        let question = TrustQuestion { front: FrontEnd::Screen, places: &self.places, trust: None };
        let offer = trusted(question, &approvals, &mut Vec::new(), &mut Vec::new()).await;
        let asked = asked.lock().unwrap().clone();
        (offer.is_some_and(|offer| offer.servers.len() == 2), asked)
    }
}

#[tokio::test]
async fn the_question_shows_command_variables_and_address_exactly_and_a_change_of_one_asks_again() {
    let project = Project::new(SERVERS);
    let (is_trusted, asked) = project.start(Answer::No(None)).await;
    assert!(!is_trusted);
    for part in [
        "trust what this project brings (2 MCP servers)?",
        "an MCP server 'build'\n  it is started, in the sandbox, as:\n    | \"./tools/server\" \"--root\" \"a b\" \"x\\u{202e}y\"\n  in: tools\n",
        "  variable: DEBUG = \"1\"\n  variable: KEY = \"${HOME_KEY}\"\n  it gets these variables of your environment: HOME_KEY\n",
        "an MCP server 'web'\n  it is asked at: https://example.org/${TENANT:-none}\n  header: Authorization = \"Bearer ${WEB_TOKEN}\"\n",
        "  it gets these variables of your environment: TENANT, WEB_TOKEN\n",
    ] {
        assert!(asked[0].contains(part), "{part} is missing in\n{}", asked[0]);
    }
    assert_eq!(project.start(Answer::Once).await.1.len(), 1);
    let (is_trusted, asked) = project.start(Answer::No(None)).await;
    assert!(is_trusted && asked.is_empty(), "it is not asked twice");
    for (before, after) in [
        ("./tools/server", "./tools/other"),
        ("\"a b\"", "\"a c\""),
        ("DEBUG", "LD_PRELOAD"),
        ("${HOME_KEY}", "${OTHER_KEY}"),
        ("https://example.org", "https://example.com"),
        ("WEB_TOKEN", "HOME"),
    ] {
        fs::write(project.root.join(".mcp.json"), SERVERS.replace(before, after)).unwrap();
        let (is_trusted, asked) = project.start(Answer::No(None)).await;
        assert!(!is_trusted && asked.len() == 1, "{after}");
    }
}

#[test]
fn of_two_servers_of_a_project_with_one_name_the_one_that_is_left_out_is_named() {
    let project = Project::new(r#"{"mcpServers": {"a": {"command": "first"}, "b": {"command": "same"}}}"#);
    fs::create_dir(project.root.join(".steersman")).unwrap();
    let config = "[mcp.a]\ncommand = \"second\"\n[mcp.b]\ncommand = \"same\"\n";
    fs::write(project.root.join(".steersman/config.toml"), config).unwrap();
    let offer = project.offer().unwrap();
    assert_eq!(offer.servers["a"].command.as_deref(), Some("second"));
    let words = ".mcp.json: the server a is left out: .steersman/config.toml has another one of this name";
    assert_eq!(offer.faults, [words]);
}

#[test]
fn a_file_that_is_none_is_said_in_one_line_and_starts_nothing() {
    for (text, words) in [
        ("{", "it is no JSON"),
        ("[]", "it has no object mcpServers"),
        (r#"{"mcpServers": {"a": {"command": 5}}}"#, "the server a is left out: command is no text"),
        (r#"{"mcpServers": {"a": {}}}"#, "the server a is left out: it has neither a command nor an address"),
        (r#"{"mcpServers": {"a\u001b]0;": {"type": "x\u202e"}}}"#, "is left out: its type x"),
        (&format!("{}{}", " ".repeat(10 << 20), SERVERS), "is larger than"),
    ] {
        let offer = Project::new(text).offer().unwrap();
        assert!(offer.servers.is_empty() && !offer.acts(), "{words}");
        assert!(offer.faults.len() == 1 && offer.faults[0].contains(words), "{:?}", offer.faults);
        assert!(!offer.faults[0].contains(['\u{1b}', '\u{202e}', '\n']), "{:?}", offer.faults);
    }
    // What would block whoever reads it, or lies elsewhere.
    let project = Project::new("");
    let file = project.root.join(".mcp.json");
    fs::remove_file(&file).unwrap();
    mkfifoat(CWD, &file, FileMode::RUSR | FileMode::WUSR).unwrap();
    assert!(!project.offer().unwrap().acts());
    fs::remove_file(&file).unwrap();
    fs::write(project.home.path().join("elsewhere"), SERVERS).unwrap();
    std::os::unix::fs::symlink(project.home.path().join("elsewhere"), &file).unwrap();
    let offer = project.offer().unwrap();
    assert!(!offer.acts() && offer.faults[0].contains("symbolic link"), "{:?}", offer.faults);
}

/// A program in a project whose server leaves a trace when it is started.
fn hostile() -> Program {
    let script = "echo started $HOME >> \"$STEERSMAN_WORKSPACE/trace\"; exec cat";
    let servers = json!({"mcpServers": {"evil": {"command": "/bin/sh", "args": ["-c", script]}}});
    let own = json!({"command": "/bin/sh", "args": ["-c", "touch \"$STEERSMAN_WORKSPACE/trace\""]});
    let config = format!("[mcp.evil-too]\ncommand = {}\nargs = {}\n", own["command"], own["args"]);
    Program::new()
        .file("work/.git/HEAD", "ref: refs/heads/main\n")
        .file("work/.mcp.json", &servers.to_string())
        .file("work/.steersman/config.toml", &config)
        .file(
            "work/.steersman/personas/x.md",
            "+++\nname = \"x\"\ndescription = \"x\"\ntools = [\"mcp__evil\"]\n+++\nx",
        )
}

#[test]
fn a_hostile_project_starts_no_server_before_it_is_trusted_whatever_is_run_in_it() {
    let server = Server::start([Reply::text("ok")]);
    for args in [
        &["exec", "--base-url", &server.url(), "--model", "m", "--yes", "hello"][..],
        &["mcp", "list"],
        &["mcp", "doctor"],
        &["mcp", "doctor", "evil"],
        &["mcp", "login", "evil"],
        &["mcp", "import"],
        &["personas"],
        &["doctor"],
    ] {
        let program = hostile();
        let trace = program.work().join("trace");
        let (output, _home) = program.args(args.iter().copied()).output_with_home();
        assert!(!trace.exists(), "{args:?}: {}{}", stdout(&output), stderr(&output));
        assert!(!stdout(&output).contains("/bin/sh"), "{args:?}: {}", stdout(&output));
    }
    let chats = server.chats();
    assert!(!chats[0].tools().iter().any(|name| name.contains("mcp") || name == "tool_search"));
    assert!(!chats[0].texts("system").concat().contains("evil"));
}

#[test]
fn the_servers_of_a_trusted_project_are_known_and_start_only_when_one_is_asked_for() {
    let program = hostile();
    let trace = program.work().join("trace");
    let root = program.work().canonicalize().unwrap();
    let offer = ProjectOffer::load(&root, &[]).unwrap();
    TrustRecord::at(Some(&program.home().join(".local/state/steersman"))).unwrap().add(&offer).unwrap();
    let own = program.config("[mcp.evil]\ncommand = \"mine\"\n");
    let (output, home) = own.args(["mcp", "list"]).output_with_home();
    let out = stdout(&output);
    assert!(out.contains("evil  configured") && out.contains("reached by: mine\n  from: config.toml\n"), "{out}");
    assert!(out.contains("evil-too  configured") && out.contains("from: project\n"), "{out}");
    assert!(stderr(&output).contains("the MCP server evil of the project is not used: one of yours has its name"));
    assert!(!trace.exists());
    let (output, _home) = Program::within(home).args(["mcp", "doctor", "evil-too"]).output_with_home();
    assert_eq!((exit_code(&output), trace.exists()), (1, true), "{}", stderr(&output));
}

#[tokio::test]
async fn the_question_says_what_each_server_is_taken_for_and_what_it_says_of_itself() {
    let project = Project::new(
        r#"{"mcpServers": {
            "mild": {"command": "./mild", "private": false, "untrusted": false, "egress": false},
            "plain": {"command": "./plain"}
        }}"#,
    );
    let (_, asked) = project.start(Answer::No(None)).await;
    let (mild, plain) = asked[0].split_once("an MCP server 'plain'").unwrap();
    for words in [
        "  its results are taken to hold nothing of yours: it says so\n",
        "  its results are taken to hold no text of strangers: it says so\n",
        "  its calls are taken to send nothing out of this machine: it says so\n",
    ] {
        assert!(mild.contains(words) && !plain.contains(words), "{words}: {}", asked[0]);
    }
    for words in [
        "  its results may hold something of yours\n",
        "  its calls may send something out of this machine where it has a network, except",
    ] {
        assert!(plain.contains(words) && !mild.contains(words), "{words}: {}", asked[0]);
    }
    // What it says of itself is part of what was trusted.
    assert_eq!(project.start(Answer::Once).await.1.len(), 1);
    let other = r#"{"mcpServers": {"mild": {"command": "./mild"}, "plain": {"command": "./plain", "private": false}}}"#;
    fs::write(project.root.join(".mcp.json"), other).unwrap();
    let (is_trusted, asked) = project.start(Answer::No(None)).await;
    assert!(!is_trusted && asked.len() == 1);
}

#[tokio::test]
async fn a_script_of_a_server_is_shown_whole_and_a_change_of_it_asks_again() {
    let servers = r#"{"mcpServers": {"a": {"command": "python3", "args": ["tools/a.py"]}, "b": {"command": "x", "network": true}}}"#;
    let project = Project::new(servers);
    fs::create_dir(project.root.join("tools")).unwrap();
    fs::write(project.root.join("tools/a.py"), "print('first')\n").unwrap();
    let (_, asked) = project.start(Answer::Once).await;
    for part in [
        "  its script: tools/a.py\n    | print('first')\n",
        "it is started, in the sandbox, with a network, as:\n    | \"x\"",
    ] {
        assert!(asked[0].contains(part), "{part} is missing in\n{}", asked[0]);
    }
    assert!(project.start(Answer::No(None)).await.1.is_empty(), "it is not asked twice");
    fs::write(project.root.join("tools/a.py"), "print('second')\n").unwrap();
    let (is_trusted, asked) = project.start(Answer::No(None)).await;
    assert!(!is_trusted && asked[0].contains("    | print('second')\n"), "{asked:?}");
}

#[test]
fn a_trusted_server_whose_script_has_changed_since_is_not_started() {
    let program = Program::new()
        .file("work/.git/HEAD", "ref: refs/heads/main\n")
        .file("work/.mcp.json", r#"{"mcpServers": {"a": {"command": "/bin/sh", "args": ["tools/a.sh"]}}}"#)
        .file("work/tools/a.sh", "touch ran-first\n");
    let root = program.work().canonicalize().unwrap();
    let offer = ProjectOffer::load(&root, &[]).unwrap();
    // As when the file is changed while the program runs.
    let (path, hash) = offer.server_files["a"].files[0].pin();
    assert_eq!((path, hash.len()), (root.join("tools/a.sh"), 64));
    TrustRecord::at(Some(&program.home().join(".local/state/steersman"))).unwrap().add(&offer).unwrap();
    let (output, home) = program.args(["mcp", "doctor", "a"]).output_with_home();
    assert!(stdout(&output).contains("a  failed"), "{}{}", stdout(&output), stderr(&output));
    fs::write(home.path().join("work/tools/a.sh"), "touch ran-second\n").unwrap();
    let (output, home) = Program::within(home).args(["mcp", "doctor", "a"]).output_with_home();
    assert!(stderr(&output).contains("there is no server a"), "{}{}", stdout(&output), stderr(&output));
    assert!(!home.path().join("work/ran-second").exists());
}

#[tokio::test]
async fn a_directory_that_a_server_runs_or_works_in_is_compared_whole_and_each_change_is_named() {
    let servers = r#"{"mcpServers": {
        "a": {"command": "node", "args": ["./server", "--root=src"]}, "b": {"command": "python3", "args": ["-m", "b"], "cwd": "inner"}}}"#;
    let project = Project::new(servers);
    for (path, text) in [
        ("server/index.js", "require('./lib/x.js')\n"),
        ("server/lib/x.js", "'first'\n"),
        ("server/data.json", "{}"),
        ("inner/b/__main__.py", "print('b')\n"),
        ("src/main.txt", "edited all day"),
    ] {
        let path = project.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    std::os::unix::fs::symlink("x.js", project.root.join("server/lib/y.js")).unwrap();
    let (_, asked) = project.start(Answer::Once).await;
    for part in [
        "  its script: server/lib/x.js\n    | 'first'\n",
        "  its link: server/lib/y.js -> x.js\n",
        "  its file: server/data.json (SHA-256 ",
        "  its script: inner/b/__main__.py\n    | print('b')\n",
    ] {
        assert!(asked[0].contains(part), "{part} is missing in\n{}", asked[0]);
    }
    let write = |path: &str, text: &str| fs::write(project.root.join(path), text).unwrap();
    write("src/main.txt", "what a server reads is no part of it");
    assert!(project.start(Answer::No(None)).await.1.is_empty(), "it is not asked twice");
    for (path, text, line) in [
        ("server/lib/x.js", "'second'\n", "    | +    | 'second'\n"),
        ("server/data.json", "{\"a\": 1}", "    | +  its file: server/data.json (SHA-256 "),
        ("server/new.js", "", "    | +  its script: server/new.js\n"),
        ("inner/b/__main__.py", "print('c')\n", "    | +    | print('c')\n"),
        ("inner/json.py", "evil()\n", "    | +  its script: inner/json.py\n"),
    ] {
        write(path, text);
        let (is_trusted, asked) = project.start(Answer::No(None)).await;
        assert!(!is_trusted && asked[0].contains(line), "{line} is missing in {asked:?}");
        assert_eq!(project.start(Answer::Once).await.1.len(), 1);
    }
    fs::remove_file(project.root.join("server/lib/y.js")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", project.root.join("server/lib/y.js")).unwrap();
    let asked = project.start(Answer::Once).await.1;
    assert!(asked[0].contains("    | +  its link: server/lib/y.js -> /etc/passwd\n"), "{}", asked[0]);
    // What is too large is said, and not compared.
    for number in 0..limits::PINNED_FILES {
        fs::write(project.root.join(format!("server/{number}")), "").unwrap();
    }
    let asked = project.start(Answer::Once).await.1;
    assert!(asked[0].contains("(you are not asked when it changes): server: it holds more than"), "{}", asked[0]);
}

#[test]
fn the_script_of_a_trusted_server_runs_from_a_copy_of_what_was_compared_and_finds_what_lies_beside() {
    for (args, place) in [(&["tools/a.sh"][..], "tools/a.sh"), (&["-c", "exec sh ./tools/a.sh"][..], "./tools/a.sh")] {
        let servers = json!({"mcpServers": {"a": {"command": "/bin/sh", "args": args}}});
        let program = Program::new()
            .file("work/.git/HEAD", "ref: refs/heads/main\n")
            .file("work/.mcp.json", &servers.to_string())
            .file("work/lib.sh", "word=found\n")
            .file("work/tools/beside.sh", ". \"$(dirname \"$0\")/../lib.sh\"\n")
            .file("work/tools/a.sh", ". \"$(dirname \"$0\")/beside.sh\"\necho \"$word $0\" > where\n");
        let root = program.work().canonicalize().unwrap();
        let offer = ProjectOffer::load(&root, &[]).unwrap();
        TrustRecord::at(Some(&program.home().join(".local/state/steersman"))).unwrap().add(&offer).unwrap();
        let (output, home) = program.args(["mcp", "doctor", "a"]).output_with_home();
        let said = fs::read_to_string(home.path().join("work/where")).unwrap_or_default();
        let words = format!("{}{}", stdout(&output), stderr(&output));
        assert!(said.starts_with("found /") && said.ends_with("/project/tools/a.sh\n"), "{place}: {said}: {words}");
        let copy = said.trim_end().strip_prefix("found ").unwrap();
        assert!(!copy.starts_with(root.to_str().unwrap()) && !std::path::Path::new(copy).exists(), "{copy}");
    }
}

#[test]
fn a_trusted_server_works_in_a_copy_of_its_directory_and_not_in_an_empty_one() {
    let servers = json!({"mcpServers": {"a": {
        "command": "/bin/sh", "args": ["-c", "pwd > \"$STEERSMAN_WORKSPACE/where\"; . ./lib/word.sh"], "cwd": "tools/server",
    }}});
    for (file, is_started) in [("work/tools/server/lib/word.sh", true), ("work/tools/other", false)] {
        let program = Program::new()
            .file("work/.git/HEAD", "ref: refs/heads/main\n")
            .file("work/.mcp.json", &servers.to_string())
            .file(file, "echo first >> \"$STEERSMAN_WORKSPACE/where\"\n");
        let root = program.work().canonicalize().unwrap();
        fs::create_dir_all(root.join("tools/server")).unwrap();
        let offer = ProjectOffer::load(&root, &[]).unwrap();
        TrustRecord::at(Some(&program.home().join(".local/state/steersman"))).unwrap().add(&offer).unwrap();
        let (output, home) = program.args(["mcp", "doctor", "a"]).output_with_home();
        let said = fs::read_to_string(home.path().join("work/where")).unwrap_or_default();
        let words = format!("{}{}", stdout(&output), stderr(&output));
        assert_eq!(said.ends_with("/project/tools/server\nfirst\n"), is_started, "{said}: {words}");
        assert!(!said.contains(root.to_str().unwrap()), "{said}: {words}");
        assert_eq!(words.contains("holds no file: what it would load"), !is_started, "{words}");
    }
}

// Whoever writes there makes the directory too large, so that nothing of it would be compared.
#[tokio::test]
async fn a_directory_that_becomes_too_large_to_be_compared_is_asked_about_and_runs_nothing_until_then() {
    for cwd in ["server", "."] {
        let servers = json!({"mcpServers": {
            "a": {"command": "node", "args": ["./server"], "cwd": cwd}, "b": {"command": "x"},
        }});
        let project = Project::new(&servers.to_string());
        fs::create_dir(project.root.join("server")).unwrap();
        let (is_trusted, asked) = project.start(Answer::Once).await;
        assert!(is_trusted, "{cwd}: {asked:?} {:?}", project.offer().unwrap().faults);
        let trusted = project.offer().unwrap().pinned_files("a").unwrap();
        for number in 0..=limits::PINNED_FILES {
            fs::write(project.root.join(format!("server/{number}.js")), "").unwrap();
        }
        fs::write(project.root.join("server/index.js"), "evil()\n").unwrap();
        let files = NamedFiles::find(["node", "./server"], &trusted.directory, &project.root).unwrap();
        assert!(
            files.newly_uncompared(&trusted.uncompared).is_some(),
            "{cwd}: it is noticed at the next start of the server"
        );
        let (is_trusted, asked) = project.start(Answer::No(None)).await;
        assert!(!is_trusted && asked[0].contains("(you are not asked when it changes): server: "), "{cwd}: {asked:?}");
    }
}

#[test]
fn a_server_that_names_more_scripts_than_are_compared_is_left_out() {
    let args: Vec<String> = (0..=limits::HOOK_SCRIPTS).map(|number| format!("{number}.sh")).collect();
    let project = Project::new(&json!({"mcpServers": {"a": {"command": "sh", "args": args}}}).to_string());
    for name in &args {
        fs::write(project.root.join(name), "true\n").unwrap();
    }
    let offer = project.offer().unwrap();
    assert!(
        offer.servers.is_empty() && offer.faults[0].contains("it names more than 16 scripts"),
        "{:?}",
        offer.faults
    );
}

#[test]
fn what_only_the_users_own_configuration_gives_a_server_leaves_one_of_a_project_out() {
    for (key, value) in [("sandbox", "false"), ("readable", "['/']"), ("writable", "['/home']")] {
        let project = Project::new(r#"{"mcpServers": {}}"#);
        fs::create_dir(project.root.join(".steersman")).unwrap();
        let config = format!("[mcp.a]\ncommand = 'x'\n{key} = {value}\n");
        fs::write(project.root.join(".steersman/config.toml"), config).unwrap();
        let offer = project.offer().unwrap();
        let words =
            format!(".steersman/config.toml: the server a is left out: {key} is for your own configuration only");
        assert!(offer.servers.is_empty() && offer.faults == [words], "{:?}", offer.faults);
    }
}
