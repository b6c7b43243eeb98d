//! The commands that the agents ran, over everything else on the screen: `/commands`. A row for each above, where it ran and
//! the end of its output below. What is typed behind `/` narrows the list to those that hold the words.
//!
//! What is known of commands: `src/session/model/commands.rs`; tests: `command_runs.rs`.

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::commands::{CommandContext, CommandEntry, Takes};
use crate::effect::{Outcome, PaneEffect};
use crate::keymap::table::{TableRow, also, key, row};
use crate::keymap::{Action, Chord, Context, Travel, WriteKey};
use crate::msg::Effect;
use crate::overlay::list::{ListRows, draw_empty, list_and_text, put_details};
use crate::overlay::registry::{PaneEntry, PaneKey, list_keys, page_keys};
use crate::overlay::{FilterText, ListPosition, Overlay, OverlayDrawn};
use crate::state::{Medium, Pane, Regions};
use crate::ui_context::UiContext;
use crate::update::transcript;
use crate::widgets::fit::{below, one_line, put};
use crate::widgets::wrap::{Break, Line, draw_text, wrapped};
use steersman_base::id::{AgentId, CallId};
use steersman_base::summary::{count, seconds};
use steersman_base::target::name_of;
use steersman_base::text::{visible, visible_line};
use steersman_session::model::CommandRun;

/// How it registers itself.
pub const PANE: PaneEntry = PaneEntry {
    id: "commands",
    title: "Commands that agents ran",
    travel: &[&list_keys("select a command", "newest or oldest command"), &page_keys("scroll the output")],
    keys: KEYS,
    opened_by: "",
    brief: "",
    command: CommandEntry::new(
        "/commands [WORDS]",
        Takes::Any,
        "",
        "the commands that the agents ran: where, how each ended, its output; with words: those that hold them",
        command,
    ),
};

const JUMP: PaneKey = PaneKey("show-call");
const COPY: PaneKey = PaneKey("copy-command");
const COPY_OUTPUT: PaneKey = PaneKey("copy-output");
const RUN_AGAIN: PaneKey = PaneKey("run-again");
const FILTER: PaneKey = PaneKey("filter");

const KEYS: &[TableRow] = &[
    key("Enter", Action::InPane(JUMP), "show the call in the transcript of its agent"),
    key(
        "/",
        Action::InPane(FILTER),
        "narrow the list to commands that hold the words; Enter keeps them, Esc drops them",
    ),
    key("y", Action::InPane(COPY), "copy the command"),
    key("o", Action::InPane(COPY_OUTPUT), "copy its output"),
    key("!", Action::InPane(RUN_AGAIN), "put it into the message as a command of your own, to run it again"),
    row(
        "Backspace  Ctrl+H",
        Action::Write(WriteKey::RubOut),
        "Backspace  Ctrl+W  Ctrl+U",
        "delete a character, a word, or all of the filter",
    ),
    also("Ctrl+W", Action::Write(WriteKey::RubOutWord)),
    also("Ctrl+U", Action::Write(WriteKey::RubOutAll)),
];

/// Columns that are left to a command at least.
const COMMAND: u16 = 16;
/// Commands that the line output lists at once.
const LISTED: usize = 20;

/// The list, from its opening to its end.
#[derive(Debug, Default)]
pub struct CommandRunsPane {
    /// The selected command; `None` for the newest.
    selected: Option<RunKey>,
    filter: FilterText,
    /// Whether the filter is typed.
    is_typing: bool,
    /// The lines of the output that stand below what is shown (0 is its end) are its top.
    position: ListPosition,
}

/// What tells one command from all others.
type RunKey = (AgentId, CallId, Timestamp);

fn key_of(run: &CommandRun) -> RunKey {
    (run.agent.clone(), run.call.clone(), run.started)
}

/// Carries out `/commands`.
fn command(context: &mut CommandContext<'_>, words: &str) -> Vec<PaneEffect> {
    let mut pane = CommandRunsPane::default();
    pane.filter.type_text(words);
    if context.ui.medium == Medium::Screen {
        if words.is_empty() {
            context.overlays.toggle(|| pane);
        } else {
            context.overlays.open(pane);
        }
        return Vec::new();
    }
    let rows = pane.rows(context.ui);
    let line = |run: &&CommandRun| {
        let line = format!("{} · {}: {}", name_of(&run.agent), facts_of(run, context.ui), visible_line(&run.command));
        PaneEffect::Note(AgentId::main(), line)
    };
    let listed: Vec<PaneEffect> = rows.iter().take(LISTED).rev().map(line).collect();
    if listed.is_empty() { vec![PaneEffect::Say("no agent has run such a command".to_owned())] } else { listed }
}

/// Returns how a command ended and how long it ran, in words.
fn facts_of(run: &CommandRun, ui: &UiContext) -> String {
    let running = || u64::try_from(ui.now.duration_since(run.started).as_millis()).unwrap_or(0);
    format!("{} · {}", run.describe(), seconds(run.elapsed_ms.unwrap_or_else(running)))
}

impl CommandRunsPane {
    /// Returns the rows, the newest first.
    fn rows<'a>(&self, ui: &'a UiContext) -> Vec<&'a CommandRun> {
        let words = self.filter.words_lowercase();
        let holds = |run: &&CommandRun| {
            let texts = [&run.command, &run.output, &run.directory].map(|text| text.to_lowercase());
            let name = name_of(&run.agent).to_lowercase();
            words.iter().all(|word| name.contains(word) || texts.iter().any(|text| text.contains(word)))
        };
        let all = ui.run.commands.all().rev();
        if words.is_empty() { all.collect() } else { all.filter(holds).collect() }
    }
}

impl Overlay for CommandRunsPane {
    fn context(&self) -> Context {
        PANE.context()
    }

    fn escape_hints(&self) -> &'static [&'static str] {
        if self.is_typing || !self.filter.text().is_empty() {
            &["Esc: shows all commands", "Esc: shows all"]
        } else {
            &["Esc: closes the list", "Esc: closes"]
        }
    }

    fn titles(&self, ui: &UiContext) -> Vec<String> {
        let (rows, failed) = (self.rows(ui), |rows: &[&CommandRun]| rows.iter().filter(|run| run.has_failed()).count());
        vec![format!(" {}, {} failed ", count(rows.len(), "command"), failed(&rows)), " Commands ".to_owned()]
    }

    fn hints(&self, _: &UiContext) -> &'static [&'static str] {
        if self.is_typing {
            &[" Enter keeps the words · Esc shows all ", " Enter keeps · Esc all "]
        } else {
            &[
                " Enter the call · / filter · y copy · o copy output · ! run again · Esc closes ",
                " Enter the call · / filter · ! run again · Esc closes ",
                " / filter · Esc closes ",
            ]
        }
    }

    fn count(&self, ui: &UiContext) -> usize {
        self.rows(ui).len()
    }

    fn position(&mut self) -> &mut ListPosition {
        &mut self.position
    }

    fn selected(&self, ui: &UiContext) -> usize {
        let is_it = |run: &&CommandRun| Some(key_of(run)) == self.selected;
        let place = self.selected.as_ref().and_then(|_| self.rows(ui).iter().position(is_it));
        place.unwrap_or(0)
    }

    fn select(&mut self, row: usize, ui: &UiContext) {
        let rows = self.rows(ui);
        let run = rows.get(row.min(rows.len().saturating_sub(1)));
        self.selected = run.map(|run| key_of(run));
        self.position.top = 0;
    }

    fn back(&mut self) -> bool {
        let is_narrowed = self.is_typing || !self.filter.text().is_empty();
        (self.is_typing, self.filter) = (false, FilterText::default());
        is_narrowed
    }

    fn travel(&mut self, travel: Travel, ui: &UiContext) {
        let up = &mut self.position.top;
        match travel {
            Travel::PageUp => *up = up.saturating_add(ui.half_page()),
            Travel::PageDown => *up = up.saturating_sub(ui.half_page()),
            Travel::Previous | Travel::Next | Travel::First | Travel::Last => {
                self.select(travel.from(self.selected(ui), 1), ui);
            }
        }
    }

    fn key(&mut self, key: Chord, ui: &UiContext) -> Outcome {
        // While the filter is typed, characters are its text.
        match key.typed().filter(|_| self.is_typing) {
            Some(c) => self.type_char(c),
            None => match ui.keymap.lookup(self.context(), key) {
                Some(Action::Travel(travel)) => {
                    self.travel(travel, ui);
                    Outcome::DONE
                }
                Some(action) => self.act(action, ui),
                None => Outcome::Ignored,
            },
        }
    }

    fn type_char(&mut self, c: char) -> Outcome {
        if !self.is_typing {
            return Outcome::Ignored;
        }
        self.filter.type_text(c.encode_utf8(&mut [0; 4]));
        self.selected = None;
        Outcome::DONE
    }

    fn act(&mut self, action: Action, ui: &UiContext) -> Outcome {
        match action {
            Action::InPane(FILTER) => {
                self.is_typing = true;
                Outcome::DONE
            }
            Action::InPane(JUMP) if self.is_typing => {
                self.is_typing = false;
                Outcome::DONE
            }
            Action::InPane(key) => match self.rows(ui).get(self.selected(ui)) {
                Some(run) => act_on(key, run),
                None => Outcome::say("no command is selected"),
            },
            Action::Write(key) if self.is_typing && self.filter.delete(key) => {
                self.selected = None;
                Outcome::DONE
            }
            _ => Outcome::Ignored,
        }
    }

    fn wheel(&mut self, lines: isize, _: &UiContext) {
        self.position.top = self.position.top.saturating_add_signed(lines.saturating_neg());
    }

    fn draw_inside(&self, ui: &UiContext, inner: Rect, regions: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn {
        let theme = &ui.theme;
        let is_narrowed = self.is_typing || !self.filter.text().is_empty();
        let (cursor, inner) = if is_narrowed {
            let (cursor, inner) = self.filter.draw(inner, theme, buffer);
            (Some(cursor).filter(|_| self.is_typing), inner)
        } else {
            (None, inner)
        };
        let (rows, selected) = (self.rows(ui), self.selected(ui));
        let Some(run) = rows.get(selected) else {
            let words = if is_narrowed { "No command holds these words." } else { "No agent has run a command yet." };
            return OverlayDrawn { cursor, ..draw_empty(&[words], inner, theme, buffer) };
        };
        let (area, text) = list_and_text(inner, rows.len(), theme, buffer);
        let list = ListRows { area, rows: &rows, selected, top: 0, height: 1 };
        list.draw(theme, regions, buffer, |run, room, buffer| draw_row(run, ui, room, buffer));
        let place = format!("in {}, by {}", visible_line(&run.directory), name_of(&run.agent));
        put(buffer, Rect { height: 1.min(text.height), ..text }, &one_line(&place), theme.dim);
        let text = below(text, 1);
        let lines = whole(run, text.width, ui);
        let most = lines.len().saturating_sub(text.height.into());
        let up = self.position.top.min(most);
        draw_text(&lines, most - up, text, buffer);
        OverlayDrawn { cursor, ..OverlayDrawn::list(selected, up) }
    }
}

/// Carries out a key about a command.
fn act_on(key: PaneKey, run: &CommandRun) -> Outcome {
    match key {
        JUMP => {
            let (agent, call, began) = key_of(run);
            let jump = PaneEffect::call(move |app| vec![transcript::show_call(app, &agent, &call, began)]);
            Outcome::Consumed(vec![PaneEffect::CloseOverlay, jump])
        }
        COPY => Outcome::one(PaneEffect::Outside(Effect::Copy(run.command.clone()))),
        COPY_OUTPUT => Outcome::one(PaneEffect::Outside(Effect::Copy(run.output.clone()))),
        RUN_AGAIN => {
            let line = format!("!{}", run.command);
            let write = PaneEffect::call(move |app| app.message.write_in_place(&line));
            Outcome::Consumed(vec![PaneEffect::CloseOverlay, PaneEffect::Focus(Pane::Composer), write])
        }
        _ => Outcome::Ignored,
    }
}

/// Draws a row: the command, then how it ended, how long it ran and whose it is, as far as there is room.
fn draw_row(run: &CommandRun, ui: &UiContext, room: Rect, buffer: &mut Buffer) {
    let theme = &ui.theme;
    let style = match run.elapsed_ms {
        None => theme.tool,
        Some(_) if run.has_failed() => theme.tool_error,
        Some(_) => theme.dim,
    };
    let state = format!("{} · {}", facts_of(run, ui), name_of(&run.agent));
    let left = put_details(buffer, room, &state, COMMAND, style);
    put(buffer, left, &one_line(&visible_line(&run.command)), theme.text);
}

/// Returns the rows of a command and its output.
fn whole(run: &CommandRun, width: u16, ui: &UiContext) -> Vec<Line> {
    let theme = &ui.theme;
    let command = visible(&run.command);
    let command = command.lines().map(|line| Line::new(line, theme.text));
    let output = if run.output.is_empty() { "[no output]" } else { run.output.as_str() };
    let style = if run.output.is_empty() { theme.dim } else { theme.output };
    let output = output.lines().map(|line| Line::new(line, style));
    wrapped(command.chain(output), width.into(), Break::Anywhere)
}
