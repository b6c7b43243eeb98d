//! Sixty ways out of the workspace, tried with every file tool: nothing outside is read, listed or changed.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;
use steersman_core::approval::{Mode, Policy};

use crate::support::files::{Files, listing};

/// Stands in every file outside, and in the name of one.
const CANARY: &str = "CANARY-7731";

fn site() -> Files {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path();
    for directory in ["in/sub/deep", "in/.git/hooks", "out/dir", "in-twin"] {
        fs::create_dir_all(base.join(directory)).unwrap();
    }
    for file in ["out/secret", "out/dir/c", "in-twin/x", "beside", "out/CANARY-7731.txt"] {
        fs::write(base.join(file), format!("{CANARY}: {file}\n")).unwrap();
    }
    fs::write(base.join("in/a.txt"), "inside\n").unwrap();
    let absolute = |path: &str| base.join(path).to_str().unwrap().to_owned();
    for (target, at) in [
        ("../out", "in/to_dir"),
        ("../out/secret", "in/to_file"),
        ("../out/new", "in/dangling_out"),
        ("nowhere", "in/dangling_in"),
        ("..", "in/up"),
        ("../..", "in/sub/up2"),
        ("/", "in/slash"),
        ("/proc/self/root", "in/proc_root"),
        ("/proc/self/cwd", "in/proc_cwd"),
        ("/dev/fd", "in/dev_fd"),
        ("to_dir", "in/hop1"),
        ("hop1", "in/hop2"),
        ("hop2/dir", "in/hop3"),
        ("loop_b", "in/loop_a"),
        ("loop_a", "in/loop_b"),
        ("../in-twin", "in/twin"),
        ("../../out/dir", "in/sub/cross"),
        ("../../../out/secret", "in/.git/hooks/link"),
        (&absolute("out"), "in/to_absolute"),
        (&absolute("out/secret"), "in/to_absolute_file"),
    ] {
        symlink(target, base.join(at)).unwrap();
    }
    let files = Files::within(dir);
    // What a protected place would ask is refused: nobody is there.
    let root = Some(files.workspace.root().to_owned());
    files.approvals.configure(Policy { root, ..Policy::default() }, Mode::AutoEdit);
    files
}

fn escapes(files: &Files) -> Vec<String> {
    let base = files.dir.path().canonicalize().unwrap();
    let named = |path: &str| base.join(path).to_str().unwrap().to_owned();
    let depth = base.components().count() + 3;
    let mut paths: Vec<String> = [
        "..",
        "../",
        "../out/secret",
        "../out/new",
        "../beside",
        "../in-twin/x",
        "./../out/secret",
        "sub/../../out/secret",
        "sub/deep/../../../out/secret",
        "sub/../..",
        "a.txt/../../out/secret",
        "missing/../../out/secret",
        ".git/../../out/secret",
        ".git/hooks/../../../out/new",
        ".git/hooks/link",
        "/",
        "//",
        "/etc/passwd",
        "//etc/passwd",
        "/etc/../etc/passwd",
        "/./etc/./passwd",
        "/proc/self/root/etc/passwd",
        "/proc/self/environ",
        "/proc/self/mem",
        "/proc/self/cwd/Cargo.toml",
        "/proc/self/fd/0",
        "/proc/1/root/etc/passwd",
        "/dev/fd/0",
        "/dev/stdin",
        "/dev/zero",
        "/dev/tty",
        "/new_at_root_CANARY",
        "~",
        "~/.bashrc",
        "~root/.bashrc",
        "to_dir",
        "to_dir/secret",
        "to_dir/",
        "to_dir/new",
        "to_dir/new/newer",
        "to_dir/./secret",
        "to_dir/../out/secret",
        "to_dir/dir/c",
        "to_file",
        "to_file/",
        "dangling_out",
        "dangling_in",
        "dangling_out/x",
        "up",
        "up/out/secret",
        "up/new",
        "sub/up2/out/secret",
        "sub/up2/../beside",
        "slash/etc/passwd",
        "proc_root/etc/passwd",
        "proc_cwd/Cargo.toml",
        "dev_fd/0",
        "hop1/secret",
        "hop2/secret",
        "hop2/new",
        "hop3/c",
        "hop3/../secret",
        "loop_a",
        "loop_a/x",
        "twin/x",
        "sub/cross/c",
        "to_absolute/secret",
        "to_absolute_file",
        "TO_DIR/secret",
        "..\\out\\secret",
        "\u{2024}\u{2024}/out/secret",
        "\u{ff0e}\u{ff0e}/out/secret",
        "..\u{2215}out\u{2215}secret",
        "%2e%2e/out/secret",
        "..%2fout%2fsecret",
        "file:///etc/passwd",
        "a.txt\0/../../out/secret",
        "\0",
        "../out/secret\n",
        " ../out/secret",
        "../out/secret ",
        ".../out/secret",
        "..;/out/secret",
        "$HOME/.bashrc",
        "`pwd`/../out/secret",
        "{..,sub}/out/secret",
        "*/../../out/secret",
    ]
    .map(str::to_owned)
    .to_vec();
    paths.extend(["out/secret", "out/new", "in/../out/secret", "in-twin/x", "in/to_dir/secret", "beside"].map(named));
    paths.push(format!("{}etc/passwd", "../".repeat(depth)));
    paths.push(format!("{}out/secret", "sub/../".repeat(200) + "../"));
    paths.push("x/".repeat(3_000) + "../../out/secret");
    paths.push(format!("../{}", "o".repeat(5_000)));
    paths
}

#[tokio::test]
async fn sixty_ways_out_lead_nowhere() {
    let files = site();
    let escapes = escapes(&files);
    assert!(escapes.len() > 60, "{}", escapes.len());
    let outside = || -> Vec<String> {
        let mut lines = listing(files.dir.path());
        lines.retain(|line| !line.starts_with("in/") && !line.starts_with("in "));
        lines
    };
    let before = outside();
    assert_eq!(before.len(), 8, "{before:?}");
    let root = listing_of_root();
    for path in &escapes {
        let shown = format!("{:.80}", path.escape_debug().to_string());
        for (tool, arguments) in [
            ("read", json!({"path": path})),
            ("write", json!({"path": path, "content": "written\n"})),
            ("edit", json!({"path": path, "old_string": CANARY, "new_string": "edited"})),
            ("grep", json!({"path": path, "pattern": "CANARY|root"})),
            ("glob", json!({"path": path, "pattern": "**/*"})),
        ] {
            let said = files.call(tool, arguments).await.unwrap_or_else(|error| format!("Error: {error}"));
            let told =
                said.contains(&format!("{CANARY}:")) || said.contains("CANARY-7731.txt") || said.contains("root:x:");
            assert!(!told, "{tool} {shown} shows what is outside: {said:.200}");
            assert!(said.len() < 20_000, "{tool} {shown}");
        }
        assert_eq!(outside(), before, "{shown}");
    }
    assert_eq!(listing_of_root(), root);
    assert_eq!(files.held("a.txt"), b"inside\n");
}

/// Lists the names at the root of the machine and in the directory of this program's sources.
fn listing_of_root() -> Vec<String> {
    let names = |dir: &str| fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path().display().to_string());
    let mut names: Vec<String> = names("/").chain(names(crate::support::root().to_str().unwrap())).collect();
    names.sort();
    names
}

#[tokio::test]
async fn searches_of_everything_see_nothing_behind_links() {
    let files = site();
    for (tool, arguments) in [
        ("grep", json!({"pattern": CANARY})),
        ("glob", json!({"pattern": "**/*"})),
        ("glob", json!({"pattern": "**/*/"})),
        ("grep", json!({"pattern": CANARY, "glob": "../**"})),
    ] {
        let said = files.call(tool, arguments).await.unwrap_or_default();
        assert!(!said.contains(&format!("{CANARY}:")) && !said.contains("CANARY-7731.txt"), "{said}");
    }
    for pattern in ["../*", "/etc/*", "sub/../../out/*", ".."] {
        let error = files.call("glob", json!({"pattern": pattern})).await.unwrap_err();
        assert!(error.contains("goes down only"), "{error}");
    }
}
