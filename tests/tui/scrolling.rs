//! Stories of the transcript's view: following, anchors, pages, small repaints.

use serde_json::json;

use crate::transcript::{Pane, assistant, call, delta, envelope, numbered, result, rich, told, user};
use steersman_base::event::Envelope;
use steersman_base::id::AgentId;
use steersman_tui::transcript::cell::CellId;
use steersman_tui::transcript::reduce::Transcript;
use steersman_tui::transcript::scroll::{Point, Position, Scroll, ScrollRequest};

#[test]
fn the_view_follows_the_growing_end() {
    let mut pane = Pane::new(numbered(100), (30, 5));
    assert_eq!(pane.rows(), ["› message 97", "", "› message 98", "", "› message 99"]);
    pane.apply(delta("grow\n\nings"));
    assert_eq!(pane.rows(), ["› message 99", "", "✦ grow", "", "  ings"]);
    assert!(pane.scroll.is_following());
}

#[test]
fn an_anchored_view_stays_put_while_content_grows_and_says_what_is_new() {
    let mut pane = Pane::new(numbered(100), (30, 5));
    pane.rows();
    let before = pane.ask(ScrollRequest::Up(20));
    assert_eq!(before[0], "› message 87");
    pane.apply(delta("a\n\nb\n\nc"));
    pane.apply(user("another"));
    let after = pane.rows();
    assert_eq!(after[..4], before[..4]);
    assert_eq!(pane.metrics.new, 2);
    assert!(after[4].ends_with("↓ 2 new"), "{after:?}");
    // However often it is drawn: nobody has seen them yet.
    assert_eq!(pane.rows(), after);
    pane.apply(user("one more"));
    assert!(pane.rows()[4].ends_with("↓ 3 new"));
    assert_eq!(pane.metrics.new, 3);
    pane.ask(ScrollRequest::Bottom);
    assert!(pane.scroll.is_following());
    assert_eq!(pane.metrics.new, 0);
}

#[test]
fn an_anchor_survives_a_change_of_the_width() {
    let text = "some words that wrap differently at every width of the screen";
    let mut pane = Pane::new(told((0..50).map(|number| user(&format!("{number} {text}")))), (60, 6));
    pane.rows();
    pane.ask(ScrollRequest::Up(31));
    let Position::Anchor(Point { cell, .. }) = pane.scroll.position() else { panic!("not anchored") };
    for width in [20, 35, 60, 12] {
        pane.size.0 = width;
        pane.rows();
        assert!(
            matches!(pane.scroll.position(), Position::Anchor(Point { cell: now, .. }) if now == cell),
            "at {width}"
        );
    }
}

#[test]
fn the_first_visible_words_come_back_with_the_width() {
    let long = (0..400).map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ");
    let mut pane = Pane::new(told([user("first"), assistant(&long), user("last")]), (97, 6));
    pane.rows();
    let wide = pane.ask(ScrollRequest::Up(20));
    let word = wide[0].split_whitespace().next().unwrap().to_owned();
    for width in [34, 61, 20, 150, 8, 97] {
        pane.size.0 = width;
        let rows = pane.rows();
        assert!(rows[0].contains(&word) || width == 8, "{word} at {width}: {rows:?}");
    }
    assert_eq!(pane.rows(), wide, "many widths later it is the same view");
    pane.theme = steersman_tui::theme::Theme::plain();
    assert_eq!(pane.rows(), wide, "and in other colours");
}

#[test]
fn pages_lines_and_ends_lead_where_they_say() {
    let mut pane = Pane::new(numbered(50), (30, 6));
    pane.rows();
    assert_eq!(pane.ask(ScrollRequest::Top)[0], "› message 0");
    assert_eq!(pane.ask(ScrollRequest::Down(2))[0], "› message 1");
    assert_eq!(pane.ask(ScrollRequest::PageDown)[1], "› message 4");
    assert_eq!(pane.ask(ScrollRequest::PageUp)[0], "› message 1");
    assert_eq!(pane.ask(ScrollRequest::Up(999))[0], "› message 0");
    assert!(!pane.scroll.is_following());
    pane.ask(ScrollRequest::Down(999));
    assert!(pane.scroll.is_following());
}

#[test]
fn several_requests_between_two_frames_add_up() {
    let mut pane = Pane::new(numbered(50), (30, 6));
    pane.rows();
    for _ in 0..3 {
        pane.scroll.ask(ScrollRequest::Up(2));
    }
    let once = pane.rows();
    assert_eq!(pane.rows(), once, "settled requests are not repeated");
    let mut other = Pane::new(numbered(50), (30, 6));
    other.rows();
    assert_eq!(other.ask(ScrollRequest::Up(6)), once);
}

#[test]
fn a_selected_cell_can_be_brought_into_view_moving_as_little_as_possible() {
    let mut pane = Pane::new(numbered(50), (30, 5));
    pane.rows();
    let still = pane.ask(ScrollRequest::Reveal(pane.transcript.cells().get(48).unwrap().id()));
    assert_eq!(still[4], "› message 49", "it was in view already");
    let up = pane.ask(ScrollRequest::Reveal(pane.transcript.cells().get(20).unwrap().id()));
    assert_eq!(up[1], "› message 20");
    let down = pane.ask(ScrollRequest::Reveal(pane.transcript.cells().get(30).unwrap().id()));
    assert!(down[4].starts_with("› message 30"), "{down:?}");
}

#[test]
fn opening_and_folding_a_cell_above_keeps_the_anchor() {
    let mut transcript = told([call("1", "read", &json!({"path": "a"})), result("1", &"line\n".repeat(30))]);
    for number in 0..30 {
        transcript.apply(&envelope(user(&format!("message {number}"))));
    }
    let mut pane = Pane::new(transcript, (30, 5));
    pane.rows();
    let before = pane.ask(ScrollRequest::Up(10));
    pane.transcript.toggle(CellId::default());
    assert_eq!(pane.rows()[..4], before[..4]);
    pane.transcript.toggle_all();
    assert_eq!(pane.rows()[..4], before[..4]);
}

#[test]
fn what_fits_is_always_followed() {
    let mut pane = Pane::new(numbered(2), (30, 10));
    pane.ask(ScrollRequest::Up(3));
    assert!(pane.scroll.is_following());
}

// --- drawing

#[test]
fn no_size_and_no_width_panics() {
    let mut transcript = rich();
    for _ in 0..2 {
        transcript.toggle_all();
        for width in 0..24 {
            for height in [0, 1, 2, 5, 60] {
                let mut pane = Pane::new(transcript.clone(), (width, height));
                for request in
                    [ScrollRequest::Top, ScrollRequest::PageDown, ScrollRequest::Up(1), ScrollRequest::Bottom]
                {
                    pane.scroll.ask(request);
                    pane.draw();
                }
            }
        }
    }
}

#[test]
fn a_growing_tail_repaints_only_what_changed() {
    let mut pane = Pane::new(rich(), (80, 24));
    pane.apply(delta("some"));
    let before = pane.draw();
    pane.apply(delta(" words"));
    let after = pane.draw();
    let changed = before.content.iter().zip(&after.content).filter(|(before, after)| before != after).count();
    assert_eq!(changed, " words".trim_start().len());
}

#[test]
fn a_cache_given_another_transcript_starts_afresh() {
    let mut pane = Pane::new(numbered(3), (30, 5));
    pane.rows();
    let mut other = Transcript::new(AgentId::new("researcher 0"));
    let event = Envelope { agent: "researcher 0".into(), ..envelope(user("its task")) };
    other.apply(&event);
    pane.transcript = other;
    pane.scroll = Scroll::new();
    assert_eq!(pane.rows(), ["› its task", "", "", "", ""]);
}
