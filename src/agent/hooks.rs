//! The points of the loop at which something outside of the agent looks on and decides: hooks.
//!
//! The agent asks at fixed points and waits, outside of every lock; a stop ends the wait. All agents of a tree share the
//! hooks. Always holds: what a hook forbids does not happen, and a call whose arguments it changed is checked, decided
//! about and shown like any other.

use std::sync::PoisonError;

use futures_util::future::{BoxFuture, join};
use futures_util::stream::{self, StreamExt};

use crate::deliver::{DeliveryPoint, TurnInput};
use crate::reply::stopped;
use crate::{Agent, EmptyReply};
use steersman_base::error::{Cancelled, RunError};
use steersman_base::event::{Event, HookRun, UserText};
use steersman_base::id::{AgentId, ClientId};
use steersman_base::limits;
use steersman_base::message::{Arguments, Message, ToolCall};
use steersman_base::sync::lock;
use steersman_core::approval::{Answer, ApprovalId, CallPermission};
use steersman_core::tool::FoundTool;

/// The sender of a text that keeps a turn from ending.
const SENDER: &str = "hook";

/// Decides at the points of the loop.
pub trait LoopHooks: Send + Sync {
    /// Returns what the hooks for a point say. `tell` takes the events of what they did, in the agent's name.
    fn at<'a>(
        &'a self,
        agent: &'a AgentId,
        point: HookPoint<'a>,
        emit: &'a (dyn Fn(Event) + Send + Sync),
    ) -> BoxFuture<'a, HookAnswer>;

    /// Takes the hooks in the background of an agent that have ended since; without such hooks there are none.
    fn ended(&self, _agent: &AgentId) -> Vec<EndedHook> {
        Vec::new()
    }
}

/// A hook in the background that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct EndedHook {
    /// What is told of it.
    pub run: HookRun,
    /// A text for the model, in its frame.
    pub context: Option<String>,
}

/// A point of the loop.
#[derive(Debug, Clone, Copy)]
pub enum HookPoint<'a> {
    /// Before the first request of a conversation, and of what was made of it.
    Session(SessionStart),
    /// Before a text of the user enters.
    Prompt(&'a str),
    /// Before a call runs.
    BeforeCall(&'a ToolCall),
    /// A call waits for a yes of the user.
    Question(&'a ToolCall),
    /// The user is asked something, in these words.
    Notification(&'a str),
    /// The agent has waited for a text of the user for a while.
    Idle,
    /// Behind a call that ended without an error; with its result.
    AfterCall(&'a ToolCall, &'a str),
    /// Behind a call that failed; with its error.
    FailedCall(&'a ToolCall, &'a str),
    /// Before the first request of a sub-agent.
    Spawned,
    /// Behind a conversation.
    Ended(SessionEnd),
    /// Before older rounds are summarised.
    BeforeCompaction(CompactionCause<'a>),
    /// Behind an answer.
    Answered {
        /// The answer.
        answer: &'a str,
        /// Whether a hook has kept this turn from ending before.
        again: bool,
    },
}

/// Where a conversation comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionStart {
    /// It is new.
    Startup,
    /// An earlier process began it.
    Resume,
    /// It was emptied.
    Clear,
    /// It was compacted.
    Compact,
}

/// Why a conversation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEnd {
    /// It is emptied.
    Clear,
    /// The session ends.
    Exit,
}

/// Why a conversation is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionCause<'a> {
    /// It fills the window.
    Auto,
    /// The user asks for it, with these words.
    Asked(Option<&'a str>),
}

/// What hooks say at a point. An empty one changes nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookAnswer {
    /// Why it must not happen; of a call that has run, and of an answer, what the model is told.
    pub block: Option<String>,
    /// Why the turn ends here.
    pub stop: Option<String>,
    /// What is said of the permission of a call.
    pub permission: Option<CallPermission>,
    /// Other arguments for a call.
    pub arguments: Option<Arguments>,
    /// Texts for the model, each in its frame.
    pub context: Vec<String>,
}

/// A call of which the hooks have said what they say.
pub(super) struct CheckedCall {
    pub call: ToolCall,
    /// The line that tells the model of changed arguments.
    pub note: Option<String>,
    /// Why it does not run.
    pub refusal: Option<String>,
    pub permission: Option<CallPermission>,
    /// Texts that go behind its result.
    pub context: Vec<String>,
}

impl CheckedCall {
    fn unchanged(call: &ToolCall) -> Self {
        Self { call: call.clone(), note: None, refusal: None, permission: None, context: Vec::new() }
    }
}

impl Agent {
    /// Asks the hooks; without any it costs nothing.
    pub(super) async fn ask_hooks(&self, point: HookPoint<'_>) -> Result<HookAnswer, Cancelled> {
        // A rescue answers from what there is; it is no agent of the user's.
        let Some(hooks) = self.tree.hooks.clone().filter(|_| self.empty_reply == EmptyReply::AskAgain) else {
            return Ok(HookAnswer::default());
        };
        let emit = |event| self.listeners.emit(event);
        tokio::select! {
            biased;
            () = stopped(self.handles.cancellable.as_ref()) => Err(Cancelled),
            answer = hooks.at(&self.id, point, &emit) => Ok(answer),
        }
    }

    /// Asks about the beginning of a conversation, once: before the first text of a turn, or before its next request.
    pub(super) async fn ask_about_session(&mut self) -> Result<(), RunError> {
        // Behind a reply that its server goes on with, nothing may stand.
        let may_stand = !matches!(self.history.messages().last(), Some(Message::Assistant(_)));
        let Some(source) = self.session_start.filter(|_| may_stand) else { return Ok(()) };
        let point = match (self.id.is_main(), source) {
            (true, source) => HookPoint::Session(source),
            (false, SessionStart::Startup) => HookPoint::Spawned,
            (false, SessionStart::Resume | SessionStart::Clear | SessionStart::Compact) => return Ok(()),
        };
        if source == SessionStart::Clear {
            self.ask_hooks(HookPoint::Ended(SessionEnd::Clear)).await?;
        }
        let HookAnswer { stop, context, .. } = self.ask_hooks(point).await?;
        self.session_start = None;
        self.add_context(context);
        stop.map_or(Ok(()), |why| Err(RunError::Hook(why)))
    }

    /// Takes what the hooks in the background that have ended say, at a boundary or before a turn: none of them starts one.
    pub(super) fn deliver_hook_context(&mut self) {
        let Some(hooks) = self.tree.hooks.clone().filter(|_| self.empty_reply == EmptyReply::AskAgain) else { return };
        let mut context = Vec::new();
        for EndedHook { run, context: text } in hooks.ended(&self.id) {
            self.listeners.emit(Event::HookRan(run));
            context.extend(text);
        }
        if !context.is_empty() {
            self.add_context(context);
        }
    }

    /// Asks about the calls of a group, beside each other.
    pub(super) async fn check_calls(&self, calls: &[ToolCall]) -> Result<Vec<CheckedCall>, Cancelled> {
        if self.tree.hooks.is_none() {
            return Ok(calls.iter().map(CheckedCall::unchanged).collect());
        }
        let asked: Vec<BoxFuture<'_, _>> = calls.iter().map(|call| Box::pin(self.check_call(call)) as _).collect();
        let checked: Vec<_> = stream::iter(asked).buffered(limits::PARALLEL_TOOLS).collect().await;
        checked.into_iter().collect()
    }

    pub(super) async fn check_call(&self, call: &ToolCall) -> Result<CheckedCall, Cancelled> {
        let answer = self.ask_hooks(HookPoint::BeforeCall(call)).await?;
        let HookAnswer { block, stop, permission, arguments, context } = answer;
        let mut checked = CheckedCall { permission, context, ..CheckedCall::unchanged(call) };
        checked.refusal = block.or_else(|| stop.clone()).map(|why| format!("Error: a hook forbids this call: {why}"));
        if let Some(why) = stop {
            self.request_stop(why);
        }
        if let Some(arguments) = arguments.filter(|arguments| *arguments != call.arguments) {
            match self.error_of(&call.name, &arguments) {
                None => {
                    checked.note = Some(format!("Note: a hook changed the arguments of this call to {arguments}\n"));
                    checked.call.arguments = arguments;
                }
                // The call as the model wrote it is not what the hook wanted either.
                Some(fault) => {
                    let why =
                        format!("Error: not run, a hook changed the arguments to what the tool does not take: {fault}");
                    checked.refusal.get_or_insert(why);
                }
            }
        }
        Ok(checked)
    }

    /// Returns what is wrong with arguments; nothing where only the tool itself can say it.
    pub(super) fn error_of(&self, tool: &str, arguments: &Arguments) -> Option<String> {
        match self.toolbox.find(tool)? {
            FoundTool::Tool(tool) => tool.spec().parameters.validate(arguments).err(),
            FoundTool::Raw(_) => None,
        }
    }

    /// Asks about the result of a call; returns what goes behind it. A stop loses no result.
    pub(super) async fn check_result(&self, call: &ToolCall, result: &str) -> Vec<String> {
        let answer = self.ask_hooks(HookPoint::AfterCall(call, result)).await.unwrap_or_default();
        if let Some(why) = answer.stop {
            self.request_stop(why);
        }
        let block = answer.block.map(|why| format!("A hook says of this result: {why}"));
        block.into_iter().chain(answer.context).collect()
    }

    /// Tells of a call that failed; returns what goes behind its error.
    pub(super) async fn check_failure(&self, call: &ToolCall, error: &str) -> Vec<String> {
        let answer = self.ask_hooks(HookPoint::FailedCall(call, error)).await.unwrap_or_default();
        let block = answer.block.map(|why| format!("A hook says of this failure: {why}"));
        block.into_iter().chain(answer.context).collect()
    }

    /// Tells of a question about a call while it is open, and answers it as the hooks say: a no always, a yes where a rule of
    /// the user could.
    pub(super) async fn ask_about_question(&self, call: &ToolCall, id: ApprovalId) {
        let message = format!("The agent needs your permission to use {}", call.name);
        let (_, answer) =
            join(self.ask_hooks(HookPoint::Notification(&message)), self.ask_hooks(HookPoint::Question(call))).await;
        match answer.unwrap_or_default() {
            HookAnswer { block: Some(why), .. } => {
                // It may have an answer already.
                let _ = self.tree.approvals.answer(id, Answer::No(Some(format!("a hook forbids it: {why}"))));
            }
            HookAnswer { permission: Some(CallPermission::Allow), .. } => self.tree.approvals.allow_question(id),
            _ => {}
        }
    }

    /// Returns whether there are hooks.
    pub fn has_hooks(&self) -> bool {
        self.tree.hooks.is_some()
    }

    /// Returns the run of the hooks for a wait for the user, which decide nothing; `None` without hooks.
    pub fn idle_hooks(&self) -> Option<BoxFuture<'static, ()>> {
        let (hooks, listeners, id) = (self.tree.hooks.clone()?, self.listeners.clone(), self.id.clone());
        Some(Box::pin(async move {
            let emit = |event| listeners.emit(event);
            hooks.at(&id, HookPoint::Idle, &emit).await;
        }))
    }

    /// Runs the hooks for the end of the session, also after a stop.
    pub async fn run_end_hooks(&self) {
        if let Some(hooks) = self.tree.hooks.clone() {
            let emit = |event| self.listeners.emit(event);
            hooks.at(&self.id, HookPoint::Ended(SessionEnd::Exit), &emit).await;
        }
    }

    /// Asks whether a turn may end with its answer; returns what the model is told when it may not.
    pub(super) async fn ask_about_answer(&mut self, continues: u32) -> Result<Option<TurnInput>, RunError> {
        if self.tree.hooks.is_none() {
            return Ok(None);
        }
        let answer = self.last_assistant_content().unwrap_or_default().to_owned();
        let point = HookPoint::Answered { answer: &answer, again: continues > 0 };
        let HookAnswer { block, stop, .. } = self.ask_hooks(point).await?;
        let Some(why) = block.filter(|_| stop.is_none()) else { return Ok(None) };
        if continues >= limits::HOOK_CONTINUES {
            self.notice(format!("hooks kept this turn from ending {continues} times; it ends now"));
            return Ok(None);
        }
        let text = format!("A hook does not let the turn end here: {why}");
        Ok(Some(TurnInput::Given(UserText { sender: Some(ClientId::new(SENDER)), ..UserText::new(text) })))
    }

    /// Asks about a text of the user; returns what goes behind it, or why it must not enter.
    pub(super) async fn ask_about_prompt(
        &self,
        input: &TurnInput,
        point: &DeliveryPoint,
    ) -> Result<Result<Vec<String>, String>, RunError> {
        // The task of a sub-agent is no text of the user.
        let is_task = !self.id.is_main() && matches!(point, DeliveryPoint::TurnStart { .. });
        if is_task {
            return Ok(Ok(Vec::new()));
        }
        let HookAnswer { block, stop, context, .. } = self.ask_hooks(HookPoint::Prompt(&input.message().text)).await?;
        match (stop, block) {
            (Some(why), _) => Err(RunError::Hook(why)),
            (None, Some(why)) => Ok(Err(why)),
            (None, None) => Ok(Ok(context)),
        }
    }

    /// Asks whether older rounds may be summarised; returns why not.
    pub(super) async fn ask_about_compaction(&self, cause: CompactionCause<'_>) -> Result<Option<String>, RunError> {
        let HookAnswer { block, stop, .. } = self.ask_hooks(HookPoint::BeforeCompaction(cause)).await?;
        Ok(block.or(stop))
    }

    /// Puts texts for the model behind the conversation.
    pub(super) fn add_context(&mut self, texts: Vec<String>) {
        for text in texts {
            self.history.push_system(text);
        }
        self.notify_history();
    }

    /// Ends the turn once the calls that run have their results; the first wish holds.
    fn request_stop(&self, why: String) {
        lock(&self.stop_wish).get_or_insert(why);
    }

    /// Fails when a hook wants the turn to end.
    pub(super) fn check_stop_request(&mut self) -> Result<(), RunError> {
        let wish = self.stop_wish.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        wish.map_or(Ok(()), |why| Err(RunError::Hook(why)))
    }
}
