//! Which images of the transcript have a picture, and which are asked for: those in view, each once.
//!
//! The pane of the transcripts owns it. Always holds: a terminal has at most so many pictures at once; one in view is not taken
//! away for another; an image that cannot be shown is not asked for again.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::PictureProtocol;
use steersman_base::image::{Image, ImageDigest};
use steersman_base::limits;
use steersman_images::{CellArea, Preview, PreviewCrop};

/// The place of a picture among those that the terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PictureSlot(pub u8);

/// A picture that the terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// Its place.
    pub slot: PictureSlot,
    /// Its columns.
    pub columns: u16,
    /// Its rows.
    pub rows: u16,
}

/// The room for one picture, in cells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PictureRoom {
    /// Most columns.
    pub columns: u16,
    /// Most rows.
    pub rows: u16,
}

/// A picture that is to be made of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureJob {
    /// The image, by what it is known.
    pub digest: ImageDigest,
    /// The image.
    pub image: Image,
    /// The room for it.
    pub room: CellArea,
    /// What it is cut into.
    pub cut: PreviewCrop,
}

/// A picture that the terminal is to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPicture {
    /// Its place; what was there is not shown any more.
    pub slot: PictureSlot,
    /// The picture.
    pub picture: Preview,
    /// How the terminal is given it.
    pub protocol: PictureProtocol,
}

/// The pictures by their images. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Placements(Arc<BTreeMap<ImageDigest, Placement>>);

/// What is known of the pictures.
#[derive(Debug, Default)]
pub struct Pictures {
    /// How the terminal is given pictures; `None` as long as it is not known to show any.
    protocol: Option<PictureProtocol>,
    /// The size of a cell, pixels.
    cell: (u16, u16),
    placements: Placements,
    /// The images with a picture, in the order in which they got it.
    order: Vec<ImageDigest>,
    /// The images that are being read or made.
    asked: Vec<ImageDigest>,
    /// The images that have no picture.
    refused: Vec<ImageDigest>,
    in_view: Vec<ImageDigest>,
    room: PictureRoom,
}

impl Placements {
    /// Returns the picture of an image.
    pub fn get(&self, digest: &ImageDigest) -> Option<Placement> {
        self.0.get(digest).copied()
    }
}

impl Pictures {
    /// Notes that the terminal shows pictures, and the size of its cells in pixels. Pictures that were made for cells of
    /// another size are made again where the terminal does not scale them.
    pub fn support(&mut self, protocol: PictureProtocol, cell: (u16, u16)) {
        if (self.protocol, self.cell) != (Some(protocol), cell) {
            match protocol {
                PictureProtocol::Kitty | PictureProtocol::Iterm2 => {}
                PictureProtocol::Sixel => {
                    self.placements = Placements::default();
                    self.order.clear();
                }
            }
            self.asked.clear();
            self.refused.clear();
            self.protocol = Some(protocol);
            self.cell = cell;
        }
    }

    /// Returns whether the terminal shows pictures.
    pub fn is_supported(&self) -> bool {
        self.protocol.is_some()
    }

    /// Returns the pictures that the terminal has.
    pub fn placements(&self) -> &Placements {
        &self.placements
    }

    /// Takes the images of the cells in view and the room for each; returns those of which nothing is known: they are to be
    /// asked for.
    pub fn drawn(&mut self, in_view: Vec<ImageDigest>, room: PictureRoom) -> Vec<ImageDigest> {
        self.in_view = in_view;
        self.room = room;
        let mut wanted = Vec::new();
        for digest in &self.in_view {
            let is_known = self.placements.get(digest).is_some() || self.refused.contains(digest);
            if !is_known && !self.asked.contains(digest) {
                self.asked.push(digest.clone());
                wanted.push(digest.clone());
            }
        }
        wanted
    }

    /// Takes an image that was asked for; returns the picture that is to be made of it.
    pub fn image_read(&mut self, digest: ImageDigest, image: Option<Image>) -> Option<PictureJob> {
        if !self.asked.contains(&digest) {
            return None;
        }
        if let (Some(image), Some(protocol)) = (image, self.protocol) {
            let PictureRoom { columns, rows } = self.room;
            let room = CellArea { columns, rows, cell: self.cell };
            return Some(PictureJob { digest, image, room, cut: protocol.cut() });
        }
        self.refuse(digest);
        None
    }

    /// Takes the picture of an image; returns it for the terminal, where there is room for one more.
    pub fn made(&mut self, digest: ImageDigest, outcome: Result<Preview, String>) -> Option<NewPicture> {
        // One for cells of another size comes too late: it was asked for again.
        if !self.asked.contains(&digest) || outcome.as_ref().is_ok_and(|picture| picture.cell != self.cell) {
            return None;
        }
        let picture = match outcome {
            Ok(picture) => picture,
            Err(reason) => {
                tracing::debug!(%reason, "an image is shown by its name only");
                self.refuse(digest);
                return None;
            }
        };
        let (Some(protocol), Some(slot)) = (self.protocol, self.free_slot()) else {
            self.refuse(digest);
            return None;
        };
        self.asked.retain(|asked| *asked != digest);
        let placement = Placement { slot, columns: picture.columns, rows: picture.rows };
        Arc::make_mut(&mut self.placements.0).insert(digest.clone(), placement);
        self.order.push(digest);
        Some(NewPicture { slot, picture, protocol })
    }

    /// Finds a place, where need be that of the oldest picture that is out of view.
    fn free_slot(&mut self) -> Option<PictureSlot> {
        let is_taken = |slot: &PictureSlot| self.placements.0.values().any(|placement| placement.slot == *slot);
        if let Some(free) = (0..limits::PICTURES).map(PictureSlot).find(|slot| !is_taken(slot)) {
            return Some(free);
        }
        let oldest = self.order.iter().position(|digest| !self.in_view.contains(digest))?;
        let digest = self.order.remove(oldest);
        Arc::make_mut(&mut self.placements.0).remove(&digest).map(|placement| placement.slot)
    }

    fn refuse(&mut self, digest: ImageDigest) {
        self.asked.retain(|asked| *asked != digest);
        self.refused.push(digest);
        if self.refused.len() > limits::PICTURELESS {
            self.refused.remove(0);
        }
    }
}
