//! The table of the wire form: every event with the exact line that is written for it.

use serde_json::json;
use steersman_base::details::{Details, FileDiff, Undo, UndoneFile};
use steersman_base::event::{
    Decided, Delivery, Event, HookEvent, HookOutcome, HookRun, JobEnd, JobEnding, JobOwner, JobStart, Outcome, Pending,
    SCHEMA, Usage,
};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::message::{Arguments, AssistantMessage, Message};
use steersman_base::plan::{Plan, PlanAuthor, PlanChanged, PlanNews, PlanNotified, PlanStep, StepState};
use steersman_base::steering::{Rule, RuleNews, RuleScope, TextKind};

use super::{at, call, read_call};

fn step(state: StepState) -> PlanStep {
    PlanStep { id: "s1".into(), text: "read".into(), state }
}

/// Every event with its exact wire form; where fields can be null, both ways.
pub fn golden() -> Vec<(Event, &'static str)> {
    [conversation(), tools_and_agents(), session()].into_iter().flatten().collect()
}

fn conversation() -> Vec<(Event, &'static str)> {
    vec![
        (Event::TurnStarted { turn: 1 }, r#"{"type":"turn_started","turn":1}"#),
        (Event::RoundStarted { turn: 1, round: 2 }, r#"{"type":"round_started","turn":1,"round":2}"#),
        (Event::RoundEnded { turn: 1, round: 2 }, r#"{"type":"round_ended","turn":1,"round":2}"#),
        (
            Event::UserTurn {
                content: "look\nthere".into(),
                mid_loop: true,
                injection: Some(MessageId::new("m1")),
                step: 0,
                after: None,
                sender: None,
                kind: TextKind::Add,
                met: None,
                images: Vec::new(),
            },
            r#"{"type":"user_turn","content":"look\nthere","mid_loop":true,"injection":"m1","step":0,"after":null,"kind":"add"}"#,
        ),
        (
            Event::UserTurn {
                content: "hello".into(),
                mid_loop: false,
                injection: None,
                step: 0,
                after: None,
                sender: None,
                kind: TextKind::Add,
                met: None,
                images: Vec::new(),
            },
            r#"{"type":"user_turn","content":"hello","mid_loop":false,"injection":null,"step":0,"after":null,"kind":"add"}"#,
        ),
        (Event::ThinkingDelta { text: "hm".into() }, r#"{"type":"thinking_delta","text":"hm"}"#),
        (Event::AssistantDelta { text: "Yes".into() }, r#"{"type":"assistant_delta","text":"Yes"}"#),
        (Event::Thinking { text: "hm, yes".into() }, r#"{"type":"thinking","text":"hm, yes"}"#),
        (
            Event::Assistant { text: "Yes \u{1b}\u{2028}é".into(), interrupted: true },
            "{\"type\":\"assistant\",\"text\":\"Yes \\u001b\u{2028}é\",\"interrupted\":true}",
        ),
        (
            Event::Tokens(Usage {
                input: Some(10),
                output: Some(2),
                cached: Some(3),
                cache_creation: Some(4),
                thinking: Some(1),
                model: Some("m".into()),
                cost_nanos: Some(7),
            }),
            r#"{"type":"tokens","input":10,"output":2,"cached":3,"cache_creation":4,"thinking":1,"model":"m","cost_nanos":7}"#,
        ),
        (
            Event::Tokens(Usage::default()),
            r#"{"type":"tokens","input":null,"output":null,"cached":null,"cache_creation":null,"thinking":null,"model":null,"cost_nanos":null}"#,
        ),
        (
            Event::FallbackNotice { reason: "out of steps".into() },
            r#"{"type":"fallback_notice","reason":"out of steps"}"#,
        ),
        (
            Event::Retrying { attempt: 2, after_ms: 500, reason: "503".into() },
            r#"{"type":"retrying","attempt":2,"after_ms":500,"reason":"503"}"#,
        ),
        (Event::Cancelled {}, r#"{"type":"cancelled"}"#),
        (
            Event::TurnEnded { turn: 1, outcome: Outcome::Failed, message: Some("refused".into()) },
            r#"{"type":"turn_ended","turn":1,"outcome":"failed","message":"refused"}"#,
        ),
        (
            Event::TurnEnded { turn: 1, outcome: Outcome::Completed, message: None },
            r#"{"type":"turn_ended","turn":1,"outcome":"completed","message":null}"#,
        ),
    ]
}

fn tools_and_agents() -> Vec<(Event, &'static str)> {
    let (id, name) = (call(), "read".to_owned());
    vec![
        (
            Event::ToolCall { id: id.clone(), name: name.clone(), arguments: read_call().arguments },
            r#"{"type":"tool_call","id":"call_1","name":"read","arguments":{"path":"README.md"}}"#,
        ),
        (
            Event::ToolCall { id: id.clone(), name, arguments: Arguments::parse(r#"{"path":"#) },
            r#"{"type":"tool_call","id":"call_1","name":"read","arguments":"{\"path\":"}"#,
        ),
        (
            Event::ToolProgress { id: id.clone(), text: "half".into() },
            r#"{"type":"tool_progress","id":"call_1","text":"half"}"#,
        ),
        (
            Event::ToolResult { id: id.clone(), content: "Error: no such file".into(), is_error: true, elapsed_ms: 7 },
            r#"{"type":"tool_result","id":"call_1","content":"Error: no such file","is_error":true,"elapsed_ms":7}"#,
        ),
        (
            Event::AgentSpawned {
                child: AgentId::new("researcher 0"),
                persona: "researcher".into(),
                task: "find it".into(),
                call: Some(id),
                model: Some("m".into()),
                max_steps: Some(20),
                tools: vec!["fetch".into(), "web_search".into()],
            },
            r#"{"type":"agent_spawned","child":"researcher 0","persona":"researcher","task":"find it","call":"call_1","model":"m","max_steps":20,"tools":["fetch","web_search"]}"#,
        ),
        (
            Event::AgentSpawned {
                child: AgentId::new("synthesizer"),
                persona: "synthesizer".into(),
                task: "why?".into(),
                call: None,
                model: None,
                max_steps: None,
                tools: vec![],
            },
            r#"{"type":"agent_spawned","child":"synthesizer","persona":"synthesizer","task":"why?","call":null,"model":null,"max_steps":null,"tools":[]}"#,
        ),
        (
            Event::AgentFinished { child: AgentId::new("researcher 0"), outcome: Outcome::Synthesized, message: None },
            r#"{"type":"agent_finished","child":"researcher 0","outcome":"synthesized","message":null}"#,
        ),
        (
            Event::AgentFinished {
                child: AgentId::new("researcher 0"),
                outcome: Outcome::Cancelled,
                message: Some("x".into()),
            },
            r#"{"type":"agent_finished","child":"researcher 0","outcome":"cancelled","message":"x"}"#,
        ),
    ]
}

#[allow(clippy::too_many_lines)] // A table.
fn session() -> Vec<(Event, &'static str)> {
    vec![
        (
            Event::SessionStarted {
                schema: SCHEMA,
                program: "steersman 0.1.0".into(),
                cwd: "/home/me/project".into(),
                provider: "openai".into(),
                model: None,
                max_steps: Some(60),
                tools: vec!["read".into()],
            },
            r#"{"type":"session_started","schema":2,"program":"steersman 0.1.0","cwd":"/home/me/project","provider":"openai","model":null,"max_steps":60,"tools":["read"]}"#,
        ),
        (Event::ContextCap { tokens: Some(32_768) }, r#"{"type":"context_cap","tokens":32768}"#),
        (Event::ContextCap { tokens: None }, r#"{"type":"context_cap","tokens":null}"#),
        (
            Event::Pending {
                entries: vec![Pending::new("m2".into(), ("later", Delivery::FollowUp), at("2026-11-21T09:30:00Z"))],
            },
            r#"{"type":"pending","entries":[{"id":"m2","text":"later","delivery":"follow_up","kind":"add","held":false,"stale":false,"at":"2026-11-21T09:30:00.000000Z"}]}"#,
        ),
        (Event::Pending { entries: vec![] }, r#"{"type":"pending","entries":[]}"#),
        (
            Event::Rules {
                rules: vec![Rule {
                    id: "m3".into(),
                    agent: AgentId::main(),
                    scope: RuleScope::Tree,
                    text: "no new files".into(),
                    version: 1,
                }],
            },
            r#"{"type":"rules","rules":[{"id":"m3","agent":"","scope":"tree","text":"no new files","version":1}]}"#,
        ),
        (
            Event::RuleNotified { id: "m3".into(), news: RuleNews::Holds, text: Some("no new files".into()) },
            r#"{"type":"rule_told","id":"m3","news":"holds","text":"no new files"}"#,
        ),
        (
            Event::PlanChanged(PlanChanged {
                version: 2,
                by: PlanAuthor::User,
                sender: None,
                summary: "1 step struck out".into(),
                plan: Plan { steps: vec![step(StepState::StruckOut)], made: 1 },
                known: Some(Plan { steps: vec![step(StepState::Pending)], made: 1 }),
            }),
            r#"{"type":"plan_changed","version":2,"by":"user","summary":"1 step struck out","plan":{"steps":[{"id":"s1","text":"read","state":"struck_out"}],"made":1},"known":{"steps":[{"id":"s1","text":"read","state":"pending"}],"made":1}}"#,
        ),
        (
            Event::PlanNotified(PlanNotified {
                news: PlanNews::Changed,
                version: 2,
                summary: "1 step struck out".into(),
            }),
            r#"{"type":"plan_told","news":"changed","version":2,"summary":"1 step struck out"}"#,
        ),
        (
            Event::ToolDetails {
                id: call(),
                details: Details::Diff(FileDiff {
                    path: "a.rs".into(),
                    created: false,
                    added: 1,
                    removed: 0,
                    hunks: "@@ -1 +1,2 @@\n a\n+b\n".into(),
                }),
            },
            r#"{"type":"tool_details","id":"call_1","details":{"kind":"diff","path":"a.rs","created":false,"added":1,"removed":0,"hunks":"@@ -1 +1,2 @@\n a\n+b\n"}}"#,
        ),
        (
            Event::Guards { mode: "ask".into(), sandbox: None, context_files: vec!["AGENTS.md".into()] },
            r#"{"type":"guards","mode":"ask","sandbox":null,"context_files":["AGENTS.md"]}"#,
        ),
        (
            Event::Question {
                id: "q1".into(),
                question: "overwrite a.rs?".into(),
                detail: None,
                call: None,
                offer: None,
                rule: None,
            },
            r#"{"type":"question","id":"q1","question":"overwrite a.rs?","detail":null,"call":null,"offer":null,"rule":null}"#,
        ),
        (Event::StepLimit { max: 600 }, r#"{"type":"step_limit","max":600}"#),
        (
            Event::Answer { id: "q1".into(), answer: "no".into(), words: Some("use b.rs".into()) },
            r#"{"type":"answer","id":"q1","answer":"no","words":"use b.rs"}"#,
        ),
        (
            Event::ModelSwitched { from: None, to: Some("m".into()), provider: None },
            r#"{"type":"model_switched","from":null,"to":"m","provider":null}"#,
        ),
        (Event::Compacting { messages: 46 }, r#"{"type":"compacting","messages":46}"#),
        (
            Event::Compacted { before: Some(30_000), after: None, messages: 0, summary: String::new() },
            r#"{"type":"compacted","before":30000,"after":null,"messages":0,"summary":""}"#,
        ),
        (
            Event::ContextSize { tokens: 900, estimated: true },
            r#"{"type":"context_size","tokens":900,"estimated":true}"#,
        ),
        (Event::Notice { text: "The reply was cut.".into() }, r#"{"type":"notice","text":"The reply was cut."}"#),
        (Event::TaskClosed {}, r#"{"type":"task_closed"}"#),
        (Event::Reset {}, r#"{"type":"reset"}"#),
        (
            Event::History { message: Message::tool(&read_call(), "text") },
            r#"{"type":"history","message":{"role":"tool","call_id":"call_1","name":"read","content":"text"}}"#,
        ),
        (
            Event::History {
                message: Message::Assistant(AssistantMessage {
                    tool_calls: vec![read_call()],
                    ..AssistantMessage::default()
                }),
            },
            r#"{"type":"history","message":{"role":"assistant","content":"","thinking":"","tool_calls":[{"id":"call_1","name":"read","arguments":{"path":"README.md"}}],"interrupted":false}}"#,
        ),
        (
            Event::Seen { injections: vec![MessageId::new("m2")], step: 3 },
            r#"{"type":"seen","injections":["m2"],"step":3}"#,
        ),
        (Event::Returned { entries: vec![] }, r#"{"type":"returned","entries":[]}"#),
        (
            Event::Paused { call: Some(read_call()) },
            r#"{"type":"parked","call":{"id":"call_1","name":"read","arguments":{"path":"README.md"}}}"#,
        ),
        (Event::Resumed { decision: Decided::Skipped }, r#"{"type":"unparked","decision":"skipped"}"#),
        (
            Event::SessionEnded { code: 1, message: Some("no".into()) },
            r#"{"type":"session_ended","code":1,"message":"no"}"#,
        ),
        (
            Event::ChangesUndone {
                turn: Some(2),
                files: vec![UndoneFile { path: "a.rs".into(), undo: Undo::Restored { bytes: 3 } }],
            },
            r#"{"type":"changes_undone","turn":2,"files":[{"path":"a.rs","undo":{"restored":{"bytes":3}}}]}"#,
        ),
        (
            Event::HookRan(HookRun {
                hook: HookEvent::PreToolUse,
                command: "guard.sh".into(),
                call: Some("call_1".into()),
                outcome: HookOutcome::Blocked,
                words: Some("no".into()),
                elapsed_ms: 12,
            }),
            r#"{"type":"hook_ran","hook":"PreToolUse","command":"guard.sh","call":"call_1","outcome":"blocked","words":"no","elapsed_ms":12}"#,
        ),
        (
            Event::JobStarted(JobStart {
                elapsed_ms: None,
                id: "j1".into(),
                command: "cargo watch".into(),
                owner: JobOwner::Agent,
                call: Some("call_1".into()),
            }),
            r#"{"type":"job_started","id":"j1","command":"cargo watch","owner":"agent","call":"call_1"}"#,
        ),
        (
            Event::JobOutput { id: "j1".into(), text: "ready\n".into() },
            r#"{"type":"job_output","id":"j1","text":"ready\n"}"#,
        ),
        (
            Event::JobEnded(Box::new(JobEnd {
                output: "ready\n".into(),
                elapsed_ms: 1_200,
                ending: JobEnding::Stopped,
                ..JobEnd::interrupted("j1".into(), "no")
            })),
            r#"{"type":"job_ended","id":"j1","ending":"stopped","message":"no","end":{"code":null,"signal":null,"timed_out":false,"bytes":0,"lines":null,"lines_left_out":0,"killed":0,"saved":null},"output":"ready\n","elapsed_ms":1200}"#,
        ),
        (
            Event::Extension { name: "tasks".into(), payload: json!({"open": 2}) },
            r#"{"type":"extension","name":"tasks","payload":{"open":2}}"#,
        ),
    ]
}
