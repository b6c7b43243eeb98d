//! The user's own files: each is read with a bound and only when it is a regular file, and a fault is said with its name.
//! What the program writes beside them goes over no link, and leaves nothing behind that failed.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use jiff::civil::date;
use rustix::fs::{CWD, Mode, mkfifoat};
use steersman_base::limits;
use steersman_base::regular_file::{Links, open, read_head, read_own, read_own_text};
use steersman_tui::export::{ExportRequest, save};
use steersman_tui::history_file::{HistoryFile, Record};

use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};

/// How long a start may take on a crowded machine before it counts as one that hangs.
const PATIENCE: Duration = Duration::from_mins(2);

/// What can stand in the place of a file, with what is said about it.
const KINDS: [(&str, &str); 6] = [
    ("fifo", "not a regular file"),
    ("link to a device", "not a regular file"),
    ("directory", "not a regular file"),
    ("sparse", "larger than"),
    ("link to itself", "symbolic links"),
    ("no text", "line 2 is not UTF-8 text"),
];

fn put(kind: &str, path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    match kind {
        "fifo" => mkfifoat(CWD, path, Mode::from_raw_mode(0o600)).unwrap(),
        "link to a device" => symlink("/dev/zero", path).unwrap(),
        "directory" => fs::create_dir(path).unwrap(),
        "sparse" => File::create(path).unwrap().set_len(1 << 36).unwrap(),
        "link to itself" => symlink(path, path).unwrap(),
        "no text" => fs::write(path, b"# one\n\xff\n").unwrap(),
        _ => panic!("{kind}"),
    }
}

// --- the reader

#[test]
fn only_a_regular_file_is_opened_and_no_more_is_read_than_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    for (kind, fault) in KINDS {
        put(kind, &at(kind));
        let error = read_own_text(&at(kind), 1_000).unwrap_err().to_string();
        assert!(error.contains(fault), "{kind}: {error}");
    }
    fs::write(at("file"), "12345").unwrap();
    symlink("file", at("link")).unwrap();
    assert_eq!(read_own(&at("link"), 5).unwrap(), b"12345", "just the limit");
    let error = read_own(&at("link"), 4).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (io::ErrorKind::FileTooLarge, "it is larger than 4 bytes (5 bytes)")
    );
    let error = open(&at("link"), Links::Refused).unwrap_err().to_string();
    assert_eq!(error, "it is a symbolic link");
    assert!(read_head(&at("link"), 5).is_err());
    let head = read_head(&at("sparse"), 3).unwrap();
    assert_eq!((head.bytes.len(), head.size, head.is_truncated()), (3, 1 << 36, true));
    // Files of the kernel say that they are empty.
    assert!(read_own("/proc/self/status".as_ref(), 100).unwrap_err().to_string().contains("larger than 100 bytes"));
}

// --- the files of a start

/// Starts `exec` with the file of a name in each state; returns what it says.
fn started(kind: &str, file: &str, config: &str, flags: &[&str]) -> (i32, String) {
    let server = Server::start([Reply::text("Done.")]);
    let program = Program::new();
    put(kind, &program.home().join(file));
    let program = if config.is_empty() { program } else { program.config(config) };
    let url = server.url();
    let program = program.within_memory(4 << 20).args(["exec", "--base-url", &url, "--model", "m", "go"]);
    let output = program.args(flags.iter().copied()).output_within(PATIENCE);
    (exit_code(&output), stderr(&output))
}

#[test]
fn no_file_of_the_users_own_hangs_a_start_or_fills_memory() {
    for (kind, fault) in KINDS {
        for (file, config, flags) in [
            (".config/steersman/config.toml", "", &[][..]),
            ("other.toml", "", &["--config", "../other.toml"]),
            (".config/steersman/prompt.md", "system_prompt = 'prompt.md'", &[]),
            (".config/steersman/models.toml", "", &[]),
        ] {
            if file == ".config/steersman/config.toml" && kind == "link to itself" {
                // It is not there.
                continue;
            }
            let (code, said) = started(kind, file, config, flags);
            let name = file.rsplit('/').next().unwrap();
            if name == "models.toml" && kind == "link to itself" {
                assert_eq!(code, 0, "{said}");
                continue;
            }
            assert!(said.contains(name) && said.contains(fault), "{kind}, {file}: {said}");
            assert_eq!(code, if name == "models.toml" { 0 } else { 2 }, "{said}");
            assert_eq!(said.lines().filter(|line| !line.starts_with("· ")).count(), 1, "{said}");
        }
    }
}

#[test]
fn a_file_of_keys_of_authorities_and_with_a_key_is_read_like_the_others() {
    for (kind, fault) in KINDS.into_iter().filter(|(kind, _)| *kind != "no text") {
        let (code, said) = started(kind, "key", "api_key_file = '~/key'", &[]);
        assert!(code == 2 && said.contains("/key cannot be read: ") && said.contains(fault), "{kind}: {said}");
        let program = Program::new();
        put(kind, &program.home().join("ca.pem"));
        let program =
            program.within_memory(4 << 20).args(["exec", "--base-url", "https://model.invalid", "--model", "m"]);
        let output = program.args(["--ca-file", "../ca.pem", "go"]).output_within(PATIENCE);
        let said = stderr(&output);
        assert!(said.contains("ca.pem cannot be read: ") && said.contains(fault), "{kind}: {said}");
        // The line output reads the keys and the themes as the screen does.
        for (flags, file) in [
            (&["--keys", "../keys.toml"][..], "keys.toml"),
            (&["--theme", "mine"], ".config/steersman/themes/mine.toml"),
        ] {
            let program = Program::new();
            put(kind, &program.home().join(file));
            let program = program.within_memory(4 << 20).args(["--provider", "demo", "--screen-reader"]);
            let output = program.args(flags.iter().copied()).output_within(PATIENCE);
            let said = stderr(&output);
            assert!(said.contains(file) && said.contains(fault), "{kind}, {file}: {said}{}", stdout(&output));
        }
    }
}

#[test]
fn nesting_without_end_is_a_sentence_and_no_crash() {
    let deep = format!("a = {}{}", "[".repeat(200_000), "]".repeat(200_000));
    let (code, said) = {
        let output = Program::new().config(&deep).args(["exec", "--provider", "demo", "go"]).output_within(PATIENCE);
        (exit_code(&output), stderr(&output))
    };
    assert_eq!((code, said.lines().count()), (2, 1), "{said:.300}");
    assert!(said.contains("config.toml, line 1") && said.len() < 2_000, "{said:.300}");
    let dir = tempfile::tempdir().unwrap();
    let line = format!("{{\"at\": {}\n", "[".repeat(1_000_000));
    fs::write(dir.path().join("history.jsonl"), line).unwrap();
    assert_eq!(HistoryFile::within(dir.path()).load().unwrap(), [""; 0]);
    let server = Server::start([Reply::text("Done.")]);
    let url = server.url();
    let program = Program::new().file("work/.git/HEAD", "").file("work/.steersman/config.toml", &deep[..60_000]);
    let output = program
        .file("work/.steersman/personas/a.md", &format!("+++\n{}\n+++\nx", &deep[..60_000]))
        .file(".local/state/steersman/trust.toml", &deep)
        .args(["exec", "--base-url", &url, "--model", "m", "go"])
        .output_within(PATIENCE);
    assert!(output.status.code().is_some(), "{}", stderr(&output));
    assert!(stderr(&output).contains(".steersman/config.toml: "), "{}", stderr(&output));
}

// --- what is written beside them

fn record(text: &str) -> Record {
    Record { at: "2026-11-21T09:30:00Z".parse().unwrap(), cwd: "/work".to_owned(), text: text.to_owned() }
}

#[test]
fn a_history_that_is_a_link_is_neither_followed_nor_written() {
    for (kind, fault) in [("link", "it is a symbolic link"), ("fifo", "not a regular file")] {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("target");
        fs::write(&target, serde_json::to_string(&record("theirs")).unwrap() + "\n").unwrap();
        let before = fs::read(&target).unwrap();
        let place = dir.path().join("history.jsonl");
        if kind == "link" {
            symlink(&target, &place).unwrap();
        } else {
            put(kind, &place);
        }
        let file = HistoryFile::within(dir.path());
        for error in [file.load().unwrap_err(), file.append(&record("mine")).unwrap_err()] {
            let error = error.to_string();
            assert!(error.contains("history.jsonl") && error.contains(fault), "{error}");
        }
        assert_eq!(fs::read(&target).unwrap(), before);
    }
}

#[test]
fn a_link_among_the_logs_leaves_its_target_alone_and_is_said() {
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    for name in [format!("steersman.{today}.log"), "other.log".to_owned()] {
        let program = Program::new().file("target", "theirs\n");
        let target = program.home().join("target");
        fs::set_permissions(&target, fs::Permissions::from_mode(0o644)).unwrap();
        let logs = program.home().join(".local/state/steersman");
        fs::create_dir_all(&logs).unwrap();
        symlink(&target, logs.join(&name)).unwrap();
        let server = Server::start([Reply::text("Done.")]);
        let url = server.url();
        let program = program.env("STEERSMAN_LOG", "trace").args(["exec", "--base-url", &url, "--model", "m", "go"]);
        let (output, home) = program.output_with_home();
        assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
        let logs = home.path().join(".local/state/steersman");
        let said = format!("steersman: nothing is logged: {}: {name}: it is a symbolic link\n", logs.display());
        assert!(stderr(&output).contains(&said), "{}", stderr(&output));
        let target = home.path().join("target");
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o644, "{name}");
        assert_eq!(fs::read_to_string(&target).unwrap(), "theirs\n", "{name}");
    }
}

#[test]
fn the_logs_of_seven_days_are_kept_that_of_today_included() {
    let program = Program::new();
    let logs = program.home().join(".local/state/steersman");
    fs::create_dir_all(&logs).unwrap();
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let day = |ago: i32| {
        let date = today.saturating_sub(jiff::Span::new().days(ago));
        format!("steersman.{date}.log")
    };
    for ago in 1..12 {
        fs::write(logs.join(day(ago)), "old\n").unwrap();
    }
    fs::write(logs.join("other.log"), "not a day's\n").unwrap();
    let server = Server::start([Reply::text("one")]);
    let url = server.url();
    let (output, home) = program.args(["exec", "--base-url", &url, "--model", "m", "go"]).output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let names = fs::read_dir(home.path().join(".local/state/steersman")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut left: Vec<String> =
        names.filter(|name| Path::new(name).extension().is_some_and(|end| end == "log")).collect();
    left.sort();
    let mut expected: Vec<String> = (0..7).map(day).chain(["other.log".to_owned()]).collect();
    expected.sort();
    // A run over midnight has a file of tomorrow, and then the oldest goes.
    let tomorrow = day(-1);
    let mut later: Vec<String> = expected.iter().filter(|name| **name != day(6)).cloned().chain([tomorrow]).collect();
    later.sort();
    assert!(left == expected || left == later, "{left:?}");
}

/// Exports into a directory in a process that may write files of 512 bytes.
#[test]
fn exports_with_little_room() {
    let Ok(directory) = std::env::var("STORY_EXPORT") else { return };
    let request = ExportRequest::parse("out.md").unwrap();
    let error =
        save(&request, &"x".repeat(100_000), directory.as_ref(), None, date(2026, 11, 21).at(9, 30, 5, 0)).unwrap_err();
    assert!(error.to_string().contains("out.md: "), "{error}");
    println!("story told");
}

#[test]
fn an_export_that_fails_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new("/bin/sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "own_files::exports_with_little_room", "--nocapture"])
        .env("STORY_EXPORT", dir.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("story told"), "{said}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

// --- the environment

#[test]
fn without_a_temporary_directory_only_what_needs_one_fails() {
    let big = format!(r#"{{"command":"head -c {} /dev/zero | tr '\\0' x"}}"#, limits::COMMAND_BYTES + 10);
    let calls = [("c1", "bash", r#"{"command":"echo small"}"#), ("c2", "bash", big.as_str())];
    let server = Server::start([Reply::calls(&calls), Reply::text("Done.")]);
    let output = Program::new()
        .config("mode = 'auto-without-sandbox'\nsandbox.kind = 'off'\n")
        .env("TMPDIR", "/nonexistent/tmp")
        .args(["exec", "--json", "--base-url", &server.url(), "--model", "m", "go"])
        .output_within(PATIENCE);
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let results = server.chats()[1].body["messages"].to_string();
    assert!(results.contains("small"), "{results:.2000}");
    assert!(
        results.contains("could not be saved: no directory for it in /nonexistent/tmp (TMPDIR)"),
        "{results:.2000}"
    );
}

#[test]
fn a_malformed_proxy_is_an_error_that_names_the_variable_and_nothing_is_sent() {
    for command in [&["exec", "go"][..], &["doctor"]] {
        let output = Program::new()
            .env("HTTP_PROXY", "http://user:secret@:3128")
            .args(["--base-url", "http://model.invalid", "--model", "m"])
            .args(command.iter().copied())
            .output_within(PATIENCE);
        let said = stdout(&output) + &stderr(&output);
        assert_eq!(exit_code(&output), 1, "{said}");
        assert!(said.contains("HTTP_PROXY is not the address of a proxy") && !said.contains("secret"), "{said}");
        assert!(!said.contains("cannot reach model.invalid") && !said.contains("looked up"), "{said}");
    }
}

#[test]
fn what_earlier_versions_left_is_removed_when_it_is_old_and_no_link_is_followed() {
    const STATE: &str = ".local/state/steersman";
    let names = ["commands/1-a.json", "commands/1-a.lock", "changed/2026/a.txt", "commands/2-b.json"];
    let program = names.iter().fold(Program::new(), |program, name| program.file(&format!("{STATE}/{name}"), "x"));
    let (state, home) = (program.home().join(STATE), program.home().to_owned());
    fs::create_dir(home.join("kept")).unwrap();
    fs::write(home.join("kept/file"), "x").unwrap();
    symlink(home.join("kept"), state.join("changed/link")).unwrap();
    let old = std::time::SystemTime::now() - limits::LEFT_FILE_AGE;
    for name in ["commands/1-a.json", "commands/1-a.lock", "changed/2026"] {
        File::open(state.join(name)).unwrap().set_modified(old).unwrap();
    }
    let touched = Command::new("touch").args(["-h", "-d", "2 months ago"]).arg(state.join("changed/link")).status();
    assert!(touched.unwrap().success());
    let (output, home) = program.args(["exec", "--provider", "demo", "hi"]).output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    assert!(!state.join("changed").exists() && !state.join("commands/1-a.json").exists());
    let left: Vec<_> = fs::read_dir(state.join("commands")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["2-b.json"], "it is new");
    assert!(home.path().join("kept/file").exists());
}
