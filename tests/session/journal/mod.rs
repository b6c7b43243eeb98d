//! The journal: what is written, what of damaged files is read, and disks that fail.

mod damage;
mod files;
mod index;
mod writing;
