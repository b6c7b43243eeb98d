//! The three controls by themselves: the queue of pending messages, the cancel flag and the step budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use steersman_base::error::Refused;
use steersman_base::event::{Delivery, Pending};
use steersman_base::id::MessageId;
use steersman_base::limits;
use steersman_core::control::{Cancellable, Interloper, Modes, QueueMode};

use crate::support::doubles::texts_of;

fn texts(entries: &[Pending]) -> Vec<&str> {
    entries.iter().map(|entry| entry.text.as_str()).collect()
}

fn queue_of(texts: &[&str]) -> (Interloper, Vec<MessageId>) {
    let queue = Interloper::new();
    let ids = texts.iter().map(|text| queue.inject_user_message(*text).unwrap().id).collect();
    (queue, ids)
}

// --- the seed's surface

#[test]
fn texts_leave_in_the_order_in_which_they_came() {
    let (queue, ids) = queue_of(&["one", "two", "three"]);
    let taken = queue.drain();
    assert_eq!(texts(&taken), ["one", "two", "three"]);
    assert_eq!(taken.iter().map(|entry| entry.id.clone()).collect::<Vec<_>>(), ids);
    assert_eq!(ids, ["m1".into(), "m2".into(), "m3".into()] as [MessageId; 3]);
}

#[test]
fn draining_empties_the_queue_and_an_empty_queue_drains_to_nothing() {
    let (queue, _) = queue_of(&["one"]);
    assert_eq!(queue.drain().len(), 1);
    assert!(!queue.pending());
    assert!(queue.drain().is_empty());
}

#[test]
fn peek_is_a_copy_and_takes_nothing() {
    let (queue, _) = queue_of(&["one", "two"]);
    let mut seen = texts_of(&queue);
    seen.clear();
    assert_eq!(texts_of(&queue), ["one", "two"]);
}

#[test]
fn a_text_is_kept_exactly_as_typed() {
    let (queue, _) = queue_of(&["  über\n\tall \u{200B} "]);
    assert_eq!(texts(&queue.drain()), ["  über\n\tall \u{200B} "]);
}

#[test]
fn the_queue_prints_its_name_and_how_many_wait() {
    let (queue, _) = queue_of(&[]);
    assert_eq!(queue.to_string(), "Interloper");
    queue.inject_user_message("one").unwrap();
    queue.inject_user_message("two").unwrap();
    assert_eq!(queue.to_string(), "Interloper(2 pending)");
    assert_eq!(format!("{queue:?}"), "Interloper(2 pending)");
}

#[test]
fn ids_are_never_used_twice() {
    let (queue, _) = queue_of(&["one", "two"]);
    queue.drain();
    assert_eq!(queue.inject_user_message("three").map(|pending| pending.id), Ok(MessageId::new("m3")));
}

// --- refusals (D16)

#[test]
fn a_text_that_shows_nothing_is_refused_and_changes_nothing() {
    let queue = Interloper::new();
    let watched = count_changes(&queue);
    for blank in ["", " ", "\n\t\r ", "\u{200B}\u{200D}", "\u{3164}", "\u{00A0}", "\u{FEFF}", "\u{2800}", "\u{1B}"] {
        assert_eq!(queue.inject_user_message(blank), Err(Refused::Blank), "{blank:?}");
    }
    assert!(!queue.pending());
    assert_eq!(watched.load(Ordering::SeqCst), 0);
    // A refused text uses up no id.
    assert_eq!(queue.inject_user_message("x").map(|pending| pending.id), Ok(MessageId::new("m1")));
}

#[test]
fn a_text_of_exactly_the_longest_size_is_taken_and_one_byte_more_is_not() {
    let queue = Interloper::new();
    let longest = "x".repeat(limits::MESSAGE_BYTES);
    assert!(queue.inject_user_message(longest.clone()).is_ok());
    assert_eq!(queue.inject_user_message(longest + "x"), Err(Refused::TooLong));
    assert_eq!(queue.peek().len(), 1);
}

#[test]
fn a_full_queue_refuses_until_something_leaves() {
    let queue = Interloper::new();
    for n in 0..limits::PENDING_ENTRIES {
        queue.inject_user_message(format!("text {n}")).unwrap();
    }
    assert_eq!(queue.inject_user_message("one more"), Err(Refused::TooMany));
    assert!(queue.withdraw_newest().is_some());
    assert!(queue.inject_user_message("one more").is_ok());
}

#[test]
fn the_refusals_name_the_limits_that_are_in_force() {
    assert_eq!(limits::MESSAGE_BYTES, 2 * 1024 * 1024);
    assert_eq!(Refused::TooLong.to_string(), "the message is longer than 2 MiB");
    assert_eq!(limits::PENDING_ENTRIES, 100);
    assert_eq!(Refused::TooMany.to_string(), "100 messages are pending already");
    assert_eq!(Refused::Blank.to_string(), "the message is blank");
}

// --- a list, not a pipe (D4)

#[test]
fn a_withdrawn_text_is_never_delivered() {
    let (queue, ids) = queue_of(&["one", "two", "three"]);
    assert_eq!(queue.withdraw(&ids[1]).unwrap().text, "two");
    assert_eq!(queue.withdraw(&ids[1]), None);
    assert_eq!(texts(&queue.drain()), ["one", "three"]);
}

#[test]
fn taking_back_starts_with_the_newest() {
    let (queue, _) = queue_of(&["one", "two"]);
    assert_eq!(queue.withdraw_newest().unwrap().text, "two");
    assert_eq!(queue.withdraw_newest().unwrap().text, "one");
    assert_eq!(queue.withdraw_newest(), None);
}

#[test]
fn a_replaced_text_keeps_its_place_and_id() {
    let (queue, ids) = queue_of(&["one", "two", "three"]);
    assert_eq!(queue.replace(&ids[1], "zwei"), Ok(true));
    assert_eq!(texts_of(&queue), ["one", "zwei", "three"]);
    assert_eq!(queue.peek()[1].id, ids[1]);
}

#[test]
fn a_refused_replacement_leaves_the_text_as_it_was() {
    let (queue, ids) = queue_of(&["one"]);
    assert_eq!(queue.replace(&ids[0], " \u{200B}"), Err(Refused::Blank));
    assert_eq!(queue.replace(&ids[0], "x".repeat(limits::MESSAGE_BYTES + 1)), Err(Refused::TooLong));
    assert_eq!(texts_of(&queue), ["one"]);
}

#[test]
fn a_moved_entry_is_delivered_where_it_was_put() {
    let (queue, ids) = queue_of(&["one", "two", "three"]);
    assert!(queue.move_to(&ids[2], 0));
    assert_eq!(texts_of(&queue), ["three", "one", "two"]);
    assert!(queue.move_to(&ids[2], 1));
    assert_eq!(texts_of(&queue), ["one", "three", "two"]);
    assert!(queue.move_to(&ids[0], usize::MAX));
    assert_eq!(texts_of(&queue), ["three", "two", "one"]);
}

#[test]
fn a_held_entry_is_passed_over_and_keeps_its_place() {
    let (queue, ids) = queue_of(&["one", "two", "three"]);
    assert!(queue.hold(&ids[0]));
    assert_eq!(texts(&queue.drain()), ["two", "three"]);
    queue.inject_user_message("four").unwrap();
    assert!(queue.release(&ids[0]));
    assert_eq!(texts(&queue.drain()), ["one", "four"]);
}

#[test]
fn nothing_but_held_entries_starts_no_turn() {
    let (queue, ids) = queue_of(&["one"]);
    queue.hold(&ids[0]);
    assert!(queue.pending());
    assert!(!queue.deliverable());
    assert!(queue.take_turn(None).is_empty());
    queue.release(&ids[0]);
    assert!(queue.deliverable());
}

#[test]
fn every_change_of_an_entry_that_left_says_so() {
    let (queue, ids) = queue_of(&["one"]);
    queue.drain();
    let gone = &ids[0];
    assert_eq!(queue.withdraw(gone), None);
    assert_eq!(queue.replace(gone, "x"), Ok(false));
    assert!(!queue.move_to(gone, 0));
    assert!(!queue.set_delivery(gone, Delivery::FollowUp));
    assert!(!queue.hold(gone));
    assert!(!queue.release(gone));
    assert!(!queue.pending());
}

// --- delivery (D3, D19)

#[test]
fn a_follow_up_waits_at_a_boundary_and_starts_a_turn_after_the_steers() {
    let queue = Interloper::new();
    queue.inject_user_message(("later", Delivery::FollowUp)).unwrap();
    queue.inject_user_message(("now", Delivery::Steer)).unwrap();
    queue.inject_user_message(("last", Delivery::FollowUp)).unwrap();
    assert_eq!(texts(&queue.drain()), ["now"]);
    assert!(queue.drain().is_empty());
    assert_eq!(texts(&queue.take_turn(None)), ["later"]);
    assert_eq!(texts(&queue.take_turn(None)), ["last"]);
    assert!(queue.take_turn(None).is_empty());
}

#[test]
fn steers_left_at_the_end_of_a_turn_start_one_turn_together() {
    let (queue, _) = queue_of(&["one", "two"]);
    queue.inject_user_message(("later", Delivery::FollowUp)).unwrap();
    assert_eq!(texts(&queue.take_turn(None)), ["one", "two"]);
    assert_eq!(texts(&queue.take_turn(None)), ["later"]);
}

#[test]
fn the_modes_decide_how_many_leave_at_once() {
    let (queue, _) = queue_of(&["one", "two"]);
    queue.inject_user_message(("three", Delivery::FollowUp)).unwrap();
    queue.inject_user_message(("four", Delivery::FollowUp)).unwrap();
    assert_eq!(Modes::default(), Modes { steer: QueueMode::All, follow_up: QueueMode::OneAtATime });
    queue.set_modes(Modes { steer: QueueMode::OneAtATime, follow_up: QueueMode::All });
    assert_eq!(texts(&queue.drain()), ["one"]);
    assert_eq!(texts(&queue.take_turn(None)), ["two"]);
    assert_eq!(texts(&queue.take_turn(None)), ["three", "four"]);
}

#[test]
fn the_delivery_of_a_pending_text_can_be_changed() {
    let (queue, ids) = queue_of(&["one", "two"]);
    assert!(queue.set_delivery(&ids[0], Delivery::FollowUp));
    assert_eq!(texts(&queue.drain()), ["two"]);
    assert_eq!(queue.peek()[0].delivery, Delivery::FollowUp);
}

// --- stop, pause, and who clears the flag (D2, D5, D9)

#[test]
fn a_stop_gives_everything_back_in_order_and_nothing_is_sent_any_more() {
    let (queue, ids) = queue_of(&["one", "two"]);
    queue.inject_user_message(("three", Delivery::FollowUp)).unwrap();
    queue.hold(&ids[1]);
    let cancel = Cancellable::new();
    let returned = queue.stop(&cancel);
    assert_eq!(texts(&returned), ["one", "two", "three"]);
    assert!(cancel.is_cancelled());
    assert!(!queue.pending());
    assert!(queue.paused());
}

#[test]
fn a_stopped_turn_takes_nothing_at_its_last_boundary() {
    let cancel = Cancellable::new();
    let queue = Interloper::new();
    queue.stop(&cancel);
    queue.inject_user_message("typed after the stop").unwrap();
    assert!(queue.drain_unless(&cancel).is_empty());
    assert_eq!(texts(&queue.take_turn(Some(&cancel))), ["typed after the stop"]);
    assert!(!cancel.is_cancelled());
    queue.inject_user_message("typed into the new turn").unwrap();
    assert_eq!(texts(&queue.drain_unless(&cancel)), ["typed into the new turn"]);
}

#[test]
fn only_a_turn_that_starts_clears_the_cancel_flag() {
    let queue = Interloper::new();
    let cancel = Cancellable::new();
    cancel.cancel();
    assert!(queue.take_turn(Some(&cancel)).is_empty());
    assert!(cancel.is_cancelled(), "nothing started, so nothing is cleared");
    queue.inject_user_message("one").unwrap();
    assert!(cancel.is_cancelled(), "an injection clears nothing");
    queue.drain();
    assert!(cancel.is_cancelled(), "a boundary clears nothing");
    queue.inject_user_message("two").unwrap();
    queue.take_turn(Some(&cancel));
    assert!(!cancel.is_cancelled());
}

#[test]
fn after_a_failed_turn_the_queue_waits_until_the_next_text_is_sent() {
    let (queue, _) = queue_of(&["one"]);
    queue.pause();
    assert!(!queue.deliverable());
    assert!(queue.take_turn(None).is_empty());
    assert_eq!(texts_of(&queue), ["one"]);
    queue.inject_user_message("two").unwrap();
    assert_eq!(texts(&queue.take_turn(None)), ["one", "two"]);
}

#[test]
fn after_a_failed_turn_a_resume_sends_what_waited() {
    let (queue, _) = queue_of(&["one"]);
    queue.pause();
    let watched = count_changes(&queue);
    queue.resume();
    assert_eq!(watched.load(Ordering::SeqCst), 1, "the worker must hear of it");
    assert_eq!(texts(&queue.take_turn(None)), ["one"]);
}

#[test]
fn a_refused_text_does_not_resume_the_queue() {
    let (queue, _) = queue_of(&["one"]);
    queue.pause();
    queue.inject_user_message("  ").unwrap_err();
    assert!(queue.paused());
}

// --- one list, many acts

#[test]
fn a_text_taken_back_can_be_put_back_where_it_was() {
    let (queue, ids) = queue_of(&["one", "two", "three"]);
    let taken = queue.withdraw(&ids[1]).unwrap();
    assert!(queue.restore(taken.clone(), 1));
    assert!(!queue.restore(taken, 1), "it is there already");
    assert_eq!(texts_of(&queue), ["one", "two", "three"]);
    assert_eq!(queue.peek()[1].id, ids[1], "under its own name");
}

#[test]
fn two_neighbours_become_one_and_whoever_is_being_edited_stays_alone() {
    let (queue, ids) = queue_of(&["one", "two", "three"]);
    for edited in [0, 1] {
        queue.hold(&ids[edited]);
        assert_eq!(queue.merge(&ids[0]), Ok(None), "the end of the edit would overwrite one of them");
        queue.release(&ids[edited]);
    }
    let (first, second) = queue.merge(&ids[0]).unwrap().unwrap();
    assert_eq!((first.text.as_str(), second.id), ("one", ids[1].clone()));
    assert_eq!(texts_of(&queue), ["one\n\ntwo", "three"]);
    assert_eq!(queue.merge(&ids[2]), Ok(None), "nothing is behind it");

    let long = "x".repeat(limits::MESSAGE_BYTES);
    queue.replace(&ids[0], long.clone()).unwrap();
    assert_eq!(queue.merge(&ids[0]), Err(Refused::TooLong));
    assert_eq!(texts_of(&queue), [long.as_str(), "three"]);
}

#[test]
fn a_queue_that_ended_gives_back_what_waits_and_takes_nothing_more() {
    let (queue, ids) = queue_of(&["one", "two"]);
    let taken = queue.withdraw(&ids[0]).unwrap();
    assert_eq!(texts(&queue.close()), ["two"]);
    assert_eq!(queue.inject_user_message("three"), Err(Refused::Ended));
    assert!(!queue.restore(taken, 0));
    assert!(!queue.pending() && !queue.deliverable());
}

#[test]
fn the_queue_of_another_agent_has_names_and_settings_of_the_session() {
    let (queue, _) = queue_of(&["one"]);
    queue.set_modes(Modes { steer: QueueMode::OneAtATime, ..Modes::default() });
    let sibling = queue.sibling();
    assert_eq!(sibling.inject_user_message("two").map(|pending| pending.id), Ok(MessageId::new("m2")));
    assert_eq!(queue.inject_user_message("three").map(|pending| pending.id), Ok(MessageId::new("m3")));
    sibling.inject_user_message("four").unwrap();
    assert_eq!(texts(&sibling.drain()), ["two"]);
    assert_eq!(texts_of(&queue), ["one", "three"]);
}

// --- watchers

fn count_changes(queue: &Interloper) -> Arc<AtomicUsize> {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    queue.watch(Arc::new(move || {
        counter.fetch_add(1, Ordering::SeqCst);
    }));
    count
}

#[test]
fn watchers_hear_of_every_change_and_of_nothing_else() {
    let queue = Interloper::new();
    let count = count_changes(&queue);
    let mut expected = 0;
    let mut heard = |changed: bool, what: &str| {
        expected += usize::from(changed);
        assert_eq!(count.load(Ordering::SeqCst), expected, "{what}");
    };
    let one = queue.inject_user_message("one").unwrap().id;
    heard(true, "inject");
    queue.peek();
    heard(false, "reading");
    queue.hold(&one);
    heard(true, "hold");
    queue.drain();
    heard(false, "a drain that takes nothing");
    queue.release(&one);
    heard(true, "release");
    queue.replace(&one, "uno").unwrap();
    heard(true, "replace");
    queue.set_delivery(&one, Delivery::FollowUp);
    heard(true, "set_delivery");
    queue.move_to(&one, 0);
    heard(true, "move_to");
    queue.take_turn(None);
    heard(true, "take_turn");
    queue.withdraw(&one);
    queue.withdraw_newest();
    heard(false, "withdrawing what is gone");
    queue.inject_user_message("two").unwrap();
    heard(true, "inject");
    queue.drain();
    heard(true, "drain");
    queue.stop(&Cancellable::new());
    heard(false, "a stop that takes nothing back");
}

#[test]
fn a_watcher_may_use_the_queue() {
    let queue = Arc::new(Interloper::new());
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (weak, log) = (Arc::downgrade(&queue), Arc::clone(&seen));
    queue.watch(Arc::new(move || {
        if let Some(queue) = weak.upgrade() {
            log.lock().unwrap().push(texts_of(&queue));
        }
    }));
    queue.inject_user_message("one").unwrap();
    queue.drain();
    assert_eq!(*seen.lock().unwrap(), [vec!["one".to_owned()], vec![]]);
}

#[test]
fn a_panicking_watcher_loses_no_text_and_bricks_nothing() {
    let queue = Interloper::new();
    queue.watch(Arc::new(|| panic!("a watcher fails")));
    let count = count_changes(&queue);
    let id = queue.inject_user_message("one").unwrap().id;
    assert_eq!(count.load(Ordering::SeqCst), 1, "the others are still called");
    let taken = queue.drain();
    assert_eq!((taken.len(), &taken[0].id), (1, &id));
    assert!(queue.inject_user_message("two").is_ok());
}

// --- threads

#[test]
fn many_producers_and_drains_deliver_every_text_once_and_in_the_producers_order() {
    const PRODUCERS: usize = 4;
    const TEXTS: usize = 250;
    let queue = Interloper::new();
    let left = AtomicUsize::new(PRODUCERS);
    let mut drained: Vec<Vec<Pending>> = thread::scope(|scope| {
        for producer in 0..PRODUCERS {
            let (queue, left) = (&queue, &left);
            scope.spawn(move || {
                for n in 0..TEXTS {
                    // A full queue refuses and keeps the text: try until a drain made room.
                    while queue.inject_user_message(format!("{producer} {n}")) == Err(Refused::TooMany) {
                        thread::yield_now();
                    }
                }
                left.fetch_sub(1, Ordering::SeqCst);
            });
        }
        let drains: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let mut taken = Vec::new();
                    loop {
                        let done = left.load(Ordering::SeqCst) == 0;
                        taken.extend(queue.drain());
                        if done {
                            return taken;
                        }
                        thread::yield_now();
                    }
                })
            })
            .collect();
        drains.into_iter().map(|drain| drain.join().unwrap()).collect()
    });
    drained.push(queue.drain());

    let number = |entry: &Pending| entry.id.as_str().trim_start_matches('m').parse::<usize>().unwrap();
    for own in &drained {
        assert!(own.iter().map(number).is_sorted(), "one drain sees the order of acceptance");
    }
    let mut all: Vec<Pending> = drained.into_iter().flatten().collect();
    all.sort_by_key(number);
    assert_eq!(all.iter().map(number).collect::<Vec<_>>(), (1..=PRODUCERS * TEXTS).collect::<Vec<_>>());
    for producer in 0..PRODUCERS {
        let own: Vec<&str> = texts(&all).into_iter().filter(|text| text.starts_with(&format!("{producer} "))).collect();
        assert_eq!(own, (0..TEXTS).map(|n| format!("{producer} {n}")).collect::<Vec<_>>());
    }
}
