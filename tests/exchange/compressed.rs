//! Tests of sessions that codex has compressed: they are read like the plain file, and no file unpacks without end.

use std::fs;
use std::io;
use std::path::PathBuf;

use steersman_exchange::import::{Imported, find, import_file};
use tempfile::TempDir;

const PLAIN: &str = include_str!("foreign/rollout.jsonl");
/// The same, as `zstd -3` writes it.
const COMPRESSED: &[u8] = include_bytes!("foreign/rollout.jsonl.zst");

const NAME: &str = "rollout-2026-09-03T10-00-00-01990e6c.jsonl";

/// A frame with a window of this power of two: blocks that stand as they are, or one byte many times.
fn frame(window: u8, blocks: &[Block]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, (window - 10) << 3];
    for (index, block) in blocks.iter().enumerate() {
        let (kind, size, bytes) = match block {
            Block::Raw(bytes) => (0, bytes.len(), bytes.to_vec()),
            Block::Repeated(byte, times) => (1, *times, vec![*byte]),
        };
        let is_last = usize::from(index + 1 == blocks.len());
        frame.extend(&((size << 3) | (kind << 1) | is_last).to_le_bytes()[..3]);
        frame.extend(bytes);
    }
    frame
}

#[derive(Clone, Copy)]
enum Block<'a> {
    Raw(&'a [u8]),
    Repeated(u8, usize),
}

fn written(name: &str, bytes: &[u8]) -> (TempDir, PathBuf) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join(name);
    fs::write(&path, bytes).unwrap();
    (directory, path)
}

fn unpacked(bytes: &[u8]) -> io::Result<Option<Imported>> {
    let (_directory, path) = written(&format!("{NAME}.zst"), bytes);
    import_file(&path)
}

#[test]
fn a_compressed_rollout_is_told_like_the_plain_one() {
    let (_directory, path) = written(NAME, PLAIN.as_bytes());
    let plain = import_file(&path).unwrap().unwrap();
    let compressed = unpacked(COMPRESSED).unwrap().unwrap();
    assert_eq!(compressed.records, plain.records);
    let origin = compressed.header.imported.unwrap();
    assert_eq!((origin.skipped, origin.bytes), (0, COMPRESSED.len() as u64));
    // Also without any compression in it.
    let raw = unpacked(&frame(17, &[Block::Raw(PLAIN.as_bytes())])).unwrap().unwrap();
    assert_eq!(raw.records, plain.records);
}

#[test]
fn a_session_that_was_compressed_since_is_the_same_session() {
    let (directory, path) = written(NAME, PLAIN.as_bytes());
    let compressed = directory.path().join(format!("{NAME}.zst"));
    fs::write(&compressed, COMPRESSED).unwrap();
    assert_eq!(find(directory.path()).unwrap(), [path.as_path()], "of the two forms the plain one is read");
    let before = import_file(&path).unwrap().unwrap();
    fs::remove_file(path).unwrap();
    assert_eq!(find(directory.path()).unwrap(), [compressed.as_path()]);
    assert_eq!(import_file(&compressed).unwrap().unwrap().header.session, before.header.session);
}

#[test]
fn what_unpacks_without_end_is_not_a_frame_or_is_damaged_is_refused_in_a_sentence() {
    let bomb = vec![Block::Repeated(b' ', 128 << 10); 600];
    let wide = frame(24, &[Block::Raw(PLAIN.as_bytes())]);
    let twice = [frame(17, &[Block::Raw(PLAIN.as_bytes())]), frame(17, &[Block::Raw(b"{}\n")])].concat();
    let cases: [(&str, &[u8], &str); 6] = [
        ("a bomb", &frame(17, &bomb), "it unpacks to far more than its size lets expect"),
        ("a large window", &wide, "indow"),
        ("two frames", &twice, "it goes on behind its end"),
        ("plain text", PLAIN.as_bytes(), "it cannot be unpacked: "),
        ("nothing", b"", "it cannot be unpacked: "),
        ("a cut file", &COMPRESSED[..COMPRESSED.len() - 40], "it cannot be unpacked: "),
    ];
    for (what, bytes, words) in cases {
        let error = unpacked(bytes).expect_err(what).to_string();
        assert!(error.contains(words) && error.len() < 300 && !error.contains('\n'), "{what}: {error}");
    }
    // Cut or changed anywhere, it is an error or a session, and never a panic.
    for at in 0..COMPRESSED.len() {
        let mut changed = COMPRESSED.to_vec();
        changed[at] ^= 0x55;
        let _ = unpacked(&changed);
        let _ = unpacked(&COMPRESSED[..at]).unwrap_err();
    }
}
