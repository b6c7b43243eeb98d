//! The laid-out rows of one text that may still grow.
//!
//! What cannot change any more is laid out once and kept: whole blocks, the lines of fenced code, the items of a list.
//! Only what is behind is laid out again when text comes, completed as it will most likely go on. No block costs more
//! than [`LAYOUT_BYTES`] at a time: a longer one is cut at places that depend on the text before them alone. So the rows
//! of a whole text are the same however it arrived, at once or letter by letter.

use crate::theme::Theme;
use crate::widgets::blocks::{Block, BlockKind, blocks, definitions};
use crate::widgets::markdown::{self, Begin, Carry};
use crate::widgets::unfinished;
use crate::widgets::wrap::{Break, Line, wrapped};
use ratatui::style::Style;
use steersman_base::limits::LAYOUT_BYTES;

/// Longest first line of a block that is waited for before the block above counts as finished, bytes.
const TELLING_LINE: usize = 64;

/// How a text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Markdown,
    /// Line by line, wrapped between words.
    Plain(Style),
}

/// The rows of a text at one width.
#[derive(Debug, Clone)]
pub struct Layout {
    format: Format,
    width: usize,
    /// Bytes of the text whose rows are final.
    done: usize,
    /// How the text behind `done` continues.
    begin: Begin,
    /// What must stand before the text behind `done` for it to be read right: a fence's or a table's head.
    head: String,
    /// The text's link definitions, once it is whole; they may stand behind their use.
    definitions: String,
    rows: Vec<Line>,
    /// Rows that are final.
    fixed: usize,
}

impl Layout {
    /// Makes the layout of an empty text.
    pub fn new(format: Format, width: usize) -> Self {
        Self {
            format,
            width,
            done: 0,
            begin: Begin::Fresh,
            head: String::new(),
            definitions: String::new(),
            rows: Vec::new(),
            fixed: 0,
        }
    }

    pub fn rows(&self) -> &[Line] {
        &self.rows
    }

    /// Returns how many rows are final as long as the text only grows.
    pub fn settled(&self) -> usize {
        self.fixed
    }

    /// Brings the rows up to date with the whole text, which begins with the text of the last call.
    pub fn finish(&mut self, text: &str, theme: &Theme) {
        if self.format == Format::Markdown && text.contains("]:") {
            let definitions = definitions(text);
            if !definitions.is_empty() && definitions.len() <= LAYOUT_BYTES {
                *self = Self { definitions, ..Self::new(self.format, self.width) };
            }
        }
        self.settle(text, theme);
        self.lay_out(text.get(self.done..).unwrap_or_default(), theme);
    }

    /// Brings the rows up to date with a text that begins with the text of the last call and will grow.
    pub fn update(&mut self, text: &str, theme: &Theme) {
        self.settle(text, theme);
        let rest = text.get(self.done..).unwrap_or_default();
        let is_code = self.head.trim_start().starts_with(['`', '~']);
        match self.format {
            Format::Markdown if is_code => self.lay_out(unfinished::complete_code(rest), theme),
            Format::Markdown if self.head.is_empty() => self.lay_out(&unfinished::complete(rest), theme),
            Format::Markdown | Format::Plain(_) => self.lay_out(rest, theme),
        };
    }

    /// Lays out for good what is final.
    fn settle(&mut self, text: &str, theme: &Theme) {
        self.rows.truncate(self.fixed);
        while let Some((end, cut)) = self.finished(text) {
            let carry = self.lay_out(text.get(self.done..end).unwrap_or_default(), theme);
            self.fixed = self.rows.len();
            self.done = end;
            (self.begin, self.head) = match cut {
                BlockSplit::Between => (Begin::Fresh, String::new()),
                BlockSplit::Within(head) => (Begin::Continued(carry), head),
            };
        }
    }

    fn lay_out(&mut self, text: &str, theme: &Theme) -> Carry {
        match self.format {
            Format::Markdown if self.head.is_empty() && self.definitions.is_empty() => {
                markdown::render(text, self.width, theme, self.begin.clone(), &mut self.rows)
            }
            Format::Markdown => {
                let text = format!("{}{}{text}", self.definitions, self.head);
                markdown::render(&text, self.width, theme, self.begin.clone(), &mut self.rows)
            }
            Format::Plain(style) => {
                let lines = text.lines().map(|line| Line::new(line, style));
                self.rows.extend(wrapped(lines, self.width, Break::Words));
                Carry::default()
            }
        }
    }

    /// Finds how far the text behind `done` is final, if it is anywhere.
    fn finished(&self, text: &str) -> Option<(usize, BlockSplit)> {
        let rest = text.get(self.done..)?;
        let is_long = rest.len() > LAYOUT_BYTES;
        let window = rest.get(..rest.floor_char_boundary(LAYOUT_BYTES))?;
        let (length, cut) = match self.format {
            Format::Markdown => self.finished_blocks(window, is_long)?,
            Format::Plain(_) => match window.rfind('\n') {
                Some(end) => (end + 1, BlockSplit::Between),
                None if is_long => (word_boundary(window), BlockSplit::Between),
                None => return None,
            },
        };
        Some((self.done + length, cut))
    }

    fn finished_blocks(&self, window: &str, is_long: bool) -> Option<(usize, BlockSplit)> {
        let found = if self.head.is_empty() {
            blocks(window)
        } else {
            let before = self.head.len();
            let shift = |block: Block| Block {
                range: block.range.start.saturating_sub(before)..block.range.end.saturating_sub(before),
                last_item: block.last_item.map(|start| start.saturating_sub(before)),
                ..block
            };
            blocks(&format!("{}{window}", self.head)).into_iter().map(shift).collect()
        };
        let is_settled = |start: &usize| {
            let line = window.get(*start..).unwrap_or_default();
            let after_blank = window.get(..*start).is_some_and(|above| above.ends_with("\n\n"));
            line.contains('\n') || (after_blank && line.len() > TELLING_LINE)
        };
        let starts = || found.iter().skip(1).map(|block| block.range.start).filter(|start| *start > 0);
        let settled = starts().rfind(is_settled).or_else(|| starts().next_back().filter(|_| is_long));
        match (settled, found.first()) {
            (Some(start), _) => Some((start, BlockSplit::Between)),
            (None, Some(block)) => {
                let item = block.last_item.filter(is_settled);
                match (block.kind, item) {
                    (BlockKind::List, Some(item)) => Some((item, BlockSplit::Within(String::new()))),
                    (BlockKind::Fence, _) if self.has_lines(window, block) => Some(self.split_block(window, block)),
                    _ if is_long => Some(self.split_block(window, block)),
                    _ => None,
                }
            }
            (None, None) if is_long => Some((between_lines(window), BlockSplit::Between)),
            (None, None) => None,
        }
    }

    /// Tells whether a fence has whole lines that are not laid out yet.
    fn has_lines(&self, window: &str, fence: &Block) -> bool {
        let start = if self.head.is_empty() { fence.range.start } else { 0 };
        window.get(start..).is_some_and(|lines| lines.contains('\n'))
    }

    /// Cuts a block that is longer than is laid out at once.
    fn split_block(&self, window: &str, block: &Block) -> (usize, BlockSplit) {
        let head = |lines: usize| -> String {
            let own = window.get(block.range.start..).unwrap_or_default();
            if self.head.is_empty() { own.split_inclusive('\n').take(lines).collect() } else { self.head.clone() }
        };
        let (end, head) = match block.kind {
            BlockKind::Fence => (between_lines(window), head(1)),
            BlockKind::Table => (between_lines(window), head(2)),
            BlockKind::List => (block.last_item.unwrap_or_else(|| between_items(window)), String::new()),
            BlockKind::Other => (between_lines(window), String::new()),
        };
        let piece = window.get(..end).unwrap_or_default();
        let is_over = match block.kind {
            // What follows a closed fence is a block of its own.
            BlockKind::Fence => blocks(&format!("{}{piece}\n\nprobe\n", self.head)).len() > 1,
            BlockKind::Table | BlockKind::Other => piece.ends_with("\n\n"),
            BlockKind::List => false,
        };
        (end, if is_over { BlockSplit::Between } else { BlockSplit::Within(head) })
    }
}

/// Where a text was cut.
enum BlockSplit {
    /// Between two blocks.
    Between,
    /// Within a block; the text must stand before the rest of the block.
    Within(String),
}

/// Finds the end of the last whole line, else of the last word.
fn between_lines(window: &str) -> usize {
    window.rfind('\n').map_or_else(|| word_boundary(window), |end| end + 1)
}

/// Finds the start of the last item of the outermost level, else the end of the last whole line.
fn between_items(window: &str) -> usize {
    let is_item = |start: &usize| window.get(*start..).is_some_and(|line| !line.starts_with([' ', '\t', '\n']));
    let starts = window.rmatch_indices('\n').map(|(end, _)| end + 1).filter(|start| *start < window.len());
    starts.into_iter().find(is_item).unwrap_or_else(|| between_lines(window))
}

/// Finds the end of the last word, else of the window.
fn word_boundary(window: &str) -> usize {
    window.rfind([' ', '\n']).map_or(window.len(), |end| end + 1)
}
