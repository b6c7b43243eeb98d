//! What the scopes of the grammars mean for the screen.
//!
//! Used by `engine`. The innermost scope that says anything decides; an operator within a text is a text all the same.

use syntect::parsing::{Scope, ScopeStack};

use crate::Class;

/// Scopes by their beginning, and the class that each means; of two that fit, the one that stands first counts.
const RULES: [(&str, Option<Class>); 52] = [
    ("comment", Some(Class::Comment)),
    ("punctuation.definition.comment", Some(Class::Comment)),
    ("punctuation.definition.string", Some(Class::String)),
    ("punctuation.definition.tag", Some(Class::Punctuation)),
    ("punctuation.definition.annotation", Some(Class::Attribute)),
    ("punctuation.definition.attribute", Some(Class::Attribute)),
    ("punctuation.definition.inserted", Some(Class::Added)),
    ("punctuation.definition.deleted", Some(Class::Removed)),
    ("punctuation.section.interpolation", Some(Class::Punctuation)),
    ("constant.character.escape", Some(Class::Constant)),
    ("constant.other.placeholder", Some(Class::Constant)),
    ("constant.numeric", Some(Class::Number)),
    ("constant.other.color", Some(Class::Number)),
    ("constant", Some(Class::Constant)),
    ("support.constant", Some(Class::Constant)),
    ("variable.language", Some(Class::Constant)),
    ("meta.mapping.key", Some(Class::Attribute)),
    ("entity.name.tag.yaml", Some(Class::Attribute)),
    ("string.unquoted.plain", None),
    ("string", Some(Class::String)),
    ("keyword.operator.word", Some(Class::Keyword)),
    ("keyword.operator.logical.python", Some(Class::Keyword)),
    ("keyword.operator", Some(Class::Punctuation)),
    ("keyword.other.unit", Some(Class::Number)),
    ("keyword", Some(Class::Keyword)),
    ("storage.type.annotation", Some(Class::Attribute)),
    ("storage", Some(Class::Keyword)),
    ("entity.name.function", Some(Class::Function)),
    ("entity.name.macro", Some(Class::Function)),
    ("support.function", Some(Class::Function)),
    ("support.macro", Some(Class::Function)),
    ("variable.function", Some(Class::Function)),
    ("entity.name.tag", Some(Class::Keyword)),
    ("entity.name.table", Some(Class::Type)),
    ("entity.name.section", Some(Class::Keyword)),
    ("entity.name.label", Some(Class::Attribute)),
    ("entity.name.constant", Some(Class::Constant)),
    ("entity.other.attribute-name", Some(Class::Attribute)),
    ("entity.other.inherited-class", Some(Class::Type)),
    ("entity.name", Some(Class::Type)),
    ("support.type.property-name", Some(Class::Attribute)),
    ("support.type", Some(Class::Type)),
    ("support.class", Some(Class::Type)),
    ("variable.annotation", Some(Class::Attribute)),
    ("meta.annotation", Some(Class::Attribute)),
    ("meta.attribute.rust", Some(Class::Attribute)),
    ("meta.diff.range", Some(Class::Attribute)),
    ("meta.diff.header", Some(Class::Comment)),
    ("markup.inserted", Some(Class::Added)),
    ("markup.deleted", Some(Class::Removed)),
    ("markup.heading", Some(Class::Keyword)),
    ("punctuation", Some(Class::Punctuation)),
];

/// The rules as the grammars write them.
pub(crate) struct Classes(Vec<(Scope, Option<Class>)>);

impl Classes {
    /// Reads the rules.
    pub(crate) fn new() -> Self {
        Self(RULES.iter().filter_map(|(name, class)| Scope::new(name).ok().map(|scope| (scope, *class))).collect())
    }

    /// Says what a place is, given the scopes that it is in.
    pub(crate) fn class_of(&self, stack: &ScopeStack) -> Option<Class> {
        let mut punctuation = None;
        for scope in stack.as_slice().iter().rev() {
            match self.0.iter().find(|(known, _)| known.is_prefix_of(*scope)) {
                // What marks a text or a comment belongs to it, whatever the grammar calls the mark.
                Some((_, Some(Class::Punctuation))) if punctuation.is_none() => punctuation = Some(Class::Punctuation),
                Some((_, Some(class @ (Class::String | Class::Comment | Class::Attribute)))) => return Some(*class),
                Some((_, class)) => return punctuation.or(*class),
                None => {}
            }
        }
        punctuation
    }
}
