//! Stories of trust in hooks: nothing runs before a yes, a change asks again, and nothing of a project is unasked.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use steersman::program::cli::hooks::{HookRecord, HookSearch, trusted_of_user};
use steersman::program::cli::places::UserDirectories;
use steersman::program::cli::project::{FrontEnd, ProjectOffer};
use steersman_agent::HookPoint;
use steersman_base::event::HookOutcome;
use steersman_core::approval::{Answer, Answerer, ApprovalSubject, Approvals, Mode, Policy};
use tempfile::TempDir;

use super::runs::{Yard, call};
use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};

pub fn settings(command: &str) -> String {
    json!({ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": command }] }] } })
        .to_string()
}

/// The home of a user with a project in it.
pub struct Home {
    _dir: TempDir,
    pub root: PathBuf,
    pub places: UserDirectories,
}

impl Home {
    pub fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("work/.git")).unwrap();
        let places = UserDirectories {
            home: Some(root.clone()),
            config: Some(root.join(".config/steersman")),
            state: Some(root.join("state")),
            project: Some(root.join("work")),
            ..UserDirectories::default()
        };
        Self { _dir: dir, root, places }
    }

    pub fn put(&self, path: &str, text: &str) -> &Self {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Returns approvals where each question gets this answer, with what was asked.
    pub fn desk(answer: Answer) -> (Arc<Approvals>, Arc<Mutex<Vec<String>>>) {
        let approvals = Arc::new(Approvals::new(Policy { answerer: Answerer::User, ..Policy::default() }, Mode::Ask));
        let asked = Arc::new(Mutex::new(Vec::new()));
        answering(&approvals, &asked, answer);
        (approvals, asked)
    }

    /// Starts; returns the commands that run, what was asked, and what was said.
    async fn start(&self, front: FrontEnd, answer: Answer) -> (Vec<String>, Vec<String>, Vec<String>) {
        let (approvals, asked) = Self::desk(answer);
        let (cwd, mut notes) = (self.root.join("work"), Vec::new());
        let writable = [cwd.clone()];
        let search = HookSearch { places: &self.places, cwd: &cwd, writable: &writable };
        let hooks = trusted_of_user(front, &search, &approvals, &mut notes).await;
        let asked = asked.lock().unwrap().clone();
        (hooks.into_iter().map(|trusted| trusted.hook.command).collect(), asked, notes)
    }
}

/// Answers each question of the program.
fn answering(approvals: &Arc<Approvals>, asked: &Arc<Mutex<Vec<String>>>, answer: Answer) {
    let (desk, asked) = (Arc::downgrade(approvals), Arc::clone(asked));
    approvals.watch(Arc::new(move || {
        let Some(desk) = desk.upgrade() else { return };
        for request in desk.open() {
            let ApprovalSubject::Plain { title, detail } = &request.subject else { panic!("not of the program") };
            asked.lock().unwrap().push(format!("{title}\n{detail}"));
            desk.answer(request.id, answer.clone());
        }
    }));
}

#[tokio::test]
async fn hooks_of_other_programs_run_only_after_a_yes_that_showed_them_whole() {
    let home = Home::new();
    home.put(".claude/settings.json", &settings("~/.claude/hooks/guard.py --strict"));
    home.put(".claude/hooks/guard.py", "print('guards')\n").put(".claude/log.txt", "a log");
    let (ran, asked, _) = home.start(FrontEnd::Screen, Answer::Once).await;
    assert_eq!((ran.as_slice(), asked.len()), (&["~/.claude/hooks/guard.py --strict".to_owned()][..], 1));
    for part in [
        "run the 1 hook of ~/.claude/settings.json here too?",
        "~/.claude/settings.json: PreToolUse Bash",
        "| ~/.claude/hooks/guard.py --strict",
        "| print('guards')",
    ] {
        assert!(asked[0].contains(part), "{part} is missing in {}", asked[0]);
    }
    let (ran, asked, _) = home.start(FrontEnd::Screen, Answer::No(None)).await;
    assert_eq!((ran.len(), asked.len()), (1, 0), "it is not asked twice");
    let (ran, _, notes) = home.start(FrontEnd::Exec, Answer::No(None)).await;
    assert_eq!((ran.len(), notes.len()), (1, 0), "the yes holds for exec too");

    home.put(".claude/hooks/guard.py", "print('obeys')\n");
    let (ran, asked, notes) = home.start(FrontEnd::Exec, Answer::Once).await;
    assert_eq!((ran.len(), asked.len()), (0, 0), "exec never asks");
    assert_eq!(notes, ["not run, nobody has said yes to them: 1 hook of yours; start steersman once and decide"]);
    let (ran, asked, _) = home.start(FrontEnd::Screen, Answer::No(None)).await;
    assert_eq!((ran.len(), asked.len()), (0, 1), "a changed script asks again");
    assert!(asked[0].contains("    | -    | print('guards')\n    | +    | print('obeys')\n"), "{}", asked[0]);
    let (ran, asked, _) = home.start(FrontEnd::Screen, Answer::Once).await;
    assert_eq!((ran.len(), asked.len()), (0, 0), "a no is kept");
    HookRecord::at(home.places.state.as_deref()).unwrap().forget().unwrap();
    assert_eq!(home.start(FrontEnd::Screen, Answer::Once).await.1.len(), 1);
}

#[tokio::test]
async fn a_question_about_hooks_that_is_left_comes_again_and_guards_that_are_off_are_named() {
    let home = Home::new();
    home.put(".claude/settings.json", &settings("guard --strict"));
    for _ in 0..2 {
        let (ran, asked, notes) = home.start(FrontEnd::Screen, Answer::NotNow).await;
        assert_eq!((ran.len(), asked.len()), (0, 1), "it is no no");
        assert!(asked[0].starts_with("run the 1 hook of ~/.claude/settings.json here too?"), "{}", asked[0]);
        assert!(asked[0].contains("| steersman hooks --ask-again"), "{}", asked[0]);
        assert_eq!(
            notes,
            ["not run in this session, and asked about at the next start: 1 hook (1 hook that guards calls is off)"]
        );
    }
    home.start(FrontEnd::Screen, Answer::No(None)).await;
    let (ran, asked, notes) = home.start(FrontEnd::Screen, Answer::Once).await;
    assert_eq!((ran.len(), asked.len()), (0, 0), "a no is kept");
    assert_eq!(notes, ["1 hook that guards calls is not run, you said no; steersman hooks --ask-again asks again"]);
}

#[tokio::test]
async fn what_is_not_run_of_the_users_files_is_told_only_to_who_wants_the_rest() {
    let home = Home::new();
    let hook = json!([{ "hooks": [{ "type": "command", "command": "ping" }] }]);
    home.put(
        ".claude/settings.json",
        &json!({ "hooks": { "TeammateIdle": hook, "WorktreeCreate": hook, "Stop": hook } }).to_string(),
    );
    let (_, asked, notes) = home.start(FrontEnd::Screen, Answer::No(None)).await;
    assert_eq!(asked.len(), 1);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].starts_with("~/.claude/settings.json: hooks that are not run: "), "{notes:?}");
    assert!(notes[0].ends_with(" (these events are not known here)"), "{notes:?}");
    for front in [FrontEnd::Screen, FrontEnd::Exec] {
        assert_eq!(home.start(front, Answer::Once).await, (vec![], vec![], vec![]));
    }
}

#[tokio::test]
async fn the_users_own_file_needs_no_yes_unless_its_script_lies_where_the_agent_writes() {
    let home = Home::new();
    home.put(".config/steersman/hooks.json", &settings("true"));
    assert_eq!(home.start(FrontEnd::Exec, Answer::Once).await, (vec!["true".to_owned()], vec![], vec![]));
    let inside = home.root.join("work/check.sh");
    home.put("work/check.sh", "#!/bin/sh\n").put(".config/steersman/hooks.json", &settings(inside.to_str().unwrap()));
    let (ran, _, notes) = home.start(FrontEnd::Exec, Answer::Once).await;
    assert_eq!((ran.len(), notes.len()), (0, 1), "{notes:?}");
}

#[tokio::test]
async fn hooks_of_codex_are_read_in_both_of_its_forms() {
    let home = Home::new();
    home.put(".codex/hooks.json", &settings("from json"));
    home.put(".codex/config.toml", "model = \"m\"\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"from toml\"\ntimeout = 3\n");
    let (ran, asked, notes) = home.start(FrontEnd::Screen, Answer::Once).await;
    assert_eq!((ran, asked.len(), notes.len()), (vec!["from json".to_owned(), "from toml".to_owned()], 1, 0));
}

#[tokio::test]
async fn a_script_that_changes_while_the_session_runs_is_asked_about_before_it_runs() {
    let hooks = json!({ "PreToolUse": [{ "hooks": [{ "type": "command", "command": "sh ./guard.sh" }] }] });
    let (bash, point) = (call("bash", &json!({})), HookPoint::BeforeCall);
    for (answer, runs) in [(Answer::Once, true), (Answer::No(None), false)] {
        let yard = Yard::new(&hooks, &[("guard.sh", "echo first >&2; exit 2")]);
        let asked = Arc::new(Mutex::new(Vec::new()));
        answering(&yard.approvals, &asked, answer);
        assert_eq!(yard.at("", point(&bash)).await.0.block.as_deref(), Some("first"));
        assert_eq!(asked.lock().unwrap().len(), 0);
        fs::write(yard.root().join("guard.sh"), "echo second >&2; exit 2").unwrap();
        let (answer, ran) = yard.at("", point(&bash)).await;
        assert_eq!(answer.block.is_some(), runs);
        assert_eq!(ran[0].outcome, if runs { HookOutcome::Blocked } else { HookOutcome::Changed });
        yard.at("", point(&bash)).await;
        let asked = asked.lock().unwrap();
        assert_eq!(asked.len(), 1, "the answer holds for the session");
        assert!(asked[0].starts_with("run the changed hook?") && asked[0].contains("sh ./guard.sh"), "{asked:?}");
        let change = "    | -    | echo first >&2; exit 2\n    | +    | echo second >&2; exit 2\n";
        assert!(asked[0].contains(change), "{}", asked[0]);
    }
}

#[tokio::test]
async fn a_changed_command_or_place_of_a_hook_is_shown_against_the_hook_that_was_trusted() {
    let home = Home::new();
    let entry = |command: &str, sandbox: bool| json!({ "hooks": [{ "type": "command", "command": command, "sandbox": sandbox }] });
    let file = |entries: &[Value]| json!({ "hooks": { "Stop": entries } }).to_string();
    home.put(".claude/settings.json", &file(&[entry("one", true), entry("two", true)]));
    assert_eq!(home.start(FrontEnd::Screen, Answer::Once).await.1.len(), 1);
    for (changed, lines) in [
        (entry("two --loud", true), ["-    | two", "+    | two --loud"]),
        (entry("two\u{1b}[2J\u{202e}\n+ three", true), ["-    | two", "+    | two␛[2J"]),
        (
            entry("two", false),
            ["-~/.claude/settings.json: Stop", "+~/.claude/settings.json: Stop, outside of the sandbox"],
        ),
    ] {
        home.put(".claude/settings.json", &file(&[entry("one", true), changed]));
        let (ran, asked, _) = home.start(FrontEnd::Screen, Answer::No(None)).await;
        assert_eq!((ran.len(), asked.len()), (1, 1));
        for line in lines {
            assert!(asked[0].contains(&format!("    | {line}")), "{line} is missing in\n{}", asked[0]);
        }
        assert!(!asked[0].contains(['\u{1b}', '\u{202e}']) && !asked[0].contains("| one"), "{}", asked[0]);
    }
}

#[tokio::test]
async fn a_hook_that_removes_itself_does_not_run_again_unasked() {
    let hooks = json!({ "Stop": [{ "hooks": [{ "type": "command", "command": "sh ./once.sh" }] }] });
    let yard = Yard::new(&hooks, &[("once.sh", "rm once.sh")]);
    yard.approvals.user_left();
    let point = HookPoint::Answered { answer: "", again: false };
    assert_eq!(yard.at("", point).await.1[0].outcome, HookOutcome::Done);
    let (answer, ran) = yard.at("", point).await;
    assert_eq!((ran[0].outcome, answer.block), (HookOutcome::Changed, None));
}

#[tokio::test]
async fn what_a_hook_writes_is_no_part_of_it() {
    let hooks =
        json!({ "Stop": [{ "hooks": [{ "type": "command", "command": "date >> log.txt; echo x > out.sh" }] }] });
    let yard = Yard::new(&hooks, &[("log.txt", ""), ("out.sh", "")]);
    for _ in 0..2 {
        assert_eq!(yard.at("", HookPoint::Answered { answer: "", again: false }).await.1[0].outcome, HookOutcome::Done);
    }
}

// --- a project

#[test]
fn a_project_offers_its_hooks_from_every_file_and_asks_again_for_each_change() {
    let home = Home::new();
    let root = home.root.join("work");
    let put = |path: &str, text: &str| {
        home.put(&format!("work/{path}"), text);
        ProjectOffer::load(&root, &[]).unwrap()
    };
    put(".claude/settings.json", &settings("\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/a.sh"));
    put(".claude/hooks/a.sh", "#!/bin/sh\necho a\n");
    put(".claude/settings.local.json", &settings("b"));
    put(".codex/hooks.json", &settings("c"));
    let offer = put(".steersman/hooks.json", &settings("d"));
    assert!(offer.acts() && offer.names() == "4 hooks", "{}", offer.names());
    let detail = offer.detail();
    for part in [
        "Hooks. They run in the sandbox: what they write outside of the project is lost or refused:",
        ".claude/settings.json: PreToolUse Bash",
        "| #!/bin/sh\n    | echo a",
        ".codex/hooks.json",
        "| d",
    ] {
        assert!(detail.contains(part), "{part} is missing in {detail}");
    }
    let first = offer.hash();
    let second = put(".claude/hooks/a.sh", "#!/bin/sh\necho b\n").hash();
    assert_ne!(first, second, "a script has changed");
    let third = put(".steersman/hooks.json", &settings("e")).hash();
    assert_ne!(second, third, "a command has changed");
    let other = json!({ "permissions": { "allow": ["x"] }, "hooks": serde_json::from_str::<serde_json::Value>(&settings("b")).unwrap()["hooks"] });
    assert_eq!(
        put(".claude/settings.local.json", &other.to_string()).hash(),
        third,
        "another setting is not asked about"
    );
}

#[test]
fn odd_files_of_a_project_do_nothing() {
    let home = Home::new();
    let root = home.root.join("work");
    fs::create_dir_all(root.join(".claude")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, root.join(".claude/settings.json"), rustix::fs::Mode::from(0o600)).unwrap();
    home.put("outside.json", &settings("evil"));
    std::os::unix::fs::symlink(home.root.join("outside.json"), root.join(".claude/settings.local.json")).unwrap();
    home.put("work/.codex/hooks.json", &format!("{{\"x\":\"{}\"}}", "y".repeat(10_000_000)));
    home.put("work/.steersman/hooks.json", "\u{1b}]0;title\u{7}");
    let offer = ProjectOffer::load(&root, &[]).unwrap();
    assert!(!offer.acts() && offer.hooks.is_empty());
    assert_eq!(offer.faults.len(), 4, "{:?}", offer.faults);
    assert!(offer.faults.iter().all(|fault| !fault.contains(['\u{1b}', '\n'])), "{:?}", offer.faults);
}

/// Starts `exec` in a project with hooks at every point; each leaves a file.
fn hostile(server: &Server) -> Program {
    let hook = |name: &str| json!([{ "hooks": [{ "type": "command", "command": format!("touch \"$CLAUDE_PROJECT_DIR\"/ran-{name}") }] }]);
    let hooks = json!({ "hooks": { "SessionStart": hook("start"), "UserPromptSubmit": hook("prompt"), "PreToolUse": hook("pre"), "PostToolUse": hook("post"), "Stop": hook("stop") } });
    Program::new()
        .args(["exec", "--json", "--base-url", &server.url(), "--model", "m", "hello"])
        .file("work/.git/HEAD", "ref: refs/heads/main\n")
        .file("work/.claude/settings.json", &hooks.to_string())
}

fn ran(work: &Path) -> Vec<String> {
    let names = fs::read_dir(work).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut ran: Vec<String> = names.filter(|name| name.starts_with("ran-")).collect();
    ran.sort();
    ran
}

#[test]
fn a_hostile_project_does_nothing_before_it_is_trusted_and_what_it_does_then_is_told() {
    let calls = || Reply::calls(&[("c1", "calculator", "{\"expression\":\"1+1\"}")]);
    let server = Server::start([calls(), Reply::text("ok")]);
    let program = hostile(&server);
    let work = program.work();
    let (output, _home) = program.output_with_home();
    assert_eq!(exit_code(&output), 0);
    assert_eq!(ran(&work), [""; 0]);
    assert!(stderr(&output).contains("not trusted, and therefore ignored: 5 hooks"), "{}", stderr(&output));
    assert!(!stdout(&output).contains("hook_ran"));

    let server = Server::start([calls(), Reply::text("ok")]);
    let program = hostile(&server);
    let hash = ProjectOffer::load(&program.work().canonicalize().unwrap(), &[]).unwrap().hash();
    let work = program.work();
    let (output, _home) = program.args(["--trust-project", &hash]).output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    assert_eq!(ran(&work), ["ran-post", "ran-pre", "ran-prompt", "ran-start", "ran-stop"]);
    let lines: Vec<serde_json::Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<&str> = lines
        .iter()
        .filter(|line| line["event"]["type"] == "hook_ran")
        .map(|line| line["event"]["hook"].as_str().unwrap())
        .collect();
    assert_eq!(told, ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"]);
}

#[test]
fn a_hook_learns_where_the_session_is_saved() {
    let server = Server::start([Reply::calls(&[("c1", "calculator", "{\"expression\":\"1+1\"}")]), Reply::text("ok")]);
    let copy = json!([{ "hooks": [{ "type": "command", "command": "cat > \"$CLAUDE_PROJECT_DIR\"/got" }] }]);
    let program = Program::new()
        .args(["exec", "--base-url", &server.url(), "--model", "m", "hello"])
        .file("work/.git/HEAD", "ref: refs/heads/main\n")
        .file("work/.claude/settings.json", &json!({ "hooks": { "PreToolUse": copy } }).to_string());
    let work = program.work();
    let hash = ProjectOffer::load(&work.canonicalize().unwrap(), &[]).unwrap().hash();
    let (output, _home) = program.args(["--trust-project", &hash]).output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let got: serde_json::Value = serde_json::from_str(&fs::read_to_string(work.join("got")).unwrap()).unwrap();
    let saved = fs::read_to_string(got["transcript_path"].as_str().unwrap()).unwrap();
    assert!(saved.contains("hello") && saved.contains(got["session_id"].as_str().unwrap()), "{saved}");
}

#[test]
fn the_list_says_of_every_hook_whether_it_runs() {
    let server = Server::start([]);
    let program = hostile(&server)
        .file(".claude/settings.json", &settings("theirs"))
        .file(".config/steersman/hooks.json", &settings("own"));
    let output = Program::new().args(["--cwd", program.work().to_str().unwrap(), "hooks"]);
    let output = output.env("HOME", program.home().to_str().unwrap()).output();
    let list = stdout(&output);
    assert!(list.contains("PreToolUse  Bash  own  (runs)"), "{list}");
    assert!(
        list.contains("~/.claude/settings.json  PreToolUse  Bash  theirs  (not run, you were not asked yet)"),
        "{list}"
    );
    assert!(list.contains(".claude/settings.json  Stop  *  touch"), "{list}");
    assert!(list.contains("(not run, the project is not trusted)"), "{list}");
}
