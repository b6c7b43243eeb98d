//! The wire form of Gemini, read as leniently as real servers need.
//!
//! Read by the assembler only. A part is kept as raw JSON until its kind is known, so that it can go back byte for
//! byte.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::chat::{Number, Text};
use crate::usage;
use steersman_base::event::Usage;
use steersman_core::provider::UsageScope;

/// A chunk of a stream, or a whole answer: they have the same form.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct Chunk<'a> {
    pub candidates: Option<Vec<Candidate<'a>>>,
    pub prompt_feedback: Option<Feedback<'a>>,
    pub usage_metadata: Option<WireUsage>,
    pub model_version: Text<'a>,
    pub error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct Candidate<'a> {
    pub content: Option<Content<'a>>,
    pub finish_reason: Text<'a>,
    /// The server's explanation of the finish reason.
    pub finish_message: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Content<'a> {
    pub parts: Option<Vec<&'a RawValue>>,
}

/// The reason why a prompt got no answer.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct Feedback<'a> {
    pub block_reason: Text<'a>,
    pub block_reason_message: Text<'a>,
}

/// A part of a reply; one that is neither text nor a call is kept for the server alone.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct Part<'a> {
    pub text: Option<Text<'a>>,
    pub thought: Value,
    #[serde(alias = "thought_signature")]
    pub thought_signature: Text<'a>,
    #[serde(alias = "function_call")]
    pub function_call: Option<Call<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct Call<'a> {
    pub id: Text<'a>,
    pub name: Text<'a>,
    pub args: Option<&'a RawValue>,
    /// The pieces of arguments that do not come at once.
    pub partial_args: Option<Vec<PartialArg<'a>>>,
    /// Whether further pieces follow.
    pub will_continue: Value,
}

/// A piece of arguments.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct PartialArg<'a> {
    pub json_path: Text<'a>,
    pub string_value: Option<Text<'a>>,
    pub number_value: Option<Value>,
    pub bool_value: Option<Value>,
    pub null_value: Option<Value>,
}

/// The data of Gemini beside a text or a call, as the history keeps it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct PartMark<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    pub id: Cow<'a, str>,
    /// The signature of the thought before it.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub thought_signature: Cow<'a, str>,
}

impl PartMark<'_> {
    /// Returns the mark as JSON text; `None` when it is empty.
    pub(super) fn text(&self) -> Option<String> {
        let nothing = self.id.is_empty() && self.thought_signature.is_empty();
        if nothing { None } else { serde_json::to_string(self).ok() }
    }

    pub(super) fn parse(text: Option<&str>) -> PartMark<'static> {
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }
}

/// The token counts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    #[serde(rename = "promptTokenCount")]
    prompt: Number,
    #[serde(rename = "candidatesTokenCount")]
    candidates: Number,
    #[serde(rename = "thoughtsTokenCount")]
    thoughts: Number,
    #[serde(rename = "cachedContentTokenCount")]
    cached: Number,
    #[serde(rename = "toolUsePromptTokenCount")]
    tool_prompt: Number,
}

impl WireUsage {
    /// Updates earlier counts: each chunk has the sums so far, and some leave a part out.
    pub(super) fn over(&self, earlier: &mut Self) {
        for (mine, theirs) in [
            (self.prompt, &mut earlier.prompt),
            (self.candidates, &mut earlier.candidates),
            (self.thoughts, &mut earlier.thoughts),
            (self.cached, &mut earlier.cached),
            (self.tool_prompt, &mut earlier.tool_prompt),
        ] {
            if mine.0.is_some() {
                *theirs = mine;
            }
        }
    }

    /// Returns whether the usage covers one request or several: the prompt tokens of the server's tools show that.
    pub(super) fn scope(&self) -> UsageScope {
        usage::scope(None, self.tool_prompt)
    }

    /// Converts to parts that do not overlap. Here thinking is not part of the answer, and cached tokens are part
    /// of the prompt.
    pub(super) fn usage(&self) -> Usage {
        let sum = |one: Number, other: Number| match (one.0, other.0) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
        };
        let prompt = sum(self.prompt, self.tool_prompt);
        Usage {
            input: prompt.map(|prompt| prompt.saturating_sub(self.cached.0.unwrap_or(0))),
            output: sum(self.candidates, self.thoughts),
            cached: self.cached.0,
            thinking: self.thoughts.0,
            ..Usage::default()
        }
    }
}
