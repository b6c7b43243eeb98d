//! What the worker does beside the turns: asks servers for their models, and for the context window of one.
//!
//! Each is a task of its own of a few seconds at most; the worker and its agent never wait for one. A key that
//! must be got first is got there too.

use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

use tokio::task::AbortHandle;

use crate::host::command::{Command, Commands};
use crate::host::{Handle, Mailbox, Notice, Update};
use steersman_agent::{Agent, CompactionRequest, ModelChoice};
use steersman_base::limits;
use steersman_base::protocol::ModelOption;
use steersman_base::sync::lock;
use steersman_base::text::QuestionText;
use steersman_core::approval::{Approvals, PlainAnswer};
use steersman_core::provider::{ChatTransport, Connector, Registry};
use steersman_provider::{
    ContextWindowDetector, Http, ModelServer, OfferedModel, RequestedModel, Sources, list_models, offered_models,
    takes_images,
};

/// Carries out commands with what is known of the agent since it was built.
#[derive(Clone)]
pub(super) struct BackgroundTasks {
    http: Http,
    registry: Arc<Registry>,
    transport: ChatTransport,
    sources: Arc<Sources>,
    choice: Arc<ModelChoice>,
    compaction_request: Arc<CompactionRequest>,
    mailbox: Arc<Mailbox>,
    commands: Arc<Commands>,
    approvals: Arc<Approvals>,
    /// What the server that answers listed when it was last asked.
    listed: Arc<Mutex<Vec<String>>>,
    connector: Arc<dyn Connector>,
    switches: Arc<Mutex<ModelSwitches>>,
}

/// The answer of a server that was asked for its models.
type ModelList = Result<Vec<OfferedModel>, String>;

/// The requests for another model.
#[derive(Debug, Default)]
struct ModelSwitches {
    count: u64,
    open: Option<OpenSwitch>,
}

/// The one that is not answered yet. A later one ends it, and its question with it.
#[derive(Debug)]
struct OpenSwitch {
    number: u64,
    name: String,
    task: AbortHandle,
}

/// What only the owner of the agent can do.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Due {
    pub resets: usize,
    /// Whether the request that failed is to be sent again.
    pub retry: bool,
    /// Whether the open task is to be closed.
    pub closes_task: bool,
}

impl Due {
    pub(super) fn add(&mut self, more: Self) {
        self.resets += more.resets;
        self.retry |= more.retry;
        self.closes_task |= more.closes_task;
    }
}

impl BackgroundTasks {
    /// Takes what the tasks need of the agent, which is busy when they are run.
    pub(super) fn new(
        agent: &Agent,
        sources: Arc<Sources>,
        choice: &Arc<ModelChoice>,
        compaction_request: &Arc<CompactionRequest>,
        handle: &Handle,
    ) -> Self {
        Self {
            http: sources.http().clone(),
            registry: agent.connector().registry(),
            transport: agent.transport().clone(),
            sources,
            choice: Arc::clone(choice),
            compaction_request: Arc::clone(compaction_request),
            mailbox: Arc::clone(handle.mailbox()),
            commands: Arc::clone(handle.commands()),
            approvals: Arc::clone(handle.approvals()),
            listed: Arc::default(),
            connector: Arc::clone(agent.connector()),
            switches: Arc::default(),
        }
    }

    /// Begins what was asked for; returns what is due that only the owner of the agent can do.
    pub(super) fn run(&self, commands: Vec<Command>) -> Due {
        let mut due = Due::default();
        for command in commands {
            match command {
                Command::Reset => due.resets += 1,
                Command::Retry => due.retry = true,
                Command::CloseTask => due.closes_task = true,
                Command::Compact(words) => self.compaction_request.ask(words),
                Command::SwitchModel(name) => self.switch(&name),
                Command::ListModels => self.list_models(),
                Command::CheckImages => self.check_images(),
            }
        }
        due
    }

    fn switch(&self, name: &str) {
        let mut switches = self.switches();
        if let Some(earlier) = switches.open.take() {
            earlier.task.abort();
            self.answer_switch(earlier.name, Err("another model was asked for meanwhile".to_owned()));
        }
        let listed = lock(&self.listed).clone();
        let wanted = self.sources.resolve(&self.current(), &listed, name);
        let RequestedModel { transport, .. } = &wanted;
        // Nobody is asked where there is nobody to ask, or where what is known is enough.
        let at_once =
            transport.api_base.is_none() || (transport.assume_model_exists && self.is_known(transport, &listed));
        if at_once && wanted.is_open() && transport.model.is_some() {
            if self.choose(transport, name.to_owned()) {
                let (tasks, transport) = (self.clone(), transport.clone());
                tokio::spawn(async move { tasks.look_up(&transport, PlainAnswer::Nobody).await });
            }
            return;
        }
        switches.count += 1;
        let (tasks, number, asked) = (self.clone(), switches.count, name.to_owned());
        let task = tokio::spawn(async move {
            let settled = tasks.settle(wanted, &asked).await;
            if tasks.switches().open.take_if(|open| open.number == number).is_none() {
                return;
            }
            match settled {
                Ok((transport, answer)) => {
                    if tasks.choose(&transport, asked) {
                        tasks.commands.wake();
                        tasks.look_up(&transport, answer).await;
                    }
                }
                Err(sentence) => tasks.answer_switch(asked, Err(sentence)),
            }
        });
        switches.open = Some(OpenSwitch { number, name: name.to_owned(), task: task.abort_handle() });
    }

    fn switches(&self) -> MutexGuard<'_, ModelSwitches> {
        lock(&self.switches)
    }

    fn answer_switch(&self, name: String, outcome: Result<String, String>) {
        self.mailbox.push(Update::Notice(Notice::ModelSwitch { name, outcome }));
    }

    /// Tells whether a model is known without asking its server: that has listed it, the user's configuration names it, or
    /// it is among the models that everybody knows.
    fn is_known(&self, transport: &ChatTransport, listed: &[String]) -> bool {
        let model = transport.model_name();
        let is_current = transport.api_base == self.current().api_base;
        let is_named = |source: &ModelServer| {
            source.transport.model == transport.model && source.transport.api_base == transport.api_base
        };
        is_current && listed.iter().any(|known| known == model)
            || self.sources.iter().any(is_named)
            || self.registry.card(model).is_some()
    }

    /// Chooses a model for the next request, unless it cannot be connected, and answers who asked for it. Returns whether it
    /// is chosen.
    fn choose(&self, transport: &ChatTransport, name: String) -> bool {
        if let Err(error) = self.connector.connect(transport) {
            self.answer_switch(name, Err(error.to_string()));
            return false;
        }
        self.choice.choose(transport.clone());
        lock(&self.listed).clear();
        self.answer_switch(name, Ok(transport.model_name().to_owned()));
        true
    }

    /// Gets the key, and the model when none was named. A model that nobody knows is refused, or the user is asked about
    /// it: their answer comes back with it.
    async fn settle(&self, wanted: RequestedModel, name: &str) -> Result<(ChatTransport, PlainAnswer), String> {
        let transport = wanted.unlocked().await?;
        let models = list_models(&self.http, &transport).await;
        let Some(model) = &transport.model else {
            let models = models.map_err(|error| format!("{name} has no list of models: {error}"))?;
            let first = models.iter().find(|model| !is_embedding(model)).filter(|_| transport.is_loopback());
            // Nobody wants the first of a vendor's hundred.
            let first = first.ok_or_else(|| format!("{name} is a server; name one of its models: {name}/MODEL"))?;
            return Ok((transport.with_model(first), PlainAnswer::Nobody));
        };
        // Without any knowledge there is none to the contrary.
        let blind = models.is_err() && self.registry.is_empty();
        let models = models.unwrap_or_default();
        let is_listed = models.contains(model) || self.registry.card(model).is_some();
        if blind || is_listed || (transport.assume_model_exists && models.is_empty()) {
            return Ok((transport, PlainAnswer::Nobody));
        }
        if !transport.assume_model_exists {
            return Err(format!("\"{model}\" is not in the server's list, and nothing is known about it"));
        }
        let title = format!("\"{model}\" is not in the server's list: use it anyway?");
        let mut detail = QuestionText::default();
        detail.part("It lists:");
        for model in models.iter().take(limits::MODELS_SHOWN) {
            detail.quote(model);
        }
        if models.len() > limits::MODELS_SHOWN {
            detail.sentence(&format!("and {} more", models.len() - limits::MODELS_SHOWN));
        }
        match self.approvals.ask_plain(title, detail).await {
            PlainAnswer::No | PlainAnswer::NotNow => {
                Err(format!("the model is {} as before", self.current().model_name()))
            }
            answer @ (PlainAnswer::Yes | PlainAnswer::Nobody) => Ok((transport, answer)),
        }
    }

    /// Finds out what there is to know about a model that was chosen: its window, and whether its server has it, which is
    /// said unless the user knows.
    async fn look_up(&self, transport: &ChatTransport, answer: PlainAnswer) {
        let detector = ContextWindowDetector::for_transport(self.http.clone(), transport);
        let list = async {
            transport.api_base.as_ref()?;
            list_models(&self.http, transport).await.ok()
        };
        let (window, models) = tokio::join!(detector.detect(transport.model_name()), list);
        if let Some(window) = window {
            self.choice.found(transport, window);
            // An idle agent takes it over too.
            self.commands.wake();
        }
        let Some(models) = models.filter(|models| !models.is_empty()) else { return };
        let model = transport.model_name();
        let known = models.iter().any(|listed| listed == model) || self.registry.card(model).is_some();
        if self.choice.chosen().is_some_and(|chosen| chosen.transport == *transport) {
            if !known && answer != PlainAnswer::Yes {
                self.say(format!("\"{model}\" is not in the server's list"));
            }
            *lock(&self.listed) = models;
        }
    }

    /// Finds out whether the model that answers takes images.
    fn check_images(&self) {
        let tasks = self.clone();
        tokio::spawn(async move {
            let takes = takes_images(&tasks.http, &tasks.current(), &tasks.registry).await;
            tasks.mailbox.push(Update::Notice(Notice::Images(takes.into())));
        });
    }

    /// Asks every source for its models, side by side: those of the server that answers come first.
    fn list_models(&self) {
        let current = self.current();
        let own = self.sources.server_of(&current).map(|source| source.name.clone());
        let others = self.sources.iter().filter(|source| Some(&source.name) != own.as_ref()).cloned();
        let sources: Vec<ModelServer> =
            std::iter::once(ModelServer::new(own.clone().unwrap_or_default(), current)).chain(others).collect();
        let tasks = self.clone();
        tokio::spawn(async move {
            let mut lists: Vec<Option<ModelList>> = vec![None; sources.len()];
            let http = &tasks.http;
            let mut asked: FuturesUnordered<_> = sources
                .iter()
                .enumerate()
                .map(|(place, source)| async move {
                    let list = match source.unlocked().await {
                        Ok(transport) => offered_models(http, &transport).await.map_err(|error| error.to_string()),
                        Err(sentence) => Err(sentence),
                    };
                    (place, list)
                })
                .collect();
            while let Some((place, list)) = asked.next().await {
                if let (0, Ok(models)) = (place, &list) {
                    *lock(&tasks.listed) = models.iter().map(|model| model.name.clone()).collect();
                }
                let came = list.is_ok();
                if let Some(slot) = lists.get_mut(place) {
                    *slot = Some(list);
                }
                if came {
                    tasks.mailbox.push(Update::Notice(Notice::Models(Ok(options(&sources, &lists, &tasks.registry)))));
                }
            }
            tasks.say_missing(&sources, &lists);
        });
    }

    fn say_missing(&self, sources: &[ModelServer], lists: &[Option<ModelList>]) {
        let failed = sources.iter().zip(lists).filter_map(|(source, list)| {
            let reason = list.as_ref()?.as_ref().err()?;
            Some((source.name.as_str(), reason.as_str()))
        });
        let failed: Vec<(&str, &str)> = failed.collect();
        let failure = match failed.as_slice() {
            [] => return,
            [(_, reason)] if sources.len() == 1 => (*reason).to_owned(),
            failed => {
                let each: Vec<String> = failed.iter().map(|(name, reason)| format!("{name}: {reason}")).collect();
                each.join("; ")
            }
        };
        if failed.len() == sources.len() {
            self.mailbox.push(Update::Notice(Notice::Models(Err(failure))));
        } else {
            self.say(format!("no list of models: {failure}"));
        }
    }

    fn current(&self) -> ChatTransport {
        self.choice.chosen().map_or_else(|| self.transport.clone(), |chosen| chosen.transport)
    }

    fn say(&self, sentence: String) {
        self.mailbox.push(Update::Notice(Notice::Info(sentence)));
    }
}

/// Returns the models that came so far: bare those of the first source, behind their source's name all others.
fn options(sources: &[ModelServer], lists: &[Option<ModelList>], registry: &Registry) -> Vec<ModelOption> {
    let mut options = Vec::new();
    for (place, (source, list)) in sources.iter().zip(lists).enumerate() {
        let Some(Ok(models)) = list else { continue };
        options.extend(models.iter().map(|model| {
            let OfferedModel { name, context_window, price, .. } =
                model.clone().with_known(registry, &source.transport);
            let is_current = place == 0 && source.transport.model_name() == name;
            let name = if place == 0 { name } else { format!("{}/{name}", source.name) };
            ModelOption { name, context_window, price, is_current }
        }));
    }
    options
}

/// Tells whether a model makes numbers out of text instead of answering.
fn is_embedding(model: &str) -> bool {
    model.to_lowercase().contains("embed")
}
