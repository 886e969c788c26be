/** Models that their providers shut down. */
import type { Answerer } from "./usage.ts";

export interface RetiringModel extends Answerer {
  /** UTC day, `YYYY-MM-DD`: from then on the provider refuses it. */
  readonly shutdownDate: string;
}
