//! Tools and replies that wait until the test lets them go on.

use super::within;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;
use steersman_base::message::Arguments;
use steersman_core::provider::{Piece, Played, Step};
use steersman_core::tool::{Concurrency, FnTool, OnCancel, Parameters, RawTool, Tool, ToolContext, ToolError};
use tokio::sync::{Notify, Semaphore};

/// Holds something up until the test lets it go, and tells the test when it is there.
#[derive(Clone)]
pub struct Gate {
    reached: Arc<Semaphore>,
    open: Arc<Semaphore>,
}

impl Default for Gate {
    fn default() -> Self {
        Self { reached: Arc::new(Semaphore::new(0)), open: Arc::new(Semaphore::new(0)) }
    }
}

impl Gate {
    pub fn new() -> Self {
        Self::default()
    }

    /// For the held side: says that it is here and waits for one opening.
    pub async fn pass(&self) {
        self.reached.add_permits(1);
        self.open.acquire().await.unwrap().forget();
    }

    /// Waits until one more has come to the gate.
    pub async fn reached(&self) {
        within(Duration::from_secs(5), "somebody comes to the gate", self.reached.acquire()).await.unwrap().forget();
    }

    /// Tells how many came that [`Gate::reached`] has not waited for.
    pub fn waiting(&self) -> usize {
        self.reached.available_permits()
    }

    /// Lets one pass.
    pub fn open(&self) {
        self.open.add_permits(1);
    }
}

/// Holds a reply up between two of its pieces.
#[derive(Clone, Default)]
pub struct Pause {
    reached: Arc<Notify>,
    open: Arc<Notify>,
}

impl Pause {
    pub fn new() -> Self {
        Self::default()
    }

    pub async fn reached(&self) {
        within(Duration::from_secs(5), "the reply comes to the pause", self.reached.notified()).await;
    }

    pub fn open(&self) {
        self.open.notify_one();
    }
}

/// What the tests add to [`Played`].
pub trait PlayedExt {
    /// Holds the reply up here.
    fn paused(self, pause: &Pause) -> Self;
    /// Plays one more piece of text; the reply's content stays as it is.
    fn piece(self, thinking: &str, text: &str) -> Self;
}

impl PlayedExt for Played {
    fn paused(self, pause: &Pause) -> Self {
        self.then(Step::Reached(Arc::clone(&pause.reached))).then(Step::Wait(Arc::clone(&pause.open)))
    }

    fn piece(self, thinking: &str, text: &str) -> Self {
        self.then(Step::Piece(Piece::Chunk { thinking: thinking.to_owned(), text: text.to_owned() }))
    }
}

/// Plays calls of tools without arguments: `("c1", "name")`.
pub fn calls(calls: &[(&str, &str)]) -> Played {
    let calls: Vec<_> = calls.iter().map(|(id, name)| (*id, *name, "{}")).collect();
    Played::calls(&calls)
}

/// Makes a tool without arguments that answers at once.
pub fn tool(name: &str, answer: &str) -> Arc<dyn Tool> {
    let answer = answer.to_owned();
    acting(name, move |_| answer.clone())
}

/// Makes a tool without arguments that does something and answers.
pub fn acting(name: &str, act: impl Fn(ToolContext) -> String + Send + Sync + 'static) -> Arc<dyn Tool> {
    let act = Arc::new(act);
    Arc::new(FnTool::new(name, "Acts.", Parameters::default(), move |_, context| {
        let act = Arc::clone(&act);
        async move { Ok(act(context)) }
    }))
}

/// Makes a tool that says its `text` again.
pub fn echo() -> Arc<dyn Tool> {
    let parameters = Parameters::build(|p| {
        p.required_string("text", "What to say.");
    });
    Arc::new(FnTool::new(
        "echo",
        "Says it again.",
        parameters,
        |args, _| async move { Ok(args.str("text").to_owned()) },
    ))
}

/// Makes a tool that waits at a gate, then answers `<name> done`. It runs alone and a cancel drops it.
pub fn gated(name: &str, gate: &Gate) -> Arc<dyn Tool> {
    Arc::new(gated_fn(name, gate))
}

/// As [`gated`], and neighbours may run beside it.
pub fn gated_beside(name: &str, gate: &Gate) -> Arc<dyn Tool> {
    Arc::new(gated_fn(name, gate).concurrency(Concurrency::Parallel))
}

/// As [`gated`], and it finishes its work whatever the cancel flag says.
pub fn gated_stubborn(name: &str, gate: &Gate) -> Arc<dyn Tool> {
    Arc::new(gated_fn(name, gate).on_cancel(OnCancel::Wait))
}

pub fn gated_fn(name: &str, gate: &Gate) -> FnTool {
    let (gate, answer) = (gate.clone(), format!("{name} done"));
    FnTool::new(name, "Waits.", Parameters::default(), move |_, _| {
        let (gate, answer) = (gate.clone(), answer.clone());
        async move {
            gate.pass().await;
            Ok(answer)
        }
    })
}

/// A raw tool that answers with the arguments it was given.
pub struct RawEcho(pub &'static str);

impl RawTool for RawEcho {
    fn name(&self) -> &str {
        self.0
    }

    fn description(&self) -> &'static str {
        "Says its arguments again."
    }

    fn schema(&self) -> Value {
        serde_json::json!({"type": "object"})
    }

    fn call<'a>(&'a self, arguments: &'a Arguments, _: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        async move { Ok(format!("raw {arguments}")) }.boxed()
    }
}
