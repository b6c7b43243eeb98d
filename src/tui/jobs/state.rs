//! What the list of jobs shows, and what its keys do. Esc is not among them: one rule says what that does everywhere.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::view;
use crate::id::JobId;
use crate::session::fold::JobState;
use crate::tui::effect::{Outcome, PaneEffect};
use crate::tui::facts::Facts;
use crate::tui::keymap::{Action, Chord, Context, JobsKey, Travel};
use crate::tui::overlay::{Overlay, OverlayDrawn, OverlayPosition};
use crate::tui::state::pointer::Presses;
use crate::tui::state::regions::Regions;

/// The list, from its opening to its end.
#[derive(Debug, Default)]
pub struct JobsPane {
    /// The selected job; `None` for the newest.
    pub(super) selected: Option<JobId>,
    /// How many lines of the output stand below what is shown; 0 follows the end.
    pub(super) up: usize,
    /// What takes the room.
    pub(super) shows: JobsView,
}

/// What takes the room of the list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum JobsView {
    /// The list, with the end of one output below it.
    #[default]
    List,
    /// One output alone.
    Output,
}

impl JobsPane {
    /// Opens the list at a job.
    pub fn at(job: Option<JobId>) -> Self {
        Self { selected: job, ..Self::default() }
    }

    /// Returns the rows, the newest first.
    pub(super) fn rows(facts: &Facts) -> Vec<&JobState> {
        facts.run.jobs.all().rev().collect()
    }

    /// Returns the index of the selected row.
    pub(super) fn index(&self, rows: &[&JobState]) -> usize {
        let place = self.selected.as_ref().and_then(|selected| rows.iter().position(|job| job.id == *selected));
        place.unwrap_or(0)
    }

    fn select(&mut self, row: usize, rows: &[&JobState]) {
        self.selected = rows.get(row.min(rows.len().saturating_sub(1))).map(|job| job.id.clone());
        self.up = 0;
    }

    fn scroll(&mut self, travel: Travel, page: usize) {
        self.up = match travel {
            Travel::Previous => self.up.saturating_add(1),
            Travel::Next => self.up.saturating_sub(1),
            Travel::PageUp => self.up.saturating_add(page),
            Travel::PageDown => self.up.saturating_sub(page),
            Travel::First => usize::MAX,
            Travel::Last => 0,
        };
    }

    fn act(&mut self, key: JobsKey, facts: &Facts) -> Outcome {
        let rows = Self::rows(facts);
        let Some(job) = rows.get(self.index(&rows)) else { return say("no command was run in the background") };
        match key {
            JobsKey::Show => {
                self.selected = Some(job.id.clone());
                self.shows = match self.shows {
                    JobsView::List => JobsView::Output,
                    JobsView::Output => JobsView::List,
                };
                Outcome::DONE
            }
            JobsKey::Stop if job.end.is_some() => say("it has ended already"),
            // The question must not be covered by the list.
            JobsKey::Stop => Outcome::Consumed(vec![PaneEffect::CloseOverlay, PaneEffect::AskStopJob(job.id.clone())]),
        }
    }
}

fn say(sentence: &str) -> Outcome {
    Outcome::one(PaneEffect::Say(sentence.to_owned()))
}

impl Overlay for JobsPane {
    fn context(&self) -> Context {
        Context::Jobs
    }

    fn closing_words(&self) -> &'static str {
        "Esc closes the list"
    }

    fn escape_words(&self) -> &'static [&'static str] {
        match self.shows {
            JobsView::List => &["Esc: closes the list", "Esc: closes"],
            JobsView::Output => &["Esc: back to the list", "Esc: back"],
        }
    }

    fn back(&mut self) -> bool {
        let was_output = self.shows == JobsView::Output;
        self.shows = JobsView::List;
        was_output
    }

    fn key(&mut self, key: Chord, facts: &Facts) -> Outcome {
        let page = usize::from(facts.size.height / 2).max(1);
        match facts.keymap.lookup(Context::Jobs, key) {
            Some(Action::Travel(travel @ (Travel::PageUp | Travel::PageDown))) => self.scroll(travel, page),
            Some(Action::Travel(travel)) if self.shows == JobsView::Output => self.scroll(travel, page),
            Some(Action::Travel(travel)) => {
                let rows = Self::rows(facts);
                self.select(travel.from(self.index(&rows), page), &rows);
            }
            Some(Action::InJobs(key)) => return self.act(key, facts),
            Some(_) | None => return Outcome::Ignored,
        }
        Outcome::DONE
    }

    fn press(&mut self, row: usize, _: Presses, facts: &Facts) {
        self.select(row, &Self::rows(facts));
    }

    fn wheel(&mut self, lines: isize) {
        self.up = self.up.saturating_add_signed(lines.saturating_neg());
    }

    fn draw(&self, facts: &Facts, screen: Rect, regions: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn {
        OverlayDrawn { cursor: None, position: view::draw(self, facts, screen, regions, buffer) }
    }

    fn drawn(&mut self, position: OverlayPosition) {
        if let OverlayPosition::List { top, .. } = position {
            self.up = top;
        }
    }
}
