//! What stands behind `/plan`: without anything the plan, else one change of it in words, for whoever has no pane.
//!
//! Pure. A step is named by its id (`s3`) or its number in the list.

use crate::plan::StepText;
use steersman_base::id::StepId;
use steersman_base::plan::{Plan, PlanEdit, StepState};
use steersman_base::protocol::Shift;

/// What `/plan` asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanCommand {
    Show,
    Edit(PlanEdit),
}

/// The words that are understood, as an error names them.
const USAGE: &str = "/plan takes nothing, add TEXT, edit N TEXT, done N, todo N, strike N, up N or down N";

/// Reads what stands behind the command.
///
/// # Errors
/// One sentence about what is wrong.
pub fn parse(argument: &str, plan: Option<&Plan>) -> Result<PlanCommand, String> {
    let (word, rest) = split(argument);
    if word.is_empty() {
        return Ok(PlanCommand::Show);
    }
    if word == "add" {
        let text = rest.to_owned();
        return if text.is_empty() { Err(USAGE.to_owned()) } else { Ok(edit(StepText::New(None), text)) };
    }
    let (name, text) = split(rest);
    if !["edit", "done", "todo", "strike", "up", "down"].contains(&word) || name.is_empty() {
        return Err(USAGE.to_owned());
    }
    let step = step(name, plan).ok_or_else(|| format!("the plan has no step {name}"))?;
    let mark = |step, state| Ok(PlanCommand::Edit(PlanEdit::Mark { step, state }));
    let shift = |step, shift| Ok(PlanCommand::Edit(PlanEdit::Move { step, shift }));
    match word {
        "edit" if text.is_empty() => Err(USAGE.to_owned()),
        "edit" => Ok(edit(StepText::Words(step), text.to_owned())),
        "done" => mark(step, StepState::Done),
        "todo" => mark(step, StepState::Pending),
        "strike" => mark(step, StepState::StruckOut),
        "up" => shift(step, Shift::Earlier),
        _ => shift(step, Shift::Later),
    }
}

fn edit(what: StepText, text: String) -> PlanCommand {
    PlanCommand::Edit(what.edit(text))
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

/// Finds a step by its id or its number.
fn step(name: &str, plan: Option<&Plan>) -> Option<StepId> {
    let steps = &plan?.steps;
    let by_id = steps.iter().find(|step| step.id.as_str() == name);
    let by_number = || steps.get(name.parse::<usize>().ok()?.checked_sub(1)?);
    by_id.or_else(by_number).map(|step| step.id.clone())
}
