//! Draws the jobs over the screen: a row for each above, the end of the output of the selected one below; or that alone.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::state::{JobsPane, JobsView};
use crate::event::JobOwner;
use crate::session::fold::JobState;
use crate::summary::{count, seconds};
use crate::target::name_of;
use crate::text::visible_line;
use crate::tui::facts::Facts;
use crate::tui::keymap::Context;
use crate::tui::overlay::{OverlayPosition, frame};
use crate::tui::state::regions::{Region, Regions};
use crate::tui::theme::Theme;
use crate::tui::widgets::fit::{columns, one_line, put, put_right, row};
use crate::tui::widgets::wrap::{Break, Line, Wrap};

/// Columns that are left to a command at least.
const COMMAND: u16 = 16;

const LIST_KEYS: [&str; 2] = [" Up/Down job · Enter its output · Esc closes ", " Enter output · Esc closes "];
const OUTPUT_KEYS: [&str; 2] =
    [" Up/Down, PageUp/PageDown scroll · End follows · Esc back ", " Up/Down scroll · Esc back "];
/// What stands before the words about Esc while the selected command runs.
const STOPS: &str = "x stops it · ";

/// Draws the list; returns the position as it was shown.
pub fn draw(
    pane: &JobsPane,
    facts: &Facts,
    screen: Rect,
    regions: &mut Regions,
    buffer: &mut Buffer,
) -> OverlayPosition {
    let theme = &facts.theme;
    let rows = JobsPane::rows(facts);
    let selected = pane.index(&rows);
    let job = rows.get(selected);
    let titles = match (pane.shows, job) {
        (JobsView::Output, Some(job)) => {
            [format!(" {}: {} ", job.id, visible_line(&job.command)), format!(" {} ", job.id)]
        }
        (JobsView::List | JobsView::Output, _) => {
            let running = facts.run.jobs.running();
            [format!(" {}, {running} running ", count(rows.len(), "background command")), " Jobs ".to_owned()]
        }
    };
    let inner = frame::open(theme, &titles, screen, regions, buffer);
    let (keys, back) = match pane.shows {
        JobsView::List => (LIST_KEYS, "Esc closes"),
        JobsView::Output => (OUTPUT_KEYS, "Esc back"),
    };
    let keys = keys.iter().filter(|_| job.is_some()).map(|keys| match job.and_then(|job| job.end.as_ref()) {
        Some(_) => (*keys).to_owned(),
        None => keys.replace("Esc", &format!("{STOPS}Esc")),
    });
    let keys: Vec<_> =
        keys.chain([format!(" {back} ")]).map(|keys| facts.spell(Context::Jobs, &keys).into_owned()).collect();
    frame::foot(theme, &keys, screen, buffer);
    let Some(job) = job else {
        put(buffer, row(inner, 0), "No command was run in the background.", theme.dim);
        put(buffer, row(inner, 1), "!COMMAND in the message runs one of your own.", theme.dim);
        return OverlayPosition::None;
    };
    let below = match pane.shows {
        JobsView::Output => inner,
        JobsView::List => {
            let height = u16::try_from(rows.len()).unwrap_or(u16::MAX).min((inner.height / 3).max(1));
            let list = Rect { height, ..inner };
            let first = (selected + 1).saturating_sub(height.into());
            for (y, (index, job)) in (list.y..list.bottom()).zip(rows.iter().enumerate().skip(first)) {
                let line = Rect { y, height: 1, ..list };
                regions.add(line, Region::OverlayRow(index));
                if index == selected {
                    put(buffer, line, "›", theme.accent);
                }
                draw_row(job, facts, line, buffer);
                if index == selected {
                    buffer.set_style(line.intersection(*buffer.area()), theme.selected);
                }
            }
            let rule = Rect { y: list.bottom(), height: 1.min(inner.height - height), ..inner };
            put(buffer, rule, &"─".repeat(inner.width.into()), theme.border);
            Rect { y: rule.bottom(), height: inner.bottom().saturating_sub(rule.bottom()), ..inner }
        }
    };
    let lines = output(job, below.width, theme);
    let height = usize::from(below.height);
    let up = pane.up.min(lines.len().saturating_sub(height));
    let first = lines.len().saturating_sub(height + up);
    for (line, y) in lines.iter().skip(first).zip(below.y..below.bottom()) {
        line.draw(buffer, below.x, y, below.width);
    }
    OverlayPosition::List { selected, top: up }
}

/// Draws a row: the id and the command, then whose it is, how it stands and for how long, as far as there is room; in the
/// room that is left the last line of its output.
fn draw_row(job: &JobState, facts: &Facts, line: Rect, buffer: &mut Buffer) {
    let theme = &facts.theme;
    let room = Rect { x: line.x + line.width.min(2), width: line.width.saturating_sub(2), ..line };
    let whose = match job.owner {
        JobOwner::Agent => name_of(&job.agent),
        JobOwner::User => "yours".to_owned(),
    };
    let all = [job.words(), seconds(job.elapsed_ms(facts.now)), whose];
    let fitting = (1..=all.len()).rev().filter_map(|most| all.get(..most)).map(|words| one_line(&words.join(" · ")));
    let state = fitting.into_iter().find(|words| columns(words) + COMMAND <= room.width).unwrap_or_default();
    let style = match &job.end {
        Some(end) if !end.is_success() => theme.tool_error,
        Some(_) => theme.dim,
        None => theme.tool,
    };
    put_right(buffer, room, &state, style);
    let left = room.width.saturating_sub(if state.is_empty() { 0 } else { columns(&state) + 1 });
    let mark = if job.owner == JobOwner::User { "!" } else { "" };
    let name = one_line(&format!("{} {mark}{}", job.id, visible_line(&job.command)));
    let named = columns(&name).min(left);
    put(buffer, Rect { width: left, ..room }, &name, theme.text);
    if left > named + 4 {
        let last = one_line(job.last_line());
        put(buffer, Rect { x: room.x + named + 2, width: left - named - 2, ..room }, &last, theme.dim);
    }
}

/// Returns the rows of an output.
fn output(job: &JobState, width: u16, theme: &Theme) -> Vec<Line> {
    let none = Line::default();
    let wrap = Wrap { width: width.into(), at: Break::Anywhere, first: &none, rest: &none };
    let mut rows = Vec::new();
    for line in job.output().text.lines() {
        wrap.line(&Line::new(line, theme.output), &mut rows);
    }
    if rows.is_empty() {
        rows.push(Line::new("[no output]", theme.dim));
    }
    rows
}
