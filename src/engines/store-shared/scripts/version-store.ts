/** Versions of companions, as they are read and restored. */
import type { VersionPageRequest, VersionStore } from "../../../contracts/store/versions.ts";
import type { CompanionVersion, VersionFacts } from "../../../domain/version.ts";
import { companionEvent } from "../rows/events.ts";
import { type ContentRow, fromContent, toContent, toFacts, type VersionRow } from "../rows/versions.ts";
import { changes } from "./changes.ts";
import { companionStates, type HeldCompanion } from "./companion-states.ts";
import type { CompanionWriter } from "./companion-writes.ts";
import { all, columns, get, type Script, type ScriptRunner } from "./script.ts";
import { describeFirst } from "./versions.ts";

const facts = columns<VersionRow>("v", [
  ...(["number", "createdAt", "actorType", "actorId", "actorName", "via", "note", "changed"] as const),
]);
const textOf = (column: string, field: string) =>
  `(SELECT t.text FROM companion_texts t WHERE t.account_id = v.account_id AND t.hash = v.${column}) AS "${field}"`;
const content = [
  "v.settings",
  textOf("system_prompt", "systemPrompt"),
  ...["greeting", "metadata", "tools", "sources"].map((column) => textOf(column, column)),
].join(", ");
const page = (comparison: string, order: string) => `SELECT ${facts} FROM companion_versions v
  WHERE v.companion_id = $1 AND v.number ${comparison} $2 ORDER BY v.number ${order} LIMIT $3`;

export const versionQueries = {
  pages: { asc: page(">", "ASC"), desc: page("<", "DESC") },
  one: `SELECT ${facts}, ${content} FROM companion_versions v WHERE v.companion_id = $1 AND v.number = $2`,
  since: `SELECT v.companion_id AS "companionId", ${facts} FROM companion_versions v
    JOIN applied_companions a ON a.companion_id = v.companion_id AND v.number > a.version
    WHERE v.companion_id = ANY ($1::text[]) ORDER BY v.number`,
};

/** Of a companion that has never changed, and has no rows. */
function* firstOf(held: HeldCompanion): Script<VersionFacts> {
  const [first] = yield* describeFirst([held.companion]);
  const { actor = null, createdAt = held.companion.createdAt } = first ?? {};
  return { number: held.companion.version, createdAt, actor, via: null, note: null, changed: [] };
}

const firstNumber = { asc: 0, desc: 2 ** 31 - 1 };

function* listVersions(held: HeldCompanion, { limit, afterNumber, order = "desc" }: VersionPageRequest) {
  const after = afterNumber ?? firstNumber[order];
  const rows = yield* all<VersionRow>(versionQueries.pages[order], held.companion.id, after, limit + 1);
  if (rows.length === 0 && afterNumber === null) return [yield* firstOf(held)];
  return rows.map(toFacts);
}

export function createVersionStore(scripts: ScriptRunner, writer: CompanionWriter): VersionStore {
  return {
    list: (accountId, companionId, request) =>
      scripts.read(function* () {
        const [held] = yield* companionStates.read(accountId, [companionId]);
        if (held === undefined) return null;
        const found = yield* listVersions(held, request);
        const items = found.slice(0, request.limit);
        return { items, nextAfterNumber: found.length > request.limit ? (items.at(-1)?.number ?? null) : null };
      }),

    find: (accountId, companionId, number) =>
      scripts.read(function* (): Script<CompanionVersion | null> {
        const [held] = yield* companionStates.read(accountId, [companionId]);
        if (held === undefined) return null;
        const row = yield* get<VersionRow & ContentRow>(versionQueries.one, companionId, number);
        if (held.companion.version === number) {
          const { settings, texts } = toContent(held);
          const known = row === null ? yield* firstOf(held) : toFacts(row);
          return { ...known, ...fromContent({ settings, ...texts }) };
        }
        return row === null ? null : { ...toFacts(row), ...fromContent(row) };
      }),

    restore: (accountId, companionId, decide, context) =>
      scripts.change(accountId, function* () {
        const held = yield* companionStates.lockOne(accountId, companionId);
        if (held === null) return null;
        const revision = decide(held);
        const [written] = yield* writer.revise(accountId, [{ held, revision }], context);
        if (written === undefined || written.changed.length === 0) return held;
        const { after, changed } = written;
        const change = {
          accountId,
          action: "companion.restore",
          targetId: companionId,
          details: { changed: [...changed] },
        };
        yield* changes.record(context, change);
        if (context.hasWebhooks !== false) {
          yield* writer.emit([companionEvent("companion.updated", accountId, after.companion, context, changed)]);
        }
        return after;
      }),
  };
}
