//! Every pane and overlay, at every kind of size and in each theme; and that no state is told by colour alone.
//!
//! A picture holds four sizes. Of the themes other than `dark` it holds the styles only, as the text is the same.

use std::fmt::Write as _;

use crossterm::event::{MouseButton, MouseEventKind};
use steersman_base::details::{Details, FileDiff};
use steersman_base::event::{Event, Outcome};
use steersman_base::message::{Arguments, ToolCall};
use steersman_base::mode::Mode;
use steersman_base::protocol::{Notice, Update};
use steersman_core::control::{PausePlace, Staleness};
use steersman_tui::agents::{AgentsPane, Sizes};
use steersman_tui::focus::Focus;
use steersman_tui::msg::Msg;
use steersman_tui::state::Pane;

use crate::support::snapshot::{dump, rows};
use crate::support::stage::Stage;

const SIZES: [(u16, u16); 4] = [(120, 40), (80, 24), (56, 20), (34, 10)];
const THEMES: [&str; 4] = ["dark", "light", "high-contrast", "plain"];

const ANSWER: &str = "## What I found\n\nThe parser is in `src/parse.rs`, see [its page](https://docs.rs/parse):\n\n- **one** \
                      entry\n  - and one beneath it\n- [ ] open\n\n> quoted words\n\n```rust\n// a comment\nfn main() { let a \
                      = \"text\"; }\n```\n\n| file | lines |\n|---|---|\n| a.rs | 12 |\n";

fn call(stage: &mut Stage, id: &str, name: &str, arguments: &str) {
    let arguments = Arguments::parse(arguments);
    stage.event("", Event::ToolCall { id: id.into(), name: name.to_owned(), arguments });
}

fn call_of(name: &str) -> ToolCall {
    ToolCall { id: "c1".into(), name: name.to_owned(), arguments: Arguments::parse(r#"{"pattern":"fn main"}"#) }
}

/// All kinds of cells, five agents in five states, three pending texts of two kinds, and a draft.
fn rich(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.event(
        "",
        Event::SessionStarted {
            schema: 1,
            program: "steersman".to_owned(),
            cwd: "/work".to_owned(),
            provider: "openai".to_owned(),
            model: Some("qwen3-35b".to_owned()),
            max_steps: Some(60),
            tools: vec!["read".to_owned(), "bash".to_owned()],
        },
    );
    stage.event("", Event::ContextCap { tokens: Some(32_000) });
    stage.keys("Look at the parsers<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false).seen("", &taken, 0).wait(2_000);
    stage.event("", Event::ThinkingDelta { text: "The user wants the parsers.".to_owned() });
    stage.event("", Event::Thinking { text: "The user wants the parsers.".to_owned() });
    stage.says("", ANSWER).tokens("", 12_100, 640);
    call(&mut stage, "x1", "edit", r#"{"path":"src/a.rs","old_string":"b = 2","new_string":"b = 3"}"#);
    let hunks = "@@ -1,2 +1,2 @@\n let a = 1;\n-let b = 2;\n+let b = 3;\n";
    let diff = FileDiff { path: "src/a.rs".into(), created: false, added: 1, removed: 1, hunks: hunks.into() };
    stage.event("", Event::ToolDetails { id: "x1".into(), details: Details::Diff(diff) });
    stage.result("", "x1", "edited src/a.rs: 1 replacement");
    call(&mut stage, "x2", "read", r#"{"path":"none.rs"}"#);
    stage.result("", "x2", "Error: none.rs does not exist");
    for (call, agent) in [("c1", "miner 0"), ("c2", "miner 1"), ("c3", "miner 2"), ("c4", "miner 3")] {
        self::call(&mut stage, call, "agent", &format!(r#"{{"persona":"miner","task":"{agent}"}}"#));
        stage.spawn("", agent).turn(agent);
    }
    stage.call("miner 0", "y1", "grep").tokens("miner 0", 900, 50);
    stage.says("miner 1", "The sources are in src.");
    stage.finished("", "miner 2", Outcome::Failed).finished("", "miner 3", Outcome::Cancelled).wait(3_000);
    stage.keys("focus on the tests<enter>").keys("then write a summary<tab>");
    stage.keys("and a draft");
    stage
}

/// A question whose keys count, over the rich scene.
fn asked(width: u16, height: u16) -> Stage {
    let mut stage = rich(width, height);
    let queue = stage.handle.interloper().clone();
    queue.set_staleness(Staleness { age: None, steps: Some(0) });
    queue.count_step();
    stage.drain();
    stage.screen();
    stage.wait(400);
    stage
}

/// The main agent waits before a call, its panel has the focus.
fn held(width: u16, height: u16) -> Stage {
    let mut stage = rich(width, height);
    stage.keys("<a-h>").screen();
    let gate = stage.handle.agent_controls().main().gate;
    // What was decided about it does not matter here: it waits for ever.
    std::mem::forget(gate.wait_at(PausePlace::Call(call_of("grep"))));
    stage.event("", Event::Paused { call: Some(call_of("grep")) }).screen();
    stage.keys("<f11>");
    stage
}

fn with(keys: &'static str) -> impl Fn(u16, u16) -> Stage {
    move |width, height| {
        let mut stage = rich(width, height);
        stage.screen();
        stage.keys(keys);
        stage
    }
}

type Scene = (&'static str, Box<dyn Fn(u16, u16) -> Stage>);

/// Every pane with the focus, every overlay, every zoom.
fn scenes() -> Vec<Scene> {
    vec![
        ("message", Box::new(rich)),
        ("agents", Box::new(with("<f3>"))),
        ("filter", Box::new(with("<f3>/miner"))),
        ("transcript", Box::new(with("<c-o><a-o>"))),
        ("pending", Box::new(with("<f2>"))),
        ("details", Box::new(with("<a-i>"))),
        ("question", Box::new(asked)),
        ("held", Box::new(held)),
        ("help", Box::new(with("<f1>"))),
        ("ledger", Box::new(with("<f4>"))),
        ("completion", Box::new(with("<c-a><c-k>/"))),
        ("zoomed-agents", Box::new(with("<f3>z"))),
        ("zoomed-transcript", Box::new(with("<a-l>"))),
        ("zoomed-pending", Box::new(with("<f2>z"))),
        ("zoomed-details", Box::new(with("<a-i>z"))),
    ]
}

/// Wears a theme without a word about it.
fn use_theme(stage: &mut Stage, theme: &str) {
    stage.app.ui.theme = stage.app.ui.themes.activate(theme).unwrap();
}

#[test]
fn every_pane_and_overlay_at_four_sizes_in_each_theme() {
    for (name, scene) in scenes() {
        let mut pictures = THEMES.map(|_| String::new());
        for (width, height) in SIZES {
            let mut stage = scene(width, height);
            let mut texts = Vec::new();
            for (theme, picture) in THEMES.iter().zip(&mut pictures) {
                use_theme(&mut stage, theme);
                let buffer = stage.draw();
                let whole = dump(&buffer);
                let (text, styles) = whole.split_once("\n\n").unwrap();
                let text = if *theme == "dark" { text } else { "" };
                writeln!(picture, "{width}x{height}\n{text}\n{styles}").unwrap();
                texts.push(rows(&buffer));
            }
            assert!(texts.windows(2).all(|two| two[0] == two[1]), "{name}: a theme changes the text");
        }
        for (theme, picture) in THEMES.iter().zip(&pictures) {
            insta::assert_snapshot!(format!("{name}_{theme}"), picture);
        }
    }
}

#[test]
fn a_broad_screen_has_tree_transcript_and_details_beside_each_other() {
    let mut stage = rich(160, 40);
    insta::assert_snapshot!("broad", stage.picture());
    let screen = stage.screen();
    let head = screen.lines().next().unwrap();
    assert!(head.contains("Agents") && head.contains("│  main") && head.contains("Details"), "{head}");
    stage.keys("<f3>").click_on("miner 0");
    assert!(stage.screen().contains("Look at the sources."), "the details are those of the shown agent");
    stage.keys("<f3>i");
    assert!(!stage.screen().contains("Alt+I"), "they can be folded");
    stage.keys("i");
    assert!(stage.screen().contains("Alt+I"));
}

#[test]
fn a_narrow_screen_has_one_pane_and_the_keys_of_a_pane_switch_the_tab() {
    let mut stage = rich(56, 20);
    let tabs = |stage: &mut Stage| stage.screen().lines().next().unwrap().to_owned();
    let first = tabs(&mut stage);
    assert!(first.starts_with('[') && first.contains("main"), "{first}");
    for (keys, active, shown) in
        [("<f3>", "[agents ", "miner 0"), ("<f2>", "[pending 2]", "focus on"), ("<a-i>", "[details]", "qwen3-35b")]
    {
        stage.keys(keys);
        let screen = stage.screen();
        assert!(screen.lines().next().unwrap().contains(active), "{screen}");
        assert!(screen.contains(shown) && screen.contains("› and a draft"), "{screen}");
    }
    stage.keys("<esc>");
    assert_eq!(tabs(&mut stage), first);
    stage.click_on("agents");
    assert_eq!(stage.app.focus.pane, Pane::Tree);
    stage.screen();
    stage.click_on("pending");
    assert_eq!(stage.app.focus.pane, Pane::Pending);
}

#[test]
fn a_zoomed_pane_has_all_the_room_above_the_message_until_the_key_or_esc() {
    for (keys, title) in [
        ("<f3>", "▸ Agents  zoomed"),
        ("<c-o>", "▸ main  zoomed"),
        ("<f2>", "▸ Pending  zoomed"),
        ("<a-i>", "▸ Details of main  zoomed"),
    ] {
        let mut stage = rich(100, 30);
        let before = stage.keys(keys).screen();
        let zoomed = stage.keys("z").screen();
        assert!(zoomed.starts_with(title) && zoomed.contains("› and a draft"), "{zoomed}");
        assert!(zoomed.contains("Esc: ends the zoom"), "{zoomed}");
        assert_eq!(stage.keys("z").screen(), before, "the same key ends it");
        assert_eq!(stage.keys("z<esc>").screen(), before, "so does Esc");
        stage.keys("<esc>");
        assert_eq!(stage.app.focus.pane, Pane::Composer);
    }
}

#[test]
fn the_message_can_be_written_under_a_zoomed_pane_and_another_pane_ends_it() {
    let mut stage = rich(100, 30);
    stage.keys("<f3>z<enter> goes on");
    let screen = stage.screen();
    assert!(screen.contains("Agents  zoomed: Alt+L goes back") && screen.contains("› and a draft goes on"), "{screen}");
    stage.keys("<f2>");
    assert_eq!(stage.app.focus.zoom, None);
    stage.keys("<esc><a-l>");
    assert!(stage.screen().starts_with("  main  zoomed"), "from the message it is the transcript: {}", stage.screen());
    stage.keys("<a-l>");
    assert!(!stage.screen().contains("zoomed"));
}

#[test]
fn the_lines_between_panes_go_where_they_are_dragged_and_back_with_a_double_click() {
    for (size, symbol) in [((120, 40), "│"), ((80, 24), "─────"), ((160, 40), "│")] {
        let mut stage = rich(size.0, size.1);
        let usual = stage.screen();
        let (x, y) = if symbol == "│" {
            // The second row, as the first has titles.
            let row = usual.lines().nth(1).unwrap();
            let mut lines = row.chars().enumerate().filter(|(_, c)| *c == '│').map(|(at, _)| at);
            // That of the tree is the first, that of the details the last.
            let at = if size.0 == 120 { lines.next() } else { lines.last() }.unwrap();
            (u16::try_from(at).unwrap(), 1)
        } else {
            stage.place_of(symbol)
        };
        let to = if symbol == "│" { (x - 7, y) } else { (x, y - 1) };
        stage.mouse(MouseEventKind::Down(MouseButton::Left), (x, y));
        stage.mouse(MouseEventKind::Drag(MouseButton::Left), to).screen();
        stage.mouse(MouseEventKind::Up(MouseButton::Left), to);
        let moved = stage.screen();
        let at =
            |screen: &str, (x, y): (u16, u16)| screen.lines().nth(y.into()).and_then(|row| row.chars().nth(x.into()));
        assert_eq!(at(&moved, to), symbol.chars().next(), "{moved}");
        assert_ne!(moved, usual);
        stage.wait(5_000).click(to).click(to);
        assert_eq!(stage.app.tree.viewport.sizes, Sizes::default());
        // Beyond every end it stays on the screen, and the transcript keeps some room.
        for to in [(0, 0), (size.0 - 1, size.1 - 1), (u16::MAX, u16::MAX)] {
            stage.screen();
            stage.mouse(MouseEventKind::Down(MouseButton::Left), (x, y));
            stage.mouse(MouseEventKind::Drag(MouseButton::Left), to).screen();
            stage.mouse(MouseEventKind::Up(MouseButton::Left), to);
            assert!(stage.screen().contains("› and a draft"));
        }
    }
}

#[test]
fn keys_move_the_lines_too() {
    let mut stage = rich(120, 40);
    let line = |stage: &mut Stage| stage.screen().lines().nth(1).unwrap().chars().position(|c| c == '│').unwrap();
    let usual = line(&mut stage);
    stage.keys("<f3>");
    stage.screen();
    stage.keys(">");
    assert_eq!(line(&mut stage), usual + 4);
    stage.keys("<lt>");
    stage.screen();
    stage.keys("<lt>");
    assert_eq!(line(&mut stage), usual - 4);
    stage.keys("=");
    assert_eq!(line(&mut stage), usual);
}

#[test]
fn the_wheel_scrolls_the_tree_and_the_next_selection_brings_it_back() {
    let mut stage = Stage::new(120, 20);
    stage.turn("");
    for agent in 0..40 {
        stage.spawn("", &format!("miner {agent}")).turn(&format!("miner {agent}"));
    }
    let before = stage.screen();
    let place = stage.place_of("miner 3");
    stage.mouse(MouseEventKind::ScrollDown, place).screen();
    stage.mouse(MouseEventKind::ScrollDown, place);
    let scrolled = stage.screen();
    assert!(!scrolled.contains("miner 1 ") && scrolled.contains("miner 16"), "{scrolled}");
    assert!(stage.app.tree.selected().is_main(), "nothing else is shown");
    stage.keys("<f3><down><up>");
    stage.keys("<esc>");
    assert!(stage.screen().contains("miner 1 "), "{before}");
}

/// Collects screens, and says which two of them nobody could tell apart without their styles.
#[derive(Default)]
struct Told(Vec<(String, String)>);

impl Told {
    fn add(&mut self, state: &str, mut stage: Stage) {
        use_theme(&mut stage, "plain");
        self.0.push((state.to_owned(), stage.screen()));
    }

    #[track_caller]
    fn all_differ(&self) {
        for (index, (one, screen)) in self.0.iter().enumerate() {
            for (two, other) in &self.0[index + 1..] {
                assert_ne!(screen, other, "{one} and {two} look the same");
            }
        }
    }
}

fn call_with(change: impl Fn(&mut Stage)) -> Stage {
    let mut stage = Stage::new(80, 24);
    stage.turn("").call("", "c1", "read").later(1_200);
    change(&mut stage);
    stage.turn_ended("", Outcome::Completed, None);
    stage
}

#[test]
fn how_a_call_ended_is_told_without_colour() {
    let mut told = Told::default();
    let result = |content: &'static str| {
        call_with(move |stage| {
            stage.result("", "c1", content);
        })
    };
    told.add("well", result("words"));
    told.add("badly", result("Error: words"));
    told.add("not at all", call_with(|_| {}));
    let mut running = Stage::new(80, 24);
    running.turn("").call("", "c1", "read").later(1_200);
    told.add("not yet", running);
    told.all_differ();
}

/// A turn with a sub-agent that does this.
fn agent(events: Vec<Event>) -> Stage {
    let mut stage = Stage::new(120, 30);
    stage.turn("").call("", "c1", "agent").spawn("", "miner 0").turn("miner 0");
    for event in events {
        stage.event("miner 0", event);
    }
    stage
}

#[test]
fn how_an_agent_stands_is_told_without_colour() {
    let mut told = Told::default();
    let text = || "x".to_owned();
    told.add("waits", agent(Vec::new()));
    told.add("thinks", agent(vec![Event::ThinkingDelta { text: text() }]));
    told.add("writes", agent(vec![Event::AssistantDelta { text: text() }]));
    let arguments = Arguments::parse("{}");
    told.add("uses a tool", agent(vec![Event::ToolCall { id: "y1".into(), name: "grep".to_owned(), arguments }]));
    for outcome in [Outcome::Completed, Outcome::Failed, Outcome::Cancelled] {
        let mut stage = agent(Vec::new());
        stage.finished("", "miner 0", outcome);
        told.add(&format!("{outcome:?}"), stage);
    }
    told.all_differ();
}

#[test]
fn what_waits_how_it_waits_and_what_is_selected_is_told_without_colour() {
    let mut told = Told::default();
    let sent = |keys: &str| {
        let mut stage = Stage::new(120, 30);
        stage.turn("").call("", "c1", "grep");
        stage.keys(keys);
        stage
    };
    told.add("steer", sent("words<enter>"));
    told.add("follow-up", sent("words<tab>"));
    told.add("now", sent("words<f5>"));
    told.add("selected", sent("words<enter><f2>"));
    told.add("edited", sent("words<enter><f2>e"));
    told.add("delivering", {
        let mut stage = sent("words<enter>");
        stage.drain();
        stage
    });
    told.all_differ();
}

#[test]
fn which_pane_has_the_focus_which_tab_and_what_is_zoomed_is_told_without_colour() {
    for (width, height) in SIZES {
        let mut told = Told::default();
        for (name, scene) in scenes() {
            told.add(name, scene(width, height));
        }
        told.all_differ();
    }
}

#[test]
fn whether_a_questions_keys_count_is_told_without_colour() {
    let mut told = Told::default();
    let ask = || {
        let mut stage = Stage::new(80, 24);
        stage.keys("<f9>").screen();
        stage
    };
    told.add("not yet", ask());
    let mut armed = ask();
    armed.wait(400);
    told.add("now", armed);
    told.all_differ();
}

#[test]
fn every_mode_is_told_without_colour() {
    let mut told = Told::default();
    for mode in Mode::ALL {
        let mut stage = Stage::new(80, 24);
        stage.tell(Msg::Update(Update::Approvals { mode, open: Vec::new() }));
        told.add(mode.name(), stage);
    }
    told.all_differ();
}

#[test]
fn sizes_by_the_thousand_with_every_pane_and_zoom_break_nothing() {
    let keys = [
        "<f3>", "<c-o>", "<f2>", "<a-i>", "<a-l>", "z", "<esc>", "<f1>", "<f4>", "<f11>", ">", "<lt>", "=", "i",
        "<down>",
    ];
    // A generator of its own, so that every run has the same sizes: xorshift.
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = |most: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % u64::try_from(most).unwrap()).unwrap()
    };
    let mut stage = rich(80, 24);
    stage.keys("<c-a><c-k>");
    for _ in 0..2_000 {
        let (width, height) = (u16::try_from(random(220)).unwrap(), u16::try_from(random(70)).unwrap());
        stage.resize(width, height).keys(keys[random(keys.len())]);
        stage.draw();
        stage.mouse(
            MouseEventKind::Drag(MouseButton::Left),
            (u16::try_from(random(220)).unwrap(), u16::try_from(random(70)).unwrap()),
        );
    }
    // Whatever it went through, what is shown depends on the state alone.
    stage.app.focus = Focus::default();
    stage.app.tree = AgentsPane::default();
    stage.resize(120, 40).keys("<esc>");
    let screen = stage.screen();
    assert!(screen.contains("Agents"), "{screen}");
    assert_eq!(screen.lines().count(), 40);
}

#[test]
fn an_empty_list_says_its_sentences_whole_on_a_narrow_screen() {
    for (command, says) in [
        ("/hooks", "there are no hooks; /help hooks says how to add some"),
        ("/mcp", "no MCP server is configured; /help mcp says how"),
        ("/changes", "Changes made by shell commands are not tracked."),
        ("/jobs", "!COMMAND in the message runs one of your own."),
        ("/commands", "No agent has run a command yet."),
    ] {
        let mut stage = Stage::new(40, 12);
        stage.tell(Msg::from(Notice::Hooks(Vec::new())));
        let screen = stage.keys(&format!("{command}<enter>")).screen();
        let rows = screen.lines().map(|row| row.trim_matches(['│', ' ']));
        let text = rows.filter(|row| !row.is_empty()).collect::<Vec<_>>().join(" ");
        assert!(text.contains(says), "{command}: {screen}");
    }
}
