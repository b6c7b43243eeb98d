//! The words behind a custom command or a skill: what stands in place of the placeholders.

use steersman_base::protocol::{PromptTemplate, ScriptText, TemplateKind};

fn template(kind: TemplateKind, name: &str, text: &str) -> PromptTemplate {
    let (source, hint, description) = ("user".to_owned(), String::new(), String::new());
    PromptTemplate {
        name: name.to_owned(),
        kind,
        source,
        hint,
        description,
        text: text.to_owned(),
        allowed: Vec::new(),
    }
}

fn filled(text: &str, words: &str) -> String {
    template(TemplateKind::Command, "x", text).fill(words)
}

#[test]
fn all_words_and_single_words_have_their_places() {
    assert_eq!(filled("Fix $ARGUMENTS now.", "the bug in a.rs"), "Fix the bug in a.rs now.");
    assert_eq!(filled("$2 before $1, and $3.", "one two"), "two before one, and .");
    assert_eq!(filled("$1|$2", "\"two words\" 'three more'"), "two words|three more");
    assert_eq!(filled("$1|$2", "“two words” ‘it’s three more’"), "two words|it’s three more");
    assert_eq!(filled("$1|$2|$3", "„two words“ «three more» \"last one"), "two words|three more|\"last");
    assert_eq!(filled("$1|$2", "\"two words"), "\"two|words");
    assert_eq!(filled("$ARGUMENTS[0]/$ARGUMENTS[1]", "a b"), "a/b");
    assert_eq!(filled("$FILE, $TICKET_ID and $HOME", "FILE=a.rs TICKET_ID='no 7'"), "a.rs, no 7 and $HOME");
    assert_eq!(filled("Fix $FILE.", "FILE=\"a b.rs\""), "Fix a b.rs.");
}

#[test]
fn prices_variables_and_other_dollars_stay() {
    let text = "$100, $1.50, $HOME, ${1}, $0, $$, a$";
    assert_eq!(filled(text, ""), text);
    assert_eq!(filled("costs $1.", "much"), "costs much.");
}

#[test]
fn words_without_a_place_are_appended_and_placeholders_without_words_are_empty() {
    assert_eq!(filled("Review the change.", "PR 12"), "Review the change.\n\nARGUMENTS: PR 12");
    assert_eq!(filled("Review $ARGUMENTS", ""), "Review");
}

#[test]
fn what_stands_in_the_words_is_not_filled_in_again() {
    assert_eq!(filled("$ARGUMENTS", "$1 $ARGUMENTS"), "$1 $ARGUMENTS");
    assert_eq!(filled("$1 $2", "$2 b"), "$2 b");
}

#[test]
fn a_shell_line_becomes_a_request_to_the_agent() {
    assert_eq!(
        filled("State: !`git status`\n- !`git log $1`", "main"),
        "State: [run `git status` with bash: its output belongs here]\n- [run `git log main` with bash: its output belongs here]"
    );
    // Not closed on its line, within a word, or empty: it is text.
    for text in ["Oh!`a`", "!`no end\n`", "!``"] {
        assert_eq!(filled(text, ""), text);
    }
}

#[test]
fn shell_lines_are_filled_in_in_order_and_the_words_bring_none() {
    let template = template(TemplateKind::Command, "x", "On !`git branch $1`:\n- !`git log -- $ARGUMENTS`\n$2");
    assert!(template.has_commands());
    assert_eq!(template.commands("main"), ["git branch main", "git log -- main"]);
    let mut outputs = ["a", "b $1 !`c`"].into_iter();
    let text = template.fill_with("main 'x y'", |_| outputs.next().unwrap().to_owned());
    assert_eq!(text, "On a:\n- b $1 !`c`\nx y");
    // What the user types, and what a file has in a word, is no shell line.
    assert_eq!(template.commands("!`rm`"), ["git branch !`rm`", "git log -- !`rm`"]);
    let plain = self::template(TemplateKind::Command, "x", "Say $ARGUMENTS.");
    assert!(plain.commands("!`rm`").is_empty());
    assert_eq!(plain.fill("!`rm`"), "Say !`rm`.");
    let skill = self::template(TemplateKind::Skill, "x", "State: !`git status`");
    assert_eq!(
        skill.fill_with("", |_| "clean".to_owned()),
        "Use this skill.\n\n<skill name=\"x\">\nState: clean\n</skill>"
    );
}

#[test]
fn a_command_is_called_at_the_very_start_and_a_skill_by_its_name() {
    let all = [
        template(TemplateKind::Command, "review", "Review."),
        template(TemplateKind::Command, "front:end", "Build."),
        template(TemplateKind::Skill, "pdf", "Read it."),
    ];
    let called = |draft| PromptTemplate::called(&all, draft).map(|(template, words)| (template.name.as_str(), words));
    assert_eq!(called("/review"), Some(("review", "")));
    assert_eq!(called("/review  a b\nc "), Some(("review", "a b\nc")));
    assert_eq!(called("/review\nc"), Some(("review", "c")));
    assert_eq!(called("/front:end x"), Some(("front:end", "x")));
    assert_eq!(called("/skill pdf page 3"), Some(("pdf", "page 3")));
    assert_eq!(called("/pdf page 3"), Some(("pdf", "page 3")), "as people know it from Claude Code");
    for draft in ["review", " /review", "/reviews", "/pdfs", "/skill review", "/skill", "//review", "/"] {
        assert_eq!(called(draft), None, "{draft}");
    }
    let both = [template(TemplateKind::Skill, "pdf", "Read it."), template(TemplateKind::Command, "pdf", "Print it.")];
    assert_eq!(PromptTemplate::called(&both, "/pdf").map(|(template, _)| template.kind), Some(TemplateKind::Command));
}

#[test]
fn a_skill_comes_behind_the_words_in_a_frame() {
    let skill = template(TemplateKind::Skill, "pdf", "Read it.");
    assert_eq!(skill.fill("page 3"), "page 3\n\n<skill name=\"pdf\">\nRead it.\n</skill>");
    assert_eq!(skill.fill(""), "Use this skill.\n\n<skill name=\"pdf\">\nRead it.\n</skill>");
}

#[test]
fn the_words_have_their_places_in_a_skill_too() {
    let skill = template(TemplateKind::Skill, "fix", "Fix issue $ARGUMENTS of $0 in $1, for $2 and $100.");
    let inside = |words: &str| {
        let text = skill.fill(words);
        text.split_once("<skill name=\"fix\">\n").unwrap().1.trim_end_matches("\n</skill>").to_owned()
    };
    assert_eq!(inside("123 \"two words\""), "Fix issue 123 \"two words\" of 123 in two words, for $2 and $100.");
    // Without words only the place for all of them is empty: a digit may be a price.
    assert_eq!(inside(""), "Fix issue  of $0 in $1, for $2 and $100.");
}

#[test]
fn a_block_of_shell_lines_is_one_command_and_other_blocks_are_text() {
    let block =
        template(TemplateKind::Command, "x", "Begin.\n\n```!\n\"/kit/set up.sh\" $ARGUMENTS\necho two\n```\n\nGo on.");
    assert_eq!(block.commands("a b"), ["\"/kit/set up.sh\" a b\necho two"]);
    assert_eq!(block.fill_with("a", |_| "OUT".to_owned()), "Begin.\n\nOUT\n\nGo on.");
    let other = template(TemplateKind::Command, "x", "~~~! \necho `ls` ```\n~~~\nand !`pwd`\n");
    assert_eq!(other.commands(""), ["echo `ls` ```", "pwd"]);
    assert_eq!(other.fill_with("", |_| "OUT".to_owned()), "OUT\nand OUT");
    for text in
        ["```sh\nls\n```", "```!\nno end", "say ```!\nls\n```", "```!sh\nls\n```", "~~~!\nls\n```", "```!\nls\n~~~"]
    {
        assert!(!template(TemplateKind::Command, "x", text).has_commands(), "{text}");
    }
}

#[test]
fn a_command_is_called_by_its_folder_and_its_owner_too() {
    let mut status = template(TemplateKind::Command, "status", "x");
    status.source = "project · git/tools".to_owned();
    let all = [status];
    let is_called = |draft: &str| PromptTemplate::called(&all, draft).is_some();
    for draft in ["/status", "/tools:status", "/git:tools:status", "/project:git:tools:status", "/project:status"] {
        assert!(is_called(draft), "{draft}");
    }
    for draft in ["/git:status", "/ols:status", "/user:status", "/:status", "/tools:", "status"] {
        assert!(!is_called(draft), "{draft}");
    }
}

#[test]
fn a_text_of_a_script_is_a_call_or_itself() {
    let all = [template(TemplateKind::Command, "go", "x")];
    let text = |text| match PromptTemplate::script_text(&all, text) {
        ScriptText::Command(_, words) => format!("called with {words}"),
        ScriptText::Text(text) => text.to_owned(),
    };
    assert_eq!(text("/go a b"), "called with a b");
    assert_eq!(text("//go a"), "/go a");
    for plain in ["// go", "/gone", "//", "///go", "go", "/etc/hosts //go"] {
        assert_eq!(text(plain), plain);
    }
}
