//! MCP servers on the screen: how they stand, a call that is asked about, a form, a prompt that comes into the message.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use serde_json::{Value, json};
use steersman_base::event::Event;
use steersman_base::protocol::{FieldKind, Notice, Reply, Request, ServerRequest, ServerState, ServerStatus, Update};
use steersman_core::approval::{
    Answerer, ApprovalRecord, Asker, FormAnswer, FormField, Mode, Policy, ServerToolOperation,
};
use steersman_tui::msg::{Effect, Msg};

use crate::support::stage::Stage;

/// Milliseconds without a key, behind the drawing, that arm a question.
const QUIET: i64 = 350;

fn status(name: &str, state: ServerState) -> ServerStatus {
    ServerStatus {
        name: name.to_owned(),
        source: "config.toml".to_owned(),
        reached: format!("npx -y server-{name}"),
        variables: Vec::new(),
        state,
        about: String::new(),
        tools: Vec::new(),
        instructions: String::new(),
        resources: Vec::new(),
        prompts: Vec::new(),
        calls: 0,
        error: None,
        errors: String::new(),
        notes: Vec::new(),
    }
}

/// A server in each state.
fn servers() -> Vec<ServerStatus> {
    let tools = |name: &str| vec![format!("mcp__{name}__get"), format!("mcp__{name}__set")];
    vec![
        ServerStatus {
            error: Some("it ended with exit status 1; its last words: no \u{1b}[31mtoken".to_owned()),
            errors: "reading the settings\nno \u{1b}[31mtoken\n".to_owned(),
            variables: vec!["DEBUG".to_owned(), "ISSUES_TOKEN".to_owned()],
            ..status("issues", ServerState::Failed)
        },
        status("new", ServerState::Configured),
        ServerStatus { tools: tools("memory"), ..status("memory", ServerState::Known) },
        ServerStatus {
            tools: tools("clock"),
            source: "project".to_owned(),
            notes: vec!["the definition of get has changed; its next call shows the difference".to_owned()],
            ..status("clock", ServerState::Started)
        },
        ServerStatus {
            tools: tools("docs"),
            about: "Docs 1.2".to_owned(),
            calls: 12,
            instructions: "Search before you fetch.".to_owned(),
            resources: vec!["doc://start".to_owned(), "doc://api".to_owned()],
            prompts: vec!["/mcp__docs__review".to_owned()],
            reached: "https://example.org/mcp".to_owned(),
            ..status("docs", ServerState::Used)
        },
    ]
}

/// A stage whose run has these servers; what a client is told of them comes from here.
fn stage(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    let policy = Policy { answerer: Answerer::User, ..Policy::default() };
    stage.handle.approvals().configure(policy, Mode::Ask);
    stage.tell(Msg::from(Notice::Servers(servers())));
    stage
}

#[test]
fn the_list_shows_how_each_server_stands_with_its_last_error_and_the_end_of_its_error_output() {
    for (width, height) in [(120, 36), (80, 24), (40, 12), (20, 5)] {
        let mut stage = stage(width, height);
        stage.keys("/mcp<enter>").tell(Msg::from(Notice::Servers(servers())));
        insta::assert_snapshot!(format!("servers_{width}x{height}"), stage.picture());
    }
    let mut stage = stage(120, 36);
    stage.keys("/mcp<enter>").tell(Msg::from(Notice::Servers(servers())));
    for (key, parts) in [
        (
            "",
            &[
                "failed: it could not be started",
                "last error: it ended with exit status 1",
                "no ␛[31mtoken",
                "it gets: DEBUG, ISSUES_TOKEN",
            ][..],
        ),
        ("<down>", &["configured: its tools are not known yet"]),
        ("<down>", &["known: its tools are known from an earlier time", "tools: mcp__memory__get, mcp__memory__set"]),
        ("<down>", &["started: it runs", "note: the definition of get has changed"]),
        (
            "<down>",
            &[
                "used: it runs",
                "it calls itself: Docs 1.2",
                "12 calls",
                "prompts: /mcp__docs__review",
                "doc://api",
                "to be used: Search before you fetch.",
            ],
        ),
    ] {
        let screen = stage.keys(key).screen();
        assert!(parts.iter().all(|part| screen.contains(part)), "{parts:?}\n{screen}");
    }
    // What changes is shown at once.
    let mut later = servers();
    later[4].calls = 13;
    assert!(stage.tell(Msg::from(Notice::Servers(later))).screen().contains("13 calls"));
    stage.keys("<enter>");
    let start = Request::Servers { request: ServerRequest::Start("docs".to_owned()) };
    assert!(stage.effects.contains(&Effect::Request(start)), "{:?}", stage.effects);
}

#[test]
fn in_lines_the_list_is_told() {
    let mut stage = Stage::in_lines();
    stage.line("/mcp");
    assert!(stage.written().contains("no MCP server is configured"));
    stage.tell(Msg::from(Notice::Servers(servers()))).line("/mcp");
    let written = stage.written();
    for part in [
        "issues: failed · 0 tools · config.toml; it ended with exit status 1; its last words: no ␛[31mtoken",
        "docs: used · 2 tools · 12 calls · config.toml",
    ] {
        assert!(written.contains(part), "{written}");
    }
}

fn call() -> ServerToolOperation {
    ServerToolOperation {
        server: "issues".to_owned(),
        reached: "npx -y server-issues".to_owned(),
        tool: "close".to_owned(),
        arguments: "{\n  \"id\": 7,\n  \"why\": \"do\u{202e}ne\"\n}".to_owned(),
        hints: vec!["changes nothing".to_owned()],
        sends: true,
    }
}

#[test]
fn a_call_is_asked_about_with_its_server_its_tool_and_every_argument() {
    for (width, height) in [(120, 36), (80, 24), (40, 12)] {
        let mut stage = stage(width, height);
        stage.turn("").call("", "c1", "mcp__issues__close");
        let desk = Arc::clone(stage.handle.approvals());
        let asker = Asker { agent: "".into(), call: "c1".into() };
        let mut asking = Box::pin(async move { desk.decide(&asker, call(), &|_: ApprovalRecord| {}).await });
        let mut poll = || asking.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll().is_pending());
        stage.refresh();
        stage.screen();
        stage.wait(QUIET);
        insta::assert_snapshot!(format!("call_{width}x{height}"), stage.picture());
        stage.keys("<c-end>");
        stage.screen();
        stage.wait(QUIET).keys("<a-y>");
        let Poll::Ready(Ok(approved)) = poll() else { panic!("it is not answered") };
        assert_eq!(approved.take(), call());
    }
}

struct Form(Pin<Box<dyn Future<Output = FormAnswer>>>);

impl Form {
    /// Lets a server ask who the user is.
    fn asks(stage: &mut Stage) -> Self {
        let field = |name: &str, kind, required, default: Option<Value>| FormField {
            name: name.to_owned(),
            about: String::new(),
            kind,
            required,
            default,
        };
        let fields = vec![
            FormField {
                about: "What you are called".to_owned(),
                ..field("name", FieldKind::Text { least: 1, most: 20 }, true, None)
            },
            field("age", FieldKind::Number { whole: true, least: Some(0.0), most: None }, false, Some(json!(7))),
        ];
        let desk = Arc::clone(stage.handle.approvals());
        let ask = async move { desk.ask_form("docs".to_owned(), "Who \u{1b}[2Jare you?".to_owned(), fields).await };
        let mut form = Self(Box::pin(ask));
        assert!(form.poll().is_none());
        stage.refresh();
        form
    }

    fn poll(&mut self) -> Option<FormAnswer> {
        match self.0.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => Some(answer),
            Poll::Pending => None,
        }
    }
}

fn arm(stage: &mut Stage) {
    stage.screen();
    stage.wait(QUIET);
    stage.screen();
}

#[test]
fn a_form_of_a_server_is_an_armed_question_that_is_filled_in_line_by_line() {
    for (width, height) in [(120, 36), (80, 24), (40, 12)] {
        let mut stage = stage(width, height);
        stage.keys("half a draft");
        let mut form = Form::asks(&mut stage);
        // A key that was on its way answers nothing.
        stage.keys("<a-y>");
        assert!(form.poll().is_none() && !stage.screen().contains("age: 7\n"));
        arm(&mut stage);
        insta::assert_snapshot!(format!("form_{width}x{height}"), stage.picture());
        stage.keys("<c-end>");
        arm(&mut stage);
        stage.keys("<a-y>");
        assert_eq!(stage.app.message.text(), "name: \nage: 7");
        insta::assert_snapshot!(format!("filling_{width}x{height}"), stage.picture());
        // Enter goes from field to field. What does not fit is said, and what was written stays.
        stage.keys("<enter><enter>");
        assert!(form.poll().is_none());
        assert_eq!(stage.app.message.text(), "name: \nage: 7");
        assert!(width < 80 || stage.screen().contains("name is missing"), "{}", stage.screen());
        stage.keys("<up><end>Ann<enter>");
        assert!(form.poll().is_none());
        stage.keys("<enter>");
        assert_eq!(
            form.poll(),
            Some(FormAnswer::Filled(json!({"name": "Ann", "age": 7}).as_object().unwrap().clone()))
        );
        stage.refresh();
        assert_eq!(stage.app.message.text(), "half a draft");
    }
}

#[test]
fn a_form_is_declined_with_escape_and_leaves_the_text_that_was_begun_when_it_goes() {
    let mut stage = stage(80, 24);
    let mut form = Form::asks(&mut stage);
    arm(&mut stage);
    stage.keys("<a-n>");
    assert_eq!(form.poll(), Some(FormAnswer::Declined));
    let form = Form::asks(&mut stage);
    arm(&mut stage);
    stage.keys("<c-end>");
    arm(&mut stage);
    stage.keys("<a-y>Ann");
    // The call that it belonged to ends.
    drop(form);
    stage.refresh();
    assert!(!stage.screen().contains("A server asks you"), "{}", stage.screen());
}

#[test]
fn a_prompt_is_offered_and_its_text_comes_into_the_message_to_be_read_first() {
    let mut stage = stage(80, 24);
    stage.keys("/mcp__d");
    assert!(stage.screen().contains("/mcp__docs__review"), "{}", stage.screen());
    stage.keys("<tab>src/lib.rs<enter>");
    let request =
        Request::Prompt { server: "docs".to_owned(), prompt: "review".to_owned(), words: "src/lib.rs".to_owned() };
    assert!(stage.effects.contains(&Effect::Request(request)), "{:?}", stage.effects);
    assert!(stage.sent().is_empty());
    let reply = |outcome| Reply::Prompt { server: "docs".to_owned(), prompt: "review".to_owned(), outcome };
    stage.tell(Msg::Update(Update::Reply(reply(Ok("Review src/lib.rs.\nBe brief.".to_owned())))));
    assert_eq!(stage.app.message.text(), "Review src/lib.rs.\nBe brief.");
    stage.tell(Msg::Update(Update::Reply(reply(Err("the server docs has no prompt review".to_owned())))));
    assert!(stage.screen().contains("the server docs has no prompt review"), "{}", stage.screen());
}

#[test]
fn a_resource_is_offered_behind_the_at_sign() {
    let mut stage = stage(80, 24);
    stage.keys("see @docs:doc://a");
    assert!(stage.screen().contains("@docs:doc://api"), "{}", stage.screen());
    stage.keys("<tab>please");
    assert_eq!(stage.app.message.text(), "see @docs:doc://api please");
}

#[test]
fn the_progress_of_a_call_is_shown_while_it_runs() {
    let mut stage = stage(80, 24);
    stage.turn("").call("", "c1", "mcp__docs__get");
    stage.event("", Event::ToolProgress { id: "c1".into(), text: "3 of 10: reading\n".to_owned() });
    assert!(stage.screen().contains("3 of 10: reading"), "{}", stage.screen());
}
