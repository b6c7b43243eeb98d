//! The tool `plan`: an agent writes down the steps of its work, which the user sees and changes while it works.
//!
//! The model sends the whole list, as with `update_plan` of codex (openai/codex, codex-rs/core/src/tools/handlers/plan.rs)
//! and `TodoWrite` of Claude Code; unlike there the plan belongs to the user too: what the user changed meanwhile stays, and
//! the result says so. With `submit` it asks for the user's acceptance, as `ExitPlanMode` does
//! (code.claude.com/docs/en/permission-modes). It reads, changes and sends nothing else.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use steersman_base::id::StepId;
use steersman_base::plan::{Plan, StepState, WrittenStep, summary};
use steersman_core::approval::{Mode, PlanAnswer};
use steersman_core::control::Plans;
use steersman_core::tool::{Args, Choices, PLAN_TOOL, Parameters, Tool, ToolContext, ToolError, ToolReport, ToolSpec};

const DESCRIPTION: &str = "Writes down the steps of your work as a list that the user sees and changes while you work.

Usage:
- For work of three steps or more; not for a question or a single change.
- Send the whole list each time, in order. Repeat the id of a step (s1) to keep it; leave the id out for a new one.
- Set a step to running before you begin it and to done as soon as it is done; one step at a time is running.
- What the user changed stays as it is. A step that is struck out is not to be done.
- Without `steps` you get the plan as it is.
- `submit` asks the user to accept the plan, where the mode is plan: until then nothing can be changed.";

/// Keeps the plan of the agent that calls it.
pub struct PlanTool {
    spec: ToolSpec,
    plans: Arc<Plans>,
}

impl PlanTool {
    /// Makes the tool for the plans of a tree.
    pub fn new(plans: Arc<Plans>) -> Self {
        let states = StepState::ALL.map(StepState::name);
        let parameters = Parameters::build(|p| {
            p.optional_objects("steps", "All steps, in order.", |step| {
                step.optional_string("id", "The id of a step that is in the plan already.");
                step.required_string("text", "What is to be done, in a few words.");
                // The names are fixed and differ.
                if let Ok(states) = Choices::new(states) {
                    step.required_enum("state", "How far it is.", states);
                }
            });
            p.optional_boolean("submit", "Whether to ask the user to accept the plan. Only in the mode plan.");
        });
        Self { spec: ToolSpec::new(PLAN_TOOL, DESCRIPTION, parameters), plans }
    }

    /// Asks the user to accept the plan; returns what the model is told.
    async fn submit(&self, plan: &Plan, context: &ToolContext) -> Result<String, ToolError> {
        if context.approvals.mode() != Mode::Plan {
            return Ok("It needs no acceptance: the mode is not plan. Go on with it.".to_owned());
        }
        if !context.asker.agent.is_main() {
            return Err(ToolError::failed("only the main agent submits a plan to the user; report your plan instead"));
        }
        if plan.is_empty() {
            return Err(ToolError::failed("the plan has no steps; send them with `steps`"));
        }
        let report = |record| (context.report)(ToolReport::Approval(record));
        match context.approvals.ask_for_plan(&context.asker, plan.clone(), &report).await {
            PlanAnswer::Accepted(mode) => {
                Ok(format!("The user accepted the plan. The mode is {} now: carry the plan out.", mode.name()))
            }
            PlanAnswer::Declined(None) => Ok("The user did not accept the plan and wants you to keep planning. \
                 The mode is still plan."
                .to_owned()),
            PlanAnswer::Declined(Some(words)) => Ok(format!(
                "The user did not accept the plan and wants you to keep planning. The mode is still plan. \
                 The user says: {words}"
            )),
            PlanAnswer::Nobody => {
                self.plans.answer_with(&context.asker.agent, plan.clone());
                Ok("Nobody is there to accept the plan: it is the answer, and the turn ends here.".to_owned())
            }
        }
    }
}

impl Tool for PlanTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(&'a self, args: Args, context: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        async move {
            let agent = &context.asker.agent;
            let submits = args.opt_bool("submit") == Some(true);
            context.approve_use(PLAN_TOOL, if submits { "submit" } else { "" }).await?;
            let mut words = Vec::new();
            let plan = if args.has("steps") {
                let steps = args.objects("steps").into_iter().map(written).collect();
                let written =
                    self.plans.write(agent, steps).map_err(|refused| ToolError::failed(refused.to_string()))?;
                if let Some(changed) = written.changed {
                    (context.report)(ToolReport::Plan(Box::new(changed)));
                }
                if !written.by_user.is_empty() {
                    let what = summary(&written.by_user);
                    words.push(format!("The user changed the plan meanwhile ({what}); that stays, see below."));
                }
                written.plan
            } else {
                self.plans.of(agent)
            };
            if submits {
                words.push(self.submit(&plan, context).await?);
            }
            words.push(if plan.is_empty() {
                "The plan has no steps.".to_owned()
            } else {
                format!("The plan now:\n{}", plan.checklist())
            });
            Ok(words.join("\n"))
        }
        .boxed()
    }
}

fn written(step: &Map<String, Value>) -> WrittenStep {
    let text = |name: &str| step.get(name).and_then(Value::as_str);
    WrittenStep {
        id: text("id").filter(|id| !id.is_empty()).map(StepId::new),
        text: text("text").unwrap_or_default().to_owned(),
        state: text("state").and_then(StepState::named).unwrap_or_default(),
    }
}
