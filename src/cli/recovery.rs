//! Recovery after the program was killed: changes that its commands left are compared and decided about before
//! anything runs.
//!
//! Called at each start of the screen, the line output and `exec`, and by `doctor`. The user is asked where possible.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;

use futures_util::FutureExt as _;

use crate::approval::{Approvals, PlainAnswer};
use crate::cli::places::UserDirectories;
use crate::text::{visible, visible_line};
use crate::workspace::snapshot::{Decision, Question, Recovery, recover};

/// What is said while a question about changed files has no answer.
pub const UNDECIDED: &str = "an interrupted command changed files, and nobody has said what becomes of them";

/// Recovers a directory, asking through the approvals.
pub async fn at_start(places: &UserDirectories, cwd: &Path, approvals: &Approvals) -> Recovery {
    let Some(state) = &places.state else { return Recovery::default() };
    let ask = |Question { title, detail }| {
        async move {
            match approvals.ask_plain(format!("an earlier start was cut off: {title}"), detail).await {
                PlainAnswer::Yes => Decision::Keep,
                PlainAnswer::No => Decision::Restore,
                PlainAnswer::Nobody => Decision::Nobody,
            }
        }
        .boxed()
    };
    recover(state, cwd, &ask).await
}

/// Recovers a directory, asking on the terminal if there is one.
pub async fn by_doctor(places: &UserDirectories, cwd: &Path) -> Recovery {
    let Some(state) = &places.state else { return Recovery::default() };
    let ask = |question: Question| {
        async move {
            if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
                return Decision::Nobody;
            }
            tokio::task::spawn_blocking(move || read_answer(&question)).await.unwrap_or(Decision::Postpone)
        }
        .boxed()
    };
    recover(state, cwd, &ask).await
}

fn read_answer(question: &Question) -> Decision {
    let mut lines = io::stdin().lock().lines();
    loop {
        let (title, detail) = (visible_line(&question.title), visible(&question.detail));
        let _ = write!(io::stdout(), "{detail}\n{title} [yes/no] ").and_then(|()| io::stdout().flush());
        match lines.next() {
            Some(Ok(line)) if matches!(line.trim(), "y" | "yes") => return Decision::Keep,
            Some(Ok(line)) if matches!(line.trim(), "n" | "no") => return Decision::Restore,
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return Decision::Postpone,
        }
    }
}
