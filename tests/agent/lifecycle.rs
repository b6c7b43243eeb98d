//! Stories of the begin and the end: a construction that fails, close, and the clean-up at the program's exit.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Weak};

use futures_util::FutureExt;
use steersman_agent::{Agent, finalizers};
use steersman_base::error::BuildError;
use steersman_core::provider::{ChatProvider, ChatTransport, Connector, Played, ProviderError};

use crate::support::doubles::{FnExtension, Log, PROMPT, Rig, echo, run};

/// Tells whether this test has the process for itself; if not, runs it in a process of its own.
///
/// The list of finalizers is one for the process: running it here would close the agents of all other tests.
pub fn alone(test: &str) -> bool {
    const MARK: &str = "STEERSMAN_TEST_ALONE";
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(MARK, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    false
}

fn arms(log: &Log, names: &'static [&'static str]) -> FnExtension {
    let log = log.clone();
    FnExtension::new().configure(move |c| {
        for name in names {
            let log = log.clone();
            c.on_close(move || log.say(*name));
        }
        Ok(())
    })
}

#[tokio::test]
async fn a_failing_configure_cleans_up_what_was_armed_newest_first_and_returns_its_own_error() {
    let rig = Rig::new([]);
    let log = Log::new();
    let failing = FnExtension::new().configure(|_| Err(BuildError::Extension("the server did not start".into())));
    let error = rig
        .try_build(rig.builder(), |c| {
            c.add_extension(Arc::new(arms(&log, &["h1", "h2"])))?;
            c.add_extension(Arc::new(failing))?;
            log.say("not reached");
            Ok(())
        })
        .await
        .unwrap_err();
    assert!(matches!(&error, BuildError::Extension(inner) if inner.to_string() == "the server did not start"));
    assert_eq!(log.all(), ["h2", "h1"]);
}

// D24
#[tokio::test]
async fn a_construction_that_panics_cleans_up_what_was_armed() {
    let rig = Rig::new([]);
    let log = Log::new();
    let built = rig.try_build(rig.builder(), |c| {
        c.add_extension(Arc::new(arms(&log, &["h1", "h2"])))?;
        panic!("a bug of the block");
    });
    assert!(AssertUnwindSafe(built).catch_unwind().await.is_err());
    assert_eq!(log.all(), ["h2", "h1"]);
}

// D24
#[tokio::test]
async fn a_construction_that_is_dropped_while_it_probes_cleans_up_what_was_armed() {
    let rig = Rig::new([]);
    let log = Log::new();
    let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", server.local_addr().unwrap());
    let builder = rig.builder().llama_probe_url(address);
    tokio::select! {
        built = rig.try_build(builder, |c| c.add_extension(Arc::new(arms(&log, &["h1", "h2"])))) => {
            panic!("a server that does not answer was not waited for: {built:?}")
        }
        () = async {
            server.accept().await.unwrap();
            assert_eq!(log.all(), [""; 0], "not before it is dropped");
        } => {}
    }
    assert_eq!(log.all(), ["h2", "h1"]);
}

#[tokio::test]
async fn a_failing_bind_cleans_up_too() {
    let rig = Rig::new([]);
    let log = Log::new();
    let failing = FnExtension::new().bind(|_| Err(BuildError::Cancelled(steersman_base::error::Cancelled)));
    let error = rig
        .try_build(rig.builder(), |c| {
            c.add_extension(Arc::new(arms(&log, &["h1", "h2"])))?;
            c.add_extension(Arc::new(failing))
        })
        .await
        .unwrap_err();
    assert!(matches!(error, BuildError::Cancelled(_)));
    assert_eq!(log.all(), ["h2", "h1"]);
}

struct Unplugged;

impl Connector for Unplugged {
    fn connect(&self, _: &ChatTransport) -> Result<Arc<dyn ChatProvider>, ProviderError> {
        Err(ProviderError::Configuration("no such provider".to_owned()))
    }
}

#[tokio::test]
async fn a_provider_that_cannot_be_set_up_fails_the_construction_and_cleans_up() {
    let log = Log::new();
    let armed = log.clone();
    let error = Agent::builder(ChatTransport::default(), PROMPT, Arc::new(Unplugged))
        .build(|c| {
            c.on_close(move || armed.say("closed"));
            Ok(())
        })
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "no such provider");
    assert_eq!(log.all(), ["closed"]);
}

#[tokio::test]
async fn close_runs_the_handlers_newest_first_once_and_each_by_itself() {
    let rig = Rig::new([]);
    let log = Log::new();
    let agent = rig.try_build(rig.builder(), |c| c.add_extension(Arc::new(arms(&log, &["built"])))).await.unwrap();
    for name in ["first", "second"] {
        let log = log.clone();
        agent.on_close(move || log.say(name));
    }
    agent.on_close(|| panic!("a bug of a handler"));
    agent.close();
    agent.close();
    assert_eq!(log.all(), ["second", "first", "built"]);
}

#[tokio::test]
async fn a_handler_may_close_the_agent_again_or_add_another_handler() {
    let rig = Rig::new([]);
    let log = Log::new();
    let agent = Arc::new(rig.agent([]).await);
    let (weak, said): (Weak<Agent>, Log) = (Arc::downgrade(&agent), log.clone());
    let last = log.clone();
    agent.on_close(move || last.say("last"));
    agent.on_close(move || {
        let agent = weak.upgrade().unwrap();
        agent.close();
        let late = said.clone();
        // Too late to wait for a close: it runs at once, so that nothing leaks.
        agent.on_close(move || late.say("late"));
        said.say("first");
    });
    agent.close();
    assert_eq!(log.all(), ["late", "first", "last"]);
}

#[tokio::test]
async fn a_forgotten_agent_cleans_up() {
    let rig = Rig::new([]);
    let log = Log::new();
    let agent = rig.try_build(rig.builder(), |c| c.add_extension(Arc::new(arms(&log, &["h1", "h2"])))).await.unwrap();
    drop(agent);
    assert_eq!(log.all(), ["h2", "h1"]);
}

#[tokio::test]
async fn a_closed_agent_still_reads() {
    let rig = Rig::new([Played::text("Hello.")]);
    let agent = rig.agent([echo()]).await;
    let agent = run(agent, "Hi.").answered().await;
    agent.close();
    assert_eq!(agent.last_assistant_content(), Some("Hello."));
    assert_eq!(agent.tools().len(), 1);
}

#[tokio::test]
async fn finalizers_run_newest_first_each_by_itself_and_only_once() {
    if !alone("lifecycle::finalizers_run_newest_first_each_by_itself_and_only_once") {
        return;
    }
    let log = Log::new();
    for name in ["first", "second"] {
        let log = log.clone();
        finalizers::register(move || log.say(name));
    }
    finalizers::register(|| panic!("a bug of a finalizer"));
    let registers = log.clone();
    finalizers::register(move || {
        let nested = registers.clone();
        finalizers::register(move || nested.say("nested"));
        registers.say("registers");
    });
    finalizers::run();
    finalizers::run();
    assert_eq!(log.all(), ["registers", "nested", "second", "first"]);
}

#[tokio::test]
async fn the_exit_closes_an_agent_that_is_still_open_and_a_closed_one_is_gone() {
    if !alone("lifecycle::the_exit_closes_an_agent_that_is_still_open_and_a_closed_one_is_gone") {
        return;
    }
    let (rig, other) = (Rig::new([]), Rig::new([]));
    let log = Log::new();
    let open = rig.try_build(rig.builder(), |c| c.add_extension(Arc::new(arms(&log, &["open"])))).await.unwrap();
    let closed =
        other.try_build(other.builder(), |c| c.add_extension(Arc::new(arms(&log, &["closed"])))).await.unwrap();
    closed.close();
    assert_eq!(log.all(), ["closed"]);
    finalizers::run();
    assert_eq!(log.all(), ["closed", "open"]);
    open.close();
    assert_eq!(log.all(), ["closed", "open"], "closing after the exit's clean-up does nothing");
}

// Registered before anything can fail, and gone after the failure.
#[tokio::test]
async fn an_agent_is_on_the_exit_list_before_its_block_runs() {
    if !alone("lifecycle::an_agent_is_on_the_exit_list_before_its_block_runs") {
        return;
    }
    let rig = Rig::new([]);
    let log = Log::new();
    let armed = log.clone();
    let failed = rig
        .try_build(rig.builder(), |c| {
            c.on_close(move || armed.say("closed"));
            // The exit comes in the middle of the construction.
            finalizers::run();
            Err(BuildError::argument("too late"))
        })
        .await;
    assert_eq!(failed.unwrap_err().to_string(), "too late");
    assert_eq!(log.all(), ["closed"]);
}
