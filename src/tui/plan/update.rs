//! Brings the plan together with the message, where the text of a step is written, and with the line output.
//!
//! Always holds: what was written for a step is in the plan, in the message, or can be brought back.

use crate::commands::CommandContext;
use crate::effect::PaneEffect;
use crate::message::purpose::{AboutStep, Purpose};
use crate::message::{Message, bring_back};
use crate::overlay::Overlays;
use crate::plan::{PlanCommand, PlanPane, StepText, parse};
use crate::state::{Medium, Pane};
use crate::ui_context::UiContext;
use crate::update::NOT_SENT;
use steersman_base::id::AgentId;
use steersman_base::plan::{PlanEdit, PlanRefused};
use steersman_base::protocol::Request;
use steersman_base::text::visible_line;

/// Carries out `/plan` with what stands behind it, about the agent that is shown.
pub(super) fn command(context: &mut CommandContext<'_>, argument: &str) -> Vec<PaneEffect> {
    let CommandContext { agent, overlays, ui } = context;
    let shared = ui.run.plans.get(agent);
    match parse(argument, shared.map(|shared| &shared.plan)) {
        Ok(PlanCommand::Show) if ui.medium == Medium::Lines => describe(agent, ui),
        Ok(PlanCommand::Show) => {
            overlays.toggle(|| PlanPane::new((*agent).clone(), None));
            Vec::new()
        }
        Ok(PlanCommand::Edit(edit)) => vec![Request::EditPlan { agent: (*agent).clone(), edit }.into()],
        Err(sentence) => vec![PaneEffect::Say(sentence)],
    }
}

/// Begins the text of a step in the message; in a replay nothing is written.
pub(super) fn write_step(agent: AgentId, what: StepText) -> PaneEffect {
    PaneEffect::call(move |app| {
        if app.replay.is_some() {
            return vec![PaneEffect::Say(NOT_SENT.to_owned())];
        }
        write(&mut app.message, agent.clone(), what.clone(), &app.ui)
    })
}

fn write(message: &mut Message, agent: AgentId, what: StepText, ui: &UiContext) -> Vec<PaneEffect> {
    if let Some(first) = message.blocked() {
        return vec![PaneEffect::CloseOverlay, first];
    }
    let before = match &what {
        StepText::New(_) => String::new(),
        StepText::Words(id) => {
            let step = ui.run.plans.get(&agent).and_then(|shared| shared.plan.get(id));
            step.map(|step| step.text.clone()).unwrap_or_default()
        }
    };
    let text = before.clone();
    message.begin(Purpose::AboutStep(AboutStep { agent, what, before }), &text);
    vec![PaneEffect::Focus(Pane::Composer)]
}

/// Asks for the step that the message holds.
pub fn commit(message: &Message) -> Vec<PaneEffect> {
    let Some(about) = message.about_step() else { return Vec::new() };
    let edit = about.what.clone().edit(message.text());
    vec![Request::EditPlan { agent: about.agent.clone(), edit }.into()]
}

/// Takes what became of a change; a text that was written for it leaves the message once the plan has it, and the plan is
/// shown again.
pub fn answered(
    message: &mut Message,
    overlays: &mut Overlays,
    ui: &UiContext,
    (agent, edit): (&AgentId, &PlanEdit),
    outcome: Result<(), PlanRefused>,
) -> Vec<PaneEffect> {
    if let Err(refused) = outcome {
        return vec![PaneEffect::Say(format!("the plan was not changed: {refused}"))];
    }
    let text = message.text();
    let is_written = |about: &&AboutStep| about.agent == *agent && about.what.clone().edit(text.clone()) == *edit;
    if let Some(about) = message.about_step().filter(is_written).cloned() {
        message.finish_about_step();
        back(overlays, ui, about);
    }
    Vec::new()
}

/// Leaves the text of a step; what it says can be brought back. The plan is shown again.
pub fn leave(message: &mut Message, overlays: &mut Overlays, ui: &UiContext) -> Vec<PaneEffect> {
    let about = message.about_step().cloned();
    let wanted = bring_back::abandon(message);
    if let Some(about) = about {
        back(overlays, ui, about);
    }
    wanted
}

/// Shows the plan again from which a text was begun.
fn back(overlays: &mut Overlays, ui: &UiContext, about: AboutStep) {
    if ui.medium == Medium::Lines {
        return;
    }
    let step = match about.what {
        StepText::New(after) => after,
        StepText::Words(step) => Some(step),
    };
    overlays.open(PlanPane::new(about.agent, step));
}

/// Returns the plan of an agent as lines.
fn describe(agent: &AgentId, ui: &UiContext) -> Vec<PaneEffect> {
    let Some(shared) = ui.run.plans.get(agent) else {
        return vec![PaneEffect::Say("the plan has no steps; /plan add TEXT adds one".to_owned())];
    };
    let head = format!("plan: {}", shared.plan.progress_text());
    let lines = shared.plan.checklist();
    let lines = lines.lines().map(|line| visible_line(line).into_owned());
    std::iter::once(head).chain(lines).map(|line| PaneEffect::Note(agent.clone(), line)).collect()
}
