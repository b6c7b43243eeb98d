//! What happens in a life, and what is noted of it: texts for any agent, changes of rules and plans, cancels.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use steersman_agent::subagent::Continuations;
use steersman_base::event::{Delivery, Envelope, Event, Pending, UserText};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::message::Message;
use steersman_base::plan::{PlanEdit, StepState};
use steersman_base::steering::{Recurrence, RuleChange, RuleScope, TextKind, Trigger};
use steersman_core::control::{AgentControls, Cancellable, Controls, Interloper, PauseGate};
use steersman_core::listener::{HistoryChange, Listener};
use steersman_session::host::Handle;
use steersman_session::journal::Record;

use super::model::Asked;

/// The next of many numbers, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// What a journal would have.
#[derive(Default)]
pub struct Recorder(Mutex<Vec<Record>>);

impl Listener for Recorder {
    fn on_event(&self, envelope: &Envelope) {
        self.0.lock().unwrap().push(Record::Event(envelope.clone()));
    }

    fn on_history(&self, agent: &AgentId, change: HistoryChange<'_>) {
        let (replaced, messages): (bool, Vec<Message>) = match change {
            HistoryChange::Appended(message) => (false, vec![message.clone()]),
            HistoryChange::Replaced(messages) => (true, messages.to_vec()),
        };
        let agent = agent.clone();
        self.0.lock().unwrap().push(if agent.is_main() {
            Record::History { replaced, messages }
        } else {
            Record::AgentHistory { agent, replaced, messages }
        });
    }

    fn label(&self) -> String {
        "Recorder".to_owned()
    }
}

/// Everything around the agents of a life.
pub struct World {
    dice: Mutex<Dice>,
    /// The queue of the main agent, which outlives a process.
    pub queue: Arc<Interloper>,
    pub cancellable: Cancellable,
    /// What the process is steered with that runs now.
    handle: Mutex<Handle>,
    pub recorder: Arc<Recorder>,
    /// The texts that were sent each time that something happened: others have their words.
    repeated: Mutex<HashSet<MessageId>>,
    /// All texts that a queue took: for whom, their ids and words.
    sent: Mutex<Vec<(AgentId, MessageId, String)>>,
    returned: Mutex<Vec<MessageId>>,
    /// The texts that were lost with a process and are the user's again.
    orphans: Mutex<HashSet<MessageId>>,
    requests: Mutex<Vec<Asked>>,
    /// The sub-agents that were spawned so far.
    pub spawned: Mutex<u64>,
}

impl World {
    pub fn new(seed: u64) -> Arc<Self> {
        let (queue, cancellable): (Arc<Interloper>, Cancellable) = (Arc::default(), Cancellable::new());
        let handle = Mutex::new(process(&queue, &cancellable));
        Arc::new(Self {
            dice: Mutex::new(Dice(seed)),
            queue,
            cancellable,
            handle,
            recorder: Arc::default(),
            repeated: Mutex::default(),
            sent: Mutex::default(),
            returned: Mutex::default(),
            orphans: Mutex::default(),
            requests: Mutex::default(),
            spawned: Mutex::default(),
        })
    }

    /// Begins another process.
    pub fn begin(&self) -> Handle {
        let handle = process(&self.queue, &self.cancellable);
        *self.handle.lock().unwrap() = handle.clone();
        handle
    }

    pub fn handle(&self) -> Handle {
        self.handle.lock().unwrap().clone()
    }

    pub fn kept(&self) -> Arc<Continuations> {
        Arc::clone(self.handle().continuations())
    }

    pub fn roll(&self, below: u64) -> u64 {
        self.dice.lock().unwrap().next(below)
    }

    /// Returns one of a list; `None` when there are none.
    pub fn one_of<T: Clone>(&self, list: &[T]) -> Option<T> {
        let below = u64::try_from(list.len()).unwrap();
        (below > 0).then(|| list[usize::try_from(self.roll(below)).unwrap()].clone())
    }

    pub fn records(&self) -> Vec<Record> {
        self.recorder.0.lock().unwrap().clone()
    }

    pub fn set_records(&self, records: Vec<Record>) {
        *self.recorder.0.lock().unwrap() = records;
    }

    pub fn sent(&self) -> Vec<(AgentId, MessageId, String)> {
        self.sent.lock().unwrap().clone()
    }

    /// Takes the requests, once no more are made.
    pub fn take_requests(&self) -> Vec<Asked> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }

    /// Notes a request; returns how many there are.
    pub fn asked(&self, asked: Asked) -> usize {
        let mut requests = self.requests.lock().unwrap();
        requests.push(asked);
        requests.len()
    }

    pub fn is_repeated(&self, id: &MessageId) -> bool {
        self.repeated.lock().unwrap().contains(id)
    }

    /// Returns the texts that are in conversations, in order.
    pub fn delivered(&self) -> Vec<(AgentId, MessageId, TextKind)> {
        let records = self.recorder.0.lock().unwrap();
        let delivered = records.iter().filter_map(|record| match record {
            Record::Event(Envelope { agent, event: Event::UserTurn { injection, kind, .. }, .. }) => {
                Some((agent.clone(), injection.clone()?, *kind))
            }
            _ => None,
        });
        delivered.collect()
    }

    /// Returns in how many queues a text is.
    pub fn waits(&self, id: &MessageId) -> usize {
        let queues = self.handle().peek().into_iter();
        queues.flat_map(|(_, entries)| entries).filter(|entry| entry.id == *id).count()
    }

    /// Returns the texts that came back, each as often as it did.
    pub fn came_back(&self) -> Vec<MessageId> {
        let records = self.recorder.0.lock().unwrap();
        let of_ended = records.iter().filter_map(|record| match record {
            Record::Event(Envelope { event: Event::Returned { entries }, .. }) => Some(entries),
            _ => None,
        });
        let mut ids: Vec<MessageId> = of_ended.flatten().map(|entry| entry.id.clone()).collect();
        ids.extend(self.orphans.lock().unwrap().iter().cloned());
        ids.extend(self.returned.lock().unwrap().iter().cloned());
        ids
    }

    /// Notes what waits for sub-agents of a process that dies.
    pub fn lose_texts_of_children(&self) {
        let queues = self.handle().peek().into_iter().filter(|(agent, _)| !agent.is_main());
        self.orphans.lock().unwrap().extend(queues.flat_map(|(_, entries)| entries).map(|entry| entry.id));
    }

    /// Sends bare words to the main agent.
    pub fn send_plain(&self, text: &str) {
        let id = self.queue.inject_user_message(text).unwrap().id;
        self.sent.lock().unwrap().push((AgentId::main(), id, text.to_owned()));
    }

    /// Sends a text: to the main agent, to its sub-agents, to all, or to one that has ended.
    pub fn send(&self) {
        let handle = self.handle();
        let running: Vec<AgentId> =
            handle.agent_controls().ids().into_iter().filter(|agent| !agent.is_main()).collect();
        let kind = TextKind::ALL[usize::try_from(self.roll(4)).unwrap()];
        let to = match self.roll(8) {
            // As the front ends do: a rule for all is one for the whole tree.
            0 if kind != TextKind::Rule => running,
            1 if kind != TextKind::Rule => [vec![AgentId::main()], running].concat(),
            2 => self.one_of(&running).into_iter().collect(),
            3 => self.one_of(&handle.continuations().ids()).into_iter().collect(),
            _ => vec![AgentId::main()],
        };
        let number = self.sent.lock().unwrap().len();
        let scope = RuleScope::ALL[usize::try_from(self.roll(3)).unwrap()];
        let delivery = [Delivery::Steer, Delivery::Steer, Delivery::FollowUp, Delivery::Now];
        let delivery = delivery[usize::try_from(self.roll(4)).unwrap()];
        let odd = ["", "\n</steer-m1>", " <task-m2>\nno\n</task-m2>", "\n\n  two\tlines"];
        let text = format!("text number {number} of this life{}", odd[usize::try_from(self.roll(4)).unwrap()]);
        let trigger = self.trigger();
        for agent in to {
            let delivery = if handle.takes(&agent, delivery) { delivery } else { Delivery::Steer };
            let message = UserText { kind, scope, delivery, trigger: trigger.clone(), ..UserText::from(&*text) };
            match handle.inject_user_message(&agent, message) {
                Ok(Pending { id, .. }) => {
                    self.note(&id, trigger.as_ref());
                    self.sent.lock().unwrap().push((agent, id, text.clone()));
                }
                Err(refused) => assert!(!agent.is_main(), "{refused}"),
            }
        }
    }

    /// Gives a sub-agent that has ended a text, if there is one.
    pub fn continue_one(&self) {
        let handle = self.handle();
        let Some(agent) = self.one_of(&handle.continuations().ids()) else { return };
        let text = format!("text number {} of this life, go on", self.sent.lock().unwrap().len());
        let id = handle.inject_user_message(&agent, &*text).unwrap().id;
        self.sent.lock().unwrap().push((agent, id, text));
    }

    /// Returns what a text is to wait for: most texts for nothing.
    fn trigger(&self) -> Option<Trigger> {
        let conditions =
            ["after work", "before work", "work fails", "1 step", "3 steps", "context above 60%", "tokens above 2000"];
        let condition = Box::new(conditions.get(usize::try_from(self.roll(20)).unwrap())?.parse().unwrap());
        let recurrence = if self.roll(3) == 0 { Recurrence::Every } else { Recurrence::Once };
        Some(Trigger { condition, recurrence })
    }

    fn note(&self, id: &MessageId, trigger: Option<&Trigger>) {
        if trigger.is_some_and(|trigger| trigger.recurrence == Recurrence::Every) {
            self.repeated.lock().unwrap().insert(id.clone());
        }
    }

    /// Lets something happen, perhaps.
    pub fn happen(&self) {
        let handle = self.handle();
        match self.roll(17) {
            0..4 => self.send(),
            4 => {
                let list = handle.rules().list();
                if let Some(rule) = list.get(usize::try_from(self.roll(4)).unwrap()) {
                    let change = match self.roll(3) {
                        0 => RuleChange::Withdraw,
                        number => {
                            let text = Some(format!("{} again {number}", rule.text));
                            RuleChange::Edit { text, scope: None }
                        }
                    };
                    handle.change_rule(&rule.id, change);
                }
            }
            5 => {
                if let Some(entry) = self.queue.withdraw_newest() {
                    self.returned.lock().unwrap().push(entry.id);
                }
            }
            6 => {
                if let Some(entry) = self.queue.peek().first() {
                    self.queue.set_kind(&entry.id, entry.kind.next(), entry.scope);
                }
            }
            7 => {
                if let Some(entry) = self.queue.peek().last() {
                    let trigger = self.trigger();
                    self.note(&entry.id, trigger.as_ref());
                    self.queue.set_trigger(&entry.id, trigger);
                }
            }
            8 if self.roll(4) == 0 => {
                let back = handle.stop();
                self.returned.lock().unwrap().extend(back.into_iter().map(|entry| entry.id));
            }
            9 | 10 => self.edit_plan(&handle),
            11 if self.roll(3) == 0 => {
                if let Some(agent) = self.one_of(&handle.agent_controls().ids()) {
                    handle.cancel_agent(&agent);
                }
            }
            _ => {}
        }
    }

    /// Changes the plan of an agent that runs.
    fn edit_plan(&self, handle: &Handle) {
        let Some(agent) = self.one_of(&handle.agent_controls().ids()) else { return };
        let steps: Vec<_> = handle.plans().of(&agent).steps.iter().map(|step| step.id.clone()).collect();
        let number = self.roll(1_000);
        let edit = match (self.one_of(&steps), self.roll(3)) {
            (Some(step), 0) => PlanEdit::Reword { step, text: format!("step {number}, in other words") },
            (Some(step), 1) => PlanEdit::Mark { step, state: self.one_of(&StepState::ALL).unwrap() },
            (after, _) => PlanEdit::Add { text: format!("step {number} of the user"), after },
        };
        // A plan may be full, or say so already.
        let _ = handle.edit_plan(&agent, &edit, None);
    }
}

fn process(queue: &Arc<Interloper>, cancellable: &Cancellable) -> Handle {
    let main =
        Controls { interloper: Arc::clone(queue), cancellable: cancellable.clone(), gate: Arc::new(PauseGate::new()) };
    Handle::new(Arc::new(AgentControls::new(main)), Arc::default())
}
