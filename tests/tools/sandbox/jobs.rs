//! A command in the background in the sandbox: its input, and the protected names that it cannot write.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use steersman_base::message::Arguments;
use steersman_core::approval::{Answerer, Approvals, Mode, Policy};
use steersman_core::tool::{Outputs, Tool, ToolContext, Traits};
use steersman_tools::workspace::{Confinement, Workspace};
use steersman_tools::{BashTool, Jobs, job_tools};

use crate::support::grounds::{CANARY, Grounds, KINDS, closing};
use crate::support::processes::wait_until;

const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_job_is_confined_takes_input_and_can_plant_nothing_while_it_runs() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = closing(&grounds, kind).await else { continue };
        let workspace = Arc::new(Workspace::new(&grounds.work).unwrap());
        let outputs = Arc::new(Outputs::new(&grounds.outside).unwrap());
        let spawner = Arc::new(grounds.spawner(&sandbox));
        let mut tools: Vec<Arc<dyn Tool>> =
            vec![Arc::new(BashTool::new(workspace, spawner, outputs, Confinement::default()))];
        tools.extend(job_tools(Traits::NONE));
        let policy = Policy { answerer: Answerer::Yes, ..Policy::default() };
        let approvals = Arc::new(Approvals::new(policy, Mode::Ask));
        let mut context = ToolContext::with_approvals(approvals);
        let jobs = Arc::new(Jobs::default());
        context.jobs = Arc::clone(&jobs) as _;
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
        assert!(!grounds.work.join(".steersman").exists());
        call("job_input", json!({"job": "j1", "text": "end\n"})).await;
        let said = call("job_output", json!({"job": "j1", "wait_for": "over"})).await;
        assert!(said.contains("over"), "{said}");
        wait_until("the end", PATIENCE, || jobs.running() == 0).await;
    }
}
