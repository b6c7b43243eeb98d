//! Tools whose arguments are a Rust type: its fields are the parameters, its doc comments tell the model what they are.
//!
//! The schema comes from `schemars`, the check from `schema.rs`; then `serde` reads the type. What the type still refuses
//! is said to the model in the words of the check.

use std::future::Future;
use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;

use crate::tool::{FnTool, Parameters, ToolContext, ToolError};

/// Makes a tool out of a name, a description and an async closure that takes a type of yours.
///
/// In the closure `?` turns any error into an `Error: …` observation; one of a stop ends the turn. The tool runs alone
/// and is dropped on a cancel; see the setters of [`FnTool`].
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use steersman_core::tool::typed;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Forecast {
///     /// The place, as its inhabitants call it.
///     place: String,
///     #[schemars(range(min = 1, max = 7))]
///     days: Option<u32>,
/// }
///
/// let forecast = typed("forecast", "Tells the weather.", |args: Forecast, _| async move {
///     Ok(format!("{} for {} days: 4 °C", args.place, args.days.unwrap_or(1)))
/// });
/// ```
pub fn typed<A, F, R, T>(name: impl Into<String>, description: impl Into<String>, execute: F) -> FnTool
where
    A: DeserializeOwned + JsonSchema,
    F: Fn(A, ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output = Result<T, ToolError>> + Send + 'static,
    T: Into<String>,
{
    let parameters = Parameters::of::<A>();
    let (check, execute) = (parameters.clone(), Arc::new(execute));
    FnTool::new(name, description, parameters, move |args, context| {
        let read = args.read::<A>().map_err(|error| ToolError::Failed(check.message(&[error.to_string()])));
        // Made here, so that the arguments need not cross threads.
        let work = read.map(|args| execute(args, context));
        async move { Ok::<String, _>(work?.await?.into()) }
    })
}

impl Parameters {
    /// Describes the fields of a type. Its objects take no members but those that they list.
    pub fn of<A: JsonSchema>() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
        Self::from_schema(settings.into_generator().into_root_schema_for::<A>().to_value())
    }
}
