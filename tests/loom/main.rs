//! The queue under every order of its threads: no text is lost, doubled or overtaken, and a stop always holds.
//!
//! The sources of the queue are compiled here once more, with loom's mutex in place of the standard one; loom then
//! runs each test in all orders that matter. Everything else (ids, errors, limits) is the library's own.

#![allow(unreachable_pub)] // What the files of a test share.

mod control;
mod sync;

use std::sync::Arc;

use loom::thread;
use steersman_base::event;

use crate::control::{Cancellable, Interloper};
use crate::event::{Delivery, Pending};

/// What happened to the texts in one order of the threads.
#[derive(Default)]
struct Seen {
    delivered: Vec<Pending>,
    returned: Vec<Pending>,
    pending: Vec<Pending>,
}

impl Seen {
    /// Every text is in one place, once, and no producer's later text stands before its earlier one.
    fn check(&self, expected: &[&str]) {
        let mut all: Vec<&str> = Vec::new();
        for list in [&self.delivered, &self.returned, &self.pending] {
            all.extend(texts(list));
            for producer in ["a", "b"] {
                let own: Vec<&str> = texts(list).into_iter().filter(|text| text.starts_with(producer)).collect();
                assert!(own.is_sorted(), "reordered: {own:?}");
            }
        }
        all.sort_unstable();
        assert_eq!(all, expected, "lost or doubled");
    }
}

fn texts(list: &[Pending]) -> Vec<&str> {
    list.iter().map(|entry| entry.text.as_str()).collect()
}

fn produce(queue: &Arc<Interloper>, texts: [&'static str; 2]) -> thread::JoinHandle<()> {
    let queue = Arc::clone(queue);
    thread::spawn(move || {
        for text in texts {
            queue.inject_user_message(text).unwrap();
        }
    })
}

#[test]
fn two_producers_and_a_worker_that_drains_lose_nothing() {
    loom::model(|| {
        let queue = Arc::new(Interloper::new());
        let producers = [produce(&queue, ["a1", "a2"]), produce(&queue, ["b1", "b2"])];
        let mut seen = Seen::default();
        seen.delivered.extend(queue.take_turn(None));
        seen.delivered.extend(queue.drain());
        for producer in producers {
            producer.join().unwrap();
        }
        seen.pending = queue.peek();
        seen.check(&["a1", "a2", "b1", "b2"]);
    });
}

#[test]
fn a_stop_amid_two_producers_and_a_worker_loses_nothing() {
    loom::model(|| {
        let queue = Arc::new(Interloper::new());
        let cancel = Cancellable::new();
        let producers = [produce(&queue, ["a1", "a2"]), produce(&queue, ["b1", "b2"])];
        let worker = {
            let (queue, cancel) = (Arc::clone(&queue), cancel.clone());
            thread::spawn(move || queue.take_turn(Some(&cancel)))
        };
        let mut seen = Seen { returned: queue.stop(&cancel), ..Seen::default() };
        for producer in producers {
            producer.join().unwrap();
        }
        seen.delivered = worker.join().unwrap();
        seen.pending = queue.peek();
        seen.check(&["a1", "a2", "b1", "b2"]);
    });
}

#[test]
fn a_stop_either_cancels_the_turn_or_takes_its_text_back() {
    loom::model(|| {
        let queue = Arc::new(Interloper::new());
        let cancel = Cancellable::new();
        queue.inject_user_message("a1").unwrap();
        let worker = {
            let (queue, cancel) = (Arc::clone(&queue), cancel.clone());
            thread::spawn(move || queue.take_turn(Some(&cancel)))
        };
        let returned = queue.stop(&cancel);
        let delivered = worker.join().unwrap();
        assert_eq!(returned.len() + delivered.len(), 1);
        assert!(cancel.is_cancelled(), "the turn goes on although it was stopped");
    });
}

#[test]
fn a_text_sent_after_a_stop_never_enters_the_stopped_turn() {
    loom::model(|| {
        let queue = Arc::new(Interloper::new());
        let cancel = Cancellable::new();
        let worker = {
            let (queue, cancel) = (Arc::clone(&queue), cancel.clone());
            thread::spawn(move || queue.drain_unless(&cancel))
        };
        queue.inject_user_message("a1").unwrap();
        let returned = queue.stop(&cancel);
        queue.inject_user_message("a2").unwrap();
        let delivered = worker.join().unwrap();
        assert!(!texts(&delivered).contains(&"a2"), "delivered to a dead turn");
        let next = queue.take_turn(Some(&cancel));
        assert_eq!(texts(&next), ["a2"]);
        assert!(!cancel.is_cancelled());
        Seen { delivered, returned, pending: next }.check(&["a1", "a2"]);
    });
}

#[test]
fn an_edited_text_is_delivered_as_it_was_or_as_it_became_and_the_answer_says_which() {
    loom::model(|| {
        let queue = Arc::new(Interloper::new());
        let id = queue.inject_user_message("a1").unwrap().id;
        let worker = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.drain())
        };
        let held = queue.hold(&id);
        let replaced = queue.replace(&id, "a2").unwrap();
        let released = queue.release(&id);
        let mut delivered = worker.join().unwrap();
        assert!(!held || replaced, "a held text was delivered");
        if delivered.is_empty() {
            assert!(held && replaced && released);
            delivered = queue.drain();
        }
        assert_eq!(texts(&delivered), [if replaced { "a2" } else { "a1" }]);
    });
}

#[test]
fn a_withdrawn_text_is_not_delivered() {
    loom::model(|| {
        let queue = Arc::new(Interloper::new());
        let first = queue.inject_user_message("a1").unwrap().id;
        queue.inject_user_message("a2").unwrap();
        let worker = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.drain())
        };
        let mut seen = Seen::default();
        seen.returned.extend(queue.withdraw_newest());
        seen.returned.splice(0..0, queue.withdraw(&first));
        seen.delivered = worker.join().unwrap();
        seen.check(&["a1", "a2"]);
    });
}

#[test]
fn a_text_for_now_cuts_or_is_withdrawn_but_never_both() {
    loom::model(|| {
        let queue = Arc::new(Interloper::new());
        let cancel = Cancellable::new();
        let id = queue.inject_user_message(("a1", Delivery::Now)).unwrap().id;
        let worker = {
            let (queue, cancel) = (Arc::clone(&queue), cancel.clone());
            thread::spawn(move || queue.take_now(Some(&cancel)))
        };
        let returned = queue.withdraw(&id).into_iter().collect();
        let delivered = worker.join().unwrap();
        Seen { delivered, returned, pending: queue.peek() }.check(&["a1"]);
        assert!(!queue.urgent());
    });
}

#[test]
fn a_text_for_now_cuts_or_a_stop_gives_it_back() {
    loom::model(|| {
        let queue = Arc::new(Interloper::new());
        let cancel = Cancellable::new();
        let worker = {
            let (queue, cancel) = (Arc::clone(&queue), cancel.clone());
            thread::spawn(move || queue.take_now(Some(&cancel)))
        };
        queue.inject_user_message(("a1", Delivery::Now)).unwrap();
        let returned = queue.stop(&cancel);
        queue.inject_user_message(("a2", Delivery::Now)).unwrap();
        let delivered = worker.join().unwrap();
        assert!(!texts(&delivered).contains(&"a2"), "a stopped turn was cut");
        Seen { delivered, returned, pending: queue.peek() }.check(&["a1", "a2"]);
    });
}

#[test]
fn a_waiting_text_made_urgent_is_taken_once() {
    loom::model(|| {
        let queue = Arc::new(Interloper::new());
        let id = queue.inject_user_message("a1").unwrap().id;
        queue.inject_user_message("a2").unwrap();
        let worker = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                let mut taken = queue.take_now(None);
                taken.extend(queue.drain());
                taken
            })
        };
        let found = queue.set_delivery(&id, Delivery::Now);
        let mut delivered = worker.join().unwrap();
        assert!(found || texts(&delivered) == ["a1", "a2"]);
        delivered.extend(queue.drain());
        Seen { delivered, ..Seen::default() }.check(&["a1", "a2"]);
    });
}

#[test]
fn an_edit_that_ends_beside_a_drain_is_delivered_whole_or_still_waits() {
    loom::model(|| {
        let queue = Arc::new(Interloper::new());
        let id = queue.inject_user_message("a1").unwrap().id;
        assert!(queue.hold(&id));
        let worker = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.drain())
        };
        assert!(queue.commit(&id, "a2").unwrap(), "a held text was delivered");
        let delivered = worker.join().unwrap();
        Seen { delivered, pending: queue.drain(), ..Seen::default() }.check(&["a2"]);
    });
}

#[test]
fn two_texts_are_delivered_joined_or_one_by_one() {
    loom::model(|| {
        let queue = Arc::new(Interloper::new());
        let id = queue.inject_user_message("a1").unwrap().id;
        queue.inject_user_message("a2").unwrap();
        let worker = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.drain())
        };
        let merged = queue.merge(&id).unwrap();
        let mut delivered = worker.join().unwrap();
        delivered.extend(queue.drain());
        if merged.is_some() {
            assert_eq!(texts(&delivered), ["a1\n\na2"]);
        } else {
            assert_eq!(texts(&delivered), ["a1", "a2"]);
        }
    });
}

#[test]
fn a_text_sent_to_an_agent_that_ends_is_refused_or_given_back() {
    loom::model(|| {
        let queue = Arc::new(Interloper::new());
        let sender = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.inject_user_message("a1").is_ok())
        };
        let worker = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.drain())
        };
        let returned = queue.close();
        let accepted = sender.join().unwrap();
        let delivered = worker.join().unwrap();
        let expected: &[&str] = if accepted { &["a1"] } else { &[] };
        Seen { delivered, returned, pending: queue.peek() }.check(expected);
        assert!(!queue.pending(), "it waits for an agent that is gone");
    });
}

#[test]
fn a_text_put_back_into_a_queue_that_ends_stays_with_one_of_the_two() {
    loom::model(|| {
        let queue = Arc::new(Interloper::new());
        let id = queue.inject_user_message("a1").unwrap().id;
        let entry = queue.withdraw(&id).unwrap();
        let undo = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.restore(entry, 0))
        };
        let returned = queue.close();
        assert_eq!(undo.join().unwrap(), returned.len() == 1);
        assert!(!queue.pending());
    });
}

#[test]
fn the_end_of_a_stopped_turn_never_keeps_a_text_back_that_was_sent_after_the_stop() {
    loom::model(|| {
        let queue = Arc::new(Interloper::new());
        let cancel = Cancellable::new();
        let worker = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.end_cancelled())
        };
        queue.stop(&cancel);
        queue.inject_user_message("a1").unwrap();
        worker.join().unwrap();
        // Whether the turn ended before the stop, after it, or after the text.
        assert_eq!(texts(&queue.take_turn(Some(&cancel))), ["a1"]);
    });
}

#[test]
fn a_text_sent_while_a_stop_is_under_way_starts_a_turn_that_is_not_cancelled() {
    loom::model(|| {
        let queue = Arc::new(Interloper::new());
        let cancel = Cancellable::new();
        let sender = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                // True once the stop has done its work on the queue: the text comes after it then.
                let is_stopped = queue.paused();
                queue.inject_user_message("a1").unwrap();
                is_stopped
            })
        };
        let worker = {
            let (queue, cancel) = (Arc::clone(&queue), cancel.clone());
            thread::spawn(move || queue.take_turn(Some(&cancel)))
        };
        let returned = queue.stop(&cancel);
        let is_stopped = sender.join().unwrap();
        let delivered = worker.join().unwrap();
        if is_stopped && !delivered.is_empty() {
            assert!(!cancel.is_cancelled(), "the stop reached a turn that began after it");
        }
        Seen { delivered, returned, pending: queue.peek() }.check(&["a1"]);
    });
}

#[test]
fn what_keeps_turns_from_starting_keeps_a_text_back_that_comes_at_any_moment() {
    loom::model(|| {
        let queue = Arc::new(Interloper::new());
        let cancel = Cancellable::new();
        let sender = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.inject_user_message("a1").unwrap())
        };
        let worker = {
            let (queue, cancel) = (Arc::clone(&queue), cancel.clone());
            thread::spawn(move || {
                let delivered = queue.take_turn(Some(&cancel));
                let is_cancelled = cancel.is_cancelled();
                (delivered, is_cancelled)
            })
        };
        let returned = queue.block(&cancel);
        assert!(cancel.is_cancelled(), "the turn that began before goes on while the conversation changes");
        sender.join().unwrap();
        let (mut delivered, _) = worker.join().unwrap();
        assert!(cancel.is_cancelled(), "a turn began meanwhile");
        queue.unblock();
        delivered.extend(queue.take_turn(Some(&cancel)));
        Seen { delivered, returned, pending: queue.peek() }.check(&["a1"]);
    });
}
