//! `steersman cancel`, `approve` and `decline`: what a person decides about a session from another terminal.
//!
//! Always holds: an approval is sent for the very question that was shown, and `--yes` approves nothing here.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};

use crate::program::cli::args::Flags;
use crate::program::cli::exit::{Exit, print_outcome, say};
use crate::program::cli::questions::question;
use crate::program::cli::running::args::{AnswerArgs, CancelArgs};
use crate::program::cli::running::choose::connect;
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::protocol::{
    AgentState, Answer, ApprovalId, ApprovalRequest, ApprovalSubject, Reply, Request, Update,
};
use steersman_base::text::visible_line;
use steersman_session::socket::{Caller, Updates};

/// Whether a question is approved or declined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decided {
    /// Yes, this once.
    Yes,
    /// No.
    No,
}

/// Stops the turn, or a sub-agent.
pub(crate) fn run_cancel(flags: &Flags, args: &CancelArgs) -> Exit {
    done(cancel(flags, args))
}

pub(crate) fn run_answer(flags: &Flags, args: &AnswerArgs, decided: Decided) -> Exit {
    if flags.yes {
        say("--yes answers nothing here: name each question");
        return Exit::Usage;
    }
    done(answer(flags, args, decided))
}

fn done(outcome: Result<String, String>) -> Exit {
    print_outcome(outcome.map(|sentence| sentence + "\n"), Exit::Failed)
}

fn cancel(flags: &Flags, args: &CancelArgs) -> Result<String, String> {
    let (mut caller, _) = connect(flags, &args.which, "cancel", Updates::None)?;
    let status = caller.status().map_err(|error| error.to_string())?;
    if args.agent.is_none() && status.agents.iter().all(|agent| agent.state == AgentState::Idle) {
        return Err("no turn runs".to_owned());
    }
    let request = match &args.agent {
        Some(agent) => Request::Cancel { agents: vec![AgentId::from(agent.as_str())] },
        None => Request::Stop,
    };
    match (caller.request(request).map_err(|error| error.to_string())?, &args.agent) {
        (Some(Reply::Cancelling(agents)), Some(agent)) if agents.is_empty() => {
            Err(format!("no agent {} runs", visible_line(agent)))
        }
        (_, Some(agent)) => Ok(format!("{} is being cancelled", visible_line(agent))),
        (_, None) => Ok("the turn is being cancelled".to_owned()),
    }
}

fn answer(flags: &Flags, args: &AnswerArgs, decided: Decided) -> Result<String, String> {
    let (mut caller, _) = connect(flags, &args.which, "approve", Updates::Now)?;
    let id = ApprovalId(args.id);
    let open = open(&mut caller)?;
    let Some(request) = open.iter().find(|request| request.id == id) else {
        return Err(format!("there is no question {}; `steersman status` lists them", args.id));
    };
    let shown = format!("question {}: {}\n", args.id, question(request));
    let written = io::stdout().write_all(shown.as_bytes()).and_then(|()| io::stdout().flush());
    written.map_err(|error| format!("not answered, the question cannot be shown: {error}"))?;
    let words = args.words.join(" ");
    let answer = match (decided, &request.subject) {
        (Decided::Yes, ApprovalSubject::AgentQuestion { question }) if !words.is_empty() => {
            Answer::Filled(question.read_answer(&words).map_err(|why| format!("not answered: {why}"))?)
        }
        (Decided::Yes, _) if !words.is_empty() => {
            return Err("words go with decline; to say something with a yes use: steersman inject TEXT".to_owned());
        }
        (Decided::Yes, _) => Answer::Once,
        (Decided::No, _) => Answer::No((!words.is_empty()).then_some(words)),
    };
    // Words are an answer that nobody gives by mistake.
    if answer == Answer::Once && io::stdin().is_terminal() && !confirmed() {
        return Err("not answered".to_owned());
    }
    let is_words = matches!(answer, Answer::Filled(_));
    match caller.request(Request::Answer { id, answer }).map_err(|error| error.to_string())? {
        Some(Reply::Answered { outcome: Ok(()), .. }) if is_words => Ok("answered".to_owned()),
        Some(Reply::Answered { outcome: Ok(()), .. }) if decided == Decided::Yes => Ok("approved".to_owned()),
        Some(Reply::Answered { outcome: Ok(()), .. }) => Ok("declined".to_owned()),
        Some(Reply::Answered { outcome: Err(why), .. }) => Err(format!("not answered: {why}")),
        _ => Err("the session does not say whether it took the answer".to_owned()),
    }
}

/// Waits for the questions that are open.
fn open(caller: &mut Caller) -> Result<Vec<ApprovalRequest>, String> {
    loop {
        match caller.next_update() {
            Ok(Some(Update::Approvals { open, .. })) => return Ok(open),
            Ok(Some(_)) => {}
            Ok(None) => return Err("the session has ended".to_owned()),
            Err(error) => return Err(format!("the session does not answer: {error}")),
        }
    }
}

fn confirmed() -> bool {
    let _ = io::stdout().write_all(b"approve? [yes/no] ").and_then(|()| io::stdout().flush());
    let mut line = String::new();
    // Whatever a pipe holds, a word is enough.
    let read = io::stdin().lock().take(limits::ANSWER_WORD_BYTES).read_line(&mut line);
    read.is_ok() && matches!(line.trim(), "y" | "yes")
}
