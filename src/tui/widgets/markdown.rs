//! Markdown as styled rows of a given width.
//!
//! Called by `stream` with sanitised text, block by block. Pure: text, width and styles in, rows out. Every source line
//! keeps its own row (a soft break breaks), so a finished line does not move while more text comes.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Tag, TagEnd};
use ratatui::style::Style;

use crate::highlight::{Chain, Language};
use crate::theme::Theme;
use crate::widgets::blocks::parser;
use crate::widgets::code::{Code, CodeBackground};
use crate::widgets::table::Table;
use crate::widgets::wrap::{Break, Line, Wrap, wrapped};
use steersman_base::text::{visible, visible_line};

/// Containers (quotes, lists) whose marks are shown; deeper ones are drawn as if they were at this depth.
const DEPTH: usize = 12;

/// How a text continues what was laid out before it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Begin {
    #[default]
    Fresh,
    /// With the rest of a block: no blank row, no label, no table head.
    Continued(Carry),
}

/// What the rest of a block must know of its beginning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Carry {
    /// The names of the code's lines so far.
    code: Option<Chain>,
    /// The number of the list's next item.
    number: Option<u64>,
}

/// Lays out Markdown and appends its rows; returns what the rest of its last block must know, should it be cut here.
pub fn render(text: &str, width: usize, theme: &Theme, begin: Begin, rows: &mut Vec<Line>) -> Carry {
    let (continued, carry) = match begin {
        Begin::Fresh => (false, Carry::default()),
        Begin::Continued(carry) => (true, carry),
    };
    let mut renderer = Renderer {
        source: text,
        theme,
        width,
        rows,
        line: Line::default(),
        styles: vec![theme.text],
        containers: Vec::new(),
        continued,
        carry,
        links: Vec::new(),
        table: None,
        skip_head: false,
        code: None,
    };
    for (event, range) in parser(text).into_offset_iter() {
        renderer.take_event(event, range);
    }
    renderer.flush();
    renderer.carry
}

struct Renderer<'a, 'r> {
    source: &'a str,
    theme: &'a Theme,
    width: usize,
    rows: &'r mut Vec<Line>,
    /// The line that inline text is gathered in.
    line: Line,
    styles: Vec<Style>,
    containers: Vec<Container>,
    /// Whether the next block's beginning is above.
    continued: bool,
    /// At first of the text before, in the end of this one.
    carry: Carry,
    links: Vec<Link>,
    table: Option<Table>,
    /// Whether the table's head is above already.
    skip_head: bool,
    code: Option<CodeText>,
}

enum Container {
    Quote { blocks: usize },
    List { next: Option<u64> },
    Item { marker: String, shown: bool },
}

/// A link or an image whose text is being read.
struct Link {
    target: String,
    text: String,
}

/// Code that is being read.
struct CodeText {
    text: String,
    chain: Option<Chain>,
}

/// Returns whether the marks of a strong or emphasised text are letters of a name: `tests/__init__.py`, `self.__dict__`,
/// `__main__`, `src/*.rs`, `~/.emacs~`.
fn is_name(source: &str, range: &Range<usize>, marks: usize) -> bool {
    let before = source.get(..range.start).and_then(|before| before.chars().next_back());
    let mut behind = source.get(range.end..).unwrap_or_default().chars();
    let (next, second) = (behind.next(), behind.next());
    let inner = source.get(range.start + marks..range.end.saturating_sub(marks)).unwrap_or_default();
    let is_path = |c: char| matches!(c, '/' | '\\');
    if source.get(range.clone()).is_some_and(|all| all.starts_with('~')) {
        // `~/.emacs~`, `~10~`: struck is what has two marks.
        return marks == 1;
    }
    if source.get(range.clone()).is_some_and(|all| all.starts_with('*')) {
        // `*focus on app/*` is emphasised, `src*dir/*` is not.
        let is_in_word = before.is_some_and(char::is_alphanumeric);
        // A product, `2*3*4`.
        let is_factor = inner.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '(' | ')' | '+' | '-'));
        let is_product = is_in_word && is_factor && next.is_some_and(char::is_alphanumeric);
        // `*.rs and *.py` are two patterns, `**.claude/**` is a name in bold.
        let is_pattern = inner.starts_with(['/', '\\']) || marks == 1 && inner.starts_with('.');
        return is_product || is_pattern || is_in_word && inner.ends_with(is_path);
    }
    let is_word = inner.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    // `__proto__` and `__DEV__`, but a strong `__Important__`.
    let is_identifier = is_word
        && (inner.starts_with(|c: char| c.is_ascii_lowercase()) || !inner.contains(|c: char| c.is_ascii_lowercase()));
    let is_file = next == Some('.') && second.is_some_and(char::is_alphanumeric);
    (marks > 1 && is_identifier)
        || is_file
        || before.is_some_and(|c| is_path(c) || c == '.')
        || next.is_some_and(|c| is_path(c) || c == '(')
}

impl Renderer<'_, '_> {
    fn take_event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag, range),
            Event::Text(text) => {
                let text = self.decoded(&text, range);
                match &mut self.code {
                    Some(code) => code.text.push_str(&text),
                    None => self.inline(&text, self.style()),
                }
            }
            Event::Code(text) => {
                let style = self.style().patch(self.theme.code);
                self.inline(&format!("`{text}`"), style);
            }
            Event::Html(text) => {
                for line in text.lines() {
                    self.inline(line, self.style().patch(self.theme.dim));
                    self.flush();
                }
            }
            Event::InlineHtml(text) if matches!(&*text, "<br>" | "<br/>" | "<br />") => self.next_line(),
            Event::InlineHtml(text) => self.inline(&text, self.style().patch(self.theme.dim)),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.inline(&text, self.style()),
            // Just as one without a definition: that comes later, and then nothing may move.
            Event::FootnoteReference(name) => self.inline(&format!("[^{name}]"), self.style()),
            Event::SoftBreak | Event::HardBreak => self.next_line(),
            Event::Rule => {
                self.begin_block(range.start);
                let room = self.width.saturating_sub(self.prefix(Row::Rest).width()).max(1);
                self.inline(&"─".repeat(room), self.theme.dim);
                self.flush();
            }
            Event::TaskListMarker(done) => {
                if let Some(Container::Item { marker, .. }) = self.containers.last_mut() {
                    let number = marker.strip_suffix("• ").unwrap_or(marker);
                    *marker = format!("{number}{}", if done { "[✓] " } else { "[ ] " });
                }
            }
        }
    }

    /// Returns a text as it may be shown: what was written as an entity has not passed the sanitiser yet.
    fn decoded<'t>(&self, text: &'t CowStr<'_>, range: Range<usize>) -> Cow<'t, str> {
        if self.source.get(range) == Some(&**text) { Cow::Borrowed(text) } else { visible(text) }
    }

    fn next_line(&mut self) {
        if self.table.is_some() {
            self.inline(" ", self.style());
        } else {
            self.break_line();
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        let (continued, at) = (self.continued, range.start);
        match tag {
            Tag::Heading { level, .. } => {
                self.begin_block(at);
                self.styles.push(self.theme.heading);
                let marks = match level {
                    HeadingLevel::H1 => "# ",
                    HeadingLevel::H2 => "## ",
                    HeadingLevel::H3 => "### ",
                    HeadingLevel::H4 => "#### ",
                    HeadingLevel::H5 => "##### ",
                    HeadingLevel::H6 => "###### ",
                };
                self.inline(marks, self.theme.heading);
            }
            Tag::BlockQuote(_) => {
                self.begin_block(at);
                self.containers.push(Container::Quote { blocks: 0 });
                self.styles.push(self.style().patch(self.theme.quote));
            }
            Tag::CodeBlock(kind) => {
                self.begin_block(at);
                let label = match &kind {
                    CodeBlockKind::Fenced(info) => visible_line(info.split_whitespace().next().unwrap_or_default()),
                    CodeBlockKind::Indented => Cow::Borrowed(""),
                };
                if !continued && !label.is_empty() {
                    self.inline(&format!("┄ {label}"), self.theme.dim);
                    self.flush();
                }
                let before = self.carry.code.take().filter(|_| continued);
                let chain = before.or_else(|| Language::of_label(&label).map(Chain::new));
                self.code = Some(CodeText { text: String::new(), chain });
            }
            Tag::List(first) => {
                let before = self.carry.number.filter(|_| continued);
                let next = first.map(|first| before.unwrap_or(first));
                // A list within an item stands close to the item's text.
                if self.is_in_item() {
                    self.flush();
                    self.continued = false;
                } else {
                    self.begin_block(at);
                }
                self.containers.push(Container::List { next });
            }
            Tag::Item => self.start_item(),
            Tag::Table(alignments) => {
                self.begin_block(at);
                self.table = Some(Table::new(alignments));
                self.skip_head = continued;
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.start_row();
                }
            }
            Tag::TableCell => {}
            Tag::Emphasis => self.start_marked("*".len(), range, self.theme.emphasis),
            Tag::Strong => self.start_marked("**".len(), range, self.theme.strong),
            Tag::Strikethrough => self.start_marked(self.strike(&range), range, self.theme.struck),
            Tag::Link { dest_url, .. } => {
                self.push_style(self.theme.link);
                self.links.push(Link { target: visible_line(&dest_url).into_owned(), text: String::new() });
            }
            Tag::Image { dest_url, .. } => {
                self.inline("[image: ", self.theme.dim);
                self.push_style(self.theme.link);
                self.links.push(Link { target: visible_line(&dest_url).into_owned(), text: String::new() });
            }
            Tag::FootnoteDefinition(name) => {
                self.begin_block(at);
                self.containers.push(Container::Item { marker: format!("[^{name}]: "), shown: false });
            }
            Tag::Paragraph
            | Tag::HtmlBlock
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::MetadataBlock(_) => self.begin_block(at),
            Tag::Superscript | Tag::Subscript => self.push_style(Style::new()),
        }
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::Heading(_) => {
                self.flush();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.containers.pop();
                self.styles.pop();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.flush();
                if let (Some(Container::List { next }), true) = (self.containers.pop(), self.containers.is_empty()) {
                    self.carry.number = next;
                }
            }
            TagEnd::Item | TagEnd::FootnoteDefinition => {
                self.flush();
                if let Some(Container::Item { shown: false, .. }) = self.containers.last() {
                    self.break_line();
                }
                self.containers.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.line);
                if let Some(table) = &mut self.table {
                    table.push_cell(cell);
                }
            }
            TagEnd::Table => self.end_table(),
            TagEnd::TableHead | TagEnd::TableRow => {}
            TagEnd::Emphasis => self.end_marked("*".len(), range),
            TagEnd::Strong => self.end_marked("**".len(), range),
            TagEnd::Strikethrough => self.end_marked(self.strike(&range), range),
            TagEnd::Superscript | TagEnd::Subscript => {
                self.styles.pop();
            }
            TagEnd::Link => {
                self.styles.pop();
                self.end_link("");
            }
            TagEnd::Image => {
                self.styles.pop();
                self.end_link("]");
            }
            TagEnd::Paragraph
            | TagEnd::HtmlBlock
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::MetadataBlock(_) => self.flush(),
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or(self.theme.text)
    }

    /// Returns how many marks a struck text has on each side.
    fn strike(&self, range: &Range<usize>) -> usize {
        let is_double = self.source.get(range.clone()).is_some_and(|all| all.starts_with("~~"));
        if is_double { 2 } else { 1 }
    }

    /// Begins a text between marks; where they belong to a name they are shown and style nothing.
    fn start_marked(&mut self, marks: usize, range: Range<usize>, style: Style) {
        if is_name(self.source, &range, marks) {
            let written = self.source.get(range.start..range.start + marks).unwrap_or_default();
            self.inline(written, self.style());
            self.push_style(Style::new());
        } else {
            self.push_style(style);
        }
    }

    fn end_marked(&mut self, marks: usize, range: Range<usize>) {
        self.styles.pop();
        if is_name(self.source, &range, marks) {
            let written = self.source.get(range.end.saturating_sub(marks)..range.end).unwrap_or_default();
            self.inline(written, self.style());
        }
    }

    fn push_style(&mut self, style: Style) {
        self.styles.push(self.style().patch(style));
    }

    fn inline(&mut self, text: &str, style: Style) {
        if let Some(link) = self.links.last_mut() {
            link.text.push_str(text);
        }
        self.line.push(text, style);
    }

    fn is_in_item(&self) -> bool {
        matches!(self.containers.last(), Some(Container::Item { .. }))
    }

    fn start_item(&mut self) {
        self.flush();
        let marker = match self.containers.last_mut() {
            Some(Container::List { next: Some(number) }) => {
                let marker = format!("{number}. ");
                *number = number.saturating_add(1);
                marker
            }
            Some(_) | None => "• ".to_owned(),
        };
        self.containers.push(Container::Item { marker, shown: false });
    }

    /// Ends what is gathered and leaves a blank row where something stands above in the same container. Within an item
    /// that is where the source has one, so that what comes later in the list changes nothing.
    fn begin_block(&mut self, at: usize) {
        self.flush();
        let is_continued = std::mem::take(&mut self.continued);
        let has_above = match self.containers.last_mut() {
            Some(Container::Quote { blocks }) => {
                *blocks += 1;
                *blocks > 1
            }
            Some(Container::Item { shown, .. }) => *shown && is_blank_above(self.source, at),
            Some(Container::List { .. }) | None => {
                !is_continued && self.rows.last().is_some_and(|above| !above.is_empty())
            }
        };
        if has_above {
            let blank = self.prefix(Row::Rest).into_frame();
            self.rows.extend(wrapped([blank], self.width, Break::Words));
        }
    }

    /// Builds what stands before a row: the marks of the containers, outermost first.
    fn prefix(&self, row: Row) -> Line {
        let mut prefix = Line::default();
        let hidden = self.containers.len().saturating_sub(DEPTH);
        for container in self.containers.iter().skip(hidden) {
            match container {
                Container::Quote { .. } => prefix.push("▏ ", self.theme.dim),
                Container::List { .. } => {}
                Container::Item { marker, shown, .. } => {
                    if row == Row::First && !shown {
                        prefix.push_own(marker, self.theme.dim);
                    } else {
                        prefix.push_own(&" ".repeat(crate::widgets::wrap::width(marker)), self.theme.text);
                    }
                }
            }
        }
        prefix
    }

    fn flush(&mut self) {
        if !self.line.is_empty() {
            self.break_line();
        }
    }

    /// Wraps the gathered line, an empty one too.
    fn break_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.write(&line, Break::Words, "");
    }

    fn write(&mut self, line: &Line, at: Break, indent: &str) {
        let mut first = self.prefix(Row::First);
        let mut rest = self.prefix(Row::Rest);
        first.push(indent, self.theme.text);
        rest.push(indent, self.theme.text);
        Wrap { width: self.width, at, first: &first, rest: &rest }.line(line, self.rows);
        for container in &mut self.containers {
            if let Container::Item { shown, .. } = container {
                *shown = true;
            }
        }
    }

    fn end_code(&mut self) {
        let Some(CodeText { text, mut chain }) = self.code.take() else { return };
        let style = if chain.is_some() { self.theme.text } else { self.theme.code };
        for source in text.split_inclusive('\n') {
            let whole = source.strip_suffix('\n');
            let mut line = Line::new(whole.unwrap_or(source), style);
            // A line that may still grow has no name yet.
            if let (Some(chain), Some(whole)) = (&mut chain, whole) {
                let number = chain.lines();
                if let Some(key) = chain.push(whole) {
                    let language = chain.language().clone();
                    line.set_code(Code { key, language, number, at: 0, from: 0, background: CodeBackground::Plain });
                }
            }
            self.write(&line, Break::Anywhere, "  ");
        }
        if self.containers.is_empty() {
            self.carry.code = chain;
        }
    }

    fn end_link(&mut self, close: &str) {
        if let Some(link) = self.links.pop() {
            let bare = |text: &str| {
                let text = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).unwrap_or(text);
                text.strip_prefix("mailto:").unwrap_or(text).trim_end_matches('/').to_owned()
            };
            let named = link.target.is_empty() || bare(&link.text) == bare(&link.target);
            let target = if named { String::new() } else { format!(" ({})", link.target) };
            self.inline(&format!("{target}{close}"), self.theme.dim);
        }
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        let room = self.width.saturating_sub(self.prefix(Row::Rest).width()).max(self.width / 2);
        let mut rows = Vec::new();
        table.render(room, self.theme, &mut rows);
        let head = if self.skip_head { table.head_rows(room) } else { 0 };
        for row in rows.iter().skip(head) {
            self.write(row, Break::Anywhere, "");
        }
    }
}

/// Which row of a wrapped line a prefix is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    First,
    Rest,
}

/// Tells whether the line above a place is blank, whatever quote it is in.
fn is_blank_above(source: &str, at: usize) -> bool {
    let above = source.get(..at).and_then(|before| before.rsplit_once('\n')).map(|(above, _)| above);
    let line = above.map(|above| above.rsplit('\n').next().unwrap_or_default());
    line.is_some_and(|line| line.chars().all(|c| c == '>' || c.is_whitespace()))
}
