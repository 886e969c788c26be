/** What goes back to a provider with the results of its calls: in memory only, and to no one else. */
import type { JsonObject } from "../../domain/json.ts";
import type { ToolRound } from "../../domain/tool.ts";
import type { Answerer } from "../../domain/usage.ts";
import type { SentRound, Wire } from "./wire.ts";

export class Carry {
  constructor(
    readonly answerer: Answerer,
    readonly wire: Wire["name"],
    readonly value: JsonObject,
  ) {}
}

/** The rounds with what this provider can read of what they carry. */
export function toSentRounds(rounds: readonly ToolRound[], answerer: Answerer, wire: Wire["name"]): SentRound[] {
  return rounds.map((round) => {
    const { carry } = round;
    const isOwn =
      carry instanceof Carry &&
      carry.wire === wire &&
      carry.answerer.provider === answerer.provider &&
      carry.answerer.model === answerer.model;
    return { ...round, carry: isOwn ? carry.value : null };
  });
}
