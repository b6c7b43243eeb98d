//! What the model hears of the sandbox through the tool `bash`.

use std::fs;
use std::process::Command;
use std::sync::Arc;

use serde_json::json;
use steersman_base::message::Arguments;
use steersman_core::approval::{Answerer, Approvals, Mode, Policy};
use steersman_core::tool::{Outputs, Tool, ToolContext};
use steersman_tools::BashTool;
use steersman_tools::workspace::{Confinement, Workspace};

use crate::support::grounds::{CANARY, Grounds, KINDS};

#[tokio::test]
async fn the_tool_explains_a_refusal_and_what_is_planted() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let name = sandbox.name().unwrap();
        let workspace = Arc::new(Workspace::new(&grounds.work).unwrap());
        let outputs = Arc::new(Outputs::new(&grounds.outside).unwrap());
        let spawner = Arc::new(grounds.spawner(&sandbox));
        let bash = BashTool::new(workspace, spawner, outputs, Confinement::default());
        let policy = Policy { answerer: Answerer::Yes, ..Policy::default() };
        let context = ToolContext::with_approvals(Arc::new(Approvals::new(policy, Mode::Ask)));
        let run = async |command: &str| {
            let arguments = json!({ "command": command });
            let args = bash.spec().parameters.validate(&Arguments::parse(&arguments.to_string())).unwrap();
            bash.execute(args, &context).await.unwrap()
        };

        assert_eq!(run("echo fine > note && cat note").await, "fine\n");
        let text = run("cat ~/.ssh/id_ed25519").await;
        assert!(text.contains(&format!("[the command ran in a sandbox ({name}): ")), "{text}");
        assert!(text.ends_with("[exit code 1]\n") && !text.contains(CANARY), "{text}");
        assert_eq!(run("echo plain; false").await, "plain\n[exit code 1]\n");
        let text = run("n=sman; mkdir .steer$n && echo evil > .steer$n/config.toml").await;
        assert!(text.contains("[exit code 1]") && text.contains("outside = true"), "{text}");
        assert!(!grounds.work.join(".steersman/config.toml").exists());

        // The whole of a long output can be read by the next command, and not changed.
        let text = run("seq 1 20000").await;
        let saved = fs::read_dir(&grounds.outside)
            .unwrap()
            .flatten()
            .find(|entry| entry.path().is_dir() && entry.file_name() != "directory");
        let directory = saved.unwrap_or_else(|| panic!("{text}")).path();
        let count = run(&format!("cat {}/* | wc -l; rm {}/*", directory.display(), directory.display())).await;
        assert!(count.starts_with("20000\n") && count.contains("[exit code 1]"), "{count}");
    }
}

#[tokio::test]
async fn a_file_that_a_rule_hides_from_git_is_named_where_git_takes_it_for_another() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        fs::write(grounds.work.join(".env"), "KEY=1\n").unwrap();
        fs::write(grounds.work.join("code"), "1\n").unwrap();
        for arguments in [
            &["init", "-q"][..],
            &["add", "-A"],
            &["-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-qm", "first"],
        ] {
            assert!(Command::new("git").args(arguments).current_dir(&grounds.work).status().unwrap().success());
        }
        fs::write(grounds.work.join("code"), "2\n").unwrap();
        let workspace = Arc::new(Workspace::new(&grounds.work).unwrap());
        let outputs = Arc::new(Outputs::new(&grounds.outside).unwrap());
        let denied = vec![grounds.work.join(".env")];
        let confinement = Confinement { denied, ..Confinement::default() };
        let bash = BashTool::new(workspace, Arc::new(grounds.spawner(&sandbox)), outputs, confinement);
        let policy = Policy { answerer: Answerer::Yes, ..Policy::default() };
        let context = ToolContext::with_approvals(Arc::new(Approvals::new(policy, Mode::Ask)));
        for command in ["git status --short", "git status", "git add -A"] {
            let arguments = json!({ "command": command });
            let args = bash.spec().parameters.validate(&Arguments::parse(&arguments.to_string())).unwrap();
            let text = bash.execute(args, &context).await.unwrap();
            let is_taken_for_another =
                text.contains(" M .env") || text.contains("modified:   .env") || text.contains("can only add");
            assert_eq!(
                text.contains("[a rule hides .env from commands"),
                is_taken_for_another,
                "{kind:?} {command}: {text}"
            );
            assert!(is_taken_for_another || format!("{kind:?}").contains("Landlock"), "{kind:?} {command}: {text}");
            let text = text.replace(".env", "");
            assert!(command == "git add -A" || text.contains("code"), "{text}");
        }
    }
}
