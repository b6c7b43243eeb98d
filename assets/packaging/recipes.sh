#!/usr/bin/env bash
# Fills the recipes of other package managers in for a release: its version, the address of its repository, and the SHA-256 of
# its archives, which lie in the directory that is named. Prints nothing; the filled-in files are in target/packages/recipes.
#
#   REPOSITORY=https://example.org/steersman assets/packaging/recipes.sh target/packages
set -euo pipefail
cd "$(dirname "$0")/../.."
archives=${1:?the directory of the archives and their .sha256 files}
: "${REPOSITORY:?the address of the repository}"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
out=target/packages/recipes
mkdir -p "$out"

sum() {
    local file=$archives/steersman-v$version-$1.tar.gz.sha256
    if [ -e "$file" ]; then cut -d' ' -f1 "$file"; else echo "no archive of $1" >&2 && exit 1; fi
}
fill() {
    sed -e "s|@VERSION@|$version|g" -e "s|@REPOSITORY@|$REPOSITORY|g" \
        -e "s|@SHA256_LINUX_X86_64@|$(sum x86_64-unknown-linux-musl)|g" \
        -e "s|@SHA256_LINUX_AARCH64@|$(sum aarch64-unknown-linux-musl)|g" \
        -e "s|@SHA256_MACOS_X86_64@|$(sum x86_64-apple-darwin)|g" \
        -e "s|@SHA256_MACOS_AARCH64@|$(sum aarch64-apple-darwin)|g" "assets/packaging/$1" >"$out/$1"
}
fill steersman.rb
fill PKGBUILD
fill flake.nix
