//! The system calls that no confined command gets: those that reach other processes, the kernel or new namespaces.
//!
//! A list of what is refused, not of what is allowed: ordinary programs must run. Applied by the hidden sub-command
//! last.

use std::collections::BTreeMap;
use std::env::consts::ARCH;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Refused whatever the arguments.
const REFUSED: &[c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_perf_event_open,
    // What goes past this filter, or widely into the kernel.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    // Keys of the user.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // The view of the file system.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_unshare,
    libc::SYS_setns,
    // The machine.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
    libc::SYS_vhangup,
];

/// Refused too where they exist.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[c_long] = &[libc::SYS_kexec_file_load, libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[c_long] = &[];

/// Calls that change another process when their first argument, a process or thread number, is not 0. A filter does not
/// know the caller's own number, so only 0 passes, by which programs mean themselves.
const OF_A_PROCESS: &[c_long] = &[
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setaffinity,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];

/// Calls that take a kind of target and its number, with the kind that means one process. The others, groups and users,
/// are never the caller alone.
const OF_A_TARGET: [(c_long, u64); 2] = [(libc::SYS_setpriority, 0), (libc::SYS_ioprio_set, 1)];

/// `ioctl` requests that type into a terminal or change what reads from it: `TIOCSTI`, `TIOCSETD`, `TIOCLINUX` of the kernel's
/// `asm-generic/ioctls.h`. Their type in `libc` is another one with each C library.
const TERMINAL_REQUESTS: [u64; 3] = [0x5412, 0x5423, 0x541C];

const SET_USER_ID: u64 = 0o4000;

/// Refuses these system calls to this process and what it starts, for ever. `families` are the kinds of socket that may
/// be opened.
pub(super) fn confine(families: &[i32]) -> Result<(), String> {
    let describe = |error: seccompiler::Error| error.to_string();
    #[cfg(target_arch = "x86_64")]
    apply_filter(&second_numbers()).map_err(describe)?;
    // Its flags lie in memory, where no filter looks; libraries then take `clone`.
    let clone3 = Rules::from([(libc::SYS_clone3, vec![])]);
    apply_filter(&program(clone3, libc::ENOSYS)?).map_err(describe)?;
    apply_filter(&program(rules(families)?, libc::EPERM)?).map_err(describe)
}

fn rules(families: &[i32]) -> Result<Rules, String> {
    let mut rules: Rules = REFUSED.iter().chain(REFUSED_HERE).map(|call| (*call, vec![])).collect();
    let is = |argument, value| condition(argument, SeccompCmpOp::Eq, value);
    let has = |argument, mask| condition(argument, SeccompCmpOp::MaskedEq(mask), mask);

    let is_not = |argument, value| condition(argument, SeccompCmpOp::Ne, value);
    for call in OF_A_PROCESS {
        rules.insert(*call, vec![rule(vec![is_not(0, 0)?])?]);
    }
    for (call, one_process) in OF_A_TARGET {
        rules.insert(call, vec![rule(vec![is_not(0, one_process)?])?, rule(vec![is_not(1, 0)?])?]);
    }
    // Looking at the limits of others harms nobody: without new ones the third argument is no address.
    let sets = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0).map_err(|e| e.to_string())?;
    rules.insert(libc::SYS_prlimit64, vec![rule(vec![is_not(0, 0)?, sets])?]);

    let others: Vec<_> = families
        .iter()
        .map(|family| condition(0, SeccompCmpOp::Ne, u64::from(family.unsigned_abs())))
        .collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_socket, if others.is_empty() { vec![] } else { vec![rule(others)?] });
    if !families.contains(&libc::AF_UNIX) {
        // A stream pair is connected for good; one of datagrams could be pointed at a socket of the host.
        let type_of = condition(1, SeccompCmpOp::MaskedEq(0xf), 2);
        rules.insert(libc::SYS_socketpair, vec![rule(vec![type_of?])?]);
    }
    let requests = TERMINAL_REQUESTS.iter().map(|request| rule(vec![is(1, *request)?]));
    rules.insert(libc::SYS_ioctl, requests.collect::<Result<_, _>>()?);
    rules.insert(libc::SYS_clone, vec![rule(vec![has(0, 0x1000_0000)?])?]);

    // Files that would lend their owner's rights, and devices.
    rules.insert(libc::SYS_fchmod, vec![rule(vec![has(1, SET_USER_ID)?])?]);
    rules.insert(libc::SYS_fchmodat, vec![rule(vec![has(2, SET_USER_ID)?])?]);
    rules.insert(libc::SYS_fchmodat2, vec![rule(vec![has(2, SET_USER_ID)?])?]);
    rules.insert(libc::SYS_mknodat, devices(2)?);
    #[cfg(target_arch = "x86_64")]
    {
        rules.insert(libc::SYS_chmod, vec![rule(vec![has(1, SET_USER_ID)?])?]);
        rules.insert(libc::SYS_mknod, devices(1)?);
    }
    Ok(rules)
}

/// Refuses character and block devices by the mode in this argument.
fn devices(argument: u8) -> Result<Vec<SeccompRule>, String> {
    let kind = |kind| condition(argument, SeccompCmpOp::MaskedEq(u64::from(libc::S_IFMT)), u64::from(kind));
    Ok(vec![rule(vec![kind(libc::S_IFCHR)?])?, rule(vec![kind(libc::S_IFBLK)?])?])
}

fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, String> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value).map_err(|error| error.to_string())
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, String> {
    SeccompRule::new(conditions).map_err(|error| error.to_string())
}

fn program(rules: Rules, errno: i32) -> Result<BpfProgram, String> {
    let arch = TargetArch::try_from(ARCH).map_err(|error| error.to_string())?;
    let refuse = SeccompAction::Errno(errno.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).map_err(|error| error.to_string())?;
    filter.try_into().map_err(|error: seccompiler::BackendError| error.to_string())
}

/// Refuses the second set of numbers (x32) that every call has on this machine; the filters above know only the first.
#[cfg(target_arch = "x86_64")]
fn second_numbers() -> BpfProgram {
    use seccompiler::sock_filter;
    const LOAD_WORD: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const ERRNO: u32 = 0x0005_0000;
    const ALLOW: u32 = 0x7fff_0000;
    const FIRST: u32 = 0x4000_0000;
    vec![
        // The number of the call lies first.
        sock_filter { code: LOAD_WORD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_IF_AT_LEAST, jt: 0, jf: 1, k: FIRST },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: ERRNO | libc::ENOSYS.unsigned_abs() },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: ALLOW },
    ]
}
