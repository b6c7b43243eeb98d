//! What commands do to repositories in ordinary work, and what of it has to be told.

use std::fs;

use steersman::workspace::sandbox::SandboxChoice;
use steersman::workspace::snapshot::Decision;

use super::KINDS;
use super::grounds::Grounds;
use super::session::{Session, user};

#[tokio::test]
async fn a_submodule_that_is_added_needs_no_question() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let (work, home) = (&grounds.work, &grounds.home);
        user(work, home, "git init -q . && git commit -q --allow-empty -m one && git init -q library");
        user(&work.join("library"), home, "git commit -q --allow-empty -m one");
        let session = Session::new(&grounds, &sandbox);
        let (command, _) = session.enter(Decision::Nobody).await.unwrap();
        user(work, home, "git -c protocol.file.allow=always submodule --quiet add \"$PWD/library\" sub");
        let notes = session.leave(command, Decision::Nobody).await;
        let is_asked = session.asked().iter().any(|asked| asked.detail.contains("modules/sub"));
        assert!(!is_asked && !notes.join("").contains("modules/sub"), "{:?}: {notes:?}", sandbox.name());
        if kind != SandboxChoice::Landlock {
            assert_eq!(notes, Vec::<String>::new(), "{:?}", sandbox.name());
            user(&work.join("sub"), home, "git status");
            assert!(user(work, home, "git config submodule.sub.active").contains("true"));
        }
    }
}

#[tokio::test]
async fn a_removed_repository_is_told_and_a_removed_git_file_comes_back() {
    let grounds = Grounds::new();
    let Some(sandbox) = grounds.sandbox(SandboxChoice::Landlock).await else { return };
    let (work, home) = (&grounds.work, &grounds.home);
    user(
        work,
        home,
        "git init -q . && git commit -q --allow-empty -m one && git worktree add -q wt && git init -q nested",
    );
    fs::write(work.join("nested/a"), "").unwrap();
    let session = Session::new(&grounds, &sandbox);
    let (_, notes) = session.run("rm -r nested/.git wt/.git", Decision::Restore).await;
    let asked = session.asked();
    assert!(asked.len() == 1 && asked[0].title.contains("wt/.git"), "{asked:?}");
    assert!(
        notes.iter().any(|note| note.contains("removed") && note.contains("nested/.git: what was there")),
        "{notes:?}"
    );
    user(&work.join("wt"), home, "git status");
    let (_, notes) = session.run("rm -rf nested .git && echo gitdir: /nowhere > .git", Decision::Restore).await;
    let asked = session.asked();
    assert!(asked.len() == 1 && asked[0].detail.contains("The repository that was there is gone"), "{asked:?}");
    assert!(notes.iter().any(|note| note.contains("gone")), "{notes:?}");
    assert!(!work.join(".git").exists());
    assert_eq!(session.run("true", Decision::Restore).await.1, Vec::<String>::new());
    assert_eq!(session.asked(), []);
}

#[tokio::test]
async fn a_rebase_that_stops_needs_no_question_and_a_command_planted_in_it_does() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let (work, home) = (&grounds.work, &grounds.home);
        let script = "git init -q -b main . && git config user.name A && git config user.email a@example.com
            for n in 1 2 3 4; do echo $n > a; git add a; git commit -qm $n; done
            git checkout -q -b side HEAD~3; for n in 5 6; do echo $n > a; git commit -qam $n; done";
        user(work, home, script);
        let session = Session::new(&grounds, &sandbox);
        let (ended, notes) = session.run("git rebase -q -s ort main", Decision::Nobody).await;
        assert_eq!((ended.code, notes), (Some(1), Vec::new()), "{:?}", sandbox.name());
        let plant = "sed -i '1i exec touch ran' .git/rebase-merge/git-rebase-todo; echo x/../../ran > .git/rebase-merge/strategy";
        let (_, notes) = session.run(plant, Decision::Restore).await;
        let asked = session.asked();
        assert!(asked.len() == 1 && asked[0].detail.contains("+exec touch ran"), "{:?}: {asked:?}", sandbox.name());
        assert_eq!(notes.len(), 2, "{notes:?}");
        let go_on = "git checkout -q --theirs a && git add a && GIT_EDITOR=true git rebase --continue";
        let (ended, notes) = session.run(go_on, Decision::Nobody).await;
        assert_eq!((ended.code, notes), (Some(0), Vec::new()), "{:?}", sandbox.name());
        assert!(!work.join("ran").exists());
    }
}
