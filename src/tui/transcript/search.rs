//! The search in a transcript: what is typed, where it began, where it is, and what it found so far.
//!
//! Keys type and ask; only the layout knows what is shown, so `view::look` answers before the next frame. A place
//! is named by its cell and its number within the cell: it stays the same place while the transcript grows.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::keymap::SearchKey;
use crate::state::Pane;
use crate::transcript::cell::CellId;
use crate::transcript::scroll::{Point, Position};
use steersman_base::limits;
use steersman_base::text::is_invisible;

/// One search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Search {
    text: String,
    /// The byte that the cursor stands before.
    cursor: usize,
    origin: Origin,
    pub at: Option<MatchPlace>,
    /// What the next look shall answer.
    pub request: Option<SearchRequest>,
    pub count: Count,
    /// The last step led around the end.
    pub wrapped: Option<WrapAround>,
    /// The cell that was opened to show the place in it.
    pub opened: Option<CellId>,
    /// The earlier search that was brought back, by its age; 0 is none.
    age: usize,
    /// What was typed before earlier searches were brought back.
    typed: String,
}

/// Where a search began, to go back to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Origin {
    pub position: Position,
    /// Its first row.
    pub top: Point,
    pub selected: Option<CellId>,
    pub pane: Pane,
}

/// One place that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchPlace {
    pub cell: CellId,
    /// Which one within the opened cell, from 0.
    pub nth: usize,
}

/// Where the search shall go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchRequest {
    /// To the first place from where it began on, else to the last one before.
    Nearest,
    /// So many places on, or back.
    Steps(isize),
}

/// How often something was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// The place where the reader is among all, from 0, once it is known.
    pub place: Option<usize>,
    /// All places that were found.
    pub total: usize,
    /// Whether that is all.
    pub scan: Scan,
}

/// How far a transcript was looked through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scan {
    /// There is more to look through.
    #[default]
    SoFar,
    /// All of it.
    Whole,
}

/// Says around which end a step led.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrapAround {
    /// From the last place on to the first.
    ToFirst,
    /// From the first place back to the last.
    ToLast,
}

/// What a look found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchProgress {
    /// How often, so far.
    pub count: Count,
    pub answer: SearchAnswer,
}

/// Answers a [`SearchRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchAnswer {
    /// It is not known yet, or nothing was asked.
    Unknown,
    NotFound,
    /// It leads here.
    At {
        place: MatchPlace,
        /// Where it stands in the opened cell.
        point: Point,
        /// Whether the way led around an end.
        wrapped: Option<WrapAround>,
    },
}

impl Search {
    /// Takes up the search in a transcript that has so many cells more at its beginning.
    pub(super) fn begin_behind(&mut self, earlier: usize) {
        let later = |cell: CellId| CellId::new(cell.index() + earlier);
        let moved = |point: Point| Point { cell: later(point.cell), ..point };
        let origin = self.origin;
        self.origin = Origin {
            position: match origin.position {
                Position::Bottom => Position::Bottom,
                Position::Anchor(point) => Position::Anchor(moved(point)),
            },
            top: moved(origin.top),
            selected: origin.selected.map(later),
            pane: origin.pane,
        };
        self.at = self.at.map(|at| MatchPlace { cell: later(at.cell), ..at });
        self.opened = self.opened.map(later);
        self.count = Count::default();
    }

    /// Makes a search for nothing yet.
    pub fn new(origin: Origin) -> Self {
        Self { origin, ..Self::default() }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns what stands before the cursor.
    pub fn before_cursor(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Returns the first row that was visible when it began.
    pub fn began(&self) -> Point {
        self.origin.top
    }

    pub fn is_active(&self) -> bool {
        !self.text.is_empty()
    }

    /// Carries out a key of the search line, of which earlier searches are brought back; tells whether a key that deletes
    /// one character has.
    pub(super) fn edit(&mut self, key: SearchKey, searches: &[String]) -> bool {
        match key {
            SearchKey::RubOut => return self.rub_out_from(self.left_of_cursor()),
            SearchKey::RubOutWord => {
                let start = self.before_cursor().trim_end().rfind(' ').map_or(0, |blank| blank + 1);
                self.rub_out_from(start);
            }
            SearchKey::RubOutAll => {
                self.rub_out_from(0);
            }
            SearchKey::Left => self.cursor = self.left_of_cursor(),
            SearchKey::Right => {
                let behind = self.text.get(self.cursor..).unwrap_or_default();
                self.cursor += behind.graphemes(true).next().map_or(0, str::len);
            }
            SearchKey::Start => self.cursor = 0,
            SearchKey::End => self.cursor = self.text.len(),
            SearchKey::EarlierSearch if self.age < searches.len() => self.bring_back(self.age + 1, searches),
            SearchKey::LaterSearch if self.age > 0 => self.bring_back(self.age - 1, searches),
            SearchKey::EarlierSearch | SearchKey::LaterSearch => {}
        }
        false
    }

    /// Types at the cursor: white space as blanks, nothing that nobody would see.
    pub fn type_text(&mut self, text: &str) {
        let shown = |c: char| match c {
            c if c.is_whitespace() => Some(' '),
            '\u{200C}' | '\u{200D}' | '\u{FE00}'..='\u{FE0F}' => Some(c),
            c => (!is_invisible(c)).then_some(c),
        };
        let mut more: String = text.trim_end_matches(['\n', '\r']).chars().filter_map(shown).collect();
        let room = limits::SEARCH_BYTES.saturating_sub(self.text.len());
        more.truncate(more.floor_char_boundary(room));
        self.text.insert_str(self.cursor, &more);
        self.cursor += more.len();
        self.changed();
    }

    /// Takes this text in place of what was typed.
    pub fn set_text(&mut self, text: &str) {
        self.text.clear();
        self.cursor = 0;
        self.type_text(text);
    }

    fn rub_out_from(&mut self, start: usize) -> bool {
        if start >= self.cursor {
            return false;
        }
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
        self.changed();
        true
    }

    fn bring_back(&mut self, age: usize, searches: &[String]) {
        if self.age == 0 {
            self.typed.clone_from(&self.text);
        }
        let earlier = searches.len().checked_sub(age).and_then(|at| searches.get(at));
        let text = if age == 0 { self.typed.clone() } else { earlier.cloned().unwrap_or_default() };
        self.set_text(&text);
        self.age = age;
    }

    /// Wishes to go on by so many places.
    pub fn step(&mut self, steps: isize) {
        self.request = Some(match self.request {
            Some(SearchRequest::Steps(before)) => SearchRequest::Steps(before.saturating_add(steps)),
            Some(SearchRequest::Nearest) | None => SearchRequest::Steps(steps),
        });
    }

    fn left_of_cursor(&self) -> usize {
        self.before_cursor().grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    fn changed(&mut self) {
        self.age = 0;
        self.at = None;
        self.wrapped = None;
        self.count = Count::default();
        self.request = Some(SearchRequest::Nearest);
    }
}

impl Count {
    /// Returns it in words: `3 of 17`.
    pub fn describe(&self) -> String {
        match (self.place, self.total, self.scan) {
            (_, 0, Scan::Whole) => "not found".to_owned(),
            (_, 0, Scan::SoFar) => "searching".to_owned(),
            (Some(place), total, Scan::Whole) => format!("{} of {total}", place + 1),
            (None, total, Scan::Whole) => format!("{total} found"),
            (Some(place), total, Scan::SoFar) => format!("{} of {total} so far", place + 1),
            (None, total, Scan::SoFar) => format!("{total} so far"),
        }
    }
}

impl WrapAround {
    /// Returns it in words, the longest first.
    pub fn labels(self) -> [&'static str; 3] {
        match self {
            Self::ToFirst => ["past the end, on from the top", "from the top", "top"],
            Self::ToLast => ["past the top, on from the end", "from the end", "end"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(text: &str) -> Search {
        let origin =
            Origin { position: Position::Bottom, top: Point::default(), selected: None, pane: Pane::Transcript };
        let mut search = Search::new(origin);
        search.type_text(text);
        search
    }

    #[test]
    fn the_line_is_edited_by_whole_characters() {
        let mut search = search("a👨‍👩‍👧‍👦e\u{301}");
        assert!(search.edit(SearchKey::RubOut, &[]));
        assert_eq!(search.text(), "a👨‍👩‍👧‍👦");
        search.edit(SearchKey::Left, &[]);
        search.type_text("b");
        assert_eq!(search.text(), "ab👨‍👩‍👧‍👦");
        search.edit(SearchKey::Right, &[]);
        search.edit(SearchKey::RubOut, &[]);
        assert_eq!((search.text(), search.before_cursor()), ("ab", "ab"));
        search.edit(SearchKey::Start, &[]);
        assert!(!search.edit(SearchKey::RubOut, &[]));
        search.edit(SearchKey::End, &[]);
        search.edit(SearchKey::RubOutAll, &[]);
        assert!(!search.is_active());
    }

    #[test]
    fn a_paste_is_one_line_without_what_nobody_would_see() {
        let mut search = search("two\nlines\t\u{1b}[31m\u{202e}!\n");
        assert_eq!(search.text(), "two lines [31m!");
        search.edit(SearchKey::RubOutWord, &[]);
        assert_eq!(search.text(), "two lines ");
        search.type_text(&"x".repeat(5_000));
        assert_eq!(search.text().len(), limits::SEARCH_BYTES);
    }

    #[test]
    fn earlier_searches_come_back_and_so_does_what_was_typed() {
        let known = ["one".to_owned(), "two".to_owned()];
        let mut search = search("dra");
        let (up, down) = (SearchKey::EarlierSearch, SearchKey::LaterSearch);
        for (expected, key) in [("two", up), ("one", up), ("one", up), ("two", down), ("dra", down)] {
            search.edit(key, &known);
            assert_eq!(search.text(), expected);
        }
    }
}
