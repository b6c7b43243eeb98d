//! What an agent did in the last minute, second by second: a ring that is written by its events and drawn as a sparkline.
//!
//! Time comes from the envelopes. The scale is fixed and doubles from step to step, so rows can be compared and nothing
//! is drawn anew because another second was busier.

use jiff::Timestamp;

/// Seconds that are remembered.
pub const SECONDS: usize = 60;
const WINDOW: i64 = 60;

/// Counts roughly the tokens of each of the last 60 seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sparks {
    ring: [u16; SECONDS],
    /// The newest second that was written.
    newest: i64,
}

impl Default for Sparks {
    fn default() -> Self {
        Self { ring: [0; SECONDS], newest: i64::MIN / 2 }
    }
}

impl Sparks {
    /// Adds an amount to the second of this moment; a moment that is out of the window is passed over.
    pub fn add(&mut self, at: Timestamp, amount: usize) {
        let second = at.as_second();
        if second > self.newest {
            let passed = second.saturating_sub(self.newest).min(WINDOW);
            for gone in 0..passed {
                self.ring[slot(second - gone)] = 0;
            }
            self.newest = second;
        }
        if second > self.newest.saturating_sub(WINDOW) {
            let count = &mut self.ring[slot(second)];
            *count = count.saturating_add(u16::try_from(amount).unwrap_or(u16::MAX));
        }
    }

    /// Returns the amount of one second.
    pub fn at(&self, second: i64) -> u16 {
        let known = second <= self.newest && second > self.newest.saturating_sub(WINDOW);
        if known { self.ring[slot(second)] } else { 0 }
    }

    /// Returns the busiest second of each group of `group` seconds up to `now`, the oldest group first.
    ///
    /// Groups begin at fixed moments, so a column keeps its height while it travels.
    pub fn columns(&self, now: Timestamp, group: i64) -> impl Iterator<Item = u16> + '_ {
        let group = group.max(1);
        let last = now.as_second().div_euclid(group);
        (0..WINDOW / group).rev().map(move |back| {
            let first = (last - back) * group;
            (first..first + group).map(|second| self.at(second)).max().unwrap_or(0)
        })
    }
}

fn slot(second: i64) -> usize {
    usize::try_from(second.rem_euclid(WINDOW)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_second_counts_for_a_minute_and_then_is_gone() {
        let mut sparks = Sparks::default();
        sparks.add(at(1_000), 3);
        sparks.add(at(1_000), 4);
        sparks.add(at(1_059), 1);
        assert_eq!((sparks.at(1_000), sparks.at(1_059)), (7, 1));
        sparks.add(at(1_060), 2);
        assert_eq!((sparks.at(1_000), sparks.at(1_060)), (0, 2));
        sparks.add(at(5_000), 9);
        assert_eq!((sparks.at(1_060), sparks.at(5_000)), (0, 9));
    }

    #[test]
    fn an_event_that_comes_late_is_put_where_it_belongs_or_left_out() {
        let mut sparks = Sparks::default();
        sparks.add(at(1_000), 1);
        sparks.add(at(990), 5);
        sparks.add(at(940), 7);
        assert_eq!((sparks.at(990), sparks.at(940), sparks.at(1_000)), (5, 0, 1));
    }

    #[test]
    fn columns_group_seconds_at_fixed_places() {
        let mut sparks = Sparks::default();
        sparks.add(at(1_201), 8);
        sparks.add(at(1_204), 3);
        let before: Vec<u16> = sparks.columns(at(1_204), 5).collect();
        let after: Vec<u16> = sparks.columns(at(1_206), 5).collect();
        assert_eq!((before.len(), before[11], after[10], after[11]), (12, 8, 8, 0));
    }
}
