//! The wire form of chat completions, read as leniently as real servers need.
//!
//! Read by the assembler only. Each chunk is parsed once, and text is borrowed where JSON allows it. A member of
//! the wrong type counts as absent; only a text that is no JSON object is refused.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::usage::{self, TokenCounts};
use steersman_base::event::Usage;
use steersman_core::provider::UsageScope;

/// A chunk of a stream, or a whole answer: they differ in `delta` and `message` only.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Chunk<'a> {
    pub model: Text<'a>,
    pub choices: Option<Vec<Choice<'a>>>,
    pub usage: Option<WireUsage>,
    pub x_groq: Option<UsageHolder>,
    pub error: Option<Value>,
    pub object: Text<'a>,
    pub message: Option<Value>,
    pub detail: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Choice<'a> {
    pub delta: Option<Delta<'a>>,
    /// The whole message. In a stream it repeats the deltas (Perplexity) and is ignored.
    pub message: Option<Delta<'a>>,
    pub finish_reason: Text<'a>,
    pub usage: Option<WireUsage>,
    pub error: Option<Value>,
}

/// The part that a chunk adds, or a whole message.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Delta<'a> {
    pub content: Content<'a>,
    pub refusal: Text<'a>,
    pub reasoning_content: Text<'a>,
    pub reasoning: Text<'a>,
    pub reasoning_details: List<&'a RawValue>,
    pub tool_calls: List<CallDelta<'a>>,
}

/// A fragment of a tool call; every part of it may be absent.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct CallDelta<'a> {
    pub index: Number,
    pub id: Text<'a>,
    pub function: Option<FunctionDelta<'a>>,
    /// Gemini behind its compatible endpoint: the signature of the thoughts that led to the call.
    pub extra_content: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct FunctionDelta<'a> {
    pub name: Text<'a>,
    pub arguments: ArgumentText<'a>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct UsageHolder {
    pub usage: Option<WireUsage>,
}

/// The token counts, under all names that servers use.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    prompt_tokens: Number,
    completion_tokens: Number,
    total_tokens: Number,
    cached_tokens: Number,
    /// `DeepSeek`.
    prompt_cache_hit_tokens: Number,
    /// Claude behind a compatible endpoint.
    cache_creation_input_tokens: Number,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
    /// `OpenRouter`: US dollars.
    cost: Dollars,
    /// xAI.
    cost_in_usd_ticks: Number,
    /// `OpenRouter`: uses of its own tools.
    server_tool_use: Option<Value>,
    /// xAI.
    num_server_side_tools_used: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Number,
    cache_write_tokens: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    reasoning_tokens: Number,
}

impl WireUsage {
    /// Converts to parts that do not overlap; `None` when nothing is counted.
    pub(super) fn usage(&self) -> Option<Usage> {
        let details = self.prompt_tokens_details.as_ref();
        let cached = details.and_then(|details| details.cached_tokens.0);
        let written = details.and_then(|details| details.cache_write_tokens.0);
        let thinking = self.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens.0);
        let counts = TokenCounts {
            prompt: self.prompt_tokens,
            answer: self.completion_tokens,
            cached: Number(cached.or(self.prompt_cache_hit_tokens.0).or(self.cached_tokens.0)),
            written: Number(written.or(self.cache_creation_input_tokens.0)),
            thinking: Number(thinking),
            total: self.total_tokens,
        };
        let usage = Usage { cost_nanos: usage::cost_nanos(self.cost, self.cost_in_usd_ticks), ..counts.usage() };
        (usage != Usage::default()).then_some(usage)
    }

    /// Returns whether the usage covers one request or several.
    pub(super) fn scope(&self) -> UsageScope {
        usage::scope(self.server_tool_use.as_ref(), self.num_server_side_tools_used)
    }
}

/// A text; any other value reads as the empty text.
#[derive(Debug, Default)]
pub(crate) struct Text<'a>(pub Cow<'a, str>);

/// A count; any value but a number from 0 reads as unknown.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Number(pub Option<u64>);

/// An amount of US dollars, in billionths; any value but a number from 0 reads as unknown.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Dollars(pub Option<u64>);

/// A list; any other value reads as the empty list.
#[derive(Debug)]
pub(super) struct List<T>(pub Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// The visible text: a string, or parts, some of which are thinking (Mistral).
#[derive(Debug, Default)]
pub(super) struct Content<'a> {
    pub text: Cow<'a, str>,
    pub thinking: String,
}

/// The text of arguments; an object is converted to text.
#[derive(Debug, Default)]
pub(super) struct ArgumentText<'a>(pub Cow<'a, str>);

/// A part of a content array.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct ContentPart<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    text: Text<'a>,
    thinking: ThinkingText<'a>,
}

/// The `thinking` member of a part: a text, or further parts.
#[derive(Debug, Default)]
struct ThinkingText<'a>(Cow<'a, str>);

/// A value that is read leniently: strings, numbers, arrays and objects each by their method; any other is the default.
trait Lenient<'de>: Default {
    const WHAT: &'static str;

    fn text(_text: Cow<'de, str>) -> Self {
        Self::default()
    }

    fn number(_number: u64) -> Self {
        Self::default()
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Checked: within u32.
    fn fraction(number: f64) -> Self {
        let counts = (0.0..=f64::from(u32::MAX)).contains(&number);
        if counts { Self::number(number as u64) } else { Self::default() }
    }

    fn array<A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        while array.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    fn object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

struct LenientVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Lenient<'de>> Visitor<'de> for LenientVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::WHAT)
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<T, E> {
        Ok(T::text(Cow::Borrowed(text)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        Ok(T::text(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        Ok(T::number(number))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        Ok(u64::try_from(number).map_or_else(|_| T::default(), T::number))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        Ok(T::fraction(number))
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_unit<E: de::Error>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, array: A) -> Result<T, A::Error> {
        T::array(array)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
        T::object(object)
    }
}

macro_rules! deserialize_leniently {
    ($([$($generics:tt)*] $name:ty),*) => {$(
        impl<'de, $($generics)*> Deserialize<'de> for $name
        where
            Self: Lenient<'de>,
        {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(LenientVisitor::<Self>(std::marker::PhantomData))
            }
        }
    )*};
}
deserialize_leniently!(
    ['a] Text<'a>, ['a] Content<'a>, ['a] ArgumentText<'a>, ['a] ThinkingText<'a>, [T: Deserialize<'de>] List<T>,
    [] Number, [] Dollars
);

impl<'de: 'a, 'a> Lenient<'de> for Text<'a> {
    const WHAT: &'static str = "a text";

    fn text(text: Cow<'de, str>) -> Self {
        Self(text)
    }
}

impl<'de, T: Deserialize<'de>> Lenient<'de> for List<T> {
    const WHAT: &'static str = "a list";

    fn array<A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = array.next_element::<Option<T>>()? {
            items.extend(item);
        }
        Ok(Self(items))
    }
}

impl Lenient<'_> for Dollars {
    const WHAT: &'static str = "an amount";

    fn number(number: u64) -> Self {
        Self(number.checked_mul(1_000_000_000))
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Checked: within what u64 holds.
    fn fraction(number: f64) -> Self {
        let nanos = (number * 1e9).round();
        Self((0.0..1e18).contains(&nanos).then_some(nanos as u64))
    }
}

impl Lenient<'_> for Number {
    const WHAT: &'static str = "a number";

    fn number(number: u64) -> Self {
        Self(Some(number))
    }
}

impl<'de: 'a, 'a> Lenient<'de> for Content<'a> {
    const WHAT: &'static str = "a text or parts of one";

    fn text(text: Cow<'de, str>) -> Self {
        Self { text, thinking: String::new() }
    }

    fn array<A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        let (mut text, mut thinking) = (String::new(), String::new());
        while let Some(part) = array.next_element::<ContentPart<'de>>()? {
            if part.kind.0 == "thinking" {
                thinking.push_str(&part.thinking.0);
            } else {
                text.push_str(&part.text.0);
            }
        }
        Ok(Self { text: Cow::Owned(text), thinking })
    }
}

impl<'de: 'a, 'a> Lenient<'de> for ThinkingText<'a> {
    const WHAT: &'static str = "a thought or parts of one";

    fn text(text: Cow<'de, str>) -> Self {
        Self(text)
    }

    fn array<A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        let mut thinking = String::new();
        while let Some(part) = array.next_element::<ContentPart<'de>>()? {
            thinking.push_str(&part.text.0);
        }
        Ok(Self(Cow::Owned(thinking)))
    }
}

impl<'de: 'a, 'a> Lenient<'de> for ArgumentText<'a> {
    const WHAT: &'static str = "arguments";

    fn text(text: Cow<'de, str>) -> Self {
        Self(text)
    }

    fn object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        let value = Value::deserialize(de::value::MapAccessDeserializer::new(object))?;
        Ok(Self(Cow::Owned(value.to_string())))
    }
}
