//! Stories of sessions of other programs: what is read, what stays empty, and what can be done with them here.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use steersman_base::event::{Event, Usage};
use steersman_base::message::Message;
use steersman_session::import::{Imported, import_file};
use steersman_session::journal::{Record, restore};
use tempfile::TempDir;

use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};

const ROLLOUT: &str = include_str!("foreign/rollout.jsonl");
const OLD_ROLLOUT: &str = include_str!("foreign/rollout-old.jsonl");
const PROJECT: &str = include_str!("foreign/project.jsonl");
const AGENT: &str = include_str!("foreign/agent-ab12.jsonl");

fn imported(path: &Path, text: &str) -> Imported {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    import_file(path).unwrap().unwrap()
}

fn rollout(text: &str) -> Imported {
    let directory = TempDir::new().unwrap();
    imported(&directory.path().join("rollout-2026-09-03.jsonl"), text)
}

fn events(imported: &Imported) -> Vec<(&str, &Event)> {
    let mut events = Vec::new();
    for record in &imported.records {
        if let Record::Event(envelope) = record {
            events.push((envelope.agent.as_str(), &envelope.event));
        }
    }
    events
}

/// What was said and done, in a word each.
fn told(imported: &Imported) -> Vec<String> {
    let word = |(agent, event): (&str, &Event)| {
        let words = match event {
            Event::TurnStarted { turn } => format!("turn {turn}"),
            Event::TurnEnded { outcome, .. } => format!("ended {outcome:?}"),
            Event::UserTurn { content, mid_loop, .. } => format!("user {content:?} {mid_loop}"),
            Event::RoundStarted { round, .. } => format!("round {round}"),
            Event::Thinking { text } => format!("thinking {text:?}"),
            Event::Assistant { text, .. } => format!("says {text:?}"),
            Event::ToolCall { id, name, arguments } => format!("calls {id} {name} {arguments}"),
            Event::ToolResult { id, content, is_error, elapsed_ms } => {
                format!("result {id} {content:?} {is_error} {elapsed_ms}")
            }
            Event::AgentSpawned { child, persona, task, call, .. } => {
                format!("spawns {child}, {persona}: {task:?} {call:?}")
            }
            Event::AgentFinished { child, .. } => format!("finished {child}"),
            Event::Notice { text } => format!("notice {text:?}"),
            Event::Compacted { summary, .. } => format!("compacted {summary:?}"),
            _ => return None,
        };
        Some(if agent.is_empty() { words } else { format!("{agent}: {words}") })
    };
    events(imported).into_iter().filter_map(word).collect()
}

fn usages(imported: &Imported) -> Vec<Usage> {
    let usage = |(_, event): (&str, &Event)| if let Event::Tokens(usage) = event { Some(usage.clone()) } else { None };
    events(imported).into_iter().filter_map(usage).collect()
}

#[test]
fn a_rollout_of_codex_is_told_as_it_happened_and_each_text_once() {
    let session = rollout(ROLLOUT);
    let header = &session.header;
    assert_eq!((header.directory.as_str(), header.branch.as_deref()), ("/work/orchard", Some("pears")));
    assert_eq!((header.program.as_str(), header.model.as_deref()), ("codex 0.94.0", Some("gpt-5.2-codex")));
    let origin = header.imported.as_ref().unwrap();
    assert_eq!((origin.session.as_str(), origin.skipped), ("01990e6c-1111-7222-8333-444455556666", 0));
    let patch = r"*** Begin Patch\n*** Add File: count.txt\n+2\n*** End Patch".replace(r"\n", "\n");
    let success = r#"{"output":"Success","metadata":{"exit_code":0,"duration_seconds":0.25}}"#;
    assert_eq!(
        told(&session),
        [
            "turn 1".to_owned(),
            "user \"Count the pear trees\\n[image]\" false".to_owned(),
            "round 1".to_owned(),
            "thinking \"**Looking at the list**\"".to_owned(),
            "says \"I look at the list first.\"".to_owned(),
            "calls call_1 exec_command {\"cmd\":\"cat trees.txt\"}".to_owned(),
            format!("calls call_2 apply_patch {patch}"),
            format!("result call_2 {success:?} false 250"),
            "result call_1 \"Conference\\nWilliams\" false 1500".to_owned(),
            "user \"and the apple trees\" true".to_owned(),
            "round 2".to_owned(),
            "says \"Two pear trees, and no apple tree.\"".to_owned(),
            "ended Completed".to_owned(),
            "turn 2".to_owned(),
            "user \"Plant one\" false".to_owned(),
            "round 1".to_owned(),
            "calls call_3 exec_command {\"cmd\":\"plant\"}".to_owned(),
            "ended Cancelled".to_owned(),
        ]
    );
    let model = Some("gpt-5.2-codex".to_owned());
    let counted =
        Usage { input: Some(600), output: Some(50), cached: Some(400), thinking: Some(20), model, ..Usage::default() };
    assert_eq!(usages(&session), [counted], "a count that is repeated is one, and nobody knows what it cost");
    let json = serde_json::to_string(&session.records).unwrap();
    assert!(!json.contains("gAAAA") && !json.contains("environment_context"), "{json}");
}

#[test]
fn the_conversation_of_an_import_can_be_sent_and_its_results_stand_behind_their_calls() {
    let messages = restore(rollout(ROLLOUT).records).messages;
    let told: Vec<String> = messages
        .iter()
        .map(|message| match message {
            Message::System { .. } => "system".to_owned(),
            Message::User { content, .. } => content.lines().next().unwrap().to_owned(),
            Message::Assistant(reply) => {
                let calls: Vec<&str> = reply.tool_calls.iter().map(|call| call.id.as_str()).collect();
                format!("{} {calls:?}", reply.content)
            }
            Message::Tool { call_id, .. } => call_id.to_string(),
        })
        .collect();
    assert_eq!(
        told,
        [
            "Count the pear trees",
            "I look at the list first. [\"call_1\", \"call_2\"]",
            "call_1",
            "call_2",
            "and the apple trees",
            "Two pear trees, and no apple tree. []",
            "Plant one",
            " [\"call_3\"]",
        ]
    );
}

#[test]
fn an_older_rollout_without_times_is_read_too() {
    let session = rollout(OLD_ROLLOUT);
    assert_eq!(
        told(&session),
        ["turn 1", "user \"What is two and two\" false", "round 1", "says \"Four.\"", "ended Completed"]
    );
    assert_eq!((session.header.program.as_str(), session.header.model), ("codex", None));
    assert_eq!(session.header.started, "2026-05-01T09:00:00Z".parse().unwrap());
}

#[test]
fn a_session_of_claude_code_is_told_with_its_sub_agent_and_the_way_that_was_taken_back() {
    let directory = TempDir::new().unwrap();
    let agents = directory.path().join("project/subagents");
    fs::create_dir_all(&agents).unwrap();
    fs::write(agents.join("agent-ab12.jsonl"), AGENT).unwrap();
    fs::write(agents.join("agent-other.jsonl"), AGENT.replace("\"project\"", "\"another\"")).unwrap();
    let session = imported(&directory.path().join("project.jsonl"), PROJECT);
    assert_eq!(session.header.program, "claude-code 2.1.12");
    assert_eq!(session.header.imported.as_ref().unwrap().skipped, 0);
    assert_eq!(
        told(&session),
        [
            "turn 1",
            "user \"How many hives are there\" false",
            "round 1",
            "thinking \"A list would help.\"",
            "says \"I ask somebody and look myself.\"",
            "calls toolu_1 Task {\"description\":\"Look\",\"subagent_type\":\"Explore\",\"prompt\":\"Count the hives\"}",
            "calls toolu_2 Bash {\"command\":\"ls hives\"}",
            "result toolu_2 \"ls: no such directory\" true 700",
            "spawns Explore 0, Explore: \"Count the hives\" Some(\"toolu_1\")",
            "Explore 0: turn 1",
            "Explore 0: user \"Count the hives\" false",
            "Explore 0: round 1",
            "Explore 0: calls toolu_x1 Grep {\"pattern\":\"hive\"}",
            "Explore 0: result toolu_x1 \"hive hive hive\" false 1000",
            "Explore 0: round 2",
            "Explore 0: says \"Three hives.\"",
            "Explore 0: ended Completed",
            "finished Explore 0",
            "result toolu_1 \"Three hives.\" false 6800",
            "round 2",
            "says \"There are three hives.\"",
            "ended Completed",
            "turn 2",
            "user \"Paint them blue\" false",
            "round 1",
            "calls toolu_3 Bash {\"command\":\"paint\"}",
            "ended Cancelled",
            "notice \"The conversation went back to an earlier message\"",
            "turn 3",
            "user \"Paint them green instead\" false",
            "round 1",
            "says \"Green they are.\"",
            "ended Completed",
        ]
    );
    let first = usages(&session).into_iter().find(|usage| usage.model.as_deref() == Some("claude-test-5")).unwrap();
    assert_eq!(
        (first.input, first.output, first.cached, first.cache_creation),
        (Some(3), Some(90), Some(2000), Some(100))
    );
    let resumed = restore(session.records);
    let texts: Vec<_> = resumed.messages.iter().filter(|message| matches!(message, Message::User { .. })).collect();
    assert_eq!(texts, [&Message::user("How many hives are there"), &Message::user("Paint them green instead")]);
}

#[test]
fn hostile_lines_are_skipped_and_counted_and_the_rest_is_read() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let huge = format!(
        "{{\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"x\":\"{}\"}}}}",
        "x".repeat(65 << 20)
    );
    let hostile = [
        "{not json",
        "null",
        "[1, 2]",
        "\"text\"",
        r#"{"timestamp":"2026-09-03T10:00:04Z","type":"brand_new","payload":{}}"#,
        r#"{"timestamp":"no time","type":"response_item","payload":{"type":"teleport"}}"#,
        r#"{"timestamp":"2026-09-03T10:00:04Z","type":"response_item","payload":{"type":"function_call_output","call_id":"nobody","output":"lost"}}"#,
        "\u{0}\u{0}",
        deep.as_str(),
        huge.as_str(),
    ];
    let mut lines: Vec<&str> = ROLLOUT.lines().collect();
    lines.splice(9..9, hostile);
    let session = rollout(&lines.join("\n"));
    assert_eq!(session.header.imported.as_ref().unwrap().skipped, 10);
    assert_eq!(told(&session), told(&rollout(ROLLOUT)));
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("project.jsonl");
    let hostile = ["{\"sessionId\":\"project\",\"type\":\"later\"}", "{", "{\"type\":\"user\",\"message\":7}"];
    let lines: Vec<&str> = PROJECT.lines().chain(hostile).collect();
    let session = imported(&path, &lines.join("\n"));
    assert_eq!(session.header.imported.as_ref().unwrap().skipped, 3);
    let ends = told(&session).iter().filter(|words| words.starts_with("ended")).count();
    assert_eq!(ends, 3);
    // Cut anywhere, it is still read, and never more than one line is lost.
    for end in (ROLLOUT.len() - 3_000)..ROLLOUT.len() {
        let cut = ROLLOUT.get(..end).unwrap();
        let skipped = rollout(cut).header.imported.unwrap().skipped;
        assert!(skipped <= 1, "{skipped} at {end}");
    }
}

/// A home in which both programs were used.
fn home() -> TempDir {
    let home = TempDir::new().unwrap();
    let write = |path: &str, text: &str| {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(".codex/sessions/2026/09/03/rollout-2026-09-03T10-00-00-01990e6c.jsonl", ROLLOUT);
    write(".codex/sessions/2026/05/01/rollout-2026-05-01T09-00-00-01980000.jsonl", &format!("{OLD_ROLLOUT}{{\n"));
    write(".claude/projects/-work-bees/project.jsonl", PROJECT);
    write(".claude/projects/-work-bees/agent-ab12.jsonl", AGENT);
    write(".claude/projects/-work-bees/empty.jsonl", "{\"type\":\"summary\",\"summary\":\"Nothing\"}\n");
    home
}

fn run(home: TempDir, args: &[&str]) -> (i32, String, String, TempDir) {
    let (output, home) = Program::within(home).args(args.iter().copied()).output_with_home();
    (exit_code(&output), stdout(&output), stderr(&output), home)
}

fn sessions(home: TempDir) -> (Vec<Value>, TempDir) {
    let (_, text, _, home) = run(home, &["sessions", "--json"]);
    (serde_json::from_str(&text).unwrap(), home)
}

#[test]
fn what_was_imported_is_listed_searched_replayed_exported_and_read_once() {
    let (code, text, err, home) = run(home(), &["import"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(text.ends_with("\n3 sessions imported, 1 file without a session\n"), "{text}");
    assert!(text.contains("  codex 0.94.0  ") && text.contains("01980000.jsonl, 1 line skipped\n"), "{text}");
    let (list, home) = sessions(home);
    let told: Vec<_> = list
        .iter()
        .map(|row| (row["title"].as_str().unwrap(), row["directory"].as_str().unwrap(), row["state"].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ("Count the pear trees\n[image]", "/work/orchard", "cancelled"),
            ("How many hives are there", "/work/bees", "answered"),
            ("What is two and two", "", "answered"),
        ]
    );
    assert_eq!((&list[0]["imported"]["program"], &list[1]["agents"]), (&"codex 0.94.0".into(), &1.into()));
    assert_eq!(list[2]["damage"], "the journal is not whole: 1 line of the imported file skipped");
    assert_eq!(list[0]["last"], "2026-09-03T10:01:02Z", "the import is no part of it");
    let (bees, id) = (list[1]["id"].as_str().unwrap(), list[0]["id"].as_str().unwrap());
    let (code, text, _, home) = run(home, &["search", "apple", "trees"]);
    assert!(code == 0 && text.contains(id) && text.contains("and the apple trees"), "{text}");
    let (_, text, _, home) = run(home, &["replay", bees, "--print"]);
    assert!(!text.contains("not seen"), "{text}");
    assert!(text.contains("Green they are.") && text.contains("Explore 0") && text.contains("claude-test-5"), "{text}");
    for format in ["md", "html", "json", "csv", "cast", "atif", "otlp"] {
        let (code, text, err, back) = run(home_of(&home), &["export", bees, "--format", format]);
        assert!(code == 0 && !text.is_empty(), "{format}: {err}");
        assert!(matches!(format, "csv" | "otlp" | "cast") || text.contains("Green they are."), "{format}: {text}");
        drop(back);
    }
    let (_, text, _, home) = run(home, &["sessions"]);
    assert!(text.contains("imported from codex 0.94.0"), "{text}");
    let (_, text, _, home) = run(home, &["import"]);
    assert_eq!(text, "0 sessions imported, 3 sessions already there, 1 file without a session\n");
    // The session went on there: its journal is written anew.
    let path = home.path().join(".claude/projects/-work-bees/project.jsonl");
    let more =
        PROJECT.lines().last().unwrap().replace("Green they are.", "And blue they are.").replace("\"a7\"", "\"a8\"");
    fs::write(&path, format!("{PROJECT}{more}\n")).unwrap();
    let (_, text, _, home) = run(home, &["import", path.to_str().unwrap()]);
    assert!(text.ends_with("1 session imported\n"), "{text}");
    let (list, home) = sessions(home);
    assert_eq!((list.len(), list[1]["id"].as_str().unwrap().len()), (3, 36));
    let (_, text, _, home) = run(home, &["search", "blue", "they", "are"]);
    assert!(text.contains("And blue they are."), "{text}");
    let left: Vec<PathBuf> = fs::read_dir(home.path().join(".local/state/steersman/sessions"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_none_or(|extension| extension != "jsonl"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    let (code, _, err, _home) = run(home, &["import", "/nowhere/at/all"]);
    assert!(code == 1 && err.contains("/nowhere/at/all"), "{err}");
}

/// Lends a home to one more run.
fn home_of(home: &TempDir) -> TempDir {
    let copy = TempDir::new().unwrap();
    let sessions = home.path().join(".local/state/steersman/sessions");
    let to = copy.path().join(".local/state/steersman/sessions");
    fs::create_dir_all(&to).unwrap();
    for entry in fs::read_dir(sessions).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    copy
}

#[test]
fn an_import_is_only_read_and_a_branch_goes_on_with_its_conversation() {
    let (_, _, _, home) = run(home(), &["import"]);
    let (list, home) = sessions(home);
    let id = list[0]["id"].as_str().unwrap().to_owned();
    let before = fs::read(list[0]["file"].as_str().unwrap()).unwrap();
    let server = Server::start([Reply::text("Planted.")]);
    let url = server.url();
    let exec = |home: TempDir, args: &[&str]| {
        let program = Program::within(home).args(["exec", "--base-url", &url, "--model", "m"]);
        let (output, home) = program.args(args.iter().copied()).output_with_home();
        (exit_code(&output), stdout(&output), stderr(&output), home)
    };
    let (code, _, err, home) = exec(home, &["--resume", &id, "go on"]);
    assert!(
        code == 2 && err.contains("was imported from codex 0.94.0") && err.contains(&format!("--fork {id}")),
        "{err}"
    );
    let (code, out, err, home) = exec(home, &["--fork", &id, "now plant it"]);
    assert_eq!((code, out.trim()), (0, "Planted."), "{err}");
    let request = &server.chats()[0];
    assert_eq!(
        request.roles(),
        ["system", "user", "assistant", "tool", "tool", "user", "assistant", "user", "assistant", "tool", "user"]
    );
    assert_eq!(request.texts("user")[1], "and the apple trees");
    let (list, _home) = sessions(home);
    assert_eq!((list.len(), &list[0]["parent"], &list[0]["imported"]), (4, &id.as_str().into(), &Value::Null));
    assert_eq!(fs::read(list[1]["file"].as_str().unwrap()).unwrap(), before, "what was imported stays as it is");
    assert_eq!(list[0]["state"], "answered");
}
