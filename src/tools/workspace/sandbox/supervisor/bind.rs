//! Naming a socket, in the place of the job: one with a path is a name in a directory.

use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{SocketAddrUnix, SocketAddrV4, SocketAddrV6};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, fchdir, pidfd_getfd, pidfd_open};

use super::Supervisor;
use super::resolve::Last;
use super::target::{CURRENT_DIRECTORY, Target, low};
use steersman_base::protected::NameChange;

/// Bytes of the longest address.
const ADDRESS_BYTES: usize = 128;

impl Supervisor {
    pub(super) fn bind(&self, target: &Target, [descriptor, address, length, ..]: [u64; 6]) -> Result<(), Errno> {
        let status = target.status()?;
        let process = Pid::from_raw(status.process.cast_signed()).ok_or(Errno::SRCH)?;
        let process = pidfd_open(process, PidfdFlags::empty())?;
        let socket = pidfd_getfd(&process, low(descriptor).cast_signed(), PidfdGetfdFlags::empty())?;
        let mut bytes = [0; ADDRESS_BYTES];
        let length = usize::try_from(low(length)).unwrap_or(usize::MAX);
        let mut read = 0;
        while let Some(rest @ [_, ..]) = bytes.get_mut(read..length) {
            read += target.read_memory(address.checked_add(read as u64).ok_or(Errno::FAULT)?, rest)?;
        }
        let bytes = bytes.get(..length).ok_or(Errno::INVAL)?;
        let (family, rest) = bytes.split_first_chunk::<2>().ok_or(Errno::INVAL)?;
        match i32::from(u16::from_ne_bytes(*family)) {
            libc::AF_UNIX => match rest {
                [] => rustix::net::bind(&socket, &SocketAddrUnix::new_unnamed()),
                [0, name @ ..] => rustix::net::bind(&socket, &SocketAddrUnix::new_abstract_name(name)?),
                path => {
                    let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
                    let found = self.files.find(target, CURRENT_DIRECTORY, path, Last::Kept)?;
                    let place = found.place.ok_or(Errno::INVAL)?;
                    if found.object.is_some() {
                        return Err(Errno::ADDRINUSE);
                    }
                    self.may(NameChange::Special(&place.path))?;
                    target.lend_mask()?;
                    // The path is the socket's name, so it must be this one. Nothing of the job changes what it leads to.
                    fchdir(target.descriptor(CURRENT_DIRECTORY)?)?;
                    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)
                }
            },
            libc::AF_INET | libc::AF_UNSPEC => {
                let address: [u8; 4] = part(rest, 2)?;
                rustix::net::bind(&socket, &SocketAddrV4::new(address.into(), u16::from_be_bytes(part(rest, 0)?)))
            }
            libc::AF_INET6 => {
                let address: [u8; 16] = part(rest, 6)?;
                let (port, flow) = (u16::from_be_bytes(part(rest, 0)?), u32::from_be_bytes(part(rest, 2)?));
                let scope = part(rest, 22).map(u32::from_ne_bytes).unwrap_or_default();
                rustix::net::bind(&socket, &SocketAddrV6::new(address.into(), port, flow, scope))
            }
            libc::AF_NETLINK => {
                let (number, groups) = (u32::from_ne_bytes(part(rest, 2)?), u32::from_ne_bytes(part(rest, 6)?));
                rustix::net::bind(&socket, &SocketAddrNetlink::new(number, groups))
            }
            _ => Err(Errno::AFNOSUPPORT),
        }
    }
}

/// Returns a part of an address.
fn part<const BYTES: usize>(address: &[u8], at: usize) -> Result<[u8; BYTES], Errno> {
    address.get(at..).and_then(<[u8]>::first_chunk).copied().ok_or(Errno::INVAL)
}
