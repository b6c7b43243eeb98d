//! The typist of the trials: what is done to the program, blindly, at random moments.

use std::collections::HashSet;
use std::time::Duration;

use super::Random;
use super::accounts::{conversations, tokens};
use crate::support::server::Server;
use crate::support::terminal::{Terminal, keys};

/// The time between two keys or texts.
const KEYS_APART: Duration = Duration::from_millis(20);

/// Remembers what was typed, and what of it may arrive how.
pub struct Typist {
    random: Random,
    typed: usize,
    /// Sent with Enter to the main agent, never touched again: they arrive in this order.
    pub steers: Vec<String>,
    /// Sent with Tab, never touched again: they arrive in this order, too.
    pub follow_ups: Vec<String>,
    /// Addressed to every agent: they may arrive once each.
    pub everybody: HashSet<String>,
    /// Every token.
    pub all: Vec<String>,
    /// What was sent to the terminal, for whoever reads a failure.
    pub log: Vec<String>,
}

impl Typist {
    pub fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed + 1000),
            typed: 0,
            steers: Vec::new(),
            follow_ups: Vec::new(),
            everybody: HashSet::new(),
            all: Vec::new(),
            log: Vec::new(),
        }
    }

    /// Returns the time until the next act.
    pub fn gap(&mut self) -> Duration {
        self.random.pause(40)
    }

    /// Notes what the screen shows behind an operation, for a failure: the pending texts, the message and the line of state.
    pub fn look(&mut self, screen: &str) {
        let rows: Vec<&str> = screen.lines().map(str::trim_end).filter(|row| !row.is_empty()).collect();
        let last: Vec<&str> = rows[rows.len().saturating_sub(7)..].to_vec();
        self.log.push(last.join("\n"));
    }

    /// Does one thing.
    pub fn act(&mut self, terminal: &mut Terminal, server: &Server) {
        match self.random.below(23) {
            0..=5 => {
                let token = self.token();
                self.steers.push(token.clone());
                self.send(terminal, &format!("{token}{}", keys::ENTER));
            }
            6..=7 => {
                let token = self.token();
                self.follow_ups.push(token.clone());
                self.send(terminal, &format!("{token}{}", keys::TAB));
            }
            8..=9 => {
                let token = self.token();
                self.send(terminal, &format!("{token}{}", keys::F5));
            }
            10 | 20..=22 => {
                let (token, child) = (self.token(), self.random.below(4));
                self.send(terminal, &format!("@file_miner {child} {token}{}", keys::ENTER));
            }
            11 => {
                let token = self.token();
                self.everybody.insert(token.clone());
                self.send(terminal, &format!("@all {token}{}", keys::ENTER));
            }
            12..=15 => {
                self.disturb(server);
                self.list(terminal);
            }
            16 => {
                self.disturb(server);
                self.send(terminal, keys::ALT_UP);
            }
            17 => {
                self.disturb(server);
                self.send(terminal, keys::ESC);
            }
            18 => {
                self.send(terminal, keys::ALT_H);
                std::thread::park_timeout(self.random.pause(60));
                self.send(terminal, keys::ALT_H);
            }
            _ => {
                self.disturb(server);
                let cancel = if self.random.below(2) == 0 { "x" } else { "X" };
                // Never the main agent: the selection goes back to it.
                self.send(terminal, &format!("{}{}{cancel}", keys::F3, keys::DOWN));
                self.send(terminal, &format!("{}{}", keys::HOME, keys::ENTER));
            }
        }
    }

    /// Works in the pending list and goes back to the message.
    fn list(&mut self, terminal: &mut Terminal) {
        self.send(terminal, keys::F2);
        for _ in 0..self.random.below(3) {
            self.send(terminal, "k");
        }
        match self.random.below(8) {
            0 => self.send(terminal, "d"),
            1 => {
                self.send(terminal, "d");
                std::thread::park_timeout(self.random.pause(20));
                self.send(terminal, "u");
            }
            2 => {
                self.send(terminal, keys::ENTER);
                let token = self.token();
                std::thread::park_timeout(self.random.pause(20));
                self.send(terminal, &format!(" {token}{}", keys::ENTER));
                return;
            }
            3 => self.send(terminal, "J"),
            4 => self.send(terminal, "K"),
            5 => self.send(terminal, "f"),
            6 => self.send(terminal, "m"),
            _ => self.send(terminal, keys::F5),
        }
        // Back to the message by the key that is never "stop".
        self.send(terminal, &format!("{}{}", keys::F3, keys::ENTER));
    }

    /// From here on the order of what has not arrived yet is the typist's own doing.
    fn disturb(&mut self, server: &Server) {
        let arrived: HashSet<String> =
            conversations(&server.chats()).into_iter().flat_map(|c| c.texts).flat_map(|text| tokens(&text)).collect();
        self.steers.retain(|token| arrived.contains(token));
        self.follow_ups.retain(|token| arrived.contains(token));
    }

    fn send(&mut self, terminal: &mut Terminal, keys: &str) {
        self.log.push(format!("== {keys:?}"));
        terminal.send(keys);
        // Lines that come at once are a paste; the keys of a person are further apart.
        std::thread::park_timeout(KEYS_APART);
    }

    fn token(&mut self) -> String {
        self.typed += 1;
        let token = format!("[t{}]", self.typed);
        self.all.push(token.clone());
        token
    }
}
