//! Skills: which files are skills, the list in the system prompt, what the tool returns and what it refuses.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use steersman_base::limits;
use steersman_base::message::Arguments;
use steersman_core::tool::{Tool, ToolContext, ToolError};
use steersman_extensions::skill::{Owner, Skill, SkillLibrary, SkillTool, catalogue};
use steersman_tui::commands::is_command;
use tempfile::TempDir;

const PDF: &str =
    "---\nname: pdf\ndescription: Reads PDF files. Use when: a PDF is named.\n---\n\n# PDF\n\nRun scripts/read.py.\n";

struct Home(TempDir);

impl Home {
    fn new(files: &[(&str, &str)]) -> Self {
        let home = Self(TempDir::new().unwrap());
        for (path, text) in files {
            home.write(path, text);
        }
        home
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn library(&self) -> SkillLibrary {
        let mut library = SkillLibrary::default();
        library.add_user_skills(&self.path("skills"));
        library.add_user_commands(&self.path("commands"), is_command);
        library
    }

    fn tool(&self) -> SkillTool {
        SkillTool::new(self.library().skills().cloned().collect())
    }
}

fn names(library: &SkillLibrary) -> Vec<&str> {
    library.skills().map(|skill| skill.name.as_str()).collect()
}

fn skill(name: &str, description: &str) -> Skill {
    let text = format!("---\nname: {name}\ndescription: {description}\n---\nText of {name}.");
    Skill::parse(&text, Path::new("/s").join(name).as_path(), "user").unwrap()
}

async fn call(tool: &SkillTool, arguments: &str) -> Result<String, String> {
    let arguments: Arguments = serde_json::from_str(arguments).unwrap();
    let args = tool.spec().parameters.validate(&arguments).unwrap();
    tool.execute(args, &ToolContext::detached()).await.map_err(|error| match error {
        ToolError::Failed(why) => why,
        ToolError::Cancelled(_) => panic!("nobody cancels"),
    })
}

#[test]
fn every_directory_with_a_skill_file_is_one_also_in_folders_and_behind_links() {
    let home = Home::new(&[
        ("skills/pdf/SKILL.md", PDF),
        ("skills/group/deep/web/SKILL.md", "---\ndescription: Builds.\n---\nBuild."),
        ("skills/pdf/inner/SKILL.md", "---\nname: inner\ndescription: x\n---\nx"),
        ("skills/.hidden/a/SKILL.md", "---\nname: hidden\ndescription: x\n---\nx"),
        ("skills/node_modules/a/SKILL.md", "---\nname: module\ndescription: x\n---\nx"),
        ("elsewhere/linked/SKILL.md", "---\nname: Linked Skill\ndescription: y\n---\ny"),
    ]);
    symlink(home.path("elsewhere/linked"), home.path("skills/linked")).unwrap();
    home.write("skills/file/note.md", "x");
    home.write("elsewhere/all/SKILL.md", "---\nname: file\ndescription: z\n---\nz");
    symlink(home.path("elsewhere/all/SKILL.md"), home.path("skills/file/SKILL.md")).unwrap();
    symlink(home.path("skills"), home.path("skills/loop")).unwrap();
    let library = home.library();
    // Without a name the directory names it, and a name that does not fit is made fit.
    assert_eq!(names(&library), ["file", "web", "Linked-Skill", "pdf"]);
    // What lies beside a file that is linked belongs to no skill.
    assert_eq!(library.skills().next().unwrap().directory, home.path("skills/file"));
    assert_eq!(library.warnings(), [""; 0]);
    let pdf = library.skills().last().unwrap();
    assert_eq!(pdf.description, "Reads PDF files. Use when: a PDF is named.");
    assert_eq!((pdf.text.as_str(), pdf.directory.clone()), ("# PDF\n\nRun scripts/read.py.", home.path("skills/pdf")));
}

#[test]
fn a_skill_that_cannot_be_used_says_so_in_one_line_and_is_no_reason_to_fail() {
    let home = Home::new(&[
        ("skills/a/SKILL.md", "# No head\n"),
        ("skills/b/SKILL.md", "---\nname: b\n---\nText"),
        ("skills/c/SKILL.md", "---\nname: c\ndescription: never ends"),
        ("skills/e/SKILL.md", PDF),
    ]);
    home.write("skills/d/SKILL.md", vec![b'x'; usize::try_from(limits::SKILL_FILE_BYTES).unwrap() + 1]);
    fs::create_dir_all(home.path("skills/f")).unwrap();
    let fifo = home.path("skills/f/SKILL.md");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let library = home.library();
    assert_eq!(names(&library), ["pdf"]);
    let faults = ["needs a description", "needs a description", "no closing ---", "larger than", "not a regular file"];
    assert_eq!(library.warnings().len(), faults.len(), "{:?}", library.warnings());
    for (warning, fault) in library.warnings().iter().zip(faults) {
        assert!(warning.contains("/SKILL.md is left out: ") && warning.contains(fault), "{warning}");
    }
}

#[test]
fn of_two_skills_of_the_user_the_first_counts_and_a_projects_replaces_it_both_said() {
    let mut library = SkillLibrary::default();
    let other = |text: &str| Skill { text: text.to_owned(), ..skill("pdf", "y") };
    library.add_skill(Owner::User, "~/a", skill("pdf", "x"));
    library.add_skill(Owner::User, "~/b", skill("pdf", "x"));
    assert_eq!(library.warnings(), [""; 0], "the same text twice is no fault");
    library.add_skill(Owner::User, "~/c", other("another"));
    library.add_skill(Owner::Project, "p", other("of the project"));
    assert_eq!(
        library.warnings(),
        ["~/c is left out: there is another skill pdf", "the skill pdf of this project (p) replaces yours"]
    );
    assert_eq!(library.skills().map(|skill| skill.text.as_str()).collect::<Vec<_>>(), ["of the project"]);
}

#[test]
fn the_catalogue_keeps_to_its_room_by_shorter_descriptions_then_by_fewer_skills() {
    let many: Vec<Skill> = (0..50).map(|n| skill(&format!("s{n}"), &"word ".repeat(150))).collect();
    let whole = catalogue(&many, 100_000).unwrap();
    assert!(whole.contains(&format!("- `s0` — {}\n", "word ".repeat(150).trim())) && !whole.contains('…'));
    let short = catalogue(&many, 8_000).unwrap();
    assert!(short.len() < 9_000 && short.contains('…') && short.contains("`s49`"), "{short}");
    let few = catalogue(&many, 1_000).unwrap();
    assert!(few.len() < 2_000 && few.contains(" more: call `skill` without a name to list all"), "{few}");
    assert_eq!(catalogue(&[], 1_000), None);
}

#[test]
fn only_the_user_starts_a_skill_that_is_not_for_the_model_and_the_other_way_round() {
    let text = |line: &str| format!("---\nname: x\ndescription: y\n{line}\n---\nz");
    let parsed = |line: &str| Skill::parse(&text(line), Path::new("/x"), "user").unwrap();
    let users = parsed("disable-model-invocation: true");
    assert!(!users.is_for_model() && users.template().is_some());
    assert_eq!(catalogue(&[users], 1_000), None);
    let models = parsed("user-invocable: false");
    assert!(models.is_for_model() && models.template().is_none());
    let both = parsed("allowed-tools: Bash(*)");
    assert!(both.is_for_model() && both.template().is_some());
}

#[tokio::test]
async fn the_tool_returns_instructions_and_names_the_files_that_belong_to_them() {
    let home = Home::new(&[
        ("skills/pdf/SKILL.md", PDF),
        ("skills/pdf/scripts/read.py", "print(1)\n"),
        ("skills/pdf/REFERENCE.md", "one\ntwo\nthree\n"),
    ]);
    let tool = home.tool();
    let text = call(&tool, r#"{"name": "pdf"}"#).await.unwrap();
    let directory = home.path("skills/pdf");
    assert_eq!(
        text,
        format!(
            "# PDF\n\nRun scripts/read.py.\n\nThe directory of the skill: {}\nIts files, each to be read with `skill` and \
             `file`:\n- REFERENCE.md\n- scripts/read.py",
            directory.display()
        )
    );
    assert_eq!(call(&tool, r#"{"name": "pdf", "file": "scripts/read.py"}"#).await.unwrap(), "print(1)\n");
    assert_eq!(call(&tool, r#"{"name": "pdf", "file": "REFERENCE.md", "offset": 3}"#).await.unwrap(), "three\n");
    let list = call(&tool, "{}").await.unwrap();
    assert_eq!(list, "- `pdf` — Reads PDF files. Use when: a PDF is named.");
    assert!(call(&tool, r#"{"name": "no"}"#).await.unwrap_err().contains("there is no skill no"));
}

#[tokio::test]
async fn nothing_outside_the_directory_of_a_skill_is_read() {
    let home = Home::new(&[("skills/pdf/SKILL.md", PDF), ("skills/other/x.md", "other"), ("secret", "the secret")]);
    symlink(home.path("secret"), home.path("skills/pdf/link")).unwrap();
    symlink(home.path(""), home.path("skills/pdf/up")).unwrap();
    let fifo = home.path("skills/pdf/pipe");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    home.write("skills/pdf/huge", vec![b'x'; usize::try_from(limits::SKILL_PART_BYTES).unwrap() + 1]);
    home.write("skills/pdf/picture", b"\x89PNG\0\0");
    let tool = home.tool();
    let secret = home.path("secret");
    for file in [
        "link",
        "up/secret",
        "../other/x.md",
        "../../secret",
        secret.to_str().unwrap(),
        "pipe",
        "huge",
        "picture",
        "no",
    ] {
        let arguments = serde_json::json!({"name": "pdf", "file": file}).to_string();
        let answer = call(&tool, &arguments).await;
        assert!(answer.is_err(), "{file}: {answer:?}");
    }
}

#[tokio::test]
async fn long_instructions_come_in_parts() {
    let lines: String = (1..=20_000).map(|n| format!("line {n}\n")).collect();
    let home = Home::new(&[("skills/long/SKILL.md", &format!("---\ndescription: Long.\n---\n{lines}"))]);
    let tool = home.tool();
    let (mut offset, mut seen) = (1, String::new());
    for _ in 0..10 {
        let text = call(&tool, &format!(r#"{{"name": "long", "offset": {offset}}}"#)).await.unwrap();
        assert!(text.len() < limits::SKILL_TEXT_BYTES + 500);
        let (part, more) = text.split_once("[cut here: go on with offset ").unwrap_or((&text, ""));
        seen.push_str(part);
        match more.split_once(']') {
            Some((next, _)) => offset = next.parse().unwrap(),
            None => break,
        }
    }
    assert!(seen.starts_with("line 1\nline 2\n") && seen.contains("\nline 20000\n"), "{}", seen.len());
    assert_eq!(seen.matches("line ").count(), 20_000);
}

#[test]
fn commands_have_the_names_of_their_files_and_of_their_folders_where_two_are_the_same() {
    let home = Home::new(&[
        (
            "commands/review.md",
            "---\nargument-hint: [pr] [--fix]\nallowed-tools: Bash(rm *)\n---\n# Review it\n\nReview $1.",
        ),
        ("commands/front/build.md", "Build the front."),
        ("commands/back/build.md", "Build the back."),
        ("commands/git/commit all.md", "---\ndescription: Commits.\n---\nCommit."),
        ("commands/empty.md", "---\ndescription: x\n---\n\n"),
        ("commands/notes.txt", "no command"),
    ]);
    let library = home.library();
    let commands = library.templates();
    let seen: Vec<_> = commands.iter().map(|c| (c.name.as_str(), c.source.as_str(), c.description.as_str())).collect();
    assert_eq!(
        seen,
        [
            ("review", "user", "Review it"),
            ("back:build", "user · back", "Build the back."),
            ("front:build", "user · front", "Build the front."),
            ("commit-all", "user · git", "Commits."),
        ]
    );
    assert_eq!(commands[0].hint, "[pr] [--fix]");
    assert_eq!(library.warnings().len(), 1, "{:?}", library.warnings());
    assert!(library.warnings()[0].ends_with("commands/empty.md is left out: has no text"));
}

#[test]
fn a_command_with_the_name_of_one_of_the_programs_gets_its_owner_before_it_and_that_is_said() {
    // Those that only other programs have are free.
    let home = Home::new(&[
        ("commands/help.md", "x"),
        ("commands/clear.md", "x"),
        ("commands/review.md", "x"),
        ("commands/mine.md", "x"),
        ("commands/team/status.md", "x"),
    ]);
    let mut library = home.library();
    library.without_commands(is_command);
    assert_eq!(
        library.templates().iter().map(|c| c.name.as_str()).collect::<Vec<_>>(),
        ["clear", "user:help", "mine", "review", "team:status"]
    );
    assert_eq!(library.warnings().len(), 1, "{:?}", library.warnings());
}

#[test]
fn there_is_an_end_to_how_many_files_are_read() {
    let home = Home::new(&[]);
    for n in 0..=limits::SKILL_FILES {
        home.write(&format!("commands/c{n:04}.md"), "x");
    }
    let library = home.library();
    assert_eq!(library.templates().len(), limits::SKILL_FILES);
    assert!(
        library.warnings()[0].ends_with(": more than 1000 files; the others are ignored"),
        "{:?}",
        library.warnings()
    );
    let mut library = SkillLibrary::default();
    for n in 0..70 {
        let text = "x".repeat(256 * 1024);
        library.add_skill(Owner::User, &format!("f{n}"), Skill { text, ..skill(&format!("s{n}"), "x") });
    }
    assert_eq!(library.skills().count(), 64);
    let all = "left out, since skills and commands together have more than 16 MiB: f64, f65, f66, f67, f68, f69";
    assert_eq!(library.warnings(), [all], "one sentence names them");
}

#[test]
fn what_lies_too_deep_or_is_written_in_other_letters_is_said() {
    let home = Home::new(&[
        ("skills/a/b/c/d/e/f/SKILL.md", PDF),
        ("skills/low/skill.md", PDF),
        ("commands/a/b/c/d/e/f/deep.md", "x"),
        ("commands/a/b/c/d/e/near.md", "x"),
    ]);
    let library = home.library();
    assert_eq!((names(&library).len(), library.templates().len()), (0, 1));
    let warnings = library.warnings();
    for said in [
        "skills: low/skill.md is not read: it must be called SKILL.md",
        "skills: not looked at, more than 5 directories deep: a/b/c/d/e/f",
        "commands: not looked at, more than 5 directories deep: a/b/c/d/e/f",
    ] {
        assert!(warnings.iter().any(|warning| warning.ends_with(said)), "{said}: {warnings:?}");
    }
    assert_eq!(warnings.len(), 3, "{warnings:?}");
}

#[tokio::test]
async fn the_tool_takes_the_name_of_a_plugins_skill_with_the_plugins_before_it() {
    let mut library = SkillLibrary::default();
    let of = |plugin: &str| Skill { source: format!("plugin {plugin}"), ..skill("plan", "x") };
    library.add_skill_of_plugin("kit", "f", of("kit"));
    let tool = SkillTool::new(library.skills().cloned().collect());
    assert!(call(&tool, r#"{"name": "kit:plan"}"#).await.unwrap().starts_with("Text of plan."));
    assert!(call(&tool, r#"{"name": "other:plan"}"#).await.unwrap_err().contains("no skill other:plan"));
}
