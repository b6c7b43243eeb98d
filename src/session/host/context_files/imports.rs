//! `@path` in a context file: the imports of Claude Code (<https://code.claude.com/docs/en/memory>).
//!
//! An import stands at the start of a line or behind a blank. Pure; within code nothing is one.

use steersman_base::limits;

/// An import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) path: String,
}

/// Fewest characters of a fence around code.
const FENCE: usize = 3;

/// Returns the imports of a text, each once.
pub(super) fn imports(text: &str) -> Vec<Import> {
    let mut found: Vec<Import> = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let start = line.trim_start();
        let (mark, behind) = start.split_at(start.find(|c| !start.starts_with(c)).unwrap_or(start.len()));
        let mark = Some(mark).filter(|mark| mark.len() >= FENCE && mark.starts_with(['`', '~']));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            // It ends with as many of the same, and nothing behind them.
            (Some(open), Some(mark)) if mark.starts_with(open) && behind.trim().is_empty() => fence = None,
            (Some(_), _) => {}
            (None, None) => {
                for path in in_line(line) {
                    let import = Import { path: path.to_owned() };
                    if found.len() < limits::CONTEXT_IMPORTS && !found.contains(&import) {
                        found.push(import);
                    }
                }
            }
        }
    }
    found
}

/// Returns what is imported in a line: not within a code span, and without the punctuation of the sentence behind it.
fn in_line(line: &str) -> impl Iterator<Item = &str> {
    // Every second part between backquotes is code; the last one is not when its span does not end.
    let spans = line.split('`').count();
    let outside = line
        .split('`')
        .enumerate()
        .filter(move |(at, _)| at.is_multiple_of(2) || (at + 1 == spans && spans.is_multiple_of(2)));
    let words = outside.flat_map(|(_, part)| part.split_whitespace());
    let paths = words.filter_map(|word| word.trim_start_matches(['(', '"', '\'', '*']).strip_prefix('@'));
    let paths = paths.map(|path| path.trim_end_matches(['.', ',', ';', ':', ')', '!', '?', '"', '\'', '*']));
    paths.filter(|path| !path.is_empty() && !path.contains("://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        imports(text).into_iter().map(|import| import.path).collect()
    }

    #[test]
    fn code_is_what_stands_between_fences_of_the_same_kind_and_length() {
        assert_eq!(found("````md\n```\n@a.md\n```\n@b.md\n````\n@c.md"), ["c.md"]);
        assert_eq!(found("~~~\n```\n@a.md\n~~~ not the end\n~~~~\n@b.md"), ["b.md"]);
        assert_eq!(found("``\n@a.md"), ["a.md"]);
    }

    #[test]
    fn an_import_begins_a_word_and_ends_before_the_punctuation() {
        assert_eq!(
            found("See @README.md and (@docs/a.md), @~/x.md.\n- @./b.md\n@README.md"),
            ["README.md", "docs/a.md", "~/x.md", "./b.md"]
        );
        assert_eq!(found("mail me@example.org, a@b, @, @https://x.org"), [""; 0]);
    }

    #[test]
    fn nothing_within_code_is_an_import() {
        assert_eq!(
            found("`@a.md` and @b.md `x @c.md`\n```\n@d.md\n```\n~~~sh\n@e.md\n```\n~~~\n@f.md"),
            ["b.md", "f.md"]
        );
        assert_eq!(found("a ` alone and @b.md"), ["b.md"]);
    }

    #[test]
    fn there_is_an_end_to_how_many_there_are() {
        let names: Vec<String> = (0..1_000).map(|n| format!("@{n}.md")).collect();
        assert_eq!(imports(&names.join("\n")).len(), limits::CONTEXT_IMPORTS);
    }
}
