//! `git_clone`: the newest state of one branch from the address that was approved, and nothing else from anywhere.

mod forge;

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forge::{Forge, paths};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use steersman_base::details::{CommandEnd, Details};
use steersman_base::message::Arguments;
use steersman_base::protected::ProtectedPlaces;
use steersman_core::approval::{Answer, Answerer, ApprovalSubject, Approvals, Mode, Operation, Policy};
use steersman_core::tool::{Tool, ToolContext, ToolDirectory, ToolError, ToolReport};
use steersman_tools::web::{Client, Resolve, WebOptions};
use steersman_tools::workspace::sandbox::{SandboxChoice, Surroundings};
use steersman_tools::workspace::{ChildEnvironment, Sandbox, Spawner, Workspace};
use steersman_tools::{CloneBounds, GitCloneTool};
use tempfile::TempDir;

use crate::support::doubles::within;
use crate::support::skip::{Need, skip};

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A tool with a workspace and a home.
struct Bench {
    dir: TempDir,
    tool: GitCloneTool,
    workspace: Arc<Workspace>,
}

impl Bench {
    async fn new(settings: &WebOptions) -> Self {
        Self::sandboxed(settings, SandboxChoice::Auto).await.unwrap()
    }

    /// Makes one that may ask the forge.
    async fn at(forge: &Forge) -> Self {
        Self::new(&WebOptions { allowed_hosts: vec![forge.host()], ..WebOptions::default() }).await
    }

    async fn sandboxed(settings: &WebOptions, kind: SandboxChoice) -> Option<Self> {
        let dir = TempDir::new().unwrap();
        let (home, work) = (dir.path().join("home"), dir.path().join("work"));
        fs::create_dir(&home).unwrap();
        fs::create_dir(&work).unwrap();
        let program = crate::support::built_program();
        let around = Surroundings {
            program: program.clone().into(),
            home: Some(home.clone()),
            path: PATH.into(),
            writable: vec![work.clone()],
            protected: ProtectedPlaces::default(),
            hidden: Vec::new(),
        };
        let sandbox = match Sandbox::detect(kind, &around).await {
            Ok(sandbox) => sandbox,
            Err(missing) => {
                skip(Need::of_sandbox(kind), &missing.to_string());
                return None;
            }
        };
        let variables = [("PATH".into(), PATH.into()), ("HOME".into(), home.into_os_string())];
        let environment = ChildEnvironment::new(variables, &[] as &[&str], &[]);
        let spawner = Arc::new(Spawner::new(program, sandbox, environment));
        let workspace = Arc::new(Workspace::new(&work).unwrap());
        let tool = GitCloneTool::new(Arc::clone(&workspace), spawner, Client::new(settings).unwrap());
        Some(Self { dir, tool, workspace })
    }

    fn work(&self) -> &Path {
        self.workspace.root()
    }

    fn home(&self, file: &str) -> std::path::PathBuf {
        self.dir.path().join("home").join(file)
    }

    async fn clone(&self, arguments: Value) -> Result<String, String> {
        self.clone_in(&approving(), arguments).await.map_err(|error| error.to_string())
    }

    async fn clone_in(&self, context: &ToolContext, arguments: Value) -> Result<String, ToolError> {
        call(&self.tool, context, arguments).await
    }
}

async fn call(tool: &dyn Tool, context: &ToolContext, arguments: Value) -> Result<String, ToolError> {
    let args = tool.spec().parameters.validate(&Arguments::parse(&arguments.to_string())).unwrap();
    within(Duration::from_mins(1), "the clone ends", tool.execute(args, context)).await
}

fn approving() -> ToolContext {
    let policy = Policy { answerer: Answerer::Yes, ..Policy::default() };
    ToolContext::with_approvals(Arc::new(Approvals::new(policy, Mode::Ask)))
}

#[tokio::test]
async fn the_newest_commit_of_one_branch_comes_and_nothing_else() {
    let forge = Forge::new();
    let commit = forge.repository("repo", "mkdir src; echo hello > src/a.txt; echo read me > README.md; git tag new");
    for kind in [SandboxChoice::Namespaces, SandboxChoice::Bubblewrap, SandboxChoice::Landlock, SandboxChoice::Off] {
        let settings = WebOptions { allowed_hosts: vec![forge.host()], ..WebOptions::default() };
        let Some(bench) = Bench::sandboxed(&settings, kind).await else { continue };
        let shown: Arc<Mutex<Vec<Details>>> = Arc::default();
        let seen = Arc::clone(&shown);
        let mut context = approving();
        context.report = Arc::new(move |told| {
            if let ToolReport::Details(details) = told {
                seen.lock().unwrap().push(details);
            }
        });
        let url = forge.url("repo.git");
        let text = bench.clone_in(&context, json!({ "url": url })).await.unwrap();
        let first: Vec<&str> = text.lines().take(2).collect();
        assert_eq!(first, [format!("Cloned {url} into repo"), format!("commit {commit} of main")]);
        assert!(text.lines().nth(2).unwrap().starts_with("2 files, 14 bytes ("), "{text}");

        let repo = bench.work().join("repo");
        assert_eq!(fs::read_to_string(repo.join("src/a.txt")).unwrap(), "hello\n");
        assert_eq!(fs::read_to_string(repo.join(".git/shallow")).unwrap().trim(), commit);
        let log = forge::sh(&repo, "git -c safe.directory='*' log --all --oneline; git tag; git branch -a");
        assert_eq!(log.lines().filter(|line| line.contains("second")).count(), 1, "{log}");
        assert!(!log.contains("first") && !log.contains("old") && !log.contains("side"), "{log}");
        assert!(!repo.join(".git/hooks").exists());
        let details = shown.lock().unwrap().clone();
        let [Details::Command(CommandEnd { code: Some(0), timed_out: false, killed: 0, .. })] = details.as_slice()
        else {
            panic!("{details:?}")
        };
    }
}

#[tokio::test]
async fn the_user_sees_the_address_and_the_directory_and_nothing_is_asked_before() {
    let forge = Forge::new();
    forge.repository("repo", "");
    let bench = Bench::at(&forge).await;
    let policy = Policy { answerer: Answerer::User, ..Policy::default() };
    let desk = Arc::new(Approvals::new(policy, Mode::Ask));
    let context = ToolContext::with_approvals(Arc::clone(&desk));
    let url = format!("HTTP://2130706433:{}/repo.git#x", forge.port());
    let cloning = bench.clone_in(&context, json!({ "url": url, "directory": "deep/copy" }));
    let answering = async {
        while desk.open().is_empty() {
            tokio::task::yield_now().await;
        }
        let request = desk.open().remove(0);
        let ApprovalSubject::Operation { operation: Operation::Clone(operation) } = &request.subject else {
            panic!("{request:?}")
        };
        assert_eq!(operation.url, forge.url("repo.git"));
        assert_eq!(operation.into, bench.work().join("deep/copy"));
        assert!(forge.heads().is_empty() && !operation.into.exists());
        assert!(desk.answer(request.id, Answer::No(Some("not that one".to_owned()))));
    };
    let (result, ()) = tokio::join!(cloning, answering);
    assert!(result.unwrap_err().to_string().contains("not that one"));
    assert!(forge.heads().is_empty());
    assert_eq!(paths(bench.work()), Vec::<String>::new());
}

#[tokio::test]
async fn addresses_that_are_not_of_the_public_web_are_refused() {
    let forge = Forge::new();
    forge.repository("repo", "");
    let bench = Bench::new(&WebOptions::default()).await;
    let here = forge.port();
    for url in [
        "/etc".to_owned(),
        "file:///etc".to_owned(),
        "../home".to_owned(),
        "ssh://git@example.com/x.git".to_owned(),
        "git@example.com:x.git".to_owned(),
        "git://example.com/x.git".to_owned(),
        "ext::sh -c 'touch planted'".to_owned(),
        "fd::17".to_owned(),
        "--upload-pack=touch planted".to_owned(),
        "-c core.sshCommand=x".to_owned(),
        "https://user:word@example.com/x.git".to_owned(),
        "https://token@example.com/x.git".to_owned(),
        format!("http://127.0.0.1:{here}/repo.git"),
        format!("http://localhost:{here}/repo.git"),
        format!("http://localhost.:{here}/repo.git"),
        format!("http://2130706433:{here}/repo.git"),
        format!("http://0x7f.1:{here}/repo.git"),
        format!("http://[::ffff:127.0.0.1]:{here}/repo.git"),
        format!("http://[::1]:{here}/repo.git"),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "http://10.0.0.1/x.git".to_owned(),
        "http://intranet/x.git".to_owned(),
    ] {
        let refused = bench.clone(json!({ "url": url, "directory": "copy" })).await;
        assert!(refused.is_err(), "{url}: {refused:?}");
    }
    assert!(forge.heads().is_empty());
    assert_eq!(paths(bench.work()), Vec::<String>::new());
}

#[tokio::test]
async fn directories_that_are_not_new_or_not_here_are_refused() {
    let forge = Forge::new();
    forge.repository("repo", "");
    let bench = Bench::at(&forge).await;
    fs::create_dir(bench.work().join("there")).unwrap();
    std::os::unix::fs::symlink(bench.dir.path(), bench.work().join("link")).unwrap();
    let before = paths(bench.work());
    for directory in [
        "",
        ".",
        "there",
        "../out",
        "/tmp/steersman-out",
        "~/out",
        "link/out",
        ".git",
        ".git/hooks/x",
        ".steersman",
        "a/.b",
    ] {
        let refused = bench.clone(json!({ "url": forge.url("repo.git"), "directory": directory })).await;
        assert!(refused.is_err(), "{directory}: {refused:?}");
    }
    let nameless = bench.clone(json!({ "url": forge.url("") })).await.unwrap_err();
    assert!(nameless.contains("no name for the new directory"), "{nameless}");
    assert!(forge.heads().is_empty());
    assert_eq!(paths(bench.work()), before);
    assert!(!Path::new("/tmp/steersman-out").exists());
}

/// Answers for every name with one address, and counts.
struct Names(IpAddr, Mutex<u32>);

impl Resolve for Names {
    fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, std::io::Result<Vec<IpAddr>>> {
        *self.1.lock().unwrap() += 1;
        async move { Ok(vec![self.0]) }.boxed()
    }
}

#[tokio::test]
async fn git_asks_the_address_that_was_checked_and_looks_nothing_up() {
    let forge = Forge::new();
    let commit = forge.repository("repo", "");
    let names = Arc::new(Names(Ipv4Addr::LOCALHOST.into(), Mutex::new(0)));
    // No name server knows it: git can only have it from here.
    let host = format!("forge.steersman.example:{}", forge.port());
    let allowed_hosts = vec![host.clone()];
    let resolver: Arc<dyn Resolve> = names.clone();
    let bench =
        Bench::new(&WebOptions { allowed_hosts, resolver: Arc::clone(&resolver), ..WebOptions::default() }).await;
    let text = bench.clone(json!({ "url": format!("http://{host}/repo.git") })).await.unwrap();
    assert!(text.contains(&commit), "{text}");
    assert_eq!(*names.1.lock().unwrap(), 1);
    assert!(forge.heads().iter().all(|head| head.to_lowercase().contains(&format!("host: {host}"))));

    let asked = forge.heads().len();
    let bench = Bench::new(&WebOptions { resolver, ..WebOptions::default() }).await;
    let refused = bench.clone(json!({ "url": format!("http://{host}/repo.git") })).await.unwrap_err();
    assert!(refused.contains("127.0.0.1, which is not a public address"), "{refused}");
    assert_eq!(forge.heads().len(), asked);
    assert_eq!(paths(bench.work()), Vec::<String>::new());
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let forge = Forge::new();
    forge.repository("repo", "");
    let bench = Bench::at(&forge).await;
    let error = bench.clone(json!({ "url": forge.url("moved.git") })).await.unwrap_err();
    assert!(error.contains("redirects are not followed"), "{error}");
    assert!(forge.heads().iter().all(|head| head.starts_with("GET /moved.git/")));
    assert_eq!(paths(bench.work()), Vec::<String>::new());
}

#[tokio::test]
async fn a_password_is_neither_asked_for_nor_sent() {
    let forge = Forge::new();
    let bench = Bench::at(&forge).await;
    fs::write(bench.home(".netrc"), "machine 127.0.0.1 login me password CANARY\n").unwrap();
    fs::write(bench.home(".git-credentials"), format!("http://me:CANARY@{}\n", forge.host())).unwrap();
    fs::write(bench.home(".gitconfig"), "[credential]\n\thelper = store\n").unwrap();
    let error = bench.clone(json!({ "url": forge.url("locked.git") })).await.unwrap_err();
    assert!(error.contains("cannot be cloned") && !error.contains("CANARY"), "{error}");
    assert!(!forge.heads().is_empty());
    assert!(forge.heads().iter().all(|head| !head.to_lowercase().contains("authorization")), "{:?}", forge.heads());
}

#[tokio::test]
async fn a_hostile_repository_makes_git_do_nothing() {
    let forge = Forge::new();
    forge.repository(
        "repo",
        &format!(
            "printf '[submodule \"sub\"]\\n\\tpath = sub\\n\\turl = {}\\n' > .gitmodules
             git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub
             printf '*.bin filter=lfs diff=lfs merge=lfs\\n*.txt filter=evil\\n' > .gitattributes
             printf 'version https://git-lfs.github.com/spec/v1\\n' > a.bin
             echo text > a.txt; ln -s /etc/passwd link; printf '[lfs]\\n\\turl = {}\\n' > .lfsconfig",
            forge.url("sub.git"),
            forge.url("lfs"),
        ),
    );
    let bench = Bench::at(&forge).await;
    let planted = bench.home("planted");
    let evil = format!("touch {}", planted.display());
    let template = bench.home("template/hooks");
    fs::create_dir_all(&template).unwrap();
    fs::write(template.join("post-checkout"), format!("#!/bin/sh\n{evil}\n")).unwrap();
    let config = format!(
        "[init]\n\ttemplateDir = {}\n[core]\n\thooksPath = {}\n\tfsmonitor = {evil}\n[filter \"evil\"]\n\tsmudge = {evil}\n\
         [filter \"lfs\"]\n\tsmudge = {evil}\n\tprocess = {evil}\n[url \"{}\"]\n\tinsteadOf = {}\n",
        bench.home("template").display(),
        template.display(),
        forge.url("other"),
        forge.url("repo"),
    );
    fs::write(bench.home(".gitconfig"), config).unwrap();
    bench.clone(json!({ "url": forge.url("repo.git") })).await.unwrap();
    assert!(!planted.exists());
    assert!(forge.heads().iter().all(|head| head.contains(" /repo.git/")), "{:?}", forge.heads());
    let repo = bench.work().join("repo");
    assert_eq!(fs::read_to_string(repo.join("a.txt")).unwrap(), "text\n");
    assert!(!repo.join(".git/hooks").exists() && !repo.join(".git/modules").exists());
    assert!(bench.workspace.resolve_read("repo/link").is_err());
}

#[tokio::test]
async fn what_is_too_large_is_not_kept() {
    let forge = Forge::new();
    forge.repository("repo", "head -c 3000000 /dev/urandom > big");
    forge.repository("many", "for i in $(seq 300); do echo $i > $i; done");
    for (name, bounds) in [
        ("repo", CloneBounds { bytes: 1_000_000, ..CloneBounds::default() }),
        ("many", CloneBounds { files: 100, ..CloneBounds::default() }),
    ] {
        let mut bench = Bench::at(&forge).await;
        bench.tool = bench.tool.with_bounds(bounds);
        let error = bench.clone(json!({ "url": forge.url(&format!("{name}.git")) })).await.unwrap_err();
        assert!(error.contains("is larger than") && error.contains("nothing of it was kept"), "{error}");
        assert_eq!(paths(bench.work()), Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let forge = Forge::new();
    let mut bench = Bench::at(&forge).await;
    bench.tool = bench.tool.with_bounds(CloneBounds { time: Duration::from_secs(1), ..CloneBounds::default() });
    let error = bench.clone(json!({ "url": forge.url("silent.git") })).await.unwrap_err();
    assert_eq!(error, "the clone took longer than 1 s; nothing of it was kept");
    assert_eq!(paths(bench.work()), Vec::<String>::new());
}

#[tokio::test]
async fn a_server_that_sends_nothing_of_the_history_is_given_up_long_before_the_time_for_everything() {
    let forge = Forge::new();
    let mut bench = Bench::at(&forge).await;
    bench.tool = bench.tool.with_bounds(CloneBounds { first: Duration::from_secs(1), ..CloneBounds::default() });
    let error = bench.clone(json!({ "url": forge.url("silent.git") })).await.unwrap_err();
    assert_eq!(error, "the server sent nothing of the history within 1 s; nothing was kept");
    assert_eq!(paths(bench.work()), Vec::<String>::new());
}

#[tokio::test]
async fn a_list_of_branches_without_end_ends_git_before_it_has_the_memory() {
    let forge = Forge::new();
    for kind in [SandboxChoice::Namespaces, SandboxChoice::Bubblewrap, SandboxChoice::Landlock, SandboxChoice::Off] {
        let settings = WebOptions { allowed_hosts: vec![forge.host()], ..WebOptions::default() };
        let Some(mut bench) = Bench::sandboxed(&settings, kind).await else { continue };
        let before = forge.listed();
        bench.tool = bench.tool.with_bounds(CloneBounds { memory: 256_000_000, ..CloneBounds::default() });
        let error = bench.clone(json!({ "url": forge.url("endless.git") })).await.unwrap_err();
        assert!(error.starts_with("git was ended: it needed more than 256.0 MB of memory"), "{kind:?}: {error}");
        // It doubles what it keeps them in, and some are on their way.
        let listed = forge.listed() - before;
        assert!(listed < 512_000_000, "{kind:?}: {listed}");
        assert_eq!(paths(bench.work()), Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_cancel_ends_it_and_leaves_nothing() {
    let forge = Forge::new();
    let bench = Bench::at(&forge).await;
    let context = approving();
    let cloning = bench.clone_in(&context, json!({ "url": forge.url("silent.git") }));
    let cancelling = async {
        while forge.heads().is_empty() {
            tokio::task::yield_now().await;
        }
        context.cancellable.cancel();
    };
    let (result, ()) = tokio::join!(cloning, cancelling);
    assert!(matches!(result, Err(ToolError::Cancelled(_))), "{result:?}");
    assert_eq!(paths(bench.work()), Vec::<String>::new());
}

#[tokio::test]
async fn an_empty_and_a_missing_repository_are_told_apart() {
    let forge = Forge::new();
    forge.empty_repository("empty");
    let bench = Bench::at(&forge).await;
    let text = bench.clone(json!({ "url": forge.url("empty.git") })).await.unwrap();
    assert!(text.contains("\nthe repository has no commit yet\n0 files, 0 bytes"), "{text}");
    let error = bench.clone(json!({ "url": forge.url("missing.git") })).await.unwrap_err();
    assert!(error.contains("exit code 128") && error.contains("not found"), "{error}");
    assert!(!bench.work().join("missing").exists());
}

#[tokio::test]
async fn in_another_workspace_it_clones_there() {
    let forge = Forge::new();
    forge.repository("repo", "echo x > x");
    let bench = Bench::at(&forge).await;
    let other = TempDir::new().unwrap();
    let tool = bench.tool.in_directory(&ToolDirectory::new(other.path())).unwrap().unwrap();
    assert_eq!(tool.name(), "git_clone");
    call(&*tool, &approving(), json!({ "url": forge.url("repo.git") })).await.unwrap();
    assert!(other.path().join("repo/x").exists());
    assert_eq!(paths(bench.work()), Vec::<String>::new());
}
