//! 200 trials at random moments with every operation of the steering desk: nothing typed is lost, doubled or reordered within
//! a delivery kind, every request is valid, every receipt is true.
//!
//! The server plays turns of random shape and pace, sub-agents too; a typist sends, follows up, cuts in, edits, deletes,
//! brings back, moves, flips, merges, stops, holds and cancels at random moments, blindly. Each typed text carries a
//! token; where each token ended is read from the server's record and compared with what the program's own ledger
//! says. Seeds are fixed: a failure names its seed. Stories start in the order of their names: the longest has the first name,
//! so that others run beside it.

mod accounts;
mod acts;
mod model;

use std::time::{Duration, Instant};

use crate::support::server::Server;
use crate::support::terminal::{Start, Terminal, keys};
use accounts::Accounts;
use acts::Typist;

const SESSIONS: u64 = 10;
const TRIALS_PER_SESSION: usize = 20;
/// Longest time for a session to come to rest.
const REST: Duration = Duration::from_mins(1);

/// A small generator (Lehmer), so that a seed replays its trial.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0xDA94_2042_E4DD_58B5);
        (self.0 >> 33) % end
    }

    fn pause(&mut self, most_ms: u64) -> Duration {
        Duration::from_micros(self.below(most_ms * 1000))
    }
}

fn session(seed: u64) {
    let server = Server::routed(model::random(seed));
    let config = tempfile::tempdir().unwrap();
    std::fs::create_dir(config.path().join("steersman")).unwrap();
    // The question about old texts has its own tests; here nobody would answer it.
    std::fs::write(config.path().join("steersman/config.toml"), "still_true_steps = 0\n").unwrap();
    let start = Start::against(&server).size(100, 30).env("XDG_CONFIG_HOME", config.path().to_str().unwrap());
    let mut terminal = start.run();
    let mut typist = Typist::new(seed);
    for _ in 0..TRIALS_PER_SESSION {
        typist.act(&mut terminal, &server);
        std::thread::park_timeout(typist.gap());
        typist.look(&terminal.screen());
    }
    come_to_rest(&mut terminal, seed);
    let file = config.path().join("ledger.csv");
    terminal.send(&format!("/export ledger {}{}", file.display(), keys::ENTER));
    terminal.wait_until("the ledger to be written", |_| file.exists());
    terminal.wait_for("ledger.csv");
    let accounts = Accounts::new(&server.chats(), &std::fs::read_to_string(&file).unwrap());
    accounts.check(&typist, &format!("seed {seed}; at last the screen was:\n{}\n", terminal.screen()));
    assert!(server.violations().is_empty(), "seed {seed}: {:?}", server.violations());
}

/// Lets everything that is paused, pending or in the composer go its way, until nothing is left to wait for.
fn come_to_rest(terminal: &mut Terminal, seed: u64) {
    let deadline = Instant::now() + REST;
    let mut rests = 0;
    while rests < 3 {
        // To the main agent, back to the message.
        terminal.send(&format!("{}{}{}", keys::F3, keys::HOME, keys::ENTER));
        let screen = terminal.screen();
        let paused = screen.contains('‖');
        let empty = screen.contains("Type a message");
        // In the transcript the second sign stands before the name of a sub-agent.
        let waits = screen.contains("pending") || screen.contains('⋯') || screen.contains("↳ m");
        let at_rest = ["idle", "cancelled", "failed"].iter().any(|state| screen.contains(state));
        // More than one look: what was typed last may not be on the screen yet.
        let rested = at_rest && empty && !paused && !waits;
        rests = if rested { rests + 1 } else { 0 };
        assert!(Instant::now() < deadline, "seed {seed}: no rest; the screen was:\n{screen}");
        if screen.contains("@main before it sends it as text") {
            // For an agent that has ended meanwhile; what was read late is one message of several lines.
            terminal.send(&format!("{}@main ", keys::LEFT.repeat(500)));
        } else if screen.lines().any(|row| row.trim_end() == "› @main") {
            // What it was for had been sent before those keys.
            terminal.send("\u{15}");
        } else if paused {
            terminal.send(keys::ALT_H);
        } else if !rested && (at_rest || !empty) {
            terminal.send(keys::ENTER);
        }
        std::thread::park_timeout(Duration::from_millis(200));
    }
}

#[test]
fn two_hundred_acts_at_random_moments_lose_double_and_reorder_nothing() {
    for seed in 0..SESSIONS {
        session(seed);
    }
}
