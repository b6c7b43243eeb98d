//! Draws the tabs of a narrow screen, and the title of a pane that is zoomed. What is shown stands in brackets.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::agents_view;
use crate::agents::view::{agent_name, at_work, marked};
use crate::pending::view::plan_rows;
use crate::state::{App, Pane, Region, Regions};
use crate::widgets::fit::{columns, one_line, put, row};

/// A tab: its pane, and its words from the longest to the shortest.
struct Tab {
    pane: Pane,
    words: [String; 3],
}

/// Returns the pane that a narrow screen shows.
pub(super) fn shown(app: &App) -> Pane {
    match app.focus.pane {
        Pane::Tree | Pane::Filter => Pane::Tree,
        Pane::Pending => Pane::Pending,
        Pane::Details => Pane::Details,
        Pane::Transcript | Pane::Search | Pane::Composer | Pane::History | Pane::Pause => Pane::Transcript,
    }
}

/// Draws the line of tabs in the longest words that fit; the last ones are cut where none do.
pub(super) fn draw(app: &App, area: Rect, regions: &mut Regions, buffer: &mut Buffer) {
    let line = row(area, 0);
    if line.is_empty() {
        return;
    }
    let theme = &app.ui.theme;
    let tabs = tabs(app);
    let active = shown(app);
    // The words about the shown agent give way last.
    let level_of =
        |tab: &Tab, (agent, others): (usize, usize)| if tab.pane == Pane::Transcript { agent } else { others };
    let width = |levels| tabs.iter().map(|tab| columns(tab.at(level_of(tab, levels))) + 3).sum::<u16>();
    let levels = [(0, 0), (0, 1), (1, 1)].into_iter().find(|levels| width(*levels) <= line.width + 1).unwrap_or((2, 2));
    let mut rest = line;
    for tab in &tabs {
        let label = tab.at(level_of(tab, levels));
        let (words, style) = if tab.pane == active {
            let style = if app.focus.is_on(Pane::Composer) { theme.title } else { theme.border_focus };
            (format!("[{label}]"), style)
        } else {
            (format!(" {label} "), theme.dim)
        };
        regions.add(Rect { width: columns(&words).min(rest.width), ..rest }, Region::Tab(tab.pane));
        rest = put(buffer, rest, &words, style);
        let gap = rest.width.min(1);
        rest = Rect { x: rest.x + gap, width: rest.width - gap, ..rest };
    }
}

fn tabs(app: &App) -> Vec<Tab> {
    let view = agents_view(app);
    let node = view.selected();
    let count = app.ui.run.agents.nodes().len();
    let warned = match app.ui.run.agents.main().totals().warned {
        0 => String::new(),
        warned => format!(" !{warned}"),
    };
    let agents = if count > 1 {
        let running = app.ui.run.agents.running();
        [
            format!("agents{warned} {running} of {count} run"),
            format!("agents{warned} {running}/{count}"),
            format!("agents{warned}"),
        ]
    } else {
        ["agents"; 3].map(str::to_owned)
    };
    let shown = [at_work(&view), marked(&view), one_line(&agent_name(&node.id))];
    let mut tabs = vec![Tab { pane: Pane::Transcript, words: shown }, Tab { pane: Pane::Tree, words: agents }];
    let pending = app.ui.run.pending.entries().len() + plan_rows(&app.ui);
    if pending > 0 || app.focus.is_on(Pane::Pending) {
        let words = [format!("pending {pending}"), format!("pending {pending}"), format!("+{pending}")];
        tabs.push(Tab { pane: Pane::Pending, words });
    }
    tabs.push(Tab { pane: Pane::Details, words: ["details", "details", "info"].map(str::to_owned) });
    tabs
}

impl Tab {
    fn at(&self, level: usize) -> &str {
        self.words.get(level).map_or("", String::as_str)
    }
}

/// Draws the title of a pane that fills the screen, with the way back.
pub(super) fn draw_zoomed(app: &App, pane: Pane, area: Rect, regions: &mut Regions, buffer: &mut Buffer) {
    let line = row(area, 0);
    let theme = &app.ui.theme;
    let name = one_line(&agent_name(&app.selected_agent().id));
    let title = match pane {
        Pane::Tree | Pane::Filter => "Agents".to_owned(),
        Pane::Pending => "Pending".to_owned(),
        Pane::Pause => format!("Paused: {name}"),
        Pane::Details => format!("Details of {name}"),
        Pane::Transcript | Pane::Search | Pane::Composer | Pane::History => name,
    };
    let is_focused = app.focus.overlays.is_empty() && app.focus.pane.whole() == pane;
    let (mark, style, back): (_, _, &[&str]) = if is_focused {
        ("▸ ", theme.border_focus, &["zoomed: z or Esc goes back", "zoomed: z", "zoomed"])
    } else {
        ("  ", theme.title, &["zoomed: Alt+L goes back", "zoomed: Alt+L", "zoomed"])
    };
    regions.add(line, Region::Pane(pane));
    let rest = put(buffer, line, &format!("{mark}{title}  "), style);
    if let Some(back) = back.iter().find(|back| columns(back) <= rest.width) {
        put(buffer, rest, back, theme.notice);
    }
}
