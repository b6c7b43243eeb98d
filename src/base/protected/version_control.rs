//! What plain work with a repository writes in it: lists of what is allowed, so that what comes with a later version is
//! closed until it is listed.
//!
//! Source: gitrepository-layout(5), git-worktree(1), gitsubmodules(7); what git 2.47 writes, as traced. Closed are by
//! that, among others, `config`, `config.worktree`, `commondir`, `gitdir`, `hooks`, `info/attributes`, `info/exclude`,
//! `branches`, `remotes`, `description`, `objects/info/alternates`, new worktrees and modules, and what `rerere` keeps
//! (`rr-cache`, `MERGE_RR`): the next commit writes what that says to whatever path it names. How a stopped operation
//! goes on is open, since git cannot be told from others who write it. An index is written by a move, and looked at then.

use super::names::DEEP;

/// Returns what a path is that lies in version control, when plain work with it does not write there. Names are folded.
pub(super) fn refuses(names: &[String]) -> Option<&'static str> {
    names.iter().enumerate().find_map(|(at, name)| {
        let (listed, what) = DEEP.iter().find(|(listed, _)| listed == name)?;
        let inside = names.get(at + 1..).unwrap_or_default();
        let inside: Vec<&str> = inside.iter().map(String::as_str).collect();
        let is_written = match *listed {
            ".git" | "git~1" => git(&inside),
            ".hg" | ".sl" => mercurial(&inside),
            ".jj" => jujutsu(&inside),
            ".svn" => {
                matches!(inside[..], ["pristine" | "tmp", ..])
                    || matches!(inside[..], [name] if name.starts_with("wc.db"))
            }
            _ => false,
        };
        (!is_written).then_some(*what)
    })
}

/// Tells whether plain work with git writes a path in a repository, which is relative to it; names are folded.
pub(super) fn git_writes(inside: &[String]) -> bool {
    git(&inside.iter().map(String::as_str).collect::<Vec<_>>())
}

fn git(inside: &[&str]) -> bool {
    match inside {
        ["worktrees", _, inside @ ..] => is_worktree(inside),
        // A module may have a name of several: whatever is closed in one of the ways to read it is closed.
        ["modules", _, inside @ ..] => {
            let ways = || (0..inside.len()).filter_map(|at| inside.get(at..));
            ways().any(git) && !ways().any(is_setting)
        }
        ["objects", "info", name, ..] => !name.contains("alternates"),
        [
            "objects" | "refs" | "logs" | "reftable" | "lost-found" | "notes_merge_worktree" | "rebase-merge"
            | "rebase-apply" | "sequencer",
            ..,
        ]
        | ["info" | "lfs"]
        | ["info", "sparse-checkout" | "sparse-checkout.lock" | "rev-cache"]
        // What git-lfs keeps; its hooks are with the others.
        | ["lfs", "objects" | "tmp" | "incomplete" | "cache" | "logs", ..] => true,
        ["info", name] => name.starts_with("refs"),
        [name] => is_state(name),
        _ => false,
    }
}

/// Tells whether a path in a repository is an index: whoever restores files from one obeys the names in it.
pub(super) fn is_index(inside: &[String]) -> bool {
    let Some((name, outer)) = inside.split_last() else { return false };
    let is_place = match outer {
        [] => true,
        [first, ..] => first == "modules" || (first == "worktrees" && outer.len() == 2),
    };
    is_place && (name == "index" || name.starts_with("sharedindex."))
}

/// What belongs to one worktree of several.
fn is_worktree(inside: &[&str]) -> bool {
    match inside {
        ["objects" | "worktrees" | "modules", ..] => false,
        inside => git(inside),
    }
}

/// Tells whether a path begins with what says which programs git runs, or where the rest of a repository is.
fn is_setting(inside: &[&str]) -> bool {
    matches!(
        inside,
        ["config" | "config.lock" | "config.worktree" | "config.worktree.lock" | "commondir" | "gitdir" | "hooks", ..]
            | ["info", "attributes" | "exclude" | "grafts", ..]
            | ["objects", "info", "alternates" | "http-alternates", ..]
            | ["branches" | "remotes", _]
    )
}

/// Files that git keeps beside the directories, and those that it makes while it writes them.
fn is_state(name: &str) -> bool {
    let name = name.strip_suffix(".lock").unwrap_or(name);
    let is_listed = super::is_listed(
        "head index packed-refs orig_head fetch_head merge_head merge_msg merge_mode merge_autostash \
         cherry_pick_head revert_head rebase_head auto_merge commit_editmsg squash_msg tag_editmsg notes_editmsg \
         notes_merge_partial notes_merge_ref shallow gc.pid gc.log packed-refs.new add_edit.patch addp-hunk-edit.diff",
        name,
    );
    let starts = ["bisect_", "index.", "sharedindex", "next-index-", "shallow_"];
    is_listed || starts.iter().any(|start| name.starts_with(start))
}

/// As hg's own pages name them; its settings are `hgrc` and `sharedpath`.
fn mercurial(inside: &[&str]) -> bool {
    const STATE: &str = "\
        branch bookmarks dirstate localtags last-message.txt rebasestate updatestate histedit-state graftstate shelvedstate \
        unshelverebasestate wlock undo journal 00changelog.i";
    match inside {
        ["store" | "cache" | "wcache" | "strip-backup" | "shelved" | "merge", ..] => true,
        [name] => {
            let start = name.split_once('.').map_or(*name, |(start, _)| start);
            super::is_listed(STATE, name) || super::is_listed("undo journal dirstate bookmarks", start)
        }
        _ => false,
    }
}

/// Its repository of git has settings of its own.
fn jujutsu(inside: &[&str]) -> bool {
    match inside {
        ["repo", "store", "git", inside @ ..] => git(inside),
        ["repo", "store", "extra" | "type", ..]
        | ["repo", "op_store" | "op_heads" | "index" | "submodule_store", ..]
        | ["working_copy", ..] => true,
        _ => false,
    }
}
