//! Images that calls return beside their text: collected while a batch of calls runs, shown to the model behind its results.
//!
//! No dialect but one takes images within a result, so each gets them the same way: in a message of their own, which the
//! agent appends at the boundary. Always holds: they are bounded in number, and each has been made to fit.

use std::sync::{Arc, Mutex};

use steersman_base::image::Image;
use steersman_base::limits;
use steersman_base::sync::lock;

/// The images of the calls that run. Clones lead to the same agent and the same call.
#[derive(Debug, Clone, Default)]
pub struct ResultImages {
    all: Arc<Mutex<Vec<Image>>>,
    /// Those of this call.
    own: Arc<Mutex<Vec<Image>>>,
}

impl ResultImages {
    /// Returns the same for one more call.
    #[must_use]
    pub fn of_call(&self) -> Self {
        Self { all: Arc::clone(&self.all), own: Arc::default() }
    }

    /// Adds one.
    ///
    /// # Errors
    /// A sentence when there are as many as one message has.
    pub fn add(&self, image: Image) -> Result<(), String> {
        let mut images = lock(&self.all);
        if images.len() >= limits::IMAGES {
            return Err(format!("at most {} images are shown at once; ask for it again on its own", limits::IMAGES));
        }
        images.push(image.clone());
        lock(&self.own).push(image);
        Ok(())
    }

    /// Takes those of all calls.
    pub fn take_images(&self) -> Vec<Image> {
        std::mem::take(&mut *lock(&self.all))
    }

    /// Takes those of this call, for whoever shows it.
    pub fn take_own(&self) -> Vec<Image> {
        std::mem::take(&mut *lock(&self.own))
    }
}
