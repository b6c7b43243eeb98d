"""The three wires that hosts speak: a request becomes a list of items, a reply becomes the bytes of a stream.

Used by the server alone. Nothing here knows what is played; nothing here waits.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Role = Literal["system", "user", "assistant", "call", "result"]
Json = dict[str, Any]


@dataclass(frozen=True)
class Item:
    """One piece of a conversation. `call` joins a call and its result."""

    role: Role
    text: str
    call: str = ""


@dataclass(frozen=True)
class Tool:
    """A tool on offer. `kind` and `space` are words of the Responses wire."""

    name: str
    schema: Json
    kind: str = "function"
    space: str = ""


@dataclass(frozen=True)
class Call:
    """A call that a reply makes."""

    tool: Tool
    arguments: Json
    id: str


@dataclass
class Request:
    """A request for a reply, whatever its wire."""

    items: list[Item]
    tools: list[Tool]
    streams: bool
    wire: "Wire"
    number: int = 0
    at: float = 0.0
    kind: str = ""
    tokens: int = 0
    own: list[str] = field(default_factory=list)

    def users(self) -> list[str]:
        """Returns the texts of the user's role."""
        return [item.text for item in self.items if item.role == "user"]


class Wire(Protocol):
    """How one reply is written. Each method returns the bytes of whole events."""

    def begin(self) -> bytes: ...
    def text(self, words: str) -> bytes: ...
    def calls(self, calls: list[Call]) -> bytes: ...
    def end(self, tokens: int) -> bytes: ...
    def whole(self, words: str, calls: list[Call], tokens: int) -> Json: ...


def text_of(content: Any) -> str:
    """Returns the text in what a wire calls content: a string, a part, or a list of parts."""
    match content:
        case str():
            return content
        case list():
            return "\n".join(filter(None, map(text_of, content)))
        case dict():
            return next((text_of(content[key]) for key in ("text", "content", "output") if key in content), "")
        case _:
            return ""


def event(data: Json, name: str = "") -> bytes:
    """Returns a server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


class Chat:
    """Chat completions."""

    def __init__(self, number: int) -> None:
        self.head: Json = {"id": f"chatcmpl-{number}", "created": 1, "model": "scripted"}
        self.finish = "stop"

    def chunk(self, delta: Json, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return event(self.head | {"object": "chat.completion.chunk", "choices": [choice]})

    def begin(self) -> bytes:
        return self.chunk({"role": "assistant", "content": ""})

    def text(self, words: str) -> bytes:
        return self.chunk({"content": words})

    def calls(self, calls: list[Call]) -> bytes:
        self.finish = "tool_calls"
        return b"".join(self.chunk({"tool_calls": [{"index": index} | self.call(call)]}) for index, call in enumerate(calls))

    @staticmethod
    def call(call: Call) -> Json:
        return {"id": call.id, "type": "function", "function": {"name": call.tool.name, "arguments": json.dumps(call.arguments)}}

    @staticmethod
    def usage(tokens: int) -> Json:
        return {"prompt_tokens": tokens, "completion_tokens": 10, "total_tokens": tokens + 10}

    def end(self, tokens: int) -> bytes:
        last = self.head | {"object": "chat.completion.chunk", "choices": [], "usage": self.usage(tokens)}
        return self.chunk({}, self.finish) + event(last) + b"data: [DONE]\n\n"

    def whole(self, words: str, calls: list[Call], tokens: int) -> Json:
        message: Json = {"role": "assistant", "content": words}
        if calls:
            message["tool_calls"] = [self.call(call) for call in calls]
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        return self.head | {"object": "chat.completion", "choices": [choice], "usage": self.usage(tokens)}


class Responses:
    """The Responses wire."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.sequence = itertools.count()
        self.output: list[Json] = []
        self.words = ""

    def say(self, kind: str, **fields: Any) -> bytes:
        return event({"type": kind, "sequence_number": next(self.sequence)} | fields, kind)

    def response(self, status: str, tokens: int = 0) -> Json:
        usage = {"input_tokens": tokens, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": tokens + 10}
        return {"id": f"resp_{self.number}", "object": "response", "created_at": 1, "status": status, "model": "scripted",
                "output": self.output, "usage": usage if tokens else None, "error": None, "incomplete_details": None}

    def begin(self) -> bytes:
        return self.say("response.created", response=self.response("in_progress"))

    def message(self, status: str) -> Json:
        content = [{"type": "output_text", "text": self.words, "annotations": []}] if self.words else []
        return {"id": f"msg_{self.number}", "type": "message", "status": status, "role": "assistant", "content": content}

    def text(self, words: str) -> bytes:
        start = b""
        if not self.words:
            start = self.say("response.output_item.added", output_index=len(self.output), item=self.message("in_progress"))
        self.words += words
        place = {"item_id": f"msg_{self.number}", "output_index": len(self.output), "content_index": 0}
        return start + self.say("response.output_text.delta", **place, delta=words)

    def close(self) -> bytes:
        if not self.words:
            return b""
        item = self.message("completed")
        self.words = ""
        self.output.append(item)
        return self.say("response.output_item.done", output_index=len(self.output) - 1, item=item)

    def calls(self, calls: list[Call]) -> bytes:
        written = self.close()
        for call in calls:
            item = self.call(call)
            place = {"output_index": len(self.output), "item": item}
            self.output.append(item)
            written += self.say("response.output_item.added", **place) + self.say("response.output_item.done", **place)
        return written

    def call(self, call: Call) -> Json:
        item: Json = {"id": f"fc_{call.id}", "call_id": call.id, "status": "completed"}
        if call.tool.kind == "local_shell":
            action = {"type": "exec", "command": ["bash", "-lc", call.arguments.get("command", "true")], "env": {}}
            return item | {"type": "local_shell_call", "action": action}
        if call.tool.space:
            item["namespace"] = call.tool.space
        return item | {"type": "function_call", "name": call.tool.name, "arguments": json.dumps(call.arguments)}

    def end(self, tokens: int) -> bytes:
        return self.close() + self.say("response.completed", response=self.response("completed", tokens))

    def whole(self, words: str, calls: list[Call], tokens: int) -> Json:
        self.words = words
        self.close()
        self.output += [self.call(call) for call in calls]
        return self.response("completed", tokens)


class Gemini:
    """Gemini's generateContent."""

    def __init__(self, number: int) -> None:
        self.number = number

    def chunk(self, parts: list[Json], **rest: Any) -> Json:
        candidate: Json = {"content": {"role": "model", "parts": parts}, "index": 0}
        if "finish" in rest:
            candidate["finishReason"] = rest["finish"]
        chunk: Json = {"candidates": [candidate], "modelVersion": "scripted", "responseId": f"r{self.number}"}
        if tokens := rest.get("tokens"):
            chunk["usageMetadata"] = {"promptTokenCount": tokens, "candidatesTokenCount": 10, "totalTokenCount": tokens + 10}
        return chunk

    def begin(self) -> bytes:
        return b""

    def text(self, words: str) -> bytes:
        return event(self.chunk([{"text": words}]))

    def calls(self, calls: list[Call]) -> bytes:
        return event(self.chunk([self.call(call) for call in calls]))

    @staticmethod
    def call(call: Call) -> Json:
        return {"functionCall": {"name": call.tool.name, "args": call.arguments}}

    def end(self, tokens: int) -> bytes:
        return event(self.chunk([{"text": ""}], finish="STOP", tokens=tokens))

    def whole(self, words: str, calls: list[Call], tokens: int) -> Json:
        parts = ([{"text": words}] if words else []) + [self.call(call) for call in calls]
        return self.chunk(parts, finish="STOP", tokens=tokens)


def read_chat(body: Json) -> tuple[list[Item], list[Tool]]:
    items: list[Item] = []
    for message in body.get("messages", []):
        role, text = message.get("role"), text_of(message.get("content"))
        if role == "tool":
            items.append(Item("result", text, message.get("tool_call_id", "")))
        elif role == "assistant":
            items += [Item("assistant", text)] if text else []
            items += [Item("call", json.dumps(call.get("function")), call.get("id", "")) for call in message.get("tool_calls") or []]
        else:
            items.append(Item("user" if role == "user" else "system", text))
    functions = [tool.get("function", tool) for tool in body.get("tools") or []]
    return items, [Tool(function.get("name", ""), function.get("parameters") or {}) for function in functions]


def read_responses(body: Json) -> tuple[list[Item], list[Tool]]:
    items = [Item("system", body["instructions"])] if body.get("instructions") else []
    given = body.get("input", [])
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        kind, call = item.get("type", "message"), item.get("call_id", "")
        if kind == "message":
            roles: dict[str, Role] = {"user": "user", "assistant": "assistant"}
            items.append(Item(roles.get(str(item.get("role")), "system"), text_of(item.get("content"))))
        elif kind.endswith("_call_output"):
            items.append(Item("result", text_of(item.get("output")), call))
        elif kind.endswith("_call"):
            items.append(Item("call", json.dumps({key: item[key] for key in ("name", "arguments", "action", "input") if key in item}), call))
    tools: list[Tool] = []
    for tool in body.get("tools") or []:
        inner = tool.get("tools") if tool.get("type") == "namespace" else None
        for one in inner or [tool]:
            kind = one.get("type", "function")
            tools.append(Tool(one.get("name") or kind, one.get("parameters") or {}, kind, tool.get("name", "") if inner else ""))
    return items, tools


def read_gemini(body: Json) -> tuple[list[Item], list[Tool]]:
    system = body.get("systemInstruction") or body.get("system_instruction")
    items = [Item("system", text_of(system.get("parts")))] if system else []
    # Calls have no ids here: a result answers the oldest call of its name.
    numbers = itertools.count()
    waiting: dict[str, list[str]] = {}
    for content in body.get("contents", []):
        for part in content.get("parts", []):
            if call := part.get("functionCall"):
                waiting.setdefault(call.get("name", ""), []).append(identity := f"call-{next(numbers)}")
                items.append(Item("call", json.dumps(call), identity))
            elif result := part.get("functionResponse"):
                open_calls = waiting.get(result.get("name", "")) or ["unknown"]
                items.append(Item("result", json.dumps(result.get("response"), ensure_ascii=False), open_calls.pop(0)))
            elif part.get("text") and not part.get("thought"):
                items.append(Item("assistant" if content.get("role") == "model" else "user", part["text"]))
    functions = [one for tool in body.get("tools") or []
                 for one in tool.get("functionDeclarations") or tool.get("function_declarations") or []]
    return items, [Tool(one.get("name", ""), one.get("parametersJsonSchema") or one.get("parameters") or {}) for one in functions]


def read(path: str, body: Json, number: int) -> Request | None:
    """Returns the request that came to a path; none when no wire has this path."""
    if path.endswith("/chat/completions"):
        return Request(*read_chat(body), bool(body.get("stream")), Chat(number))
    if path.endswith("/responses"):
        return Request(*read_responses(body), bool(body.get("stream")), Responses(number))
    if path.endswith((":streamGenerateContent", ":generateContent")):
        return Request(*read_gemini(body), ":stream" in path, Gemini(number))
    return None


SHELLS = ("bash", "exec_command", "shell_command", "shell", "run_shell_command", "local_shell", "exec", "run")


def fill(tool: Tool, values: Json) -> Json:
    """Returns arguments for a tool by its schema: the given values for what it has, something harmless for what else it requires."""
    properties: Json = tool.schema.get("properties") or {}
    arguments = {key: value for key, value in values.items() if key in properties}
    for key in tool.schema.get("required") or []:
        shape = properties.get(key, {})
        kind = str(shape.get("type", "string")).lower()
        fallback = {"boolean": False, "number": 10000, "integer": 10000, "array": [], "object": {}}.get(kind, "a step of the work")
        arguments.setdefault(key, shape["enum"][0] if shape.get("enum") else fallback)
    return arguments


def shell(tools: Iterable[Tool], command: str, name: str, extra: Json) -> Call | None:
    """Returns a call that runs a command with whichever shell tool is on offer; `extra` are arguments that some tools take."""
    by_name = {tool.name: tool for tool in tools}
    tool = next((by_name[known] for known in SHELLS if known in by_name), None)
    if tool is None:
        return None
    if tool.kind == "local_shell":
        return Call(tool, {"command": command}, name)
    key = next((key for key in ("command", "cmd", "script") if key in (tool.schema.get("properties") or {})), "command")
    is_list = str((tool.schema.get("properties") or {}).get(key, {}).get("type")).lower() == "array"
    return Call(tool, fill(tool, extra | {key: ["bash", "-lc", command] if is_list else command}), name)


def pieces(words: str) -> Iterator[str]:
    """Returns a text in the pieces in which it is streamed."""
    size = 12 if len(words) < 2000 else 500
    for start in range(0, len(words), size):
        yield words[start : start + size]
