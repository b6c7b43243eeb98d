//! The names of protected places, each with where its meaning is documented.
//!
//! What a linter or a test runner reads is left out: it is what the work is about, as `build.rs` and `Makefile` are.
//! `.env` is left out too: nearly everything reads it as data.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What lies in a repository beside its hooks.
pub(super) const GIT_DATA: &str = "Git's own data";

/// Directories of version control, of keys; also when the workspace lies within one.
pub(super) const DEEP: &[(&str, &str)] = &[
    (".git", GIT_DATA),
    ("git~1", GIT_DATA),
    (".hg", "Mercurial's own data"),
    (".svn", "Subversion's own data"),
    (".bzr", "Bazaar's own data"),
    (".jj", "Jujutsu's own data"),
    (".sl", "Sapling's own data"),
    (".ssh", "a place of keys"),
    (".gnupg", "a place of keys"),
];

/// Names of directories and files, at any depth below the workspace.
const NAMES: &[(&str, &[&str])] = &[
    (
        "a configuration of version control",
        // gitattributes(5), gitmodules(5), git-config(1), git-lfs-config(5), hgrc(5)
        &[".gitconfig .gitattributes .gitmodules .hgrc .lfsconfig .git-templates .gitlint"],
    ),
    (
        "a Git hook or its configuration",
        &[
            // githooks(5): where core.hooksPath commonly points
            ".githooks githooks .git-hooks git-hooks .git_hooks git_hooks",
            // typicode.github.io/husky
            ".husky .huskyrc .huskyrc.json .huskyrc.js .huskyrc.yml",
            // pre-commit.com, prek.j178.dev
            ".pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml prek.toml",
            // lefthook.dev/configuration
            "lefthook.yml lefthook.yaml lefthook.toml lefthook.json .lefthook.yml .lefthook.yaml .lefthook.toml \
             .lefthook.json lefthook-local.yml lefthook-local.yaml lefthook-local.toml lefthook-local.json \
             .lefthook-local.yml .lefthook-local.yaml .lefthook-local.toml .lefthook-local.json .lefthook .lefthook-local",
            // github.com/sds/overcommit, github.com/toplenboren/simple-git-hooks, github.com/swellaby/rusty-hook,
            // captainhook.info, hk.jdx.dev, github.com/lint-staged/lint-staged
            ".overcommit.yml .simple-git-hooks.json .simple-git-hooks.js .simple-git-hooks.cjs \
             simple-git-hooks.json simple-git-hooks.js simple-git-hooks.cjs .rusty-hook.toml rusty-hook.toml \
             captainhook.json hk.pkl .lintstagedrc .lintstagedrc.json .lintstagedrc.yaml .lintstagedrc.yml \
             .lintstagedrc.js .lintstagedrc.mjs .lintstagedrc.cjs lint-staged.config.js lint-staged.config.mjs \
             lint-staged.config.cjs",
        ],
    ),
    ("this program's own configuration", &[".steersman"]),
    (
        "a shell start file",
        &[
            // bash(1), zsh(1), ksh(1), mksh(1), tcsh(1), readline(3), fishshell.com/docs
            ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin \
             .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc config.fish .oh-my-zsh .zsh .bash_completion",
            // startx(1), Xsession(5), pam_env(8)
            ".xinitrc .xprofile .xsession .xsessionrc .pam_environment",
        ],
    ),
    (
        "what a shell runs when it enters the directory",
        &[
            // direnv(1), direnv.toml(1)
            ".envrc .direnvrc .direnv",
            // github.com/hyperupcall/autoenv, github.com/Tarrasch/zsh-autoenv
            ".autoenv .autoenv.zsh .autoenv_leave.zsh .env.leave",
            // mise.jdx.dev/configuration, asdf-vm.com/manage/configuration
            ".mise.toml mise.toml .mise.local.toml mise.local.toml .mise .rtx.toml .tool-versions .asdfrc",
            // shopify.github.io/shadowenv, jetify.com/docs/devbox, devenv.sh
            ".shadowenv.d devbox.json devenv.nix devenv.yaml",
        ],
    ),
    (
        "a configuration of MCP servers",
        // modelcontextprotocol.io, code.visualstudio.com/docs/copilot/chat/mcp-servers
        &[".mcp.json mcp.json mcp_config.json mcp_settings.json mcp-config.json cline_mcp_settings.json \
           claude_desktop_config.json .mcp"],
    ),
    (
        "an agent's instructions or configuration",
        &[
            // agents.md, docs.claude.com, developers.openai.com/codex, geminicli.com/docs, docs.cursor.com
            "agents.md agent.md agents.override.md agents.local.md .agents .agent .claude .claude.json claude.md \
             claude.local.md .codex codex.md .gemini gemini.md .cursor .cursorrules",
            // docs.windsurf.com, docs.continue.dev, docs.roocode.com, docs.cline.bot, kilocode.ai/docs, kiro.dev/docs
            ".windsurf .windsurfrules .continue .continuerules .roo .roorules .roomodes .cline .clinerules .kilocode \
             .kilocodemodes .kiro",
            // github.com/charmbracelet/crush, qwenlm.github.io/qwen-code-docs, docs.factory.ai, docs.openhands.dev
            ".crush .crush.json crush.json crush.md .qwen qwen.md .factory .openhands .openhands_instructions",
            // opencode.ai/docs, block.github.io/goose, aider.chat/docs, docs.augmentcode.com, ampcode.com/manual
            ".opencode opencode.json opencode.jsonc .opencode.json .goosehints .goose .aider.conf.yml .aider \
             .augment .augment-guidelines .amp amp.md",
            // zed.dev/docs/ai/rules, jetbrains.com/help/junie, docs.aws.amazon.com/amazonq, docs.warp.dev, docs.trae.ai,
            // docs.github.com/copilot, docs.devin.ai, docs.tabnine.com, gptme.org/docs, forgecode.dev/docs
            ".zed .rules .junie .amazonq warp.md .warp .trae copilot-instructions.md .copilot .devin .tabnine \
             gptme.toml .gptme .forge forge.yaml .codebuddy .iflow .rovodev .zencoder .qodo",
        ],
    ),
    (
        "an editor's settings, which can run programs",
        &[
            // code.visualstudio.com/docs/editor/tasks, containers.dev, jetbrains.com/help/idea
            ".vscode .vscodium .theia .idea .fleet .devcontainer .devcontainer.json",
            // vimhelp.org: 'exrc'; neovim.io/doc: 'exrc'; github.com/embear/vim-localvimrc, ycm-core/YouCompleteMe
            ".vimrc _vimrc .gvimrc .exrc _exrc .nvimrc .nvim.lua .lvimrc .local.vimrc .ycm_extra_conf.py .vimspector.json",
            // gnu.org/software/emacs: Directory Variables; docs.helix-editor.com, luals.github.io (runtime.plugin)
            ".emacs .emacs.d .dir-locals.el .dir-locals-2.el .helix .luarc.json .luarc.jsonc .neoconf.json",
            // docs.gitpod.io, docs.replit.com, firebase.google.com/docs/studio, github.com/tmuxinator/tmuxinator
            ".gitpod.yml .gitpod.dockerfile .ona .replit replit.nix .idx .tmuxinator.yml .tmuxp.yaml .tmuxp.yml .tmuxp.json",
            // tmux(1), screen(1)
            ".tmux.conf .screenrc",
        ],
    ),
    (
        "what a debugger or an interpreter runs when it starts here",
        &[
            // gdb(1), lldb(1), docs.python.org/3/library/pdb, perldebug(1)
            ".gdbinit .gdbearlyinit .lldbinit .pdbrc .pdbrc.py .perldb",
            // ghc user's guide (ghci), ruby-doc.org (irb), github.com/pry/pry, hexdocs.pm/iex, erl(1)
            ".ghci .irbrc _irbrc irb.rc .pryrc .iex.exs .erlang",
            // R: ?Startup; docs.octave.org; ocaml.org (toplevel); docs.python.org/3/library/site
            ".rprofile .renviron .rdata .octaverc .ocamlinit sitecustomize.py usercustomize.py .pythonrc .pythonrc.py",
            // latexmk(1), sqlite3(1), ack(1)
            ".latexmkrc latexmkrc .sqliterc .ackrc",
        ],
    ),
    (
        "what continuous integration runs",
        &[
            // circleci.com/docs, buildkite.com/docs, docs.gitlab.com/ci, docs.travis-ci.com, docs.drone.io
            ".circleci .buildkite .gitlab-ci.yml .gitlab-ci.yaml .travis.yml .drone.yml .drone.yaml",
            // woodpecker-ci.org/docs, cirrus-ci.org, learn.microsoft.com/azure/devops, support.atlassian.com
            ".woodpecker .woodpecker.yml .woodpecker.yaml .cirrus.yml .cirrus.star azure-pipelines.yml \
             azure-pipelines.yaml bitbucket-pipelines.yml",
            // jenkins.io/doc, appveyor.com/docs, man.sr.ht/builds.sr.ht, docs.semaphoreci.com, tekton.dev, nektosact.com
            "jenkinsfile appveyor.yml .appveyor.yml .build.yml .builds .semaphore .tekton .teamcity .actrc \
             buildspec.yml cloudbuild.yaml codemagic.yaml",
        ],
    ),
    (
        "a package manager's configuration, which can name programs or hold keys",
        &[
            // docs.npmjs.com (script-shell, git), yarnpkg.com/configuration (yarnPath), pnpm.io/pnpmfile, bun.sh/docs
            ".npmrc .yarnrc .yarnrc.yml .yarn .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs .pnpmfile.mjs pnpmfile.cjs \
             bunfig.toml .bunfig.toml",
            // pip.pypa.io/topics/configuration, packaging.python.org (.pypirc), docs.conda.io, guides.rubygems.org
            "pip.conf pip.ini .pip .pypirc .condarc .gemrc .bundle",
            // curl(1), wget(1), ftp(1)
            ".netrc _netrc .curlrc _curlrc .wgetrc",
            // rust-lang.github.io/rustup/overrides (toolchain.path)
            "rust-toolchain rust-toolchain.toml",
            // maven.apache.org/configure, docs.gradle.org (init scripts), bazel.build/run/bazelrc, buck2.build
            ".mvn init.gradle init.gradle.kts .bazelrc .bazeliskrc .buckconfig .buckconfig.local .jvmopts .sbtopts",
            // learn.microsoft.com (nuget, msbuild response files), docs.ansible.com (ansible.cfg in the directory)
            "nuget.config directory.build.rsp msbuild.rsp ansible.cfg .terraformrc",
        ],
    ),
];

/// Names within a directory of this name, as (directory, name, what it is).
pub(super) const PAIRS: &[(&str, &str, &str)] = &[
    (".github", "workflows", "what continuous integration runs"),
    (".github", "actions", "what continuous integration runs"),
    (".gitlab", "ci", "what continuous integration runs"),
    (".gitea", "workflows", "what continuous integration runs"),
    (".forgejo", "workflows", "what continuous integration runs"),
    (".github", "instructions", "an agent's instructions or configuration"),
    (".github", "prompts", "an agent's instructions or configuration"),
    (".github", "agents", "an agent's instructions or configuration"),
    (".github", "chatmodes", "an agent's instructions or configuration"),
    (".cargo", "config", "a package manager's configuration, which can name programs or hold keys"),
    (".cargo", "config.toml", "a package manager's configuration, which can name programs or hold keys"),
    (".cargo", "credentials", "a package manager's configuration, which can name programs or hold keys"),
    (".cargo", "credentials.toml", "a package manager's configuration, which can name programs or hold keys"),
    (".config", "git", "a configuration of version control"),
    (".config", "steersman", "this program's own configuration"),
    (".config", "fish", "a shell start file"),
    (".config", "nvim", "an editor's settings, which can run programs"),
    (".config", "autostart", "what starts when you log in"),
    (".config", "systemd", "what starts when you log in"),
    (".config", "environment.d", "what starts when you log in"),
    ("fish", "conf.d", "a shell start file"),
    ("fish", "functions", "a shell start file"),
    ("library", "launchagents", "what starts when you log in"),
    // docs.gradle.org/current/userguide/gradle_wrapper, bazel.build/install/bazelisk
    ("gradle", "wrapper", "a package manager's configuration, which can name programs or hold keys"),
    (".gradle", "init.d", "a package manager's configuration, which can name programs or hold keys"),
    (".gradle", "init.gradle", "a package manager's configuration, which can name programs or hold keys"),
    ("tools", "bazel", "a package manager's configuration, which can name programs or hold keys"),
    (".config", "mise", "what a shell runs when it enters the directory"),
    (".config", "helix", "an editor's settings, which can run programs"),
    (".config", "direnv", "what a shell runs when it enters the directory"),
    (".config", "lefthook.yml", "a Git hook or its configuration"),
    (".config", "lefthook.toml", "a Git hook or its configuration"),
];

/// Hooks of a repository without a `.git`, such as a bare one.
pub(super) const GIT_HOOKS: &str = "\
    applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit post-merge post-receive \
    post-rewrite post-update pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push pre-rebase \
    pre-receive prepare-commit-msg proc-receive push-to-checkout reference-transaction sendemail-validate update";

/// How names end that stand for an editor's settings: VS Code's workspaces, Sublime Text's projects.
pub(super) const EDITOR_ENDINGS: [&str; 3] = [".code-workspace", ".sublime-project", ".sublime-workspace"];

static LISTED: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let split = |(what, lists): &(&'static str, &'static [&'static str])| {
        let what = *what;
        lists.iter().flat_map(|list| list.split_ascii_whitespace()).map(move |name| (name, what)).collect::<Vec<_>>()
    };
    NAMES.iter().flat_map(split).collect()
});

/// Returns what a name stands for at any depth below the workspace.
pub(super) fn listed(name: &str) -> Option<&'static str> {
    LISTED.get(name).copied()
}
