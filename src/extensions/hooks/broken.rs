//! Hooks before calls that cannot run because nobody can read them: the calls that they are for are stopped.
//!
//! Pure but for the events. A guard that is left out would let through what it forbids, and nobody would notice: so these
//! calls wait until the user fixes the file or the user goes on without it (`src/program/cli/hooks/broken.rs`).

use std::fmt;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::hooks::Matcher;
use crate::hooks::tool_names::names_of_tool;
use steersman_agent::{EndedHook, HookAnswer, HookPoint, LoopHooks};
use steersman_base::event::{Event, HookEvent, HookOutcome, HookRun};
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::text::{clip, hex, visible_line};

/// Events of Claude Code and of codex that are no points of the loop here. A name that is not among them may be a
/// misspelt `PreToolUse`.
const ELSEWHERE: [&str; 17] = [
    "ConfigChange",
    "CwdChanged",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "InstructionsLoaded",
    "PermissionDenied",
    "PostCompact",
    "PostToolBatch",
    "Setup",
    "StopFailure",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "UserPromptExpansion",
    "WorktreeCreate",
    "WorktreeRemove",
];

/// Returns whether another program has this event.
pub(super) fn is_event_elsewhere(name: &str) -> bool {
    ELSEWHERE.contains(&name)
}

/// Returns whether a member of a whole file looks like hooks and stands where none are read.
pub(super) fn is_misplaced(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    plain == "pretooluse" || (name != "hooks" && ["hook", "hooks"].contains(&plain.as_str()))
}

/// Returns a name that stands twice where hooks are: of two such members only the last is seen.
pub(super) fn repeated_name(text: &str) -> Option<String> {
    let whole: Members<'_> = serde_json::from_str(text).ok()?;
    let twice = |members: &Members<'_>| {
        let mut names: Vec<&str> = members.0.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names
            .windows(2)
            .find(|pair| pair.first() == pair.last())
            .and_then(|pair| pair.first())
            .map(|name| (*name).to_owned())
    };
    let hooks = whole.0.iter().filter(|(name, _)| name == "hooks");
    if hooks.clone().count() > 1 {
        return Some("hooks".to_owned());
    }
    hooks.filter_map(|(_, events)| serde_json::from_str(events.get()).ok()).find_map(|events| twice(&events))
}

/// The members of an object, each as often as it stands there.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> serde::Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reads;
        impl<'de> Visitor<'de> for Reads {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reads)
    }
}

/// A hook before calls that cannot be read.
#[derive(Debug, Clone)]
pub struct BrokenGuard {
    /// The file that it is in, for display.
    pub file: String,
    /// Which calls it is for, as far as that can be read.
    pub matcher: Matcher,
    /// Why it cannot be read, in one line.
    pub why: String,
    /// The hash of what stands there, by which the user goes on without it.
    pub hash: String,
}

impl BrokenGuard {
    /// Makes one for what stands in a file.
    pub fn new(file: &str, matcher: Matcher, why: &str, content: &str) -> Self {
        let mut hasher = Sha256::new();
        for part in ["broken guard", file, content] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let why = clip(&visible_line(why), limits::HOOK_LINE_COLUMNS).into_owned();
        Self { file: file.to_owned(), matcher, why, hash: hex(&hasher.finalize()) }
    }

    /// Returns the calls that it is for, in words.
    pub fn calls(&self) -> String {
        match self.matcher.text() {
            "" | "*" => "all calls".to_owned(),
            text => format!("calls of {}", visible_line(text)),
        }
    }

    /// Returns the file and what is wrong in it.
    pub fn error(&self) -> String {
        format!("{} ({})", self.file, self.why)
    }
}

/// The hooks of a session with the broken guards among them.
pub struct GuardedHooks {
    hooks: Option<Arc<dyn LoopHooks>>,
    broken: Vec<BrokenGuard>,
}

impl GuardedHooks {
    /// Adds broken guards to hooks.
    pub fn over(hooks: Option<Arc<dyn LoopHooks>>, broken: Vec<BrokenGuard>) -> Option<Arc<dyn LoopHooks>> {
        if broken.is_empty() { hooks } else { Some(Arc::new(Self { hooks, broken })) }
    }
}

impl LoopHooks for GuardedHooks {
    fn at<'a>(
        &'a self,
        agent: &'a AgentId,
        point: HookPoint<'a>,
        emit: &'a (dyn Fn(Event) + Send + Sync),
    ) -> BoxFuture<'a, HookAnswer> {
        if let HookPoint::BeforeCall(call) = point {
            let names = names_of_tool(&call.name);
            if let Some(guard) = self.broken.iter().find(|guard| guard.matcher.matches(&names)) {
                let why = format!(
                    "Steersman cannot read the hook that guards this call: {}. It blocks {} until the user fixes the file or goes on without the hook",
                    guard.error(),
                    guard.calls()
                );
                emit(Event::HookRan(HookRun {
                    hook: HookEvent::PreToolUse,
                    command: guard.file.clone(),
                    call: Some(call.id.clone()),
                    outcome: HookOutcome::Blocked,
                    words: Some(format!("it cannot be read: {}", guard.why)),
                    elapsed_ms: 0,
                }));
                return async { HookAnswer { block: Some(why), ..HookAnswer::default() } }.boxed();
            }
        }
        match &self.hooks {
            Some(hooks) => hooks.at(agent, point, emit),
            None => async { HookAnswer::default() }.boxed(),
        }
    }

    fn ended(&self, agent: &AgentId) -> Vec<EndedHook> {
        self.hooks.as_ref().map(|hooks| hooks.ended(agent)).unwrap_or_default()
    }
}
