/** What is sent to create, change and try budgets. */
import { type Static, Type as t } from "@sinclair/typebox";
import { budgetActions, budgetPeriods } from "../../domain/budget.ts";
import { metadataFilter } from "../../http/schemas/metadata-filter.ts";
import { compileChecker, Nullable, OneOf, Text, uuidPattern } from "../../http/schemas/schema.ts";

const maxMicros = 9_000_000_000_000_000;

export const makeSubjectFields = () => ({
  account: Nullable(t.Boolean({ description: "`true`: everything that the account spends.", examples: [true] })),
  key_id: Nullable(
    Text({
      pattern: uuidPattern,
      problem: "Must be the id of an API key.",
      description: "What counts in usage under this API key of the account.",
      examples: ["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"],
    }),
  ),
  companion_id: Nullable(
    Text({
      pattern: uuidPattern,
      problem: "Must be the id of a companion.",
      description: "What this companion spends.",
      examples: ["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e11"],
    }),
  ),
  metadata: Nullable(metadataFilter("What companions spend whose metadata has all of these values, 1 to 5.")),
});

const makeRuleFields = () => ({
  limit_micros: t.Integer({
    minimum: 0,
    maximum: maxMicros,
    description: "How much may be spent in a period, in millionths of a US dollar.",
    examples: [50_000_000],
  }),
  period: OneOf(budgetPeriods, {
    description: "When it starts over: each UTC day, or with each month's first.",
    examples: ["month"],
  }),
  action: OneOf(budgetActions, {
    description:
      "`stop`: a call that might exceed the limit is refused before a provider is asked, with `budget_exceeded`, or with " +
      "`rate_limited` while only what calls under way have reserved is in the way. " +
      "`notify`: the dashboard shows that the limit is reached, and the operator's log and metrics report it.",
    examples: ["stop"],
  }),
});

export const newBudgetBody = compileChecker(() =>
  t.Object(
    { ...t.Partial(t.Object(makeSubjectFields())).properties, ...makeRuleFields() },
    {
      $id: "NewBudget",
      additionalProperties: false,
      description: "Exactly one of `account`, `key_id`, `companion_id` and `metadata` selects whose spending counts.",
    },
  ),
);

export const budgetPatchBody = compileChecker(() =>
  t.Object(t.Partial(t.Object({ ...makeSubjectFields(), ...makeRuleFields() })).properties, {
    $id: "BudgetPatch",
    additionalProperties: false,
    description: "Only what is sent changes.",
  }),
);
export type BudgetPatchBody = Static<typeof budgetPatchBody.schema>;

export const budgetPreviewBody = compileChecker(() =>
  t.Object(
    { ...t.Partial(t.Object(makeSubjectFields())).properties, period: makeRuleFields().period },
    {
      $id: "BudgetSubject",
      additionalProperties: false,
      description: "Exactly one of `account`, `key_id`, `companion_id` and `metadata` selects whose spending counts.",
    },
  ),
);
