//! A rule that denies a program holds where it runs: within a sandbox nothing starts the program, however it is spelled.

use std::fs;

use serde_json::json;
use steersman_core::approval::Rules;
use steersman_tools::workspace::Job;
use tempfile::TempDir;

use crate::support::grounds::{Grounds, KINDS};
use crate::support::program::Program;
use crate::support::server::{Reply, Server};

/// What the program prints that is denied here: it mixes lines, and no other program says this.
const SAYS: &str = "shuf (GNU coreutils)";

/// Ways to start it, to copy it, and to read it.
const WAYS: [&str; 34] = [
    "shuf --version",
    "/usr/bin/shuf --version",
    "cd /usr/bin && ./shuf --version",
    r"a='b[$(shuf --version >&2)]'; echo $((a))",
    r#"x='$(shuf --version >&2)'; echo "${x@P}""#,
    "mapfile -C 'shuf --version;:' -c 1 x <<< 1",
    "env shuf --version",
    "find /usr/bin/shuf -exec {} --version \\;",
    "python3 -c 'import os; os.system(\"shuf --version\")'",
    "cp /usr/bin/shuf copy && ./copy --version",
    "ln /usr/bin/shuf link; ln -s /usr/bin/shuf link; ./link --version",
    "cat /usr/bin/shuf > copy; chmod +x copy; ./copy --version",
    "for loader in /lib64/ld-linux-*.so.* /lib/ld-linux-*.so.*; do $loader /usr/bin/shuf --version; done",
    "exec 3< /usr/bin/shuf && /proc/self/fd/3 --version",
    "trap 'shuf --version' EXIT",
    "trap 'shuf --version' DEBUG; :",
    "PROMPT_COMMAND='shuf --version' bash --norc -i < /dev/null",
    "PS4='$(shuf --version >&2)' bash -xc :",
    "shopt -s expand_aliases; alias x='shuf --version'\neval x",
    "env -S 'shuf --version'",
    "env -iS 'PATH=/usr/bin shuf --version'",
    "echo --version | xargs shuf",
    "echo shuf | xargs -I{} {} --version",
    "find . -maxdepth 0 -execdir shuf --version \\;",
    "echo 'shuf --version' > start; BASH_ENV=$PWD/start bash -c :",
    "echo 'shuf --version' > start; ENV=$PWD/start sh -i < /dev/null",
    r"test -v 'a[$(shuf --version >&2)]'",
    r"[[ 'a[$(shuf --version >&2)]' -eq 1 ]]",
    r"printf -v 'a[$(shuf --version >&2)]' x",
    r"read 'a[$(shuf --version >&2)]' <<< 1",
    "hash -p /usr/bin/shuf ls; ls --version",
    "coproc shuf --version; cat <&\"${COPROC[0]}\"",
    "complete -C 'shuf --version' x; compgen -C 'shuf --version' x; :",
    "x=(shuf --version); \"${x[@]}\"",
];

#[tokio::test]
async fn no_sandbox_starts_or_reads_a_program_that_is_denied() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let mut ran = 0;
        for way in WAYS {
            let (_, output) = grounds.run(&sandbox, &grounds.shell(&format!("rm -f copy link; {way} 2>&1"))).await;
            ran += usize::from(output.contains(SAYS));
            let job = grounds.shell(&format!("rm -f copy link; {way} 2>&1"));
            let real = fs::canonicalize("/usr/bin/shuf").unwrap();
            let job = Job {
                confinement: steersman_tools::workspace::Confinement { denied: vec![real], ..job.confinement },
                ..job
            };
            let (_, output) = grounds.run(&sandbox, &job).await;
            assert!(!output.contains(SAYS), "{kind:?}: {way}: {output}");
        }
        assert!(ran > WAYS.len() * 3 / 4, "{kind:?}: without a rule {ran} of {} run it", WAYS.len());
        // Its neighbours are as they were.
        grounds.works(&sandbox, "sort --version && ls /usr/bin > /dev/null && git --version").await;
    }
}

#[test]
fn a_rule_for_every_use_of_a_program_names_its_files_and_no_other_rule_does() {
    let denies = |rule: &str, file: &str| {
        let rules = Rules::parse(&[], &[], &[rule]).unwrap();
        rules.denies_program(std::path::Path::new(file))
    };
    for rule in ["bash: shuf", "bash: shuf *", "bash: /usr/bin/shuf *", "bash: shu?", "bash: sh*f *"] {
        assert!(denies(rule, "/usr/bin/shuf"), "{rule}");
    }
    for rule in ["bash: shuf -n *", "bash: shu *", "bash", "read: shuf", "bash: * x", "bash: /bin/shuf"] {
        assert!(!denies(rule, "/usr/bin/shuf"), "{rule}");
    }
}

#[test]
fn a_program_that_a_rule_denies_does_not_run_in_a_script_that_is_allowed() {
    let ways = WAYS.map(|way| format!("(rm -f copy link\n{way}\n) 2>&1\n"));
    let script = format!("{}sort --version\n", ways.concat());
    for kind in ["namespaces", "bubblewrap", "landlock"] {
        let call = Reply::calls(&[("c1", "bash", r#"{"command":"bash run.sh"}"#)]);
        let server = Server::start([call, Reply::text("Done.")]);
        let program = denying(kind, "allow = ['bash: bash run.sh']\n").file("work/run.sh", &script);
        let end = program.args(["exec", "--base-url", &server.url(), "--model", "m", "Try."]).run().end();
        if end.stderr.contains("does not work here") {
            continue;
        }
        assert_eq!(end.code, Some(0), "{kind}: {}", end.stderr);
        let said = server.chats()[1].texts("tool").concat();
        assert!(said.contains("sort (GNU coreutils)") && !said.contains(SAYS), "{kind}: {said}");
    }
}

#[test]
fn no_way_to_run_a_denied_program_runs_in_mode_auto_unasked_also_without_a_sandbox() {
    for kind in ["namespaces", "bubblewrap", "landlock", "off"] {
        let names: Vec<String> = (0..WAYS.len()).map(|number| format!("c{number}")).collect();
        let arguments = WAYS.map(|way| json!({ "command": way }).to_string());
        let calls: Vec<(&str, &str, &str)> =
            names.iter().zip(&arguments).map(|(name, arguments)| (name.as_str(), "bash", arguments.as_str())).collect();
        let server = Server::start([Reply::calls(&calls), Reply::text("Done.")]);
        let program = denying(kind, "");
        let end = program.args(["exec", "--base-url", &server.url(), "--model", "m", "Try."]).run().end();
        if end.stderr.contains("does not work here") {
            continue;
        }
        let said = server.chats()[1].texts("tool");
        assert_eq!(said.len(), WAYS.len(), "{kind}: {}", end.stderr);
        for (way, said) in WAYS.iter().zip(&said) {
            // Nobody is there to be asked, so that what is asked about is refused.
            assert!(said.starts_with("Error: ") && !said.contains(SAYS), "{kind}: {way}: {said}");
        }
    }
}

/// A program in mode `auto` whose user denies the program.
fn denying(kind: &str, rules: &str) -> Program {
    let mode = if kind == "off" { "auto-without-sandbox" } else { "auto" };
    let config = format!("mode = '{mode}'\nsandbox.kind = '{kind}'\n[rules]\n{rules}deny = ['bash: shuf']\n");
    Program::within(TempDir::new().unwrap()).config(&config)
}
