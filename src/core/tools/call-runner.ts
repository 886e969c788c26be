/** Carries out the calls that a model asks for in a turn: checked, kept before they are sent, shown to the readers. */
import type { CallEnd } from "../../contracts/store/store.ts";
import type { Companion } from "../../domain/companion.ts";
import type { JsonObject } from "../../domain/json.ts";
import {
  type AnsweredCall,
  type AskedCall,
  type CallOutcome,
  maxCallsPerTurn,
  readArguments,
  type ToolCall,
  titleOfCall,
} from "../../domain/tool.ts";
import type { StopSignal } from "../../lib/stop-signal.ts";
import type { Services } from "../dependencies.ts";
import type { NamedEvent } from "../turns/events.ts";
import type { TurnCaller, TurnStart } from "../turns/turn-start.ts";
import { unanswered } from "./given-results.ts";
import type { OpenTool } from "./toolbox.ts";

export type CallRunnerServices = Pick<Services, "clock" | "ids" | "log" | "toolbox">;

/** A call that can be sent. */
export interface ReadyCall {
  readonly open: OpenTool;
  readonly call: ToolCall;
  readonly given: JsonObject;
}

interface PlannedCall {
  readonly asked: AskedCall;
  /** Null for one that is answered without being sent. */
  ready: ReadyCall | null;
  /** Null until it has one. */
  answer: CallResult | null;
}

interface CallResult {
  /** What the model gets. */
  readonly result: string;
  readonly outcome: CallOutcome;
}

export interface RanCalls {
  readonly answered: readonly AnsweredCall[];
  /** Whether the visitor is to decide on one of them, which has no answer before. */
  readonly isPaused: boolean;
}

const oneAtATime = "The visitor has not decided about another call yet. Ask for this one afterwards.";

/** Of a turn that was stopped while its calls were being kept. */
const unsent: CallEnd = {
  state: "failed",
  result: "The reply was stopped before. Nothing was called.",
  durationMs: null,
};

export class CallRunner {
  /** Whether there was a call that may have done something, or that the visitor is to decide on. */
  hasCalled = false;
  #count = 0;

  constructor(
    private readonly services: CallRunnerServices,
    private readonly start: TurnStart,
    private readonly tools: readonly OpenTool[],
    /** Called with what becomes of the calls. */
    private readonly note: (event: NamedEvent) => void,
  ) {}

  /** Null if the turn was stopped meanwhile; what was sent goes on, and is kept. */
  async run(asked: readonly AskedCall[], signal: StopSignal): Promise<RanCalls | null> {
    const planned: PlannedCall[] = [];
    let waiting: ReadyCall | null = null;
    for (const one of asked) {
      const plan = await this.#plan(one, waiting !== null);
      if (plan.ready?.call.state === "waiting") waiting = plan.ready;
      planned.push(plan);
    }
    const ready = planned.flatMap((plan) => plan.ready ?? []);
    if (ready.length > 0) {
      await this.start.storage.calls?.begin(ready.map(({ call }) => call));
      this.hasCalled = true;
    }
    if (signal.aborted) {
      await Promise.all(ready.map(({ call }) => this.finish(call.id, unsent)));
      return null;
    }
    const sent = planned.map(async (plan) => {
      if (plan.ready !== null && plan.ready !== waiting) plan.answer = await this.send(plan.ready);
    });
    if (!(await raceWith(signal, Promise.all(sent)))) return null;
    if (waiting !== null) {
      const { open, call, given } = waiting;
      const title = titleOfCall(open.tool, call.tool);
      this.note({ type: "confirm", callId: call.id, tool: call.tool, title, arguments: given });
    }
    const answered = planned.flatMap(({ asked: one, answer }) => (answer === null ? [] : { ...one, ...answer }));
    return { answered, isPaused: waiting !== null };
  }

  /** Resolves with what the model gets; null if the turn was stopped meanwhile, as in `run`. */
  async runOne(ready: ReadyCall, signal: StopSignal): Promise<string | null> {
    const sent = this.send(ready);
    return (await raceWith(signal, sent)) ? (await sent).result : null;
  }

  /** Never rejects, and goes on when no one waits for it any more. */
  send(ready: ReadyCall): Promise<CallResult> {
    const sent = this.#send(ready);
    this.services.toolbox.watch(sent);
    return sent;
  }

  async #send({ open, call, given }: ReadyCall): Promise<CallResult> {
    const { clock, log } = this.services;
    const { companion, requestId } = this.start;
    this.note({ type: "tool", callId: call.id, name: call.tool, state: "running" });
    const startedMs = clock.monotonicMs();
    const answer = await open.call(call.id, given, () => toCallBody(this.start, call, given, clock.nowMs()));
    const durationMs = Math.round(clock.monotonicMs() - startedMs);
    const isDone = answer.outcome === "done";
    const end: CallEnd = {
      state: answer.outcome,
      result: isDone ? answer.result : answer.sentence,
      durationMs,
    };
    if (!isDone) {
      const where = { requestId, companionId: companion.id, toolId: open.tool.id, callId: call.id };
      log.info("tool call failed", { ...where, durationMs, reason: answer.reason });
    }
    await this.finish(call.id, end);
    this.note({ type: "tool", callId: call.id, name: call.tool, state: answer.outcome });
    return { result: end.result, outcome: answer === unanswered ? "unanswered" : answer.outcome };
  }

  /** Never rejects: the model has its answer all the same. */
  async finish(id: string, end: CallEnd): Promise<void> {
    try {
      await this.start.storage.calls?.finish(id, end);
    } catch (error) {
      this.services.log.error("end of a tool call not kept", { requestId: this.start.requestId, callId: id, error });
    }
  }

  async #plan(asked: AskedCall, isOneWaiting: boolean): Promise<PlannedCall> {
    const refuse = (result: string): PlannedCall => ({ asked, ready: null, answer: { result, outcome: "refused" } });
    const open = this.tools.find(({ offered }) => offered.name === asked.name);
    if (open === undefined) return refuse("There is no tool with that name.");
    const given = readArguments(asked.arguments);
    if (given === null) return refuse("The arguments are not a JSON object. Nothing was called.");
    const fault = await open.findFault(given);
    if (fault !== null) return refuse(`The arguments are invalid, and nothing was called: ${fault}`);
    if (this.#count >= maxCallsPerTurn)
      return refuse("There were too many calls for one reply. Answer without this one.");
    if (open.tool.confirm && isOneWaiting) return refuse(oneAtATime);
    this.#count++;
    const { ids, clock } = this.services;
    const call: ToolCall = {
      id: ids.uuid(),
      toolId: open.tool.id,
      tool: asked.name,
      arguments: JSON.stringify(given),
      result: null,
      state: open.tool.confirm ? "waiting" : "running",
      durationMs: null,
      createdAt: clock.nowMs(),
    };
    return { asked, ready: { open, call, given }, answer: null };
  }
}

/** What the owner's server is sent. */
export function toCallBody(
  { companion, caller = null }: { companion: Pick<Companion, "id" | "metadata">; caller?: TurnCaller | null },
  { id: call_id, tool }: Pick<ToolCall, "id" | "tool">,
  given: JsonObject,
  nowMs: number,
): string {
  const { sub = null, attributes = {} } = caller?.visitor ?? {};
  return JSON.stringify({
    type: "tool.call",
    timestamp: new Date(nowMs).toISOString(),
    data: {
      ...{ tool, arguments: given, call_id },
      companion: { id: companion.id, metadata: companion.metadata },
      session_id: caller?.sessionId ?? null,
      visitor: { sub, verified: sub !== null, attributes },
    },
  });
}

/** Whether the work ended first. */
async function raceWith(signal: StopSignal, work: Promise<unknown>): Promise<boolean> {
  if (signal.aborted) return false;
  const stopped = Promise.withResolvers<false>();
  const listener = { handleEvent: () => stopped.resolve(false) };
  signal.addEventListener("abort", listener);
  try {
    return await Promise.race([work.then(() => true), stopped.promise]);
  } finally {
    signal.removeEventListener("abort", listener);
  }
}
