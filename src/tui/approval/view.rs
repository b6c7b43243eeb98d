//! Draws the question that is asked now, between the transcript, which stays readable, and the composer.
//!
//! Its answers are dimmed, and a word says why, until they count. Where it cannot be read with its answers it is not drawn
//! at all, and so cannot be answered.

use std::collections::HashMap;
use std::rc::Rc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Block, Padding, Widget};

use super::{AnswerChoices, MessageUse, NumberedAnswer, Question, QuestionSubject, Questions, ShownQuestion};
use crate::keymap::{Answer, Context};
use crate::message::purpose::QuestionText;
use crate::state::{QuestionId, Region, Regions};
use crate::theme::Theme;
use crate::ui_context::UiContext;
use crate::widgets::exact;
use crate::widgets::fit::{below, columns, one_line, put, put_right, row};
use crate::widgets::wrap::{Break, Line, wrapped};
use steersman_base::target::name_of;
use steersman_base::text::visible;

/// Remembers the laid-out detail of the question between frames; a long diff is laid out once.
#[derive(Debug, Default)]
pub struct Laid {
    of: Option<(QuestionId, Theme)>,
    /// By the columns that they were laid out for.
    details: HashMap<u16, Rc<Vec<Line>>>,
}

impl Laid {
    fn detail(&mut self, id: QuestionId, question: &Question, width: u16, theme: &Theme) -> Rc<Vec<Line>> {
        if self.of.as_ref().is_none_or(|(known, style)| *known != id || style != theme) {
            *self = Self { of: Some((id, theme.clone())), details: HashMap::new() };
        }
        let lay = || Rc::new(exact::rows(&question.detail, width.into(), theme));
        Rc::clone(self.details.entry(width).or_insert_with(lay))
    }
}

/// Rows of a detail from which on it is said that a key goes to its end.
const LONG: usize = 100;

/// What a question is drawn from.
#[derive(Debug, Clone, Copy)]
pub struct QuestionView<'a> {
    pub questions: &'a Questions,
    pub message: MessageUse,
    /// Where keys have their meaning.
    pub context: Context,
    pub ui: &'a UiContext,
}

/// Lays the question out that is asked now, above the message; `None` when there is none, or it has no room with a part
/// of its detail.
pub fn lay_out<'a>(view: QuestionView<'a>, laid: &mut Laid, body: Rect) -> Option<QuestionLayout<'a>> {
    let (id, question) = (view.questions.current_id()?, view.questions.current()?);
    // The transcript stays readable where there is room for both, and gives rows of it for the whole question.
    let beside = Rect { height: body.height * 3 / 5, ..body };
    let above = Rect { height: body.height * 4 / 5, ..body };
    let forms = [
        (beside, Form::Framed, Answers::Rows),
        (beside, Form::Framed, Answers::Packed),
        (body, Form::Framed, Answers::Packed),
        (body, Form::Bare, Answers::Packed),
    ];
    forms.into_iter().find_map(|(room, form, answers)| {
        let mut usual = QuestionLayout::fit(view, id, question, laid, room, form, answers)?;
        if form == Form::Bare && !usual.is_whole() {
            // A row of the answers less is one more of what is asked about.
            usual = QuestionLayout::fit(view, id, question, laid, room, form, Answers::Short).unwrap_or(usual);
        }
        if usual.is_whole() || room != beside {
            return Some(usual);
        }
        let higher = QuestionLayout::fit(view, id, question, laid, above, form, answers);
        higher.filter(QuestionLayout::is_whole).or(Some(usual))
    })
}

/// What stands around a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A border that names who asks.
    Framed,
    /// A row that names who asks.
    Bare,
}

/// How the answers stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answers {
    Rows,
    /// As many in a row as fit.
    Packed,
    /// The same, by their numbers: without keys and without the pattern of a rule.
    Short,
}

/// What keys come to now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keys {
    Count,
    /// Only the keys with Alt answer: a number would be a part of what the message holds, or is for another pane.
    CountBesideDraft,
    /// Only a no answers: the end was not on the screen yet.
    Locked,
    /// It came up, or a key came, too short a time before.
    Wait,
    /// The composer holds what is written for the question.
    Written(QuestionText),
}

impl Keys {
    fn new(view: &QuestionView<'_>) -> Self {
        if let MessageUse::Writes(what) = view.message {
            Self::Written(what)
        } else if !view.questions.armed(view.ui.now) && view.questions.selected().is_none() {
            Self::Wait
        } else if view.questions.is_read() {
            if view.message == MessageUse::Other { Self::CountBesideDraft } else { Self::Count }
        } else {
            Self::Locked
        }
    }

    fn takes(self, answer: NumberedAnswer) -> bool {
        match self {
            Self::Count | Self::CountBesideDraft => true,
            Self::Locked => !answer.is_yes(),
            Self::Wait | Self::Written(_) => false,
        }
    }
}

/// A question laid out in the room that there is for it.
pub struct QuestionLayout<'a> {
    view: QuestionView<'a>,
    id: QuestionId,
    question: &'a Question,
    form: Form,
    rows: u16,
    title: Vec<Line>,
    detail: Rc<Vec<Line>>,
    answers: Vec<Line>,
    /// The first line of the detail that is shown, how many are, and how many come behind them.
    top: usize,
    shown: u16,
    below: usize,
}

impl<'a> QuestionLayout<'a> {
    /// Lays a question out; `None` when its title, its answers and a part of its detail have no room.
    fn fit(
        view: QuestionView<'a>,
        id: QuestionId,
        question: &'a Question,
        laid: &mut Laid,
        room: Rect,
        form: Form,
        answers_form: Answers,
    ) -> Option<Self> {
        let theme = &view.ui.theme;
        let (inner, around) = match form {
            Form::Framed => (room.width.saturating_sub(4), 2),
            Form::Bare => (room.width, 1),
        };
        if inner < 16 {
            return None;
        }
        let title = text_lines(&question.title, inner, theme.strong);
        let answers = answer_rows(&view, question, Keys::new(&view), inner, answers_form);
        let fixed = lines(&title) + lines(&answers) + around;
        let room_for_detail = room.height.checked_sub(fixed)?;
        let detail = laid.detail(id, question, inner, theme);
        let least = match (form, answers_form) {
            (Form::Framed, Answers::Rows) => 6,
            (Form::Framed, Answers::Packed | Answers::Short) => 3,
            (Form::Bare, _) => 1,
        };
        let enough = lines(&detail).min(least);
        if room_for_detail < enough {
            return None;
        }
        let shown = lines(&detail).min(room_for_detail);
        // Counted whole: a detail of any length has an end.
        let hidden = detail.len().saturating_sub(shown.into());
        let top = view.questions.top.min(hidden);
        let (rows, below) = (fixed + shown, hidden - top);
        Some(Self { view, id, question, form, rows, title, detail, answers, top, shown, below })
    }

    /// Tells whether nothing of its detail is hidden.
    fn is_whole(&self) -> bool {
        self.detail.len() == usize::from(self.shown)
    }

    pub fn rows(&self) -> u16 {
        self.rows
    }

    /// Draws it; returns what is shown of it.
    pub fn draw(&self, area: Rect, regions: &mut Regions, buffer: &mut Buffer) -> ShownQuestion {
        regions.add(area, Region::Question);
        let theme = &self.view.ui.theme;
        let inner = self.draw_frame(area, buffer);
        let shown = self.detail.iter().skip(self.top).take(self.shown.into());
        for (line, y) in self.title.iter().chain(shown).chain(&self.answers).zip(inner.y..) {
            line.draw(buffer, inner.x, y, inner.width);
        }
        let more = match (self.top, self.below) {
            (0, 0) => String::new(),
            (_, 0) => " PageUp ".to_owned(),
            (_, below) if below > LONG => format!(" {below} more, PageDown, End "),
            (_, below) => format!(" {below} more, PageDown "),
        };
        // In the border, or behind the name: never over what is asked about.
        let place = row(area, if self.form == Form::Framed { area.height.saturating_sub(1) } else { 0 });
        let place = Rect { x: place.x + 2, width: place.width.saturating_sub(4), ..place };
        put_right(buffer, place, &more, theme.notice);
        ShownQuestion { id: self.id, top: self.top, shown: self.shown, below: self.below }
    }

    /// Draws who asks, which of how many it is, and whether a key counts; returns what is left for the question.
    fn draw_frame(&self, area: Rect, buffer: &mut Buffer) -> Rect {
        let view = &self.view;
        let theme = &view.ui.theme;
        let name = self.question.agent.as_ref().map_or_else(|| "Steersman".to_owned(), name_of);
        let agent = one_line(&name);
        let head = match view.questions.len() {
            1 => format!(" {agent} asks "),
            count => format!(" {agent} asks · 1 of {count} "),
        };
        if self.form == Form::Bare {
            put(buffer, row(area, 0), head.trim(), theme.title);
            return below(area, 1);
        }
        let block = Block::bordered()
            .title(head)
            .border_style(theme.border_focus)
            .title_style(theme.title)
            .padding(Padding::horizontal(1));
        let inner = block.inner(area);
        block.render(area, buffer);
        let is_of_agent = matches!(self.question.subject, QuestionSubject::Approval(_, AnswerChoices::Agent { .. }));
        let (states, style): (&[&str], Style) = match Keys::new(view) {
            Keys::CountBesideDraft if is_of_agent => {
                (&[" ● ready: Alt+W own words, Alt+N no answer ", " ● Alt+W, Alt+N "], theme.accent)
            }
            Keys::CountBesideDraft => (&[" ● ready: Alt+Y yes, Alt+N no ", " ● Alt+Y, Alt+N "], theme.accent),
            Keys::Count => (&[" ● ready: a number, then Enter ", " ● ready "], theme.accent),
            Keys::Locked => (&[" ○ PageDown to the end, then answer ", " ○ PageDown first "], theme.accent),
            Keys::Wait => (&[" ○ wait a moment… ", " ○ wait "], theme.dim),
            Keys::Written(QuestionText::No) => (&[" write below why not ", " why not? "], theme.accent),
            Keys::Written(QuestionText::Form) => (&[" fill it in below ", " below "], theme.accent),
            Keys::Written(QuestionText::Answer) => (&[" write your answer below ", " below "], theme.accent),
        };
        let more = if self.below > LONG {
            30
        } else if self.below > 0 || self.top > 0 {
            24
        } else {
            0
        };
        let last = row(area, area.height.saturating_sub(1));
        let last = Rect { x: last.x + 2, width: last.width.saturating_sub(4), ..last };
        let states = states.iter().map(|state| view.ui.spell(view.context, state));
        if let Some(state) = states.into_iter().find(|state| columns(state) + more <= last.width) {
            put(buffer, last, &state, style);
        }
        inner
    }
}

/// Tells whether an answer keeps a rule.
fn is_for_good(answer: NumberedAnswer) -> bool {
    matches!(answer, NumberedAnswer::Answer(Answer::Always | Answer::Everywhere))
}

fn lines(rows: &[Line]) -> u16 {
    u16::try_from(rows.len()).unwrap_or(u16::MAX)
}

fn text_lines(text: &str, width: u16, style: Style) -> Vec<Line> {
    wrapped(visible(text).lines().map(|line| Line::new(line, style)), width.into(), Break::Words)
}

fn answer_rows(view: &QuestionView<'_>, question: &Question, keys: Keys, width: u16, form: Answers) -> Vec<Line> {
    let theme = &view.ui.theme;
    let spell = |words| view.ui.spell(view.context, words);
    if let Keys::Written(what) = keys {
        let words = match what {
            QuestionText::No => {
                ["Enter sends your words as a no · Esc goes back", "Enter: no, with words · Esc: back", "Enter · Esc"]
            }
            QuestionText::Answer => {
                ["Enter sends your words as the answer · Esc goes back", "Enter: sends · Esc: back", "Enter · Esc"]
            }
            QuestionText::Form => [
                "Enter: the next field, behind the last sends it · Esc goes back",
                "Enter: next, then sends · Esc: back",
                "Enter · Esc",
            ],
        };
        let fitting = words.into_iter().map(spell).find(|words| columns(words) <= width);
        return vec![Line::new(&fitting.unwrap_or_default(), theme.accent)];
    }
    let mut rows: Vec<Line> = Vec::new();
    for (place, (answer, words)) in question.numbered().into_iter().enumerate() {
        let is_selected = view.questions.selected() == Some(place);
        let (number_style, word_style) = match (keys.takes(answer), is_selected) {
            (true, true) => (theme.selected, theme.selected),
            (true, false) => (theme.accent, theme.text),
            (false, _) => (theme.dim, theme.dim),
        };
        let mark = if is_selected { "▸ " } else { "  " };
        let (mark, words) = match answer {
            NumberedAnswer::Option(index) if question.takes_several() => {
                let marked = if view.questions.is_marked(index) { "[x] " } else { "[ ] " };
                (mark, format!("{marked}{}", one_line(words)))
            }
            NumberedAnswer::Option(_) => (mark, one_line(words)),
            NumberedAnswer::Answer(_) => (mark, words.to_owned()),
        };
        let key = if let NumberedAnswer::Answer(answer) = answer { answer.key() } else { "" };
        let is_named = answer == Answer::Session.into() && !question.session.is_empty() && form == Answers::Rows;
        let what = if is_named { format!(" {words}: {}", one_line(&question.session)) } else { format!(" {words}") };
        // Beside a draft only the keys answer.
        let is_short = form == Answers::Short && view.message != MessageUse::Other;
        let key = if is_short || key.is_empty() { String::new() } else { format!("  {}", spell(key)) };
        let number = format!("{mark}{}", place + 1);
        // Where it has no room the detail alone says it.
        let pattern = question.rule.as_deref().filter(|_| !is_short && is_for_good(answer));
        let what = pattern
            .map(|pattern| format!("{what} for \"{}\"", one_line(pattern)))
            .filter(|what| columns(&number) + columns(what) <= width)
            .unwrap_or(what);
        let needed = usize::from(columns(&number) + columns(&what) + columns(&key));
        let begins = match rows.last() {
            None => true,
            Some(row) => form == Answers::Rows || row.width() + needed > usize::from(width),
        };
        if begins {
            rows.push(Line::default());
        }
        if let Some(line) = rows.last_mut() {
            line.push(&number, number_style);
            line.push(&what, word_style);
            if line.width() + usize::from(columns(&key)) <= usize::from(width) {
                line.push(&key, theme.dim);
            }
        }
    }
    rows
}
