//! How a sub-agent is made and run: its parts, its turn, and what is left of it at its end.
//!
//! Shared with the child: transport, cancel flag, budget, context window, streaming, the derived listeners. From
//! the persona: prompt, tools, step budget. Not given: the queue, extensions, history, raw tools (so no `agent`
//! tool: no recursion). With agent controls each child has a queue, a cancel flag and a gate of its own (D21). The future
//! of a child needs nothing of its call: it can go on when that has returned.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::subagent::extension::ChildParts;
use crate::subagent::finished::FinishedAgent;
use crate::subagent::member::{RunningChild, TreeMembership};
use crate::subagent::temp_workspace::{LostDirectory, Workshop, Workshops};
use crate::subagent::{Persona, TempWorkspace};
use crate::{Agent, AgentBuilder, ModelChoice, TreeParts};
use steersman_base::error::{BuildError, Cancelled, RunError};
use steersman_base::event::{Event, Outcome};
use steersman_base::id::{AgentId, CallId};
use steersman_base::limits;
use steersman_base::plan::summary;
use steersman_base::sync::lock;
use steersman_core::control::{Cancellable, StepLimit};
use steersman_core::listener::ListenerList;
use steersman_core::provider::ChatTransport;
use steersman_core::tool::{Tool, ToolError, ToolScope};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What a child ends with: its answer, or why there is none, without its name.
pub(super) type ChildResult = Result<(String, Outcome), ToolError>;

/// Makes the sub-agents of one agent. It holds copies of that agent's parts.
pub(super) struct Spawner {
    pub(super) personas: Vec<Persona>,
    /// The next number of each persona; taken before the spawn and never reused (D20).
    counters: Mutex<HashMap<String, u64>>,
    pub(super) tree: TreeParts,
    tools: Vec<Arc<dyn Tool>>,
    pub(super) listeners: ListenerList,
    pub(super) cancellable: Option<Cancellable>,
    context_window_cap: Option<u64>,
    model_choice: Option<Arc<ModelChoice>>,
    pub(super) parts: ChildParts,
    workshops: Arc<Workshops>,
    /// Children that may work at the same time; the others wait for their turn.
    at_work: Arc<Semaphore>,
}

impl Spawner {
    /// Makes it with what the children share with `parent`.
    pub(super) fn new(
        parent: &Agent,
        personas: Vec<Persona>,
        numbers: HashMap<String, u64>,
        parts: ChildParts,
    ) -> Self {
        let workshops = Arc::new(Workshops::default());
        parent.on_close({
            let workshops = Arc::clone(&workshops);
            move || workshops.close()
        });
        Self {
            personas,
            counters: Mutex::new(numbers),
            tree: parent.tree().clone(),
            tools: parent.tools().iter().chain(parent.sub_agent_tools()).cloned().collect(),
            listeners: parent.listeners().clone(),
            cancellable: parent.cancellable().cloned(),
            context_window_cap: parent.context_window_cap(),
            model_choice: parent.model_choice().cloned(),
            at_work: Arc::new(Semaphore::new(
                parts.at_once.unwrap_or(limits::AGENTS_AT_ONCE).min(Semaphore::MAX_PERMITS),
            )),
            parts,
            workshops,
        }
    }

    /// Returns the persona of this name.
    pub(super) fn persona(&self, name: &str) -> Option<&Persona> {
        self.personas.iter().find(|persona| persona.name == name)
    }

    /// Returns the flag that stops whoever spawns.
    pub(super) fn flag(&self) -> Cancellable {
        self.cancellable.clone().unwrap_or_default()
    }

    /// Makes a child a member of the agent tree, where there is one.
    fn enroll(&self, id: &AgentId) -> Option<TreeMembership> {
        let agent_controls = self.parts.agent_controls.as_ref()?;
        Some(TreeMembership::enroll(agent_controls, id, &self.flag()))
    }

    /// Takes the place of a child that starts at once; `None` where it has to wait for its turn.
    pub(super) fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.at_work).try_acquire_owned().ok()
    }

    /// Takes the next id of a persona: `researcher 0`, `researcher 1`, …
    pub(super) fn next_id(&self, persona: &Persona) -> AgentId {
        let mut counters = lock(&self.counters);
        let counter = counters.entry(persona.name.clone()).or_insert(0);
        let id = AgentId::new(format!("{} {counter}", persona.name));
        *counter += 1;
        id
    }

    /// Returns the transport and the context window of a child that is spawned now: those of the parent, or of the
    /// model that was chosen meanwhile; with what its persona sets.
    fn transport(&self, persona: &Persona) -> (ChatTransport, Option<u64>) {
        let (mut transport, mut window) = self.parents_transport();
        if let Some(model) = persona.model.as_ref().filter(|model| transport.model.as_ref() != Some(model)) {
            // What was set or found out is of the parent's model.
            transport = ChatTransport { context_window: None, ..transport.with_model(model) };
            window = self.tree.connector.window_of(&transport);
        }
        transport.answering.temperature = persona.temperature.or(transport.answering.temperature);
        (transport, window)
    }

    fn parents_transport(&self) -> (ChatTransport, Option<u64>) {
        match self.model_choice.as_ref().and_then(|choice| choice.chosen()) {
            Some(chosen) if self.tree.transport != chosen.transport => {
                let window = chosen.known_window(self.tree.connector.as_ref());
                (chosen.transport, window)
            }
            Some(_) | None => (self.tree.transport.clone(), self.context_window_cap),
        }
    }

    /// Waits for its turn, announces a child, runs what it is to do and emits its end.
    pub(super) async fn run(self: Arc<Self>, assignment: Assignment) -> ChildResult {
        let Assignment { id, persona, task, from, place, kept, spawner, call, membership, announcement } = assignment;
        // A member of the agent tree from before its announcement: a host that sees it can send it a message, and a stop
        // reaches it while it waits.
        let membership = membership.or_else(|| self.enroll(&id));
        let mut member = RunningChild::new(id.clone(), &self.listeners, membership);
        let _place = match (from, place) {
            (TaskFrom::Model, None) => {
                let flag = member.controls().map_or_else(|| self.flag(), |controls| controls.cancellable.clone());
                match flag.unless_cancelled(Arc::clone(&self.at_work).acquire_owned()).await {
                    Ok(place) => place.ok(),
                    Err(cancelled) => {
                        // It can go on another time.
                        if let Some(kept) = kept {
                            self.parts.continuations.keep(kept);
                        }
                        return Err(cancelled.into());
                    }
                }
            }
            (TaskFrom::Model | TaskFrom::Queue, place) => place,
        };
        let allowed = |tool: &&Arc<dyn Tool>| persona.tool_names.iter().any(|name| name == tool.name());
        let tools: Vec<Arc<dyn Tool>> = self.tools.iter().filter(allowed).cloned().collect();
        let foreign = self.parts.source.iter().flat_map(|source| source.names(&persona.tool_names));
        let (transport, window) = self.transport(&persona);
        let _rules = self.tree.rules.enter(&id, &spawner);
        self.listeners.emit(Event::AgentSpawned {
            child: id.clone(),
            persona: persona.name.clone(),
            task: task.clone(),
            call,
            model: transport.model.clone(),
            max_steps: Some(persona.max_steps),
            tools: tools.iter().map(|tool| tool.name().to_owned()).chain(foreign).collect(),
        });
        member.announced();
        if announcement.spawned() {
            self.listeners.emit(Event::AgentBackgrounded { child: id.clone() });
        }
        // The task may contain what taints the spawner, and the conversation what tainted the child before.
        self.tree.approvals.mark(&id, self.tree.approvals.taint(&spawner));
        if let Some(kept) = &kept {
            self.tree.approvals.mark(&id, kept.taint);
        }
        let work = self.run_child(&persona, (&task, from), kept, &member, tools, (transport, window));
        let result = member.accompany(work).await;
        // The answer may contain what taints the child, and so may an error.
        self.tree.approvals.mark(&spawner, self.tree.approvals.taint(&id));
        self.tree.approvals.forget(&id);
        if let Some(update) = self.tree.plans.take_update(&id) {
            let what = summary(&update.changes);
            let text = format!("{id} ended before it was told what you changed of its plan: {what}");
            self.listeners.emit(Event::Notice { text });
        }
        self.tree.plans.forget(&id);
        self.tree.context.forget(&id);
        match &result {
            Ok((_, outcome)) => member.ended(*outcome, None),
            Err(ToolError::Cancelled(_)) => member.ended(Outcome::Cancelled, None),
            Err(ToolError::Failed(why)) => member.ended(Outcome::Failed, Some(why.clone())),
        }
        result
    }

    /// Builds a child, runs what it is to do, keeps its conversation and closes it; the error says why there is no
    /// answer, without the child's name.
    async fn run_child(
        &self,
        persona: &Persona,
        (task, from): (&str, TaskFrom),
        mut kept: Option<FinishedAgent>,
        member: &RunningChild<'_>,
        tools: Vec<Arc<dyn Tool>>,
        (transport, window): (ChatTransport, Option<u64>),
    ) -> ChildResult {
        let before = kept.as_mut().and_then(|kept| kept.workshop.take()).filter(Workshop::is_there);
        let (workshop, is_new) = match (persona.temp_workspace, before) {
            (TempWorkspace::No, _) => (None, false),
            (TempWorkspace::Yes, Some(workshop)) => (Some(workshop), false),
            (TempWorkspace::Yes, None) => (Some(self.workshops.add(&persona.name, tools.clone())?), true),
        };
        let tools = workshop.as_ref().map_or(tools, |workshop| workshop.tools.clone());
        let tree = TreeParts { transport, ..self.tree.clone() };
        let mut builder = AgentBuilder::new(tree, persona.system_prompt.clone())
            .id(member.id().clone())
            .step_limit(StepLimit::new(persona.max_steps).map_err(not_built)?)
            .listeners(member.listeners().clone())
            .model_checked();
        if let Some(controls) = member.controls() {
            builder = builder
                .shared_cancellable(controls.cancellable.clone())
                .interloper(Arc::clone(&controls.interloper))
                .gate(Arc::clone(&controls.gate));
        } else if let Some(cancellable) = &self.cancellable {
            builder = builder.shared_cancellable(cancellable.clone());
        }
        if let Some(tokens) = window {
            builder = builder.context_window(tokens);
        }
        let directory = workshop.as_ref().map(|workshop| workshop.path().to_owned());
        let guard = workshop.clone();
        let lost = kept.is_some() && is_new;
        let built = builder.build(|configurator| {
            // The guard moves into the close handler: the directory outlives the child only where that can go on.
            configurator.on_close(move || drop(guard));
            if lost {
                configurator.add_extension(Arc::new(LostDirectory::default()))?;
            }
            configurator.add_tools(tools)
        });
        let mut child = built.await.map_err(not_built)?;
        if let Some(source) = &self.parts.source {
            let scope = ToolScope::Named(persona.tool_names.clone());
            source.attach(scope, directory.as_deref(), child.context_window_cap(), child.additions());
        }
        if let Some(kept) = kept {
            child.resume(&kept.messages, kept.turns);
        }
        // Boxed: a child's turn may contain a rescue's turn. Dropping the child closes it, whatever happens here.
        let mut worked = match from {
            TaskFrom::Model => Box::pin(child.run_loop(task)).await,
            // A stop that came before its turn began has taken its texts.
            TaskFrom::Queue => Box::pin(child.run_queue()).await.and_then(|turns| match turns {
                0 => Err(Cancelled.into()),
                _ => Ok(()),
            }),
        };
        let mut answers = vec![child.last_assistant_content().unwrap_or_default().to_owned()];
        // What it started in the background has nobody left to look after it.
        let mut ended = child.end_jobs().await;
        // A text that came during its last answer continues it, as one that comes a moment later does.
        while worked.is_ok() && member.controls().is_some_and(|controls| controls.interloper.deliverable()) {
            match Box::pin(child.run_queue()).await {
                Ok(0) => break,
                Ok(_) => answers.push(child.last_assistant_content().unwrap_or_default().to_owned()),
                Err(error) => worked = Err(error),
            }
            ended.extend(child.end_jobs().await);
        }
        self.parts.continuations.keep(FinishedAgent::new(
            &child,
            &persona.name,
            self.tree.approvals.taint(child.id()),
            workshop,
        ));
        worked.map_err(|error| match error {
            RunError::Cancelled(cancelled) => ToolError::Cancelled(cancelled),
            other => ToolError::failed(other.to_string()),
        })?;
        let outcome = if child.synthesized() { Outcome::Synthesized } else { Outcome::Completed };
        let mut answer = answers.join("\n\n[then the user wrote to the agent, and it answered:]\n\n");
        if !ended.is_empty() {
            // Its answer may speak of them as if they still ran.
            let jobs = ended.join(", ");
            answer = format!("{answer}\n\n[ended with the agent, as it ran in the background: {jobs}]");
        }
        Ok((answer, outcome))
    }
}
/// What a child is to do, and for whom.
pub(super) struct Assignment {
    pub(super) id: AgentId,
    pub(super) persona: Persona,
    /// What it is to do; of texts in its queue the first.
    pub(super) task: String,
    pub(super) from: TaskFrom,
    /// Its place among those at work; without one it waits for its turn. One that the user lets go on needs none.
    pub(super) place: Option<OwnedSemaphorePermit>,
    /// The conversation that goes on; `None` for a fresh child.
    pub(super) kept: Option<FinishedAgent>,
    pub(super) spawner: AgentId,
    /// The call that spawns it; `None` where the user lets it go on.
    pub(super) call: Option<CallId>,
    /// Its membership in the agent tree, where it is a member already.
    pub(super) membership: Option<TreeMembership>,
    pub(super) announcement: Arc<Announcement>,
}

/// Where the texts of a child's turn come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskFrom {
    /// The model wrote the task.
    Model,
    /// The user's texts wait in its queue.
    Queue,
}

/// Whether a child was announced and whether its call waits for it: whoever notes the second of both says that it is in the
/// background.
#[derive(Debug, Default)]
pub(super) struct Announcement(Mutex<Announced>);

#[derive(Debug, Default)]
struct Announced {
    is_spawned: bool,
    is_in_background: bool,
}

impl Announcement {
    /// Notes that the child was announced; returns whether it is in the background already.
    fn spawned(&self) -> bool {
        let mut announced = lock(&self.0);
        announced.is_spawned = true;
        announced.is_in_background
    }

    /// Tells whether the child was announced.
    pub(super) fn is_spawned(&self) -> bool {
        lock(&self.0).is_spawned
    }

    /// Notes that no call waits for the child; returns whether it was announced already.
    pub(super) fn goes_to_background(&self) -> bool {
        let mut announced = lock(&self.0);
        announced.is_in_background = true;
        announced.is_spawned
    }
}

/// Returns why a child could not be built.
fn not_built(error: BuildError) -> ToolError {
    match error {
        BuildError::Cancelled(cancelled) => ToolError::Cancelled(cancelled),
        other => ToolError::failed(other.to_string()),
    }
}
