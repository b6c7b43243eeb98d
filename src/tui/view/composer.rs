//! Draws the rule above the composer, which says what the keys do now.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::forecast::{of_enter, who_goes_on};
use crate::app::App;
use crate::app::escape::{Escape, next_escape};
use crate::message::purpose::CallText;
use crate::state::Pane;
use crate::status::HostState;
use crate::timeline;
use crate::transcript::view::Metrics;
use crate::transcript::view::search_line::progress;
use crate::widgets::fit::{columns, fill, put, put_right, row};
use steersman_base::event::{Delivery, Outcome};
use steersman_session::model::WaitingAgent;
use steersman_session::model::agents::Activity;

/// Draws the rule: what Enter will do, what lies below the visible part of the transcript, the keys that matter now, and
/// always what Esc will do.
pub fn draw_rule(app: &App, metrics: &Metrics, waiting: Option<&WaitingAgent>, area: Rect, buffer: &mut Buffer) {
    let theme = &app.ui.theme;
    let line = row(area, 0);
    if line.is_empty() {
        return;
    }
    fill(buffer, line, "─", theme.border);
    let mut inner = Rect { x: line.x + line.width.min(2), width: line.width.saturating_sub(4), ..line };
    let mut hints = hints(app);
    let escape = hints.last().map_or(0, |shortest| columns(shortest) + 2);
    if let Some(replay) = &app.replay {
        inner = put(buffer, inner, " replay ", theme.accent);
        if replay.live.as_ref().is_some_and(|live| !live.questions.is_empty()) {
            inner = put(buffer, inner, "? a question waits: Esc ", theme.notice);
        }
    } else if app.focus.is_on(Pane::Composer) {
        let words = of_enter(app, waiting);
        // The whole of an edit's words tells about Esc itself.
        let is_edit = matches!(next_escape(app), Escape::LeaveEdit(_));
        let whole = words.first().filter(|whole| is_edit && columns(whole) + 2 <= inner.width);
        if whole.is_some() {
            hints.clear();
        }
        // Rather fewer words about Enter than none about what lies below.
        let lower = below(metrics).map_or(0, |below| columns(&below) + 1);
        let fits = |room: u16| words.iter().find(move |words| columns(words) + 2 + escape + room <= inner.width);
        if let Some(words) = whole.or_else(|| fits(lower)).or_else(|| fits(0)) {
            inner = put(buffer, inner, &format!(" {words} "), theme.accent);
        }
    }
    if let Some(words) = reading(app).into_iter().find(|words| columns(words) + 2 + escape <= inner.width) {
        inner = put(buffer, inner, &format!(" {words} "), theme.accent);
    }
    if let Some(below) = below(metrics).filter(|below| columns(below) + 1 + escape <= inner.width) {
        let gap = Rect { x: inner.x + 1, width: inner.width - 1, ..inner };
        inner = put(buffer, gap, &below, theme.notice);
    }
    if let Some(hint) = hints.iter().find(|hint| columns(hint) + 2 <= inner.width) {
        put_right(buffer, inner, &format!(" {hint} "), theme.dim);
    }
}

/// Says what is searched for or selected in the transcript, the longest first.
fn reading(app: &App) -> Vec<String> {
    let Some(reader) = app.reader().filter(|_| app.focus.is_on(Pane::Transcript)) else { return Vec::new() };
    if reader.selection.is_some() {
        return vec!["selected · y copies it".to_owned(), "y copies".to_owned()];
    }
    let Some(search) = reader.search.as_ref().filter(|search| search.is_active()) else { return Vec::new() };
    let found = progress(search);
    let longest = found
        .iter()
        .take(1)
        .flat_map(|found| [format!("/{} · {found} · n/N", search.text()), format!("{found} · n/N")]);
    longest.chain(found.iter().cloned()).collect()
}

fn below(metrics: &Metrics) -> Option<String> {
    match (metrics.new, metrics.below) {
        (0, 0) => None,
        (0, 1) => Some(" ↓ 1 line below ".to_owned()),
        (0, lines) => Some(format!(" ↓ {lines} lines below ")),
        (new, _) => Some(format!(" ↓ {new} new below ")),
    }
}

/// Returns the hints for the present state, the best first: rather fewer keys than fewer words about Esc.
fn hints(app: &App) -> Vec<String> {
    if app.replay.is_some() && app.focus.is_on(Pane::Composer) {
        let keys = timeline::hints(&app.ui);
        let search = app.reader().and_then(|reader| reader.search.as_ref()).filter(|search| search.is_active());
        let Some(search) = search else { return keys };
        let found = progress(search).into_iter().next().unwrap_or_default();
        let with_search = keys.iter().map(|keys| format!("{}: {found} · {keys}", search.text()));
        return with_search.chain(keys.iter().cloned()).collect();
    }
    let mut hints = Vec::new();
    let escape = next_escape(app).labels();
    if escape.is_empty() {
        hints.extend(keys(app).iter().map(|keys| (*keys).to_owned()));
    }
    for words in escape {
        hints.extend(keys(app).iter().map(|keys| format!("{keys} · {words}")));
        hints.push(words);
    }
    hints.into_iter().map(|hint| app.spell(&as_it_is(app, hint)).into_owned()).collect()
}

/// Leaves out of a hint what is not so now: while tools run that cannot go on in the background nothing is delivered at once.
fn as_it_is(app: &App, hint: String) -> String {
    let target = app.message.editing().map(|editing| editing.agent.clone());
    let target = target.unwrap_or_else(|| app.message.draft_target(&app.message_context()));
    let tools = app.ui.run.agents.get(&target).filter(|node| node.activity == Activity::Tools);
    let Some(node) = tools else { return hint };
    match who_goes_on(app, node, Delivery::Now) {
        // The line beside it says what goes on.
        Some(_) if who_goes_on(app, node, Delivery::Steer).is_some() => hint,
        Some(who) => hint.replace("F5 now", &format!("F5 now: {who}")),
        None => hint.replace(" · F5 now", "").replace("F5 now · ", ""),
    }
}

/// Tells whether nothing can be sent.
fn is_closed(app: &App) -> bool {
    matches!(app.status.host, HostState::Failed(_) | HostState::ReadOnly(_))
}

/// Returns the keys that matter now, the longest first.
fn keys(app: &App) -> &'static [&'static str] {
    if !app.focus.overlays.is_empty() {
        return &["Up/Down scroll"];
    }
    if app.message.about_question().is_some() && app.focus.is_on(Pane::Composer) {
        return &["Ctrl+J new line"];
    }
    if let Some(writing) = app.message.about_call().filter(|_| app.focus.is_on(Pane::Composer)) {
        return match writing.what {
            CallText::Arguments => &["Enter runs · Ctrl+J new line", "Ctrl+J new line"],
            CallText::Reason => &["Enter skips · Ctrl+J new line", "Ctrl+J new line"],
        };
    }
    if app.message.about_step().is_some() && app.focus.is_on(Pane::Composer) {
        return &["Enter puts it into the plan", "Enter keeps it"];
    }
    if app.message.editing().is_some() && app.focus.is_on(Pane::Composer) {
        return &["Enter puts it back · Tab as a follow-up · F5 now", "Enter puts it back · F5 now", "F5 now"];
    }
    if app.focus.by_click {
        return &["what you type goes into the message · Up/Down move here", "letters go into the message"];
    }
    match app.focus.pane {
        Pane::Details => &["Up/Down scroll · z zooms · i folds", "Up/Down scroll"],
        Pane::Pending if is_closed(app) => &["Up/Down select"],
        Pane::Pending => &[
            "Enter edits · d deletes · u brings back · J/K move · f/s follow-up/steer · v kind · m joins · F5 now",
            "Enter edits · d deletes · u brings back · J/K move · f/s follow-up/steer · m joins · F5 now",
            "Enter edits · d deletes · u back · J/K · f/s · m · F5",
            "Enter edits · d deletes · F1 keys",
            "Enter edits · d deletes",
        ],
        Pane::Pause => &["r runs it · e edits · s skips · g goes on", "r runs · e edits · s skips", "F1 keys"],
        Pane::Tree if app.tree.filter().is_active() => &["Up/Down select · / changes the filter", "Up/Down select"],
        Pane::Tree => &[
            "Up/Down select · Left/Right fold · / filter · ! needs attention · i details · x cancel",
            "Up/Down select · Left/Right fold · / filter · i details · x cancel",
            "Up/Down · Left/Right fold · / filter · x cancel",
            "Up/Down select · Left/Right fold",
            "Up/Down select",
        ],
        Pane::History => &["Enter takes it · Up/Down choose", "Enter takes it"],
        Pane::Filter => &["words of a name, task or state · Up/Down select · Enter keeps", "Enter keeps it"],
        Pane::Transcript if app.reader().is_some_and(|reader| reader.selection.is_some()) => &["Up/Down move its end"],
        Pane::Transcript => &[
            "Up/Down select a block · Enter opens · / search · [ ] your messages · v select · y copy",
            "Up/Down select · Enter opens · / search · v select · y copy",
            "Up/Down select · Enter opens · / search",
            "Enter opens · / search",
            "Enter opens",
        ],
        Pane::Search => &[],
        Pane::Composer if is_closed(app) && !app.message.is_empty() => {
            &["Ctrl+C clears, Ctrl+D then quits · F1 keys", "Ctrl+C clears, Ctrl+D then quits", "F1 keys"]
        }
        Pane::Composer if is_closed(app) => &["Ctrl+D quits · F1 keys", "Ctrl+D quits"],
        Pane::Composer if app.ui.run.agents.main().running() => {
            // A sub-agent has one turn, nothing comes after it.
            let has_next_turn = app.message.draft_target(&app.message_context()).is_main();
            match (has_next_turn, app.ui.run.pending.is_empty()) {
                (true, true) => &[
                    "Tab after the turn · F5 now · Alt+V kind",
                    "Tab after the turn · F5 now",
                    "Tab after the turn",
                    "F1 keys",
                ],
                (true, false) => &[
                    "Tab after the turn · F5 now · Alt+V kind · Alt+Up takes back · F2 pending",
                    "Tab after the turn · F5 now · Alt+Up takes back · F2 pending",
                    "Tab after the turn · F5 now",
                    "Tab after the turn",
                    "F1 keys",
                ],
                (false, true) => &["F5 now · Alt+V kind", "F5 now", "F1 keys"],
                (false, false) => &["F5 now · Alt+Up takes back · F2 pending", "F5 now", "F1 keys"],
            }
        }
        Pane::Composer if app.ui.run.pending.is_held_back() => &["F2 pending · Alt+Up takes back", "F2 pending"],
        // With a text in the message the key says what that is to an open task.
        Pane::Composer
            if matches!(app.ui.run.agents.main().activity, Activity::Ended(Outcome::Failed, _))
                && app.message.is_empty() =>
        {
            &[
                "Alt+T sends the request again · / commands · F1 help",
                "Alt+T sends it again · F1 help",
                "Alt+T sends it again",
            ]
        }
        Pane::Composer => &[
            "/ commands · @ files · Shift+Tab mode · Ctrl+J new line · F1 help",
            "/ commands · @ files · Shift+Tab mode · F1 help",
            "/ commands · @ files · F1 help",
            "F1 help",
        ],
    }
}
