#!/usr/bin/env bash
# Makes what a release offers for one target, in target/packages: the archive and, for Linux, a .deb and a .rpm, each with its
# SHA-256. It runs the program that it has built, so the machine must be one of the target's kind.
#
#   assets/packaging/package.sh x86_64-unknown-linux-musl
#
# cargo-deb and cargo-generate-rpm must be there for the Linux packages.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=${1:?which target, such as x86_64-unknown-linux-musl}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
packages=target/packages
name=steersman-v$version-$target

cargo build --locked --profile dist --target "$target"
program=target/$target/dist/steersman

# Whatever is packaged starts and answers, without a configuration, a server or a terminal.
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
env -i HOME="$home" PATH="$PATH" "$program" exec --provider demo hello </dev/null >/dev/null

# Read by Cargo.toml too: the .deb and the .rpm take them from here.
rm -rf "$packages/files"
mkdir -p "$packages/files"
cp assets/steersman.1 "$packages/files/steersman.1"
gzip -9nf "$packages/files/steersman.1"
"$program" completions bash >"$packages/files/steersman.bash"
"$program" completions zsh >"$packages/files/_steersman"
"$program" completions fish >"$packages/files/steersman.fish"

rm -rf "${packages:?}/$name"
mkdir -p "$packages/$name/completions"
cp "$program" README.md LICENSE assets/steersman.1 "$packages/$name"
cp "$packages"/files/{steersman.bash,_steersman,steersman.fish} "$packages/$name/completions"
tar -C "$packages" --owner=0 --group=0 -czf "$packages/$name.tar.gz" "$name" 2>/dev/null ||
    tar -C "$packages" -czf "$packages/$name.tar.gz" "$name"

case $target in
*linux*)
    cargo deb --no-build --no-strip --profile dist --target "$target" --output "$packages/$name.deb"
    cargo generate-rpm --profile dist --target "$target" --output "$packages/$name.rpm"
    ;;
esac

cd "$packages"
for file in "$name".tar.gz "$name".deb "$name".rpm; do
    [ ! -e "$file" ] || { sha256sum "$file" 2>/dev/null || shasum -a 256 "$file"; } >"$file.sha256"
done
ls -l "$name".*
