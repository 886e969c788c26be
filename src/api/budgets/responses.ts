/** Responses of the budget routes: schemas for the API document, created on first use, and types for the dashboard. */
import { type Static, Type as t } from "@sinclair/typebox";
import { namedObject } from "../../http/schemas/named-object.ts";
import { Nullable } from "../../http/schemas/schema.ts";
import { makeSubjectFields, newBudgetBody } from "./model.ts";

const makeTime = (description: string) =>
  t.String({ format: "date-time", description, examples: ["2026-01-31T12:00:00.000Z"] });

export const BudgetObject = namedObject(
  "Budget",
  () => {
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
        makeTime("When what is spent reached the limit in this period, or left too little for a call; null before."),
      ),
      resets_at: makeTime("When the next period begins."),
      created_at: makeTime("When it was created."),
      updated_at: makeTime("When it was last changed."),
    };
  },
  { additionalProperties: false },
);
export const BudgetPreview = namedObject(
  "BudgetPreview",
  () => ({
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
  }),
  { additionalProperties: false },
);
export type BudgetPreview = Static<typeof BudgetPreview>;
export type Budget = Static<typeof BudgetObject>;
