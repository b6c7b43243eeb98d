//! A screen that is fed from a saved session instead of a run: the same reduction and the same pictures, without a terminal.
//!
//! Called by `steersman replay`, and by the exports that tell what the screen showed. Nothing is sent and nothing is
//! asked: effects are left where they are.
//!
//! # Where things are
//!
//! - a recording for terminals: `cast.rs`
//! - all of it: `mod.rs`; tests: `tests/program/sessions/replay.rs`, `tests/program/sessions/export.rs`

mod cast;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::Terminal;
use ratatui::backend::{Backend, TestBackend};
use ratatui::layout::Size;
use unicode_width::UnicodeWidthStr as _;

use crate::export::ledger_csv;
use crate::msg::Msg;
use crate::state::App;
use crate::status::{ModelSource, Status};
use crate::theme::Themes;
use crate::timeline::RecordedContext;
use crate::transcript::transcript_markdown;
use crate::update::{record, update};
use crate::view::{self, ViewCache};
use steersman_base::id::AgentId;
use steersman_base::protocol::{Notice, Update};

pub use cast::cast;

/// What a screen shows beside the session's events.
#[derive(Debug, Clone)]
pub struct Replayed {
    pub size: Size,
    /// The zone that times are shown in.
    pub zone: TimeZone,
    /// When the session began.
    pub started: Timestamp,
    pub details: RecordedContext,
}

/// A screen that shows a saved session.
pub struct ReplayScreen {
    app: App,
    cache: ViewCache,
}

impl ReplayScreen {
    /// Makes the screen of a session that has not begun.
    pub fn new(replayed: Replayed) -> Self {
        let Replayed { size, zone, started, details: RecordedContext { place, branch, model } } = replayed;
        let mut app = App::new(size, started, Status::new(model, ModelSource::Configured), Themes::default());
        (app.ui.zone, app.ui.place, app.ui.branch) = (zone, place, branch);
        update(&mut app, Msg::from(Notice::Ready));
        Self { app, cache: ViewCache::default() }
    }

    /// Takes what the screen got at a time.
    pub fn receive(&mut self, at: Timestamp, update: Update) {
        self.app.ui.now = at.max(self.app.ui.now);
        self.app.ui.run.agents.tick(self.app.ui.now);
        record(&mut self.app, update);
    }

    /// Returns the rows as text, without blanks at their ends.
    pub fn rows(&mut self) -> Vec<String> {
        let Size { width, height } = self.app.ui.size;
        let Ok(mut terminal) = Terminal::new(TestBackend::new(width, height));
        self.draw(&mut terminal);
        let buffer = terminal.backend().buffer();
        buffer.content.chunks(usize::from(width).max(1)).map(row).collect()
    }

    /// Writes the transcripts of all agents as Markdown.
    pub fn markdown(&mut self) -> String {
        let agents: Vec<AgentId> = self.app.ui.run.agents.nodes().iter().map(|node| node.id.clone()).collect();
        let zone = self.app.ui.zone.clone();
        let pages = agents.iter().map(|agent| transcript_markdown(&self.app.reader_mut(agent).transcript, &zone));
        pages.collect::<Vec<_>>().join("\n")
    }

    /// Writes the ledger as comma-separated values.
    pub fn ledger(&self) -> String {
        ledger_csv(self.app.ui.run.receipts.list())
    }

    /// Draws on a terminal, as the screen's loop does.
    fn draw<B: Backend>(&mut self, terminal: &mut Terminal<B>) {
        // Once for all that was taken since the last picture.
        let now = self.app.ui.now;
        update(&mut self.app, Msg::Tick(now));
        if let Some(looked) = view::look(&self.app, &mut self.cache) {
            update(&mut self.app, Msg::Looked(looked));
        }
        let mut drawn = None;
        let outcome = terminal.draw(|frame| drawn = Some(view::draw(&self.app, &mut self.cache, frame)));
        if let (Ok(_), Some(drawn)) = (outcome, drawn) {
            update(&mut self.app, Msg::Drawn(drawn));
        }
    }
}

/// Returns the text of a row of cells; behind a wide character stands a cell without any.
fn row(cells: &[ratatui::buffer::Cell]) -> String {
    let mut text = String::new();
    let mut covered = 0_usize;
    for cell in cells {
        if covered == 0 {
            text.push_str(cell.symbol());
            covered = cell.symbol().width().max(1);
        }
        covered -= 1;
    }
    text.truncate(text.trim_end().len());
    text
}
