//! The server refuses: statuses (P2, P3), every shape of body, spent accounts (P5), overflow (P16), redirects (P19).

use crate::support::refusals::too_long;
use serde_json::{Value, json};

use super::{Fault, answered, failed, fault, moves, refuses, says, text};
use crate::support::server::{Reply, Step};

pub fn rows() -> Vec<Fault> {
    let mut rows = statuses();
    rows.extend(shapes());
    rows.extend(spent());
    rows.extend(overflows());
    rows.extend(redirects());
    rows
}

fn statuses() -> Vec<Fault> {
    let mut rows = Vec::new();
    for (status, kind) in [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (405, "invalid_request_error"),
        (406, "invalid_request_error"),
        (410, "not_found_error"),
        (418, "invalid_request_error"),
        (422, "invalid_request_error"),
        (451, "permission_error"),
    ] {
        let about_key = if [401, 403].contains(&status) { " (*, with a key)" } else { "" };
        let sentence = format!("the server answered {status}: Not like that.{about_key}");
        let script = move |family| vec![refuses(family, status, kind, "Not like that.")];
        rows.push(fault(format!("status {status}"), script, failed(sentence)));
    }
    for status in [408, 409, 425, 429, 500, 502, 503, 504, 520, 529] {
        let busy = move |family| refuses(family, status, "overloaded_error", "Busy.").header("retry-after", "0.01");
        let script = move |family| vec![busy(family), says("Seen it.")];
        rows.push(fault(format!("status {status}, then well"), script, answered("Seen it.")).waits([10..=10]));
    }
    let down = |family| refuses(family, 503, "overloaded_error", "Down.").header("retry-after", "0.01");
    let sentence = "the server answered 503: Down. (tried 4 times)";
    rows.push(
        fault(
            "down for good",
            move |family| vec![down(family), down(family), down(family), down(family)],
            failed(sentence),
        )
        .waits([10..=10, 10..=10, 10..=10]),
    );
    let sometimes = |family| vec![refuses(family, 500, "api_error", "Oops."), says("Seen it.")];
    rows.push(fault("an error inside, then well", sometimes, answered("Seen it.")).retried());
    rows.push(fault("an error inside, then well, in one body", sometimes, answered("Seen it.")).retried().whole());
    let never = |family| vec![refuses(family, 500, "api_error", "Oops.").header("x-should-retry", "false")];
    rows.push(fault("the server says that it is hopeless", never, failed("the server answered 500: Oops.")));
    let worth = |family| {
        let once = refuses(family, 400, "invalid_request_error", "Lock.");
        vec![once.header("x-should-retry", "true").header("retry-after-ms", "10"), says("Seen it.")]
    };
    rows.push(fault("the server says that it is worth it", worth, answered("Seen it.")).waits([10..=10]));
    rows
}

/// The same refusal in every shape that a body was seen in.
fn shapes() -> Vec<Fault> {
    let page = "<!DOCTYPE html>\n<html><head>\n<title>502 Bad\n Gateway</title></head><body>nginx</body></html>";
    let long = "x".repeat(2_000);
    let shapes: [(&str, String, &str); 20] = [
        ("a string", json!({"error": "No."}).to_string(), "No."),
        ("an object", json!({"error": {"message": "No."}}).to_string(), "No."),
        ("a message", json!({"message": "No."}).to_string(), "No."),
        ("FastAPI", json!({"detail": "No."}).to_string(), "No."),
        ("FastAPI, a list", json!({"detail": [{"loc": ["body"], "msg": "No."}, {"msg": "Never."}]}).to_string(), "No.; Never."),
        ("errors", json!({"errors": [{"message": "No."}]}).to_string(), "No."),
        ("xAI", json!({"code": "Client specified an invalid argument", "error": "No."}).to_string(), "No."),
        ("Gemini, a list", json!([{"error": {"code": 400, "message": "No.", "status": "INVALID_ARGUMENT"}}]).to_string(), "No."),
        (
            "OpenRouter",
            json!({"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": "{\"error\":{\"message\":\"No.\"}}"}}}).to_string(),
            "Provider returned error: No.",
        ),
        ("pretty", format!("{:#}", json!({"error": {"message": "No."}})), "No."),
        ("an event", format!("event: error\ndata: {}\n\n", json!({"error": {"message": "No."}})), "No."),
        ("an event behind a comment", format!(": ping\r\n\r\ndata: {}\r\n", json!({"message": "No."})), "No."),
        ("a field of a stream", format!("error: {}\n", json!({"error": {"message": "No."}})), "No."),
        ("plain text", "No.\n".to_owned(), "No."),
        ("a page", page.to_owned(), "a web page, \"502 Bad Gateway\""),
        ("a page without a title", "<html>".to_owned(), "a web page"),
        ("nothing", String::new(), "Bad Request"),
        ("an object without words", "{\"ok\":false}".to_owned(), "{\"ok\":false}"),
        ("a text that is cut", "{\"error\":{\"message\":\"No".to_owned(), "{\"error\":{\"message\":\"No"),
        ("a very long text", long, "xxx*…"),
    ];
    let mut rows: Vec<Fault> = shapes
        .into_iter()
        .map(|(name, body, words)| {
            let sentence = format!("the server answered 400: {words}");
            fault(format!("a refusal as {name}"), move |_| vec![Reply::body(400, &body)], failed(sentence))
        })
        .collect();
    let echo = |_| vec![Reply::body(401, "Incorrect API key provided: sk-canary-0123456789.")];
    rows.push(fault(
        "a refusal that tells the key",
        echo,
        failed("the server answered 401: Incorrect API key provided: *. (*, with a key)"),
    ));
    let hostile = "\u{1b}]0;owned\u{7}\u{202e}No\u{9b}31m.";
    let script = move |family| vec![refuses(family, 400, "invalid_request_error", hostile)];
    rows.push(fault(
        "a refusal with control characters",
        script,
        failed(format!("the server answered 400: {hostile}")),
    ));
    let bytes = |_| vec![Reply::bytes(400, vec![0xff, 0xfe, b'N', b'o', 0x80])];
    rows.push(fault("a refusal that is no text", bytes, failed("the server answered 400: \u{fffd}\u{fffd}No\u{fffd}")));
    let endless = |_| {
        let steps = (0..64).map(|_| Step::Bytes(vec![b'x'; 64 * 1024]));
        vec![Reply::stream(steps).status(400)]
    };
    rows.push(fault("a refusal of 4 MiB", endless, failed("the server answered 400: xxx*…")));
    rows
}

fn spent() -> Vec<Fault> {
    let bodies: [(&str, u16, Value); 13] = [
        (
            "OpenAI",
            429,
            json!({"error": {"message": "You exceeded your current quota, please check your plan and billing details.", "type": "insufficient_quota", "param": null, "code": "insufficient_quota"}}),
        ),
        (
            "OpenAI, a limit",
            429,
            json!({"error": {"message": "Your project has reached its spend limit.", "type": "insufficient_quota", "code": "enforced_spend_limit_reached"}}),
        ),
        (
            "OpenAI, a hard limit",
            400,
            json!({"error": {"message": "Billing hard limit has been reached", "type": "invalid_request_error", "code": "billing_hard_limit_reached"}}),
        ),
        (
            "Anthropic",
            400,
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}),
        ),
        (
            "Anthropic, a limit",
            400,
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."}}),
        ),
        (
            "DeepSeek",
            402,
            json!({"error": {"message": "Insufficient Balance", "type": "unknown_error", "param": null, "code": "invalid_request_error"}}),
        ),
        (
            "Moonshot",
            429,
            json!({"error": {"message": "Your account is not active, current state: exhausted", "type": "exceeded_current_quota_error"}}),
        ),
        (
            "OpenRouter",
            402,
            json!({"error": {"message": "This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 0.", "code": 402}}),
        ),
        (
            "OpenRouter, a free model",
            429,
            json!({"error": {"message": "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day", "code": 429}}),
        ),
        (
            "xAI",
            403,
            json!({"code": "The caller does not have permission to execute the specified operation", "error": "Your team t has either used all available credits or reached its monthly spending limit."}),
        ),
        (
            "Gemini",
            429,
            json!({"error": {"code": 429, "message": "You exceeded your current quota.", "status": "RESOURCE_EXHAUSTED", "details": [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}, {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "41s"}]}}),
        ),
        (
            "Hugging Face",
            402,
            json!({"error": "You have exceeded your monthly included credits for Inference Providers."}),
        ),
        ("any 402", 402, json!({"error": {"message": "Pay first."}})),
    ];
    let row = |(name, status, body): (&str, u16, Value)| {
        let script = move |_| vec![Reply::json(status, body.clone()).header("retry-after", "1")];
        fault(format!("spent, as {name} says it"), script, failed("the money or quota at the server is used up: *"))
    };
    bodies.into_iter().map(row).collect()
}

fn overflows() -> Vec<Fault> {
    let row = |(name, status, body, ..): (&'static str, u16, String, Option<u64>, Option<u64>)| {
        let script = move |_| vec![Reply::body(status, &body)];
        fault(format!("too long, as {name} says it"), script, failed("the conversation is too long for the model: *"))
    };
    let mut rows: Vec<Fault> = too_long().into_iter().map(row).collect();
    let within = |family: crate::support::family::Family| {
        let event = family.error_event(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum");
        vec![moves([crate::support::family::Move::Wire(event)])]
    };
    rows.push(fault(
        "too long, said within the stream",
        within,
        failed("the conversation is too long for the model: *"),
    ));
    rows
}

fn redirects() -> Vec<Fault> {
    let elsewhere = "http://127.0.0.1:9/v1/chat";
    let mut rows: Vec<Fault> = [301, 302, 303, 307, 308]
        .into_iter()
        .map(|status| {
            let script = move |_| vec![Reply::body(status, "").header("location", elsewhere)];
            let sentence =
                format!("the server redirects to {elsewhere}; set that address as the base URL if it is right");
            fault(format!("a redirect {status}"), script, failed(sentence))
        })
        .collect();
    let within = |_| vec![Reply::body(308, "").header("location", "/login?next=%2F")];
    rows.push(fault(
        "a redirect to the same server",
        within,
        failed("the server redirects to http://127.0.0.1:*/login?next=%2F; *"),
    ));
    let nowhere = |_| vec![Reply::body(302, "Go away.")];
    rows.push(fault("a redirect to nowhere", nowhere, failed("the server answered 302: Go away.")));
    let after = |_| {
        let words = [text("Half "), super::cut()];
        vec![moves(words)]
    };
    rows.push(fault("a text and then the end of the line", after, failed("the reply was cut off before its end")));
    rows
}
