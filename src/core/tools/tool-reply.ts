/** A reply whose model may call tools: asked, its calls carried out, and asked again, within bounds. */
import type { ReplyEvent, ReplySink } from "../../contracts/llm/provider.ts";
import { AppError } from "../../domain/errors.ts";
import { findCharged } from "../../domain/reply-failure.ts";
import { maxRounds, maxRoundsMs, type ToolCall, type ToolRound } from "../../domain/tool.ts";
import { noTokens } from "../../domain/usage.ts";
import type { StopSignal } from "../../lib/stop-signal.ts";
import type { Services } from "../dependencies.ts";
import type { AskedReply } from "../turns/admission.ts";
import type { NamedEvent } from "../turns/events.ts";
import type { CallServices } from "../turns/reply-calls.ts";
import { type CallKeeper, nobody, type ReplySource, type TurnOutcome, type TurnStart } from "../turns/turn-start.ts";
import { readArguments } from "./call-arguments.ts";
import { CallRunner, type CallRunnerServices } from "./call-runner.ts";
import type { OpenTool } from "./toolbox.ts";

export type ToolServices = CallServices & CallRunnerServices & Pick<Services, "toolbox">;

/** What a turn with tools has of its reply's readers. */
interface Readers {
  note(event: NamedEvent): void;
  /** Ends the turn with a reason of the server's. */
  stop(code: "unavailable", error: AppError): void;
}

/** Where the reply of a turn comes from that may use tools; what is asked without them, if there are none for it. */
export async function openToolReply(
  services: ToolServices,
  start: TurnStart,
  asked: AskedReply,
  readers: Readers,
): Promise<ReplySource> {
  const { companion, caller = nobody, requestId, decision } = start;
  if (await start.keeper.calls?.adopt()) return leftBehind(readers);
  const tools = await services.toolbox.open(companion, caller, requestId);
  return tools.length === 0 && decision === undefined ? asked : new ToolReply(services, start, asked, tools, readers);
}

/** Of a message whose calls were sent by a server that stopped: what they did must not be done again. */
function leftBehind(readers: Readers): ReplySource {
  return {
    isCharged: false,
    async reply() {
      readers.stop("unavailable", new AppError("unavailable", "The server stopped while the companion's tools ran."));
      return { complete: false, usage: noTokens, answeredBy: null, finishReason: null, failure: null };
    },
  };
}

class ToolReply implements ReplySource {
  readonly isCharged = true;
  readonly #rounds: ToolRound[] = [];
  readonly #runner: CallRunner;

  constructor(
    private readonly services: ToolServices,
    private readonly start: TurnStart,
    private readonly asked: AskedReply,
    private readonly tools: readonly OpenTool[],
    private readonly readers: Readers,
  ) {
    this.#runner = new CallRunner(services, start, tools, (event) => readers.note(event));
  }

  async reply(sink: ReplySink, signal: StopSignal): Promise<TurnOutcome> {
    const { clock } = this.services;
    const { request } = this.asked;
    const { decision, keeper } = this.start;
    if (decision !== undefined && keeper.calls !== undefined) await this.#begin(keeper.calls, decision);
    const startedMs = clock.monotonicMs();
    const said = new RoundSink(sink);
    for (;;) {
      const mayCall = this.#rounds.length < maxRounds && clock.monotonicMs() - startedMs < maxRoundsMs;
      request.tools = mayCall ? this.tools.map(({ offered }) => offered) : [];
      request.rounds = [...this.#rounds];
      const outcome = await this.#ask(said, signal);
      const calls = outcome.calls ?? [];
      if (!outcome.complete || calls.length === 0 || !mayCall) return outcome;
      const ran = await this.#runner.run(calls, signal);
      if (ran === null) return { ...outcome, complete: false };
      if (ran.isPaused) return { ...outcome, isPaused: true };
      this.#rounds.push({ text: said.endRound(), calls: ran.answered, carry: outcome.carry ?? null });
      if (!(await this.#goesOn(outcome))) return { ...outcome, usage: noTokens, complete: false };
    }
  }

  /** What is known of the call's reply, with what comes of it now. */
  async #begin(keeper: CallKeeper, decision: NonNullable<TurnStart["decision"]>): Promise<void> {
    const { call, calls } = await keeper.decide(decision);
    const result = decision.isApproved
      ? await this.#send(call)
      : "The visitor does not want this call. Nothing was called.";
    const answered = calls.map(({ id, tool: name, arguments: given, result: known }) => ({
      ...{ id, name, arguments: given },
      result: (id === call.id ? result : known) ?? "This call has no result.",
    }));
    this.#rounds.push({ text: "", calls: answered, carry: null });
  }

  async #send(call: ToolCall): Promise<string> {
    const open = await this.services.toolbox.find(this.start.companion, call.toolId, call.tool);
    if (open !== null) return await this.#runner.send({ open, call, given: readArguments(call.arguments) ?? {} });
    const result = "The tool no longer exists. Nothing was called.";
    await this.#runner.finish(call.id, { state: "failed", result, durationMs: null });
    return result;
  }

  /** A failure after a call leaves a reply that broke off: the message stays, since something was done for it. */
  async #ask(sink: ReplySink, signal: StopSignal): Promise<TurnOutcome> {
    try {
      return await this.asked.reply(sink, signal);
    } catch (failure) {
      if (this.#rounds.length === 0) throw failure;
      const charged = findCharged(failure) ?? { answeredBy: this.asked.countedBefore, usage: noTokens };
      return { ...charged, complete: false, finishReason: null, failure };
    }
  }

  /** Counts the round, and asks whether there may be another one, at whoever answered this one. */
  async #goesOn(outcome: TurnOutcome): Promise<boolean> {
    const { request } = this.asked;
    const { answeredBy } = outcome;
    if (answeredBy === null) return false;
    request.answerer = answeredBy;
    const bound = this.services.llm.listBounds(request).find(({ answerer }) => isSame(answerer, answeredBy));
    const { maxOutputTokens } = bound ?? request;
    const before = { ...outcome, answeredBy };
    const isPermitted = await this.asked.permit({ answerer: answeredBy, maxOutputTokens, before });
    if (!isPermitted) {
      const sentence = "What may be spent is used up: the reply ends after its tools were called.";
      this.readers.stop("unavailable", new AppError("budget_exceeded", sentence));
    }
    return isPermitted;
  }
}

function isSame(a: NonNullable<TurnOutcome["answeredBy"]>, b: NonNullable<TurnOutcome["answeredBy"]>): boolean {
  return a.provider === b.provider && a.model === b.model;
}

/** Longer texts before a call are not sent back whole: models rarely write a sentence there. */
const maxRoundUnits = 16 * 1024;

/** Passes a reply's text on, knows that of the round, and puts a blank line between two rounds that both have words. */
class RoundSink implements ReplySink {
  #text = "";
  #isBetween = false;
  #hasText = false;

  constructor(private readonly sink: ReplySink) {}

  emit({ type, deltas }: ReplyEvent): Promise<unknown> | undefined {
    if (this.#text.length < maxRoundUnits) this.#text += deltas.join("").slice(0, maxRoundUnits);
    const parts = this.#isBetween && this.#hasText ? ["\n\n", ...deltas] : deltas;
    this.#isBetween = false;
    this.#hasText = true;
    return this.sink.emit({ type, deltas: parts });
  }

  endRound(): string {
    const text = this.#text.toWellFormed();
    this.#text = "";
    this.#isBetween = true;
    return text;
  }
}
