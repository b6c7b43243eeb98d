"""A client of `steersman exec`: sends texts while the agent works, answers its questions, reads its events.

One file, the standard library alone, Python 3.9 or later. The types are made from `steersman exec --schema`.

    from steersman import Steersman

    with Steersman("--model", "qwen3") as run:
        turn = run.ask("Which files are large?", on_question=lambda question: "yes")
        print(turn["answer"])
"""

import json
import subprocess
import sys
import threading
from collections import deque
from typing import Any, Callable, Dict, Iterator, List, Literal, Optional, TypedDict, Union


class Steersman:
    """A run of `steersman exec`. Iterating over it yields the lines, until the run has ended; requests return their reply.

    `args` are the arguments of `exec`; the first prompt can be one, or be sent. Used as a context, it ends with it.
    """

    def __init__(self, *args: str, program: str = "steersman", **options: Any) -> None:
        self.result: Optional["SessionEndedEvent"] = None
        self._process = subprocess.Popen(
            [program, "exec", "--input", "json", *args],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", **options)
        self._changed = threading.Condition()
        self._lines: "deque[Envelope]" = deque()
        self._replies: Dict[int, "ReplyEvent"] = {}
        self._requests = 0
        self._is_over = False
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, text: str, **members: Any) -> "ReplyEvent":
        """Sends a text: it starts a turn, or enters the one that runs. `delivery`, `kind`, `agent` and so on are members."""
        return self.request("send", text=text, **members)

    def answer(self, question: int, answer: "InputAnswer", reason: Optional[str] = None) -> "ReplyEvent":
        """Answers a question by its number."""
        return self.request("answer", question=question, answer=answer, reason=reason)

    def cancel(self) -> "ReplyEvent":
        """Stops the turn; what waited is in the reply."""
        return self.request("cancel")

    def request(self, type: str, **members: Any) -> "ReplyEvent":
        """Makes any request (see `InputLine`) and waits for its reply. After the end of the run it is refused."""
        with self._changed:
            self._requests += 1
            id = self._requests
            try:
                self._process.stdin.write(json.dumps({"id": id, "type": type, **members}) + "\n")
                self._process.stdin.flush()
            except (BrokenPipeError, ValueError):
                return {"type": "reply", "id": id, "ok": False, "reason": "the run is over"}
            self._changed.wait_for(lambda: id in self._replies or self._is_over)
            return self._replies.pop(id, {"type": "reply", "id": id, "ok": False, "reason": "the run is over"})

    def ask(
        self, text: str, on_question: Optional[Callable[["QuestionEvent"], "InputAnswer"]] = None, **members: Any
    ) -> "TurnEndedEvent":
        """Sends a text to the main agent and returns the end of the turn that it enters: `answer`, `usage`, `outcome`.

        Questions are answered by `on_question`, without one with a no. The lines read meanwhile are not kept.
        """
        reply = self.send(text, **members)
        if not reply["ok"]:
            raise RuntimeError(reply.get("reason") or "the text was refused")
        is_delivered = False
        for line in self:
            event = line["event"]
            if event["type"] == "question":
                self.answer(event["number"], on_question(event) if on_question else "no")
            elif event["type"] == "user_turn":
                is_delivered = is_delivered or event.get("id") == reply["message"]
            elif event["type"] == "returned" and any(entry["id"] == reply["message"] for entry in event["entries"]):
                break
            elif event["type"] == "turn_ended" and not line["agent"] and is_delivered:
                return event
        raise RuntimeError((self.result or {}).get("reason") or "the text was not delivered")

    def close(self) -> "SessionEndedEvent":
        """Ends the run after what is under way, and returns its result."""
        if not self._is_over:
            self.request("end")
        for _ in self:
            pass
        self._process.wait()
        return self.result

    def __iter__(self) -> Iterator["Envelope"]:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._lines or self._is_over)
                if not self._lines:
                    return
                line = self._lines.popleft()
            yield line

    def __enter__(self) -> "Steersman":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.close()
        else:
            self._process.terminate()
            self._process.wait()

    def _read(self) -> None:
        try:
            for text in self._process.stdout:
                line = json.loads(text)
                with self._changed:
                    event = line["event"]
                    if event["type"] == "reply":
                        self._replies[event["id"]] = event
                    else:
                        self._lines.append(line)
                    if event["type"] == "session_ended":
                        self.result = event
                    self._changed.notify_all()
        finally:
            with self._changed:
                self._is_over = True
                self._changed.notify_all()


# --- types, made from the schema

Envelope = TypedDict("Envelope", {"seq": int, "at": str, "agent": "AgentId", "parent": Union["AgentId", None], "event": "Event", "session": Union[str, None], "turn": Union[int, None], "round": Union[int, None]}, total=False)
AgentId = str
SessionStartedEvent = TypedDict("SessionStartedEvent", {"type": Literal["session_started"], "schema": int, "program": str, "cwd": str, "provider": str, "model": Union[str, None], "max_steps": Union[int, None], "tools": List[str], "cut_bytes": int, "cut": List[Any]}, total=False)
TurnStartedEvent = TypedDict("TurnStartedEvent", {"type": Literal["turn_started"], "turn": int, "cut_bytes": int, "cut": List[Any]}, total=False)
RoundStartedEvent = TypedDict("RoundStartedEvent", {"type": Literal["round_started"], "turn": int, "round": int, "cut_bytes": int, "cut": List[Any]}, total=False)
RoundEndedEvent = TypedDict("RoundEndedEvent", {"type": Literal["round_ended"], "turn": int, "round": int, "cut_bytes": int, "cut": List[Any]}, total=False)
UserTurnEvent = TypedDict("UserTurnEvent", {"type": Literal["user_turn"], "content": str, "mid_loop": bool, "injection": Union["MessageId", None], "step": int, "after": Union[str, None], "sender": Union["ClientId", None], "kind": "TextKind", "met": Union["Trigger", None], "images": List["ImageFacts"], "id": Union["MessageId", None], "text": str, "cut_bytes": int, "cut": List[Any]}, total=False)
RulesEvent = TypedDict("RulesEvent", {"type": Literal["rules"], "rules": List["Rule"], "cut_bytes": int, "cut": List[Any]}, total=False)
RuleToldEvent = TypedDict("RuleToldEvent", {"type": Literal["rule_told"], "id": "MessageId", "news": "RuleNews", "text": Union[str, None], "cut_bytes": int, "cut": List[Any]}, total=False)
PlanChangedEvent = TypedDict("PlanChangedEvent", {"type": Literal["plan_changed"], "cut_bytes": int, "cut": List[Any], "version": int, "by": "PlanAuthor", "sender": Union["ClientId", None], "summary": str, "plan": "Plan", "known": Union["Plan", None]}, total=False)
PlanToldEvent = TypedDict("PlanToldEvent", {"type": Literal["plan_told"], "cut_bytes": int, "cut": List[Any], "news": "PlanNews", "version": int, "summary": str}, total=False)
SeenEvent = TypedDict("SeenEvent", {"type": Literal["seen"], "injections": List["MessageId"], "step": int, "ids": List["MessageId"], "cut_bytes": int, "cut": List[Any]}, total=False)
ReturnedEvent = TypedDict("ReturnedEvent", {"type": Literal["returned"], "entries": List["Pending"], "cut_bytes": int, "cut": List[Any]}, total=False)
ParkedEvent = TypedDict("ParkedEvent", {"type": Literal["parked"], "call": Union["ToolCall", None], "cut_bytes": int, "cut": List[Any]}, total=False)
UnparkedEvent = TypedDict("UnparkedEvent", {"type": Literal["unparked"], "decision": "Decided", "cut_bytes": int, "cut": List[Any]}, total=False)
ThinkingDeltaEvent = TypedDict("ThinkingDeltaEvent", {"type": Literal["thinking_delta"], "text": str, "cut_bytes": int, "cut": List[Any]}, total=False)
AssistantDeltaEvent = TypedDict("AssistantDeltaEvent", {"type": Literal["assistant_delta"], "text": str, "cut_bytes": int, "cut": List[Any]}, total=False)
ThinkingEvent = TypedDict("ThinkingEvent", {"type": Literal["thinking"], "text": str, "cut_bytes": int, "cut": List[Any]}, total=False)
AssistantEvent = TypedDict("AssistantEvent", {"type": Literal["assistant"], "text": str, "interrupted": bool, "cut_bytes": int, "cut": List[Any]}, total=False)
TokensEvent = TypedDict("TokensEvent", {"type": Literal["tokens"], "cut_bytes": int, "cut": List[Any], "input": Union[int, None], "output": Union[int, None], "cached": Union[int, None], "cache_creation": Union[int, None], "thinking": Union[int, None], "model": Union[str, None], "cost_nanos": Union[int, None]}, total=False)
ToolCallEvent = TypedDict("ToolCallEvent", {"type": Literal["tool_call"], "id": "CallId", "name": str, "arguments": "Arguments", "cut_bytes": int, "cut": List[Any]}, total=False)
ToolProgressEvent = TypedDict("ToolProgressEvent", {"type": Literal["tool_progress"], "id": "CallId", "text": str, "cut_bytes": int, "cut": List[Any]}, total=False)
ToolDetailsEvent = TypedDict("ToolDetailsEvent", {"type": Literal["tool_details"], "id": "CallId", "details": "Details", "cut_bytes": int, "cut": List[Any]}, total=False)
ToolResultEvent = TypedDict("ToolResultEvent", {"type": Literal["tool_result"], "id": "CallId", "content": str, "is_error": bool, "elapsed_ms": int, "name": Union[str, None], "text": str, "error": Union["CallError", None], "cut_bytes": int, "cut": List[Any]}, total=False)
AgentSpawnedEvent = TypedDict("AgentSpawnedEvent", {"type": Literal["agent_spawned"], "child": "AgentId", "persona": str, "task": str, "call": Union["CallId", None], "model": Union[str, None], "max_steps": Union[int, None], "tools": List[str], "agent": "AgentId", "text": str, "cut_bytes": int, "cut": List[Any]}, total=False)
AgentFinishedEvent = TypedDict("AgentFinishedEvent", {"type": Literal["agent_finished"], "child": "AgentId", "outcome": "Outcome", "message": Union[str, None], "agent": "AgentId", "reason": Union[str, None], "cut_bytes": int, "cut": List[Any]}, total=False)
AgentBackgroundedEvent = TypedDict("AgentBackgroundedEvent", {"type": Literal["agent_backgrounded"], "child": "AgentId", "cut_bytes": int, "cut": List[Any]}, total=False)
AgentAnsweredEvent = TypedDict("AgentAnsweredEvent", {"type": Literal["agent_answered"], "child": "AgentId", "outcome": "Outcome", "answer": str, "cut_bytes": int, "cut": List[Any]}, total=False)
ContextCapEvent = TypedDict("ContextCapEvent", {"type": Literal["context_cap"], "tokens": Union[int, None], "cut_bytes": int, "cut": List[Any]}, total=False)
FallbackNoticeEvent = TypedDict("FallbackNoticeEvent", {"type": Literal["fallback_notice"], "reason": str, "cut_bytes": int, "cut": List[Any]}, total=False)
RetryingEvent = TypedDict("RetryingEvent", {"type": Literal["retrying"], "attempt": int, "after_ms": int, "reason": str, "cut_bytes": int, "cut": List[Any]}, total=False)
CancelledEvent = TypedDict("CancelledEvent", {"type": Literal["cancelled"], "cut_bytes": int, "cut": List[Any]}, total=False)
TurnEndedEvent = TypedDict("TurnEndedEvent", {"type": Literal["turn_ended"], "turn": int, "outcome": "Outcome", "message": Union[str, None], "answer": Union[str, None], "structured": Any, "finish": Union["TurnFinish", None], "usage": "UsageSum", "error": Union["TurnFault", None], "reason": Union[str, None], "cut_bytes": int, "cut": List[Any]}, total=False)
PendingEvent = TypedDict("PendingEvent", {"type": Literal["pending"], "entries": List["Pending"], "cut_bytes": int, "cut": List[Any]}, total=False)
GuardsEvent = TypedDict("GuardsEvent", {"type": Literal["guards"], "mode": str, "sandbox": Union[str, None], "context_files": List[str], "cut_bytes": int, "cut": List[Any]}, total=False)
QuestionEvent = TypedDict("QuestionEvent", {"type": Literal["question"], "id": str, "question": str, "detail": Union[str, None], "call": Union["CallId", None], "offer": Union[str, None], "rule": Union[str, None], "number": int, "kind": str, "directory": Union[str, None], "reason": Union[str, None], "text": str, "subject": Any, "cut_bytes": int, "cut": List[Any]}, total=False)
AnswerEvent = TypedDict("AnswerEvent", {"type": Literal["answer"], "id": str, "answer": str, "words": Union[str, None], "number": int, "by": str, "reason": Union[str, None], "cut_bytes": int, "cut": List[Any]}, total=False)
StepLimitEvent = TypedDict("StepLimitEvent", {"type": Literal["step_limit"], "max": int, "cut_bytes": int, "cut": List[Any]}, total=False)
ModelSwitchedEvent = TypedDict("ModelSwitchedEvent", {"type": Literal["model_switched"], "from": Union[str, None], "to": Union[str, None], "provider": Union[str, None], "cut_bytes": int, "cut": List[Any]}, total=False)
CompactingEvent = TypedDict("CompactingEvent", {"type": Literal["compacting"], "messages": int, "cut_bytes": int, "cut": List[Any]}, total=False)
CompactedEvent = TypedDict("CompactedEvent", {"type": Literal["compacted"], "before": Union[int, None], "after": Union[int, None], "messages": int, "summary": str, "text": str, "cut_bytes": int, "cut": List[Any]}, total=False)
ContextSizeEvent = TypedDict("ContextSizeEvent", {"type": Literal["context_size"], "tokens": int, "estimated": bool, "cut_bytes": int, "cut": List[Any]}, total=False)
ChangesUndoneEvent = TypedDict("ChangesUndoneEvent", {"type": Literal["changes_undone"], "turn": Union[int, None], "files": List["UndoneFile"], "cut_bytes": int, "cut": List[Any]}, total=False)
HookRanEvent = TypedDict("HookRanEvent", {"type": Literal["hook_ran"], "cut_bytes": int, "cut": List[Any], "hook": "HookEvent", "command": str, "call": Union["CallId", None], "outcome": "HookOutcome", "words": Union[str, None], "elapsed_ms": int}, total=False)
JobStartedEvent = TypedDict("JobStartedEvent", {"type": Literal["job_started"], "cut_bytes": int, "cut": List[Any], "id": "JobId", "command": str, "owner": "JobOwner", "call": Union["CallId", None], "elapsed_ms": Union[int, None]}, total=False)
JobOutputEvent = TypedDict("JobOutputEvent", {"type": Literal["job_output"], "id": "JobId", "text": str, "cut_bytes": int, "cut": List[Any]}, total=False)
JobEndedEvent = TypedDict("JobEndedEvent", {"type": Literal["job_ended"], "cut_bytes": int, "cut": List[Any], "id": "JobId", "ending": "JobEnding", "message": Union[str, None], "end": "CommandEnd", "output": str, "elapsed_ms": int, "notes": List[str]}, total=False)
NoticeEvent = TypedDict("NoticeEvent", {"type": Literal["notice"], "text": str, "cut_bytes": int, "cut": List[Any]}, total=False)
TaskClosedEvent = TypedDict("TaskClosedEvent", {"type": Literal["task_closed"], "cut_bytes": int, "cut": List[Any]}, total=False)
ResetEvent = TypedDict("ResetEvent", {"type": Literal["reset"], "cut_bytes": int, "cut": List[Any]}, total=False)
SessionEndedEvent = TypedDict("SessionEndedEvent", {"type": Literal["session_ended"], "code": int, "message": Union[str, None], "session": Union[str, None], "turns": int, "exit_code": int, "outcome": "Outcome", "finish": Union["TurnFinish", None], "answer": Union[str, None], "structured": Any, "usage": "UsageSum", "cost_nanos": Union[int, None], "cost_usd": Union[float, None], "by_model": List["ModelUsage"], "files": List[str], "files_partial": bool, "refused": List["RefusedCall"], "unsent": List["UnsentText"], "duration_ms": int, "error": Union["TurnFault", None], "reason": Union[str, None], "cut_bytes": int, "cut": List[Any]}, total=False)
ExtensionEvent = TypedDict("ExtensionEvent", {"type": Literal["extension"], "name": str, "payload": Any, "cut_bytes": int, "cut": List[Any]}, total=False)
FilesChangedEvent = TypedDict("FilesChangedEvent", {"type": Literal["files_changed"], "id": "CallId", "files": List["ChangedFile"], "partial": bool, "cut_bytes": int, "cut": List[Any]}, total=False)
ReplyEvent = TypedDict("ReplyEvent", {"type": Literal["reply"], "id": Any, "ok": bool, "message": Union["MessageId", None], "returned": List["Pending"], "reason": Union[str, None], "cut_bytes": int, "cut": List[Any]}, total=False)
Event = Union["SessionStartedEvent", "TurnStartedEvent", "RoundStartedEvent", "RoundEndedEvent", "UserTurnEvent", "RulesEvent", "RuleToldEvent", "PlanChangedEvent", "PlanToldEvent", "SeenEvent", "ReturnedEvent", "ParkedEvent", "UnparkedEvent", "ThinkingDeltaEvent", "AssistantDeltaEvent", "ThinkingEvent", "AssistantEvent", "TokensEvent", "ToolCallEvent", "ToolProgressEvent", "ToolDetailsEvent", "ToolResultEvent", "AgentSpawnedEvent", "AgentFinishedEvent", "AgentBackgroundedEvent", "AgentAnsweredEvent", "ContextCapEvent", "FallbackNoticeEvent", "RetryingEvent", "CancelledEvent", "TurnEndedEvent", "PendingEvent", "GuardsEvent", "QuestionEvent", "AnswerEvent", "StepLimitEvent", "ModelSwitchedEvent", "CompactingEvent", "CompactedEvent", "ContextSizeEvent", "ChangesUndoneEvent", "HookRanEvent", "JobStartedEvent", "JobOutputEvent", "JobEndedEvent", "NoticeEvent", "TaskClosedEvent", "ResetEvent", "SessionEndedEvent", "ExtensionEvent", "FilesChangedEvent", "ReplyEvent"]
MessageId = str
ClientId = str
TextKind = Literal["add", "instead", "note", "rule"]
Trigger = TypedDict("Trigger", {"condition": "Condition", "recurrence": "Recurrence"}, total=False)
Condition = str
Recurrence = Literal["once", "every"]
ImageFacts = TypedDict("ImageFacts", {"name": str, "media_type": "ImageType", "bytes": int, "digest": Union["ImageDigest", None]}, total=False)
ImageType = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
ImageDigest = str
Rule = TypedDict("Rule", {"id": "MessageId", "agent": "AgentId", "scope": "RuleScope", "text": str, "version": int}, total=False)
RuleScope = Literal["agent", "tree", "new_agents"]
RuleNews = Literal["holds", "changed", "withdrawn"]
PlanAuthor = Literal["agent", "user"]
Plan = TypedDict("Plan", {"steps": List["PlanStep"], "made": int}, total=False)
PlanStep = TypedDict("PlanStep", {"id": "StepId", "text": str, "state": "StepState"})
StepId = str
StepState = Literal["pending", "running", "done", "struck_out"]
PlanChanged = TypedDict("PlanChanged", {"version": int, "by": "PlanAuthor", "sender": Union["ClientId", None], "summary": str, "plan": "Plan", "known": Union["Plan", None]}, total=False)
PlanNews = Literal["changed", "mode_on", "mode_off"]
PlanNotified = TypedDict("PlanNotified", {"news": "PlanNews", "version": int, "summary": str})
Pending = TypedDict("Pending", {"id": "MessageId", "text": str, "delivery": "Delivery", "kind": "TextKind", "scope": "RuleScope", "trigger": Union["Trigger", None], "sender": Union["ClientId", None], "images": List["ImageFacts"], "held": bool, "stale": bool, "at": str, "during": Union["SentDuring", None], "waits_since": Union[str, None], "met": Union["Trigger", None]}, total=False)
Delivery = Literal["steer", "follow_up", "now"]
SentDuring = TypedDict("SentDuring", {"calls": int, "tool": Union[str, None]}, total=False)
ToolCall = TypedDict("ToolCall", {"id": "CallId", "name": str, "arguments": "Arguments"})
CallId = str
Arguments = Union[Dict[str, Any], str]
Decided = Literal["run", "edited", "skipped", "message", "cancelled"]
Usage = TypedDict("Usage", {"input": Union[int, None], "output": Union[int, None], "cached": Union[int, None], "cache_creation": Union[int, None], "thinking": Union[int, None], "model": Union[str, None], "cost_nanos": Union[int, None]}, total=False)
DiffDetails = TypedDict("DiffDetails", {"kind": Literal["diff"], "path": str, "created": bool, "added": int, "removed": int, "hunks": str})
CommandDetails = TypedDict("CommandDetails", {"kind": Literal["command"], "code": Union[int, None], "signal": Union[str, None], "timed_out": bool, "bytes": int, "lines": Union[int, None], "lines_left_out": int, "killed": int, "saved": Union[str, None], "touched": "TouchedFiles"}, total=False)
PageDetails = TypedDict("PageDetails", {"kind": Literal["page"], "url": str, "status": int, "content_type": str, "bytes": int})
ImagesDetails = TypedDict("ImagesDetails", {"kind": Literal["images"], "images": List["ImageFacts"]})
UnknownDetails = TypedDict("UnknownDetails", {"kind": Literal["unknown"]})
Details = Union["DiffDetails", "CommandDetails", "PageDetails", "ImagesDetails", "UnknownDetails"]
FileDiff = TypedDict("FileDiff", {"path": str, "created": bool, "added": int, "removed": int, "hunks": str})
TouchedFiles = TypedDict("TouchedFiles", {"paths": List[str], "partial": bool})
CommandEnd = TypedDict("CommandEnd", {"code": Union[int, None], "signal": Union[str, None], "timed_out": bool, "bytes": int, "lines": Union[int, None], "lines_left_out": int, "killed": int, "saved": Union[str, None], "touched": "TouchedFiles"}, total=False)
PageFacts = TypedDict("PageFacts", {"url": str, "status": int, "content_type": str, "bytes": int})
ResultPictures = TypedDict("ResultPictures", {"images": List["ImageFacts"]})
Outcome = Literal["completed", "synthesized", "cancelled", "failed"]
UndoneFile = TypedDict("UndoneFile", {"path": str, "undo": "Undo"})
RestoredUndo = TypedDict("RestoredUndo", {"restored": Dict[str, Any]})
FailedUndo = TypedDict("FailedUndo", {"failed": str})
Undo = Union["RestoredUndo", Literal["removed"], Literal["changed_since"], Literal["not_kept"], "FailedUndo"]
HookEvent = Literal["SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "Notification", "PostToolUse", "PostToolUseFailure", "PreCompact", "SubagentStart", "SubagentStop", "Stop", "SessionEnd"]
HookOutcome = Literal["started", "done", "allowed", "asked", "blocked", "failed", "timed_out", "changed"]
HookRun = TypedDict("HookRun", {"hook": "HookEvent", "command": str, "call": Union["CallId", None], "outcome": "HookOutcome", "words": Union[str, None], "elapsed_ms": int}, total=False)
JobId = str
JobOwner = Literal["agent", "user"]
JobStart = TypedDict("JobStart", {"id": "JobId", "command": str, "owner": "JobOwner", "call": Union["CallId", None], "elapsed_ms": Union[int, None]}, total=False)
JobEnding = Literal["itself", "stopped", "timed_out", "failed", "interrupted"]
JobEnd = TypedDict("JobEnd", {"id": "JobId", "ending": "JobEnding", "message": Union[str, None], "end": "CommandEnd", "output": str, "elapsed_ms": int, "notes": List[str]}, total=False)
SendInputLine = TypedDict("SendInputLine", {"id": Any, "type": Literal["send"], "text": str, "delivery": "Delivery", "kind": "TextKind", "scope": "RuleScope", "when": Union["Condition", None], "every": Union["Condition", None], "agent": "AgentId", "images": List[str]}, total=False)
AnswerInputLine = TypedDict("AnswerInputLine", {"id": Any, "type": Literal["answer"], "question": int, "answer": "InputAnswer", "reason": Union[str, None], "arguments": Union[Dict[str, Any], None]}, total=False)
WithdrawInputLine = TypedDict("WithdrawInputLine", {"id": Any, "type": Literal["withdraw"], "message": "MessageId", "agent": "AgentId"}, total=False)
EditInputLine = TypedDict("EditInputLine", {"id": Any, "type": Literal["edit"], "message": "MessageId", "text": str, "delivery": Union["Delivery", None], "kind": Union["TextKind", None], "when": Union["Condition", None], "every": Union["Condition", None], "agent": "AgentId"}, total=False)
RuleInputLine = TypedDict("RuleInputLine", {"id": Any, "type": Literal["rule"], "rule": "MessageId", "text": Union[str, None], "scope": Union["RuleScope", None], "withdraw": bool}, total=False)
PlanInputLine = TypedDict("PlanInputLine", {"id": Any, "type": Literal["plan"], "edit": "PlanEdit", "agent": "AgentId"}, total=False)
PauseInputLine = TypedDict("PauseInputLine", {"id": Any, "type": Literal["pause"], "agent": Union["AgentId", None], "paused": bool}, total=False)
DecideInputLine = TypedDict("DecideInputLine", {"id": Any, "type": Literal["decide"], "agent": "AgentId", "call": Union["CallId", None], "decision": "InputDecision", "arguments": Union["Arguments", None], "reason": Union[str, None]}, total=False)
CancelInputLine = TypedDict("CancelInputLine", {"id": Any, "type": Literal["cancel"], "agent": Union["AgentId", None]}, total=False)
CloseTaskInputLine = TypedDict("CloseTaskInputLine", {"id": Any, "type": Literal["close_task"]}, total=False)
ModelInputLine = TypedDict("ModelInputLine", {"id": Any, "type": Literal["model"], "name": str}, total=False)
BudgetInputLine = TypedDict("BudgetInputLine", {"id": Any, "type": Literal["budget"], "max_cost": Union[float, None], "max_tokens": Union[int, None]}, total=False)
EndInputLine = TypedDict("EndInputLine", {"id": Any, "type": Literal["end"]}, total=False)
InputLine = Union["SendInputLine", "AnswerInputLine", "WithdrawInputLine", "EditInputLine", "RuleInputLine", "PlanInputLine", "PauseInputLine", "DecideInputLine", "CancelInputLine", "CloseTaskInputLine", "ModelInputLine", "BudgetInputLine", "EndInputLine"]
InputAnswer = Literal["yes", "session", "always", "everywhere", "no"]
AddPlanEdit = TypedDict("AddPlanEdit", {"type": Literal["add"], "text": str, "after": Union["StepId", None]}, total=False)
RewordPlanEdit = TypedDict("RewordPlanEdit", {"type": Literal["reword"], "step": "StepId", "text": str})
MarkPlanEdit = TypedDict("MarkPlanEdit", {"type": Literal["mark"], "step": "StepId", "state": "StepState"})
MovePlanEdit = TypedDict("MovePlanEdit", {"type": Literal["move"], "step": "StepId", "shift": "Shift"})
PlanEdit = Union["AddPlanEdit", "RewordPlanEdit", "MarkPlanEdit", "MovePlanEdit"]
Shift = Literal["earlier", "later"]
InputDecision = Literal["run", "edited", "skip"]
RunResult = TypedDict("RunResult", {"session": Union[str, None], "turns": int, "exit_code": int, "outcome": "Outcome", "finish": Union["TurnFinish", None], "answer": Union[str, None], "structured": Any, "usage": "UsageSum", "cost_nanos": Union[int, None], "cost_usd": Union[float, None], "by_model": List["ModelUsage"], "files": List[str], "files_partial": bool, "refused": List["RefusedCall"], "unsent": List["UnsentText"], "duration_ms": int, "error": Union["TurnFault", None], "reason": Union[str, None]}, total=False)
TurnFinish = Literal["stop", "length", "content_filter", "unfinished"]
UsageSum = TypedDict("UsageSum", {"rounds": int, "input": int, "output": int, "cached": int, "cache_creation": int, "thinking": int, "cost_nanos": Union[int, None]}, total=False)
ModelUsage = TypedDict("ModelUsage", {"model": Union[str, None], "usage": "UsageSum"}, total=False)
RefusedCall = TypedDict("RefusedCall", {"agent": "AgentId", "id": "CallId", "name": Union[str, None], "kind": "CallFault", "reason": str}, total=False)
CallFault = Literal["refused", "declined", "invalid", "failed", "cancelled"]
UnsentText = TypedDict("UnsentText", {"id": "MessageId", "text": str, "delivery": "Delivery", "kind": "TextKind", "trigger": Union["Trigger", None], "sender": Union["ClientId", None]}, total=False)
TurnFault = TypedDict("TurnFault", {"kind": "TurnFaultKind", "status": Union[int, None], "retryable": bool}, total=False)
TurnFaultKind = Literal["unreachable", "authentication", "rate_limit", "quota", "context", "request", "server", "configuration", "budget", "steps", "rounds", "hook", "internal"]
PermissionQuestion = TypedDict("PermissionQuestion", {"session": Union[str, None], "agent": "AgentId", "call": Union["CallId", None], "number": int, "kind": str, "directory": Union[str, None], "reason": Union[str, None], "text": str, "subject": Any, "detail": Union[str, None], "offer": Union[str, None], "rule": Union[str, None]}, total=False)
PermissionAnswer = TypedDict("PermissionAnswer", {"answer": "InputAnswer", "reason": Union[str, None], "arguments": Union[Dict[str, Any], None]}, total=False)
CallError = TypedDict("CallError", {"kind": "CallFault"})
ChangedFile = TypedDict("ChangedFile", {"path": str, "created": Union[bool, None], "added": Union[int, None], "removed": Union[int, None]}, total=False)

# --- end of types


def main() -> int:
    """Reads a prompt from standard input, runs one turn and writes its answer: `steersman.py PROGRAM ARGUMENTS`."""
    with Steersman(*sys.argv[2:], program=sys.argv[1]) as run:
        run.ask(sys.stdin.read())
    print(run.result["answer"])
    return run.result["exit_code"]


if __name__ == "__main__":
    sys.exit(main())
