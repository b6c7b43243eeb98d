//! The ways to lead git to settings of somebody else, each tried with git itself: the command, then the user's own git.

use std::path::Path;

use steersman_tools::workspace::Sandbox;
use steersman_tools::workspace::sandbox::SandboxChoice;

use crate::support::grounds::{Grounds, KINDS};
use crate::support::users::user;

/// A project with all that git has: a submodule with an odd name, worktrees, a nested repository, settings that include
/// others, hooks elsewhere.
const PROJECT: &str = "
    git init -q -b main . && git config extensions.worktreeConfig true
    git config include.path ../settings.inc && git config core.hooksPath githooks
    mkdir -p githooks docs && echo '[user]' > settings.inc && echo a > a && git add a && git commit -qm one
    git init -q ../library && git -C ../library commit -q --allow-empty -m one
    git -c protocol.file.allow=always submodule --quiet add --name lfs \"$PWD/../library\" sub
    git commit -qm two && git worktree add -q wt && git worktree add -q sibling
    git init -q nested && git -C nested commit -q --allow-empty -m one";

/// What each command begins with: makes a repository whose settings run the canary.
const EVIL: &str = "set -e; touch_it=\"touch $CANARY_FILE; false\"
    evil() { git init -q \"$1\"; git -C \"$1\" -c user.name=A -c user.email=a commit -q --allow-empty -m x
             git -C \"$1\" config core.fsmonitor \"$touch_it\"; }
    settings() { printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tfsmonitor = \"%s\"\\n' \"$touch_it\"; }
    ";

const COMMANDS: &[(&str, &str)] = &[
    ("the settings", "git config core.fsmonitor \"$touch_it\""),
    ("a hook", "printf '#!/bin/sh\\n%s\\n' \"$touch_it\" > githooks/pre-commit; chmod +x githooks/pre-commit"),
    ("a link in place of .git", "evil e; mv .git old; ln -s e/.git .git"),
    ("a file in place of .git", "evil e; mv .git old; echo gitdir: e/.git > .git"),
    ("a directory in place of .git", "evil e; mv .git old; mv e/.git .git"),
    ("a submodule called lfs", "settings >> .git/modules/lfs/config"),
    ("the .git file of a submodule", "evil e; echo gitdir: ../e/.git > sub/.git"),
    ("commondir", "evil e; echo ../e/.git > .git/commondir"),
    ("commondir of a worktree", "evil e; echo \"$PWD/e/.git\" > .git/worktrees/wt/commondir"),
    ("commondir of another worktree", "evil e; echo \"$PWD/e/.git\" > .git/worktrees/sibling/commondir"),
    ("the .git file of a worktree", "evil e; echo gitdir: ../e/.git > wt/.git"),
    ("settings of a worktree", "settings > .git/config.worktree; settings > .git/worktrees/wt/config.worktree"),
    ("a nested repository", "git -C nested config core.fsmonitor \"$touch_it\""),
    ("a nested repository that was replaced", "evil e; mv nested away; mv e nested"),
    ("settings that are included", "settings > settings.inc"),
    ("included settings as a link", "settings > x.inc; rm settings.inc; ln -s x.inc settings.inc"),
    (
        "a directory that becomes a bare repository",
        "
        cd docs; settings > config; printf '\\tworktree = .\\n' >> config
        echo ref: refs/heads/main > HEAD; mkdir objects refs; echo > objects/keep; echo > refs/keep",
    ),
    (
        "a new submodule in the index",
        "evil docs/e; id=$(git -C docs/e rev-parse HEAD)
        git update-index --add --cacheinfo 160000,$id,docs/e",
    ),
];

/// What the user does afterwards.
const USE: &str = "for d in . sub wt sibling nested docs docs/e; do (cd $d 2>/dev/null && git status) || :; done
                   git commit -q --allow-empty -m mine || :";

fn prepared(grounds: &Grounds) {
    user(&grounds.work, &grounds.home, PROJECT.trim());
}

fn attack(grounds: &Grounds, command: &str) -> String {
    let canary = grounds.outside.join("canary");
    format!("CANARY_FILE={}; {EVIL}{command}", canary.display())
}

fn canary(grounds: &Grounds) -> bool {
    user(&grounds.work, &grounds.home, USE);
    Path::exists(&grounds.outside.join("canary"))
}

#[tokio::test]
async fn each_way_to_redirect_git_is_closed() {
    for kind in KINDS {
        for (name, command) in COMMANDS {
            let grounds = Grounds::new();
            let Some(sandbox) = grounds.sandbox(kind).await else { break };
            prepared(&grounds);
            let (ended, output) = grounds.run(&sandbox, &grounds.shell(&attack(&grounds, command))).await;
            assert_ne!(ended.code, Some(0), "{kind:?}: {name}: {output}");
            assert!(!canary(&grounds), "{kind:?}: {name}: {output}");
        }
    }
}

#[tokio::test]
async fn each_way_to_redirect_git_works_where_nothing_looks() {
    for (name, command) in COMMANDS {
        let grounds = Grounds::new();
        prepared(&grounds);
        let (ended, output) = grounds.run(&Sandbox::none(), &grounds.shell(&attack(&grounds, command))).await;
        assert_eq!(ended.code, Some(0), "{name}: {output}");
        assert!(canary(&grounds), "{name}: git does not run it: the test above proves nothing");
    }
    // Without this the list above is not about any sandbox.
    assert!(KINDS.contains(&SandboxChoice::Landlock));
}
