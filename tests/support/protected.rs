//! Names that others run, which no agent writes unasked.

/// Relative to the workspace.
pub const PROTECTED: &str = "\
    .git .git/config .git/hooks/pre-commit .git/HEAD .git/info/attributes .git/modules/x/hooks/post-checkout sub/.git \
    sub/.git/hooks/pre-push .hg/hgrc .svn/x .jj/repo/config bare.git/config bare.git/hooks/update mirror/hooks/post-receive \
    .gitconfig .gitattributes .gitmodules sub/.gitattributes .husky/pre-commit .githooks/pre-commit .pre-commit-config.yaml \
    lefthook.yml .steersman/config.toml .steersman/personas/x.md sub/.steersman/x .bashrc .bash_profile .bash_login \
    .bash_aliases .profile .zshrc .zshenv .zprofile config.fish .config/fish/config.fish .config/fish/conf.d/x.fish \
    fish/functions/x.fish .envrc sub/.envrc .inputrc .mcp.json mcp.json .cursor/mcp.json sub/mcp.json \
    claude_desktop_config.json .claude/settings.json .claude/commands/x.md .codex/config.toml .gemini/settings.json \
    .windsurf/x .continue/config.json AGENTS.md CLAUDE.md GEMINI.md sub/AGENTS.md CLAUDE.local.md AGENTS.override.md \
    .cursorrules .windsurfrules .clinerules .github/copilot-instructions.md .github/instructions/x.md \
    .github/workflows/ci.yml .github/actions/x/action.yml .gitlab-ci.yml .circleci/config.yml Jenkinsfile \
    azure-pipelines.yml .vscode/tasks.json .vscode/settings.json .idea/workspace.xml x.code-workspace \
    .devcontainer/devcontainer.json .vimrc .exrc .dir-locals.el .gdbinit .ssh/authorized_keys .ssh/config .gnupg/x \
    .npmrc sub/.npmrc .yarnrc.yml .pnpmfile.cjs .netrc .pypirc .cargo/config.toml .cargo/config sub/.cargo/config.toml \
    githooks/pre-commit sub/.git-hooks/x lefthook.toml .lintstagedrc .helix/languages.toml .ghci .latexmkrc .pdbrc .irbrc \
    .crush.json .qwen/settings.json .factory/mcp.json .openhands/setup.sh .autoenv .autoenv.zsh .env.leave \
    x.sublime-project .mise.toml mise.toml .tool-versions .erlang .iex.exs .Rprofile .octaverc .ocamlinit \
    sitecustomize.py .yarn/releases/yarn.cjs .pnp.cjs bunfig.toml pip.conf rust-toolchain.toml .mvn/jvm.config \
    gradle/wrapper/gradle-wrapper.properties tools/bazel .bazelrc ansible.cfg .actrc .gitlab/ci/x.yml nuget.config \
    .lazygit.yml lefthook.jsonc .config/lefthook-local.json .config/hk.pkl hk.local.pkl mise/config.toml .config/mise.toml \
    mise.dev.local.toml .mise.test.toml .miserc.toml .github/hooks/x.json .github/skills/x/SKILL.md .pi/extensions/x.ts \
    $irbrc .user.ini .htaccess x.run.xml .vs/tasks.vs.json .bazelversion tools/bazel.linux-x86_64 tools/bazel.bat uv.toml \
    pnpm-workspace.yaml devenv.local.nix .config/autostart/x.desktop .config/systemd/user/x.service .config/git/config Library/LaunchAgents/x.plist \
    .steersman-0a.tmp .gitmodules.lock flake.nix sub/shell.nix .rvmrc bin/hermit .prototools .bsp/x.json buildServer.json hie.yaml .merlin \
    .vim/coc-settings.json .lazy.lua .rdbgrc .repo/repo/main.py .gclient .p4config .tmux-sessionizer";
