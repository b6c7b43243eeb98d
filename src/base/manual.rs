//! The manual: pages of Markdown by topic. Each is a file under `assets/manual`, edited there and built into the program.
//!
//! Used by `steersman help` and by help on the screen and in lines. Pure: pages and words in, text out.

use crate::text::distance;

/// A page of the manual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ManualPage {
    /// The name of the page, which is that of its file without the ending.
    pub topic: &'static str,
    /// Its Markdown.
    pub text: &'static str,
}

/// A paragraph that a search has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManualMatch {
    /// The page.
    pub topic: &'static str,
    /// The heading above it.
    pub heading: &'static str,
    /// Its line in [`ManualPage::flowing`], from 0.
    pub line: usize,
    /// The paragraph, or the row of a table, on one line.
    pub text: String,
}

impl ManualMatch {
    /// Returns the cells of a table's row that say something; none of another line.
    pub fn cells(&self) -> Vec<String> {
        let Some(row) = self.text.strip_prefix('|') else { return Vec::new() };
        // A bar behind a backslash belongs to its cell.
        let row = row.replace("\\|", "\0");
        let cells = row.split('|').map(|cell| cell.trim().replace('\0', "|"));
        cells.filter(|cell| !cell.is_empty()).collect()
    }
}

macro_rules! pages {
    ($($topic:literal)*) => {
        &[$(ManualPage { topic: $topic, text: include_str!(concat!("assets/manual/", $topic, ".md")) }),*]
    };
}

/// All pages, in the order in which a newcomer would read them.
pub const MANUAL: &[ManualPage] = pages!(
    "steering" "habits" "plan" "keys" "message" "commands" "transcript" "looks" "tools" "background" "approvals" "hooks" "sandbox" "personas"
    "skills" "plugins" "mcp" "models" "failures" "sessions" "outside" "configuration" "screen-reader" "exec" "exec-json" "figures" "benchmark"
    "install" "security" "changelog" "architecture" "contributing"
);

impl ManualPage {
    /// Returns its first heading.
    pub fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches('#').trim_start()
    }

    /// Returns the lines that are headings, in their order; a comment in code is none.
    fn headings(&self) -> impl Iterator<Item = &'static str> {
        let mut is_code = false;
        self.text.lines().filter(move |line| {
            is_code ^= line.trim_start().starts_with("```");
            !is_code && line.starts_with('#')
        })
    }

    /// Returns the Markdown for a terminal: without pictures and comments, each paragraph on one line, so that it fits every width.
    pub fn flowing(&self) -> String {
        let mut text = String::with_capacity(self.text.len());
        let mut is_code = false;
        let mut joins = false;
        for line in self.text.lines().filter(|line| !line.starts_with("![") && !line.starts_with("<!--")) {
            let is_fence = line.trim_start().starts_with("```");
            let stands_alone = is_code || is_fence || line.is_empty() || begins_block(line);
            if joins && !stands_alone {
                text.push(' ');
                text.push_str(line.trim_start());
            } else {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(line);
            }
            is_code ^= is_fence;
            joins = !(is_code || is_fence || line.is_empty() || line.starts_with(['#', '|']));
        }
        text.push('\n');
        text
    }
}

/// Returns whether a line begins a block of its own instead of continuing the paragraph above it.
fn begins_block(line: &str) -> bool {
    line.starts_with(['#', '|']) || line.trim_start().starts_with("- ")
}

/// Returns the page of a topic: by its whole name, or by a beginning that no other shares.
pub fn manual_page(topic: &str) -> Option<&'static ManualPage> {
    let topic = topic.to_lowercase();
    let mut beginning = MANUAL.iter().filter(|page| page.topic.starts_with(&topic));
    MANUAL.iter().find(|page| page.topic == topic).or_else(|| beginning.next().filter(|_| beginning.next().is_none()))
}

/// Returns the topic whose name is most like these words.
pub fn nearest_topic(words: &str) -> &'static str {
    MANUAL.iter().map(|page| page.topic).min_by_key(|topic| distance(words, topic)).unwrap_or_default()
}

/// Words that people look for, with what the manual calls the same thing.
const MEANINGS: &[(&str, &[&str])] = &[
    ("autocomplete", &["completion"]),
    ("background", &["jobs"]),
    ("checkpoint", &["branch", "undo"]),
    ("clipboard", &["copy"]),
    ("colors", &["colours", "theme"]),
    ("colours", &["theme"]),
    ("cost", &["budget", "dollars"]),
    ("emacs", &["editor"]),
    ("history", &["recall", "earlier"]),
    ("interrupt", &["stop the turn"]),
    ("linebreak", &["new line"]),
    ("multiline", &["new line"]),
    ("nano", &["editor"]),
    ("newline", &["new line"]),
    ("permissions", &["approval", "mode"]),
    ("restore", &["branch", "undo"]),
    ("revert", &["undo"]),
    ("rewind", &["branch", "undo"]),
    ("settings", &["configuration"]),
    ("shortcuts", &["keys"]),
    ("subagent", &["sub-agent"]),
    ("summarize", &["summarise", "compact"]),
    ("todo", &["plan"]),
    ("vim", &["editor"]),
    ("yolo", &["/mode", "`auto`"]),
];
/// Letters of such a word from which on its beginning is enough.
const BEGINNING: usize = 3;

/// Returns whether a text in lower case has a word, or what the manual calls that.
pub fn has_meaning(text: &str, word: &str) -> bool {
    let is_named = |name: &str| name == word || (word.chars().count() >= BEGINNING && name.starts_with(word));
    let mut others = MEANINGS.iter().filter(|(name, _)| is_named(name)).flat_map(|(_, others)| *others);
    text.contains(word) || others.any(|other| text.contains(other))
}

/// Returns the paragraphs that contain all the words or what means the same, in any case of letters, in the order of the pages.
pub fn search_manual(words: &[String]) -> Vec<ManualMatch> {
    let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let mut found = Vec::new();
    for page in MANUAL {
        let mut heading = page.title();
        let mut headings = page.headings();
        let mut next = headings.next();
        for (line, text) in page.flowing().lines().enumerate() {
            if let Some(above) = next.filter(|next| *next == text) {
                heading = above.trim_start_matches('#').trim_start();
                next = headings.next();
            }
            let lower = text.to_lowercase();
            if words.iter().all(|word| has_meaning(&lower, word)) {
                found.push(ManualMatch { topic: page.topic, heading, line, text: text.trim().to_owned() });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{MANUAL, ManualPage, manual_page, search_manual};

    #[test]
    fn a_paragraph_becomes_one_line_and_code_tables_and_lists_keep_theirs() {
        let text =
            "# T\n\nOne\ntwo.\n\n- item\n  goes on\n- next\n\n```sh\na\nb\n```\n![p](x.svg)\n| a |\n|---|\n| b |\n";
        let page = ManualPage { topic: "t", text };
        assert_eq!(
            page.flowing(),
            "# T\n\nOne two.\n\n- item goes on\n- next\n\n```sh\na\nb\n```\n| a |\n|---|\n| b |\n"
        );
    }

    #[test]
    fn a_topic_is_found_by_its_name_and_by_a_beginning_that_is_its_own() {
        assert_eq!(manual_page("keys").map(|page| page.topic), Some("keys"));
        assert_eq!(manual_page("Sand").map(|page| page.topic), Some("sandbox"));
        // Configuration, commands and contributing.
        assert_eq!(manual_page("co"), None);
        assert_eq!(manual_page("nothing"), None);
    }

    #[test]
    fn words_are_searched_in_any_order_and_case() {
        let found = search_manual(&["CODE".to_owned(), "exit".to_owned()]);
        assert!(found.iter().any(|found| found.topic == "exec"), "{found:?}");
        assert!(search_manual(&["no-such-word-anywhere".to_owned()]).is_empty());
    }

    #[test]
    fn a_match_names_its_line_and_the_heading_above_which_is_no_comment_in_code() {
        let found = search_manual(&["cancel-agent = []".to_owned()]);
        let lines: Vec<String> = MANUAL.iter().map(ManualPage::flowing).collect();
        for found in &found {
            let page = MANUAL.iter().position(|page| page.topic == found.topic).unwrap();
            assert_eq!(lines[page].lines().nth(found.line).map(str::trim), Some(found.text.as_str()));
            assert_eq!(found.heading, "Keys of your own");
        }
        assert!(!found.is_empty());
        let page = ManualPage { topic: "t", text: "# T\n\n```sh\n# no heading\n```\n## H\n" };
        assert_eq!(page.headings().collect::<Vec<_>>(), ["# T", "## H"]);
    }

    #[test]
    fn every_page_has_a_title_and_a_topic_of_its_own() {
        for page in MANUAL {
            assert!(!page.title().is_empty() && page.text.starts_with("# "), "{}", page.topic);
            assert_eq!(MANUAL.iter().filter(|other| other.topic == page.topic).count(), 1, "{}", page.topic);
        }
    }
}
