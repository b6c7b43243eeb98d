//! What a command may write, and what the user's own git and other programs then do with it: nothing of it leads to where the
//! command could not write itself.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use crate::support::grounds::{Grounds, KINDS, closing};
use crate::support::users::{tree, user};

const INDEX: &str = include_str!("../../fixtures/git_index.py");

/// A repository with one file, and the program that writes an index.
fn prepare(grounds: &Grounds, init: &str) {
    let own = "git config user.name A && git config user.email a@example.com";
    let script = format!("{init} && {own} && echo a > a && git add a && git commit -q -m one");
    user(&grounds.work, &grounds.home, &script);
    fs::write(grounds.work.join("index.py"), INDEX).unwrap();
}

/// What is in the repository's settings and hooks, and beside the workspace.
fn beyond(grounds: &Grounds) -> Vec<(String, String)> {
    let git = grounds.work.join(".git");
    let mut found = tree(&git.join("hooks"));
    found.push(("config".to_owned(), fs::read_to_string(git.join("config")).unwrap()));
    found.extend(tree(&grounds.outside).into_iter().filter(|(name, _)| !name.contains("socket")));
    found
}

#[tokio::test]
async fn an_index_that_a_command_made_restores_nothing_outside_of_the_tree() {
    let outside = "../outside/made";
    let ways = [
        "python3 index.py .git/index VERSION HASH NAMES",
        "python3 index.py .git/index.lock VERSION HASH NAMES && mv .git/index.lock .git/index",
        "python3 index.py made VERSION HASH NAMES && mv made .git/index",
        "python3 index.py made VERSION HASH NAMES && rm .git/index && ln made .git/index",
        "cp .git/index kept; exec 3<>.git/index.lock; cat kept >&3; mv .git/index.lock .git/index; \
         python3 index.py made VERSION HASH NAMES; cat made > /dev/fd/3",
        "ln .git/index other; python3 index.py made VERSION HASH NAMES; cat made > other",
        "mv .git/index other; python3 index.py other VERSION HASH NAMES; mv other .git/index",
        "python3 index.py .git/sharedindex.0000000000000000000000000000000000000001 VERSION HASH NAMES; test ! -s .git/sharedindex*",
    ];
    let formats = [
        ("git init -q", "sha1", ["2", "3", "4", "4x"]),
        ("git init -q --object-format=sha256", "sha256", ["2", "3", "4", "4"]),
    ];
    for kind in KINDS {
        for (init, hash, versions) in formats {
            // Each way once, and each form by one of them.
            let ways = if hash == "sha1" { &ways[..] } else { &ways[1..2] };
            for (number, way) in ways.iter().enumerate() {
                let grounds = Grounds::new();
                let Some(sandbox) = closing(&grounds, kind).await else { continue };
                prepare(&grounds, init);
                let before = beyond(&grounds);
                let versions = if number == 1 { &versions[..] } else { &versions[..1] };
                for version in versions.iter().copied() {
                    let names = if version == "4x" { "a" } else { ".git/hooks/post-checkout ../outside/made a" };
                    let command = way.replace("VERSION", version).replace("HASH", hash).replace("NAMES", names);
                    grounds.run(&sandbox, &grounds.shell(&command)).await;
                    user(&grounds.work, &grounds.home, "git restore . || true; git checkout-index -a -f || true");
                    assert_eq!(beyond(&grounds), before, "{:?}, {hash}, {version}: {command}", sandbox.name());
                    assert!(!grounds.work.join("ran").exists() && !grounds.work.join(outside).exists(), "{number}");
                }
            }
        }
    }
}

#[tokio::test]
async fn git_writes_its_index_in_every_form() {
    for kind in KINDS {
        for init in ["git init -q", "git init -q --object-format=sha256"] {
            let grounds = Grounds::new();
            let Some(sandbox) = closing(&grounds, kind).await else { continue };
            prepare(&grounds, init);
            let script = "for n in {1..60}; do mkdir -p d$((n % 7)); echo $n > d$((n % 7))/f$n; done; ln -s a link; \
                 for version in 2 4 3; do git update-index --index-version $version; git add -A; git add -N .; git status --short > /dev/null; done; \
                 git -c index.threads=4 -c index.skipHash=true add -A; git update-index --split-index; echo b > a; git add a; \
                 git update-index --no-split-index; git update-index --untracked-cache --force-untracked-cache; \
                 git update-index --assume-unchanged a; git update-index --no-assume-unchanged a; \
                 git rm -q --cached d1/f1; git commit -q -m two; git stash -q -u; git stash pop -q; git reset -q --hard; \
                 git switch -q -c index; echo c >> a; git commit -q -a -m three; git switch -q -; git merge -q index; \
                 git fsck --no-progress; git status --short";
            let said = grounds.works(&sandbox, &format!("set -e; {script}")).await;
            assert!(!said.contains("index"), "{:?}: {said}", sandbox.name());
            user(
                &grounds.work,
                &grounds.home,
                "git fsck --no-progress; git diff --quiet; test \"$(git log --oneline | wc -l)\" -ge 3",
            );
        }
    }
}

#[tokio::test]
async fn a_resolution_that_a_command_recorded_is_written_nowhere() {
    let attack = "id=$(printf 'a%.0s' {1..40}); mkdir -p .git/rr-cache/$id; \
                  cp .git/config .git/rr-cache/$id/preimage; (cat .git/config; printf '[core]\\n\\tpager = evil\\n') > .git/rr-cache/$id/postimage; \
                  printf '%s.-1\\t.git/config\\0' $id > .git/MERGE_RR";
    for kind in KINDS {
        for settings in ["true", "git config rerere.enabled true", "mkdir .git/rr-cache"] {
            let grounds = Grounds::new();
            let Some(sandbox) = closing(&grounds, kind).await else { continue };
            prepare(&grounds, &format!("git init -q && {settings}"));
            let before = beyond(&grounds);
            grounds.run(&sandbox, &grounds.shell(attack)).await;
            user(&grounds.work, &grounds.home, "echo b > a; git commit -q -a -m two");
            assert_eq!(beyond(&grounds), before, "{:?}, {settings}", sandbox.name());
            // Where it is switched on a command goes on without.
            grounds.works(&sandbox, "echo c > a && git commit -q -a -m three && git rebase -q HEAD~1").await;
        }
    }
}

#[tokio::test]
async fn a_file_with_other_names_is_parted_from_them_before_a_command_writes_in_it() {
    let ways = [
        "echo evil >> shared",
        "echo evil > shared",
        "truncate -s 0 shared",
        "exec 3<>shared; echo evil >&3",
        "ln -s shared soft; echo evil >> soft",
        "python3 -c 'import os; os.truncate(\"shared\", 1)'",
        "exec 3<shared; echo evil > /dev/fd/3",
    ];
    for kind in KINDS {
        for way in ways {
            let grounds = Grounds::new();
            let Some(sandbox) = closing(&grounds, kind).await else { continue };
            let (store, shared) = (grounds.outside.join("victim"), grounds.work.join("shared"));
            fs::set_permissions(&store, fs::Permissions::from_mode(0o640)).unwrap();
            fs::hard_link(&store, &shared).unwrap();
            let before = (fs::read(&store).unwrap(), store.metadata().unwrap().mtime());
            let (_, said) = grounds.run(&sandbox, &grounds.shell(way)).await;
            assert_eq!(
                (fs::read(&store).unwrap(), store.metadata().unwrap().mtime()),
                before,
                "{:?}: {way}",
                sandbox.name()
            );
            if !way.contains("/dev/fd") {
                assert_ne!(fs::read(&shared).unwrap(), before.0, "{:?}: {way}: {said}", sandbox.name());
                assert_eq!(shared.metadata().unwrap().mode() & 0o777, 0o640, "{way}");
            }
            assert!(!shared.with_file_name(".steersman-copy.tmp").exists(), "{way}");
        }
    }
}

#[tokio::test]
async fn what_a_package_manager_unpacked_is_protected_once_it_lies_elsewhere() {
    let attack = "mkdir -p node_modules/p/.vscode node_modules/q moved; echo evil > node_modules/p/.vscode/tasks.json; \
                  echo evil > node_modules/q/AGENTS.md; \
                  python3 -c 'import os; os.rename(\"node_modules/p\", \"p\")'; \
                  python3 -c 'import os; os.rename(\"node_modules\", \"n\")'; \
                  python3 -c 'import ctypes; ctypes.CDLL(None).renameat2(-100, b\"node_modules/q\", -100, b\"moved\", 2)'; \
                  mv node_modules/p node_modules/r && mv node_modules/r there; true";
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = closing(&grounds, kind).await else { continue };
        grounds.works(&sandbox, attack).await;
        let evil = tree(&grounds.work)
            .into_iter()
            .filter(|(name, content)| content.ends_with("evil\n") && !name.starts_with("node_modules/"));
        assert_eq!(evil.collect::<Vec<_>>(), [], "{:?}", sandbox.name());
    }
}

#[tokio::test]
async fn no_command_changes_the_rights_of_what_it_cannot_write() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = closing(&grounds, kind).await else { continue };
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
        let places = [grounds.outside.join("victim"), grounds.home.join(".ssh"), grounds.home.join(".cargo/bin/tool")];
        let before = places.each_ref().map(|path| mode(path));
        for place in &places {
            let place = place.display();
            let attack = format!(
                "chmod 777 {place}; python3 -c 'import os; os.fchmod(os.open(\"{place}\", os.O_RDONLY), 0o777)'; true"
            );
            grounds.works(&sandbox, &attack).await;
        }
        assert_eq!(places.each_ref().map(|path| mode(path)), before, "{:?}", sandbox.name());
        grounds.works(&sandbox, "touch made && chmod 755 made && chmod 700 \"$TMPDIR\" && test -x made").await;
    }
}
