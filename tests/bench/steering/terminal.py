"""A program in a pseudo-terminal, driven by keys and read as a screen.

A thread feeds what the program writes to an emulator (`pyte`, from the folder that `run install` fills). Without it the screen is
the last lines of the output without their escape sequences, which is enough for programs that only print lines.
"""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

ROWS, COLUMNS = 40, 120
ESCAPES = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[P_^X][^\x1b]*\x1b\\|\x1b\[[0-9;:<=>?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]")
#: What the emulator takes for something else: strings, private sequences other than the modes, styles with colons, and unknown ones.
UNKNOWN = re.compile(rb"\x1b[P_^X][^\x1b]*\x1b\\|\x1b\[(?!\?[0-9;]*[hl])[0-9;:]*[<=>?][0-9;:<=>?]*[ -/]*[@-~]"
                     rb"|\x1b\[[0-9;]*:[0-9;:]*m|\x1b\[[0-9;]*[ -/]+[@-~]")
#: What programs ask a terminal, and what an ordinary one answers.
QUESTIONS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?62;22c", b"\x1b[0c": b"\x1b[?62;22c", b"\x1b[?2026$p": b"\x1b[?2026;2$y",
             b"\x1b]11;?": b"\x1b]11;rgb:1010/1010/1010\x1b\\", b"\x1b]10;?": b"\x1b]10;rgb:e0e0/e0e0/e0e0\x1b\\"}


class Screen(Protocol):
    def feed(self, data: bytes) -> None: ...
    def text(self) -> str: ...


class Lines:
    """The last lines of the output, without escape sequences."""

    def __init__(self) -> None:
        self.data = b""

    def feed(self, data: bytes) -> None:
        self.data = (self.data + data)[-64 * 1024 :]

    def text(self) -> str:
        lines = ESCAPES.sub(b"", self.data).replace(b"\r", b"").decode("utf-8", "replace").split("\n")
        return "\n".join(lines[-ROWS:])


class Emulator:
    """A screen by `pyte`, which is taught to scroll a region and to repeat a character."""

    def __init__(self) -> None:
        import pyte

        class Full(pyte.Screen):
            def draw(self, data: str) -> None:
                self.last = data[-1:]
                super().draw(data)

            def repeat_character(self, count: int = 1) -> None:
                self.draw(getattr(self, "last", " ") * (count or 1))

            def scroll(self, count: int, edge: int, move: Callable[[], None]) -> None:
                y, self.cursor.y = self.cursor.y, edge
                for _ in range(count or 1):
                    move()
                self.cursor.y = y

            def scroll_up(self, count: int = 1) -> None:
                self.scroll(count, self.margins.bottom if self.margins else self.lines - 1, self.index)

            def scroll_down(self, count: int = 1) -> None:
                self.scroll(count, self.margins.top if self.margins else 0, self.reverse_index)

        class Stream(pyte.ByteStream):
            csi = pyte.ByteStream.csi | {"b": "repeat_character", "S": "scroll_up", "T": "scroll_down"}
            events = pyte.ByteStream.events | {"repeat_character", "scroll_up", "scroll_down"}

        self.screen = Full(COLUMNS, ROWS)
        self.stream = Stream(self.screen)
        self.rest = b""

    def feed(self, data: bytes) -> None:
        data = self.rest + data
        # A sequence that has not come whole waits for its end.
        start = data.rfind(b"\x1b", max(0, len(data) - 64))
        whole = start < 0 or ESCAPES.match(data, start) is not None
        self.rest = b"" if whole else data[start:]
        self.stream.feed(UNKNOWN.sub(b"", data if whole else data[:start]))

    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display)


def has_emulator() -> bool:
    try:
        import pyte  # noqa: F401
    except ImportError:
        return False
    return True


class Terminal:
    """A running program."""

    def __init__(self, command: list[str], environment: dict[str, str], folder: Path) -> None:
        self.screen: Screen = Emulator() if has_emulator() else Lines()
        self.lock = threading.Condition()
        self.ended = False
        self.last_output = time.monotonic()
        self.tail = b""
        self.file, inner = os.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.process = subprocess.Popen(["setsid", "--ctty", *command], stdin=inner, stdout=inner, stderr=inner, cwd=folder, env=environment)
        os.close(inner)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        while True:
            try:
                select.select([self.file], [], [])
                data = os.read(self.file, 65536)
            except OSError:
                data = b""
            with self.lock:
                if not data:
                    self.ended = True
                    self.lock.notify_all()
                    return
                self.last_output = time.monotonic()
                self._answer(data)
                self.screen.feed(data)
                self.lock.notify_all()

    def _answer(self, data: bytes) -> None:
        seen = self.tail + data
        for question, answer in QUESTIONS.items():
            for _ in range(seen.count(question) - self.tail.count(question)):
                self.write(answer)
        self.tail = seen[-12:]

    def write(self, keys: str | bytes) -> None:
        data = keys.encode() if isinstance(keys, str) else keys
        try:
            while data:
                data = data[os.write(self.file, data) :]
        except OSError:
            self.ended = True

    def text(self) -> str:
        with self.lock:
            return self.screen.text()

    def wait(self, pattern: str, patience: float) -> bool:
        """Waits until the screen matches; tells whether it did."""
        end = time.monotonic() + patience
        with self.lock:
            while not re.search(pattern, self.screen.text()):
                if self.ended or not self.lock.wait(max(0.0, min(0.1, end - time.monotonic()))) and time.monotonic() >= end:
                    return False
                # The screen is read at most fifty times a second.
                self.lock.wait_for(lambda: self.ended, 0.02)
        return True

    def wait_quiet(self, quiet: float, patience: float) -> None:
        """Waits until nothing was written for a while."""
        end = time.monotonic() + patience
        while time.monotonic() < end and time.monotonic() - self.last_output < quiet and not self.ended:
            time.sleep(0.02)

    def tree(self) -> list[int]:
        """Returns the process and those below it."""
        found, waiting = [], [self.process.pid]
        while waiting:
            pid = waiting.pop()
            found.append(pid)
            for task in Path(f"/proc/{pid}/task").glob("*/children"):
                try:
                    waiting += map(int, task.read_text().split())
                except OSError:
                    pass
        return found

    def kill(self) -> None:
        """Ends the program and everything below it at once."""
        for pid in self.tree():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        self.reader.join(2)
        # What the tree started in this moment may hold the terminal still. While somebody reads the file it stays open:
        # its number would soon be that of another life's file.
        if not self.reader.is_alive():
            os.close(self.file)
