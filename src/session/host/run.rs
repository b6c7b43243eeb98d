//! A host for any agent: its own task, its events as a stream, its queue, its stop.
//!
//! The loop is that of the program's own host. Always holds: no event is dropped, deltas that nobody has taken yet are
//! merged; what is dropped stops the agent.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll};

use futures_util::Stream;
use futures_util::task::AtomicWaker;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use crate::host::turns::{TurnLoop, TurnsOnly, settled};
use crate::host::{LastRun, Mailbox, WorkerState};
use steersman_agent::{Agent, AgentBuilder};
use steersman_base::error::{BuildError, Refused};
use steersman_base::event::{Envelope, Event, Pending, UserText};
use steersman_base::id::AgentId;
use steersman_base::protocol::Update;
use steersman_base::sync::lock;
use steersman_core::approval::Approvals;
use steersman_core::control::AgentControls;
use steersman_core::listener::{Listener, ListenerList};

/// Runs an agent on a task of its own: a turn whenever a message waits for it.
///
/// `agent_controls` is the controls that the agent was built with, or those that its sub-agents are members of;
/// [`RunningAgent::start`] makes one. Needs a runtime of tokio around it.
///
/// Example: "A hosted agent with controls of your own" in the documentation of `steersman::prelude`.
///
/// # Errors
/// An argument error when the agent was not built with these controls.
pub fn run(agent: Agent, agent_controls: impl Into<Arc<AgentControls>>) -> Result<RunningAgent, BuildError> {
    let agent_controls = agent_controls.into();
    let main = agent_controls.main();
    if !agent.interloper().is_some_and(|own| Arc::ptr_eq(own, &main.interloper)) {
        return Err(BuildError::argument("the agent was not built with these controls"));
    }
    let readers = Readers { listeners: agent.listeners().clone(), end: Arc::default() };
    let events = readers.add();
    // It was found before anybody could listen here.
    agent.listeners().emit(Event::ContextCap { tokens: agent.context_window_cap() });
    let approvals = Arc::clone(agent.approvals());
    let (publish, state) = watch::channel(WorkerState::Idle(LastRun::None));
    let end = Arc::new(Notify::new());
    let turns = TurnLoop { state: publish, end: Arc::clone(&end) };
    let ended = EndOfEvents(Arc::clone(&readers.end));
    let task = tokio::spawn(async move {
        let _ended = ended;
        turns.run(agent, main.interloper, TurnsOnly).await
    });
    let stopper = Stopper { agent_controls, end };
    Ok(RunningAgent { stopper, approvals, events, readers, state, task })
}

/// An agent on a task of its own. Dropping it stops the agent.
pub struct RunningAgent {
    stopper: Stopper,
    approvals: Arc<Approvals>,
    events: EventStream,
    readers: Readers,
    state: watch::Receiver<WorkerState>,
    task: JoinHandle<Agent>,
}

impl RunningAgent {
    /// Builds an agent and runs it as [`run()`] does. Without controls of its own it gets some, and without agent controls one that its
    /// sub-agents are members of.
    ///
    /// Example: "A hosted agent" in the documentation of `steersman::prelude`.
    ///
    /// # Errors
    /// Those of [`AgentBuilder::build`].
    pub async fn start(builder: AgentBuilder) -> Result<Self, BuildError> {
        let (builder, agent_controls) = builder.with_agent_controls();
        run(builder.await?, agent_controls)
    }

    /// Sends a message to the main agent: it starts a turn, or enters the one that runs at its next boundary.
    ///
    /// # Errors
    /// [`Refused`]; the caller keeps the text.
    pub fn send(&self, message: impl Into<UserText>) -> Result<Pending, Refused> {
        self.send_to(&AgentId::main(), message)
    }

    /// Sends a message to one agent of the tree.
    ///
    /// # Errors
    /// [`Refused::Ended`] when it does not run (any more), else as [`RunningAgent::send`].
    pub fn send_to(&self, agent: &AgentId, message: impl Into<UserText>) -> Result<Pending, Refused> {
        self.stopper.agent_controls.send_to(agent, message)
    }

    /// Returns what is pending for whom; agents without anything are left out.
    pub fn pending(&self) -> Vec<(AgentId, Vec<Pending>)> {
        self.stopper.agent_controls.peek()
    }

    /// Stops the running turn, sub-agents included, and takes back every text that was pending.
    pub fn stop(&self) -> Vec<Pending> {
        self.stopper.agent_controls.stop()
    }

    /// Returns the controls of every agent that runs: to withdraw and change what is pending, to pause an agent.
    pub fn agent_controls(&self) -> &Arc<AgentControls> {
        &self.stopper.agent_controls
    }

    /// The earlier name of [`RunningAgent::agent_controls`].
    pub fn crew(&self) -> &Arc<AgentControls> {
        self.agent_controls()
    }

    /// Returns the open questions about operations of tools, and where they are answered.
    pub fn approvals(&self) -> &Arc<Approvals> {
        &self.approvals
    }

    /// Waits for the next event of the agent or of one of its sub-agents; `None` once the agent is closed.
    pub async fn next_event(&mut self) -> Option<Envelope> {
        self.events.next_event().await
    }

    /// Returns a further stream of every event from here on, for another reader: each gets all of them. An agent waits in a
    /// flood for every reader, so drop the stream of one that reads no more.
    ///
    /// Example: "Several readers of the events" in the documentation of `steersman::prelude`.
    pub fn subscribe(&self) -> EventStream {
        self.readers.add()
    }

    /// Waits until no turn runs and nothing deliverable is pending; returns how the last turns ended. Events need not be
    /// taken for that, but those of a flood wait for it.
    ///
    /// # Errors
    /// The sentence of an agent that broke down.
    pub async fn settled(&mut self) -> Result<LastRun, String> {
        settled(&mut self.state, || self.stopper.agent_controls.main().interloper.deliverable()).await
    }

    /// Stops the agent, closes it and returns it with its conversation; `None` when it broke down.
    pub async fn close(self) -> Option<Agent> {
        let Self { stopper, events, task, .. } = self;
        drop(stopper);
        // Nobody takes events any more, and the agent must not wait for it.
        drop(events);
        task.await.ok()
    }
}

/// The events of a [`RunningAgent`], for one reader.
pub struct EventStream {
    unread: Arc<UnreadEvents>,
    taken: VecDeque<Envelope>,
    readers: Readers,
}

impl EventStream {
    /// Waits for the next event of the agent or of one of its sub-agents; `None` once the agent is closed.
    pub async fn next_event(&mut self) -> Option<Envelope> {
        poll_fn(|context| self.poll_event(context)).await
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Envelope>> {
        self.unread.waker.register(context.waker());
        // In this order: what came before the end is among the events.
        let has_ended = self.readers.end.has_come();
        if self.taken.is_empty() {
            self.taken.extend(self.unread.mailbox.take_updates().into_iter().filter_map(|update| match update {
                Update::Envelope(envelope) => Some(envelope),
                Update::Reply(_)
                | Update::Queues { .. }
                | Update::Approvals { .. }
                | Update::Budget(_)
                | Update::Notice(_) => None,
            }));
        }
        match self.taken.pop_front() {
            Some(envelope) => Poll::Ready(Some(envelope)),
            None if has_ended => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}

impl Stream for EventStream {
    type Item = Envelope;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Envelope>> {
        self.poll_event(context)
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        let listener: Arc<dyn Listener> = self.unread.clone();
        self.readers.listeners.detach(&listener);
        // An agent that waits for this reader goes on.
        self.unread.mailbox.take_updates();
    }
}

impl Stream for RunningAgent {
    type Item = Envelope;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Envelope>> {
        self.events.poll_event(context)
    }
}

/// The readers of the events of one agent.
#[derive(Clone)]
struct Readers {
    listeners: ListenerList,
    end: Arc<EndState>,
}

impl Readers {
    fn add(&self) -> EventStream {
        let unread = Arc::new(UnreadEvents::default());
        let waker = Arc::downgrade(&unread);
        unread.mailbox.on_wake(Arc::new(move || {
            if let Some(unread) = waker.upgrade() {
                unread.waker.wake();
            }
        }));
        self.listeners.attach(unread.clone());
        self.end.add(&unread);
        EventStream { unread, taken: VecDeque::new(), readers: self.clone() }
    }
}

/// The events that one reader has not taken yet.
#[derive(Default)]
struct UnreadEvents {
    mailbox: Mailbox,
    waker: AtomicWaker,
}

impl Listener for UnreadEvents {
    fn on_event(&self, envelope: &Envelope) {
        self.mailbox.on_event(envelope);
    }

    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<()> {
        self.mailbox.poll_ready(context)
    }

    fn label(&self) -> String {
        "EventStream".to_owned()
    }
}

/// Whether the last event has come, and whom that wakes.
#[derive(Default)]
struct EndState {
    has_come: AtomicBool,
    waiting: Mutex<Vec<Weak<UnreadEvents>>>,
}

impl EndState {
    fn has_come(&self) -> bool {
        self.has_come.load(Ordering::SeqCst)
    }

    fn add(&self, unread: &Arc<UnreadEvents>) {
        let mut waiting = lock(&self.waiting);
        waiting.retain(|other| other.strong_count() > 0);
        waiting.push(Arc::downgrade(unread));
    }
}

/// Says that no event comes any more, also when the task of the agent breaks down.
struct EndOfEvents(Arc<EndState>);

impl Drop for EndOfEvents {
    fn drop(&mut self) {
        self.0.has_come.store(true, Ordering::SeqCst);
        for unread in lock(&self.0.waiting).iter().filter_map(Weak::upgrade) {
            unread.waker.wake();
        }
    }
}

/// Ends the loop when it is dropped.
struct Stopper {
    agent_controls: Arc<AgentControls>,
    end: Arc<Notify>,
}

impl Drop for Stopper {
    fn drop(&mut self) {
        self.agent_controls.stop();
        self.end.notify_one();
    }
}
