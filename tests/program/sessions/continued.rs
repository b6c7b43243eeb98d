//! Stories of finished sub-agents of a session that goes on in another process: they can be continued as before.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use steersman_agent::Agent;
use steersman_agent::subagent::{Persona, TempWorkspace};
use steersman_base::error::Refused;
use steersman_base::event::{Event, Outcome};
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::message::Message;
use steersman_base::protocol::Notice;
use steersman_base::steering::{Rule, RuleChange, RuleScope};
use steersman_core::listener::{HistoryChange, Listener as _};
use steersman_core::provider::Played;
use steersman_session::host::{self, LastRun, Resumed, Setup, Update, WorkerState};
use steersman_session::journal::{Journal, before, read_records, restore, restore_left};
use tempfile::TempDir;

use crate::support::doubles::{Pause, PlayedExt, Rig, fault, run, within};
use crate::support::journals::{Disk, event, journal};
use crate::support::kept_agents::Kept;
use crate::support::program::{Program, exit_code, stderr};
use crate::support::server::{Reply, Server};
use crate::support::subagents::{child, persona, spawns};

const PATIENCE: Duration = Duration::from_mins(1);

/// A process of a session, with its part of the journal.
struct Process {
    deck: Kept,
    journal: Journal,
    disk: Disk,
}

impl Process {
    fn new(script: impl IntoIterator<Item = Played>, children: impl IntoIterator<Item = Played>) -> Self {
        let (mut deck, disk) = (Kept::new(script), Disk::default());
        let journal = journal(&disk);
        deck.listeners.push(Arc::new(journal.clone()));
        deck.rig.model.route(&child("miner"), children.into_iter().collect::<Vec<_>>());
        Self { deck, journal, disk }
    }

    /// Goes on with what was recorded.
    async fn resume(&self, personas: Vec<Persona>, resumed: Resumed) -> Agent {
        let mut agent = self.deck.parent(personas).await;
        agent.resume(&resumed.messages, resumed.numbers.turns);
        self.deck.handle.continuations().take_over(resumed.agents);
        agent
    }

    fn end(&self) -> Vec<u8> {
        self.journal.close();
        self.disk.bytes()
    }

    /// Returns the last request of the sub-agent.
    fn asked(&self) -> Vec<Message> {
        self.deck.rig.model.requests_of(&child("miner")).last().unwrap().messages.clone()
    }
}

fn restored(bytes: &[u8]) -> Resumed {
    restore(read_records(bytes).unwrap().records)
}

fn miner() -> Vec<Persona> {
    vec![persona("miner", &["look"])]
}

fn look(id: &str) -> Played {
    Played::calls(&[(id, "look", "{}")])
}

/// Runs a turn in which a sub-agent makes a call and answers.
async fn first_process() -> Process {
    let process =
        Process::new([spawns(&[("c1", "miner", "Dig.")]), Played::text("Done.")], [look("k1"), Played::text("Gold.")]);
    let agent = process.deck.parent(miner()).await;
    run(agent, "Go.").answered().await;
    process
}

#[tokio::test]
async fn a_text_of_the_user_continues_a_sub_agent_of_an_earlier_process_with_its_history() {
    let first = first_process().await;
    let known = [first.asked(), vec![Message::assistant("Gold.")]].concat();
    let resumed = restored(&first.end());
    let second = Process::new([], [Played::text("Silver.")]);
    let _agent = second.resume(miner(), resumed).await;
    assert_eq!(second.deck.kept(), ["miner 0"]);
    second.deck.tell("miner 0", "and silver").unwrap();
    second.deck.run_begun().await;
    assert_eq!(second.asked()[..known.len()], known);
    assert_eq!(second.deck.rig.last_request().lines().last().unwrap(), "user: and silver");
    let turns = second.deck.rig.events().into_iter().filter_map(|event| match event {
        Event::TurnStarted { turn } => Some(turn),
        _ => None,
    });
    assert_eq!(turns.collect::<Vec<_>>(), [2], "its turns are counted on");

    // Both processes wrote one journal; a third goes on with it.
    let more = String::from_utf8(second.end()).unwrap().replace("{\"record\":", "{\"record\":10");
    let both = [first.end(), more.into_bytes()].concat();
    let third = Process::new([], [Played::text("Copper.")]);
    let _agent = third.resume(miner(), restored(&both)).await;
    third.deck.tell("miner 0", "and copper").unwrap();
    third.deck.run_begun().await;
    let lines = third.deck.rig.last_request().lines();
    let of_user: Vec<&String> = lines.iter().filter(|line| line.starts_with("user: ")).collect();
    assert_eq!(of_user, ["user: Dig.", "user: and silver", "user: and copper"]);
}

#[tokio::test]
async fn a_rule_of_the_main_agent_holds_on_when_a_sub_agent_that_was_told_of_it_is_continued() {
    let children = [look("k1"), Played::text("Gold."), Played::text("Silver."), Played::text("Copper.")];
    let process = Process::new([spawns(&[("c1", "miner", "Dig.")]), Played::text("Done.")], children);
    let agent = process.deck.parent(miner()).await;
    let (id, text, scope) = ("m9".into(), "Be brief.".to_owned(), RuleScope::Tree);
    let rule = Rule { id, agent: AgentId::main(), scope, text, version: 0 };
    agent.rules().set(rule.clone());
    let agent = run(agent, "Go.").answered().await;
    process.deck.tell("miner 0", "and silver").unwrap();
    process.deck.run_begun().await;
    assert_eq!(agent.rules().list(), std::slice::from_ref(&rule));
    // Nor does it come back with that conversation once it was withdrawn.
    assert!(agent.rules().change(&rule.id, RuleChange::Withdraw));
    process.deck.tell("miner 0", "and copper").unwrap();
    process.deck.run_begun().await;
    assert_eq!(agent.rules().list(), []);
}

#[tokio::test]
async fn an_agent_that_ran_when_the_program_died_can_go_on_with_what_it_had_wherever_that_ends() {
    let bytes = first_process().await.end();
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let mut went_on = 0;
    for cut in ends.flat_map(|end| [end, end.saturating_sub(7)]) {
        let process = Process::new([], [Played::text("More.")]);
        let _agent = process.resume(miner(), restored(&bytes[..cut])).await;
        if process.deck.kept().is_empty() {
            continue;
        }
        went_on += 1;
        process.deck.tell("miner 0", "go on").unwrap();
        process.deck.run_begun().await;
        assert_eq!(fault(&process.asked()), None, "cut at {cut}");
        assert_eq!(process.deck.rig.last_request().lines().last().unwrap(), "user: go on", "cut at {cut}");
        let lines = process.deck.rig.last_request().lines();
        assert!(lines.iter().any(|line| line == "user: Dig."), "cut at {cut}: {lines:?}");
    }
    assert!(went_on > 8, "{went_on}");
}

#[tokio::test]
async fn as_many_are_kept_as_in_the_process_that_ran_them_and_a_reset_forgets_them() {
    let number = limits::KEPT_AGENTS + 3;
    let ids: Vec<String> = (0..number).map(|id| format!("c{id}")).collect();
    let list: Vec<(&str, &str, &str)> = ids.iter().map(|id| (id.as_str(), "miner", "Dig.")).collect();
    let script = list.chunks(1).map(spawns).chain([Played::text("Done.")]);
    let process = Process::new(script.collect::<Vec<_>>(), (0..number).map(|_| Played::text("Gold.")));
    let agent = process.deck.parent(miner()).await;
    let mut agent = run(agent, "Go.").answered().await;
    let kept = process.deck.handle.continuations().ids();
    agent.reset();
    let bytes = process.end();
    assert_eq!(restored(&bytes).agents.ids(), []);
    let text = String::from_utf8(bytes).unwrap();
    let before_reset = &text[..text.rfind(r#""type":"reset""#).unwrap()];
    let before_reset = &before_reset[..=before_reset.rfind('\n').unwrap()];
    assert_eq!(restored(before_reset.as_bytes()).agents.ids(), kept);
}

#[tokio::test]
async fn a_branch_has_the_sub_agents_that_had_ended_before_its_message() {
    let script = [
        spawns(&[("c1", "miner", "Dig.")]),
        Played::text("Done."),
        spawns(&[("c2", "miner", "Dig more.")]),
        Played::text("Done."),
    ];
    let process = Process::new(script, [Played::text("Gold."), Played::text("Silver.")]);
    let mut agent = process.deck.parent(miner()).await;
    for text in ["first", "second"] {
        process.deck.rig.inject(text);
        agent.run_queue().await.unwrap();
    }
    let records = read_records(process.end().as_slice()).unwrap().records;
    let branch = restore_left(before(&records, &"m2".into()).unwrap());
    assert_eq!(branch.agents.ids(), [AgentId::new("miner 0")]);
    assert_eq!(restore(records).agents.ids(), [AgentId::new("miner 0"), AgentId::new("miner 1")]);
}

#[tokio::test]
async fn an_agent_whose_persona_is_gone_is_not_kept() {
    let resumed = restored(&first_process().await.end());
    let process = Process::new([], []);
    let _agent = process.resume(vec![persona("digger", &[])], resumed).await;
    assert_eq!(process.deck.kept(), [] as [String; 0]);
    assert_eq!(process.deck.tell("miner 0", "go on"), Err(Refused::Ended));
}

#[tokio::test]
async fn an_agent_with_a_directory_of_its_own_is_told_that_the_old_one_is_gone() {
    let personas = || vec![Persona { temp_workspace: TempWorkspace::Yes, ..persona("miner", &[]) }];
    let first = Process::new(
        [spawns(&[("c1", "miner", "Dig.")]), Played::text("Done.")],
        [Played::text("Gold."), Played::text("Silver.")],
    );
    let agent = first.deck.parent(personas()).await;
    run(agent, "Go.").answered().await;
    first.deck.tell("miner 0", "and silver").unwrap();
    first.deck.run_begun().await;
    let is_told = |process: &Process| process.asked().iter().any(|message| format!("{message:?}").contains("are gone"));
    assert!(!is_told(&first), "it has its directory still");
    let resumed = restored(&first.end());
    let second = Process::new([], [Played::text("Copper.")]);
    let _agent = second.resume(personas(), resumed).await;
    second.deck.tell("miner 0", "and copper").unwrap();
    second.deck.run_begun().await;
    assert!(is_told(&second), "{:?}", second.asked());
}

#[tokio::test]
async fn a_resumed_session_tells_its_clients_who_can_go_on_and_works_until_that_has_ended() {
    let disk = Disk::default();
    let written = journal(&disk);
    let (main, miner) = (AgentId::main(), AgentId::new("file_miner 0"));
    let spawned = Event::AgentSpawned {
        child: miner.clone(),
        persona: "file_miner".to_owned(),
        task: "Dig.".to_owned(),
        call: None,
        model: None,
        max_steps: Some(9),
        tools: Vec::new(),
    };
    written.on_event(&event(1, Event::TurnStarted { turn: 1 }));
    written.on_event(&event(2, spawned));
    for message in [Message::system("You are the miner child."), Message::user("Dig."), Message::assistant("Gold.")] {
        written.on_history(&miner, HistoryChange::Appended(&message));
    }
    let ended = Event::AgentFinished { child: miner.clone(), outcome: Outcome::Completed, message: None };
    written.on_event(&event(3, ended));
    written.on_event(&event(4, Event::TurnEnded { turn: 1, outcome: Outcome::Completed, message: None }));
    written.on_history(&main, HistoryChange::Appended(&Message::system("As it was.")));
    written.close();

    let (rig, dir, pause) = (Rig::new([]), TempDir::new().unwrap(), Pause::new());
    rig.model.route("You are a file miner", [Played::text("Silver.").paused(&pause)]);
    let setup = Setup { resumed: Some(Box::new(restored(&disk.bytes()))), ..crate::support::bench::setup(&rig, &dir) };
    let mut host = host::start(&tokio::runtime::Handle::current(), setup);
    assert_eq!(within(PATIENCE, "it settles", host.settled()).await, Ok(LastRun::None));
    let updates = host.handle().mailbox().take_updates();
    assert!(updates.contains(&Update::Notice(Notice::Continuable(vec![miner.clone()]))), "{updates:?}");
    host.handle().inject_user_message(&miner, "and silver").unwrap();
    pause.reached().await;
    assert_eq!(host.state(), WorkerState::Running);
    pause.open();
    assert_eq!(within(PATIENCE, "it settles", host.settled()).await, Ok(LastRun::None));
    let asked = rig.last_request().lines();
    assert_eq!(asked[1..], ["user: Dig.", "assistant: Gold.", "user: and silver"]);
    assert_eq!(host.handle().continuations().ids(), [miner], "it can go on once more");
    host.shutdown(PATIENCE).await;
}

#[tokio::test]
async fn a_reset_waits_until_a_continued_agent_has_ended_and_nothing_of_it_reaches_the_new_conversation() {
    let (rig, dir, pause) = (Rig::new([Played::text("Fresh.")]), TempDir::new().unwrap(), Pause::new());
    rig.model.route("You are a file miner", [Played::text("Silver.").paused(&pause)]);
    let mut resumed = restored(&[]);
    let messages =
        vec![Message::system("You are the miner child."), Message::user("Dig."), Message::assistant("Gold.")];
    let (id, persona) = (AgentId::new("file_miner 0"), "file_miner".to_owned());
    resumed.agents.keep(steersman_agent::subagent::FinishedAgent::recorded(id.clone(), persona, messages, 1));
    let setup = Setup { resumed: Some(Box::new(resumed)), ..crate::support::bench::setup(&rig, &dir) };
    let mut host = host::start(&tokio::runtime::Handle::current(), setup);
    assert_eq!(within(PATIENCE, "it settles", host.settled()).await, Ok(LastRun::None));
    host.handle().inject_user_message(&id, "and silver").unwrap();
    pause.reached().await;
    host.handle().request(host::Command::Reset);
    host.handle().inject_user_message(&AgentId::main(), "hello").unwrap();
    assert_eq!(within(PATIENCE, "it settles", host.settled()).await, Ok(LastRun::Answered));
    assert_eq!(rig.last_request().lines()[1..], ["user: hello"]);
    assert_eq!(host.handle().continuations().ids(), []);
    let ended = rig.events().into_iter().position(|event| matches!(event, Event::AgentFinished { .. }));
    let reset = rig.events().into_iter().position(|event| matches!(event, Event::Reset {}));
    assert!(ended.unwrap() < reset.unwrap());
    host.shutdown(PATIENCE).await;
}

#[test]
fn the_model_continues_a_sub_agent_of_an_earlier_run_in_all_four_dialects() {
    for provider in ["openai", "openai-responses", "anthropic", "gemini"] {
        let dig = json!({"name": "file_miner", "task": "dig"}).to_string();
        let deeper = json!({"name": "file_miner", "task": "deeper", "continue": "file_miner 0"}).to_string();
        let server = Server::start([
            Reply::calls(&[("a", "agent", &dig)]),
            Reply::calls(&[("k", "glob", r#"{"pattern":"*"}"#)]),
            Reply::text("gold"),
            Reply::text("One."),
            Reply::calls(&[("b", "agent", &deeper)]),
            Reply::text("silver"),
            Reply::text("Two."),
        ]);
        let url = if provider == "gemini" { server.origin().to_owned() } else { server.url() };
        let mut home = TempDir::new().unwrap();
        for args in [["a giraffe"].as_slice(), &["--continue", "second"]] {
            let program = Program::within(home).env("KEY", "k");
            let program = program.args(["exec", "--provider", provider, "--base-url", &url, "--model", "m"]);
            let program = program.args(["--api-key-env", "KEY"]).args(args.iter().copied());
            let (output, kept) = program.output_with_home();
            assert_eq!(exit_code(&output), 0, "{provider}: {}", stderr(&output));
            home = kept;
        }
        assert_eq!(server.violations(), [] as [String; 0], "{provider}");
        let chats = server.chats();
        assert_eq!(chats.len(), 7, "{provider}");
        let body = chats[5].body.to_string();
        for part in ["dig", "gold", "deeper", "glob"] {
            assert!(body.contains(part), "{provider}: {part} is missing: {body}");
        }
        assert!(!body.contains("giraffe"), "{provider}: it has its own conversation: {body}");
    }
}
