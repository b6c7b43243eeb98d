//! The thread on which the grammars run: started when colours are first wanted, ended when none were wanted for a while.
//!
//! Used by `run`. It never holds anybody up: what is asked replaces what was asked before, and the answer comes as a
//! message. With its end the grammars are given back.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use super::{Coloured, Engine, Job};
use steersman_base::limits;
use steersman_base::sync::lock;

/// Takes what was found out.
type Answer = Arc<dyn Fn(Vec<Coloured>) + Send + Sync>;

/// Asks the thread.
pub struct Worker {
    desk: Arc<Desk>,
    answer: Answer,
}

#[derive(Default)]
struct Desk {
    slot: Mutex<Slot>,
    filled: Condvar,
}

#[derive(Default)]
struct Slot {
    jobs: Option<Vec<Job>>,
    alive: bool,
}

impl Worker {
    /// Makes a worker without a thread; `answer` is called once for each question, on the thread.
    pub fn new(answer: impl Fn(Vec<Coloured>) + Send + Sync + 'static) -> Self {
        Self { desk: Arc::default(), answer: Arc::new(answer) }
    }

    /// Asks for colours; what was asked before and has not been begun is forgotten.
    pub fn ask(&self, jobs: Vec<Job>) {
        let mut slot = lock(&self.desk.slot);
        slot.jobs = Some(jobs);
        if slot.alive {
            self.desk.filled.notify_one();
            return;
        }
        let (desk, answer) = (Arc::clone(&self.desk), Arc::clone(&self.answer));
        let thread = std::thread::Builder::new().name("colours".to_owned());
        // Without a thread the code stays plain: nobody answers, so nothing more is asked.
        slot.alive = thread.spawn(move || work(&desk, &answer)).is_ok();
    }
}

fn work(desk: &Desk, answer: &Answer) {
    let mut engine = None;
    while let Some(jobs) = next(desk) {
        let engine = engine.get_or_insert_with(Engine::load);
        let until = Instant::now() + limits::CODE_TURN;
        let mut found = Vec::new();
        for job in &jobs {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() && !found.is_empty() {
                break;
            }
            found.push(engine.run(job, left));
        }
        answer(found);
    }
}

/// Waits for something to do; `None` after a while without, and then the thread is as good as gone.
fn next(desk: &Desk) -> Option<Vec<Job>> {
    let slot = lock(&desk.slot);
    let waited = desk.filled.wait_timeout_while(slot, limits::CODE_IDLE, |slot| slot.jobs.is_none());
    let (mut slot, _) = waited.unwrap_or_else(PoisonError::into_inner);
    let jobs = slot.jobs.take();
    slot.alive = jobs.is_some();
    jobs
}
