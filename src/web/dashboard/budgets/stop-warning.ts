/** Whether a budget would stop replies the moment it is saved: what was spent since its period began counts, too. */
import { formatExactMoney, formatMoney, readMicros } from "../lib/money.ts";
import type { BudgetPreview } from "../lib/types.ts";
import { type BudgetDraft, findBudgetProblems, toBudgetBody } from "./budget-draft.ts";

/** What is to be previewed; null where replies go on, or nobody knows yet whose. */
export function previewBody(draft: BudgetDraft): object | null {
  const { limit_micros: _, ...problems } = findBudgetProblems(draft);
  if (draft.action !== "stop" || Object.keys(problems).length > 0) return null;
  const { limit_micros, action, ...subject } = toBudgetBody(draft);
  return subject;
}

/** A sentence; null where replies would go on. */
export function findStop(draft: BudgetDraft, preview: BudgetPreview | null): string | null {
  const limit = readMicros(draft.amount);
  if (draft.action !== "stop" || limit === null) return null;
  const { spent_micros: spent, reply_micros: reply } = preview ?? { spent_micros: 0, reply_micros: null };
  const period = draft.period === "day" ? "today" : "this month";
  const stop = `once this is saved, visitors get no more replies until the next ${draft.period} begins (UTC)`;
  if (limit === 0 || spent >= limit) {
    const cause =
      limit === 0
        ? "A limit of nothing stops every reply"
        : `${formatMoney(spent)} was spent ${period} already, and the limit is ${formatExactMoney(limit)}`;
    return `${cause}: ${stop}. To let them go on, set a higher limit or only notify.`;
  }
  if (reply === null || limit - spent >= reply) return null;
  const held = `What a reply may cost is held before it is made: here at least ${formatMoney(reply)}`;
  const most = `set a limit well above ${formatExactMoney(spent + reply)} or only notify`;
  return `${held}, and this limit leaves ${formatMoney(limit - spent)} ${period}: ${stop}. To let them go on, ${most}.`;
}
