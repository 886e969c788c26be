/** The budgets that are reached or nearly used up, for all places that tell of them. */
import { State } from "../lib/state.ts";
import type { Budget } from "../lib/types.ts";

/** The worst first, as far as they are known. */
export const alarmingBudgets = new State<readonly Budget[]>([]);
