//! The input and the error output of a job that is talked to, and how its guard gets them.
//!
//! The guard has three streams for itself: what it is told, the job's output, and its report. The other two streams of
//! the job are pipes whose ends the host sends over the first of these, a socket then (`SCM_RIGHTS`), so that no other
//! process that is started meanwhile can inherit one.

use std::ffi::OsStr;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use tokio::net::unix::pipe;

/// What is written to a job.
pub type JobInput = pipe::Sender;
/// What a job writes to its error output.
pub type JobErrors = pipe::Receiver;

/// Which streams a job has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// One output for everything, and an empty input.
    Output,
    /// One output for everything, and an input.
    Input,
    /// An input, an output and an error output of its own.
    Own,
}

impl Streams {
    /// Returns the argument of the guard that stands before the job.
    pub(super) fn argument(self) -> &'static str {
        match self {
            Self::Output => "--",
            Self::Input => "--own-input",
            Self::Own => "--own-streams",
        }
    }

    /// Reads the argument of the guard that stands before the job.
    pub fn of_argument(argument: &OsStr) -> Option<Self> {
        [Self::Output, Self::Input, Self::Own].into_iter().find(|streams| argument == streams.argument())
    }
}

/// The ends that the job gets.
#[derive(Debug)]
pub(super) struct JobStreams {
    pub input: OwnedFd,
    /// Where its error output goes; `None` for its output.
    pub errors: Option<OwnedFd>,
}

impl JobStreams {
    /// Makes the pipes; returns the host's ends, and those of the job.
    pub(super) fn pair() -> io::Result<(JobInput, JobErrors, Self)> {
        let (to_job, streams) = Self::input()?;
        let (from_job, errors) = io::pipe()?;
        let from_job = OwnedFd::from(from_job);
        rustix::io::ioctl_fionbio(&from_job, true)?;
        let streams = Self { errors: Some(errors.into()), ..streams };
        Ok((to_job, JobErrors::from_owned_fd_unchecked(from_job)?, streams))
    }

    /// Makes the pipe of an input; returns the host's end, and that of the job.
    pub(super) fn input() -> io::Result<(JobInput, Self)> {
        let (input, to_job) = io::pipe()?;
        let to_job = OwnedFd::from(to_job);
        rustix::io::ioctl_fionbio(&to_job, true)?;
        Ok((JobInput::from_owned_fd_unchecked(to_job)?, Self { input: input.into(), errors: None }))
    }

    /// Sends the job's ends to its guard.
    pub(super) fn send(&self, to: &UnixStream) -> io::Result<()> {
        let ends: Vec<_> = std::iter::once(self.input.as_fd()).chain(self.errors.as_ref().map(AsFd::as_fd)).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut buffer = SendAncillaryBuffer::new(&mut space);
        if !buffer.push(SendAncillaryMessage::ScmRights(&ends)) {
            return Err(io::Error::other("no room for two descriptors"));
        }
        sendmsg(to, &[IoSlice::new(&[0])], &mut buffer, SendFlags::empty())?;
        Ok(())
    }

    /// Takes the job's ends from this process's standard input.
    pub(super) fn receive() -> io::Result<Self> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut buffer = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        recvmsg(io::stdin(), &mut [IoSliceMut::new(&mut byte)], &mut buffer, RecvFlags::empty())?;
        let mut ends = buffer.drain().flat_map(|message| match message {
            RecvAncillaryMessage::ScmRights(ends) => ends.collect::<Vec<_>>(),
            _ => Vec::new(),
        });
        let (Some(input), errors, None) = (ends.next(), ends.next(), ends.next()) else {
            return Err(io::Error::other("the streams of the job did not come"));
        };
        for end in std::iter::once(&input).chain(&errors) {
            rustix::io::fcntl_setfd(end, rustix::io::FdFlags::CLOEXEC)?;
        }
        Ok(Self { input, errors })
    }
}
