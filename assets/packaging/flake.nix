# A flake that builds a release from its source. `recipes.sh` fills in the version and the address.
{
  description = "Steersman: a full-screen terminal host for LLM agents that you steer while they run";

  inputs = {
    nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
    source = {
      url = "git+@REPOSITORY@?ref=refs/tags/v@VERSION@";
      flake = false;
    };
  };

  outputs = { self, nixpkgs, source }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      forAll = nixpkgs.lib.genAttrs systems;
    in
    {
      packages = forAll (system:
        let pkgs = nixpkgs.legacyPackages.${system}; in
        {
          default = pkgs.rustPlatform.buildRustPackage {
            pname = "steersman";
            version = "@VERSION@";
            src = source;
            cargoLock.lockFile = "${source}/Cargo.lock";
            buildType = "dist";
            # The tests need namespaces and a terminal, which a build has not.
            doCheck = false;
            nativeBuildInputs = [ pkgs.installShellFiles ];
            postInstall = ''
              installManPage assets/steersman.1
              installShellCompletion --cmd steersman \
                --bash <($out/bin/steersman completions bash) \
                --zsh <($out/bin/steersman completions zsh) \
                --fish <($out/bin/steersman completions fish)
            '';
            meta = {
              description = "Full-screen terminal host for LLM agents that you steer while they run";
              homepage = "@REPOSITORY@";
              license = pkgs.lib.licenses.mit;
              mainProgram = "steersman";
            };
          };
        });
    };
}
