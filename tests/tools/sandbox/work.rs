//! Ordinary work in each kind of sandbox: it comes to the same as outside of it, or it is one of the operations that are asked about
//! and run outside after a yes.

use std::fs;
use std::path::{Path, PathBuf};

use steersman_core::approval::Sandboxed;
use tempfile::TempDir;

use super::promises::decided;
use crate::support::grounds::{Grounds, KINDS, PATH, closing};
use crate::support::skip::{Need, skip};
use crate::support::users::user;

/// What the user has made before, what is done then, and what is looked at afterwards.
struct Work {
    program: &'static str,
    before: &'static str,
    done: &'static str,
    seen: &'static str,
}

/// A repository with an identity of its own and one commit.
const REPOSITORY: &str = "git init -q -b main . && git config user.name A && git config user.email a@example.com && \
                          echo a > a && git add a && git commit -q -m one && git switch -q -c topic && echo t > t && \
                          git add t && git commit -q -m topic && git switch -q main";
const HISTORY: &str = "(git log --all --format=%s | sort -u; git branch; git tag; git status --short; git stash list; ls) | sed -E 's/\\b[0-9a-f]{7}\\b//'";

const fn git(done: &'static str) -> Work {
    Work { program: "git", before: REPOSITORY, done, seen: HISTORY }
}

const WORK: &[Work] = &[
    git("echo b > b && git add b && git commit -q -m two && echo c >> a && git commit -q -a --amend -m 'two, again'"),
    git("git switch -q topic && git switch -q -c other && git branch -D topic && git tag v1 && git tag -a v2 -m v2"),
    git("echo b > b && git add b && git commit -q -m two && echo c > c && git add c && git commit -q -m three && \
         GIT_SEQUENCE_EDITOR=\"sed -i '1s/pick/reword/;2s/pick/fixup/'\" GIT_EDITOR='echo both >' git rebase -q -i HEAD~2"),
    git("echo b >> a && git stash -q && git switch -q topic && git stash pop -q && git stash -q"),
    git("echo b > b && git add b && git commit -q -m two && git merge -q -m merged topic"),
    git(
        "echo b > t && git add t && git commit -q -m two && ! git merge -q topic && echo both > t && git add t && git commit -q -m solved",
    ),
    git(
        "echo b > t && git add t && git commit -q -m two && ! git rebase -q main topic && echo both > t && git add t && \
         GIT_EDITOR=true git rebase --continue",
    ),
    git("git cherry-pick topic && git revert --no-edit HEAD && git reset -q --hard HEAD~1 && git gc -q && git fsck"),
    git(
        "git bisect start && git bisect bad && git bisect reset && git mv a moved && git rm -q --cached moved && git clean -fdq",
    ),
    Work {
        program: "git",
        before: "git init -q -b main origin && cd origin && git config user.name A && git config user.email a@example.com && \
                 git commit -q --allow-empty -m one && git tag v1 && cd .. && git clone -q origin clone && cd origin && \
                 git commit -q --allow-empty -m two",
        done: "cd clone && git fetch -q --tags origin && git merge -q --ff-only origin/main",
        seen: "cd clone && git log --all --format=%s | sort",
    },
    Work {
        program: "git",
        before: "git init -q -b main . && git config user.name A && git config user.email a@example.com && \
                 git commit -q --allow-empty -m one && git worktree add -q tree",
        done: "cd tree && echo b > b && git add b && git commit -q -m two && git stash list && git worktree list > /dev/null",
        seen: "git log --all --format=%s | sort; git status --short; ls tree",
    },
    Work {
        program: "cargo",
        before: "mkdir src && printf '[package]\\nname = \"plain\"\\nversion = \"0.1.0\"\\nedition = \"2024\"\\n' > Cargo.toml && \
                 printf 'fn main() { println!(\"built\"); }\\n#[test]\\nfn works() {}\\n' > src/main.rs",
        done: "cargo check -q --offline && cargo test -q --offline && cargo run -q --offline",
        seen: "target/debug/plain; ls; ls target",
    },
    Work {
        program: "npm",
        before: "mkdir -p part && printf '{\"name\": \"part\", \"version\": \"1.0.0\"}' > part/package.json && echo 'module.exports = 7' > part/index.js",
        done: "npm init -y && npm pkg set scripts.hello='node hello.js' && npm install --offline --no-audit --no-fund ./part && \
               echo 'require(\"fs\").writeFileSync(\"hello\", `said ${require(\"part\")}`)' > hello.js && npm run -s hello && npm ls",
        seen: "cat hello; ls; ls node_modules",
    },
    Work {
        program: "python3",
        before: "true",
        done: "python3 -m venv --without-pip env && . env/bin/activate && python -c 'import sys; print(sys.prefix != sys.base_prefix)' > said",
        seen: "cat said; ls; ls env/bin",
    },
    Work {
        program: "pip",
        before: WHEEL,
        done: "python3 -m venv --without-pip env && python3 -m pip --python env install -q --no-index ./part-1.0-py3-none-any.whl && \
               env/bin/python -c 'import part; print(part.number)' > said",
        seen: "cat said; ls env/lib/*/site-packages",
    },
    Work {
        program: "make",
        before: "printf 'all: a.out b.out\\n%%.out: %%.in\\n\\tcp $< $@\\nclean:\\n\\trm *.out\\n' > Makefile; echo a > a.in; echo b > b.in",
        done: "make -s -j 2 && make -s clean && make -s a.out",
        seen: "ls; cat a.out",
    },
];

/// A package as it is installed from a file.
const WHEEL: &str = "mkdir part-1.0.dist-info && echo 'number = 7' > part.py && cd part-1.0.dist-info && \
    printf 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n' > WHEEL && \
    printf 'Metadata-Version: 2.1\\nName: part\\nVersion: 1.0\\n' > METADATA && \
    printf 'part.py,,\\npart-1.0.dist-info/WHEEL,,\\npart-1.0.dist-info/METADATA,,\\npart-1.0.dist-info/RECORD,,\\n' > RECORD && cd .. && \
    python3 -m zipfile -c part-1.0-py3-none-any.whl part.py part-1.0.dist-info && rm -r part.py part-1.0.dist-info";

/// Work with git that writes what no command may: it fails in the sandbox, and is asked about outside of it.
const ASKED: [&str; 7] = [
    "git init -q new",
    "git clone -q . copy",
    "git worktree add -q copy",
    "git config user.name B",
    "git remote add origin ../x",
    "git -c protocol.file.allow=always submodule add -q ./ sub",
    "git branch --set-upstream-to=topic",
];

/// Returns the search path with the Rust that runs the tests, and where that is.
fn rust() -> (String, PathBuf) {
    let root = Path::new(env!("CARGO")).ancestors().nth(2).unwrap();
    (format!("{}/bin:{PATH}", root.display()), root.to_owned())
}

fn is_there(program: &'static str, directory: &Path) -> bool {
    let looks = format!("PATH={}; {program} --version || python3 -m {program} --version", rust().0);
    let found = std::process::Command::new("bash").args(["-c", &looks]).current_dir(directory).output().unwrap();
    if !found.status.success() {
        skip(Need::of_program(program), "work with it in a sandbox");
    }
    found.status.success()
}

#[tokio::test]
async fn ordinary_work_comes_to_the_same_in_a_sandbox_as_outside() {
    let (path, toolchain) = rust();
    let script = |script: &str| format!("export PATH={path}; {script}");
    let beside = TempDir::new().unwrap();
    let outside: Vec<_> = WORK
        .iter()
        .filter(|work| is_there(work.program, beside.path()))
        .enumerate()
        .map(|(number, work)| {
            let place = beside.path().join(format!("work{number}"));
            fs::create_dir(&place).unwrap();
            let [_, _, seen] =
                [work.before, work.done, work.seen].map(|done| user(&place, beside.path(), &script(done)));
            (work, seen)
        })
        .collect();
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = closing(&grounds, kind).await else { continue };
        for (number, (work, outside)) in outside.iter().enumerate() {
            let mut job = grounds.job(&["bash", "-ec", &script(work.done)]);
            job.cwd = grounds.work.join(format!("work{number}"));
            job.confinement.readable.push(toolchain.clone());
            fs::create_dir(&job.cwd).unwrap();
            user(&job.cwd, &grounds.home, work.before);
            let (ended, output) = grounds.run(&sandbox, &job).await;
            assert_eq!(ended.code, Some(0), "{kind:?}: {}\n{output}", work.done);
            let seen = user(&job.cwd, &grounds.home, &script(work.seen));
            assert_eq!(seen, *outside, "{kind:?}: {}\n{output}", work.done);
        }
    }
}

#[tokio::test]
async fn what_git_writes_beside_plain_work_fails_in_a_sandbox_and_is_asked_about_outside() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = closing(&grounds, kind).await else { continue };
        user(&grounds.work, &grounds.home, REPOSITORY);
        for command in ASKED {
            let (ended, output) = grounds.run(&sandbox, &grounds.shell(command)).await;
            assert_ne!(ended.code, Some(0), "{kind:?}: {command}\n{output}");
            let explained = sandbox.explain(&grounds.shell(command), &output).unwrap_or_default();
            assert!(explained.contains("outside"), "{kind:?}: {command}: {explained}\n{output}");
            assert_eq!(decided(command, true, Sandboxed::Yes, false), "asked", "{command}");
        }
    }
}

#[tokio::test]
async fn a_path_through_the_directory_above_opens_the_place_that_it_leads_to() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let beside = grounds.home.with_file_name("beside");
        fs::create_dir(&beside).unwrap();
        fs::write(beside.join("notes"), "nine\n").unwrap();
        let mut job = grounds.shell("cat \"$1/notes\" && echo ten > made && cat made");
        job.argv.extend(["bash".into(), beside.clone().into()]);
        job.confinement.readable.push(grounds.home.join("../beside"));
        job.confinement.writable.push(grounds.work.join("../work"));
        let (ended, output) = grounds.run(&sandbox, &job).await;
        assert_eq!((ended.code, output.as_str()), (Some(0), "nine\nten\n"), "{:?}", sandbox.name());
    }
}
