//! The tool `grep`.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use serde_json::{Value, json};
use steersman_base::limits;
use steersman_base::message::Arguments;
use steersman_core::tool::{Tool, ToolContext, ToolError};
use steersman_tools::GrepTool;
use steersman_tools::workspace::Workspace;
use tempfile::TempDir;

struct Site {
    dir: TempDir,
    tool: GrepTool,
}

impl Site {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("in")).unwrap();
        let tool = GrepTool::new(Arc::new(Workspace::new(&dir.path().join("in")).unwrap()));
        Self { dir, tool }
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.dir.path().join("in").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    async fn grep(&self, arguments: Value) -> Result<String, String> {
        let Value::Object(map) = arguments else { panic!("not an object") };
        let args = self.tool.spec().parameters.validate(&Arguments::Object(map))?;
        match self.tool.execute(args, &ToolContext::detached()).await {
            Ok(text) => Ok(text),
            Err(ToolError::Failed(text)) => Err(text),
            Err(ToolError::Cancelled(cancelled)) => panic!("{cancelled}"),
        }
    }

    async fn hits(&self, arguments: Value) -> String {
        self.grep(arguments).await.unwrap()
    }
}

#[tokio::test]
async fn hits_are_shown_as_path_line_text_sorted_by_path() {
    let site = Site::new();
    site.file("b.txt", "x\nneedle b\n").file("a/z.txt", "needle z1\n\n  needle z2").file("a/a.txt", "no\n");
    assert_eq!(
        site.hits(json!({"pattern": "need.e"})).await,
        "a/z.txt:1:needle z1\na/z.txt:3:  needle z2\nb.txt:2:needle b\n"
    );
    assert_eq!(site.hits(json!({"pattern": "needle", "path": "b.txt"})).await, "b.txt:2:needle b\n");
    assert_eq!(site.hits(json!({"pattern": "z2$", "path": "./a"})).await, "a/z.txt:3:  needle z2\n");
}

#[tokio::test]
async fn hidden_files_are_searched_and_git_and_ignored_ones_are_not() {
    let site = Site::new();
    site.file(".hidden/x", "needle\n")
        .file(".git/config", "needle\n")
        .file("sub/.git/config", "needle\n")
        .file(".gitignore", "target/\n*.log\n")
        .file("target/out", "needle\n")
        .file("a.log", "needle\n")
        .file("sub/deep/b.log", "needle\n")
        .file("sub/.ignore", "c.txt\n")
        .file("sub/c.txt", "needle\n")
        .file("d.txt", "needle\n");
    assert_eq!(site.hits(json!({"pattern": "needle"})).await, ".hidden/x:1:needle\nd.txt:1:needle\n");
    // The rules above the start hold too; what is named outright is searched.
    assert_eq!(
        site.hits(json!({"pattern": "needle", "path": "sub"})).await,
        "[no hits for needle in sub: 1 file searched]\n"
    );
    assert_eq!(site.hits(json!({"pattern": "needle", "path": "a.log"})).await, "a.log:1:needle\n");
    let refusal = site.grep(json!({"pattern": "x", "path": ".git"})).await.unwrap_err();
    assert_eq!(refusal, ".git is not searched: .git is left out (read shows single files)");
}

#[tokio::test]
async fn the_glob_chooses_by_name_or_by_path() {
    let site = Site::new();
    for name in ["a.rs", "a.txt", "src/b.rs", "src/deep/c.rs", "test/d.rs"] {
        site.file(name, "needle\n");
    }
    let hits = async |glob: &str| {
        let text = site.hits(json!({"pattern": "needle", "glob": glob})).await;
        text.lines().map(|line| line.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(hits("*.rs").await, ["a.rs", "src/b.rs", "src/deep/c.rs", "test/d.rs"]);
    assert_eq!(hits("src/*.rs").await, ["src/b.rs"]);
    assert_eq!(hits("./src/**").await, ["src/b.rs", "src/deep/c.rs"]);
    assert_eq!(hits("{a,d}.*").await, ["a.rs", "a.txt", "test/d.rs"]);
    assert_eq!(hits("**/c.rs").await, ["src/deep/c.rs"]);
    let refusal = site.grep(json!({"pattern": "x", "glob": "a["})).await.unwrap_err();
    assert!(refusal.starts_with("invalid glob: "), "{refusal}");
}

#[tokio::test]
async fn case_matters_unless_told_otherwise() {
    let site = Site::new();
    site.file("a", "Needle\nneedle\nÉTÉ\n");
    assert_eq!(site.hits(json!({"pattern": "needle"})).await, "a:2:needle\n");
    assert_eq!(site.hits(json!({"pattern": "needle", "ignore_case": true})).await, "a:1:Needle\na:2:needle\n");
    assert_eq!(site.hits(json!({"pattern": "été", "ignore_case": true})).await, "a:3:ÉTÉ\n");
}

#[tokio::test]
async fn an_invalid_expression_is_explained() {
    let site = Site::new();
    for pattern in ["(", "[a", "a{2", "(?<x", "a\\", "(a{1000}){1000}{1000}", "a\nb"] {
        match site.grep(json!({"pattern": pattern})).await {
            Err(refusal) => assert!(refusal.starts_with("invalid regular expression: "), "{pattern}: {refusal}"),
            Ok(text) => assert!(pattern == "a{2", "{pattern} gave {text}"),
        }
    }
}

#[tokio::test]
async fn hits_are_capped_and_it_says_so() {
    let site = Site::new();
    site.file("a", "needle\n".repeat(limits::GREP_HITS - 1)).file("b", "needle\nneedle\n");
    let text = site.hits(json!({"pattern": "needle"})).await;
    assert_eq!(text.lines().count(), limits::GREP_HITS + 1);
    assert!(text.ends_with("b:1:needle\n[200 hits, there are more: narrow the pattern, glob or path]\n"), "{text}");
    // Exactly as many as the cap is no reason for a note.
    site.file("b", "needle\n");
    let text = site.hits(json!({"pattern": "needle"})).await;
    assert_eq!(text.lines().count(), limits::GREP_HITS);
    assert!(text.ends_with("b:1:needle\n"));
}

#[tokio::test]
async fn the_whole_result_is_capped_in_bytes() {
    let site = Site::new();
    site.file("a", format!("needle {}\n", "x".repeat(1_000)).repeat(150));
    let text = site.hits(json!({"pattern": "needle"})).await;
    assert!(text.len() < limits::GREP_BYTES + 200);
    assert!(text.ends_with("[50 hits, there are more: narrow the pattern, glob or path]\n"), "{}", text.len());
}

#[tokio::test]
async fn long_lines_are_cut_around_the_hit() {
    let site = Site::new();
    site.file("start", format!("needle{}\n", "é".repeat(5_000)));
    site.file("far", format!("{}needle{}", "é".repeat(50_000), "ü".repeat(5_000)));
    let text = site.hits(json!({"pattern": "needle", "path": "start"})).await;
    assert_eq!(text, format!("start:1:needle{}… [line cut]\n", "é".repeat(limits::GREP_COLUMNS - 6)));
    let text = site.hits(json!({"pattern": "needle", "path": "far"})).await;
    let line = text.strip_prefix("far:1:…").unwrap().strip_suffix("… [line cut]\n").unwrap();
    assert!(line.contains("éneedleü"), "{line}");
    assert_eq!(line.chars().count(), limits::GREP_COLUMNS);
    assert!(!line.contains('\u{fffd}'));
}

#[tokio::test]
async fn binary_and_large_files_are_passed_over_and_counted() {
    let site = Site::new();
    site.file("bin", b"needle\n\0\n").file("late", [b"needle\n".repeat(20_000).as_slice(), b"\0"].concat());
    site.file("latin", b"caf\xe9 needle\n");
    let large = fs::File::create(site.dir.path().join("in/large")).unwrap();
    large.set_len(limits::GREP_FILE_BYTES + 1).unwrap();
    let text = site.hits(json!({"pattern": "needle"})).await;
    // Its NUL comes after more hits than are shown: nothing tells it from text by then.
    assert!(text.starts_with("late:1:needle\n") || text.starts_with("latin:1:"), "{text}");
    fs::remove_file(site.dir.path().join("in/late")).unwrap();
    assert_eq!(
        site.hits(json!({"pattern": "needle"})).await,
        "latin:1:caf\u{fffd} needle\n[passed over, binary: 1]\n[passed over, over 64 MiB: 1]\n"
    );
}

#[tokio::test]
async fn files_in_utf_16_are_searched_with_a_mark_and_without() {
    let site = Site::new();
    for (kind, unit) in [("le", u16::to_le_bytes as fn(u16) -> [u8; 2]), ("be", u16::to_be_bytes)] {
        for (marked, mark) in [("marked", "\u{feff}"), ("plain", "")] {
            let text = format!("{mark}one\r\ngr\u{fc}n needle \u{1f600}\r\n");
            site.file(&format!("{marked}.{kind}"), text.encode_utf16().flat_map(unit).collect::<Vec<u8>>());
        }
    }
    site.file("icon.bin", b"\0\0\x01\0needle");
    let hits = site.hits(json!({"pattern": "n needle"})).await;
    let expected: String = ["marked.be", "marked.le", "plain.be", "plain.le"]
        .map(|name| format!("{name}:2:gr\u{fc}n needle \u{1f600}\n"))
        .concat();
    assert_eq!(hits, format!("{expected}[passed over, binary: 1]\n"));
}

#[tokio::test]
async fn line_ends_of_either_kind_are_no_part_of_a_line() {
    let site = Site::new();
    site.file("dos", "one\r\ntwo\r\n").file("unix", "one\ntwo");
    assert_eq!(site.hits(json!({"pattern": "^(one|two)$"})).await, "dos:1:one\ndos:2:two\nunix:1:one\nunix:2:two\n");
}

#[tokio::test]
async fn symbolic_links_are_not_followed_and_nothing_outside_is_searched() {
    let site = Site::new();
    let base = site.dir.path();
    fs::write(base.join("secret"), "needle\n").unwrap();
    site.file("sub/a", "needle\n");
    symlink(base.join("secret"), base.join("in/to_secret")).unwrap();
    symlink(base, base.join("in/up")).unwrap();
    symlink(".", base.join("in/sub/loop")).unwrap();
    assert_eq!(site.hits(json!({"pattern": "needle"})).await, "sub/a:1:needle\n");
    for path in ["to_secret", "up", "up/secret", "../secret", ".."] {
        let refusal = site.grep(json!({"pattern": "needle", "path": path})).await.unwrap_err();
        assert!(refusal.contains("is outside the workspace"), "{refusal}");
    }
    let refusal = site.grep(json!({"pattern": "needle", "path": "nowhere"})).await.unwrap_err();
    assert_eq!(refusal, "nowhere does not exist");
}

#[tokio::test]
async fn hostile_names_are_shown_and_fifos_do_not_hang() {
    let site = Site::new();
    site.file("a\nb\u{1b}[31m\u{202e}", "needle\n");
    let make_fifo = |name: &str| {
        let path = site.dir.path().join("in").join(name);
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    };
    make_fifo("fifo");
    assert_eq!(site.hits(json!({"pattern": "needle"})).await, "a⏎b␛[31m<U+202E>:1:needle\n");
    assert_eq!(
        site.hits(json!({"pattern": "needle", "path": "fifo"})).await,
        "[no hits for needle in fifo: 0 files searched]\n[passed over, unreadable: 1]\n"
    );
    // A FIFO in the place of the ignore rules: they do not count, and that is said.
    site.file("trap/x", "needle\n");
    make_fifo("trap/.gitignore");
    let note = "[ignore rules not used: trap/.gitignore, no regular file or too large]\n";
    assert_eq!(
        site.hits(json!({"pattern": "needle"})).await,
        format!("a⏎b␛[31m<U+202E>:1:needle\ntrap/x:1:needle\n{note}")
    );
    assert_eq!(
        site.grep(json!({"pattern": "needle", "path": "trap"})).await.unwrap(),
        format!("trap/x:1:needle\n{note}")
    );
}

#[tokio::test]
async fn an_expression_made_to_explode_takes_linear_time() {
    let site = Site::new();
    site.file("a", "a".repeat(200_000));
    let text = site.hits(json!({"pattern": "(a*)*(a|a)*(a+)+$b"})).await;
    assert!(text.starts_with("[no hits for"), "{text}");
}

#[tokio::test]
async fn a_cancel_ends_a_search() {
    let site = Site::new();
    for n in 0..100 {
        site.file(&format!("d/{n}"), "needle\n");
    }
    let context = ToolContext::detached();
    let args = site.tool.spec().parameters.validate(&Arguments::parse(r#"{"pattern": "needle"}"#)).unwrap();
    context.cancellable.cancel();
    assert!(matches!(site.tool.execute(args, &context).await, Err(ToolError::Cancelled(_))));
}

#[tokio::test]
async fn a_glob_of_names_in_brackets_finds_them_and_one_that_leaves_all_out_says_so() {
    let site = Site::new();
    site.file("app/[id]/page.tsx", "needle\n");
    site.file("app/i/page.tsx", "needle\n");
    let hits = async |glob: &str| site.hits(json!({"pattern": "needle", "glob": glob})).await;
    assert_eq!(hits("app/[id]/*.tsx").await, "app/[id]/page.tsx:1:needle\n");
    assert_eq!(
        hits("*.rs").await,
        "[no hits for needle in .: 0 files searched]\n[the glob *.rs left out all 2 files]\n"
    );
}
