//! A rule that denies a program holds where it runs: within a sandbox nothing starts the program, however it is spelled.

use std::fs;

use steersman::approval::Rules;
use steersman::workspace::Job;
use tempfile::TempDir;

use super::KINDS;
use super::grounds::Grounds;
use crate::support::program::Program;
use crate::support::server::{Reply, Server};

/// What the program prints that is denied here: it mixes lines, and no other program says this.
const SAYS: &str = "shuf (GNU coreutils)";

/// Ways to start it, to copy it, and to read it.
const WAYS: [&str; 14] = [
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
];

#[tokio::test]
async fn no_sandbox_starts_or_reads_a_program_that_is_denied() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let (_, output) = grounds.run(&sandbox, &grounds.shell(WAYS[0])).await;
        assert!(output.contains(SAYS), "{kind:?}: without a rule it runs: {output}");
        for way in WAYS {
            let job = grounds.shell(&format!("rm -f copy link; {way} 2>&1"));
            let real = fs::canonicalize("/usr/bin/shuf").unwrap();
            let job =
                Job { confinement: steersman::workspace::Confinement { denied: vec![real], ..job.confinement }, ..job };
            let (_, output) = grounds.run(&sandbox, &job).await;
            assert!(!output.contains(SAYS), "{kind:?}: {way}: {output}");
        }
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
    for kind in ["namespaces", "bubblewrap", "landlock"] {
        let home = TempDir::new().unwrap();
        let config = format!(
            "mode = 'auto'\nsandbox.kind = '{kind}'\n[rules]\nallow = ['bash: bash run.sh']\ndeny = ['bash: shuf']\n"
        );
        let call = Reply::calls(&[("c1", "bash", r#"{"command":"bash run.sh"}"#)]);
        let server = Server::start([call, Reply::text("Done.")]);
        let program = Program::within(home).config(&config).file("work/run.sh", "shuf --version; sort --version\n");
        let end = program.args(["exec", "--base-url", &server.url(), "--model", "m", "Try."]).run().end();
        if end.stderr.contains("does not work here") {
            continue;
        }
        assert_eq!(end.code, Some(0), "{kind}: {}", end.stderr);
        let said = server.chats()[1].texts("tool").concat();
        assert!(said.contains("sort (GNU coreutils)") && !said.contains(SAYS), "{kind}: {said}");
    }
}
