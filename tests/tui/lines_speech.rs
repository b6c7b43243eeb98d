//! Markdown read aloud: what is written, and that it does not depend on the pieces in which it came.

use proptest::prelude::*;
use steersman_tui::lines::{Speech, plain};

/// Reads a text that comes in pieces of so many characters.
fn read(text: &str, pieces: &[usize]) -> Vec<String> {
    let mut speech = Speech::default();
    let mut lines = Vec::new();
    let mut so_far = String::new();
    let mut chars = text.chars();
    for count in pieces.iter().cycle() {
        let piece: String = chars.by_ref().take(*count).collect();
        if piece.is_empty() {
            break;
        }
        so_far.push_str(&piece);
        lines.extend(speech.more(&so_far));
    }
    lines.extend(speech.end(&so_far));
    lines
}

const EVERYTHING: &str = "# The title\n\nThis is the first sentence of it. Here is **the second**, see [the book](https://a.example/b)! \
And a third\nwith a second line.\n\n- one item\n  - one below with `code. In it`\n  - [ ] to do\n  - [x] was done\n- another\n\n\
3. third\n4) fourth\n\n> a quote here\n> of two lines\n\n```rust\nfn main() {\n    let a = 1;\n\n}\n```\n\n| Name | Size |\n|---|--:|\n\
| a.rs | 3 |\n| b \\| c | |\n\nbehind it\n\n---\n\n> ```\n> quoted code\n> ```\n\n~~~\nno end\n";

#[test]
fn every_kind_of_block_has_its_word() {
    let expected = [
        "heading 1: The title",
        "This is the first sentence of it.",
        "Here is the second, see the book (https://a.example/b)!",
        "And a third",
        "with a second line.",
        "item: one item",
        "item, level 2: one below with code. In it",
        "item, level 2, open: to do",
        "item, level 2, done: was done",
        "item: another",
        "item 3: third",
        "item 4: fourth",
        "quote: a quote here",
        "quote: of two lines",
        "code rust:",
        "fn main() {",
        "    let a = 1;",
        "",
        "}",
        "end of code",
        "table, 2 columns: Name, Size",
        "row 1: Name: a.rs; Size: 3",
        "row 2: Name: b | c; Size: empty",
        "end of table",
        "behind it",
        "code:",
        "quoted code",
        "end of code",
        "code:",
        "no end",
        "end of code",
    ];
    assert_eq!(read(EVERYTHING, &[usize::MAX]), expected);
}

#[test]
fn a_sentence_is_read_before_its_paragraph_ends_and_a_letter_never() {
    let mut speech = Speech::default();
    assert_eq!(speech.more("The first sentence is here"), Vec::<String>::new());
    assert_eq!(speech.more("The first sentence is here. T"), ["The first sentence is here."]);
    assert_eq!(speech.more("The first sentence is here. The second"), Vec::<String>::new());
    assert_eq!(speech.end("The first sentence is here. The second"), ["The second"]);
}

#[test]
fn a_line_of_code_is_read_as_soon_as_it_is_whole() {
    let mut speech = Speech::default();
    assert_eq!(speech.more("```\nlet a = 1;\nlet"), ["code:", "let a = 1;"]);
}

fn markdown() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "# Title\n",
        "A whole sentence stands here. ",
        "Another one! ",
        "**bold. It** is ",
        "`code. Here` ",
        "\n",
        "\n\n",
        "- item\n",
        "  - below\n",
        "1. one\n",
        "> quote\n",
        "```rust\n",
        "```\n",
        "let x = 1;\n",
        "| a | b |\n",
        "|---|---|\n",
        "| 1 | 2 |\n",
        "---\n",
        "[x](y. Z) ",
        "é。次 ",
        "e.g. this ",
        "\u{1b}[2J",
        "\t",
        "&#27;",
        "*",
        "(",
        "x",
    ]);
    prop::collection::vec(parts, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_read_does_not_depend_on_the_pieces(text in markdown(), pieces in prop::collection::vec(1_usize..9, 1..6)) {
        let whole = read(&text, &[usize::MAX]);
        prop_assert_eq!(read(&text, &pieces), whole.clone());
        prop_assert!(whole.iter().all(|line| !line.contains(|c: char| c.is_control())));
    }

    #[test]
    fn no_word_is_lost(words in prop::collection::vec("[a-z]{1,9}", 1..30), marks in prop::collection::vec(0_usize..8, 30)) {
        let around = ["", "**", "*", "`", "\n\n", "\n- ", "\n> ", "\n# "];
        let mut text = String::new();
        for (word, mark) in words.iter().zip(marks) {
            let mark = around[mark];
            let behind = if mark.starts_with('\n') { "" } else { mark };
            text.push_str(&format!("{mark}{word}{behind} "));
        }
        let read = read(&text, &[3]).join(" ");
        for word in &words {
            prop_assert!(read.contains(word.as_str()), "{} is not in {}", word, read);
        }
    }

    #[test]
    fn nothing_is_obeyed(text in "\\PC*[\u{0}-\u{9f}\u{202a}-\u{202e}]*") {
        let obeyed = |c: char| c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c);
        prop_assert!(!plain(&text).contains(obeyed));
    }
}
