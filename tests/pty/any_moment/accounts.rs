//! Where each token ended: by the server's record, and by what the program's ledger says.

use std::collections::HashMap;

use super::acts::Typist;
use super::model::is_main;
use crate::support::server::Request;

/// The conversation of one agent as its last request showed it.
pub struct Conversation {
    /// True for the main agent.
    pub main: bool,
    /// The user's texts, without a sub-agent's task.
    pub texts: Vec<String>,
}

/// Returns the conversation of every agent.
pub fn conversations(chats: &[Request]) -> Vec<Conversation> {
    let mut last: HashMap<String, &Request> = HashMap::new();
    for chat in chats {
        let key = if is_main(chat) { String::new() } else { chat.texts("user").first().cloned().unwrap_or_default() };
        last.insert(key, chat);
    }
    last.into_iter()
        .map(|(key, chat)| {
            let mut texts = chat.texts("user");
            // A note of the program on a sub-agent that was continued quotes what it was asked.
            texts.retain(|text| !text.starts_with("<agent-"));
            let texts = if key.is_empty() { texts } else { texts.into_iter().skip(1).collect() };
            Conversation { main: key.is_empty(), texts }
        })
        .collect()
}

/// Returns the tokens of a text.
pub fn tokens(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("[t") {
        let Some(length) = rest[start..].find(']') else { break };
        found.push(rest[start..=start + length].to_owned());
        rest = &rest[start + length..];
    }
    found
}

/// What the record and the ledger say.
pub struct Accounts {
    conversations: Vec<Conversation>,
    /// One map of column names to cells for each row.
    ledger: Vec<HashMap<String, String>>,
}

impl Accounts {
    pub fn new(chats: &[Request], csv: &str) -> Self {
        let mut rows = parse(csv).into_iter();
        let names = rows.next().unwrap_or_default();
        let ledger = rows.map(|row| names.iter().cloned().zip(row).collect()).collect();
        Self { conversations: conversations(chats), ledger }
    }

    /// Checks every promise.
    pub fn check(&self, typist: &Typist, seed: &str) {
        for token in &typist.all {
            self.arrived_once(token, typist, seed);
        }
        self.in_order(&typist.steers, seed);
        self.in_order(&typist.follow_ups, seed);
        for row in &self.ledger {
            self.receipt_is_true(row, seed);
        }
    }

    fn arrived_once(&self, token: &str, typist: &Typist, seed: &str) {
        let everybody = typist.everybody.contains(token);
        let mut total = 0;
        for conversation in &self.conversations {
            let count = conversation.texts.iter().flat_map(|text| tokens(text)).filter(|found| found == token).count();
            let (texts, rows, log) = (&conversation.texts, self.rows(token), typist.log.join("\n"));
            assert!(count <= 1, "{seed}: {token} went {count} times to one agent: {texts:#?}\n{rows:#?}\n{log}");
            total += count;
        }
        let (rows, log) = (self.rows(token), typist.log.join("\n"));
        assert!(everybody || total <= 1, "{seed}: {token} went to {total} agents: {rows:#?}\n{log}");
        // A turn that is cancelled between a delivery and the next request says so, and makes no request with the text.
        let gone = rows.iter().any(|row| is_gone(&row["state"]) || row["state"].starts_with("delivered, not seen"));
        assert!(total > 0 || gone, "{seed}: {token} is lost: {rows:#?}\n{log}");
    }

    fn rows(&self, token: &str) -> Vec<&HashMap<String, String>> {
        self.ledger.iter().filter(|row| row["text"].contains(token)).collect()
    }

    fn in_order(&self, sent: &[String], seed: &str) {
        for conversation in &self.conversations {
            let arrived: Vec<String> = conversation.texts.iter().flat_map(|text| tokens(text)).collect();
            let places: Vec<usize> = sent.iter().filter_map(|token| arrived.iter().position(|a| a == token)).collect();
            assert!(places.is_sorted(), "{seed}: sent as {sent:?}, arrived as {arrived:?}");
        }
    }

    /// What the ledger calls seen or delivered stands in the target's conversation, word for word; what it calls
    /// withdrawn or returned stands nowhere under that wording more often than other rows account for.
    fn receipt_is_true(&self, row: &HashMap<String, String>, seed: &str) {
        let main = row["to"] == "main";
        let text = words(row["text"].trim_start_matches('\''));
        let there = |conversation: &&Conversation| conversation.main == main;
        let has = |conversation: &Conversation| conversation.texts.iter().any(|other| words(other) == text);
        let delivered = self.conversations.iter().filter(there).any(has);
        if row["state"].starts_with("seen") {
            assert!(delivered, "{seed}: {row:?} was never sent to the model");
        }
        if is_gone(&row["state"]) {
            let others = self.ledger.iter().filter(|other| other["text"] == row["text"] && !is_gone(&other["state"]));
            assert!(others.count() > 0 || !delivered, "{seed}: {row:?} was delivered");
        }
    }
}

/// The ledger shows a text on one line.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Tells whether a receipt says that the text left the queue undelivered, for good or back into the composer.
fn is_gone(state: &str) -> bool {
    ["withdrawn", "returned", "merged"].iter().any(|word| state.starts_with(word))
}

/// Reads comma-separated values (RFC 4180).
fn parse(csv: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut quoted = false;
    let mut chars = csv.chars().peekable();
    while let Some(c) = chars.next() {
        let row = rows.last_mut().unwrap();
        let cell = row.last_mut().unwrap();
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => cell.push(chars.next().unwrap()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(String::new()),
            '\r' if !quoted => {}
            '\n' if !quoted => rows.push(vec![String::new()]),
            other => cell.push(other),
        }
    }
    rows.retain(|row| row.len() > 1);
    rows
}
