/** A reply whose model may call tools: asked, its calls carried out, and asked again, within bounds. */
import type { ReplyEvent, ReplySink } from "../../contracts/llm/provider.ts";
import { AppError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { findCharged } from "../../domain/reply-failure.ts";
import {
  type AskedCall,
  maxRounds,
  maxRoundsMs,
  type OfferedTool,
  readArguments,
  type ToolCall,
  type ToolRound,
} from "../../domain/tool.ts";
import { noTokens } from "../../domain/usage.ts";
import type { StopSignal } from "../../lib/stop-signal.ts";
import type { Services } from "../dependencies.ts";
import type { AskedReply } from "../turns/admission.ts";
import type { NamedEvent } from "../turns/events.ts";
import { isProvidersFailure, toUnavailable } from "../turns/failed-replies.ts";
import type { CallServices } from "../turns/reply-calls.ts";
import { type CallStorage, noCaller, type ReplySource, type TurnOutcome, type TurnStart } from "../turns/turn-start.ts";
import { offeredPerson, readAsk } from "./ask-for-person.ts";
import { CallRunner, type CallRunnerServices } from "./call-runner.ts";
import { maxOffered, type OpenTool } from "./toolbox.ts";

export type ToolServices = CallServices & CallRunnerServices & Pick<Services, "toolbox">;

/** What a turn with tools has of its reply's readers. */
export interface ToolReaders {
  note(event: NamedEvent): void;
  /** Ends the turn with a reason of the server's. */
  stop(code: "unavailable", error: AppError): void;
}

/** Where the reply of a turn comes from that may use tools; what is asked without them, if there are none for it. */
export async function openToolReply(
  services: ToolServices,
  start: TurnStart,
  asked: AskedReply,
  readers: ToolReaders,
): Promise<ReplySource> {
  const { companion, caller = noCaller, requestId, decision } = start;
  if (await start.storage.calls?.adopt()) return leftBehind(readers);
  const hasTools = companion.toolCount > 0 || decision !== undefined;
  const tools = hasTools ? await services.toolbox.open(companion, caller, requestId) : [];
  const offered = tools.map((tool) => tool.offered);
  if (start.storage.people?.mayModelAsk) offered.splice(maxOffered - 1, 1, offeredPerson);
  if (offered.length === 0 && decision === undefined) return asked;
  return new ToolReply(services, start, asked, { tools, offered }, readers);
}

/** Of a message whose calls were sent by a server that stopped: what they did must not be done again. */
function leftBehind(readers: ToolReaders): ReplySource {
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
  /** The round at hand; null once it is counted. */
  #uncounted: TurnOutcome | null = null;

  constructor(
    private readonly services: ToolServices,
    private readonly start: TurnStart,
    private readonly asked: AskedReply,
    private readonly offer: { readonly tools: readonly OpenTool[]; readonly offered: readonly OfferedTool[] },
    private readonly readers: ToolReaders,
  ) {
    this.#runner = new CallRunner(services, start, offer.tools, (event) => readers.note(event));
    // Already now, since they are part of what the first call is admitted with.
    asked.request.tools = offer.offered;
  }

  /** A failure after a call leaves a reply that broke off: the message stays, since something was done for it. */
  async reply(sink: ReplySink, signal: StopSignal): Promise<TurnOutcome> {
    const { decision, storage } = this.start;
    try {
      if (decision !== undefined && storage.calls !== undefined) {
        if (!(await this.#begin(storage.calls, decision, signal))) return stopped(this.asked);
      }
      return await this.#ask(sink, signal);
    } catch (failure) {
      if (!this.#runner.hasCalled) throw failure;
      const charged = findCharged(failure) ?? this.#uncounted ?? stopped(this.asked);
      if (!isProvidersFailure(failure)) this.readers.stop("unavailable", toUnavailable(failure));
      return { ...charged, complete: false, finishReason: null, failure: isProvidersFailure(failure) ? failure : null };
    }
  }

  async #ask(sink: ReplySink, signal: StopSignal): Promise<TurnOutcome> {
    const { clock } = this.services;
    const { request } = this.asked;
    const startedMs = clock.monotonicMs();
    const said = new RoundSink(sink);
    for (;;) {
      const mayCall = this.#rounds.length < maxRounds && clock.monotonicMs() - startedMs < maxRoundsMs;
      request.tools = mayCall ? this.offer.offered : [];
      request.rounds = [...this.#rounds];
      const outcome = await this.asked.reply(said, signal);
      this.#uncounted = outcome;
      const calls = outcome.calls ?? [];
      if (!outcome.complete || calls.length === 0 || !mayCall) return outcome;
      const ask = this.#findAsk(calls);
      if (ask !== null) return await this.#askForPerson(ask.reason, outcome, said, signal);
      const ran = await this.#runner.run(calls, signal);
      if (ran === null) return { ...outcome, complete: false };
      if (ran.isPaused) return { ...outcome, isPaused: true };
      this.#rounds.push({ text: said.endRound(), calls: ran.answered, carry: outcome.carry ?? null });
      if (!(await this.#goesOn(outcome))) return { ...outcome, usage: noTokens, complete: false };
    }
  }

  #findAsk(calls: readonly AskedCall[]) {
    if (!this.start.storage.people?.mayModelAsk) return null;
    return calls.map(readAsk).find((ask) => ask !== null) ?? null;
  }

  /** Ends the reply with the server's own words; what else the model wants to call is the person's matter. */
  async #askForPerson(reason: string | null, outcome: TurnOutcome, said: RoundSink, signal: StopSignal) {
    const text = signal.aborted ? null : await this.start.storage.people?.answerAsk(reason);
    if (text == null) return { ...outcome, complete: false };
    said.endRound();
    said.emit({ type: "text", deltas: [text] });
    return { ...outcome, finishReason: "stop" };
  }

  /** What is known of the call's reply, with what comes of it now. False if there is to be no more of it. */
  async #begin(
    storage: CallStorage,
    decision: NonNullable<TurnStart["decision"]>,
    signal: StopSignal,
  ): Promise<boolean> {
    const { call, calls, isSent } = await storage.decide(decision);
    this.#runner.hasCalled = true;
    const result = isSent
      ? "This call was sent before, and is not sent again: what came of it is not known."
      : decision.isApproved
        ? await this.#send(call, signal)
        : "The visitor does not want this call. Nothing was called.";
    if (result === null) return false;
    const answered = calls.map(({ id, tool: name, arguments: given, result: known }, index) => ({
      ...{ id: makeCallId(index), name, arguments: given },
      result: (id === call.id ? result : known) ?? "This call has no result.",
    }));
    this.#rounds.push({ text: "", calls: answered, carry: null });
    this.asked.request.rounds = [...this.#rounds];
    return this.#permitted(await this.asked.admitAgain());
  }

  /** Null if the turn was stopped meanwhile. */
  async #send(call: ToolCall, signal: StopSignal): Promise<string | null> {
    const given = readArguments(call.arguments) ?? {};
    const found = await this.#findDecided(call, given).catch((error: unknown) => {
      this.services.log.error("tool not found for a decision", { requestId: this.start.requestId, error });
      return "The tool could not be called.";
    });
    if (typeof found !== "string") return await this.#runner.runOne({ open: found, call, given }, signal);
    const result = `${found} Nothing was called.`;
    await this.#runner.finish(call.id, { state: "failed", result, durationMs: null });
    return result;
  }

  /** Why not, as a sentence, if it is not to be sent: its owner may have changed it since it was asked for. */
  async #findDecided({ toolId, tool }: ToolCall, given: JsonObject): Promise<OpenTool | string> {
    const { companion, caller = noCaller } = this.start;
    const open = await this.services.toolbox.find(companion, toolId, tool);
    if (open === null) return "The tool no longer exists.";
    if (open.tool.requiresVisitor && caller.visitor === null) return "The tool is for known visitors alone.";
    const fault = await open.findFault(given);
    return fault === null ? open : `The arguments are invalid: ${fault}`;
  }

  /** Counts the round, and asks whether there may be another one, at the provider that answered this one. */
  async #goesOn(outcome: TurnOutcome): Promise<boolean> {
    const { request } = this.asked;
    const { answeredBy } = outcome;
    if (answeredBy === null) return false;
    request.answerer = answeredBy;
    const bound = this.services.llm
      .listBounds(request)
      .find(({ answerer: { provider, model } }) => provider === answeredBy.provider && model === answeredBy.model);
    const { maxOutputTokens } = bound ?? request;
    const before = { ...outcome, answeredBy };
    this.#uncounted = null;
    const grow = () => {
      request.rounds = [...this.#rounds];
    };
    return this.#permitted(await this.asked.permit({ answerer: answeredBy, maxOutputTokens, before }, grow));
  }

  #permitted(isPermitted: boolean): boolean {
    if (!isPermitted) {
      const sentence = "What may be spent is used up: the reply ends after its tools were called.";
      this.readers.stop("unavailable", new AppError("budget_exceeded", sentence));
    }
    return isPermitted;
  }
}

/** For a provider that has not named the call itself: nine letters and digits, which is what Mistral's insist on. */
function makeCallId(index: number): string {
  return `call00${String(index + 1).padStart(3, "0")}`;
}

/** Of a reply for which no provider is asked any more; what was asked before is counted. */
function stopped({ countedBefore }: AskedReply): TurnOutcome {
  return { complete: false, usage: noTokens, answeredBy: countedBefore, finishReason: null, failure: null };
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
