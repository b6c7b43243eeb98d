//! Tools of servers in an agent: names, questions, arguments, results, and what is loaded when.

use std::sync::Arc;

use serde_json::json;
use steersman_agent::Agent;
use steersman_base::event::Event;
use steersman_base::message::Message;
use steersman_base::protocol::ServerState;
use steersman_core::approval::{Answer, ApprovalSubject, Approvals, Mode, Operation};
use steersman_core::provider::Played;
use steersman_core::tool::ToolScope;
use steersman_extensions::mcp::definition::ServerDefinition;
use steersman_extensions::mcp::{ServerTools, Servers};

use crate::support::doubles::{Rig, run};
use crate::support::mcp::Yard;
use crate::support::processes::wait_until;

const LONG: std::time::Duration = std::time::Duration::from_mins(5);

/// Builds an agent with the tools of servers.
pub async fn agent(yard: &Yard, rig: &Rig, servers: &Arc<Servers>, window: u64) -> Agent {
    let builder = rig.builder().approvals(Arc::clone(&yard.approvals)).context_window(window);
    let tools = Arc::new(ServerTools::new(Arc::clone(servers), ToolScope::Main));
    rig.try_build(builder, |c| c.add_extension(tools)).await.unwrap()
}

/// Lets what a server offers be known, as from an earlier session.
pub async fn known(yard: &Yard, definition: &ServerDefinition) {
    let servers = yard.servers(vec![definition.clone()]);
    servers.main_instance(&definition.name).unwrap().discover().await.unwrap();
    servers.close();
}

fn results(rig: &Rig) -> Vec<(String, bool)> {
    let result = |event| match event {
        Event::ToolResult { content, is_error, .. } => Some((content, is_error)),
        _ => None,
    };
    rig.events().into_iter().filter_map(result).collect()
}

#[tokio::test]
async fn tools_that_are_known_are_on_offer_and_their_server_starts_at_the_first_call() {
    let Some(yard) = Yard::new("tools of a server") else { return };
    let one = yard.server("one", &[]);
    known(&yard, &one).await;
    let script = [Played::calls(&[("c1", "mcp__one__echo", r#"{"text": "hi"}"#)]), Played::text("done")];
    let rig = Rig::new(script);
    let servers = yard.servers(vec![one]);
    let mut agent = agent(&yard, &rig, &servers, 100_000).await;
    assert_eq!(yard.starts("one"), 1);
    agent.run_loop("go").await.unwrap();
    let request = &rig.requests()[0];
    let names = request.tool_names();
    assert!(names.contains(&"mcp__one__echo") && names.contains(&"mcp_resource"), "{names:?}");
    assert!(!names.contains(&"tool_search"), "{names:?}");
    assert_eq!(results(&rig), [(r#"{"text": "hi"}"#.to_owned(), false)]);
    assert_eq!(yard.starts("one"), 2);
    agent.close();
    let log = yard.path("one.log").display().to_string();
    wait_until("the server ends with its agent", LONG, || crate::support::processes::alive(&log).is_empty()).await;
}

#[tokio::test]
async fn a_call_is_asked_about_with_server_tool_and_arguments_whole_and_what_was_shown_is_sent() {
    let Some(yard) = Yard::with("a question about a call", Mode::Auto) else { return };
    let mut one = yard.server("one", &[]);
    one.traits.egress = true;
    known(&yard, &one).await;
    let arguments = "{\"text\": \"rm\\u202e -rf\", \"n\": 1}";
    let rig = Rig::new([
        Played::calls(&[("c1", "mcp__one__echo", arguments)]),
        Played::calls(&[("c2", "mcp__one__echo", arguments)]),
        Played::calls(&[("c3", "mcp__one__fail", "{}")]),
        Played::text("done"),
    ]);
    let servers = yard.servers(vec![one]);
    let running = run(agent(&yard, &rig, &servers, 100_000).await, "go");
    let asked = question(&yard.approvals).await;
    let ApprovalSubject::Operation { operation: Operation::ServerTool(operation) } = &asked.subject else {
        panic!("{asked:?}")
    };
    assert_eq!((operation.server.as_str(), operation.tool.as_str()), ("one", "echo"));
    assert!(operation.reached.contains("python3 -u ") && operation.hints == ["changes nothing"], "{operation:?}");
    assert_eq!(operation.arguments, "{\n  \"text\": \"rm\u{202e} -rf\",\n  \"n\": 1\n}");
    assert_eq!(asked.session.as_deref(), Some("every call of one/echo"));
    assert_eq!(yard.methods("one").iter().filter(|method| *method == "tools/call").count(), 0);
    yard.approvals.try_answer(asked.id, Answer::Once).unwrap();
    let asked = question(&yard.approvals).await;
    // It has read text of a stranger by then, and could send files away: the question says so, and takes a yes for more.
    assert!(asked.why.contains("text from outside"), "{asked:?}");
    assert_eq!(asked.session.as_deref(), Some("every call of one/echo"));
    yard.approvals.try_answer(asked.id, Answer::No(Some("not again".to_owned()))).unwrap();
    let asked = question(&yard.approvals).await;
    yard.approvals.try_answer(asked.id, Answer::Once).unwrap();
    running.answered().await;
    assert_eq!(
        results(&rig),
        [
            (r#"{"n": 1, "text": "rm\u202e -rf"}"#.to_owned(), false),
            ("Error: the user declined this and says: not again".to_owned(), true),
            ("Error: it went wrong".to_owned(), true),
        ]
    );
}

#[tokio::test]
async fn a_yes_for_the_session_holds_for_later_calls_whatever_the_agent_has_read() {
    let Some(yard) = Yard::with("a yes for the session", Mode::Auto) else { return };
    let mut one = yard.server("one", &[]);
    one.traits.egress = true;
    known(&yard, &one).await;
    let call = |id: &str| Played::calls(&[(id, "mcp__one__echo", "{\"text\": \"x\"}")]);
    let rig = Rig::new([call("c1"), call("c2"), call("c3"), Played::text("done")]);
    let servers = yard.servers(vec![one]);
    let running = run(agent(&yard, &rig, &servers, 100_000).await, "go");
    for answer in [Answer::Once, Answer::Session] {
        let asked = question(&yard.approvals).await;
        yard.approvals.try_answer(asked.id, answer).unwrap();
    }
    running.answered().await;
    assert_eq!(results(&rig).iter().filter(|(_, is_error)| !is_error).count(), 3);
}

async fn question(approvals: &Approvals) -> steersman_core::approval::ApprovalRequest {
    wait_until("a question is open", LONG, || !approvals.open().is_empty()).await;
    approvals.open().remove(0)
}

#[tokio::test]
async fn arguments_that_do_not_fit_never_reach_the_server() {
    let Some(yard) = Yard::new("arguments that do not fit") else { return };
    let one = yard.server("one", &[]);
    known(&yard, &one).await;
    let rig = Rig::new([Played::calls(&[("c1", "mcp__one__echo", r#"{"text": 5}"#)]), Played::text("done")]);
    let servers = yard.servers(vec![one]);
    agent(&yard, &rig, &servers, 100_000).await.run_loop("go").await.unwrap();
    let said = &results(&rig)[0].0;
    assert!(said.starts_with("Error: text must be of the type string\nThe schema: {"), "{said}");
    assert_eq!(yard.starts("one"), 1);
}

#[tokio::test]
async fn long_results_are_cut_and_images_are_kept_as_files_of_the_session() {
    let Some(yard) = Yard::new("long results and images") else { return };
    let one = yard.server("one", &[]);
    known(&yard, &one).await;
    let rig = Rig::new([
        Played::calls(&[("c1", "mcp__one__big", "{}")]),
        Played::calls(&[("c2", "mcp__one__image", "{}")]),
        Played::text("done"),
    ]);
    let servers = yard.servers(vec![one]);
    agent(&yard, &rig, &servers, 100_000).await.run_loop("go").await.unwrap();
    let results = results(&rig);
    let (big, image) = (&results[0].0, &results[1].0);
    assert!(big.len() < 40_000 && big.contains("bytes left out; the whole output is in"), "{}", &big[..200]);
    assert!(image.starts_with("one pixel\n[image image/png, 70 B, kept as "), "{image}");
    let path = image.split("kept as ").nth(1).unwrap().trim_end_matches(']');
    assert!(std::fs::read(path).unwrap().starts_with(b"\x89PNG"));
    let request = rig.last_request();
    let Some(Message::User { content, images, .. }) = request.messages.last() else { panic!("{request:?}") };
    let name = "image 1 of mcp__one__image";
    assert_eq!(content, &format!("<images-results from=\"tools, not the user\">\n{name}\n</images-results>"));
    assert_eq!(images.len(), 1, "the model sees it behind the result");
}

#[tokio::test]
async fn an_image_in_a_resource_reaches_the_model_like_any_other() {
    let Some(yard) = Yard::new("images in resources") else { return };
    let one = yard.server("one", &[]);
    known(&yard, &one).await;
    let rig = Rig::new([
        Played::calls(&[("c1", "mcp__one__image", r#"{"embedded": true}"#)]),
        Played::calls(&[("c2", "mcp_resource", r#"{"server": "one", "uri": "picture://one"}"#)]),
        Played::text("done"),
    ]);
    let servers = yard.servers(vec![one]);
    agent(&yard, &rig, &servers, 100_000).await.run_loop("go").await.unwrap();
    let requests = rig.requests();
    for (request, name) in [(&requests[1], "image 1 of mcp__one__image"), (&requests[2], "image 1 of mcp_resource")] {
        let Some(Message::User { content, images, .. }) = request.messages.last() else { panic!("{request:?}") };
        assert!(content.contains(name) && images.len() == 1, "{content}");
    }
    for (text, _) in results(&rig) {
        assert!(text.starts_with("[resource picture://one]\n[file image/png, 70 B, kept as "), "{text}");
    }
}

#[tokio::test]
async fn a_call_that_is_stopped_has_shown_its_progress_and_is_cancelled_at_the_server_which_goes_on() {
    let Some(yard) = Yard::new("a call that is stopped") else { return };
    let one = yard.server("one", &[]);
    known(&yard, &one).await;
    let call = |tool: &str, arguments: &str| Played::calls(&[("c1", &format!("mcp__one__{tool}"), arguments)]);
    let rig = Rig::new([call("slow", "{}"), call("echo", r#"{"text": "still here"}"#), Played::text("done")]);
    let servers = yard.servers(vec![one]);
    let running = run(agent(&yard, &rig, &servers, 100_000).await, "go");
    let progress = || {
        rig.events()
            .into_iter()
            .any(|event| matches!(event, Event::ToolProgress { text, .. } if text.ends_with(" · working\n")))
    };
    wait_until("progress is told", LONG, progress).await;
    rig.cancellable.cancel();
    let mut agent = running.cancelled().await;
    // The scripted server looks at nothing else before the call has come to its end.
    std::fs::write(yard.path("go"), "").unwrap();
    wait_until("the server hears of it", LONG, || yard.methods("one").contains(&"notifications/cancelled".to_owned()))
        .await;
    agent.run_loop("again").await.unwrap();
    assert_eq!(results(&rig).last(), Some(&(r#"{"text": "still here"}"#.to_owned(), false)));
    assert_eq!(yard.starts("one"), 2, "it was not started anew");
}

#[tokio::test]
async fn a_server_asks_the_user_during_a_call_and_hears_the_form_the_no_or_that_nobody_is_there() {
    let Some(yard) = Yard::new("a question of a server") else { return };
    let one = yard.server("one", &[]);
    known(&yard, &one).await;
    let ask = || Played::calls(&[("c1", "mcp__one__ask", "{}")]);
    let rig = Rig::new([ask(), ask(), ask(), Played::text("done")]);
    let servers = yard.servers(vec![one]);
    let running = run(agent(&yard, &rig, &servers, 100_000).await, "go");
    let asked = question(&yard.approvals).await;
    let ApprovalSubject::Form { server, message, fields } = &asked.subject else { panic!("{asked:?}") };
    assert_eq!((server.as_str(), message.as_str(), fields.len()), ("one", "Who are you?", 2));
    // What does not fit the form goes nowhere, and a plain yes fills nothing in for the user.
    assert!(yard.approvals.try_answer(asked.id, Answer::Once).is_err());
    let filled = |value: serde_json::Value| Answer::Filled(value.as_object().unwrap().clone());
    assert!(yard.approvals.try_answer(asked.id, filled(json!({"name": 5}))).is_err());
    yard.approvals.try_answer(asked.id, filled(json!({"name": "Ann"}))).unwrap();
    let asked = question(&yard.approvals).await;
    yard.approvals.try_answer(asked.id, Answer::No(None)).unwrap();
    question(&yard.approvals).await;
    yard.approvals.user_left();
    running.answered().await;
    let texts =
        [r#"{"action": "accept", "content": {"name": "Ann"}}"#, r#"{"action": "decline"}"#, r#"{"action": "cancel"}"#];
    assert_eq!(results(&rig), texts.map(|text| (text.to_owned(), false)));
}

#[tokio::test]
async fn the_question_of_a_server_goes_with_the_call_that_it_belongs_to() {
    let Some(yard) = Yard::new("a question that goes") else { return };
    let one = yard.server("one", &[]);
    known(&yard, &one).await;
    let rig = Rig::new([Played::calls(&[("c1", "mcp__one__ask", "{}")])]);
    let servers = yard.servers(vec![one]);
    let running = run(agent(&yard, &rig, &servers, 100_000).await, "go");
    question(&yard.approvals).await;
    rig.cancellable.cancel();
    running.cancelled().await;
    wait_until("it is gone", LONG, || yard.approvals.open().is_empty()).await;
}

#[tokio::test]
async fn sampling_is_declined_in_words_that_the_server_passes_on() {
    let Some(yard) = Yard::new("sampling") else { return };
    let one = yard.server("one", &[]);
    known(&yard, &one).await;
    let rig = Rig::new([Played::calls(&[("c1", "mcp__one__sample", "{}")]), Played::text("done")]);
    let servers = yard.servers(vec![one]);
    agent(&yard, &rig, &servers, 100_000).await.run_loop("go").await.unwrap();
    assert_eq!(results(&rig)[0].0, "sampling is not supported: this client lends no model to a server");
}

#[tokio::test]
async fn definitions_that_take_too_much_of_the_window_are_searched_for_and_what_is_found_comes_last() {
    let Some(yard) = Yard::new("tools behind a search") else { return };
    let (one, two) = (yard.server("one", &[]), yard.server("two", &[]));
    known(&yard, &one).await;
    known(&yard, &two).await;
    let rig = Rig::new([
        Played::calls(&[("c1", "tool_search", r#"{"query": "gives its arguments back", "limit": 1}"#)]),
        Played::calls(&[("c2", "mcp__one__echo", r#"{"text": "x"}"#)]),
        Played::calls(&[("c3", "tool_search", r#"{"query": "two image"}"#)]),
        Played::text("done"),
    ]);
    let servers = yard.servers(vec![one, two]);
    let mut agent = agent(&yard, &rig, &servers, 2_000).await;
    agent.run_loop("go").await.unwrap();
    let names: Vec<Vec<String>> =
        rig.requests().iter().map(|r| r.tool_names().iter().map(|name| (*name).to_owned()).collect()).collect();
    assert_eq!(names[0], ["tool_search", "mcp_resource"]);
    assert_eq!(names[1], ["tool_search", "mcp_resource", "mcp__one__echo"]);
    // What was there stays where it was: a prompt that is kept by its beginning is kept.
    assert_eq!(names[2], names[1]);
    assert!(names[3].starts_with(&names[2]) && names[3].contains(&"mcp__two__image".to_owned()), "{names:?}");
    assert_eq!(results(&rig)[0].0, "These can be called now:\nmcp__one__echo: Gives its arguments back. (one)\n");
}

#[tokio::test]
async fn a_server_that_nothing_is_known_of_starts_when_a_tool_is_looked_for() {
    let Some(yard) = Yard::new("a server that is not known") else { return };
    let broken = yard.server("broken", &["--die", "initialize"]);
    let rig = Rig::new([
        Played::calls(&[("c1", "tool_search", r#"{"query": "echo", "limit": 1}"#)]),
        Played::calls(&[("c2", "mcp__one__echo", r#"{"text": "x"}"#)]),
        Played::text("done"),
    ]);
    let servers = yard.servers(vec![yard.server("one", &[]), broken]);
    let mut agent = agent(&yard, &rig, &servers, 100_000).await;
    assert_eq!((yard.starts("one"), servers.status()[0].state), (0, ServerState::Configured));
    agent.run_loop("go").await.unwrap();
    let results = results(&rig);
    assert!(results[0].0.contains("broken cannot be searched: the server broken does not start"), "{results:?}");
    assert_eq!(results[1], (r#"{"text": "x"}"#.to_owned(), false));
    let states: Vec<ServerState> = servers.status().iter().map(|server| server.state).collect();
    assert_eq!(states, [ServerState::Used, ServerState::Failed]);
}

#[tokio::test]
async fn only_the_tools_that_the_configuration_names_are_used() {
    let Some(yard) = Yard::new("a choice of tools") else { return };
    let mut one = yard.server("one", &[]);
    known(&yard, &one).await;
    one.only = Some(vec!["echo".to_owned(), "s*".to_owned()]);
    one.without = vec!["sl*".to_owned()];
    let two = ServerDefinition { on_main_agent: false, ..yard.server("two", &[]) };
    known(&yard, &two).await;
    let rig = Rig::new([Played::text("done")]);
    let servers = yard.servers(vec![one, two]);
    agent(&yard, &rig, &servers, 100_000).await.run_loop("go").await.unwrap();
    let request = rig.last_request();
    assert_eq!(request.tool_names(), ["mcp__one__echo", "mcp__one__sample", "mcp_resource"]);
}

#[tokio::test]
async fn what_the_user_names_in_a_message_is_read_without_a_question_and_nothing_else_is() {
    let Some(yard) = Yard::with("a resource in a message", Mode::Ask) else { return };
    let one = yard.server("one", &[]);
    known(&yard, &one).await;
    let read = |uri: &str| json!({"server": "one", "uri": uri}).to_string();
    let rig = Rig::new([
        Played::calls(&[("c1", "mcp_resource", &read("note://today"))]),
        Played::calls(&[("c2", "mcp_resource", r#"{"server": "one"}"#)]),
        Played::calls(&[("c3", "mcp_resource", &read("note://other"))]),
        Played::text("done"),
    ]);
    let servers = yard.servers(vec![one]);
    let running = run(agent(&yard, &rig, &servers, 100_000).await, "what is in @one:note://today, and @none:x?");
    let asked = question(&yard.approvals).await;
    let ApprovalSubject::Operation { operation: Operation::ServerTool(operation) } = &asked.subject else {
        panic!("{asked:?}")
    };
    assert!(operation.arguments.contains("note://other"), "{operation:?}");
    yard.approvals.try_answer(asked.id, Answer::No(None)).unwrap();
    running.answered().await;
    let note = rig.requests()[0].lines().pop().unwrap();
    assert!(note.contains("server one, uri note://today") && !note.contains("none"), "{note}");
    let results: Vec<String> = results(&rig).into_iter().map(|(text, _)| text).collect();
    assert_eq!(results[..2], ["[resource note://today]\nwater the plants", "note://today today: What is to be done."]);
}

#[tokio::test]
async fn the_prompt_of_a_server_comes_filled_in() {
    let Some(yard) = Yard::new("a prompt") else { return };
    let servers = yard.servers(vec![yard.server("one", &[])]);
    let ask = |words: &'static str| {
        let servers = Arc::clone(&servers);
        tokio::task::spawn_blocking(move || servers.prompt("one", "review", words))
    };
    let text = ask("src/main.rs with great care").await.unwrap();
    assert_eq!(text, Ok(r#"Review {"file": "src/main.rs", "how": "with great care"}"#.to_owned()));
    assert_eq!(ask(" ").await.unwrap(), Err("the prompt needs file".to_owned()));
    let servers = Arc::clone(&servers);
    let none = tokio::task::spawn_blocking(move || servers.prompt("one", "none", "")).await.unwrap();
    assert_eq!(none, Err("the server one has no prompt none".to_owned()));
}

#[tokio::test]
async fn a_model_sees_the_hidden_characters_of_a_description_and_a_schema_that_every_dialect_takes() {
    let Some(yard) = Yard::new("hidden characters in a description") else { return };
    let tools = json!([{
        "name": "t.x", "title": "The Tool", "description": format!("a\u{200b}b{}", "c".repeat(9_000)),
        "inputSchema": {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "properties": {"p": {"description": "x\u{202e}y"}}},
    }]);
    let one = yard.server("one", &["--tools", &tools.to_string()]);
    known(&yard, &one).await;
    let rig = Rig::new([Played::text("done")]);
    let servers = yard.servers(vec![one]);
    agent(&yard, &rig, &servers, 100_000).await.run_loop("go").await.unwrap();
    let request = rig.last_request();
    let tool = request.tools.iter().find(|tool| tool.name == "mcp__one__t_x").unwrap();
    assert!(
        tool.description.starts_with("The Tool. a‹U+200B›b") || !tool.description.contains('\u{200b}'),
        "{}",
        tool.description
    );
    assert!(tool.description.len() < 5_000 && tool.description.ends_with("[…] (a tool of the MCP server one)"));
    let schema = tool.parameters.to_string();
    assert!(!schema.contains("$schema") && !schema.contains('\u{202e}'), "{schema}");
}
