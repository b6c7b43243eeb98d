//! The environment of jobs: a list of what is allowed (rule D22, rows K).

use std::ffi::OsString;

use steersman_tools::workspace::{ChildEnvironment, is_secret};

fn made(variables: &[(&str, &str)], also: &[&str], never: &[&str]) -> Vec<(String, String)> {
    let variables = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let environment = ChildEnvironment::new(variables, also, never);
    let text = |text: &OsString| text.to_str().unwrap().to_owned();
    let mut made: Vec<_> = environment.variables().iter().map(|(name, value)| (text(name), text(value))).collect();
    made.sort();
    made
}

fn names(variables: &[(&str, &str)], also: &[&str], never: &[&str]) -> Vec<String> {
    made(variables, also, never).into_iter().map(|(name, _)| name).collect()
}

const ALWAYS: [&str; 6] = ["GIT_PAGER", "GIT_TERMINAL_PROMPT", "NO_COLOR", "PAGER", "PATH", "TERM"];

#[test]
fn only_what_is_listed_passes_and_the_terminal_is_dumb() {
    let variables = [
        ("PATH", "/bin"),
        ("HOME", "/h"),
        ("LC_ALL", "C"),
        ("TERM", "xterm"),
        ("PAGER", "less"),
        ("EDITOR", "vi"),
        ("BASH_ENV", "/x"),
    ];
    let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        made(&variables, &[], &[]),
        [
            set("GIT_PAGER", "cat"),
            set("GIT_TERMINAL_PROMPT", "0"),
            set("HOME", "/h"),
            set("LC_ALL", "C"),
            set("NO_COLOR", "1"),
            set("PAGER", "cat"),
            set("PATH", "/bin"),
            set("TERM", "dumb"),
        ]
    );
}

#[test]
fn a_name_that_looks_like_a_secret_never_passes_whoever_lists_it() {
    let secrets = [
        "API_KEY",
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "DB_PASSWORD",
        "PGPASSWORD",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "SSH_AUTH_SOCK",
        "npm_config_token",
        "MyApiKey",
        "DB_PASS",
        "MYSQL_PWD",
        "SIGNING_PRIVATE",
        "STEERSMAN_MODEL",
        "OPENAI_BASE_URL",
        "LC_SECRET",
    ];
    let variables: Vec<(&str, &str)> = secrets.iter().map(|name| (*name, "canary")).collect();
    assert_eq!(names(&variables, &["*"], &[]), ALWAYS);
    assert_eq!(names(&variables, &secrets, &[]), ALWAYS);
}

#[test]
fn harmless_names_pass_when_they_are_listed() {
    for name in ["CARGO_HOME", "KEYBOARD", "MONKEY", "PATHS", "COMPASS", "AUTHOR", "PYTHONPATH"] {
        assert!(!is_secret(name), "{name}");
        assert!(names(&[(name, "x")], &[name], &[]).contains(&name.to_owned()));
        assert!(names(&[(name, "x")], &[&format!("{}*", &name[..3])], &[]).contains(&name.to_owned()));
        assert_eq!(names(&[(name, "x")], &[], &[]), ALWAYS);
        assert_eq!(names(&[(name, "x")], &[name], &[name]), ALWAYS);
    }
}

#[test]
fn the_search_path_holds_absolute_directories_only() {
    let path = |path: &str| made(&[("PATH", path)], &[], &[]).into_iter().find(|(name, _)| name == "PATH").unwrap().1;
    assert_eq!(path(".:/usr/bin::bin:/bin:"), "/usr/bin:/bin");
    assert_eq!(path("."), "/usr/local/bin:/usr/bin:/bin");
    assert_eq!(path(""), "/usr/local/bin:/usr/bin:/bin");
}
