//! A host for any agent: its own task, its events as a stream, its queue, its stop.
//!
//! The loop is that of the program's own host. Always holds: no event is dropped, deltas that nobody has taken yet are
//! merged; what is dropped stops the agent.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use futures_util::Stream;
use futures_util::task::AtomicWaker;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use crate::host::turns::{TurnLoop, TurnsOnly, settled};
use crate::host::{LastRun, Mailbox, WorkerState};
use steersman_agent::{Agent, AgentBuilder};
use steersman_base::error::{BuildError, Refused};
use steersman_base::event::{Envelope, Event, Pending};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::protocol::Post;
use steersman_core::approval::Approvals;
use steersman_core::control::{Crew, Injection};

/// Runs an agent on a task of its own: a turn whenever a message waits for it.
///
/// `crew` is the controls that the agent was built with, or the crew that its sub-agents are members of;
/// [`RunningAgent::start`] makes one. Needs a runtime of tokio around it.
///
/// Example: "A hosted agent with controls of your own" in the documentation of `steersman::prelude`.
///
/// # Errors
/// An argument error when the agent was not built with these controls.
pub fn run(agent: Agent, crew: impl Into<Arc<Crew>>) -> Result<RunningAgent, BuildError> {
    let crew = crew.into();
    let main = crew.main();
    if !agent.interloper().is_some_and(|own| Arc::ptr_eq(own, &main.interloper)) {
        return Err(BuildError::argument("the agent was not built with these controls"));
    }
    let events = Arc::new(Events::default());
    let waker = Arc::downgrade(&events);
    events.mailbox.on_wake(Arc::new(move || {
        if let Some(events) = waker.upgrade() {
            events.waker.wake();
        }
    }));
    agent.add_listener(Arc::<Mailbox>::clone(&events.mailbox));
    // It was found before anybody could listen here.
    agent.listeners().emit(Event::ContextCap { tokens: agent.context_window_cap() });
    let approvals = Arc::clone(agent.approvals());
    let (publish, state) = watch::channel(WorkerState::Idle(LastRun::None));
    let end = Arc::new(Notify::new());
    let turns = TurnLoop { state: publish, end: Arc::clone(&end) };
    let ended = EndOfEvents(Arc::clone(&events));
    let task = tokio::spawn(async move {
        let _ended = ended;
        turns.run(agent, main.interloper, TurnsOnly).await
    });
    let stopper = Stopper { crew, end };
    Ok(RunningAgent { stopper, approvals, events, taken: VecDeque::new(), state, task })
}

/// An agent on a task of its own. Dropping it stops the agent.
pub struct RunningAgent {
    stopper: Stopper,
    approvals: Arc<Approvals>,
    events: Arc<Events>,
    taken: VecDeque<Envelope>,
    state: watch::Receiver<WorkerState>,
    task: JoinHandle<Agent>,
}

impl RunningAgent {
    /// Builds an agent and runs it as [`run()`] does. Without controls of its own it gets some, and without a crew one that its
    /// sub-agents are members of.
    ///
    /// Example: "A hosted agent" in the documentation of `steersman::prelude`.
    ///
    /// # Errors
    /// Those of [`AgentBuilder::build`].
    pub async fn start(builder: AgentBuilder) -> Result<Self, BuildError> {
        let (builder, crew) = builder.crewed();
        run(builder.await?, crew)
    }

    /// Sends a message to the main agent: it starts a turn, or enters the one that runs at its next boundary.
    ///
    /// # Errors
    /// [`Refused`]; the caller keeps the text.
    pub fn send(&self, message: impl Into<Injection>) -> Result<MessageId, Refused> {
        self.send_to(&AgentId::main(), message)
    }

    /// Sends a message to one agent of the crew.
    ///
    /// # Errors
    /// [`Refused::Ended`] when it does not run (any more), else as [`RunningAgent::send`].
    pub fn send_to(&self, agent: &AgentId, message: impl Into<Injection>) -> Result<MessageId, Refused> {
        self.stopper.crew.send_to(agent, message)
    }

    /// Returns what is pending for whom; agents without anything are left out.
    pub fn pending(&self) -> Vec<(AgentId, Vec<Pending>)> {
        self.stopper.crew.peek()
    }

    /// Stops the running turn, sub-agents included, and takes back every text that was pending.
    pub fn stop(&self) -> Vec<Pending> {
        self.stopper.crew.stop()
    }

    /// Returns the controls of every agent that runs: to withdraw and change what is pending, to pause an agent.
    pub fn crew(&self) -> &Arc<Crew> {
        &self.stopper.crew
    }

    /// Returns the open questions about acts of tools, and where they are answered.
    pub fn approvals(&self) -> &Arc<Approvals> {
        &self.approvals
    }

    /// Waits for the next event of the agent or of one of its sub-agents; `None` once the agent is closed.
    pub async fn next_event(&mut self) -> Option<Envelope> {
        poll_fn(|context| self.poll_event(context)).await
    }

    /// Waits until no turn runs and nothing deliverable is pending; returns how the last turns ended. Events need not be
    /// taken for that, but those of a flood wait for it.
    ///
    /// # Errors
    /// The sentence of an agent that broke down.
    pub async fn settled(&mut self) -> Result<LastRun, String> {
        settled(&mut self.state, || self.stopper.crew.main().interloper.deliverable()).await
    }

    /// Stops the agent, closes it and returns it with its conversation; `None` when it broke down.
    pub async fn close(self) -> Option<Agent> {
        let Self { stopper, events, task, .. } = self;
        drop(stopper);
        // Nobody takes events any more, and the agent must not wait for it.
        events.mailbox.take();
        task.await.ok()
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Envelope>> {
        self.events.waker.register(context.waker());
        // In this order: what came before the end is among the events.
        let has_ended = self.events.has_ended();
        if self.taken.is_empty() {
            self.taken.extend(self.events.mailbox.take().into_iter().filter_map(|post| match post {
                Post::Envelope(envelope) => Some(envelope),
                Post::Reply(_) | Post::Queues { .. } | Post::Approvals { .. } | Post::Budget(_) | Post::Notice(_) => {
                    None
                }
            }));
        }
        match self.taken.pop_front() {
            Some(envelope) => Poll::Ready(Some(envelope)),
            None if has_ended => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}

impl Stream for RunningAgent {
    type Item = Envelope;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Envelope>> {
        self.poll_event(context)
    }
}

/// The events that nobody has taken yet.
#[derive(Default)]
struct Events {
    mailbox: Arc<Mailbox>,
    waker: AtomicWaker,
    has_ended: AtomicBool,
}

impl Events {
    fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::SeqCst)
    }
}

/// Says that no event comes any more, also when the task of the agent breaks down.
struct EndOfEvents(Arc<Events>);

impl Drop for EndOfEvents {
    fn drop(&mut self) {
        self.0.has_ended.store(true, Ordering::SeqCst);
        self.0.waker.wake();
    }
}

/// Ends the loop when it is dropped.
struct Stopper {
    crew: Arc<Crew>,
    end: Arc<Notify>,
}

impl Drop for Stopper {
    fn drop(&mut self) {
        self.crew.stop();
        self.end.notify_one();
    }
}
