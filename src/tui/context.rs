//! What fills the context windows of the agents, the largest part first, over everything else on the screen: the sums above,
//! a row for each part below. And the same in words, for the line output.
//!
//! The run is asked when the list opens and after each request. What fills a window: `src/agent/context_report.rs`; the requests:
//! `src/core/control/context.rs`; tests: `context_pane.rs`.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::overlay::list::{ListRows, below_rule, draw_empty, put_details};
use super::overlay::registry::{PaneEntry, PaneKey, list_keys, page_keys};
use super::overlay::{ListPosition, Overlay, OverlayDrawn};
use crate::commands::{CommandContext, CommandEntry, Takes};
use crate::effect::{Outcome, PaneEffect};
use crate::keymap::table::key;
use crate::keymap::{Action, Context};
use crate::state::{Medium, Regions};
use crate::theme::Theme;
use crate::ui_context::UiContext;
use crate::widgets::fit::{below, columns, put};
use crate::widgets::wrap::{Break, Line, draw_text, wrapped};
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::protocol::{
    ContextItem, ContextKind, ContextOperation, ContextPart, ContextReport, ContextRequest, Request,
};
use steersman_base::summary::{count, tokens};
use steersman_base::target::name_of;
use steersman_base::text::visible_line;

/// How it registers itself.
pub const PANE: PaneEntry = PaneEntry {
    id: "window",
    title: "Context window",
    travel: &[&list_keys("select a part", "largest or smallest part"), &page_keys("a page up or down")],
    keys: &[
        key("d", Action::InPane(DROP), "take the result out at the next boundary; again: leave it"),
        key("p", Action::InPane(PIN), "pin the result, a compaction keeps it; again: no more"),
        key("a", Action::InPane(NEXT_AGENT), "the next agent"),
    ],
    opened_by: "",
    brief: "",
    command: CommandEntry::new(
        "/context",
        Takes::Nothing,
        "",
        "what fills the context window, the largest part first; take results out of it, or pin them",
        command,
    ),
};

/// Takes the selected result out, or leaves it.
const DROP: PaneKey = PaneKey("drop-result");
/// Pins the selected result, or no more.
const PIN: PaneKey = PaneKey("pin-result");
/// Shows the window of the next agent.
const NEXT_AGENT: PaneKey = PaneKey("next-window");

/// Rows that the sums may have.
const SUM_ROWS: u16 = 3;

/// The columns before what is left out, in which others have their size.
const LEFT_OUT_INDENT: usize = 14;

/// The list, from its opening to its end.
#[derive(Debug)]
pub struct ContextPane {
    agent: AgentId,
    position: ListPosition,
    /// What the run said; `None` before that.
    reports: Option<Vec<ContextReport>>,
}

/// Asks what fills the windows; shows it, or hides it.
fn command(context: &mut CommandContext<'_>, _: &str) -> Vec<PaneEffect> {
    if context.ui.medium == Medium::Screen {
        let agent = context.agent;
        context.overlays.toggle(|| ContextPane::at(agent.clone()));
    }
    vec![Request::Context { operation: ContextOperation::List }.into()]
}

impl ContextPane {
    pub fn at(agent: AgentId) -> Self {
        Self { agent, position: ListPosition::default(), reports: None }
    }

    pub fn set_reports(&mut self, reports: Vec<ContextReport>) {
        self.reports = Some(reports);
    }

    /// Returns what is shown: the chosen agent's, or the first one's when that has ended.
    fn report(&self) -> Option<&ContextReport> {
        let reports = self.reports.as_ref()?;
        reports.iter().find(|report| report.agent == self.agent).or_else(|| reports.first())
    }

    fn part(&self) -> Option<(&ContextReport, &ContextPart)> {
        let report = self.report()?;
        Some((report, report.parts.get(self.position.selected.min(report.parts.len().saturating_sub(1)))?))
    }

    fn next_agent(&mut self) {
        let reports = self.reports.as_deref().unwrap_or_default();
        let place = reports.iter().position(|report| report.agent == self.agent).map_or(0, |place| place + 1);
        if let Some(report) = reports.get(place).or(reports.first()) {
            self.agent = report.agent.clone();
            self.position.selected = 0;
        }
    }
}

impl Overlay for ContextPane {
    fn context(&self) -> Context {
        PANE.context()
    }

    fn titles(&self, _: &UiContext) -> Vec<String> {
        let Some(report) = self.report() else { return vec![" Context window ".to_owned(), " Context ".to_owned()] };
        let agent = name_of(&report.agent);
        vec![format!(" Context of {agent}: {} ", total(report)), format!(" Context of {agent} ")]
    }

    fn hints(&self, _: &UiContext) -> &'static [&'static str] {
        &[
            " Up/Down part · d take out · p pin · a agent · Esc closes ",
            " d take out · p pin · a agent · Esc closes ",
            " d, p · Esc closes ",
            " Esc closes ",
        ]
    }

    fn count(&self, _: &UiContext) -> usize {
        self.report().map_or(0, |report| report.parts.len())
    }

    fn position(&mut self) -> &mut ListPosition {
        &mut self.position
    }

    fn selected(&self, ui: &UiContext) -> usize {
        self.position.selected.min(self.count(ui).saturating_sub(1))
    }

    fn act(&mut self, action: Action, _: &UiContext) -> Outcome {
        let Action::InPane(key) = action else { return Outcome::Ignored };
        let wanted = match key {
            NEXT_AGENT => {
                self.next_agent();
                return Outcome::DONE;
            }
            DROP => ContextRequest::Drop,
            PIN => ContextRequest::Pin,
            _ => return Outcome::Ignored,
        };
        let Some((report, part)) = self.part() else { return Outcome::DONE };
        let Some(item) = part.item.clone() else {
            return Outcome::say("only images, results and files that the agent read can be taken out");
        };
        if let (ContextItem::Image(_), ContextRequest::Pin) = (&item, wanted) {
            return Outcome::say("only results and files that the agent read can be pinned");
        }
        // The same key again takes the request back.
        let request = Some(wanted).filter(|wanted| part.request != Some(*wanted));
        let said = match request {
            Some(ContextRequest::Drop) => {
                "taken out at the next boundary; the server then reads what is behind it anew, once"
            }
            Some(ContextRequest::Pin) => "pinned: a compaction keeps it word for word",
            None => "left as it is",
        };
        let operation = ContextOperation::Request { agent: report.agent.clone(), item, request };
        Outcome::Consumed(vec![PaneEffect::Say(said.to_owned()), Request::Context { operation }.into()])
    }

    fn draw_inside(&self, ui: &UiContext, inner: Rect, regions: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn {
        let theme = &ui.theme;
        let Some(report) = self.report() else {
            let words = if self.reports.is_some() { "No agent runs." } else { "asking the session…" };
            return draw_empty(&[words], inner, theme, buffer);
        };
        let selected = self.selected(ui);
        // What does not fit into its row, and is named nowhere else.
        let long = report.parts.get(selected).filter(|part| part.kind == ContextKind::LeftOut).map(name);
        let long = long.filter(|name| usize::from(columns(name)) + LEFT_OUT_INDENT > inner.width.into());
        let most = if long.is_some() { inner.height / 2 } else { SUM_ROWS.min(inner.height / 3) };
        let text = long.unwrap_or_else(|| sums(report));
        let mut lines = wrapped([Line::new(&text, theme.dim)], inner.width.into(), Break::Words);
        lines.truncate(most.into());
        draw_text(&lines, 0, inner, buffer);
        let area = below_rule(below(inner, u16::try_from(lines.len()).unwrap_or(SUM_ROWS)), theme, buffer);
        if report.parts.is_empty() {
            return OverlayDrawn::default();
        }
        let rows = ListRows { area, rows: &report.parts, selected, top: 0, height: 1 };
        rows.draw(theme, regions, buffer, |part, room, buffer| draw_row(part, report.tokens, theme, room, buffer));
        OverlayDrawn::list(selected, 0)
    }
}

/// Draws a part: its size and share, what it is, and what is wanted of it.
fn draw_row(part: &ContextPart, whole: u64, theme: &Theme, room: Rect, buffer: &mut Buffer) {
    let left = put_details(buffer, room, request_word(part.request), 0, theme.accent);
    let share = part.tokens.saturating_mul(100) / whole.max(1);
    let size = match part.kind {
        ContextKind::LeftOut => format!("{:LEFT_OUT_INDENT$}{}", "", name(part)),
        _ => format!("{:>7} {share:>3}%  {}", format!("~{}", tokens(part.tokens)), name(part)),
    };
    put(buffer, left, &size, theme.text);
}

/// Returns the tokens that are used, and how many fit.
fn total(report: &ContextReport) -> String {
    let about = if report.estimated { "~" } else { "" };
    let used = format!("{about}{}", tokens(report.tokens));
    match report.window.filter(|window| *window > 0) {
        Some(window) => {
            let share = report.tokens.saturating_mul(100) / window;
            format!("{used} of {} tokens, {share}%", tokens(window))
        }
        None => format!("{used} tokens, the window is not known"),
    }
}

fn sums(report: &ContextReport) -> String {
    let sum = |(kind, sum)| format!("{kind} ~{}", tokens(sum));
    report.sums().into_iter().map(sum).collect::<Vec<_>>().join(" · ")
}

/// Returns what a part is, made safe to show.
fn name(part: &ContextPart) -> String {
    if part.name.is_empty() {
        part.kind.word().to_owned()
    } else {
        format!("{}: {}", part.kind.word(), visible_line(&part.name))
    }
}

/// Returns what the user wants done with a part, in a word or two.
fn request_word(request: Option<ContextRequest>) -> &'static str {
    match request {
        Some(ContextRequest::Drop) => "to be taken out",
        Some(ContextRequest::Pin) => "pinned",
        None => "",
    }
}

/// Returns the lines of the line output about an agent.
pub fn describe(report: &ContextReport) -> Vec<String> {
    let mut lines = vec![format!("context of {}: {}; {}", name_of(&report.agent), total(report), sums(report))];
    let (left_out, parts): (Vec<&ContextPart>, Vec<&ContextPart>) =
        report.parts.iter().partition(|part| part.kind == ContextKind::LeftOut);
    for part in parts.iter().take(limits::LINE_ROWS) {
        let request = request_word(part.request);
        let request = if request.is_empty() { String::new() } else { format!(", {request}") };
        lines.push(format!("~{} tokens: {}{request}", tokens(part.tokens), name(part)));
    }
    if let Some(more) = parts.len().checked_sub(limits::LINE_ROWS).filter(|more| *more > 0) {
        lines.push(format!("{} smaller than these", count(more, "part")));
    }
    lines.extend(left_out.into_iter().map(name));
    lines
}
