//! What fills the context window: `/context`, results that are taken out of it or pinned.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use steersman_agent::{Agent, BoundaryNote, CompactionRequest, FnExtension};
use steersman_base::event::Event;
use steersman_base::id::AgentId;
use steersman_base::image::Image;
use steersman_base::message::{Arguments, AssistantMessage, Message, ToolCall, UserAbout};
use steersman_base::protocol::{
    ContextItem, ContextKind, ContextOperation, ContextPart, ContextReport, ContextRequest, Reply, Request, Update,
};
use steersman_core::control::ContextBook;
use steersman_core::provider::Played;
use steersman_core::tool::{FnTool, Parameters, Tool};
use steersman_tui::context::ContextPane;
use steersman_tui::msg::{Effect, Msg};

use crate::support::doubles::{PROMPT, RawEcho, Rig, lines, tool};
use crate::support::stage::Stage;

fn part(kind: ContextKind, name: &str, tokens: u64, call: Option<&str>) -> ContextPart {
    ContextPart {
        kind,
        name: name.to_owned(),
        tokens,
        item: call.map(|call| ContextItem::Call(call.into())),
        request: None,
    }
}

fn result(call: &str) -> ContextItem {
    ContextItem::Call(call.into())
}

fn report(agent: &str) -> ContextReport {
    ContextReport {
        agent: AgentId::new(agent),
        window: Some(200_000),
        tokens: 41_000,
        estimated: true,
        parts: vec![
            part(ContextKind::Result, "bash cargo test", 20_000, Some("c2")),
            part(ContextKind::File, "src/main.rs", 9_000, Some("c1")),
            part(ContextKind::Tools, "of the server memory", 6_000, None),
            part(ContextKind::Instructions, "AGENTS.md", 3_000, None),
            part(ContextKind::Prompt, "", 2_000, None),
            part(ContextKind::Texts, "", 700, None),
            part(ContextKind::Thoughts, "", 300, None),
        ],
    }
}

fn told(stage: &mut Stage, reports: Vec<ContextReport>) {
    stage.tell(Msg::Update(Update::Reply(Reply::Context { reports, refused: None })));
}

#[test]
fn the_largest_part_stands_first_and_the_sums_above() {
    for (width, height) in [(120, 36), (80, 24), (40, 12), (20, 6)] {
        let mut stage = Stage::new(width, height);
        stage.keys("/context<enter>");
        assert_eq!(
            stage.effects.last(),
            Some(&Effect::Request(Request::Context { operation: ContextOperation::List }))
        );
        told(&mut stage, vec![report("")]);
        insta::assert_snapshot!(format!("context_{width}x{height}"), stage.picture());
    }
}

#[test]
fn what_is_left_out_can_be_read_in_full() {
    let mut stage = Stage::new(80, 24);
    stage.keys("/context<enter>");
    let mut long = report("");
    let entries: Vec<String> = (0..12).map(|number| format!("Tool{number} (there is no such tool here)")).collect();
    long.parts = vec![
        part(ContextKind::Prompt, "", 2_000, None),
        part(ContextKind::LeftOut, &format!("settings.json: {}", entries.join(", ")), 0, None),
    ];
    told(&mut stage, vec![long]);
    assert!(!stage.screen().contains("Tool11"), "{}", stage.screen());
    stage.keys("<down>");
    let screen = stage.screen();
    assert!(screen.contains("Tool3") && screen.contains("Tool11 (there is no such tool"), "{screen}");
}

#[test]
fn a_result_is_taken_out_or_pinned_and_the_same_key_takes_that_back() {
    let mut stage = Stage::new(100, 30);
    stage.handle.context().publish(report(""));
    stage.keys("/context<enter>");
    let request = |call: &str, request| {
        let operation =
            ContextOperation::Request { agent: AgentId::main(), item: ContextItem::Call(call.into()), request };
        Effect::Request(Request::Context { operation })
    };
    stage.keys("d");
    assert_eq!(stage.effects.last(), Some(&request("c2", Some(ContextRequest::Drop))));
    assert!(stage.screen().contains("the server then reads what is behind it anew, once"), "{}", stage.screen());
    assert!(stage.screen().contains("to be taken out"), "{}", stage.screen());
    stage.keys("d");
    assert_eq!(stage.effects.last(), Some(&request("c2", None)));
    stage.keys("<down>p");
    assert_eq!(stage.effects.last(), Some(&request("c1", Some(ContextRequest::Pin))));
    assert_eq!(stage.handle.context().pins(&AgentId::main()), ["c1".into()]);
    let before = stage.effects.len();
    stage.keys("<down>d");
    assert!(stage.screen().contains("only images, results and files that the agent read can be"), "{}", stage.screen());
    assert_eq!(stage.effects.len(), before, "nothing is asked for");
}

#[test]
fn each_agent_has_its_own_window() {
    let mut stage = Stage::new(100, 30);
    stage.keys("/context<enter>");
    told(&mut stage, vec![report(""), report("worker 0")]);
    assert!(stage.screen().contains("Context of main"), "{}", stage.screen());
    assert!(stage.keys("a").screen().contains("Context of worker 0"), "{}", stage.screen());
    assert!(stage.keys("a").screen().contains("Context of main"), "{}", stage.screen());
    stage.keys("<esc>");
    assert!(!stage.app.focus.overlays.is_on::<ContextPane>());
}

#[test]
fn hostile_names_are_shown_and_not_obeyed() {
    let mut stage = Stage::new(100, 30);
    stage.keys("/context<enter>");
    let mut hostile = report("");
    hostile.parts[0].name = "a\u{1b}[2Jb\u{202e}c\nd".to_owned();
    told(&mut stage, vec![hostile]);
    assert!(!stage.screen().contains(['\u{1b}', '\u{202e}']), "{}", stage.screen());
}

#[test]
fn in_lines_every_part_is_told() {
    let mut stage = Stage::in_lines();
    stage.line("/context");
    told(&mut stage, vec![report("")]);
    let written = stage.written();
    assert!(written.contains("context of main: ~41.0k of 200k tokens, 20%"), "{written}");
    assert!(written.contains("results: bash cargo test"), "{written}");
}

// --- the agent

fn part_of<'a>(report: &'a ContextReport, kind: ContextKind, name: &str) -> Option<&'a ContextPart> {
    report.parts.iter().find(|part| part.kind == kind && part.name.contains(name))
}

async fn talked(rig: &Rig, book: &Arc<ContextBook>, request: &Arc<CompactionRequest>) -> Agent {
    let builder = rig
        .builder()
        .context_book(Arc::clone(book))
        .compaction_request(Arc::clone(request))
        .instructions([("AGENTS.md".to_owned(), &PROMPT[..12])]);
    let large = "line of a long result\n".repeat(400);
    let parameters = Parameters::build(|p| {
        p.required_string("path", "The file.");
    });
    let read = FnTool::new("read", "Reads.", parameters, |_, _| async { Ok("a small file".to_owned()) }.boxed());
    let read: Arc<dyn Tool> = Arc::new(read);
    let mut agent = rig.build(builder, [read, tool("look", &large)]).await;
    agent.internal_add_tool(Arc::new(RawEcho("mcp__memory__create"))).unwrap();
    agent.run_loop("Look at it.").await.unwrap();
    agent
}

fn script() -> Vec<Played> {
    vec![Played::calls(&[("c1", "read", "{\"path\":\"src/a.rs\"}"), ("c2", "look", "{}")]), Played::text("Seen.")]
}

#[tokio::test]
async fn an_agent_says_what_fills_its_window_the_largest_first() {
    let rig = Rig::new(script());
    let book = Arc::new(ContextBook::default());
    let agent = talked(&rig, &book, &Arc::default()).await;
    let reports = book.reports();
    let [report] = reports.as_slice() else { panic!("{reports:?}") };
    assert!(report.parts.windows(2).all(|pair| pair[0].tokens >= pair[1].tokens), "{report:?}");
    assert_eq!(report.parts[0].item, Some(result("c2")));
    for (kind, name) in [
        (ContextKind::File, "src/a.rs"),
        (ContextKind::Result, "look"),
        (ContextKind::Instructions, "AGENTS.md"),
        (ContextKind::Prompt, ""),
        (ContextKind::Texts, ""),
        (ContextKind::Replies, ""),
        (ContextKind::Tools, "of the server memory"),
    ] {
        assert!(part_of(report, kind, name).is_some(), "{kind} {name} is missing in {report:?}");
    }
    let sum: u64 = report.parts.iter().map(|part| part.tokens).sum();
    assert!(sum <= report.tokens && sum * 10 >= report.tokens * 9, "{sum} of {}", report.tokens);
    drop(agent);
}

#[tokio::test]
async fn instructions_of_a_directory_that_work_came_to_stand_there_by_their_names() {
    let rig = Rig::new(script());
    let book = Arc::new(ContextBook::default());
    let file = |path: &str, text: &str| format!("<context_file path=\"{path}\">\n{text}\n</context_file>");
    let (long, short) =
        (file("lib/AGENTS.md", &"Of lib. ".repeat(50)), file("lib/deep/CLAUDE.md", "Of deep: be brief."));
    let note = Arc::new(Mutex::new(Some(format!("The files below say how work is done.\n\n{long}\n\n{short}"))));
    let nested = FnExtension::new("nested").at_boundary(move || {
        let text = note.lock().unwrap().take();
        async move { text.map(|text| BoundaryNote { text, notice: "instructions read".to_owned() }) }
    });
    let read = FnTool::new("read", "Reads.", Parameters::default(), |_, _| async { Ok("a".to_owned()) }.boxed());
    let builder = rig.builder().context_book(Arc::clone(&book));
    let mut agent = rig
        .try_build(builder, |c| {
            c.add_tools([Arc::new(read) as Arc<dyn Tool>, tool("look", "b")])?;
            c.add_extension(Arc::new(nested))
        })
        .await
        .unwrap();
    agent.run_loop("Look at it.").await.unwrap();
    let report = book.reports().remove(0);
    let tokens = |name: &str| part_of(&report, ContextKind::Instructions, name).map(|part| part.tokens);
    assert!(tokens("lib/AGENTS.md") > tokens("lib/deep/CLAUDE.md"), "{report:?}");
    assert!(tokens("lib/deep/CLAUDE.md") > Some(0), "{report:?}");
    assert!(part_of(&report, ContextKind::Notes, "").is_some(), "the words around them: {report:?}");
}

#[tokio::test]
async fn a_result_that_is_taken_out_leaves_a_mark_at_the_next_boundary() {
    let rig = Rig::new(script());
    let book = Arc::new(ContextBook::default());
    let mut agent = talked(&rig, &book, &Arc::default()).await;
    let before = book.reports()[0].tokens;
    assert!(book.request(agent.id(), &result("c2"), Some(ContextRequest::Drop)));
    assert!(!book.request(agent.id(), &result("c9"), Some(ContextRequest::Drop)), "there is no such result");
    assert_eq!(lines(agent.history().messages())[4].len(), "tool#c2: ".len() + 22 * 400, "nothing happens before");
    rig.model.push(Played::text("Again."));
    agent.run_loop("And now?").await.unwrap();
    let history = lines(agent.history().messages());
    assert_eq!(history[3], "tool#c1: a small file");
    assert!(history[4].starts_with("tool#c2: [The user took this result out of the conversation"), "{}", history[4]);
    assert!(book.reports()[0].tokens < before);
    let notices: Vec<String> = rig
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Notice { text } => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(notices.len(), 1);
    assert!(notices[0].starts_with("taken out of the conversation: 1 result, about "), "{notices:?}");
}

#[tokio::test]
async fn a_pinned_result_survives_every_compaction_word_for_word() {
    let rig = Rig::new(script());
    let (book, request) = (Arc::new(ContextBook::default()), Arc::new(CompactionRequest::default()));
    let mut agent = talked(&rig, &book, &request).await;
    assert!(book.request(agent.id(), &result("c1"), Some(ContextRequest::Pin)));
    for round in 0..2 {
        for text in ["One.", "Two.", "Three."] {
            rig.model.push(Played::text(format!("{text} {}", "words ".repeat(200))));
            agent.run_loop(text).await.unwrap();
        }
        rig.model.push(Played::text("A short summary."));
        request.ask(None);
        agent.compact().await.unwrap();
        let all = lines(agent.history().messages()).join("\n");
        assert!(all.contains("a small file"), "round {round}: {all}");
        assert!(!all.contains("line of a long result"), "{all}");
        let pinned = agent
            .history()
            .messages()
            .iter()
            .filter(|message| matches!(message, Message::User { content, .. } if content.contains("a small file")));
        assert_eq!(pinned.count(), 1, "once");
    }
}

#[tokio::test]
async fn an_agent_that_has_ended_is_not_listed_any_more() {
    let book = ContextBook::default();
    book.publish(report("worker 0"));
    book.publish(report(""));
    let agents: Vec<AgentId> = book.reports().into_iter().map(|report| report.agent).collect();
    assert_eq!(agents, [AgentId::main(), AgentId::new("worker 0")]);
    book.forget(&AgentId::new("worker 0"));
    assert_eq!(book.reports().len(), 1);
    assert!(!book.request(&AgentId::new("worker 0"), &result("c1"), Some(ContextRequest::Pin)));
}

#[tokio::test]
async fn every_kind_of_row_is_taken_out_as_it_says_or_says_that_it_cannot_be() {
    let image = |name: &str, extra: u8| Image::new(name, &[crate::support::png::png(), vec![extra]].concat()).unwrap();
    let calls: Vec<ToolCall> = [("c1", "read", r#"{"path": "a.png"}"#), ("c2", "look", "{}")]
        .map(|(id, name, arguments)| ToolCall {
            id: id.into(),
            name: name.to_owned(),
            arguments: Arguments::parse(arguments),
        })
        .to_vec();
    let results: Vec<Message> = calls.iter().map(|call| Message::tool(call, "a long result ".repeat(50))).collect();
    let reply = AssistantMessage { tool_calls: calls, ..AssistantMessage::default() };
    let mine = vec![image("mine.png", 1), image("other.png", 2)];
    let brought = Message::user_about("they follow", vec![image("a.png", 3)], UserAbout::Images);
    let recorded =
        [Message::User { content: "Look.".to_owned(), images: mine, about: None }, Message::Assistant(reply)]
            .into_iter()
            .chain(results)
            .chain([brought, Message::assistant("Seen.")]);
    let rig = Rig::new([Played::text("Well.")]);
    let book = Arc::new(ContextBook::default());
    let mut agent = rig.build(rig.builder().context_book(Arc::clone(&book)), []).await;
    agent.resume(&std::iter::once(Message::system("You.")).chain(recorded).collect::<Vec<_>>(), 1);
    agent.run_loop("Go on.").await.unwrap();
    let rows = book.reports().remove(0).parts;
    for name in ["mine.png", "other.png", "a.png", "look"] {
        assert!(rows.iter().any(|row| row.name.contains(name)), "{name}: {rows:?}");
    }
    for row in rows {
        let Some(item) = row.item.clone() else {
            assert!(!matches!(row.kind, ContextKind::Image | ContextKind::File | ContextKind::Result), "{row:?}");
            continue;
        };
        let pinned = book.request(agent.id(), &item, Some(ContextRequest::Pin));
        assert_eq!(pinned, matches!(item, ContextItem::Call(_)), "{row:?}");
        assert!(book.request(agent.id(), &item, Some(ContextRequest::Drop)));
        rig.model.push(Played::text("Well."));
        agent.run_loop("Go on.").await.unwrap();
        let request = rig.last_request();
        match &item {
            ContextItem::Image(_) => {
                let word = format!("[The image {} is not here any more: the user took it out.]", row.name);
                assert!(lines(&request.messages).iter().any(|line| line.contains(&word)), "{word}");
                assert!(!names_of_images(&request.messages).contains(&row.name), "{row:?}");
            }
            ContextItem::Call(call) => {
                let mark = format!("tool#{call}: [The user took this result out");
                assert!(lines(&request.messages).iter().any(|line| line.starts_with(&mark)), "{mark}");
            }
        }
        assert!(
            !book.reports()[0]
                .parts
                .iter()
                .any(|part| part.item == Some(item.clone()) && part.kind == ContextKind::Image)
        );
    }
    assert_eq!(names_of_images(&rig.last_request().messages), [""; 0]);
}

fn names_of_images(messages: &[Message]) -> Vec<String> {
    let of = |message: &Message| match message {
        Message::User { images, .. } => images.iter().map(|image| image.name.clone()).collect(),
        Message::System { .. } | Message::Assistant(_) | Message::Tool { .. } => Vec::new(),
    };
    messages.iter().flat_map(of).collect()
}

#[test]
fn an_image_of_the_user_is_taken_out_and_is_not_pinned() {
    let mut stage = Stage::new(100, 30);
    let mut with_image = report("");
    let item = ContextItem::Image(Image::new("mine.png", &crate::support::png::png()).unwrap().digest());
    let part = part(ContextKind::Image, "mine.png", 30_000, None);
    with_image.parts.insert(0, ContextPart { item: Some(item.clone()), ..part });
    stage.handle.context().publish(with_image);
    stage.keys("/context<enter>");
    assert!(stage.screen().contains("images: mine.png"), "{}", stage.screen());
    let before = stage.effects.len();
    stage.keys("p");
    assert!(stage.screen().contains("only results and files that the agent read can be pinned"), "{}", stage.screen());
    assert_eq!(stage.effects.len(), before, "nothing is asked for");
    stage.keys("d");
    let operation = ContextOperation::Request { agent: AgentId::main(), item, request: Some(ContextRequest::Drop) };
    assert_eq!(stage.effects.last(), Some(&Effect::Request(Request::Context { operation })));
    assert!(stage.screen().contains("to be taken out"), "{}", stage.screen());
}

#[test]
fn what_an_earlier_client_asks_for_a_result_is_understood() {
    let operation: ContextOperation =
        serde_json::from_str(r#"{"wish": {"agent": "", "call": "c1", "wish": "drop"}}"#).unwrap();
    let item = result("c1");
    assert_eq!(
        operation,
        ContextOperation::Request { agent: AgentId::main(), item, request: Some(ContextRequest::Drop) }
    );
    let part: ContextPart =
        serde_json::from_str(r#"{"kind": "file", "name": "a", "tokens": 3, "call": "c1"}"#).unwrap();
    assert_eq!(part.item, Some(result("c1")));
    let none: ContextPart = serde_json::from_str(r#"{"kind": "tools", "name": "", "tokens": 3}"#).unwrap();
    assert_eq!(none.item, None);
}
