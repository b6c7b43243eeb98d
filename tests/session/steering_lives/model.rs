//! The agents of a life, and the model that drives them: what happens in a life happens while it is asked too.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::json;
use steersman_agent::Agent;
use steersman_agent::subagent::{Persona, SubAgents, TempWorkspace};
use steersman_base::event::Usage;
use steersman_base::id::{AgentId, MessageId};
use steersman_base::message::{Arguments, Message, ToolCall};
use steersman_base::plan::StepState;
use steersman_base::steering::{Framing, Rule, TextKind};
use steersman_core::listener::Listener;
use steersman_core::provider::{ChatProvider, ChatRequest, Finish, FixedProvider, ProviderError, Reply, Sink};
use steersman_core::tool::{FnTool, OnCancel, Parameters, Tool, ToolError};
use steersman_core::wrapper::parse;
use steersman_session::host::Numbers;
use steersman_tools::PlanTool;

use super::world::World;
use crate::support::doubles::{PROMPT, Rig};

const WINDOW: u64 = 2_500;
/// Most sub-agents of a life: each has a persona of its own, by which its requests are known.
const CHILDREN: u64 = 5;
/// What the model says that it did with a text.
pub const ANSWER: &str = "it is done";

/// One request, with what was so when it was made.
#[derive(Clone)]
pub struct Asked {
    pub agent: AgentId,
    pub messages: Vec<Message>,
    /// The rules that hold for the agent.
    pub rules: Vec<Rule>,
    /// The texts that were delivered.
    pub delivered: Vec<(AgentId, MessageId, TextKind)>,
    /// Whether the model knows its plan as it is.
    pub knows_plan: bool,
}

/// A model that calls tools some times and then answers.
struct Lively(Arc<World>);

impl ChatProvider for Lively {
    fn complete<'a>(
        &'a self,
        request: ChatRequest<'a>,
        _: &'a mut Sink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        let messages = request.messages().to_vec();
        let world = Arc::clone(&self.0);
        async move {
            let size: usize = messages.iter().map(|message| format!("{message:?}").len()).sum();
            let usage = Usage { input: Some(size as u64 / 5), output: Some(5), ..Usage::default() };
            let Message::System { content: prompt } = &messages[0] else { panic!("no system prompt") };
            if prompt.contains("the earlier part of a conversation") {
                let content = if world.roll(6) == 0 { String::new() } else { "Some was done.".to_owned() };
                return Ok(Reply { content, usage, ..Reply::default() });
            }
            let agent = named(prompt);
            let handle = world.handle();
            let rules = handle.rules().for_agent(&agent);
            let knows_plan = handle.plans().plan_or_default(&agent) == handle.plans().of(&agent);
            let delivered = world.delivered();
            let answered = to_answer(&world, &messages);
            let number = world.asked(Asked { agent: agent.clone(), messages, rules, delivered, knows_plan });
            world.happen();
            tokio::task::yield_now().await;
            let calls = if world.roll(5) == 0 { 0 } else { 1 + world.roll(2) };
            let tool_calls: Vec<ToolCall> =
                (0..calls).map(|place| call(&world, &agent, &format!("c{number}-{place}"))).collect();
            let answer = if tool_calls.is_empty() { "An answer.\n" } else { "" };
            let content = answered.map_or_else(|| answer.to_owned(), |id| format!("{answer}[{id}] {ANSWER}"));
            Ok(Reply { content, tool_calls, usage, finish: Finish::Stop, ..Reply::default() })
        }
        .boxed()
    }
}

/// Returns whose prompt this is.
fn named(prompt: &str) -> AgentId {
    match prompt.strip_prefix("You are helper") {
        Some(rest) => AgentId::new(format!("helper{} 0", rest.split('.').next().unwrap())),
        None => AgentId::main(),
    }
}

/// Returns one of the texts of a request that ask for an answer, perhaps.
fn to_answer(world: &World, messages: &[Message]) -> Option<String> {
    let asks = |message: &Message| match message {
        Message::User { content, .. } if content.lines().next()?.contains(" reply=") => {
            Some(parse(content)?.id.to_owned())
        }
        _ => None,
    };
    let texts: Vec<String> = messages.iter().filter_map(asks).collect();
    if world.roll(2) == 0 { world.one_of(&texts) } else { None }
}

/// Returns a call that an agent makes.
fn call(world: &World, agent: &AgentId, id: &str) -> ToolCall {
    let (name, arguments) = match world.roll(9) {
        0 | 1 if agent.is_main() => match spawn(world) {
            Some(arguments) => ("agent", arguments),
            None => ("work", "{}".to_owned()),
        },
        2 => {
            let states = StepState::ALL.map(StepState::name);
            let step = |place: u64| json!({ "text": format!("step {place}"), "state": world.one_of(&states) });
            ("plan", json!({ "steps": (0..=world.roll(3)).map(step).collect::<Vec<_>>() }).to_string())
        }
        _ => ("work", "{}".to_owned()),
    };
    ToolCall { id: id.into(), name: name.to_owned(), arguments: Arguments::parse(&arguments) }
}

/// Returns the arguments of a call for a sub-agent: a fresh one, or one that has ended.
fn spawn(world: &World) -> Option<String> {
    let ended = world.one_of(&world.kept().ids()).filter(|_| world.roll(2) == 0);
    if let Some(agent) = ended {
        let name = agent.as_str().split(' ').next();
        return Some(json!({ "name": name, "task": "Go on.", "continue": agent }).to_string());
    }
    let mut spawned = world.spawned.lock().unwrap();
    (*spawned < CHILDREN).then(|| {
        *spawned += 1;
        json!({ "name": format!("helper{}", *spawned), "task": format!("Do part {}.", *spawned) }).to_string()
    })
}

fn work(world: &Arc<World>) -> Arc<dyn Tool> {
    let world = Arc::clone(world);
    let tool = FnTool::new("work", "Works.", Parameters::default(), move |_, _| {
        let world = Arc::clone(&world);
        async move {
            world.happen();
            tokio::task::yield_now().await;
            if world.roll(8) == 0 {
                return Err(ToolError::failed("it broke"));
            }
            Ok("row ".repeat(usize::try_from(20 + world.roll(80)).unwrap()))
        }
    });
    Arc::new(tool.on_cancel(OnCancel::Wait))
}

fn helper(number: u64) -> Persona {
    Persona {
        name: format!("helper{number}"),
        description: "Helps.".to_owned(),
        tool_names: vec!["work".to_owned(), "plan".to_owned()],
        system_prompt: format!("You are helper{number}."),
        max_steps: 200,
        temp_workspace: TempWorkspace::No,
        model: None,
        temperature: None,
    }
}

/// Builds the main agent of a process.
pub async fn build(world: &Arc<World>, numbers: Numbers) -> Agent {
    let (handle, listener) = (world.begin(), Arc::clone(&world.recorder) as Arc<dyn Listener>);
    let provider = Arc::new(FixedProvider::new(Arc::new(Lively(Arc::clone(world)))));
    let agent = Agent::builder(Rig::transport(), PROMPT, provider)
        .interloper(Arc::clone(&world.queue))
        .cancellable(world.cancellable.clone())
        .rules(Arc::clone(handle.rules()))
        .plans(Arc::clone(handle.plans()))
        .framing(Framing::Framed)
        .context_window(WINDOW)
        .build(|c| {
            c.add_listener(listener);
            c.add_tool(work(world))?;
            c.add_tool(Arc::new(PlanTool::new(Arc::clone(handle.plans()))))?;
            let agents = SubAgents::new((1..=CHILDREN).map(helper))?;
            let agents = agents.agent_controls(Arc::clone(handle.agent_controls())).numbers(numbers.agents);
            c.add_extension(Arc::new(agents.continuations(Arc::clone(handle.continuations()))))
        })
        .await
        .unwrap();
    let listeners = agent.listeners().clone();
    handle.plans().on_edit(move |agent, changed| {
        let parent = (!agent.is_main()).then(AgentId::main);
        listeners.emit_as(agent.clone(), parent, steersman_base::event::Event::PlanChanged(changed));
    });
    agent
}
