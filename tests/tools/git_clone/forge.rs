//! A server of repositories on the loopback: git's own `http-backend` behind a few lines of HTTP, and servers that
//! misbehave.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tempfile::TempDir;

/// Serves every repository below a directory as `/NAME.git`. `/moved.git` leads to `/repo.git`, `/locked.git` wants a
/// password, `/silent.git` never answers, `/endless.git` never stops to list branches.
pub struct Forge {
    dir: TempDir,
    port: u16,
    heads: Arc<Mutex<Vec<String>>>,
    listed: Arc<AtomicU64>,
}

impl Forge {
    pub fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let listed: Arc<AtomicU64> = Arc::default();
        let (root, seen, count) = (dir.path().to_owned(), Arc::clone(&heads), Arc::clone(&listed));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (root, seen, count) = (root.clone(), Arc::clone(&seen), Arc::clone(&count));
                std::thread::spawn(move || serve(stream.unwrap(), &root, &seen, &count));
            }
        });
        Self { dir, port, heads, listed }
    }

    /// Returns the address, as the configuration allows it.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.host())
    }

    /// Returns the head of every request so far.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    /// Returns how many bytes of the endless list went out.
    pub fn listed(&self) -> u64 {
        self.listed.load(Ordering::SeqCst)
    }

    /// Makes a repository with the files that a shell script leaves in it and two commits; returns its last commit.
    pub fn repository(&self, name: &str, script: &str) -> String {
        let work = self.dir.path().join(format!("{name}.work"));
        std::fs::create_dir(&work).unwrap();
        let script = format!(
            "set -e; exec >&2; git init -q -b main .; git config user.name A; git config user.email a@example.com
             git commit -q --allow-empty -m first; git tag old; git branch side
             {script}
             git add -A; git commit -q -m second --allow-empty
             git clone -q --bare . ../{name}.git"
        );
        sh(&work, &script);
        sh(&work, "git rev-parse HEAD").trim().to_owned()
    }

    /// Makes a repository without a commit.
    pub fn empty_repository(&self, name: &str) {
        sh(self.dir.path(), &format!("git init -q --bare -b main {name}.git"));
    }
}

/// Runs a script with git's settings of nobody.
pub fn sh(cwd: &Path, script: &str) -> String {
    let output = Command::new("sh")
        .args(["-c", script])
        .current_dir(cwd)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn serve(mut stream: TcpStream, root: &Path, seen: &Mutex<Vec<String>>, listed: &AtomicU64) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
    }
    seen.lock().unwrap().push(head.clone());
    let header = |name: &str| {
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    };
    let mut words = head.split_whitespace();
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if let Some(rest) = path.strip_prefix("/moved.git") {
        let _ = write!(
            stream,
            "HTTP/1.1 301 Moved\r\nLocation: /repo.git{rest}?{query}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        return;
    }
    if path.starts_with("/locked.git") {
        let _ = stream.write_all(
            b"HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        );
        return;
    }
    if path.starts_with("/endless.git") {
        let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\n\
                      Connection: close\r\n\r\n001e# service=git-upload-pack\n0000";
        let _ = stream.write_all(answer.as_bytes());
        for number in 0_u64.. {
            let lines: String = (0..1000).map(|line| format!("0045{number:040x} refs/heads/{line:012}\n")).collect();
            if stream.write_all(lines.as_bytes()).is_err() {
                return;
            }
            listed.fetch_add(lines.len() as u64, Ordering::SeqCst);
        }
    }
    if path.starts_with("/silent.git") {
        // Until the other side gives up.
        let _ = reader.read(&mut [0]);
        return;
    }
    let body = if header("transfer-encoding").is_some() {
        chunks(&mut reader)
    } else {
        let mut body = vec![0; header("content-length").map_or(0, |length| length.parse().unwrap())];
        reader.read_exact(&mut body).unwrap();
        body
    };
    let mut backend = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "safe.directory")
        .env("GIT_CONFIG_VALUE_0", "*")
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("REQUEST_METHOD", method)
        .env("CONTENT_TYPE", header("content-type").unwrap_or_default())
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding").unwrap_or_default())
        .env("GIT_PROTOCOL", header("git-protocol").unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = backend.stdin.take().unwrap();
    std::thread::spawn(move || stdin.write_all(&body));
    let output = backend.wait_with_output().unwrap().stdout;
    let split = output.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let answer = String::from_utf8_lossy(&output[..split]).into_owned();
    let status = answer.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
    let _ = write!(stream, "HTTP/1.1 {status}\r\n{answer}\r\nConnection: close\r\n\r\n");
    let _ = stream.write_all(&output[split + 4..]);
}

fn chunks(reader: &mut BufReader<TcpStream>) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let length = usize::from_str_radix(line.trim(), 16).unwrap();
        let mut chunk = vec![0; length + 2];
        reader.read_exact(&mut chunk).unwrap();
        if length == 0 {
            return body;
        }
        body.extend_from_slice(&chunk[..length]);
    }
}

/// Returns every path below a directory, relative to it, sorted.
pub fn paths(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            found.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
            if path.symlink_metadata().unwrap().is_dir() {
                open.push(path);
            }
        }
    }
    found.sort();
    found
}
