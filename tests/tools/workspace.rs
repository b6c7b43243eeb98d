//! Which files tools may touch: nothing outside the root, by whatever path.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use steersman_tools::workspace::Workspace;
use tempfile::TempDir;

/// A directory with the workspace `in`, its neighbour `out` with a secret, and links of every kind between them.
struct Site {
    dir: TempDir,
    workspace: Workspace,
}

impl Site {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path();
        for directory in ["in/sub/deep", "out/dir", "in-twin"] {
            fs::create_dir_all(base.join(directory)).unwrap();
        }
        for file in ["in/a.txt", "in/sub/b.txt", "out/secret", "out/dir/c", "in-twin/x"] {
            fs::write(base.join(file), file).unwrap();
        }
        let link = |target: &str, at: &str| symlink(target, base.join(at)).unwrap();
        link("../out", "in/to_dir");
        link("../out/secret", "in/to_file");
        link("../out/new", "in/dangling_out");
        link("nowhere", "in/dangling_in");
        link("..", "in/up");
        link("../..", "in/sub/up2");
        link("/", "in/slash");
        link("/proc/self/root", "in/proc_root");
        link("/proc/self/cwd", "in/proc_cwd");
        link("to_dir", "in/hop1");
        link("hop1", "in/hop2");
        link("loop_b", "in/loop_a");
        link("loop_a", "in/loop_b");
        link("a.txt", "in/inner_file");
        link("sub", "in/inner_dir");
        link(base.join("in/sub").to_str().unwrap(), "in/inner_absolute");
        link(base.join("out").to_str().unwrap(), "in/to_absolute");
        link("../in-twin", "in/twin");
        link("../../out/dir", "in/sub/cross");
        let workspace = Workspace::new(&base.join("in")).unwrap();
        Self { dir, workspace }
    }

    fn base(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn escapes(&self) -> Vec<String> {
        let base = self.base();
        let mut escapes: Vec<String> = [
            "..",
            "../",
            "../out/secret",
            "../out/new",
            "../in-twin/x",
            "./../out/secret",
            "sub/../../out/secret",
            "sub/deep/../../../out/secret",
            "sub/../..",
            "/",
            "/etc/passwd",
            "/etc/../etc/passwd",
            "//etc/passwd",
            "/proc/self/root/etc/passwd",
            "/proc/self/root",
            "/proc/self/environ",
            "/dev/zero",
            "/new_at_root",
            "to_dir",
            "to_dir/secret",
            "to_dir/new",
            "to_dir/new/newer",
            "to_dir/dir/c",
            "to_file",
            "up/out/secret",
            "up",
            "sub/up2/out/secret",
            "slash/etc/passwd",
            "slash",
            "proc_root/etc/passwd",
            "proc_root",
            "proc_cwd/../../../../../../etc/passwd",
            "hop1/secret",
            "hop2/secret",
            "hop2/new",
            "to_absolute/secret",
            "to_absolute/new",
            "twin/x",
            "sub/cross/c",
            "sub/cross/../secret",
            "inner_dir/../../out/secret",
            "dangling_out",
            "dangling_in",
            "dangling_out/x",
            "loop_a",
            "loop_a/x",
            "~",
            "~/x",
            "~root/.ssh/id",
            "",
            "\0",
            "a\0/../../out/secret",
            "missing/../../out/secret",
            "missing/../a.txt",
            "a.txt/../../out/secret",
            "a.txt/x",
            "to_dir/../out/secret",
        ]
        .map(str::to_owned)
        .to_vec();
        for path in ["out/secret", "out/new", "in-twin/x", "in/../out/secret", "in/to_dir/secret"] {
            escapes.push(base.join(path).to_str().unwrap().to_owned());
        }
        escapes
    }
}

/// Why a path is refused; an error of the file system is a reason only where the path makes no sense.
const REASONS: [&str; 8] = [
    "is outside the workspace: it is ",
    "is a symbolic link that leads nowhere",
    "goes up (..) from a directory that does not exist",
    "~ is not expanded",
    "the path is empty",
    "it contains a NUL character",
    "Too many levels of symbolic links",
    "Not a directory",
];

#[test]
fn no_path_leads_outside() {
    let site = Site::new();
    let escapes = site.escapes();
    assert!(escapes.len() >= 30);
    for path in escapes {
        for (act, resolved) in
            [("written", site.workspace.resolve_write(&path)), ("read", site.workspace.resolve_read(&path))]
        {
            let refusal = resolved.expect_err(&format!("{path:?} can be {act}"));
            let reasons = REASONS.iter().filter(|reason| refusal.contains(**reason)).count();
            assert_eq!(reasons, 1, "{path:?} is refused for one reason that says why: {refusal}");
        }
    }
}

#[test]
fn a_refusal_names_the_real_path() {
    let site = Site::new();
    let secret = site.base().join("out/secret");
    for path in ["../out/secret", "to_file", "hop2/secret", "sub/up2/out/secret"] {
        let refusal = site.workspace.resolve_read(path).unwrap_err();
        assert!(refusal.starts_with(path), "{refusal}");
        assert!(refusal.contains(&format!("it is {},", secret.display())), "{refusal}");
    }
    let refusal = site.workspace.resolve_write("to_dir/new/newer").unwrap_err();
    assert!(refusal.contains(&site.base().join("out/new/newer").display().to_string()), "{refusal}");
    let refusal = site.workspace.resolve_write("dangling_out").unwrap_err();
    assert_eq!(refusal, "dangling_out is a symbolic link that leads nowhere (to ../out/new)");
}

#[test]
fn paths_within_resolve_to_the_real_file() {
    let site = Site::new();
    let root = site.base().join("in");
    let table = [
        ("a.txt", "a.txt"),
        ("./a.txt", "a.txt"),
        ("sub//b.txt", "sub/b.txt"),
        ("sub/deep/../b.txt", "sub/b.txt"),
        ("inner_file", "a.txt"),
        ("inner_dir/b.txt", "sub/b.txt"),
        ("inner_absolute/b.txt", "sub/b.txt"),
        ("inner_dir/../a.txt", "a.txt"),
        ("up/in/a.txt", "a.txt"),
        ("../in/a.txt", "a.txt"),
        ("...", "..."),
        ("new", "new"),
        ("new/dir/file", "new/dir/file"),
        ("inner_dir/new", "sub/new"),
        ("./~", "~"),
        ("sub/", "sub"),
    ];
    for (path, real) in table {
        assert_eq!(site.workspace.resolve_read(path), Ok(root.join(real)), "{path}");
        assert_eq!(site.workspace.resolve_write(path), Ok(root.join(real)), "{path}");
    }
    assert_eq!(site.workspace.resolve_read("."), Ok(root.clone()));
    assert_eq!(site.workspace.resolve_read(root.join("a.txt").to_str().unwrap()), Ok(root.join("a.txt")));
}

#[test]
fn a_root_that_is_a_link_is_resolved_once() {
    let site = Site::new();
    let base = site.base();
    symlink("in", base.join("alias")).unwrap();
    let workspace = Workspace::new(&base.join("alias")).unwrap();
    assert_eq!(workspace.root(), base.join("in"));
    assert_eq!(workspace.resolve_read(base.join("alias/a.txt").to_str().unwrap()), Ok(base.join("in/a.txt")));
}

#[test]
fn a_root_must_be_a_directory() {
    let site = Site::new();
    assert!(Workspace::new(&site.base().join("in/a.txt")).is_err());
    assert!(Workspace::new(&site.base().join("nowhere")).is_err());
}

#[test]
fn readable_directories_can_be_read_and_not_written() {
    let site = Site::new();
    let out = site.base().join("out");
    let workspace = site.workspace.clone().with_readable([&out]).unwrap();
    assert_eq!(workspace.resolve_read("to_file"), Ok(out.join("secret")));
    assert_eq!(workspace.resolve_read(out.join("secret").to_str().unwrap()), Ok(out.join("secret")));
    assert!(workspace.resolve_write("to_file").is_err());
    assert!(workspace.resolve_read("twin/x").is_err());
    assert!(site.workspace.clone().with_readable(["/no/such/directory"]).is_err());
}

#[test]
fn paths_are_shown_relative_and_on_one_line() {
    let site = Site::new();
    let root = site.base().join("in");
    let shown = |path: &Path| site.workspace.display(path);
    assert_eq!(shown(&root), ".");
    assert_eq!(shown(&root.join("sub/b.txt")), "sub/b.txt");
    assert_eq!(shown(Path::new("/etc/passwd")), "/etc/passwd");
    assert_eq!(shown(&root.join("a\nb\u{1b}[31m")), "a⏎b␛[31m");
}

proptest! {
    #[test]
    fn no_random_path_leads_outside(parts in proptest::collection::vec(
        proptest::sample::select(vec![
            "..", ".", "", "sub", "deep", "a.txt", "to_dir", "to_file", "up", "up2", "slash", "proc_root", "hop2", "new",
            "inner_dir", "cross", "twin", "dangling_out", "loop_a", "~", "etc", "passwd", "in", "out", "secret", "x y",
        ]), 1..9), absolute in any::<bool>())
    {
        let site = Site::new();
        let path = if absolute { format!("/{}", parts.join("/")) } else { parts.join("/") };
        let root = site.workspace.root().to_owned();
        for resolved in [site.workspace.resolve_read(&path), site.workspace.resolve_write(&path)].into_iter().flatten() {
            prop_assert!(resolved.starts_with(&root), "{path} -> {}", resolved.display());
            // What the file system makes of it lies inside too.
            if let Ok(real) = resolved.canonicalize() {
                prop_assert!(real == resolved, "{path} -> {}", resolved.display());
            }
            prop_assert!(!resolved.components().any(|part| part.as_os_str() == ".."));
        }
    }
}
