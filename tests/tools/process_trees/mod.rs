//! Process trees: whatever a command started, and however it hides, is dead when the command has ended (R2, B13).
//!
//! Every shape meets every end. What lives is found by a mark in its environment or arguments.

mod descriptors;

use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use serde_json::json;
use steersman_base::message::Arguments;
use steersman_base::protected::ProtectedPlaces;
use steersman_core::approval::{Answerer, Approvals, Mode, Policy};
use steersman_core::tool::{Outputs, Tool, ToolContext, ToolError, ToolReport};
use steersman_tools::BashTool;
use steersman_tools::workspace::sandbox::{SandboxChoice, Surroundings};
use steersman_tools::workspace::{ChildEnvironment, Confinement, Sandbox, Spawner, Workspace};
use tempfile::TempDir;

use crate::support::processes::{alive, unique, wait_until};
use crate::support::skip::{Need, skip};

/// Time from the end of a command to the death of the last process: two seconds, and ten times that on a machine that is
/// busy with other tests.
const LIMIT: Duration = Duration::from_secs(20);
/// Shapes that are tried beside each other.
const BESIDE: usize = 5;
/// Time for a tree to stand.
const PATIENCE: Duration = Duration::from_mins(1);

/// The trees. Each script ends with its tree standing; what follows is `echo ready` and the end. `$M` is the mark.
const SHAPES: [(&str, &str); 37] = [
    ("plain", "sleep 300 &"),
    ("ignores the polite signals", "(trap '' TERM INT HUP QUIT; sleep 300) &"),
    ("the first process ignores all signals", "trap '' TERM INT HUP QUIT USR1 USR2 PIPE ALRM; sleep 300 &"),
    ("a session of its own", "setsid sleep 300 &"),
    ("forked twice", "( ( sleep 300 & ) & )"),
    ("forked twice, a session, ignoring", r#"(setsid bash -c "trap '' TERM; (sleep 300 &); sleep 300; :" &)"#),
    ("nohup", "nohup sleep 300 >/dev/null 2>&1 &"),
    ("disowned", "sleep 300 & disown -a"),
    ("stopped", "sleep 300 & kill -STOP $!"),
    ("stopped and ignoring", r#"bash -c 'trap "" TERM; kill -STOP $$; sleep 300' &"#),
    ("a grandchild holds the pipe", "bash -c 'bash -c \"sleep 300; :\" & exit' ; sleep 0"),
    ("deep", "d() { if (($1)); then (d $(($1 - 1)); :); else sleep 300; fi; }; d 30 &"),
    ("wide", "for i in {1..60}; do sleep 300 & done"),
    ("starts more when asked to end", "(trap 'sleep 300 & setsid sleep 300 &' TERM; while :; do sleep 0.1; done) &"),
    ("starts more all the time", "(trap '' TERM; while :; do (sleep 300 &); sleep 0.05; done) &"),
    ("a trap in a loop", "(while :; do trap 'continue' TERM INT; sleep 0.1; done) &"),
    ("closed descriptors", "sleep 300 <&- >&- 2>&- &"),
    ("renamed", r#"(exec -a "[kworker/0:1]" sleep 300) &"#),
    ("renamed as the guard", "(exec -a 'steersman __guard' sleep 300) &"),
    ("nested shells", r#"bash -c "bash -c 'bash -c \"sleep 300; :\"; :'; :" &"#),
    ("coproc", "coproc sleep 300"),
    ("process substitution", "sleep 300 > >(sleep 300) 2> >(trap '' TERM; sleep 300) &"),
    ("no environment", r#"env -i bash -c 'exec -a "$0" sleep 300' "$M" &"#),
    ("no environment, a session, forked twice", r#"(setsid env -i bash -c '(exec -a "$0" sleep 300) & ' "$M" &)"#),
    ("process groups", "set -m; sleep 300 & sleep 300 | sleep 300 & set +m"),
    ("timeout", "timeout 300 sleep 300 &"),
    ("xargs", "printf '300\\n301\\n302\\n' | xargs -P3 -n1 sleep &"),
    ("busy", "(trap '' TERM; while :; do :; done) &"),
    ("waits for a pipe that nobody opens", "mkfifo fifo; cat fifo & (trap '' TERM; cat < fifo) &"),
    (
        "a namespace of its own",
        "unshare --pid --fork bash -c 'trap \"\" TERM; sleep 300 & sleep 300' 2>/dev/null || sleep 300 &",
    ),
    ("python: daemon", PYTHON_DAEMON),
    ("python: hops from process to process", PYTHON_HOPS),
    ("python: adopts its own orphans", PYTHON_ADOPTS),
    ("kills its guard", "(setsid sleep 300 &); sleep 300 & kill -KILL $PPID"),
    ("asks its guard to end", "(trap '' TERM; sleep 300) & kill -TERM $PPID; kill -INT $PPID; kill -HUP $PPID"),
    ("takes its guard's descriptors", "(trap '' TERM; setsid sleep 300 &); prlimit --pid $PPID --nofile=0:0"),
    ("stops its guard", "(trap '' TERM; sleep 300) & kill -STOP $PPID"),
];

const PYTHON_DAEMON: &str = r#"
cat > daemon.py <<'END'
import os, signal, sys, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.chdir("/")
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
os.closerange(0, 256)
while True: time.sleep(1)
END
python3 daemon.py "$M""#;

const PYTHON_HOPS: &str = r#"
cat > hops.py <<'END'
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    if os.fork(): os._exit(0)
    os.setsid()
    time.sleep(0.002)
END
python3 hops.py "$M" &"#;

const PYTHON_ADOPTS: &str = r#"
cat > adopts.py <<'END'
import ctypes, os, signal, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(5):
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
            time.sleep(300)
        os._exit(0)
time.sleep(300)
END
python3 adopts.py "$M" &"#;

/// Shapes whose first process can end without anybody noticing: the guard is stopped until the time-out.
const NOT_NOTICED: [&str; 1] = ["stops its guard"];

struct Site {
    dir: TempDir,
    tool: BashTool,
    context: ToolContext,
    ready: Arc<AtomicBool>,
    mark: String,
}

fn spawner(mark: &str) -> Arc<Spawner> {
    spawner_in(Sandbox::none(), mark)
}

fn spawner_in(sandbox: Sandbox, mark: &str) -> Arc<Spawner> {
    // Programs in the home would need more of it than a sandbox shows.
    let path = sandbox.name().map(|_| ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()));
    let variables = std::env::vars_os().filter(|(name, _)| path.is_none() || name != "PATH").chain(path.clone());
    let variables = variables.chain([("M".into(), mark.into())]);
    let environment = ChildEnvironment::new(variables, &["M"], &[]);
    Arc::new(Spawner::new(crate::support::built_program(), sandbox, environment))
}

impl Site {
    fn new() -> Self {
        Self::confined(Sandbox::none())
    }

    fn confined(sandbox: Sandbox) -> Self {
        let (dir, mark) = (tempfile::tempdir().unwrap(), unique());
        let workspace = Arc::new(Workspace::new(dir.path()).unwrap());
        let outputs = Arc::new(Outputs::new(dir.path()).unwrap());
        let tool = BashTool::new(workspace, spawner_in(sandbox, &mark), outputs, Confinement::default());
        let policy = Policy { answerer: Answerer::User, ..Policy::default() };
        let mut context = ToolContext::with_approvals(Arc::new(Approvals::new(policy, Mode::AutoWithoutSandbox)));
        let ready = Arc::new(AtomicBool::new(false));
        let (telling, printed) = (Arc::clone(&ready), Mutex::new(String::new()));
        context.report = Arc::new(move |told| {
            if let ToolReport::Progress(piece) = told {
                let mut printed = printed.lock().unwrap();
                printed.push_str(&piece);
                telling.fetch_or(printed.contains("ready\n"), Ordering::SeqCst);
            }
        });
        Self { dir, tool, context, ready, mark }
    }

    async fn call(&self, script: &str, end: &str, timeout: u64) -> Result<String, ToolError> {
        let command = format!("{script}\necho ready\n{end}");
        let serde_json::Value::Object(map) = json!({"command": command, "timeout": timeout}) else { unreachable!() };
        let args = self.tool.spec().parameters.validate(&Arguments::Object(map)).unwrap();
        let outcome = self.tool.execute(args, &self.context).await;
        // A command that kills its guard may be ended before it has said so.
        self.ready.store(true, Ordering::SeqCst);
        outcome
    }

    async fn stands(&self, name: &str) {
        let ready = Arc::clone(&self.ready);
        wait_until(&format!("the tree {name}"), PATIENCE, || ready.load(Ordering::SeqCst)).await;
        // The guard, the shell and what it started.
        let stands = || name.contains("its guard") || alive(&self.mark).len() > 2;
        wait_until(&format!("the tree {name} stands"), PATIENCE, stands).await;
    }
}

/// How one shape met one end: the time from the cause to the call's return, and who lived then.
struct Met {
    name: &'static str,
    took: Duration,
    survivors: Vec<String>,
}

/// Tries an end with every shape; fails with all that went wrong.
async fn each<F: Future<Output = Met>>(
    shapes: impl Iterator<Item = (&'static str, &'static str)>,
    end: impl Fn(&'static str, &'static str) -> F,
) {
    let has_python =
        Command::new("python3").arg("-V").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    let shapes: Vec<_> = shapes
        .filter(|(name, _)| {
            let runs = has_python || !name.starts_with("python");
            if !runs {
                skip(Need::Program("python3"), name);
            }
            runs
        })
        .collect();
    let met: Vec<Met> =
        stream::iter(shapes).map(|(name, script)| end(name, script)).buffer_unordered(BESIDE).collect().await;
    let faults: Vec<String> = met
        .iter()
        .filter(|met| !met.survivors.is_empty() || met.took > LIMIT)
        .map(|met| format!("{}: {:?}, alive: {:?}", met.name, met.took, met.survivors))
        .collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_survives_a_cancel() {
    cancel(&Sandbox::none()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_survives_a_cancel_in_a_sandbox() {
    for kind in [SandboxChoice::Namespaces, SandboxChoice::Bubblewrap, SandboxChoice::Landlock] {
        let around = Surroundings {
            program: crate::support::built_program().into(),
            home: None,
            path: std::env::var_os("PATH").unwrap(),
            writable: Vec::new(),
            protected: ProtectedPlaces::default(),
            hidden: Vec::new(),
        };
        match Sandbox::detect(kind, &around).await {
            Ok(sandbox) => cancel(&sandbox).await,
            Err(missing) => skip(Need::of_sandbox(kind), &missing.to_string()),
        }
    }
}

async fn cancel(sandbox: &Sandbox) {
    each(SHAPES.into_iter(), async |name, script| {
        let site = Site::confined(sandbox.clone());
        let cancellable = site.context.cancellable.clone();
        let cancel = async {
            site.stands(name).await;
            let began = Instant::now();
            cancellable.cancel();
            began
        };
        let (outcome, began) = tokio::join!(site.call(script, "wait; sleep 300", 100), cancel);
        let took = began.elapsed();
        // A command that kills its guard has ended before the cancel.
        assert!(matches!(outcome, Err(ToolError::Cancelled(_))) || name.contains("its guard"), "{name}: {outcome:?}");
        Met { name, took, survivors: alive(&site.mark) }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_survives_a_time_out() {
    each(SHAPES.into_iter(), async |name, script| {
        let site = Site::new();
        let began = Instant::now();
        let outcome = site.call(script, "wait; sleep 300", 3).await;
        let took = began.elapsed().saturating_sub(Duration::from_secs(3));
        let Err(ToolError::Failed(sentence)) = outcome else { panic!("{name}: {outcome:?}") };
        assert!(sentence.contains("timed out after 3 s") || name.contains("its guard"), "{name}: {sentence}");
        assert!(sentence.contains("ready") || name.contains("its guard"), "{name} did not stand: {sentence}");
        Met { name, took, survivors: alive(&site.mark) }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_survives_the_end_of_the_first_process() {
    let shapes = SHAPES.into_iter().filter(|(name, _)| !NOT_NOTICED.contains(name));
    each(shapes, async |name, script| {
        let site = Site::new();
        let call = site.call(script, "exit 0", 100);
        let stands = async {
            let ready = Arc::clone(&site.ready);
            wait_until(name, PATIENCE, || ready.load(Ordering::SeqCst)).await;
            Instant::now()
        };
        let (outcome, began) = tokio::join!(call, stands);
        assert!(outcome.is_ok() || name.contains("its guard"), "{name}: {outcome:?}");
        Met { name, took: began.elapsed(), survivors: alive(&site.mark) }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_survives_a_call_that_is_dropped() {
    each(SHAPES.into_iter(), async |name, script| {
        let site = Site::new();
        let mut call = Box::pin(site.call(script, "wait; sleep 300", 100));
        tokio::select! {
            () = site.stands(name) => {}
            outcome = &mut call => assert!(name.contains("its guard"), "{name}: {outcome:?}"),
        }
        drop(call);
        let began = Instant::now();
        wait_for_death(&site.mark).await;
        Met { name, took: began.elapsed(), survivors: alive(&site.mark) }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_survives_a_host_that_is_killed() {
    // Without a host nobody is left who could do the work of a guard that was killed or stopped.
    let shapes =
        SHAPES.into_iter().filter(|(name, _)| !name.ends_with("its guard") && !name.starts_with("asks its guard"));
    each(shapes, async |name, script| {
        let (dir, mark) = (tempfile::tempdir().unwrap(), unique());
        let mut host = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "process_trees::a_host_that_another_test_kills", "--ignored", "--nocapture"])
            .env("HOST_SCRIPT", format!("{script}\ntouch ready\nwait; sleep 300"))
            .env("HOST_DIRECTORY", dir.path())
            .env("HOST_MARK", &mark)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_until(name, PATIENCE, || dir.path().join("ready").exists()).await;
        wait_until(name, PATIENCE, || alive(&mark).len() > 2).await;
        host.kill().unwrap();
        let began = Instant::now();
        host.wait().unwrap();
        wait_for_death(&mark).await;
        Met { name, took: began.elapsed(), survivors: alive(&mark) }
    })
    .await;
}

#[tokio::test]
#[ignore = "it is the host that another test starts and kills"]
async fn a_host_that_another_test_kills() {
    let variable = |name: &str| std::env::var(name).unwrap();
    let (script, directory, mark) = (variable("HOST_SCRIPT"), variable("HOST_DIRECTORY"), variable("HOST_MARK"));
    let mut job = crate::support::processes::job(&["bash", "-c", &script], &mark);
    job.cwd = Path::new(&directory).to_owned();
    let mut running = spawner(&mark).start(&job).unwrap();
    let ended = running.ended().await;
    panic!("it ended by itself: {ended:?}");
}

async fn wait_for_death(mark: &str) {
    let began = Instant::now();
    while !alive(mark).is_empty() && began.elapsed() < LIMIT {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[test]
fn thirty_shapes_at_least_have_names_of_their_own() {
    let names: HashSet<&str> = SHAPES.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), SHAPES.len());
    assert!(names.len() >= 30);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_multiplies_without_end_is_ended_and_that_is_said() {
    let site = Site::new();
    // Bounded, should nothing stop it.
    let script = "b() { if (($1)); then b $(($1 - 1)) & b $(($1 - 1)) & fi; sleep 60; }; b 10; sleep 60";
    let Err(ToolError::Failed(sentence)) = site.call(script, "", 100).await else { panic!("it went on") };
    assert!(sentence.starts_with("the command was ended: it had more than 1024 processes. "), "{sentence}");
    wait_for_death(&site.mark).await;
    assert_eq!(alive(&site.mark), [] as [&str; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_process_hears_that_it_is_to_end() {
    // The time that it has to say so is short, and on a busy machine it may get none of the processor in it. One that is
    // not told to go on never says it.
    let mut tries = 0;
    while !says_goodbye_when_it_is_cancelled_while_stopped().await {
        tries += 1;
        assert!(tries < 10, "it was ended without a word {tries} times");
    }
}

async fn says_goodbye_when_it_is_cancelled_while_stopped() -> bool {
    let site = Site::new();
    let said = site.dir.path().join("said");
    let script =
        format!("bash -c 'trap \"echo goodbye > {}; exit\" TERM; echo rea\"\"dy; kill -STOP $$; :' &", said.display());
    let is_stopped = || {
        alive(&site.mark).iter().any(|process| {
            let pid = process.split(' ').next().unwrap_or_default();
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" T"))
        })
    };
    let cancel = async {
        wait_until("the process to be stopped", PATIENCE, is_stopped).await;
        site.context.cancellable.cancel();
    };
    let (outcome, ()) = tokio::join!(site.call(&script, "wait; sleep 300", 100), cancel);
    assert!(matches!(outcome, Err(ToolError::Cancelled(_))), "{outcome:?}");
    std::fs::read_to_string(said).unwrap_or_default() == "goodbye\n"
}

#[tokio::test]
async fn a_command_cannot_use_up_the_descriptors_nor_leave_a_core() {
    let site = Site::new();
    let output = site.call("ulimit -n; ulimit -Hn; ulimit -c; ulimit -Hc", "", 100).await.unwrap();
    let own = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let most = steersman_base::limits::JOB_OPEN_FILES;
    let [soft, hard] = [own.current, own.maximum].map(|own| own.map_or(most, |own| own.min(most)));
    assert_eq!(output, format!("{soft}\n{hard}\n0\n0\nready\n"));
}
