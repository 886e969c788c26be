/** Responses of the budget routes: their schemas, created on first use, and the conversion into them. */

import { type Static, Type as t } from "@sinclair/typebox";
import { type BudgetState, type BudgetSubject, endOfPeriodMs } from "../../domain/budget.ts";
import { roundToMicros } from "../../domain/money.ts";
import { closedObject, instant } from "../../http/schemas/named-object.ts";
import { Nullable } from "../../http/schemas/schema.ts";
import { toNullableRfc3339, toRfc3339, toUtcDay } from "../../lib/clock.ts";
import { makeSubjectFields, newBudgetBody } from "./model.ts";

export const BudgetObject = closedObject("Budget", () => {
  const { limit_micros, period, action } = newBudgetBody.schema.properties;
  return {
    id: t.String({ format: "uuid" }),
    ...makeSubjectFields(),
    ...{ limit_micros, period, action },
    spent_micros: t.Integer({
      description: "What calls have cost since the period began, rounded to a millionth of a US dollar.",
      examples: [12_345_678],
    }),
    reserved_micros: t.Integer({ description: "What the calls under way may cost at most.", examples: [41_000] }),
    reached_at: Nullable(
      instant("When what is spent reached the limit in this period, or left too little for a call; null before."),
    ),
    resets_at: instant("When the next period begins."),
    created_at: instant("When it was created."),
    updated_at: instant("When it was last changed."),
  };
});
export const BudgetPreview = closedObject("BudgetPreview", () => ({
  spent_micros: t.Integer({
    description: "What calls have cost since the period began, rounded to a millionth of a US dollar.",
    examples: [12_345_678],
  }),
  reply_micros: Nullable(
    t.Integer({
      description:
        "What the shortest message to one of the companions reserves at least, with its system prompt and the longest reply: " +
        "with less left, a budget that stops refuses every message. Null if there are none, or their models have no price.",
      examples: [3_100],
    }),
  ),
}));
export type BudgetPreview = Static<typeof BudgetPreview>;
export type Budget = Static<typeof BudgetObject>;

export function toWireBudget(budget: BudgetState, nowMs: number): Budget {
  return {
    id: budget.id,
    ...toWireSubject(budget.subject),
    limit_micros: budget.limitMicros,
    period: budget.period,
    action: budget.action,
    spent_micros: roundToMicros(budget.spent),
    reserved_micros: budget.reservedMicros,
    reached_at: toNullableRfc3339(budget.reachedAt),
    resets_at: toRfc3339(endOfPeriodMs(budget.period, toUtcDay(nowMs))),
    created_at: toRfc3339(budget.createdAt),
    updated_at: toRfc3339(budget.updatedAt),
  };
}

function toWireSubject(subject: BudgetSubject) {
  return {
    account: "account" in subject ? (true as const) : null,
    key_id: "keyId" in subject ? subject.keyId : null,
    companion_id: "companionId" in subject ? subject.companionId : null,
    metadata: "metadata" in subject ? subject.metadata : null,
  };
}
