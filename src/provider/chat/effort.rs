//! The thinking effort, in the members that each kind of server reads.
//!
//! Written into the body by `body`, only when the user set an effort.

use serde::Serialize;

use crate::quirks::{EffortForm, Quirks};
pub(super) use steersman_core::provider::registry::{Card, Thinking};
use steersman_core::provider::{Answering, Effort};

/// The members of one body that set the effort; most are absent.
#[derive(Debug, Default, Serialize)]
pub(super) struct EffortMembers {
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingMember>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enable_thinking: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat_template_kwargs: Option<TemplateArguments>,
}

#[derive(Debug, Default, Serialize)]
struct Reasoning {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
}

#[derive(Debug, Serialize)]
struct ThinkingMember {
    r#type: &'static str,
}

/// The arguments of a chat template, which ignores unknown ones. The switch has two names: `enable_thinking`
/// (Qwen, GLM, Gemma, Hunyuan) and `thinking` (`DeepSeek`, Granite, Kimi).
#[derive(Debug, Serialize)]
struct TemplateArguments {
    enable_thinking: bool,
    thinking: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
}

impl EffortMembers {
    /// Writes an effort in the form that a model accepts.
    pub(super) fn new(answering: Answering, quirks: Quirks, card: Option<&Card>) -> Self {
        let never = card.is_some_and(|card| card.thinking == Thinking::Never);
        let Some(effort) = answering.effort.filter(|_| !never) else { return Self::default() };
        let thinks = effort != Effort::Off;
        let word = quirks.effort(effort);
        let word_of_thinking = word.filter(|_| thinks);
        let switched = Some(ThinkingMember { r#type: if thinks { "enabled" } else { "disabled" } });
        let none = Self::default();
        match quirks.effort_form {
            EffortForm::Word => Self { reasoning_effort: word, ..none },
            EffortForm::Template => {
                let words =
                    TemplateArguments { enable_thinking: thinks, thinking: thinks, reasoning_effort: word_of_thinking };
                Self { reasoning_effort: word, chat_template_kwargs: Some(words), ..none }
            }
            EffortForm::Nested => {
                Self { reasoning: word.map(|effort| Reasoning { effort: Some(effort), enabled: None }), ..none }
            }
            EffortForm::Enabled => Self {
                reasoning: Some(Reasoning { effort: None, enabled: Some(thinks) }),
                reasoning_effort: word_of_thinking,
                ..none
            },
            EffortForm::Switch => Self { thinking: switched, reasoning_effort: word_of_thinking, ..none },
            EffortForm::SwitchOnly => Self { thinking: switched, ..none },
            EffortForm::Flag => Self { enable_thinking: Some(thinks), ..none },
            EffortForm::Nowhere => none,
        }
    }
}
