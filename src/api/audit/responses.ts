/** Responses of the audit route: their schemas, created on first use, and the conversion into them. */

import { type Static, Type as t } from "@sinclair/typebox";
import type { AuditNames, AuditEntry as StoredEntry } from "../../contracts/store/store.ts";
import { namedObject } from "../../http/schemas/named-object.ts";
import { AnyObject, Nullable, OneOf } from "../../http/schemas/schema.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import { toSnakeCase } from "../../lib/field-names.ts";

/** Kinds of actors of which an account has no more than one. */
export const actorsWithoutId = ["operator", "cli", "system", "visitor", "model", "clock"] as const;

export const exampleId = "0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10";

export const AuditEntryObject = namedObject("AuditEntry", () => ({
  id: t.String({ format: "uuid" }),
  actor: t.Object({
    kind: OneOf(["key", "session", ...actorsWithoutId] as const, {
      description: "`operator`: an operator, to an account that is not their own.",
    }),
    id: Nullable(t.String({ description: "The key's or session's id.", examples: [exampleId] })),
    member_id: Nullable(
      t.String({
        description: "Of a session: the member whose it was; null: the account's own sign-in.",
        examples: [exampleId],
      }),
    ),
    name: Nullable(
      t.String({
        description:
          "Of a member, the name at the time; of a key, its name; of the account's own sign-in, its name or email. Null: what acted has " +
          "none, or is unknown.",
        examples: ["Grace"],
      }),
    ),
    ip: Nullable(t.String({ description: "The client's address, cut to /24 or /48.", examples: ["192.0.2.0/24"] })),
    request_id: Nullable(t.String({ description: "The `X-Request-Id` of the call.", examples: [exampleId] })),
  }),
  action: t.String({
    description:
      "What was done: `companion.create`, `.import`, `.update`, `.delete`; `embed_token.create`, `.revoke`; " +
      "`key.create`, `.revoke`, `.replace`, and `.expire` for one that gets an end when its creator is replaced; `conversation.delete`, `.note`, and of people who step in `.ask`, `.miss`, `.reserve`, `.take`, `.release`, `.close`, `.update`; `visitor.erase`; `account.create`, `.update`, `.delete`; " +
      "`member.create`, `.join`, `.update`, `.delete`; " +
      "`voice_agent.grant`, `.revoke`; " +
      "`session.create`, `.revoke`, and `.refuse` for a failed sign-in.",
    examples: ["companion.update"],
  }),
  target_id: Nullable(t.String({ description: "The ID of what it was done to.", examples: [exampleId] })),
  target_name: Nullable(
    t.String({
      description: "Its name: now, or when it was deleted. Of a webhook the host of its URL, of an account its email.",
      examples: ["Berta"],
    }),
  ),
  details: AnyObject({
    description: "Names of changed fields and the like; never a secret.",
    examples: [{ changed: ["system_prompt"] }],
  }),
  created_at: t.String({ format: "date-time" }),
}));
export type AuditEntry = Static<typeof AuditEntryObject>;

export function toWireAuditEntry(entry: StoredEntry, names: AuditNames | null): AuditEntry {
  const { kind, id, ipPrefix, requestId, member } = entry.actor;
  return {
    id: entry.id,
    actor: {
      ...{ kind, id, member_id: member?.id ?? null, name: names?.actor ?? member?.name ?? null },
      ...{ ip: ipPrefix, request_id: requestId },
    },
    action: entry.action,
    target_id: entry.targetId,
    // The path of a webhook's URL may be a secret.
    target_name: entry.action.startsWith("webhook.") ? hostOf(names?.target) : (names?.target ?? null),
    details: toWireDetails(entry.details),
    created_at: toRfc3339(entry.createdAt),
  };
}

/** The store uses the program's field names, callers those of the wire. */
function toWireDetails(details: StoredEntry["details"]) {
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [
      toSnakeCase(name),
      name === "changed" && Array.isArray(value) ? value.map(toSnakeCase) : value,
    ]),
  );
}

function hostOf(url: string | null | undefined): string | null {
  return url && URL.canParse(url) ? new URL(url).host : null;
}
