/** What operators send to stop spending. */
import { Type as t } from "@sinclair/typebox";
import { compileChecker, Nullish, Text, uuidPattern } from "../../http/schemas/schema.ts";

export const newStopBody = compileChecker(() =>
  t.Object(
    {
      account_id: Nullish(
        Text({
          pattern: uuidPattern,
          problem: "Must be the id of an account, or null for all accounts.",
          description: "Whose calls stop. Left out or null: those of all accounts.",
        }),
      ),
    },
    { $id: "NewSpendingStop", additionalProperties: false, description: "May be left out altogether." },
  ),
);
