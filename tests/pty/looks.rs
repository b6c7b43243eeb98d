//! The screen's looks on the real program: the mouse as terminals send it, colours only where they are wanted, tabs, zoom.
//!
//! Elsewhere a screen that got small shows nothing useful, `NO_COLOR` still brings colours, the mouse works or it does not,
//! and dividers stand where they stand.

use crate::steering::one_child_behind;
use crate::support::server::{Gate, Reply, Server};
use crate::support::terminal::{Start, Terminal, keys};

const ALT_L: &str = "\x1bl";
const CTRL_L: &str = "\x0c";

/// Returns the cell at which a text stands, from 0.
#[track_caller]
fn place_of(terminal: &Terminal, text: &str) -> (usize, usize) {
    let screen = terminal.wait_for(text);
    let mut rows = screen.lines().enumerate();
    rows.find_map(|(y, row)| Some((row.get(..row.find(text)?)?.chars().count(), y))).unwrap()
}

/// Writes an event of the mouse as terminals do (SGR): buttons 0 left, 32 left and moving, 64 and 65 the wheel.
fn mouse(terminal: &mut Terminal, button: u8, (x, y): (usize, usize), end: char) {
    terminal.send(&format!("\x1b[<{button};{};{}{end}", x + 1, y + 1));
}

fn click(terminal: &mut Terminal, place: (usize, usize)) {
    mouse(terminal, 0, place, 'M');
    mouse(terminal, 0, place, 'm');
}

fn long_answer() -> Server {
    let lines: String = (0..100).map(|line| format!("Line {line}.\n\n")).collect();
    Server::start([Reply::text(&lines)])
}

#[test]
fn the_wheel_scrolls_the_transcript_while_the_message_keeps_the_focus() {
    let server = long_answer();
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("go\r");
    let place = place_of(&terminal, "Line 99.");
    for _ in 0..5 {
        mouse(&mut terminal, 64, place, 'M');
    }
    terminal.wait_gone("Line 99.");
    terminal.send("typed");
    terminal.wait_for("› typed");
    for _ in 0..6 {
        mouse(&mut terminal, 65, place, 'M');
    }
    terminal.wait_for("Line 99.");
}

#[test]
fn a_click_shows_an_agent_and_one_in_the_message_puts_the_cursor_there() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("start\r");
    gate.wait_reached();
    terminal.send("one two");
    let (x, y) = place_of(&terminal, "└─ ");
    click(&mut terminal, (x + 6, y));
    terminal.wait_until("the transcript of the agent", |screen| {
        screen.lines().next().is_some_and(|head| head.contains("▸ Agents") && head.contains("file_miner 0"))
    });
    // Its draft is another one.
    terminal.wait_gone("one two");
    let (x, y) = place_of(&terminal, "main");
    click(&mut terminal, (x + 1, y));
    terminal.wait_for("› one two");
    let (x, y) = place_of(&terminal, "› one two");
    click(&mut terminal, (x + 6, y));
    terminal.send("and ");
    terminal.wait_for("› one and two");
    gate.open();
}

#[test]
fn a_drag_moves_the_line_between_the_panes_and_a_double_click_brings_it_back() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("start\r");
    gate.wait_reached();
    terminal.wait_for("file_miner 0");
    let column = |screen: &str| screen.lines().nth(3).and_then(|row| row.chars().position(|c| c == '│'));
    let usual = column(&terminal.screen()).unwrap();
    mouse(&mut terminal, 0, (usual, 3), 'M');
    mouse(&mut terminal, 32, (usual + 5, 3), 'M');
    mouse(&mut terminal, 32, (usual + 9, 3), 'M');
    mouse(&mut terminal, 0, (usual + 9, 3), 'm');
    terminal.wait_until("the line to be where it was dragged", |screen| column(screen) == Some(usual + 9));
    click(&mut terminal, (usual + 9, 3));
    click(&mut terminal, (usual + 9, 3));
    terminal.wait_until("the line to be back", |screen| column(screen) == Some(usual));
    gate.open();
}

#[test]
fn a_click_on_a_question_answers_nothing() {
    let server = Server::start([Reply::text("an answer")]);
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("go\r");
    terminal.wait_for("an answer");
    terminal.send(keys::F9);
    terminal.wait_for("● ready");
    let (_, y) = place_of(&terminal, "Alt+Y");
    for x in 0..120 {
        click(&mut terminal, (x, y));
    }
    terminal.send("still here");
    terminal.wait_for("› still here");
    terminal.wait_for("Start a new conversation?");
    terminal.wait_for("an answer");
}

/// Returns the parameters of every SGR sequence that the program wrote.
fn attributes(terminal: &Terminal) -> Vec<String> {
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    let sequences = raw.split("\x1b[").skip(1);
    sequences
        .filter_map(|rest| rest.split_once('m'))
        .map(|(parameters, _)| parameters.to_owned())
        .filter(|parameters| parameters.chars().all(|c| c.is_ascii_digit() || c == ';'))
        .collect()
}

/// Tells whether an SGR sequence sets a colour; 39, 49 and 59 take one away.
fn sets_colour(parameters: &str) -> bool {
    let codes = parameters.split(';').filter_map(|code| code.parse::<u8>().ok());
    codes.into_iter().any(|code| matches!(code, 30..=38 | 40..=48 | 58 | 90..=97 | 100..=107))
}

fn coloured(start: Start) -> Terminal {
    let mut terminal = start.run();
    terminal.send("go\r");
    terminal.wait_for("an answer");
    terminal.send(keys::F1);
    terminal.wait_for("Help: ");
    terminal
}

/// Esc and what is typed in one read would be Alt and a letter.
fn close_help(terminal: &mut Terminal) {
    terminal.send(keys::ESC);
    terminal.wait_gone("Help: ");
}

#[test]
fn no_color_means_no_colour() {
    let server = Server::start([Reply::text("## an answer\n\n`code` and [a link](https://example.org)")]);
    let mut terminal =
        coloured(Start::against(&server).waits_for_agents().env("NO_COLOR", "1").env("COLORTERM", "truecolor"));
    close_help(&mut terminal);
    terminal.send("/theme dark\r");
    terminal.wait_for("theme: dark");
    let attributes = attributes(&terminal);
    let colours: Vec<&String> = attributes.iter().filter(|parameters| sets_colour(parameters)).collect();
    assert!(colours.is_empty(), "{colours:?}");
    assert!(attributes.iter().any(|parameters| parameters == "1"), "there is weight: {attributes:?}");
}

#[test]
fn an_empty_no_color_is_none_and_the_terminal_says_how_many_colours_it_has() {
    for (variables, expected, unexpected) in [
        (vec![("NO_COLOR", ""), ("TERM", "xterm")], "", "38;2;"),
        (vec![("COLORTERM", "truecolor"), ("COLORFGBG", "15;0")], "38;2;", "38;5;111"),
        (vec![("COLORFGBG", "15;0")], "38;5;", "38;2;"),
    ] {
        let server = Server::start([Reply::text("## an answer")]);
        let start = variables
            .iter()
            .fold(Start::against(&server).waits_for_agents(), |start, (name, value)| start.env(name, value));
        let terminal = coloured(start);
        let attributes = attributes(&terminal);
        assert!(attributes.iter().any(|parameters| sets_colour(parameters)), "{variables:?}: {attributes:?}");
        assert!(attributes.iter().any(|parameters| parameters.contains(expected)), "{variables:?}: {attributes:?}");
        assert!(!attributes.iter().any(|parameters| parameters.contains(unexpected)), "{variables:?}: {attributes:?}");
    }
}

#[test]
fn a_theme_of_ones_own_is_worn_and_a_broken_one_says_where() {
    let config = tempfile::tempdir().unwrap();
    let themes = config.path().join("steersman/themes");
    std::fs::create_dir_all(&themes).unwrap();
    std::fs::write(themes.join("sea.toml"), "base = \"dark\"\naccent = \"#010203\"\n").unwrap();
    std::fs::write(themes.join("broken.toml"), "accent = \"bold\"\nheading = \"blau\"\n").unwrap();
    let server = Server::start([Reply::text("an answer")]);
    let home = config.path().to_str().unwrap();
    let start = Start::against(&server).waits_for_agents().env("XDG_CONFIG_HOME", home).env("COLORTERM", "truecolor");
    let mut terminal = coloured(start.arg("--theme").arg("sea"));
    assert!(attributes(&terminal).iter().any(|parameters| parameters.contains("38;2;1;2;3")));
    close_help(&mut terminal);
    terminal.send("/theme broken\r");
    terminal.wait_for("broken.toml, line 2: heading: \"blau\" is neither");
    let mut refused =
        Start::against(&server).waits_for_agents().env("XDG_CONFIG_HOME", home).arg("--theme").arg("broken").spawn();
    assert_eq!(refused.wait_exit(std::time::Duration::from_secs(30)).exit_code(), 2);
}

#[test]
fn a_narrow_screen_has_tabs_and_each_pane_can_be_reached() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = Start::against(&server).waits_for_agents().size(50, 18).run();
    terminal.send("start\r");
    gate.wait_reached();
    terminal.send("later\r");
    terminal.wait_for("⋯ m2 later");
    let first = |screen: &str, part: &str| screen.lines().next().is_some_and(|row| row.contains(part));
    for (key, tab) in [(keys::F3, "[agents"), (keys::F2, "[pending 1]"), ("\x1bi", "[details]"), (keys::CTRL_O, "main")]
    {
        terminal.send(key);
        terminal.wait_until(tab, |screen| first(screen, tab));
    }
    let place = place_of(&terminal, "agents ");
    click(&mut terminal, place);
    terminal.wait_until("the tab of the agents", |screen| first(screen, "[agents") && screen.contains("file_miner 0"));
    terminal.send(keys::ESC);
    terminal.wait_until("the transcript again", |screen| !first(screen, "[agents") && screen.contains(": stops"));
    gate.open();
}

#[test]
fn a_pane_is_zoomed_from_the_message_and_back() {
    let server = long_answer();
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("go\r");
    terminal.wait_for("Line 99.");
    terminal.send(ALT_L);
    terminal.wait_for("zoomed: Alt+L goes back");
    terminal.send("typed");
    terminal.wait_for("› typed");
    terminal.send(ALT_L);
    terminal.wait_gone("zoomed");
    terminal.send(&format!("{}z", keys::F3));
    terminal.wait_for("▸ Agents  zoomed: z or Esc goes back");
    terminal.send(keys::ESC);
    terminal.wait_gone("zoomed");
}

/// Blanks at a row's end are written or erased, which looks the same.
fn rows(screen: &str) -> Vec<String> {
    screen.lines().map(|row| row.trim_end().to_owned()).collect()
}

#[test]
fn five_thousand_sizes_through_every_layout_leave_the_right_frame() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("start\r");
    gate.wait_reached();
    terminal.send("later\r");
    terminal.wait_for("later");
    // A generator of its own, so that every run has the same sizes: xorshift.
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = |most: u16| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        u16::try_from(seed % u64::from(most)).unwrap() + 1
    };
    for number in 0..5_000 {
        terminal.resize(random(220), random(60));
        // Each pane, each tab, zoomed and not.
        match number % 250 {
            50 => terminal.send(keys::F3),
            100 => terminal.send(ALT_L),
            150 => terminal.send(keys::F2),
            200 => terminal.send("\x1bi"),
            _ => {}
        }
    }
    terminal.resize(150, 40);
    terminal.send(keys::CTRL_O);
    terminal.wait_until("tree, transcript and details", |screen| {
        let head = screen.lines().next().unwrap_or_default();
        screen.lines().count() == 40 && head.contains("Agents") && head.contains("▸ main") && head.contains("Details")
    });
    let before = rows(&terminal.wait_for("⋯ m2 later"));
    let from = terminal.written();
    terminal.send(CTRL_L);
    terminal.wait_written(from, b"\x1b[2J");
    let after = terminal.wait_until("it to be written anew", |screen| rows(screen).last() == before.last());
    // The clocks go on meanwhile.
    let still = |row: &String| !row.contains(':');
    let wrong: Vec<_> =
        before.iter().zip(rows(&after)).filter(|(before, after)| still(before) && *before != after).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    gate.open();
}

#[test]
fn the_users_own_status_line_follows_the_session_and_a_command_that_fails_says_so() {
    let home = tempfile::TempDir::new().unwrap();
    let config = home.path().join(".config/steersman");
    std::fs::create_dir_all(&config).unwrap();
    let program = "import json, sys; given = json.load(sys.stdin); print('\\x1b[32mmine', given['model']['id'], given['tokens_used'] > 0); print('second')";
    let write =
        |command: &str| std::fs::write(config.join("config.toml"), format!("status.command = {command}\n")).unwrap();
    write(&format!("['python3', '-c', {program:?}]"));
    let server = Server::start([Reply::text("Hello.")]);
    let mut terminal = Start::against(&server).waits_for_agents().home(home).run();
    terminal.wait_for("mine scripted False");
    terminal.send("go\r");
    let screen = terminal.wait_for("mine scripted True");
    assert!(!screen.contains("second") && screen.contains("ask"), "{screen}");
}

#[test]
fn a_status_command_that_fails_is_named_and_the_screen_goes_on() {
    let home = tempfile::TempDir::new().unwrap();
    let config = home.path().join(".config/steersman");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "status.command = 'false'\n").unwrap();
    let server = Server::start([Reply::text("Hello.")]);
    let mut terminal = Start::against(&server).waits_for_agents().home(home).run();
    terminal.wait_for("status.command: it failed");
    terminal.send("go\r");
    terminal.wait_for("Hello.");
}
