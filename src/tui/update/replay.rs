//! A replay: the same screen, which takes the updates of a recorded session up to the position of the timeline.
//!
//! Always holds: nothing is sent to a run from a replay. Where a run goes on behind it, the screen of that run takes
//! everything that the run says, so that nothing is missed when the replay ends.

use crossterm::event::KeyEvent;
use jiff::Timestamp;

use super::apply_update::{self, UpdateOutcome};
use super::keys::prefix_sentence;
use super::{carry_out, reduce};
use crate::alerts::AlertWhen;
use crate::app::{App, Checkpoint, Checkpoints, Replay};
use crate::effect::PaneEffect;
use crate::keymap::{Action, Chord, Context, ReadKey, ReplayKey};
use crate::msg::{EditorSubject, Effect, Msg};
use crate::state::Pane;
use crate::status::{HostState, ModelSource, Status};
use crate::switch::EventPlace;
use crate::timeline::{Direction, Jump, Recorded, RecordedContext, RecordedSource, Step, Timeline};
use crate::transcript;
use steersman_base::protocol::Update;

/// Most characters of a time that is typed.
const TIME: usize = 10;
/// Steps that are applied rather than passed over: what is passed over forgets where somebody reads.
const FOLDED: usize = 512;
pub const NOT_SENT: &str = "this is a replay: nothing is sent; Esc ends it";

/// Begins a replay at a place of the session. The screen of a run is kept behind it.
pub(super) fn begin(app: &mut App, recorded: Recorded) {
    let Recorded { steps, source, place } = recorded;
    if steps.is_empty() {
        app.status.say("nothing is recorded yet", app.ui.now);
        return;
    }
    let (shown, is_alone) = match source {
        RecordedSource::Own => (None, false),
        RecordedSource::Other(shown) => (Some(shown), false),
        RecordedSource::Alone(shown) => (Some(shown), true),
    };
    let mut begun = fresh(app);
    if let Some(RecordedContext { place, branch, model }) = shown {
        (begun.ui.place, begun.ui.branch) = (place, branch);
        begun.status = Status::new(model, ModelSource::Configured);
        begun.status.host = HostState::Ready;
    }
    let behind = std::mem::replace(app, begun);
    let checkpoints = Checkpoints::new(steps.len());
    let live = (!is_alone).then(|| Box::new(behind));
    app.replay = Some(Replay { timeline: Timeline::new(steps), checkpoints, live });
    show(app, place);
}

/// Goes to a place in the session: its event, the agent, and in its transcript the last place of the word.
fn show(app: &mut App, place: EventPlace) {
    let EventPlace { seq, agent, word } = place;
    let Some(replay) = &app.replay else { return };
    let (position, by) = match seq {
        Some(seq) => replay.timeline.behind_event(seq),
        None => (replay.timeline.target(Jump::Last), None),
    };
    go(app, position);
    if let Some(agent) = agent.or(by).filter(|agent| app.ui.run.agents.get(agent).is_some()) {
        app.tree.select_agent(&agent, &app.ui.run.agents);
    }
    if !word.is_empty() {
        transcript::find_last(&mut app.transcripts, app.tree.selected(), &word);
    }
}

/// Returns an empty screen that looks like this one.
fn fresh(app: &App) -> App {
    let ui = &app.ui;
    let status = Status::new(app.status.label.clone(), app.status.source);
    let mut fresh = App::new(ui.size, ui.now, status, ui.themes.clone());
    fresh.ui.keymap = ui.keymap.clone();
    fresh.ui.theme = ui.theme.clone();
    fresh.ui.zone = ui.zone.clone();
    fresh.ui.place.clone_from(&ui.place);
    fresh.ui.branch.clone_from(&ui.branch);
    fresh.ui.run.agents.prices = ui.run.agents.prices.clone();
    fresh.pointer.mode = app.pointer.mode;
    fresh.alerts.when = AlertWhen::Never;
    fresh.status.host = HostState::Ready;
    fresh
}

/// Applies one message while a session is replayed.
pub(super) fn update(app: &mut App, msg: Msg) -> Vec<Effect> {
    let Some(replay) = &mut app.replay else { return Vec::new() };
    let mut effects = Vec::new();
    let msg = match msg {
        // What the run and the rest of the program say is for the screen behind.
        Msg::Update(_)
        | Msg::Branch(_)
        | Msg::StatusLine(_)
        | Msg::History(_)
        | Msg::NotRemembered(_)
        | Msg::Sessions(..)
        | Msg::Compared(_)
        | Msg::Paths(_)
        | Msg::Matched(_)
        | Msg::Written { .. }
        | Msg::Pictures(..)
        | Msg::PictureMade { .. }
        | Msg::Attention(_) => return replay.live.as_mut().map(|live| reduce(live, msg)).unwrap_or_default(),
        Msg::Coloured(_) | Msg::Resize(_) | Msg::Background(_) | Msg::Tick(_) => {
            if let Some(live) = &mut replay.live {
                effects.extend(reduce(live, msg.clone()));
            }
            msg
        }
        Msg::Key(..)
        | Msg::Typed(..)
        | Msg::Paste(..)
        | Msg::Mouse(..)
        | Msg::ImageRead { .. }
        | Msg::Replayed(_)
        | Msg::ChooseSession
        | Msg::Copied(_)
        | Msg::Edited { .. }
        | Msg::Looked(_)
        | Msg::Drawn(_)
        | Msg::Line(..)
        | Msg::Printed(..)
        | Msg::NobodyThere(_)
        | Msg::Shown(..) => msg,
    };
    let now = moment(&msg);
    if let Some(now) = now {
        let position = replay.timeline.due(now);
        go(app, position);
    }
    if let (Msg::Key(key, _), Some(now)) = (&msg, now)
        && let Some(wanted) = press(app, key, now)
    {
        effects.extend(wanted);
        return effects;
    }
    if matches!(msg, Msg::Typed(..) | Msg::Paste(..)) {
        app.status.say(NOT_SENT, app.ui.now);
        return effects;
    }
    let msg = at_session_time(app, msg);
    let wanted = reduce(app, msg);
    let before = wanted.len();
    let allowed: Vec<Effect> = wanted.into_iter().filter(is_allowed).collect();
    if allowed.len() < before || !app.message.is_empty() {
        app.status.say(NOT_SENT, app.ui.now);
        app.message.clear();
    }
    effects.extend(allowed);
    effects
}

/// Returns whether an effect is carried out in a replay: it sends nothing, writes no message and leads nowhere else.
fn is_allowed(effect: &Effect) -> bool {
    match effect {
        Effect::Request(_)
        | Effect::Remember(_)
        | Effect::Edit { subject: EditorSubject::Draft, .. }
        | Effect::Switch(_)
        | Effect::ListSessions(_)
        | Effect::Compare(_) => false,
        Effect::Write { .. }
        | Effect::Copy(_)
        | Effect::Edit { subject: EditorSubject::Entry, .. }
        | Effect::Notify(_)
        | Effect::Suspend
        | Effect::Mouse(_)
        | Effect::ReadImage { .. }
        | Effect::PasteImage
        | Effect::ListPaths
        | Effect::Match(_)
        | Effect::Colour(_)
        | Effect::MakePicture(_)
        | Effect::KeepPicture(_)
        | Effect::Redraw
        | Effect::ReadSession(_)
        | Effect::Tell(_)
        | Effect::Quit
        | Effect::Detach => true,
    }
}

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

/// Carries out a key of the timeline, or refuses one that would write or send; `None` when it has its usual meaning.
fn press(app: &mut App, key: &KeyEvent, now: Timestamp) -> Option<Vec<Effect>> {
    let chord = app.focus.chord(key);
    if app.replay.as_ref().is_some_and(|replay| replay.timeline.typed().is_some()) {
        type_time(app, chord);
        return Some(Vec::new());
    }
    if !app.focus.overlays.is_empty() {
        return None;
    }
    let is_on_timeline = app.focus.is_on(Pane::Composer);
    let context = if is_on_timeline { Context::Replay } else { app.focus.context() };
    let action = app.ui.keymap.lookup(context, chord);
    if app.ui.keymap.is_prefix(context, chord) {
        return None;
    }
    app.focus.is_prefixed = false;
    match action {
        Some(Action::InReplay(key)) => return Some(act(app, key, now)),
        Some(Action::Escape) if is_on_timeline => return Some(end(app)),
        Some(Action::Clear) => return Some(end(app)),
        Some(action) if is_reading(action) => {
            // Whoever carries it out takes the key once more.
            app.focus.is_prefixed = chord.is_prefixed;
            return None;
        }
        None if chord.is_prefixed => app.status.say(prefix_sentence(chord), app.ui.now),
        // A filter or a search is typed.
        None if context.takes_text() => return None,
        None | Some(_) => app.status.say(NOT_SENT, app.ui.now),
    }
    Some(Vec::new())
}

/// Returns whether an action has its usual meaning in a replay.
fn is_reading(action: Action) -> bool {
    let focuses = matches!(action, Action::FocusTree | Action::FocusPending | Action::FocusComposer | Action::Escape);
    let reads = matches!(action, Action::Read(ReadKey::Copy | ReadKey::Open | ReadKey::Write));
    let ends = matches!(action, Action::Quit | Action::QuitOrDelete | Action::Suspend);
    focuses || reads || ends || matches!(action, Action::NextTheme | Action::Mouse) || action.only_shows()
}

fn act(app: &mut App, key: ReplayKey, now: Timestamp) -> Vec<Effect> {
    match key {
        ReplayKey::EventBack => jump(app, Jump::Event(Direction::Back)),
        ReplayKey::EventOn => jump(app, Jump::Event(Direction::Forward)),
        ReplayKey::RoundBack => jump(app, Jump::Round(Direction::Back)),
        ReplayKey::RoundOn => jump(app, Jump::Round(Direction::Forward)),
        ReplayKey::TurnBack => jump(app, Jump::Turn(Direction::Back)),
        ReplayKey::TurnOn => jump(app, Jump::Turn(Direction::Forward)),
        ReplayKey::MarkBack => jump(app, Jump::Mark(Direction::Back)),
        ReplayKey::MarkOn => jump(app, Jump::Mark(Direction::Forward)),
        ReplayKey::First => jump(app, Jump::First),
        ReplayKey::Last => jump(app, Jump::Last),
        ReplayKey::End => return end(app),
        ReplayKey::Play => {
            let is_over = app.replay.as_ref().is_some_and(|replay| {
                let (position, steps) = replay.timeline.position();
                position == steps
            });
            if is_over {
                go(app, 0);
            }
            with_timeline(app, |timeline| timeline.toggle(now));
        }
        ReplayKey::Faster => with_timeline(app, |timeline| timeline.hurry(Direction::Forward, now)),
        ReplayKey::Slower => with_timeline(app, |timeline| timeline.hurry(Direction::Back, now)),
        ReplayKey::Time => with_timeline(app, |timeline| timeline.set_typed(Some(String::new()))),
    }
    Vec::new()
}

fn with_timeline(app: &mut App, change: impl FnOnce(&mut Timeline)) {
    if let Some(replay) = &mut app.replay {
        change(&mut replay.timeline);
    }
}

fn type_time(app: &mut App, chord: Chord) {
    let Some(replay) = &mut app.replay else { return };
    let mut typed = replay.timeline.typed().unwrap_or_default().to_owned();
    match (app.ui.keymap.lookup(Context::Composer, chord), chord.typed()) {
        (Some(Action::Send), _) => {
            let to = replay.timeline.typed_time().map(|time| replay.timeline.at(time));
            replay.timeline.set_typed(None);
            replay.timeline.pause();
            match to {
                Some(position) => go(app, position),
                None => app.status.say("not a time; write it as 2:30", app.ui.now),
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
    let position = replay.timeline.target(to);
    go(app, position);
}

/// Takes what a saved session says at this moment, without what a screen settles once it is drawn.
pub fn record(app: &mut App, update: Update) {
    // What comes back would be done outside, and was done then.
    if let UpdateOutcome::Changed(_) = apply_update::apply(app, update) {
        app.pending.follow(&app.ui.run.pending);
    }
}

/// Brings the screen to a position: on from where it is, or from where it was kept, whatever is nearer.
fn go(app: &mut App, position: usize) {
    let Some(replay) = &app.replay else { return };
    let mut here = replay.timeline.position().0;
    if position == here {
        return;
    }
    let shown = app.tree.selected().clone();
    let kept = replay.checkpoints.before(position);
    if position < here || kept.is_some_and(|kept| kept.position > here + FOLDED) {
        let mut fresh = fresh(app);
        here = kept.map_or(0, |kept| restore(&mut fresh, kept));
        fresh.replay = app.replay.take();
        std::mem::swap(&mut fresh.focus, &mut app.focus);
        *app = fresh;
    }
    while here < position {
        let steps = app.replay.as_ref().map(|replay| replay.timeline.next_steps(here, position)).unwrap_or_default();
        if steps.is_empty() {
            break;
        }
        for Step { at, update, .. } in steps {
            app.ui.now = at;
            record(app, update);
            here += 1;
            pass(app, here, position);
        }
    }
    with_timeline(app, |timeline| timeline.set_position(position));
    app.ui.now = app.replay.as_ref().map(|replay| replay.timeline.time()).unwrap_or_default();
    app.ui.run.agents.tick(app.ui.now);
    app.message.clear();
    app.status.quiet();
    if app.ui.run.agents.get(&shown).is_some() {
        app.tree.select_agent(&shown, &app.ui.run.agents);
    }
    app.settle_panes();
}

/// Brings an empty screen as far as one was kept; returns how far that is.
fn restore(fresh: &mut App, kept: &Checkpoint) -> usize {
    fresh.ui.now = kept.now;
    fresh.ui.run = kept.run.clone();
    fresh.transcripts = kept.transcripts.unread();
    fresh.pending = kept.pending.clone();
    fresh.pause = kept.pause.clone();
    fresh.questions = kept.questions.clone();
    fresh.status = kept.status.clone();
    kept.position
}

/// Keeps the screen at a position on the way to another one, where it is to be kept.
fn pass(app: &mut App, position: usize, target: usize) {
    let Some(mut replay) = app.replay.take() else { return };
    if replay.checkpoints.is_due(position, target) {
        // So that its copies share the cells.
        app.transcripts.settle();
        replay.checkpoints.keep(position, app);
    }
    app.replay = Some(replay);
}

/// Ends the replay: the screen of the run comes back, or the program ends.
fn end(app: &mut App) -> Vec<Effect> {
    if app.end_replay() { carry_out(app, vec![PaneEffect::Quiet]) } else { vec![Effect::Quit] }
}
