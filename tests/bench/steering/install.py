"""Installs what the bench compares with and needs into one folder: an emulator of terminals from PyPI, Node.js and the peers from npm.

Nothing is installed outside the folder, and nothing of it is kept here.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from peers import HOSTS

EMULATOR = "pyte==0.8.2"
NODE = "node@24"


def run(command: list[str], folder: Path, path: str) -> None:
    print("+", " ".join(command), flush=True)
    subprocess.run(command, cwd=folder, env=os.environ | {"PATH": path}, check=True)


def npm(folder: Path, package: str, path: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true}\n')
    run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", package], folder, path)


def install(folder: Path, wanted: list[str]) -> None:
    """Installs the emulator, and these hosts: by name, or by name and version as in `pi@0.99.1`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = os.environ["PATH"]
    run([sys.executable, "-m", "venv", "venv"], folder, path)
    run(["venv/bin/pip", "install", "--quiet", EMULATOR], folder, path)
    parted = [one.partition("@") for one in wanted]
    hosts = [(HOSTS[name], version) for name, _, version in parted if HOSTS[name].package]
    if hosts and not node(folder).exists():
        npm(folder / "node", NODE, path)
    for host, version in hosts:
        # npm chooses the newest version that its own Node.js can run.
        try:
            npm(folder / host.name, f"{host.package}@{version}" if version else host.package, f"{node(folder)}:{path}")
        except subprocess.CalledProcessError:
            print(f"{host.name} could not be installed; the others go on")


def node(folder: Path) -> Path:
    """Returns the folder of the Node.js that runs the peers."""
    return folder / "node/node_modules/.bin"


def use_emulator(folder: Path) -> None:
    """Makes the emulator of the folder importable, where it is installed."""
    sys.path += map(str, folder.glob("venv/lib/python3*/site-packages"))
