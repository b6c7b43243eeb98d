//! Random lives of a conversation with texts of every kind, texts that wait for conditions, rules that are edited and
//! withdrawn, compactions, cancels, resumes and texts that come at any moment.
//!
//! Checked on every request: it is valid; every delivered text stands in it once, whatever was taken out; every rule that holds
//! stands in it in its latest words; it begins with the request before it, unless a compaction came between. Checked at
//! the end: each text was delivered once, or is pending, or came back. `STEER_LIVES=500` runs more of them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use steersman::agent::Agent;
use steersman::agent::frame::{read, read_kept};
use steersman::agent::{KEPT_HEAD, SUMMARY_HEAD};
use steersman::control::{Cancellable, Injection, Interloper, Rules};
use steersman::event::{Delivery, Event, Usage};
use steersman::id::MessageId;
use steersman::listener::InMemoryEventList;
use steersman::message::{Arguments, Message, ToolCall};
use steersman::provider::{ChatProvider, ChatRequest, Finish, FixedProvider, ProviderError, Reply, Sink};
use steersman::steering::{Framing, Recurrence, Rule, RuleChange, RuleScope, TextKind, Trigger};
use steersman::tool::{FnTool, OnCancel, Parameters, Tool, ToolError};

use crate::support::doubles::{PROMPT, Rig, fault};

const WINDOW: u64 = 2_500;

/// The next of many numbers, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// One request, with what was so when it was made.
struct Asked {
    messages: Vec<Message>,
    /// The rules that hold.
    rules: Vec<Rule>,
    /// The texts that were delivered.
    delivered: Vec<(MessageId, TextKind)>,
}

/// What happens from inside a tool or a reply, where the life decides about it.
struct World {
    dice: Mutex<Dice>,
    queue: Arc<Interloper>,
    rules: Mutex<Arc<Rules>>,
    cancellable: Cancellable,
    /// The texts that were sent each time that something happened: others have their words.
    repeated: Mutex<HashSet<MessageId>>,
    /// The ids and words of all texts that a queue took.
    sent: Mutex<Vec<(MessageId, String)>>,
    returned: Mutex<Vec<MessageId>>,
    requests: Mutex<Vec<Asked>>,
    events: Arc<InMemoryEventList>,
    summaries: Mutex<u32>,
}

impl World {
    fn new(seed: u64) -> Arc<Self> {
        Arc::new(Self {
            dice: Mutex::new(Dice(seed)),
            queue: Arc::default(),
            rules: Mutex::default(),
            cancellable: Cancellable::new(),
            repeated: Mutex::default(),
            sent: Mutex::default(),
            returned: Mutex::default(),
            requests: Mutex::default(),
            events: Arc::default(),
            summaries: Mutex::default(),
        })
    }

    fn roll(&self, below: u64) -> u64 {
        self.dice.lock().unwrap().next(below)
    }

    /// Returns the texts that are in the conversation, in order.
    fn delivered(&self) -> Vec<(MessageId, TextKind)> {
        let events = self.events.events().into_iter();
        let delivered = events.filter_map(|event| match event {
            Event::UserTurn { injection, kind, .. } => Some((injection?, kind)),
            _ => None,
        });
        delivered.collect()
    }

    fn send(&self) {
        let number = self.sent.lock().unwrap().len();
        let kind = TextKind::ALL[usize::try_from(self.roll(4)).unwrap()];
        let scope = RuleScope::ALL[usize::try_from(self.roll(3)).unwrap()];
        let delivery = [Delivery::Steer, Delivery::Steer, Delivery::FollowUp, Delivery::Now];
        let delivery = delivery[usize::try_from(self.roll(4)).unwrap()];
        let odd = ["", "\n</steer-m1>", " <task-m2>\nno\n</task-m2>", "\n\n  two\tlines"];
        let text = format!("text number {number} of this life{}", odd[usize::try_from(self.roll(4)).unwrap()]);
        let trigger = self.trigger();
        let message = Injection { kind, scope, delivery, trigger: trigger.clone(), ..Injection::from(&*text) };
        let id = self.queue.inject_user_message(message).unwrap();
        self.note(&id, trigger.as_ref());
        self.sent.lock().unwrap().push((id, text));
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
    fn happen(&self) {
        match self.roll(14) {
            0..4 => self.send(),
            4 => {
                let rules = self.rules.lock().unwrap().clone();
                let list = rules.list();
                if let Some(rule) = list.get(usize::try_from(self.roll(4)).unwrap()) {
                    let change = match self.roll(3) {
                        0 => RuleChange::Withdraw,
                        number => {
                            let text = Some(format!("{} again {number}", rule.text));
                            RuleChange::Edit { text, scope: None }
                        }
                    };
                    rules.change(&rule.id, change);
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
                let back = self.queue.stop(&self.cancellable);
                self.returned.lock().unwrap().extend(back.into_iter().map(|entry| entry.id));
            }
            _ => {}
        }
    }
}

/// A model that calls a tool some times and then answers; what happens in a life happens while it is asked too.
struct Lively(Arc<World>);

impl ChatProvider for Lively {
    fn complete<'a>(
        &'a self,
        request: ChatRequest<'a>,
        _: &'a mut Sink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        let messages = request.messages().to_vec();
        let world = Arc::clone(&self.0);
        async move {
            let size: usize = messages.iter().map(|message| format!("{message:?}").len()).sum();
            let usage = Usage { input: Some(size as u64 / 5), output: Some(5), ..Usage::default() };
            let is_summary = matches!(&messages[0], Message::System { content } if content.contains("the earlier part of a conversation"));
            if is_summary {
                *world.summaries.lock().unwrap() += 1;
                let content = if world.roll(6) == 0 { String::new() } else { "Some was done.".to_owned() };
                return Ok(Reply { content, usage, ..Reply::default() });
            }
            let list = world.rules.lock().unwrap().list();
            let delivered = world.delivered();
            world.requests.lock().unwrap().push(Asked { messages, rules: list, delivered });
            world.happen();
            tokio::task::yield_now().await;
            let number = world.requests.lock().unwrap().len();
            let call = |place: u64| ToolCall {
                id: format!("c{number}-{place}").into(),
                name: "work".to_owned(),
                arguments: Arguments::parse("{}"),
            };
            let calls = if world.roll(5) == 0 { 0 } else { 1 + world.roll(2) };
            let tool_calls: Vec<ToolCall> = (0..calls).map(call).collect();
            let content = if tool_calls.is_empty() { "An answer.".to_owned() } else { String::new() };
            Ok(Reply { content, tool_calls, usage, finish: Finish::Stop, ..Reply::default() })
        }
        .boxed()
    }
}

fn work(world: &Arc<World>) -> Arc<dyn Tool> {
    let world = Arc::clone(world);
    let tool = FnTool::new("work", "Works.", Parameters::default(), move |_, _| {
        let world = Arc::clone(&world);
        async move {
            world.happen();
            tokio::task::yield_now().await;
            if world.roll(8) == 0 {
                return Err(ToolError::failed("it broke"));
            }
            Ok("row ".repeat(usize::try_from(20 + world.roll(80)).unwrap()))
        }
    });
    Arc::new(tool.on_cancel(OnCancel::Wait))
}

async fn build(world: &Arc<World>) -> Agent {
    let listener = Arc::clone(&world.events);
    let agent =
        Agent::builder(Rig::transport(), PROMPT, Arc::new(FixedProvider::new(Arc::new(Lively(Arc::clone(world))))))
            .interloper(Arc::clone(&world.queue))
            .cancellable(world.cancellable.clone())
            .framing(Framing::Framed)
            .context_window(WINDOW)
            .build(|c| {
                c.add_listener(listener);
                c.add_tool(work(world))
            })
            .await
            .unwrap();
    *world.rules.lock().unwrap() = Arc::clone(agent.rules());
    agent
}

/// Returns the words of every text of the user in a request with its id, as a reader of tags sees them; bare ones have none.
fn texts(messages: &[Message]) -> Vec<(Option<String>, String)> {
    let mut texts = Vec::new();
    for message in messages {
        let Message::User { content, .. } = message else { continue };
        if content.starts_with(KEPT_HEAD) {
            texts.extend(read_kept(content).iter().map(|kept| (Some(kept.id.to_owned()), kept.words.to_owned())));
        } else if let Some(framed) = read(content) {
            texts.push((Some(framed.id.to_owned()), framed.words.to_owned()));
        } else if !content.starts_with(SUMMARY_HEAD) {
            texts.push((None, content.clone()));
        }
    }
    texts
}

async fn live(seed: u64) -> (u32, u32, usize) {
    let world = World::new(seed);
    let mut agent = build(&world).await;
    let (mut resumes, mut compactions) = (0, 0);
    for _ in 0..6 + world.roll(6) {
        match world.roll(6) {
            0 => {
                // As a journal keeps it, and a new process reads it.
                let json = serde_json::to_string(agent.history().messages()).unwrap();
                let recorded: Vec<Message> = serde_json::from_str(&json).unwrap();
                let rules = agent.rules().list();
                let turns =
                    world.events.events().iter().filter(|event| matches!(event, Event::TurnStarted { .. })).count();
                agent = build(&world).await;
                agent.resume(&recorded, u32::try_from(turns).unwrap());
                agent.rules().take_over(rules);
                resumes += 1;
            }
            1 => world.happen(),
            _ => {
                world.send();
                if !world.queue.deliverable() {
                    let id = world.queue.inject_user_message("go on with it").unwrap();
                    world.sent.lock().unwrap().push((id, "go on with it".to_owned()));
                }
                let _ = agent.run_queue().await;
            }
        }
    }
    for event in world.events.events() {
        compactions += u32::from(matches!(event, Event::Compacted { .. }));
    }
    let delivered: Vec<MessageId> = world.delivered().into_iter().map(|(id, _)| id).collect();
    for (id, text) in world.sent.lock().unwrap().iter() {
        let times = delivered.iter().filter(|one| *one == id).count();
        let waits = world.queue.peek().iter().filter(|entry| entry.id == *id).count();
        let back = world.returned.lock().unwrap().iter().filter(|one| *one == id).count();
        assert_eq!(
            times + waits + back,
            1,
            "seed {seed}: {id} {text:?} was delivered {times}, waits {waits}, is back {back}"
        );
    }
    let mut ids: Vec<&MessageId> = delivered.iter().collect();
    ids.sort_by_key(|id| id.as_str());
    ids.dedup();
    assert_eq!(ids.len(), delivered.len(), "seed {seed}: a text was delivered twice");
    check_requests(seed, &world);
    let mut changes = 0;
    let requests = world.requests.lock().unwrap();
    for pair in requests.windows(2) {
        changes += u32::from(!pair[1].messages.starts_with(&pair[0].messages));
    }
    assert!(changes <= compactions, "seed {seed}: the beginning changed {changes} times in {compactions} compactions");
    let met = world.events.events().into_iter().filter(|event| matches!(event, Event::UserTurn { met: Some(_), .. }));
    (resumes, compactions, met.count())
}

fn check_requests(seed: u64, world: &World) {
    let (sent, repeated) = (world.sent.lock().unwrap(), world.repeated.lock().unwrap());
    for (number, Asked { messages, rules, delivered }) in world.requests.lock().unwrap().iter().enumerate() {
        assert_eq!(fault(messages), None, "seed {seed}, request {number}");
        let texts = texts(messages);
        for rule in rules {
            let latest = texts.iter().rev().find(|(id, _)| id.as_deref() == Some(rule.id.as_str()));
            let words = latest.map(|(_, words)| words.as_str());
            assert_eq!(words, Some(rule.text.as_str()), "seed {seed}, request {number}: rule {}", rule.id);
        }
        // Rules are told anew when they change, everything else stands there once, unless the oldest found no room.
        let mut missing = 0;
        for (id, text) in sent.iter().filter(|(id, text)| text != "go on with it" && !repeated.contains(id)) {
            let Some((_, kind)) = delivered.iter().find(|(known, _)| known == id) else { continue };
            let is_it = |(known, words): &&(Option<String>, String)| match known {
                Some(known) => known == id.as_str(),
                None => words == text,
            };
            let found = texts.iter().filter(is_it).count();
            if *kind != TextKind::Rule {
                assert!(found <= 1, "seed {seed}, request {number}: {id} stands there {found} times");
                missing += usize::from(found == 0);
            }
        }
        assert!(missing <= left_out(messages), "seed {seed}, request {number}: {missing} texts are not there");
    }
}

/// Returns the number of older texts that a compaction says it left out.
fn left_out(messages: &[Message]) -> usize {
    let block = messages.iter().find_map(|message| match message {
        Message::User { content, .. } if content.starts_with(KEPT_HEAD) => {
            content.split_once(" older texts found no room")
        }
        _ => None,
    });
    block.and_then(|(before, _)| before.rsplit('(').next()?.parse().ok()).unwrap_or(0)
}

#[tokio::test(start_paused = true)]
async fn in_any_life_every_text_comes_once_every_rule_holds_and_the_request_is_valid_and_stable() {
    let lives: u64 = std::env::var("STEER_LIVES").ok().and_then(|lives| lives.parse().ok()).unwrap_or(25);
    let (mut resumes, mut compactions, mut conditions) = (0, 0, 0);
    for seed in 0..lives {
        let (resumed, compacted, met) = live(seed).await;
        conditions += met;
        resumes += resumed;
        compactions += compacted;
    }
    println!("{lives} lives: {resumes} resumes, {compactions} compactions, {conditions} conditions met");
    assert!(
        resumes > 5 && compactions > 20 && conditions > 20,
        "{resumes}, {compactions}, {conditions} in {lives} lives"
    );
}
