//! The ledger as a document; comma-separated values as in RFC 4180, which no spreadsheet takes for formulas.

use super::markdown::cell;
use steersman_session::model::{Receipt, ledger_row};

/// Writes the ledger as CSV: a head, then a row for each text; times in UTC, waits in seconds, costs in US dollars.
pub fn ledger_csv(receipts: &[Receipt]) -> String {
    let head = [
        "id",
        "to",
        "text",
        "sent",
        "state",
        "waited_seconds",
        "boundary",
        "seen",
        "tokens",
        "cost_usd",
        "kind",
        "answer",
    ];
    let rows = receipts.iter().map(|receipt| {
        let row = ledger_row(receipt);
        [
            row.id,
            row.to,
            row.text,
            sent(receipt),
            row.state,
            receipt.waited().map(|seconds| seconds.to_string()).unwrap_or_default(),
            row.boundary,
            row.seen,
            row.tokens,
            receipt.spent.nanos.map(dollars).unwrap_or_default(),
            row.kind,
            row.answer,
        ]
    });
    csv(std::iter::once(head.map(str::to_owned)).chain(rows))
}

/// Writes the ledger as a page with one table.
pub fn ledger_markdown(receipts: &[Receipt]) -> String {
    let mut page = String::from("# Ledger\n\n");
    if receipts.is_empty() {
        page.push_str("Nothing was sent.\n");
        return page;
    }
    page.push_str("Tokens and cost are counted until the next change of tool, or until the turn ended.\n\n");
    page.push_str("| id | to | text | sent | state | waited | boundary | seen | tokens | cost | kind | answer |\n");
    page.push_str("|---|---|---|---|---|---:|---|---|---:|---:|---|---|\n");
    for receipt in receipts {
        let row = ledger_row(receipt);
        let sent = sent(receipt);
        let fields = [
            &row.id,
            &row.to,
            &row.text,
            &sent,
            &row.state,
            &row.waited,
            &row.boundary,
            &row.seen,
            &row.tokens,
            &row.cost,
            &row.kind,
            &row.answer,
        ];
        for field in fields {
            page.extend(["| ", &cell(field), " "]);
        }
        page.push_str("|\n");
    }
    page
}

fn sent(receipt: &Receipt) -> String {
    receipt.sent.map(|at| format!("{at:.0}")).unwrap_or_default()
}

fn dollars(nanos: u64) -> String {
    format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000)
}

/// Characters at the start of a field with which spreadsheets begin a formula, and the guard itself, so that taking one
/// guard off gives every field back.
const GUARDED: [char; 7] = ['=', '+', '-', '@', '\t', '\r', '\''];

/// Writes rows of fields; each row ends with a carriage return and a line feed.
///
/// A field that starts with `=`, `+`, `-`, `@`, a tab, a carriage return or `'` gets a `'` before it.
pub fn csv<R, F>(rows: impl IntoIterator<Item = R>) -> String
where
    R: IntoIterator<Item = F>,
    F: AsRef<str>,
{
    let mut text = String::new();
    for row in rows {
        for (number, field) in row.into_iter().enumerate() {
            if number > 0 {
                text.push(',');
            }
            push(&mut text, field.as_ref());
        }
        text.push_str("\r\n");
    }
    text
}

fn push(text: &mut String, field: &str) {
    let guard = if field.starts_with(GUARDED) { "'" } else { "" };
    if field.contains([',', '"', '\r', '\n']) {
        text.extend(["\"", guard, &field.replace('"', "\"\""), "\""]);
    } else {
        text.extend([guard, field]);
    }
}
