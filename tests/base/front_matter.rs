//! The heads of skills, custom commands and agent files, as people write them.

use proptest::prelude::*;
use steersman_base::front_matter::Document;
use steersman_base::protocol::{PromptTemplate, TemplateKind};

fn head(head: &str) -> Document {
    Document::parse(&format!("---\n{head}\n---\nThe text.\n")).unwrap()
}

fn text(text: &str, name: &str) -> Option<String> {
    head(text).text(name).map(std::borrow::Cow::into_owned)
}

fn list(text: &str, name: &str) -> Vec<String> {
    head(text).list(name).unwrap_or_default()
}

#[test]
fn a_file_without_a_head_is_all_text() {
    let document = Document::parse("# Title\n\n---\nname: x\n---\n").unwrap();
    assert_eq!(document.body, "# Title\n\n---\nname: x\n---\n");
    assert_eq!(document.text("name"), None);
}

#[test]
fn the_text_begins_behind_the_closing_line_also_in_files_of_windows() {
    let document = Document::parse("\u{FEFF}---\r\nname: x\r\n--- \r\n\r\n# Title\r\n---\r\n").unwrap();
    assert_eq!(document.text("name").as_deref(), Some("x"));
    assert_eq!(document.body, "\n# Title\n---\n");
}

#[test]
fn a_head_without_an_end_is_said_and_not_guessed() {
    let error = Document::parse("---\nname: x\n\nText").unwrap_err();
    assert_eq!(error.to_string(), "the front matter begins with --- and has no closing --- line");
}

#[test]
fn an_unquoted_value_may_hold_colons_quotes_and_numbers_of_issues() {
    let line = "description: Use when: \"a: b\" fails, e.g. https://x.org:80/#top or issue #12 # a comment";
    assert_eq!(text(line, "description").unwrap(), "Use when: \"a: b\" fails, e.g. https://x.org:80/#top or issue #12");
}

#[test]
fn quoted_values_end_at_their_quote_and_may_span_lines() {
    assert_eq!(text(r#"a: "x # y: \"z\" \u00e9\n" # c"#, "a").unwrap(), "x # y: \"z\" é");
    assert_eq!(text("a: 'it''s'", "a").unwrap(), "it's");
    assert_eq!(text("a: \"one\n  two\"\nb: c", "a").unwrap(), "one two");
    assert_eq!(text("a: \"one\n  two\"\nb: c", "b").unwrap(), "c");
    // Something behind the quote: it is a plain text after all.
    assert_eq!(text("a: \"Review\" and merge", "a").unwrap(), "\"Review\" and merge");
    assert_eq!(text("a: \"no end\nb: c", "b").unwrap(), "c");
}

#[test]
fn block_texts_keep_or_join_their_lines() {
    assert_eq!(text("a: |-\n  one\n    two\n\n  three\nb: c", "a").unwrap(), "one\n  two\n\nthree");
    assert_eq!(text("a: >\n  one\n  two\n\n  three\nb: c", "a").unwrap(), "one two\nthree");
    assert_eq!(text("a: >\n  one\n  two\n\n  three\nb: c", "b").unwrap(), "c");
}

#[test]
fn a_plain_value_goes_on_in_indented_lines_and_below_its_name() {
    assert_eq!(text("a: one\n  two: three\n  four\nb: c", "a").unwrap(), "one two: three four");
    assert_eq!(text("a:\n  one\n  two\nb: c", "a").unwrap(), "one two");
    // A line that should have been indented.
    assert_eq!(text("a: one\n<example>\nb: c", "a").unwrap(), "one <example>");
}

#[test]
fn lists_come_in_both_forms_and_as_words() {
    for written in [
        "tools: [Read, 'Bash(git add:*)', \"Grep\"]",
        "tools:\n  - Read\n  - Bash(git add:*) # for commits\n  # nothing\n  - \"Grep\"",
        "tools:\n- Read\n- Bash(git add:*)\n- Grep",
        "tools: [\n  Read,\n  Bash(git add:*),\n  Grep\n]",
        "tools:\n  [\n    Read,\n    Bash(git add:*), Grep\n  ]",
        "tools: Read, Bash(git add:*), Grep",
        "tools: Read Bash(git add:*) Grep",
    ] {
        let document = head(&format!("{written}\nb: c"));
        assert_eq!(document.list("tools").unwrap(), ["Read", "Bash(git add:*)", "Grep"], "{written}");
        assert_eq!(document.text("b").as_deref(), Some("c"), "{written}");
    }
    assert_eq!(list("tools: []", "tools"), Vec::<String>::new());
    assert_eq!(head("name: x").list("tools"), None);
}

#[test]
fn a_hint_with_brackets_reads_as_it_is_written() {
    assert_eq!(text("hint: [file] [--fix]", "hint").unwrap(), "[file] [--fix]");
    assert_eq!(text("hint: [message]", "hint").unwrap(), "[message]");
    assert_eq!(text("hint: \"[a] <b>\"", "hint").unwrap(), "[a] <b>");
}

#[test]
fn what_is_nested_is_passed_over() {
    let document = head("metadata:\n  name: inner\n  deep:\n    - x\nhooks: {a: [b]}\nname: outer");
    assert_eq!(document.text("name").as_deref(), Some("outer"));
    assert_eq!(document.text("metadata"), None);
    assert_eq!(document.text("hooks"), None);
}

#[test]
fn the_first_of_two_members_counts_and_yes_and_no_are_known() {
    let document = head("a: True\na: false\nb: off");
    assert!(document.is_set("a") && !document.is_denied("a"));
    assert!(document.is_denied("b") && !document.is_set("b"));
    assert!(!document.is_set("c") && !document.is_denied("c"));
}

#[test]
fn a_head_made_to_be_slow_is_read_in_a_moment() {
    for line in ["a: [", "a: \"x", "- x", "a: {", "a", "a: |", "a:", " x", "'"] {
        let started = crate::support::cpu_time::CpuTime::now();
        let _ = Document::parse(&format!("---\n{}---\n", format!("{line}\n").repeat(60_000)));
        assert!(started.elapsed().as_secs() < 20, "{line}");
    }
}

proptest! {
    #[test]
    fn no_head_is_too_odd_to_be_read(lines in proptest::collection::vec("[-a-c:|>\\[\\]{}\"'#,\\\\ ü$!`1]{0,12}", 0..12)) {
        let document = head(&lines.join("\n"));
        for name in ["a", "b", "c", "ab"] {
            let _ = (document.text(name), document.list(name), document.is_set(name));
        }
    }

    #[test]
    fn no_template_is_too_odd_to_be_filled_in(text in "[$A-Z1\\[\\]!`. üa\n]{0,40}", words in "[\"' aü$1]{0,12}") {
        let (name, source, hint, description) = ("x".to_owned(), String::new(), String::new(), String::new());
        let template = PromptTemplate { name, kind: TemplateKind::Command, source, hint, description, text, allowed: Vec::new() };
        let _ = template.fill(&words);
    }
}
