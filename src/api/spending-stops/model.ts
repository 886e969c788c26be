/** The operator's stops on the wire. */
import { Type as t } from "@sinclair/typebox";
import type { SpendingStop } from "../../contracts/store/store.ts";
import { compileChecker, Nullable, Text, uuidPattern } from "../../http/schemas/schema.ts";
import { toRfc3339 } from "../../lib/clock.ts";

export const newStopBody = compileChecker(() =>
  t.Object(
    {
      account_id: t.Optional(
        Nullable(
          Text({
            pattern: uuidPattern,
            problem: "Must be the id of an account, or null for everybody.",
            description: "Whose calls stop. Left out or null: everybody's.",
          }),
        ),
      ),
    },
    { $id: "NewSpendingStop", additionalProperties: false, description: "May be left out altogether." },
  ),
);

export function toWireStop({ accountId, stoppedAt }: SpendingStop) {
  return { account_id: accountId, stopped_at: toRfc3339(stoppedAt) };
}
