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

/// Describes the arguments of a tool, in the order of declaration.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters(ArgumentSchema);

impl Default for Parameters {
    fn default() -> Self {
        Self::build(|_| {})
    }
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

    fn into_schema(self) -> Value {
        let mut schema = json!({"type": "string"});
        schema["enum"] = self.0.into();
        schema
    }
}

/// Collects parameters; [`Parameters::build`] freezes them.
///
/// Declaring a name again replaces what it was before, at its first place.
#[derive(Debug, Default)]
pub struct ParametersBuilder {
    properties: Map<String, Value>,
    optional: Vec<String>,
}

/// Whether an argument may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    Required,
    Optional,
}

impl ParametersBuilder {
    /// Declares a string that must be given.
    pub fn required_string(&mut self, name: &str, description: &str) -> &mut Self {
        self.declare(name, description, json!({"type": "string"}), Need::Required)
    }

    /// Declares a string that may be left out.
    pub fn optional_string(&mut self, name: &str, description: &str) -> &mut Self {
        self.declare(name, description, json!({"type": "string"}), Need::Optional)
    }

    /// Declares a whole number (of the range of `i64`) that must be given.
    pub fn required_integer(&mut self, name: &str, description: &str) -> &mut Self {
        self.declare(name, description, json!({"type": "integer"}), Need::Required)
    }

    /// Declares a whole number (of the range of `i64`) that may be left out.
    pub fn optional_integer(&mut self, name: &str, description: &str) -> &mut Self {
        self.declare(name, description, json!({"type": "integer"}), Need::Optional)
    }

    /// Declares a finite number that must be given.
    pub fn required_number(&mut self, name: &str, description: &str) -> &mut Self {
        self.declare(name, description, json!({"type": "number"}), Need::Required)
    }

    /// Declares a finite number that may be left out.
    pub fn optional_number(&mut self, name: &str, description: &str) -> &mut Self {
        self.declare(name, description, json!({"type": "number"}), Need::Optional)
    }

    /// Declares a truth value that must be given.
    pub fn required_boolean(&mut self, name: &str, description: &str) -> &mut Self {
        self.declare(name, description, json!({"type": "boolean"}), Need::Required)
    }

    /// Declares a truth value that may be left out.
    pub fn optional_boolean(&mut self, name: &str, description: &str) -> &mut Self {
        self.declare(name, description, json!({"type": "boolean"}), Need::Optional)
    }

    /// Declares one of several strings that must be given.
    pub fn required_enum(&mut self, name: &str, description: &str, choices: Choices) -> &mut Self {
        self.declare(name, description, choices.into_schema(), Need::Required)
    }

    /// Declares one of several strings that may be left out.
    pub fn optional_enum(&mut self, name: &str, description: &str, choices: Choices) -> &mut Self {
        self.declare(name, description, choices.into_schema(), Need::Optional)
    }

    /// Declares a list of strings that must be given; it may be empty.
    pub fn required_string_array(&mut self, name: &str, description: &str) -> &mut Self {
        self.declare(name, description, json!({"type": "array", "items": {"type": "string"}}), Need::Required)
    }

    /// Declares a list of strings that may be left out.
    pub fn optional_string_array(&mut self, name: &str, description: &str) -> &mut Self {
        self.declare(name, description, json!({"type": "array", "items": {"type": "string"}}), Need::Optional)
    }

    /// Declares a list of objects that may be left out; `declare` says what each has.
    pub fn optional_objects(
        &mut self,
        name: &str,
        description: &str,
        declare: impl FnOnce(&mut ParametersBuilder),
    ) -> &mut Self {
        self.declare(
            name,
            description,
            json!({"type": "array", "items": Parameters::build(declare).to_schema()}),
            Need::Optional,
        )
    }

    fn declare(&mut self, name: &str, description: &str, mut schema: Value, need: Need) -> &mut Self {
        if let Value::Object(map) = &mut schema {
            map.insert("description".to_owned(), description.into());
        }
        self.properties.insert(name.to_owned(), schema);
        self.optional.retain(|earlier| earlier != name);
        if need == Need::Optional {
            self.optional.push(name.to_owned());
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
        let ParametersBuilder { properties, optional } = builder;
        let required: Vec<&String> = properties.keys().filter(|name| !optional.contains(name)).collect();
        let required = json!(required);
        Self::from_schema(
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false}),
        )
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
        Self(ArgumentSchema::new(schema))
    }

    /// Returns the JSON Schema of the arguments, in the order of declaration.
    pub fn to_schema(&self) -> Value {
        self.0.value().clone()
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
        let problems = self.0.problems(map);
        if problems.is_empty() {
            return Ok(Args::new(map.clone()));
        }
        // As a strict mode of a server writes them.
        let formed = in_form(map, self.0.value());
        if formed != *map && self.0.problems(&formed).is_empty() {
            return Ok(Args::new(formed));
        }
        Err(self.message(&problems))
    }

    /// Returns what the model reads of these problems.
    pub(super) fn message(&self, problems: &[String]) -> String {
        let mut text = "invalid arguments:\n".to_owned();
        for problem in problems {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "- {problem}");
        }
        let _ = write!(text, "The schema is: {}", self.0.value());
        text
    }
}
