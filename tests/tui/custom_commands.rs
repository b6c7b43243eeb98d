//! Custom commands and skills on the screen: what is offered, what is sent, and that a command of the program stays one.

use steersman_base::assets;
use steersman_base::event::Delivery;
use steersman_base::protocol::{Notice, PromptTemplate, Reply, Request, SOURCE_FOLDER, TemplateKind, Update};
use steersman_tui::msg::{Effect, Msg};

use crate::support::stage::Stage;

fn template(kind: TemplateKind, name: &str, hint: &str, text: &str) -> PromptTemplate {
    let description = format!("What {name} does");
    let (name, source, hint, text) = (name.to_owned(), "project · team".to_owned(), hint.to_owned(), text.to_owned());
    PromptTemplate { name, kind, source, hint, description, text, allowed: Vec::new() }
}

fn told(mut stage: Stage) -> Stage {
    stage.tell(Msg::Update(Update::Notice(Notice::Templates(vec![
        template(TemplateKind::Command, "review", "[pr]", "Review $1.\nBe brief."),
        template(TemplateKind::Command, "team:release", "", "Release."),
        template(TemplateKind::Command, "state", "", "State: !`git status`\n$ARGUMENTS"),
        template(TemplateKind::Command, "help", "", "Never."),
        template(TemplateKind::Skill, "pdf", "", "Read it."),
    ]))));
    stage
}

fn stage() -> Stage {
    told(Stage::new(80, 24))
}

fn texts(stage: &Stage) -> Vec<String> {
    stage.sent().into_iter().map(|(text, _)| text).collect()
}

#[test]
fn commands_are_offered_with_hint_and_source() {
    let mut stage = stage();
    stage.keys("/rev");
    insta::assert_snapshot!(stage.screen());
    stage.keys("<tab>");
    assert_eq!(stage.app.message.text(), "/review ");
    assert!(stage.screen().contains("→ /review: What review does"), "{}", stage.screen());
    // The folder may be left out, and stands in the name.
    let mut stage = self::stage();
    stage.keys("/relea");
    assert!(stage.screen().contains("/team:release"), "{}", stage.screen());
}

#[test]
fn an_own_command_that_is_typed_to_its_end_runs_and_stands_before_the_names_of_other_programs() {
    let mut stage = Stage::new(80, 24);
    let in_folder = |name: &str| PromptTemplate {
        source: format!("project{SOURCE_FOLDER}git"),
        ..template(TemplateKind::Command, name, "", "Tell the last commits.")
    };
    stage.tell(Msg::Update(Update::Notice(Notice::Templates(vec![in_folder("log")]))));
    stage.keys("/lo");
    let screen = stage.screen();
    assert!(screen.find("/log ").unwrap() < screen.find("/login").unwrap(), "{screen}");
    stage.keys("g<enter>");
    assert_eq!(texts(&stage), ["Tell the last commits."]);
    stage.drain();
    stage.refresh().keys("/git:l");
    assert!(stage.screen().contains("What log does"), "{}", stage.screen());
    stage.keys("og<enter>");
    assert_eq!(texts(&stage).last().unwrap(), "Tell the last commits.");
}

#[test]
fn enter_sends_the_text_filled_in_and_the_history_keeps_what_was_typed() {
    let mut stage = stage();
    stage.keys("/review 12<enter>");
    assert_eq!(texts(&stage), ["Review 12.\nBe brief."]);
    assert!(stage.app.message.is_empty());
    stage.drain();
    stage.refresh().keys("<up>");
    assert_eq!(stage.app.message.text(), "/review 12");
}

#[test]
fn a_custom_command_wins_over_a_name_of_other_programs_and_never_over_a_command() {
    let stage = || {
        let mut stage = Stage::new(80, 24);
        let named = |name: &str| template(TemplateKind::Command, name, "", &format!("My {name}."));
        let skill = template(TemplateKind::Skill, "status", "", "Read it.");
        let all = ["clear", "exit", "models", "help", "new"].map(named).into_iter().chain([skill]).collect();
        stage.tell(Msg::Update(Update::Notice(Notice::Templates(all))));
        stage
    };
    for (typed, sent) in [("/clear", "My clear."), ("/exit", "My exit."), ("/models x", "My models.\n\nARGUMENTS: x")] {
        let mut stage = stage();
        stage.keys(typed);
        let own = format!("→ {}: What", typed.split(' ').next().unwrap());
        assert!(stage.screen().contains(&own), "{}", stage.screen());
        stage.keys("<enter>");
        assert_eq!(texts(&stage), [sent]);
        assert!(!stage.effects.contains(&Effect::Quit));
    }
    for typed in ["/help", "/new"] {
        let mut stage = stage();
        stage.keys(&format!("{typed}<enter>"));
        assert_eq!(texts(&stage), [""; 0], "{typed}");
    }
    let mut stage = stage();
    stage.keys("/cle");
    let screen = stage.screen();
    assert!(screen.contains("What clear does (project · team)") && !screen.contains("here /new"), "{screen}");
    let mut stage = self::stage();
    stage.keys("/cle");
    assert!(stage.screen().contains("here /new"), "{}", stage.screen());
}

#[test]
fn tab_and_now_deliver_it_as_any_other_text() {
    let mut stage = stage();
    stage.turn("").call("", "c1", "grep");
    stage.keys("/team:release <tab>");
    stage.keys("/now /review 13<enter>");
    stage.keys("/note /review 14<enter>");
    let sent = [
        ("Release.", Delivery::FollowUp),
        ("Review 13.\nBe brief.", Delivery::Now),
        ("Review 14.\nBe brief.", Delivery::Steer),
    ];
    assert_eq!(stage.sent(), sent.map(|(text, delivery)| (text.to_owned(), delivery)));
}

#[test]
fn a_paste_among_the_words_is_filled_in_whole() {
    let mut stage = stage();
    let pasted = "line of a paste\n".repeat(30);
    stage.keys("/review ");
    stage.paste(&pasted);
    stage.keys("<enter>");
    assert!(texts(&stage)[0].starts_with("Review line."), "{:?}", texts(&stage));
}

#[test]
fn a_command_of_the_program_and_an_escaped_one_stay_what_they_are() {
    let mut stage = stage();
    stage.keys("/help<enter>");
    assert!(texts(&stage).is_empty());
    stage.keys("<esc>//review 12<enter>");
    assert_eq!(texts(&stage), ["/review 12"]);
}

#[test]
fn a_skill_is_sent_behind_the_words_and_an_unknown_one_is_said() {
    let mut stage = stage();
    stage.keys("/skill p");
    assert!(stage.screen().contains("/skill pdf"), "{}", stage.screen());
    stage.keys("<tab>page 3<enter>");
    assert_eq!(texts(&stage), ["page 3\n\n<skill name=\"pdf\">\nRead it.\n</skill>"]);
    stage.keys("/pd");
    assert!(stage.screen().contains("/skill pdf"), "its name alone is offered too: {}", stage.screen());
    stage.keys("<esc><home><c-k>/pdf page 4<enter>");
    assert_eq!(texts(&stage)[1..], ["page 4\n\n<skill name=\"pdf\">\nRead it.\n</skill>"]);
    stage.keys("/skill nothing<enter>");
    assert!(stage.screen().contains("there is no skill nothing; /skill lists all"), "{}", stage.screen());
    stage.keys("/skill<enter>");
    assert!(stage.screen().contains("pdf (project · team): What pdf does"), "{}", stage.screen());
}

#[test]
fn init_asks_for_an_agents_file_with_the_words_behind_it() {
    let mut stage = stage();
    stage.keys("/init<enter>");
    assert_eq!(texts(&stage), [assets::INIT_PROMPT.trim_end()]);
    let mut stage = self::stage();
    stage.keys("/init only the tests<enter>");
    assert_eq!(texts(&stage), [format!("{}\nonly the tests", assets::INIT_PROMPT)]);
}

#[test]
fn the_line_output_sends_and_lists_them_too() {
    let mut stage = told(Stage::in_lines());
    stage.line("/review 12");
    assert_eq!(texts(&stage), ["Review 12.\nBe brief."]);
    stage.line("/skill");
    let written = stage.written();
    assert!(written.contains("pdf (project · team): What pdf does"), "{written}");
}

/// Returns what the session was asked to fill in.
fn fills(stage: &Stage) -> Vec<&str> {
    let calls = stage.effects.iter();
    calls
        .filter_map(
            |effect| if let Effect::Request(Request::Fill { call }) = effect { Some(call.as_str()) } else { None },
        )
        .collect()
}

fn filled_in(stage: &mut Stage, outcome: Result<&str, &str>) {
    let outcome = outcome.map(str::to_owned).map_err(str::to_owned);
    stage.tell(Msg::Update(Update::Reply(Reply::Filled { call: "/state now".to_owned(), outcome })));
}

#[test]
fn a_command_with_shell_lines_stays_in_the_message_until_they_have_run() {
    let mut stage = stage();
    stage.keys("/state now<enter>");
    assert_eq!((fills(&stage), texts(&stage)), (vec!["/state now"], Vec::new()));
    assert_eq!(stage.app.message.text(), "/state now");
    let screen = stage.screen();
    assert!(screen.contains("→ /state: its shell lines run, then it is sent"), "{screen}");
    assert!(screen.contains("Esc: stops its shell lines"), "{screen}");
    // What is typed meanwhile is a text of its own.
    stage.keys("more");
    filled_in(&mut stage, Ok("State: clean\nnow"));
    assert_eq!(texts(&stage), ["State: clean\nnow"]);
    assert_eq!(stage.app.message.text(), "more");
    assert_eq!(stage.remembered, ["/state now"]);
}

#[test]
fn a_command_whose_shell_lines_fail_is_in_the_message_and_can_be_sent_again() {
    let mut stage = stage();
    stage.keys("/state now<enter>");
    filled_in(&mut stage, Err("`git status`: the user declined this"));
    assert!(stage.screen().contains("not sent: `git status`: the user declined this"), "{}", stage.screen());
    assert_eq!(stage.app.message.text(), "/state now");
    stage.keys("<enter>");
    assert_eq!(fills(&stage).len(), 2);
    filled_in(&mut stage, Ok("State: dirty"));
    assert_eq!(texts(&stage), ["State: dirty"]);
    assert!(stage.app.message.is_empty());
    // A late answer sends nothing more.
    filled_in(&mut stage, Ok("State: old"));
    assert_eq!(texts(&stage).len(), 1);
}

#[test]
fn esc_stops_the_shell_lines_and_nothing_else() {
    let mut stage = stage();
    stage.turn("");
    stage.keys("/state now<enter>").later(5_000).keys("<esc>");
    let stops = |request: &Request| stage.effects.contains(&Effect::Request(request.clone()));
    assert!(stops(&Request::StopFill) && !stops(&Request::Stop));
    filled_in(&mut stage, Err("stopped"));
    assert_eq!(stage.app.message.text(), "/state now");
    assert!(texts(&stage).is_empty());
}

#[test]
fn the_line_output_waits_for_shell_lines_too_and_gives_the_line_back() {
    let mut stage = told(Stage::in_lines());
    stage.line("/state now");
    assert_eq!(fills(&stage), ["/state now"]);
    filled_in(&mut stage, Err("stopped"));
    let written = stage.written();
    assert!(written.contains("not sent: stopped"), "{written}");
    stage.line("/back").line("");
    assert_eq!(fills(&stage).len(), 2);
    filled_in(&mut stage, Ok("State: clean"));
    assert_eq!(texts(&stage), ["State: clean"]);
}

#[test]
fn hostile_names_and_descriptions_are_shown_and_not_obeyed() {
    let mut stage = Stage::new(80, 24);
    let mut hostile = template(TemplateKind::Command, "evil", "\u{1b}[2J", "x");
    hostile.description = "\u{1b}]0;owned\u{7}\u{202e}".to_owned();
    stage.tell(Msg::Update(Update::Notice(Notice::Templates(vec![hostile]))));
    stage.keys("/ev");
    let screen = stage.screen();
    assert!(screen.contains("/evil") && !screen.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{screen}");
}
