/** Models that their providers shut down. */
import type { Answerer } from "./usage.ts";

export interface RetiringModel extends Answerer {
  /** UTC day, `YYYY-MM-DD`: from then on the provider refuses it. */
  readonly shutdownDate: string;
}

/**
 * The content of a provider's list: days (`YYYY-MM-DD`, UTC) by model, of those that have one. `knowsDates` is false for a
 * provider whose list has no such member at all.
 */
export interface ShutdownDates {
  readonly knowsDates: boolean;
  readonly byModel: ReadonlyMap<string, string>;
}
