//! The blocks of a Markdown text: where they stand and what they are, as far as a piecewise layout must know.
//!
//! Called by `stream`. Pure. Also the one place that says which Markdown is read.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use steersman_base::limits::LAYOUT_BYTES;

/// Most marks of quotes and lists before a line of a long text whose link definitions are looked for, bytes.
const MARK_BYTES: usize = 500;

/// A block of the outermost level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// Where it stands in the text; begins at a line's start.
    pub range: Range<usize>,
    /// What it is.
    pub kind: BlockKind,
    /// Where the last item of a list of several begins.
    pub last_item: Option<usize>,
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// A fenced code block.
    Fence,
    Table,
    List,
    Other,
}

pub(super) fn parser(text: &str) -> Parser<'_> {
    let tables = if has_flood_of_cells(text) { Options::empty() } else { Options::ENABLE_TABLES };
    let marks = Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_FOOTNOTES;
    Parser::new_ext(text, tables | marks)
}

/// Tells whether rows that are shorter than their table's head could be filled up with many more cells than the text
/// has bytes. Such a text is read without tables: two bytes of it would become a row of thousands of cells.
fn has_flood_of_cells(text: &str) -> bool {
    let is_rule =
        |line: &&str| line.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t' | b'>' | b'\r'));
    let columns = text.lines().filter(is_rule).map(|line| line.matches('|').count() + 1).max().unwrap_or(0);
    columns > 2 && columns.saturating_mul(text.lines().count()) > 2 * text.len().max(LAYOUT_BYTES)
}

/// Finds the blocks of the outermost level.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut depth = 0_usize;
    let line_start = |at: usize| text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    for (event, range) in parser(text).into_offset_iter() {
        let kind = match &event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => BlockKind::Fence,
            Event::Start(Tag::Table(_)) => BlockKind::Table,
            Event::Start(Tag::List(_)) => BlockKind::List,
            _ => BlockKind::Other,
        };
        if depth == 0 && !matches!(event, Event::End(_)) {
            blocks.push(Block { range: line_start(range.start)..range.end, kind, last_item: None });
        }
        match event {
            Event::Start(tag) => {
                if let (1, Tag::Item, Some(list)) = (depth, tag, blocks.last_mut()) {
                    list.last_item = Some(line_start(range.start)).filter(|start| *start > list.range.start);
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    blocks
}

/// Returns the link definitions of a text as a text of their own.
///
/// A long text with a line that stands in hundreds of quotes or lists has none: each later line would be looked at once
/// for each of them.
pub(super) fn definitions(text: &str) -> String {
    let is_mark = |byte: &u8| matches!(byte, b'>' | b'-' | b'*' | b'+' | b'.' | b')' | b' ' | b'\t' | b'0'..=b'9');
    let marks = |line: &str| line.bytes().take_while(|byte| is_mark(byte)).count();
    if text.len() > LAYOUT_BYTES && text.lines().any(|line| marks(line) > MARK_BYTES) {
        return String::new();
    }
    let parser = parser(text);
    let mut spans: Vec<_> = parser.reference_definitions().iter().map(|(_, link)| link.span.clone()).collect();
    spans.sort_by_key(|span| span.start);
    spans.into_iter().filter_map(|span| text.get(span)).flat_map(|span| [span.trim(), "\n\n"]).collect()
}

/// Tells whether a tag begins a stretch of running text, or something that holds such stretches.
pub(super) fn is_block(tag: &Tag<'_>) -> bool {
    is_block_end(tag.to_end())
}

fn is_block_end(tag: TagEnd) -> bool {
    !matches!(
        tag,
        TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::Link
            | TagEnd::Image
    )
}
