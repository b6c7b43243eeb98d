// A client of `steersman exec`: sends texts while the agent works, answers its questions, reads its events.
//
// One file without packages; Node 22.6 or later runs it as it is (`--experimental-strip-types` before 22.18). The types are
// made from `steersman exec --schema`.
//
//     import { Steersman } from "./steersman.ts";
//
//     const run = new Steersman(["--model", "qwen3"]);
//     const turn = await run.ask("Which files are large?", { onQuestion: () => "yes" });
//     console.log(turn.answer);
//     await run.close();

import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

/** An event of one type. */
export type EventOf<T extends Event["type"]> = Extract<Event, { type: T }>;
/** A request without its id. */
export type Request = InputLine extends infer Line ? (Line extends unknown ? Omit<Line, "id"> : never) : never;
/** What else a text can say. */
export type SendOptions = Partial<Omit<Extract<InputLine, { type: "send" }>, "id" | "type" | "text">>;

/**
 * A run of `steersman exec`. Iterating over it yields the lines, until the run has ended; requests return their reply.
 *
 * `args` are the arguments of `exec`; the first prompt can be one, or be sent.
 */
export class Steersman implements AsyncIterable<Envelope> {
  /** The result, once the run has ended. */
  result: EventOf<"session_ended"> | undefined;
  #process: ChildProcess;
  #lines: Envelope[] = [];
  #replies = new Map<number, (reply: EventOf<"reply">) => void>();
  #requests = 0;
  #isOver = false;
  #wake: (() => void)[] = [];

  constructor(args: string[] = [], program = "steersman") {
    this.#process = spawn(program, ["exec", "--input", "json", ...args], { stdio: ["pipe", "pipe", "inherit"] });
    // A program that does not start, and one that is gone, end the lines too.
    this.#process.on("error", () => this.#end());
    this.#process.stdin!.on("error", () => {});
    const lines = createInterface({ input: this.#process.stdout!, crlfDelay: Infinity });
    lines.on("line", (line) => this.#take(JSON.parse(line)));
    lines.on("close", () => this.#end());
  }

  /** Sends a text: it starts a turn, or enters the one that runs. */
  send(text: string, options: SendOptions = {}): Promise<EventOf<"reply">> {
    return this.request({ type: "send", text, ...options } as Request);
  }

  /** Answers a question by its number. */
  answer(question: number, answer: InputAnswer, reason?: string): Promise<EventOf<"reply">> {
    return this.request({ type: "answer", question, answer, reason } as Request);
  }

  /** Stops the turn; what waited is in the reply. */
  cancel(): Promise<EventOf<"reply">> {
    return this.request({ type: "cancel" } as Request);
  }

  /** Makes any request and waits for its reply. After the end of the run it is refused. */
  request(request: Request): Promise<EventOf<"reply">> {
    const id = ++this.#requests;
    return new Promise((resolve) => {
      if (this.#isOver) {
        resolve(refused(id));
        return;
      }
      this.#replies.set(id, resolve);
      this.#process.stdin!.write(JSON.stringify({ id, ...request }) + "\n");
    });
  }

  /**
   * Sends a text to the main agent and returns the end of the turn that it enters. Questions are answered by `onQuestion`,
   * without one with a no. The lines read meanwhile are not kept.
   */
  async ask(
    text: string,
    options: SendOptions & { onQuestion?: (question: EventOf<"question">) => InputAnswer | Promise<InputAnswer> } = {},
  ): Promise<EventOf<"turn_ended">> {
    const { onQuestion, ...members } = options;
    const reply = await this.send(text, members);
    if (!reply.ok) throw new Error(reply.reason ?? "the text was refused");
    let isDelivered = false;
    for await (const { agent, event } of this) {
      if (event.type === "question") {
        await this.answer(event.number, onQuestion ? await onQuestion(event) : "no");
      } else if (event.type === "user_turn") {
        isDelivered ||= event.id === reply.message;
      } else if (event.type === "returned" && event.entries.some((entry) => entry.id === reply.message)) {
        break;
      } else if (event.type === "turn_ended" && agent === "" && isDelivered) {
        return event;
      }
    }
    throw new Error(this.result?.reason ?? "the text was not delivered");
  }

  /** Ends the run after what is under way, and returns its result. */
  async close(): Promise<EventOf<"session_ended"> | undefined> {
    await this.request({ type: "end" } as Request);
    for await (const _ of this);
    return this.result;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Envelope, void, undefined> {
    for (;;) {
      const line = this.#lines.shift();
      if (line !== undefined) yield line;
      else if (this.#isOver) return;
      else await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  #take(line: Envelope): void {
    const { event } = line;
    if (event.type === "reply") {
      this.#replies.get(event.id as number)?.(event);
      this.#replies.delete(event.id as number);
      return;
    }
    if (event.type === "session_ended") this.result = event;
    this.#lines.push(line);
    this.#wakeAll();
  }

  #end(): void {
    this.#isOver = true;
    for (const [id, resolve] of this.#replies) resolve(refused(id));
    this.#replies.clear();
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

function refused(id: number): EventOf<"reply"> {
  return { type: "reply", id, ok: false, reason: "the run is over" };
}

// --- types, made from the schema

export type Envelope = { seq: number; at: string; agent: AgentId; parent?: AgentId | null; event: Event; session?: string | null; turn?: number | null; round?: number | null };
export type AgentId = string;
export type Event =
  | { type: "session_started"; schema: number; program: string; cwd: string; provider: string; model?: string | null; max_steps?: number | null; tools: string[]; cut_bytes?: number; cut?: unknown[] }
  | { type: "turn_started"; turn: number; cut_bytes?: number; cut?: unknown[] }
  | { type: "round_started"; turn: number; round: number; cut_bytes?: number; cut?: unknown[] }
  | { type: "round_ended"; turn: number; round: number; cut_bytes?: number; cut?: unknown[] }
  | { type: "user_turn"; content: string; mid_loop: boolean; injection?: MessageId | null; step?: number; after?: string | null; sender?: ClientId | null; kind?: TextKind; met?: Trigger | null; images?: ImageFacts[]; id?: MessageId | null; text: string; cut_bytes?: number; cut?: unknown[] }
  | { type: "rules"; rules: Rule[]; cut_bytes?: number; cut?: unknown[] }
  | { type: "rule_told"; id: MessageId; news: RuleNews; text?: string | null; cut_bytes?: number; cut?: unknown[] }
  | { type: "plan_changed"; cut_bytes?: number; cut?: unknown[]; version: number; by: PlanAuthor; sender?: ClientId | null; summary: string; plan: Plan; known?: Plan | null }
  | { type: "plan_told"; cut_bytes?: number; cut?: unknown[]; news: PlanNews; version: number; summary: string }
  | { type: "seen"; injections: MessageId[]; step: number; ids: MessageId[]; cut_bytes?: number; cut?: unknown[] }
  | { type: "returned"; entries: Pending[]; cut_bytes?: number; cut?: unknown[] }
  | { type: "parked"; call?: ToolCall | null; cut_bytes?: number; cut?: unknown[] }
  | { type: "unparked"; decision: Decided; cut_bytes?: number; cut?: unknown[] }
  | { type: "thinking_delta"; text: string; cut_bytes?: number; cut?: unknown[] }
  | { type: "assistant_delta"; text: string; cut_bytes?: number; cut?: unknown[] }
  | { type: "thinking"; text: string; cut_bytes?: number; cut?: unknown[] }
  | { type: "assistant"; text: string; interrupted: boolean; cut_bytes?: number; cut?: unknown[] }
  | { type: "tokens"; cut_bytes?: number; cut?: unknown[]; input?: number | null; output?: number | null; cached?: number | null; cache_creation?: number | null; thinking?: number | null; model?: string | null; cost_nanos?: number | null }
  | { type: "tool_call"; id: CallId; name: string; arguments: Arguments; cut_bytes?: number; cut?: unknown[] }
  | { type: "tool_progress"; id: CallId; text: string; cut_bytes?: number; cut?: unknown[] }
  | { type: "tool_details"; id: CallId; details: Details; cut_bytes?: number; cut?: unknown[] }
  | { type: "tool_result"; id: CallId; content: string; is_error: boolean; elapsed_ms: number; name?: string | null; text: string; error?: CallError | null; cut_bytes?: number; cut?: unknown[] }
  | { type: "agent_spawned"; child: AgentId; persona: string; task: string; call?: CallId | null; model?: string | null; max_steps?: number | null; tools: string[]; agent: AgentId; text: string; cut_bytes?: number; cut?: unknown[] }
  | { type: "agent_finished"; child: AgentId; outcome: Outcome; message?: string | null; agent: AgentId; reason?: string | null; cut_bytes?: number; cut?: unknown[] }
  | { type: "agent_backgrounded"; child: AgentId; cut_bytes?: number; cut?: unknown[] }
  | { type: "agent_answered"; child: AgentId; outcome: Outcome; answer: string; cut_bytes?: number; cut?: unknown[] }
  | { type: "context_cap"; tokens?: number | null; cut_bytes?: number; cut?: unknown[] }
  | { type: "fallback_notice"; reason: string; cut_bytes?: number; cut?: unknown[] }
  | { type: "retrying"; attempt: number; after_ms: number; reason: string; cut_bytes?: number; cut?: unknown[] }
  | { type: "cancelled"; cut_bytes?: number; cut?: unknown[] }
  | { type: "turn_ended"; turn: number; outcome: Outcome; message?: string | null; answer?: string | null; structured?: unknown; finish?: TurnFinish | null; usage: UsageSum; error?: TurnFault | null; reason?: string | null; cut_bytes?: number; cut?: unknown[] }
  | { type: "pending"; entries: Pending[]; cut_bytes?: number; cut?: unknown[] }
  | { type: "guards"; mode: string; sandbox?: string | null; context_files: string[]; cut_bytes?: number; cut?: unknown[] }
  | { type: "question"; id: string; question: string; detail?: string | null; call?: CallId | null; offer?: string | null; rule?: string | null; number: number; kind: string; directory?: string | null; reason?: string | null; text: string; subject: unknown; cut_bytes?: number; cut?: unknown[] }
  | { type: "answer"; id: string; answer: string; words?: string | null; number: number; by: string; reason?: string | null; cut_bytes?: number; cut?: unknown[] }
  | { type: "step_limit"; max: number; cut_bytes?: number; cut?: unknown[] }
  | { type: "model_switched"; from?: string | null; to?: string | null; provider?: string | null; cut_bytes?: number; cut?: unknown[] }
  | { type: "compacting"; messages: number; cut_bytes?: number; cut?: unknown[] }
  | { type: "compacted"; before?: number | null; after?: number | null; messages?: number; summary?: string; text: string; cut_bytes?: number; cut?: unknown[] }
  | { type: "context_size"; tokens: number; estimated: boolean; cut_bytes?: number; cut?: unknown[] }
  | { type: "changes_undone"; turn?: number | null; files: UndoneFile[]; cut_bytes?: number; cut?: unknown[] }
  | { type: "hook_ran"; cut_bytes?: number; cut?: unknown[]; hook: HookEvent; command: string; call?: CallId | null; outcome: HookOutcome; words?: string | null; elapsed_ms: number }
  | { type: "job_started"; cut_bytes?: number; cut?: unknown[]; id: JobId; command: string; owner: JobOwner; call?: CallId | null; elapsed_ms?: number | null }
  | { type: "job_output"; id: JobId; text: string; cut_bytes?: number; cut?: unknown[] }
  | { type: "job_ended"; cut_bytes?: number; cut?: unknown[]; id: JobId; ending: JobEnding; message?: string | null; end: CommandEnd; output?: string; elapsed_ms: number; notes?: string[] }
  | { type: "notice"; text: string; cut_bytes?: number; cut?: unknown[] }
  | { type: "task_closed"; cut_bytes?: number; cut?: unknown[] }
  | { type: "reset"; cut_bytes?: number; cut?: unknown[] }
  | { type: "session_ended"; code: number; message?: string | null; session?: string | null; turns: number; exit_code: number; outcome: Outcome; finish?: TurnFinish | null; answer?: string | null; structured?: unknown; usage: UsageSum; cost_nanos?: number | null; cost_usd?: number | null; by_model: ModelUsage[]; files: string[]; files_partial: boolean; refused: RefusedCall[]; unsent: UnsentText[]; duration_ms: number; error?: TurnFault | null; reason?: string | null; cut_bytes?: number; cut?: unknown[] }
  | { type: "extension"; name: string; payload: unknown; cut_bytes?: number; cut?: unknown[] }
  | { type: "files_changed"; id: CallId; files: ChangedFile[]; partial: boolean; cut_bytes?: number; cut?: unknown[] }
  | { type: "reply"; id: unknown; ok: boolean; message?: MessageId | null; returned?: Pending[]; reason?: string | null; cut_bytes?: number; cut?: unknown[] };
export type MessageId = string;
export type ClientId = string;
export type TextKind = "add" | "instead" | "note" | "rule";
export type Trigger = { condition: Condition; recurrence?: Recurrence };
export type Condition = string;
export type Recurrence = "once" | "every";
export type ImageFacts = { name: string; media_type: ImageType; bytes: number; digest?: ImageDigest | null };
export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";
export type ImageDigest = string;
export type Rule = { id: MessageId; agent?: AgentId; scope?: RuleScope; text: string; version?: number };
export type RuleScope = "agent" | "tree" | "new_agents";
export type RuleNews = "holds" | "changed" | "withdrawn";
export type PlanAuthor = "agent" | "user";
export type Plan = { steps: PlanStep[]; made?: number };
export type PlanStep = { id: StepId; text: string; state: StepState };
export type StepId = string;
export type StepState = "pending" | "running" | "done" | "struck_out";
export type PlanChanged = { version: number; by: PlanAuthor; sender?: ClientId | null; summary: string; plan: Plan; known?: Plan | null };
export type PlanNews = "changed" | "mode_on" | "mode_off";
export type PlanNotified = { news: PlanNews; version: number; summary: string };
export type Pending = { id: MessageId; text: string; delivery?: Delivery; kind?: TextKind; scope?: RuleScope; trigger?: Trigger | null; sender?: ClientId | null; images?: ImageFacts[]; held: boolean; stale?: boolean; at: string; during?: SentDuring | null; waits_since?: string | null; met?: Trigger | null };
export type Delivery = "steer" | "follow_up" | "now";
export type SentDuring = { calls: number; tool?: string | null };
export type ToolCall = { id: CallId; name: string; arguments: Arguments };
export type CallId = string;
export type Arguments = Record<string, unknown> | string;
export type Decided = "run" | "edited" | "skipped" | "message" | "cancelled";
export type Usage = { input?: number | null; output?: number | null; cached?: number | null; cache_creation?: number | null; thinking?: number | null; model?: string | null; cost_nanos?: number | null };
export type Details =
  | { kind: "diff"; path: string; created: boolean; added: number; removed: number; hunks: string }
  | { kind: "command"; code?: number | null; signal?: string | null; timed_out: boolean; bytes: number; lines?: number | null; lines_left_out?: number; killed: number; saved?: string | null; touched?: TouchedFiles }
  | { kind: "page"; url: string; status: number; content_type: string; bytes: number }
  | { kind: "images"; images: ImageFacts[] }
  | { kind: "unknown" };
export type FileDiff = { path: string; created: boolean; added: number; removed: number; hunks: string };
export type TouchedFiles = { paths: string[]; partial: boolean };
export type CommandEnd = { code?: number | null; signal?: string | null; timed_out: boolean; bytes: number; lines?: number | null; lines_left_out?: number; killed: number; saved?: string | null; touched?: TouchedFiles };
export type PageFacts = { url: string; status: number; content_type: string; bytes: number };
export type ResultPictures = { images: ImageFacts[] };
export type Outcome = "completed" | "synthesized" | "cancelled" | "failed";
export type UndoneFile = { path: string; undo: Undo };
export type Undo =
  | { restored: { bytes: number } }
  | "removed"
  | "changed_since"
  | "not_kept"
  | { failed: string };
export type HookEvent = "SessionStart" | "UserPromptSubmit" | "PreToolUse" | "PermissionRequest" | "Notification" | "PostToolUse" | "PostToolUseFailure" | "PreCompact" | "SubagentStart" | "SubagentStop" | "Stop" | "SessionEnd";
export type HookOutcome = "started" | "done" | "allowed" | "asked" | "blocked" | "failed" | "timed_out" | "changed";
export type HookRun = { hook: HookEvent; command: string; call?: CallId | null; outcome: HookOutcome; words?: string | null; elapsed_ms: number };
export type JobId = string;
export type JobOwner = "agent" | "user";
export type JobStart = { id: JobId; command: string; owner: JobOwner; call?: CallId | null; elapsed_ms?: number | null };
export type JobEnding = "itself" | "stopped" | "timed_out" | "failed" | "interrupted";
export type JobEnd = { id: JobId; ending: JobEnding; message?: string | null; end: CommandEnd; output?: string; elapsed_ms: number; notes?: string[] };
export type InputLine =
  | { id?: unknown; type: "send"; text: string; delivery?: Delivery; kind?: TextKind; scope?: RuleScope; when?: Condition | null; every?: Condition | null; agent?: AgentId; images?: string[] }
  | { id?: unknown; type: "answer"; question: number; answer: InputAnswer; reason?: string | null; arguments?: Record<string, unknown> | null }
  | { id?: unknown; type: "withdraw"; message: MessageId; agent?: AgentId }
  | { id?: unknown; type: "edit"; message: MessageId; text: string; delivery?: Delivery | null; kind?: TextKind | null; when?: Condition | null; every?: Condition | null; agent?: AgentId }
  | { id?: unknown; type: "rule"; rule: MessageId; text?: string | null; scope?: RuleScope | null; withdraw?: boolean }
  | { id?: unknown; type: "plan"; edit: PlanEdit; agent?: AgentId }
  | { id?: unknown; type: "pause"; agent?: AgentId | null; paused?: boolean }
  | { id?: unknown; type: "decide"; agent?: AgentId; call?: CallId | null; decision: InputDecision; arguments?: Arguments | null; reason?: string | null }
  | { id?: unknown; type: "cancel"; agent?: AgentId | null }
  | { id?: unknown; type: "close_task" }
  | { id?: unknown; type: "model"; name: string }
  | { id?: unknown; type: "budget"; max_cost?: number | null; max_tokens?: number | null }
  | { id?: unknown; type: "end" };
export type InputAnswer = "yes" | "session" | "always" | "everywhere" | "no";
export type PlanEdit =
  | { type: "add"; text: string; after?: StepId | null }
  | { type: "reword"; step: StepId; text: string }
  | { type: "mark"; step: StepId; state: StepState }
  | { type: "move"; step: StepId; shift: Shift };
export type Shift = "earlier" | "later";
export type InputDecision = "run" | "edited" | "skip";
export type RunResult = { session?: string | null; turns: number; exit_code: number; outcome: Outcome; finish?: TurnFinish | null; answer?: string | null; structured?: unknown; usage: UsageSum; cost_nanos?: number | null; cost_usd?: number | null; by_model: ModelUsage[]; files: string[]; files_partial: boolean; refused: RefusedCall[]; unsent: UnsentText[]; duration_ms: number; error?: TurnFault | null; reason?: string | null };
export type TurnFinish = "stop" | "length" | "content_filter" | "unfinished";
export type UsageSum = { rounds: number; input: number; output: number; cached: number; cache_creation: number; thinking: number; cost_nanos?: number | null };
export type ModelUsage = { model?: string | null; usage: UsageSum };
export type RefusedCall = { agent: AgentId; id: CallId; name?: string | null; kind?: CallFault; reason: string };
export type CallFault = "refused" | "declined" | "invalid" | "failed" | "cancelled";
export type UnsentText = { id: MessageId; text: string; delivery: Delivery; kind?: TextKind; trigger?: Trigger | null; sender?: ClientId | null };
export type TurnFault = { kind: TurnFaultKind; status?: number | null; retryable: boolean };
export type TurnFaultKind = "unreachable" | "authentication" | "rate_limit" | "quota" | "context" | "request" | "server" | "configuration" | "budget" | "steps" | "rounds" | "hook" | "internal";
export type PermissionQuestion = { session?: string | null; agent: AgentId; call?: CallId | null; number: number; kind: string; directory?: string | null; reason?: string | null; text: string; subject: unknown; detail?: string | null; offer?: string | null; rule?: string | null };
export type PermissionAnswer = { answer: InputAnswer; reason?: string | null; arguments?: Record<string, unknown> | null };
export type CallError = { kind: CallFault };
export type ChangedFile = { path: string; created?: boolean | null; added?: number | null; removed?: number | null };

// --- end of types

// `node steersman.ts PROGRAM ARGUMENTS` reads a prompt from standard input, runs one turn and writes its answer.
if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  let prompt = "";
  for await (const chunk of process.stdin) prompt += chunk;
  const run = new Steersman(process.argv.slice(3), process.argv[2]);
  await run.ask(prompt);
  const result = await run.close();
  console.log(result?.answer);
  process.exitCode = result?.exit_code ?? 1;
}
