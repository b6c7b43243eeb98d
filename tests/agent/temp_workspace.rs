//! Stories of the temporary workspace of a child: who works in it, and that it goes away.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use steersman_agent::Agent;
use steersman_agent::subagent::{Persona, SubAgents, TempWorkspace};
use steersman_base::event::{Envelope, Event, Outcome};
use steersman_core::listener::Listener;
use steersman_core::provider::{Played, ProviderError};
use steersman_core::tool::{Args, Parameters, Tool, ToolContext, ToolDirectory, ToolError, ToolSpec};

use crate::support::doubles::{Gate, Log, PROMPT, Rig, Spy, acting, calls, run, tool};
use crate::support::subagents::{child, parent, persona, spawns};

/// A tool with a workspace: names its directory and leaves a file there, then does what the test wants.
struct Works {
    root: Option<PathBuf>,
    places: Places,
    then: fn(Gate) -> BoxFuture<'static, Result<String, ToolError>>,
    gate: Gate,
    spec: ToolSpec,
    /// The size of the file that it leaves.
    bytes: u64,
}

impl Tool for Works {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(&'a self, _: Args, _: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        let root = self.root.clone();
        if let Some(root) = &root {
            std::fs::File::create(root.join("left behind")).unwrap().set_len(self.bytes).unwrap();
        }
        self.places.lock().unwrap().push(root);
        (self.then)(self.gate.clone())
    }

    fn in_directory(&self, directory: &ToolDirectory) -> Option<Result<Arc<dyn Tool>, String>> {
        Some(Ok(Arc::new(Self {
            root: Some(directory.path().to_owned()),
            places: Arc::clone(&self.places),
            then: self.then,
            gate: self.gate.clone(),
            spec: self.spec.clone(),
            bytes: self.bytes,
        })))
    }
}

/// Where a tool worked: no workspace, or that one.
type Places = Arc<Mutex<Vec<Option<PathBuf>>>>;
type Then = fn(Gate) -> BoxFuture<'static, Result<String, ToolError>>;

/// Waits at the gate.
const WAITS_AT_GATE: Then = |gate| {
    async move {
        gate.pass().await;
        Ok("done".to_owned())
    }
    .boxed()
};

fn works(then: Then, gate: &Gate) -> (Arc<dyn Tool>, Places) {
    let places = Arc::new(Mutex::default());
    let tool = Works {
        root: None,
        places: Arc::clone(&places),
        then,
        gate: gate.clone(),
        spec: ToolSpec::new("works", "Works.", Parameters::default()),
        bytes: 1,
    };
    (Arc::new(tool), places)
}

fn temporary(name: &str) -> Persona {
    Persona { temp_workspace: TempWorkspace::Yes, ..persona(name, &["works", "plain"]) }
}

#[tokio::test(start_paused = true)]
async fn a_temporary_workspace_goes_with_its_child_however_it_ends() {
    let fine: Then = |_| async { Ok("done".to_owned()) }.boxed();
    let breaks: Then = |_| async { panic!("a bug of the tool") }.boxed();
    let endings = [
        ("ok", fine, Some(Played::text("Gold."))),
        ("failed", fine, Some(Played::error(ProviderError::CutOff))),
        ("tool panicked", breaks, Some(Played::text("Broken."))),
        ("cancelled", WAITS_AT_GATE, None),
    ];
    for (ending, then, answer) in endings {
        let gate = Gate::new();
        let rig = Rig::new([spawns(&[("c1", "digger", "Dig.")]), Played::text("Thanks.")]);
        let cancels = answer.is_none();
        rig.model.route(&child("digger"), [calls(&[("k1", "works"), ("k2", "plain")])].into_iter().chain(answer));
        let (tool_works, places) = works(then, &gate);
        let agent = parent(&rig, [tool_works, tool("plain", "p")], vec![temporary("digger")]).await;
        let running = run(agent, "Go.");
        if cancels {
            gate.reached().await;
            assert!(places.lock().unwrap()[0].as_ref().unwrap().join("left behind").exists());
            rig.cancellable.cancel();
            running.cancelled().await;
        } else {
            running.answered().await;
        }
        let places = places.lock().unwrap();
        let place = places[0].as_ref().expect("the tool was bound to the temporary workspace");
        let owned = place.parent().unwrap();
        assert!(owned.file_name().unwrap().to_str().unwrap().starts_with("steersman-digger-"), "{place:?}");
        assert_eq!(std::fs::read_dir(place).map_or(0, Iterator::count), 0, "{ending}: {place:?} is left");
        assert!(!owned.exists(), "{ending}: {owned:?} is left");
    }
}

fn leaves_a_file() -> (Arc<dyn Tool>, Places) {
    works(|_| async { Ok("done".to_owned()) }.boxed(), &Gate::new())
}

/// Plays a digger that works once for each of its turns.
fn dig(rig: &Rig, turns: usize) {
    let turn = || [calls(&[("k1", "works")]), Played::text("Dug.")];
    rig.model.route(&child("digger"), std::iter::repeat_with(turn).take(turns).flatten());
}

fn continues(id: &str) -> Played {
    Played::call("agent", &serde_json::json!({"name": "digger", "task": "Go on.", "continue": id}).to_string())
}

fn place(places: &Places, index: usize) -> PathBuf {
    places.lock().unwrap()[index].clone().expect("the tool was bound to the temporary workspace")
}

#[tokio::test]
async fn the_directory_stays_while_the_child_can_go_on_and_goes_with_the_main_agent() {
    let rig = Rig::new([
        spawns(&[("c1", "digger", "Dig.")]),
        Played::text("Thanks."),
        continues("digger 0"),
        Played::text("Thanks."),
    ]);
    dig(&rig, 2);
    let (tool_works, places) = leaves_a_file();
    let agent = parent(&rig, [tool_works, tool("plain", "p")], vec![temporary("digger")]).await;
    let agent = run(agent, "Go.").answered().await;
    assert!(place(&places, 0).join("left behind").exists(), "it can go on there");
    let agent = run(agent, "Again.").answered().await;
    assert_eq!(place(&places, 0), place(&places, 1));
    agent.close();
    assert!(!place(&places, 0).parent().unwrap().exists(), "the agent is closed, though it is still there");
    drop(agent);
}

#[tokio::test]
async fn a_new_conversation_leaves_no_directory() {
    let rig = Rig::new([spawns(&[("c1", "digger", "Dig.")]), Played::text("Thanks.")]);
    dig(&rig, 1);
    let (tool_works, places) = leaves_a_file();
    let agent = parent(&rig, [tool_works, tool("plain", "p")], vec![temporary("digger")]).await;
    let mut agent = run(agent, "Go.").answered().await;
    agent.reset();
    assert!(!place(&places, 0).exists());
}

#[tokio::test]
async fn too_much_in_kept_directories_gives_way_and_the_child_is_told() {
    let rig = Rig::new([
        spawns(&[("c1", "digger", "Dig.")]),
        spawns(&[("c2", "digger", "Dig.")]),
        Played::text("Thanks."),
        continues("digger 0"),
        Played::text("Thanks."),
    ]);
    dig(&rig, 3);
    let places: Places = Arc::new(Mutex::default());
    let works = Works {
        root: None,
        places: Arc::clone(&places),
        // Holes in a file count as what they would take.
        then: |_| async { Ok("done".to_owned()) }.boxed(),
        gate: Gate::new(),
        spec: ToolSpec::new("works", "Works.", Parameters::default()),
        bytes: steersman_base::limits::KEPT_WORKSPACE_BYTES * 2 / 3,
    };
    let agent = parent(&rig, [Arc::new(works) as Arc<dyn Tool>, tool("plain", "p")], vec![temporary("digger")]).await;
    let agent = run(agent, "Go.").answered().await;
    assert!(!place(&places, 0).exists(), "the one that ended first gives way");
    assert!(place(&places, 1).exists());
    run(agent, "Again.").answered().await;
    assert_ne!(place(&places, 2), place(&places, 0));
    let asked = rig.model.requests();
    let told = asked
        .iter()
        .flat_map(|request| &request.messages)
        .any(|message| message.content().contains("is a new one, and empty"));
    assert!(told, "the child knows that its files are gone");
}

#[tokio::test]
async fn the_exit_deletes_the_directory_of_a_child_that_still_runs() {
    if !crate::lifecycle::alone("temp_workspace::the_exit_deletes_the_directory_of_a_child_that_still_runs") {
        return;
    }
    let gate = Gate::new();
    let rig = Rig::new([spawns(&[("c1", "digger", "Dig.")])]);
    rig.model.route(&child("digger"), [calls(&[("k1", "works")])]);
    let (tool_works, places) = works(WAITS_AT_GATE, &gate);
    let agent = parent(&rig, [tool_works, tool("plain", "p")], vec![temporary("digger")]).await;
    let running = run(agent, "Go.");
    gate.reached().await;
    assert!(place(&places, 0).exists());
    steersman_agent::finalizers::run();
    assert!(!place(&places, 0).parent().unwrap().exists());
    rig.cancellable.cancel();
    running.cancelled().await;
}

// Dropped in the middle, without a word.
#[tokio::test]
async fn a_temporary_workspace_that_cannot_be_made_is_named_as_the_reason() {
    const MARK: &str = "STEERSMAN_TEST_NO_TEMPORARY_DIRECTORY";
    // The directory is the process's, so the test has one for itself.
    if std::env::var_os(MARK).is_none() {
        let name = "temp_workspace::a_temporary_workspace_that_cannot_be_made_is_named_as_the_reason";
        let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
        let output = alone.args(["--exact", name]).env(MARK, "1").env("TMPDIR", "/nonexistent").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let rig = Rig::new([spawns(&[("c1", "digger", "Dig.")]), Played::text("Thanks.")]);
    let digger = Persona { temp_workspace: TempWorkspace::Yes, ..persona("digger", &[]) };
    let agent = parent(&rig, [], vec![digger]).await;
    run(agent, "Go.").answered().await;
    let why = "no temporary workspace could be made: ";
    let result = &rig.last_request().lines()[3];
    assert!(result.starts_with(&format!("tool#c1: Error: the agent 'digger 0' failed: {why}")), "{result}");
    let finished = rig.events().into_iter().find_map(|event| match event {
        Event::AgentFinished { outcome: Outcome::Failed, message, .. } => message,
        _ => None,
    });
    assert!(finished.unwrap().starts_with(why));
}

#[tokio::test(start_paused = true)]
async fn a_temporary_workspace_goes_when_the_run_is_dropped() {
    let gate = Gate::new();
    let rig = Rig::new([spawns(&[("c1", "digger", "Dig.")])]);
    rig.model.route(&child("digger"), [calls(&[("k1", "works")])]);
    let (tool_works, places) = works(WAITS_AT_GATE, &gate);
    let log = Log::new();
    let heard = log.clone();
    let ends: Arc<dyn Listener> = Arc::new(Spy(move |envelope: &Envelope| {
        if let Event::AgentFinished { child, outcome, .. } = &envelope.event {
            heard.say(format!("{child} {outcome:?}"));
        }
    }));
    let mut agent = Agent::builder(Rig::transport(), PROMPT, rig.connector())
        .build(|c| {
            c.add_listener(ends);
            c.add_tools([tool_works, tool("plain", "p")])?;
            c.add_extension(Arc::new(SubAgents::new(vec![temporary("digger")])?))
        })
        .await
        .unwrap();
    tokio::select! {
        _ = agent.run_loop("Go.") => unreachable!("the gate is shut"),
        () = gate.reached() => {}
    }
    assert!(!places.lock().unwrap()[0].as_ref().unwrap().exists());
    assert_eq!(log.all(), ["digger 0 Cancelled"]);
}

#[tokio::test]
async fn without_a_temporary_workspace_the_child_uses_the_very_tool_of_its_parent() {
    let rig = Rig::new([calls(&[("c0", "counts")]), spawns(&[("c1", "miner", "Dig.")]), Played::text("Thanks.")]);
    rig.model.route(&child("miner"), [calls(&[("k1", "counts")]), Played::text("Gold.")]);
    let count = std::sync::atomic::AtomicU32::new(0);
    let counts = acting("counts", move |_| (count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1).to_string());
    let agent = parent(&rig, [counts], vec![persona("miner", &["counts"])]).await;
    run(agent, "Go.").answered().await;
    assert!(rig.event_lines_of("miner 0").contains(&"result k1: 2".to_owned()));
}
