//! The plan that an agent and its user share, as the model reads it.

mod told;
