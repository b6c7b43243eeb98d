//! Random lives of a whole agent under every act of its user: whatever happens when, each text ends in one place, the
//! receipts are true, and every request can be sent.
//!
//! Time is paused and moves only when all wait, so a failing life is the same each time it is run.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use steersman_agent::Agent;
use steersman_base::event::{Delivery, Envelope, Event};
use steersman_base::id::MessageId;
use steersman_base::message::{Arguments, Message};
use steersman_core::control::{Decision, Interloper, PauseGate, PausePlace, Staleness};
use steersman_core::listener::Listener;
use steersman_core::provider::{Played, ProviderError, Step, Streaming};
use steersman_core::tool::{Concurrency, FnTool, Parameters, Tool};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::support::doubles::{PlayedExt, Rig, Spy, within};

/// One thing that the user does; an entry is named by its place in the list.
#[derive(Debug, Clone)]
enum Act {
    Send(Delivery),
    Withdraw(usize),
    Edit(usize),
    Commit(usize),
    Merge(usize),
    Flip(usize, Delivery),
    Move(usize, usize),
    Confirm(usize),
    Stop,
    Cancel,
    Resume,
    Hold,
    Open,
    Decide(u8),
}

/// What the model does with one request.
#[derive(Debug, Clone)]
enum Reply {
    /// Thinks, then writes so many pieces.
    Says(usize),
    /// Asks for so many calls, every other one beside its neighbours.
    Calls(usize),
    Nothing,
    Fails,
}

fn delivery() -> impl Strategy<Value = Delivery> {
    prop_oneof![Just(Delivery::Steer), Just(Delivery::FollowUp), Just(Delivery::Now)]
}

fn act() -> impl Strategy<Value = Act> {
    let entry = || 0..4_usize;
    prop_oneof![
        8 => delivery().prop_map(Act::Send),
        2 => entry().prop_map(Act::Withdraw),
        2 => entry().prop_map(Act::Edit),
        2 => entry().prop_map(Act::Commit),
        1 => entry().prop_map(Act::Merge),
        2 => (entry(), delivery()).prop_map(|(entry, delivery)| Act::Flip(entry, delivery)),
        1 => (entry(), entry()).prop_map(|(entry, index)| Act::Move(entry, index)),
        1 => entry().prop_map(Act::Confirm),
        1 => Just(Act::Stop),
        1 => Just(Act::Cancel),
        1 => Just(Act::Resume),
        2 => Just(Act::Hold),
        2 => Just(Act::Open),
        4 => (0..3_u8).prop_map(Act::Decide),
    ]
}

fn reply() -> impl Strategy<Value = Reply> {
    prop_oneof![
        4 => (1..5_usize).prop_map(Reply::Says),
        6 => (1..12_usize).prop_map(Reply::Calls),
        1 => Just(Reply::Nothing),
        1 => Just(Reply::Fails),
    ]
}

fn played(number: usize, reply: &Reply, tick: &Arc<Notify>) -> Played {
    let wait = |played: Played| played.then(Step::Wait(Arc::clone(tick)));
    match reply {
        Reply::Says(pieces) => {
            let begun = wait(Played::text("so ").with_thinking("hm"));
            (1..*pieces).fold(begun, |played, _| wait(played.piece("", "on ")))
        }
        Reply::Calls(count) => {
            let ids: Vec<String> = (0..*count).map(|call| format!("c{number}_{call}")).collect();
            let names = ["beside", "beside", "alone"];
            let calls = ids.iter().zip(names.iter().cycle()).map(|(id, name)| (id.as_str(), *name, "{}"));
            wait(Played::default()).with_calls(&calls.collect::<Vec<_>>())
        }
        Reply::Nothing => wait(Played::default()),
        Reply::Fails => wait(Played::default().piece("", "oh ")).failing(ProviderError::Stalled(300)),
    }
}

fn slow(name: &'static str, concurrency: Concurrency) -> Arc<dyn Tool> {
    let run = |_, _| async {
        tokio::time::sleep(Duration::from_millis(2)).await;
        Ok("done".to_owned())
    };
    Arc::new(FnTool::new(name, "Takes its time.", Parameters::default(), run).concurrency(concurrency))
}

/// An agent at work with somebody who steers it.
struct Trial {
    rig: Rig,
    gate: Arc<PauseGate>,
    idle: Arc<AtomicBool>,
    end: Arc<AtomicBool>,
    accepted: BTreeSet<MessageId>,
    returned: Vec<MessageId>,
    joined: Vec<MessageId>,
    /// The receipts, each with how many requests had been made by then.
    seen: Arc<Mutex<Vec<(MessageId, usize)>>>,
}

impl Trial {
    async fn start(script: Vec<Played>, patience: u32) -> (Self, JoinHandle<Agent>) {
        let rig = Rig::new(script);
        rig.interloper.set_staleness(Staleness { age: None, steps: Some(patience) });
        let gate = Arc::new(PauseGate::new());
        let seen = Arc::<Mutex<Vec<_>>>::default();
        let (receipts, model) = (Arc::clone(&seen), Arc::clone(&rig.model));
        let receipt: Arc<dyn Listener> = Arc::new(Spy(move |envelope: &Envelope| {
            if let Event::Seen { injections, .. } = &envelope.event {
                let made = model.requests().len();
                receipts.lock().unwrap().extend(injections.iter().map(|id| (id.clone(), made)));
            }
        }));
        let builder = rig.builder().gate(Arc::clone(&gate)).streaming(Streaming::On);
        let agent = rig
            .try_build(builder, |c| {
                c.add_listener(receipt);
                c.add_tools([slow("beside", Concurrency::Parallel), slow("alone", Concurrency::Exclusive)])
            })
            .await
            .unwrap();
        let idle = Arc::new(AtomicBool::new(true));
        let end = Arc::<AtomicBool>::default();
        let worker = tokio::spawn(work(agent, Arc::clone(&rig.interloper), Arc::clone(&idle), Arc::clone(&end)));
        let (accepted, returned, joined) = (BTreeSet::new(), Vec::new(), Vec::new());
        (Self { rig, gate, idle, end, accepted, returned, joined, seen }, worker)
    }

    fn send(&mut self, delivery: Delivery) {
        let text = format!("text {}.", self.accepted.len());
        assert!(self.accepted.insert(self.rig.interloper.inject_user_message((text, delivery)).unwrap().id));
    }

    fn act(&mut self, act: &Act) {
        let queue = Arc::clone(&self.rig.interloper);
        let entries = queue.peek();
        let pick = |place: usize| entries.get(place % entries.len().max(1));
        match *act {
            Act::Send(delivery) => self.send(delivery),
            Act::Stop => self.returned.extend(queue.stop(&self.rig.cancellable).into_iter().map(|entry| entry.id)),
            Act::Cancel => self.rig.cancellable.cancel(),
            Act::Resume => queue.resume(),
            Act::Hold => self.gate.pause(),
            Act::Open => self.gate.resume(),
            Act::Decide(which) => self.decide(which),
            Act::Withdraw(place)
            | Act::Edit(place)
            | Act::Commit(place)
            | Act::Merge(place)
            | Act::Flip(place, _)
            | Act::Move(place, _)
            | Act::Confirm(place) => {
                let Some(entry) = pick(place) else { return };
                match *act {
                    Act::Withdraw(_) => self.returned.extend(queue.withdraw(&entry.id).map(|entry| entry.id)),
                    Act::Edit(_) => assert!(queue.hold(&entry.id)),
                    Act::Commit(_) => assert_eq!(queue.commit(&entry.id, format!("{} Anew.", entry.text)), Ok(true)),
                    Act::Merge(_) => self.joined.extend(queue.merge(&entry.id).unwrap().map(|(_, second)| second.id)),
                    Act::Flip(_, delivery) => assert!(queue.set_delivery(&entry.id, delivery)),
                    Act::Move(_, index) => assert!(queue.move_to(&entry.id, index)),
                    _ => assert!(queue.confirm(&entry.id)),
                }
            }
        }
    }

    fn decide(&self, which: u8) {
        let call = match self.gate.paused_at() {
            None => return,
            Some(PausePlace::Boundary) => None,
            Some(PausePlace::Call(call)) => Some(call.id),
        };
        let decision = match which {
            0 => Decision::Run,
            1 => Decision::Edited(Arguments::parse(r#"{"other": 1}"#)),
            _ => Decision::Skip("not that".to_owned()),
        };
        // False when it was decided a moment ago and the agent has not gone on yet.
        let _ = self.gate.decide(call.as_ref(), decision);
    }

    /// Lets everything that waits go through, and ends with a turn that was answered.
    async fn finish(&mut self) {
        self.gate.resume();
        for entry in self.rig.interloper.peek() {
            self.rig.interloper.release(&entry.id);
        }
        for _ in 0..100 {
            self.rig.interloper.resume();
            self.send(Delivery::FollowUp);
            within(Duration::from_hours(1), "the agent rests", async {
                while !self.idle.load(Ordering::SeqCst) || self.rig.interloper.deliverable() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            })
            .await;
            let ended = self.rig.event_lines().pop().unwrap();
            if ended.ends_with("completed") && !self.rig.interloper.pending() {
                return;
            }
        }
        panic!("no turn was answered: {:?}", self.rig.event_lines());
    }

    fn check(&self, agent: &Agent) {
        let mut delivered = Vec::new();
        let (mut contents, mut steps) = (Vec::new(), 0);
        for event in self.rig.events() {
            match event {
                Event::TurnStarted { .. } => steps = 0,
                Event::ToolCall { .. } => steps += 1,
                Event::UserTurn { content, injection, step, after, mid_loop, .. } => {
                    assert_eq!(step, steps, "{content}");
                    assert!(mid_loop || after.is_none());
                    delivered.push(injection.unwrap());
                    contents.push(content);
                }
                _ => {}
            }
        }
        let fates: Vec<&MessageId> = delivered.iter().chain(&self.returned).chain(&self.joined).collect();
        let once: BTreeSet<MessageId> = fates.iter().map(|id| (*id).clone()).collect();
        assert_eq!(once.len(), fates.len(), "a text has two fates: {fates:?}");
        assert_eq!(once, self.accepted, "lost");

        let said = agent.history().messages().iter().filter_map(|message| match message {
            Message::User { content, .. } => Some(content),
            _ => None,
        });
        assert!(said.eq(&contents), "the history is not what was told");

        let seen = self.seen.lock().unwrap();
        let ids: Vec<&MessageId> = seen.iter().map(|(id, _)| id).collect();
        assert_eq!(ids, delivered.iter().collect::<Vec<_>>(), "each is seen once, in order");
        let requests = self.rig.requests();
        for ((id, made), content) in seen.iter().zip(&contents) {
            let request = requests[made - 1].lines();
            assert!(request.contains(&format!("user: {content}")), "{id} was not in the request: {request:?}");
        }
    }
}

/// Takes turns as the host's worker does, until the end.
async fn work(mut agent: Agent, queue: Arc<Interloper>, idle: Arc<AtomicBool>, end: Arc<AtomicBool>) -> Agent {
    let changed = Arc::new(Notify::new());
    let wake = Arc::clone(&changed);
    queue.watch(Arc::new(move || wake.notify_one()));
    while !end.load(Ordering::SeqCst) {
        if queue.deliverable() {
            idle.store(false, Ordering::SeqCst);
            let _ = agent.run_queue().await;
        } else {
            idle.store(true, Ordering::SeqCst);
            changed.notified().await;
        }
    }
    agent
}

async fn live(acts: Vec<(Act, u64)>, replies: Vec<Reply>, patience: u32) {
    let tick = Arc::new(Notify::new());
    let ticking = Arc::clone(&tick);
    let clock = tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_millis(1)).await;
            ticking.notify_one();
        }
    });
    let random = replies.iter().enumerate().map(|(number, reply)| played(number, reply, &tick));
    let script = random.chain((0..200).map(|_| Played::text("Fine."))).collect();
    let (mut trial, worker) = Trial::start(script, patience).await;
    trial.send(Delivery::Steer);
    for (act, pause) in acts {
        trial.act(&act);
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
    trial.finish().await;
    clock.abort();
    trial.end.store(true, Ordering::SeqCst);
    // Any change wakes the worker.
    trial.rig.interloper.resume();
    let agent = within(Duration::from_secs(1), "the worker ends", worker).await.unwrap();
    trial.check(&agent);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_user_does_each_text_ends_in_one_place_and_the_receipts_are_true(
        acts in prop::collection::vec((act(), 0..4_u64), 1..50),
        replies in prop::collection::vec(reply(), 1..40),
        patience in 0..12_u32,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(live(acts, replies, patience));
    }
}
