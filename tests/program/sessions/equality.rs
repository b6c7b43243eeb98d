//! A session that is resumed sends, byte for byte, what the uninterrupted run would have sent, in every dialect.

use crate::support::dialects;
use crate::support::program::{Program, exit_code, stderr};
use crate::support::server::Server;
use tempfile::TempDir;

/// Runs `exec` in the directory `work` of this home.
fn exec(home: TempDir, server: &Server, provider: &str, args: &[&str], lines: Option<&str>) -> TempDir {
    let url = if provider == "gemini" { server.origin().to_owned() } else { server.url() };
    let program = Program::within(home).file("work/notes.txt", "nine\n");
    let program = program.env("KEY", "k").args(["exec", "--provider", provider, "--base-url", &url, "--model", "m"]);
    let program = program.args(["--api-key-env", "KEY"]).args(args.iter().copied());
    let Some(lines) = lines else {
        let (output, home) = program.output_with_home();
        assert_eq!(exit_code(&output), 0, "{provider}: {}", stderr(&output));
        return home;
    };
    let mut run = program.args(["--steer-stdin"]).piped().run();
    run.write(lines);
    run.close_stdin();
    let (end, home) = run.end_with_home();
    assert_eq!(end.code, Some(0), "{provider}: {}", end.stderr);
    home
}

/// Returns the last request to the server, as it was written.
fn last(server: &Server) -> String {
    server.chats().pop().unwrap().body.to_string()
}

#[test]
fn the_request_behind_a_resume_is_the_one_of_the_uninterrupted_run_in_all_four_dialects() {
    type Dialect = (&'static str, fn() -> Server);
    let dialects: [Dialect; 4] = [
        ("openai", dialects::chat),
        ("anthropic", dialects::anthropic),
        ("openai-responses", dialects::responses),
        ("gemini", dialects::gemini),
    ];
    for (provider, server) in dialects {
        let (whole, first) = (server(), server());
        for server in [&whole, &first] {
            server.reply_text("Again.");
        }
        let home = TempDir::new().unwrap();
        let home = exec(home, &whole, provider, &["what is in the notes?"], Some("> and now?\n"));
        let home = exec(home, &first, provider, &["what is in the notes?"], None);
        exec(home, &first, provider, &["--continue", "and now?"], None);
        assert_eq!((whole.chats().len(), first.chats().len()), (3, 3), "{provider}");
        assert_eq!(last(&first), last(&whole), "{provider}");
        let sealed = ["sig-", "sealed-by-", "thought-of-"];
        // A server of chat completions that is not known to want thoughts back gets none.
        assert!(
            provider == "openai" || sealed.iter().any(|word| last(&first).contains(word)),
            "{provider}: {}",
            last(&first)
        );
    }
}
