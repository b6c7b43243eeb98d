//! Stories of the parts of which a user of the library makes an agent: a provider out of a closure, questions before any tool,
//! tools for sub-agents alone, clean-up, the model of a persona, several readers of the events, answers as a type.

use std::sync::{Arc, Mutex};

use schemars::JsonSchema;
use serde::Deserialize;
use steersman_agent::Agent;
use steersman_agent::subagent::{Persona, SubAgents};
use steersman_base::error::{AskError, ProviderError};
use steersman_base::event::{Event, Outcome};
use steersman_core::approval::{Answer, Answerer, Approvals, Mode, Policy};
use steersman_core::listener::InMemoryEventList;
use steersman_core::provider::{FnProvider, Played, Reply, ScriptedProvider, Streaming};
use steersman_core::tool::{Concurrency, FnTool, Parameters, Tool, WithApproval};
use steersman_extensions::output_schema::AskAs;
use steersman_session::host::RunningAgent;

#[tokio::test]
async fn a_closure_is_a_provider_that_also_streams_and_fails() {
    let provider = FnProvider::new(|request| {
        let said = request.messages().last().map_or("", |message| message.content()).to_owned();
        async move {
            match said.as_str() {
                "Fail." => Err(ProviderError::CutOff),
                _ => Ok(Reply { thinking: "Hm.".to_owned(), ..Reply::text(said) }),
            }
        }
    });
    let events = Arc::new(InMemoryEventList::new());
    let builder = Agent::with_provider(provider, "You are a parrot.").streaming(Streaming::On);
    let mut agent = builder.listener(events.clone()).await.unwrap();
    assert_eq!(agent.ask("Polly!").await.unwrap(), "Polly!");
    assert!(events.events().contains(&Event::AssistantDelta { text: "Polly!".to_owned() }));
    assert!(events.events().contains(&Event::ThinkingDelta { text: "Hm.".to_owned() }));
    agent.ask("Fail.").await.unwrap_err();
}

#[tokio::test]
async fn a_tool_with_approval_shows_its_arguments_and_runs_after_a_yes_alone() {
    let sent: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&sent);
    let mail = FnTool::new("mail", "Sends.", Parameters::strings([("to", "Who.")]), move |args, _| {
        log.lock().unwrap().push(args.str("to").to_owned());
        async { Ok("sent") }
    });
    let mail = WithApproval::new(mail.concurrency(Concurrency::Parallel)).action("send a mail");
    assert_eq!(mail.spec().concurrency, Concurrency::Exclusive);
    let approvals = Approvals::new(Policy { answerer: Answerer::User, ..Policy::default() }, Mode::Ask);
    let model = ScriptedProvider::new([
        Played::call("mail", r#"{"to": "Ada"}"#),
        Played::call("mail", r#"{"to": "Bob"}"#),
        Played::text("Done."),
    ]);
    let builder = Agent::with_provider(model.clone(), "You write.").tool(mail).approvals(Arc::new(approvals));
    let mut running = RunningAgent::start(builder).await.unwrap();
    running.send("Greet them.").unwrap();
    let mut asked = Vec::new();
    while let Some(envelope) = running.next_event().await {
        match envelope.event {
            Event::Question { id, question, detail, .. } => {
                let answer = if asked.is_empty() { Answer::No(None) } else { Answer::Once };
                asked.push(format!("{question} {}", detail.unwrap_or_default()));
                running.approvals().answer(id.parse().unwrap(), answer);
            }
            Event::TurnEnded { .. } => break,
            _ => {}
        }
    }
    assert!(asked[0].contains("send a mail") && asked[0].contains(r#""to": "Ada""#), "{asked:?}");
    assert!(asked[1].contains(r#""to": "Bob""#), "{asked:?}");
    assert_eq!(*sent.lock().unwrap(), ["Bob"]);
    assert!(model.requests()[1].messages[3].content().starts_with("Error: "));
}

#[tokio::test]
async fn a_tool_for_sub_agents_and_the_clean_up_are_set_on_the_builder() {
    let closed = Arc::new(Mutex::new(0));
    let count = Arc::clone(&closed);
    let look = FnTool::new("look", "Looks.", Parameters::default(), |_, _| async { Ok("hills") });
    let model = ScriptedProvider::new([
        Played::call("agent", r#"{"name": "scout", "task": "Go north."}"#),
        Played::call("look", "{}"),
        Played::text("Hills."),
        Played::text("There are hills."),
    ]);
    let scout = Persona::new("scout", "Looks around.", "You look around.").tools(["look"]);
    let builder = Agent::with_provider(model.clone(), "You lead.").sub_agent_tool(look);
    let builder = builder.extension(SubAgents::new([scout]).unwrap()).on_close(move || *count.lock().unwrap() += 1);
    let mut agent = builder.await.unwrap();
    assert_eq!(agent.ask("Explore.").await.unwrap(), "There are hills.");
    let offered =
        |request: usize| model.requests()[request].tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    assert_eq!((offered(0), offered(1)), (vec!["agent".to_owned()], vec!["look".to_owned()]));
    assert_eq!(*closed.lock().unwrap(), 0);
    agent.close();
    assert_eq!(*closed.lock().unwrap(), 1);
}

#[tokio::test]
async fn a_persona_has_its_own_model_and_temperature() {
    let asked = Arc::new(Mutex::new(Vec::<(String, Option<f64>)>::new()));
    let log = Arc::clone(&asked);
    let script = Mutex::new(vec!["Done.", "Hills."]);
    let provider = FnProvider::new(move |request| {
        log.lock().unwrap().push((request.model.to_owned(), request.answering.temperature));
        let is_first = request.messages().len() == 2 && request.messages()[0].content().starts_with("You lead.");
        let reply = if is_first {
            let id = "c1".into();
            let arguments = steersman_base::message::Arguments::parse(r#"{"name": "scout", "task": "Go."}"#);
            let call = steersman_base::message::ToolCall { id, name: "agent".to_owned(), arguments };
            Reply { tool_calls: vec![call], ..Reply::default() }
        } else {
            Reply::text(script.lock().unwrap().pop().unwrap())
        };
        async move { Ok(reply) }
    });
    let scout = Persona::new("scout", "Looks.", "You look.").model("small").temperature(0.5);
    let mut agent =
        Agent::with_provider(provider, "You lead.").extension(SubAgents::new([scout]).unwrap()).await.unwrap();
    agent.ask("Explore.").await.unwrap();
    let (own, child) = ((String::new(), None), ("small".to_owned(), Some(0.5)));
    assert_eq!(*asked.lock().unwrap(), [own.clone(), child, own]);
    for wrong in
        [Persona::new("scout", "Looks.", "x").model(" "), Persona::new("scout", "Looks.", "x").temperature(-1.0)]
    {
        assert!(SubAgents::new([wrong]).is_err());
    }
}

#[tokio::test]
async fn every_reader_gets_every_event_and_one_that_is_dropped_holds_nobody_up() {
    let model = ScriptedProvider::new([Played::text("One."), Played::text("Two.")]);
    let mut running = RunningAgent::start(Agent::with_provider(model, "You count.")).await.unwrap();
    let (mut second, dropped) = (running.subscribe(), running.subscribe());
    running.send("Begin.").unwrap();
    running.settled().await.unwrap();
    drop(dropped);
    let mut late = running.subscribe();
    running.send("Go on.").unwrap();
    running.settled().await.unwrap();
    let mut seqs = Vec::new();
    while let Some(envelope) = running.next_event().await {
        seqs.push(envelope.seq);
        if matches!(envelope.event, Event::TurnEnded { turn: 2, .. }) {
            break;
        }
    }
    running.close().await.unwrap();
    let mut all = Vec::new();
    while let Some(envelope) = second.next_event().await {
        all.push(envelope.seq);
    }
    // The first reader also heard what came before the others were there, the second what came to the end.
    let (first, last) = (all[0], *seqs.last().unwrap());
    assert!(seqs.iter().filter(|seq| **seq >= first).eq(all.iter().filter(|seq| **seq <= last)), "{all:?} {seqs:?}");
    assert!(all.len() > 20, "{all:?}");
    let mut turns = Vec::new();
    while let Some(envelope) = late.next_event().await {
        if let Event::TurnEnded { turn, outcome, .. } = envelope.event {
            turns.push((turn, outcome));
        }
    }
    assert_eq!(turns, [(2, Outcome::Completed)], "the stream ends with the agent");
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Count {
    /// How many.
    #[schemars(range(min = 1))]
    birds: u32,
}

#[tokio::test]
async fn an_answer_as_a_type_is_asked_for_once_more_and_other_turns_stay_as_they_were() {
    let model = ScriptedProvider::new([
        Played::text("```json\n{\"birds\": 0}\n```"),
        Played::text("```json\n{\"birds\": 2}\n```"),
        Played::text("Sparrows."),
        Played::text(r#"{"birds": 3}"#),
        Played::text("None."),
        Played::text("None at all."),
    ]);
    let mut agent = Agent::with_provider(model.clone(), "You count.").await.unwrap();
    assert_eq!(agent.ask_as::<Count>("How many?").await.unwrap(), Count { birds: 2 });
    assert_eq!(agent.ask("Which?").await.unwrap(), "Sparrows.", "text again");
    assert_eq!(agent.ask_as::<Count>("And now?").await.unwrap(), Count { birds: 3 });
    let mismatch = agent.ask_as::<Count>("And then?").await.unwrap_err();
    assert!(matches!(&mismatch, AskError::Mismatch(why) if why.contains("not JSON")), "{mismatch}");
    // Each time the model is told, behind the message that it is about.
    let last = &model.requests()[3].messages;
    let told = last.iter().filter(|message| message.role() == "system" && message.content().contains("JSON Schema"));
    assert_eq!(told.count(), 2);
    assert!(last.last().unwrap().content().contains("JSON Schema"));
}

#[tokio::test]
async fn a_dropped_question_for_a_type_leaves_the_next_turn_without_a_schema() {
    let model =
        ScriptedProvider::new([Played::text("Two.").then(steersman_core::provider::Step::Wait(Arc::default()))]);
    let mut agent = Agent::with_provider(model.clone(), "You count.").await.unwrap();
    tokio::select! {
        biased;
        _ = agent.ask_as::<Count>("How many?") => unreachable!("it waits"),
        () = tokio::task::yield_now() => {}
    }
    model.push(Played::text("Sparrows."));
    assert_eq!(agent.ask("Which?").await.unwrap(), "Sparrows.");
}
