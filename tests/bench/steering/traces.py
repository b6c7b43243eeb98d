"""The raw trace of a run: one JSON object on each line, with the time on one clock.

Everything that is scored is read from here again, so an old trace can be scored anew. An item of a conversation stands once, in
a line of its own; requests name items by number.
"""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

from wires import Item, Json, Request


class Trace:
    """Writes what happens with one host."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file = path.open("w", encoding="utf-8")
        self.lock = threading.Lock()
        self.items: dict[Item, int] = {}

    def write(self, kind: str, at: float | None = None, **fields: Any) -> None:
        line = {"kind": kind, "at": round(time.monotonic() if at is None else at, 4)} | fields
        with self.lock:
            self.file.write(json.dumps(line, ensure_ascii=False) + "\n")
            self.file.flush()

    def request(self, request: Request) -> None:
        numbers = []
        for item in request.items:
            if item not in self.items:
                self.items[item] = len(self.items)
                self.write("item", role=item.role, text=item.text, call=item.call, item=self.items[item])
            numbers.append(self.items[item])
        self.write("request", request.at, number=request.number, of=request.kind, items=numbers,
                   tools=[tool.name for tool in request.tools])

    def close(self) -> None:
        self.file.close()


def read_trace(path: Path) -> list[Json]:
    """Returns the lines of a trace in the order of their time; requests have their items in place of numbers."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    items = {line["item"]: Item(line["role"], line["text"], line["call"]) for line in lines if line["kind"] == "item"}
    for line in lines:
        if line["kind"] == "request":
            line["items"] = [items[number] for number in line["items"]]
    return sorted((line for line in lines if line["kind"] != "item"), key=lambda line: line["at"])
