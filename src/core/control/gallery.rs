//! The newest images of the conversations of a tree, so that a screen can be given those that it shows.
//!
//! Agents put them in as they enter a conversation; a host takes them out by their digests. Always holds: they are bounded in
//! number and in bytes, and share their bytes with the conversations.

use std::collections::VecDeque;

use steersman_base::image::{Image, ImageDigest};
use steersman_base::limits;

/// Images, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Gallery(VecDeque<(ImageDigest, Image)>);

impl Gallery {
    /// Keeps an image; one that is kept already counts as new again.
    pub(super) fn keep(&mut self, image: &Image) {
        let digest = image.digest();
        self.0.retain(|(known, _)| *known != digest);
        self.0.push_back((digest, image.clone()));
        let bytes = |images: &VecDeque<(ImageDigest, Image)>| -> usize {
            images.iter().map(|(_, image)| image.base64().len()).sum()
        };
        while self.0.len() > limits::GALLERY_IMAGES || bytes(&self.0) > limits::GALLERY_BYTES {
            self.0.pop_front();
        }
    }

    pub(super) fn find(&self, digest: &ImageDigest) -> Option<Image> {
        self.0.iter().find(|(known, _)| known == digest).map(|(_, image)| image.clone())
    }
}
