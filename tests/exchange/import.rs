//! Tests of sessions of other programs: what is read, and what stays empty.

use std::fs;
use std::path::Path;

use steersman_base::event::{Event, Usage};
use steersman_base::message::Message;
use steersman_exchange::import::{Imported, import_file};
use steersman_session::journal::{Record, restore};
use tempfile::TempDir;

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
