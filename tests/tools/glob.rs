//! The tool `glob`.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use serde_json::{Value, json};
use steersman_base::limits;
use steersman_base::message::Arguments;
use steersman_core::tool::{Tool, ToolContext, ToolDirectory, ToolError};
use steersman_tools::GlobTool;
use steersman_tools::workspace::Workspace;
use tempfile::TempDir;

struct Site {
    dir: TempDir,
    tool: GlobTool,
}

impl Site {
    fn new(files: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("in")).unwrap();
        let tool = GlobTool::new(Arc::new(Workspace::new(&dir.path().join("in")).unwrap()));
        let site = Self { dir, tool };
        for file in files {
            site.file(file, "");
        }
        site
    }

    fn file(&self, name: &str, content: &str) {
        let path = self.dir.path().join("in").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    async fn glob(&self, arguments: Value) -> Result<String, String> {
        let Value::Object(map) = arguments else { panic!("not an object") };
        let args = self.tool.spec().parameters.validate(&Arguments::Object(map))?;
        match self.tool.execute(args, &ToolContext::detached()).await {
            Ok(text) => Ok(text),
            Err(ToolError::Failed(text)) => Err(text),
            Err(ToolError::Cancelled(cancelled)) => panic!("{cancelled}"),
        }
    }

    async fn list(&self, pattern: &str) -> String {
        self.glob(json!({"pattern": pattern})).await.unwrap()
    }
}

#[tokio::test]
async fn files_are_listed_sorted_and_relative_to_the_workspace() {
    let site = Site::new(&["b.rs", "a.rs", "a.txt", "src/z.rs", "src/deep/y.rs", "src/m.txt"]);
    assert_eq!(site.list("**/*.rs").await, "a.rs\nb.rs\nsrc/deep/y.rs\nsrc/z.rs\n");
    assert_eq!(site.list("*.rs").await, "a.rs\nb.rs\n");
    assert_eq!(
        site.list("./src/*").await,
        "src/m.txt\nsrc/z.rs\n[1 directory matches too: end the pattern with / to list directories]\n"
    );
    assert_eq!(site.list("src/**/*.{rs,txt}").await, "src/deep/y.rs\nsrc/m.txt\nsrc/z.rs\n");
    assert_eq!(site.list("[ab].rs").await, "a.rs\nb.rs\n");
    assert_eq!(site.glob(json!({"pattern": "*.rs", "path": "src"})).await.unwrap(), "src/z.rs\n");
    assert_eq!(site.glob(json!({"pattern": "**/*.rs", "path": "src"})).await.unwrap(), "src/deep/y.rs\nsrc/z.rs\n");
}

#[tokio::test]
async fn a_pattern_that_ends_with_a_slash_lists_directories() {
    let site = Site::new(&["a", "src/b", "src/deep/c", "test/d"]);
    assert_eq!(site.list("*/").await, "src/\ntest/\n");
    assert_eq!(site.list("**/").await, "src/\nsrc/deep/\ntest/\n");
    assert_eq!(site.list("src/*/").await, "src/deep/\n");
    assert_eq!(
        site.list("a/").await,
        "[no directory in . matches a/]\n[matching files: 1; leave the last / away to list files]\n"
    );
}

#[tokio::test]
async fn hidden_files_are_listed_and_git_and_ignored_ones_are_not() {
    let site = Site::new(&[".env", ".git/HEAD", "sub/.git", "target/x", "a.log", "sub/b.log", "sub/c"]);
    site.file(".gitignore", "target/\n*.log\n");
    assert_eq!(
        site.list("**/*").await,
        ".env\n.gitignore\nsub/c\n[1 directory matches too: end the pattern with / to list directories]\n"
    );
    assert!(site.glob(json!({"pattern": "*", "path": ".git"})).await.is_err());
}

#[tokio::test]
async fn nothing_found_is_said_plainly() {
    let site = Site::new(&["src/a.rs"]);
    assert_eq!(site.list("**/*.py").await, "[no file in . matches **/*.py]\n");
    assert_eq!(
        site.list("*.rs").await,
        "[no file in . matches *.rs]\n[this pattern looks at one level; **/ before a name looks at all levels]\n"
    );
    assert_eq!(
        site.glob(json!({"pattern": "src", "path": "."})).await.unwrap(),
        "[no file in . matches src]\n[1 directory matches too: end the pattern with / to list directories]\n"
    );
}

#[tokio::test]
async fn paths_are_capped_and_it_says_so() {
    let site = Site::new(&[]);
    for n in 0..=limits::GLOB_PATHS {
        site.file(&format!("{n:05}"), "");
    }
    let text = site.list("*").await;
    assert_eq!(text.lines().count(), limits::GLOB_PATHS + 1);
    assert!(text.ends_with("00999\n[1000 of 1001 paths: narrow the pattern or the path]\n"));
    fs::remove_file(site.dir.path().join("in/00000")).unwrap();
    assert_eq!(site.list("*").await.lines().count(), limits::GLOB_PATHS);
}

#[tokio::test]
async fn patterns_and_paths_that_lead_away_are_refused() {
    let site = Site::new(&["a", "sub/b"]);
    symlink("/etc", site.dir.path().join("in/etc")).unwrap();
    for pattern in ["", "/", "/etc/*", "../*", "sub/../../*", "./"] {
        let refusal = site.glob(json!({"pattern": pattern})).await.unwrap_err();
        assert!(refusal.starts_with("the pattern is relative to path"), "{pattern}: {refusal}");
    }
    for path in ["..", "/etc", "etc", "~"] {
        assert!(site.glob(json!({"pattern": "*", "path": path})).await.is_err(), "{path}");
    }
    assert_eq!(site.list("etc/*").await.lines().next().unwrap(), "[no file in . matches etc/*]");
    assert_eq!(site.glob(json!({"pattern": "*", "path": "a"})).await.unwrap_err(), "a is not a directory");
    assert_eq!(site.glob(json!({"pattern": "*", "path": "nowhere"})).await.unwrap_err(), "nowhere does not exist");
    assert!(site.glob(json!({"pattern": "a["})).await.unwrap_err().starts_with("invalid glob: "));
}

#[tokio::test]
async fn links_are_listed_and_not_followed_and_hostile_names_are_shown() {
    let site = Site::new(&["sub/a", "x\ny\u{1b}]0;t\u{7}"]);
    symlink(".", site.dir.path().join("in/sub/loop")).unwrap();
    symlink("nowhere", site.dir.path().join("in/dangling")).unwrap();
    assert_eq!(
        site.list("**").await,
        "dangling\nsub/a\nsub/loop\nx⏎y␛]0;t␇\n[1 directory matches too: end the pattern with / to list directories]\n"
    );
}

#[tokio::test]
async fn the_tool_can_be_bound_to_another_workspace() {
    let (site, other) = (Site::new(&["here"]), Site::new(&["there"]));
    let moved = site.tool.in_directory(&ToolDirectory::new(other.dir.path().join("in"))).unwrap().unwrap();
    let args = moved.spec().parameters.validate(&Arguments::parse(r#"{"pattern": "*"}"#)).unwrap();
    assert_eq!(moved.execute(args, &ToolContext::detached()).await.unwrap(), "there\n");
}

#[tokio::test]
async fn a_part_of_a_path_that_is_there_under_this_name_is_that() {
    let files =
        ["app/[id]/page.tsx", "app/i/page.tsx", "app/(auth)/[[...slug]]/a.tsx", "x/{y}/z", "x/y/z", "[a-b", "{x}"];
    let site = Site::new(&files);
    for (pattern, found) in [
        ("app/[id]/page.tsx", "app/[id]/page.tsx\n"),
        ("./app/[id]/*.{ts,tsx}", "app/[id]/page.tsx\n"),
        ("app/(auth)/[[...slug]]/*.tsx", "app/(auth)/[[...slug]]/a.tsx\n"),
        ("**/[[...slug]]/*", "app/(auth)/[[...slug]]/a.tsx\n"),
        ("**/[id]/page.tsx", "app/[id]/page.tsx\napp/i/page.tsx\n"),
        ("x/{y}/z", "x/{y}/z\n"),
        ("{x}", "{x}\n"),
        ("[a-b", "[a-b\n"),
        ("{app,x}/{i,y}/*", "app/i/page.tsx\nx/y/z\n"),
        ("{app/i,x/y}/*", "app/i/page.tsx\nx/y/z\n"),
        ("app/[a-z]/*", "app/i/page.tsx\n"),
        (r"app/\[id\]/page.tsx", "app/[id]/page.tsx\n"),
    ] {
        assert_eq!(site.list(pattern).await, found, "{pattern}");
    }
    let site =
        Site::new(&[r"a\b.txt", "a*.txt", "!x.txt", "ab.txt", "[!x].txt", "@modal/$id,a.ts", "^x.txt", "q?.txt"]);
    for (pattern, found) in [
        (r"a\b.txt", "a\\b.txt\n"),
        ("!x.txt", "!x.txt\n"),
        ("[!x].txt", "[!x].txt\n"),
        ("@modal/$id,a.ts", "@modal/$id,a.ts\n"),
        ("^x.txt", "^x.txt\n"),
        ("q?.txt", "q?.txt\n"),
        ("a[*].txt", "a*.txt\n"),
    ] {
        assert_eq!(site.list(pattern).await, found, "{pattern}");
    }
}
