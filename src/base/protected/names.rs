//! The names of protected places, each with the document of its tool that says what it does there.
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
    // Pijul, Configuration (hooks); Darcs, the manual (posthook in _darcs/prefs/defaults)
    (".pijul", "Pijul's own data"),
    ("_darcs", "Darcs's own data"),
    (".ssh", "a place of keys"),
    (".gnupg", "a place of keys"),
];

/// Names of directories and files at any depth below the workspace: of one that lies in a directory of a certain name with that
/// before a slash, and with a star for whatever is between how a name begins and ends.
const NAMES: &[(&str, &[&str])] = &[
    (
        "a configuration of version control",
        // gitattributes(5), gitmodules(5), git-config(1), git-lfs-config(5), hgrc(5); gitlint, Configuration (extra-path);
        // lazygit, Config (customCommands)
        &[
            ".gitconfig .gitattributes .gitmodules .gitmodules.lock .hgrc .lfsconfig .git-templates .gitlint .lazygit.yml .config/git",
        ],
    ),
    (
        "a Git hook or its configuration",
        &[
            // githooks(5): where core.hooksPath commonly points
            ".githooks githooks .git-hooks git-hooks .git_hooks git_hooks",
            // husky, How To and the older Configuration
            ".husky .huskyrc .huskyrc.json .huskyrc.js .huskyrc.yml",
            // pre-commit, Adding plugins and Creating new hooks; prek, Configuration
            ".pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml prek.toml",
            // lefthook, Config file name, source_dir
            "lefthook.yml lefthook.yaml lefthook.toml lefthook.json .lefthook.yml .lefthook.yaml .lefthook.toml \
             .lefthook.json lefthook-local.yml lefthook-local.yaml lefthook-local.toml lefthook-local.json \
             .lefthook-local.yml .lefthook-local.yaml .lefthook-local.toml .lefthook-local.json lefthook.jsonc .lefthook.jsonc \
             lefthook-local.jsonc .lefthook-local.jsonc .lefthook .lefthook-local",
            // overcommit, simple-git-hooks, rusty-hook and lint-staged, each its README; CaptainHook, Configuration;
            // hk, Configuration (Config File Paths)
            ".overcommit.yml .simple-git-hooks.json .simple-git-hooks.js .simple-git-hooks.cjs \
             simple-git-hooks.json simple-git-hooks.js simple-git-hooks.cjs .rusty-hook.toml rusty-hook.toml \
             captainhook.json hk.pkl hk.local.pkl .lintstagedrc .lintstagedrc.json .lintstagedrc.yaml .lintstagedrc.yml \
             .lintstagedrc.js .lintstagedrc.mjs .lintstagedrc.cjs lint-staged.config.js lint-staged.config.mjs \
             lint-staged.config.cjs",
        ],
    ),
    ("this program's own configuration", &[".steersman .config/steersman .steersman-*.tmp"]),
    (
        "a shell start file",
        &[
            // bash(1), zsh(1), ksh(1), mksh(1), tcsh(1), readline(3), fish(1)
            ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin \
             .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc config.fish .oh-my-zsh .zsh .bash_completion",
            // startx(1), Xsession(5), pam_env(8)
            ".xinitrc .xprofile .xsession .xsessionrc .pam_environment",
            // fish(1): its configuration directory, and what is loaded from it
            ".config/fish fish/conf.d fish/functions",
        ],
    ),
    (
        "what a shell runs when it enters the directory",
        &[
            // direnv(1), direnv.toml(1)
            ".envrc .direnvrc .direnv .config/direnv",
            // autoenv and zsh-autoenv, each its README
            ".autoenv .autoenv.zsh .autoenv_leave.zsh .env.leave",
            // mise, Configuration and Config Environments (one file for each of them); asdf, Configuration
            ".mise .rtx.toml .miserc.toml miserc.toml .tool-versions .asdfrc .config/mise mise/config.toml mise.*toml .mise.*toml",
            // shadowenv, its README; Devbox, devbox.json; devenv, Files and variables
            ".shadowenv.d devbox.json devenv.nix devenv.yaml devenv.local.nix devenv.local.yaml",
            // direnv-stdlib(1), use_flake and use_nix: an approved .envrc runs their shellHook anew when they change
            "flake.nix shell.nix",
            // RVM, Typical RVM Project Workflow; Hermit, Shell Integration; proto, .prototools; Flox, manifest.toml
            ".rvmrc .versions.conf bin/hermit bin/activate-hermit .prototools .flox",
        ],
    ),
    (
        "a configuration of MCP servers",
        // Model Context Protocol, Connect to local servers; Visual Studio Code, Add and manage MCP servers; Cline, Configuring
        &[".mcp.json mcp.json mcp_config.json mcp_settings.json mcp-config.json cline_mcp_settings.json \
           claude_desktop_config.json .mcp"],
    ),
    (
        "an agent's instructions or configuration",
        &[
            // AGENTS.md; Claude Code, Settings and Memory; Codex, Config reference; Gemini CLI, Configuration; Cursor, Rules
            "agents.md agent.md agents.override.md agents.local.md .agents .agent .claude .claude.json claude.md \
             claude.local.md .codex codex.md .gemini gemini.md .cursor .cursorrules",
            // Windsurf, Memories and rules; Continue, Rules; Roo Code and Kilo Code, Custom modes; Cline, Rules; Kiro, Steering
            ".windsurf .windsurfrules .continue .continuerules .roo .roorules .roomodes .cline .clinerules .kilocode \
             .kilocodemodes .kiro",
            // Crush, its README; Qwen Code, Configuration; Factory, Settings; OpenHands, Repository customization
            ".crush .crush.json crush.json crush.md .qwen qwen.md .factory .openhands .openhands_instructions",
            // opencode, Config; goose, Using goosehints; aider, YAML config file; Augment, Rules; Amp, Owner's manual;
            // pi, Settings and Extensions
            ".opencode opencode.json opencode.jsonc .opencode.json .goosehints .goose .aider.conf.yml .aider \
             .augment .augment-guidelines .amp amp.md .pi",
            // Zed, Rules; Junie, Guidelines; Amazon Q, Project rules; Warp, Rules; Trae, Rules; GitHub Copilot, Custom
            // instructions and About hooks; Devin, Knowledge; Tabnine, Guidelines; gptme, Configuration; Forge, forge.yaml
            ".zed .rules .junie .amazonq warp.md .warp .trae copilot-instructions.md .copilot .devin .tabnine \
             gptme.toml .gptme .forge forge.yaml .codebuddy .iflow .rovodev .zencoder .qodo",
            // JetBrains AI Assistant, Project rules; Lingma and Qoder, Rules; Firebender, Configuration; Replit, replit.md;
            // Conductor, Scripts
            ".aiassistant .lingma .qoder .firebender firebender.json replit.md conductor.json",
            // Claude Code, Plugins reference; Ruler, Mistral Vibe and Grok CLI, each its README
            ".claude-plugin .ruler .vibe .grok grok.md",
            // GitHub Copilot, Custom instructions, Custom agents, and Using hooks: shell commands of its agents
            ".github/instructions .github/prompts .github/agents .github/chatmodes .github/skills .github/hooks",
        ],
    ),
    (
        "an editor's settings, which can run programs",
        &[
            // Visual Studio Code, Tasks; Visual Studio, Customize build and debug tasks (tasks.vs.json); Dev Containers,
            // devcontainer.json reference; IntelliJ IDEA, Project format; Eclipse, External tools
            ".vscode .vscodium .theia .vs .idea .fleet .devcontainer .devcontainer.json .externaltoolbuilders",
            // Vim and Neovim, 'exrc'; vim-localvimrc, YouCompleteMe and Vimspector, each its README
            ".vimrc _vimrc .gvimrc .exrc _exrc .nvimrc .nvim.lua .lvimrc .local.vimrc .ycm_extra_conf.py .vimspector.json",
            // Emacs, Directory Variables; Helix, Configuration; LuaLS, Settings (runtime.plugin); neoconf, its README
            ".emacs .emacs.d .dir-locals.el .dir-locals-2.el .helix .luarc.json .luarc.jsonc .neoconf.json",
            // Gitpod, .gitpod.yml; Ona, Automations; Replit, App configuration; Firebase Studio, dev.nix; tmuxinator, its README;
            // tmuxp, Configuration
            ".gitpod.yml .gitpod.dockerfile .ona .replit replit.nix .idx .tmuxinator.yml .tmuxp.yaml .tmuxp.yml .tmuxp.json",
            // StackBlitz, Project configuration (startCommand); CodeSandbox, Tasks; rust-analyzer, Configuration (overrideCommand)
            ".stackblitzrc .codesandbox rust-analyzer.toml .rust-analyzer.toml",
            // Build Server Protocol, Discovery; SourceKit-LSP, Build Server Protocol; hie-bios, its README (cradles); Merlin,
            // Project configuration (FLG -ppx); coc.nvim, Configuration; lazy.nvim, Configuration (local_spec); Kate, LSP Client
            ".bsp buildserver.json hie.yaml .hie-bios .merlin .vim .lazy.lua .kateproject",
            // Nova, Tasks; Lapce, Run configurations
            ".nova .lapce",
            // tmux(1), screen(1); tmux-sessionizer, smug, each its README
            ".tmux.conf .screenrc .tmux-sessionizer .smug.yml",
            // Neovim and Helix, Configuration
            ".config/nvim .config/helix",
            // Visual Studio Code, Workspaces; Sublime Text, Projects; IntelliJ IDEA, Run/debug configurations (Store as project file)
            "*.code-workspace *.sublime-project *.sublime-workspace *.run.xml",
        ],
    ),
    (
        "what a debugger or an interpreter runs when it starts here",
        &[
            // gdb(1), lldb(1), Python, pdb; pdb++, its README; perldebug(1)
            ".gdbinit .gdbearlyinit .lldbinit .pdbrc .pdbrc.py .perldb",
            // GHC User's Guide, .ghci; IRB, Configuration File Path Resolution; Pry, its wiki; Elixir, IEx; erl(1)
            ".ghci .irbrc _irbrc irb.rc $irbrc .pryrc .iex.exs .erlang",
            // debug.gem and byebug, each its README; Scilab, startup; gnuplot, Start-up
            ".rdbgrc .rdbgrc.rb .byebugrc .scilab scilab.ini .gnuplot",
            // R, Startup; Octave, Startup Files; OCaml, The toplevel system; Python, site
            ".rprofile .renviron .rdata .octaverc .ocamlinit sitecustomize.py usercustomize.py .pythonrc .pythonrc.py",
            // latexmk(1), sqlite3(1), ack(1)
            ".latexmkrc latexmkrc .sqliterc .ackrc",
            // PHP, .user.ini files (auto_prepend_file); Apache HTTP Server, .htaccess files
            ".user.ini .htaccess",
        ],
    ),
    (
        "what continuous integration runs",
        &[
            // CircleCI, Configuration reference; Buildkite, Defining steps; GitLab, CI/CD YAML; Travis CI; Drone, Pipeline
            ".circleci .buildkite .gitlab-ci.yml .gitlab-ci.yaml .travis.yml .drone.yml .drone.yaml",
            // Woodpecker, Workflow syntax; Cirrus CI, Writing tasks; Azure Pipelines, YAML schema; Bitbucket Pipelines
            ".woodpecker .woodpecker.yml .woodpecker.yaml .cirrus.yml .cirrus.star azure-pipelines.yml \
             azure-pipelines.yaml bitbucket-pipelines.yml",
            // Jenkins, Using a Jenkinsfile; AppVeyor, appveyor.yml; builds.sr.ht, Manual; Semaphore, Pipeline YAML; Pipelines as
            // Code (Tekton); TeamCity, Kotlin DSL; act, .actrc; CodeBuild, Cloud Build and Codemagic, build files
            "jenkinsfile appveyor.yml .appveyor.yml .build.yml .builds .semaphore .tekton .teamcity .actrc \
             buildspec.yml cloudbuild.yaml codemagic.yaml",
            // GitHub Actions, Workflows; GitLab, CI/CD YAML; Gitea Actions; Forgejo Actions
            ".github/workflows .github/actions .gitlab/ci .gitea/workflows .forgejo/workflows",
        ],
    ),
    (
        "a package manager's configuration, which can name programs or hold keys",
        &[
            // npm, npmrc and Config (script-shell, git); Yarn, Configuration (yarnPath); pnpm, .pnpmfile.cjs and Settings
            // (pnpm-workspace.yaml); Bun, bunfig.toml
            ".npmrc .yarnrc .yarnrc.yml .yarn .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs .pnpmfile.mjs pnpmfile.cjs \
             pnpm-workspace.yaml bunfig.toml .bunfig.toml",
            // pip, Configuration; uv, Configuration files; Python Packaging, .pypirc; conda, .condarc; RubyGems, gemrc; bundle(1)
            "pip.conf pip.ini .pip uv.toml .pypirc .condarc .gemrc .bundle",
            // curl(1), wget(1), ftp(1)
            ".netrc _netrc .curlrc _curlrc .wgetrc",
            // rustup, Overrides (toolchain.path)
            "rust-toolchain rust-toolchain.toml",
            // repo, its internal file system layout; gclient, .gclient (it is Python); Helix Core, P4CONFIG (P4PORT=rsh:…)
            ".repo/repo .repo/manifests .repo/manifest.xml .repo/local_manifests .gclient .gclient_entries .p4config p4config.txt",
            // Maven, Configuring; Gradle, Initialization Scripts; Bazel, Write bazelrc configuration files; Bazelisk, its
            // README (.bazelversion names whose Bazel is downloaded); Buck2, .buckconfig; sbt, Command line (.jvmopts, .sbtopts)
            ".mvn init.gradle init.gradle.kts .bazelrc .bazeliskrc .bazelversion .buckconfig .buckconfig.local .jvmopts .sbtopts",
            // NuGet, nuget.config reference; MSBuild, Response files; Ansible, Configuration Settings; Terraform, CLI configuration
            "nuget.config directory.build.rsp msbuild.rsp ansible.cfg .terraformrc",
            // Cargo, Configuration and Registry authentication; Gradle, The Gradle Wrapper; Bazelisk, its README (tools/bazel, and one
            // for each system)
            ".cargo/config .cargo/config.toml .cargo/credentials .cargo/credentials.toml gradle/wrapper .gradle/init.d \
             .gradle/init.gradle tools/bazel tools/bazel.*",
        ],
    ),
    // Autostart and Base Directory specifications; systemd.unit(5), environment.d(5); launchd.plist(5)
    ("what starts when you log in", &[".config/autostart .config/systemd .config/environment.d library/launchagents"]),
];

/// Directories in which a package manager unpacks what it installs: of what lies there only version control is protected,
/// since many packages bring names of the table along, and what they bring runs as it is.
pub(super) const DEPENDENCIES: [&str; 3] = ["node_modules", "site-packages", "dist-packages"];

/// Hooks of a repository without a `.git`, such as a bare one.
pub(super) const GIT_HOOKS: &str = "\
    applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit post-merge post-receive \
    post-rewrite post-update pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push pre-rebase \
    pre-receive prepare-commit-msg proc-receive push-to-checkout reference-transaction sendemail-validate update";

/// An entry of the table.
struct Entry {
    /// The name of the directory that it must be in.
    directory: Option<&'static str>,
    /// How the name begins and ends; the whole name where nothing is left open.
    start: &'static str,
    end: Option<&'static str>,
    what: &'static str,
}

impl Entry {
    fn fits(&self, name: &str) -> bool {
        match self.end {
            Some(end) => name.starts_with(self.start) && name.ends_with(end),
            None => name == self.start,
        }
    }
}

/// The names that stand alone, by themselves, and all other entries.
static TABLE: LazyLock<(HashMap<&str, &str>, Vec<Entry>)> = LazyLock::new(|| {
    let split = |(what, listed): (&'static str, &'static str)| {
        let (directory, name) = listed.split_once('/').map_or((None, listed), |(at, name)| (Some(at), name));
        let (start, end) = name.split_once('*').map_or((name, None), |(start, end)| (start, Some(end)));
        Entry { directory, start, end, what }
    };
    let (alone, others): (Vec<_>, Vec<_>) = entries().partition(|(_, listed)| !listed.contains(['/', '*']));
    (alone.into_iter().map(|(what, name)| (name, what)).collect(), others.into_iter().map(split).collect())
});

fn entries() -> impl Iterator<Item = (&'static str, &'static str)> {
    let names = |lists: &'static [&'static str]| lists.iter().flat_map(|list| list.split_ascii_whitespace());
    NAMES.iter().flat_map(move |(what, lists)| names(lists).map(move |name| (*what, name)))
}

/// Returns what a name stands for at any depth below the workspace.
pub(super) fn listed(name: &str) -> Option<&'static str> {
    TABLE.0.get(name).copied()
}

/// Returns what a name stands for in a directory of this name; `None` for the directory where that may be any.
pub(super) fn listed_in(directory: Option<&str>, name: &str) -> Option<&'static str> {
    TABLE.1.iter().find(|entry| entry.directory == directory && entry.fits(name)).map(|entry| entry.what)
}

/// Tells whether something is listed by its name in a directory of this name.
pub(super) fn lists_in(directory: &str) -> bool {
    TABLE.1.iter().any(|entry| entry.directory == Some(directory))
}

/// Returns what the table protects, each with its names, as the manual lists them.
pub fn table() -> Vec<(&'static str, Vec<&'static str>)> {
    let deep = DEEP.iter().map(|(name, what)| (*what, *name));
    let mut table: Vec<(&str, Vec<&str>)> = Vec::new();
    for (what, name) in deep.chain(entries()) {
        match table.iter_mut().find(|(known, _)| *known == what) {
            Some((_, names)) => names.push(name),
            None => table.push((what, vec![name])),
        }
    }
    table
}
