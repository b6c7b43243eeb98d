//! The tool `write`: new, identical, different; asked with the whole change; one step or nothing.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use serde_json::json;
use steersman_base::limits;
use steersman_base::protocol::UndoScope;
use steersman_core::approval::{Answer, Mode};
use steersman_core::tool::{Concurrency, OnCancel};

use crate::support::files::Files;

#[tokio::test]
async fn a_new_file_is_written_with_its_directories_and_without_a_question() {
    let files = Files::new().asking();
    let text = files.call("write", json!({"path": "a/b/new.txt", "content": "one\ntwo\n"})).await.unwrap();
    assert_eq!(text, "created a/b/new.txt: 8 bytes");
    assert_eq!(files.held("a/b/new.txt"), b"one\ntwo\n");
    let diff = files.diff();
    assert_eq!((diff.path.as_str(), diff.created, diff.added, diff.removed), ("a/b/new.txt", true, 2, 0));
    assert_eq!(diff.hunks, "@@ -0,0 +1,2 @@\n+one\n+two\n");
    assert_eq!(fs::read_dir(files.at("a/b")).unwrap().count(), 1, "no temporary file is left");
    let plain = files.at("plain");
    fs::write(&plain, "").unwrap();
    let mode = |path| fs::metadata(path).unwrap().mode();
    assert_eq!(mode(files.at("a/b/new.txt")), mode(plain), "as every new file of this user");
}

#[tokio::test]
async fn the_same_content_is_said_before_anybody_is_asked() {
    let files = Files::new().asking();
    files.put("a", "same");
    let error = files.call("write", json!({"path": "a", "content": "same"})).await.unwrap_err();
    assert_eq!(error, "a holds exactly this already");
    files.put("empty", "");
    let error = files.call("write", json!({"path": "empty", "content": ""})).await.unwrap_err();
    assert_eq!(error, "empty holds exactly this already");
}

#[tokio::test]
async fn another_content_is_asked_about_with_its_diff_and_keeps_the_permissions() {
    let files = Files::new().asking();
    files.put("run.sh", "#!/bin/sh\necho old\n");
    fs::set_permissions(files.at("run.sh"), fs::Permissions::from_mode(0o751)).unwrap();
    let call = files.call("write", json!({"path": "./run.sh", "content": "#!/bin/sh\necho new!\n"}));
    let user = async {
        let act = files.asked().await;
        assert_eq!((&*act.tool, act.shown.as_str(), &act.path), ("write", "run.sh", &files.at("run.sh")));
        assert_eq!(act.diff, "@@ -1,2 +1,2 @@\n #!/bin/sh\n-echo old\n+echo new!\n");
        assert_eq!(files.held("run.sh"), b"#!/bin/sh\necho old\n");
        files.answer(Answer::Once);
    };
    let (text, ()) = tokio::join!(call, user);
    assert_eq!(text.unwrap(), "replaced run.sh: 19 → 20 bytes");
    assert_eq!(files.held("run.sh"), b"#!/bin/sh\necho new!\n");
    assert_eq!(fs::metadata(files.at("run.sh")).unwrap().mode() & 0o7777, 0o751);
    assert_eq!(files.diff().hunks, "@@ -1,2 +1,2 @@\n #!/bin/sh\n-echo old\n+echo new!\n");
}

#[tokio::test]
async fn a_no_reaches_the_model_with_the_users_words_and_nothing_is_written() {
    let files = Files::new().asking();
    files.put("a", "old");
    let call = files.call("write", json!({"path": "a", "content": "new"}));
    let user = async {
        files.asked().await;
        files.answer(Answer::No(Some("leave it".to_owned())));
    };
    let (text, ()) = tokio::join!(call, user);
    assert!(text.unwrap_err().contains("leave it"));
    assert_eq!(files.held("a"), b"old");
    files.approvals.set_mode(Mode::ReadOnly).unwrap();
    assert!(files.call("write", json!({"path": "new", "content": "new"})).await.is_err());
    assert!(!files.at("new").exists());
}

/// Something that somebody else does.
type Meanwhile = fn(&Files);

#[tokio::test]
async fn what_changed_while_the_question_was_open_is_not_overwritten() {
    let files = Files::new().asking();
    let meanwhile: [(&str, Meanwhile, &str); 4] = [
        ("a", |files| fs::write(files.at("a"), "mine").unwrap(), "another program changed it"),
        ("a", |files| fs::remove_file(files.at("a")).unwrap(), "another program changed it"),
        ("a", |files| fs::write(files.at("a"), "x".repeat(100)).unwrap(), "another program changed it"),
        (
            "a",
            |files| {
                fs::remove_file(files.at("a")).unwrap();
                std::os::unix::fs::symlink("../canary", files.at("a")).unwrap();
            },
            "symbolic link",
        ),
    ];
    fs::write(files.dir.path().join("canary"), "old").unwrap();
    for (name, act, why) in meanwhile {
        let _ = fs::remove_file(files.at(name));
        files.put(name, "old");
        let call = files.call("write", json!({"path": name, "content": "new"}));
        let user = async {
            files.asked().await;
            act(&files);
            files.answer(Answer::Once);
        };
        let before = tokio::join!(call, user).0.unwrap_err();
        assert!(before.contains(why), "{before}");
    }
    assert_eq!(fs::read(files.dir.path().join("canary")).unwrap(), b"old");
    assert_eq!(fs::read_dir(files.workspace.root()).unwrap().count(), 1, "no temporary file is left");
}

#[tokio::test]
async fn a_cancel_takes_the_question_away_and_nothing_is_written() {
    let files = Files::new().asking();
    files.put("a", "old");
    let context = files.context();
    let call = files.call_with("write", json!({"path": "a", "content": "new"}), &context);
    let user = async {
        files.asked().await;
        context.cancellable.cancel();
    };
    assert!(tokio::join!(call, user).0.unwrap_err().starts_with("cancelled"));
    assert!(files.approvals.open().is_empty());
    assert_eq!(files.held("a"), b"old");
}

#[tokio::test]
async fn what_cannot_be_written_is_said_in_a_sentence() {
    let files = Files::new();
    fs::create_dir(files.at("dir")).unwrap();
    files.put("file", "x").put("locked", "x");
    fs::set_permissions(files.at("locked"), fs::Permissions::from_mode(0o444)).unwrap();
    let fifo = files.at("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    for (path, why) in [
        ("dir", "dir is a directory"),
        ("dir/", "dir is a directory"),
        ("new/", "new is a directory, or named like one"),
        ("new/.", "new is a directory, or named like one"),
        (".", ". is a directory"),
        ("", "the path is empty"),
        ("file/below", "file/below cannot be resolved: Not a directory"),
        ("locked", "locked is write-protected (mode 444)"),
        ("fifo", "fifo cannot be changed: not a regular file"),
        ("tab\there", "the name of a new file must not hold invisible characters"),
        ("line\nbreak", "the name of a new file must not hold invisible characters"),
        ("right\u{202e}left", "the name of a new file must not hold invisible characters"),
    ] {
        let error = files.call("write", json!({"path": path, "content": "new"})).await.unwrap_err();
        assert!(error.contains(why), "{path:?}: {error}");
    }
    assert_eq!(fs::read_dir(files.workspace.root()).unwrap().count(), 4);
}

#[tokio::test]
async fn size_has_a_limit_on_both_sides() {
    let files = Files::new();
    let limit = usize::try_from(limits::CHANGED_FILE_BYTES).unwrap();
    let error = files.call("write", json!({"path": "a", "content": "x".repeat(limit + 1)})).await.unwrap_err();
    assert_eq!(error, format!("a would have {} bytes; at most 8 MiB", limit + 1));
    files.put("large", vec![b'x'; limit + 1]);
    let error = files.call("write", json!({"path": "large", "content": "x"})).await.unwrap_err();
    assert!(error.contains("larger than 8388608 bytes (8388609 bytes)"), "{error}");
    assert_eq!(files.held("large").len(), limit + 1);
    files.call("write", json!({"path": "a", "content": "x".repeat(limit)})).await.unwrap();
}

#[tokio::test]
async fn nothing_is_written_through_a_link_and_the_real_path_is_named() {
    let files = Files::new();
    files.put("sub/real", "old");
    std::os::unix::fs::symlink("sub/real", files.at("alias")).unwrap();
    std::os::unix::fs::symlink("sub", files.at("directory")).unwrap();
    let absolute = files.at("alias").to_str().unwrap().to_owned();
    for (path, real) in [
        ("alias", "sub/real"),
        ("./alias", "sub/real"),
        ("sub/../alias", "sub/real"),
        (&absolute, "sub/real"),
        ("directory/real", "sub/real"),
        ("directory/new", "sub/new"),
    ] {
        let error = files.call("write", json!({"path": path, "content": "new"})).await.unwrap_err();
        assert_eq!(error, format!("{path} is a symbolic link, or lies behind one: name {real} itself"));
    }
    assert_eq!(files.held("sub/real"), b"old");
    assert!(!files.at("sub/new").exists());
    files.call("write", json!({"path": "sub/real", "content": "new"})).await.unwrap();
    assert_eq!(files.held("sub/real"), b"new");
}

#[tokio::test]
async fn the_other_name_of_a_hard_link_keeps_its_content() {
    let files = Files::new();
    let outside = files.dir.path().join("outside");
    fs::write(&outside, "old").unwrap();
    fs::hard_link(&outside, files.at("a")).unwrap();
    let text = files.call("write", json!({"path": "a", "content": "new"})).await.unwrap();
    assert_eq!((files.held("a"), fs::read(&outside).unwrap()), (b"new".to_vec(), b"old".to_vec()));
    let parted = "The file has another name outside of what is searched here; that one keeps the old content";
    assert_eq!(text, format!("replaced a: 3 → 3 bytes\n[{parted}]"));
}

#[tokio::test]
async fn a_file_with_two_names_in_the_workspace_stays_one_file_and_undo_changes_both_back() {
    let files = Files::new();
    files.put("sub/b", "old, longer");
    fs::hard_link(files.at("sub/b"), files.at("a")).unwrap();
    let inode = || (fs::metadata(files.at("a")).unwrap().ino(), fs::metadata(files.at("sub/b")).unwrap().ino());
    let before = inode();
    let text = files.call("write", json!({"path": "a", "content": "new"})).await.unwrap();
    assert_eq!(text, "replaced a: 11 → 3 bytes\n[sub/b changed too: it is the same file]");
    assert_eq!((files.held("a"), files.held("sub/b"), inode()), (b"new".to_vec(), b"new".to_vec(), before));
    files.call("read", json!({"path": "sub/b"})).await.unwrap();
    files.call("edit", json!({"path": "sub/b", "old_string": "new", "new_string": "newer"})).await.unwrap();
    assert_eq!((files.held("a"), inode()), (b"newer".to_vec(), before));
    files.workspace.changes().undo(&UndoScope::File("sub/b".to_owned()));
    files.workspace.changes().undo(&UndoScope::File("a".to_owned()));
    assert_eq!((files.held("a"), files.held("sub/b")), (b"old, longer".to_vec(), b"old, longer".to_vec()));
    assert_eq!(inode(), before);
}

#[tokio::test]
async fn each_name_of_a_file_is_asked_about_and_a_no_to_one_changes_none() {
    let files = Files::new().asking();
    files.put("a", "old");
    fs::hard_link(files.at("a"), files.at("b")).unwrap();
    let call = files.call("write", json!({"path": "a", "content": "new"}));
    let user = async {
        let act = files.asked().await;
        assert!(act.diff.ends_with("\\ It is one file with b: a change of all\n"), "{}", act.diff);
        files.answer(Answer::Once);
        assert_eq!(files.asked().await.shown, "b");
        files.answer(Answer::No(None));
    };
    let (text, ()) = tokio::join!(call, user);
    assert!(text.is_err(), "{text:?}");
    assert_eq!((files.held("a"), files.held("b")), (b"old".to_vec(), b"old".to_vec()));
}

#[tokio::test]
async fn what_undo_cannot_bring_back_is_in_the_question_and_in_the_result() {
    let files = Files::new();
    let limit = usize::try_from(limits::CHANGED_FILE_BYTES).unwrap();
    for n in 0..limits::UNDO_BYTES / limits::CHANGED_FILE_BYTES {
        files.put(&n.to_string(), "x".repeat(limit));
        files.call("write", json!({"path": n.to_string(), "content": ""})).await.unwrap();
    }
    files.put("more", "x");
    let files = files.asking();
    let call = files.call("write", json!({"path": "more", "content": "y"}));
    let user = async {
        let act = files.asked().await;
        assert!(
            act.diff.ends_with("\\ Undo will not bring the old content back: the turn has changed too much already\n")
        );
        files.answer(Answer::Once);
    };
    let text = tokio::join!(call, user).0.unwrap();
    assert_eq!(text, "replaced more: 1 → 1 bytes\n[undo cannot bring the old content back]");
}

#[test]
fn it_runs_alone_and_a_cancel_never_leaves_it_half_done() {
    let files = Files::new();
    for tool in files.tools.iter().filter(|tool| ["write", "edit"].contains(&tool.name())) {
        assert_eq!((tool.spec().concurrency, tool.spec().on_cancel), (Concurrency::Exclusive, OnCancel::Wait));
    }
}

#[tokio::test]
async fn a_byte_order_mark_stays_where_it_is() {
    let files = Files::new();
    files.put("marked", "\u{feff}old");
    files.call("write", json!({"path": "marked", "content": "new"})).await.unwrap();
    assert_eq!(files.held("marked"), "\u{feff}new".as_bytes());
    files.call("write", json!({"path": "marked", "content": "\u{feff}newer"})).await.unwrap();
    assert_eq!(files.held("marked"), "\u{feff}newer".as_bytes());
}

#[tokio::test]
async fn the_encoding_and_the_line_ends_of_a_file_stay() {
    let files = Files::new();
    for unit in [u16::to_le_bytes, u16::to_be_bytes] {
        let wide = |text: &str| text.encode_utf16().flat_map(unit).collect::<Vec<u8>>();
        for mark in ["\u{feff}", ""] {
            files.put("wide", wide(&format!("{mark}old\r\nlines\r\n")));
            let said = files.call("write", json!({"path": "wide", "content": "gr\u{fc}n\n\u{1f600}\n"})).await.unwrap();
            assert!(said.contains("it is UTF-16, as before") && said.contains("CRLF, as before"), "{said}");
            assert_eq!(files.held("wide"), wide(&format!("{mark}gr\u{fc}n\r\n\u{1f600}\r\n")));
        }
    }
    files.put("dos", "a\r\nb\r\n");
    files.call("write", json!({"path": "dos", "content": "c\nd\n"})).await.unwrap();
    assert_eq!(files.held("dos"), b"c\r\nd\r\n");
    files.put("mixed", "a\r\nb\n");
    files.call("write", json!({"path": "mixed", "content": "c\nd\n"})).await.unwrap();
    assert_eq!(files.held("mixed"), b"c\nd\n");
}

#[tokio::test]
async fn what_cannot_be_kept_is_refused_with_a_sentence() {
    let files = Files::new();
    files.put("latin", b"caf\xe9\n");
    let why = files.call("write", json!({"path": "latin", "content": "caf\u{e9}s\n"})).await.unwrap_err();
    assert!(why.contains("latin is not UTF-8, and would be: convert it first"), "{why}");
    assert_eq!(files.held("latin"), b"caf\xe9\n");
    let wider: Vec<u8> = "\u{feff}old".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    files.put("wider", &wider);
    let why = files.call("write", json!({"path": "wider", "content": "new\n"})).await.unwrap_err();
    assert!(why.contains("wider is UTF-32 text, and would be UTF-8: convert it first"), "{why}");
    assert_eq!(files.held("wider"), wider);
    files.call("write", json!({"path": "latin", "content": "plain\n"})).await.unwrap();
    assert_eq!(files.held("latin"), b"plain\n");
}
