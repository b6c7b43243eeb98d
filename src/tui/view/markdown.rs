//! Markdown as styled rows of a given width.
//!
//! Called by `stream` with sanitised text, block by block. Pure: text, width and styles in, rows out. Every source line
//! keeps its own row (a soft break breaks), so a finished line does not move while more text comes.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::Style;

use super::table::Table;
use super::wrap::{Break, Line, Wrap};
use crate::tui::theme::Theme;

/// Containers (quotes, lists) whose marks are shown; deeper ones are drawn as if they were at this depth.
const DEPTH: usize = 12;

/// Is one block of the outermost level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Where it stands in the text; begins at a line's start.
    pub range: Range<usize>,
    /// What it is, as far as a piecewise layout must know.
    pub kind: BlockKind,
}

/// Says what a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// A fenced code block.
    Fence,
    /// A table.
    Table,
    /// A list.
    List,
    /// Anything else.
    Other,
}

fn parser(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS)
}

/// Finds the blocks of the outermost level.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut depth = 0_usize;
    for (event, range) in parser(text).into_offset_iter() {
        let kind = match &event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => BlockKind::Fence,
            Event::Start(Tag::Table(_)) => BlockKind::Table,
            Event::Start(Tag::List(_)) => BlockKind::List,
            _ => BlockKind::Other,
        };
        if depth == 0 && !matches!(event, Event::End(_)) {
            let start = text.get(..range.start).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
            blocks.push(Block { range: start..range.end, kind });
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    blocks
}

/// Returns the link definitions of a text as a text of their own.
pub fn definitions(text: &str) -> String {
    let parser = parser(text);
    let mut spans: Vec<_> = parser.reference_definitions().iter().map(|(_, link)| link.span.clone()).collect();
    spans.sort_by_key(|span| span.start);
    spans.into_iter().filter_map(|span| text.get(span)).flat_map(|span| [span.trim(), "\n\n"]).collect()
}

/// Says how a text continues what was laid out before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// With a block of its own.
    Fresh,
    /// With the rest of a block: no blank row, no label, no table head.
    Continued,
}

/// Lays out Markdown and appends its rows.
pub fn render(text: &str, width: usize, theme: &Theme, begin: Begin, rows: &mut Vec<Line>) {
    let mut renderer = Renderer {
        theme,
        width,
        rows,
        line: Line::default(),
        styles: vec![theme.text],
        containers: Vec::new(),
        continued: begin == Begin::Continued,
        link: None,
        table: None,
        skip_head: false,
        code: None,
    };
    for event in parser(text) {
        renderer.take(event);
    }
    renderer.flush();
}

struct Renderer<'a, 'r> {
    theme: &'a Theme,
    width: usize,
    rows: &'r mut Vec<Line>,
    /// The line that inline text is gathered in.
    line: Line,
    styles: Vec<Style>,
    containers: Vec<Container>,
    /// Whether the next block's beginning is above.
    continued: bool,
    link: Option<Link>,
    table: Option<Table>,
    /// Whether the table's head is above already.
    skip_head: bool,
    code: Option<String>,
}

enum Container {
    Quote { blocks: usize },
    List { next: Option<u64> },
    Item { marker: String, shown: bool, blocks: usize },
}

/// Is a link or an image whose text is being read.
struct Link {
    target: String,
    text: String,
}

impl Renderer<'_, '_> {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.inline(&text, self.style()),
            },
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
            Event::InlineHtml(text) => self.inline(&text, self.style().patch(self.theme.dim)),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.inline(&text, self.style());
            }
            Event::SoftBreak | Event::HardBreak if self.table.is_some() => self.inline(" ", self.style()),
            Event::SoftBreak | Event::HardBreak => self.break_line(),
            Event::Rule => {
                self.begin_block();
                let room = self.width.saturating_sub(self.prefix(Row::Rest).width()).max(1);
                self.inline(&"─".repeat(room), self.theme.dim);
                self.flush();
            }
            Event::TaskListMarker(done) => self.inline(if done { "[x] " } else { "[ ] " }, self.theme.strong),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let continued = self.continued;
        match tag {
            Tag::Heading { level, .. } => {
                self.begin_block();
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
                self.begin_block();
                self.containers.push(Container::Quote { blocks: 0 });
                self.styles.push(self.style().patch(self.theme.quote));
            }
            Tag::CodeBlock(kind) => {
                self.begin_block();
                let label = match &kind {
                    CodeBlockKind::Fenced(info) => info.split_whitespace().next().unwrap_or_default(),
                    CodeBlockKind::Indented => "",
                };
                if !continued && !label.is_empty() {
                    self.inline(&format!("┄ {label}"), self.theme.dim);
                    self.flush();
                }
                self.code = Some(String::new());
            }
            Tag::List(next) => {
                // A list within an item stands close to the item's text.
                if self.is_in_item() {
                    self.flush();
                    self.continued = false;
                } else {
                    self.begin_block();
                }
                self.containers.push(Container::List { next });
            }
            Tag::Item => self.start_item(),
            Tag::Table(alignments) => {
                self.begin_block();
                self.table = Some(Table::new(alignments));
                self.skip_head = continued;
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.start_row();
                }
            }
            Tag::TableCell => {}
            Tag::Emphasis => self.push_style(self.theme.emphasis),
            Tag::Strong => self.push_style(self.theme.strong),
            Tag::Strikethrough => self.push_style(self.theme.struck),
            Tag::Link { dest_url, .. } => {
                self.push_style(self.theme.link);
                self.link = Some(Link { target: dest_url.into_string(), text: String::new() });
            }
            Tag::Image { dest_url, .. } => {
                self.inline("[image: ", self.theme.dim);
                self.push_style(self.theme.link);
                self.link = Some(Link { target: dest_url.into_string(), text: String::new() });
            }
            Tag::Paragraph
            | Tag::HtmlBlock
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::MetadataBlock(_) => self.begin_block(),
            Tag::Superscript | Tag::Subscript => self.push_style(Style::new()),
        }
    }

    fn end(&mut self, tag: TagEnd) {
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
                self.containers.pop();
            }
            TagEnd::Item => {
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
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Superscript | TagEnd::Subscript => {
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
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::MetadataBlock(_) => self.flush(),
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or(self.theme.text)
    }

    fn push_style(&mut self, style: Style) {
        self.styles.push(self.style().patch(style));
    }

    fn inline(&mut self, text: &str, style: Style) {
        if let Some(link) = &mut self.link {
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
        self.containers.push(Container::Item { marker, shown: false, blocks: 0 });
    }

    /// Ends what is gathered and leaves a blank row where something stands above in the same container.
    fn begin_block(&mut self) {
        self.flush();
        let is_continued = std::mem::take(&mut self.continued);
        let has_above = match self.containers.last_mut() {
            Some(Container::Quote { blocks } | Container::Item { blocks, .. }) => {
                *blocks += 1;
                *blocks > 1
            }
            Some(Container::List { .. }) | None => {
                !is_continued && self.rows.last().is_some_and(|above| !above.is_empty())
            }
        };
        if has_above {
            let none = Line::default();
            let blank = self.prefix(Row::Rest);
            Wrap { width: self.width, at: Break::Words, first: &none, rest: &none }.line(&blank, self.rows);
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
                        prefix.push(marker, self.theme.dim);
                    } else {
                        prefix.push(&" ".repeat(super::wrap::width(marker)), self.theme.text);
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
        let code = self.code.take().unwrap_or_default();
        for line in code.lines() {
            self.write(&Line::new(line, self.theme.code), Break::Anywhere, "  ");
        }
    }

    fn end_link(&mut self, close: &str) {
        if let Some(link) = self.link.take() {
            let named = link.text == link.target || link.target.is_empty();
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

/// Says which row of a wrapped line a prefix is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    First,
    Rest,
}
