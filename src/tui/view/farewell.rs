//! What stands in the terminal after the screen is gone: the beginning of the last answer, what becomes of the rest, and
//! what was being written where nothing keeps it.

use crate::agents::view::money;
use crate::state::App;
use crate::transcript::cell::Body;
use crate::widgets::fit::{clip, one_line};
use steersman_base::id::AgentId;
use steersman_base::summary::{count, tokens};
use steersman_base::text::{visible, visible_line};

/// Most lines of the answer.
const LINES: usize = 5;

/// Returns the lines to leave behind; none when nothing was said or written.
pub fn farewell(app: &App) -> Vec<String> {
    let mut lines = work(app);
    if app.disconnected().is_some() || app.ui.session.is_none() {
        let drafts = app.unsent();
        lines.extend((!drafts.is_empty()).then(|| "Not sent:".to_owned()));
        for draft in &drafts {
            lines.extend(visible(&draft.text).lines().map(|line| format!("  {line}")));
        }
    }
    lines
}

fn work(app: &App) -> Vec<String> {
    let cells = app.reader_of(&AgentId::main()).map(|reader| reader.transcript.cells()).unwrap_or_default();
    if !app.transcripts.is_arriving() && !cells.iter().any(|cell| matches!(cell.body(), Body::User { .. })) {
        return Vec::new();
    }
    let answer = cells.iter().rev().find_map(|cell| {
        if let Body::Assistant { text, .. } = cell.body() {
            Some(text.trim()).filter(|text| !text.is_empty())
        } else {
            None
        }
    });
    let mut lines = Vec::new();
    if let Some(answer) = answer {
        lines.push("The last answer:".to_owned());
        let width = app.ui.size.width.saturating_sub(2);
        lines.extend(answer.lines().take(LINES).map(|line| format!("  {}", clip(line, width)).trim_end().to_owned()));
        let more = answer.lines().count().saturating_sub(LINES);
        lines.extend((more > 0).then(|| format!("  … {}", count(more, "more line"))));
        lines.push(String::new());
    }
    let session = app.ui.run.agents.session();
    let cost = money(&session).map(|cost| format!(", {cost}")).unwrap_or_default();
    let used = format!("{} tokens used{cost}.", tokens(session.tokens().max(app.ui.run.budget.tokens)));
    match (&app.ui.session, app.disconnected()) {
        (Some(session), Some(reason)) => lines.extend([
            used,
            format!("Not connected any more: {}.", visible_line(reason)),
            format!("To go on with the session: steersman --resume {session}"),
        ]),
        (Some(session), None) if app.ui.client.is_some() => {
            lines.extend([used, format!("The session goes on. To come back: steersman attach {session}")]);
        }
        (Some(session), None) => lines.extend(match &app.ui.unsaved {
            Some(unsaved) if !unsaved.has_begun => vec![used, format!("{}.", one_line(&unsaved.why))],
            Some(unsaved) => vec![
                used,
                format!("{}.", one_line(&unsaved.why)),
                format!("To resume what was saved before: steersman --resume {session}"),
            ],
            None => vec![used, format!("To resume: steersman --resume {session}")],
        }),
        // A session that was only read.
        (None, _) if app.replay.is_some() => return Vec::new(),
        (None, _) => lines.push(format!("The conversation is not kept. {used}")),
    }
    lines
}
