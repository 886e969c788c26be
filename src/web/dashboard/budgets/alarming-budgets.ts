/** The alarming budgets, which every page warns of. Apart from their words and numbers, which need no browser. */
import { State } from "../lib/state.ts";
import type { Budget } from "../lib/types.ts";

/** Of all budgets, the worst first, as far as they are known. */
export const alarmingBudgets = new State<readonly Budget[]>([]);
