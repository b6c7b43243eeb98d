//! The types of the clients in `assets/clients`, made from the schema of `exec`.
//!
//! One reading of the schema for both languages; each says how it writes a name, a choice, a list and an object.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// What the schema says of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    Named(String),
    Text,
    Integer,
    Number,
    Boolean,
    Null,
    Any,
    Constant(String),
    List(Box<Type>),
    Map(Box<Type>),
    OneOf(Vec<Type>),
    Object(Vec<Member>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    name: String,
    of: Type,
    is_required: bool,
}

/// A definition of the schema.
pub struct Definition {
    name: String,
    of: Type,
}

/// Reads the definitions; events and requests are flat objects, each with its `type`.
pub fn definitions(schema: &Value) -> Vec<Definition> {
    let all = schema["$defs"].as_object().unwrap();
    all.iter().map(|(name, of)| Definition { name: name.clone(), of: read(of, all) }).collect()
}

fn read(schema: &Value, all: &Map<String, Value>) -> Type {
    let Some(schema) = schema.as_object() else { return Type::Any };
    let choices = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array);
    if let Some(choices) = choices {
        let own = members(schema, all);
        let variant = |choice: &Value| match read(choice, all) {
            Type::Object(theirs) => Type::Object(own.iter().cloned().chain(theirs).collect()),
            other => other,
        };
        return one_of(choices.iter().map(variant).collect());
    }
    if let Some(constant) = schema.get("const") {
        return Type::Constant(constant.to_string());
    }
    if let Some(constants) = schema.get("enum").and_then(Value::as_array) {
        return one_of(constants.iter().map(|constant| Type::Constant(constant.to_string())).collect());
    }
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
    match (target, schema.get("properties")) {
        (Some(target), None) => return Type::Named(target.to_owned()),
        (Some(target), Some(_)) => {
            // The members of what is named, and its own.
            let Type::Object(theirs) = read(&all[target], all) else { return Type::Any };
            let own = members(schema, all);
            let theirs = theirs.into_iter().filter(|member| own.iter().all(|own| own.name != member.name));
            return Type::Object(own.iter().cloned().chain(theirs).collect());
        }
        (None, _) => {}
    }
    match schema.get("type") {
        Some(Value::String(name)) => primitive(name, schema, all),
        Some(Value::Array(names)) => {
            one_of(names.iter().filter_map(Value::as_str).map(|name| primitive(name, schema, all)).collect())
        }
        _ => Type::Any,
    }
}

fn primitive(name: &str, schema: &Map<String, Value>, all: &Map<String, Value>) -> Type {
    match name {
        "string" => Type::Text,
        "integer" => Type::Integer,
        "number" => Type::Number,
        "boolean" => Type::Boolean,
        "null" => Type::Null,
        "array" => Type::List(Box::new(schema.get("items").map_or(Type::Any, |items| read(items, all)))),
        "object" if schema.contains_key("properties") => Type::Object(members(schema, all)),
        "object" => {
            let each = schema.get("additionalProperties").filter(|each| each.is_object());
            Type::Map(Box::new(each.map_or(Type::Any, |each| read(each, all))))
        }
        _ => Type::Any,
    }
}

fn members(schema: &Map<String, Value>, all: &Map<String, Value>) -> Vec<Member> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|required| required.iter().any(|each| each == name));
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties
        .map(|(name, of)| Member { name: name.clone(), of: read(of, all), is_required: is_required(name) })
        .collect()
}

fn one_of(types: Vec<Type>) -> Type {
    let mut choices = Vec::new();
    for choice in types {
        if !choices.contains(&choice) {
            choices.push(choice);
        }
    }
    if choices.len() == 1 { choices.remove(0) } else { Type::OneOf(choices) }
}

/// Writes the types for TypeScript.
pub fn typescript(definitions: &[Definition]) -> String {
    let mut text = String::new();
    for Definition { name, of } in definitions {
        let written = match of {
            Type::OneOf(choices) if choices.iter().any(|choice| matches!(choice, Type::Object(_))) => {
                choices.iter().map(|choice| format!("\n  | {}", in_typescript(choice))).collect()
            }
            other => format!(" {}", in_typescript(other)),
        };
        let _ = writeln!(text, "export type {name} ={written};");
    }
    text
}

fn in_typescript(of: &Type) -> String {
    match of {
        Type::Named(name) => name.clone(),
        Type::Text => "string".to_owned(),
        Type::Integer | Type::Number => "number".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::Null => "null".to_owned(),
        Type::Any => "unknown".to_owned(),
        Type::Constant(constant) => constant.clone(),
        Type::List(each) => match **each {
            Type::OneOf(_) => format!("({})[]", in_typescript(each)),
            _ => format!("{}[]", in_typescript(each)),
        },
        Type::Map(each) => format!("Record<string, {}>", in_typescript(each)),
        Type::OneOf(choices) => choices.iter().map(in_typescript).collect::<Vec<_>>().join(" | "),
        Type::Object(members) if members.is_empty() => "Record<string, never>".to_owned(),
        Type::Object(members) => {
            let member = |Member { name, of, is_required }: &Member| {
                format!("{name}{}: {}", if *is_required { "" } else { "?" }, in_typescript(of))
            };
            format!("{{ {} }}", members.iter().map(member).collect::<Vec<_>>().join("; "))
        }
    }
}

/// Writes the types for Python. A member that may be left out is one of a `total=False`, as all of them are then.
pub fn python(definitions: &[Definition]) -> String {
    let mut text = String::new();
    for Definition { name, of } in definitions {
        match of {
            Type::Object(members) => object_in_python(&mut text, name, members),
            Type::OneOf(choices) if choices.iter().any(|choice| matches!(choice, Type::Object(_))) => {
                let mut names = Vec::new();
                for choice in choices {
                    let Type::Object(members) = choice else {
                        names.push(in_python(choice));
                        continue;
                    };
                    let named = variant_name(name, members);
                    object_in_python(&mut text, &named, members);
                    names.push(quoted(&named));
                }
                let _ = writeln!(text, "{name} = Union[{}]", names.join(", "));
            }
            other => {
                let _ = writeln!(text, "{name} = {}", in_python(other));
            }
        }
    }
    text
}

/// Returns the name of one of several objects: `QuestionEvent` of the event `question`.
fn variant_name(name: &str, members: &[Member]) -> String {
    let constant = members.iter().find_map(|member| match &member.of {
        Type::Constant(constant) => Some(constant.trim_matches('"').to_owned()),
        _ => None,
    });
    let constant = constant.unwrap_or_else(|| members.first().map_or_else(String::new, |member| member.name.clone()));
    let words = constant.split('_').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        format!("{}{rest}", first.to_uppercase())
    });
    format!("{}{name}", words.collect::<String>())
}

fn object_in_python(text: &mut String, name: &str, members: &[Member]) {
    let member = |member: &Member| format!("{}: {}", quoted(&member.name), in_python(&member.of));
    let is_whole = members.iter().all(|member| member.is_required);
    let total = if is_whole { "" } else { ", total=False" };
    let members = members.iter().map(member).collect::<Vec<_>>().join(", ");
    let _ = writeln!(text, "{name} = TypedDict({}, {{{members}}}{total})", quoted(name));
}

fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// Returns a type; names of definitions are quoted, as some come later.
fn in_python(of: &Type) -> String {
    match of {
        Type::Named(name) => quoted(name),
        Type::Text => "str".to_owned(),
        Type::Integer => "int".to_owned(),
        Type::Number => "float".to_owned(),
        Type::Boolean => "bool".to_owned(),
        Type::Null => "None".to_owned(),
        Type::Any => "Any".to_owned(),
        Type::Constant(constant) => format!("Literal[{constant}]"),
        Type::List(each) => format!("List[{}]", in_python(each)),
        Type::Map(each) => format!("Dict[str, {}]", in_python(each)),
        Type::Object(_) => "Dict[str, Any]".to_owned(),
        Type::OneOf(choices) => {
            let constants: Vec<&str> = choices
                .iter()
                .filter_map(|choice| match choice {
                    Type::Constant(constant) => Some(constant.as_str()),
                    _ => None,
                })
                .collect();
            let others = choices.iter().filter(|choice| !matches!(choice, Type::Constant(_))).map(in_python);
            let constants = (!constants.is_empty()).then(|| format!("Literal[{}]", constants.join(", ")));
            let all: Vec<String> = constants.into_iter().chain(others).collect();
            if let [one] = all.as_slice() { one.clone() } else { format!("Union[{}]", all.join(", ")) }
        }
    }
}
