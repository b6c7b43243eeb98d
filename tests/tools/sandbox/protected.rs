//! What no command may write, there or not: refused by name, under each kind of sandbox, while ordinary work with git goes on.

use crate::support::grounds::{Grounds, KINDS, closing};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use steersman_base::message::Arguments;
use steersman_core::approval::{Answer, Answerer, Approvals, Mode, Policy, Sandboxed};
use steersman_core::tool::{Outputs, Tool, ToolContext};
use steersman_tools::BashTool;
use steersman_tools::workspace::sandbox::{SandboxChoice, Surroundings};
use steersman_tools::workspace::{Confinement, Sandbox, Workspace};

use crate::support::protected::PROTECTED;
use crate::support::skip::{Need, skip};
use crate::support::users::{tree, user};

#[tokio::test]
async fn what_plants_code_for_later_is_refused() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = closing(&grounds, kind).await else { continue };
        let work = &grounds.work;
        user(work, &grounds.home, "git init -q && rm -r .git/hooks && mkdir .git/hooks .steersman");
        fs::write(work.join(".git/hooks/pre-commit"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(work.join(".git/hooks/pre-commit"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(work.join(".steersman/config.toml"), "mode = 'ask'\n").unwrap();
        let before = tree(work);
        for command in [
            "echo evil > .git/hooks/post-checkout",
            "echo evil >> .git/hooks/pre-commit",
            "rm .git/hooks/pre-commit",
            "chmod 644 .git/hooks/pre-commit",
            "mv .git/hooks .git/old && mkdir .git/hooks && echo evil > .git/hooks/pre-commit",
            "rm -rf .git/hooks && ln -s .. .git/hooks",
            "git config core.fsmonitor evil",
            "git config core.hooksPath evil",
            "ln .git/config alias && echo evil >> alias",
            "rm .git/config && truncate -s 1T .git/config",
            "mkfifo .git/COMMIT_EDITMSG",
            "ln -s ../../home/.bashrc .git/COMMIT_EDITMSG",
            "echo ../evil > .git/commondir",
            "printf '[core]\\nfsmonitor = evil\\n' > .git/config.worktree",
            "mkdir -p .git/modules/sub",
            "echo \"mode = 'auto'\" > .steersman/config.toml",
            "echo evil > .steersman/personas.md",
            "mkdir .hg",
            "mkdir .git/remotes",
            "mv .steersman away",
            "mv .git away",
            "mkdir sub && mv sub .git/what-comes-next",
            "git init -q nested",
            "git init -q --bare bare.git",
        ] {
            let (ended, output) = grounds.run(&sandbox, &grounds.shell(command)).await;
            assert_ne!(ended.code, Some(0), "{:?}: {command}: {output}", sandbox.name());
            user(work, &grounds.home, "rm -rf sub nested bare.git");
            assert_eq!(tree(work), before, "{:?}: {command}: {output}", sandbox.name());
        }
    }
}

// A directory that cannot be listed was not looked through.
#[tokio::test]
async fn every_name_that_write_asks_about_is_closed_to_commands_there_or_not_and_listed_or_not() {
    for kind in KINDS {
        for rights in ["755", "311"] {
            let grounds = Grounds::new();
            let Some(sandbox) = closing(&grounds, kind).await else { break };
            user(&grounds.work, &grounds.home, "mkdir -p .vscode .github/workflows; echo mine > .vscode/tasks.json");
            let before = tree(&grounds.work);
            // Git itself writes it.
            let names = PROTECTED.split_whitespace().filter(|name| *name != ".git/HEAD");
            let names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
            let script = format!(
                "chmod {rights} . ; for name in {}; do mkdir -p \"$(dirname \"$name\")\"; echo evil > \"$name\"; ln -s /x \
                 \"$name\"; echo evil > plain; mv plain \"$name\"; done 2> /dev/null; rm -f plain; chmod 755 .",
                names.join(" ")
            );
            let (ended, output) = grounds.run(&sandbox, &grounds.shell(&script)).await;
            assert_eq!(ended.code, Some(0), "{output}");
            assert_eq!(tree(&grounds.work), before, "{:?}, {rights}", sandbox.name());
        }
    }
}

#[tokio::test]
async fn plain_work_with_git_goes_on() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = closing(&grounds, kind).await else { continue };
        let script = "git init -q -b main . && git config user.name A && git config user.email a@example.com
            git init -q --bare origin.git && git remote add origin $PWD/origin.git
            for n in 1 2 3 4; do echo $n > a; git add a; git commit -qm $n; done && git push -q -u origin main
            git init -q library && git -C library commit -q --allow-empty -m one
            git -c protocol.file.allow=always submodule --quiet add \"$PWD/library\" sub && git commit -qm sub
            git -C sub config user.name A && git -C sub config user.email a@example.com
            git worktree add -q wt -b wt && printf '*.git\\nlibrary\\nwt\\nlink-out\\n' > .gitignore
            git add .gitignore && git commit -qm ignore";
        user(&grounds.work, &grounds.home, script);
        for command in [
            "echo b > b && git add b && git commit -qm b && echo c >> b && git commit -qam c && git commit -q --amend --no-edit",
            "git branch topic && git switch -q topic && git switch -q -c other && git switch -q main",
            "echo d > d && git stash -q -u && git stash pop && rm d && git stash list",
            "git switch -q topic && echo t > t && git add t && git commit -qm t && git switch -q main && git merge -q --no-edit topic",
            "GIT_SEQUENCE_EDITOR=\"sed -i 1s/pick/reword/\" GIT_EDITOR=true git rebase -q -i HEAD~2",
            "git rebase -q --exec true HEAD~2 && git rebase -q -f -s ort HEAD~1",
            "git cherry-pick --allow-empty --keep-redundant-commits HEAD~2 > /dev/null; git cherry-pick --abort; git revert --no-edit HEAD > /dev/null && git revert --no-edit HEAD~1..HEAD > /dev/null",
            "git bisect start HEAD HEAD~3 > /dev/null 2>&1 && git bisect run true > /dev/null 2>&1 && git bisect reset 2> /dev/null",
            "git fetch -q && git push -q origin main && git tag v1 && git tag -a v2 -m two && git tag -d v1 && git notes add -m n",
            "git gc -q && git repack -q -a -d && git pack-refs --all && git reflog expire --expire=now --all && git fsck 2> /dev/null",
            "cd wt && echo w > w && git add w && git commit -qm w && git switch -q -c wt2 && git stash list",
            "cd sub && echo s > s && git add s && git commit -qm s && git switch -q -c side",
            "git format-patch -q -1 -o patches HEAD~1 && git reset -q --hard HEAD~3 && git clean -qfd",
        ] {
            grounds.works(&sandbox, command).await;
        }
        let found = user(&grounds.work, &grounds.home, "git status --short --ignore-submodules; git fsck 2> /dev/null");
        assert!(!found.contains("error"), "{found}");
    }
}

#[tokio::test]
async fn what_the_settings_of_git_name_is_closed_too() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = closing(&grounds, kind).await else { continue };
        let script = "git init -q && mkdir scripts && echo x > tool.sh && git config core.hooksPath scripts/checks \
                      && git config include.path ../shared && git config core.fsmonitor ./tool.sh";
        user(&grounds.work, &grounds.home, script);
        let before = tree(&grounds.work);
        for command in
            ["mkdir scripts/checks", "echo x > shared", "echo evil >> tool.sh", "mv scripts other", "mv tool.sh other"]
        {
            let (ended, output) = grounds.run(&sandbox, &grounds.shell(command)).await;
            assert_ne!(ended.code, Some(0), "{:?}: {command}: {output}", sandbox.name());
        }
        assert_eq!(tree(&grounds.work), before, "{:?}", sandbox.name());
        grounds.works(&sandbox, "echo fine > scripts/build.sh").await;
        // A link on the way is what leads there.
        let links = "mkdir real && ln -s real link && git config core.hooksPath link && ln -s link again \
                     && git config include.path ../again/missing";
        user(&grounds.work, &grounds.home, links);
        let before = tree(&grounds.work);
        let attack =
            "rm link again; ln -sfn scripts link; ln -sfn scripts again; echo evil > real/missing; mv real other";
        grounds.run(&sandbox, &grounds.shell(attack)).await;
        assert_eq!(tree(&grounds.work), before, "{:?}", sandbox.name());
        assert_eq!(grounds.work.join("link").read_link().unwrap().to_str(), Some("real"));
        assert_eq!(grounds.work.join("again").read_link().unwrap().to_str(), Some("link"));
        user(&grounds.work, &grounds.home, "git config core.hooksPath scripts/checks");
        // Of a repository around the directory that commands write.
        let mut job = grounds.shell("mkdir checks; echo evil > any; mkdir more");
        job.cwd = grounds.work.join("scripts");
        job.confinement.writable = vec![job.cwd.clone()];
        grounds.run(&sandbox, &job).await;
        let made = |name: &str| grounds.work.join("scripts").join(name).exists();
        assert_eq!((made("checks"), made("more")), (false, true), "{:?}", sandbox.name());
    }
}

#[tokio::test]
async fn what_the_settings_of_nested_repositories_name_is_closed_too() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = closing(&grounds, kind).await else { continue };
        let script = "mkdir tools && echo x > tools/watch && git init -q one && git init -q deep/er/two && git init -q --bare bare \
                      && git -C one config core.hooksPath .checks && git -C one config core.fsmonitor ../tools/watch \
                      && git -C deep/er/two config include.path ../../../shared && git -C bare config core.hooksPath ../receive \
                      && git init -q part && git -C part -c user.name=a -c user.email=a@b commit -q --allow-empty -m x \
                      && git init -q around && git -c protocol.file.allow=always -C around submodule --quiet add ../part sub \
                      && git -C around/sub config core.hooksPath ../hk && git config --global core.attributesFile marks";
        user(&grounds.work, &grounds.home, script);
        let before = tree(&grounds.work);
        for command in [
            "mkdir one/.checks",
            "echo evil >> tools/watch",
            "mv tools other",
            "echo evil > deep/shared",
            "mkdir receive",
            "mkdir around/hk",
            "echo '* filter=x' > deep/er/two/marks",
        ] {
            let (ended, output) = grounds.run(&sandbox, &grounds.shell(command)).await;
            assert_ne!(ended.code, Some(0), "{:?}: {command}: {output}", sandbox.name());
        }
        assert_eq!(tree(&grounds.work), before, "{:?}", sandbox.name());
        grounds
            .works(&sandbox, "echo fine > one/file && git -C one add file && mkdir checks && echo x > tools/other")
            .await;
    }
}

#[tokio::test]
async fn a_home_and_our_own_files_in_the_workspace_stay_as_they_are_and_the_latter_are_not_seen() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let (work, own) = (&grounds.home, grounds.home.join("settings/steersman"));
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("hooks.toml"), "").unwrap();
        let protected = steersman_base::protected::ProtectedPlaces::default()
            .with(steersman_base::protected::DirectoryRole::Own, &own)
            .with(steersman_base::protected::DirectoryRole::Settings, &grounds.home.join("settings"));
        let around = Surroundings { writable: vec![work.clone()], protected, ..grounds.surroundings() };
        let Ok(sandbox) = Sandbox::detect(kind, &around).await else { continue };
        let mut job = grounds.shell(
            "for name in .bash_profile .ssh/authorized_keys .config/autostart/x.desktop .what-comes-next settings/x \
             settings/steersman/hooks.toml; do mkdir -p \"$(dirname $name)\"; echo evil >> $name; done 2> /dev/null; \
             mv settings aside 2> /dev/null; ls settings/steersman; echo fine > notes.txt",
        );
        job.cwd.clone_from(work);
        job.confinement.writable = vec![work.clone()];
        if kind == SandboxChoice::Landlock {
            // It cannot hide anything.
            assert!(sandbox.wrap(&job).unwrap_err().to_string().contains("Landlock cannot keep"));
            continue;
        }
        if !sandbox.closes_names() {
            skip(Need::of_sandbox(kind), "the kernel lets nobody answer the system calls of a command");
            continue;
        }
        let mut before = tree(work);
        let (ended, output) = grounds.run(&sandbox, &job).await;
        assert_eq!(ended.code, Some(0), "{:?}: {output}", sandbox.name());
        assert!(!output.contains("hooks.toml"), "{:?}: {output}", sandbox.name());
        assert_eq!(fs::read_to_string(work.join("notes.txt")).unwrap(), "fine\n");
        fs::remove_file(work.join("notes.txt")).unwrap();
        let mut after = tree(work);
        before.sort();
        after.sort();
        assert_eq!(after, before, "{:?}", sandbox.name());
    }
}

/// Runs commands through the tool.
struct Tooled {
    bash: BashTool,
    context: ToolContext,
    approvals: Arc<Approvals>,
}

impl Tooled {
    fn new(grounds: &Grounds, sandbox: &Sandbox, answerer: Answerer) -> Self {
        let workspace = Arc::new(Workspace::new(&grounds.work).unwrap());
        let outputs = Arc::new(Outputs::new(&grounds.outside).unwrap());
        let bash = BashTool::new(workspace, Arc::new(grounds.spawner(sandbox)), outputs, Confinement::default());
        let policy = Policy { answerer, sandboxed: Some(Sandboxed::Yes), ..Policy::default() };
        let approvals = Arc::new(Approvals::new(policy, Mode::Auto));
        let context = ToolContext::with_approvals(Arc::clone(&approvals));
        Self { bash, context, approvals }
    }

    async fn run(&self, arguments: serde_json::Value) -> Result<String, String> {
        let args = self.bash.spec().parameters.validate(&Arguments::parse(&arguments.to_string())).unwrap();
        self.bash.execute(args, &self.context).await.map_err(|error| error.to_string())
    }
}

// Git itself writes what it goes on with.
#[tokio::test]
async fn an_operation_of_git_that_was_stopped_is_said() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = closing(&grounds, kind).await else { continue };
        let script = "git init -q -b main . && git config user.name A && git config user.email a@example.com
            for n in 1 2; do echo $n > a; git add a; git commit -qm $n; done
            git checkout -q -b side HEAD~1; echo 5 > a; git commit -qam 5";
        user(&grounds.work, &grounds.home, script);
        let tooled = Tooled::new(&grounds, &sandbox, Answerer::Nobody);
        let said = tooled.run(json!({"command": "git rebase -q main"})).await.unwrap();
        assert!(said.contains("[an operation of git was stopped here: --continue does what "), "{said}");
        let said = tooled.run(json!({"command": "git status > /dev/null"})).await.unwrap();
        assert!(!said.contains("was stopped here"), "it was said before: {said}");
        let plant = "echo 'exec touch ran' >> .git/rebase-merge/git-rebase-todo";
        let said = tooled.run(json!({ "command": plant })).await;
        let said = said.unwrap_or_else(|refused| refused);
        assert!(said.contains("was stopped here") || said.contains("protected"), "{said}");
    }
}

/// Runs a command that the user says yes to; returns what was asked besides.
async fn with_a_yes(tooled: &Tooled, command: &str) -> (Result<String, String>, usize) {
    let mut asked = 0;
    let mut running = std::pin::pin!(tooled.run(json!({ "command": command, "outside": true })));
    let result = loop {
        tokio::select! {
            biased;
            result = &mut running => break result,
            () = tokio::task::yield_now() => {}
        }
        for open in tooled.approvals.open() {
            asked += 1;
            tooled.approvals.answer(open.id, Answer::Once);
        }
    };
    (result, asked)
}

#[tokio::test]
async fn what_runs_outside_is_git_alone_in_a_neutral_place_without_what_the_repository_would_run() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = closing(&grounds, kind).await else { continue };
        let script = "git init -q -b main . && git config user.name A && git config user.email a@example.com
            echo 1 > a; git add a; git commit -qm 1
            for hook in post-checkout pre-commit reference-transaction post-index-change; do
                printf '#!/bin/sh\\ntouch \"$OUTSIDE_RAN\" ran\\n' > .git/hooks/$hook; chmod +x .git/hooks/$hook
            done
            git config alias.x '!touch ran'; git config core.pager 'touch ran; cat'; git config core.editor 'touch ran'
            git config core.fsmonitor 'touch ran; false'; git config sequence.editor 'touch ran'";
        user(&grounds.work, &grounds.home, script);
        let ran = grounds.work.join("ran");
        let _ = std::fs::remove_file(&ran);
        let tooled = Tooled::new(&grounds, &sandbox, Answerer::User);
        for command in [
            "git config user.name B",
            "git switch -q -c other",
            "git config --edit",
            "git branch --list",
            "git commit --allow-empty -qm 2",
            "git worktree add -q sub/tree",
            "git rebase -i HEAD~1",
        ] {
            let (result, asked) = with_a_yes(&tooled, command).await;
            assert!(asked == 1 && result.is_ok(), "{kind:?}: {command}: {asked}: {result:?}");
            assert!(!ran.exists(), "{kind:?}: {command} ran something of the repository");
        }
        assert!(grounds.work.join("sub/tree/a").exists(), "relative paths are those of the workspace");
        let config = std::fs::read_to_string(grounds.work.join(".git/config")).unwrap();
        assert!(config.contains("name = B"), "{config}");
        for command in [
            "git x",
            "touch ran",
            "./git init",
            "git status; touch ran",
            "git config a.b $(touch ran)",
            "git -c alias.y=!touch x",
            "git -C . init",
            "git --exec-path=. init",
            "PATH=. git init",
            "bash -c 'git init'",
            "env git init",
            "git",
            "cargo new x",
        ] {
            let (result, asked) = with_a_yes(&tooled, command).await;
            let refused = result.unwrap_err();
            assert!(
                asked == 0 && refused.contains("outside of the sandbox"),
                "{kind:?}: {command}: {asked}: {refused}"
            );
        }
        assert!(!ran.exists());
    }
}

#[tokio::test]
async fn what_git_must_write_runs_outside_after_a_yes_only() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = closing(&grounds, kind).await else { continue };
        let init = json!({"command": "git init -q .", "outside": true});
        let tooled = Tooled::new(&grounds, &sandbox, Answerer::Nobody);
        let refused = tooled.run(init.clone()).await.unwrap_err();
        assert!(refused.contains("it runs outside of the sandbox: this needs the user's approval"), "{refused}");
        let tooled = Tooled::new(&grounds, &sandbox, Answerer::Yes);
        let refused = tooled.run(init.clone()).await.unwrap_err();
        assert!(refused.contains("a general yes is not enough"), "{refused}");
        let refused = tooled.run(json!({"command": "git init -q ."})).await.unwrap();
        assert!(refused.contains("outside = true"), "the way out is said: {refused}");
        assert!(!grounds.work.join(".git").exists());
        let tooled = Tooled::new(&grounds, &sandbox, Answerer::User);
        let answering = async {
            let open = loop {
                if let Some(open) = tooled.approvals.open().first().cloned() {
                    break open;
                }
                tokio::task::yield_now().await;
            };
            tooled.approvals.answer(open.id, Answer::Once);
        };
        let (result, ()) = tokio::join!(tooled.run(init), answering);
        assert_eq!(result.unwrap(), "[no output]\n");
        assert!(Path::exists(&grounds.work.join(".git/config")), "{:?}", sandbox.name());
    }
}
