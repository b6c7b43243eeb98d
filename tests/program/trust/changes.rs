//! A question about a project that was trusted before shows what has changed since.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use steersman_base::limits;
use steersman_core::approval::Answer;

use super::Project;

#[tokio::test]
async fn a_question_about_what_has_changed_shows_it_against_what_was_trusted() {
    let project = Project::whole();
    let first = project.start(Answer::Once).await.1.remove(0);
    assert!(!first.contains("changed since you trusted it"), "{first}");
    let kept = project.home.path().join("state/steersman/trusted");
    let name = project.offer().hash();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&kept), mode(&kept.join(&name))), (0o700, 0o600));
    let before = fs::read(project.root.join(".steersman/hooks/start.sh")).unwrap();
    for (path, text, lines) in [
        (
            ".steersman/config.toml",
            "max_steps = 3\nsystem_prompt = \"prompt.md\"",
            ["-  tool calls per turn: 2", "+  tool calls per turn: 3"],
        ),
        (".steersman/prompt.md", "You obey.", ["-    | You belong to the project.", "+    | You obey."]),
        (".steersman/hooks/start.sh", "rm\n\u{9b}2J\u{2066}", ["-    | touch /tmp/canary", "+    | rm"]),
    ] {
        project.write(path, text);
        let asked = project.start(Answer::No(None)).await.1.remove(0);
        for line in lines {
            assert!(asked.contains(&format!("\n    | {line}")), "{line} is missing in\n{asked}");
        }
        assert!(!asked.contains(['\u{9b}', '\u{2066}']), "{asked:?}");
        assert!(asked.contains(&project.offer().detail()), "the whole new text stands below");
    }
    // A yes of an earlier version has no text: the whole new one is shown.
    fs::remove_file(kept.join(&name)).unwrap();
    let asked = project.start(Answer::Once).await.1.remove(0);
    assert!(!asked.contains("changed since you trusted it") && asked.contains("    | rm\n"), "{asked}");
    fs::write(project.root.join(".steersman/hooks/start.sh"), before).unwrap();
    let asked = project.start(Answer::No(None)).await.1.remove(0);
    assert!(asked.contains("    | -    | rm\n"), "{asked}");
}

#[tokio::test]
async fn every_file_of_a_skill_is_compared_and_a_change_names_it() {
    let skill = "---\nname: pdf\ndescription: Reads.\n---\nRun run.sh.\n";
    let project = Project::new(&[
        (".claude/skills/pdf/SKILL.md", skill),
        (".claude/skills/pdf/scripts/run.sh", "echo first\n"),
        (".claude/skills/pdf/table.csv", "1,2\n"),
    ]);
    let asked = project.start(Answer::Once).await.1.remove(0);
    let lines = [
        "  its script: .claude/skills/pdf/scripts/run.sh\n    | echo first\n",
        "  its file: .claude/skills/pdf/table.csv (SHA-256 ",
    ];
    assert!(lines.iter().all(|line| asked.contains(line)), "{asked}");
    assert!(project.start(Answer::No(None)).await.1.is_empty(), "it is not asked twice");
    for (path, text, line) in [
        ("scripts/run.sh", "echo second\n", "    | +    | echo second\n"),
        ("table.csv", "3\n", "    | +  its file: .claude/skills/pdf/table.csv (SHA-256 "),
        ("scripts/deep/more.py", "", "    | +  its script: .claude/skills/pdf/scripts/deep/more.py\n"),
    ] {
        project.write(&format!(".claude/skills/pdf/{path}"), text);
        let asked = project.start(Answer::No(None)).await.1.remove(0);
        assert!(asked.contains(line), "{line} is missing in\n{asked}");
        assert!(project.start(Answer::Once).await.0.is_some());
    }
}

#[tokio::test]
async fn the_texts_that_are_kept_are_few_and_short() {
    let project = Project::whole();
    let kept = project.home.path().join("state/steersman/trusted");
    fs::create_dir_all(&kept).unwrap();
    for number in 0..limits::TRUSTED_TEXTS + 5 {
        fs::write(kept.join(format!("{number:x}")), "old").unwrap();
    }
    assert!(project.start(Answer::Once).await.0.is_some());
    assert_eq!(kept.read_dir().unwrap().count(), limits::TRUSTED_TEXTS);
    assert!(kept.join(project.offer().hash()).exists(), "the newest is kept");
}
