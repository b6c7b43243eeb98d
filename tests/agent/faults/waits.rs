//! How long is waited (P4), what is asked again at all (P6), what silence means (P7), and Esc.

use std::time::Duration;

use serde_json::json;
use steersman_base::event::Event;

use super::{
    FIRST, Fault, Move, Reply, answered, cut, done, failed, fault, look, moves, pause, raw, refuses, says, text,
    thinking,
};
use crate::support::family::Family;
use crate::support::server::{Gate, Step};

pub fn rows() -> Vec<Fault> {
    let mut rows = retry_after();
    rows.extend(silences());
    rows.extend(stops());
    rows
}

fn retry_after() -> Vec<Fault> {
    let busy = |name: &'static str, value: &'static str| {
        move |family| vec![refuses(family, 429, "rate_limit_error", "Slow down.").header(name, value), says("Seen it.")]
    };
    let mut rows = Vec::new();
    for (value, wait) in [
        ("1", 1_000..=1_000),
        ("0.02", 20..=20),
        ("0", FIRST),
        ("-3", FIRST),
        ("abc", FIRST),
        ("NaN", FIRST),
        ("", FIRST),
        ("Sat, 01 Jan 2000 00:00:00 GMT", FIRST),
        ("99999999999999999999999", FIRST),
    ] {
        let name = format!("retry-after: {value}");
        rows.push(fault(name, busy("retry-after", value), answered("Seen it.")).waits([wait]));
    }
    rows.push(fault("retry-after-ms: 15", busy("retry-after-ms", "15"), answered("Seen it.")).waits([15..=15]));
    rows.push(fault("no retry-after", busy("x-none", "1"), answered("Seen it.")).retried());
    let delay = |_| {
        let details = json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.03s"}]);
        let error = json!({"error": {"code": 429, "message": "Slow down.", "status": "RESOURCE_EXHAUSTED", "details": details}});
        vec![Reply::json(429, error), says("Seen it.")]
    };
    rows.push(fault("a delay in the body", delay, answered("Seen it.")).waits([30..=30]));
    let words =
        |family| vec![refuses(family, 429, "rate_limit_error", "Limit. Please try again in 40ms."), says("Seen it.")];
    rows.push(fault("a delay in words", words, answered("Seen it.")).waits([40..=40]));
    for (value, time) in [("999999", "11 days"), ("61", "61 s"), ("Tue, 01 Dec 2099 00:00:00 GMT", "* days")] {
        let script =
            move |family| vec![refuses(family, 429, "rate_limit_error", "Slow down.").header("retry-after", value)];
        let sentence = format!("the server asks to wait {time}: Slow down.");
        rows.push(fault(format!("a wait too long to make unasked: {value}"), script, failed(sentence)));
    }
    let hours = |family| vec![refuses(family, 429, "rate_limit_error", "Limit. Please try again in 1h7m30.5s. Bye.")];
    rows.push(fault("a wait too long, in words", hours, failed("the server asks to wait 67 min: *")));
    let within = |family: Family| {
        let busy = family.error_event(529, "overloaded_error", "Overloaded");
        vec![moves([Move::Wire(busy)]), says("Seen it.")]
    };
    rows.push(fault("busy, said within the stream before anything", within, answered("Seen it.")).retried());
    let shown = |family: Family| {
        let busy = family.error_event(529, "overloaded_error", "Overloaded");
        vec![moves([text("Half "), Move::Wire(busy), pause(60_000)])]
    };
    rows.push(fault("busy, said within the stream behind a text", shown, failed("the server *Overloaded")));
    rows
}

fn silences() -> Vec<Fault> {
    let short = Duration::from_millis(1_500);
    let silent = "the server was silent for 1 s";
    let head = |_| vec![says("Never.").gated(&Gate::new())];
    let middle = |_| vec![moves([text("Half "), pause(60_000)])];
    let thought = |_| vec![moves([thinking("Hm. "), pause(60_000)])];
    let call = |_| vec![moves([look(), pause(60_000)])];
    let body = |_| {
        let steps = [Step::Bytes(b"{\"id\":".to_vec()), Step::Pause(Duration::from_mins(1))];
        vec![Reply::stream(steps)]
    };
    let alive = |_| {
        let pings = (0..8).flat_map(|_| [raw(": ping\n\n"), pause(300)]);
        vec![moves(pings.chain([text("Seen it."), done()]))]
    };
    let bare = |_| {
        let pings = (0..8).flat_map(|_| [raw(":\n"), pause(300)]);
        vec![moves(pings.chain([text("Seen it."), done()]))]
    };
    let endless = |_| {
        let pings = (0..200).flat_map(|_| [raw(": ping\n\n"), pause(100)]);
        vec![moves([raw(": ping\n\n")].into_iter().chain(pings))]
    };
    let slow = |_| {
        let letters = "Seen it.".chars().flat_map(|letter| [text(&letter.to_string()), pause(150)]);
        vec![moves(letters.chain([done()]))]
    };
    vec![
        fault("silence before the answer", head, failed(silent)).silence(short),
        fault("silence within the text", middle, failed(silent)).silence(short),
        fault("silence within a thought", thought, failed(silent)).silence(short),
        fault("silence behind a call", call, failed(silent)).silence(short),
        fault("silence within a body", body, failed(silent)).silence(short).whole(),
        fault("comments keep a stream alive", alive, answered("Seen it.")).silence(short),
        fault("bare comments keep a stream alive", bare, answered("Seen it.")).silence(short),
        fault("comments without end", endless, failed("*nothing but keep-alives for 0 min*")).keep_alive(short),
        fault("a slow model", slow, answered("Seen it.")).silence(short),
    ]
}

fn stops() -> Vec<Fault> {
    let retrying: fn(&Event) -> bool = |event| matches!(event, Event::Retrying { .. });
    let speaking: fn(&Event) -> bool = |event| matches!(event, Event::AssistantDelta { .. });
    let starting: fn(&Event) -> bool = |event| matches!(event, Event::RoundStarted { .. });
    let busy = |family| vec![refuses(family, 503, "overloaded_error", "Busy.").header("retry-after", "50")];
    let twice = |_| vec![Reply::hang_up()];
    let middle = |_| vec![moves([text("Half "), pause(60_000)])];
    let cut_behind = |_| vec![moves([text("Half "), look(), cut()])];
    let mut waiting = fault("Esc in a long wait", busy, super::Ends::Cancelled).esc(retrying);
    waiting.waits = vec![50_000..=50_000];
    let mut broken = fault("Esc in the wait behind a hang-up", twice, super::Ends::Cancelled).esc(retrying);
    broken.waits = vec![FIRST];
    vec![
        waiting,
        broken,
        fault("Esc in the middle of a text", middle, super::Ends::Cancelled).esc(speaking),
        fault("Esc at the first word of a reply that is cut", cut_behind, super::Ends::Cancelled).esc(speaking),
        fault("Esc before the request", |_| vec![], super::Ends::Cancelled).esc(starting).requests(0),
    ]
}
