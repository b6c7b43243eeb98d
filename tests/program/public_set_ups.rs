//! The skills, commands, hooks and agents of public repositories: each loads, or one line says why not.
//!
//! Not a part of a usual run: `tests/set_ups.sh DIRECTORY` clones the repositories and names the directory in `SET_UPS`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use steersman_agent::subagent::Roster;
use steersman_extensions::hooks::read_json;
use steersman_extensions::skill::SkillLibrary;
use steersman_tui::commands::is_command;

/// What was found of one kind, and what became of it.
#[derive(Debug, Default)]
struct Sum {
    files: usize,
    loaded: usize,
    said: usize,
}

impl Sum {
    /// Counts a file, which loaded or about which sentences speak.
    fn count(&mut self, file: &Path, is_loaded: bool, sentences: &[String]) {
        let shown = file.display().to_string();
        let said: Vec<&String> = sentences.iter().filter(|sentence| sentence.contains(&shown)).collect();
        self.files += 1;
        self.loaded += usize::from(is_loaded);
        self.said += usize::from(!is_loaded);
        assert!(is_loaded || !said.is_empty(), "nothing is said of {shown}: {sentences:#?}");
        assert!(said.iter().all(|sentence| !sentence.contains('\n')), "{said:?}");
    }
}

fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() && entry.file_name() != ".git" {
            walk(&entry.path(), found);
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
}

/// Returns the outermost directories of a name with their files of an ending, at most as deep as files are looked for.
fn within(files: &[PathBuf], name: &str, is_wanted: impl Fn(&Path) -> bool) -> Vec<(PathBuf, BTreeSet<PathBuf>)> {
    let mut all: Vec<(PathBuf, BTreeSet<PathBuf>)> = Vec::new();
    for file in files.iter().filter(|file| is_wanted(file)) {
        let Some(directory) = file.ancestors().filter(|above| above.ends_with(name)).last() else { continue };
        match all.iter_mut().find(|(known, _)| known == directory) {
            Some((_, its)) => _ = its.insert(file.clone()),
            None => all.push((directory.to_owned(), BTreeSet::from([file.clone()]))),
        }
    }
    all
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "md")
}

fn skills(files: &[PathBuf], sum: &mut Sum) {
    for (directory, files) in within(files, "skills", |path| path.ends_with("SKILL.md")) {
        let mut library = SkillLibrary::default();
        library.add_user_skills(&directory);
        let loaded: BTreeSet<PathBuf> = library.skills().map(|skill| skill.directory.join("SKILL.md")).collect();
        for file in files {
            // Nothing below a skill is another one.
            let above = file.ancestors().skip(2).take_while(|above| above.starts_with(&directory));
            if above.clone().all(|above| !above.join("SKILL.md").is_file()) {
                sum.count(&file, loaded.contains(&file.canonicalize().unwrap()), &library.warnings());
            }
        }
    }
}

fn commands(files: &[PathBuf], sum: &mut Sum) {
    for (directory, files) in within(files, "commands", is_markdown) {
        commands_of(&directory, files, sum);
    }
}

fn commands_of(directory: &Path, files: impl IntoIterator<Item = PathBuf>, sum: &mut Sum) {
    let mut library = SkillLibrary::default();
    library.add_user_commands(directory, is_command);
    let names: Vec<String> = library.templates().into_iter().map(|template| template.name).collect();
    for file in files {
        let stem = file.file_stem().unwrap().to_string_lossy().replace(' ', "-");
        let is_loaded = names.iter().any(|name| name.rsplit(':').next() == Some(&stem));
        sum.count(&file, is_loaded, &library.warnings());
    }
}

fn agents(files: &[PathBuf], sum: &mut Sum) {
    for (directory, files) in within(files, "agents", is_markdown) {
        let mut roster = Roster::default();
        roster.add_directory(&directory);
        for file in files {
            let shown = file.display().to_string();
            let is_loaded = roster.members().iter().any(|member| member.source.file() == Some(&shown));
            sum.count(&file, is_loaded, roster.warnings());
        }
    }
}

fn hooks(files: &[PathBuf], sum: &mut Sum) {
    let is_one = |path: &&PathBuf| ["hooks.json", "settings.json"].iter().any(|name| path.ends_with(name));
    for path in files.iter().filter(is_one) {
        let text = fs::read_to_string(path).unwrap();
        let has_hooks = text.contains("\"hooks\"");
        let file = read_json(&path.display().to_string(), &text);
        if has_hooks {
            let line: Vec<String> = file.error_line(&path.display().to_string()).into_iter().collect();
            sum.count(path, !file.hooks.is_empty(), &line);
        }
    }
}

#[test]
#[ignore = "needs SET_UPS: tests/set_ups.sh"]
fn everything_loads_or_one_line_says_why_not() {
    let all = PathBuf::from(std::env::var_os("SET_UPS").expect("SET_UPS names the directory of tests/set_ups.sh"));
    let mut repositories: Vec<PathBuf> = fs::read_dir(all).unwrap().flatten().map(|entry| entry.path()).collect();
    repositories.retain(|path| path.is_dir());
    repositories.sort();
    assert!(repositories.len() >= 5, "{repositories:?}");
    let mut whole = [0; 4];
    for repository in repositories {
        let mut files = Vec::new();
        let repository = repository.canonicalize().unwrap();
        walk(&repository, &mut files);
        let mut sums: [Sum; 4] = Default::default();
        let [of_skills, of_commands, of_agents, of_hooks] = &mut sums;
        skills(&files, of_skills);
        commands(&files, of_commands);
        agents(&files, of_agents);
        hooks(&files, of_hooks);
        if sums.iter().all(|sum| sum.files == 0) {
            // People clone one of commands alone into their directory of commands.
            let is_hidden = |file: &Path| file.strip_prefix(&repository).unwrap().to_string_lossy().starts_with('.');
            files.retain(|file| is_markdown(file) && !is_hidden(file));
            commands_of(&repository, files, &mut sums[1]);
        }
        println!("{}: skills, commands, agents, files of hooks: {sums:?}", repository.display());
        assert!(sums.iter().any(|sum| sum.loaded > 0), "{repository:?} has nothing");
        whole.iter_mut().zip(&sums).for_each(|(whole, sum)| *whole += sum.loaded);
    }
    assert!(whole.iter().all(|loaded| *loaded > 0), "{whole:?}");
}
