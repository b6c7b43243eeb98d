//! The tool `read`.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use steersman_base::limits;
use steersman_base::message::Arguments;
use steersman_core::tool::{Concurrency, Tool, ToolContext, ToolDirectory, ToolError};
use steersman_tools::workspace::Workspace;
use steersman_tools::{ReadTool, file_tools};
use tempfile::TempDir;

use crate::support::png::png_of;

struct Site {
    dir: TempDir,
    tool: ReadTool,
}

impl Site {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let tool = ReadTool::new(Arc::new(Workspace::new(dir.path()).unwrap()));
        Self { dir, tool }
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        fs::write(self.dir.path().join(name), content).unwrap();
        self
    }

    async fn read(&self, arguments: Value) -> Result<String, String> {
        self.read_with(arguments, &ToolContext::detached()).await
    }

    async fn read_with(&self, arguments: Value, context: &ToolContext) -> Result<String, String> {
        let Value::Object(map) = arguments else { panic!("not an object") };
        let args = self.tool.spec().parameters.validate(&Arguments::Object(map))?;
        match self.tool.execute(args, context).await {
            Ok(text) => Ok(text),
            Err(ToolError::Failed(text)) => Err(text),
            Err(ToolError::Cancelled(cancelled)) => panic!("{cancelled}"),
        }
    }
}

#[tokio::test]
async fn lines_are_numbered_from_one() {
    let site = Site::new();
    site.file("a.txt", "one\n\ttwo\n\nfour");
    assert_eq!(
        site.read(json!({"path": "a.txt"})).await.unwrap(),
        "     1\tone\n     2\t\ttwo\n     3\t\n     4\tfour\n"
    );
}

#[tokio::test]
async fn a_window_is_shown_with_a_note_how_to_go_on() {
    let site = Site::new();
    site.file("a.txt", "1\n2\n3\n4\n5\n");
    let read =
        async |offset: i64, limit: i64| site.read(json!({"path": "a.txt", "offset": offset, "limit": limit})).await;
    assert_eq!(
        read(2, 2).await.unwrap(),
        "     2\t2\n     3\t3\n[lines 2 to 3 of a file of 10 bytes; to go on, use offset 4]\n"
    );
    assert_eq!(read(4, 2).await.unwrap(), "     4\t4\n     5\t5\n");
    assert_eq!(read(5, 99_999).await.unwrap(), "     5\t5\n");
    assert_eq!(read(6, 1).await.unwrap_err(), "offset 6 is past the end: a.txt has 5 lines");
    assert_eq!(read(i64::MAX, 1).await.unwrap_err(), format!("offset {} is past the end: a.txt has 5 lines", i64::MAX));
    assert_eq!(read(0, 1).await.unwrap_err(), "offset must be at least 1");
    assert_eq!(read(1, -1).await.unwrap_err(), "limit must be at least 1");
}

#[tokio::test]
async fn the_line_limit_holds_whatever_is_asked_for() {
    let site = Site::new();
    site.file("a.txt", "x\n".repeat(limits::READ_LINES + 1));
    let text = site.read(json!({"path": "a.txt", "limit": 1_000_000})).await.unwrap();
    assert_eq!(text.lines().count(), limits::READ_LINES + 1);
    assert!(text.ends_with("[lines 1 to 2000 of a file of 4002 bytes; to go on, use offset 2001]\n"), "{text}");
}

#[tokio::test]
async fn the_byte_limit_ends_on_a_whole_line_and_nothing_is_left_out_between_calls() {
    let site = Site::new();
    let lines: Vec<String> = (0..600).map(|n| format!("{n}:{}", "é".repeat(100))).collect();
    site.file("a.txt", lines.join("\n"));
    let mut offset = 1;
    let mut seen = Vec::new();
    loop {
        let text = site.read(json!({"path": "a.txt", "offset": offset})).await.unwrap();
        assert!(text.len() <= limits::READ_BYTES + 200);
        let mut next = None;
        for line in text.lines() {
            match line.split_once('\t') {
                Some((_, line)) => seen.push(line.to_owned()),
                None => next = line.strip_suffix(']').and_then(|l| l.rsplit(' ').next()).map(|n| n.parse().unwrap()),
            }
        }
        match next {
            Some(next) => offset = next,
            None => break,
        }
    }
    assert_eq!(seen, lines);
}

#[tokio::test]
async fn long_lines_are_cut_with_a_marker() {
    let site = Site::new();
    site.file("a.txt", format!("{}\nshort\n{}", "é".repeat(3_000), "x".repeat(100_000)));
    let text = site.read(json!({"path": "a.txt"})).await.unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], format!("     1\t{}… [line cut, 2000 bytes more]", "é".repeat(2_000)));
    assert_eq!(lines[1], "     2\tshort");
    assert_eq!(lines[2], format!("     3\t{}… [line cut, 98000 bytes more]", "x".repeat(2_000)));
}

#[tokio::test]
async fn an_empty_file_says_so_and_other_oddities_are_shown() {
    let site = Site::new();
    site.file("empty", "").file("crlf", "a\r\nb\r\n").file("latin", b"caf\xe9 cr\xe8me\n").file("bom", "\u{feff}a\n");
    assert_eq!(site.read(json!({"path": "empty"})).await.unwrap(), "[empty is empty]");
    assert_eq!(site.read(json!({"path": "crlf"})).await.unwrap(), "     1\ta\n     2\tb\n[lines end in CRLF]\n");
    assert_eq!(
        site.read(json!({"path": "latin"})).await.unwrap(),
        "     1\tcaf\u{fffd} cr\u{fffd}me\n[bytes that are not UTF-8 are shown as \u{fffd}]\n"
    );
    assert_eq!(site.read(json!({"path": "bom"})).await.unwrap(), "     1\ta\n");
    let mut late_nul = "text\n".repeat(4_000).into_bytes();
    late_nul.extend(b"a\0b\n");
    site.file("late", late_nul);
    assert_eq!(site.read(json!({"path": "late", "offset": 4001})).await.unwrap(), "  4001\ta␀b\n");
}

#[tokio::test]
async fn an_image_is_left_for_the_model_and_one_that_is_too_large_becomes_smaller() {
    let site = Site::new();
    site.file("a.png", png_of(3, 2)).file("wide.png", png_of(4_000, 100));
    let context = ToolContext::detached();
    let said = site.read_with(json!({"path": "a.png"}), &context).await.unwrap();
    assert_eq!(said, "[a.png is an image; it follows the results, 3×2 pixels]");
    let said = site.read_with(json!({"path": "wide.png"}), &context).await.unwrap();
    assert_eq!(said, "[wide.png is an image; it follows the results, 1568×39 pixels]");
    let names: Vec<String> = context.images.take_images().into_iter().map(|image| image.name).collect();
    assert_eq!(names, ["a.png", "wide.png"]);
    for _ in 0..limits::IMAGES {
        site.read_with(json!({"path": "a.png"}), &context).await.unwrap();
    }
    let refusal = site.read_with(json!({"path": "a.png"}), &context).await.unwrap_err();
    assert!(refusal.contains("at most 10 images are shown at once"), "{refusal}");
}

#[tokio::test]
async fn what_is_not_text_is_named_and_refused() {
    let site = Site::new();
    let mut tar = vec![b'x'; 512];
    tar[257..262].copy_from_slice(b"ustar");
    let table: [(&str, &[u8], &str); 21] = [
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0", "a PNG image"),
        ("a.jpg", b"\xff\xd8\xff\xe0abc", "a JPEG image"),
        ("a.gif", b"GIF89a....", "a GIF image"),
        ("a.webp", b"RIFF\x10\0\0\0WEBPVP8 ", "a WebP image"),
        ("a.pdf", b"%PDF-1.7\n%abc", "a PDF document"),
        ("a.zip", b"PK\x03\x04\x14\0", "a ZIP archive or a document packed as one"),
        ("a.gz", b"\x1f\x8b\x08\0", "gzip data"),
        ("a.xz", b"\xfd7zXZ\0\0", "xz data"),
        ("a.zst", b"\x28\xb5\x2f\xfd\0", "zstd data"),
        ("a.tar", &tar, "a tar archive"),
        ("a.out", b"\x7fELF\x02\x01", "an executable or library (ELF)"),
        ("a.exe", b"MZ\x90\0\x03", "an executable or library (Windows)"),
        ("a.class", b"\xca\xfe\xba\xbe\0", "a Java class or Mach-O binary"),
        ("a.wasm", b"\0asm\x01", "a WebAssembly module"),
        ("a.db", b"SQLite format 3\0", "an SQLite database"),
        ("a.mp4", b"\0\0\0\x18ftypmp42", "MP4 audio, video or image"),
        ("a.bz2", b"BZh91AY&SY\xff", "bzip2 data"),
        ("utf32", b"\xff\xfe\0\0a\0\0\0", "UTF-32 text"),
        ("nul", b"text\0text", "a binary file"),
        ("controls", b"ab\x01\x02\x03\x04cd", "a binary file"),
        ("noise", b"\xfe\x80\x81\xff\xc0ab\x90", "a binary file"),
    ];
    for (name, content, kind) in table {
        site.file(name, content);
        let refusal = site.read(json!({"path": name})).await.unwrap_err();
        let refusal = refusal.strip_suffix("; the command `pdftotext FILE -` prints its text").unwrap_or(&refusal);
        if kind.starts_with("a ") && kind.ends_with(" image") {
            let named = format!("{name} is {kind} ({} bytes); it cannot be read as an image", content.len());
            assert!(refusal.starts_with(&named), "{refusal}");
            continue;
        }
        assert_eq!(refusal, format!("{name} is {kind} ({} bytes); read shows text only", content.len()));
    }
    for plain in ["MZ is how it begins", "BZh", "BMW", "PK", "RIFF", "OggS is a name\n", "!<arch>\n"] {
        site.file("plain", plain);
        assert!(site.read(json!({"path": "plain"})).await.is_ok(), "{plain}");
    }
    site.file("coloured", "\u{1b}[31mred\u{1b}[0m\n");
    assert!(site.read(json!({"path": "coloured"})).await.is_ok());
}

#[tokio::test]
async fn directories_and_missing_files_say_what_to_do() {
    let site = Site::new();
    fs::create_dir(site.dir.path().join("src")).unwrap();
    site.file("README.md", "x").file("readme.txt", "x").file("main.rs", "x");
    assert_eq!(site.read(json!({"path": "src"})).await.unwrap_err(), "src is a directory: use glob to list it");
    assert_eq!(
        site.read(json!({"path": "REDME.md"})).await.unwrap_err(),
        "REDME.md does not exist; near it: README.md"
    );
    assert_eq!(site.read(json!({"path": "mian.rs"})).await.unwrap_err(), "mian.rs does not exist; near it: main.rs");
    assert_eq!(site.read(json!({"path": "zzzzzz"})).await.unwrap_err(), "zzzzzz does not exist");
    assert_eq!(
        site.read(json!({"path": "no/where/x"})).await.unwrap_err(),
        "no/where/x does not exist, nor does its directory no/where"
    );
}

#[tokio::test]
async fn paths_outside_the_workspace_are_refused() {
    let site = Site::new();
    symlink("/etc/passwd", site.dir.path().join("link")).unwrap();
    for path in ["/etc/passwd", "../../etc/passwd", "link", "~/x", ""] {
        assert!(site.read(json!({"path": path})).await.is_err(), "{path}");
    }
}

#[tokio::test]
async fn a_fifo_or_a_device_never_hangs() {
    let site = Site::new();
    let fifo = site.dir.path().join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    assert_eq!(site.read(json!({"path": "fifo"})).await.unwrap_err(), "fifo is not a regular file");
    let _socket = std::os::unix::net::UnixListener::bind(site.dir.path().join("socket")).unwrap();
    assert_eq!(site.read(json!({"path": "socket"})).await.unwrap_err(), "socket is not a regular file");
    let devices = ReadTool::new(Arc::new(Workspace::new(Path::new("/dev")).unwrap()));
    let args = devices.spec().parameters.validate(&Arguments::parse(r#"{"path": "zero"}"#)).unwrap();
    let refusal = devices.execute(args, &ToolContext::detached()).await.unwrap_err();
    assert_eq!(refusal, ToolError::failed("zero is not a regular file"));
}

#[tokio::test]
async fn of_a_file_of_ten_gigabytes_only_the_start_is_read() {
    let site = Site::new();
    let mut file = fs::File::create(site.dir.path().join("huge")).unwrap();
    file.write_all("line\n".repeat(5_000).as_bytes()).unwrap();
    file.set_len(10 * 1024 * 1024 * 1024).unwrap();
    let text = site.read(json!({"path": "huge", "limit": 3})).await.unwrap();
    assert!(text.ends_with("[lines 1 to 3 of a file of 10737418240 bytes; to go on, use offset 4]\n"), "{text}");
}

#[tokio::test]
async fn a_cancel_ends_it() {
    let site = Site::new();
    site.file("a.txt", "x\n");
    let context = ToolContext::detached();
    context.cancellable.cancel();
    let args = site.tool.spec().parameters.validate(&Arguments::parse(r#"{"path": "a.txt"}"#)).unwrap();
    assert!(matches!(site.tool.execute(args, &context).await, Err(ToolError::Cancelled(_))));
}

/// A call that has gigabytes to pass over before its first line.
fn endless(site: &Site) -> steersman_core::tool::Args {
    let mut file = fs::File::create(site.dir.path().join("huge")).unwrap();
    file.write_all("line\n".repeat(5_000).as_bytes()).unwrap();
    file.set_len(100 * 1024 * 1024 * 1024).unwrap();
    site.tool.spec().parameters.validate(&Arguments::parse(r#"{"path": "huge", "offset": 1000000}"#)).unwrap()
}

#[tokio::test]
async fn a_cancel_ends_it_while_it_runs() {
    let site = Site::new();
    let context = ToolContext::detached();
    let mut call = site.tool.execute(endless(&site), &context);
    assert!((&mut call).now_or_never().is_none());
    context.cancellable.cancel();
    assert!(matches!(call.await, Err(ToolError::Cancelled(_))));
}

#[test]
fn a_dropped_call_leaves_no_work_behind() {
    let site = Site::new();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let context = ToolContext::detached();
    runtime.block_on(async {
        let mut call = site.tool.execute(endless(&site), &context);
        assert!((&mut call).now_or_never().is_none());
    });
    // The end of the runtime waits for the work, which would go on through a hundred gigabytes: for minutes.
    let (ended, end) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        drop(runtime);
        ended.send(())
    });
    end.recv_timeout(std::time::Duration::from_secs(20)).expect("the work ended with its call");
}

#[tokio::test]
async fn it_runs_beside_others_and_moves_to_another_workspace() {
    let (site, other) = (Site::new(), Site::new());
    other.file("there", "x");
    let moved = site.tool.in_directory(&ToolDirectory::new(other.dir.path())).unwrap().unwrap();
    let args = moved.spec().parameters.validate(&Arguments::parse(r#"{"path": "there"}"#)).unwrap();
    assert_eq!(moved.execute(args, &ToolContext::detached()).await.unwrap(), "     1\tx\n");
    let names: Vec<String> = file_tools(&Arc::new(Workspace::new(other.dir.path()).unwrap()))
        .iter()
        .inspect(|tool| assert_eq!(tool.spec().concurrency, Concurrency::Parallel))
        .map(|tool| tool.name().to_owned())
        .collect();
    assert_eq!(names, ["read", "grep", "glob"]);
}

#[tokio::test]
async fn a_mark_at_the_start_is_not_shown_and_utf_16_is_read_as_text() {
    let site = Site::new();
    site.file("marked", "\u{feff}first\r\nsecond\r\n");
    let text = site.read(json!({"path": "marked"})).await.unwrap();
    assert_eq!(text, "     1\tfirst\n     2\tsecond\n[lines end in CRLF]\n");
    for unit in [u16::to_le_bytes, u16::to_be_bytes] {
        let bytes: Vec<u8> = "\u{feff}gr\u{fc}n \u{1f600}\n2\n".encode_utf16().flat_map(unit).collect();
        site.file("wide", &bytes);
        let text = site.read(json!({"path": "wide"})).await.unwrap();
        assert_eq!(text, "     1\tgr\u{fc}n \u{1f600}\n     2\t2\n[the file is UTF-16; write and edit keep that]\n");
        site.file("odd", &bytes[..bytes.len() - 1]);
        let refusal = site.read(json!({"path": "odd"})).await.unwrap_err();
        assert!(refusal.contains("begins like UTF-16 text, and is none"), "{refusal}");
        // Windows writes it without a mark, too.
        site.file("plain", &bytes[2..]);
        assert_eq!(site.read(json!({"path": "plain"})).await.unwrap(), text);
        for (name, bytes) in [
            ("cut", &bytes[2..bytes.len() - 1]),
            ("control", &"a\u{1}b".encode_utf16().flat_map(unit).collect::<Vec<u8>>()),
            ("half", &[0x61_u16, 0xD800, 0x62].into_iter().flat_map(unit).collect::<Vec<u8>>()),
            ("wider", &"abc".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect::<Vec<u8>>()),
        ] {
            site.file(name, bytes);
            let refusal = site.read(json!({"path": name})).await.unwrap_err();
            assert!(refusal.contains("read shows text only"), "{name}: {refusal}");
        }
    }
}
