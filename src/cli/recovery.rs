//! What commands of a program that was killed may have left behind: compared and decided about before anything runs.
//!
//! Called at each start of the screen, the line output and `exec`, and by `doctor`. Who can be asked is asked.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;

use futures_util::FutureExt as _;

use crate::approval::{Approvals, PlainAnswer};
use crate::cli::places::Places;
use crate::text::{visible, visible_line};
use crate::workspace::snapshot::{Decision, Question, Recovery, recover};

/// Looks after what was left in a directory, asking through the approvals.
pub async fn at_start(places: &Places, cwd: &Path, approvals: &Approvals) -> Recovery {
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

/// Looks after what was left in a directory, asking on the terminal where there is one.
pub async fn by_doctor(places: &Places, cwd: &Path) -> Recovery {
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
