# The formula for Homebrew. `recipes.sh` fills in the version, the address and the checksums of a release.
class Steersman < Formula
  desc "Full-screen terminal host for LLM agents that you steer while they run"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license "MIT"

  on_macos do
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/steersman-v@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256_MACOS_AARCH64@"
    end
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/steersman-v@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256_MACOS_X86_64@"
    end
  end

  on_linux do
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/steersman-v@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256_LINUX_AARCH64@"
    end
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/steersman-v@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256_LINUX_X86_64@"
    end
  end

  def install
    bin.install "steersman"
    man1.install "steersman.1"
    bash_completion.install "completions/steersman.bash" => "steersman"
    zsh_completion.install "completions/_steersman"
    fish_completion.install "completions/steersman.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/steersman --version")
    assert_match "provider", shell_output("#{bin}/steersman exec hello 2>&1", 2)
  end
end
