//! The pending list as a list: what each key does with an entry, and what the screen says when the agent was first.

use std::time::Duration;

use steersman_base::event::{Delivery, Event, Pending};
use steersman_base::id::AgentId;
use steersman_base::protocol::{Reply, Update};
use steersman_core::control::{Cancellable, Staleness};
use steersman_tui::approval::ShownQuestion;
use steersman_tui::msg::Msg;
use steersman_tui::state::Pane;

use crate::support::doubles::texts_of;
use crate::support::json_client::through_json;
use crate::support::stage::Stage;

/// A running turn with these texts pending for the main agent.
pub fn waiting(texts: &[&str]) -> Stage {
    let mut stage = Stage::new(120, 36);
    stage.keys("start<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false).call("", "c1", "bash");
    for text in texts {
        stage.keys(text).keys("<enter>");
    }
    stage
}

pub fn queue(stage: &Stage) -> Vec<String> {
    texts_of(stage.handle.interloper())
}

pub fn entries(stage: &Stage) -> Vec<Pending> {
    stage.handle.interloper().peek()
}

pub fn said(stage: &Stage) -> String {
    stage.app.status.message(stage.app.ui.now).unwrap_or_default().to_owned()
}

#[test]
fn the_middle_one_of_three_is_deleted_and_brought_back_to_its_place() {
    let mut stage = waiting(&["one", "two", "three"]);
    stage.keys("<f2>kd");
    assert_eq!(queue(&stage), ["one", "three"]);
    assert_eq!(said(&stage), "m3 is deleted; u or Ctrl+_ brings it back");
    stage.keys("u");
    assert_eq!(queue(&stage), ["one", "two", "three"]);
    assert_eq!(said(&stage), "m3 is back in its place");
}

#[test]
fn many_characters_at_once_and_pastes_leave_the_list_alone() {
    let texts = ["do it all", "merge them", "Just now", "Keep that", "first of all", "so be it", "\neven now", "u too"];
    for text in texts {
        let mut stage = waiting(&["one", "two", "three"]);
        let before = entries(&stage);
        let typed = Msg::Typed(text.to_owned(), stage.app.ui.now);
        stage.keys("<f2>k").tell(typed).keys("<f2>k").paste(text);
        assert_eq!(entries(&stage), before, "{text}");
        assert!(stage.app.message.editing().is_none() && stage.app.focus.is_on(Pane::Composer), "{text}");
        assert_eq!(stage.app.message.text(), format!("{text}{text}"));
    }
}

#[test]
fn an_edit_keeps_the_entry_from_being_delivered_and_puts_the_new_text_in_its_old_place() {
    let mut stage = waiting(&["one", "two", "three"]);
    stage.keys("draft").keys("<f2>k<enter>");
    assert_eq!(stage.app.message.text(), "two");
    assert!(entries(&stage)[1].held);
    let taken = stage.drain();
    assert_eq!(taken.iter().map(|entry| entry.text.as_str()).collect::<Vec<_>>(), ["one", "three"]);
    stage.keys(" better<enter>");
    assert_eq!(queue(&stage), ["two better"]);
    assert!(!entries(&stage)[0].held);
    // The next key is for the list again, as the one before the edit was.
    assert_eq!((stage.app.message.text().as_str(), stage.app.focus.pane), ("draft", Pane::Pending));
}

#[test]
fn an_edit_that_is_left_changes_nothing_and_what_was_written_comes_back() {
    let mut stage = waiting(&["one"]);
    stage.keys("draft").keys("<f2>e better<esc>");
    assert_eq!((queue(&stage), stage.app.message.text().as_str()), (vec!["one".to_owned()], "draft"));
    assert!(!entries(&stage)[0].held);
    stage.keys("<c-_>");
    assert_eq!(stage.app.message.text(), "one better");
    stage.keys("<enter>");
    assert_eq!((queue(&stage), stage.app.message.text().as_str()), (vec!["one better".to_owned()], "draft"));
}

#[test]
fn what_was_delivered_before_the_key_is_not_touched_and_the_screen_says_so() {
    for (key, sentence) in [
        ("d", "m2 was delivered before it could be deleted"),
        ("e", "m2 was delivered before it could be edited"),
        ("J", "m2 was delivered before it could be moved"),
        ("f", "m2 was delivered before it could be made a follow-up"),
        ("<f5>", "m2 was delivered already"),
        ("m", "m2 was delivered before it could be joined with the next"),
    ] {
        let mut stage = waiting(&["one", "two"]);
        stage.keys("<f2>k");
        let taken = stage.handle.interloper().drain();
        assert_eq!(taken.len(), 2);
        stage.keys(key);
        assert_eq!(said(&stage), sentence);
        assert!(queue(&stage).is_empty());
    }
}

#[test]
fn f5_delivers_the_selected_entry_or_the_draft_now() {
    let mut stage = waiting(&["one", "two"]);
    stage.keys("<f2>k<f5>");
    assert_eq!(entries(&stage)[0].delivery, Delivery::Now);
    stage.keys("<esc>").keys("three<f5>");
    assert_eq!(stage.sent().last().unwrap(), &("three".to_owned(), Delivery::Now));
}

#[test]
fn texts_of_an_ended_agent_come_back_before_the_draft_once() {
    let mut stage = waiting(&[]);
    stage.spawn("", "file_miner 0").turn("file_miner 0");
    let cancellable = stage.handle.cancellable().child();
    stage.handle.agent_controls().enroll(&"file_miner 0".into(), &cancellable);
    stage.keys("<f3><down><enter>look here<enter>").keys("draft");
    let entries = stage.handle.agent_controls().dismiss(&"file_miner 0".into());
    assert_eq!(entries.len(), 1);
    stage.wait(400).event("file_miner 0", Event::Returned { entries });
    assert_eq!(stage.app.message.text(), "look here\n\ndraft");
    assert!(stage.app.ui.run.pending.is_empty());
    assert_eq!(said(&stage), "file_miner 0 has ended: m2 is back in the message");
}

/// A running turn of the main agent and of a child, each with its own queue.
pub fn crew(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.keys("start<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false).call("", "c1", "agent").spawn("", "file_miner 0").turn("file_miner 0");
    stage.call("file_miner 0", "x1", "grep").wait(3_000);
    let cancellable = stage.handle.cancellable().child();
    stage.handle.agent_controls().enroll(&"file_miner 0".into(), &cancellable);
    stage
}

/// Several agents' queues with an entry of each kind: steer, follow-up, now, stale and one that is edited.
fn every_kind(width: u16, height: u16) -> Stage {
    let mut stage = crew(width, height);
    stage.keys("an old order<enter>");
    let age = Staleness { age: Some(Duration::ZERO), steps: None };
    stage.handle.interloper().set_staleness(age);
    assert!(stage.drain().is_empty());
    stage.handle.interloper().set_staleness(Staleness::default());
    // The question about it is left: it stays in the list, held.
    stage.screen();
    let seen = stage.app.questions.current_id().map(|id| ShownQuestion { id, top: 0, shown: 1, below: 0 });
    let shown = Msg::Shown(seen, stage.app.ui.now);
    stage.tell(shown).wait(1_000).keys("<esc>");
    stage.keys("focus on the parser<enter>then write a summary<tab>stop that at once<f5>");
    stage.keys("<f3><down><enter>look at the tests first<enter>").keys("<f3><up><enter>and a draft");
    stage
}

#[test]
fn j_and_k_and_capitals_move_the_selection_and_the_entry() {
    let mut stage = waiting(&["one", "two", "three"]);
    stage.keys("<f2><home>J");
    assert_eq!(queue(&stage), ["two", "one", "three"]);
    stage.keys("J<down>");
    assert_eq!(queue(&stage), ["two", "three", "one"]);
    stage.keys("KK").keys("jd");
    assert_eq!(queue(&stage), ["one", "three"]);
    stage.keys("<end><up>d");
    assert_eq!(queue(&stage), ["three"]);
}

#[test]
fn f_and_s_flip_between_follow_up_and_steer() {
    let mut stage = waiting(&["one"]);
    stage.keys("<f2>f");
    assert_eq!(entries(&stage)[0].delivery, Delivery::FollowUp);
    assert!(stage.screen().contains("↳ m2 one"), "{}", stage.screen());
    stage.keys("s");
    assert_eq!(entries(&stage)[0].delivery, Delivery::Steer);
    assert!(stage.screen().contains("⋯ m2 one"));
}

#[test]
fn two_entries_are_joined_and_parted_again() {
    let mut stage = waiting(&["one", "two", "three"]);
    stage.keys("<f2><home>m");
    assert_eq!(queue(&stage), ["one\n\ntwo", "three"]);
    assert_eq!(said(&stage), "m2 and m3 are one text; u or Ctrl+_ parts them");
    stage.keys("u");
    assert_eq!(queue(&stage), ["one", "two", "three"]);
    stage.keys("<end>m");
    assert_eq!(said(&stage), "there is no text after m4 to join it with");
}

#[test]
fn a_joined_text_that_was_delivered_or_changed_is_not_parted() {
    let mut stage = waiting(&["one", "two"]);
    stage.keys("<f2><home>m");
    assert_eq!(stage.handle.interloper().drain().len(), 1);
    stage.keys("u");
    assert_eq!((queue(&stage).len(), said(&stage).as_str()), (0, "m2 was delivered before it could be parted"));
    let mut stage = waiting(&["one", "two"]);
    stage.keys("<f2><home>me!<enter>").keys("<c-_>");
    assert_eq!(
        (queue(&stage), said(&stage).as_str()),
        (vec!["one\n\ntwo!".to_owned()], "m2 was changed since, it stays joined")
    );
}

#[test]
fn a_selection_that_was_delivered_never_slips_to_its_neighbour() {
    let mut stage = waiting(&["one", "two"]);
    stage.keys("<f2><home>f");
    stage.keys("<home>");
    let taken = stage.drain();
    stage.deliver(&taken, true).keys("d");
    assert_eq!(queue(&stage), ["one"], "m3 was selected, and it is delivered");
    assert_eq!(said(&stage), "m3 is delivered; m2 is selected now");
    stage.keys("d");
    assert!(queue(&stage).is_empty());
}

#[test]
fn enter_on_a_list_that_has_run_empty_never_sends_the_draft() {
    let mut stage = waiting(&["one"]);
    stage.keys("half a draft<f2>");
    let taken = stage.drain();
    stage.deliver(&taken, true).keys("<enter>");
    assert_eq!((stage.app.message.text().as_str(), queue(&stage).len()), ("half a draft", 0));
    assert!(stage.screen().contains("▸ nothing is pending any more"), "{}", stage.screen());
}

#[test]
fn an_entry_on_its_way_is_not_acted_on() {
    let mut stage = waiting(&["one"]);
    stage.keys("<f2>");
    stage.drain();
    stage.keys("d");
    assert_eq!(said(&stage), "m2 is being delivered, it cannot be changed any more");
}

#[test]
fn f5_while_editing_puts_the_new_text_in_and_delivers_it_now() {
    let mut stage = waiting(&["one"]);
    stage.keys("<f2>e, better<f5>");
    let [entry] = &entries(&stage)[..] else { panic!() };
    assert_eq!((entry.text.as_str(), entry.delivery, entry.held), ("one, better", Delivery::Now, false));
}

#[test]
fn a_blank_edit_is_refused_and_goes_on() {
    let mut stage = waiting(&["one"]);
    stage.keys("<f2>e<c-u><enter>");
    assert_eq!(said(&stage), "m2 was not put back: the message is blank");
    assert!(entries(&stage)[0].held && stage.app.message.editing().is_some());
    stage.keys("new<enter>");
    assert_eq!(queue(&stage), ["new"]);
}

#[test]
fn what_is_edited_is_neither_deleted_nor_joined_nor_edited_twice() {
    let mut stage = waiting(&["one", "two"]);
    stage.keys("<f2><home>e changed<f2>");
    for keys in ["<home>d", "<home>m", "<end>e", "<a-up>"] {
        stage.keys(keys);
        assert_eq!(said(&stage), "m2 is being edited: first Enter, or Esc", "{keys}");
    }
    stage.keys("<home>e");
    assert_eq!((stage.app.focus.pane, stage.app.message.text().as_str()), (Pane::Composer, "one changed"));
}

#[test]
fn a_stop_while_editing_keeps_the_edit_in_its_place_among_the_texts_that_come_back() {
    let mut stage = waiting(&["one", "two", "three"]);
    stage.keys("draft<f2>ke changed");
    let back = stage.handle.stop();
    stage.tell(Msg::Update(Update::Reply(Reply::Stopped(back))));
    assert_eq!(stage.app.message.text(), "one\n\ntwo changed\n\nthree\n\ndraft");
    stage.keys("!");
    assert!(stage.app.message.text().contains("two changed!"), "the cursor stays where the user wrote");
    assert!(stage.app.message.editing().is_none() && stage.app.ui.run.pending.is_empty());
}

#[test]
fn an_edit_whose_agent_ends_becomes_a_draft_whoever_is_first() {
    for first in ["event", "enter"] {
        let mut stage = crew(120, 36);
        stage.keys("<f3><down><enter>look here<enter>").keys("draft<f2>e, please");
        let entries = stage.handle.agent_controls().dismiss(&"file_miner 0".into());
        let returned = Event::Returned { entries };
        if first == "event" {
            stage.event("file_miner 0", returned);
            assert_eq!(said(&stage), "file_miner 0 has ended: m2, which you edit, is a draft now");
        } else {
            stage.keys("<enter>");
            assert_eq!(said(&stage), "m2 was not put back, its agent has ended: the text is a draft now");
            stage.event("file_miner 0", returned);
        }
        assert_eq!(stage.app.message.text(), "look here, please\n\ndraft", "{first}");
        assert!(stage.app.ui.run.pending.is_empty() && stage.app.message.editing().is_none());
    }
}

#[test]
fn a_text_that_cannot_be_put_back_because_its_agent_ended_goes_into_the_message() {
    let mut stage = crew(120, 36);
    stage.keys("<f3><down><enter>look here<enter>").keys("draft<f2>d");
    assert!(stage.handle.agent_controls().dismiss(&"file_miner 0".into()).is_empty());
    stage.keys("u");
    assert_eq!(stage.app.message.text(), "look here\n\ndraft");
    assert_eq!(said(&stage), "file_miner 0 has ended: m2 is back in the message");
}

#[test]
fn a_deleted_entry_comes_back_to_its_place_whatever_was_delivered_meanwhile() {
    let mut stage = waiting(&[]);
    stage.keys("one<tab>two<tab>three<tab>").keys("<f2>kd");
    let taken = stage.take_turn();
    assert_eq!(taken[0].text, "one");
    stage.keys("u");
    assert_eq!(queue(&stage), ["two", "three"]);
}

#[test]
fn the_list_at_four_sizes() {
    for (width, height) in [(120, 40), (80, 24), (56, 20), (34, 10)] {
        let size = format!("{width}x{height}");
        insta::assert_snapshot!(format!("list_watched_{size}"), every_kind(width, height).picture());
        insta::assert_snapshot!(
            format!("list_focused_{size}"),
            every_kind(width, height).keys("<f2><home><down>").picture()
        );
        insta::assert_snapshot!(
            format!("list_editing_{size}"),
            every_kind(width, height).keys("<f2><home><down>e").picture()
        );
    }
}

#[test]
fn a_text_for_a_sub_agent_cannot_become_a_follow_up_that_would_never_be_delivered() {
    let mut stage = waiting(&[]);
    let flag = stage.handle.cancellable().clone();
    let child = stage.handle.agent_controls().enroll(&"file_miner 0".into(), &flag);
    stage.spawn("", "file_miner 0").turn("file_miner 0").call("file_miner 0", "d1", "grep");
    stage.keys("@file_miner 0 words<enter>").keys("<f2>f");
    assert_eq!(child.interloper.peek()[0].delivery, Delivery::Steer);
    assert_eq!(said(&stage), "m2 was not made a follow-up: a sub-agent has one turn only, nothing can follow it");
    stage.keys("e!<tab>");
    assert_eq!(child.interloper.peek()[0].delivery, Delivery::Steer);
    assert_eq!(said(&stage), "m2 was not put back: a sub-agent has one turn only, nothing can follow it");
    stage.keys("<enter>");
    assert_eq!(texts_of(&child.interloper), ["words!"]);
    assert!(!child.interloper.peek()[0].held);
}

#[test]
fn what_was_removed_before_a_new_conversation_comes_back_as_a_draft_and_starts_nothing() {
    let mut stage = waiting(&["one", "two"]);
    stage.keys("<f2>d<esc>");
    assert_eq!(queue(&stage), ["one"]);
    stage.keys("/new<enter>").screen();
    stage.wait(1_000).keys("<a-y>").event("", Event::Reset {});
    assert_eq!(stage.app.message.text(), "one", "what was still pending");
    stage.keys("<c-_>");
    assert!(queue(&stage).is_empty(), "no text of the old conversation enters the new one by itself");
    assert_eq!(stage.app.message.text(), "two\n\none");
}

#[test]
fn what_an_agent_gives_back_as_it_ends_is_not_said_to_be_delivered_and_an_edit_of_it_comes_back_once() {
    for (keys, end) in [("<f2>d", None), ("<f2>e!", Some("<enter>"))] {
        let mut stage = waiting(&[]);
        let child = stage.handle.agent_controls().enroll(&"file_miner 0".into(), &Cancellable::new());
        stage.spawn("", "file_miner 0").turn("file_miner 0").call("file_miner 0", "d1", "grep");
        stage.keys("@file_miner 0 words<enter>");
        let mut returned = Vec::new();
        // The key comes between the end of the queue and the word of it.
        for (number, keys) in [keys].into_iter().chain(end).enumerate() {
            if number == usize::from(end.is_some()) {
                returned = child.interloper.close();
            }
            stage.keys(keys);
        }
        assert!(said(&stage).contains("has ended"), "{}", said(&stage));
        stage.wait(1_000).event("file_miner 0", Event::Returned { entries: returned });
        let text = if end.is_some() { "@file_miner 0 words!" } else { "@file_miner 0 words" };
        assert_eq!(stage.app.message.text(), text);
    }
}

#[test]
fn what_the_screen_shows_is_what_peek_says_and_what_it_sends_goes_through_inject_user_message() {
    let mut stage = waiting(&["steer"]);
    let queue = stage.handle.interloper().clone();
    stage.keys("follow<tab>");
    let id = queue.inject_user_message("from a library").unwrap().id;
    let later = queue.inject_user_message(("later", Delivery::FollowUp)).unwrap().id;
    stage.refresh();
    let shown: Vec<_> = stage.app.ui.run.pending.entries().iter().map(|entry| entry.message.clone()).collect();
    assert_eq!(shown, through_json(&queue.peek()), "but for what the wire leaves out of a time");
    assert_eq!(stage.handle.peek(), [(AgentId::main(), queue.peek())]);
    let pending = queue.peek();
    let told: Vec<_> = pending.iter().map(|entry| (entry.text.as_str(), entry.delivery)).collect();
    let (steer, follow) = (Delivery::Steer, Delivery::FollowUp);
    assert_eq!(told, [("steer", steer), ("from a library", steer), ("follow", follow), ("later", follow)]);
    assert_eq!((&pending[1].id, &pending[3].id), (&id, &later), "under the ids that the caller got");
}
