//! The command line of the built program: what it prints, what it refuses, and with which exit code.

use std::fs;

use crate::support::program::{Program, exit_code, stderr, stdout};

#[test]
fn the_version_names_the_program() {
    let output = Program::new().args(["--version"]).output();
    assert_eq!(stdout(&output), format!("steersman {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(exit_code(&output), 0);
}

#[test]
fn the_help_names_every_flag_and_command() {
    let output = Program::new().args(["--help"]).output();
    let help = stdout(&output);
    for word in [
        "--provider",
        "--base-url",
        "--model",
        "--api-key-env",
        "--max-steps",
        "--no-stream",
        "--context-window",
        "--max-cost",
        "--max-tokens-total",
        "--compact-at",
        "--cwd",
        "--config",
        "--system-prompt",
        "--mode",
        "--sandbox",
        "--yes",
        "--version",
        "exec",
        "personas",
        "skills",
        "completions",
    ] {
        assert!(help.contains(word), "{word} is missing in {help}");
    }
    let exec = stdout(&Program::new().args(["exec", "--help"]).output());
    assert!(exec.contains("--json") && exec.contains("--steer-stdin"), "{exec}");
}

#[test]
fn every_shell_gets_its_completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = Program::new().args(["completions", shell]).output();
        assert_eq!(exit_code(&output), 0);
        assert!(stdout(&output).contains("steer-stdin"), "{shell}");
    }
}

#[test]
fn fish_gets_the_values_of_every_flag_and_argument() {
    let script = stdout(&Program::new().args(["completions", "fish"]).output());
    let of_flag = |flag: &str| {
        let line = format!("complete -c steersman -n \"__fish_steersman_using_subcommand exec\" -l {flag} ");
        let from = script.find(&line).unwrap_or_else(|| panic!("{flag} is missing"));
        let rest = &script[from..];
        rest[..rest[1..].find("complete -c").unwrap()].to_owned()
    };
    for (flag, values) in [
        ("mode", &["ask", "auto-edit", "auto", "auto-without-sandbox", "read-only"][..]),
        ("provider", &["openai", "openai-responses", "anthropic", "gemini", "demo"]),
        ("sandbox", &["auto", "namespaces", "bubblewrap", "landlock", "off"]),
        ("reasoning-effort", &["off", "minimal", "low", "medium", "high", "max"]),
    ] {
        let offered = of_flag(flag);
        for value in values {
            assert!(offered.contains(&format!("{value}\\t")), "{flag} {value}: {offered}");
        }
    }
    let shells = "complete -c steersman -n \"__fish_steersman_using_subcommand completions\" -f -a \"bash elvish fish powershell zsh\"";
    assert!(script.contains(shells), "{script}");
}

#[test]
fn no_help_shows_the_marks_of_the_sources() {
    let mut texts: Vec<String> =
        ["bash", "zsh", "fish"].map(|shell| stdout(&Program::new().args(["completions", shell]).output())).to_vec();
    for args in [&["--help"][..], &["-h"], &["exec", "--help"], &["models", "--help"], &["doctor", "--help"]] {
        texts.push(stdout(&Program::new().args(args.iter().copied()).output()));
    }
    for text in texts {
        for mark in ["[`", "`OpenAI`", "generateContent`", "Mode::"] {
            let lines: Vec<&str> = text.lines().filter(|line| line.contains(mark)).collect();
            assert!(lines.is_empty(), "{mark}: {lines:?}");
        }
    }
}

#[test]
fn without_a_terminal_it_ends_with_2_and_names_exec() {
    for args in [&[][..], &["list the files"], &["--provider", "demo"]] {
        let output = Program::new().args(args.iter().copied()).output();
        assert_eq!(exit_code(&output), 2);
        assert_eq!(stdout(&output), "");
        assert_eq!(
            stderr(&output),
            "steersman: the screen needs a terminal; without one use: steersman exec PROMPT, or --screen-reader\n"
        );
    }
}

/// Asserts that a start ends with 2 and one line on standard error that holds each of the words.
fn is_refused(program: Program, words: &[&str]) {
    let output = program.output();
    let said = stderr(&output);
    assert_eq!(exit_code(&output), 2, "{said}");
    assert_eq!(stdout(&output), "");
    assert!(said.starts_with("steersman: ") && said.lines().count() == 1, "not one sentence: {said:?}");
    for word in words {
        assert!(said.contains(word), "{word:?} is missing in {said:?}");
    }
}

#[test]
fn mistakes_on_the_command_line_are_one_sentence_and_2() {
    is_refused(Program::new().args(["--modell", "x"]), &["--modell", "--model", "steersman --help"]);
    is_refused(Program::new().args(["exec", "--provider", "demo"]), &["needs a prompt", "exec PROMPT"]);
    is_refused(Program::new().args(["exec", "a", "b"]), &["'b'"]);
    is_refused(Program::new().args(["exec", "--provider", "demo", " \u{200B} "]), &["blank"]);
    is_refused(Program::new().args([""]), &["blank"]);
    is_refused(Program::new().args(["hello", "exec", "a"]), &["hello"]);
    for flag in ["--max-steps", "--max-tokens", "--context-window", "--max-tokens-total"] {
        let words = format!("invalid value '0' for '{flag} <N>': it must be a whole number, at least 1");
        is_refused(Program::new().args(["exec", flag, "0", "a"]), &[&words]);
    }
    is_refused(Program::new().args(["exec", "--provider", "openia", "a"]), &["openia", "openai"]);
    is_refused(Program::new().args(["exec", "--provider", "demo", "--steer-stdin", "-"]), &["--steer-stdin"]);
    is_refused(Program::new().args(["completions", "tcsh"]), &["tcsh"]);
    // No flag is passed over.
    for flag in [&["--resume", "x"][..], &["-c"], &["--fork", "x"]] {
        for command in [&["status"][..], &["inject", "more"], &["cancel"]] {
            is_refused(Program::new().args(command.iter().chain(flag).copied()), &["--session ID"]);
        }
        is_refused(Program::new().args(flag.iter().chain(&["models"]).copied()), &["this command does not"]);
    }
}

#[test]
fn hostile_arguments_are_shown_not_obeyed() {
    let output = Program::new().args(["--\u{1b}]0;title\u{7}"]).output();
    assert!(!output.stderr.contains(&0x1b) && !output.stderr.contains(&0x07), "{:?}", stderr(&output));
}

#[test]
fn mistakes_in_the_configuration_are_one_sentence_and_2() {
    let exec = |args: &[&str]| Program::new().args(["exec"]).args(args.iter().copied()).args(["hello"]);
    is_refused(exec(&["--base-url", "localhost:8080"]), &["localhost:8080", "http://"]);
    is_refused(exec(&["--provider", "openai"]), &["--model"]);
    is_refused(exec(&["--model", "m", "--api-key-env", "NOBODY_SET_THIS"]), &["NOBODY_SET_THIS"]);
    is_refused(exec(&["--cwd", "/nonexistent"]), &["/nonexistent"]);
    is_refused(exec(&["--config", "/nonexistent.toml"]), &["/nonexistent.toml"]);
    is_refused(exec(&["--system-prompt", "/nonexistent.md"]), &["/nonexistent.md"]);
}

#[test]
fn the_users_file_is_read_and_its_unknown_key_is_named_with_the_nearest_one() {
    let program = Program::new().args(["exec", "hello"]);
    let file = program.home().join(".config/steersman/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "# mine\nbase-url = 'http://localhost'\n").unwrap();
    is_refused(program, &["config.toml, line 2: ", "\"base-url\"", "\"base_url\""]);

    let program = Program::new().args(["exec", "hello"]);
    let file = program.home().join("xdg/steersman/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "max_steps = 'many'").unwrap();
    let xdg = program.home().join("xdg");
    is_refused(program.env("XDG_CONFIG_HOME", xdg.to_str().unwrap()), &["xdg/steersman/config.toml, line 1: "]);
}

#[test]
fn flags_stand_before_or_behind_the_command() {
    is_refused(Program::new().args(["--cwd", "/nonexistent", "exec", "a"]), &["/nonexistent"]);
    is_refused(Program::new().args(["exec", "--cwd", "/nonexistent", "a"]), &["/nonexistent"]);
    is_refused(Program::new().args(["exec", "a", "--cwd", "/nonexistent"]), &["/nonexistent"]);
}

/// Starts it in lines, which need no terminal.
fn lines(words: &[&str]) -> Program {
    Program::new().args(["--screen-reader", "--provider", "demo"]).args(words.iter().copied())
}

#[test]
fn the_words_and_letters_of_other_hosts_go_on_with_a_session() {
    for words in
        [["resume", "ffff"].as_slice(), &["fork", "ffff"], &["-r", "ffff"], &["--resume", "ffff", "-m", "demo"]]
    {
        is_refused(lines(words), &["there is no session \"ffff\""]);
    }
    for words in [
        ["continue"].as_slice(),
        &["-c"],
        &["resume", "--last"],
        &["fork"],
        &["fork", "--last"],
        &["continue", "go on"],
    ] {
        is_refused(lines(words), &["no session of this directory is saved"]);
    }
    is_refused(lines(&["resume", "--continue"]), &["which session it is"]);
}

#[test]
fn the_flag_of_other_hosts_for_a_run_without_a_screen_is_exec() {
    for words in [["-p", "say hello"].as_slice(), &["say hello", "-p"], &["--print", "say hello", "--output", "answer"]]
    {
        let output = Program::new().args(["--provider", "demo"]).args(words.iter().copied()).output();
        assert_eq!(exit_code(&output), 0, "{words:?}: {}", stderr(&output));
        assert!(!stdout(&output).is_empty(), "{words:?}");
    }
    is_refused(Program::new().args(["-p", "--provider", "demo", "-m", "x", "a", "b"]), &["'b'"]);
}

#[test]
fn a_lone_word_that_is_nearly_a_command_is_not_sent_to_a_model() {
    for (word, here) in [
        ("login", "steersman doctor"),
        ("config", "steersman help configuration"),
        ("run", "steersman exec"),
        ("sesions", "steersman sessions"),
        ("model", "steersman models"),
        ("resum", "steersman resume"),
        ("docter", "steersman doctor"),
    ] {
        is_refused(lines(&[word]), &[word, here, "steersman -- "]);
    }
    let sent = lines(&["--", "login"]).output();
    assert!(!stderr(&sent).contains("is no command"), "{}", stderr(&sent));
}

#[test]
fn a_command_of_another_host_below_one_of_here_is_answered_with_the_one_of_the_same_purpose() {
    for (words, here) in [
        (&["plugin", "install", "kit@market"][..], "steersman plugin add SOURCE NAME"),
        (&["plugin", "marketplace", "add", "owner/market"], "steersman plugin add SOURCE, which lists"),
        (&["mcp", "add", "clock", "--", "uvx", "mcp-server-time"], "a section [mcp.NAME] of the configuration file"),
        (&["mcp", "add", "--transport", "http", "issues", "https://example.org"], "a section [mcp.NAME]"),
        (&["exec", "resume", "--last", "go on"], "exec --continue PROMPT"),
        (&["--provider", "demo", "exec", "resume", "0123", "go on"], "exec --resume ID PROMPT"),
        (&["skills", "list"], "here it is steersman skills"),
    ] {
        is_refused(Program::new().args(words.iter().copied()), &["is no command of steersman", here]);
    }
    let result = Program::new().args(["exec", "resume", "0123", "go on", "--output", "result"]).output();
    assert!(stdout(&result).contains("--resume ID PROMPT"), "{}", stdout(&result));
    let output = Program::new().args(["--provider", "demo", "exec", "--", "resume"]).output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
}

#[test]
fn a_flag_of_another_host_is_answered_with_the_one_of_the_same_purpose() {
    for (flag, here) in [
        (&["--dangerously-skip-permissions"][..], "here it is --mode auto-without-sandbox"),
        (&["--disallowedTools", "Bash"], "here it is exec --deny RULE"),
        (&["--output-format=json"], "here it is exec --output answer"),
        (&["-p", "hi", "--permission-mode", "plan"], "here it is --mode ask"),
        (&["exec", "hi", "--max-turns", "3"], "here it is exec --max-rounds N"),
    ] {
        let output = Program::new().args(flag.iter().copied()).output();
        assert_eq!(exit_code(&output), 2, "{flag:?}");
        assert!(stderr(&output).contains(here), "{flag:?}: {}", stderr(&output));
    }
    let output = Program::new().args(["--no-such-flag"]).output();
    assert!(stderr(&output).contains("(see steersman --help)"), "{}", stderr(&output));
}
