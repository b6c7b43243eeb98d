//! The steps of a plan as lines, for its pane and for the details of an agent.
//!
//! Pure. Each step has a mark that depends on no colour; its text is untrusted until it is a line here.

use ratatui::style::{Modifier, Style};

use crate::theme::Theme;
use crate::widgets::wrap::{Break, Line, Wrap};
use steersman_base::plan::{PlanStep, StepState};
use steersman_base::text::visible_line;

/// Appends the lines of a step, behind a lead in its first line.
pub fn step_lines(step: &PlanStep, lead: &str, width: u16, theme: &Theme, lines: &mut Vec<Line>) {
    let style = look(step.state, theme);
    let indent = " ".repeat(lead.chars().count() + step.state.mark().len() + 1);
    let mut first = Line::new(lead, theme.accent);
    first.push(&format!("{} ", step.state.mark()), style.remove_modifier(Modifier::CROSSED_OUT));
    let (first, rest) = (first.into_frame(), Line::frame(&indent, theme.dim));
    let wrap = Wrap { width: usize::from(width).max(indent.len() + 1), at: Break::Words, first: &first, rest: &rest };
    wrap.line(&Line::new(&visible_line(&step.text), style), lines);
}

fn look(state: StepState, theme: &Theme) -> Style {
    match state {
        StepState::Pending => theme.text,
        StepState::Running => theme.accent,
        StepState::Done => theme.dim,
        StepState::StruckOut => theme.dim.add_modifier(Modifier::CROSSED_OUT),
    }
}
