//! The status line of the user's own: when its command runs, and what that gets; the branch of the repository in a status line.
//!
//! Held by the loop, and only where there is such a command. The command runs aside, one at a time, and only after something
//! in what it gets has changed. Its members are those of Claude Code's `statusLine`
//! (<https://code.claude.com/docs/en/statusline>).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde_json::{Value, json};

use crate::files::Files;
use crate::msg::Msg;
use crate::outside::Outside;
use crate::state::App;
use steersman_base::clock::seconds_between;
use steersman_base::event::Event;
use steersman_base::limits;
use steersman_base::protocol::Update;
use steersman_base::regular_file::read_head;
use steersman_base::text::CommandOutput;

/// When the command runs.
#[derive(Debug, Default)]
pub struct StatusLine {
    cwd: String,
    /// What it got last, without what time alone changes.
    given: Value,
    begun: Option<Instant>,
    is_running: Arc<AtomicBool>,
    due: Option<Instant>,
}

impl StatusLine {
    /// Makes one that is due at once.
    pub fn new(cwd: String, now: Instant) -> Self {
        Self { cwd, due: Some(now), ..Self::default() }
    }

    /// Notes a message that may change what the command gets.
    pub fn on_msg(&mut self, msg: &Msg, now: Instant) {
        let changes = match msg {
            Msg::Update(Update::Envelope(envelope)) => {
                !envelope.event.is_piece() || matches!(envelope.event, Event::TurnEnded { .. })
            }
            Msg::Update(_) | Msg::Branch(_) | Msg::StatusLine(_) => true,
            _ => false,
        };
        if changes && self.due.is_none() {
            let after = self.begun.map_or(now, |begun| begun + limits::STATUS_COMMAND_INTERVAL);
            self.due = Some(after.max(now));
        }
    }

    /// Returns when the command is to be thought of; its own end is a message.
    pub fn due(&self) -> Option<Instant> {
        self.due.filter(|_| !self.is_running.load(Ordering::SeqCst))
    }

    /// Runs the command aside, where that is due and it would get something new. Must be called within a runtime.
    pub fn run(&mut self, now: Instant, app: &App, outside: &Arc<dyn Outside>, files: &Files) {
        if self.due().is_none_or(|due| due > now) {
            return;
        }
        self.due = None;
        let mut given = description(app, &self.cwd);
        if given == self.given {
            return;
        }
        self.given = given.clone();
        if let Some(cost) = given.get_mut("cost").and_then(Value::as_object_mut) {
            let started = app.ui.run.agents.main().started;
            let millis = started.map_or(0, |started| seconds_between(started, app.ui.now).saturating_mul(1_000));
            cost.insert("total_duration_ms".to_owned(), millis.into());
        }
        self.begun = Some(now);
        self.is_running.store(true, Ordering::SeqCst);
        let (outside, is_running) = (Arc::clone(outside), Arc::clone(&self.is_running));
        files.aside(move || {
            let printed = outside.status_line(&given.to_string());
            is_running.store(false, Ordering::SeqCst);
            vec![Msg::StatusLine(printed.map_or_else(|why| format!("status.command: {why}"), |text| first_line(&text)))]
        });
    }
}

/// Returns the first line of what a command printed, without colours.
pub fn first_line(printed: &str) -> String {
    let shown = CommandOutput::parse(printed).text;
    let line = shown.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().chars().take(limits::STATUS_COMMAND_CHARS).collect()
}

/// Describes the run as the command gets it, but for what time alone changes.
pub fn description(app: &App, cwd: &str) -> Value {
    let ui = &app.ui;
    let main = ui.run.agents.main();
    let model = app.status.model(main);
    let session = ui.run.agents.session();
    let nanos = session.cost_nanos;
    #[allow(clippy::cast_precision_loss)] // Money as other programs write it.
    let dollars = nanos as f64 / 1e9;
    let used = main.context_percent();
    json!({
        "hook_event_name": "Status",
        "session_id": ui.session.clone().unwrap_or_default(),
        "cwd": cwd,
        "model": { "id": model, "display_name": model },
        "workspace": { "current_dir": cwd, "project_dir": cwd, "branch": ui.branch },
        "version": env!("CARGO_PKG_VERSION"),
        "output_style": { "name": "default" },
        "cost": { "total_cost_usd": dollars },
        "context_window": {
            "total_tokens": main.context,
            "context_window_size": main.cap,
            "used_percentage": used,
            "remaining_percentage": used.map(|used| 100_u64.saturating_sub(used)),
        },
        "exceeds_200k_tokens": main.context.is_some_and(|tokens| tokens > 200_000),
        "permission_mode": ui.run.permissions.mode.name(),
        "agents": ui.run.agents.running(),
        "tokens_used": session.tokens(),
    })
}

/// Most bytes of a branch's name that are read.
const BRANCH_BYTES: u64 = 1_024;
/// Digits of a commit that stand for it where there is no branch.
const COMMIT_DIGITS: usize = 7;

/// Returns the branch that is worked in, or the beginning of the commit that is checked out; `None` outside of a repository. A `.git` that is
/// a file is not followed. Read anew after each turn, which may have changed it.
pub fn branch(directory: &Path) -> Option<String> {
    let root = directory.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())?;
    let head = read_head(&root.join(".git/HEAD"), BRANCH_BYTES).ok().filter(|head| !head.is_truncated())?;
    let text = String::from_utf8(head.bytes).ok()?;
    let line = text.trim_end();
    match line.strip_prefix("ref: refs/heads/") {
        Some(name) => Some(name.to_owned()),
        None if line.len() >= 40 && line.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            line.get(..COMMIT_DIGITS).map(str::to_owned)
        }
        None => None,
    }
}
