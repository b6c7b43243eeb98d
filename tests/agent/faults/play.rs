//! Plays faults: an agent of its own with a server of its own for each, many at a time; says all that went wrong.

use crate::support::refusals::like;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use steersman_agent::Agent;
use steersman_base::error::RunError;
use steersman_base::event::{Envelope, Event, Outcome};
use steersman_core::control::Cancellable;
use steersman_core::listener::{InMemoryEventList, Listener};
use steersman_core::provider::{ApiKey, ChatProvider, ChatTransport, Connector, ProviderError, Streaming};
use steersman_provider::{Http, HttpConnector, HttpProvider};

use super::{Ends, Fault};
use crate::support::doubles::acting;
use crate::support::family::Family;
use crate::support::server::Server;

const KEY: &str = "sk-canary-0123456789";
const DEADLINE: Duration = Duration::from_mins(2);

/// Returns the families that the program speaks.
pub fn families() -> Vec<Family> {
    let spoken = |family: &Family| HttpProvider::assembler(family.dialect().parse().unwrap()).is_ok();
    Family::ALL.into_iter().filter(spoken).collect()
}

/// Runs a check with each item, many at a time: most of their time is waits before another attempt.
pub async fn beside<T>(items: impl IntoIterator<Item = T>, check: impl AsyncFn(T)) {
    futures_util::stream::iter(items).for_each_concurrent(16, |item| check(item)).await;
}

/// Plays each fault in each family.
pub async fn all(faults: Vec<Fault>) {
    let families = families();
    let mut plays = Vec::new();
    for fault in faults.into_iter().map(Arc::new) {
        for family in families.iter().copied().filter(|family| fault.families.contains(family)) {
            plays.push((Arc::clone(&fault), family));
        }
    }
    let count = plays.len();
    let played = futures_util::stream::iter(plays).map(|(fault, family)| async move {
        let name = format!("{} ({family:?})", fault.name);
        let task = tokio::spawn(async move { tokio::time::timeout(DEADLINE, play(&fault, family)).await });
        match task.await {
            Ok(Ok(Ok(()))) => None,
            Ok(Ok(Err(what))) => Some(format!("{name}: {what}")),
            Ok(Err(_)) => Some(format!("{name}: it hangs")),
            Err(error) => Some(format!("{name}: {error}")),
        }
    });
    let wrong: Vec<String> = played.buffer_unordered(16).filter_map(|wrong| async { wrong }).collect().await;
    println!("{count} faults played, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Plays one fault in one family, and the turn behind it.
async fn play(fault: &Fault, family: Family) -> Result<(), String> {
    let server = Server::start((fault.script)(family));
    let stage = Stage::new(fault);
    let mut agent = stage.agent(fault, family, server.origin()).await;
    let result = agent.run_loop("Look at it.").await;
    let ended = Instant::now();
    stage.check(fault, &result, agent.last_assistant_content())?;
    if let Some(cancelled) = *stage.stop.at.lock().unwrap() {
        let took = ended.duration_since(cancelled);
        ensure(took < Duration::from_secs(1), || format!("it took {took:?} to stop"))?;
    }
    let requests = server.chats().len();
    ensure(requests == fault.requests, || format!("{requests} requests instead of {}", fault.requests))?;
    let ran = stage.ran.load(Ordering::Relaxed);
    ensure(ran == fault.ran, || format!("{ran} calls ran instead of {}", fault.ran))?;

    server.reply_text("Fine now.");
    stage.stop.spent.store(1, Ordering::Relaxed);
    let next = agent.run_loop("And now?").await;
    ensure(next.is_ok(), || format!("the next turn fails: {next:?}"))?;
    ensure(agent.last_assistant_content() == Some("Fine now."), || "the next turn says something else".to_owned())?;
    let request = server.chats().pop().map(|chat| chat.body.to_string()).unwrap_or_default();
    ensure(request.contains("And now?"), || format!("the next request is {request}"))?;
    let violations = server.violations();
    ensure(violations.is_empty(), || format!("{violations:?}"))
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

/// What one agent needs around it.
struct Stage {
    recorder: Arc<InMemoryEventList>,
    stop: Arc<Stop>,
    ran: Arc<AtomicUsize>,
}

impl Stage {
    fn new(fault: &Fault) -> Self {
        let stop =
            Stop { when: fault.esc, cancellable: Cancellable::new(), at: Mutex::new(None), spent: AtomicUsize::new(0) };
        Self { recorder: Arc::default(), stop: Arc::new(stop), ran: Arc::default() }
    }

    async fn agent(&self, fault: &Fault, family: Family, origin: &str) -> Agent {
        let transport = ChatTransport {
            provider: Some(family.dialect().to_owned()),
            model: Some("scripted".to_owned()),
            api_base: Some(origin.to_owned()),
            api_key: Some(ApiKey::new(KEY)),
            ..ChatTransport::default()
        };
        let connector = Patience { silence: fault.silence, keep_alive: fault.keep_alive };
        let ran = Arc::clone(&self.ran);
        let look = acting("look", move |_| {
            ran.fetch_add(1, Ordering::Relaxed);
            "seen".to_owned()
        });
        Agent::builder(transport, "You look at things.", Arc::new(connector))
            .cancellable(self.stop.cancellable.clone())
            .streaming(fault.streaming)
            .build(|configurator| {
                configurator.add_listener(self.recorder.clone());
                configurator.add_listener(self.stop.clone());
                configurator.add_tool(look)
            })
            .await
            .unwrap()
    }

    /// Compares how the turn ended with how it should.
    fn check(&self, fault: &Fault, result: &Result<(), RunError>, content: Option<&str>) -> Result<(), String> {
        let events = self.recorder.events();
        let ended = events.iter().rev().find_map(|event| match event {
            Event::TurnEnded { outcome, message, .. } => Some((*outcome, message.clone())),
            _ => None,
        });
        let said = result.as_ref().err().map(ToString::to_string).unwrap_or_default();
        ensure(!format!("{result:?} {events:?}").contains(KEY), || "the key is told".to_owned())?;
        match &fault.ends {
            Ends::Answered(text) => {
                ensure(result.is_ok() && content == Some(text.as_str()), || {
                    format!("ended with {result:?}, {content:?} instead of {text:?}")
                })?;
                ensure(ended == Some((Outcome::Completed, None)), || format!("told as {ended:?}"))?;
            }
            Ends::Failed(sentence) => {
                ensure(result.is_err() && like(sentence, &said), || {
                    format!("ended with {result:?} ({said:?}) instead of {sentence:?}")
                })?;
                ensure(ended == Some((Outcome::Failed, Some(said.clone()))), || format!("told as {ended:?}"))?;
            }
            Ends::Cancelled => {
                ensure(matches!(result, Err(RunError::Cancelled(_))), || format!("ended with {result:?}"))?;
                ensure(ended == Some((Outcome::Cancelled, None)), || format!("told as {ended:?}"))?;
            }
        }
        let waits: Vec<(u64, String)> = events
            .iter()
            .filter_map(|event| match event {
                Event::Retrying { after_ms, reason, .. } => Some((*after_ms, reason.clone())),
                _ => None,
            })
            .collect();
        let as_expected = waits.len() == fault.waits.len()
            && waits.iter().zip(&fault.waits).all(|((wait, _), expected)| expected.contains(wait));
        ensure(as_expected, || format!("announced {waits:?} instead of {:?}", fault.waits))
    }
}

/// An agent that goes to one server, for faults of the way there.
pub struct Visit {
    agent: Agent,
    recorder: Arc<InMemoryEventList>,
}

impl Visit {
    pub async fn new(family: Family, http: Http, base: &str) -> Self {
        Self::with_window(family, http, base, None).await
    }

    /// Makes one whose model is said to have such a context window, tokens.
    pub async fn with_window(family: Family, http: Http, base: &str, context_window: Option<u64>) -> Self {
        let transport = ChatTransport {
            context_window,
            provider: Some(family.dialect().to_owned()),
            model: Some("scripted".to_owned()),
            api_base: Some(base.to_owned()),
            api_key: Some(ApiKey::new(KEY)),
            ..ChatTransport::default()
        };
        let recorder: Arc<InMemoryEventList> = Arc::default();
        let agent = Agent::builder(transport, "You look at things.", Arc::new(HttpConnector::new(http)))
            .streaming(Streaming::On)
            .build(|configurator| {
                configurator.add_listener(recorder.clone());
                Ok(())
            })
            .await
            .unwrap();
        Self { agent, recorder }
    }

    /// Asks, fails in time, and returns the sentence, which is also told.
    pub async fn fails(&mut self, text: &str) -> String {
        let turn = tokio::time::timeout(DEADLINE, self.agent.run_loop(text)).await.expect("it hangs");
        let said = turn.unwrap_err().to_string();
        let told = |event: &Event| matches!(event, Event::TurnEnded { message: Some(message), .. } if *message == said);
        assert!(self.recorder.events().last().is_some_and(told));
        assert!(!format!("{:?}", self.recorder.events()).contains(KEY));
        said
    }

    /// Asks and gets an answer in time.
    pub async fn answers(&mut self, text: &str, answer: &str) {
        tokio::time::timeout(DEADLINE, self.agent.run_loop(text)).await.expect("it hangs").unwrap();
        assert_eq!(self.agent.last_assistant_content(), Some(answer));
    }

    /// Returns what was said beside the answers.
    pub fn notices(&self) -> Vec<String> {
        let notice = |event: Event| if let Event::Notice { text } = event { Some(text) } else { None };
        self.recorder.events().into_iter().filter_map(notice).collect()
    }

    /// Returns the announced waits, milliseconds.
    pub fn waits(&self) -> Vec<u64> {
        let wait = |event: Event| if let Event::Retrying { after_ms, .. } = event { Some(after_ms) } else { None };
        self.recorder.events().into_iter().filter_map(wait).collect()
    }
}

/// Makes providers that wait only so long.
struct Patience {
    silence: Duration,
    keep_alive: Duration,
}

impl Connector for Patience {
    fn connect(&self, transport: &ChatTransport) -> Result<Arc<dyn ChatProvider>, ProviderError> {
        let provider = HttpProvider::new(Http::default(), transport)?;
        Ok(Arc::new(provider.with_read_timeout(self.silence).with_keep_alive_time(self.keep_alive)))
    }
}

/// Stops the turn at an event, once.
struct Stop {
    when: Option<fn(&Event) -> bool>,
    cancellable: Cancellable,
    at: Mutex<Option<Instant>>,
    spent: AtomicUsize,
}

impl Listener for Stop {
    fn on_event(&self, envelope: &Envelope) {
        let is_it = self.when.is_some_and(|when| when(&envelope.event));
        if is_it && self.spent.fetch_add(1, Ordering::Relaxed) == 0 {
            *self.at.lock().unwrap() = Some(Instant::now());
            self.cancellable.cancel();
        }
    }

    fn label(&self) -> String {
        "Stop".to_owned()
    }
}
