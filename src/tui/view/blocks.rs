//! The blocks of a Markdown text: where they stand and what they are, as far as a piecewise layout must know.
//!
//! Called by `stream`. Pure. Also the one place that says which Markdown is read.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Is one block of the outermost level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Where it stands in the text; begins at a line's start.
    pub range: Range<usize>,
    /// What it is.
    pub kind: BlockKind,
    /// Where the last item of a list of several begins.
    pub last_item: Option<usize>,
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

/// Makes the parser of every text.
pub fn parser(text: &str) -> Parser<'_> {
    let tables = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    Parser::new_ext(text, tables | Options::ENABLE_TASKLISTS | Options::ENABLE_FOOTNOTES)
}

/// Finds the blocks of the outermost level.
pub fn blocks(text: &str) -> Vec<Block> {
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
pub fn definitions(text: &str) -> String {
    let parser = parser(text);
    let mut spans: Vec<_> = parser.reference_definitions().iter().map(|(_, link)| link.span.clone()).collect();
    spans.sort_by_key(|span| span.start);
    spans.into_iter().filter_map(|span| text.get(span)).flat_map(|span| [span.trim(), "\n\n"]).collect()
}

/// Tells whether a tag begins a stretch of running text, or something that holds such stretches.
pub fn is_block(tag: &Tag<'_>) -> bool {
    is_block_end(tag.to_end())
}

/// Tells whether a tag ends such a thing.
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
