//! Spellings by which bash runs a denied program: none runs unasked, whatever the rule that denies it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use steersman_core::approval::{Answerer, Mode, Policy, Verdict};
use tempfile::TempDir;

use super::{NONE, decide, lines, policy};

/// One spelling a line; `§` stands for the command that a rule denies.
const SPELLINGS: &str = include_str!("../../fixtures/shell/spellings.txt");

#[test]
fn no_spelling_runs_a_denied_program_unasked() {
    let spellings = lines(SPELLINGS);
    assert!(spellings.len() >= 229, "{}", spellings.len());
    for (rule, command) in [
        ("bash: victim *", "victim"),
        ("bash: victim", "victim x"),
        ("bash: vict*", "victim"),
        ("bash: victim --all *", "victim --all x"),
        ("bash: git push *", "git push origin"),
        ("bash: rm -rf *", "rm -rf x"),
        ("bash: /usr/bin/victim *", "/usr/bin/victim"),
    ] {
        let denied = policy(&["bash: ls *", "bash: find *", "bash: echo *"], &[rule]);
        let standing_yes = Policy { answerer: Answerer::Yes, ..denied.clone() };
        for spelling in &spellings {
            let text = spelling.replace('§', command);
            for mode in [Mode::Ask, Mode::Auto, Mode::AutoWithoutSandbox] {
                let verdict = decide(&denied, mode, &text);
                assert!(!matches!(verdict, Verdict::Allow), "{rule:?} in {mode:?}: {text}");
            }
            // A general yes is no answer either.
            let verdict = decide(&standing_yes, Mode::Auto, &text);
            assert!(matches!(verdict, Verdict::Deny(_)), "{rule:?} with a general yes: {text}");
        }
    }
    let free = policy(NONE, NONE);
    assert!(
        spellings.iter().all(|text| decide(&free, Mode::Auto, text) == Verdict::Allow),
        "without a rule none is asked about"
    );
}

// The list would be worth nothing if bash did not run what it spells.
#[test]
fn the_spellings_do_run_the_program() {
    let dir = TempDir::new().unwrap();
    let (bin, mark) = (dir.path().join("bin"), dir.path().join("mark"));
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("victim"), "#!/bin/sh\n: > \"$MARK\"\n").unwrap();
    fs::set_permissions(bin.join("victim"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut ran = 0;
    let spellings = lines(SPELLINGS);
    for spelling in spellings.iter().map(|text| text.replace('§', "victim")) {
        let _ = fs::remove_file(&mark);
        let status = Command::new("timeout")
            .args(["-s", "KILL", "20", "bash", "-c", &spelling])
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
            .env("MARK", &mark)
            .env("HOME", dir.path())
            .current_dir(dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.unwrap();
        ran += usize::from(mark.exists());
    }
    assert!(ran > spellings.len() / 2, "{ran} of {} run it", spellings.len());
}
