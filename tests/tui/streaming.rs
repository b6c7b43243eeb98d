//! Stories of Markdown that streams: rows that are finished stay where they are, and the end is what the whole gives.

use proptest::prelude::*;
use steersman_base::event::Event;
use steersman_tui::theme::Theme;
use steersman_tui::widgets::stream::{Format, Layout};

use crate::support::stage::Stage;

/// Holds every construct that comes without moving what is above it.
pub const QUIET: &str = "\
# The first heading

A paragraph with *emphasis*, **strong words**, ~~struck ones~~, `code` and ***both at once***, long enough to be \
wrapped on every screen that a person reads on, with a [link](https://example.org/docs) and <https://example.org/a>.
A second line of it, which breaks hard  
here and\\
there; 2 * 3 * 4 is 24, and snake_case_names stay as they are: a_b_c.

## Lists

- one
- two, with **strong words that go over the end of a narrow row** and more
  - nested
    1. deep
    2. deeper
  - again

  A paragraph of the second item.

- three

  ```sh
  echo \"code in an item\"
  ```
- [ ] open task
- [x] done task

7. seven
8. eight
9. nine

### Quotes

> quoted words
> of *someone*
>
> > a quote within
> > ```python
> > def f(x):
> >     return x
> > ```
>
> the end

---

```rust
fn main() {
    // a comment
    println!(\"hi {}\", 1 + 2);
}
```

~~~
no language, ``` within
~~~

    indented code
    of two lines

![a picture](p.png) and a note[^1], &amp; an entity.

[^1]: What the note says, in more than a few words, so that it is wrapped.

<details>
<summary>html</summary>
</details>

日本語のテキストは幅が二倍です。 Emoji: 👩\u{200d}👧 🇩🇪 ❤\u{fe0f} and e\u{301}. עברית וערבית: العربية.

The end.
";

/// Holds what Markdown itself moves: a table, and a heading that is told by the line below it.
const FORCED: &str = "\
Above.

| name | lines | what it is about |
|:--|--:|---|
| a | 1 | short |
| a longer name | 12345 | a cell with **strong words** and `code` |

A heading below which its line comes
====================================

Between [late] links.

Below.

[late]: https://example.org/late
";

fn texts(layout: &Layout) -> Vec<String> {
    layout.rows().iter().map(|row| row.text().to_owned()).collect()
}

fn whole(text: &str, columns: usize) -> Layout {
    let mut layout = Layout::new(Format::Markdown, columns);
    layout.finish(text, &Theme::dark());
    layout
}

/// Streams a text in pieces; calls back with the rows before and after each piece.
fn stream(pieces: &[&str], columns: usize, mut step: impl FnMut(&[String], &Layout)) -> Layout {
    let theme = Theme::dark();
    let mut layout = Layout::new(Format::Markdown, columns);
    let mut text = String::new();
    let mut before = Vec::new();
    for piece in pieces {
        text.push_str(piece);
        layout.update(&text, &theme);
        step(&before, &layout);
        before = texts(&layout);
    }
    layout.finish(&text, &theme);
    layout
}

fn letters(text: &str) -> Vec<&str> {
    text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()]).collect()
}

#[test]
fn letter_by_letter_nothing_moves_but_the_last_two_rows() {
    for columns in [100, 60, 30] {
        let end = stream(&letters(QUIET), columns, |before, layout| {
            let after = texts(layout);
            let finished = before.len().saturating_sub(2);
            assert!(after.len() + 1 >= before.len(), "rows went away: {before:#?}\n{after:#?}");
            for (row, (old, new)) in before.iter().zip(&after).enumerate().take(finished) {
                assert_eq!(old, new, "row {row} of {} at {columns} columns moved", before.len());
            }
        });
        assert_eq!(end.rows(), whole(QUIET, columns).rows(), "{columns} columns");
    }
}

#[test]
fn what_is_settled_is_never_written_again() {
    for text in [QUIET, FORCED] {
        for columns in [100, 34, 12] {
            let mut settled: Vec<_> = Vec::new();
            stream(&letters(text), columns, |_, layout| {
                let now = &layout.rows()[..layout.settled()];
                assert!(now.len() >= settled.len(), "what was settled is not any more");
                assert_eq!(&now[..settled.len()], &settled[..], "{columns} columns");
                settled = now.to_vec();
            });
            let end = whole(text, columns);
            // Only a definition that comes last can change what was settled.
            if text == QUIET {
                assert_eq!(&end.rows()[..settled.len()], &settled[..]);
            }
        }
    }
}

#[test]
fn little_is_left_to_be_laid_out_again() {
    let code: String = (0..200).map(|line| format!("let line_{line} = {line};\n")).collect();
    let items: String = (0..200).map(|item| format!("- item {item}\n  with a second line\n")).collect();
    for text in [format!("```rust\n{code}"), items] {
        let mut most = 0;
        stream(&letters(&text), 80, |_, layout| most = most.max(layout.rows().len() - layout.settled()));
        assert!(most <= 4, "{most} rows were laid out again for one letter");
    }
}

#[test]
fn markdown_moves_only_what_its_rules_move() {
    let mut moved = Vec::new();
    let end = stream(&letters(FORCED), 60, |before, layout| {
        let after = texts(layout);
        for (old, new) in before.iter().zip(&after).take(before.len().saturating_sub(2)) {
            if old != new {
                moved.push(old.clone());
            }
        }
    });
    let is_table = |row: &String| row.contains('│') || row.contains('|') || row.contains('┼') || row.starts_with('─');
    assert!(moved.iter().all(is_table), "{moved:#?}");
    assert_eq!(end.rows(), whole(FORCED, 60).rows());
    assert!(texts(&end).contains(&"Between late (https://example.org/late) links.".to_owned()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_pieces_give_the_rows_of_the_whole(
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..60), columns in 8..120_usize, quiet in any::<bool>(),
    ) {
        let text = if quiet { QUIET } else { FORCED };
        let mut places: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(cut.index(text.len() + 1))).collect();
        places.extend([0, text.len()]);
        places.sort_unstable();
        let pieces: Vec<&str> = places.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
        let end = stream(&pieces, columns, |_, _| {});
        let whole = whole(text, columns);
        prop_assert_eq!(end.rows(), whole.rows());
    }
}

#[test]
fn what_an_entity_hides_is_shown_and_not_obeyed() {
    let text = "a&#x202e;b &#27;[31m &#x200b; [c](https://e.org/&#x202e;x)\n\n```&#x202e;\ncode\n```\n";
    let shown = texts(&whole(text, 80)).join("\n");
    assert!(shown.contains("a<U+202E>b ␛[31m <U+200B>") && shown.contains("https://e.org/<U+202E>x"), "{shown}");
    assert!(!shown.contains(['\u{202e}', '\u{1b}', '\u{200b}']), "{shown}");
}

#[test]
fn a_list_that_grows_keeps_its_numbers_and_its_looseness_moves_nothing() {
    let text = "3. a\n3. b\n   ```\n   x\n   ```\n3. c\n\n3. d\n\n   para\n";
    let end = stream(&letters(text), 40, |_, _| {});
    assert_eq!(texts(&end), ["3. a", "4. b", "     x", "5. c", "6. d", "", "   para"]);
    assert_eq!(end.rows(), whole(text, 40).rows());
}

#[test]
fn links_pictures_notes_and_breaks_are_shown_once_and_whole() {
    let shown = |text: &str| texts(&whole(text, 60)).join("\n");
    assert_eq!(shown("<me@example.org> [example.org](https://example.org/)"), "me@example.org example.org");
    assert_eq!(shown("[![logo](l.png)](https://e.org)"), "[image: logo (l.png)] (https://e.org)");
    assert_eq!(shown("a[^n]\n\n[^n]: the note\n"), "a[^n]\n\n[^n]: the note");
    assert_eq!(shown("a<br>b <b>c</b>"), "a\nb <b>c</b>");
    assert_eq!(shown("1. [x] a\n2. [ ] b"), "1. [✓] a\n2. [ ] b");
    let long = format!("see https://example.org/{}", "path/".repeat(20));
    assert!(texts(&whole(&long, 30)).len() > 3, "a long address is wrapped");
}

#[test]
fn every_construct_at_four_sizes() {
    for (width, height) in [(120, 40), (80, 24), (56, 20), (34, 10)] {
        let mut stage = Stage::new(width, height);
        stage.turn("");
        stage.event("", Event::Assistant { text: format!("{QUIET}\n{FORCED}"), interrupted: false });
        let mut pictures = vec![stage.picture()];
        stage.keys("<c-home>");
        pictures.push(stage.picture());
        insta::assert_snapshot!(format!("constructs_{width}x{height}"), pictures.join("\n"));
    }
}
