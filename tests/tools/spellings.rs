//! Names that look the same and are spelled with other characters: a letter with its mark as one, or as two.

use std::fs;

use serde_json::json;

use crate::support::files::Files;

/// As macOS and as everybody else writes it.
const TWO: &str = "cafe\u{301}";
const ONE: &str = "caf\u{e9}";

#[tokio::test]
async fn a_name_is_found_in_either_spelling_by_each_tool() {
    for (there, asked) in [(TWO, ONE), (ONE, TWO), ("\u{1112}\u{1161}\u{11ab}", "\u{d55c}")] {
        let files = Files::new();
        files.put(&format!("{there}/{there}.txt"), "one\n");
        let path = format!("{asked}/{asked}.txt");
        assert_eq!(files.call("read", json!({"path": path})).await.unwrap(), "     1\tone\n");
        files.call("edit", json!({"path": path, "old_string": "one", "new_string": "two"})).await.unwrap();
        files.call("write", json!({"path": path, "content": "three\n"})).await.unwrap();
        assert_eq!(files.held(&format!("{there}/{there}.txt")), b"three\n");
        let found = format!("{there}/{there}.txt");
        for pattern in [format!("{asked}/*.txt"), format!("**/{asked}.*"), "**/*".to_owned()] {
            let text = files.call("glob", json!({"pattern": pattern})).await.unwrap();
            assert_eq!(text.lines().next(), Some(&*found), "{pattern}");
        }
        for arguments in [
            json!({"pattern": "three", "path": asked}),
            json!({"pattern": "three", "path": path}),
            json!({"pattern": "three", "glob": format!("{asked}.txt")}),
            json!({"pattern": "three", "glob": format!("{asked}/*")}),
        ] {
            let text = files.call("grep", arguments.clone()).await.unwrap();
            assert_eq!(text.lines().next(), Some(&*format!("{found}:1:three")), "{arguments}");
        }
        assert_eq!(fs::read_dir(files.workspace.root()).unwrap().count(), 1, "nothing was made beside it");
        files.call("write", json!({"path": format!("{asked}/new"), "content": ""})).await.unwrap();
        assert!(files.at(there).join("new").exists());
    }
}

#[tokio::test]
async fn where_both_are_there_each_is_itself_and_a_link_in_the_other_spelling_leads_nowhere_else() {
    let files = Files::new();
    files.put(ONE, "one").put(TWO, "two");
    assert_eq!(files.call("read", json!({"path": ONE})).await.unwrap(), "     1\tone\n");
    assert_eq!(files.call("read", json!({"path": TWO})).await.unwrap(), "     1\ttwo\n");

    let files = Files::new();
    fs::write(files.dir.path().join("outside"), "secret").unwrap();
    std::os::unix::fs::symlink(files.dir.path().join("outside"), files.at(TWO)).unwrap();
    let error = files.call("read", json!({"path": ONE})).await.unwrap_err();
    assert!(error.contains("is outside the workspace"), "{error}");
}
