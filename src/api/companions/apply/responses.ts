/** The response to `POST /api/apply`. */
import { type Static, Type as t } from "@sinclair/typebox";
import { closedObject, namedObject } from "../../../http/schemas/named-object.ts";
import { anyValue, Nullable, OneOf } from "../../../http/schemas/schema.ts";

export const planActions = ["create", "update", "unchanged", "drift", "disable", "delete"] as const;

const changeFields = () =>
  t.Object(
    {
      field: t.String({
        description: "A field, or `tools.<name>` or `sources.<slug>`.",
        examples: ["system_prompt"],
      }),
      from: anyValue("As it is; null for what is not there."),
      to: anyValue("As the file has it; null for what goes."),
    },
    { additionalProperties: false },
  );

const driftFields = () =>
  t.Object(
    {
      field: t.String({ examples: ["greeting"] }),
      applied: anyValue("As it was applied last."),
      now: anyValue("As it is."),
      by: Nullable(
        t.Object(
          { type: OneOf(["key", "session", "cli"] as const), id: Nullable(t.String()), name: Nullable(t.String()) },
          { additionalProperties: false, description: "Who changed it; null where that is not known." },
        ),
      ),
      at: Nullable(
        t.String({ format: "date-time", description: "When it was changed; null where that is not known." }),
      ),
    },
    { additionalProperties: false },
  );

const PlanItem = closedObject("PlanItem", () => ({
  action: OneOf(planActions, {
    description:
      "`drift`: someone else changed what the file names, so that nothing is applied without `overwrite`. `disable` and " +
      "`delete`: a member of the set that the files lack.",
  }),
  slug: t.String({ examples: ["support"] }),
  id: Nullable(t.String({ format: "uuid", description: "Null for one that a dry run would create." })),
  changes: t.Array(changeFields()),
  drift: t.Array(driftFields()),
}));
export type PlanItem = Static<typeof PlanItem>;

export const ApplyResult = namedObject(
  "ApplyResult",
  () => ({
    plan: t.Array(PlanItem, {
      description: "For each companion that was sent, in this order, and for each that is pruned.",
    }),
    applied: t.Boolean({ description: "False after a dry run." }),
  }),
  { additionalProperties: false },
);
export type ApplyResult = Static<typeof ApplyResult>;
