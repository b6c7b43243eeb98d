//! Files that are no ordinary text, through every file tool: refused or shown, never a hang.

use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use serde_json::json;
use steersman_base::limits;
use steersman_tools::workspace::{Caution, Workspace};

use crate::support::files::Files;
use crate::support::skip::{Need, skip};

#[tokio::test]
async fn what_is_no_regular_file_is_neither_opened_nor_replaced() {
    let files = Files::new();
    mknodat(CWD, files.at("fifo"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let socket = UnixListener::bind(files.at("socket")).unwrap();
    let mut names = vec!["fifo", "socket"];
    match mknodat(CWD, files.at("zero"), FileType::CharacterDevice, Mode::RWXU, makedev(1, 5)) {
        Ok(()) => names.push("zero"),
        Err(error) => skip(Need::DeviceNode, &error.to_string()),
    }
    let before = fs::read_dir(files.workspace.root()).unwrap().count();
    for name in names {
        let error = files.call("read", json!({"path": name})).await.unwrap_err();
        assert_eq!(error, format!("{name} is not a regular file"));
        for (tool, arguments) in [
            ("write", json!({"path": name, "content": "x"})),
            ("edit", json!({"path": name, "old_string": "x", "new_string": "y"})),
        ] {
            let error = files.call(tool, arguments).await.unwrap_err();
            assert_eq!(error, format!("{name} cannot be changed: not a regular file"));
        }
        let found = files.call("grep", json!({"path": name, "pattern": "."})).await.unwrap_or_else(|error| error);
        assert!(!found.contains(":1:"), "{found}");
        assert!(!files.at(name).symlink_metadata().unwrap().is_file());
    }
    assert_eq!(fs::read_dir(files.workspace.root()).unwrap().count(), before);
    drop(socket);
}

#[tokio::test]
async fn a_sparse_file_of_ten_gigabytes_costs_nothing() {
    let files = Files::new();
    let file = File::create(files.at("huge")).unwrap();
    file.set_len(10 << 30).unwrap();
    let error = files.call("read", json!({"path": "huge"})).await.unwrap_err();
    assert_eq!(error, format!("huge is a binary file ({} bytes); read shows text only", 10_u64 << 30));
    for (tool, arguments) in [
        ("write", json!({"path": "huge", "content": "x"})),
        ("edit", json!({"path": "huge", "old_string": "x", "new_string": "y"})),
    ] {
        let error = files.call(tool, arguments).await.unwrap_err();
        assert!(error.contains(&format!("larger than {} bytes", limits::CHANGED_FILE_BYTES)), "{error}");
    }
    let found = files.call("grep", json!({"pattern": "x"})).await.unwrap();
    assert!(found.contains("[passed over, over 64 MiB: 1]"), "{found}");
    std::io::Write::write_all(&mut &file, "text\n".repeat(20_000).as_bytes()).unwrap();
    let shown = files.call("read", json!({"path": "huge", "limit": 2})).await.unwrap();
    assert!(shown.starts_with("     1\ttext\n     2\ttext\n[lines 1 to 2 of a file of 10737418240 bytes"), "{shown}");
}

#[tokio::test]
async fn odd_texts_are_edited_without_a_change_elsewhere() {
    for (before, after) in [
        (&b"a\xff\xfe\nold\n\x80"[..], &b"a\xff\xfe\nnew\n\x80"[..]),
        (b"old", b"new"),
        (b"a\r\nold\r\n", b"a\r\nnew\r\n"),
        (b"\xef\xbb\xbfold\n", b"\xef\xbb\xbfnew\n"),
        (b"\x1b[31mold\x1b[0m\n\n\n", b"\x1b[31mnew\x1b[0m\n\n\n"),
        (b"\rold\r\r\n", b"\rnew\r\r\n"),
        (b"old \t \n\t", b"new \t \n\t"),
    ] {
        let files = Files::new();
        files.put("f", before);
        files.call("read", json!({"path": "f"})).await.unwrap();
        files.call("edit", json!({"path": "f", "old_string": "old", "new_string": "new"})).await.unwrap();
        assert_eq!(files.held("f"), after);
    }
}

#[tokio::test]
async fn hostile_names_and_loops_of_links_are_listed_on_a_line_each() {
    let files = Files::new();
    for name in ["line\nbreak", "esc\u{1b}[2Jape", "right\u{202e}left"] {
        files.put(name, "needle\n");
    }
    fs::write(files.workspace.root().join(std::ffi::OsStr::from_bytes(b"bytes\xff")), "needle\n").unwrap();
    std::os::unix::fs::symlink(".", files.at("loop")).unwrap();
    fs::create_dir(files.at("dir")).unwrap();
    std::os::unix::fs::symlink("..", files.at("dir/up")).unwrap();
    let listed = files.call("glob", json!({"pattern": "**/*"})).await.unwrap();
    let found = files.call("grep", json!({"pattern": "needle"})).await.unwrap();
    for text in [&listed, &found] {
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
    }
    assert_eq!(found.lines().count(), 4, "{found}");
    assert!(found.contains("line⏎break:1:needle") && found.contains("␛[2J"), "{found}");
    for arguments in [json!({"pattern": "(a+)+$"}), json!({"pattern": "(x*)*y"})] {
        files.put("long", "a".repeat(200_000) + "!");
        files.call("grep", arguments).await.unwrap();
    }
}

#[tokio::test]
async fn a_broad_workspace_is_searched_less_far() {
    let dir = tempfile::tempdir_in(Path::new("/dev/shm")).or_else(|_| tempfile::tempdir()).unwrap();
    let inner = dir.path().join("in");
    for directory in 0..60 {
        let directory = inner.join(format!("{directory:02}"));
        fs::create_dir_all(&directory).unwrap();
        for file in 0..1_000 {
            File::create(directory.join(file.to_string())).unwrap();
        }
    }
    let broad = Arc::new(Workspace::new(&inner).unwrap().with_caution(Caution::Broad));
    let files = Files::of(dir, Arc::clone(&broad));
    let found = files.call("grep", json!({"pattern": "x"})).await.unwrap();
    let listed = files.call("glob", json!({"pattern": "**/x"})).await.unwrap();
    for text in [found, listed] {
        let note = text.lines().last().unwrap();
        let capped = ["[stopped after 50000 entries: name a path below]", "[stopped after 5 s: name a path below]"];
        assert!(capped.contains(&note), "{text}");
    }
    let usual = Files::of(tempfile::tempdir().unwrap(), Arc::new(Workspace::new(broad.root()).unwrap()));
    let listed = usual.call("glob", json!({"pattern": "**/x"})).await.unwrap();
    assert!(!listed.contains("stopped"), "{listed}");
}
