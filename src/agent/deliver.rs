//! A text of the user enters the conversation: in its frame where it has one, with its event and the notes of extensions.
//!
//! Called by `run_loop` at a turn's start, at a boundary and after a cut. Always holds: what was taken from the queue is
//! delivered, also behind a text on which an extension failed (D5); a rule holds from its delivery on.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;

use crate::reply::stopped;
use crate::{Agent, AgentContext, BoundaryNote, UserTexts};
use steersman_base::error::{Cancelled, RunError};
use steersman_base::event::{Event, Pending, UserText};
use steersman_base::image::Image;
use steersman_base::message::{DeliveredText, UserAbout};
use steersman_base::steering::{Framing, Rule, TextKind};
use steersman_core::control::Interloper;
use steersman_core::listener::ListenerList;
use steersman_core::wrapper::{SentWhen, WrappedText, images_note, wrap};

/// A user message that starts a turn, or enters one.
pub(super) enum TurnInput {
    /// It waited in the queue.
    Queued(Pending),
    /// Whoever runs the turn gave it.
    Given(UserText),
}

impl TurnInput {
    pub(super) fn message(&self) -> &UserText {
        match self {
            Self::Queued(pending) => &pending.message,
            Self::Given(message) => message,
        }
    }

    /// Returns it as it waited; `None` for a text that came without a queue.
    fn pending(&self) -> Option<&Pending> {
        match self {
            Self::Queued(pending) => Some(pending),
            Self::Given(_) => None,
        }
    }
}

/// The point of a turn at which a user message enters.
pub(super) enum DeliveryPoint {
    TurnStart {
        /// Whether an earlier turn left its task open, to which the message adds.
        goes_on: bool,
    },
    /// After the result of this tool; `None` where the message cut a reply.
    MidLoop { after: Option<String> },
    /// Behind a summary, before the request of the same round.
    BehindSummary,
}

impl Agent {
    /// Delivers every text, also after one on which an extension failed: what was taken is delivered (D5). What a hook
    /// forbids, and what is left when the turn is stopped meanwhile, goes back to the user.
    pub(super) async fn deliver_all(&mut self, inputs: Vec<TurnInput>, point: &DeliveryPoint) -> Result<(), RunError> {
        let (listeners, interloper) = (self.listeners.clone(), self.handles.interloper.clone());
        let mut waiting = Undelivered { inputs: inputs.into(), listeners, interloper };
        // The hooks hear of the session before they hear of its first text.
        if let DeliveryPoint::TurnStart { .. } = point {
            self.ask_about_session().await?;
        }
        let (mut result, mut forbidden, mut delivered) = (Ok(()), None, 0);
        while let Some(input) = waiting.inputs.front() {
            let context = match self.ask_about_prompt(input, point).await? {
                Ok(context) => context,
                Err(why) => {
                    forbidden = Some(why);
                    waiting.give_back(1);
                    continue;
                }
            };
            if let Some(input) = waiting.inputs.pop_front() {
                let delivery = self.deliver(input, point).await;
                result = result.and(delivery);
                self.add_context(context);
                delivered += 1;
            }
        }
        match (forbidden, point) {
            (Some(why), DeliveryPoint::TurnStart { .. }) if delivered == 0 => result.and(Err(RunError::Hook(why))),
            _ => result,
        }
    }

    /// Appends one user message, emits it, and lets the extensions append their notes.
    pub(super) async fn deliver(&mut self, input: TurnInput, point: &DeliveryPoint) -> Result<(), RunError> {
        let (content, about) = self.content_of(&input, point);
        let (injection, met, message) = match input {
            TurnInput::Queued(Pending { id, met, message, .. }) => (Some(id), met, message),
            TurnInput::Given(message) => (None, None, message),
        };
        let UserText { text, kind, scope, sender, images, delivery: _, trigger: _ } = message;
        let facts = images.iter().map(Image::facts).collect();
        self.tree.context.keep_images(&images);
        self.history.push_user_about(content, images, UserAbout::Text(about));
        self.unseen.extend(injection.clone());
        if kind.asks_for_work() {
            self.task_open = Some(true);
        }
        let (mid_loop, after) = match point {
            DeliveryPoint::TurnStart { .. } => (false, None),
            DeliveryPoint::MidLoop { after } => (true, after.clone()),
            DeliveryPoint::BehindSummary => (true, None),
        };
        let (content, step, id) = (text.clone(), self.steps, injection.clone());
        let images = facts;
        self.listeners.emit(Event::UserTurn { content, mid_loop, injection, step, after, sender, kind, met, images });
        self.notify_history();
        if let (Some(id), Some(interloper)) = (&id, &self.handles.interloper) {
            interloper.delivered(id);
        }
        if let (TextKind::Rule, Some(id)) = (kind, id) {
            let agent = self.id.clone();
            self.tree.rules.set(Rule { id, agent, scope, text: text.clone(), version: 0 });
        }
        for extension in &self.extensions {
            let context = AgentContext {
                listeners: &self.listeners,
                extension: extension.name(),
                context_window_cap: self.context_window_cap,
            };
            // A bug of an extension must not leave the turn open.
            // Made within, so that a panic before the first wait is contained too.
            let hook = AssertUnwindSafe(async { extension.on_user_message(&context, &text).await }).catch_unwind();
            let outcome = tokio::select! {
                biased;
                () = stopped(self.handles.cancellable.as_ref()) => Err(Cancelled.into()),
                outcome = hook => outcome.unwrap_or_else(|_| {
                    Err(format!("the extension '{}' broke down", extension.name()).into())
                }),
            };
            match outcome {
                Ok(None) => {}
                Ok(Some(words)) => self.history.push_system(words),
                Err(error) if error.is::<Cancelled>() => return Err(Cancelled.into()),
                Err(error) => return Err(RunError::Extension(error)),
            }
        }
        Ok(())
    }

    /// Appends the images of the results of a batch, in a message that says whose they are.
    pub(super) fn show_result_images(&mut self) {
        let images = self.toolbox.images().take_images();
        if images.is_empty() {
            return;
        }
        let content = images_note(images.iter().map(|image| image.name.as_str()));
        self.history.push_user_about(content, images, UserAbout::Images);
        self.notify_history();
    }

    /// Appends what the extensions have to say behind a batch of calls.
    pub(super) async fn take_boundary_notes(&mut self) {
        for extension in &self.extensions {
            let context = AgentContext {
                listeners: &self.listeners,
                extension: extension.name(),
                context_window_cap: self.context_window_cap,
            };
            let hook = AssertUnwindSafe(async { extension.at_boundary(&context).await }).catch_unwind();
            let note = tokio::select! {
                biased;
                () = stopped(self.handles.cancellable.as_ref()) => None,
                note = hook => note.unwrap_or_default(),
            };
            if let Some(BoundaryNote { text, notice }) = note {
                self.history.push_system(text);
                self.listeners.emit(Event::Notice { text: notice });
            }
        }
        self.notify_history();
    }

    /// Returns what is sent for a text, and what is known of it. A task needs no frame.
    fn content_of(&self, input: &TurnInput, point: &DeliveryPoint) -> (String, DeliveredText) {
        let UserText { text, kind, scope, .. } = input.message();
        let begins_turn = kind.asks_for_work() && matches!(point, DeliveryPoint::TurnStart { goes_on: false });
        let round = match point {
            DeliveryPoint::TurnStart { .. } => 1,
            DeliveryPoint::MidLoop { .. } => self.round.saturating_add(1),
            DeliveryPoint::BehindSummary => self.round,
        };
        let id = input.pending().map(|pending| pending.id.clone());
        let about = DeliveredText { id, kind: *kind, words: None, turn: self.turns, round, begins_turn };
        let (Framing::Framed, false, Some(pending)) = (self.tree.framing, begins_turn, input.pending()) else {
            return (text.clone(), about);
        };
        let sent = match (point, &pending.during, &self.handles.interloper) {
            (DeliveryPoint::MidLoop { .. } | DeliveryPoint::BehindSummary, Some(during), Some(interloper)) => {
                SentWhen::During { tool: during.tool.as_deref(), calls: interloper.calls_since(during) }
            }
            (DeliveryPoint::MidLoop { .. } | DeliveryPoint::BehindSummary | DeliveryPoint::TurnStart { .. }, _, _) => {
                SentWhen::BeforeTurn
            }
        };
        let task = UserTexts::in_messages(self.history.messages()).task_text();
        let (id, kind, scope, met) = (&pending.id, *kind, *scope, pending.met.as_ref());
        let framed = WrappedText { id, kind, scope, words: text, sent, met, task: Some(&task) };
        (wrap(&framed), DeliveredText { words: Some(text.clone()), ..about })
    }
}

/// Texts that were taken from the queue and are not in the conversation yet. Dropping it gives them back to the user.
struct Undelivered {
    inputs: VecDeque<TurnInput>,
    listeners: ListenerList,
    interloper: Option<Arc<Interloper>>,
}

impl Undelivered {
    /// Gives the first texts back; one that came without a queue stays with whoever gave it.
    fn give_back(&mut self, number: usize) {
        let back = self.inputs.drain(..number.min(self.inputs.len()));
        let entries: Vec<Pending> = back.filter_map(|input| input.pending().cloned()).collect();
        if !entries.is_empty() {
            self.listeners.emit(Event::Returned { entries: entries.clone() });
            if let Some(interloper) = &self.interloper {
                for entry in &entries {
                    interloper.delivered(&entry.id);
                }
            }
        }
    }
}

impl Drop for Undelivered {
    fn drop(&mut self) {
        self.give_back(self.inputs.len());
    }
}

/// Makes texts of the queue ready for delivery.
pub(super) fn inputs(entries: impl IntoIterator<Item = Pending>) -> Vec<TurnInput> {
    entries.into_iter().map(TurnInput::Queued).collect()
}
