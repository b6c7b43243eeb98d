//! Many senders at once on one session: each text enters the conversation exactly once, and in the order of its sender.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use rustix::process::Signal;

use super::outside::Served;
use crate::support::built_program;
use crate::support::server::{Reply, Server};
use crate::support::terminal::{Start, Terminal};

/// Programs that inject texts one after the other, and how many each.
const INJECTORS: usize = 4;
const INJECTED: usize = 50;
/// What is typed on each of the screens. All senders together never fill the queue.
const TYPED: usize = 25;
const SCREENS: [&str; 3] = ["first", "second", "third"];

fn inject(home: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(built_program());
    command.env_clear().env("HOME", home).env("PATH", "/usr/bin:/bin").arg("inject").args(args).current_dir(home);
    command.output().unwrap()
}

/// Returns a number below another one, another each time.
fn random(below: usize) -> usize {
    let number = RandomState::new().build_hasher().finish();
    usize::try_from(number % below as u64).unwrap()
}

fn attach(home: &Path) -> Terminal {
    let terminal = Start::new(["attach"]).env("HOME", home.to_str().unwrap()).run();
    // What was said at the beginning may have gone by.
    terminal.wait_for("Type a message");
    terminal
}

fn text(sender: &str, number: usize) -> String {
    format!("{sender} says {number:02}")
}

/// Types the texts of a screen; kills it behind one of them, when that is asked for. Returns how many were sent.
fn play(server: &Server, home: &Path, name: &str, killed_behind: Option<usize>) -> (Option<Terminal>, usize) {
    let mut terminal = attach(home);
    for number in 0..TYPED {
        terminal.send(&format!("{}\r", text(name, number)));
        if killed_behind == Some(number) {
            terminal.signal(Signal::KILL);
            terminal.wait_exit(Duration::from_secs(30));
            return (None, number + 1);
        }
        // On the screen it may have gone by before anybody looks.
        server.wait_said(&text(name, number));
    }
    (Some(terminal), TYPED)
}

#[test]
fn texts_of_200_commands_and_three_screens_arrive_once_and_in_order_though_screens_are_killed() {
    // It looks around between two answers, so that texts enter in the middle of a turn too.
    let server = Server::routed(|request| {
        let id = format!("c{}", request.messages().len());
        if request.roles().last().is_some_and(|role| role == "tool") {
            Reply::text("Heard.")
        } else {
            Reply::calls(&[(id.as_str(), "glob", r#"{"pattern":"*.none"}"#)])
        }
    });
    let served = Served::start(&server, "begin");
    let home = served.home.path();
    let killed_behind = [None, Some(random(TYPED)), Some(random(TYPED))];
    let model = &server;
    let screens = std::thread::scope(|scope| {
        let screens: Vec<_> = std::iter::zip(SCREENS, killed_behind)
            .map(|(name, killed_behind)| scope.spawn(move || play(model, home, name, killed_behind)))
            .collect();
        for injector in 0..INJECTORS {
            scope.spawn(move || {
                for number in 0..INJECTED {
                    let output = inject(home, &[&text(&format!("program {injector}"), number)]);
                    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                }
            });
        }
        screens.into_iter().map(|screen| screen.join().unwrap()).collect::<Vec<_>>()
    });
    // The screen that lives has sent its texts, but maybe not all of them are accepted yet.
    let last = text(SCREENS[0], TYPED - 1);
    let mut said: Vec<String> = Vec::new();
    for end in 0..100 {
        let output = inject(home, &["--wait", "seen", &format!("end {end}")]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        said = server.chats().pop().unwrap().texts("user");
        if said.contains(&last) {
            break;
        }
    }
    assert!(said.contains(&last), "the screen:\n{}", screens[0].0.as_ref().unwrap().screen());
    let from = |sender: &str| said.iter().filter(|text| text.starts_with(sender)).cloned().collect::<Vec<_>>();
    let sent = |sender: &str, count: usize| (0..count).map(|number| text(sender, number)).collect::<Vec<_>>();
    for injector in 0..INJECTORS {
        let sender = format!("program {injector}");
        assert_eq!(from(&sender), sent(&sender, INJECTED));
    }
    for (name, (screen, count)) in std::iter::zip(SCREENS, &screens) {
        let arrived = from(name);
        // What was typed into a screen that was killed may not have left it, but nothing before a text that has.
        assert_eq!(arrived, sent(name, arrived.len()));
        assert!(arrived.len() <= *count && (screen.is_none() || arrived.len() == TYPED), "{name}: {arrived:?}");
    }
}
