//! What the worker does beside the turns: asks the server for its models, and for the context window of one.
//!
//! Each errand is a task of its own of a few seconds at most; the worker and its agent never wait for one.

use std::sync::Arc;

use crate::agent::{Agent, CompactWish, ModelChoice};
use crate::host::command::{Command, Commands};
use crate::host::{Mailbox, Notice, Post};
use crate::provider::{ChatTransport, ContextWindowDetector, Http, Sources, list_models};

/// Carries out commands with what is known of the agent since it was built.
pub(super) struct Errands {
    http: Http,
    transport: ChatTransport,
    sources: Arc<Sources>,
    choice: Arc<ModelChoice>,
    wish: Arc<CompactWish>,
    mailbox: Arc<Mailbox>,
    commands: Arc<Commands>,
}

impl Errands {
    /// Takes what the errands need of the agent, which is busy when they are run.
    pub(super) fn new(
        agent: &Agent,
        sources: Arc<Sources>,
        choice: &Arc<ModelChoice>,
        wish: &Arc<CompactWish>,
        mailbox: &Arc<Mailbox>,
        commands: &Arc<Commands>,
    ) -> Self {
        Self {
            http: agent.connector().http(),
            transport: agent.transport().clone(),
            sources,
            choice: Arc::clone(choice),
            wish: Arc::clone(wish),
            mailbox: Arc::clone(mailbox),
            commands: Arc::clone(commands),
        }
    }

    /// Begins what was asked for; returns how many resets are due, which only the owner of the agent can make.
    pub(super) fn run(&self, commands: Vec<Command>) -> usize {
        let mut resets = 0;
        for command in commands {
            match command {
                Command::Reset => resets += 1,
                Command::SwitchModel(name) => {
                    let chosen = self.choice.chosen().map(|chosen| chosen.transport);
                    let transport = self.sources.resolve(chosen.as_ref().unwrap_or(&self.transport), &name);
                    self.choice.choose(transport.clone());
                    self.find_window(transport);
                }
                Command::Compact(words) => self.wish.ask(words),
                Command::ListModels => self.list_models(),
            }
        }
        resets
    }

    fn find_window(&self, transport: ChatTransport) {
        let detector = ContextWindowDetector::for_transport(self.http.clone(), &transport);
        let (choice, commands) = (Arc::clone(&self.choice), Arc::clone(&self.commands));
        tokio::spawn(async move {
            if let Some(window) = detector.detect(transport.model_name()).await {
                choice.found(&transport, window);
                // An idle agent takes it over too.
                commands.wake();
            }
        });
    }

    fn list_models(&self) {
        let (http, transport) = (self.http.clone(), self.transport.clone());
        let mailbox = Arc::clone(&self.mailbox);
        tokio::spawn(async move {
            let models = list_models(&http, &transport).await.map_err(|error| error.to_string());
            mailbox.push(Post::Notice(Notice::Models(models)));
        });
    }
}
