//! The branch in the status line: read from the repository, and never from anything that could hold the program up.

use std::fs;

use steersman_tui::run::status_line::branch;

fn head_is(content: &str) -> Option<String> {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join(".git")).unwrap();
    fs::create_dir_all(dir.path().join("src/deep")).unwrap();
    fs::write(dir.path().join(".git/HEAD"), content).unwrap();
    branch(&dir.path().join("src/deep"))
}

#[test]
fn it_is_that_of_the_nearest_repository() {
    assert_eq!(head_is("ref: refs/heads/topic/one\n").as_deref(), Some("topic/one"));
}

#[test]
fn a_commit_that_is_checked_out_is_named_by_its_beginning() {
    assert_eq!(head_is("0123456789abcdef0123456789abcdef01234567\n").as_deref(), Some("0123456"));
}

#[test]
fn what_is_no_head_is_no_branch() {
    for content in
        ["", "ref: refs/remotes/x\n", "nonsense", "é".repeat(40).as_str(), "ref: refs/heads/x".repeat(100).as_str()]
    {
        assert_eq!(head_is(content), None, "{content:.20}");
    }
}

#[test]
fn a_pipe_a_link_and_a_file_in_the_place_of_the_repository_are_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let git = dir.path().join(".git");
    fs::write(&git, "gitdir: elsewhere\n").unwrap();
    assert_eq!(branch(dir.path()), None);
    fs::remove_file(&git).unwrap();
    fs::create_dir(&git).unwrap();
    fs::write(dir.path().join("secret"), "ref: refs/heads/secret\n").unwrap();
    std::os::unix::fs::symlink("../secret", git.join("HEAD")).unwrap();
    assert_eq!(branch(dir.path()), None);
    fs::remove_file(git.join("HEAD")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, git.join("HEAD"), rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    assert_eq!(branch(dir.path()), None);
}
