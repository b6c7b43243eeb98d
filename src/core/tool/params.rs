//! Tool parameters: the schema that the model reads and the check of what the model sent.
//!
//! A set of parameters is frozen once built. The check is strict: nothing is coerced, nothing unknown is passed over,
//! and its message names every problem at once and ends with the schema, so that the model can correct itself.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::tool::Args;
use crate::tool::lenient::in_form;
use crate::tool::schema::ArgumentSchema;
use steersman_base::error::BuildError;
use steersman_base::message::Arguments;

/// How many characters of a wrong value a message quotes.
const QUOTED_CHARS: usize = 40;

/// Describes the arguments of a tool, in the order of declaration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters {
    list: Vec<Parameter>,
    /// In place of the list: a schema of nested types.
    schema: Option<ArgumentSchema>,
}

/// One declared argument.
#[derive(Debug, Clone, PartialEq)]
struct Parameter {
    name: String,
    description: String,
    kind: ParamType,
    need: Need,
}

/// Whether an argument may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    Required,
    Optional,
}

/// The type of an argument.
#[derive(Debug, Clone, PartialEq)]
enum ParamType {
    String,
    Integer,
    Number,
    Boolean,
    Enum(Choices),
    StringArray,
    Objects(Parameters),
}

/// The allowed values of an enum parameter: at least one, none empty, none twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choices(Vec<String>);

impl Choices {
    /// Makes the list of allowed values.
    ///
    /// # Errors
    /// [`BuildError::Argument`] when the list or one of its values is empty, or a value occurs twice.
    pub fn new<S: Into<String>>(values: impl IntoIterator<Item = S>) -> Result<Self, BuildError> {
        let values: Vec<String> = values.into_iter().map(Into::into).collect();
        if values.is_empty() {
            return Err(BuildError::argument("an enum parameter needs at least one value"));
        }
        for (index, value) in values.iter().enumerate() {
            if value.is_empty() {
                return Err(BuildError::argument("a value of an enum parameter is empty"));
            }
            if values.iter().take(index).any(|earlier| earlier == value) {
                return Err(BuildError::argument(format!("the enum value {value:?} occurs twice")));
            }
        }
        Ok(Self(values))
    }

    /// Returns the values in their order.
    pub fn values(&self) -> &[String] {
        &self.0
    }
}

/// Collects parameters; [`Parameters::build`] freezes them.
///
/// Declaring a name again replaces what it was before, at its first place.
#[derive(Debug, Default)]
pub struct ParametersBuilder {
    list: Vec<Parameter>,
}

impl ParametersBuilder {
    /// Declares a string that must be given.
    pub fn required_string(&mut self, name: &str, description: &str) -> &mut Self {
        self.declare(name, description, ParamType::String, Need::Required)
    }

    /// Declares a string that may be left out.
    pub fn optional_string(&mut self, name: &str, description: &str) -> &mut Self {
        self.declare(name, description, ParamType::String, Need::Optional)
    }

    /// Declares a whole number (of the range of `i64`) that must be given.
    pub fn required_integer(&mut self, name: &str, description: &str) -> &mut Self {
        self.declare(name, description, ParamType::Integer, Need::Required)
    }

    /// Declares a whole number (of the range of `i64`) that may be left out.
    pub fn optional_integer(&mut self, name: &str, description: &str) -> &mut Self {
        self.declare(name, description, ParamType::Integer, Need::Optional)
    }

    /// Declares a finite number that must be given.
    pub fn required_number(&mut self, name: &str, description: &str) -> &mut Self {
        self.declare(name, description, ParamType::Number, Need::Required)
    }

    /// Declares a finite number that may be left out.
    pub fn optional_number(&mut self, name: &str, description: &str) -> &mut Self {
        self.declare(name, description, ParamType::Number, Need::Optional)
    }

    /// Declares a truth value that must be given.
    pub fn required_boolean(&mut self, name: &str, description: &str) -> &mut Self {
        self.declare(name, description, ParamType::Boolean, Need::Required)
    }

    /// Declares a truth value that may be left out.
    pub fn optional_boolean(&mut self, name: &str, description: &str) -> &mut Self {
        self.declare(name, description, ParamType::Boolean, Need::Optional)
    }

    /// Declares one of several strings that must be given.
    pub fn required_enum(&mut self, name: &str, description: &str, choices: Choices) -> &mut Self {
        self.declare(name, description, ParamType::Enum(choices), Need::Required)
    }

    /// Declares one of several strings that may be left out.
    pub fn optional_enum(&mut self, name: &str, description: &str, choices: Choices) -> &mut Self {
        self.declare(name, description, ParamType::Enum(choices), Need::Optional)
    }

    /// Declares a list of strings that must be given; it may be empty.
    pub fn required_string_array(&mut self, name: &str, description: &str) -> &mut Self {
        self.declare(name, description, ParamType::StringArray, Need::Required)
    }

    /// Declares a list of strings that may be left out.
    pub fn optional_string_array(&mut self, name: &str, description: &str) -> &mut Self {
        self.declare(name, description, ParamType::StringArray, Need::Optional)
    }

    /// Declares a list of objects that may be left out; `declare` says what each has.
    pub fn optional_objects(
        &mut self,
        name: &str,
        description: &str,
        declare: impl FnOnce(&mut ParametersBuilder),
    ) -> &mut Self {
        self.declare(name, description, ParamType::Objects(Parameters::build(declare)), Need::Optional)
    }

    fn declare(&mut self, name: &str, description: &str, kind: ParamType, need: Need) -> &mut Self {
        let parameter = Parameter { name: name.to_owned(), description: description.to_owned(), kind, need };
        match self.list.iter_mut().find(|earlier| earlier.name == name) {
            Some(earlier) => *earlier = parameter,
            None => self.list.push(parameter),
        }
        self
    }
}

impl Parameters {
    /// Builds a frozen set of parameters.
    ///
    /// ```
    /// use steersman_core::tool::Parameters;
    ///
    /// let parameters = Parameters::build(|p| {
    ///     p.required_string("path", "The file.");
    ///     p.optional_integer("limit", "How many lines.");
    /// });
    /// assert_eq!(parameters.to_schema()["required"], serde_json::json!(["path"]));
    /// ```
    pub fn build(declare: impl FnOnce(&mut ParametersBuilder)) -> Self {
        let mut builder = ParametersBuilder::default();
        declare(&mut builder);
        Self { list: builder.list, schema: None }
    }

    /// Declares required strings, each with what it is: what most small tools have.
    ///
    /// ```
    /// use steersman_core::tool::Parameters;
    ///
    /// let parameters = Parameters::strings([("path", "The file."), ("text", "What to append.")]);
    /// assert_eq!(parameters.to_schema()["required"], serde_json::json!(["path", "text"]));
    /// ```
    pub fn strings<'a>(described: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self::build(|p| {
            for (name, description) in described {
                p.required_string(name, description);
            }
        })
    }

    /// Takes a JSON Schema of an object: nested objects, enums, ranges, lists, alternatives. Objects take no members
    /// but those that they list.
    ///
    /// ```
    /// use serde_json::json;
    /// use steersman_base::message::Arguments;
    /// use steersman_core::tool::Parameters;
    ///
    /// let days = json!({"type": "integer", "minimum": 1, "maximum": 7});
    /// let parameters = Parameters::from_schema(json!({"type": "object", "properties": {"days": days}}));
    /// let refused = parameters.validate(&Arguments::parse(r#"{"days": 9}"#)).unwrap_err();
    /// assert!(refused.contains(r#""days" must be an integer, at least 1 and at most 7, not the number 9"#));
    /// ```
    pub fn from_schema(schema: Value) -> Self {
        Self { list: Vec::new(), schema: Some(ArgumentSchema::new(schema)) }
    }

    /// Returns the JSON Schema of the arguments, in the order of declaration.
    pub fn to_schema(&self) -> Value {
        if let Some(schema) = &self.schema {
            return schema.value().clone();
        }
        let properties: Map<String, Value> = self.list.iter().map(|p| (p.name.clone(), p.to_schema())).collect();
        let required: Vec<&str> =
            self.list.iter().filter(|p| p.need == Need::Required).map(|p| p.name.as_str()).collect();
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }

    /// Checks what the model sent.
    ///
    /// # Errors
    /// One message for the model: every problem on a line of its own, then the schema.
    pub fn validate(&self, arguments: &Arguments) -> Result<Args, String> {
        let map = match arguments {
            Arguments::Object(map) => map,
            Arguments::Raw(text) => {
                let problem = match serde_json::from_str::<Value>(text) {
                    // The parser gives this limit no class of its own.
                    Err(error) if error.to_string().starts_with("recursion limit") => {
                        "the arguments are nested too deeply; at most 127 levels of objects and lists are read"
                    }
                    Ok(_) | Err(_) => "the arguments are not a JSON object",
                };
                return Err(self.message(&[problem.to_owned()]));
            }
        };
        let problems = self.problems(map);
        if problems.is_empty() {
            return Ok(Args::new(map.clone()));
        }
        // As a strict mode of a server writes them.
        let formed = in_form(map, &self.to_schema());
        if formed != *map && self.problems(&formed).is_empty() {
            return Ok(Args::new(formed));
        }
        Err(self.message(&problems))
    }

    /// Returns what is wrong with these arguments, one sentence each.
    fn problems(&self, map: &Map<String, Value>) -> Vec<String> {
        if let Some(schema) = &self.schema {
            return schema.problems(map);
        }
        let mut problems = Vec::new();
        for parameter in &self.list {
            match map.get(&parameter.name) {
                Some(value) => problems.extend(parameter.problem(value)),
                None if parameter.need == Need::Required => {
                    problems.push(format!("{:?} is missing; it must be {}", parameter.name, parameter.kind.expected()));
                }
                None => {}
            }
        }
        for name in map.keys().filter(|name| !self.list.iter().any(|p| p.name == **name)) {
            problems.push(format!("{} is not a parameter; {}", quoted(name), self.field_names()));
        }
        problems
    }

    fn field_names(&self) -> String {
        let names: Vec<&str> = self.list.iter().map(|p| p.name.as_str()).collect();
        if names.is_empty() { "there are none".to_owned() } else { format!("the parameters are {}", names.join(", ")) }
    }

    /// Returns what the model reads of these problems.
    pub(super) fn message(&self, problems: &[String]) -> String {
        let mut text = "invalid arguments:\n".to_owned();
        for problem in problems {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "- {problem}");
        }
        let _ = write!(text, "The schema is: {}", self.to_schema());
        text
    }
}

impl Parameter {
    fn to_schema(&self) -> Value {
        let mut schema = match &self.kind {
            ParamType::String => json!({"type": "string"}),
            ParamType::Integer => json!({"type": "integer"}),
            ParamType::Number => json!({"type": "number"}),
            ParamType::Boolean => json!({"type": "boolean"}),
            ParamType::Enum(choices) => json!({"type": "string", "enum": choices.values()}),
            ParamType::StringArray => json!({"type": "array", "items": {"type": "string"}}),
            ParamType::Objects(each) => json!({"type": "array", "items": each.to_schema()}),
        };
        if let Value::Object(map) = &mut schema {
            map.insert("description".to_owned(), Value::String(self.description.clone()));
        }
        schema
    }

    fn problem(&self, value: &Value) -> Option<String> {
        let fits = match &self.kind {
            ParamType::String => value.is_string(),
            ParamType::Integer => value.is_i64(),
            ParamType::Number => value.as_f64().is_some_and(f64::is_finite),
            ParamType::Boolean => value.is_boolean(),
            ParamType::Enum(choices) => value.as_str().is_some_and(|given| choices.values().iter().any(|v| v == given)),
            ParamType::StringArray => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            ParamType::Objects(each) => match value.as_array() {
                Some(items) => return self.item_problem(each, items),
                None => false,
            },
        };
        (!fits).then(|| format!("{:?} must be {}, not {}", self.name, self.kind.expected(), shown(value)))
    }

    /// Returns what is wrong with the first item that does not fit.
    fn item_problem(&self, each: &Parameters, items: &[Value]) -> Option<String> {
        let wrong = |(item, number): (&Value, usize)| match item {
            Value::Object(map) => {
                each.problems(map).into_iter().next().map(|what| format!("item {number} of {:?}: {what}", self.name))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Some(format!("item {number} of {:?} must be an object, not {}", self.name, shown(item)))
            }
        };
        items.iter().zip(1..).find_map(wrong)
    }
}

impl ParamType {
    fn expected(&self) -> String {
        match self {
            Self::String => "a string".to_owned(),
            Self::Integer => "an integer".to_owned(),
            Self::Number => "a finite number".to_owned(),
            Self::Boolean => "true or false".to_owned(),
            Self::Enum(choices) => {
                let values: Vec<String> = choices.values().iter().map(|v| format!("{v:?}")).collect();
                format!("one of {}", values.join(", "))
            }
            Self::StringArray => "a list of strings".to_owned(),
            Self::Objects(_) => "a list of objects".to_owned(),
        }
    }
}

/// Names the type of a value and quotes it, shortened.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) if value.is_u64() && !value.is_i64() => format!("{value}, which is too large"),
        Value::Number(value) => format!("the number {value}"),
        Value::String(value) => format!("the string {}", quoted(value)),
        Value::Array(items) => match items.iter().find(|item| !item.is_string()) {
            Some(item) => format!("a list with {}", nested(item)),
            None => "a list".to_owned(),
        },
        Value::Object(_) => "an object".to_owned(),
    }
}

/// Names what a list holds. Apart from [`shown`], so that the depth of a hostile value does not matter.
fn nested(item: &Value) -> String {
    match item {
        Value::Array(_) => "a list in it".to_owned(),
        Value::Object(_) => "an object in it".to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => format!("{} in it", shown(item)),
    }
}

pub(super) fn quoted(text: &str) -> String {
    if text.chars().nth(QUOTED_CHARS).is_none() {
        return format!("{text:?}");
    }
    let head: String = text.chars().take(QUOTED_CHARS).collect();
    format!("{head:?}…")
}
