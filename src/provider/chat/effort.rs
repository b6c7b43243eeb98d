//! How much to think, in the members in which each kind of server is told so.
//!
//! Written into the body by `body`, only when the user has said it.

use serde::Serialize;

use crate::provider::quirks::{Quirks, Spelling};
use crate::provider::registry::{Card, Thinking};
use crate::provider::{Answering, Effort};

/// Is the members of one body; most are absent.
#[derive(Debug, Default, Serialize)]
pub(super) struct EffortMembers {
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thought>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enable_thinking: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat_template_kwargs: Option<TemplateWords>,
}

#[derive(Debug, Default, Serialize)]
struct Reasoning {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
}

#[derive(Debug, Serialize)]
struct Thought {
    r#type: &'static str,
}

/// Is what a chat template is given; what it does not know, it passes over. The switch has two names: `enable_thinking`
/// (Qwen, GLM, Gemma, Hunyuan) and `thinking` (`DeepSeek`, Granite, Kimi).
#[derive(Debug, Serialize)]
struct TemplateWords {
    enable_thinking: bool,
    thinking: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
}

impl EffortMembers {
    /// Says an effort as a model wants to hear it.
    pub fn new(answering: Answering, quirks: Quirks, card: Option<&Card>) -> Self {
        let never = card.is_some_and(|card| card.thinking == Thinking::Never);
        let Some(effort) = answering.effort.filter(|_| !never) else { return Self::default() };
        let thinks = effort != Effort::Off;
        let word = quirks.effort(effort);
        let word_of_thinking = word.filter(|_| thinks);
        let switched = Some(Thought { r#type: if thinks { "enabled" } else { "disabled" } });
        let none = Self::default();
        match quirks.spelling {
            Spelling::Word => Self { reasoning_effort: word, ..none },
            Spelling::Template => {
                let words =
                    TemplateWords { enable_thinking: thinks, thinking: thinks, reasoning_effort: word_of_thinking };
                Self { reasoning_effort: word, chat_template_kwargs: Some(words), ..none }
            }
            Spelling::Nested => {
                Self { reasoning: word.map(|effort| Reasoning { effort: Some(effort), enabled: None }), ..none }
            }
            Spelling::Enabled => Self {
                reasoning: Some(Reasoning { effort: None, enabled: Some(thinks) }),
                reasoning_effort: word_of_thinking,
                ..none
            },
            Spelling::Switch => Self { thinking: switched, reasoning_effort: word_of_thinking, ..none },
            Spelling::SwitchOnly => Self { thinking: switched, ..none },
            Spelling::Flag => Self { enable_thinking: Some(thinks), ..none },
            Spelling::Nowhere => none,
        }
    }
}
