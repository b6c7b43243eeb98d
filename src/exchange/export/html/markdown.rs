//! Markdown of a model or of the user as HTML in which nothing runs, loads or leads away by itself.
//!
//! Only elements that are named here are written. HTML in the text is shown as it is, a picture is its address, and a link
//! is one only when it leads to the web.

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::code::CodeColours;
use super::escaped;

pub(super) fn markdown(text: &str, colours: &mut CodeColours) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = Writer {
        html: String::new(),
        is_head: false,
        columns: (Vec::new(), 0),
        code: None,
        links: Vec::new(),
        colours,
    };
    for event in Parser::new_ext(text, options) {
        writer.event(event);
    }
    writer.html
}

struct Writer<'a> {
    html: String,
    /// Whether the row that is written is a table's head.
    is_head: bool,
    /// The alignments of the columns of the table that is written, and the column.
    columns: (Vec<Alignment>, usize),
    /// The label and the text of the block of code that is read.
    code: Option<(String, String)>,
    /// For each link that is open, whether it was written as one.
    links: Vec<bool>,
    colours: &'a mut CodeColours,
}

impl Writer<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Code(text) | Event::InlineMath(text) => self.push(&format!("<code>{}</code>", escaped(&text))),
            Event::Text(text) if self.code.is_some() => {
                if let Some((_, code)) = &mut self.code {
                    code.push_str(&text);
                }
            }
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) | Event::DisplayMath(text) => {
                self.push(&escaped(&text));
            }
            Event::FootnoteReference(name) => self.push(&escaped(&format!("[^{name}]"))),
            Event::SoftBreak => self.push("\n"),
            Event::HardBreak => self.push("<br>\n"),
            Event::Rule => self.push("<hr>\n"),
            Event::TaskListMarker(is_done) => self.push(if is_done { "☑ " } else { "☐ " }),
        }
    }

    fn push(&mut self, html: &str) {
        self.html.push_str(html);
    }

    fn row(&mut self) {
        self.columns.1 = 0;
        self.push("<tr>");
    }

    fn cell(&mut self) {
        let (alignments, column) = &mut self.columns;
        // The page's policy allows no styles of elements.
        let class = match alignments.get(*column) {
            Some(Alignment::Right) => " class=\"right\"",
            Some(Alignment::Center) => " class=\"center\"",
            Some(Alignment::Left | Alignment::None) | None => "",
        };
        *column += 1;
        let name = if self.is_head { "th" } else { "td" };
        self.push(&format!("<{name}{class}>"));
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.push("<p>"),
            Tag::Heading { level, .. } => self.push(&format!("<h{}>", heading(level))),
            Tag::BlockQuote(_) => self.push("<blockquote>\n"),
            Tag::CodeBlock(CodeBlockKind::Fenced(language)) if !language.is_empty() => {
                self.push(&format!("<pre title=\"{}\"><code>", escaped(&language)));
                self.code = Some((language.to_string(), String::new()));
            }
            Tag::CodeBlock(_) => {
                self.push("<pre><code>");
                self.code = Some(Default::default());
            }
            Tag::List(Some(first)) => self.push(&format!("<ol start=\"{first}\">\n")),
            Tag::List(None) => self.push("<ul>\n"),
            Tag::Item => self.push("<li>"),
            Tag::Table(alignments) => {
                self.columns = (alignments, 0);
                self.push("<table>\n");
            }
            Tag::TableHead => {
                self.is_head = true;
                self.row();
            }
            Tag::TableRow => self.row(),
            Tag::TableCell => self.cell(),
            Tag::Emphasis => self.push("<em>"),
            Tag::Strong => self.push("<strong>"),
            Tag::Strikethrough => self.push("<del>"),
            Tag::Link { dest_url, .. } => {
                let is_web = ["https://", "http://"].iter().any(|scheme| dest_url.starts_with(scheme));
                if is_web {
                    self.push(&format!("<a rel=\"noreferrer noopener\" href=\"{}\">", escaped(&dest_url)));
                }
                self.links.push(is_web);
            }
            Tag::Image { dest_url, .. } => self.push(&escaped(&format!("[picture {dest_url}] "))),
            Tag::FootnoteDefinition(name) => self.push(&format!("<p>{}: ", escaped(&format!("[^{name}]")))),
            Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock | TagEnd::FootnoteDefinition => self.push("</p>\n"),
            TagEnd::Heading(level) => self.push(&format!("</h{}>\n", heading(level))),
            TagEnd::BlockQuote(_) => self.push("</blockquote>\n"),
            TagEnd::CodeBlock => {
                if let Some((label, text)) = self.code.take() {
                    let html = self.colours.code(&text, &label);
                    self.push(&html);
                }
                self.push("</code></pre>\n");
            }
            TagEnd::List(true) => self.push("</ol>\n"),
            TagEnd::List(false) => self.push("</ul>\n"),
            TagEnd::Item => self.push("</li>\n"),
            TagEnd::Table => self.push("</table>\n"),
            TagEnd::TableHead => {
                self.is_head = false;
                self.push("</tr>\n");
            }
            TagEnd::TableRow => self.push("</tr>\n"),
            TagEnd::TableCell => self.push(if self.is_head { "</th>" } else { "</td>" }),
            TagEnd::Emphasis => self.push("</em>"),
            TagEnd::Strong => self.push("</strong>"),
            TagEnd::Strikethrough => self.push("</del>"),
            TagEnd::Link => {
                if self.links.pop().unwrap_or(false) {
                    self.push("</a>");
                }
            }
            TagEnd::Image
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => {}
        }
    }
}

/// Returns the level of a heading within the page, whose own are the first three.
fn heading(level: HeadingLevel) -> usize {
    (level as usize + 3).min(6)
}
