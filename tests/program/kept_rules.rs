//! Rules that the answer "yes, always" keeps: what is offered, where it is kept, in which sessions and places it holds.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use steersman::program::cli::places::UserDirectories;
use steersman::program::cli::project::KeptRules;
use steersman_core::approval::{
    Answer, Answerer, ApprovalRecord, Approvals, Asker, CommandOperation, FetchOperation, KeptRule, Mode, Policy,
    Proposal, Refusal, RuleReach, Rules, SearchOperation, Unanswered,
};
use tempfile::TempDir;

use crate::support::doubles::settle;
use crate::support::program::{Program, exit_code, stdout};
use crate::support::server::{Reply, Server};

/// A project with the user's state directory beside it.
struct Site {
    home: TempDir,
    root: PathBuf,
    answerer: Answerer,
    rules: Rules,
}

impl Site {
    fn new() -> Self {
        let home = TempDir::new().unwrap();
        let root = home.path().canonicalize().unwrap().join("p");
        fs::create_dir_all(root.join("deep")).unwrap();
        Self { home, root, answerer: Answerer::User, rules: Rules::default() }
    }

    fn kept_in(&self, project: &Path) -> KeptRules {
        let state = Some(self.home.path().join("state/steersman"));
        KeptRules::find(
            &UserDirectories { state, project: Some(project.to_owned()), ..UserDirectories::default() },
            project,
        )
        .unwrap()
    }

    fn file(&self) -> PathBuf {
        self.home.path().join("state/steersman/rules.toml")
    }

    /// Starts a session in the project; returns what it says about its rules.
    fn session(&self) -> (Arc<Approvals>, Vec<String>) {
        let policy = Policy {
            answerer: self.answerer,
            root: Some(self.root.clone()),
            rules: self.rules.clone(),
            ..Policy::default()
        };
        let (desk, kept, mut notes) = (Approvals::new(policy, Mode::Ask), self.kept_in(&self.root), Vec::new());
        let rules = kept.load(&mut notes);
        desk.keep_rules_in(Arc::new(kept), rules);
        (Arc::new(desk), notes)
    }

    fn command(&self, command: &str) -> CommandOperation {
        CommandOperation {
            command: command.to_owned(),
            cwd: self.root.clone(),
            timeout: Duration::from_mins(1),
            outside: false,
        }
    }

    /// Returns the rule that is offered with an act; the question is answered with no.
    async fn offered(&self, act: impl Proposal + Send + Sync + 'static) -> Option<String> {
        let (desk, _) = self.session();
        let asking = decide(&desk, act);
        settle().await;
        let request = desk.open().pop().expect("it is asked about");
        assert!(desk.answer(request.id, Answer::No(None)));
        assert!(asking.await.unwrap().0.is_err());
        request.rule.map(|rule| rule.text)
    }

    /// Answers the question about a command with "yes, always".
    async fn keep(&self, desk: &Arc<Approvals>, command: &str) -> Vec<ApprovalRecord> {
        let asking = decide(desk, self.command(command));
        settle().await;
        assert_eq!(desk.try_answer(desk.open()[0].id, Answer::Always), Ok(()));
        let (outcome, told) = asking.await.unwrap();
        outcome.unwrap();
        told
    }

    async fn runs_without_question(&self, desk: &Arc<Approvals>, act: CommandOperation) -> bool {
        let asking = decide(desk, act);
        settle().await;
        if asking.is_finished() {
            return asking.await.unwrap().0.is_ok();
        }
        asking.abort();
        false
    }
}

type Deciding = tokio::task::JoinHandle<(Result<(), Refusal>, Vec<ApprovalRecord>)>;

fn decide(desk: &Arc<Approvals>, act: impl Proposal + Send + Sync + 'static) -> Deciding {
    let desk = Arc::clone(desk);
    tokio::spawn(async move {
        let asker = Asker { agent: "".into(), call: "c1".into() };
        let told = Mutex::new(Vec::new());
        let outcome = desk.decide(&asker, act, &|event| told.lock().unwrap().push(event)).await;
        (outcome.map(drop), told.into_inner().unwrap())
    })
}

#[tokio::test(start_paused = true)]
async fn a_rule_is_offered_for_a_program_that_runs_no_other_code_and_for_one_host_alone() {
    let site = Site::new();
    for (command, rule) in [
        ("cargo test --lib parse", "bash: cargo test *"),
        ("git status -s", "bash: git status *"),
        ("npm run lint", "bash: npm run lint *"),
        ("ls", "bash: ls *"),
    ] {
        assert_eq!(site.offered(site.command(command)).await.as_deref(), Some(rule), "{command}");
    }
    for command in [
        "cargo test | tee log",
        "cargo test > log",
        "cargo test && rm -r .",
        "cargo test; true",
        "cargo test &",
        "cargo test $(id)",
        "cargo test --config x=y",
        "./cargo test",
        "RUSTFLAGS=x cargo test",
        "env cargo test",
        "sudo cargo test",
        "bash -c ls",
        "find . -delete",
        "python x.py",
        "make test",
        "npm run 'a*'",
        "npm run \"a b\"",
        "some-program test",
    ] {
        assert_eq!(site.offered(site.command(command)).await, None, "{command}");
    }
    let elsewhere = CommandOperation { cwd: "/elsewhere".into(), ..site.command("cargo test") };
    assert_eq!(site.offered(elsewhere).await, None);
    let fetch = FetchOperation { tool: "fetch".into(), url: "https://docs.rs/serde/latest".to_owned() };
    assert_eq!(site.offered(fetch).await.as_deref(), Some("fetch: https://docs.rs/*"));
    let search = SearchOperation { query: "serde".to_owned(), services: vec!["a".to_owned()] };
    assert_eq!(site.offered(search).await, None);
}

#[tokio::test(start_paused = true)]
async fn what_is_always_allowed_runs_unasked_now_and_in_the_next_session_of_this_project_alone() {
    let site = Site::new();
    let (desk, notes) = site.session();
    assert_eq!(notes, Vec::<String>::new());
    let waiting = decide(&desk, site.command("cargo test --doc"));
    settle().await;
    let asked_later = decide(&desk, site.command("cargo build"));
    settle().await;
    assert_eq!(desk.try_answer(desk.open()[0].id, Answer::Always), Ok(()));
    let (outcome, told) = waiting.await.unwrap();
    outcome.unwrap();
    let rule = KeptRule::parse("bash: cargo test *").unwrap();
    assert!(told.contains(&ApprovalRecord::Kept(rule.clone(), Ok(()))), "{told:?}");
    assert_eq!(desk.open().len(), 1, "another command still waits");
    asked_later.abort();

    assert!(site.runs_without_question(&desk, site.command("cargo test")).await);
    for (desk, _) in [site.session(), site.session()] {
        assert_eq!(desk.kept_rules(), std::slice::from_ref(&rule));
        assert!(site.runs_without_question(&desk, site.command("cargo test -p a")).await);
        assert!(
            site.runs_without_question(
                &desk,
                CommandOperation { cwd: site.root.join("deep"), ..site.command("cargo test") }
            )
            .await
        );
        for command in ["cargo build", "cargo test | sh", "cargo test --config a=b", "cargo testify"] {
            assert!(!site.runs_without_question(&desk, site.command(command)).await, "{command}");
        }
        let elsewhere = CommandOperation { cwd: "/elsewhere".into(), ..site.command("cargo test") };
        assert!(!site.runs_without_question(&desk, elsewhere).await);
    }
    assert_eq!(site.kept_in(Path::new("/another")).load(&mut Vec::new()), []);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&site.file()), mode(site.file().parent().unwrap())), (0o600, 0o700));
    assert!(fs::read_dir(&site.root).unwrap().all(|entry| entry.unwrap().file_name() == "deep"), "not in the project");
}

#[tokio::test(start_paused = true)]
async fn a_rule_for_every_project_holds_in_another_one_and_is_removed_from_all() {
    let site = Site::new();
    let (desk, _) = site.session();
    let asking = decide(&desk, site.command("cargo test"));
    settle().await;
    assert_eq!(desk.try_answer(desk.open()[0].id, Answer::Everywhere), Ok(()));
    let (outcome, told) = asking.await.unwrap();
    outcome.unwrap();
    let rule = KeptRule::parse("bash: cargo test *").unwrap().reaching(RuleReach::Everywhere);
    assert!(told.contains(&ApprovalRecord::Kept(rule.clone(), Ok(()))), "{told:?}");
    site.keep(&desk, "git log").await;

    let mut notes = Vec::new();
    let elsewhere = site.kept_in(Path::new("/another")).load(&mut notes);
    assert_eq!(
        (elsewhere.as_slice(), notes.len()),
        (std::slice::from_ref(&rule), 0),
        "that of the project stays there"
    );
    let (next, _) = site.session();
    assert_eq!(next.kept_rules().len(), 2);
    assert!(site.runs_without_question(&next, site.command("cargo test -p a")).await);
    let outside = CommandOperation { cwd: "/elsewhere".into(), ..site.command("cargo test") };
    assert!(!site.runs_without_question(&next, outside).await, "also then only within the workspace");
    next.remove_rule(&rule).unwrap();
    assert!(!site.runs_without_question(&next, site.command("cargo test")).await);
    assert_eq!(site.kept_in(Path::new("/another")).load(&mut Vec::new()), []);
    assert_eq!(site.session().0.kept_rules().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_was_removed_is_asked_about_again_at_once_and_later() {
    let site = Site::new();
    let (desk, _) = site.session();
    site.keep(&desk, "cargo test").await;
    site.keep(&desk, "git log").await;
    let [first, second] = desk.kept_rules().try_into().unwrap();
    desk.remove_rule(&first).unwrap();
    assert!(!site.runs_without_question(&desk, site.command("cargo test")).await);
    let (next, _) = site.session();
    assert_eq!(next.kept_rules(), std::slice::from_ref(&second));
    next.remove_rule(&second).unwrap();
    assert!(!fs::read_to_string(site.file()).unwrap().contains("git"));
}

#[tokio::test(start_paused = true)]
async fn a_deny_or_ask_rule_and_read_only_stand_above_a_kept_rule() {
    let mut site = Site::new();
    let (desk, _) = site.session();
    site.keep(&desk, "cargo test").await;
    desk.set_mode(Mode::ReadOnly).unwrap();
    assert!(!site.runs_without_question(&desk, site.command("cargo test")).await);
    for (ask, deny) in [(vec!["bash: cargo test *"], vec![]), (vec![], vec!["bash: cargo *"])] {
        site.rules = Rules::parse(&[], &ask, &deny).unwrap();
        let (desk, _) = site.session();
        assert!(!site.runs_without_question(&desk, site.command("cargo test")).await, "{ask:?} {deny:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_damaged_file_or_too_wide_a_rule_allows_nothing_and_is_not_written_over() {
    let site = Site::new();
    fs::create_dir_all(site.file().parent().unwrap()).unwrap();
    let root = site.root.to_str().unwrap();
    let project = |rules: &str| format!("[[project]]\nroot = {root:?}\nallow = [{rules}]\n");
    for damaged in ["[[project", "project = 3", &"x".repeat(5_000_000)] {
        fs::write(site.file(), damaged).unwrap();
        let (desk, notes) = site.session();
        assert_eq!(desk.kept_rules(), []);
        assert!(notes[0].starts_with("no kept rule holds: "), "{notes:?}");
        let told = site.keep(&desk, "cargo test").await;
        assert!(matches!(told.last(), Some(ApprovalRecord::Kept(_, Err(_)))), "{told:?}");
        assert!(site.runs_without_question(&desk, site.command("cargo test")).await, "it holds in this session");
        assert_eq!(fs::read_to_string(site.file()).unwrap(), damaged);
    }
    for wide in [
        "*",
        "bash",
        "bash: *",
        "bash: cargo *",
        "bash: ca* test *",
        "bash: python x.py",
        "write",
        "edit: src/*",
        "fetch",
        "fetch: https://*.rs/*",
        "web_search",
        "nothing: x",
    ] {
        fs::write(site.file(), project(&format!("{wide:?}, \"bash: git log *\""))).unwrap();
        let (desk, notes) = site.session();
        let kept: Vec<String> = desk.kept_rules().iter().map(ToString::to_string).collect();
        assert_eq!(kept, ["bash: git log *"], "{wide}");
        assert_eq!(notes.len(), 1, "{notes:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_rule_in_the_question_yes_always_is_no_answer() {
    let site = Site::new();
    let (desk, _) = site.session();
    let asking = decide(&desk, site.command("make test"));
    settle().await;
    let id = desk.open()[0].id;
    assert_eq!(desk.try_answer(id, Answer::Always), Err(Unanswered::NotKept));
    assert_eq!(desk.open().len(), 1, "it stays open");
    asking.abort();
}

#[test]
fn exec_uses_what_was_kept_and_keeps_with_always() {
    let server = Server::start([]);
    let state = TempDir::new().unwrap();
    let (project, state_home) = (TempDir::new().unwrap(), state.path().to_str().unwrap().to_owned());
    let cwd = project.path().canonicalize().unwrap().to_str().unwrap().to_owned();
    let program = |args: &[&str]| {
        let flags = ["--base-url", &server.url(), "--model", "scripted", "--cwd", &cwd].map(str::to_owned);
        let all: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).chain(flags).collect();
        Program::new().args(all.iter().map(String::as_str)).env("XDG_STATE_HOME", &state_home)
    };
    let call = || Reply::calls(&[("c1", "bash", r#"{"command":"seq 3"}"#)]);
    for reply in [call(), Reply::text("kept"), call(), Reply::text("used")] {
        server.reply(reply);
    }
    let mut first = program(&["exec", "--steer-stdin", "go"]).piped().run();
    first.wait_for_error("answer: /yes 1, /session 1, /always 1, /no 1");
    first.write("/always 1\n");
    first.close_stdin();
    assert_eq!(first.end().code, Some(0));
    let kept = fs::read_to_string(state.path().join("steersman/rules.toml")).unwrap();
    assert!(kept.contains("bash: seq *") && kept.contains(&cwd), "{kept}");
    let second = program(&["exec", "go"]).output();
    assert_eq!(exit_code(&second), 0, "{}", stdout(&second));
    let told = server.chats().last().unwrap().texts("tool");
    assert!(told[0].contains("1\n2\n3"), "{told:?}");
}
