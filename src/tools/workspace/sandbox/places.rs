//! The places that matter to a sandbox, in one table each: what every command may read, and what none may change.
//!
//! Lists of what is allowed, except where a workspace holds the home directory itself: there a few places are hidden.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace::{Network, read_head};
use steersman_base::limits;

/// Where systems keep their programs. A link among them stays a link.
const SYSTEM: [&str; 9] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix"];

/// Links in the root directory that lead to homes on some systems.
pub(super) const HOMES: [&str; 2] = ["/home", "/root"];

/// What of `/etc` programs need and nobody keeps a secret in.
const ETC: &str = "\
    alternatives bash.bashrc ca-certificates ca-certificates.conf crypto-policies debian_version default/locale \
    fonts gai.conf group host.conf hosts inputrc ld.so.cache ld.so.conf ld.so.conf.d locale.alias locale.conf \
    localtime login.defs magic mime.types nsswitch.conf os-release passwd perl pki profile protocols services shells \
    ssl/certs ssl/openssl.cnf static terminfo timezone xml";

/// Names in `/etc` that begin so are read too: every version of Java has its own.
const ETC_PREFIXES: [&str; 2] = ["java", "python3"];

/// What a command reads only when it may use the network.
const ETC_NETWORK: [&str; 1] = ["resolv.conf"];

/// Toolchains in the home directory. Read-only, and without the files beside them that hold tokens.
const TOOLCHAINS: &str = "\
    .asdf .bun/bin .cargo/bin .cargo/env .cargo/git .cargo/registry .deno/bin .elan .fnm .ghcup .goenv .juliaup \
    .local/bin .local/lib .local/pipx .local/share/fnm .local/share/mise .local/share/pipx .local/share/pnpm \
    .local/share/uv .m2/repository .nix-profile .nodenv .nvm .opam .pyenv .rbenv .rustup .rvm .sdkman .swiftly \
    .volta go/bin go/pkg miniconda3 miniforge3";

/// Places in a home directory that are hidden when the workspace holds it.
const SECRETS: &str = "\
    .aws .azure .bash_history .cargo/credentials .cargo/credentials.toml .claude .config/anthropic .config/chromium \
    .config/gcloud .config/gh .config/git/credentials .config/google-chrome .config/hub .config/op .config/rclone \
    .config/steersman .codex .docker .gem/credentials .git-credentials .gnupg .kube .local/share/keyrings \
    .local/share/steersman .local/state/steersman .mozilla .my.cnf .netrc .npmrc .password-store .pgpass .pypirc \
    .python_history .ssh .terraform.d .thunderbird .zsh_history";

/// What a command finds in `/dev` when the directory itself is the host's.
pub(super) const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// A place of the system, as it is put into a sandbox.
pub(super) enum System {
    /// A directory or file, read-only.
    Real(PathBuf),
    /// A link, with its target.
    Link(PathBuf, PathBuf),
}

/// Returns the places of the system that every command may read.
pub(super) fn system(network: Network) -> Vec<System> {
    let mut found = Vec::new();
    let roots = SYSTEM.iter().map(|path| (path, true)).chain(HOMES.iter().map(|path| (path, false)));
    for (path, is_wanted_itself) in roots {
        let path = Path::new(path);
        match path.read_link() {
            Ok(target) => found.push(System::Link(path.to_owned(), target)),
            Err(_) if is_wanted_itself && path.exists() => found.push(System::Real(path.to_owned())),
            Err(_) => {}
        }
    }
    let etc = Path::new("/etc");
    let network = ETC_NETWORK.into_iter().filter(|_| network == Network::On);
    let named = ETC.split_ascii_whitespace().chain(network).map(|name| etc.join(name)).filter(|path| path.exists());
    found.extend(named.map(System::Real));
    let versions = fs::read_dir(etc).into_iter().flatten().flatten().filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        ETC_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            && !ETC.split_ascii_whitespace().any(|listed| listed == name)
    });
    found.extend(versions.map(|entry| System::Real(entry.path())));
    found
}

pub(super) fn toolchains(home: &Path) -> Vec<PathBuf> {
    existing(home, TOOLCHAINS)
}

/// Returns what is hidden of a home directory within a workspace.
pub(super) fn secrets(home: &Path) -> Vec<PathBuf> {
    existing(home, SECRETS)
}

/// Returns the directories of a search path that lie outside the system, the home directory itself and above it
/// left out.
pub(super) fn of_search_path(path: &OsString, home: Option<&Path>) -> Vec<PathBuf> {
    let directories = std::env::split_paths(path).filter(|path| path.is_absolute() && path.is_dir());
    directories
        .filter(|path| !SYSTEM.iter().any(|system| path.starts_with(system)))
        .filter(|path| home.is_none_or(|home| !home.starts_with(path)) && path.parent().is_some())
        .collect()
}

/// Returns the repositories that writable worktrees belong to; they are written too.
pub(in crate::workspace) fn repositories(writable: &[PathBuf]) -> Vec<PathBuf> {
    let found = writable.iter().filter_map(|root| Worktree::new(root, writable)).map(|worktree| worktree.repository);
    found.collect()
}

/// Where a worktree of git keeps what does not lie in it.
struct Worktree {
    /// The repository that it shares with others.
    repository: PathBuf,
}

impl Worktree {
    /// Finds them; `None` when `root` is no worktree, or anything says so that a command could have written.
    fn new(root: &Path, writable: &[PathBuf]) -> Option<Self> {
        let link = root.join(".git");
        let own = root.join(line(&link)?.strip_prefix("gitdir: ")?).canonicalize().ok()?;
        // Git names each in the other.
        let back = PathBuf::from(line(&own.join("gitdir"))?);
        let is_mutual = back.canonicalize().ok()? == link.canonicalize().ok()?;
        let all = own.parent().filter(|all| all.file_name().is_some_and(|name| name == "worktrees"))?;
        let repository = all.parent()?.to_owned();
        let is_ours = writable.iter().any(|path| own.starts_with(path) || path.starts_with(&repository));
        (is_mutual && !is_ours && repository.join("objects").is_dir()).then_some(Self { repository })
    }
}

/// Reads a file of one line.
fn line(path: &Path) -> Option<String> {
    let head = read_head(path, limits::GIT_SETTINGS_BYTES).ok()?;
    String::from_utf8(head.bytes).ok().map(|text| text.trim_end_matches('\n').to_owned())
}

fn existing(home: &Path, names: &str) -> Vec<PathBuf> {
    names.split_ascii_whitespace().map(|name| home.join(name)).filter(|path| path.exists()).collect()
}
