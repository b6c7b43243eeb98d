//! Slash commands: what is one and what is text, completion, and the keys that do the same.

use steersman_base::event::{Delivery, Event, Outcome};
use steersman_base::price::Price;
use steersman_base::protocol::PauseState;
use steersman_base::protocol::{ModelOption, Notice, Request};
use steersman_tui::commands::COMMANDS;
use steersman_tui::help::Help;
use steersman_tui::keymap::Context;
use steersman_tui::msg::{Effect, Msg};
use steersman_tui::state::Pane;

use crate::support::stage::Stage;

fn running() -> Stage {
    let mut stage = Stage::new(80, 24);
    stage.turn("").call("", "c1", "grep");
    stage
}

fn texts(stage: &Stage) -> Vec<String> {
    stage.sent().into_iter().map(|(text, _)| text).collect()
}

#[test]
fn commands_act_at_once_while_a_turn_runs() {
    let mut stage = running();
    stage.keys("/theme plain<enter>");
    assert_eq!(stage.app.ui.themes.name(), "plain");
    stage.keys("/agents<enter>");
    assert_eq!(stage.app.focus.pane, Pane::Tree);
    stage.keys("<esc>/help<enter>");
    assert!(stage.app.focus.overlays.is_on::<Help>());
    stage.keys("<esc>/model qwen<enter>/cancel<enter>/quit<enter>");
    let expected = [
        Effect::Request(Request::ListModels),
        Effect::Request(Request::SwitchModel { name: "qwen".to_owned() }),
        Effect::Request(Request::Stop),
        Effect::Quit,
    ];
    assert_eq!(stage.effects, expected);
    assert!(stage.app.message.is_empty());
}

#[test]
fn cancel_stops_the_turn_and_pending_texts_come_back() {
    let mut stage = running();
    stage.keys("wait for me<enter>/cancel<enter>");
    assert_eq!(stage.effects.last(), Some(&Effect::Request(Request::Stop)));
    assert_eq!(stage.app.message.text(), "wait for me");
}

#[test]
fn now_delivers_its_text_in_place_of_the_answer() {
    let mut stage = running();
    stage.keys("/now look at the tests<enter>");
    assert_eq!(stage.sent(), [("look at the tests".to_owned(), Delivery::Now)]);
    assert!(stage.app.message.is_empty());
}

#[test]
fn what_is_no_command_is_text_letter_by_letter() {
    let mut stage = running();
    for text in ["/etc/hosts is short", "// a comment", " /help"] {
        stage.paste(text).keys("<enter>");
        assert_eq!(texts(&stage).last().map(String::as_str), Some(text));
    }
    stage.paste("//help is a command").keys("<enter>");
    assert_eq!(texts(&stage).last().unwrap(), "/help is a command");
}

#[test]
fn an_unknown_command_is_sent_by_the_second_enter_only() {
    let mut stage = running();
    for text in ["/modell", "/model\nb"] {
        stage.paste(text).keys("<enter>");
        assert_eq!(stage.app.message.text(), text);
        let screen = stage.screen();
        assert!(screen.contains("nearest: /model. Enter again sends it as text"), "{screen}");
        stage.keys("<enter>");
        assert_eq!(texts(&stage).last().map(String::as_str), Some(text));
    }
    stage.keys("/modell<enter>x<enter>");
    assert_eq!(stage.app.message.text(), "/modellx", "another text is another question");
}

#[test]
fn the_border_says_before_enter_that_a_word_is_no_command() {
    let mut stage = Stage::new(80, 24);
    let screen = stage.keys("/foo").screen();
    assert!(screen.contains("→ unknown command /foo; nearest: /"), "{screen}");
    let screen = stage.keys("<enter>").screen();
    assert!(screen.contains("→ main: sent as text"), "{screen}");
    let screen = stage.keys("<c-c>//help me").screen();
    assert!(screen.contains("sent as \"/help"), "{screen}");
}

#[test]
fn a_sentence_that_begins_like_a_command_stays_and_says_why() {
    let mut stage = running();
    stage.paste("/reset the counter").keys("<enter>");
    assert_eq!(stage.effects, []);
    assert_eq!(stage.app.message.text(), "/reset the counter");
    assert!(stage.screen().contains("/reset takes no words; //reset sends it as text"));
}

#[test]
fn tab_completes_and_stays_the_follow_up_otherwise() {
    let mut stage = running();
    stage.keys("/th");
    assert!(stage.screen().contains("▸ /theme [NAME]"));
    stage.keys("<tab>");
    assert_eq!(stage.app.message.text(), "/theme ");
    stage.keys("hi<tab>");
    assert_eq!(stage.app.message.text(), "/theme high-contrast");
    stage.keys("<enter>");
    assert_eq!(stage.app.ui.themes.name(), "high-contrast");
    stage.keys("afterwards<tab>");
    assert_eq!(stage.sent(), [("afterwards".to_owned(), Delivery::FollowUp)]);
}

#[test]
fn enter_on_a_part_of_a_name_completes_rather_than_sends() {
    let mut stage = running();
    stage.keys("/ca<enter>");
    assert_eq!((stage.app.message.text().as_str(), stage.effects.len()), ("/cancel", 0));
    stage.keys("<enter>");
    assert_eq!(stage.effects, [Effect::Request(Request::Stop)]);
}

#[test]
fn arrows_choose_and_escape_closes_the_list_and_nothing_else() {
    let mut stage = running();
    stage.keys("/<down><down><up><enter>");
    assert_eq!(stage.app.message.text(), format!("/{} ", COMMANDS[1].name));
    stage.keys("<c-c>").wait(2_000).keys("/re<esc>");
    assert!(!stage.app.palette.is_open());
    assert_eq!(stage.app.message.text(), "/re");
    assert_eq!(stage.effects, [Effect::Request(Request::ListModels)]);
    stage.keys("s");
    assert!(!stage.app.palette.is_open(), "it stays closed while the text goes on");
    stage.keys("<enter><enter>");
    assert_eq!(texts(&stage), ["/res"], "an unknown command is sent by the second Enter");
}

#[test]
fn models_are_offered_once_the_server_has_told_them() {
    let mut stage = Stage::new(80, 24);
    stage.keys("<f6>");
    assert_eq!(stage.app.message.text(), "/model ");
    assert_eq!(stage.effects, [Effect::Request(Request::ListModels)]);
    stage.tell(Msg::from(Notice::Models(Ok(vec!["llama".into(), "qwen3-4b".into(), "qwen3-35b".into()]))));
    stage.keys("qwen3-3<enter>");
    let wanted = Effect::Request(Request::SwitchModel { name: "qwen3-35b".to_owned() });
    assert!(stage.effects.contains(&wanted), "one Enter is enough: {:?}", stage.effects);
    assert!(stage.app.message.is_empty());
    stage.tell(Msg::from(Notice::Models(Err("the server has no list".to_owned()))));
    assert!(stage.screen().contains("the server has no list"));
}

fn listed() -> Vec<ModelOption> {
    let known = |name: &str, context_window, price| ModelOption { context_window, price, ..name.into() };
    vec![
        known("small", Some(32_768), None),
        ModelOption { is_current: true, ..known("large", Some(200_000), Price::new(3.0, None, 15.0)) },
        known("large-1m", Some(1_048_576), Price::new(6.0, Some(0.6), 22.5)),
    ]
}

#[test]
fn the_list_of_models_marks_the_current_one_and_says_window_and_price() {
    for (width, height) in [(120, 36), (80, 24), (40, 12), (20, 6)] {
        let mut stage = Stage::new(width, height);
        stage.keys("<f6>").tell(Msg::from(Notice::Models(Ok(listed()))));
        let screen = stage.screen();
        insta::assert_snapshot!(format!("the_list_of_models_{width}x{height}"), screen);
    }
}

#[test]
fn enter_in_a_list_of_values_takes_the_selected_one_at_once_and_begins_at_the_current() {
    for (keys, name) in [
        ("<enter>", "large"),
        ("<down><enter>", "large-1m"),
        ("<up><enter>", "small"),
        ("la<enter>", "large"),
        ("large<enter>", "large"),
        ("lar<down><enter>", "large-1m"),
        ("sm<enter>", "small"),
    ] {
        let mut stage = Stage::new(80, 24);
        stage.keys("<f6>").tell(Msg::from(Notice::Models(Ok(listed())))).keys(keys);
        let switch = Effect::Request(Request::SwitchModel { name: name.to_owned() });
        assert!(stage.effects.contains(&switch), "{keys}: {:?}", stage.effects);
        assert!(stage.app.message.is_empty(), "{keys}");
    }
    let mut stage = Stage::new(80, 24);
    stage.keys("/theme hi<enter>");
    assert_eq!(stage.app.ui.themes.name(), "high-contrast");
    stage.keys("/theme ");
    assert!(stage.screen().contains("▸ high-contrast"), "{}", stage.screen());
    stage.keys("<enter>");
    assert_eq!(stage.app.ui.themes.name(), "high-contrast", "the current one is selected");
    stage.keys("/mode re<enter>");
    assert!(stage.app.message.is_empty(), "{:?}", stage.effects);
    stage.keys("/help keys<enter>");
    assert!(stage.app.focus.overlays.is_on::<Help>());
}

#[test]
fn another_model_lets_the_list_be_asked_for_again() {
    let mut stage = Stage::new(80, 24);
    stage.keys("/model l").tell(Msg::from(Notice::Models(Ok(listed()))));
    let switched = Event::ModelSwitched { from: None, to: Some("small".to_owned()), provider: None };
    stage.keys("<c-c>").event("", switched);
    let asked = |stage: &Stage| {
        let list = Effect::Request(Request::ListModels);
        stage.effects.iter().filter(|effect| **effect == list).count()
    };
    assert_eq!(asked(&stage), 1);
    stage.keys("/model l");
    assert_eq!(asked(&stage), 2);
    assert!(!stage.app.palette.is_open(), "the list of another server is not shown");
}

#[test]
fn the_names_of_other_hosts_are_completed_with_what_they_are_here() {
    for (typed, label, here) in [
        ("/cle", "/clear", "here /new: "),
        ("/exi", "/exit", "here /quit: "),
        ("/rew", "/rewind", "here /branch: "),
        ("/tod", "/todos", "here /plan: "),
        ("/mem", "/memory", "here /rules: "),
        ("/conf", "/config", "here /help configuration: "),
        ("/for", "/fork", "here /branch: "),
        ("/tas", "/tasks", "here /jobs: "),
        ("/doc", "/doctor", "here /help doctor: "),
        ("/cos", "/cost", "here /budget: "),
    ] {
        let mut stage = Stage::new(80, 24);
        let screen = stage.keys(typed).screen();
        assert!(screen.contains(label) && screen.contains(here), "{typed}: {screen}");
    }
    let mut stage = Stage::new(80, 24);
    stage.keys("/doctor<enter>");
    assert!(stage.app.focus.overlays.is_on::<Help>(), "a whole name acts at the first Enter");
}

#[test]
fn what_gives_something_up_is_offered_last() {
    let mut stage = Stage::new(80, 24);
    let screen = stage.keys("/re").screen();
    assert!(screen.contains("▸ /resume [ID]"), "{screen}");
    let screen = stage.keys("s").screen();
    assert!(screen.contains("▸ /resume [ID]"), "{screen}");
    let screen = stage.keys("et").screen();
    assert!(screen.contains("▸ /reset"), "{screen}");
}

#[test]
fn models_are_asked_for_as_soon_as_one_is_named_and_once() {
    let mut stage = Stage::new(80, 24);
    stage.keys("/model");
    assert_eq!(stage.effects, []);
    stage.keys(" q");
    assert_eq!(stage.effects, [Effect::Request(Request::ListModels)]);
    stage.tell(Msg::from(Notice::Models(Ok(vec!["llama".into(), "qwen3-4b".into()]))));
    let screen = stage.screen();
    assert!(screen.contains("qwen3-4b") && !screen.contains("llama"), "{screen}");
    stage.keys("<c-c>/model l");
    assert_eq!(stage.effects, [Effect::Request(Request::ListModels)]);
    // Nothing is said about one that may be asked about first.
    stage.keys("x<enter>");
    assert_eq!(stage.effects.last(), Some(&Effect::Request(Request::SwitchModel { name: "lx".to_owned() })));
    assert!(!stage.screen().contains("model: lx"));
}

#[test]
fn what_is_said_about_a_message_or_a_turn_goes_when_that_is_over() {
    let mut stage = Stage::new(80, 24);
    stage.keys("/foo<enter>");
    let unknown = "unknown command /foo; nearest: ";
    assert!(stage.screen().contains(unknown));
    stage.keys("l");
    assert!(!stage.screen().contains(unknown));
    stage.keys("<c-c>/cancel<enter>");
    assert!(stage.screen().contains("nothing is running"));
    stage.turn("");
    assert!(!stage.screen().contains("nothing is running"));
    stage.keys("/undo<enter>");
    assert!(stage.screen().contains("not undone: a turn runs"));
    stage.turn_ended("", Outcome::Completed, None);
    assert!(!stage.screen().contains("not undone"));
    stage.keys("<f2>");
    assert!(stage.screen().contains("nothing is pending"));
}

#[test]
fn f9_and_f10_ask_first_and_no_is_the_default() {
    let mut stage = running();
    stage.keys("<f9>");
    assert!(stage.screen().contains("Start a new conversation?"));
    stage.keys("y<enter>").wait(350).keys("<esc>");
    assert!(!stage.effects.contains(&Effect::Request(Request::Reset)));
    stage.keys("<f10>");
    assert!(stage.screen().contains("Reset the conversation?"));
    stage.wait(350).keys("<a-y>");
    assert_eq!(stage.effects.last(), Some(&Effect::Request(Request::Reset)));
}

#[test]
fn yes_for_the_session_asks_no_more() {
    let mut stage = running();
    stage.keys("<f10>").screen();
    stage.wait(350).keys("<a-s>");
    assert_eq!(stage.effects, [Effect::Request(Request::Reset)]);
    stage.keys("<f10>");
    assert_eq!(stage.effects, [Effect::Request(Request::Reset), Effect::Request(Request::Reset)]);
    stage.keys("<f9>");
    assert_eq!(stage.effects.len(), 2, "the other question is still asked");
}

#[test]
fn a_reset_keeps_the_transcript_and_a_new_conversation_starts_on_an_empty_screen() {
    let mut stage = running();
    stage.spawn("", "file_miner 0").turn("file_miner 0").says("file_miner 0", "looking").says("", "the first answer");
    stage.keys("/reset<enter>").screen();
    stage.wait(1_000).keys("<a-y>").event("", Event::Reset {});
    let screen = stage.screen();
    assert!(screen.contains("the first answer") && screen.contains("the model starts afresh"), "{screen}");
    stage.keys("/new<enter>").screen();
    stage.wait(1_000).keys("<a-y>");
    assert!(stage.screen().contains("the first answer"), "only once it is done");
    stage.event("", Event::Reset {});
    let screen = stage.screen();
    assert!(!screen.contains("the first answer") && !screen.contains("file_miner"), "{screen}");
    assert_eq!(stage.app.ui.run.agents.nodes().len(), 1);
    stage.turn("").says("", "hello again");
    assert!(stage.screen().contains("hello again"));
}

#[test]
fn f8_goes_through_the_themes() {
    let mut stage = Stage::new(80, 24);
    let mut seen = vec![stage.app.ui.themes.name().to_owned()];
    for _ in 0..4 {
        seen.push(stage.keys("<f8>").app.ui.themes.name().to_owned());
    }
    assert_eq!(seen, ["dark", "light", "high-contrast", "plain", "dark"]);
    stage.keys("/theme solarized<enter>");
    assert!(stage.screen().contains("no theme is called solarized; there are dark, light, high-contrast, plain"));
}

#[test]
fn every_command_names_a_key_of_the_table_and_help_shows_it() {
    let mut stage = Stage::new(120, 250);
    let help = stage.keys("<f1>").screen();
    for command in COMMANDS.iter() {
        let mut rows = Context::all().flat_map(Context::rows);
        assert!(rows.any(|row| row.name.split("  ").any(|name| name == command.key)), "{}", command.key);
        assert!(help.contains(command.usage), "{}", command.name);
    }
}

#[test]
fn the_list_and_the_themes_at_four_sizes() {
    for (width, height) in [(120, 40), (80, 24), (56, 20), (34, 10)] {
        let mut stage = Stage::new(width, height);
        stage.turn("").says("", "Looking at **the parsers** now.").keys("wait<enter>/");
        insta::assert_snapshot!(format!("completion_{width}x{height}"), stage.picture());
        for name in ["dark", "light", "high-contrast", "plain"] {
            stage.keys("<c-u>").wait(2_000).keys(&format!("/theme {name}<enter>")).wait(10_000);
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), stage.picture());
        }
    }
}

#[test]
fn a_key_that_begins_a_command_keeps_the_message_and_gives_it_back() {
    let text = |stage: &Stage| stage.app.message.text();
    for (key, command) in [("<f6>", "/model "), ("<f7>", "/export "), ("<a-c>", "/compact "), ("<a-m>", "/budget ")] {
        let mut stage = Stage::new(120, 24);
        stage.keys("half a sentence<left>").keys(key);
        assert_eq!(text(&stage), command);
        let screen = stage.screen();
        assert!(screen.contains("what you were writing comes back after the command"), "{screen}");
        while stage.app.palette.is_open() {
            stage.keys("<esc>");
        }
        assert!(stage.screen().contains("Esc: back"), "{}", stage.screen());
        stage.keys("<esc>X");
        assert_eq!(text(&stage), "half a sentencXe", "the cursor is where it was");
        assert_eq!(stage.sent(), []);
    }
    let mut stage = Stage::new(120, 24);
    stage.keys("half a sentence<a-c>the names of files<enter>");
    assert_eq!(
        stage.effects.last(),
        Some(&Effect::Request(Request::Compact { words: Some("the names of files".to_owned()) }))
    );
    assert_eq!(text(&stage), "half a sentence");
    // One key behind the other changes the command alone.
    stage.keys("<f7><a-m>5<enter>");
    assert_eq!(text(&stage), "half a sentence");
    // A command that is left can be brought back, and an edit is not disturbed.
    stage.keys("<a-c>only the plan<c-c>");
    assert_eq!(text(&stage), "half a sentence");
    stage.keys("<c-_>");
    assert!(text(&stage).starts_with("/compact only the plan"), "{}", text(&stage));
    let mut stage = running();
    stage.keys("pending<enter><f2><enter>, edited<a-c>");
    assert_eq!(text(&stage), "pending, edited");
    assert!(stage.screen().contains("is being edited"), "{}", stage.screen());
}

#[test]
fn pause_and_export_are_carried_out_by_their_own_keys_too() {
    let mut stage = running();
    stage.keys("/pause all<enter>/pause everyone<enter>");
    assert_eq!(stage.effects, [Effect::Request(Request::Pause { agent: None, state: PauseState::Paused })]);
    assert!(stage.screen().contains("not everyone"));
    stage.keys("<f7>");
    assert_eq!(stage.app.message.text(), "/export ");
    stage.keys("led<tab><enter>");
    assert!(matches!(stage.effects.last(), Some(Effect::Write { .. })), "{:?}", stage.effects);
}
