//! A log of what happened, and listeners and extensions out of closures.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use steersman_agent::{Agent, AgentContext, Configurator, Extension, ExtensionError};
use steersman_base::error::BuildError;
use steersman_base::event::Envelope;
use steersman_core::listener::Listener;

/// A list of what happened, in order, that several doubles write to.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn say(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    pub fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// A listener made of a closure.
pub struct Spy<F>(pub F);

impl<F: Fn(&Envelope) + Send + Sync> Listener for Spy<F> {
    fn on_event(&self, envelope: &Envelope) {
        (self.0)(envelope);
    }

    fn label(&self) -> String {
        "Spy".to_owned()
    }
}

type Configure = Box<dyn Fn(&mut Configurator) -> Result<(), BuildError> + Send + Sync>;
type Bind = Box<dyn Fn(&mut Agent) -> Result<(), BuildError> + Send + Sync>;
type OnUserMessage = Box<dyn Fn(&AgentContext<'_>, &str) -> Result<Option<String>, ExtensionError> + Send + Sync>;

/// An extension made of closures; what is not set does nothing.
#[derive(Default)]
pub struct FnExtension {
    configure: Option<Configure>,
    bind: Option<Bind>,
    on_user_message: Option<OnUserMessage>,
}

impl FnExtension {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn configure(
        mut self,
        f: impl Fn(&mut Configurator) -> Result<(), BuildError> + Send + Sync + 'static,
    ) -> Self {
        self.configure = Some(Box::new(f));
        self
    }

    pub fn bind(mut self, f: impl Fn(&mut Agent) -> Result<(), BuildError> + Send + Sync + 'static) -> Self {
        self.bind = Some(Box::new(f));
        self
    }

    pub fn on_user_message(
        mut self,
        f: impl Fn(&AgentContext<'_>, &str) -> Result<Option<String>, ExtensionError> + Send + Sync + 'static,
    ) -> Self {
        self.on_user_message = Some(Box::new(f));
        self
    }
}

impl Extension for FnExtension {
    fn name(&self) -> &'static str {
        "double"
    }

    fn configure(&self, configurator: &mut Configurator) -> Result<(), BuildError> {
        self.configure.as_ref().map_or(Ok(()), |f| f(configurator))
    }

    fn bind<'a>(&'a self, agent: &'a mut Agent) -> BoxFuture<'a, Result<(), BuildError>> {
        ready(self.bind.as_ref().map_or(Ok(()), |f| f(agent))).boxed()
    }

    fn on_user_message<'a>(
        &'a self,
        context: &'a AgentContext<'_>,
        words: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, ExtensionError>> {
        ready(self.on_user_message.as_ref().map_or(Ok(None), |f| f(context, words))).boxed()
    }
}
