//! Stories of `steersman sessions`, and of what each start saves.

use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::Value;
use steersman_core::provider::ApiKey;
use tempfile::TempDir;

use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Gate, Reply, Server};

fn saved(home: &TempDir) -> Vec<PathBuf> {
    let entries = fs::read_dir(home.path().join(".local/state/steersman/sessions")).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Runs `exec` to its end.
fn exec(home: TempDir, server: &Server, args: &[&str]) -> TempDir {
    let url = server.url();
    let program = Program::within(home).args(["exec", "--base-url", &url, "--model", "m"]).args(args.iter().copied());
    let (output, home) = program.output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    home
}

/// Runs `sessions`.
fn sessions(home: TempDir, args: &[&str]) -> (i32, String, String, TempDir) {
    let (output, home) = Program::within(home).args(["sessions"]).args(args.iter().copied()).output_with_home();
    (exit_code(&output), stdout(&output), stderr(&output), home)
}

fn listed(home: TempDir) -> (Vec<Value>, TempDir) {
    let (code, out, err, home) = sessions(home, &["--json"]);
    assert_eq!(code, 0, "{err}");
    (serde_json::from_str(&out).unwrap(), home)
}

#[test]
fn a_run_is_saved_and_the_list_tells_of_it() {
    let server = Server::start([Reply::text("Done.").usage(100, 20), Reply::text("Also done.")]);
    let home = exec(TempDir::new().unwrap(), &server, &["count the files\nand the lines"]);
    let home = exec(home, &server, &["a second run"]);
    let (list, home) = listed(home);
    assert_eq!(list.len(), 2, "{list:?}");
    assert_eq!(
        (&list[0]["title"], &list[1]["title"]),
        (&"a second run".into(), &"count the files\nand the lines".into())
    );
    let first = &list[1];
    assert_eq!((&first["turns"], &first["agents"], &first["tokens"]), (&1.into(), &0.into(), &120.into()));
    assert_eq!((&first["state"], &first["damage"]), (&"answered".into(), &Value::Null));
    assert!(first["directory"].as_str().unwrap().ends_with("/work"), "{first}");
    let (_, text, _, _home) = sessions(home, &[]);
    let id = first["id"].as_str().unwrap();
    assert!(
        text.contains(id) && text.contains("count the files\n") && text.contains("answered, 1 turn, 120 tokens"),
        "{text}"
    );
}

#[test]
fn a_run_that_is_not_to_be_saved_leaves_nothing_behind() {
    let server = Server::start([Reply::text("Done.")]);
    let home = exec(TempDir::new().unwrap(), &server, &["--ephemeral", "say nothing of this"]);
    assert_eq!(saved(&home), [] as [PathBuf; 0]);
    let (code, text, _, _home) = sessions(home, &[]);
    assert_eq!((code, text.as_str()), (0, "No session is saved.\n"));
}

#[test]
fn a_program_that_is_killed_leaves_what_was_sent_and_its_session_is_interrupted() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("Nobody reads this.").gated(&gate)]);
    let url = server.url();
    let run = Program::new().args(["exec", "--base-url", &url, "--model", "m", "sent before the end"]).run();
    gate.wait_reached();
    run.signal(Signal::KILL);
    let (_, home) = run.end_with_home();
    gate.open();
    let (list, home) = listed(home);
    assert_eq!((&list[0]["title"], &list[0]["state"]), (&"sent before the end".into(), &"interrupted".into()));
    assert!(fs::read_to_string(&saved(&home)[0]).unwrap().contains(r#""type":"user_turn""#));
}

#[test]
fn a_session_is_removed_by_the_beginning_of_its_id_and_one_that_runs_stays() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("One."), Reply::text("Two.").gated(&gate)]);
    let home = exec(TempDir::new().unwrap(), &server, &["first"]);
    let (list, home) = listed(home);
    let id = list[0]["id"].as_str().unwrap().to_owned();
    let (code, _, err, home) = sessions(home, &["rm", "ffff"]);
    assert_eq!((code, err.contains("there is no session \"ffff\"")), (1, true), "{err}");
    let (code, out, _, home) = sessions(home, &["rm", &id[..30]]);
    assert_eq!((code, out), (0, format!("removed session {id}\n")));
    assert_eq!(saved(&home), [] as [PathBuf; 0]);

    let state = home.path().join(".local/state/steersman");
    let url = server.url();
    let run = Program::within(home).args(["exec", "--base-url", &url, "--model", "m", "second"]).run();
    gate.wait_reached();
    let files = steersman_session::journal::SessionFiles::within(&state);
    let running = &files.list().unwrap()[0];
    assert_eq!((files.prune(0).unwrap(), running.is_written()), (0, true));
    assert_eq!(steersman_session::journal::Outline::from_file(running).unwrap().state.name(), "running");
    gate.open();
    let (end, home) = run.end_with_home();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    let (code, out, _, home) = sessions(home, &["prune", "--older", "1d"]);
    assert_eq!((code, out.as_str(), saved(&home).len()), (0, "removed 0 sessions\n", 1));
    let (code, out, _, home) = sessions(home, &["prune", "--older", "0d"]);
    assert_eq!((code, out.as_str(), saved(&home).len()), (0, "removed 1 session\n", 0));
}

#[test]
fn a_secret_of_the_environment_is_not_saved_but_the_directory_that_the_shell_names_is() {
    let server = Server::start([Reply::text("Done with sesame-1234-Open-5678.")]);
    let url = server.url();
    let program = Program::new();
    let work = program.work();
    let (output, home) = program
        .env("PWD", work.display().to_string())
        .env("DEPLOY_TOKEN", "sesame-1234-Open-5678")
        .args(["exec", "--base-url", &url, "--model", "m", "deploy"])
        .output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let text = fs::read_to_string(&saved(&home)[0]).unwrap();
    assert!(text.contains("Done with [key ") && !text.contains("sesame"), "{text}");
    let (list, _home) = listed(home);
    assert_eq!(list[0]["directory"], work.display().to_string());
}

#[test]
fn a_model_reads_after_a_resume_what_it_read_before_as_long_as_the_key_is_set() {
    let words = "The file says sesame-1234-Open-5678.";
    let server = Server::start(["One.", "Two.", "Three."].map(Reply::text));
    let url = server.url();
    let args = ["exec", "--base-url", &url, "--model", "m"];
    let program = |home| Program::within(home).args(args);
    let (output, home) =
        Program::new().env("DEPLOY_TOKEN", "sesame-1234-Open-5678").args(args).args([words]).output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    assert!(!fs::read_to_string(&saved(&home)[0]).unwrap().contains("sesame"));
    let again = program(home).env("DEPLOY_TOKEN", "sesame-1234-Open-5678").args(["--continue", "go on"]);
    let (output, home) = again.output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    assert_eq!(server.chats()[1].contents("user")[0], words);
    assert!(!fs::read_to_string(&saved(&home)[0]).unwrap().contains("sesame"));
    let (output, _home) = program(home).args(["--continue", "and now"]).output_with_home();
    assert!(stderr(&output).contains("a key that is not set any more"), "{}", stderr(&output));
    assert!(server.chats()[2].contents("user")[0].starts_with("The file says [key "));
}

#[test]
fn ordinary_words_in_variables_that_sound_secret_and_fillers_for_keys_stay_in_what_is_saved() {
    let words = "the assistant of postgres in lm-studio's sunflower-house";
    let server = Server::start([Reply::text(words)]);
    let url = server.url();
    let (output, home) = Program::new()
        .env("POSTGRES_PASSWORD", "postgres")
        .env("TOKEN_MODE", "assistant")
        .env("AUTH_METHOD", "sunflower-house")
        .env("OPENAI_API_KEY", "lm-studio")
        .args(["exec", "--base-url", &url, "--model", "m", "image: postgres:16"])
        .output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let text = fs::read_to_string(&saved(&home)[0]).unwrap();
    assert!(text.contains(words) && text.contains("image: postgres:16") && !text.contains("[key"), "{text}");
}

#[test]
fn a_key_that_is_the_name_of_the_directory_or_of_the_model_leaves_the_session_where_it_is_found() {
    let key = "sk-0123456789abcdefXYZ";
    let server = Server::start([Reply::text("One."), Reply::text("Two.")]);
    let url = server.url();
    let (_, home) = Program::new()
        .env("OPENAI_API_KEY", key)
        .args(["exec", "--base-url", &url, "--model", key, &format!("I use {key}")])
        .output_with_home();
    let text = fs::read_to_string(&saved(&home)[0]).unwrap();
    assert!(text.contains("I use [key ") && text.contains(&format!(r#""model":"{key}""#)), "{text}");
}

#[test]
fn names_of_models_and_modes_with_numbers_in_them_are_no_keys() {
    for word in ["claude-3-5-sonnet-20241022", "oauth2-client-credentials", "registry.example-internal.org:5000"] {
        assert!(!ApiKey::has_form_of_a_key(word), "{word}");
    }
    for key in [
        "sk-proj-abcdefghijkl",
        "sesame-1234-Open-5678",
        "550e8400-e29b-41d4-a716-446655440000",
        "k3j9x0q2v7m1z8w4",
        "9f86d081884c7d659a2feaa0c55ad015",
    ] {
        assert!(ApiKey::has_form_of_a_key(key), "{key}");
    }
}

#[test]
fn a_session_in_a_directory_named_like_a_key_goes_on_with_the_words_that_the_model_had() {
    let key = "sk-0123456789abcdefXYZ";
    let prompt = "use claude-3-5-sonnet-20241022 with postgres";
    let server = Server::start([Reply::text("I use claude-3-5-sonnet-20241022."), Reply::text("Two.")]);
    let url = server.url();
    let start = |home: TempDir, args: &[&str]| {
        let work = home.path().join(key);
        fs::create_dir_all(&work).unwrap();
        let program = Program::within(home).cwd(&work).env("DEPLOY_TOKEN", key);
        let program = program.env("TOKENIZER_MODEL", "claude-3-5-sonnet-20241022").env("DB_PASSWORD", "postgres");
        let program = program.args(["exec", "--base-url", &url, "--model", "m"]).args(args.iter().copied());
        let (output, home) = program.output_with_home();
        assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
        home
    };
    let home = start(TempDir::new().unwrap(), &[prompt]);
    let _home = start(home, &["--continue", "more"]);
    let chats = server.chats();
    assert_eq!(chats[1].texts("system"), chats[0].texts("system"));
    assert_eq!(chats[1].texts("user"), [prompt, "more"]);
    assert_eq!(chats[1].texts("assistant"), ["I use claude-3-5-sonnet-20241022."]);
}

#[test]
fn above_a_size_the_sessions_go_that_nobody_went_on_with_the_longest() {
    let server = Server::routed(|_| Reply::text("Well."));
    let home = exec(TempDir::new().unwrap(), &server, &["the first"]);
    let home = exec(home, &server, &["the second"]);
    let home = exec(home, &server, &["the third"]);
    let size: u64 = saved(&home).iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    assert!(size < 1_000_000);
    let (code, out, _, home) = sessions(home, &["prune", "--above", "1MB"]);
    assert_eq!((code, out.as_str()), (0, "removed 0 sessions\n"));
    let (list, home) = listed(home);
    // Somebody went on with the first one.
    let home = exec(home, &server, &["--resume", list[2]["id"].as_str().unwrap(), "and now?"]);
    let size = |row: usize| fs::metadata(list[row]["file"].as_str().unwrap()).unwrap().len();
    let (first, third) = (size(2), size(0));
    let kilobytes = (first + third).div_ceil(1_000);
    let (code, out, _, home) = sessions(home, &["prune", "--above", &format!("{kilobytes}kB")]);
    assert_eq!((code, out.as_str()), (0, "removed 1 session\n"));
    let (left, home) = listed(home);
    let titles: Vec<&Value> = left.iter().map(|row| &row["title"]).collect();
    assert_eq!(titles, ["the first", "the third"]);
    let (code, _, err, _home) = sessions(home, &["prune"]);
    assert!(code == 2 && err.contains("--older"), "{err}");
}
