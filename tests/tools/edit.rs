//! The tool `edit`: exact, unique, on what was read; everything else byte for byte.

use std::fs;

use serde_json::{Value, json};
use steersman_core::approval::Answer;
use steersman_core::tool::ToolDirectory;

use crate::support::files::Files;

/// Reads a file, then edits it.
async fn edit(files: &Files, path: &str, old: &str, new: &str) -> Result<String, String> {
    files.call("read", json!({"path": path})).await.unwrap();
    files.call("edit", json!({"path": path, "old_string": old, "new_string": new})).await
}

#[tokio::test]
async fn a_text_is_replaced_and_the_place_is_shown() {
    let files = Files::new();
    files.put("a.rs", "fn a() {}\n\nfn b() {\n    1\n}\n\nfn c() {}\n");
    let text = edit(&files, "a.rs", "    1\n", "    2\n    3\n").await.unwrap();
    assert_eq!(
        text,
        "edited a.rs: line 4, 39 → 45 bytes\n     2\t\n     3\tfn b() {\n     4\t    2\n     5\t    3\n     6\t}\n     7\t\n"
    );
    assert_eq!(files.held("a.rs"), b"fn a() {}\n\nfn b() {\n    2\n    3\n}\n\nfn c() {}\n");
    let diff = files.diff();
    assert_eq!((diff.added, diff.removed, diff.created), (2, 1, false));
    assert_eq!(diff.hunks, "@@ -1,7 +1,8 @@\n fn a() {}\n \n fn b() {\n-    1\n+    2\n+    3\n }\n \n fn c() {}\n");
}

#[tokio::test]
async fn edits_follow_each_other_without_another_read() {
    let files = Files::new();
    files.put("a", "1 2 3");
    edit(&files, "a", "1", "one").await.unwrap();
    files.call("edit", json!({"path": "a", "old_string": "2", "new_string": "two"})).await.unwrap();
    files.call("write", json!({"path": "b", "content": "1"})).await.unwrap();
    files.call("edit", json!({"path": "b", "old_string": "1", "new_string": "one"})).await.unwrap();
    assert_eq!((files.held("a"), files.held("b")), (b"one two 3".to_vec(), b"one".to_vec()));
}

#[tokio::test]
async fn a_file_that_was_not_read_or_changed_since_is_refused() {
    let files = Files::new();
    files.put("a", "old");
    let arguments = json!({"path": "a", "old_string": "old", "new_string": "new"});
    let call = async |arguments: &Value| files.call("edit", arguments.clone()).await;
    assert_eq!(call(&arguments).await.unwrap_err(), "a was not read yet: read it first");
    files.call("read", json!({"path": "./a"})).await.unwrap();
    let time = fs::metadata(files.at("a")).unwrap().modified().unwrap();
    files.put("a", "old, mine");
    fs::File::options().write(true).open(files.at("a")).unwrap().set_modified(time).unwrap();
    assert_eq!(call(&arguments).await.unwrap_err(), "a has changed since it was read: read it again");
    files.put("a", "old");
    assert!(call(&arguments).await.is_ok(), "the same bytes again, whatever their time");
}

#[tokio::test]
async fn a_file_that_changes_while_the_question_is_open_is_refused() {
    let files = Files::new().asking();
    files.put("a", "old");
    files.call("read", json!({"path": "a"})).await.unwrap();
    let call = files.call("edit", json!({"path": "a", "old_string": "old", "new_string": "new"}));
    let user = async {
        let act = files.asked().await;
        assert_eq!(
            (&*act.tool, &*act.diff),
            ("edit", "@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+new\n\\ No newline at end of file\n")
        );
        files.put("a", "mine");
        files.answer(Answer::Once);
    };
    let error = tokio::join!(call, user).0.unwrap_err();
    assert_eq!(error, "a was not written: another program changed it meanwhile; read it again");
    assert_eq!(files.held("a"), b"mine");
}

#[tokio::test]
async fn several_places_need_a_clear_word() {
    let files = Files::new();
    files.put("a", "x\ny\nx x\n");
    let error = edit(&files, "a", "x", "z").await.unwrap_err();
    assert_eq!(
        error,
        "old_string occurs 3 times in a, at lines 1, 3, 3: take more lines around the one you mean, or set replace_all"
    );
    let all = json!({"path": "a", "old_string": "x", "new_string": "xx", "replace_all": true});
    let text = files.call("edit", all).await.unwrap();
    assert!(text.starts_with("edited a: 3 places, lines 1, 3, 3, 8 → 11 bytes\n"), "{text}");
    assert_eq!(files.held("a"), b"xx\ny\nxx xx\n");
    files.put("b", "aaaa");
    edit(&files, "b", "aa", "b").await.unwrap_err();
    files.call("edit", json!({"path": "b", "old_string": "aa", "new_string": "b", "replace_all": true})).await.unwrap();
    assert_eq!(files.held("b"), b"bb");
}

#[tokio::test]
async fn senseless_arguments_are_refused() {
    let files = Files::new();
    files.put("src/main.rs", "x");
    for (path, old, new, why) in [
        ("src/main.rs", "", "x", "old_string is empty: name the text to replace (write creates files)"),
        ("src/main.rs", "x", "x", "old_string and new_string are the same"),
        ("src/main.ts", "x", "y", "src/main.ts does not exist; near it: src/main.rs"),
        ("src", "x", "y", "src is a directory, or named like one (with a / at its end)"),
    ] {
        let arguments = json!({"path": path, "old_string": old, "new_string": new});
        assert_eq!(files.call("edit", arguments).await.unwrap_err(), why);
    }
}

#[tokio::test]
async fn what_is_not_found_is_explained() {
    let files = Files::new();
    files.put("a.rs", "fn main() {\n\tlet value = 1;\n\tlet other = 2;\n}\n\nfn last() {}");
    files.call("read", json!({"path": "a.rs"})).await.unwrap();
    for (old, why) in [
        ("    let value = 1;", "line 2 differs in white space only; it is \"\\tlet value = 1;\""),
        ("\tlet value = 1;\n    let other = 2;", "line 3 differs in white space only; it is \"\\tlet other = 2;\""),
        ("fn last() {}\n", "it is at line 6 but for the line breaks at its end"),
        ("     2\tlet value = 1;", "leave out the line numbers that read shows"),
        (
            "\tlet value = 1;\n\tlet other = 3;",
            "it begins at line 2, but line 3 is \"\\tlet other = 2;\", not \"\\tlet other = 3;\"",
        ),
        ("fn last() {}\nfn more() {}", "it begins at line 6, but the file ends before \"fn more() {}\""),
        ("let valeu = 1;", "the nearest is line 2: \"\\tlet value = 1;\""),
        ("a\u{fffd}b", "it contains �, which stands for bytes that are not UTF-8: take a part without them"),
        ("quite another thing", "nothing in it is alike; read it again"),
    ] {
        let arguments = json!({"path": "a.rs", "old_string": old, "new_string": "new"});
        let error = files.call("edit", arguments).await.unwrap_err();
        assert_eq!(error, format!("old_string does not occur in a.rs: {why}"));
    }
}

#[tokio::test]
async fn line_ends_stay_as_they_are_in_the_file() {
    for (before, old, new, after) in [
        ("a\r\nb\r\nc\r\n", "a\nb", "1\n2\n3", "1\r\n2\r\n3\r\nc\r\n"),
        ("a\r\nb\r\nc\r\n", "b", "1\n2", "a\r\n1\r\n2\r\nc\r\n"),
        ("a\r\nb\r\nc\r\n", "b\n", "", "a\r\nc\r\n"),
        ("a\r\nb\r\nc\r\n", "\nb", "", "a\r\nc\r\n"),
        ("a\r\nb\r\nc", "c", "c\nd\n", "a\r\nb\r\nc\r\nd\r\n"),
        ("a\nb\r\nc\n", "a\nb\nc\n", "A\nB\nC\n", "A\nB\r\nC\n"),
        ("a\nb\r\nc\n", "c", "c\nd", "a\nb\r\nc\nd\n"),
        ("a\nb\n", "a\r\nb\r\n", "x\r\ny\r\n", "x\ny\n"),
        ("a\rb\n", "a\rb", "a\rc", "a\rc\n"),
        ("a", "a", "b", "b"),
        ("a\n", "a", "b", "b\n"),
    ] {
        let files = Files::new();
        files.put("f", before);
        edit(&files, "f", old, new).await.unwrap();
        assert_eq!(String::from_utf8(files.held("f")).unwrap(), after, "{before:?} {old:?} {new:?}");
    }
    let files = Files::new();
    files.put("f", "a\r\nb\r\n");
    let error = edit(&files, "f", "a\r\nb", "a\nb").await.unwrap_err();
    assert!(error.contains("only the line ends differ"), "{error}");
}

#[tokio::test]
async fn bytes_that_are_no_text_and_the_mark_at_the_start_stay() {
    let files = Files::new();
    files.put("latin", b"caf\xe9 one\nna\xefve \xff\xfe two\n");
    let shown = files.call("read", json!({"path": "latin"})).await.unwrap();
    assert!(shown.ends_with("[bytes that are not UTF-8 are shown as �]\n"), "{shown}");
    edit(&files, "latin", "two", "three").await.unwrap();
    assert_eq!(files.held("latin"), b"caf\xe9 one\nna\xefve \xff\xfe three\n");
    files.put("marked", "\u{feff}first\r\nsecond\r\n");
    edit(&files, "marked", "\u{feff}first\nsecond", "1\n2").await.unwrap();
    assert_eq!(files.held("marked"), "\u{feff}1\r\n2\r\n".as_bytes());
    edit(&files, "marked", "1", "one").await.unwrap();
    assert_eq!(files.held("marked"), "\u{feff}one\r\n2\r\n".as_bytes());
}

#[tokio::test]
async fn a_window_read_of_a_file_is_enough_and_a_file_too_large_says_so() {
    let files = Files::new();
    files.put("a", "1\n2\n3\n".repeat(3_000));
    files.call("read", json!({"path": "a", "offset": 8_999})).await.unwrap();
    files.call("write", json!({"path": "b", "content": "x"})).await.unwrap();
    let arguments = json!({"path": "a", "old_string": "1\n2", "new_string": "4", "replace_all": true});
    assert!(files.call("edit", arguments).await.unwrap().starts_with("edited a: 3000 places, lines 1, 4, 7, "));
    let large = fs::File::create(files.at("large")).unwrap();
    large.set_len(steersman_base::limits::CHANGED_FILE_BYTES + 1).unwrap();
    let error = files.call("edit", json!({"path": "large", "old_string": "1", "new_string": "4"})).await.unwrap_err();
    assert!(error.starts_with("large cannot be changed: it is larger than"), "{error}");
}

#[tokio::test]
async fn the_record_of_reads_belongs_to_the_workspace() {
    let files = Files::new();
    files.put("a", "old");
    files.call("read", json!({"path": "a"})).await.unwrap();
    let other = Files::new();
    other.put("a", "old");
    let edit = files
        .tools
        .iter()
        .find(|tool| tool.name() == "edit")
        .unwrap()
        .in_directory(&ToolDirectory::new(other.workspace.root()))
        .unwrap()
        .unwrap();
    let mut other = other;
    other.tools = vec![edit];
    let error = other.call("edit", json!({"path": "a", "old_string": "old", "new_string": "new"})).await.unwrap_err();
    assert_eq!(error, "a was not read yet: read it first");
}

#[tokio::test]
async fn utf_16_stays_what_it_is_and_no_other_encoding_is_mixed_with_utf_8() {
    let files = Files::new();
    for unit in [u16::to_le_bytes, u16::to_be_bytes] {
        let wide = |text: &str| text.encode_utf16().flat_map(unit).collect::<Vec<u8>>();
        for mark in ["\u{feff}", ""] {
            files.put("wide", wide(&format!("{mark}gr\u{fc}n\r\nblau\r\n")));
            files.call("read", json!({"path": "wide"})).await.unwrap();
            let said = edit(&files, "wide", "gr\u{fc}n\nblau", "rot\n\u{1f600}").await.unwrap();
            assert!(said.contains("     1\trot\n     2\t\u{1f600}\n"), "{said}");
            assert_eq!(files.held("wide"), wide(&format!("{mark}rot\r\n\u{1f600}\r\n")));
        }
    }
    files.put("latin", b"caf\xe9 one\n");
    files.call("read", json!({"path": "latin"})).await.unwrap();
    let why = edit(&files, "latin", "one", "\u{fc}ber").await.unwrap_err();
    assert!(why.contains("latin is not UTF-8, and new_string would be"), "{why}");
    assert_eq!(files.held("latin"), b"caf\xe9 one\n");
}
