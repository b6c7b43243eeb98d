//! Stories of what no command may change, as the pure table decides it: names at any depth, there or not, in a
//! repository everything but what plain git work writes there.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use steersman_base::protected::{Decision, DirectoryRole, MovedKind, NameChange, ProtectedPlaces};

use super::{OPEN, ROOT, SLY};
use crate::support::protected::PROTECTED;

fn places() -> ProtectedPlaces {
    ProtectedPlaces::default()
        .with(DirectoryRole::Writable, Path::new(ROOT))
        .with(DirectoryRole::Free, Path::new("/tmp"))
        .with(DirectoryRole::Home, Path::new("/home/me"))
        .with(DirectoryRole::Own, Path::new("/home/me/.config/steersman"))
}

fn at(name: &str) -> PathBuf {
    Path::new(ROOT).join(name)
}

/// What of the table plain git work writes, so that commands may.
const GIT_WORK: &[&str] = &[".git/HEAD"];

#[test]
fn what_write_asks_about_no_command_changes_but_for_what_git_itself_writes() {
    let places = places();
    for name in PROTECTED.split_whitespace().chain(SLY) {
        let is_open = GIT_WORK.contains(&name);
        assert_eq!(places.refuses(&at(name)).is_none(), is_open, "{name}");
        assert!(places.what(&at(name)).is_some(), "{name}");
    }
    for name in OPEN.split_whitespace() {
        assert_eq!(places.refuses(&at(name)), None, "{name}");
    }
}

#[test]
fn in_a_repository_only_what_plain_work_writes_is_open_at_any_depth() {
    let places = places();
    let open = "HEAD HEAD.lock index index.lock index.stash.7 sharedindex.ab next-index-7.lock packed-refs packed-refs.new \
        ORIG_HEAD FETCH_HEAD MERGE_HEAD MERGE_MSG MERGE_MODE AUTO_MERGE CHERRY_PICK_HEAD REVERT_HEAD COMMIT_EDITMSG \
        SQUASH_MSG TAG_EDITMSG BISECT_LOG BISECT_START objects/ab/cd objects/pack/x.pack objects/info/packs \
        objects/info/commit-graphs/chain refs/heads/a/b refs/stash logs/HEAD logs/refs/heads/a rebase-merge \
        rebase-merge/git-rebase-todo rebase-merge/done rebase-apply/0001 sequencer/todo sequencer/opts rebase-merge/strategy info/sparse-checkout \
        gc.pid gc.log shallow shallow.lock worktrees/x/HEAD worktrees/x/index.lock worktrees/x/logs/HEAD \
        worktrees/x/rebase-merge/done modules/x/HEAD modules/x/objects/ab/cd modules/a/b/refs/heads/c modules/x/modules/y/index";
    let closed = "config config.lock config.worktree commondir gitdir hooks hooks/pre-commit hooks/any info/attributes \
        info/exclude info/grafts description branches/x remotes/x objects/info/alternates objects/info/http-alternates \
        modules modules/x modules/x/config modules/x/hooks/post-checkout modules/a/objects/config modules/x/config.worktree \
        modules/x/commondir modules/x/modules/y/config worktrees worktrees/x worktrees/x/commondir worktrees/x/gitdir \
        worktrees/x/config.worktree worktrees/x/objects/x lazygit.yml what/git/invents/next newfile MERGE_RR rr-cache rr-cache/x/postimage worktrees/x/MERGE_RR";
    for git in [".git", ".GIT", "sub/.git", "a/b/.git", "mirror.git", "node_modules/x/.git"] {
        for name in open.split_whitespace() {
            assert_eq!(places.refuses(&at(git).join(name)), None, "{git}/{name}");
        }
        for name in closed.split_whitespace() {
            assert!(places.refuses(&at(git).join(name)).is_some(), "{git}/{name}");
        }
    }
    for name in [".git", "sub/.git", ".Git", "git~1"] {
        assert!(places.refuses(&at(name)).is_some(), "{name}");
    }
    let places = places.with(DirectoryRole::Repository, Path::new("/srv/repository"));
    assert_eq!(places.refuses(Path::new("/srv/repository/refs/heads/x")), None);
    assert!(places.refuses(Path::new("/srv/repository/hooks/x")).is_some());
    assert!(places.refuses(Path::new("/srv/repository")).is_some());
}

#[test]
fn other_version_control_keeps_its_settings_and_works() {
    let places = places();
    for name in
        [".hg/store/data/x.i", ".hg/dirstate", ".jj/repo/op_heads/x", ".jj/repo/store/git/objects/ab/c", ".svn/wc.db"]
    {
        assert_eq!(places.refuses(&at(name)), None, "{name}");
    }
    for name in [
        ".hg",
        ".hg/hgrc",
        ".hg/sharedpath",
        ".sl/config",
        ".jj/repo/config.toml",
        ".jj/repo/store/git/config",
        ".bzr/x",
    ] {
        assert!(places.refuses(&at(name)).is_some(), "{name}");
    }
}

#[test]
fn what_a_package_manager_unpacks_is_open_but_for_version_control() {
    let places = places();
    for name in
        ["node_modules/x/.travis.yml", "node_modules/x/.github/workflows/ci.yml", ".venv/lib/site-packages/AGENTS.md"]
    {
        assert_eq!(places.refuses(&at(name)), None, "{name}");
        assert_eq!(places.what(&at(name)), None, "{name}");
    }
    for name in ["node_modules/x/.git/config", ".claude/node_modules/x", "node_modules/x/.ssh/id"] {
        assert!(places.refuses(&at(name)).is_some(), "{name}");
    }
}

#[test]
fn where_commands_write_nothing_or_anything_nothing_is_refused() {
    let places = places();
    for path in ["/tmp/x/.git/config", "/tmp/AGENTS.md", "/elsewhere/.git/config", "/dev/null"] {
        assert_eq!(places.refuses(Path::new(path)), None, "{path}");
    }
    // A workspace within a temporary directory is one.
    let places = ProtectedPlaces::default()
        .with(DirectoryRole::Free, Path::new("/tmp"))
        .with(DirectoryRole::Writable, Path::new("/tmp/work"))
        .with(DirectoryRole::Free, Path::new("/tmp/work/session"));
    assert!(places.refuses(Path::new("/tmp/work/.git/config")).is_some());
    assert_eq!(places.refuses(Path::new("/tmp/work/session/.git/config")), None);
}

#[test]
fn a_home_above_or_in_the_workspace_keeps_what_begins_with_a_dot_and_our_own_wherever_they_are() {
    let places = |root: &str| {
        ProtectedPlaces::default()
            .with(DirectoryRole::Writable, Path::new(root))
            .with(DirectoryRole::Home, Path::new("/home/me"))
            .with(DirectoryRole::Settings, Path::new("/home/me/conf"))
            .with(DirectoryRole::Own, Path::new("/home/me/conf/steersman"))
            .with(DirectoryRole::Own, Path::new("/home/me/run/steersman"))
    };
    for root in ["/home/me", "/home"] {
        let places = places(root);
        for name in ".bash_profile .ssh/authorized_keys .config/autostart/x .what-comes-next .cache/x conf conf/any/x \
                     conf/steersman/hooks.toml run/steersman/socket run RUN/steersman"
            .split_whitespace()
        {
            assert!(places.refuses(&Path::new("/home/me").join(name)).is_some(), "{root}: {name}");
        }
        for name in ["work/main.rs", "run/other", "x.txt"] {
            assert_eq!(places.refuses(&Path::new("/home/me").join(name)), None, "{root}: {name}");
        }
    }
    assert!(places("/home").refuses(Path::new("/home/me")).is_some());
    // Who works in a configuration may, but for our own.
    let places = places("/home/me/conf/editor");
    assert_eq!(places.refuses(Path::new("/home/me/conf/editor/init")), None);
    let inside = ProtectedPlaces::default()
        .with(DirectoryRole::Writable, Path::new("/home/me/.config/editor"))
        .with(DirectoryRole::Home, Path::new("/home/me"));
    assert_eq!(inside.refuses(Path::new("/home/me/.config/editor/x")), None);
}

fn decide(change: NameChange<'_>, exist: &[&str]) -> Decision {
    let exist: Vec<PathBuf> = exist.iter().map(|name| at(name)).collect();
    places().decide(change, &|path| exist.iter().any(|there| there.starts_with(path)))
}

#[test]
fn the_part_that_makes_a_directory_a_repository_is_refused_in_every_order() {
    let parts = ["docs/HEAD", "docs/objects", "docs/refs"];
    for last in parts {
        let others: Vec<&str> = parts.into_iter().filter(|part| *part != last).collect();
        let path = at(last);
        assert!(matches!(decide(NameChange::Write(&path), &others), Decision::Refused(_)), "{last}");
        assert!(matches!(decide(NameChange::Special(&path), &others), Decision::Refused(_)), "{last}");
        let from = at("other");
        let moved = NameChange::Move(&from, &path, MovedKind::File);
        assert!(matches!(decide(moved, &others), Decision::Refused(_)), "{last}");
        assert_eq!(decide(NameChange::Write(&path), &others[1..]), Decision::Allowed, "{last}");
    }
    // In one that is there plain work goes on.
    for (name, is_open) in
        [("docs/refs/heads/x", true), ("docs/config", false), ("docs/hooks/x", false), ("docs/page", true)]
    {
        let path = at(name);
        assert_eq!(decide(NameChange::Write(&path), &parts) == Decision::Allowed, is_open, "{name}");
    }
    let head = at("docs/HEAD");
    assert!(matches!(decide(NameChange::Write(&head), &["docs/commondir"]), Decision::Refused(_)));
}

#[test]
fn no_link_is_made_where_git_of_the_user_would_write() {
    for name in [".git/COMMIT_EDITMSG", ".git/index", ".git/rebase-merge", ".git/refs/heads/x"] {
        let (path, from) = (at(name), at("link"));
        assert!(matches!(decide(NameChange::Special(&path), &[]), Decision::Refused(_)), "{name}");
        let moved = NameChange::Move(&from, &path, MovedKind::Special);
        assert!(matches!(decide(moved, &[]), Decision::Refused(_)), "{name}");
        assert_eq!(decide(NameChange::Write(&path), &[]), Decision::Allowed, "{name}");
    }
    // Objects get their names so.
    let (from, to) = (at(".git/objects/tmp_obj_x"), at(".git/objects/ab/cd"));
    assert_eq!(decide(NameChange::HardLink(&from, &to), &[]), Decision::Allowed);
    let (config, alias) = (at(".git/config"), at("alias"));
    assert!(matches!(decide(NameChange::HardLink(&config, &alias), &[]), Decision::Refused(_)));
}

#[test]
fn a_directory_is_not_moved_to_where_what_is_in_it_would_be_protected() {
    let moved = |from: &str, to: &str| {
        let (from, to) = (at(from), at(to));
        decide(NameChange::Move(&from, &to, MovedKind::Directory), &[])
    };
    assert_eq!(moved("x", "y"), Decision::Allowed);
    for (from, to) in
        [("x", ".github"), (".github", "x"), ("x", "sub/.Cargo"), ("x", "a.git"), ("x", "hooks"), ("/tmp/x", "y")]
    {
        assert_eq!(moved(from, to), Decision::OnlyByCopy, "{from} to {to}");
    }
    for (from, to) in [("x", ".git"), (".git", "x"), ("x", ".vscode"), ("x", ".git/rebase-merge"), (".git/info", "x")] {
        assert!(matches!(moved(from, to), Decision::Refused(_)), "{from} to {to}");
    }
}

#[test]
fn the_places_are_told_as_arguments_whatever_bytes_are_in_them() {
    use std::os::unix::ffi::OsStringExt as _;
    let odd = PathBuf::from(OsString::from_vec(b"/srv/\xff\n x".to_vec()));
    let places = places()
        .with(DirectoryRole::Settings, &odd)
        .with(DirectoryRole::Repository, &odd)
        .with(DirectoryRole::Named, &odd);
    let arguments: Vec<OsString> = places.arguments().collect();
    let mut read = ProtectedPlaces::default();
    for pair in arguments.chunks(2) {
        read.add(ProtectedPlaces::role_of(&pair[0]).unwrap(), Path::new(&pair[1]));
    }
    assert_eq!(read, places);
    assert_eq!(ProtectedPlaces::role_of("--rw".as_ref()), None);
}

#[test]
fn an_index_comes_by_a_move_only_and_what_was_unpacked_by_copies() {
    let places = places().with(DirectoryRole::Repository, Path::new("/srv/repository"));
    let there = |path: &Path| {
        path.starts_with(at("bare")) && ["HEAD", "objects", "refs"].iter().any(|name| path.ends_with(name))
    };
    let decide = |change: NameChange<'_>| places.decide(change, &there);
    let indexes = [
        ".git/index",
        "sub/.git/sharedindex.ab",
        ".git/worktrees/x/index",
        ".git/modules/a/b/index",
        "x.git/index",
        "bare/index",
    ];
    for index in indexes.map(at).iter().chain([&PathBuf::from("/srv/repository/index")]) {
        let other = index.with_file_name("index.lock");
        assert!(matches!(decide(NameChange::Fill(index)), Decision::Refused(_)), "{index:?}");
        assert!(matches!(decide(NameChange::HardLink(index, &at("a"))), Decision::Refused(_)), "{index:?}");
        assert!(matches!(decide(NameChange::HardLink(&at("a"), index)), Decision::Refused(_)), "{index:?}");
        assert_eq!(decide(NameChange::Move(&other, index, MovedKind::File)), Decision::OnlyChecked, "{index:?}");
        assert_eq!(decide(NameChange::Fill(&other)), Decision::Allowed, "{index:?}");
        assert_eq!(decide(NameChange::Write(index)), Decision::Allowed, "it is removed: {index:?}");
    }
    for other in [".git/refs/heads/index", ".git/logs/refs/heads/index", "index", "src/index"].map(at) {
        assert_eq!(decide(NameChange::Fill(&other)), Decision::Allowed, "{other:?}");
    }
    let moved = |from: &str, to: &str| decide(NameChange::Move(&at(from), &at(to), MovedKind::Directory));
    for (from, to) in
        [("node_modules/p", "p"), ("node_modules", "n"), ("a/site-packages/x", "x"), ("sub", "node_modules/sub")]
    {
        assert_eq!(moved(from, to), Decision::OnlyByCopy, "{from} {to}");
    }
    assert_eq!(moved("node_modules/.p-1", "node_modules/p"), Decision::Allowed);
    assert_eq!(moved(".venv", "venv"), Decision::Allowed);
}
