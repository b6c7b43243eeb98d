//! Answers as a Rust type.

use std::future::Future;
use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;

use crate::output_schema;
use steersman_agent::Agent;
use steersman_base::error::AskError;

/// What an [`Agent`] can be asked where schemas are checked.
pub trait AskAs {
    /// Runs one turn with one user message and returns the answer as a type: its schema is sent to the model, an answer that
    /// does not match is asked for once more, and a fence around it is taken off.
    ///
    /// Example: "An answer as a type" in the documentation of `steersman::prelude`.
    ///
    /// # Errors
    /// [`AskError::Run`] as [`Agent::run_loop`], [`AskError::Mismatch`] when the second answer does not match either.
    fn ask_as<T>(&mut self, user_message: &str) -> impl Future<Output = Result<T, AskError>> + Send
    where
        T: DeserializeOwned + JsonSchema;
}

impl AskAs for Agent {
    async fn ask_as<T>(&mut self, user_message: &str) -> Result<T, AskError>
    where
        T: DeserializeOwned + JsonSchema,
    {
        let schema = {
            let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
            let schema = settings.into_generator().into_root_schema_for::<T>().to_value();
            output_schema::parse(&schema.to_string()).map_err(AskError::Schema)?
        };
        let value = self.ask_matching(user_message, Arc::new(schema)).await?;
        serde_json::from_value(value).map_err(|error| AskError::Mismatch(error.to_string()))
    }
}
