//! Commands in the background: what their agent reads and writes, what of it is asked about, and how a command that runs
//! becomes one.

mod concurrency;
mod notifications;
mod termination;

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use steersman_base::event::{Event, JobEnd, JobEnding};
use steersman_base::id::{AgentId, CallId};
use steersman_base::limits;
use steersman_base::message::Arguments;
use steersman_core::approval::{Answer, Answerer, ApprovalSubject, Approvals, Mode, Operation, Policy};
use steersman_core::provider::Played;
use steersman_core::tool::{BackgroundJobs as _, Outputs, Tool, ToolContext, ToolError, ToolReport, Traits};
use steersman_tools::workspace::{Confinement, Workspace};
use steersman_tools::{BashTool, Jobs, UserLine, job_tools};
use tempfile::TempDir;

use crate::support::doubles::{Rig, acting};
use crate::support::processes::{alive, job, spawner, wait_until};

/// Longest time for anything here, on a machine that is overloaded.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until nothing of a mark is alive; a guard that has told the end may be a moment behind.
async fn gone(mark: &str) {
    wait_until("every process to be gone", PATIENCE, || alive(mark).is_empty()).await;
}

/// A workspace with `bash` and the tools for its jobs, which need no leave.
struct Site {
    dir: TempDir,
    tools: Vec<Arc<dyn Tool>>,
    context: ToolContext,
    jobs: Arc<Jobs>,
}

impl Site {
    fn new() -> Self {
        Self::in_mode(Mode::AutoWithoutSandbox)
    }

    fn in_mode(mode: Mode) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        let workspace = Arc::new(Workspace::new(&dir.path().join("work")).unwrap());
        let outputs = Arc::new(Outputs::new(dir.path()).unwrap());
        let bash = BashTool::new(workspace, spawner(), outputs, Confinement::default());
        let mut tools: Vec<Arc<dyn Tool>> = vec![Arc::new(bash)];
        tools.extend(job_tools(Traits::NONE));
        let policy = Policy { answerer: Answerer::User, ..Policy::default() };
        let mut context = ToolContext::with_approvals(Arc::new(Approvals::new(policy, mode)));
        let jobs = Arc::new(Jobs::default());
        context.jobs = Arc::clone(&jobs) as _;
        Self { dir, tools, context, jobs }
    }

    fn jobs(&self) -> &Arc<Jobs> {
        &self.jobs
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<String, ToolError> {
        let tool = self.tools.iter().find(|known| known.name() == tool).unwrap();
        let args = tool.spec().parameters.validate(&Arguments::parse(&arguments.to_string())).unwrap();
        tokio::time::timeout(PATIENCE, tool.execute(args, &self.context)).await.expect("the call ends")
    }

    async fn ok(&self, tool: &str, arguments: Value) -> String {
        self.call(tool, arguments).await.unwrap()
    }

    async fn fail(&self, tool: &str, arguments: Value) -> String {
        match self.call(tool, arguments).await {
            Err(ToolError::Failed(sentence)) => sentence,
            other => panic!("{other:?}"),
        }
    }

    /// Starts a command in the background.
    async fn start(&self, command: &str) -> String {
        self.ok("bash", json!({"command": command, "background": true})).await
    }

    /// Waits for a line of the first job; returns what it has printed.
    async fn wait_for(&self, line: &str) -> String {
        self.ok("job_output", json!({"job": "j1", "wait_for": line, "timeout_s": 30})).await
    }

    /// Waits for the end of the first job.
    async fn end(&self) -> JobEnd {
        let mut ends = Vec::new();
        wait_until("the end of a job", PATIENCE, || {
            ends.extend(self.jobs().take_news().into_iter().filter_map(|news| match news.event {
                Event::JobEnded(end) => Some(*end),
                _ => None,
            }));
            !ends.is_empty()
        })
        .await;
        ends.remove(0)
    }
}

#[tokio::test]
async fn a_command_goes_on_in_the_background_and_each_part_of_its_output_is_read_once() {
    let site = Site::new();
    let began = Instant::now();
    let said = site.start("echo one; read line; echo \"got $line\"; read line; exit 3").await;
    assert_eq!(
        said,
        "[j1 runs in the background: job_output reads what it prints; you are told when it ends; it ends with the session]\n"
    );
    assert!(began.elapsed() < PATIENCE);
    let said = site.wait_for("one").await;
    assert!(said.starts_with("[j1 has run for ") && said.ends_with("]\none\n"), "{said}");
    let said = site.ok("job_output", json!({"job": "j1"})).await;
    assert!(said.ends_with("]\n[no new output]\n"), "{said}");
    assert_eq!(site.ok("job_input", json!({"job": "j1", "text": "word\n"})).await, "[5 bytes written to j1]\n");
    let said = site.wait_for("got").await;
    assert!(said.ends_with("]\ngot word\n"), "{said}");
    let said = site.ok("job_input", json!({"job": "j1", "text": "", "end": true})).await;
    assert_eq!(said, "[0 bytes written to j1]\n[its input has ended]\n");
    assert_eq!(site.end().await.describe(), "exit code 3");
    let said = site.ok("job_output", json!({"job": "j1"})).await;
    assert!(said.starts_with("[j1 ended after ") && said.contains(": exit code 3]\n[no new output]\n"), "{said}");
    let said = site.fail("job_input", json!({"job": "j1", "text": "more"})).await;
    assert!(said.starts_with("not written to j1: it takes no input"), "{said}");
}

#[tokio::test]
async fn a_line_is_waited_for_by_its_words_or_by_an_expression_until_a_time_or_the_end() {
    let site = Site::new();
    site.start("printf 'Listen'; sleep 0.2; printf 'ing on http://127.0.0.1:80'; sleep 0.2; echo 80/; cat").await;
    let said = site.wait_for("Listening on http://127.0.0.1:8080/").await;
    assert!(said.ends_with("\nListening on http://127.0.0.1:8080/\n"), "{said}");
    let waits = json!({"job": "j1", "wait_for": "never", "timeout_s": 1});
    assert!(site.ok("job_output", waits).await.contains("\n[no such line came within 1 s]\n"));
    site.ok("job_input", json!({"job": "j1", "text": "build 7 failed\n"})).await;
    let waits = json!({"job": "j1", "wait_for": "^build [0-9]+ (failed|ok)$", "regex": true});
    assert!(site.ok("job_output", waits).await.ends_with("]\nbuild 7 failed\n"));
    site.ok("job_input", json!({"job": "j1", "text": "", "end": true})).await;
    let waits = json!({"job": "j1", "wait_for": "never", "timeout_s": 600});
    assert!(site.ok("job_output", waits).await.contains("\n[it ended before such a line came]\n"));
    for (arguments, said) in [
        (json!({"job": "j1", "wait_for": "(", "regex": true}), "wait_for is no regular expression"),
        (json!({"job": "j1", "wait_for": ""}), "wait_for is empty"),
        (json!({"job": "j1", "wait_for": "a\nb"}), "wait_for is a part of one line"),
        (json!({"job": "j1", "wait_for": "a", "timeout_s": 601}), "timeout_s must be from 1 to 600 seconds"),
        (json!({"job": "j7"}), "there is no job j7; your jobs are: j1"),
    ] {
        let sentence = site.fail("job_output", arguments).await;
        assert!(sentence.starts_with(said), "{sentence}");
    }
}

#[tokio::test]
async fn a_flood_and_an_endless_line_take_bounded_room_and_are_capped_for_the_model() {
    for command in ["yes chatter", "tr '\\0' x < /dev/zero"] {
        let site = Site::new();
        site.start(&format!("{command} | head -c 20000000; echo; echo done")).await;
        let said = site.wait_for("done").await;
        assert!(
            said.contains(" bytes before this are not kept here]\n") && said.contains("bytes left out"),
            "{command}"
        );
        assert!(said.len() < limits::COMMAND_BYTES + 2_000, "{}", said.len());
        let file = said.lines().find_map(|line| line.strip_prefix("[everything that it printed is in "));
        assert!(file.is_some_and(|file| fs::metadata(file.trim_end_matches(']')).is_ok()), "{command}");
        let end = site.end().await;
        assert_eq!((end.end.bytes, end.is_success()), (20_000_006, true));
        assert!(end.output.len() < limits::COMMAND_BYTES + 2_000);
    }
}

#[tokio::test]
async fn an_agent_reaches_only_its_own_jobs_and_never_a_shell_line_of_the_user() {
    let site = Site::new();
    site.start("cat").await;
    let line = UserLine {
        agent: AgentId::main(),
        line: "cat".to_owned(),
        running: spawner().start_unconfined(&job(&["sleep", "300"], "x")).unwrap(),
        outputs: None,
    };
    let (id, end) = site.jobs().start_line(line);
    assert_eq!(id.as_str(), "j2");
    for tool in ["job_output", "job_stop"] {
        assert_eq!(site.fail(tool, json!({"job": "j2"})).await, "there is no job j2; your jobs are: j1");
    }
    let mut other = site.context.clone();
    other.asker.agent = "worker 0".into();
    let args = site.tools[1].spec().parameters.validate(&Arguments::parse(r#"{"job":"j1"}"#)).unwrap();
    let refused = site.tools[1].execute(args, &other).await;
    assert_eq!(refused, Err(ToolError::failed("there is no job j1; your jobs are: none")));
    assert!(site.jobs().stop(&id));
    assert_eq!(end.await.ending, JobEnding::Stopped);
    site.jobs().end_all().await;
}

#[tokio::test]
async fn a_background_command_and_what_is_written_to_it_are_asked_about_as_a_command_is() {
    let site = Site::in_mode(Mode::Ask);
    let approvals = Arc::clone(&site.context.approvals);
    let asked = async |answer: Answer| {
        wait_until("a question", PATIENCE, || !approvals.open().is_empty()).await;
        let open = approvals.open().remove(0);
        assert!(approvals.answer(open.id, answer));
        let ApprovalSubject::Operation { operation } = open.subject else { panic!("{:?}", open.subject) };
        (operation, open.session)
    };
    let (said, (operation, _)) = tokio::join!(site.start("sh"), asked(Answer::Once));
    assert!(said.starts_with("[j1 runs") && operation.title() == "Run this command in the background?", "{said}");
    let input = json!({"job": "j1", "text": "touch made\n"});
    let (said, (operation, session)) = tokio::join!(site.call("job_input", input.clone()), asked(Answer::No(None)));
    assert_eq!(said, Err(ToolError::failed("the user declined this")));
    assert!(
        matches!(&operation, Operation::Input(operation) if operation.text == "touch made\n" && operation.command == "sh"),
        "{operation:?}"
    );
    assert_eq!(session, None, "each input is another one");
    let (said, _) = tokio::join!(site.ok("job_input", input), asked(Answer::Once));
    assert_eq!(said, "[11 bytes written to j1]\n");
    wait_until("the file", PATIENCE, || site.dir.path().join("work/made").exists()).await;
    approvals.set_mode(Mode::ReadOnly).unwrap();
    let said = site.fail("job_input", json!({"job": "j1", "text": "touch other\n"})).await;
    assert!(said.contains("read-only"), "{said}");
    site.jobs().end_all().await;
}

#[tokio::test]
async fn a_running_command_goes_on_in_the_background_when_the_user_wants_that() {
    let mut site = Site::new();
    let is_shown = Arc::new(AtomicBool::new(false));
    site.context.report = Arc::new({
        let is_shown = Arc::clone(&is_shown);
        move |report| {
            if let ToolReport::Progress(_) = report {
                is_shown.store(true, Ordering::SeqCst);
            }
        }
    });
    let mark = site.dir.path().join("work/go");
    let command = format!("echo begun; while [ ! -e {} ]; do sleep 0.05; done; echo over", mark.display());
    let (agent, call) = (AgentId::main(), CallId::new("detached"));
    let moves = async {
        wait_until("its output", PATIENCE, || is_shown.load(Ordering::SeqCst)).await;
        wait_until("the call", PATIENCE, || site.jobs().to_background(&agent, &call).is_ok()).await;
    };
    let (said, ()) = tokio::join!(site.ok("bash", json!({"command": command})), moves);
    assert!(said.starts_with("[the user sent this command to the background, where it continues as j1:"), "{said}");
    assert!(site.jobs().to_background(&agent, &call).is_err(), "the call has ended");
    assert!(site.wait_for("begun").await.ends_with("\nbegun\n"), "what it had printed is not lost");
    let mut again = String::new();
    wait_until("what it had printed", PATIENCE, || {
        again.extend(site.jobs().take_news().into_iter().filter_map(|news| match news.event {
            Event::JobOutput { text, .. } => Some(text),
            _ => None,
        }));
        !again.is_empty()
    })
    .await;
    assert_eq!(again, "begun\n", "the job shows it too");
    assert!(site.fail("job_input", json!({"job": "j1", "text": "x"})).await.contains("it takes no input"));
    fs::write(&mark, "").unwrap();
    assert!(site.wait_for("over").await.ends_with("\nover\n"));
    assert!(site.end().await.is_success());
}

/// Builds an agent with the tools of a site and one that waits until the jobs have ended.
async fn agent_with(rig: &Rig, site: &Site) -> steersman_agent::Agent {
    let jobs = Arc::clone(site.jobs());
    let waits = steersman_core::tool::FnTool::new(
        "rest",
        "Waits.",
        steersman_core::tool::Parameters::default(),
        move |_, _| {
            let jobs = Arc::clone(&jobs);
            async move {
                wait_until("the jobs to end", PATIENCE, || jobs.running() == 0).await;
                Ok("rested".to_owned())
            }
        },
    );
    let builder = rig.builder().jobs(Arc::clone(site.jobs())).approvals(Arc::clone(&site.context.approvals));
    let mut tools = site.tools.clone();
    tools.push(Arc::new(waits));
    tools.push(acting("look", |_| "seen".to_owned()));
    rig.build(builder, tools).await
}

fn played(calls: &[(String, String, String)]) -> Played {
    let calls: Vec<(&str, &str, &str)> =
        calls.iter().map(|(id, name, arguments)| (id.as_str(), name.as_str(), arguments.as_str())).collect();
    Played::calls(&calls)
}

async fn within_patience(running: crate::support::doubles::Running) -> steersman_agent::Agent {
    let (agent, result) = running.end_within(PATIENCE).await;
    result.unwrap();
    agent
}
