//! A workspace in a directory of its own, and its file tools as a model calls them.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use steersman_base::details::{Details, FileDiff};
use steersman_base::message::Arguments;
use steersman_core::approval::{Answer, Answerer, ApprovalSubject, Approvals, Mode, Operation, Policy, WriteOperation};
use steersman_core::tool::{Tool, ToolContext, ToolError, ToolReport};
use steersman_tools::workspace::Workspace;
use steersman_tools::{change_tools, file_tools};
use tempfile::TempDir;

/// A workspace `in`, beside other things in the same directory.
pub struct Files {
    pub dir: TempDir,
    pub workspace: Arc<Workspace>,
    pub approvals: Arc<Approvals>,
    pub tools: Vec<Arc<dyn Tool>>,
    details: Arc<Mutex<Vec<Details>>>,
}

impl Files {
    /// Makes one whose changes need no leave.
    pub fn new() -> Self {
        Self::within(tempfile::tempdir().unwrap())
    }

    pub fn within(dir: TempDir) -> Self {
        fs::create_dir_all(dir.path().join("in")).unwrap();
        let workspace = Arc::new(Workspace::new(&dir.path().join("in")).unwrap());
        Self::of(dir, workspace)
    }

    pub fn of(dir: TempDir, workspace: Arc<Workspace>) -> Self {
        let mut tools = file_tools(&workspace);
        tools.extend(change_tools(&workspace));
        let root = Some(workspace.root().to_path_buf());
        let policy = Policy { answerer: Answerer::User, root, ..Policy::default() };
        let approvals = Arc::new(Approvals::new(policy, Mode::AutoEdit));
        Self { dir, workspace, approvals, tools, details: Arc::default() }
    }

    /// Makes changes of existing files be asked about.
    pub fn asking(self) -> Self {
        self.approvals.set_mode(Mode::Ask).unwrap();
        self
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.workspace.root().join(name)
    }

    pub fn put(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), content).unwrap();
        self
    }

    pub fn held(&self, name: &str) -> Vec<u8> {
        fs::read(self.at(name)).unwrap()
    }

    /// Calls a tool.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<String, String> {
        self.call_with(tool, arguments, &self.context()).await
    }

    pub async fn call_with(&self, tool: &str, arguments: Value, context: &ToolContext) -> Result<String, String> {
        let tool = self.tools.iter().find(|t| t.name() == tool).unwrap();
        let Value::Object(map) = arguments else { panic!("not an object") };
        let args = tool.spec().parameters.validate(&Arguments::Object(map))?;
        let minute = std::time::Duration::from_mins(1);
        match tokio::time::timeout(minute, tool.execute(args, context)).await.expect("the call ends") {
            Ok(text) => Ok(text),
            Err(ToolError::Failed(text)) => Err(text),
            Err(ToolError::Cancelled(cancelled)) => Err(format!("cancelled: {cancelled}")),
        }
    }

    pub fn context(&self) -> ToolContext {
        let mut context = ToolContext::with_approvals(Arc::clone(&self.approvals));
        let details = Arc::clone(&self.details);
        context.report = Arc::new(move |told| {
            if let ToolReport::Details(told) = told {
                details.lock().unwrap().push(told);
            }
        });
        context
    }

    /// Returns the last diff that a tool gave to the screen.
    pub fn diff(&self) -> FileDiff {
        match self.details.lock().unwrap().last() {
            Some(Details::Diff(diff)) => diff.clone(),
            other => panic!("no diff: {other:?}"),
        }
    }

    /// Waits for the question about a change; returns what it shows.
    pub async fn asked(&self) -> WriteOperation {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while std::time::Instant::now() < deadline {
            if let Some(request) = self.approvals.open().first() {
                let ApprovalSubject::Operation { operation: Operation::Write(operation) } = request.subject.clone()
                else {
                    panic!("{request:?}")
                };
                return operation;
            }
            tokio::task::yield_now().await;
        }
        panic!("nothing was asked");
    }

    /// Answers the open question.
    pub fn answer(&self, answer: Answer) {
        let open = self.approvals.open();
        assert!(self.approvals.answer(open.first().expect("a question").id, answer));
    }

    /// Lists everything in the directory above the workspace with kind, mode and content.
    pub fn everything(&self) -> Vec<String> {
        listing(self.dir.path())
    }
}

/// Lists a tree with kind, mode and content of each entry, sorted.
pub fn listing(root: &std::path::Path) -> Vec<String> {
    use std::os::unix::fs::MetadataExt as _;
    let mut lines = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let content = if metadata.is_dir() {
                open.push(path.clone());
                String::new()
            } else if metadata.is_symlink() {
                path.read_link().unwrap().display().to_string()
            } else {
                fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
            };
            lines.push(format!("{} {:o} {content}", path.strip_prefix(root).unwrap().display(), metadata.mode()));
        }
    }
    lines.sort();
    lines
}
