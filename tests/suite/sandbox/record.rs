//! The record of protected files that cannot be written, and what is kept of changed versions.

use std::fs;
use std::time::Duration;

use steersman::workspace::snapshot::Decision;

use super::KINDS;
use super::grounds::Grounds;
use super::session::{Session, recovered, state, tree, user};

async fn any_sandbox(grounds: &Grounds) -> Option<steersman::workspace::Sandbox> {
    for kind in KINDS {
        if let Some(sandbox) = grounds.sandbox(kind).await {
            return Some(sandbox);
        }
    }
    None
}

#[tokio::test]
async fn commands_without_a_record_on_disk_need_one_yes_and_say_it_where_nobody_can_be_asked() {
    let grounds = Grounds::new();
    let Some(sandbox) = any_sandbox(&grounds).await else { return };
    let state = state(&grounds);
    fs::create_dir_all(state.parent().unwrap()).unwrap();
    fs::write(&state, "a file where the state directory should be").unwrap();
    let words = "the record of protected files cannot be kept on disk";

    let session = Session::new(&grounds, &sandbox);
    for questions in [1, 0] {
        let refused = session.enter(Decision::Restore).await.unwrap_err();
        assert!(refused.contains(words), "{refused}");
        let asked = session.asked();
        assert_eq!(asked.len(), questions, "{asked:?}");
        assert!(asked.iter().all(|question| question.title.contains(words)), "{asked:?}");
    }

    let session = Session::new(&grounds, &sandbox);
    assert!(session.enter(Decision::Postpone).await.is_err());
    assert_eq!(session.asked().len(), 1);
    for questions in [1, 0] {
        let (command, notes) = session.enter(Decision::Keep).await.unwrap();
        assert_eq!((notes, session.asked().len()), (Vec::new(), questions));
        session.leave(command, Decision::Keep).await;
    }

    let session = Session::new(&grounds, &sandbox);
    for _ in 0..2 {
        let (_, notes) = session.run("true", Decision::Nobody).await;
        assert!(notes.len() == 1 && notes[0].contains(words), "{notes:?}");
    }
    session.asked();

    fs::remove_file(&state).unwrap();
    let (command, notes) = session.enter(Decision::Postpone).await.unwrap();
    assert_eq!((notes, session.asked().len()), (Vec::new(), 0));
    let ends_with_json = |entry: fs::DirEntry| entry.path().extension().is_some_and(|ending| ending == "json");
    assert!(fs::read_dir(state.join("commands")).unwrap().flatten().any(ends_with_json));
    session.leave(command, Decision::Postpone).await;
}

#[tokio::test]
async fn a_command_that_is_cancelled_before_it_runs_takes_nothing_from_those_that_run() {
    let grounds = Grounds::new();
    let Some(sandbox) = any_sandbox(&grounds).await else { return };
    let session = Session::new(&grounds, &sandbox);
    let (command, _) = session.enter(Decision::Keep).await.unwrap();
    {
        let roots = [grounds.work.clone(), grounds.outside.clone()];
        let nobody = |_| futures_util::FutureExt::boxed(async { Decision::Nobody });
        let mut entering = Box::pin(session.protection.enter(&roots, &[], sandbox.cover().unwrap(), &nobody));
        tokio::select! {
            biased;
            _ = &mut entering => {}
            () = std::future::ready(()) => {}
        }
    }
    fs::create_dir(grounds.work.join(".steersman")).unwrap();
    fs::write(grounds.work.join(".steersman/config.toml"), "evil").unwrap();
    let notes = session.leave(command, Decision::Restore).await;
    assert!(notes.join("\n").contains(".steersman/config.toml"), "{notes:?}");
    assert!(!grounds.work.join(".steersman/config.toml").exists());
}

#[tokio::test]
async fn old_changed_versions_do_not_pile_up_and_new_ones_stay() {
    let grounds = Grounds::new();
    let Some(sandbox) = any_sandbox(&grounds).await else { return };
    let changed = state(&grounds).join("changed");
    let make = |name: String, days: u64| {
        fs::create_dir_all(changed.join(&name)).unwrap();
        fs::write(changed.join(&name).join("01-config"), "x").unwrap();
        let then = std::time::SystemTime::now() - Duration::from_hours(24 * days);
        fs::File::open(changed.join(&name)).unwrap().set_modified(then).unwrap();
    };
    (0..60).for_each(|number| make(format!("steersman-changed-new{number}"), 1));
    (0..60).for_each(|number| make(format!("steersman-changed-old{number}"), 40 + number));
    make("not-ours".to_owned(), 400);
    let session = Session::new(&grounds, &sandbox);
    session.run("mkdir .steersman && echo evil > .steersman/config.toml", Decision::Nobody).await;
    let names: Vec<String> =
        fs::read_dir(&changed).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let count = |part: &str| names.iter().filter(|name| name.contains(part)).count();
    assert_eq!((count("-new"), count("-old"), count("not-ours"), names.len()), (60, 40, 1, 102), "{names:?}");
    assert!(changed.join("steersman-changed-old39").exists() && !changed.join("steersman-changed-old40").exists());
}

#[tokio::test]
async fn what_a_program_that_was_killed_had_put_aside_is_taken_away_at_the_next_start() {
    let grounds = Grounds::new();
    let Some(sandbox) = any_sandbox(&grounds).await else { return };
    let (work, home) = (&grounds.work, &grounds.home);
    user(work, home, "git init -q && git remote add mine https://example.com");
    let before = tree(work);
    let mark = {
        let session = Session::new(&grounds, &sandbox);
        let (command, _) = session.enter(Decision::Postpone).await.unwrap();
        command.variable().unwrap().1.to_owned()
    };
    let settings = fs::read(work.join(".git/config")).unwrap();
    let aside = |mark: &str, number: u8| work.join(format!(".git/.config.changed-{mark}-{number:016x}"));
    fs::write(aside(&mark, 1), &settings).unwrap();
    fs::write(aside(&mark, 2), &settings[..9]).unwrap();
    fs::write(aside(&mark, 3), "what somebody wrote").unwrap();
    fs::write(aside(&"0".repeat(32), 4), "another's").unwrap();
    fs::write(work.join(".git/config.lock"), &mark).unwrap();
    fs::create_dir(work.join(format!(".git/.hooks.changed-{mark}-{:016x}", 5))).unwrap();
    // A whole directory that it had exchanged, and had not named yet.
    let hooks = work.join(format!(".git/.hooks.changed-{mark}-{:016x}", 6));
    fs::create_dir(&hooks).unwrap();
    fs::write(hooks.join("post-commit"), "somebody's").unwrap();
    let recovery = recovered(&grounds).await;
    assert_eq!(recovery.open, 0);
    let kept_at =
        |note: &String| note.split_once("the changed version is ").unwrap().1.trim_end_matches(']').to_owned();
    let kept: Vec<String> = recovery.notes.iter().map(kept_at).collect();
    let [config, directory] = kept.as_slice() else { panic!("{recovery:?}") };
    assert_eq!(fs::read_to_string(config).unwrap(), "what somebody wrote");
    assert!(directory.ends_with(hooks.file_name().unwrap().to_str().unwrap()), "{directory}");
    assert_eq!(fs::read_to_string(hooks.join("post-commit")).unwrap(), "somebody's");
    fs::remove_dir_all(&hooks).unwrap();
    assert_eq!(fs::read_to_string(aside(&"0".repeat(32), 4)).unwrap(), "another's");
    fs::remove_file(aside(&"0".repeat(32), 4)).unwrap();
    assert!(tree(work) == before && !user(work, home, "ls -A .git").contains("changed"));
}
