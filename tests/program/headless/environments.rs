//! `exec` where no person started it: cron, services, pipelines, and surroundings in which something is missing. Each row of
//! the tables is a line of shell with the output and the exit code that must come of it; none may hang.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

use crate::support::built_program;
use crate::support::program::PATIENCE;
use crate::support::server::{End, Gate, Move, Reply, Request, Server};
use crate::support::skip::{Need, skip};
use crate::support::stream_schema::check_lines;

/// What the model does.
#[derive(Clone, Copy)]
enum Model {
    /// It answers `The answer.`
    Answers,
    /// It answers with a megabyte.
    Long,
    /// It never answers.
    Silent,
    /// It calls a command, then answers with what that printed.
    Commands,
}

/// What standard output of the line is.
enum Out {
    /// Exactly this.
    Is(&'static str),
    /// This is in it.
    Has(&'static str),
    /// Lines of JSON, the last of which ends the session with this code.
    Ends(i32),
}

/// Shell that waits until the run of which `out` is the output has sent its prompt, or has ended.
macro_rules! when_asked {
    () => {
        "until grep -qE 'user_turn|session_ended' out; do sleep 0.1; done; "
    };
}

/// Shell that waits for the run in the background, and passes on what it wrote and its code.
macro_rules! ended {
    () => {
        "wait $!; code=$?; cat out; exit $code"
    };
}

/// A shell with a home of its own that nothing can be written to, in which the line in quotes is run.
macro_rules! read_only {
    ($line:literal) => {
        concat!(
            "exec unshare --user --map-root-user --mount sh -c 'mount --bind \"$HOME\" \"$HOME\" && ",
            "mount -o remount,bind,ro \"$HOME\" && cd \"$HOME/work\" && exec ",
            $line,
            "'"
        )
    };
}

use Model::{Answers, Commands, Long, Silent};
use Out::{Ends, Has, Is};

/// A line of shell, in which `$S` is the program; the exit code; standard output; what standard error has in it.
struct Row(&'static str, Model, i32, Out, &'static str);

const ANSWER: Out = Is("The answer.\n");

fn reply(model: Model, gate: &Gate, request: &Request) -> Reply {
    match model {
        Answers => Reply::text("The answer."),
        Long => Reply::moves((0..250).map(|_| Move::Text("long ".repeat(800))).chain([Move::End(End::Done)])),
        Silent => Reply::text("never").gated(gate),
        Commands => match request.texts("tool").first() {
            Some(result) => Reply::text(&format!("It printed {result}")),
            None => Reply::calls(&[("c1", "bash", r#"{"command":"printf done"}"#)]),
        },
    }
}

/// Runs a line; `None` when it hangs.
fn run(line: &str, model: Model, home: &Path) -> Option<Output> {
    let gate = Gate::new();
    let server = Server::routed(move |request| reply(model, &gate, request));
    let program = built_program();
    let program = program.display();
    let start = format!("{program} exec --base-url {} --model m --sandbox off --yes", server.url());
    let child = Command::new("/bin/sh")
        .args(["-c", line])
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .env("STEERSMAN_LOCAL_PORTS", "none")
        .env("S", start)
        .current_dir(home.join("work"))
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let group = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    let (end, ended) = channel();
    std::thread::spawn(move || end.send(child.wait_with_output().unwrap()));
    let output = ended.recv_timeout(PATIENCE).ok();
    // What a line left in the background too.
    let _ = kill_process_group(group, Signal::KILL);
    output
}

/// Runs every row; says all that went wrong at once.
#[track_caller]
fn check(rows: &[Row]) {
    let mut wrong = Vec::new();
    for Row(line, model, code, out, err) in rows {
        let home = TempDir::new().unwrap();
        std::fs::create_dir_all(home.path().join("work")).unwrap();
        let Some(output) = run(line, *model, home.path()) else {
            wrong.push(format!("{line}\n  hangs"));
            continue;
        };
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let is_right = match out {
            Is(text) => stdout == *text,
            Has(text) => stdout.contains(text),
            Ends(code) => {
                check_lines(&stdout);
                let last = stdout.lines().last().unwrap_or_default();
                last.contains("\"type\":\"session_ended\"") && last.contains(&format!("\"exit_code\":{code},"))
            }
        };
        if output.status.code() != Some(*code) || !is_right || !stderr.contains(err) {
            let short = |text: &str| text.chars().take(300).collect::<String>();
            wrong.push(format!("{line}\n  {}\n  out: {}\n  err: {}", output.status, short(&stdout), short(&stderr)));
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

fn has(program: &'static str) -> bool {
    let found = ["/usr/bin", "/bin"].iter().any(|directory| Path::new(directory).join(program).exists());
    if !found {
        skip(Need::Program(program), "rows of a table");
    }
    found
}

#[test]
fn a_missing_or_odd_variable_takes_nothing_away() {
    check(&[
        // As cron starts it.
        Row("exec env -i HOME=\"$HOME\" LOGNAME=x SHELL=/bin/sh PATH=/usr/bin:/bin $S hello", Answers, 0, ANSWER, ""),
        Row("exec env -i $S hello", Answers, 0, ANSWER, ""),
        Row("exec env -i $S --json hello", Answers, 0, Ends(0), ""),
        Row("exec env -i $S hello", Commands, 0, Is("It printed done\n"), ""),
        Row("unset HOME; exec $S hello", Answers, 0, ANSWER, ""),
        Row("HOME= exec $S hello", Answers, 0, ANSWER, ""),
        Row("HOME=/proc/nowhere/at/all exec $S hello", Answers, 0, ANSWER, ""),
        Row("HOME=/dev/null exec $S hello", Answers, 0, ANSWER, ""),
        Row("HOME=/proc exec $S hello", Answers, 0, ANSWER, ""),
        Row("HOME=. exec $S hello", Answers, 0, ANSWER, ""),
        Row("unset PATH; exec $S hello", Answers, 0, ANSWER, ""),
        Row("PATH= ; exec $S hello", Answers, 0, ANSWER, ""),
        Row("PATH=relative:/proc/nowhere exec $S hello", Answers, 0, ANSWER, ""),
        Row("TMPDIR=/proc/nowhere exec $S hello", Commands, 0, Is("It printed done\n"), ""),
        Row("TMPDIR=/dev/null exec $S hello", Commands, 0, Is("It printed done\n"), ""),
        Row("TMPDIR=/proc exec $S hello", Commands, 0, Is("It printed done\n"), ""),
        Row("TMPDIR= exec $S hello", Commands, 0, Is("It printed done\n"), ""),
        Row("TMPDIR=/proc/nowhere exec $S -o last hello && cat last", Answers, 0, Has("The answer."), ""),
        Row("XDG_STATE_HOME=/dev/null exec $S hello", Answers, 0, ANSWER, ""),
        Row("XDG_CONFIG_HOME=/dev/null exec $S hello", Answers, 0, ANSWER, ""),
        Row("XDG_RUNTIME_DIR=/proc/nowhere exec $S hello", Answers, 0, ANSWER, ""),
        Row("LANG=C LC_ALL=C exec $S hello", Answers, 0, ANSWER, ""),
        Row("LC_ALL=nonsense TZ=nowhere TERM=nothing COLUMNS=x exec $S hello", Answers, 0, ANSWER, ""),
    ]);
}

/// Shell that sets a directory for temporary files, and the program that confines its commands where it can.
macro_rules! with_own_temporary_files {
    () => {
        "export TMPDIR=\"$HOME/tmp\"; mkdir \"$TMPDIR\"; S=\"${S%% --sandbox*} --yes --json\"; "
    };
}

#[test]
fn a_run_that_is_over_leaves_no_temporary_files() {
    check(&[
        Row(concat!(with_own_temporary_files!(), "$S hello >out; ls -A \"$TMPDIR\""), Commands, 0, Is(""), ""),
        Row(
            concat!(
                with_own_temporary_files!(),
                "$S hello >out & ",
                when_asked!(),
                "kill $!; wait $!; ls -A \"$TMPDIR\""
            ),
            Silent,
            0,
            Is(""),
            "",
        ),
        Row(
            concat!(with_own_temporary_files!(), "timeout 0.5 $S hello >out; ls -A \"$TMPDIR\""),
            Silent,
            0,
            Is(""),
            "",
        ),
    ]);
}

#[test]
fn closed_and_odd_descriptors_change_neither_answer_nor_code() {
    check(&[
        Row("$S hello <&-", Answers, 0, ANSWER, ""),
        Row("$S hello >&-", Answers, 0, Is(""), ""),
        Row("$S hello 2>&-", Answers, 0, ANSWER, ""),
        Row("$S hello <&- >&- 2>&-", Answers, 0, Is(""), ""),
        Row("$S --json hello <&- 2>&-", Answers, 0, Ends(0), ""),
        Row("$S hello <&- 2>&-", Commands, 0, Is("It printed done\n"), ""),
        Row("$S --steer-stdin hello <&-", Answers, 0, ANSWER, ""),
        Row("$S --input json hello <&-", Answers, 0, Ends(0), ""),
        Row("$S --steer-stdin hello </", Answers, 0, ANSWER, ""),
        Row("$S hello </", Answers, 0, ANSWER, ""),
        Row("$S hello </dev/zero", Answers, 0, ANSWER, ""),
        Row("$S hello >/dev/full", Answers, 1, Is(""), "cannot write to standard output"),
        Row("$S --json hello >/dev/full", Answers, 1, Is(""), "cannot write to standard output"),
        Row("$S --output result hello >/dev/full", Answers, 1, Is(""), "cannot write to standard output"),
        Row("$S hello 2>/dev/full", Answers, 0, ANSWER, ""),
        Row("$S hello >out 2>&1; cat out", Answers, 0, Has("The answer."), ""),
        Row("$S hello 3</dev/null 4>&1 9</etc/passwd", Answers, 0, ANSWER, ""),
        Row("ulimit -n 40; exec $S hello", Commands, 0, Is("It printed done\n"), ""),
        Row("ulimit -f 0; exec $S hello", Answers, 0, ANSWER, ""),
        Row("ulimit -c 0; ulimit -s 1024; exec $S hello", Answers, 0, ANSWER, ""),
    ]);
}

#[test]
fn directories_that_cannot_be_used_are_said_or_left_alone() {
    let mut rows = vec![
        Row("mkdir gone; cd gone; rmdir ../gone; exec $S hello", Answers, 2, Is(""), "cannot work in"),
        Row("mkdir gone; cd gone; rmdir ../gone; exec $S --json hello", Answers, 2, Ends(2), "cannot work in"),
        Row("exec $S --cwd /proc/nowhere hello", Answers, 2, Is(""), "cannot work in /proc/nowhere"),
        Row("exec $S --cwd /dev/null hello", Answers, 2, Is(""), "cannot work in"),
        Row("cd /; exec $S hello", Answers, 0, ANSWER, "root of the file system"),
        Row("cd /proc; exec $S hello", Answers, 0, ANSWER, ""),
        Row("exec $S -o /proc/answer hello", Answers, 1, ANSWER, "cannot write /proc/answer"),
        Row("exec $S -o . hello", Answers, 2, Is(""), "cannot write ."),
        Row("umask 777; exec $S -o last hello", Answers, 0, ANSWER, ""),
        Row("mkdir -p \"$HOME/.local/state\"; chmod 500 \"$HOME/.local/state\"; exec $S hello", Answers, 0, ANSWER, ""),
        Row("mkdir -p \"$HOME/.local\"; : > \"$HOME/.local/state\"; exec $S hello", Answers, 0, ANSWER, ""),
        Row("chmod 500 .; exec $S hello", Commands, 0, Is("It printed done\n"), ""),
    ];
    let mounts = "exec unshare --user --map-root-user --mount mount --bind /tmp /tmp";
    if Command::new("sh").args(["-c", mounts]).output().is_ok_and(|output| output.status.success()) {
        rows.extend([
            Row(read_only!("$S hello"), Answers, 0, ANSWER, ""),
            Row(read_only!("$S hello"), Commands, 0, Is("It printed done\n"), ""),
            Row(read_only!("$S --json hello"), Answers, 0, Ends(0), ""),
            Row(read_only!("env TMPDIR=. $S hello"), Commands, 0, Is("It printed done\n"), ""),
            Row(read_only!("$S --ephemeral hello"), Answers, 0, ANSWER, ""),
            Row(read_only!("$S -o last hello"), Answers, 1, ANSWER, "cannot write last"),
        ]);
    } else {
        skip(Need::of_program("unshare"), "directories that nothing can be written to");
    }
    check(&rows);
}

#[test]
fn programs_before_it_and_signals_do_what_they_do_elsewhere() {
    let mut rows = vec![
        Row("timeout 1 $S hello", Silent, 124, Is(""), ""),
        Row("timeout --preserve-status 1 $S hello", Silent, 143, Is(""), ""),
        Row("timeout --preserve-status -s INT 1 $S hello", Silent, 130, Is(""), ""),
        Row("timeout --foreground --preserve-status -s HUP 1 $S hello", Silent, 129, Is(""), ""),
        Row("timeout 600 $S hello", Answers, 0, ANSWER, ""),
        Row("nohup $S hello 2>/dev/null", Answers, 0, ANSWER, ""),
        Row("nice -n 19 $S hello", Answers, 0, ANSWER, ""),
        Row("setsid -w $S hello", Answers, 0, ANSWER, ""),
        Row("env --ignore-signal=PIPE $S hello | head -c 3", Long, 0, Is("lon"), ""),
        Row("trap '' CHLD; exec $S hello", Commands, 0, Is("It printed done\n"), ""),
        Row("env --ignore-signal=CHLD $S hello", Commands, 0, Is("It printed done\n"), ""),
        Row("$S hello & wait $!", Answers, 0, ANSWER, ""),
        Row("$S hello >a & $S hello >b & wait; cat a b", Answers, 0, Is("The answer.\nThe answer.\n"), ""),
        Row(concat!("$S --json hello >out & ", when_asked!(), "kill -TERM $!; ", ended!()), Silent, 143, Ends(143), ""),
        Row(concat!("$S --json hello >out & ", when_asked!(), "kill -HUP $!; ", ended!()), Silent, 129, Ends(129), ""),
        // What `nohup` is for.
        Row(
            concat!(
                "nohup $S --json --max-time 3s hello >out 2>/dev/null & ",
                when_asked!(),
                "kill -HUP $!; ",
                ended!()
            ),
            Silent,
            1,
            Ends(1),
            "",
        ),
    ];
    let alone = Command::new("unshare").args(["--user", "--map-user", "54321", "true"]).output();
    if alone.is_ok_and(|output| output.status.success()) {
        rows.extend([
            Row("unshare --user --map-user 54321 $S hello", Answers, 0, ANSWER, ""),
            Row("unset HOME; unshare --user --map-user 54321 $S hello", Commands, 0, Is("It printed done\n"), ""),
        ]);
    } else {
        skip(Need::of_program("unshare"), "a user without an entry");
    }
    check(&rows);
}

/// Set in the tests that a test starts.
const AGAIN: &str = "STEERSMAN_TEST_AGAIN";

#[test]
fn tests_that_ignore_signals_start_programs_that_heed_them() {
    if std::env::var_os(AGAIN).is_some() {
        let program = built_program();
        assert!(program.is_file());
        let status = Command::new("cat").arg("/proc/self/status").output().unwrap();
        let status = String::from_utf8_lossy(&status.stdout).into_owned();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
        let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap();
        let sent = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM, Signal::TSTP];
        assert!(sent.iter().all(|signal| ignored & (1 << (signal.as_raw() - 1)) == 0), "{status}");
        return;
    }
    // As `nohup` and the background of a script start them.
    let ended = Command::new("/bin/sh")
        .args(["-c", "trap '' HUP INT QUIT TERM TSTP; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "headless::environments::tests_that_ignore_signals_start_programs_that_heed_them"])
        .env(AGAIN, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn it_is_one_of_the_programs_of_a_pipeline() {
    let mut rows = vec![
        Row("echo data | $S hello", Answers, 0, ANSWER, ""),
        Row("true | $S hello", Answers, 0, ANSWER, ""),
        Row("echo hello | $S -", Answers, 0, ANSWER, ""),
        Row("true | $S -", Answers, 2, Is(""), "the prompt is blank"),
        Row("echo hello | $S", Answers, 0, ANSWER, ""),
        Row("true | $S", Answers, 2, Is(""), "exec needs a prompt: steersman exec PROMPT, or one on standard input"),
        Row("$S --append-system-prompt 'Be brief' hello", Answers, 2, Is(""), "takes the name of a file"),
        Row("yes | $S hello", Answers, 2, Is(""), "longer than 2 MiB"),
        Row("echo hello | xargs $S", Answers, 0, ANSWER, ""),
        Row("echo /stop | $S --steer-stdin hello", Silent, 130, Is(""), ""),
        Row("echo more | $S --steer-stdin hello", Answers, 0, Has("The answer.\n"), ""),
        Row("echo '{\"type\":\"send\",\"text\":\"x\"}' | $S --input json", Answers, 0, Ends(0), ""),
        Row("echo nonsense | $S --input json", Answers, 0, Ends(0), ""),
        Row("text=$($S hello); echo \"<$text>\"", Answers, 0, Is("<The answer.>\n"), ""),
        Row("$S hello | cat", Answers, 0, ANSWER, ""),
        Row("$S hello | tee kept | wc -c; cat kept", Answers, 0, Is("12\nThe answer.\n"), ""),
        Row("{ $S hello; echo $? >code; } | head -c 5; cat code", Long, 0, Is("long 130\n"), ""),
        Row(
            "{ $S --json hello; echo $? >code; } | head -n 1 | cut -c 1-8; cat code",
            Silent,
            0,
            Is("{\"seq\":1\n130\n"),
            "",
        ),
        Row(
            "{ $S --output progress hello; echo $? >code; } | head -n 1 >/dev/null; cat code",
            Silent,
            0,
            Is("130\n"),
            "",
        ),
        Row("$S hello | grep -q answer", Answers, 0, Is(""), ""),
        Row("$S --json hello | tail -n 1", Answers, 0, Ends(0), ""),
        Row("$S --nonsense 2>/dev/null | cat; $S --nonsense 2>/dev/null", Answers, 2, Is(""), ""),
    ];
    if has("jq") {
        rows.extend([
            Row("$S --output result hello | jq -r .answer", Answers, 0, ANSWER, ""),
            Row("$S --json hello | jq -r '.event | select(.type == \"turn_ended\").answer'", Answers, 0, ANSWER, ""),
            Row("$S --json --nonsense 2>/dev/null | jq -s 'last.event.exit_code'", Answers, 0, Is("2\n"), ""),
            Row(
                "jq -nc '{type: \"send\", text: \"x\"}, {type: \"end\"}' | $S --input json | jq -s 'last.event.answer'",
                Answers,
                0,
                Is("\"The answer.\"\n"),
                "",
            ),
        ]);
    }
    check(&rows);
}
