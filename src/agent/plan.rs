//! The plan in one conversation: before each request the model is told what it does not know of the plan yet, and whether
//! the user wants to accept a plan before anything is changed.
//!
//! What the model knows of the plan stands in `control::Plans`; what it knows of the mode is read from the conversation, so
//! that a compaction, a reset and a resume need nothing else. Always holds: nothing of it stands between a call and its
//! result, and the system prompt stays as it is.

use crate::Agent;
use steersman_base::event::Event;
use steersman_base::message::{AssistantMessage, Message, PlanNotice, UserAbout};
use steersman_base::plan::{PlanNews, PlanNotified, summary};
use steersman_base::steering::Framing;
use steersman_core::approval::Mode;
use steersman_core::tool::PLAN_TOOL;
use steersman_core::wrapper::plan_news;

/// What the model is told when a plan is to be accepted first.
const MODE_ON: &str = "The user wants to accept a plan before anything is changed (mode plan). Until then only reading \
runs, for your sub-agents too: files stay as they are, no command runs and nothing is sent. Find out what you need, write \
the steps with the tool `plan`, and call it with `submit` when the plan is ready.";

/// As [`MODE_ON`], for an agent without the tool.
const MODE_ON_BARE: &str = "The user wants to read a plan before anything is changed (mode plan). Only reading runs, for your \
sub-agents too: files stay as they are, no command runs and nothing is sent. Answer with the plan.";

impl Agent {
    /// Tells the model what the user changed of its plan, as one text, and of the mode in which a plan is accepted first.
    pub(super) fn deliver_plan_changes(&mut self) {
        self.deliver_plan_mode();
        let Some(update) = self.tree.plans.take_update(&self.id) else { return };
        let lines: Vec<String> = update.changes.iter().map(|change| format!("- {}", change.line())).collect();
        let text =
            format!("The user changed the plan:\n{}\n\nThe plan now:\n{}", lines.join("\n"), update.plan.checklist());
        self.push_plan_notice(PlanNews::Changed, update.version, summary(&update.changes), &text);
    }

    /// Tells the main agent's model when the mode becomes plan, or another one again.
    fn deliver_plan_mode(&mut self) {
        if !self.id.is_main() {
            return;
        }
        let mode = self.tree.approvals.mode();
        let news = match (mode == Mode::Plan, self.knows_plan_mode()) {
            (true, false) => PlanNews::ModeOn,
            (false, true) => PlanNews::ModeOff,
            (true, true) | (false, false) => return,
        };
        let (summary, text) = match news {
            PlanNews::ModeOn if self.toolbox.find(PLAN_TOOL).is_some() => ("a plan is to be accepted first", MODE_ON),
            PlanNews::ModeOn => ("a plan is to be read first", MODE_ON_BARE),
            PlanNews::ModeOff | PlanNews::Changed => ("the mode is no longer plan", ""),
        };
        let text = match text {
            "" => format!("The mode is {} now: {}. Carry the plan out.", mode.name(), mode.help()),
            text => text.to_owned(),
        };
        self.push_plan_notice(news, 0, summary.to_owned(), &text);
    }

    /// Tells whether the conversation says that a plan is to be accepted first.
    fn knows_plan_mode(&self) -> bool {
        let is_on = self.history.messages().iter().rev().find_map(|message| {
            let Message::User { about: Some(about), .. } = message else { return None };
            let UserAbout::Plan(notice) = about.as_ref() else { return None };
            match notice.news {
                PlanNews::ModeOn => Some(true),
                PlanNews::ModeOff => Some(false),
                PlanNews::Changed => None,
            }
        });
        is_on == Some(true)
    }

    fn push_plan_notice(&mut self, news: PlanNews, version: u64, summary: String, text: &str) {
        let content = match self.tree.framing {
            Framing::Framed => plan_news(news, version, text),
            Framing::Plain => text.to_owned(),
        };
        self.history.push_user_about(content, Vec::new(), UserAbout::Plan(PlanNotice { news }));
        self.listeners.emit(Event::PlanNotified(PlanNotified { news, version, summary }));
        self.notify_history();
    }

    /// Makes a submitted plan that nobody is there to accept the answer of the turn; tells whether there was one.
    pub(super) fn answer_with_plan(&mut self) -> bool {
        let Some(plan) = self.tree.plans.take_answer(&self.id) else { return false };
        let lines: Vec<String> =
            plan.steps.iter().map(|step| format!("- {} {}", step.state.mark(), step.text)).collect();
        let content = format!("The plan, which nobody was there to accept:\n\n{}", lines.join("\n"));
        self.listeners.emit(Event::Assistant { text: content.clone(), interrupted: false });
        self.history.push_assistant(AssistantMessage { content, ..AssistantMessage::default() });
        self.notify_history();
        true
    }
}
