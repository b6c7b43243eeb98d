//! Questions that belong to no operation: of the program itself, plans, forms of servers, and what an agent asks.
//!
//! Only the user answers them: no rule, no mode and no standing yes does.

use super::{Approvals, Reply};
use crate::approval::{
    AgentAnswer, AgentQuestion, Answer, ApprovalRecord, ApprovalSubject, Asker, FormAnswer, FormField, Mode,
    PlainAnswer, PlanAnswer, Unanswered,
};
use std::time::Duration;

use steersman_base::plan::Plan;
use steersman_base::protocol::{check_form, default_form};
use steersman_base::sync::lock;
use steersman_base::text::{QuestionText, visible_line};

impl Approvals {
    /// Asks something of the program itself; the default is no, also where nobody is there. A standing yes
    /// does not answer it.
    /// Dropping the future takes the question away.
    pub async fn ask_user(&self, title: impl Into<String>, detail: QuestionText) -> bool {
        self.ask_plain(title, detail).await == PlainAnswer::Yes
    }

    /// As [`Self::ask_user`], and tells a no from nobody being there.
    pub async fn ask_plain(&self, title: impl Into<String>, detail: QuestionText) -> PlainAnswer {
        let title = visible_line(&title.into()).into_owned();
        self.ask_program(ApprovalSubject::Plain { title, detail: detail.finish() }, &|_| {}).await
    }

    /// Asks whether a turn that has made all its tool calls may make more; `tell` hears of the question for the record.
    pub async fn ask_for_calls(
        &self,
        made: u32,
        more: u32,
        report: &(dyn Fn(ApprovalRecord) + Send + Sync),
    ) -> PlainAnswer {
        self.ask_program(ApprovalSubject::MoreCalls { made, more }, report).await
    }

    /// Lets the user fill in a form of a server; also a standing yes does not. Dropping the future takes the question away.
    pub async fn ask_form(&self, server: String, message: String, fields: Vec<FormField>) -> FormAnswer {
        match self.ask_for(None, ApprovalSubject::Form { server, message, fields }, &|_| {}).await {
            Some(Answer::Filled(values)) => FormAnswer::Filled(values),
            Some(
                Answer::Once | Answer::Session | Answer::Always | Answer::Everywhere | Answer::No(_) | Answer::NotNow,
            ) => FormAnswer::Declined,
            None => FormAnswer::Nobody,
        }
    }

    /// Lets the user accept a plan, and with that choose the mode to go on with; also a standing yes does not. `tell` hears
    /// of the question for the record. Dropping the future takes the question away.
    pub async fn ask_for_plan(
        &self,
        asker: &Asker,
        plan: Plan,
        report: &(dyn Fn(ApprovalRecord) + Send + Sync),
    ) -> PlanAnswer {
        let mode = match self.ask_for(Some(asker.clone()), ApprovalSubject::Plan { plan }, report).await {
            Some(Answer::Session) => Mode::AutoEdit,
            // A mode that was chosen meanwhile stays.
            Some(Answer::Once | Answer::Always | Answer::Everywhere | Answer::Filled(_)) => match self.mode() {
                Mode::Plan => Mode::Ask,
                mode => mode,
            },
            Some(Answer::No(words)) => return PlanAnswer::Declined(words),
            Some(Answer::NotNow) => return PlanAnswer::Declined(None),
            None => return PlanAnswer::Nobody,
        };
        match self.set_mode(mode) {
            Ok(()) => PlanAnswer::Accepted(mode),
            Err(_) => PlanAnswer::Accepted(self.mode()),
        }
    }

    /// Tells whether somebody is there to answer.
    pub fn is_user_present(&self) -> bool {
        lock(&self.inner).policy.answerer.is_present()
    }

    /// Lets the user answer a question of an agent; also a standing yes does not. `report` hears of it for the record.
    /// Dropping the future takes the question away.
    pub async fn ask_for_agent(
        &self,
        asker: &Asker,
        question: AgentQuestion,
        report: &(dyn Fn(ApprovalRecord) + Send + Sync),
    ) -> AgentAnswer {
        let limit = question.default_after.map(Duration::from_secs);
        let default = question.default.clone();
        let subject = ApprovalSubject::AgentQuestion { question: question.clone() };
        let answer = self.ask_for(Some(asker.clone()), subject, report);
        let answer = match (limit, &default) {
            (Some(limit), Some(default)) => match tokio::time::timeout(limit, answer).await {
                Ok(answer) => answer,
                Err(_) => return AgentAnswer::Default(default.clone()),
            },
            _ => answer.await,
        };
        match answer {
            Some(Answer::Filled(values)) => {
                question.given(&values).map_or(AgentAnswer::Declined(None), AgentAnswer::Given)
            }
            Some(Answer::No(words)) => AgentAnswer::Declined(words),
            Some(Answer::Once | Answer::Session | Answer::Always | Answer::Everywhere | Answer::NotNow) => {
                AgentAnswer::Declined(None)
            }
            None => default.map_or(AgentAnswer::Nobody, AgentAnswer::Default),
        }
    }

    async fn ask_program(
        &self,
        subject: ApprovalSubject,
        report: &(dyn Fn(ApprovalRecord) + Send + Sync),
    ) -> PlainAnswer {
        match self.ask_for(None, subject, report).await {
            Some(Answer::Once | Answer::Session | Answer::Always | Answer::Everywhere | Answer::Filled(_)) => {
                PlainAnswer::Yes
            }
            Some(Answer::No(_)) => PlainAnswer::No,
            Some(Answer::NotNow) => PlainAnswer::NotNow,
            None => PlainAnswer::Nobody,
        }
    }

    /// Asks something that belongs to no operation; `None` when nobody is there, or not any more.
    async fn ask_for(
        &self,
        asker: Option<Asker>,
        subject: ApprovalSubject,
        report: &(dyn Fn(ApprovalRecord) + Send + Sync),
    ) -> Option<Answer> {
        let question = {
            let mut inner = lock(&self.inner);
            if !inner.policy.answerer.is_present() {
                return None;
            }
            inner.open(asker, subject, String::new(), None, None)
        };
        match self.reply(question, report).await {
            Some(Reply::Answer(answer)) => Some(answer),
            Some(Reply::Allowed | Reply::Denied(_)) | None => None,
        }
    }
}

/// Returns the answer as its question takes it: a plain yes to a form sends what it holds at first, and one to a question of
/// an agent its default. Values for an operation are
/// other arguments for its call, which its agent checks.
pub(super) fn fitting(subject: &ApprovalSubject, answer: Answer) -> Result<Answer, Unanswered> {
    match (subject, answer) {
        (ApprovalSubject::Form { fields, .. }, Answer::Once) => {
            default_form(fields).map(Answer::Filled).map_err(Unanswered::Unfit)
        }
        (ApprovalSubject::Form { fields, .. }, Answer::Filled(values)) => {
            check_form(fields, &values).map_err(Unanswered::Unfit)?;
            Ok(Answer::Filled(values))
        }
        (ApprovalSubject::AgentQuestion { question }, Answer::Filled(values)) => {
            question.given(&values).map_err(Unanswered::Unfit)?;
            Ok(Answer::Filled(values))
        }
        (
            ApprovalSubject::AgentQuestion { question },
            Answer::Once | Answer::Session | Answer::Always | Answer::Everywhere,
        ) => question
            .default_answer()
            .map(Answer::Filled)
            .ok_or_else(|| Unanswered::Unfit("yes is no answer to this question".to_owned())),
        (
            ApprovalSubject::Plain { .. } | ApprovalSubject::Plan { .. } | ApprovalSubject::MoreCalls { .. },
            Answer::Filled(_),
        ) => Err(Unanswered::Unfit("the question takes no values".to_owned())),
        (ApprovalSubject::Plain { .. }, answer) => Ok(answer),
        (_, Answer::NotNow) => Ok(Answer::No(None)),
        (_, answer) => Ok(answer),
    }
}
