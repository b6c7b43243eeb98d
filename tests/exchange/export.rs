//! Tests of sessions as documents: each form holds what the journal holds, and hostile text stays text.

use std::collections::{BTreeMap, BTreeSet};

use dom_query::Document;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use steersman_base::event::{Event, Outcome};
use steersman_exchange::export::{SessionParts, atif, chat, html, otlp};

use crate::support::saved::{self, HOSTILE, Saved};

fn parts() -> SessionParts {
    SessionParts::new(Saved::new().usual().read().unwrap())
}

#[test]
fn the_chat_has_the_messages_of_each_agent_in_the_order_of_the_conversation() {
    let written = chat(&parts());
    let agents = written["agents"].as_array().unwrap();
    assert_eq!((&agents[0]["name"], &agents[1]["name"]), (&json!("main"), &json!("researcher 0")));
    let roles = |agent: &Value| -> Vec<String> {
        let messages = agent["messages"].as_array().unwrap().iter();
        messages.map(|message| message["role"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(roles(&agents[0]), ["system", "user", "assistant", "tool", "tool", "user", "assistant"]);
    let calls = &agents[0]["messages"][2]["tool_calls"];
    assert_eq!(calls[0]["function"], json!({ "name": "read", "arguments": r#"{"path":"src"}"# }));
    assert_eq!(agents[0]["messages"][4]["tool_call_id"], calls[1]["id"]);
    assert_eq!(agents[0]["messages"][5]["content"], "and the \"tests\" too");
    // What was no JSON is sent back as it was written.
    assert_eq!(agents[1]["messages"][1]["tool_calls"][0]["function"]["arguments"], "not json");
    assert_eq!(written["session"]["directory"], "/work/project");
}

#[test]
fn what_the_model_says_that_it_did_with_a_text_stands_beside_it_in_a_trajectory() {
    let saved = Saved::new();
    let file = saved.session(|play| {
        play.event("", Event::TurnStarted { turn: 1 }).user("m9", "use v4", None).user("m10", "and the docs", None);
        let injections = vec!["m9".into(), "m10".into()];
        play.event("", Event::Seen { injections, step: 1 }).answer("", "Done.\n[m9] the schema is v4 now");
    });
    let written = atif(&SessionParts::new(file.read().unwrap())).unwrap();
    assert_eq!(written["steps"][0]["extra"], json!({ "id": "m9", "answer": "the schema is v4 now" }));
    assert_eq!(written["steps"][1]["extra"], Value::Null, "nothing is claimed of the other");
}

#[test]
fn a_trajectory_has_a_step_for_each_text_and_reply_and_its_sub_agents_within() {
    let written = atif(&parts()).unwrap();
    let steps = written["steps"].as_array().unwrap();
    let sources: Vec<&str> = steps.iter().map(|step| step["source"].as_str().unwrap()).collect();
    assert_eq!(sources, ["system", "user", "agent", "user", "agent"]);
    let numbers: Vec<u64> = steps.iter().map(|step| step["step_id"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    assert_eq!((&written["schema_version"], &written["agent"]["name"]), (&json!("ATIF-v1.7"), &json!("steersman")));
    let metrics = json!({ "prompt_tokens": 110, "completion_tokens": 20, "cached_tokens": 10, "cost_usd": 0.0015 });
    assert_eq!((&steps[2]["metrics"], &steps[2]["reasoning_content"]), (&metrics, &json!("I had better look.")));
    let results = steps[2]["observation"]["results"].as_array().unwrap();
    assert_eq!(results[1]["subagent_trajectory_ref"], json!([{ "trajectory_id": "researcher 0" }]));
    let child = &written["subagent_trajectories"][0];
    assert_eq!(
        (&child["trajectory_id"], &child["agent"]["model_name"]),
        (&json!("researcher 0"), &json!("small-model"))
    );
    let call = &child["steps"][1]["tool_calls"][0];
    assert_eq!((&call["arguments"], &call["extra"]["raw_arguments"]), (&json!({}), &json!("not json")));
    assert_eq!(written["final_metrics"]["total_prompt_tokens"], 320);
    let saved = Saved::new();
    let silent = saved.session(|play| {
        play.event("", Event::TurnStarted { turn: 1 });
    });
    assert!(atif(&SessionParts::new(silent.read().unwrap())).is_err());
}

#[test]
fn the_spans_lie_within_each_other_as_turns_requests_and_calls_did() {
    let parts = parts();
    let written = otlp(&parts);
    assert_eq!(written, otlp(&parts), "the ids of a session are always the same");
    let spans = written["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    let value = |span: &Value, name: &str| -> Option<Value> {
        let attribute = span["attributes"].as_array().unwrap().iter().find(|attribute| attribute["key"] == name)?;
        attribute["value"].as_object().unwrap().values().next().cloned()
    };
    let named = |name: &str| spans.iter().find(|span| span["name"] == name).unwrap();
    let (turn, call, child) =
        (named("invoke_agent main"), named("execute_tool agent"), named("invoke_agent researcher 0"));
    let session = parts.header.as_ref().unwrap().session.as_str();
    for span in spans {
        assert_eq!(span["traceId"], session.replace('-', ""));
        assert_eq!(span["spanId"].as_str().unwrap().len(), 16);
        assert_eq!(value(span, "gen_ai.conversation.id"), Some(json!(session)));
        assert!(value(span, "gen_ai.agent.name").is_some() && value(span, "gen_ai.operation.name").is_some());
        let time = |name: &str| span[name].as_str().unwrap().parse::<u128>().unwrap();
        assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"), "{span}");
    }
    let mut ids: Vec<&str> = spans.iter().map(|span| span["spanId"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), spans.len());
    assert_eq!((turn.get("parentSpanId"), &call["parentSpanId"]), (None, &turn["spanId"]));
    assert_eq!(child["parentSpanId"], call["spanId"]);
    let chat = named("chat test-model");
    assert_eq!((value(chat, "gen_ai.usage.input_tokens"), &chat["kind"]), (Some(json!("110")), &json!(3)));
    let failed = spans.iter().find(|span| span["name"] == "execute_tool read" && span["status"]["code"] == 2).unwrap();
    assert_eq!(value(failed, "gen_ai.agent.name"), Some(json!("researcher 0")));
    assert!(!written.to_string().contains("alert"), "texts are left out");
}

/// The attributes of a span, by their names.
fn attributes(span: &Value) -> BTreeMap<String, Value> {
    let pair = |attribute: &Value| {
        let value = attribute["value"].as_object().unwrap().values().next().unwrap().clone();
        (attribute["key"].as_str().unwrap().to_owned(), value)
    };
    span["attributes"].as_array().unwrap().iter().map(pair).collect()
}

/// The names of attributes that no span of its kind lacks: those that the conventions require, and those that they require
/// where they are known, as they are here.
const REQUIRED: [(&str, u64, &[&str]); 3] = [
    (
        "invoke_agent",
        1,
        &[
            "gen_ai.operation.name",
            "gen_ai.provider.name",
            "gen_ai.agent.id",
            "gen_ai.agent.name",
            "gen_ai.conversation.id",
            "gen_ai.request.model",
        ],
    ),
    ("chat", 3, &["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.conversation.id", "gen_ai.request.model"]),
    ("execute_tool", 1, &["gen_ai.operation.name", "gen_ai.tool.name"]),
];

/// All others that a span may have: recommended ones, and `error.type` on one that failed.
const FURTHER: [&str; 10] = [
    "error.type",
    "gen_ai.agent.name",
    "gen_ai.conversation.id",
    "gen_ai.response.model",
    "gen_ai.tool.call.id",
    "gen_ai.tool.type",
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
];

#[test]
fn each_span_has_the_attributes_that_the_conventions_require_of_its_kind_and_no_unknown_ones() {
    let saved = Saved::new();
    let cut = saved.session(|play| {
        saved::usual(play);
        play.event("", Event::TurnStarted { turn: 2 }).user("m3", "once more", None);
        play.event("", Event::RoundStarted { turn: 2, round: 1 }).tokens("", 7, 1).call("", "c9", "read", "{}");
        play.event("", Event::TurnEnded { turn: 2, outcome: Outcome::Failed, message: Some("it broke".to_owned()) });
        play.event("", Event::TurnStarted { turn: 3 });
    });
    let written = otlp(&SessionParts::new(cut.read().unwrap()));
    let resource = &written["resourceSpans"][0];
    let scope = &resource["scopeSpans"][0];
    for schema in [&resource["schemaUrl"], &scope["schemaUrl"]] {
        assert_eq!(schema, "https://opentelemetry.io/schemas/1.41.0");
    }
    assert_eq!(attributes(&resource["resource"])["service.name"], "steersman");
    let spans = scope["spans"].as_array().unwrap();
    let mut seen = BTreeSet::new();
    let mut failures = BTreeSet::new();
    for span in spans {
        let has = attributes(span);
        let operation = has["gen_ai.operation.name"].as_str().unwrap();
        let (_, kind, required) = REQUIRED.iter().find(|(name, ..)| *name == operation).unwrap();
        assert_eq!(span["kind"], *kind, "{span}");
        let subject = match operation {
            "invoke_agent" => &has["gen_ai.agent.name"],
            "chat" => &has["gen_ai.request.model"],
            _ => &has["gen_ai.tool.name"],
        };
        assert_eq!(span["name"], format!("{operation} {}", subject.as_str().unwrap()));
        for name in *required {
            assert!(has.get(*name).is_some_and(|value| value != ""), "{name} is missing: {span}");
        }
        for name in has.keys() {
            assert!(required.contains(&name.as_str()) || FURTHER.contains(&name.as_str()), "{name}: {span}");
        }
        let is_error = span["status"]["code"] == 2;
        assert_eq!(has.contains_key("error.type"), is_error, "{span}");
        assert!(is_error || span.get("status").is_none(), "the status is left unset: {span}");
        failures.extend(has.get("error.type").map(|kind| format!("{operation}: {}", kind.as_str().unwrap())));
        seen.insert(operation.to_owned());
    }
    assert_eq!(seen.len(), REQUIRED.len(), "{seen:?}");
    let told =
        ["execute_tool: interrupted", "execute_tool: tool_error", "invoke_agent: _OTHER", "invoke_agent: interrupted"];
    assert_eq!(failures.iter().map(String::as_str).collect::<Vec<_>>(), told);
    let turn = attributes(spans.iter().find(|span| span["name"] == "invoke_agent main").unwrap());
    let counts = ["input_tokens", "output_tokens", "cache_read.input_tokens"];
    let counts = counts.map(|name| turn[&format!("gen_ai.usage.{name}")].clone());
    assert_eq!(counts, ["320", "50", "20"], "of all requests of the turn, and the input with what was cached");
}

#[test]
fn the_provider_of_a_trace_has_the_name_that_the_conventions_have_for_it() {
    let named = |provider: &str, program: &str| {
        let mut parts = parts();
        parts.provider = Some(provider.to_owned());
        parts.header.as_mut().unwrap().program = program.to_owned();
        let written = otlp(&parts);
        attributes(&written["resourceSpans"][0]["scopeSpans"][0]["spans"][0])["gen_ai.provider.name"].clone()
    };
    for (provider, name) in [
        ("openai", "openai"),
        ("openai-responses", "openai"),
        ("anthropic", "anthropic"),
        ("gemini", "gcp.gemini"),
        ("ollama", "ollama"),
        ("", "unknown"),
    ] {
        assert_eq!(named(provider, "steersman 0.1.0"), name);
    }
    assert_eq!(named("", "claude-code 2.1.0"), "anthropic");
}

#[test]
fn the_web_page_shows_everything_and_nothing_of_it_runs_loads_or_leads_away() {
    let page = html(&parts(), &TimeZone::UTC);
    let document = Document::from(page.as_str());
    for name in
        ["script", "img", "iframe", "object", "link", "form", "base", "svg", "style[src]", "[style]", "[onerror]"]
    {
        assert_eq!(document.select(name).length(), 0, "{name}");
    }
    let policy = document.select("meta[http-equiv]").attr("content").unwrap().to_string();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(document.select("style").length(), 1);
    let text = document.select("body").text().to_string();
    // Shown, not obeyed.
    assert!(text.contains("=cmd()<script>alert(1)</script>␛]0;owned␇<U+202E><img src=x onerror=alert(2)>"), "{text}");
    assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
    let names: Vec<String> = document.select("nav a").iter().map(|link| link.text().to_string()).collect();
    assert_eq!(names, ["main", "researcher 0"]);
    for link in &document.select("a") {
        let target = link.attr("href").unwrap().to_string();
        assert!(target.starts_with("#agent-") && document.select(&target).length() == 1, "{target}");
    }
    let receipt = document.select(".user .receipt").iter().nth(1).unwrap().text().to_string();
    assert_eq!(receipt.trim(), "sent 20:35:34 · delivered 20:35:36 after agent, step 2 · seen 20:35:39");
    let calls = document.select("details.call");
    assert_eq!(calls.length(), 3);
    assert!(calls.iter().next().unwrap().text().contains("✓ read (1.2 s)") && text.contains("+b"));
    assert_eq!(document.select(".answer table th").length(), 2);
    assert!(page.contains("<strong>two</strong>") && page.contains("prefers-color-scheme: dark"));
}

#[test]
fn the_web_page_has_colours_of_code_and_diffs_aligned_columns_headings_and_the_totals_of_each_turn() {
    let page = html(&parts(), &TimeZone::UTC);
    let document = Document::from(page.as_str());
    assert!(document.select("details[open] pre.diff .add").iter().any(|line| line.text().contains("+b")));
    let totals: Vec<String> = document.select("p.total").iter().map(|total| total.text().to_string()).collect();
    assert!(totals[0].starts_with("Turn 1 · ") && totals[0].contains("tokens in"), "{totals:?}");

    let text = "# Found\n\n| file | lines |\n|---|--:|\n| a | 12 |\n\n```rust\nlet s = \"<b>\"; // one 'é\n```\n\n\
                ```diff\n-old\n+new\n```\n\n```nonsense\nlet x\n```";
    let saved = Saved::new();
    let file = saved.session(|play| {
        play.event("", Event::TurnStarted { turn: 1 }).answer("", text);
    });
    let page = html(&SessionParts::new(file.read().unwrap()), &TimeZone::UTC);
    let document = Document::from(page.as_str());
    let texts = |selector: &str| -> Vec<String> {
        document.select(selector).iter().map(|found| found.text().to_string()).collect()
    };
    assert_eq!(texts(".answer h4"), ["Found"]);
    assert_eq!(texts(".answer .right"), ["lines", "12"]);
    assert_eq!(
        (texts(".k"), texts(".s"), texts(".c")),
        (vec!["let".into()], vec!["\"<b>\"".into()], vec!["// one 'é".into()])
    );
    assert_eq!((texts(".del"), texts(".add")), (vec!["-old".to_owned()], vec!["+new".to_owned()]));
    assert!(page.contains(".answer h4") && document.select("[style], script, link, img").length() == 0);
}

#[test]
fn markdown_of_a_model_becomes_only_harmless_elements() {
    let text = "[a](javascript:alert(1)) [b](https://e.org/\"><script>) ![c](http://e.org/x.png)\n\n<svg onload=x>\n\n- [x] done";
    let saved = Saved::new();
    let file = saved.session(|play| {
        play.event("", Event::TurnStarted { turn: 1 }).answer("", text);
    });
    let page = html(&SessionParts::new(file.read().unwrap()), &TimeZone::UTC);
    let document = Document::from(page.as_str());
    let links = document.select(".answer a");
    assert_eq!(links.length(), 1);
    assert_eq!(
        links.attr("href").unwrap().to_string(),
        "https://e.org/%22%3E%3Cscript%3E".replace("%22", "\"").replace("%3E", ">").replace("%3C", "<")
    );
    assert_eq!(document.select(".answer svg, .answer img, .answer script").length(), 0);
    let shown = document.select(".answer").text().to_string();
    assert!(shown.contains("<svg onload=x>") && shown.contains("[picture http://e.org/x.png] c"), "{shown}");
    assert!(shown.contains("☑ done"), "{shown}");
}

#[test]
fn hostile_text_is_hostile() {
    // The other tests count on it.
    assert!(HOSTILE.contains("<script>") && HOSTILE.contains('\u{1b}') && HOSTILE.starts_with('='));
}
