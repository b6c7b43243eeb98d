//! A home with secrets, a workspace, and a host around them that a confined command must not reach.

use std::ffi::OsString;
use std::fs::{self, File};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use steersman_base::protected::ProtectedPlaces;
use steersman_tools::workspace::sandbox::{SandboxChoice, Surroundings};
use steersman_tools::workspace::{ChildEnvironment, Confinement, Ended, Job, Sandbox, Spawner};
use tempfile::TempDir;

use crate::built_program;
use crate::skip::{Need, skip};

/// What no confined command may ever print.
pub const CANARY: &str = "CANARY-b7d1";

/// The search path of every job here.
pub const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Every kind of sandbox.
pub const KINDS: [SandboxChoice; 3] = [SandboxChoice::Namespaces, SandboxChoice::Bubblewrap, SandboxChoice::Landlock];

/// The host.
pub struct Grounds {
    _dir: TempDir,
    pub home: PathBuf,
    pub work: PathBuf,
    pub outside: PathBuf,
    victim: Child,
    tcp: TcpListener,
    udp: UdpSocket,
    _sockets: (UnixListener, UnixDatagram, UnixListener),
    name: String,
    shared: PathBuf,
}

impl Grounds {
    pub fn new() -> Self {
        Self::within(TempDir::new().unwrap())
    }

    pub fn within(dir: TempDir) -> Self {
        let at = |name: &str| {
            let path = dir.path().canonicalize().unwrap().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let (home, work, outside) = (at("home"), at("work"), at("outside"));
        for secret in
            [".ssh/id_ed25519", ".netrc", ".cargo/credentials.toml", ".config/steersman/config.toml", ".bashrc"]
        {
            let path = home.join(secret);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, CANARY).unwrap();
        }
        fs::create_dir_all(home.join(".cargo/bin")).unwrap();
        fs::write(home.join(".cargo/bin/tool"), "a tool\n").unwrap();
        for name in ["victim", "removable", "movable"] {
            fs::write(outside.join(name), CANARY).unwrap();
        }
        File::create(outside.join("empty")).unwrap();
        fs::create_dir(outside.join("directory")).unwrap();
        symlink(&outside, work.join("link-out")).unwrap();

        let name = format!("steersman-{}-{}", std::process::id(), number());
        let abstract_name = SocketAddr::from_abstract_name(&name).unwrap();
        let sockets = (
            UnixListener::bind(outside.join("socket")).unwrap(),
            UnixDatagram::bind(outside.join("datagrams")).unwrap(),
            UnixListener::bind_addr(&abstract_name).unwrap(),
        );
        let shared = Path::new("/dev/shm").join(&name);
        fs::write(&shared, CANARY).unwrap();
        let victim = Command::new("sleep")
            .arg("600")
            .env("SECRET", CANARY)
            .current_dir(&outside)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        Self { _dir: dir, home, work, outside, victim, tcp, udp, _sockets: sockets, name, shared }
    }

    pub fn surroundings(&self) -> Surroundings {
        Surroundings {
            program: built_program().into(),
            home: Some(self.home.clone()),
            path: PATH.into(),
            writable: vec![self.work.clone()],
            protected: ProtectedPlaces::default(),
            hidden: vec![self.outside.join("hidden")],
        }
    }

    /// Returns the sandbox of a kind; `None`, said at the end of the run, when this machine has none of it.
    pub async fn sandbox(&self, wanted: SandboxChoice) -> Option<Sandbox> {
        match Sandbox::detect(wanted, &self.surroundings()).await {
            Ok(sandbox) => Some(sandbox),
            Err(missing) => {
                skip(Need::of_sandbox(wanted), &missing.to_string());
                None
            }
        }
    }

    /// Makes a job that may write in the workspace and knows where the host is.
    pub fn job(&self, argv: &[&str]) -> Job {
        let variables = [
            ("OUTSIDE", self.outside.to_string_lossy().into_owned()),
            ("VICTIM", self.victim.id().to_string()),
            ("HOST", std::process::id().to_string()),
            ("TCP", self.tcp.local_addr().unwrap().port().to_string()),
            ("UDP", self.udp.local_addr().unwrap().port().to_string()),
            ("ABSTRACT", self.name.clone()),
            ("SHARED", self.name.clone()),
        ];
        Job {
            argv: argv.iter().map(OsString::from).collect(),
            cwd: self.work.clone(),
            environment: variables.map(|(name, value)| (name.into(), value.into())).to_vec(),
            confinement: Confinement { writable: vec![self.work.clone()], ..Confinement::default() },
        }
    }

    /// Makes a job for the shell.
    pub fn shell(&self, command: &str) -> Job {
        self.job(&["bash", "-c", command])
    }

    /// Makes a spawner on a host whose environment is full of keys.
    pub fn spawner(&self, sandbox: &Sandbox) -> Spawner {
        let host = [
            ("PATH", PATH),
            ("HOME", self.home.to_str().unwrap()),
            ("OPENAI_API_KEY", CANARY),
            ("ANTHROPIC_API_KEY", CANARY),
            ("MY_SERVICE_TOKEN", CANARY),
            ("DB_PASSWORD", CANARY),
            ("MY_SERVER", CANARY),
            ("STEERSMAN_CONFIG", CANARY),
        ];
        let host = host.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let environment = ChildEnvironment::new(host, &["MY_SERVER", "MY_SERVICE_TOKEN"], &["MY_SERVER"]);
        Spawner::new(built_program(), sandbox.clone(), environment)
    }

    /// Runs a job to its end; returns what it printed.
    pub async fn run(&self, sandbox: &Sandbox, job: &Job) -> (Ended, String) {
        let spawner = self.spawner(sandbox);
        let mut running = spawner.start(job).unwrap();
        let mut output = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            match running.read_output(&mut buffer).await.unwrap() {
                0 => break,
                read => output.extend_from_slice(&buffer[..read]),
            }
        }
        (running.ended().await, String::from_utf8_lossy(&output).into_owned())
    }

    /// Runs a shell command that must end well; returns what it printed.
    pub async fn works(&self, sandbox: &Sandbox, command: &str) -> String {
        let (ended, output) = self.run(sandbox, &self.shell(command)).await;
        assert_eq!(ended.code, Some(0), "{:?}: {command}\n{output}", sandbox.name());
        output
    }

    /// Takes the connection that a job made.
    pub fn take_connection(&self) {
        self.tcp.accept().unwrap();
    }

    /// Fails when anything of the host was touched.
    pub fn assert_untouched(&mut self) {
        let mut names: Vec<String> = fs::read_dir(&self.outside)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        assert_eq!(names, ["datagrams", "directory", "empty", "movable", "removable", "socket", "victim"]);
        assert_eq!(fs::read_to_string(self.outside.join("victim")).unwrap(), CANARY);
        assert_eq!(fs::read_to_string(self.home.join(".bashrc")).unwrap(), CANARY);
        assert_eq!(self.victim.try_wait().unwrap(), None, "the victim was killed");
        self.udp.set_nonblocking(true).unwrap();
        assert!(self.udp.recv(&mut [0; 16]).is_err(), "a datagram came out");
        self.tcp.set_nonblocking(true).unwrap();
        assert!(self.tcp.accept().is_err(), "a connection came out");
    }
}

impl Drop for Grounds {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        let _ = fs::remove_file(&self.shared);
    }
}

/// Returns the sandbox of a kind where it closes names; `None`, said at the end of the run, elsewhere.
pub async fn closing(grounds: &Grounds, kind: SandboxChoice) -> Option<Sandbox> {
    let sandbox = grounds.sandbox(kind).await?;
    if !sandbox.closes_names() {
        skip(Need::of_sandbox(kind), "the kernel lets nobody answer the system calls of a command");
        return None;
    }
    Some(sandbox)
}

/// Counts the grounds of this process.
fn number() -> usize {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static MADE: AtomicUsize = AtomicUsize::new(0);
    MADE.fetch_add(1, Ordering::Relaxed)
}
