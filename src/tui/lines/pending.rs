//! The pending texts as lines: what is new or has changed since the last look, and the whole list on demand.
//!
//! A text is named by the number of its id, which stays the same wherever it stands.

use super::page::{Page, named};
use crate::state::App;
use crate::view::forecast;
use steersman_base::event::Delivery;
use steersman_base::id::MessageId;
use steersman_base::steering::TextKind;
use steersman_base::target::name_of;
use steersman_session::model::{PendingStage, PendingText};

/// The entries that were announced, as they were then.
#[derive(Debug, Default)]
pub(super) struct AnnouncedTexts {
    entries: Vec<PendingText>,
    paused: bool,
}

impl AnnouncedTexts {
    /// Announces what is new or has changed. An entry that is about to start a turn is not announced, and not known: if it
    /// turns out that it has to wait, because the start of another turn was applied only now, it is announced then.
    pub(super) fn look(&mut self, app: &App, page: &mut Page) {
        let now = app.ui.run.pending.entries();
        if now == self.entries && app.ui.run.pending.paused == self.paused {
            return;
        }
        let mut changed = false;
        let mut known = Vec::with_capacity(now.len());
        for entry in now {
            let before = self.entries.iter().find(|known| known.message.id == entry.message.id);
            let is_waiting = entry.stage == PendingStage::Waiting;
            if is_waiting && before.is_none() && enters_at_once(app, entry) {
                continue;
            }
            let is_same = before.is_some_and(|known| {
                let (known, now) = (&known.message, &entry.message);
                known.text == now.text
                    && known.delivery == now.delivery
                    && known.kind == now.kind
                    && known.trigger == now.trigger
            });
            if is_waiting && !is_same {
                page.say(&word(entry), &line(app, entry));
                changed = true;
            }
            known.push(entry.clone());
        }
        let order = |entries: &[PendingText], others: &[PendingText]| -> Vec<MessageId> {
            let ids = entries.iter().map(|entry| &entry.message.id);
            ids.filter(|id| others.iter().any(|other| other.message.id == **id)).cloned().collect()
        };
        if !changed && order(now, &self.entries) != order(&self.entries, now) {
            let numbers: Vec<String> = now.iter().map(|entry| number(&entry.message.id)).collect();
            page.say("pending", &format!("the order is now {}", numbers.join(", ")));
        }
        if app.ui.run.pending.paused && !self.paused && app.ui.run.pending.is_held_back() {
            page.say("pending", "what is pending waits for you: Enter in an empty line lets it go");
        }
        self.entries = known;
        self.paused = app.ui.run.pending.paused;
    }
}

/// Writes the whole list.
pub(super) fn list(app: &App, page: &mut Page) {
    if app.ui.run.pending.is_empty() {
        page.say("pending", "nothing");
    }
    for entry in app.ui.run.pending.entries() {
        page.say(&word(entry), &line(app, entry));
    }
}

pub(super) fn number(id: &MessageId) -> String {
    id.as_str().strip_prefix('m').unwrap_or(id.as_str()).to_owned()
}

fn word(entry: &PendingText) -> String {
    let to = if entry.agent.is_main() { String::new() } else { format!(" for {}", name_of(&entry.agent)) };
    format!("pending {}{to}", number(&entry.message.id))
}

fn line(app: &App, entry: &PendingText) -> String {
    let text = named(&entry.message.text);
    let delivery = match entry.message.delivery {
        Delivery::Steer => "",
        Delivery::FollowUp => "follow-up, ",
        Delivery::Now => "now, ",
    };
    let kind = match entry.message.kind {
        TextKind::Add => String::new(),
        kind @ (TextKind::Instead | TextKind::Note | TextKind::Rule) => format!("{kind}, "),
    };
    let when = match entry.stage {
        PendingStage::Delivering => "is being delivered".to_owned(),
        PendingStage::Waiting if app.message.is_edited(&entry.message.id) => "is being edited".to_owned(),
        PendingStage::Waiting if entry.message.stale => "held for its age".to_owned(),
        PendingStage::Waiting if app.ui.run.pending.paused && entry.agent.is_main() && entry.message.starts_turn() => {
            "waits for you".to_owned()
        }
        PendingStage::Waiting => {
            let forecast = match &entry.message.trigger {
                Some(_) => forecast::of_pending(app, entry),
                None => forecast::of_text(app, &entry.agent, entry.message.delivery, entry.message.kind),
            };
            let forecast = forecast.into_iter().next().unwrap_or_default();
            if forecast.starts_with("after ") { format!("goes in {forecast}") } else { forecast }
        }
    };
    format!("{text} ({kind}{delivery}{when})")
}

/// Tells whether a text starts a turn by itself: then its delivery is written and nothing before.
fn enters_at_once(app: &App, entry: &PendingText) -> bool {
    let is_ready = app.status.host == crate::status::HostState::Ready;
    entry.agent.is_main()
        && is_ready
        && !app.ui.run.agents.main().running()
        && !app.ui.run.pending.paused
        && !entry.message.stale
        && entry.message.starts_turn()
}
