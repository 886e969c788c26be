/**
 * Builds the request to the model, from the companion's settings within the operator's bounds and as much history as
 * fits; and its result, as it is stored.
 */

import type { TurnTicket } from "../../contracts/coordination.ts";
import { kindOfOutcome, type ReplyRequest, type ReplySink, textsOf } from "../../contracts/llm/provider.ts";
import type { Spend } from "../../contracts/store/store.ts";
import { spendingFactsOf } from "../../domain/budget.ts";
import { type Companion, companionDefaults } from "../../domain/companion.ts";
import { estimateTokens, type HistoryMessage, selectHistory, textParts } from "../../domain/conversation.ts";
import { usesKnowledge } from "../../domain/knowledge.ts";
import { noCost } from "../../domain/money.ts";
import {
  type CallTotals,
  type ChargedCall,
  type CountedTokens,
  noTokens,
  type TokenUsage,
} from "../../domain/usage.ts";
import type { StopSignal } from "../../lib/stop-signal.ts";
import type { Services, Settings } from "../dependencies.ts";
import { headByAuthors } from "../people/people-history.ts";
import type { TurnEnd } from "./events.ts";
import { boundOfInput, costOfCall } from "./reply-cost.ts";
import { consultKnowledge, type TurnKnowledge } from "./turn-knowledge.ts";
import type { GivenPrompt, TurnOutcome, TurnResult, TurnStart, UsedKnowledge } from "./turn-start.ts";

/** Of the conversation, however little of it the model is sent: the message before the last stands before a long reply. */
const consultedBytes = 64 * 1024;

type ContextSettings = Pick<Settings["llm"], "maxContextTokens">;

/** How much of the conversation a turn reads: what may go to the model, and what knowledge is asked by. */
function historyBytesOf(settings: ContextSettings, companion: Companion, message: string): number {
  const sentBytes = historyTokensOf(settings, companion, message) * 4;
  return usesKnowledge(companion) ? Math.max(sentBytes, consultedBytes) : sentBytes;
}

/** Tokens of the companion's context left for earlier turns, after its instructions and the new message; 0 or more. */
export function historyTokensOf(
  { maxContextTokens }: ContextSettings,
  { contextTokens, systemPrompt }: Pick<Companion, "contextTokens" | "systemPrompt">,
  message: string,
): number {
  const promptTokens = systemPrompt === null ? 0 : estimateTokens(systemPrompt);
  // The operator may have lowered the limit since the companion was saved.
  const allTokens = Math.min(contextTokens ?? companionDefaults.contextTokens, maxContextTokens);
  return Math.max(0, allTokens - promptTokens - estimateTokens(message));
}

/** What is known when the model is about to be asked. */
export interface PreparedTurn extends Pick<TurnStart, "message" | "requestId"> {
  readonly given: GivenPrompt | undefined;
  /** Newest first, and may be more than fits. */
  readonly earlier: readonly HistoryMessage[];
  /** Goes before the visitor's message, beside what fits of the conversation; null for none. */
  readonly passages: HistoryMessage | null;
}

/** What the model is asked, and what its companion's knowledge has to do with the reply: null for a companion without any. */
export async function buildRequest(
  services: Pick<Services, "settings" | "knowledge" | "ids" | "log">,
  start: TurnStart,
  reply: { readonly sink: ReplySink; readonly signal: StopSignal },
): Promise<{ request: ReplyRequest; knowledge: TurnKnowledge | null }> {
  const { companion, message, given, form, requestId, storage } = start;
  const { llm } = services.settings;
  const earlier = await storage.begin(historyBytesOf(llm, companion, message));
  const knowledge = usesKnowledge(companion) ? await consultKnowledge(services, start, { ...reply, earlier }) : null;
  const passages = knowledge?.message ?? null;
  const request = toReplyRequest(llm, companion, { earlier, message, given, requestId, passages });
  return { request: form === undefined ? request : { ...request, form }, knowledge };
}

/** What of a companion its replies are made by. */
export type ReplySettings = Pick<
  Companion,
  | "accountId"
  | "name"
  | "systemPrompt"
  | "model"
  | "temperature"
  | "reasoningEffort"
  | "maxOutputTokens"
  | "contextTokens"
  | "hadPeople"
>;

export function toReplyRequest(settings: Settings["llm"], companion: ReplySettings, turn: PreparedTurn): ReplyRequest {
  const { model, models, maxOutputTokens } = settings;
  // The operator, who pays, may have removed the model since the companion was saved.
  const offered = models.find((name) => name === companion.model);
  const earlier = selectHistory(turn.earlier, historyTokensOf(settings, companion, turn.message));
  const messages = turn.given?.messages ?? [
    ...(companion.hadPeople ? headByAuthors(earlier, companion.name) : earlier),
    // Of a visitor who decides on a call there is none.
    ...(turn.message === "" ? [] : [{ role: "user", parts: textParts(turn.message) } as const]),
  ];
  const request: ReplyRequest = {
    systemPrompt: companion.systemPrompt,
    messages: turn.passages === null ? messages : withPassages(messages, turn.passages),
    model: offered ?? model,
    temperature: companion.temperature,
    reasoningEffort: companion.reasoningEffort,
    maxOutputTokens: Math.min(companion.maxOutputTokens ?? maxOutputTokens, maxOutputTokens),
    accountId: companion.accountId,
    requestId: turn.requestId,
  };
  return turn.given === undefined ? request : narrow(request, turn.given);
}

/** A caller who keeps the conversation may end it with something else than a visitor's message, or have none. */
function withPassages(messages: readonly HistoryMessage[], passages: HistoryMessage): readonly HistoryMessage[] {
  const last = messages.findLastIndex(({ role }) => role === "user");
  return last === -1 ? messages : messages.toSpliced(last, 0, passages);
}

function narrow(request: ReplyRequest, { instructions, temperature, maxOutputTokens, stop }: GivenPrompt) {
  const { systemPrompt } = request;
  // One message, the first: the templates of many models refuse instructions anywhere else.
  const prompts = systemPrompt === null ? instructions : [systemPrompt, ...instructions];
  return {
    ...request,
    systemPrompt: prompts.length === 0 ? null : prompts.join("\n\n"),
    temperature: temperature ?? request.temperature,
    maxOutputTokens: Math.min(maxOutputTokens ?? request.maxOutputTokens, request.maxOutputTokens),
    stop,
  };
}

/**
 * How far a count may be above what a request can come to: providers add instructions, and search results, that we do not
 * see, and some go past the bound. What is above that is no count, and would end the exactness of sums.
 */
const unseenTokens = 1024 * 1024;

/** The provider's count of a call, as far as it can be one. */
function countCall(request: ReplyRequest, counted: CountedTokens): CountedTokens {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = counted;
  const input = inputTokens <= unseenTokens ? inputTokens : Math.min(inputTokens, boundOfInput(request) + unseenTokens);
  const output = Math.min(outputTokens, 2 * request.maxOutputTokens + unseenTokens);
  const cached = Math.min(cachedTokens, input);
  return {
    inputTokens: input,
    outputTokens: output,
    cachedTokens: cached,
    cacheWriteTokens: Math.min(cacheWriteTokens, input - cached),
    reasoningTokens: Math.min(reasoningTokens, output),
  };
}

/**
 * The provider's count of a reply. If it sent none, an estimate of what was sent and of what has come, seen or not: at most
 * what it was asked for, which budgets hold.
 */
export function countReply(request: ReplyRequest, text: string, call: Omit<ChargedCall, "answeredBy">): TokenUsage {
  if (call.usage) return { ...countCall(request, call.usage), estimated: false };
  let inputTokens = 0;
  for (const sent of textsOf(request)) inputTokens += estimateTokens(sent);
  const { reasoningBytes = 0, callBytes = 0, sentOutputTokens = request.maxOutputTokens } = call;
  const thoughtTokens = Math.ceil(reasoningBytes / 4);
  const outputTokens = Math.min(estimateTokens(text) + thoughtTokens + Math.ceil(callBytes / 4), sentOutputTokens);
  const reasoningTokens = Math.min(thoughtTokens, outputTokens);
  return { inputTokens, outputTokens, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens, estimated: true };
}

/** How a turn's reply ended. */
export interface EndedReply {
  asked: {
    readonly request: ReplyRequest;
    readonly ticket: TurnTicket;
    /** Of what budgets hold for it; null for nothing. */
    readonly reservationId: string | null;
    /** As in `TurnResult`. */
    readonly hasWebhooks: boolean;
    /** As in `TurnResult`. */
    readonly earlier: CallTotals;
  };
  outcome: TurnOutcome;
  end: TurnEnd;
  /** Well-formed. */
  text: string;
  isTooLong: boolean;
  /** As in `TurnResult`. */
  isKept: boolean;
  /** One of the day's messages; left out: if it is kept. */
  isCounted?: boolean;
  firstTextMs: number | null;
  /** As in `TurnResult`. */
  knowledge: UsedKnowledge | null;
}

/** The turn as it is stored. */
export function toTurnResult(
  { settings, clock }: Pick<Services, "settings" | "clock">,
  { companion, keyId }: Pick<TurnStart, "companion" | "keyId">,
  { asked, outcome, end, text, isTooLong, isKept, isCounted = isKept, firstTextMs, knowledge }: EndedReply,
): TurnResult {
  const { request, ticket, reservationId, hasWebhooks, earlier } = asked;
  const { complete, answeredBy, finishReason } = outcome;
  const usage = isCounted ? countReply(request, text, outcome) : { ...noTokens, estimated: true };
  const price = answeredBy === null ? null : settings.prices.findTokenPrice(answeredBy);
  const cost =
    answeredBy === null
      ? noCost
      : price && costOfCall(price, request, outcome, { tokens: usage, text, isWhole: complete && !outcome.wasCut });
  let spend: Spend | null = null;
  // Nothing is worked out for operators without prices: metadata, which is parsed where it is read, may be long.
  if (price !== null || reservationId !== null) {
    const facts = spendingFactsOf({ companionId: companion.id, keyId, metadata: companion.metadata });
    spend = { facts, reservationId, atMs: clock.nowMs() };
  }
  return {
    isKept,
    isCounted,
    request,
    complete,
    answeredBy,
    finishReason,
    usage,
    cost,
    spend,
    keyId,
    firstTextMs,
    earlier,
    knowledge,
    reply: text === "" ? [] : textParts(text),
    failure: isTooLong ? "broken_off" : kindOfOutcome(outcome),
    endCode: end.outcome === "broken" ? end.code : null,
    day: ticket.day,
    ticketId: ticket.id,
    hasWebhooks,
  };
}
