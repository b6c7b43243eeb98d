//! A replay: the same screen, told again what a recorded session told it, as far as the timeline stands.
//!
//! Always holds: nothing reaches a run from a replay. Where one goes on behind it, that screen takes everything that the
//! run says, and is as it would have been when the replay ends.

use jiff::Timestamp;

use super::post::{self, Told};
use super::{carry_out, fold};
use crate::tui::alerts::AlertWhen;
use crate::tui::app::{App, Replay};
use crate::tui::effect::PaneEffect;
use crate::tui::keymap::{Action, Chord, Context, ReplayKey};
use crate::tui::msg::{Effect, Msg};
use crate::tui::state::pane::Pane;
use crate::tui::state::status::Status;
use crate::tui::timeline::{Jump, Step, Timeline, Way};

/// Most characters of a time that is typed.
const TIME: usize = 10;
const NOT_SENT: &str = "this is a replay: nothing reaches the run; Esc leaves it";

/// Begins a replay at its end; `None` behind it when no run goes on here.
pub fn begin(app: &mut App, steps: Vec<Step>) {
    if steps.is_empty() {
        app.status.say("nothing is recorded yet", app.facts.now);
        return;
    }
    let is_live = app.facts.session.is_some();
    let shown = fresh(app);
    let behind = std::mem::replace(app, shown);
    app.replay = Some(Replay { timeline: Timeline::new(steps), live: is_live.then(|| Box::new(behind)) });
    jump(app, Jump::Last);
}

/// Returns an empty screen that looks like this one.
fn fresh(app: &App) -> App {
    let facts = &app.facts;
    let status = Status::new(app.status.label.clone(), app.status.source);
    let mut fresh = App::new(facts.size, facts.now, status, facts.themes.clone());
    fresh.facts.keymap = facts.keymap.clone();
    fresh.facts.theme = facts.theme.clone();
    fresh.facts.zone = facts.zone.clone();
    fresh.facts.place.clone_from(&facts.place);
    fresh.facts.branch.clone_from(&facts.branch);
    fresh.facts.run.agents.prices = facts.run.agents.prices.clone();
    fresh.pointer.mode = app.pointer.mode;
    fresh.alerts.when = AlertWhen::Never;
    fresh.status.host = crate::tui::state::status::HostState::Ready;
    fresh
}

/// Folds one message in while a session is replayed.
pub fn update(app: &mut App, msg: Msg) -> Vec<Effect> {
    let Some(replay) = &mut app.replay else { return Vec::new() };
    let mut effects = Vec::new();
    let msg = match msg {
        // What the run and the rest of the program say is for the screen behind.
        Msg::Post(_)
        | Msg::Branch(_)
        | Msg::History(_)
        | Msg::NotRemembered(_)
        | Msg::Sessions(..)
        | Msg::Written { .. }
        | Msg::Attention(_) => return replay.live.as_mut().map(|live| fold(live, msg)).unwrap_or_default(),
        Msg::Coloured(_) | Msg::Resize(_) | Msg::Background(_) | Msg::Tick(_) => {
            if let Some(live) = &mut replay.live {
                effects.extend(fold(live, msg.clone()));
            }
            msg
        }
        msg => msg,
    };
    let now = moment(&msg);
    if let Some(now) = now {
        let place = replay.timeline.due(now);
        go(app, place);
    }
    if let (Msg::Key(key, _), Some(now)) = (&msg, now)
        && let Some(wanted) = press(app, Chord::of(key), now)
    {
        effects.extend(wanted);
        return effects;
    }
    if matches!(msg, Msg::Typed(..) | Msg::Paste(..)) {
        app.status.say(NOT_SENT, app.facts.now);
        return effects;
    }
    let msg = at_session_time(app, msg);
    let wanted = fold(app, msg);
    let before = wanted.len();
    effects.extend(wanted.into_iter().filter(|effect| !reaches_the_run(effect)));
    if effects.len() < before {
        app.status.say(NOT_SENT, app.facts.now);
    }
    app.message.clear();
    effects
}

fn reaches_the_run(effect: &Effect) -> bool {
    matches!(effect, Effect::Request(_) | Effect::Remember(_) | Effect::Switch(_) | Effect::ListSessions(_))
}

/// Returns when a message was.
fn moment(msg: &Msg) -> Option<Timestamp> {
    match msg {
        Msg::Key(_, at) | Msg::Typed(_, at) | Msg::Paste(_, at) | Msg::Mouse(_, at) | Msg::Tick(at) => Some(*at),
        _ => None,
    }
}

/// Puts a message at the time of the session, which the whole screen goes by.
fn at_session_time(app: &App, msg: Msg) -> Msg {
    let clock = |at: Timestamp| app.replay.as_ref().map_or(at, |replay| replay.timeline.clock(at));
    match msg {
        Msg::Key(key, at) => Msg::Key(key, clock(at)),
        Msg::Mouse(event, at) => Msg::Mouse(event, clock(at)),
        Msg::Tick(at) => Msg::Tick(clock(at)),
        Msg::Shown(question, at) => Msg::Shown(question, clock(at)),
        msg => msg,
    }
}

/// Carries out a key of the timeline; `None` when it means what it means elsewhere.
fn press(app: &mut App, chord: Chord, now: Timestamp) -> Option<Vec<Effect>> {
    if !app.focus.is_on(Pane::Composer) {
        return None;
    }
    if app.replay.as_ref().is_some_and(|replay| replay.timeline.typed().is_some()) {
        type_time(app, chord);
        return Some(Vec::new());
    }
    let action = app.facts.keymap.lookup(Context::Replay, chord);
    match action {
        Some(Action::InReplay(key)) => Some(act(app, key, now)),
        Some(Action::Escape | Action::Clear) => Some(leave(app)),
        Some(action) if shows(action) => None,
        None | Some(_) => {
            app.status.say(NOT_SENT, app.facts.now);
            Some(Vec::new())
        }
    }
}

/// Tells whether an action has its usual meaning in a replay.
fn shows(action: Action) -> bool {
    let goes = matches!(action, Action::FocusTree | Action::FocusTranscript | Action::FocusPending | Action::Changes);
    let ends =
        matches!(action, Action::Quit | Action::QuitOrDelete | Action::Suspend | Action::NextTheme | Action::Mouse);
    goes || ends || action.only_shows()
}

fn act(app: &mut App, key: ReplayKey, now: Timestamp) -> Vec<Effect> {
    let to = match key {
        ReplayKey::EventBack => Jump::Event(Way::Back),
        ReplayKey::EventOn => Jump::Event(Way::On),
        ReplayKey::RoundBack => Jump::Round(Way::Back),
        ReplayKey::RoundOn => Jump::Round(Way::On),
        ReplayKey::TurnBack => Jump::Turn(Way::Back),
        ReplayKey::TurnOn => Jump::Turn(Way::On),
        ReplayKey::MarkBack => Jump::Mark(Way::Back),
        ReplayKey::MarkOn => Jump::Mark(Way::On),
        ReplayKey::First => Jump::First,
        ReplayKey::Last => Jump::Last,
        ReplayKey::Leave => return leave(app),
        ReplayKey::Play => {
            let is_over = app.replay.as_ref().is_some_and(|replay| {
                let (place, steps) = replay.timeline.place();
                place == steps
            });
            if is_over {
                go(app, 0);
            }
            with_timeline(app, |timeline| timeline.toggle(now));
            return Vec::new();
        }
        ReplayKey::Faster => {
            with_timeline(app, |timeline| timeline.hurry(Way::On, now));
            return Vec::new();
        }
        ReplayKey::Slower => {
            with_timeline(app, |timeline| timeline.hurry(Way::Back, now));
            return Vec::new();
        }
        ReplayKey::Time => {
            with_timeline(app, |timeline| timeline.set_typed(Some(String::new())));
            return Vec::new();
        }
    };
    jump(app, to);
    Vec::new()
}

fn with_timeline(app: &mut App, change: impl FnOnce(&mut Timeline)) {
    if let Some(replay) = &mut app.replay {
        change(&mut replay.timeline);
    }
}

/// Types a time to go to.
fn type_time(app: &mut App, chord: Chord) {
    let Some(replay) = &mut app.replay else { return };
    let mut typed = replay.timeline.typed().unwrap_or_default().to_owned();
    match (app.facts.keymap.lookup(Context::Composer, chord), chord.typed()) {
        (Some(Action::Send), _) => {
            let to = replay.timeline.typed_time().map(|time| replay.timeline.at(time));
            replay.timeline.set_typed(None);
            replay.timeline.pause();
            match to {
                Some(place) => go(app, place),
                None => app.status.say("not a time: minutes and seconds are 2:30", app.facts.now),
            }
            return;
        }
        (Some(Action::Escape), _) => return replay.timeline.set_typed(None),
        (_, Some(c)) if (c.is_ascii_digit() || c == ':') && typed.len() < TIME => typed.push(c),
        (_, None) => _ = typed.pop(),
        (_, Some(_)) => {}
    }
    replay.timeline.set_typed(Some(typed));
}

fn jump(app: &mut App, to: Jump) {
    let Some(replay) = &mut app.replay else { return };
    replay.timeline.pause();
    let place = replay.timeline.target(to);
    go(app, place);
}

/// Brings the screen to a place: on from where it is, or from the beginning.
fn go(app: &mut App, place: usize) {
    let Some(replay) = &app.replay else { return };
    let mut here = replay.timeline.place().0;
    if place == here {
        return;
    }
    let shown = app.tree.selected().clone();
    if place < here {
        here = 0;
        let mut fresh = fresh(app);
        fresh.replay = app.replay.take();
        std::mem::swap(&mut fresh.focus, &mut app.focus);
        *app = fresh;
    }
    let steps = app.replay.as_ref().map(|replay| replay.timeline.between(here, place)).unwrap_or_default();
    for Step { at, post, .. } in steps {
        app.facts.now = at;
        // What comes back would be done outside, and was done then.
        if let Told::Changed(_) = post::told(app, post) {
            app.pending.follow(&app.facts.run.pending);
        }
    }
    with_timeline(app, |timeline| timeline.set_place(place));
    app.facts.now = app.replay.as_ref().map(|replay| replay.timeline.time()).unwrap_or_default();
    app.facts.run.agents.tick(app.facts.now);
    app.message.clear();
    app.status.quiet();
    if app.facts.run.agents.get(&shown).is_some() {
        app.tree.select_agent(&shown, &app.facts.run.agents);
    }
    app.settle_panes();
}

/// Ends the replay: the run's own screen comes back, or the program ends.
fn leave(app: &mut App) -> Vec<Effect> {
    if app.end_replay() { carry_out(app, vec![PaneEffect::Quiet]) } else { vec![Effect::Quit] }
}
