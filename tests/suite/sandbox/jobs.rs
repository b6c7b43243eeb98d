//! A command in the background in the sandbox: its input, and the protected files that it changes while it runs.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use steersman::approval::{Answerer, Approvals, Mode, Policy};
use steersman::control::Cancellable;
use steersman::message::Arguments;
use steersman::tool::{BashTool, Outputs, Tool, ToolContext, Traits, job_tools};
use steersman::workspace::{Confinement, Workspace};

use super::KINDS;
use super::grounds::{CANARY, Grounds};
use crate::support::processes::wait_until;

const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_job_is_confined_takes_input_and_what_it_plants_is_put_back_at_a_boundary_while_it_runs() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let workspace = Arc::new(Workspace::new(&grounds.work).unwrap());
        let outputs = Arc::new(Outputs::new(&grounds.outside).unwrap());
        let spawner = Arc::new(grounds.spawner(&sandbox));
        let mut tools: Vec<Arc<dyn Tool>> =
            vec![Arc::new(BashTool::new(workspace, spawner, outputs, Confinement::default()))];
        tools.extend(job_tools(Traits::NONE));
        let policy = Policy { answerer: Answerer::Yes, ..Policy::default() };
        let approvals = Arc::new(Approvals::new(policy, Mode::Ask));
        let context = ToolContext::with_approvals(Arc::clone(&approvals));
        let call = async |tool: &str, arguments: serde_json::Value| {
            let tool = tools.iter().find(|known| known.name() == tool).unwrap();
            let args = tool.spec().parameters.validate(&Arguments::parse(&arguments.to_string())).unwrap();
            tokio::time::timeout(PATIENCE, tool.execute(args, &context)).await.unwrap().unwrap()
        };
        let script = "k=.ss; cat ~/${k}h/id*; read line; n=sman; mkdir -p .steer$n; echo evil > .steer$n/config.toml; \
                      echo \"planted $line\"; read line; echo over";
        call("bash", json!({"command": script, "background": true})).await;
        call("job_input", json!({"job": "j1", "text": "now\n"})).await;
        let said = call("job_output", json!({"job": "j1", "wait_for": "planted"})).await;
        assert!(said.contains("planted now") && !said.contains(CANARY), "{said}");
        let planted = grounds.work.join(".steersman/config.toml");
        let notes = context.jobs.all().check(&approvals, &Cancellable::new()).await;
        assert!(
            notes.len() == 1 && notes[0].contains("/.steersman/config.toml, which git or another tool"),
            "{notes:?}"
        );
        assert!(!planted.exists(), "it is put back while the job runs");
        assert_eq!(context.jobs.all().check(&approvals, &Cancellable::new()).await, Vec::<String>::new());
        call("job_input", json!({"job": "j1", "text": "end\n"})).await;
        let said = call("job_output", json!({"job": "j1", "wait_for": "over"})).await;
        assert!(said.contains("over"), "{said}");
        wait_until("the end", PATIENCE, || context.jobs.all().running() == 0).await;
        assert_eq!(context.jobs.all().check(&approvals, &Cancellable::new()).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn what_a_job_plants_just_before_its_end_is_put_back_and_said_with_its_end() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let workspace = Arc::new(Workspace::new(&grounds.work).unwrap());
        let outputs = Arc::new(Outputs::new(&grounds.outside).unwrap());
        let bash = BashTool::new(workspace, Arc::new(grounds.spawner(&sandbox)), outputs, Confinement::default());
        let policy = Policy { answerer: Answerer::Yes, ..Policy::default() };
        let context = ToolContext::with_approvals(Arc::new(Approvals::new(policy, Mode::Ask)));
        let script = "n=sman; mkdir -p .steer$n; echo evil > .steer$n/config.toml";
        let arguments = json!({"command": script, "background": true}).to_string();
        let args = bash.spec().parameters.validate(&Arguments::parse(&arguments)).unwrap();
        bash.execute(args, &context).await.unwrap();
        wait_until("the end", PATIENCE, || context.jobs.all().running() == 0).await;
        let notes = context.jobs.all().take_notes(&context.asker.agent);
        assert_eq!(notes.len(), 1);
        assert!(notes[0].end.notes[0].contains("/.steersman/config.toml"), "{:?}", notes[0]);
        assert!(!grounds.work.join(".steersman/config.toml").exists());
    }
}
