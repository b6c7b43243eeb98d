//! The tool `calculator`: one arithmetic expression, one number.
//!
//! It needs no workspace and takes no time: the length of an expression and the depth of its nesting are limited.
//!
//! # Where things are
//!
//! - the calculator's expressions: read and evaluated in one pass, by binding powers (Pratt): `expression.rs`
//! - the numbers of the calculator: `number.rs`

mod expression;
mod number;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use steersman_core::tool::{Args, Concurrency, Parameters, Tool, ToolContext, ToolError, ToolSpec};

/// Evaluates arithmetic expressions.
pub struct Calculator {
    spec: ToolSpec,
}

impl Calculator {
    /// Makes the tool.
    pub fn new() -> Self {
        let parameters = Parameters::build(|p| {
            p.required_string("expression", "For example `(3 + 4) * 2^10 / sqrt(2)`.");
        });
        let description = "Evaluates one arithmetic expression: + - * / % (sign of the divisor) ^ or ** (power), \
             parentheses, pi, e, tau, sqrt cbrt abs sign min max round(x, digits) floor ceil trunc exp ln \
             log10 log2 log(x, base; base 10 if left out) sin cos tan asin acos atan (radians). Whole \
             numbers are exact up to 38 digits, others have 15 digits. No thousands separators, no \
             variables.";
        let spec = ToolSpec::new("calculator", description, parameters).concurrency(Concurrency::Parallel);
        Self { spec }
    }

    /// Evaluates one expression.
    ///
    /// # Errors
    /// One sentence that names the fault and its place (characters, from 1).
    pub fn evaluate(expression: &str) -> Result<String, String> {
        expression::evaluate(expression).map(|number| number.to_string())
    }
}

impl Default for Calculator {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for Calculator {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(&'a self, args: Args, context: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        async move {
            let expression = args.str("expression");
            context.approve_use("calculator", expression).await?;
            Self::evaluate(expression).map_err(ToolError::Failed)
        }
        .boxed()
    }
}
