//! The tool `bash`: what the model gets, what the screen is told, what is approved and what is refused.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use steersman_base::details::{CommandEnd, Details};
use steersman_base::limits;
use steersman_base::message::Arguments;
use steersman_core::approval::{Answer, Answerer, ApprovalSubject, Approvals, Mode, Operation, Policy};
use steersman_core::tool::{Concurrency, OnCancel, Outputs, Tool, ToolContext, ToolError, ToolReport};
use steersman_tools::BashTool;
use steersman_tools::workspace::{ChildEnvironment, Confinement, Sandbox, Spawner, Workspace};
use tempfile::TempDir;

use crate::support::processes::{alive, spawner, unique, wait_until};

struct Site {
    dir: TempDir,
    tool: BashTool,
    context: ToolContext,
    told: Arc<Mutex<Vec<ToolReport>>>,
}

impl Site {
    fn new() -> Self {
        Self::with(spawner())
    }

    fn with(spawner: Arc<Spawner>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        let workspace = Arc::new(Workspace::new(&dir.path().join("work")).unwrap());
        let outputs = Arc::new(Outputs::new(dir.path()).unwrap());
        let tool = BashTool::new(workspace, spawner, outputs, Confinement::default());
        let policy = Policy { answerer: Answerer::User, ..Policy::default() };
        let mut context = ToolContext::with_approvals(Arc::new(Approvals::new(policy, Mode::AutoWithoutSandbox)));
        let told = Arc::new(Mutex::new(Vec::new()));
        let telling = Arc::clone(&told);
        context.report = Arc::new(move |piece| telling.lock().unwrap().push(piece));
        Self { dir, tool, context, told }
    }

    async fn call(&self, arguments: Value) -> Result<String, ToolError> {
        let Value::Object(map) = arguments else { panic!("not an object") };
        let args = self.tool.spec().parameters.validate(&Arguments::Object(map)).unwrap();
        self.tool.execute(args, &self.context).await
    }

    async fn run(&self, command: &str) -> String {
        self.call(json!({"command": command})).await.unwrap()
    }

    async fn fail(&self, arguments: Value) -> String {
        match self.call(arguments).await {
            Err(ToolError::Failed(sentence)) => sentence,
            other => panic!("{other:?}"),
        }
    }

    fn details(&self) -> CommandEnd {
        let told = self.told.lock().unwrap();
        let details = told.iter().filter_map(|told| match told {
            ToolReport::Details(Details::Command(end)) => Some(end.clone()),
            _ => None,
        });
        let details: Vec<CommandEnd> = details.collect();
        assert_eq!(details.len(), 1);
        details[0].clone()
    }

    fn shown(&self) -> Vec<String> {
        let told = self.told.lock().unwrap();
        let pieces = told.iter().filter_map(|told| match told {
            ToolReport::Progress(piece) => Some(piece.clone()),
            _ => None,
        });
        pieces.collect()
    }

    fn saved(&self) -> PathBuf {
        PathBuf::from(self.details().saved.expect("nothing was saved"))
    }
}

#[tokio::test]
async fn a_command_runs_in_the_workspace_and_its_output_is_the_result() {
    let site = Site::new();
    let root = site.dir.path().join("work").canonicalize().unwrap();
    assert_eq!(site.run("pwd; echo oops >&2; echo done").await, format!("{}\noops\ndone\n", root.display()));
    let end = site.details();
    assert_eq!((end.code, end.signal, end.timed_out, end.killed, end.saved), (Some(0), None, false, 0, None));
}

#[tokio::test]
async fn the_end_is_said_when_it_is_not_a_plain_success() {
    for (command, said) in [
        ("exit 1", "[exit code 1]\n"),
        ("echo out; exit 3", "out\n[exit code 3]\n"),
        ("printf out; exit 3", "out\n[exit code 3]\n"),
        ("echo out; kill -SEGV $$", "out\n[ended by SIGSEGV]\n"),
        ("kill -KILL $$", "[ended by SIGKILL]\n"),
        ("true", "[no output]\n"),
        ("printf x", "x"),
        ("nosuchprogram 2>/dev/null", "[exit code 127]\n"),
        ("sleep 300 & echo on", "on\n[it left processes running; 1 process was killed]\n"),
        ("sleep 300 & sleep 300 & exit 2", "[exit code 2]\n[it left processes running; 2 processes were killed]\n"),
    ] {
        assert_eq!(Site::new().run(command).await, said, "{command}");
    }
}

#[tokio::test]
async fn it_is_bash_without_a_login_and_without_start_files() {
    let home = tempfile::tempdir().unwrap();
    for name in [".bashrc", ".profile", ".bash_profile", "env.sh"] {
        fs::write(home.path().join(name), "echo START FILE\n").unwrap();
    }
    let variables = [
        ("PATH", "/usr/bin:/bin".to_owned()),
        ("HOME", home.path().display().to_string()),
        ("BASH_ENV", home.path().join("env.sh").display().to_string()),
        ("ENV", home.path().join("env.sh").display().to_string()),
        ("PROMPT_COMMAND", "echo START FILE".to_owned()),
        ("BASH_FUNC_ls%%", "() { echo START FILE; }".to_owned()),
        ("SHELLOPTS", "xtrace".to_owned()),
    ];
    let variables = variables.map(|(name, value)| (name.into(), value.into()));
    let environment = ChildEnvironment::new(variables, &[] as &[&str], &[]);
    let program = crate::support::built_program();
    let site = Site::with(Arc::new(Spawner::new(program, Sandbox::none(), environment)));
    let output = site.run("echo $0 $-; shopt login_shell; ls").await;
    assert_eq!(output, "bash hBc\nlogin_shell    \toff\n[exit code 0]\n".replace("[exit code 0]\n", ""));
}

#[tokio::test]
async fn a_timeout_out_of_range_and_a_command_that_is_none_are_refused() {
    let site = Site::new();
    for timeout in [0, -1, 601, i64::MAX, i64::MIN] {
        let sentence = site.fail(json!({"command": "true", "timeout": timeout})).await;
        assert_eq!(sentence, "timeout must be from 1 to 600 seconds");
    }
    for (command, sentence) in [
        ("", "the command is blank"),
        (" \n\t\u{200b}", "the command is blank"),
        ("echo \0", "the command contains a NUL character, which no command can"),
        (&"x".repeat(100_000), "the command is longer than 96 KiB; write a script and run that"),
    ] {
        assert_eq!(site.fail(json!({"command": command})).await, sentence);
    }
    assert_eq!(site.call(json!({"command": "echo $((6*7))", "timeout": 600})).await.unwrap(), "42\n");
}

#[tokio::test]
async fn a_time_out_is_an_error_with_what_came_until_then() {
    let site = Site::new();
    let mark = unique();
    let began = Instant::now();
    let command = format!("echo before; trap '' TERM; sleep 300 & : {mark}; wait; wait; sleep 300");
    let sentence = site.fail(json!({"command": command, "timeout": 1})).await;
    // Long before the command would have ended by itself.
    assert!(began.elapsed() < Duration::from_mins(4), "{:?}", began.elapsed());
    assert_eq!(
        sentence, "the command timed out after 1 s; 2 processes were killed. What it printed:\nbefore\n",
        "{sentence}"
    );
    let end = site.details();
    assert!(end.timed_out);
    assert_eq!(alive(&mark), [] as [&str; 0]);
}

#[tokio::test]
async fn a_cancel_ends_it_with_everything_dead() {
    let site = Site::new();
    let mark = unique();
    let command =
        format!("(trap '' TERM; exec -a {mark} sleep 300) & (setsid bash -c 'sleep 300; : {mark}' &) ; echo up; wait");
    let call = site.call(json!({"command": command}));
    let cancellable = site.context.cancellable.clone();
    let told = Arc::clone(&site.told);
    let cancel = async {
        wait_until("the output", Duration::from_mins(1), || !told.lock().unwrap().is_empty()).await;
        cancellable.cancel();
        Instant::now()
    };
    let (outcome, cancelled) = tokio::join!(call, cancel);
    assert!(matches!(outcome, Err(ToolError::Cancelled(_))), "{outcome:?}");
    // Long before the command would have timed out.
    assert!(cancelled.elapsed() < Duration::from_mins(1), "{:?}", cancelled.elapsed());
    assert_eq!(alive(&mark), [] as [&str; 0]);
    assert_eq!(site.tool.spec().on_cancel, OnCancel::Wait);
    assert_eq!(site.tool.spec().concurrency, Concurrency::Exclusive);
}

#[tokio::test]
async fn a_call_that_is_dropped_leaves_nothing() {
    let site = Site::new();
    let mark = unique();
    let command = format!("(trap '' TERM; sleep 300; : {mark}) & echo up; wait");
    let mut call = Box::pin(site.call(json!({"command": command})));
    tokio::select! {
        outcome = &mut call => panic!("{outcome:?}"),
        () = wait_until("the output", Duration::from_mins(1), || !site.shown().is_empty()) => {}
    }
    assert_ne!(alive(&mark), [] as [&str; 0]);
    drop(call);
    wait_until("its end", Duration::from_secs(30), || alive(&mark).is_empty()).await;
}

#[tokio::test]
async fn a_command_that_closes_its_output_is_waited_for_and_still_times_out() {
    let site = Site::new();
    assert_eq!(site.run("exec >&- 2>&-; sleep 0.3; exit 4").await, "[exit code 4]\n");
    let site = Site::new();
    let sentence = site.fail(json!({"command": "exec >&- 2>&-; sleep 300", "timeout": 1})).await;
    assert_eq!(sentence, "the command timed out after 1 s; 1 process was killed. It printed nothing.");
}

#[tokio::test]
async fn what_is_approved_is_asked_first_and_a_no_runs_nothing() {
    let site = Site::new();
    let approvals = &site.context.approvals;
    approvals.set_mode(Mode::Ask).unwrap();
    let answer = async |answer: Answer| {
        wait_until("the question", Duration::from_secs(10), || !approvals.open().is_empty()).await;
        let request = approvals.open().remove(0);
        assert!(approvals.answer(request.id, answer));
        request
    };
    let (outcome, request) = tokio::join!(
        site.call(json!({"command": "touch made\n", "timeout": 7})),
        answer(Answer::No(Some("use make".to_owned())))
    );
    let ApprovalSubject::Operation { operation: Operation::Command(operation) } = request.subject else {
        panic!("not a command")
    };
    let root = site.dir.path().join("work").canonicalize().unwrap();
    assert_eq!(
        (operation.command.as_str(), operation.cwd.clone(), operation.timeout.as_secs()),
        ("touch made\n", root.clone(), 7)
    );
    let Err(ToolError::Failed(sentence)) = outcome else { panic!("{outcome:?}") };
    assert!(sentence.contains("declined") && sentence.contains("use make"), "{sentence}");
    assert!(!root.join("made").exists());
    let (outcome, _) = tokio::join!(site.call(json!({"command": "touch made"})), answer(Answer::Once));
    assert_eq!(outcome.unwrap(), "[no output]\n");
    assert!(root.join("made").exists());
}

#[tokio::test]
async fn a_cancel_takes_the_question_away() {
    let site = Site::new();
    site.context.approvals.set_mode(Mode::Ask).unwrap();
    let mut call = Box::pin(site.call(json!({"command": "touch made"})));
    assert!((&mut call).now_or_never().is_none());
    assert_eq!(site.context.approvals.open().len(), 1);
    site.context.cancellable.cancel();
    assert!(matches!(call.await, Err(ToolError::Cancelled(_))));
    assert_eq!(site.context.approvals.open().len(), 0);
}

#[tokio::test]
async fn a_long_output_is_head_and_tail_with_the_whole_in_a_file_of_the_user_alone() {
    let site = Site::new();
    let text = site.run("seq 1 20000").await;
    let all = (1..=20_000).map(|n| n.to_string()).collect::<Vec<_>>().join("\n") + "\n";
    let path = site.saved();
    let (head, rest) = text.split_once('[').unwrap();
    let (note, tail) = rest.split_once("]\n").unwrap();
    assert!(all.starts_with(head) && head.ends_with('\n') && head.len() > 13 * 1024, "{}", head.len());
    assert!(all.ends_with(tail) && tail.len() > 13 * 1024, "{}", tail.len());
    assert!(all[all.len() - tail.len() - 1..].starts_with('\n'));
    let left_out = all.len() - head.len() - tail.len();
    assert_eq!(note, format!("{left_out} bytes left out; the whole output is in {}", path.display()));
    assert!(text.len() < limits::COMMAND_BYTES + 500);
    assert_eq!(fs::read_to_string(&path).unwrap(), all);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(site.details().bytes, all.len() as u64);
    // The command itself can look at it.
    assert_eq!(site.run(&format!("tail -n 1 {}", path.display())).await, "20000\n");
}

#[tokio::test]
async fn the_files_go_away_with_the_session() {
    let dir = tempfile::tempdir().unwrap();
    let outputs = Outputs::new(dir.path()).unwrap();
    let path = outputs.path().unwrap().to_owned();
    assert!(path.is_dir());
    drop(outputs);
    assert!(!path.exists());
}

#[tokio::test]
async fn an_output_of_just_the_limit_is_whole_and_one_more_byte_is_not() {
    let site = Site::new();
    let text = site.run(&format!("head -c {} /dev/zero | tr '\\0' x", limits::COMMAND_BYTES)).await;
    assert_eq!(text, "x".repeat(limits::COMMAND_BYTES));
    let site = Site::new();
    let text = site.run(&format!("head -c {} /dev/zero | tr '\\0' x", limits::COMMAND_BYTES + 1)).await;
    assert!(text.contains("\n[1 bytes left out; the whole output is in "), "{}", &text[15_000..15_500]);
}

#[tokio::test]
async fn characters_are_whole_wherever_a_piece_or_a_cut_ends() {
    let site = Site::new();
    // Three bytes, written one by one: pieces end anywhere.
    let command = r"for i in 1 2 3; do printf '\xe2'; sleep 0.15; printf '\x82'; sleep 0.15; printf '\xac'; done; printf 'a\xff\xfeb\xe2\x82'";
    assert_eq!(site.run(command).await, "€€€a\u{fffd}\u{fffd}b\u{fffd}");
    assert_eq!(site.shown().concat(), "€€€a\u{fffd}\u{fffd}b\u{fffd}");
    // A character of three bytes does not divide the half of the limit.
    for front in ["", "x", "xx"] {
        let site = Site::new();
        let text = site.run(&format!("printf '{front}'; printf '€%.0s' $(seq 20000)")).await;
        assert!(!text.contains('\u{fffd}'), "{front}");
        let left: usize = text.split('[').nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        let shown = text.matches('€').count() * 3 + front.len();
        assert_eq!(left + shown, 60_000 + front.len());
    }
}

#[tokio::test]
async fn each_line_is_what_a_terminal_shows_of_it_and_nul_is_visible() {
    let site = Site::new();
    assert_eq!(site.run(r"printf 'a\0b\e[31mred\e[0m\r\n\a'").await, "a␀bred\n");
    let bar = r"for i in {1..400}; do printf '\r\e[K\e[32m%s%%\e[0m building' $i; done; echo; echo done";
    assert_eq!(site.run(bar).await, "400% building\ndone\n");
}

#[tokio::test]
async fn what_is_no_text_takes_no_more_room_than_text() {
    let site = Site::new();
    let text = site.run("head -c 30000 /dev/zero").await;
    assert!(text.len() < limits::COMMAND_BYTES + 200, "{}", text.len());
    assert!(text.contains("bytes left out; they are no text]"));
    let site = Site::new();
    let text = site.run("head -c 100000 /dev/zero | tr '\\0' '\\377'").await;
    assert!(text.len() < limits::COMMAND_BYTES + 500, "{}", text.len());
}

#[tokio::test]
async fn output_is_shown_while_the_command_runs() {
    let site = Site::new();
    let mut call =
        Box::pin(site.call(json!({"command": "echo first; until [ -e go ]; do sleep 0.02; done; echo last"})));
    tokio::select! {
        outcome = &mut call => panic!("{outcome:?}"),
        () = wait_until("the first line", Duration::from_secs(10), || site.shown() == ["first\n"]) => {}
    }
    fs::write(site.dir.path().join("work/go"), "").unwrap();
    assert_eq!(call.await.unwrap(), "first\nlast\n");
    assert_eq!(site.shown().concat(), "first\nlast\n");
}

#[tokio::test]
async fn a_full_disk_is_said_and_breaks_nothing() {
    let site = Site::new();
    // The directory is gone: nothing can be saved.
    let outputs = Outputs::new(site.dir.path()).unwrap();
    fs::remove_dir_all(outputs.path().unwrap()).unwrap();
    let workspace = Arc::new(Workspace::new(&site.dir.path().join("work")).unwrap());
    let tool = BashTool::new(workspace, spawner(), Arc::new(outputs), Confinement::default());
    let site = Site { tool, ..site };
    let text = site.run("seq 1 20000").await;
    assert!(text.contains(" bytes left out; it could not be saved: "), "{}", &text[14_000..16_000]);
    assert!(text.ends_with("20000\n"));
    assert_eq!(site.details().saved, None);
}

#[tokio::test]
async fn a_command_that_kills_its_guard_is_ended_and_that_is_said() {
    let site = Site::new();
    let mark = unique();
    let sentence = site.fail(json!({"command": format!("echo hi; (setsid bash -c 'sleep 300; : {mark}' & ); sleep 300 & kill -KILL $PPID; sleep 300")})).await;
    assert_eq!(sentence, "the command was ended: it killed the process that watches over it. What it printed:\nhi\n");
    assert_eq!(alive(&mark), [] as [&str; 0]);
}
