//! Links that a command left in the workspace, and directories that another one swaps while a view is made.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::grounds::{CANARY, Grounds, KINDS, PATH};
use crate::support::users::tree;
use steersman_tools::workspace::Sandbox;
use steersman_tools::workspace::sandbox::{SandboxChoice, Surroundings};

#[tokio::test]
async fn a_link_in_a_protected_place_is_not_followed_and_stops_no_command() {
    for kind in KINDS {
        let mut grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let work = grounds.work.clone();
        fs::create_dir(work.join(".git")).unwrap();
        fs::write(work.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        symlink(grounds.home.join(".ssh"), work.join(".steersman")).unwrap();
        symlink("../../outside", work.join(".git/hooks")).unwrap();
        symlink(grounds.home.join(".netrc"), work.join(".git/config")).unwrap();
        let commands =
            "cat .steersman/id_ed25519; cat .git/config; cat .git/hooks/victim; echo x > .git/hooks/planted; true";
        let (ended, output) = grounds.run(&sandbox, &grounds.shell(commands)).await;
        assert_eq!(ended.code, Some(0), "{kind:?}: {output}");
        assert!(!output.contains(CANARY), "{kind:?}: {output}");
        grounds.assert_untouched();
    }
}

#[tokio::test]
async fn a_link_among_what_may_be_read_shows_nothing_when_a_command_made_it() {
    for kind in KINDS {
        let grounds = Grounds::new();
        if grounds.sandbox(kind).await.is_none() {
            continue;
        }
        symlink(grounds.home.join(".ssh"), grounds.work.join("bin")).unwrap();
        let path = format!("{}:{PATH}", grounds.work.join("bin").display());
        let around = Surroundings { path: path.into(), ..grounds.surroundings() };
        let sandbox = Sandbox::detect(kind, &around).await.unwrap();
        symlink(&grounds.home, grounds.work.join("data")).unwrap();
        symlink(&grounds.outside, grounds.home.parent().unwrap().join("mine")).unwrap();
        let mut job = grounds.shell("cat data/.netrc bin/id_ed25519 ~/.ssh/id_ed25519; cat ../mine/victim");
        job.confinement.readable = vec![grounds.work.join("data"), grounds.home.parent().unwrap().join("mine")];
        let (_, output) = grounds.run(&sandbox, &job).await;
        // The second link is the user's.
        assert_eq!(output.matches(CANARY).count(), 1, "{kind:?}: {output}");
        assert!(output.ends_with(CANARY), "{kind:?}: {output}");
    }
}

#[tokio::test]
async fn a_search_path_through_a_link_within_a_toolchain_works() {
    for kind in KINDS {
        let grounds = Grounds::new();
        if grounds.sandbox(kind).await.is_none() {
            continue;
        }
        let java = grounds.home.join(".sdkman/candidates/java");
        fs::create_dir_all(java.join("17/bin")).unwrap();
        fs::write(java.join("17/bin/java"), "a program\n").unwrap();
        for (name, target) in [("current", "17".into()), ("latest", java.join("17"))] {
            symlink(target, java.join(name)).unwrap();
            let path = format!("{}:{PATH}", java.join(name).join("bin").display());
            let around = Surroundings { path: path.into(), ..grounds.surroundings() };
            let sandbox = Sandbox::detect(kind, &around).await.unwrap();
            let output = grounds.works(&sandbox, &format!("cat {}/{name}/bin/java", java.display())).await;
            assert_eq!(output, "a program\n", "{kind:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_that_is_swapped_for_a_link_meanwhile_leads_nowhere() {
    for kind in [SandboxChoice::Namespaces, SandboxChoice::Bubblewrap] {
        swap_while_commands_run(kind).await;
    }
}

async fn swap_while_commands_run(kind: SandboxChoice) {
    let mut grounds = Grounds::new();
    let Some(sandbox) = grounds.sandbox(kind).await else { return };
    fs::create_dir(grounds.work.join(".steersman")).unwrap();
    fs::create_dir(grounds.work.join("other")).unwrap();
    symlink("../outside", grounds.work.join("link")).unwrap();
    let stop = grounds.work.join("stop");
    let swap = "while test ! -e stop; do mv other/a a 2>/dev/null; ln -sfn ../outside .git; rm -f .git; mkdir .git \
                .git/hooks; mv -T .git other/a; ln -s ../outside .git; rm -f .git; mv -T other/a .git; rm -rf .git; done 2>/dev/null";
    let swapping = grounds.spawner(&sandbox).start(&grounds.shell(swap)).unwrap();
    let mut ran = 0;
    for _ in 0..40 {
        let command = "echo ran; cat .git/victim .git/hooks/victim; echo x > .git/planted";
        let (_, output) = grounds.run(&sandbox, &grounds.shell(command)).await;
        assert!(!output.contains(CANARY), "{kind:?}: {output}");
        ran += u32::from(output.starts_with("ran\n"));
    }
    assert!(ran > 0, "{kind:?}: no command ran, so nothing was shown");
    fs::write(stop, "").unwrap();
    drop(swapping);
    grounds.assert_untouched();
}

#[tokio::test]
async fn no_link_of_proc_leads_out_or_to_what_is_protected() {
    // Each leads to the root, to a directory or to a file that is open, of the command itself or of a process above it.
    let roots = ["/proc/self/root", "/proc/1/root", "/proc/$PPID/root", "/proc/$$/task/$$/root", "/proc/$HOST/root"];
    let roots = roots.iter().flat_map(|root| [format!("{root}$OUTSIDE"), format!("{root}/..$OUTSIDE")]);
    let cwds = ["self", "1", "$PPID", "$HOST", "thread-self"].map(|process| format!("/proc/{process}/cwd"));
    let reading = "for p in /proc/[0-9]*; do cat $p/root$OUTSIDE/victim $p/cwd/../outside/victim; for f in $p/fd/*; do cat \
                   $f/victim $f/../outside/victim; done; done < /dev/null";
    for kind in KINDS {
        let mut grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let work = grounds.work.clone();
        fs::create_dir_all(work.join(".git/hooks")).unwrap();
        fs::write(work.join(".git/config"), "[core]\n").unwrap();
        let before = tree(&work);
        for outside in roots.clone() {
            let attack = format!(
                "cat {outside}/victim; echo evil > {outside}/victim; echo evil > {outside}/planted; ln -s x {outside}/l"
            );
            let (_, output) = grounds.run(&sandbox, &grounds.shell(&attack)).await;
            assert!(!output.contains(CANARY), "{kind:?}: {outside}: {output}");
        }
        let (_, output) = grounds.run(&sandbox, &grounds.shell(&format!("exec 2> /dev/null; {reading}"))).await;
        assert!(!output.contains(CANARY), "{kind:?}: {output}");
        grounds.assert_untouched();
        if !sandbox.closes_names() {
            continue;
        }
        let within = [work.display().to_string(), "/dev/fd/3".to_owned(), "/proc/self/fd/3".to_owned()];
        let roots =
            ["self", "1", "$PPID", "thread-self"].map(|process| format!("/proc/{process}/root{}", work.display()));
        for place in cwds.iter().chain(&within).chain(&roots) {
            let attack = format!(
                "exec 3< .; echo evil >> {place}/.git/config; echo evil > {place}/.git/hooks/pre-commit; mkdir {place}/.git/modules; \
                 ln {place}/.git/config {place}/alias; mv {place}/.git {place}/other; ln -s x {place}/AGENTS.md; cd {place}/.git && echo x > hooks/any"
            );
            grounds.run(&sandbox, &grounds.shell(&attack)).await;
            assert_eq!(tree(&work), before, "{kind:?}: {place}");
        }
        // A file that is open to be read is not opened again to be written.
        let again = "exec 3< .git/config 4< .git/hooks; echo evil > /proc/self/fd/3; echo evil >> /dev/fd/3; echo evil > /proc/self/fd/4/any; \
                     python3 -c 'import os; os.write(os.open(\"/proc/self/fd/3\", os.O_RDWR), b\"evil\")'";
        grounds.run(&sandbox, &grounds.shell(again)).await;
        assert_eq!(tree(&work), before, "{kind:?}");
    }
}
