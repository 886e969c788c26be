/** The audit trail on the wire. */
import { Type as t } from "@sinclair/typebox";
import { listOf } from "../../http/list-schema.ts";
import { Nullable } from "../../http/schema.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import type { AuditEntry } from "../../store/store.ts";

const exampleId = "0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10";

export const AuditEntryObject = t.Object(
  {
    id: t.String({ format: "uuid" }),
    actor: t.Object({
      kind: t.Union([t.Literal("key"), t.Literal("session"), t.Literal("cli"), t.Literal("system")]),
      id: Nullable(t.String({ description: "The key's or session's id.", examples: [exampleId] })),
      ip: Nullable(t.String({ description: "The client's address, cut to /24 or /48.", examples: ["192.0.2.0/24"] })),
      request_id: Nullable(t.String({ description: "The `X-Request-Id` of the call.", examples: [exampleId] })),
    }),
    action: t.String({
      description:
        "What was done: `companion.create`, `.import`, `.update`, `.delete`; `embed_token.create`, `.revoke`; " +
        "`key.create`, `.revoke`; `conversation.delete`; `visitor.erase`; `account.create`, `.update`, `.delete`; " +
        "`session.create`, `.revoke`, and `.refuse` for a failed sign-in.",
      examples: ["companion.update"],
    }),
    target_id: Nullable(t.String({ description: "The id of what it was done to.", examples: [exampleId] })),
    details: t.Object(
      {},
      {
        additionalProperties: true,
        description: "Names of changed fields and the like; never a secret.",
        examples: [{ changed: ["system_prompt"] }],
      },
    ),
    created_at: t.String({ format: "date-time" }),
  },
  { $id: "AuditEntry" },
);

export const AuditList = listOf(AuditEntryObject, "AuditList");

export function toWireAuditEntry(entry: AuditEntry) {
  const { kind, id, ipPrefix, requestId } = entry.actor;
  return {
    id: entry.id,
    actor: { kind, id, ip: ipPrefix, request_id: requestId },
    action: entry.action,
    target_id: entry.targetId,
    details: toWireDetails(entry.details),
    created_at: toRfc3339(entry.createdAt),
  };
}

/** The store names fields as the program does, callers as the wire does. */
function toWireDetails(details: AuditEntry["details"]) {
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [
      toSnakeCase(name),
      name === "changed" && Array.isArray(value) ? value.map(toSnakeCase) : value,
    ]),
  );
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
