//! Changes of a plan by the user.

use steersman_base::plan::{PlanEdit, StepState};

pub fn add(text: &str, after: Option<&str>) -> PlanEdit {
    PlanEdit::Add { text: text.to_owned(), after: after.map(Into::into) }
}

pub fn mark(step: &str, state: StepState) -> PlanEdit {
    PlanEdit::Mark { step: step.into(), state }
}
