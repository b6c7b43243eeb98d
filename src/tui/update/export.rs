//! The command that exports: makes the document; writing it is left to the effect.

use crate::tui::export::{ExportRequest, Form, Subject, ledger_csv, ledger_markdown, transcript_markdown};
use crate::tui::msg::Effect;
use crate::tui::state::App;

/// Carries out `/export` with these arguments, or says what is wrong with them.
pub fn export(app: &mut App, arguments: &str) -> Vec<Effect> {
    let request = match ExportRequest::parse(arguments) {
        Ok(request) => request,
        Err(sentence) => {
            app.reply(&format!("not exported: {sentence}"));
            return Vec::new();
        }
    };
    let text = match (request.subject, request.form) {
        (Subject::Ledger, Form::Csv) => ledger_csv(app.run.receipts.list()),
        (Subject::Ledger, Form::Markdown) => ledger_markdown(app.run.receipts.list()),
        (Subject::Transcript, _) => {
            let agent = app.tree.selected().clone();
            let zone = app.zone.clone();
            transcript_markdown(&app.reader_mut(&agent).transcript, &zone)
        }
        (Subject::All, _) => {
            let agents: Vec<_> = app.tree.nodes().iter().map(|node| node.id.clone()).collect();
            let zone = app.zone.clone();
            let pages = agents.iter().map(|agent| transcript_markdown(&app.reader_mut(agent).transcript, &zone));
            pages.collect::<Vec<_>>().join("\n")
        }
    };
    vec![Effect::Write { request, text }]
}

/// Says where the document is, or why it is nowhere.
pub fn written(app: &mut App, subject: Subject, outcome: Result<String, String>) {
    let sentence = match outcome {
        Ok(path) => format!("{} written to {path}", noun(subject)),
        Err(reason) => format!("{} not exported: {reason}", noun(subject)),
    };
    app.reply(&sentence);
}

fn noun(subject: Subject) -> &'static str {
    match subject {
        Subject::Transcript => "transcript",
        Subject::All => "all transcripts",
        Subject::Ledger => "ledger",
    }
}
