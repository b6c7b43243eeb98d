//! `/export`: makes the document; writing it is left to the effect. Tests: `export.rs`.

use super::{ExportFormat, ExportRequest, ExportSubject, ledger_csv, ledger_markdown};
use crate::app::App;
use crate::commands::{CommandEntry, Takes};
use crate::effect::{Effect, PaneEffect};
use crate::transcript::reduce::Transcript;
use crate::transcript::transcript_markdown;
use steersman_base::id::AgentId;

pub const COMMAND: CommandEntry = CommandEntry::new(
    "/export [WHAT] [FILE]",
    Takes::Any,
    "F7",
    "write the transcript, all of them, or the ledger as .md or .csv",
    |_, arguments| {
        let arguments = arguments.to_owned();
        vec![PaneEffect::call(move |app| export(app, &arguments))]
    },
)
.offering(&["transcript", "ledger"]);

/// Carries out `/export` with these arguments, or says what is wrong with them.
pub fn export(app: &App, arguments: &str) -> Vec<PaneEffect> {
    let request = match ExportRequest::parse(arguments) {
        Ok(request) => request,
        Err(sentence) => return vec![PaneEffect::Reply(format!("not exported: {sentence}"))],
    };
    let page = |agent: &AgentId| match app.reader_of(agent) {
        Some(reader) => transcript_markdown(&reader.transcript, &app.ui.zone),
        None => transcript_markdown(&Transcript::new(agent.clone()), &app.ui.zone),
    };
    let text = match (request.subject, request.form) {
        (ExportSubject::Ledger, ExportFormat::Csv) => ledger_csv(app.ui.run.receipts.list()),
        (ExportSubject::Ledger, ExportFormat::Markdown) => ledger_markdown(app.ui.run.receipts.list()),
        (ExportSubject::Transcript, _) => page(app.tree.selected()),
        (ExportSubject::All, _) => {
            let pages: Vec<String> = app.ui.run.agents.nodes().iter().map(|node| page(&node.id)).collect();
            pages.join("\n")
        }
    };
    vec![PaneEffect::Outside(Effect::Write { request, text })]
}

/// Says where the document is, or why it is nowhere.
pub fn written(subject: ExportSubject, outcome: Result<String, String>) -> PaneEffect {
    PaneEffect::Reply(match outcome {
        Ok(path) => format!("{} written to {path}", noun(subject)),
        Err(reason) => format!("{} not exported: {reason}", noun(subject)),
    })
}

fn noun(subject: ExportSubject) -> &'static str {
    match subject {
        ExportSubject::Transcript => "transcript",
        ExportSubject::All => "all transcripts",
        ExportSubject::Ledger => "ledger",
    }
}
