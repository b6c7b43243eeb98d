//! The hooks of a run: which there are, and what each did last.

use std::collections::HashMap;

use jiff::Timestamp;

use steersman_base::event::{Envelope, Event, HookEvent, HookRun};
use steersman_base::protocol::HookStatus;

/// The hooks.
#[derive(Debug, Clone, Default)]
pub struct HookList {
    /// Those that there are, in the order of their files.
    pub known: Vec<HookStatus>,
    runs: HashMap<(HookEvent, String), LastHookRun>,
}

/// What a hook did last.
#[derive(Debug, Clone, PartialEq)]
pub struct LastHookRun {
    /// When it ended, or began in the background.
    pub at: Timestamp,
    /// What came of it.
    pub run: HookRun,
    /// How often it has run to its end.
    pub count: usize,
}

impl HookList {
    /// Returns what a hook did last; `None` where it has not run.
    pub fn last(&self, hook: &HookStatus) -> Option<&LastHookRun> {
        self.runs.get(&(hook.event, hook.command.clone()))
    }

    /// Applies one event.
    pub fn apply(&mut self, envelope: &Envelope) {
        if let Event::HookRan(run) = &envelope.event {
            let key = (run.hook, run.command.clone());
            let before = self.runs.get(&key).map_or(0, |last| last.count);
            let count = before + usize::from(!run.is_start());
            self.runs.insert(key, LastHookRun { at: envelope.at, run: run.clone(), count });
        }
    }
}
