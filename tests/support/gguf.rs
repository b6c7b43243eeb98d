//! A model file for a real llama.cpp server, written here: a chain of words, no training and no download.
//!
//! The file is a proper GGUF of the `llama` architecture whose only layer adds nothing, so that each token decides the
//! next one (embedding one-hot, output matrix = the chain). The chat template looks at the conversation and begins the
//! reply with the state that fits; the rest is the server's own work: template, tokens, grammar of calls, stream, window.

use std::collections::HashMap;

/// Tokens that the model file says its window has at most; the server's `-c` decides.
const CONTEXT: u32 = 32_768;
const HEAD: usize = 64;

/// What the model says: each chain begins with the state that the template writes.
const CHAINS: &[(&str, &[&str])] = &[
    ("<|say_call|>", &["I read it.\n", OPEN, "{\"path\": \"notes", ".txt\"}", "}\n</tool_call>", END]),
    ("<|say_calls|>", &[FIRST, "\"a.txt\"}", "}\n</tool_call>\n", SECOND, "\"b.txt\"}", "}\n</tool_call> ", END]),
    ("<|say_answer|>", &["The notes", " say that", " the harbour", " opens at", " seven.", END]),
    ("<|say_hello|>", &["Hello", " from a", " chain of words.", END]),
    ("<|say_thought|>", &["<think>", "Two and two", " make four.", "</think>", "Four.", END]),
    ("<|say_count|>", &[" one", " two", " three", " four", " five", " six", " seven", " eight", " nine", " one"]),
];
/// The server wants `<tool_call>` not to be a token of its own, unless it knows the model's family.
const OPEN: &str = "<tool_call>\n{\"name\": \"read\", \"arguments\": ";
const FIRST: &str = "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": ";
const SECOND: &str = "<tool_call>\n{\"name\": \"read\",\"arguments\": {\"path\": ";
const END: &str = "<|im_end|>";

/// In the form that Hermes and Qwen made common, which llama.cpp knows how to read calls out of.
const TEMPLATE: &str = include_str!("../fixtures/chain.jinja");

/// Kinds of tokens, as the format numbers them.
const UNKNOWN: i32 = 2;
const CONTROL: i32 = 3;
const WRITTEN: i32 = 4;
const BYTE: i32 = 6;

/// Returns the bytes of the model file.
pub fn model() -> Vec<u8> {
    let mut tokens: Vec<(String, i32)> =
        vec![("<unk>".into(), UNKNOWN), ("<s>".into(), CONTROL), ("</s>".into(), CONTROL)];
    tokens.extend((0..256).map(|byte| (format!("<0x{byte:02X}>"), BYTE)));
    tokens.extend(["<|im_start|>", END].map(|text| (text.to_owned(), CONTROL)));
    let mut next: Vec<(String, String)> = Vec::new();
    for (state, words) in CHAINS {
        tokens.push(((*state).to_owned(), CONTROL));
        let mut before = *state;
        for word in *words {
            if !tokens.iter().any(|(text, _)| text == word) {
                tokens.push(((*word).to_owned(), WRITTEN));
            }
            next.push((before.to_owned(), (*word).to_owned()));
            before = word;
        }
    }
    let size = tokens.len().next_multiple_of(HEAD);
    while tokens.len() < size {
        tokens.push((format!("<|unused_{}|>", tokens.len()), CONTROL));
    }
    let ids: HashMap<&str, usize> = tokens.iter().enumerate().map(|(id, (text, _))| (text.as_str(), id)).collect();

    let mut identity = vec![0.0_f32; size * size];
    let mut chain = vec![0.0_f32; size * size];
    for id in 0..size {
        identity[id * size + id] = 1.0;
    }
    for (from, to) in &next {
        // Rows are what comes next; the norm before makes about the root of the size out of the one.
        chain[ids[to.as_str()] * size + ids[from.as_str()]] = 2.0;
    }
    let zeros = vec![0.0; size * size];
    let ones = vec![1.0; size];
    let square = [size, size];
    let tensors: Vec<(&str, &[usize], &[f32])> = vec![
        ("token_embd.weight", &square, &identity),
        ("output_norm.weight", &square[..1], &ones),
        ("output.weight", &square, &chain),
        ("blk.0.attn_norm.weight", &square[..1], &ones),
        ("blk.0.attn_q.weight", &square, &zeros),
        ("blk.0.attn_k.weight", &square, &zeros),
        ("blk.0.attn_v.weight", &square, &zeros),
        ("blk.0.attn_output.weight", &square, &zeros),
        ("blk.0.ffn_norm.weight", &square[..1], &ones),
        ("blk.0.ffn_gate.weight", &square, &zeros),
        ("blk.0.ffn_up.weight", &square, &zeros),
        ("blk.0.ffn_down.weight", &square, &zeros),
    ];
    let width = u32::try_from(size).unwrap();
    let heads = width / u32::try_from(HEAD).unwrap();
    let token = |text: &str| Value::U32(u32::try_from(ids[text]).unwrap());
    let pairs = vec![
        ("general.architecture", Value::Text("llama")),
        ("general.name", Value::Text("chain of words")),
        ("llama.block_count", Value::U32(1)),
        ("llama.context_length", Value::U32(CONTEXT)),
        ("llama.embedding_length", Value::U32(width)),
        ("llama.feed_forward_length", Value::U32(width)),
        ("llama.attention.head_count", Value::U32(heads)),
        ("llama.attention.head_count_kv", Value::U32(heads)),
        ("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-5)),
        ("llama.rope.dimension_count", Value::U32(u32::try_from(HEAD).unwrap())),
        ("llama.vocab_size", Value::U32(width)),
        ("tokenizer.ggml.model", Value::Text("llama")),
        ("tokenizer.ggml.tokens", Value::Texts(tokens.iter().map(|(text, _)| text.as_str()).collect())),
        ("tokenizer.ggml.scores", Value::Floats(vec![0.0; size])),
        ("tokenizer.ggml.token_type", Value::Ints(tokens.iter().map(|(_, kind)| *kind).collect())),
        ("tokenizer.ggml.bos_token_id", token("<s>")),
        ("tokenizer.ggml.eos_token_id", token(END)),
        ("tokenizer.ggml.unknown_token_id", token("<unk>")),
        ("tokenizer.ggml.add_bos_token", Value::Bool(false)),
        ("tokenizer.ggml.add_space_prefix", Value::Bool(false)),
        ("tokenizer.chat_template", Value::Text(TEMPLATE)),
    ];
    write(&pairs, &tensors)
}

/// A value of the file's table.
enum Value<'a> {
    U32(u32),
    F32(f32),
    Bool(bool),
    Text(&'a str),
    Texts(Vec<&'a str>),
    Floats(Vec<f32>),
    Ints(Vec<i32>),
}

/// Writes a GGUF file, version 3 (the format's own document: `docs/gguf.md` of ggml).
fn write(pairs: &[(&str, Value<'_>)], tensors: &[(&str, &[usize], &[f32])]) -> Vec<u8> {
    const ALIGNED: usize = 32;
    let mut file = b"GGUF".to_vec();
    file.extend(3_u32.to_le_bytes());
    file.extend((tensors.len() as u64).to_le_bytes());
    file.extend((pairs.len() as u64).to_le_bytes());
    let text = |file: &mut Vec<u8>, text: &str| {
        file.extend((text.len() as u64).to_le_bytes());
        file.extend(text.as_bytes());
    };
    let array = |file: &mut Vec<u8>, kind: u32, length: usize| {
        file.extend(9_u32.to_le_bytes());
        file.extend(kind.to_le_bytes());
        file.extend((length as u64).to_le_bytes());
    };
    for (key, value) in pairs {
        text(&mut file, key);
        match value {
            Value::U32(number) => {
                file.extend(4_u32.to_le_bytes());
                file.extend(number.to_le_bytes());
            }
            Value::F32(number) => {
                file.extend(6_u32.to_le_bytes());
                file.extend(number.to_le_bytes());
            }
            Value::Bool(is) => {
                file.extend(7_u32.to_le_bytes());
                file.push(u8::from(*is));
            }
            Value::Text(words) => {
                file.extend(8_u32.to_le_bytes());
                text(&mut file, words);
            }
            Value::Texts(list) => {
                array(&mut file, 8, list.len());
                for words in list {
                    text(&mut file, words);
                }
            }
            Value::Floats(list) => {
                array(&mut file, 6, list.len());
                for number in list {
                    file.extend(number.to_le_bytes());
                }
            }
            Value::Ints(list) => {
                array(&mut file, 5, list.len());
                for number in list {
                    file.extend(number.to_le_bytes());
                }
            }
        }
    }
    let mut offset = 0;
    for (name, sizes, numbers) in tensors {
        text(&mut file, name);
        file.extend(u32::try_from(sizes.len()).unwrap().to_le_bytes());
        for size in *sizes {
            file.extend((*size as u64).to_le_bytes());
        }
        file.extend(0_u32.to_le_bytes());
        file.extend((offset as u64).to_le_bytes());
        offset += (numbers.len() * 4).next_multiple_of(ALIGNED);
    }
    for (_, _, numbers) in tensors {
        file.resize(file.len().next_multiple_of(ALIGNED), 0);
        for number in *numbers {
            file.extend(number.to_le_bytes());
        }
    }
    file.resize(file.len().next_multiple_of(ALIGNED), 0);
    file
}
