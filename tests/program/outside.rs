//! Nothing runs outside of the sandbox from a place where agents can write: servers, hooks, commands of the user, and this
//! program itself, in the whole program and at the spawner, under each sandbox.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;
use steersman::program::cli::project::{ProjectOffer, TrustRecord};
use steersman_tools::workspace::sandbox::Surroundings;
use steersman_tools::workspace::{
    Confinement, Job, Network, OutsideCommand, OutsideError, Placement, Sandbox, Spawner, TalkingJob,
};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::built_program;
use crate::support::grounds::{Grounds, KINDS, PATH};
use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};
use crate::support::skip::{Need, skip};

/// The flags of the sandboxes that this machine has, and of none.
fn flags() -> Vec<&'static str> {
    let works = |kind: &&str| {
        let output = Program::new().args(["doctor", "--sandbox", kind]).output();
        stdout(&output).contains("commands are confined by")
    };
    let kinds = ["namespaces", "bubblewrap", "landlock"];
    kinds.into_iter().filter(works).chain(["off"]).collect()
}

fn executable(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Copies this program by another process: one that this process has open for writing could not be started, nor while a child
/// that was started meanwhile has it.
fn copy_program(to: &Path) {
    assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_steersman")).arg(to).status().unwrap().success());
}

fn has_python() -> bool {
    let has = Command::new("python3").arg("-V").output().is_ok();
    if !has {
        skip(Need::Program("python3"), "a server of Python");
    }
    has
}

/// A program of the user that an agent would have load its own file.
struct Case {
    what: &'static str,
    config: &'static str,
    hooks: Option<&'static str>,
    /// The file that the model writes.
    planted: &'static str,
    /// Whether it is there before, and can be run.
    is_program: bool,
}

const SERVER_CALL: (&str, &str, &str) = ("c2", "tool_search", r#"{"query": "time"}"#);

const CASES: [Case; 6] = [
    Case {
        what: "the module of a server",
        config: "[mcp.time]\ncommand = 'python3'\nargs = ['-m', 'mcp_server_time']\n",
        hooks: None,
        planted: "mcp_server_time.py",
        is_program: false,
    },
    Case {
        what: "a module that a server imports",
        config: "[mcp.time]\ncommand = 'python3'\nargs = ['-c', 'import json']\n",
        hooks: None,
        planted: "json.py",
        is_program: false,
    },
    Case {
        what: "a module that a hook imports",
        config: "",
        hooks: Some("python3 -c 'import json'"),
        planted: "json.py",
        is_program: false,
    },
    Case {
        what: "the program of a server",
        config: "[mcp.time]\ncommand = 'npx'\nargs = ['-y', 'time']\n",
        hooks: None,
        planted: ".venv/bin/npx",
        is_program: true,
    },
    Case { what: "the shell of a hook", config: "", hooks: Some("true"), planted: ".venv/bin/bash", is_program: true },
    Case {
        what: "the interpreter of a server",
        config: "[mcp.time]\ncommand = 'python3'\nargs = ['-c', 'pass']\n",
        hooks: None,
        planted: ".venv/bin/python3",
        is_program: true,
    },
];

/// Lets the model write what a program of the user would load, then start that; returns whether it ran outside, and what
/// the model read.
fn attack(case: &Case, flags: &[&str]) -> (bool, Vec<String>) {
    let outside = TempDir::new().unwrap();
    let canary = outside.path().join("canary");
    let text = if case.is_program {
        format!("#!/bin/sh\necho ran > '{}'\n", canary.display())
    } else {
        format!("open('{}', 'w').write('ran')\n", canary.display())
    };
    let write = json!({"path": case.planted, "content": text}).to_string();
    let read = json!({"path": case.planted}).to_string();
    let server = Server::start([
        Reply::calls(&[("c0", "read", &read)]),
        Reply::calls(&[("c1", "write", &write)]),
        Reply::calls(&[SERVER_CALL]),
        Reply::text("done"),
    ]);
    let url = server.url();
    let args = ["exec", "--base-url", &url, "--model", "m"].into_iter().chain(flags.iter().copied()).chain(["go"]);
    let mut program = Program::new().config(case.config).args(args);
    if let Some(command) = case.hooks {
        let hook = json!([{"hooks": [{"type": "command", "command": command}]}]);
        program = program.file(".config/steersman/hooks.json", &json!({"hooks": {"PreToolUse": hook}}).to_string());
    }
    let work = program.work();
    if case.is_program {
        executable(&work.join(case.planted), "#!/bin/sh\n");
    }
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", work.join(".venv/bin").display());
    let output = program.env("PATH", &path).output();
    let results = server.chats().last().unwrap().texts("tool");
    assert!(!results.is_empty(), "{}{}", stdout(&output), stderr(&output));
    (canary.exists(), results)
}

#[test]
fn a_file_that_the_model_writes_is_never_loaded_outside_by_a_program_of_the_user() {
    if !has_python() {
        return;
    }
    for kind in flags() {
        for case in &CASES {
            let (ran, results) = attack(case, &["--sandbox", kind, "--yes"]);
            assert!(!ran, "{kind}: {}: {results:?}", case.what);
            assert!(!results[1].starts_with("Error"), "it is written: {results:?}");
            if case.hooks.is_none() {
                assert!(results[2].contains("the server time does not start"), "it was to start: {kind}: {results:?}");
            }
        }
    }
}

/// As `npx` and `uvx` do: they load packages, which bring names of the table and repositories along, before they speak.
const LOADER: &str = "\
    #!/bin/sh\nset -e\nfor d in \"$npm_config_cache/_npx/node_modules/p\" \"$XDG_CACHE_HOME/uv\" \"$UV_TOOL_DIR\"; do\n\
    mkdir -p \"$d/.git\" \"$d/.github/workflows\"\necho x > \"$d/.git/config\"\necho x > \"$d/.github/workflows/ci.yml\"\n\
    echo x > \"$d/package.json\"\nln -s package.json \"$d/link\"\ndone\necho loaded >&2\n";

#[test]
fn a_server_that_loads_packages_keeps_them_in_a_directory_of_its_own_under_each_sandbox() {
    for kind in flags().into_iter().filter(|kind| *kind != "off") {
        let program = Program::new()
            .config("[mcp.mine]\ncommand = 'npx'\nargs = ['-y', 'p']\nnetwork = true\n")
            .file("work/.git/HEAD", "ref: refs/heads/main\n")
            .file("work/.mcp.json", r#"{"mcpServers": {"theirs": {"command": "npx", "args": ["-y", "p"]}}}"#);
        executable(&program.home().join(".local/bin/npx"), LOADER);
        let offer = ProjectOffer::load(&program.work().canonicalize().unwrap(), &[]).unwrap();
        TrustRecord::at(Some(&program.home().join(".local/state/steersman"))).unwrap().add(&offer).unwrap();
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", program.home().join(".local/bin").display());
        let (output, home) = program.env("PATH", &path).args(["mcp", "doctor", "--sandbox", kind]).output_with_home();
        let said = format!("{}{}", stdout(&output), stderr(&output));
        let caches = home.path().join(".cache/steersman/mcp");
        let names = fs::read_dir(&caches).unwrap_or_else(|error| panic!("{kind}: {error}: {said}"));
        let mut names: Vec<String> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        // What a project left in its own never meets a server of the user with the same name.
        assert!(names[0] == "mine" && names[1].starts_with("theirs-") && names.len() == 2, "{kind}: {names:?}: {said}");
        for name in names {
            for part in ["npm/_npx/node_modules/p", "uv", "uv-tools"] {
                for file in [".git/config", ".github/workflows/ci.yml", "link"] {
                    let file = caches.join(&name).join(part).join(file);
                    assert!(file.exists(), "{kind}: {} was not written: {said}", file.display());
                }
            }
        }
    }
}

#[test]
fn a_search_of_tools_starts_no_server_that_nobody_said_yes_to_in_any_mode() {
    if !has_python() {
        return;
    }
    for mode in ["ask", "auto-edit", "read-only", "plan"] {
        for case in CASES.iter().filter(|case| case.hooks.is_none() && !case.is_program) {
            let (ran, results) = attack(case, &["--mode", mode]);
            let search = results.last().unwrap();
            assert!(!ran && search.contains("it is not started without a yes"), "{mode}: {}: {results:?}", case.what);
        }
    }
}

#[test]
fn this_program_is_never_started_from_a_file_that_took_its_place() {
    for kind in flags() {
        let home = TempDir::new().unwrap();
        let (work, canary) = (home.path().join("work"), home.path().join("canary"));
        fs::create_dir(&work).unwrap();
        let own = work.join("steersman");
        copy_program(&own);
        executable(&work.join("evil"), &format!("#!/bin/sh\necho ran > '{}'\n", canary.display()));
        let replace = json!({"command": "mv evil steersman; echo replaced"}).to_string();
        let server = Server::start([
            Reply::calls(&[("c1", "bash", &replace)]),
            Reply::calls(&[("c2", "bash", r#"{"command": "echo still works"}"#)]),
            Reply::text("done"),
        ]);
        let mut command = Command::new(&own);
        command.args(["exec", "--base-url", &server.url(), "--model", "m", "--sandbox", kind, "--yes", "go"]);
        command.env_clear().env("HOME", home.path()).env("PATH", "/usr/bin:/bin").env("STEERSMAN_LOCAL_PORTS", "none");
        let output = command.current_dir(&work).stdin(Stdio::null()).output().unwrap();
        let results = server.chats().last().unwrap().texts("tool");
        assert!(!canary.exists(), "{kind}: {results:?}");
        assert!(results[0].contains("replaced") && results[1].contains("still works"), "{kind}: {results:?}");
        assert_eq!(exit_code(&output), 0, "{kind}: {}", stderr(&output));
        assert!(fs::read(&own).unwrap().starts_with(b"#!"), "{kind}: it was replaced");
    }
}

/// Reads what a job prints to its end.
async fn printed(mut job: TalkingJob) -> String {
    let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(read @ 1..) = job.running.read_output(&mut buffer).await {
        all.extend_from_slice(&buffer[..read]);
    }
    let mut errors = String::new();
    let _ = job.errors.read_to_string(&mut errors).await;
    String::from_utf8_lossy(&all).into_owned() + &errors
}

/// A spawner that knows where agents write, with a directory for programs on its path there.
fn spawner(grounds: &Grounds, sandbox: &Sandbox) -> Spawner {
    let path = format!("{}:{PATH}", grounds.work.join("bin").display());
    let variables = [("PATH", path.as_str()), ("HOME", grounds.home.to_str().unwrap())];
    let variables = variables.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let environment = steersman_tools::workspace::ChildEnvironment::new(variables, &[] as &[&str], &[]);
    Spawner::new(built_program(), sandbox.clone(), environment).with_writable(vec![grounds.work.clone()])
}

fn talking(grounds: &Grounds, spawner: &Spawner, argv: &[&str], network: Network) -> Job {
    let confinement = Confinement { network, ..spawner.reach(&grounds.work) };
    let argv = argv.iter().map(OsString::from).collect();
    Job { argv, cwd: grounds.work.clone(), environment: Vec::new(), confinement }
}

#[tokio::test]
async fn a_program_of_the_user_runs_in_the_sandbox_with_the_roots_of_commands_and_its_own_streams() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let spawner = spawner(&grounds, &sandbox);
        let outside = grounds.outside.join("new");
        let line = format!(
            "read -r x; echo got $x; echo saw >&2; echo in > made; echo out > '{}'; echo $PATH",
            outside.display()
        );
        let job = talking(&grounds, &spawner, &["bash", "-c", &line], Network::Off);
        let mut started = spawner.start_talking(&job, Placement::Sandboxed, &grounds.work).unwrap();
        started.input.write_all(b"word\n").await.unwrap();
        let said = printed(started).await;
        assert!(said.contains("got word\n") && said.contains("saw\n"), "{kind:?}: {said}");
        assert!(!said.contains("/work/bin"), "no program of the workspace is found: {kind:?}: {said}");
        assert!(grounds.work.join("made").exists() && !outside.exists(), "{kind:?}: {said}");
    }
}

#[tokio::test]
async fn a_program_outside_has_another_directory_and_nothing_of_the_workspace() {
    let grounds = Grounds::new();
    let spawner = spawner(&grounds, &Sandbox::none());
    executable(&grounds.work.join("bin/bash"), "#!/bin/sh\necho planted\n");
    executable(&grounds.work.join("tool"), "#!/bin/sh\necho planted\n");
    let mut job = talking(&grounds, &spawner, &["bash", "-c", "pwd; env"], Network::Off);
    let quoted = format!("'{}/ssh' -x", grounds.work.display());
    job.environment = [
        ("PYTHONPATH", grounds.work.to_str().unwrap()),
        ("NODE_OPTIONS", "--require ./x.js"),
        ("GIT_SSH_COMMAND", quoted.as_str()),
        ("KEPT", "value"),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .to_vec();
    for placement in [Placement::Outside, Placement::Sandboxed] {
        let said = printed(spawner.start_talking(&job, placement, &grounds.work).unwrap()).await;
        let workspace = format!("STEERSMAN_WORKSPACE={}\n", grounds.work.display());
        assert!(said.starts_with("/\n") && said.contains("PYTHONSAFEPATH=1\n"), "{said}");
        assert!(said.contains(&workspace) && said.contains("KEPT=value\n"), "{said}");
        let rest = said.replace(&workspace, "");
        assert!(!rest.contains(grounds.work.to_str().unwrap()) && !rest.contains("NODE_OPTIONS"), "{rest}");
    }
    // The program, a script of it, an interpreter, a link, a part of a line for a shell, a relative path.
    let tool = grounds.work.join("tool").display().to_string();
    std::os::unix::fs::symlink(&tool, grounds.outside.join("link")).unwrap();
    executable(&grounds.outside.join("script"), &format!("#!{tool}\n"));
    executable(&grounds.outside.join("through-env"), &format!("#!/usr/bin/env -S {tool} x\n"));
    let at = |name: &str| grounds.outside.join(name).display().to_string();
    let (quoted, option) = (format!("cd / && exec '{tool}'"), format!("--require={tool}"));
    for argv in [
        &[tool.as_str()][..],
        &["./tool"],
        &["sh", &tool],
        &["sh", "./tool"],
        &["sh", "-c", &quoted],
        &["node", &option],
        &[&at("link")],
        &[&at("script")],
        &[&at("through-env")],
        &["python3", grounds.work.to_str().unwrap()],
    ] {
        if argv[0] == "node" && !Path::new("/usr/bin/node").exists() {
            continue;
        }
        let job = talking(&grounds, &spawner, argv, Network::Off);
        let refused = spawner.start_talking(&job, Placement::Outside, &grounds.work);
        let why = refused.map(|_| ()).unwrap_err().to_string();
        assert!(why.contains("lies where agents can write"), "{argv:?}: {why}");
    }
    let only = talking(&grounds, &spawner, &["tool-of-the-workspace"], Network::Off);
    executable(&grounds.work.join("bin/tool-of-the-workspace"), "#!/bin/sh\n");
    assert!(spawner.start_talking(&only, Placement::Outside, &grounds.work).is_err());
}

#[tokio::test]
async fn a_network_that_commands_have_not_is_only_for_what_does_not_come_from_the_workspace() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let spawner = spawner(&grounds, &sandbox);
        executable(&grounds.work.join("tool"), "#!/bin/sh\necho planted\n");
        let job = talking(&grounds, &spawner, &["bash", "./tool"], Network::On);
        assert!(spawner.start_talking(&job, Placement::Sandboxed, &grounds.work).is_err(), "{kind:?}");
        let job = talking(&grounds, &spawner, &["bash", "-c", "pwd; echo $PYTHONSAFEPATH"], Network::On);
        let said = printed(spawner.start_talking(&job, Placement::Sandboxed, &grounds.work).unwrap()).await;
        assert_eq!(said, "/\n1\n", "{kind:?}");
    }
}

#[test]
fn a_command_of_the_user_is_checked_whole_whatever_leads_into_the_workspace() {
    let dir = TempDir::new().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (work, safe) = (root.join("work"), root.join("safe"));
    executable(&work.join("tool"), "#!/bin/sh\n");
    executable(&safe.join("tool"), "#!/bin/sh\n");
    std::os::unix::fs::symlink(&work, root.join("alias")).unwrap();
    let check = |argv: &[&str], path: &str| {
        let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
        OutsideCommand::new(&argv, &work, [("PATH".into(), path.into())], std::slice::from_ref(&work))
    };
    let both = format!("{}:{}:/usr/bin:/bin", work.display(), safe.display());
    let found = check(&["tool"], &both).unwrap();
    assert_eq!(found.argv(), [safe.join("tool")]);
    assert_eq!(found.directory(), Path::new("/"));
    let alias = root.join("alias/tool").display().to_string();
    assert!(matches!(check(&["sh", &alias], &both), Err(OutsideError::Refused(word)) if word == alias));
    assert!(
        matches!(check(&["tool"], &work.display().to_string()), Err(OutsideError::Refused(word)) if word == "tool")
    );
    assert!(matches!(check(&["no-such"], &both), Err(OutsideError::NotInstalled(_))));
    assert!(check(&["sh", "-c", "echo ./nothing-here"], &both).is_ok());
}

#[tokio::test]
async fn the_sandbox_is_set_up_by_the_program_that_was_opened_whatever_becomes_of_its_file() {
    for kind in KINDS {
        let grounds = Grounds::new();
        if grounds.sandbox(kind).await.is_none() {
            continue;
        }
        let own = grounds.outside.join("steersman-copy");
        copy_program(&own);
        let around = Surroundings { program: own.as_path().into(), ..grounds.surroundings() };
        let sandbox = Sandbox::detect(kind, &around).await.unwrap();
        let spawner =
            Spawner::new(around.program.clone(), sandbox, steersman_tools::workspace::ChildEnvironment::default());
        fs::remove_file(&own).unwrap();
        executable(&own, "#!/bin/sh\necho planted\n");
        let mut running = spawner.start(&grounds.shell("echo works; ls /proc/self/fd")).unwrap();
        let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
        while let Ok(read @ 1..) = running.read_output(&mut buffer).await {
            all.extend_from_slice(&buffer[..read]);
        }
        // No descriptor of the program is left to the job; the fourth is the listing's.
        assert_eq!(String::from_utf8_lossy(&all), "works\n0\n1\n2\n3\n", "{kind:?}");
        fs::remove_file(&own).unwrap();
    }
}
