//! Inline thinking: told apart from the answer over any split, and literal tags stay text.

use std::borrow::Cow;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use steersman_agent::Agent;
use steersman_base::event::Event;
use steersman_core::listener::InMemoryEventList;
use steersman_core::provider::{ChatTransport, Piece, Streaming};
use steersman_provider::chat::Assembler;
use steersman_provider::reasoning::{Split, Splitter};
use steersman_provider::sse::Frame;
use steersman_provider::{Assemble as _, Http, HttpConnector};

use crate::support::server::{Reply, Server, Step};

/// Splits a text that comes in pieces. Returns thought and answer.
fn split<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, String) {
    let (mut thinking, mut text) = (String::new(), String::new());
    let mut splitter = Splitter::default();
    let mut take = |split: Split, text: &mut String| {
        if split.moved {
            thinking.push_str(&std::mem::take(text));
        }
        thinking.push_str(&split.thinking);
        text.push_str(&split.text);
    };
    for piece in pieces {
        let split = splitter.push(Cow::Borrowed(piece), &text);
        take(split, &mut text);
    }
    take(splitter.finish(), &mut text);
    (thinking, text)
}

fn letters(text: &str) -> Vec<&str> {
    text.split_inclusive(|_| true).collect()
}

/// What came, what of it is thought, and what is the answer.
const TABLE: &[(&str, &str, &str)] = &[
    ("", "", ""),
    ("ok", "", "ok"),
    ("\n\n", "", "\n\n"),
    ("  \n plain, with blanks ", "", "  \n plain, with blanks "),
    // Every spelling.
    ("<think>why</think>ok", "why", "ok"),
    ("<thinking>why</thinking>ok", "why", "ok"),
    ("<thought>why</thought>ok", "why", "ok"),
    ("<reasoning>why</reasoning>ok", "why", "ok"),
    ("[THINK]why[/THINK]ok", "why", "ok"),
    ("<mm:think>why</mm:think>ok", "why", "ok"),
    ("<seed:think>why</seed:think>ok", "why", "ok"),
    ("◁think▷漢字◁/think▷ü", "漢字", "ü"),
    // White space around.
    ("\n <think>\nwhy\n</think>\n\nok\n", "why\n", "ok\n"),
    ("<think>\n\n</think>\n\nok", "", "ok"),
    ("<think></think>ok", "", "ok"),
    ("<think>  </think> \n", "", ""),
    // Several blocks, at the start only.
    ("<think>a</think>\n<think>b</think>ok", "ab", "ok"),
    ("<think>a</think>[THINK]b[/THINK]ok", "ab", "ok"),
    ("<think>a</think>ok <think>b</think>", "a", "ok <think>b</think>"),
    ("<think>a</think>ok\n</think>\nmore", "a", "ok\n</think>\nmore"),
    // What stands in a block.
    ("<think>a < b, </thin, </thinking></think>ok", "a < b, </thin, </thinking>", "ok"),
    ("<think>[/THINK]</think>ok", "[/THINK]", "ok"),
    ("<think>`<think>`</think>ok", "`<think>`", "ok"),
    ("<think>a</</think>ok", "a</", "ok"),
    // Never closed.
    ("<think>why", "why", ""),
    ("<think>why</thi", "why</thi", ""),
    ("<think>why</thinking>", "why</thinking>", ""),
    // Literal.
    ("<", "", "<"),
    ("<think", "", "<think"),
    ("<thinker>x</thinker>", "", "<thinker>x</thinker>"),
    ("< think>x</think>", "", "< think>x</think>"),
    ("<THINK>x", "", "<THINK>x"),
    ("[TH", "", "[TH"),
    ("[THINKING]x", "", "[THINKING]x"),
    ("\n <thin", "", "\n <thin"),
    ("<think>a</think> <thin", "a", "<thin"),
    ("`<think>` begins a thought", "", "`<think>` begins a thought"),
    ("ok <think>no</think> ok", "", "ok <think>no</think> ok"),
    ("```xml\n<think>x</think>\n```", "", "```xml\n<think>x</think>\n```"),
    ("Put it between <think> and\n</think>\nplease", "", "Put it between <think> and\n</think>\nplease"),
    // The block was opened in the prompt.
    ("why\n</think>\n\nok", "why\n", "ok"),
    ("</think>ok", "", "ok"),
    ("\n</think>\n\nok", "", "ok"),
    ("So it is.</think>Yes", "So it is.", "Yes"),
    ("  why\n\nthus\n</think>\n<think>b</think>ok", "  why\n\nthus\nb", "ok"),
    ("a < b\n</mm:think>ok", "a < b\n", "ok"),
    // A lone tag that is spoken of.
    ("it ends with `</think>`, always", "", "it ends with `</think>`, always"),
    ("the tag </think> ends it", "", "the tag </think> ends it"),
    ("```\n</think>\n```\nthat one", "", "```\n</think>\n```\nthat one"),
    ("`a\n</think>", "`a\n", ""),
    ("the </think> and\n</think>\nagain", "", "the </think> and\n</think>\nagain"),
];

#[test]
fn the_table_holds_at_every_split_point() {
    for (text, thought, answer) in TABLE {
        let expected = ((*thought).to_owned(), (*answer).to_owned());
        assert_eq!(split([*text]), expected, "{text:?} as one");
        assert_eq!(split(letters(text)), expected, "{text:?} letter by letter");
        let cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        for first in &cuts {
            for second in cuts.iter().filter(|second| *second >= first) {
                let pieces = [&text[..*first], &text[*first..*second], &text[*second..]];
                assert_eq!(split(pieces), expected, "{pieces:?}");
            }
        }
    }
}

#[test]
fn only_what_could_still_be_a_tag_is_held_back() {
    let given = |pieces: &[&str]| {
        let mut splitter = Splitter::default();
        let mut last = Split::default();
        let mut text = String::new();
        for piece in pieces {
            last = splitter.push(Cow::Borrowed(piece), &text);
            text.push_str(&last.text);
        }
        (last.thinking, last.text)
    };
    let is = |thinking: &str, text: &str| (thinking.to_owned(), text.to_owned());
    assert_eq!(given(&["<"]), is("", ""));
    assert_eq!(given(&["<", "p"]), is("", "<p"));
    assert_eq!(given(&["<thin", "gs"]), is("", "<things"));
    assert_eq!(given(&["a < b", " <"]), is("", " "));
    assert_eq!(given(&["a < b", " <", "c"]), is("", "<c"));
    assert_eq!(given(&["a [T"]), is("", "a [T"), "only the prompt's own tags are looked for in the answer");
    assert_eq!(given(&["<think>", "why </"]), is("why ", ""));
    assert_eq!(given(&["<think>", "why </", "p"]), is("</p", ""));
    assert_eq!(given(&["<think>a</think>ok", " </think"]), is("", " </think"));
}

#[test]
fn what_is_held_back_for_long_costs_no_more_than_it_is() {
    let started = crate::support::cpu_time::CpuTime::now();
    let blanks = vec![" "; 100_000];
    let (thinking, text) = split(blanks.into_iter().chain(["ok"]));
    assert_eq!((thinking.len(), text.len()), (0, 100_002));
    let (thinking, text) = split(["<think>"].into_iter().chain(vec!["<"; 100_000]).chain(["</think>ok"]));
    assert_eq!((thinking.len(), text.as_str()), (100_000, "ok"));
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

/// Reads a stream of deltas. Returns the reply and what was shown on the way.
fn stream(deltas: &[Value]) -> (steersman_core::provider::Reply, String, String) {
    let mut assembler = Box::new(Assembler::default());
    let (mut thinking, mut text) = (String::new(), String::new());
    let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    let chunks = deltas.iter().map(|delta| json!({"choices": [{"delta": delta}]})).chain([end]);
    for chunk in chunks {
        let data = chunk.to_string();
        let piece = assembler.take_frame(Frame::Event { name: "", id: "", data: &data }).unwrap();
        if let Some(Piece::Chunk { thinking: more, text: also }) = piece {
            thinking.push_str(&more);
            text.push_str(&also);
        }
    }
    (assembler.finish().unwrap(), thinking, text)
}

fn contents(pieces: &[&str]) -> Vec<Value> {
    pieces.iter().map(|piece| json!({"content": piece})).collect()
}

#[test]
fn a_block_within_the_content_is_thinking_while_it_streams() {
    let (reply, thinking, text) = stream(&contents(&["<th", "ink>wh", "y</think>", "\n\nok", " <think>"]));
    assert_eq!((reply.thinking.as_str(), reply.content.as_str()), ("why", "ok <think>"));
    assert_eq!((thinking.as_str(), text.as_str()), ("why", "ok <think>"));
}

#[test]
fn what_is_held_at_the_end_is_shown_with_the_last_chunk() {
    for (pieces, thought, answer) in
        [(["a ", "</thi"], "", "a </thi"), ([" ", "<thi"], "", " <thi"), (["<think>", "why</th"], "why</th", "")]
    {
        let (reply, thinking, text) = stream(&contents(&pieces));
        assert_eq!((reply.thinking.as_str(), reply.content.as_str()), (thought, answer));
        assert_eq!((thinking.as_str(), text.as_str()), (thought, answer));
    }
    let mut assembler = Box::new(Assembler::default());
    for data in [r#"{"choices":[{"delta":{"content":"<t"}}]}"#, "[DONE]"] {
        let piece = assembler.take_frame(Frame::Event { name: "", id: "", data }).unwrap();
        let held = if data == "[DONE]" { "<t" } else { "" };
        assert_eq!(piece, Some(Piece::Chunk { thinking: String::new(), text: held.to_owned() }));
    }
    assert_eq!(assembler.finish().unwrap().content, "<t");
}

#[test]
fn a_server_that_tells_thoughts_apart_itself_gets_its_text_literally() {
    for own in [
        json!({"reasoning_content": "hm"}),
        json!({"reasoning": "hm"}),
        json!({"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}),
        json!({"content": [{"type": "thinking", "thinking": "hm"}]}),
    ] {
        let mut deltas = vec![own];
        deltas.extend(contents(&["<think>", "is a tag", "</think>"]));
        let (reply, ..) = stream(&deltas);
        assert_eq!((reply.thinking.as_str(), reply.content.as_str()), ("hm", "<think>is a tag</think>"));
    }
    let late = [json!({"content": "<thi"}), json!({"reasoning": "hm"}), json!({"content": "nk>"})];
    let (reply, thinking, text) = stream(&late);
    assert_eq!((reply.thinking.as_str(), reply.content.as_str()), ("hm", "<think>"));
    assert_eq!((thinking.as_str(), text.as_str()), ("hm", "<think>"));
    let empty = [json!({"content": "<think>why</think>ok", "reasoning_content": "", "reasoning": null})];
    assert_eq!(stream(&empty).0.thinking, "why", "an empty member is none");
}

#[test]
fn a_lone_closing_tag_sets_the_whole_reply_right() {
    let (reply, thinking, text) = stream(&contents(&["Let me", " see.\n", "</think>", "\n\nok"]));
    assert_eq!((reply.thinking.as_str(), reply.content.as_str()), ("Let me see.\n", "ok"));
    assert_eq!((thinking.as_str(), text.as_str()), ("", "Let me see.\nok"), "what was shown stays shown till the end");
}

#[test]
fn a_body_in_one_piece_is_split_as_well() {
    let whole = |content: &str| {
        let body = json!({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]});
        let reply = Assembler::whole(&body.to_string()).unwrap();
        (reply.thinking, reply.content)
    };
    for (text, thought, answer) in TABLE {
        assert_eq!(whole(text), ((*thought).to_owned(), (*answer).to_owned()), "{text:?}");
    }
}

#[tokio::test]
async fn an_agent_folds_inline_thinking_and_does_not_send_it_back() {
    let inline = |parts: &[&str]| {
        let deltas = parts.iter().map(|part| Step::delta(json!({"content": part})));
        Reply::stream(deltas.chain([Step::finish("stop"), Step::done()]))
    };
    let server = Server::start([
        inline(&["<thi", "nk>why", "</think>\n\n", "ok"]),
        inline(&["Let me see.\n</", "think>\nfine"]),
        Reply::text("end"),
    ]);
    let transport = ChatTransport { api_base: Some(server.url()), ..ChatTransport::default() }.with_model("m");
    let events = Arc::new(InMemoryEventList::new());
    let connector = Arc::new(HttpConnector::new(Http::default()));
    let building = Agent::builder(transport, "You help.", connector).streaming(Streaming::On);
    let mut agent = building
        .build(|configurator| {
            configurator.add_listener(events.clone());
            Ok(())
        })
        .await
        .unwrap();
    for words in ["one", "two", "three"] {
        agent.run_loop(words).await.unwrap();
    }
    assert_eq!(server.chats()[2].texts("assistant"), ["ok", "fine"]);
    let told: Vec<_> = events
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Thinking { text } => Some(format!("thinking: {text}")),
            Event::Assistant { text, .. } => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(told, ["thinking: why", "ok", "thinking: Let me see.\n", "fine", "end"]);
}

proptest! {
    #[test]
    fn any_split_gives_the_same(
        words in prop::collection::vec(prop::sample::select(vec![
            "<think>", "</think>", "[THINK]", "[/THINK]", "</mm:think>", "<", "<th", "/", "ink>", ">", "`", "```\n", "\n", " ", "q", "q.", "漢",
        ]), 0..12),
        cuts in prop::collection::vec(1usize..9, 1..6),
    ) {
        let text = words.concat();
        let whole = split([text.as_str()]);
        let letters: Vec<char> = text.chars().collect();
        let mut pieces: Vec<String> = Vec::new();
        let mut rest = letters.as_slice();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at((*cut).min(rest.len()));
            pieces.push(piece.iter().collect());
            rest = after;
        }
        prop_assert_eq!(&split(pieces.iter().map(String::as_str)), &whole);
        let count = |text: &str| text.matches(['q', '漢', '`']).count();
        prop_assert_eq!(count(&whole.0) + count(&whole.1), count(&text), "nothing is lost");
    }
}
