//! When something is asked, and when it is not asked any more.
//!
//! Always holds: a question about an approval stands for one open request of the run, and goes when that goes.

use super::{AnswerChoices, Question, QuestionSubject, Questions};
use crate::effect::PaneEffect;
use crate::ui_context::UiContext;
use steersman_base::id::MessageId;
use steersman_base::protocol;
use steersman_base::text::visible_line;
use steersman_session::model::{DetailPart, JobState, PendingText, RunState, approval_parts};

/// Asks about every request that is open, and stops asking about those that are not.
pub fn ask_about_requests(questions: &mut Questions, ui: &UiContext) {
    let permissions = &ui.run.permissions;
    let is_over =
        |subject: &QuestionSubject| matches!(subject, QuestionSubject::Approval(id, _) if !permissions.is_open(*id));
    questions.retain(ui.now, |subject| !is_over(subject));
    for request in &permissions.open {
        let offer = match (&request.subject, &request.session, &request.rule) {
            (protocol::ApprovalSubject::Plain { .. }, _, _) => AnswerChoices::Nothing,
            (protocol::ApprovalSubject::Form { fields, .. }, _, _) if fields.is_empty() => AnswerChoices::Nothing,
            (protocol::ApprovalSubject::Form { .. }, _, _) => AnswerChoices::Form,
            (protocol::ApprovalSubject::Plan { .. }, _, _) => AnswerChoices::Plan,
            (protocol::ApprovalSubject::MoreCalls { .. }, _, _) => AnswerChoices::MoreCalls,
            (protocol::ApprovalSubject::AgentQuestion { question }, _, _) => {
                AnswerChoices::Agent { several: question.several && !question.options.is_empty() }
            }
            (protocol::ApprovalSubject::Operation { .. }, _, Some(_)) => AnswerChoices::Always,
            (protocol::ApprovalSubject::Operation { .. }, Some(_), None) => AnswerChoices::Session,
            (protocol::ApprovalSubject::Operation { .. }, None, None) => AnswerChoices::Words,
        };
        questions.ask_once(Question {
            agent: request.asker.as_ref().map(|asker| asker.agent.clone()),
            rule: request.rule.as_ref().map(|rule| rule.pattern.clone()),
            options: match &request.subject {
                protocol::ApprovalSubject::AgentQuestion { question } => question.options.clone(),
                _ => Vec::new(),
            },
            ..Question::new(
                QuestionSubject::Approval(request.id, offer),
                request.subject.title(),
                approval_parts(request).into_iter().map(with_number).collect(),
            )
        });
    }
}

/// Returns a part in which what an answer allows stands behind the answer's number.
fn with_number(part: DetailPart) -> DetailPart {
    match part {
        // What ends with a command or an address must not seem to go on.
        DetailPart::Fact("session", covers) if covers.contains(": ") => {
            DetailPart::Fact("2 allows until you quit", covers)
        }
        DetailPart::Fact("session", covers) => DetailPart::Fact("2 allows ", format!("{covers} until you quit")),
        DetailPart::Fact("always", covers) => DetailPart::Fact("3 allows ", covers),
        other => other,
    }
}

/// Asks about every pending text that is held for its age, except the one that is edited, and stops asking about those
/// that are gone.
pub fn ask_about_stale(questions: &mut Questions, edited: Option<&MessageId>, ui: &UiContext) {
    let is_requested = |entry: &&PendingText| entry.message.stale && edited != Some(&entry.message.id);
    let entries: Vec<&PendingText> = ui.run.pending.waiting().filter(is_requested).collect();
    questions.retain(ui.now, |subject| match subject {
        QuestionSubject::StillTrue(id) => entries.iter().any(|entry| entry.message.id == *id),
        QuestionSubject::Unfinished(ids) => ids.iter().any(|id| ui.run.pending.get(id).is_some()),
        QuestionSubject::New
        | QuestionSubject::Reset
        | QuestionSubject::Quit
        | QuestionSubject::Undo(_)
        | QuestionSubject::Rule(_)
        | QuestionSubject::StopJob(_)
        | QuestionSubject::Switch(..)
        | QuestionSubject::Approval(..) => true,
    });
    for entry in entries {
        let subject = QuestionSubject::StillTrue(entry.message.id.clone());
        let detail = vec![DetailPart::Text(entry.message.text.clone())];
        let title = match ui.from_elsewhere(entry.message.sender.as_ref()) {
            Some(who) => {
                format!("Send this now? {} wrote it a while ago, and it is not delivered yet.", visible_line(who))
            }
            None => "Send this now? You wrote it a while ago, and it is not delivered yet.".to_owned(),
        };
        questions.ask_once(Question {
            agent: Some(entry.agent.clone()),
            session: "sends every old text of this session without asking".to_owned(),
            ..Question::new(subject, title, detail)
        });
    }
}

/// Asks before a conversation is given up, or what runs with the program.
pub fn ask_about_conversation(questions: &mut Questions, subject: QuestionSubject, ui: &UiContext) {
    let (title, detail, session) = match subject {
        QuestionSubject::New => (
            "Start a new conversation?",
            "The agent forgets what was said, a running turn is stopped, the screen starts empty.".to_owned(),
            "don't ask again in this session",
        ),
        QuestionSubject::Quit => ("Quit?", ended_by_quitting(&ui.run), ""),
        QuestionSubject::Reset
        | QuestionSubject::StillTrue(_)
        | QuestionSubject::Unfinished(_)
        | QuestionSubject::Undo(_)
        | QuestionSubject::Rule(_)
        | QuestionSubject::StopJob(_)
        | QuestionSubject::Switch(..)
        | QuestionSubject::Approval(..) => (
            "Reset the conversation?",
            "The agent forgets what was said, a running turn is stopped; the transcript stays.".to_owned(),
            "don't ask again in this session",
        ),
    };
    let detail = vec![DetailPart::Text(detail)];
    questions.ask_once(Question { session: session.to_owned(), ..Question::new(subject, title, detail) });
}

fn ended_by_quitting(run: &RunState) -> String {
    let whom = || run.stopped_by_all().unwrap_or_default();
    let is_awaited = run.run_alone().any(|node| node.is_in_background);
    match (run.run_alone().count(), run.runs(), run.jobs.running()) {
        (1, ..) => {
            let runs = if is_awaited { " is running in the background" } else { ", which you continued, is running" };
            format!("{}{runs}. Quitting stops it and ends what its tools have started.", whom())
        }
        (2.., ..) => {
            let runs = if is_awaited { " are running in the background" } else { ", which you continued, are running" };
            format!("{}{runs}. Quitting stops them and ends what their tools have started.", whom())
        }
        (0, true, _) => "A turn is running. Quitting stops it and ends what its tools have started.".to_owned(),
        (0, false, 1) => "1 command runs in the background. Quitting ends it.".to_owned(),
        (0, false, jobs) => format!("{jobs} commands run in the background. Quitting ends them."),
    }
}

/// Asks for a question to be asked.
pub fn ask(question: Question) -> PaneEffect {
    PaneEffect::change(move |app| app.questions.ask_once(question.clone()))
}

/// Asks whether a command in the background is to end.
pub fn ask_to_stop(job: &JobState) -> PaneEffect {
    let detail = vec![
        DetailPart::Exact(job.command.clone()),
        DetailPart::Text("It ends with everything that it started.".to_owned()),
    ];
    ask(Question::new(QuestionSubject::StopJob(job.id.clone()), format!("Stop {}?", job.id), detail))
}
