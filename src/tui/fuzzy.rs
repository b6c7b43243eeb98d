//! Fuzzy matching of a list of texts, as people know it from file finders: the letters in their order, gaps allowed.
//!
//! Pure. Called away from the screen for whole lists, and by the palette for the few lines that are shown.

use std::sync::Arc;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use steersman_base::limits;
use steersman_base::text::composed;

/// Texts that are looked at between two looks at whether the answer is still wanted.
const STRIDE: usize = 1_024;

/// What the texts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryKind {
    Lines,
    /// Paths: the beginning of a component counts more.
    Paths,
}

/// One search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FuzzyQuery {
    /// Rises with each search; only the answer to the newest counts.
    pub number: u64,
    pub kind: QueryKind,
    /// What was typed; its words may match anywhere.
    pub query: String,
    /// The texts, the best first where several match equally well.
    pub among: Arc<[Arc<str>]>,
    /// So many of them, from the first, are looked at.
    pub first: usize,
}

/// One text that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FuzzyMatch {
    /// Its place in the list.
    pub index: usize,
    pub text: Arc<str>,
    /// The characters, as the reader sees them, that match: their places, ascending.
    pub marks: Vec<u32>,
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FuzzyMatches {
    pub number: u64,
    /// The best matches, the best first.
    pub hits: Vec<FuzzyMatch>,
    /// How many match at all.
    pub count: usize,
}

/// Searches; `None` when nobody wants the answer any more.
pub fn find(query: &FuzzyQuery, is_wanted: impl Fn() -> bool) -> Option<FuzzyMatches> {
    let mut matcher = matcher(query.kind);
    let pattern = pattern(&query.query);
    let mut buffer = Vec::new();
    let mut scored = Vec::new();
    for (index, text) in query.among.iter().take(query.first).enumerate() {
        if index % STRIDE == 0 && !is_wanted() {
            return None;
        }
        if let Some(score) = pattern.score(Utf32Str::new(&composed(text), &mut buffer), &mut matcher) {
            scored.push((score, index));
        }
    }
    let count = scored.len();
    // A dot alone says of no path more than of another: it asks for those that are hidden.
    let wants_hidden = query.kind == QueryKind::Paths && query.query.rsplit('/').next() == Some(".");
    let is_hidden = |index: usize| {
        wants_hidden && query.among.get(index).is_some_and(|text| text.split('/').any(|part| part.starts_with('.')))
    };
    let order = |(score, index): &(u32, usize)| (!is_hidden(*index), std::cmp::Reverse(*score), *index);
    if count > limits::HITS {
        scored.select_nth_unstable_by_key(limits::HITS, order);
        scored.truncate(limits::HITS);
    }
    scored.sort_unstable_by_key(order);
    let hits = scored.into_iter().filter_map(|(_, index)| {
        let text = query.among.get(index)?;
        Some(FuzzyMatch { index, text: Arc::clone(text), marks: marks(&pattern, text, &mut matcher)? })
    });
    Some(FuzzyMatches { number: query.number, hits: hits.collect(), count })
}

/// Leaves out what does not match a newer query, until the answer to that comes.
pub fn narrow(hits: &[FuzzyMatch], query: &str, kind: QueryKind) -> Vec<FuzzyMatch> {
    let mut matcher = matcher(kind);
    let pattern = pattern(query);
    let fitting = hits.iter().filter_map(|hit| {
        let marks = marks(&pattern, &hit.text, &mut matcher)?;
        Some(FuzzyMatch { marks, ..hit.clone() })
    });
    fitting.collect()
}

fn matcher(kind: QueryKind) -> Matcher {
    Matcher::new(match kind {
        QueryKind::Lines => Config::DEFAULT,
        QueryKind::Paths => Config::DEFAULT.match_paths(),
    })
}

fn pattern(query: &str) -> Pattern {
    Pattern::new(&composed(query), CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy)
}

fn marks(pattern: &Pattern, text: &str, matcher: &mut Matcher) -> Option<Vec<u32>> {
    let mut marks = Vec::new();
    pattern.indices(Utf32Str::new(&composed(text), &mut Vec::new()), matcher, &mut marks)?;
    marks.sort_unstable();
    marks.dedup();
    Some(marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(query: &str, among: &[&str]) -> FuzzyQuery {
        let among: Arc<[Arc<str>]> = among.iter().map(|text| Arc::from(*text)).collect();
        FuzzyQuery { number: 7, kind: QueryKind::Paths, query: query.to_owned(), first: among.len(), among }
    }

    #[test]
    fn the_letters_match_in_their_order_and_are_told() {
        let found = find(&query("stmn", &["src/text.rs", "src/tui/main.rs", "nmts"]), || true).unwrap();
        assert_eq!((found.number, found.count), (7, 1));
        assert_eq!((found.hits[0].index, found.hits[0].marks.len()), (1, 4));
        assert_eq!(find(&query("", &["a", "b"]), || true).unwrap().hits.len(), 2);
    }

    #[test]
    fn an_answer_that_nobody_wants_is_not_worked_out() {
        assert_eq!(find(&query("a", &["a"]), || false), None);
    }

    #[test]
    fn of_a_great_many_the_best_are_told_and_all_are_counted() {
        let names: Vec<String> = (0..5_000).map(|n| format!("a_{n}_file.txt")).chain(["file.txt".into()]).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let found = find(&query("file.txt", &names), || true).unwrap();
        assert_eq!((found.hits.len(), found.count, found.hits[0].index), (limits::HITS, 5_001, 5_000));
        assert!(narrow(&found.hits, "4999", QueryKind::Paths).is_empty());
        assert_eq!(narrow(&found.hits, "filetxt", QueryKind::Paths).len(), limits::HITS);
    }
}
