//! The table of promises on the page `security`: what each cell says is tried on the program.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use steersman_base::protected::{DirectoryRole, ProtectedPlaces};
use steersman_core::approval::{
    Answerer, Circumstances, CommandOperation, Mode, Network, Operation, Policy, Sandboxed, Taint, Verdict,
};
use steersman_tools::workspace::Sandbox;
use steersman_tools::workspace::sandbox::Surroundings;

use crate::support::grounds::{Grounds, KINDS, closing};
use crate::support::users::{tree, user};

/// Returns what the page says, by promise and column.
fn said() -> BTreeMap<(String, String), String> {
    let page = fs::read_to_string(crate::support::root().join("assets/manual/security.md")).unwrap();
    let rows: Vec<Vec<String>> = page
        .lines()
        .skip_while(|line| !line.starts_with("| promise |"))
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect())
        .collect();
    let (columns, rows) = rows.split_first().unwrap();
    let cells = rows.iter().skip(1).flat_map(|row| {
        let promise = row[0].split(':').next().unwrap().to_owned();
        columns
            .iter()
            .zip(row)
            .skip(1)
            .map(move |(column, cell)| ((promise.clone(), column.to_lowercase()), cell.clone()))
    });
    cells.collect()
}

/// What a promise comes to by trying it.
async fn tried(promise: &str, grounds: &Grounds, sandbox: &Sandbox) -> &'static str {
    let word = |is_kept| if is_kept { "kept" } else { "open" };
    match promise {
        "names" => {
            user(&grounds.work, &grounds.home, "git init -q && mkdir .github");
            let before = tree(&grounds.work);
            let attack = "echo evil >> .git/config; mkdir .github/workflows .git/new; echo evil > AGENTS.md";
            grounds.run(sandbox, &grounds.shell(attack)).await;
            word(tree(&grounds.work) == before)
        }
        "home" | "own" => {
            let own = grounds.home.join("settings/steersman");
            fs::create_dir_all(&own).unwrap();
            fs::write(own.join("own"), "").unwrap();
            let protected = ProtectedPlaces::default().with(DirectoryRole::Own, &own);
            let home = grounds.home.clone();
            let around = Surroundings { writable: vec![home.clone()], protected, ..grounds.surroundings() };
            let kind = KINDS.into_iter().find(|kind| sandbox.name() == Some(&*format!("{kind:?}").to_lowercase()));
            let sandbox = match kind {
                Some(kind) => Sandbox::detect(kind, &around).await.unwrap(),
                None => Sandbox::none(),
            };
            let mut job = grounds.shell("echo evil > .bash_profile; cat settings/steersman/own && touch seen");
            job.cwd.clone_from(&home);
            job.confinement.writable = vec![home.clone()];
            if sandbox.wrap(&job).is_err() {
                return "refused";
            }
            grounds.run(&sandbox, &job).await;
            word(!home.join(if promise == "home" { ".bash_profile" } else { "seen" }).exists())
        }
        "git" | "outside" => unreachable!("the policy decides"),
        unknown => panic!("nobody tries {unknown}"),
    }
}

/// What the policy says of a command in the mode `auto`.
pub fn decided(command: &str, outside: bool, sandboxed: Sandboxed, names_are_open: bool) -> &'static str {
    let policy = Policy {
        answerer: Answerer::User,
        sandboxed: Some(sandboxed),
        names_are_open,
        network: Network::Off,
        root: Some(PathBuf::from("/work")),
        ..Policy::default()
    };
    let operation = CommandOperation {
        command: command.to_owned(),
        cwd: "/work".into(),
        timeout: std::time::Duration::from_mins(1),
        outside,
    };
    match policy
        .decide(&Operation::Command(operation), &Circumstances { mode: Mode::Auto, grants: &[], taint: Taint::NONE })
    {
        Verdict::Allow => "unasked",
        Verdict::Ask { .. } => "asked",
        Verdict::Deny(_) => "denied",
    }
}

#[tokio::test]
async fn the_page_of_security_says_what_holds() {
    let said = said();
    assert_eq!(said.len(), 25, "{said:?}");
    let says = |promise: &str, column: &str| &*said[&(promise.to_owned(), column.to_owned())];
    for kind in KINDS {
        let column = format!("{kind:?}").to_lowercase();
        for promise in ["names", "home", "own"] {
            let grounds = Grounds::new();
            let Some(sandbox) = closing(&grounds, kind).await else { break };
            assert_eq!(tried(promise, &grounds, &sandbox).await, says(promise, &column), "{promise}, {column}");
        }
        assert_eq!((says("git", &column), says("outside", &column)), ("kept", "kept"));
    }
    for promise in ["names", "home", "own"] {
        let grounds = Grounds::new();
        assert_eq!(tried(promise, &grounds, &Sandbox::none()).await, says(promise, "none"), "{promise}");
    }
    // What the policy decides holds for every kind.
    let commit = "git add a && git commit -m b";
    assert_eq!(decided(commit, false, Sandboxed::Yes, false), "unasked");
    assert_eq!(decided("git init", true, Sandboxed::Yes, false), "asked");
    let open = "any of them, names not closed";
    for promise in ["names", "git", "home"] {
        assert_eq!(says(promise, open), decided("make", false, Sandboxed::Yes, true), "{promise}");
    }
    for looks in ["ls", "git status && git log -p | head", "find . -name a", "sort a | uniq -c"] {
        assert_eq!(decided(looks, false, Sandboxed::Yes, true), "unasked", "{looks}");
    }
    for writes in ["cargo test", "npm run x", "go build", "git commit -m a", "git fetch", "git remote add a b"] {
        assert_eq!(decided(writes, false, Sandboxed::Yes, true), "asked", "{writes}");
    }
    assert_eq!((says("outside", open), decided("git init", true, Sandboxed::Yes, true)), ("kept", "asked"));
    for promise in ["git", "outside"] {
        assert_eq!(says(promise, "none"), decided(commit, false, Sandboxed::No, false), "{promise}");
    }
}
