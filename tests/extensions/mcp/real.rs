//! Seven public MCP servers of npm and `PyPI`: every tool of each is called once, by an agent.
//!
//! Not a part of a usual run: `tests/mcp_servers.sh DIRECTORY` installs the servers and names them in `MCP_SERVERS`.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use steersman_base::event::Event;
use steersman_base::protocol::{FieldKind, ServerState};
use steersman_core::approval::{Answer, ApprovalSubject, Approvals, Mode};
use steersman_core::control::StepLimit;
use steersman_core::provider::Played;
use steersman_core::tool::{ToolScope, Traits};
use steersman_extensions::mcp::ServerTools;
use steersman_extensions::mcp::definition::{ProcessDefinition, Reached, ServerDefinition};

use crate::support::doubles::Rig;
use crate::support::mcp::Yard;
use crate::support::processes::{alive, wait_until};
use crate::support::server::{Reply, Server};

const LONG: Duration = Duration::from_mins(5);

/// One call: the tool, its arguments, and what its result has.
type Call = (&'static str, Value, &'static str);

struct Real {
    yard: Yard,
    servers: PathBuf,
}

impl Real {
    fn new() -> Self {
        let servers = std::env::var_os("MCP_SERVERS").expect("MCP_SERVERS names the directory of tests/mcp_servers.sh");
        let yard = Yard::bare(Mode::AutoWithoutSandbox);
        answer_everything(&yard.approvals);
        Self { yard, servers: servers.into() }
    }

    /// Returns a server of npm.
    fn node(&self, name: &str, args: &[String]) -> ServerDefinition {
        definition(name, &self.servers.join(format!("node_modules/.bin/mcp-server-{name}")), args)
    }

    /// Returns a server of `PyPI`.
    fn python(&self, name: &str, args: &[String]) -> ServerDefinition {
        definition(name, &self.servers.join(format!("venv/bin/mcp-server-{name}")), args)
    }

    /// Calls every tool of a server once, in this order.
    async fn call_all(&self, definition: ServerDefinition, calls: &[Call]) {
        let name = definition.name.clone();
        let servers = self.yard.servers(vec![definition]);
        servers.main_instance(&name).unwrap().discover().await.unwrap();
        let offered: BTreeSet<String> = servers.status()[0].tools.iter().cloned().collect();
        let called: BTreeSet<String> = calls.iter().map(|(tool, ..)| format!("mcp__{name}__{tool}")).collect();
        assert_eq!(called, offered, "every tool of {name} is called once");

        let texts: Vec<[String; 3]> = (0..)
            .zip(calls)
            .map(|(at, (tool, arguments, _))| [format!("c{at}"), format!("mcp__{name}__{tool}"), arguments.to_string()])
            .collect();
        let round: Vec<(&str, &str, &str)> = texts.iter().map(|[id, tool, args]| (&**id, &**tool, &**args)).collect();
        let rig = Rig::new([Played::calls(&round), Played::text("done")]);
        let builder = rig.builder().approvals(Arc::clone(&self.yard.approvals)).context_window(1_000_000);
        let builder = builder.step_limit(StepLimit::new(100).unwrap());
        let tools = Arc::new(ServerTools::new(Arc::clone(&servers), ToolScope::Main));
        let mut agent = rig.try_build(builder, |c| c.add_extension(tools)).await.unwrap();
        agent.run_loop("go").await.unwrap();
        // Those that change nothing run beside each other, and end in any order.
        let result = |event| match event {
            Event::ToolResult { id, content, is_error, .. } => Some((id.to_string(), (content, is_error))),
            _ => None,
        };
        let results: HashMap<String, (String, bool)> = rig.events().into_iter().filter_map(result).collect();
        for ((tool, arguments, wanted), [id, ..]) in calls.iter().zip(&texts) {
            let (content, is_error) = &results[id];
            let start: String = content.chars().take(90).collect();
            println!("{name}/{tool}: {}", start.replace('\n', " ⏎ "));
            assert!(!is_error && content.contains(wanted), "{name}/{tool} {arguments}: {content}");
        }
        assert_eq!(servers.status()[0].state, ServerState::Used);
        agent.close();
        let mark = self.yard.path("").display().to_string();
        wait_until("the server is gone", LONG, || alive(&mark).is_empty()).await;
    }
}

/// Fills every form in, opens every address.
fn answer_everything(approvals: &Arc<Approvals>) {
    let desk = Arc::downgrade(approvals);
    approvals.watch(Arc::new(move || {
        let Some(desk) = desk.upgrade() else { return };
        for request in desk.open() {
            let answer = match &request.subject {
                ApprovalSubject::Form { fields, .. } => {
                    let filled = fields.iter().filter(|field| field.required).map(|field| {
                        let value = match &field.kind {
                            FieldKind::Text { .. } => json!("ann@example.org"),
                            FieldKind::Number { least, .. } => json!(least.unwrap_or(1.0)),
                            FieldKind::Boolean => json!(true),
                            FieldKind::Choice { values } => json!(values[0]),
                            FieldKind::Choices { values } => json!([values[0]]),
                        };
                        (field.name.clone(), value)
                    });
                    Answer::Filled(filled.collect())
                }
                _ => Answer::Once,
            };
            desk.try_answer(request.id, answer).unwrap();
        }
    }));
}

fn definition(name: &str, program: &Path, args: &[String]) -> ServerDefinition {
    let process = ProcessDefinition {
        command: program.display().to_string(),
        args: args.to_vec(),
        ..ProcessDefinition::default()
    };
    let usual = ServerDefinition::new(name, Reached::Process(process));
    // Else each call after the first result would be asked about.
    ServerDefinition { traits: Traits { egress: false, ..usual.traits }, ..usual }
}

#[tokio::test]
#[ignore = "needs MCP_SERVERS: tests/mcp_servers.sh"]
async fn everything() {
    let real = Real::new();
    let calls: &[Call] = &[
        ("echo", json!({"message": "hello"}), "Echo: hello"),
        ("get-annotated-message", json!({"messageType": "success", "includeImage": true}), "image"),
        ("get-env", json!({}), "PATH"),
        ("get-resource-links", json!({"count": 2}), "demo://"),
        ("get-resource-reference", json!({"resourceType": "Text", "resourceId": 1}), "demo://"),
        ("get-structured-content", json!({"location": "Chicago"}), "temperature"),
        ("get-sum", json!({"a": 2, "b": 3}), "5"),
        ("get-tiny-image", json!({}), "image/png"),
        (
            "gzip-file-as-resource",
            json!({"name": "a.gz", "data": "data:text/plain,hello", "outputType": "resource"}),
            "gz",
        ),
        ("toggle-simulated-logging", json!({}), "logging"),
        ("toggle-subscriber-updates", json!({}), "updates"),
        ("trigger-long-running-operation", json!({"duration": 1, "steps": 4}), "completed"),
        ("trigger-elicitation-request", json!({}), "ann@example.org"),
        ("trigger-url-elicitation", json!({"url": "https://example.org/x"}), "accept"),
    ];
    real.call_all(real.node("everything", &[]), calls).await;
}

#[tokio::test]
#[ignore = "needs MCP_SERVERS: tests/mcp_servers.sh"]
async fn filesystem() {
    let real = Real::new();
    let directory = real.yard.path("files");
    std::fs::create_dir(&directory).unwrap();
    let path = |name: &str| directory.join(name).display().to_string();
    let pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
    let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, pixel).unwrap();
    std::fs::write(path("pixel.png"), bytes).unwrap();
    let calls: &[Call] = &[
        ("write_file", json!({"path": path("a.txt"), "content": "one\ntwo\n"}), "a.txt"),
        ("read_file", json!({"path": path("a.txt")}), "two"),
        ("read_text_file", json!({"path": path("a.txt"), "head": 1}), "one"),
        ("read_media_file", json!({"path": path("pixel.png")}), "image/png"),
        ("read_multiple_files", json!({"paths": [path("a.txt")]}), "two"),
        ("edit_file", json!({"path": path("a.txt"), "edits": [{"oldText": "two", "newText": "three"}]}), "+three"),
        ("create_directory", json!({"path": path("sub")}), "sub"),
        ("list_directory", json!({"path": path("")}), "[DIR] sub"),
        ("list_directory_with_sizes", json!({"path": path("")}), "Total"),
        ("directory_tree", json!({"path": path("")}), "a.txt"),
        ("move_file", json!({"source": path("a.txt"), "destination": path("b.txt")}), "b.txt"),
        ("search_files", json!({"path": path(""), "pattern": "b.*"}), "b.txt"),
        ("get_file_info", json!({"path": path("b.txt")}), "size"),
        ("list_allowed_directories", json!({}), "files"),
    ];
    real.call_all(real.node("filesystem", &[path("")]), calls).await;
}

#[tokio::test]
#[ignore = "needs MCP_SERVERS: tests/mcp_servers.sh"]
async fn memory() {
    let real = Real::new();
    let mut server = real.node("memory", &[]);
    let Reached::Process(process) = &mut server.reached else { unreachable!("it is a process") };
    let file = real.yard.path("memory.jsonl").display().to_string();
    process.environment.push(("MEMORY_FILE_PATH".to_owned(), file.into()));
    let relation = json!({"relations": [{"from": "Ann", "to": "Bob", "relationType": "knows"}]});
    let entity = |name: &str| json!({"name": name, "entityType": "person", "observations": ["tall"]});
    let calls: &[Call] = &[
        ("create_entities", json!({"entities": [entity("Ann"), entity("Bob")]}), "Ann"),
        ("create_relations", relation.clone(), "knows"),
        ("add_observations", json!({"observations": [{"entityName": "Ann", "contents": ["kind"]}]}), "kind"),
        ("read_graph", json!({}), "knows"),
        ("search_nodes", json!({"query": "kind"}), "Ann"),
        ("open_nodes", json!({"names": ["Bob"]}), "Bob"),
        ("delete_observations", json!({"deletions": [{"entityName": "Ann", "observations": ["kind"]}]}), "deleted"),
        ("delete_relations", relation, "deleted"),
        ("delete_entities", json!({"entityNames": ["Ann"]}), "deleted"),
    ];
    real.call_all(server, calls).await;
}

#[tokio::test]
#[ignore = "needs MCP_SERVERS: tests/mcp_servers.sh"]
async fn sequential_thinking() {
    let real = Real::new();
    let thought = json!({"thought": "So.", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1});
    real.call_all(real.node("sequential-thinking", &[]), &[("sequentialthinking", thought, "thoughtNumber")]).await;
}

#[tokio::test]
#[ignore = "needs MCP_SERVERS: tests/mcp_servers.sh"]
async fn time() {
    let real = Real::new();
    let convert = json!({"source_timezone": "Europe/Vienna", "time": "12:00", "target_timezone": "UTC"});
    let calls: &[Call] =
        &[("get_current_time", json!({"timezone": "UTC"}), "datetime"), ("convert_time", convert, "time_difference")];
    real.call_all(real.python("time", &["--local-timezone=UTC".to_owned()]), calls).await;
}

#[tokio::test]
#[ignore = "needs MCP_SERVERS: tests/mcp_servers.sh"]
async fn git() {
    let real = Real::new();
    let repository = real.yard.path("repository");
    let git = |args: &[&str]| {
        let command = Command::new("git").arg("-C").arg(&repository).args(args).output().unwrap();
        assert!(command.status.success(), "{command:?}");
    };
    std::fs::create_dir(&repository).unwrap();
    git(&["init", "-q", "-b", "main"]);
    git(&["config", "user.name", "Ann"]);
    git(&["config", "user.email", "ann@example.org"]);
    std::fs::write(repository.join("a.txt"), "one\n").unwrap();
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    std::fs::write(repository.join("a.txt"), "two\n").unwrap();
    let with = |more: Value| {
        let mut arguments = more;
        arguments["repo_path"] = repository.display().to_string().into();
        arguments
    };
    let calls: &[Call] = &[
        ("git_status", with(json!({})), "a.txt"),
        ("git_diff_unstaged", with(json!({})), "+two"),
        ("git_reset", with(json!({})), "reset"),
        ("git_diff", with(json!({"target": "main"})), "+two"),
        ("git_add", with(json!({"files": ["a.txt"]})), "staged"),
        ("git_diff_staged", with(json!({})), "+two"),
        ("git_create_branch", with(json!({"branch_name": "next"})), "next"),
        ("git_checkout", with(json!({"branch_name": "next"})), "next"),
        ("git_branch", with(json!({"branch_type": "local"})), "next"),
        ("git_log", with(json!({"max_count": 1})), "first"),
        ("git_show", with(json!({"revision": "HEAD"})), "+one"),
        ("git_commit", with(json!({"message": "second"})), "committed"),
    ];
    real.call_all(real.python("git", &[]), calls).await;
}

#[tokio::test]
#[ignore = "needs MCP_SERVERS: tests/mcp_servers.sh"]
async fn fetch() {
    let real = Real::new();
    let page = Server::start([]);
    page.on("/page", Reply::body(200, "a page to read"));
    let url = format!("{}/page", page.origin());
    let args = ["--ignore-robots-txt", "--allow-private-ips"].map(str::to_owned);
    real.call_all(real.python("fetch", &args), &[("fetch", json!({"url": url, "raw": true}), "a page to read")]).await;
}
