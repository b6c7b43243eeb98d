//! The program within tmux, GNU screen and mosh, and over ssh: the same screen as on the terminal itself, keys and pastes,
//! and a clean end.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::support::server::{Reply, Server};
use crate::support::skip::{Need, skip};
use crate::support::terminal::{Start, Terminal, keys};

const PATIENCE: Duration = Duration::from_secs(30);

/// What stands between the program and the terminal, as a user has it who has set nothing, but for the line that would be
/// in the way.
#[derive(Clone, Copy, Debug)]
enum Multiplexer {
    Tmux,
    Screen,
    /// With its own server on this machine; no ssh is between.
    Mosh,
    /// With a server of its own on two pipes; nothing listens.
    Ssh,
}

const ALL: [Multiplexer; 4] = [Multiplexer::Tmux, Multiplexer::Screen, Multiplexer::Mosh, Multiplexer::Ssh];

/// Starts a server for the command line behind it, which would begin at home, and the client on this terminal.
const MOSH: &str = r#"line=$(mosh-server new -i 127.0.0.1 -- sh -c 'cd "$0" && exec "$@"' "$PWD" "$@" 2>/dev/null | grep CONNECT)
set -- $line
MOSH_KEY=$4 exec mosh-client 127.0.0.1 "$3""#;

const SSHD: &str = "/usr/sbin/sshd";

/// Logs in with a new key. The program has the variables of this side, and of the other side only those of the login: what
/// the user's own shell sets is not of this test.
const SSH: &str = r#"dir=$1; shift
ssh-keygen -q -t ed25519 -N '' -f "$dir/key" && cp "$dir/key.pub" "$dir/keys" || exit
printf '%s\n' "HostKey $dir/key" "AuthorizedKeysFile $dir/keys" 'StrictModes no' 'UsePAM no' 'PermitRootLogin yes' \
    'PidFile none' > "$dir/server"
variables=$(env -0 | xargs -0 printf " '%s'")
exec ssh -F none -tt -i "$dir/key" -o BatchMode=yes -o LogLevel=ERROR -o StrictHostKeyChecking=no \
    -o UserKnownHostsFile=/dev/null -o GlobalKnownHostsFile=/dev/null \
    -o ProxyCommand="/usr/sbin/sshd -i -f $dir/server" localhost \
    "cd '$PWD' && exec env -i$variables SSH_TTY=\$SSH_TTY SSH_CONNECTION=\"\$SSH_CONNECTION\" $(printf " '%s'" "$@")""#;

impl Multiplexer {
    fn start(self, server: &Server, dir: &Path, settings: &str) -> Option<Terminal> {
        let file = dir.join("settings");
        // Neither outlives its terminal.
        let own = match self {
            Self::Tmux => "set -g status off\nset -g destroy-unattached on\n",
            Self::Screen => "autodetach off\nstartup_message off\n",
            Self::Mosh | Self::Ssh => "",
        };
        fs::write(&file, format!("{own}{settings}\n")).unwrap();
        let file = file.to_str().unwrap().to_owned();
        let start = Start::against(server).env("SHELL", "/bin/sh");
        match self {
            Self::Mosh => {
                let need = Need::of_program("mosh-client");
                if need == Need::Program("mosh-client") {
                    skip(need, "the program over mosh");
                    return None;
                }
                start.env("MOSH_SERVER_NETWORK_TMOUT", "10").spawn_under("sh", &["-c", MOSH, "sh"])
            }
            Self::Ssh => {
                // Only root's server wants a directory for what it does before a login.
                let is_ready = !rustix::process::getuid().is_root() || Path::new("/run/sshd").exists();
                if !Path::new(SSHD).exists() || !is_ready {
                    skip(Need::Program("sshd"), "the program over ssh");
                    return None;
                }
                start.spawn_under("sh", &["-c", SSH, "sh", dir.to_str().unwrap()])
            }
            Self::Tmux => {
                start.env("TMUX_TMPDIR", dir.to_str().unwrap()).spawn_under("tmux", &["-f", &file, "new-session", "--"])
            }
            Self::Screen => start.env("SCREENDIR", &sockets(dir)).spawn_under("screen", &["-c", &file, "--"]),
        }
    }
}

/// Makes the directory of sockets that only its owner may enter.
fn sockets(dir: &Path) -> String {
    let sockets = dir.join("sockets");
    fs::create_dir_all(&sockets).unwrap();
    fs::set_permissions(&sockets, fs::Permissions::from_mode(0o700)).unwrap();
    sockets.to_str().unwrap().to_owned()
}

#[test]
fn within_a_multiplexer_the_screen_is_that_of_the_terminal_itself() {
    for multiplexer in ALL {
        let (server, dir) = (Server::start([]), tempfile::tempdir().unwrap());
        let shows = |terminal: &mut Terminal| {
            terminal.wait_for("› ");
            terminal.type_text("a draft");
            terminal.wait_for("· idle")
        };
        let Some(mut within) = multiplexer.start(&server, dir.path(), "") else { continue };
        let shown = shows(&mut within);
        assert_eq!(shown, shows(&mut Start::against(&server).run()), "{multiplexer:?}");
        within.send("\x1b[24~");
        within.wait_exit(PATIENCE);
        assert!(!within.look(vt100::Screen::alternate_screen), "{multiplexer:?}");
    }
}

#[test]
fn within_a_multiplexer_keys_and_pastes_arrive() {
    for multiplexer in ALL {
        let (server, dir) = (Server::start([Reply::text("Heard every key.")]), tempfile::tempdir().unwrap());
        let Some(mut terminal) = multiplexer.start(&server, dir.path(), "") else { continue };
        terminal.wait_for("› ");
        terminal.type_text("one");
        // Alt+Enter and Ctrl+J each begin a line.
        terminal.send("\x1b\r");
        terminal.type_text("two");
        terminal.send(keys::CTRL_J);
        terminal.type_text("three words");
        terminal.send("\x1b[1;5D");
        terminal.type_text("more ");
        terminal.send("\x1b[200~pasted\rtext \x1b[201~");
        terminal.wait_for("text words");
        terminal.send(keys::F1);
        terminal.wait_for("Help: type to filter");
        terminal.send(keys::ESC);
        terminal.wait_gone("Help: type to filter");
        terminal.send(keys::ENTER);
        terminal.wait_for("Heard every key.");
        assert_eq!(server.chats()[0].texts("user"), ["one\ntwo\nthree more pasted\ntext words"], "{multiplexer:?}");
    }
}

#[test]
fn shift_enter_makes_a_line_within_tmux_that_tells_it_apart() {
    let (server, dir) = (Server::start([Reply::text("Heard it.")]), tempfile::tempdir().unwrap());
    let settings = "set -s extended-keys on\nset -as terminal-features 'xterm*:extkeys'";
    let Some(mut terminal) = Multiplexer::Tmux.start(&server, dir.path(), settings) else { return };
    terminal.wait_for("› ");
    terminal.type_text("one");
    terminal.send("\x1b[13;2u");
    terminal.type_text("two");
    terminal.send(keys::ENTER);
    terminal.wait_for("Heard it.");
    assert_eq!(server.chats()[0].texts("user"), ["one\ntwo"]);
    // Other keys with modifiers are what they were.
    terminal.send("\x1b[1;5D");
    terminal.type_text("x");
    terminal.send("\x15");
    terminal.wait_for("Type a message");
}

#[test]
fn nothing_of_a_flag_or_a_syllable_gets_into_a_question() {
    let clusters = [
        "\u{1F1F5}\u{1F1EA}",
        "\u{0E01}\u{0E33}\u{0E2A}\u{0E31}",
        "\u{0915}\u{094D}\u{0937}\u{093F}",
        "\u{1F469}\u{200D}\u{1F4BB}",
    ];
    let lines: Vec<String> =
        (0..30).map(|n| format!("{}{}", " ".repeat(n % 7), clusters.join(" ").repeat(4))).collect();
    for multiplexer in [Multiplexer::Tmux, Multiplexer::Screen] {
        let replies = [
            Reply::text(&lines.join("\n\n")),
            Reply::calls(&[("c1", "bash", r#"{"command":"touch asked"}"#)]),
            Reply::text("Not done."),
        ];
        let (server, dir) = (Server::start(replies), tempfile::tempdir().unwrap());
        let Some(mut terminal) = multiplexer.start(&server, dir.path(), "") else { continue };
        terminal.wait_for("› ");
        terminal.send("flags\r");
        terminal.wait_for("· idle");
        terminal.send("ask\r");
        terminal.wait_for("touch asked");
        // The row below the question: GNU screen shows a frame while it is being written.
        let screen = terminal.wait_for("answer the question");
        let of_the_model = |c: &char| clusters.concat().contains(*c) && *c != ' ';
        let rows = screen.lines().skip_while(|row| !row.contains("asks")).take_while(|row| !row.starts_with("── "));
        let rows: Vec<&str> = rows.collect();
        assert!(rows.len() > 3, "{multiplexer:?}: {screen}");
        let left: String = rows.concat().chars().filter(of_the_model).collect();
        assert_eq!(left, "", "{multiplexer:?}: {screen}");
        // And nowhere once it is gone.
        terminal.send(keys::F1);
        let screen = terminal.wait_for("Help: type to filter");
        let title = screen.lines().find(|row| row.contains("Help: type to filter")).unwrap();
        assert!(!title.chars().any(|c| of_the_model(&c)), "{multiplexer:?}: {screen}");
    }
}

#[test]
fn a_copy_within_tmux_reaches_its_buffer_and_its_terminal() {
    for settings in ["", "set -g allow-passthrough on", "set -s set-clipboard on"] {
        let (server, dir) = (Server::start([Reply::text("the very words")]), tempfile::tempdir().unwrap());
        let Some(mut terminal) = Multiplexer::Tmux.start(&server, dir.path(), settings) else { return };
        terminal.wait_for("› ");
        terminal.send("go\r");
        terminal.wait_for("the very words");
        terminal.send(keys::CTRL_O);
        terminal.send("y");
        terminal.wait_for("copied");
        // "the very words", in base64.
        terminal.wait_written(0, b"dGhlIHZlcnkgd29yZHM");
    }
}

#[test]
fn a_long_copy_within_screen_leaves_nothing_on_the_screen_and_reaches_its_terminal_in_pieces() {
    // More than one string of GNU screen may hold.
    let words = (0..400).map(|n| format!("word{n} ")).collect::<String>();
    let (server, dir) = (Server::start([Reply::text(&words)]), tempfile::tempdir().unwrap());
    let Some(mut terminal) = Multiplexer::Screen.start(&server, dir.path(), "") else { return };
    terminal.wait_for("› ");
    terminal.send("go\r");
    terminal.wait_for("word399");
    terminal.send(keys::CTRL_O);
    let before = terminal.written();
    terminal.send("y");
    let screen = terminal.wait_for("copied");
    // "word", in base64, at the three places that it may have.
    assert!(!["d29yZ", "dvcm", "3b3Jk"].iter().any(|coded| screen.contains(coded)), "{screen}");
    terminal.wait_written(before, b"\x1b]52;c;");
    terminal.send("\x1b[24~");
    terminal.wait_exit(PATIENCE);
    let raw = String::from_utf8(terminal.raw()).unwrap();
    let (_, copied) = raw.split_once("\x1b]52;c;").unwrap();
    let (coded, _) = copied.split_once(['\x07', '\x1b']).unwrap();
    let copied = STANDARD.decode(coded).unwrap();
    assert_eq!(String::from_utf8(copied).unwrap().trim_end(), words.trim_end());
}
