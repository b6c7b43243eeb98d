//! The hooks on the screen: which there are, and what each did last.

use std::fmt::Write as _;

use crate::choices::{Choices, ListChoice, ListKind};
use crate::commands::{CommandEntry, Takes};
use crate::effect::PaneEffect;
use crate::overlay::Overlays;
use crate::state::Medium;
use crate::ui_context::UiContext;
use steersman_base::id::AgentId;
use steersman_base::protocol::HookStatus;
use steersman_base::summary::{count, seconds};
use steersman_base::text::visible_line;
use steersman_session::model::LastHookRun;

pub const COMMAND: CommandEntry = CommandEntry::new(
    "/hooks",
    Takes::Nothing,
    "",
    "the hooks: where each is from, when it runs, whether it is trusted, what it did last",
    |context, _| show(context.overlays, context.ui),
);

static HOOKS: ListKind = ListKind {
    titles: [" Hooks: when they run, and what they did last ", " Hooks "],
    awaited: "",
    empty: "there are no hooks; /help hooks says how to add some",
    choose: None,
};

/// Shows the hooks; the line output lists them.
pub fn show(overlays: &mut Overlays, ui: &UiContext) -> Vec<PaneEffect> {
    if ui.medium == Medium::Lines {
        return listed(ui);
    }
    let mut list = Choices::awaited(&HOOKS);
    list.set_rows(Ok(rows(ui)));
    overlays.open(list);
    Vec::new()
}

/// Follows what hooks did.
pub fn follow(overlays: &mut Overlays, ui: &UiContext) {
    Choices::refresh(overlays, &HOOKS, || Ok(rows(ui)));
}

fn listed(ui: &UiContext) -> Vec<PaneEffect> {
    let hooks = &ui.run.hooks;
    if hooks.known.is_empty() {
        return vec![PaneEffect::Say(HOOKS.empty.to_owned())];
    }
    let line = |hook: &HookStatus| {
        let about = about(hook, hooks.last(hook));
        PaneEffect::Note(AgentId::main(), format!("{}: {about}", visible_line(&hook.command)))
    };
    hooks.known.iter().map(line).collect()
}

fn rows(ui: &UiContext) -> Vec<ListChoice> {
    ui.run.hooks.known.iter().map(|hook| row(hook, ui.run.hooks.last(hook))).collect()
}

fn row(hook: &HookStatus, last: Option<&LastHookRun>) -> ListChoice {
    ListChoice {
        title: format!("{} {}", point(hook), hook.command),
        details: about(hook, last),
        preview: preview(hook, last),
        ..ListChoice::default()
    }
}

/// Returns the event, with what the hook is for there (untrusted).
fn point(hook: &HookStatus) -> String {
    if hook.matcher.is_empty() { hook.event.to_string() } else { format!("{} {}", hook.event, hook.matcher) }
}

/// Returns whether it runs and what it did last, in a few words.
fn about(hook: &HookStatus, last: Option<&LastHookRun>) -> String {
    match last {
        Some(last) => format!("{} · {}", last.run.outcome.label(), hook.state.label()),
        None if hook.state.runs() => format!("has not run · {}", hook.state.label()),
        None => hook.state.label().to_owned(),
    }
}

fn preview(hook: &HookStatus, last: Option<&LastHookRun>) -> String {
    let waiting =
        if hook.in_background { "\nin the background: nobody waits for it, and it decides nothing" } else { "" };
    let HookStatus { file, command, state, .. } = hook;
    let mut text = format!("{command}\n{} in {file}\n{}{waiting}\n", point(hook), state.label());
    if let Some(LastHookRun { run, count: runs, .. }) = last.filter(|last| last.run.is_start()) {
        let before = if *runs == 0 { String::new() } else { format!("; ran {} before", count(*runs, "time")) };
        // What came of it is shown at the next boundary.
        let _ = writeln!(text, "{}, no result yet{before}", run.outcome.label());
    } else if let Some(LastHookRun { run, count: runs, .. }) = last {
        let (runs, time) = (count(*runs, "time"), seconds(run.elapsed_ms));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "ran {runs}; last: {}, {time}", run.outcome.label());
        text += run.words.as_deref().unwrap_or_default();
    }
    text
}
