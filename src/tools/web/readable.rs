//! The readable part of a page, as Markdown: the visible text without navigation and the like.
//!
//! Pure. Nothing that the page links is loaded. Hidden elements, invisible characters and comments do not reach the
//! model. An image is replaced by its alternative text.

use dom_query::{Document, NodeRef};
use dom_smoothie::{Config, Readability, TextMode};
use reqwest::Url;

use crate::web::parse::{ParsedPart, parse};
use steersman_base::limits;
use steersman_base::text::{is_blank, is_invisible};

/// The readable part of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readable {
    /// The title of the page, on one line; empty when it has none.
    pub title: String,
    /// The text.
    pub markdown: String,
    /// Whether the page was too large or too broken to be read to its end.
    pub cut: bool,
}

/// Elements that show nothing, run something, or take input.
const NOT_READ: &str = "script, style, noscript, template, iframe, frame, object, embed, applet, svg, canvas, video, \
                        audio, map, link, meta, button, input, select, textarea, datalist, dialog, slot";

/// Selectors of hidden elements.
const HIDDEN: &str = "[hidden], [aria-hidden=\"true\"], .sr-only, .visually-hidden, .screen-reader-text, .d-none";

/// Declarations of a style that hide an element, without blanks.
const HIDING: [&str; 10] = [
    "display:none",
    "visibility:hidden",
    "visibility:collapse",
    "opacity:0;",
    "opacity:0.0",
    "font-size:0",
    "content-visibility:hidden",
    "clip:rect(0",
    "text-indent:-9",
    "left:-9",
];

/// Returns the readable part of a page; the whole page where no article is found.
pub fn readable(html: &str, url: &Url) -> Readable {
    let (document, whole_page) = parse(html);
    let base = base_of(&document, url);
    let title = title_of(&document);
    document.select(NOT_READ).remove();
    document.select(HIDDEN).remove();
    drop_hidden_by_style(&document);
    images_to_text(&document);
    links_to_absolute(&document, &base, url);

    let body = document.body().unwrap_or_else(|| document.root());
    let whole = tidy(&body.md(None));
    let part = if escape_cost(&document) > limits::PAGE_ESCAPE_BYTES { None } else { article(document.clone(), url) };
    let markdown = match part {
        Some(part) if stands_out(&part, &whole) => part,
        Some(_) | None => whole,
    };
    Readable { title, markdown, cut: whole_page == ParsedPart::Beginning }
}

/// Returns the most bytes that are read when the texts and attributes of a page are written as HTML.
///
/// The search for an article writes the page, and the writer searches the rest of a text again from each `&` and each
/// character whose first byte is `0xC2`: a text of only these costs the square of its length.
fn escape_cost(document: &Document) -> usize {
    let of = |text: &str| text.bytes().filter(|byte| matches!(byte, b'&' | 0xC2)).count().saturating_mul(text.len());
    let of_node = |node: NodeRef<'_>| {
        if node.is_text() {
            of(&node.text())
        } else {
            node.attrs().iter().map(|attribute| of(&attribute.value)).fold(0, usize::saturating_add)
        }
    };
    document.root().descendants_it().map(of_node).fold(0, usize::saturating_add)
}

/// Returns the article of a page, if one is found.
fn article(document: Document, url: &Url) -> Option<String> {
    let config = Config {
        text_mode: TextMode::Markdown,
        disable_json_ld: true,
        // The language of code is in a class.
        keep_classes: true,
        max_elements_to_parse: limits::PAGE_ELEMENTS,
        ..Config::default()
    };
    let mut readability = Readability::with_document(document, Some(url.as_str()), Some(config)).ok()?;
    Some(tidy(&readability.parse().ok()?.text_content))
}

/// Returns whether the article is a large enough part of the page.
fn stands_out(article: &str, whole: &str) -> bool {
    let (article, whole) = (article.chars().count(), whole.chars().count());
    let short = article < limits::PAGE_ARTICLE_CHARS && article * 2 < whole;
    !short && article * 20 > whole
}

fn base_of(document: &Document, url: &Url) -> Url {
    let base = document.select_single("base[href]").attr("href");
    base.and_then(|base| url.join(&base).ok()).filter(is_web).unwrap_or_else(|| url.clone())
}

fn title_of(document: &Document) -> String {
    let of = |selector: &str| on_line(&document.select_single(selector).text());
    let title = of("title");
    if title.is_empty() { of("h1") } else { title }
}

/// Returns a text on one line, without invisible characters.
pub(super) fn on_line(text: &str) -> String {
    let shown: String = text.chars().filter(|c| c.is_whitespace() || !is_invisible(*c)).collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn drop_hidden_by_style(document: &Document) {
    for node in document.select("[style]").nodes() {
        let style = node.attr("style").unwrap_or_default().to_lowercase();
        let style: String = style.chars().filter(|c| !c.is_whitespace()).chain([';']).collect();
        if HIDING.iter().any(|hiding| style.contains(hiding)) && !style.contains("opacity:0.0;opacity:1") {
            node.remove_from_parent();
        }
    }
}

fn images_to_text(document: &Document) {
    document.select("picture > source").remove();
    for image in document.select("img").nodes() {
        let alternative = on_line(&image.attr("alt").unwrap_or_default());
        if is_blank(&alternative) {
            image.remove_from_parent();
        } else {
            image.rename("span");
            image.remove_all_attrs();
            image.set_text(format!("(image: {alternative})"));
        }
    }
}

fn links_to_absolute(document: &Document, base: &Url, page: &Url) {
    for link in document.select("a").nodes() {
        let place = link.attr("href").and_then(|href| base.join(href.trim()).ok());
        let kept = place.filter(|place| {
            let mut whole = place.clone();
            whole.set_fragment(None);
            // A link within the page is left out.
            let within = place.fragment().is_some() && whole == *page;
            is_web(place) && !within && place.as_str().len() <= limits::PAGE_LINK_BYTES
        });
        link.remove_all_attrs();
        if let Some(place) = kept {
            link.set_attr("href", place.as_str());
        }
    }
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

/// Leaves out invisible characters, and all but one of several blank lines.
fn tidy(markdown: &str) -> String {
    let mut text = String::with_capacity(markdown.len());
    let mut blank = 0;
    for line in markdown.lines() {
        // Joiners and selectors are part of letters and emoji.
        let needed =
            |c: &char| !is_invisible(*c) || matches!(c, '\t' | '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
        let line: String = line.chars().filter(needed).collect();
        let line = line.trim_end();
        blank = if line.is_empty() { blank + 1 } else { 0 };
        if blank < 2 && !(text.is_empty() && line.is_empty()) {
            text.push_str(line);
            text.push('\n');
        }
    }
    text.truncate(text.trim_end().len());
    text
}
