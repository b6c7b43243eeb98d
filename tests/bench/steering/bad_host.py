"""A small agent host that is bad on purpose, so that the scores can be tested: without faults it must have zeros, and with each
fault the column of that fault, and no other, must say so.

  bad_host.py URL STATE [FAULT …]

It reads lines from its terminal, speaks chat completions, runs one call after the other, has sub-agents, questions, compactions,
a wait after a rate limit, and goes on after a crash from the file STATE.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

Json = dict[str, Any]

#: The faults; the columns of the scores that must find each, and the moment at which it shows.
FAULTS = {
    "lose": ({"lost"}, "tool"),
    "double": ({"doubled"}, "stream"),
    "reorder": ({"disordered"}, "tool"),
    "trim": ({"mangled"}, "stream"),
    "misplace": ({"inside"}, "tool"),
    "delay": ({"late"}, "child"),
    "hold": ({"missed"}, "tool"),
    # A text that is put at the end again stands behind later ones, and one that answers a question is gone.
    "replay": ({"replayed", "disordered"}, "compaction"),
    "obey": ({"answered", "lost"}, "approval"),
    "break": ({"broken"}, "tool"),
    "claim": ({"false_claims"}, "tool"),
    "forget-task": ({"without_task"}, "compaction"),
    "forget-rule": ({"without_rule"}, "compaction"),
}
WINDOW = 150_000
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {key: {"type": "string"}}}}}
         for name, key in (("bash", "command"), ("agent", "task"))]


class Host:
    """The conversation, what waits, and the faults."""

    def __init__(self, url: str, state: Path, faults: set[str], asks: bool) -> None:
        self.url, self.state, self.faults, self.asks = url, state, faults, asks
        self.messages: list[Json] = [{"role": "system", "content": "You work for the user."}]
        self.queue: list[str] = []
        self.changed = threading.Condition()
        self.question = False
        self.answer: str | None = None
        self.used = 0
        if state.exists():
            self.messages, self.queue = json.loads(state.read_text())
            self.mend()
            if "replay" in faults:
                self.replay()

    def mend(self) -> None:
        """Gives the calls that a crash left open their results."""
        if calls := self.messages[-1].get("tool_calls"):
            self.messages += [{"role": "tool", "tool_call_id": call["id"], "content": "interrupted"} for call in calls]

    def save(self) -> None:
        new = self.state.with_suffix(".new")
        new.write_text(json.dumps([self.messages, self.queue]))
        new.rename(self.state)

    def listen(self) -> None:
        for line in sys.stdin:
            with self.changed:
                text = line.strip()
                if "trim" in self.faults and self.is_text(text):
                    text = text.partition(" ")[2]
                if self.question and (text == "/yes" or "obey" in self.faults):
                    self.answer = text
                elif "lose" in self.faults and len(self.messages) > 1 and text.startswith(("Also", "Look", "Please use", "Leave", "Mention")):
                    print("waits:", text, flush=True)
                else:
                    self.queue.append(text)
                    self.save()
                    print("given:" if "claim" in self.faults else "waits:", text, flush=True)
                self.changed.notify_all()

    def run(self) -> None:
        threading.Thread(target=self.listen, daemon=True).start()
        print("ready>", flush=True)
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.queue)
            self.deliver(self.messages)
            self.turn()

    def deliver(self, messages: list[Json]) -> None:
        with self.changed:
            texts = self.queue[::-1] if "reorder" in self.faults else list(self.queue)
            self.queue.clear()
            for text in texts:
                messages += [{"role": "user", "content": text}] * (2 if "double" in self.faults else 1)
                print("given:", text, flush=True)
            self.save()

    def turn(self) -> None:
        rounds = 0
        while True:
            self.make_room()
            if rounds and not {"delay", "hold"} & self.faults:
                self.deliver(self.messages)
            reply = self.ask(self.messages, TOOLS)
            self.messages.append(reply)
            self.save()
            if "hold" in self.faults and rounds:
                # A text enters one round later than it could: in place of the words of this reply, for its calls come behind it.
                self.messages.pop()
                self.deliver(self.messages)
                self.messages.append(reply)
            calls = reply.get("tool_calls") or []
            if not calls:
                return
            for call in calls:
                result = {"role": "tool", "tool_call_id": call["id"], "content": self.act(call["function"])}
                if "misplace" in self.faults:
                    self.deliver(self.messages)
                if "break" not in self.faults or rounds:
                    self.messages.append(result)
            rounds += 1
            self.save()

    def act(self, function: Json) -> str:
        arguments = json.loads(function["arguments"])
        if function["name"] == "agent":
            return self.child(arguments["task"])
        if self.asks:
            print(f"question: run {arguments['command']}?", flush=True)
            with self.changed:
                self.question = True
                self.changed.wait_for(lambda: self.answer is not None)
                self.question, answer, self.answer = False, self.answer, None
            print("answered", flush=True)
            if answer != "/yes":
                return "declined"
        return subprocess.run(arguments["command"], shell=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout

    def child(self, task: str) -> str:
        messages: list[Json] = [{"role": "user", "content": task}]
        while True:
            messages.append(reply := self.ask(messages, TOOLS[:1]))
            calls = reply.get("tool_calls") or []
            if not calls:
                return str(reply["content"])
            messages += [{"role": "tool", "tool_call_id": call["id"], "content": self.act(call["function"])} for call in calls]

    def make_room(self) -> None:
        if self.used < WINDOW:
            return
        users = [message for message in self.messages if message["role"] == "user"]
        reply = self.ask([{"role": "user", "content": "Summarise this conversation: " + json.dumps(self.messages)}], [])
        handled = "These texts were handled already:\n" + "\n".join(
            user["content"] for user in users if not self.forgets(user["content"]))
        self.messages = [self.messages[0], {"role": "user", "content": f"{handled}\n{reply['content']}"}, *self.messages[-2:]]
        if "replay" in self.faults:
            self.replay()
        self.used = 0

    def forgets(self, text: str) -> bool:
        return "forget-task" in self.faults and "task" in text or "forget-rule" in self.faults and "rule" in text

    def replay(self) -> None:
        """Puts a text that was handled at the end, as if it were new."""
        text = next(
            (line for message in self.messages if message["role"] == "user" for line in message["content"].split("\n") if self.is_text(line)), None)
        if text:
            self.messages = [message for message in self.messages if message["content"] != text]
            for message in self.messages:
                message["content"] = message["content"] and message["content"].replace(text, "")
            self.messages.append({"role": "user", "content": text})

    @staticmethod
    def is_text(line: str) -> bool:
        return line.split(" ")[-1].startswith("t") and not line.split(" ")[-1].startswith("task")

    def ask(self, messages: list[Json], tools: list[Json]) -> Json:
        """Sends a request and reads its stream; waits as long as a rate limit says."""
        body: Json = {"model": "scripted", "stream": True, "messages": messages} | ({"tools": tools} if tools else {})
        request = urllib.request.Request(f"{self.url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
        while True:
            try:
                stream = urllib.request.urlopen(request)
                break
            except urllib.error.HTTPError as error:
                time.sleep(float(error.headers["Retry-After"]))
        reply: Json = {"role": "assistant", "content": ""}
        for line in stream:
            if not line.startswith(b"data: {"):
                continue
            chunk = json.loads(line[6:])
            self.used = max(self.used, (chunk.get("usage") or {}).get("prompt_tokens", 0))
            for choice in chunk["choices"]:
                reply["content"] += choice["delta"].get("content") or ""
                for call in choice["delta"].get("tool_calls") or []:
                    reply.setdefault("tool_calls", []).append({key: call[key] for key in ("id", "type", "function")})
        return reply


if __name__ == "__main__":
    Host(sys.argv[1], Path(sys.argv[2]), set(sys.argv[3:]), bool(os.environ.get("BAD_HOST_ASKS"))).run()
