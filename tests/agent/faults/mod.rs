//! Every way in which a server can fail, over every family of wire formats: one row each, played through an agent.
//!
//! A row says what the server does, how the turn ends, with which sentence, after how many requests, and what ran. Each
//! is played in every dialect that the program speaks; each request is checked by the family's validator; and behind
//! each the next turn must work.

mod http2;
mod play;
mod real_servers;
mod refusals;
mod streams;
mod tls;
mod unreachable;
mod waits;

use std::time::Duration;

use steersman_base::event::Event;
use steersman_core::provider::Streaming;

use crate::support::family::{End, Family, Move};
use crate::support::server::{Reply, Step};

type Script = dyn Fn(Family) -> Vec<Reply> + Send + Sync;

/// One way to fail.
pub struct Fault {
    name: String,
    script: Box<Script>,
    ends: Ends,
    requests: usize,
    /// The announced waits, milliseconds: one range for each.
    waits: Vec<std::ops::RangeInclusive<u64>>,
    /// Calls of the tool that ran.
    ran: usize,
    streaming: Streaming,
    silence: Duration,
    keep_alive: Duration,
    /// The event at which the user stops the turn.
    esc: Option<fn(&Event) -> bool>,
    families: &'static [Family],
}

/// Says how a turn is to end. In a sentence `*` stands for anything.
pub enum Ends {
    Answered(String),
    Failed(String),
    Cancelled,
}

pub fn answered(text: &str) -> Ends {
    Ends::Answered(text.to_owned())
}

pub fn failed(sentence: impl Into<String>) -> Ends {
    Ends::Failed(sentence.into())
}

/// Makes a row that is asked once and announces no wait.
pub fn fault(
    name: impl Into<String>,
    script: impl Fn(Family) -> Vec<Reply> + Send + Sync + 'static,
    ends: Ends,
) -> Fault {
    Fault {
        name: name.into(),
        script: Box::new(script),
        ends,
        requests: 1,
        waits: Vec::new(),
        ran: 0,
        streaming: Streaming::On,
        silence: Duration::from_secs(20),
        keep_alive: Duration::from_secs(20),
        esc: None,
        families: &Family::ALL,
    }
}

/// What the program waits where the server does not say how long.
pub const FIRST: std::ops::RangeInclusive<u64> = 250..=500;
const SECOND: std::ops::RangeInclusive<u64> = 500..=1_000;
const THIRD: std::ops::RangeInclusive<u64> = 1_000..=2_000;

impl Fault {
    /// Asks once more for each wait.
    fn waits(mut self, waits: impl IntoIterator<Item = std::ops::RangeInclusive<u64>>) -> Self {
        self.waits = waits.into_iter().collect();
        self.requests = 1 + self.waits.len();
        self
    }

    fn retried(self) -> Self {
        self.waits([FIRST])
    }

    fn given_up(self) -> Self {
        self.waits([FIRST, SECOND, THIRD])
    }

    fn requests(mut self, requests: usize) -> Self {
        self.requests = requests;
        self
    }

    fn ran(mut self, calls: usize) -> Self {
        self.ran = calls;
        self
    }

    fn whole(mut self) -> Self {
        self.streaming = Streaming::Off;
        self
    }

    fn silence(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    fn keep_alive(mut self, time: Duration) -> Self {
        self.keep_alive = time;
        self
    }

    fn esc(mut self, at: fn(&Event) -> bool) -> Self {
        self.esc = Some(at);
        self
    }

    fn only(mut self, families: &'static [Family]) -> Self {
        self.families = families;
        self
    }
}

/// A model that says this and is done.
pub fn says(text: &str) -> Reply {
    Reply::text(text)
}

/// A stream of these moves.
pub fn moves(moves: impl IntoIterator<Item = Move>) -> Reply {
    Reply::moves(moves)
}

pub fn text(words: &str) -> Move {
    Move::Text(words.to_owned())
}

pub fn thinking(words: &str) -> Move {
    Move::Thinking(words.to_owned())
}

pub fn look() -> Move {
    Move::Call("call_1".to_owned(), "look".to_owned(), "{}".to_owned())
}

pub fn done() -> Move {
    Move::End(End::Done)
}

pub fn raw(bytes: impl AsRef<[u8]>) -> Move {
    Move::Wire(Step::Bytes(bytes.as_ref().to_vec()))
}

pub fn pause(millis: u64) -> Move {
    Move::Wire(Step::Pause(Duration::from_millis(millis)))
}

pub fn cut() -> Move {
    Move::Wire(Step::Cut)
}

/// A refusal in the family's own form.
pub fn refuses(family: Family, status: u16, kind: &str, message: &str) -> Reply {
    Reply::json(status, family.refusal(status, kind, message))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals() {
    play::all(refusals::rows()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waits() {
    play::all(waits::rows()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams() {
    play::all(streams::rows()).await;
}

#[test]
fn there_are_120_faults_and_each_has_its_own_name() {
    let rows: Vec<Fault> = [refusals::rows(), waits::rows(), streams::rows()].into_iter().flatten().collect();
    let names: std::collections::BTreeSet<&str> = rows.iter().map(|fault| fault.name.as_str()).collect();
    let families = play::families();
    let played: usize =
        rows.iter().map(|fault| families.iter().filter(|family| fault.families.contains(family)).count()).sum();
    println!("{} faults over {} families: {played} played", rows.len(), families.len());
    assert_eq!(names.len(), rows.len());
    assert!(rows.len() >= 120, "{}", rows.len());
}
