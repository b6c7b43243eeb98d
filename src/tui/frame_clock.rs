//! Decides when the mailbox is emptied and when a frame may be drawn. Holds no clock: the time is an argument.
//!
//! `run` asks it before each wait. A key is drawn at once as long as the budget of `limits::KEY_FPS` lasts; what streams
//! in is applied at the pace of `limits::STREAM_FPS`. Nothing asked for means no wake-up at all.

use std::time::{Duration, Instant};

use steersman_base::limits;

/// Frames that may be drawn without a pause between them.
const BURST: u32 = 4;

/// Counts frames and passes over the mailbox, and says when the next one is due.
#[derive(Debug)]
pub struct FrameClock {
    wanted: bool,
    /// The frame budget is full again at this moment; each frame moves it on.
    full_at: Instant,
    mail: Option<Instant>,
    emptied_at: Option<Instant>,
}

impl FrameClock {
    /// Makes a clock that wants nothing.
    pub fn new(now: Instant) -> Self {
        Self { wanted: false, full_at: now, mail: None, emptied_at: None }
    }

    pub fn want_frame(&mut self) {
        self.wanted = true;
    }

    /// Returns when the next frame is due; `None` when nothing asked for one.
    ///
    /// The budget is a bucket of `BURST` frames that fills steadily, so that no second holds more than it may.
    pub fn frame_due(&self) -> Option<Instant> {
        let ahead = frame_pause() * (BURST - 1);
        self.wanted.then(|| self.full_at.checked_sub(ahead).unwrap_or(self.full_at))
    }

    /// Notes that a frame was drawn; it shows everything asked for so far.
    pub fn drawn(&mut self, now: Instant) {
        self.wanted = false;
        self.full_at = self.full_at.max(now) + frame_pause();
    }

    /// Notes that mail has come: at once after a silence, else at the pace of streams.
    pub fn mail_came(&mut self, now: Instant) {
        let pace = Duration::from_secs(1) / limits::STREAM_FPS;
        let due = self.emptied_at.map_or(now, |emptied_at| now.max(emptied_at + pace));
        self.mail.get_or_insert(due);
    }

    /// Returns when the mailbox is to be emptied; `None` when no mail has come.
    pub fn mail_due(&self) -> Option<Instant> {
        self.mail
    }

    /// Notes that the mailbox was emptied.
    pub fn reduced(&mut self, now: Instant) {
        self.mail = None;
        self.emptied_at = Some(now);
    }

    /// Notes that a part of a session was applied that is being read again: the next one comes without a pause.
    pub fn reduced_part(&mut self) {
        self.mail = None;
        self.emptied_at = None;
    }
}

fn frame_pause() -> Duration {
    Duration::from_secs(1) / (limits::KEY_FPS - BURST)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn nothing_wanted_means_no_wake_up() {
        let start = Instant::now();
        let mut clock = FrameClock::new(start);
        assert_eq!((clock.frame_due(), clock.mail_due()), (None, None));
        clock.want_frame();
        clock.mail_came(start);
        clock.reduced(start);
        clock.drawn(start);
        assert_eq!((clock.frame_due(), clock.mail_due()), (None, None));
    }

    #[test]
    fn a_key_right_after_a_stream_frame_does_not_wait() {
        let start = Instant::now();
        let mut clock = FrameClock::new(start);
        clock.drawn(start);
        clock.want_frame();
        assert!(clock.frame_due().unwrap() <= start);
    }

    #[test]
    fn a_flood_of_keys_draws_at_most_sixty_frames_in_a_second() {
        let start = Instant::now();
        let mut clock = FrameClock::new(start);
        let mut frames = 0;
        for ms in 0..1_000 {
            clock.want_frame();
            if clock.frame_due().unwrap() <= start + MS * ms {
                clock.drawn(start + MS * ms);
                frames += 1;
            }
        }
        assert!((55..=60).contains(&frames), "{frames}");
    }

    #[test]
    fn a_session_that_is_read_again_is_folded_without_a_pause() {
        let start = Instant::now();
        let mut clock = FrameClock::new(start);
        clock.reduced(start);
        clock.mail_came(start);
        assert!(clock.mail_due().unwrap() > start);
        clock.reduced_part();
        clock.mail_came(start);
        assert_eq!(clock.mail_due(), Some(start));
    }

    #[test]
    fn a_stream_is_folded_at_its_own_pace_and_at_once_after_a_silence() {
        let start = Instant::now();
        let mut clock = FrameClock::new(start);
        let mut passes = 0;
        for ms in 0..1_000 {
            clock.mail_came(start + MS * ms);
            if clock.mail_due().unwrap() <= start + MS * ms {
                clock.reduced(start + MS * ms);
                passes += 1;
            }
        }
        assert_eq!(passes, limits::STREAM_FPS);
        let mut clock = FrameClock::new(start);
        clock.reduced(start);
        let later = start + MS * 5_000;
        clock.mail_came(later);
        assert_eq!(clock.mail_due(), Some(later));
    }
}
