//! What no command may leave behind: decided about when it ends, kept whole, and never at the cost of a healthy repository.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use steersman::workspace::sandbox::SandboxChoice;
use steersman::workspace::snapshot::{Decision, recover};

use super::KINDS;
use super::grounds::Grounds;
use super::session::{Session, recovered, state, tree, user};
use crate::support::processes::wait_until;

#[tokio::test]
async fn what_plants_code_for_later_is_put_back() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let work = &grounds.work;
        user(work, &grounds.home, "git init -q && rm -r .git/hooks && mkdir .git/hooks .steersman");
        fs::write(work.join(".git/hooks/pre-commit"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(work.join(".git/hooks/pre-commit"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(work.join(".steersman/config.toml"), "mode = 'ask'\n").unwrap();
        let before = tree(work);
        let session = Session::new(&grounds, &sandbox);
        for command in [
            "echo evil > .git/hooks/post-checkout",
            "echo evil >> .git/hooks/pre-commit",
            "rm .git/hooks/pre-commit",
            "chmod 644 .git/hooks/pre-commit",
            "mv .git/hooks .git/old && mkdir .git/hooks && echo evil > .git/hooks/pre-commit",
            "rm -rf .git/hooks && ln -s .. .git/hooks",
            "git config core.fsmonitor evil",
            "git config core.hooksPath evil",
            "printf '[core]\\nfsmonitor = evil\\n' > .git/other && mv .git/other .git/config",
            "rm .git/config && truncate -s 1T .git/config",
            "rm .git/config && mkfifo .git/config",
            "echo ../evil > .git/commondir",
            "printf '[core]\\nfsmonitor = evil\\n' > .git/config.worktree",
            "mkdir -p .git/modules/sub && echo evil > .git/modules/sub/config",
            "echo \"mode = 'auto'\" > .steersman/config.toml",
            "echo evil > .steersman/personas.md",
            "mkdir -p .hg && printf '[hooks]\\nupdate = evil\\n' > .hg/hgrc",
            "echo evil > .git/lazygit.yml",
            "mkdir -p .git/remotes && echo URL: evil > .git/remotes/origin",
            "mv .steersman away && mkdir .steersman && echo evil > .steersman/config.toml",
        ] {
            let (ended, notes) = session.run(command, Decision::Nobody).await;
            let name = sandbox.name();
            assert!(!notes.is_empty() || ended.code != Some(0), "{name:?}: {command}: {ended:?}");
            // What is too large to keep has another name beside its own.
            user(work, &grounds.home, "rm -f .git/.config.changed-*");
            let mut after = tree(work);
            let leftovers = [".git/old", "away", ".git/other", ".git/config.lock"];
            after.retain(|(path, _)| !leftovers.iter().any(|left| path.starts_with(left)));
            assert_eq!(after, before, "{name:?}: {command}: {notes:?}");
        }
    }
}

#[tokio::test]
async fn a_change_is_asked_about_with_both_versions_and_the_changed_one_is_kept() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let session = Session::new(&grounds, &sandbox);
        let command = "mkdir .steersman && echo evil > .steersman/config.toml && echo x > AGENTS.md";
        let (ended, notes) = session.run(command, Decision::Restore).await;
        assert_eq!(ended.code, Some(0));
        let asked = session.asked();
        assert_eq!(asked.len(), 1);
        assert!(asked[0].title.contains(".steersman/config.toml"), "{asked:?}");
        assert!(asked[0].detail.contains("it was nothing") && asked[0].detail.contains("+evil"), "{asked:?}");
        assert!(notes.iter().any(|note| note.contains("changed") && note.contains("AGENTS.md")), "{notes:?}");
        let kept = notes.iter().find_map(|note| note.split_once("the changed version is ")).unwrap().1;
        let kept = Path::new(kept.trim_end_matches(']'));
        assert!(kept.starts_with(state(&grounds)));
        assert_eq!(fs::read_to_string(kept).unwrap(), "evil\n");
        assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!grounds.work.join(".steersman").exists());
        assert!(grounds.work.join("AGENTS.md").exists());
        // What the user keeps is what stands from then on.
        let (_, notes) = session.run("mkdir .steersman; echo fine > .steersman/config.toml", Decision::Keep).await;
        assert!(notes.iter().any(|note| note.contains("the user keeps it")), "{notes:?}");
        session.asked();
        let (_, notes) = session.run("true", Decision::Restore).await;
        assert_eq!((notes, session.asked().len()), (Vec::new(), 0));
        assert_eq!(fs::read_to_string(grounds.work.join(".steersman/config.toml")).unwrap(), "fine\n");
        assert_eq!(fs::read_dir(state(&grounds).join("commands")).unwrap().count(), 0);
    }
}

#[tokio::test]
async fn a_fresh_repository_needs_no_question() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let session = Session::new(&grounds, &sandbox);
        let git = "git -c user.name=A -c user.email=a@example.com";
        for command in [
            format!("git init -q new && cd new && {git} commit -q --allow-empty -m one").as_str(),
            "git init -q . && git status",
            "git clone -q new copy && git init -q --bare bare.git",
            // In bubblewrap nobody removes what a mount covers.
            if kind == SandboxChoice::Landlock { "mv new moved && rm -rf copy" } else { "ls new" },
        ] {
            let (ended, notes) = session.run(command, Decision::Nobody).await;
            assert_eq!((ended.code, notes), (Some(0), Vec::new()), "{:?}: {command}", sandbox.name());
            assert_eq!(session.asked(), []);
        }
    }
}

#[tokio::test]
async fn healthy_repositories_are_the_same_byte_for_byte_after_ls() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let work = &grounds.work;
        let script = "git init -q . && git commit -q --allow-empty -m one && git worktree add -q wt && mkdir .steersman
            git init -q nested && git -C nested config filter.x.clean 'sed s/a/b/' && git init -q --bare bare.git
            for n in $(seq 1 1001); do echo $n > .steersman/file-$n; done
            for n in lfs logs objects deep/er $(seq 1 36); do
                mkdir -p .git/modules/$n sub-$n && cp -r nested/.git/. .git/modules/$n
                echo gitdir: $PWD/.git/modules/$n > sub-$n/.git; head -c 2000000 /dev/zero > .git/modules/$n/index
            done";
        user(work, &grounds.home, &script.replace('\n', "; ").replace("do;", "do").replace("; ;", ";"));
        let before = tree(work);
        assert!(before.len() > 1_500);
        let session = Session::new(&grounds, &sandbox);
        let (ended, notes) = session.run("ls", Decision::Nobody).await;
        assert_eq!((ended.code, notes), (Some(0), Vec::new()), "{:?}", sandbox.name());
        assert_eq!(session.asked(), []);
        assert!(tree(work) == before, "{:?}", sandbox.name());
    }
}

#[tokio::test]
async fn the_users_own_change_during_a_command_is_never_lost() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let (work, home) = (&grounds.work, &grounds.home);
        user(work, home, "git init -q");
        let session = Session::new(&grounds, &sandbox);
        for (name, decision) in [("first", Decision::Keep), ("second", Decision::Nobody)] {
            let (command, _) = session.enter(decision).await.unwrap();
            user(work, home, &format!("git remote add {name} https://example.com; echo hi > .git/hooks/{name}"));
            let notes = session.leave(command, decision).await;
            let config = fs::read_to_string(work.join(".git/config")).unwrap();
            if kind == SandboxChoice::Landlock {
                assert!(notes.join("\n").contains("a command or another program changed"), "{notes:?}");
                assert_eq!(session.asked().len(), 1);
                // Where nobody can be asked both versions are there.
                assert_eq!(config.contains(name), decision == Decision::Keep, "{config}");
                let kept = user(&state(&grounds), home, "grep -rl example.com changed | wc -l || :");
                assert_eq!(kept.trim() == "1", decision == Decision::Nobody, "{kept}");
            } else {
                assert_eq!((notes, session.asked()), (Vec::new(), Vec::new()), "{:?}", sandbox.name());
                assert!(config.contains(name), "{config}");
            }
        }
    }
}

// The user's git replaces the file, and with it the mount that covered it goes.
#[tokio::test]
async fn what_a_command_adds_to_a_change_of_the_users_is_not_taken_for_the_users() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let (work, home) = (&grounds.work, &grounds.home);
        user(work, home, "git init -q");
        let session = Session::new(&grounds, &sandbox);
        let command = "touch ready; until grep -q remote .git/config; do sleep 0.01; done; \
                       git config core.fsmonitor evil; touch done";
        let running = session.run(command, Decision::Nobody);
        let users = async {
            wait_until("the command", Duration::from_mins(1), || work.join("ready").exists()).await;
            user(work, home, "git config remote.mine.url https://example.com");
        };
        let ((_, notes), ()) = tokio::join!(running, users);
        let config = fs::read_to_string(work.join(".git/config")).unwrap();
        assert!(!config.contains("evil"), "{:?}: {notes:?}\n{config}", sandbox.name());
        assert_eq!(
            config.contains("mine"),
            kind != SandboxChoice::Landlock,
            "{:?}: {notes:?}\n{config}",
            sandbox.name()
        );
    }
}

#[tokio::test]
async fn a_second_command_does_not_make_the_change_of_the_first_the_truth() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        user(&grounds.work, &grounds.home, "git init -q");
        let before = tree(&grounds.work);
        let session = Session::new(&grounds, &sandbox);
        // What is not there yet can be made under each kind.
        let first = "printf '[core]\\nfsmonitor = evil\\n' > .git/config.worktree; touch changed; \
                     until test -e go; do sleep 0.01; done";
        let first = session.run(first, Decision::Nobody);
        let second = async {
            wait_until("the first changes", Duration::from_mins(1), || grounds.work.join("changed").exists()).await;
            let second = session.run("true", Decision::Nobody).await;
            fs::write(grounds.work.join("go"), "").unwrap();
            second
        };
        let ((_, first), (_, second)) = tokio::join!(first, second);
        assert!([first, second].concat().join("\n").contains(".git/config.worktree"));
        let mut after = tree(&grounds.work);
        after.retain(|(path, _)| path != "go" && path != "changed");
        assert_eq!(after, before, "{:?}", sandbox.name());
    }
}

#[tokio::test]
async fn nothing_is_written_outside_while_a_directory_is_swapped_for_a_link() {
    for kind in KINDS {
        let mut grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        user(&grounds.work, &grounds.home, "git init -q && for n in $(seq 1 100); do echo $n > .git/hooks/h-$n; done");
        {
            let session = Session::new(&grounds, &sandbox);
            let swap = "touch swapping; while ! test -e stop; do mv .git/hooks .git/x; ln -s \"$OUTSIDE\" .git/hooks; \
                        rm .git/hooks; mv .git/x .git/hooks; done 2> /dev/null";
            let swapping = session.run(swap, Decision::Nobody);
            let others = async {
                wait_until("swaps", Duration::from_mins(1), || grounds.work.join("swapping").exists()).await;
                for _ in 0..3 {
                    // While the other one goes on changing files it may be refused.
                    let evil = "for n in $(seq 1 100); do echo evil > .git/hooks/h-$n; done";
                    let _ = session.try_run(evil, Decision::Nobody).await;
                }
                fs::write(grounds.work.join("stop"), "").unwrap();
            };
            tokio::join!(swapping, others);
        }
        grounds.assert_untouched();
    }
}

#[tokio::test]
async fn no_command_starts_before_the_answer() {
    let grounds = Grounds::new();
    let mut found = None;
    for kind in KINDS {
        found = found.or(grounds.sandbox(kind).await);
    }
    let Some(sandbox) = found else { return };
    let session = Session::new(&grounds, &sandbox);
    let (command, _) = session.enter(Decision::Keep).await.unwrap();
    fs::create_dir(grounds.work.join(".steersman")).unwrap();
    fs::write(grounds.work.join(".steersman/config.toml"), "x").unwrap();
    let (answer, answered) = tokio::sync::oneshot::channel();
    let answered = std::sync::Mutex::new(Some(answered));
    let ask = |_| {
        let answered = answered.lock().unwrap().take();
        futures_util::FutureExt::boxed(async move { answered.unwrap().await.unwrap() })
    };
    let mut leaving = Box::pin(command.leave(&ask));
    tokio::select! {
        biased;
        _ = &mut leaving => panic!("nobody has answered"),
        () = wait_until("the question", Duration::from_mins(1), || answered.lock().unwrap().is_none()) => {}
    }
    let mut entering = Box::pin(session.enter(Decision::Nobody));
    tokio::select! {
        biased;
        _ = &mut entering => panic!("it does not wait"),
        () = tokio::task::yield_now() => {}
    }
    answer.send(Decision::Keep).unwrap();
    assert!(leaving.await.join("").contains("keeps"));
    drop(entering.await.unwrap());
}

#[tokio::test]
async fn a_question_that_went_away_comes_back_before_the_next_command_and_at_the_next_start() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let evil = "mkdir -p .steersman && echo evil > .steersman/config.toml";
        {
            let session = Session::new(&grounds, &sandbox);
            session.run(evil, Decision::Postpone).await;
            let refused = session.enter(Decision::Postpone).await.unwrap_err();
            assert!(refused.contains("not decided"), "{refused}");
            let alive = recover(&state(&grounds), &grounds.work, &|_| panic!("its owner lives")).await;
            assert_eq!(alive.found, 0);
        }
        let recovery = recovered(&grounds).await;
        assert_eq!((recovery.found, recovery.open), (1, 0));
        assert!(recovery.notes.join("\n").contains(".steersman/config.toml"), "{recovery:?}");
        assert!(!grounds.work.join(".steersman/config.toml").exists());
        let nothing = recover(&state(&grounds), &grounds.work, &|_| panic!("it is decided")).await;
        assert_eq!(nothing.found, 0);
    }
}

#[tokio::test]
async fn a_git_directory_that_was_replaced_by_a_link_comes_back() {
    let grounds = Grounds::new();
    let Some(sandbox) = grounds.sandbox(SandboxChoice::Landlock).await else { return };
    user(&grounds.work, &grounds.home, "git init -q && git commit -q --allow-empty -m one");
    fs::create_dir(grounds.outside.join("config")).unwrap();
    let before = tree(&grounds.work);
    let session = Session::new(&grounds, &sandbox);
    let (_, notes) = session.run("mv .git away && ln -s \"$OUTSIDE\" .git", Decision::Nobody).await;
    assert!(notes.join("\n").contains(".git"), "{notes:?}");
    assert_eq!(tree(&grounds.work), before, "{notes:?}");
    assert!(grounds.outside.join("config").is_dir());
}
