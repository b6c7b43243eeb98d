//! The commands in the background and the user's shell lines, with their output while it comes, over everything else on the
//! screen: `/jobs`. A row for each above, the end of the output of the selected one below; or that alone.
//!
//! # Where things are
//!
//! - the list and its keys: `mod.rs`; the command, what came of requests: `update.rs`; tests: `jobs_pane.rs`
//! - what happens to jobs: `src/session/model/jobs.rs`, `src/tools/jobs/mod.rs`; tests: `tests/pty/jobs.rs`

mod update;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::commands::{CommandEntry, Takes};
use crate::effect::{Outcome, PaneEffect};
use crate::keymap::table::{TableRow, key};
use crate::keymap::{Action, Context, Travel};
use crate::overlay::list::{ListRows, draw_empty, list_and_text, put_details};
use crate::overlay::registry::{PaneEntry, PaneKey, list_keys, page_keys};
use crate::overlay::{ListPosition, Overlay, OverlayDrawn};
use crate::state::Regions;
use crate::theme::Theme;
use crate::ui_context::UiContext;
use crate::widgets::fit::{one_line, put};
use crate::widgets::wrap::{Break, Line, draw_text, wrapped};
use steersman_base::event::JobOwner;
use steersman_base::id::JobId;
use steersman_base::summary::{count, seconds};
use steersman_base::target::name_of;
use steersman_base::text::visible_line;
use steersman_session::model::JobState;

pub use update::{BACKGROUND, line_started, sent_to_background, stopped};

/// How it registers itself.
pub const PANE: PaneEntry = PaneEntry {
    id: "jobs",
    title: "Jobs",
    travel: &[
        &list_keys("select a job; in its output: scroll", "first or last job; in its output: top, or follow the end"),
        &page_keys("scroll the output"),
    ],
    keys: KEYS,
    opened_by: "Alt+J",
    brief: "commands in the background",
    command: CommandEntry::new(
        "/jobs [ID|stop ID]",
        Takes::Any,
        "Alt+J",
        "the commands in the background and your own !COMMANDs, with their output; stop one",
        update::command,
    ),
};

/// Shows the output of the selected job alone, or the list again.
const SHOW: PaneKey = PaneKey("show-output");
/// Stops the selected job, after a question.
const STOP: PaneKey = PaneKey("stop-job");

const KEYS: &[TableRow] = &[
    key("Enter  o", Action::InPane(SHOW), "show the output alone, while it comes; again: the list"),
    key("x", Action::InPane(STOP), "stop the job; asks first"),
];

/// Columns that are left to a command at least.
const COMMAND: u16 = 16;

/// The list, from its opening to its end.
#[derive(Debug, Default)]
pub struct JobsPane {
    /// The selected job; `None` for the newest.
    job: Option<JobId>,
    /// The lines of the output that stand below what is shown (0 follows the end) are its top.
    position: ListPosition,
    shows: JobsView,
}

/// What takes the room of the list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum JobsView {
    /// The list, with the end of one output below it.
    #[default]
    List,
    Output,
}

impl JobsPane {
    /// Opens the list at a job.
    pub fn at(job: Option<JobId>) -> Self {
        Self { job, ..Self::default() }
    }

    /// Returns the rows, the newest first.
    fn rows(ui: &UiContext) -> Vec<&JobState> {
        ui.run.jobs.all().rev().collect()
    }

    fn scroll(&mut self, travel: Travel, page: usize) {
        let up = &mut self.position.top;
        *up = match travel {
            Travel::Previous => up.saturating_add(1),
            Travel::Next => up.saturating_sub(1),
            Travel::PageUp => up.saturating_add(page),
            Travel::PageDown => up.saturating_sub(page),
            Travel::First => usize::MAX,
            Travel::Last => 0,
        };
    }
}

impl Overlay for JobsPane {
    fn context(&self) -> Context {
        PANE.context()
    }

    fn escape_hints(&self) -> &'static [&'static str] {
        match self.shows {
            JobsView::List => &["Esc: closes the list", "Esc: closes"],
            JobsView::Output => &["Esc: back to the list", "Esc: back"],
        }
    }

    fn titles(&self, ui: &UiContext) -> Vec<String> {
        let rows = Self::rows(ui);
        match (self.shows, rows.get(self.selected(ui))) {
            (JobsView::Output, Some(job)) => {
                vec![format!(" {}: {} ", job.id, visible_line(&job.command)), format!(" {} ", job.id)]
            }
            (JobsView::List | JobsView::Output, _) => {
                let running = ui.run.jobs.running();
                vec![format!(" {}, {running} running ", count(rows.len(), "background command")), " Jobs ".to_owned()]
            }
        }
    }

    fn hints(&self, ui: &UiContext) -> &'static [&'static str] {
        let rows = Self::rows(ui);
        let is_running = rows.get(self.selected(ui)).map(|job| job.end.is_none());
        match (self.shows, is_running) {
            (JobsView::List, None) => &[" Esc closes "],
            (JobsView::List, Some(false)) => {
                &[" Up/Down job · Enter its output · Esc closes ", " Enter output · Esc closes ", " Esc closes "]
            }
            (JobsView::List, Some(true)) => &[
                " Up/Down job · Enter its output · x stops it · Esc closes ",
                " Enter output · x stops it · Esc closes ",
                " Esc closes ",
            ],
            (JobsView::Output, None | Some(false)) => &[
                " Up/Down, PageUp/PageDown scroll · End follows · Esc back ",
                " Up/Down scroll · Esc back ",
                " Esc back ",
            ],
            (JobsView::Output, Some(true)) => &[
                " Up/Down, PageUp/PageDown scroll · End follows · x stops it · Esc back ",
                " Up/Down scroll · x stops it · Esc back ",
                " Esc back ",
            ],
        }
    }

    fn count(&self, ui: &UiContext) -> usize {
        ui.run.jobs.all().count()
    }

    fn position(&mut self) -> &mut ListPosition {
        &mut self.position
    }

    fn selected(&self, ui: &UiContext) -> usize {
        let place = self.job.as_ref().and_then(|id| Self::rows(ui).iter().position(|job| job.id == *id));
        place.unwrap_or(0)
    }

    fn select(&mut self, row: usize, ui: &UiContext) {
        let rows = Self::rows(ui);
        self.job = rows.get(row.min(rows.len().saturating_sub(1))).map(|job| job.id.clone());
        self.position.top = 0;
    }

    fn back(&mut self) -> bool {
        std::mem::take(&mut self.shows) == JobsView::Output
    }

    fn travel(&mut self, travel: Travel, ui: &UiContext) {
        if self.shows == JobsView::Output || matches!(travel, Travel::PageUp | Travel::PageDown) {
            self.scroll(travel, ui.half_page());
        } else {
            self.select(travel.from(self.selected(ui), 1), ui);
        }
    }

    fn act(&mut self, action: Action, ui: &UiContext) -> Outcome {
        let Action::InPane(key) = action else { return Outcome::Ignored };
        let rows = Self::rows(ui);
        let Some(job) = rows.get(self.selected(ui)) else {
            return Outcome::say("there are no background commands");
        };
        match key {
            SHOW => {
                self.job = Some(job.id.clone());
                self.shows = match self.shows {
                    JobsView::List => JobsView::Output,
                    JobsView::Output => JobsView::List,
                };
                Outcome::DONE
            }
            STOP if job.end.is_some() => Outcome::say("it has ended already"),
            // The question must not be covered by the list.
            STOP => Outcome::Consumed(vec![PaneEffect::CloseOverlay, update::ask_stop(job.id.clone())]),
            _ => Outcome::Ignored,
        }
    }

    fn wheel(&mut self, lines: isize, _: &UiContext) {
        self.position.top = self.position.top.saturating_add_signed(lines.saturating_neg());
    }

    fn draw_inside(&self, ui: &UiContext, inner: Rect, regions: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn {
        let theme = &ui.theme;
        let (rows, selected) = (Self::rows(ui), self.selected(ui));
        let Some(job) = rows.get(selected) else {
            let words = ["There are no background commands.", "!COMMAND in the message runs one of your own."];
            return draw_empty(&words, inner, theme, buffer);
        };
        let below = match self.shows {
            JobsView::Output => inner,
            JobsView::List => {
                let (area, below) = list_and_text(inner, rows.len(), theme, buffer);
                let list = ListRows { area, rows: &rows, selected, top: 0, height: 1 };
                list.draw(theme, regions, buffer, |job, room, buffer| draw_row(job, ui, room, buffer));
                below
            }
        };
        let lines = output(job, below.width, theme);
        let most = lines.len().saturating_sub(below.height.into());
        let up = self.position.top.min(most);
        draw_text(&lines, most - up, below, buffer);
        OverlayDrawn::list(selected, up)
    }
}

/// Draws a row: the id and the command, then whose it is, how it stands and for how long, as far as there is room; in the
/// room that is left the last line of its output.
fn draw_row(job: &JobState, ui: &UiContext, room: Rect, buffer: &mut Buffer) {
    let theme = &ui.theme;
    let whose = match job.owner {
        JobOwner::Agent => name_of(&job.agent),
        JobOwner::User => "yours".to_owned(),
    };
    let style = match &job.end {
        Some(end) if !end.is_success() => theme.tool_error,
        Some(_) => theme.dim,
        None => theme.tool,
    };
    let state = [job.describe(), seconds(job.elapsed_ms(ui.now)), whose].join(" · ");
    let left = put_details(buffer, room, &state, COMMAND, style);
    let mark = if job.owner == JobOwner::User { "!" } else { "" };
    let name = one_line(&format!("{} {mark}{}", job.id, visible_line(&job.command)));
    let behind = put(buffer, left, &name, theme.text);
    if behind.width > 4 {
        let room = Rect { x: behind.x + 2, width: behind.width - 2, ..behind };
        put(buffer, room, &one_line(job.last_line()), theme.dim);
    }
}

/// Returns the rows of an output.
fn output(job: &JobState, width: u16, theme: &Theme) -> Vec<Line> {
    let lines = job.output().text.lines().map(|line| Line::new(line, theme.output));
    let rows = wrapped(lines, width.into(), Break::Anywhere);
    if rows.is_empty() { vec![Line::new("[no output]", theme.dim)] } else { rows }
}
