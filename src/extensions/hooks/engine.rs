//! The hooks of a session: which of them run at a point of the loop, and what follows from what they say.
//!
//! The agent asks, in its own task; hooks of one point run beside each other. Always holds: a hook whose content is no longer
//! what was trusted is asked about again and does not run without a yes.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt as _};

use crate::hooks::answer::not_run;
use crate::hooks::background::BackgroundHooks;
use crate::hooks::content::{HookPin, missing_script, scripts};
use crate::hooks::input::{event_of, input, subjects};
use crate::hooks::tool_names::to_ours;
use crate::hooks::{Hook, HookReply, HookRunner, HookWaiting, RunEnd, read_output};
use steersman_agent::{EndedHook, HookAnswer, HookPoint, LoopHooks};
use steersman_base::event::{Event, HookOutcome, HookRun};
use steersman_base::id::{AgentId, CallId};
use steersman_base::limits;
use steersman_base::message::ToolCall;
use steersman_base::sync::lock;
use steersman_base::text::{QuestionText, visible_line};
use steersman_core::approval::{Approvals, CallPermission, PlainAnswer};
use steersman_tools::workspace::{Script, diff};

/// A hook that may run.
#[derive(Debug, Clone)]
pub struct TrustedHook {
    /// The hook.
    pub hook: Hook,
    /// By what it is trusted.
    pub trust: HookTrust,
}

/// By what a hook is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookTrust {
    /// It stands in the user's own configuration of this program.
    Configuration,
    /// The user said yes to this content.
    Content(HookPin),
}

/// What hooks know of the session.
#[derive(Debug, Clone, Default)]
pub struct HookSession {
    /// The id of the session; empty for one that is not saved.
    pub id: String,
    /// The file that it is saved in.
    pub transcript: Option<PathBuf>,
    /// The directory that tools work in.
    pub cwd: PathBuf,
}

/// The hooks of a session.
pub struct Hooks {
    trusted: Vec<TrustedHook>,
    session: HookSession,
    start: HookStart,
    background: BackgroundHooks,
}

/// What starts the hooks of a session.
#[derive(Clone)]
struct HookStart {
    runner: HookRunner,
    approvals: Arc<Approvals>,
    /// What the user said of contents that were not trusted at the start.
    decided: Arc<Mutex<HashMap<String, bool>>>,
}

impl Hooks {
    /// Makes them; `None` without any.
    pub fn new(
        trusted: Vec<TrustedHook>,
        runner: HookRunner,
        session: HookSession,
        approvals: Arc<Approvals>,
    ) -> Option<Arc<Self>> {
        let start = HookStart { runner, approvals, decided: Arc::default() };
        let background = BackgroundHooks::default();
        (!trusted.is_empty()).then(|| Arc::new(Self { trusted, session, start, background }))
    }

    /// Returns the hooks for a point, each command once.
    fn matching<'a>(&'a self, point: &HookPoint<'_>, agent: &AgentId) -> Vec<&'a TrustedHook> {
        let (event, names, call) = (event_of(point, agent), subjects(point, agent), call_of(point));
        let mut found: Vec<&TrustedHook> = Vec::new();
        for trusted in self.trusted.iter().filter(|trusted| trusted.hook.event == event) {
            let command = trusted.hook.whole_command();
            let holds = |call| {
                trusted.hook.condition.as_ref().is_none_or(|condition| condition.matches(call, &self.session.cwd))
            };
            let is_new = found.iter().all(|other| other.hook.whole_command() != command);
            if is_new && trusted.hook.matcher.matches(&names) && call.is_none_or(holds) {
                found.push(trusted);
            }
        }
        found
    }

    async fn ask(&self, agent: &AgentId, point: HookPoint<'_>, emit: &(dyn Fn(Event) + Send + Sync)) -> HookAnswer {
        let matching = self.matching(&point, agent);
        if matching.is_empty() {
            return HookAnswer::default();
        }
        let call = call_of(&point);
        let id = || call.map(|call| call.id.clone());
        let input = input(&point, agent, self.start.approvals.mode(), &self.session).to_string();
        let (beside, waited): (Vec<_>, Vec<_>) =
            matching.into_iter().partition(|trusted| trusted.hook.waiting == HookWaiting::Background);
        for trusted in beside {
            let (start, trusted, input, id) = (self.start.clone(), trusted.clone(), input.clone(), id());
            let hook = trusted.hook.clone();
            let run = async move { start.run(&trusted, &input, id).await };
            let reply = match self.background.start(agent.clone(), run) {
                Ok(()) => HookReply::only(HookOutcome::Started, ""),
                Err(why) => HookReply::only(HookOutcome::Failed, why),
            };
            emit(Event::HookRan(report(&hook, call.map(|call| call.id.clone()), &reply, Duration::ZERO)));
        }
        let runs: Vec<BoxFuture<'_, HookReply>> = waited
            .into_iter()
            .map(|trusted| {
                let (input, id) = (input.as_str(), id());
                async move {
                    let (run, reply) = self.start.run(trusted, input, id).await;
                    emit(Event::HookRan(run));
                    reply
                }
                .boxed()
            })
            .collect();
        // In the order of the files, however long each takes.
        let reply: Vec<HookReply> = stream::iter(runs).buffered(limits::HOOKS_AT_ONCE).collect().await;
        self.together(&point, &reply)
    }

    /// Puts together what hooks say: the strictest holds, and of several changed arguments the first.
    fn together(&self, point: &HookPoint<'_>, reply: &[HookReply]) -> HookAnswer {
        let call = call_of(point);
        let content_of = |outcome: HookOutcome| -> Option<String> {
            let its = reply.iter().filter(|reply| reply.outcome == outcome);
            let words: Vec<&str> = its.map(|reply| reply.words.as_deref().unwrap_or_default()).collect();
            (!words.is_empty()).then(|| words.join("\n"))
        };
        let allow = || content_of(HookOutcome::Allowed).map(|_| CallPermission::Allow);
        // One that may forbid the call and has not looked at it has not let it through, whatever the others say.
        let is_unseen = |reply: &&HookReply| {
            reply.is_unseen || matches!(reply.outcome, HookOutcome::TimedOut | HookOutcome::Changed)
        };
        let unseen = || {
            let words = reply.iter().find(is_unseen)?.words.as_deref().unwrap_or_default();
            matches!(point, HookPoint::BeforeCall(_)).then(|| CallPermission::Unseen(words.to_owned()))
        };
        let ask = || content_of(HookOutcome::Asked).map(CallPermission::Ask);
        let changed = reply.iter().find_map(|reply| reply.input.as_ref());
        HookAnswer {
            block: content_of(HookOutcome::Blocked),
            stop: reply.iter().find_map(|reply| reply.stop.clone()),
            permission: unseen().or_else(ask).or_else(allow),
            arguments: call.zip(changed).and_then(|(call, input)| to_ours(&call.name, input, &self.session.cwd)),
            context: reply.iter().filter_map(|reply| reply.context.clone()).collect(),
        }
    }
}

/// Tells whether an error is one that a file or a directory which is not there, or closed, brings about.
fn is_about_files(errors: &str) -> bool {
    ["No such file", "Permission denied", "Read-only file system", "Operation not permitted"]
        .iter()
        .any(|words| errors.contains(words))
}

impl HookStart {
    /// Runs one hook, unless it is no longer what was trusted; returns the report of the run, and its reply.
    async fn run(&self, trusted: &TrustedHook, input: &str, call: Option<CallId>) -> (HookRun, HookReply) {
        let began = Instant::now();
        let reply = self.reply(trusted, input).await;
        (report(&trusted.hook, call, &reply, began.elapsed()), reply)
    }

    async fn reply(&self, trusted: &TrustedHook, input: &str) -> HookReply {
        let scripts = match self.checked(trusted).await {
            Ok(scripts) => scripts,
            Err(why) => return HookReply::only(HookOutcome::Changed, why),
        };
        let missing = missing_script(&trusted.hook, &self.runner.places);
        match self.runner.run(&trusted.hook, &scripts, input).await {
            RunEnd::Ended { code, output, errors } => {
                let mut reply = read_output(trusted.hook.event, code, &output, &errors);
                if reply.outcome != HookOutcome::Failed {
                    return reply;
                }
                // An interpreter whose script is gone ends as a script does that fails.
                if let Some(script) = missing {
                    return not_run(
                        trusted.hook.event,
                        format!("{} is not there", visible_line(&script.to_string_lossy())),
                    );
                }
                if self.runner.spawner.confines(trusted.hook.placement) && is_about_files(&errors) {
                    let words = reply.words.get_or_insert_default();
                    words.push_str("; it ran in the sandbox, which shows it the workspace and its scripts alone");
                    words.push_str(" (steersman help hooks: \"sandbox\": false)");
                }
                reply
            }
            RunEnd::TimedOut => {
                let seconds = trusted.hook.time.as_secs_f64();
                HookReply::only(HookOutcome::TimedOut, format!("it was ended after {seconds} s"))
            }
            RunEnd::Failed(why) => not_run(trusted.hook.event, why),
        }
    }

    /// Returns the scripts of a hook that is what was trusted, or that the user trusts now, as they were then.
    ///
    /// # Errors
    /// Why it does not run.
    async fn checked(&self, TrustedHook { hook, trust }: &TrustedHook) -> Result<Vec<Script>, String> {
        let (looked_at, places) = (hook.clone(), self.runner.places.clone());
        let read = tokio::task::spawn_blocking(move || {
            let scripts = scripts(&looked_at, &places)?;
            let pin = HookPin::new(&looked_at, &scripts, &places);
            Ok::<_, String>((scripts, pin))
        });
        let (scripts, now) = read.await.map_err(|error| error.to_string())??;
        let is_trusted = match trust {
            HookTrust::Configuration => true,
            HookTrust::Content(known) => now.hash == known.hash || self.ask_about_change(hook, known, now).await,
        };
        if is_trusted { Ok(scripts) } else { Err("a script of it has changed since it was trusted".to_owned()) }
    }

    /// Asks whether a hook runs with its new content, once in a session.
    async fn ask_about_change(&self, hook: &Hook, known: &HookPin, now: HookPin) -> bool {
        let decided = lock(&self.decided).get(&now.hash).copied();
        if let Some(decided) = decided {
            return decided;
        }
        let mut text = QuestionText::default();
        text.part("A script of this hook has changed since you trusted it. Yes runs it in this session.");
        text.field("it runs", hook.place());
        text.changes(&diff(known.text.as_str().as_bytes(), now.text.as_str().as_bytes()).hunks);
        text.append(&now.text);
        let answer = self.approvals.ask_plain("run the changed hook?", text).await;
        let is_trusted = answer == PlainAnswer::Yes;
        if answer != PlainAnswer::Nobody {
            lock(&self.decided).insert(now.hash, is_trusted);
        }
        is_trusted
    }
}

impl LoopHooks for Hooks {
    fn at<'a>(
        &'a self,
        agent: &'a AgentId,
        point: HookPoint<'a>,
        emit: &'a (dyn Fn(Event) + Send + Sync),
    ) -> BoxFuture<'a, HookAnswer> {
        self.ask(agent, point, emit).boxed()
    }

    fn ended(&self, agent: &AgentId) -> Vec<EndedHook> {
        self.background.take_ended(agent)
    }
}

/// Returns the report of a run.
fn report(hook: &Hook, call: Option<CallId>, reply: &HookReply, elapsed: Duration) -> HookRun {
    HookRun {
        hook: hook.event,
        command: hook.whole_command(),
        call,
        outcome: reply.outcome,
        words: reply.words.clone(),
        elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
    }
}

fn call_of<'a>(point: &HookPoint<'a>) -> Option<&'a ToolCall> {
    match point {
        HookPoint::BeforeCall(call)
        | HookPoint::Question(call)
        | HookPoint::AfterCall(call, _)
        | HookPoint::FailedCall(call, _) => Some(call),
        HookPoint::Session(_)
        | HookPoint::Prompt(_)
        | HookPoint::Notification(_)
        | HookPoint::Idle
        | HookPoint::BeforeCompaction(_)
        | HookPoint::Spawned
        | HookPoint::Answered { .. }
        | HookPoint::Ended(_) => None,
    }
}
