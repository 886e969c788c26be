/** What is known of one model of a provider: learnt from what it refuses, takes and sends, and kept for the process. */
import { type ReasoningEffort, reasoningEfforts } from "../../domain/reasoning.ts";
import type { CallPlan, Wire } from "./wire.ts";

/** What a request can do without. */
export const optionals = [
  "temperature",
  "effort",
  "stop",
  "stream_options",
  "store",
  "include",
  "form",
  "tools",
] as const;
export type Optional = (typeof optionals)[number];

/** What one refusal shows; it may name more than one thing. */
export interface Lesson {
  /** The model is served by this one alone. */
  readonly wire?: Wire["name"];
  readonly refused?: readonly Optional[];
  /** Which efforts it takes instead of the one that it refuses. */
  readonly efforts?: readonly ReasoningEffort[];
  readonly boundName?: CallPlan["boundName"];
  readonly systemRole?: CallPlan["systemRole"];
  readonly joinsRoles?: true;
  /** The effort that it wants beside tools. */
  readonly toolEffort?: "none";
  /** With room for thinking the bound is more than it takes. */
  readonly takesRoom?: false;
  /** It is the value of this one request that the model refuses, so nothing is kept. */
  readonly isPassing?: true;
}

export interface ModelFacts {
  /** Null: the one that the operator's settings choose. */
  readonly wire: Wire["name"] | null;
  readonly refused: ReadonlySet<Optional>;
  /** Those that it takes, by its own word; null if it has never listed them. */
  readonly efforts: readonly ReasoningEffort[] | null;
  /** Null: the usual one. */
  readonly boundName: CallPlan["boundName"] | null;
  readonly systemRole: CallPlan["systemRole"];
  readonly joinsRoles: boolean;
  readonly takesRoom: boolean;
  /** Beside tools; null: any. */
  readonly toolEffort: "none" | null;
}

export const noFacts: ModelFacts = {
  wire: null,
  refused: new Set(),
  efforts: null,
  boundName: null,
  systemRole: "system",
  joinsRoles: false,
  takesRoom: true,
  toolEffort: null,
};

export class KnownModel {
  facts: ModelFacts = noFacts;
  /** What requests had that succeeded, efforts by their own names. */
  readonly #accepted = {
    chat: new Set<Optional | ReasoningEffort>(),
    responses: new Set<Optional | ReasoningEffort>(),
  };
  readonly #reasonedWith = new Set<string>();

  hasAccepted(wire: Wire["name"], what: Optional | ReasoningEffort): boolean {
    return this.#accepted[wire].has(what);
  }

  /** Of a request that succeeded. */
  noteAccepted(wire: Wire["name"], plan: CallPlan): void {
    const { temperature, effort, stop, sendsStreamOptions, sendsStore, sendsInclude, form, tools, extra } = plan;
    const accepted = this.#accepted[wire];
    if (temperature !== null || "temperature" in extra) accepted.add("temperature");
    if (effort !== null) accepted.add(effort);
    if (stop.length > 0) accepted.add("stop");
    if (sendsStreamOptions) accepted.add("stream_options");
    if (sendsStore) accepted.add("store");
    if (sendsInclude) accepted.add("include");
    if (form !== null) accepted.add("form");
    if (tools.length > 0) accepted.add("tools");
  }

  /** Whether it has been seen to think with this effort; null for that of its own. */
  hasReasonedWith(effort: ReasoningEffort | null): boolean {
    return this.#reasonedWith.has(effort ?? "");
  }

  noteReasoning(effort: ReasoningEffort | null): void {
    this.#reasonedWith.add(effort ?? "");
  }

  keep(lessons: readonly Lesson[]): void {
    this.facts = learn(
      this.facts,
      lessons.filter(({ isPassing }) => isPassing !== true),
    );
  }
}

export function learn(facts: ModelFacts, lessons: readonly Lesson[]): ModelFacts {
  let known = facts;
  for (const { wire, refused = [], isPassing: _, ...named } of lessons) {
    // Another API refuses other things.
    const before = wire === undefined || wire === known.wire ? known : { ...noFacts, wire };
    known = { ...before, ...named, refused: new Set([...before.refused, ...refused]) };
  }
  return known;
}

/** The effort itself, the next higher one that the model takes, or else its highest. */
export function fitEffort(wished: ReasoningEffort, accepted: readonly ReasoningEffort[] | null): ReasoningEffort {
  if (accepted === null || accepted.length === 0) return wished;
  const sorted = reasoningEfforts.filter((effort) => accepted.includes(effort));
  const least = reasoningEfforts.indexOf(wished);
  return sorted.find((effort) => reasoningEfforts.indexOf(effort) >= least) ?? sorted.at(-1) ?? wished;
}
