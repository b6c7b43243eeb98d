//! The ledger: each receipt as one row of words, for the overlay and for the export.

use super::receipt::{Receipt, ReceiptState};
use super::receipt_text::{boundary_text, receipt_text};
use steersman_base::clock::clock;
use steersman_base::target::name_of;
use steersman_base::text;

/// One text of the user in the words of a table; an empty word stands for what is not known, or not yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRow {
    /// Its id.
    pub id: String,
    /// The agent that it is for.
    pub to: String,
    /// The text, sanitized, with its line breaks.
    pub text: String,
    /// What it is to the agent.
    pub kind: String,
    /// Where it is.
    pub state: String,
    /// How long it waited, as a clock.
    pub waited: String,
    /// The boundary at which it entered the conversation.
    pub boundary: String,
    /// The step at which a reply to it began, or that none has.
    pub seen: String,
    /// What the model says that it did with it; nothing where it says nothing.
    pub answer: String,
    /// Tokens until the next change of tool, or the end of the turn.
    pub tokens: String,
    /// The same in dollars.
    pub cost: String,
}

/// Puts a receipt into a row.
pub fn ledger_row(receipt: &Receipt) -> LedgerRow {
    let seen = match &receipt.state {
        ReceiptState::Seen(arrival, reply) if reply.turn == arrival.turn => format!("step {}", reply.step),
        ReceiptState::Seen(_, reply) => format!("turn {}", reply.turn),
        ReceiptState::Delivered(_) => "not yet".to_owned(),
        ReceiptState::Unseen(..) => "not seen".to_owned(),
        ReceiptState::Pending
        | ReceiptState::Leaving
        | ReceiptState::Returned
        | ReceiptState::Withdrawn
        | ReceiptState::Merged(_) => String::new(),
    };
    LedgerRow {
        id: text::visible_line(receipt.id.as_str()).into_owned(),
        to: name_of(&receipt.agent),
        text: text::visible(&receipt.text).into_owned(),
        kind: receipt.kind.name().to_owned(),
        state: state(receipt),
        waited: receipt.waited().map(clock).unwrap_or_default(),
        boundary: receipt.arrival().map(boundary_text).unwrap_or_default(),
        seen,
        answer: receipt.answer.as_ref().map(|answer| answer.sentence.clone()).unwrap_or_default(),
        tokens: receipt.spent.tokens.map(|tokens| tokens.to_string()).unwrap_or_default(),
        cost: receipt.spent.nanos.map(dollars).unwrap_or_default(),
    }
}

fn state(receipt: &Receipt) -> String {
    match (&receipt.answer, &receipt.state) {
        (Some(answer), ReceiptState::Seen(arrival, _)) if answer.turn == arrival.turn => {
            format!("answered at step {}", answer.step)
        }
        (Some(answer), _) => format!("answered in turn {}", answer.turn),
        (None, _) => receipt_text(receipt).parts.first().cloned().unwrap_or_default(),
    }
}

/// Writes billionths of a dollar as dollars, to the hundredth of a cent: `$0.0123`.
fn dollars(nanos: u64) -> String {
    let parts = nanos.saturating_add(50_000) / 100_000;
    match parts {
        0 if nanos > 0 => "<$0.0001".to_owned(),
        _ => format!("${}.{:04}", parts / 10_000, parts % 10_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_are_rounded_and_never_nothing_for_something() {
        let written = [0, 1, 49_999, 50_000, 12_345_678, 1_999_950_000].map(dollars);
        assert_eq!(written, ["$0.0000", "<$0.0001", "<$0.0001", "$0.0001", "$0.0123", "$2.0000"]);
    }
}
