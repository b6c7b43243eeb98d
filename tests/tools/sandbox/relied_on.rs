//! What the program itself relies on: its programs and the settings of git. No command may change them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use steersman_tools::workspace::sandbox::{SandboxChoice, Surroundings};
use steersman_tools::workspace::{ChildEnvironment, Sandbox, Spawner};

use crate::support::built_program;
use crate::support::grounds::{Grounds, KINDS, PATH};
use crate::support::users::user;

/// Puts programs into a directory that say they ran.
fn plant(directory: &Path, names: &[&str], ran: &Path) {
    fs::create_dir_all(directory).unwrap();
    for name in names {
        let script = format!("#!/bin/sh\necho {name} >> '{}'\nexit 1\n", ran.display());
        fs::write(directory.join(name), script).unwrap();
        fs::set_permissions(directory.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[tokio::test]
async fn no_program_of_an_activated_environment_in_the_workspace_is_run_by_the_host() {
    let mut kinds = KINDS.to_vec();
    kinds.push(SandboxChoice::Auto);
    for kind in kinds {
        let grounds = Grounds::new();
        let ran = grounds.outside.join("../ran");
        let hostile = grounds.work.join(".venv/bin");
        plant(&hostile, &["bwrap", "git", "true"], &ran);
        fs::write(grounds.home.join(".gitconfig"), "[user]\n\tname = Somebody\n").unwrap();
        if grounds.sandbox(kind).await.is_none() {
            continue;
        }
        let path = format!("{}:{PATH}", hostile.display());
        let around = Surroundings { path: path.into(), ..grounds.surroundings() };
        let sandbox = Sandbox::detect(kind, &around).await.unwrap();
        assert!(!ran.exists(), "{kind:?}: {:?}", fs::read_to_string(&ran));
        assert!(sandbox.name().is_some(), "{kind:?}");
        let name = "git config --global user.name";
        assert_eq!(grounds.works(&sandbox, name).await, "Somebody\n", "{kind:?}");
        // Commands are the user's: they find what the user has activated.
        let found = grounds.works(&sandbox, "PATH=$PWD/.venv/bin:$PATH; type -p git").await;
        assert!(found.ends_with("/.venv/bin/git\n"), "{kind:?}: {found}");
    }
}

#[tokio::test]
async fn a_tool_of_the_host_never_starts_a_program_of_the_workspace() {
    let grounds = Grounds::new();
    let ran = grounds.outside.join("../ran");
    let hostile = grounds.work.join(".venv/bin");
    plant(&hostile, &["git", "sh"], &ran);
    let path = format!("{}:{PATH}", hostile.display());
    let environment = ChildEnvironment::new([("PATH".into(), path.into())], &[] as &[&str], &[]);
    let spawner = Spawner::new(built_program(), Sandbox::none(), environment).with_writable(vec![grounds.work.clone()]);
    // What it starts finds no other way to them either.
    let job = grounds.job(&["git", "-c", "alias.run=!sh -c 'echo \"$PATH\"'", "run"]);
    let mut running = spawner.start_own(&job, None).unwrap();
    let mut output = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = running.read_output(&mut buffer).await {
        output.extend_from_slice(&buffer[..read]);
    }
    let output = String::from_utf8(output).unwrap();
    assert_eq!(running.ended().await.code, Some(0), "{output}");
    assert!(!output.contains(".venv") && !ran.exists(), "{output}");
    plant(&hostile, &["only-here"], &ran);
    let error = spawner.start_own(&grounds.job(&["only-here"]), None).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

#[tokio::test]
async fn a_command_cannot_configure_git_for_the_next() {
    for kind in KINDS {
        for settings in ["", "[user]\n\tname = Somebody\n"] {
            let grounds = Grounds::new();
            fs::write(grounds.home.join(".gitconfig"), settings).unwrap();
            let Some(sandbox) = grounds.sandbox(kind).await else { continue };
            user(&grounds.work, &grounds.home, "git init -q .");
            for attempt in [
                "git config --global alias.planted '!echo ran'",
                "printf '[alias]\\n\\tplanted = !echo ran\\n' > $TMPDIR/.gitconfig",
                "printf '[alias]\\n\\tplanted = !echo ran\\n' >> \"$GIT_CONFIG_GLOBAL\"",
                "f=$GIT_CONFIG_GLOBAL; rm -f $f; mv $f $f.old; printf '[alias]\\n\\tplanted = !echo ran\\n' > $f",
                "d=${GIT_CONFIG_GLOBAL%/*}; mv $d $d.old; mkdir $d; \
                 printf '[alias]\\n\\tplanted = !echo ran\\n' > $GIT_CONFIG_GLOBAL",
                "printf '[alias]\\n\\tplanted = !echo ran\\n' > ~/.gitconfig",
                "mkdir -p ~/.config/git && printf '[alias]\\n\\tplanted = !echo ran\\n' > ~/.config/git/config",
            ] {
                grounds.run(&sandbox, &grounds.shell(attempt)).await;
                let (ended, output) = grounds.run(&sandbox, &grounds.shell("git planted")).await;
                assert!(ended.code == Some(1) && output.contains("not a git command"), "{kind:?}: {attempt}: {output}");
            }
            let name = grounds.run(&sandbox, &grounds.shell("git config user.name")).await.1;
            assert_eq!(name.trim(), if settings.is_empty() { "" } else { "Somebody" }, "{kind:?}");
        }
    }
}
