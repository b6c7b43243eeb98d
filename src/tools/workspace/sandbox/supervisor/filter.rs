//! Which system calls the kernel asks about: those that can make, change, rename or remove a name, or open what has one for
//! writing. What needs no look at a path is decided in the filter itself.

use libc::c_long;
use steersman_seccomp_notify::{ALLOW, ERROR, Instruction, NOTIFY, Notification};

use super::target::{CURRENT_DIRECTORY, low};

/// An operation on names. Its arguments are those of the newest call for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// A directory, a path, flags and a mode.
    Open,
    /// A directory, a path and a mode.
    MakeDirectory,
    /// A directory, a path, a mode and a device.
    MakeNode,
    /// A directory and a path, twice, and flags.
    Rename,
    /// The same.
    Link,
    /// A text, a directory and a path.
    Symlink,
    /// A directory, a path and flags.
    Remove,
    /// A directory, a path and a length.
    Truncate,
    /// A directory, a path, a mode and flags.
    ChangeMode,
    /// A descriptor and a mode.
    ChangeModeOfOpen,
    /// A socket, an address and its length.
    Bind,
}

const CALLS: &[(c_long, Operation)] = &[
    (libc::SYS_openat, Operation::Open),
    (libc::SYS_mkdirat, Operation::MakeDirectory),
    (libc::SYS_mknodat, Operation::MakeNode),
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    (libc::SYS_renameat, Operation::Rename),
    (libc::SYS_renameat2, Operation::Rename),
    (libc::SYS_linkat, Operation::Link),
    (libc::SYS_symlinkat, Operation::Symlink),
    (libc::SYS_unlinkat, Operation::Remove),
    (libc::SYS_truncate, Operation::Truncate),
    (libc::SYS_fchmodat, Operation::ChangeMode),
    (libc::SYS_fchmodat2, Operation::ChangeMode),
    (libc::SYS_fchmod, Operation::ChangeModeOfOpen),
    (libc::SYS_bind, Operation::Bind),
];

/// The older calls, which take no directory.
#[cfg(target_arch = "x86_64")]
const OLDER_CALLS: &[(c_long, Operation)] = &[
    (libc::SYS_open, Operation::Open),
    (libc::SYS_creat, Operation::Open),
    (libc::SYS_mkdir, Operation::MakeDirectory),
    (libc::SYS_mknod, Operation::MakeNode),
    (libc::SYS_rename, Operation::Rename),
    (libc::SYS_link, Operation::Link),
    (libc::SYS_symlink, Operation::Symlink),
    (libc::SYS_unlink, Operation::Remove),
    (libc::SYS_rmdir, Operation::Remove),
    (libc::SYS_chmod, Operation::ChangeMode),
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER_CALLS: &[(c_long, Operation)] = &[];

/// The kernel's numbers of `setxattrat` and `removexattrat`, the same on every architecture.
const SET_ATTRIBUTE_AT: c_long = 463;
const REMOVE_ATTRIBUTE_AT: c_long = 466;

/// Calls that always fail, with their errors.
const REFUSED: &[(c_long, i32)] = &[
    // Its flags lie in memory, where no filter looks; programs then take `openat`.
    (libc::SYS_openat2, libc::ENOSYS),
    // A list of access rights is one of these attributes, and can make a file executable. Programs go on without.
    (libc::SYS_setxattr, libc::EOPNOTSUPP),
    (libc::SYS_lsetxattr, libc::EOPNOTSUPP),
    (libc::SYS_fsetxattr, libc::EOPNOTSUPP),
    (libc::SYS_removexattr, libc::EOPNOTSUPP),
    (libc::SYS_lremovexattr, libc::EOPNOTSUPP),
    (libc::SYS_fremovexattr, libc::EOPNOTSUPP),
    (SET_ATTRIBUTE_AT, libc::ENOSYS),
    (REMOVE_ATTRIBUTE_AT, libc::ENOSYS),
    // The supervisor needs it, for sockets; nobody else.
    (libc::SYS_pidfd_getfd, libc::EPERM),
];

/// The flags with which `open` can change something: to write, to make, to empty, to make without a name.
const WRITES: i32 =
    libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC | (libc::O_TMPFILE & !libc::O_DIRECTORY);

/// Requests of `ioctl` that every file system has among those of btrfs: they need a file that is open for writing.
const CLONES: [u32; 3] = [0x4004_9409, 0x4020_940D, 0xC018_9436];
/// The types of the requests by which btrfs and bcachefs make and remove directories.
const SUBVOLUMES: [u32; 2] = [0x9400, 0xBC00];
const REQUEST_TYPE: u32 = 0xFF00;

const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const IF_EQUAL: u16 = 0x15;
const IF_ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

/// Returns the filter. Calls in other numbers than the machine's first ones were refused before.
pub(super) fn program() -> Vec<Instruction> {
    // The number of the call lies first.
    let mut program = vec![plain(LOAD, 0)];
    for (call, errno) in REFUSED {
        program.extend([jump(IF_EQUAL, unsigned(*call), 0, 1), verdict(error(*errno))]);
    }
    for (call, operation) in CALLS.iter().chain(OLDER_CALLS) {
        let number = unsigned(*call);
        match flags_of_open(*call, *operation) {
            Some(flags) => program.extend([
                jump(IF_EQUAL, number, 0, 5),
                argument(flags),
                // It opens nothing.
                jump(IF_ANY_BIT, libc::O_PATH.cast_unsigned(), 1, 0),
                jump(IF_ANY_BIT, WRITES.cast_unsigned(), 1, 0),
                verdict(ALLOW),
                verdict(NOTIFY),
            ]),
            None => program.extend([jump(IF_EQUAL, number, 0, 1), verdict(NOTIFY)]),
        }
    }
    let [clone, clone_range, same_range] = CLONES;
    let [btrfs, bcachefs] = SUBVOLUMES;
    program.extend([
        jump(IF_EQUAL, unsigned(libc::SYS_ioctl), 0, 9),
        argument(1),
        jump(IF_EQUAL, clone, 5, 0),
        jump(IF_EQUAL, clone_range, 4, 0),
        jump(IF_EQUAL, same_range, 3, 0),
        plain(AND, REQUEST_TYPE),
        jump(IF_EQUAL, btrfs, 2, 0),
        jump(IF_EQUAL, bcachefs, 1, 0),
        verdict(ALLOW),
        verdict(error(libc::ENOTTY)),
    ]);
    // The memory of a process that hides itself cannot be read, so paths in it neither. From whom it hides is in the sandbox
    // with it; it is told that it is hidden.
    program.extend([
        jump(IF_EQUAL, unsigned(libc::SYS_prctl), 0, 6),
        argument(0),
        jump(IF_EQUAL, libc::PR_SET_DUMPABLE.cast_unsigned(), 0, 2),
        argument(1),
        jump(IF_EQUAL, 0, 1, 0),
        verdict(ALLOW),
        verdict(error(0)),
    ]);
    program.push(verdict(ALLOW));
    program
}

/// Returns which argument of a call holds the flags of `open`; `None` when the call always writes.
fn flags_of_open(call: c_long, operation: Operation) -> Option<u32> {
    match operation {
        Operation::Open if call == libc::SYS_openat => Some(2),
        #[cfg(target_arch = "x86_64")]
        Operation::Open if call == libc::SYS_open => Some(1),
        _ => None,
    }
}

/// Returns what a call means, with its arguments in the order of [`Operation`]; `None` for a call that is not asked about.
pub(super) fn operation(call: &Notification) -> Option<(Operation, [u64; 6])> {
    let [first, second, third, fourth, fifth, _] = call.arguments;
    let is = |number: c_long| call.call == number;
    if let Some((_, operation)) = CALLS.iter().find(|(number, _)| is(*number)) {
        // What the older of two calls does not take is in no register of it.
        let arguments = match operation {
            Operation::Rename if !is(libc::SYS_renameat2) => [first, second, third, fourth, 0, 0],
            Operation::ChangeMode if is(libc::SYS_fchmodat) => [first, second, third, 0, 0, 0],
            Operation::Truncate => [CURRENT_DIRECTORY, first, second, 0, 0, 0],
            _ => [first, second, third, fourth, fifth, 0],
        };
        return Some((*operation, arguments));
    }
    older(call)
}

#[cfg(target_arch = "x86_64")]
fn older(call: &Notification) -> Option<(Operation, [u64; 6])> {
    const MADE: u64 = (libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC).cast_unsigned() as u64;
    const DIRECTORY: u64 = libc::AT_REMOVEDIR.cast_unsigned() as u64;
    let [a, b, c, ..] = call.arguments;
    let (_, operation) = OLDER_CALLS.iter().find(|(number, _)| *number == call.call)?;
    let here = CURRENT_DIRECTORY;
    let arguments = match (operation, call.call) {
        (Operation::Open, libc::SYS_creat) => [here, a, MADE, b, 0, 0],
        (Operation::Rename | Operation::Link, _) => [here, a, here, b, 0, 0],
        (Operation::Symlink, _) => [a, here, b, 0, 0, 0],
        (Operation::Remove, libc::SYS_rmdir) => [here, a, DIRECTORY, 0, 0, 0],
        (Operation::Remove, _) => [here, a, 0, 0, 0, 0],
        (Operation::ChangeMode, _) => [here, a, b, 0, 0, 0],
        _ => [here, a, b, c, 0, 0],
    };
    Some((*operation, arguments))
}

#[cfg(not(target_arch = "x86_64"))]
fn older(_: &Notification) -> Option<(Operation, [u64; 6])> {
    None
}

fn unsigned(call: c_long) -> u32 {
    low(call.cast_unsigned())
}

fn error(errno: i32) -> u32 {
    ERROR | errno.unsigned_abs()
}

fn plain(code: u16, k: u32) -> Instruction {
    Instruction { code, jt: 0, jf: 0, k }
}

fn jump(code: u16, k: u32, then: u8, otherwise: u8) -> Instruction {
    Instruction { code, jt: then, jf: otherwise, k }
}

fn verdict(verdict: u32) -> Instruction {
    plain(RETURN, verdict)
}

/// Loads the lower half of an argument; all that are looked at are numbers of 32 bits.
fn argument(number: u32) -> Instruction {
    const ARGUMENTS: u32 = 16;
    let lower = if cfg!(target_endian = "little") { 0 } else { 4 };
    plain(LOAD, ARGUMENTS + 8 * number + lower)
}
