//! The form in which an answer is wanted: JSON that matches a schema.
//!
//! A dialect asks its server for it where it can. Some servers cannot do that while tools are on offer: there the schema
//! goes with the request that wants nothing but the answer, and the tools stay away from that one.

use serde_json::Value;

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnswerFormat<'a> {
    /// The schema that it must match.
    pub schema: &'a Value,
    /// Whether it is due.
    pub stage: AnswerStage,
}

/// Whether an answer is due.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AnswerStage {
    /// The model may call tools before it.
    #[default]
    Open,
    /// Nothing else is wanted.
    Due,
}
