//! Parses a page within limits: an HTML parser repairs broken pages, and a page can be broken so that the repair takes
//! hours or gigabytes.

use std::time::Instant;

use dom_query::{Document, NodeRef};
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};

use steersman_base::limits;

/// The bytes that are parsed between two checks of the tree.
const PIECE_BYTES: usize = 512;

/// Parses a page; the second value says whether its rest was left out because of a limit.
///
/// No element of the tree is nested deeper than `limits::PAGE_DEPTH`, so that it can be walked by recursion.
pub(super) fn parse(html: &str) -> (Document, ParsedPart) {
    let options = ParseOpts {
        // The page as it is without scripts.
        tree_builder: TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() },
        ..ParseOpts::default()
    };
    let began = Instant::now();
    let mut parser = parse_document(Document::default(), options);
    let mut rest = html;
    let mut whole = ParsedPart::All;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES.min(rest.len())));
        parser.process(StrTendril::from(piece));
        rest = behind;
        let document = &parser.tokenizer.sink.sink;
        let over = document.tree.len() > limits::PAGE_NODES || began.elapsed() > limits::PAGE_TIME;
        if over || depth(document) > 2 * limits::PAGE_DEPTH {
            whole = if rest.is_empty() { ParsedPart::All } else { ParsedPart::Beginning };
            break;
        }
    }
    let document = parser.finish();
    flatten(&document);
    (document, whole)
}

/// How much of a page was parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParsedPart {
    /// All of it.
    All,
    /// Its rest was left out.
    Beginning,
}

/// Returns the depth of the parser's current node.
fn depth(document: &Document) -> usize {
    let mut depth = 0;
    let mut node = document.root();
    while let Some(last) = node.last_child() {
        depth += 1;
        node = last;
    }
    depth
}

/// Replaces elements that are nested too deeply by their text.
fn flatten(document: &Document) {
    let mut deep = Vec::new();
    let mut open: Vec<(NodeRef<'_>, usize)> = vec![(document.root(), 0)];
    while let Some((node, depth)) = open.pop() {
        if depth >= limits::PAGE_DEPTH {
            deep.push(node);
        } else {
            open.extend(node.children_it(false).filter(NodeRef::is_element).map(|child| (child, depth + 1)));
        }
    }
    for node in deep {
        node.set_text(node.text());
    }
}
