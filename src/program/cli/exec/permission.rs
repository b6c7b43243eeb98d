//! `--permission-command`: a program of the user that decides about what would be asked.
//!
//! It is asked one question at a time, the oldest first, as JSON on standard input, and answers as JSON on standard output.
//! Always holds: a program that fails, takes too long or prints anything else has said no.

use std::collections::HashSet;
use std::future::pending;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use super::steering::ExecRun;
use crate::program::config::CommandSetting;
use steersman_base::limits;
use steersman_base::protocol::{Answer, ApprovalId, ApprovalRequest, Reply, Request, Update};
use steersman_base::text::escaped_json;
use steersman_base::text::halves::without_halves;
use steersman_session::stream::{InputAnswer, PermissionAnswer, PermissionQuestion};
use steersman_tools::workspace::{OwnCommand, UserCommand};

/// Who answered, in the events.
const NAME: &str = "permission command";

/// What became of a question that the program was asked.
pub(super) type Decided = (ApprovalRequest, Result<PermissionAnswer, String>);

/// A question that the program is asked, and its answer to come.
struct Deciding {
    id: ApprovalId,
    answer: Pin<Box<dyn Future<Output = Decided>>>,
}

/// The program that decides.
pub(super) struct PermissionCommand {
    command: UserCommand,
    session: Option<String>,
    asked: HashSet<ApprovalId>,
    /// The question that it is asked now.
    running: Option<Deciding>,
}

impl PermissionCommand {
    /// Reads the command line of the program. One that commands of the agent could change is refused: it would decide about
    /// itself.
    ///
    /// # Errors
    /// One sentence for the user.
    pub(super) fn parse(line: &str, writable: &[PathBuf]) -> Result<Self, String> {
        let words = CommandSetting::Line(line.to_owned()).split().ok_or("--permission-command names no program")?;
        let mut command = UserCommand::new(words);
        let refused = |word| format!("--permission-command names {word}, which commands of the agent can change");
        command.keep_from(writable).map_err(refused)?;
        Ok(Self { command, session: None, asked: HashSet::new(), running: None })
    }

    /// Sets the session that each question names; none where it is not saved.
    pub(super) fn in_session(self, session: Option<String>) -> Self {
        Self { session, ..self }
    }

    /// Asks about the oldest open question that it was not asked about; one that is gone is dropped.
    pub(super) fn ask(&mut self, open: &[ApprovalRequest]) {
        if self.running.as_ref().is_some_and(|running| open.iter().all(|request| request.id != running.id)) {
            self.running = None;
        }
        if self.running.is_some() {
            return;
        }
        let next = open.iter().find(|request| !self.asked.contains(&request.id));
        if let Some(request) = next.cloned() {
            let (id, command) = (request.id, self.command.clone());
            let question = PermissionQuestion::new(&request, self.session.clone());
            self.asked.insert(id);
            let deciding = async move {
                let decided = decide(&command, &question, limits::PERMISSION_COMMAND_TIME).await;
                (request, decided)
            };
            self.running = Some(Deciding { id, answer: Box::pin(deciding) });
        }
    }

    /// Waits for its answer.
    pub(super) async fn decided(this: Option<&mut Self>) -> Decided {
        match this.and_then(|this| this.running.as_mut()) {
            Some(running) => running.answer.as_mut().await,
            None => pending().await,
        }
    }
}

impl ExecRun<'_> {
    /// Answers a question as the program decided.
    pub(super) fn permission_decided(&mut self, (request, decided): Decided) {
        if let Some(permission) = &mut self.permission {
            permission.running = None;
        }
        let number = request.id.0;
        let answer = decided.and_then(|answer| taken(&request, answer)).unwrap_or_else(|why| {
            self.err.say(&format!("question {number} is answered no: {why}"));
            Answer::No(Some(why))
        });
        if let Some(why) = self.send_answer(request.id, answer) {
            // A yes that something stands against leaves the question open.
            self.send_answer(request.id, Answer::No(Some(why)));
        }
        self.take_updates();
    }

    /// Sends an answer; returns why it was not taken.
    fn send_answer(&mut self, id: ApprovalId, answer: Answer) -> Option<String> {
        self.record.answering(id.0, NAME);
        self.client.send(Request::Answer { id, answer });
        let updates = self.client.answers();
        let refused = updates.iter().find_map(|update| match update {
            Update::Reply(Reply::Answered { id: answered, outcome: Err(why), .. }) if *answered == id => {
                Some(why.clone())
            }
            _ => None,
        });
        self.updates.extend(updates);
        refused
    }
}

/// Returns the answer, as far as the question takes it.
fn taken(request: &ApprovalRequest, answer: PermissionAnswer) -> Result<Answer, String> {
    match answer.answer {
        InputAnswer::Session if request.session.is_none() => {
            Err("the permission command answered session, which this question does not take".to_owned())
        }
        InputAnswer::Always | InputAnswer::Everywhere if request.rule.is_none() => {
            Err("the permission command answered always, which this question does not take".to_owned())
        }
        InputAnswer::Yes | InputAnswer::Session | InputAnswer::Always | InputAnswer::Everywhere | InputAnswer::No => {
            answer.answer.with(answer.reason, answer.arguments)
        }
    }
}

/// Asks the program one question.
async fn decide(
    command: &UserCommand,
    question: &PermissionQuestion,
    time: Duration,
) -> Result<PermissionAnswer, String> {
    let input = escaped_json(serde_json::to_string(question).map_err(|error| error.to_string())?) + "\n";
    let command = OwnCommand { command, input: &input, most: limits::PERMISSION_ANSWER_BYTES, time };
    let output = command.run().await.map_err(|error| format!("the permission command {error}"))?;
    let output = without_halves(output.trim_start_matches('\u{feff}'));
    serde_json::from_str(&output).map_err(|error| format!("the permission command did not print an answer: {error}"))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use steersman_base::protocol::ApprovalSubject;

    fn request() -> ApprovalRequest {
        let subject = ApprovalSubject::Plain { title: "may it?".to_owned(), detail: "this".to_owned() };
        ApprovalRequest { id: ApprovalId(7), asker: None, subject, why: String::new(), session: None, rule: None }
    }

    async fn run(script: &str, time: Duration) -> Result<PermissionAnswer, String> {
        let command = UserCommand::new(["/bin/sh", "-c", script].map(str::to_owned).into());
        decide(&command, &PermissionQuestion::new(&request(), None), time).await
    }

    #[tokio::test]
    async fn what_fails_takes_too_long_or_prints_something_else_is_no_answer() {
        let time = Duration::from_secs(20);
        let yes = run(r#"read line; echo '{"answer": "yes"}'"#, time).await;
        assert_eq!(yes, Ok(PermissionAnswer { answer: InputAnswer::Yes, reason: None, arguments: None }));
        for (script, why) in [
            ("exit 3", "failed"),
            ("echo '{\"answer\":\"yes\"}'; echo broken >&2; exit 1", "broken"),
            ("echo yes", "did not print an answer"),
            ("echo '{\"answer\": \"maybe\"}'", "did not print an answer"),
            ("printf '{\"answer\":\"yes\"} {\"answer\":\"no\"}'", "did not print an answer"),
            ("yes", "failed"),
            (":", "did not print an answer"),
            ("kill -9 $$", "failed"),
        ] {
            let answer = run(script, time).await;
            assert!(answer.as_ref().is_err_and(|error| error.contains(why)), "{script}: {answer:?}");
        }
        let began = Instant::now();
        let late = run("sleep 1000 & sleep 1000", Duration::from_millis(100)).await;
        assert!(late.is_err_and(|error| error.contains("took longer")));
        assert!(began.elapsed() < time);
    }

    #[test]
    fn an_answer_that_was_not_offered_is_not_taken() {
        let answer = |answer| PermissionAnswer { answer, reason: None, arguments: None };
        assert!(taken(&request(), answer(InputAnswer::Session)).is_err());
        assert!(taken(&request(), answer(InputAnswer::Always)).is_err());
        assert_eq!(taken(&request(), answer(InputAnswer::Yes)), Ok(Answer::Once));
    }
}
