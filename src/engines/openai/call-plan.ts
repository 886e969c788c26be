/** Decides what the next call of a provider asks for: from the request, the operator's settings and what is known. */
import type { ReplyRequest } from "../../contracts/llm/provider.ts";
import type { JsonObject, JsonValue } from "../../domain/companion.ts";
import { type ReasoningEffort, reasoningEfforts } from "../../domain/reasoning.ts";
import { toSentRounds } from "./carry.ts";
import { fitEffort, type KnownModel, type ModelFacts, type Optional } from "./model-facts.ts";
import type { CallPlan, Wire } from "./wire.ts";

/** What the operator has set for a provider. */
export interface CallRules {
  /** Whether it is OpenAI or Azure, which are known to know what they have described. */
  readonly isOpenAi: boolean;
  /** OpenAI's own API deprecates `max_tokens`, and its reasoning models refuse it; others may know only that name. */
  readonly boundName: CallPlan["boundName"];
  /** For requests that name none. */
  readonly effort: ReasoningEffort | null;
  /** Tokens that are added for a model that thinks. */
  readonly reasoningTokens: number;
  readonly extra: JsonObject;
}

/** What is particular to one call of a reply. */
export interface CallNeeds {
  /** Whether all is left out that the model may refuse: the call before was refused, and there is one more only. */
  readonly isBare: boolean;
  /** Whether the model has thought through its whole bound. */
  readonly needsRoom: boolean;
}

export interface PlannedCall extends CallPlan {
  /** Texts before which we end the reply, since the provider does not. */
  readonly ownStops: readonly string[];
}

const none: readonly never[] = [];
/** OpenAI's, of the Responses API. */
const leastResponseTokens = 16;
const boundNames = ["max_completion_tokens", "max_tokens", "max_output_tokens"] as const;
const optionalNames = ["temperature", "stop", "stream_options", "store"] as const;
/** What the plan takes over, or the model may refuse. */
const plannedNames = [...boundNames, ...optionalNames, "reasoning_effort", "reasoning"];

export function planCall(
  request: ReplyRequest,
  rules: CallRules,
  { provider, wire, known, facts }: { provider: string; wire: Wire["name"]; known: KnownModel; facts: ModelFacts },
  { isBare, needsRoom }: CallNeeds,
): PlannedCall {
  const isChat = wire === "chat";
  const sends = (optional: Optional, effort: ReasoningEffort | null = null): boolean => {
    if (facts.refused.has(optional)) return false;
    const isVouchedFor = rules.isOpenAi && (optional === "store" || optional === "stream_options");
    return !isBare || isVouchedFor || known.hasAccepted(wire, effort ?? optional);
  };

  const set = findEffort(rules.extra, isChat);
  const wished = set === undefined ? (request.reasoningEffort ?? rules.effort ?? (isChat ? null : "none")) : set;
  const suited = wished === null || facts.refused.has("effort") ? null : fitEffort(wished, facts.efforts);
  const takesNone = set === undefined && !facts.refused.has("effort") && facts.efforts?.includes("none") !== false;
  const takesTools = !facts.refused.has("tools") && (facts.toolEffort === null || takesNone);
  const tools = takesTools ? (request.tools ?? none) : none;
  // What the model itself has listed is sure to be accepted.
  const isSent = suited !== null && (facts.efforts?.includes(suited) === true || sends("effort", suited));
  const effort = tools.length > 0 && facts.toolEffort !== null ? facts.toolEffort : isSent ? suited : null;
  // A model without a thinking budget decides for itself.
  const mayReason = suited !== null && effort !== "none";
  const getsRoom = facts.takesRoom && (needsRoom || mayReason || known.hasReasonedWith(effort));

  const stops = request.stop ?? none;
  const sendsStop = isChat && sends("stop");
  const mayHaveTemperature = isChat || effort === "none" || facts.refused.has("effort");
  return {
    effort,
    temperature: mayHaveTemperature && sends("temperature") ? request.temperature : null,
    maxOutputTokens: boundOf(request, rules, { isChat, getsRoom }),
    stop: sendsStop ? stops : none,
    ownStops: sendsStop ? none : stops,
    boundName: facts.boundName ?? findBoundName(rules.extra) ?? rules.boundName,
    sendsStreamOptions: sends("stream_options"),
    sendsStore: (!isChat || rules.isOpenAi) && sends("store"),
    tools,
    sendsInclude: tools.length > 0 && !isChat && sends("include"),
    rounds: request.rounds ? toSentRounds(request.rounds, { provider, model: request.model }, wire) : none,
    flattensRounds: !takesTools,
    form: sends("form") ? (request.form ?? null) : null,
    systemRole: facts.systemRole,
    joinsRoles: facts.joinsRoles,
    extra: narrowExtra(rules.extra, { sends, isEffortPlanned: typeof set === "string" }),
  };
}

/** What a visitor may see, and the room for thinking; the operator may lower it, but never raise a companion's own. */
function boundOf(
  { maxOutputTokens }: ReplyRequest,
  { reasoningTokens, extra }: CallRules,
  { isChat, getsRoom }: { isChat: boolean; getsRoom: boolean },
): number {
  let bound = maxOutputTokens + (getsRoom ? reasoningTokens : 0);
  for (const name of boundNames) {
    const own = extra[name];
    if (typeof own === "number" && own < bound) bound = own;
  }
  return isChat ? bound : Math.max(bound, leastResponseTokens);
}

function findBoundName(extra: JsonObject): CallPlan["boundName"] | null {
  if ("max_completion_tokens" in extra) return "max_completion_tokens";
  return "max_tokens" in extra ? "max_tokens" : null;
}

/** Undefined where the operator has set none; null for one that only this provider knows, which is left as it is. */
function findEffort(extra: JsonObject, isChat: boolean): ReasoningEffort | null | undefined {
  const effort = asObject(extra.reasoning)?.effort;
  // Chats know no `reasoning`, but OpenRouter's do.
  if (isChat && effort !== undefined) return null;
  const named = effort ?? extra.reasoning_effort;
  return named === undefined ? undefined : (reasoningEfforts.find((one) => one === named) ?? null);
}

/** The operator's members without those that the plan has taken over, and those that the model refuses. */
function narrowExtra(
  extra: JsonObject,
  { sends, isEffortPlanned }: { sends: (optional: Optional) => boolean; isEffortPlanned: boolean },
): JsonObject {
  if (!plannedNames.some((name) => name in extra)) return extra;
  const narrowed = { ...extra };
  for (const name of boundNames) delete narrowed[name];
  for (const name of optionalNames) {
    if (name in narrowed && !sends(name)) delete narrowed[name];
  }
  if (isEffortPlanned || !sends("effort")) {
    delete narrowed.reasoning_effort;
    const { effort: _, ...rest } = asObject(narrowed.reasoning) ?? {};
    if (Object.keys(rest).length > 0) narrowed.reasoning = rest;
    else delete narrowed.reasoning;
  }
  return narrowed;
}

function asObject(value: JsonValue | undefined): JsonObject | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
}
