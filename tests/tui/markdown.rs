//! Stories of layout: wrapping, Markdown, and streams that end as the whole text does.

use proptest::prelude::*;
use ratatui::style::Style;

use crate::transcript::REPORT;
use steersman_tui::theme::Theme;
use steersman_tui::widgets::markdown::{Begin, render};
use steersman_tui::widgets::stream::{Format, Layout};
use steersman_tui::widgets::wrap::{Break, Line, Wrap, width};

fn wrapped(text: &str, columns: usize, at: Break, prefix: &str) -> Vec<String> {
    let mut rows = Vec::new();
    let prefix = Line::new(prefix, Style::new());
    Wrap { width: columns, at, first: &prefix, rest: &prefix }.line(&Line::new(text, Style::new()), &mut rows);
    rows.iter().map(|row| row.text().to_owned()).collect()
}

#[test]
fn words_wrap_whole_and_long_words_are_split() {
    assert_eq!(wrapped("one two three", 7, Break::Words, ""), ["one two", "three"]);
    assert_eq!(wrapped("a abcdefghij b", 4, Break::Words, ""), ["a", "abcd", "efgh", "ij b"]);
    assert_eq!(wrapped("", 4, Break::Words, "- "), ["- "]);
}

#[test]
fn wide_characters_break_anywhere_but_are_never_cut() {
    assert_eq!(wrapped("日本語です", 5, Break::Words, ""), ["日本", "語で", "す"]);
    assert_eq!(wrapped("ab日本。", 6, Break::Words, ""), ["ab日", "本。"]);
    assert_eq!(wrapped("日", 1, Break::Words, ""), ["\u{fffd}"]);
}

#[test]
fn code_keeps_every_blank() {
    assert_eq!(wrapped("if  x { y }", 4, Break::Anywhere, ""), ["if  ", "x { ", "y }"]);
    assert_eq!(wrapped("\tx\ty", 20, Break::Anywhere, ""), ["    x   y"]);
}

/// Returns the usual number of cases, or the one that was asked for.
fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(256), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_row_is_wider_than_asked_and_no_text_is_lost(
        text in "([a-z]{1,12}|[ \t]{1,3}|[日本語、。ー]{1,4}|e\u{301}{1,4}|👩\u{200d}👧|🇩🇪|\u{ff76}\u{ff9e}|\\PC){0,40}",
        columns in 1..40_usize, cut in 0..60_usize, how in prop::bool::ANY,
    ) {
        let at = if how { Break::Words } else { Break::Anywhere };
        let split = text.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(text.len());
        let mut line = Line::new(&text[..split], Style::new());
        line.push(&text[split..], Style::new().bold());
        let none = Line::default();
        let mut rows = Vec::new();
        Wrap { width: columns, at, first: &none, rest: &none }.line(&line, &mut rows);
        prop_assert!(!rows.is_empty());
        for row in &rows {
            prop_assert!(row.width() <= columns, "{:?} is wider than {}", row.text(), columns);
        }
        if columns >= 4 {
            let solid = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            let shown: String = rows.iter().map(|row| solid(row.text())).collect();
            prop_assert_eq!(shown, solid(&text));
        }
    }

    #[test]
    fn any_markdown_fits_any_width(text in "([-*#>|`~\\[\\]()!:.0-9 \n]|[a-z]{1,8}|日本){0,120}", columns in 1..50_usize) {
        let mut rows = Vec::new();
        render(&text, columns, &Theme::dark(), Begin::Fresh, &mut rows);
        for row in &rows {
            prop_assert!(row.width() <= columns, "{:?}", row.text());
        }
    }
}

// --- Markdown

fn markdown(text: &str, columns: usize) -> Vec<String> {
    let mut rows = Vec::new();
    render(text, columns, &Theme::plain(), Begin::Fresh, &mut rows);
    rows.iter().map(|row| row.text().to_owned()).collect()
}

#[test]
fn lists_hang_and_nest() {
    let text = "- one two three\n  1. deep words\n  2. b\n- [x] done\n";
    assert_eq!(markdown(text, 11), ["• one two", "  three", "  1. deep", "     words", "  2. b", "[✓] done"]);
}

#[test]
fn a_name_that_begins_with_a_dot_is_bold_between_two_stars_and_a_pattern_stays_as_it_is() {
    assert_eq!(markdown("**.claude/** is a directory and **bold** is", 60), [".claude/ is a directory and bold is"]);
    assert_eq!(markdown("all *.rs and *.py of **/src/** here", 60), ["all *.rs and *.py of **/src/** here"]);
}

#[test]
fn quotes_carry_their_bar_on_every_row() {
    assert_eq!(markdown("> one two\n>\n> > three", 8), ["▏ one", "▏ two", "▏", "▏ ▏ thre", "▏ ▏ e"]);
}

#[test]
fn a_link_shows_where_it_leads() {
    assert_eq!(markdown("[docs](https://a.b/c) <https://x.y>", 60), ["docs (https://a.b/c) https://x.y"]);
    assert_eq!(markdown("![logo](l.png)", 60), ["[image: logo (l.png)]"]);
}

#[test]
fn an_unclosed_fence_is_code_so_far() {
    assert_eq!(markdown("```rust\nlet a = *b*;\n", 30), ["┄ rust", "  let a = *b*;"]);
}

#[test]
fn a_table_gives_way_in_its_widest_column_and_becomes_records_where_it_cannot_fit() {
    let table = "| name | note |\n|---|--:|\n| a | some long note |\n";
    assert_eq!(markdown(table, 40), ["name │           note", "─────┼───────────────", "a    │ some long note"]);
    assert_eq!(markdown(table, 16), ["name │      note", "─────┼──────────", "a    │ some long", "     │      note"]);
    assert_eq!(markdown(table, 8), ["name:", "  a", "note:", "  some", "  long", "  note"]);
}

#[test]
fn source_lines_keep_their_rows() {
    assert_eq!(markdown("**Name:** x\n**Age:** y", 30), ["Name: x", "Age: y"]);
}

// --- streaming equals whole

fn streamed(pieces: &[&str], columns: usize, format: Format) -> Vec<Line> {
    let theme = Theme::dark();
    let mut layout = Layout::new(format, columns);
    let mut text = String::new();
    for piece in pieces {
        text.push_str(piece);
        layout.update(&text, &theme);
    }
    layout.finish(&text, &theme);
    layout.rows().to_vec()
}

fn split<'a>(text: &'a str, cuts: &[prop::sample::Index]) -> Vec<&'a str> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(cut.index(text.len() + 1))).collect();
    places.extend([0, text.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

fn markdown_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z]{1,9}( [a-z*`_~]{1,9}){0,6}",
        1 => Just("***".to_owned()),
        1 => "```[a-z`]{0,4}",
        1 => "#{1,7} ?[a-z]{0,5}",
        2 => " {0,5}([-*+]|[0-9]{1,2}[.)]) ?[a-z]{0,9}",
        1 => "> ?[a-z]{0,5}",
        1 => Just("| a | b |\n|---|---|\n| c | d |".to_owned()),
        1 => "(---|===|    code|<div>|</div>|<!-- |-->)",
        1 => "\\[[a-c]\\](: [a-z]{1,5})?",
        1 => Just("x".repeat(90)),
    ];
    prop::collection::vec((piece, "\n{1,3}"), 0..25)
        .prop_map(|pieces| pieces.into_iter().flat_map(|(piece, end)| [piece, end]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(48), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn streaming_at_any_split_points_equals_the_whole(
        text in markdown_text(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..30), columns in 10..60_usize,
    ) {
        let whole = streamed(&[&text], columns, Format::Markdown);
        prop_assert_eq!(&streamed(&split(&text, &cuts), columns, Format::Markdown), &whole);
        let letters: Vec<String> = text.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        prop_assert_eq!(&streamed(&letters, columns, Format::Markdown), &whole);
    }
}

#[test]
fn a_short_text_laid_out_piecewise_is_what_one_parse_gives() {
    let whole = markdown(REPORT, 60);
    let pieces: Vec<&str> = REPORT.split_inclusive(' ').collect();
    let rows: Vec<String> = streamed(&pieces, 60, Format::Markdown).iter().map(|row| row.text().to_owned()).collect();
    assert_eq!(rows, whole);
}

#[test]
fn links_whose_definition_comes_last_are_resolved_at_the_end() {
    let text = "see [docs]\n\nmore\n\n[docs]: https://a.b\n";
    let rows = streamed(&["see [docs]\n\nmore\n\n", "[docs]: https://a.b\n"], 60, Format::Markdown);
    assert_eq!(rows[0].text(), "see docs (https://a.b)");
    assert_eq!(rows, streamed(&[text], 60, Format::Markdown));
}

#[test]
fn giant_blocks_are_the_same_however_they_arrive() {
    let code: String = lines(3_000, |line| format!("let line_{line} = *{line}*;\n"));
    let rows: String = lines(2_000, |row| format!("| {row} | word |\n"));
    let items: String = lines(3_000, |item| format!("- item {item}\n  1. nested\n"));
    let giants = [
        "word ".repeat(24_000),
        "x".repeat(120_000),
        "日本語".repeat(9_000),
        format!("above\n\n```rust\n{code}```\nbelow\n"),
        format!("| a | b |\n|---|---|\n{rows}\nbelow\n"),
        items,
        format!("para\n\n{}", "*em* `code` text ".repeat(5_000)),
    ];
    for giant in giants {
        let whole = streamed(&[&giant], 80, Format::Markdown);
        let pieces: Vec<&str> = split_every(&giant, 3_333);
        assert!(streamed(&pieces, 80, Format::Markdown) == whole, "{:?}…", &giant[..30]);
        assert!(whole.iter().all(|row| width(row.text()) <= 80));
    }
    let rows = streamed(&[&format!("```rust\n{code}```\n# below\n")], 80, Format::Markdown);
    assert_eq!(rows.len(), 3_000 + 3, "one label, every line once, a heading");
    assert_eq!(rows[2_999 + 1].text(), "  let line_2999 = *2999*;");
}

#[test]
fn no_megabyte_of_marks_holds_up_the_screen() {
    let wide = format!("{}\n{}\n", vec!["a"; 2_000].join("|"), vec!["-"; 2_000].join("|"));
    let few = format!("{}\n{}\n", ["a"; 33].join("|"), ["-"; 33].join("|"));
    let whole = |unit: &str| unit.repeat(1_000_000 / unit.len());
    let texts = [
        ("rows of one cell below 2,000 columns", wide.clone() + &whole("a\n")),
        ("rows of one cell below 33 columns", few + &whole("a\n")),
        ("quotes", whole(">")),
        ("stars", whole("*")),
        ("brackets", whole("[")),
        ("images", whole("![[")),
        ("backticks", whole("`")),
        ("lists", whole("- ")),
        ("brackets and a definition", format!("[x]: y\n\n{}", whole("[x]["))),
        ("quotes and a definition", format!("[x]: y\n\n{}", whole(">"))),
        ("lines below quotes and a definition", format!("[x]: y\n\n{}a{}", ">".repeat(500_000), "\na".repeat(250_000))),
        ("open tags", whole("<a ")),
    ];
    for (name, text) in texts {
        let began = crate::support::cpu_time::CpuTime::now();
        let rows = streamed(&[&text], 80, Format::Markdown);
        assert!(rows.len() <= text.len(), "{name}: {} rows", rows.len());
        assert!(began.elapsed().as_secs() < 60, "{name} took {:?}", began.elapsed());
    }
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect::<Vec<_>>().concat()
}

fn split_every(text: &str, bytes: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(rest.ceil_char_boundary(bytes.min(rest.len())));
        pieces.push(piece);
        rest = more;
    }
    pieces
}
