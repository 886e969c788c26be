/** Drafts of companions. */
import type { DraftStore } from "../../../contracts/store/drafts.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import type { Draft, VersionSettings } from "../../../domain/version.ts";
import { toLaterMs } from "../../../lib/clock.ts";
import { toSnakeCase } from "../../../lib/field-names.ts";
import { companionEvent } from "../rows/events.ts";
import { changes } from "./changes.ts";
import { companionStates, ofAccount } from "./companion-states.ts";
import type { CompanionWriter } from "./companion-writes.ts";
import { holdings } from "./holdings.ts";
import { columns, get, insert, run, type Script, type ScriptRunner } from "./script.ts";

/** `patch` and `base` are JSON. */
type DraftRow = Omit<Draft, "patch" | "base"> & { patch: string; base: string };

const shown = columns<DraftRow>("d", ["companionId", "patch", "base", "beganVersion", "createdAt", "updatedAt"]);
export const draftQueries = {
  one: `SELECT ${shown} FROM companion_drafts d WHERE d.companion_id = $1
    AND EXISTS (SELECT 1 FROM companions c WHERE c.id = $1 AND ${ofAccount("$2")})`,
};
const remove = "DELETE FROM companion_drafts WHERE companion_id = $1";
const replace = `ON CONFLICT (companion_id) DO UPDATE SET patch = excluded.patch, base = excluded.base,
  began_version = excluded.began_version, bytes = excluded.bytes, created_at = excluded.created_at,
  updated_at = excluded.updated_at`;

function* find(accountId: string, companionId: string): Script<Draft | null> {
  const row = yield* get<DraftRow>(draftQueries.one, companionId, accountId);
  if (row === null) return null;
  return { ...row, patch: JSON.parse(row.patch), base: JSON.parse(row.base) };
}

function* record(context: WriteContext, accountId: string, action: string, targetId: string, patch: object) {
  const details = { changed: Object.keys(patch) };
  yield* changes.record(context, { accountId, action, targetId, details });
}

export function createDraftStore(scripts: ScriptRunner, writer: CompanionWriter): DraftStore {
  return {
    find: (accountId, companionId) => scripts.read(() => find(accountId, companionId)),

    put: (accountId, companionId, decide, context) =>
      scripts.change(accountId, function* () {
        const held = yield* companionStates.lockOne(accountId, companionId);
        if (held === null) return null;
        const { companion } = held;
        const current = yield* find(accountId, companionId);
        const patch = decide(companion, current);
        const fields = Object.keys(patch) as (keyof VersionSettings)[];
        const base = Object.fromEntries(fields.map((field) => [field, companion[field]])) as Partial<VersionSettings>;
        const updatedAt = current === null ? context.nowMs : toLaterMs(context.nowMs, current.updatedAt);
        const draft = { companionId, patch, base, beganVersion: companion.version, createdAt: updatedAt, updatedAt };
        const before = yield* holdings.measure(accountId, context);
        const texts = { patch: JSON.stringify(patch), base: JSON.stringify(base) };
        const bytes = Buffer.byteLength(texts.patch) + Buffer.byteLength(texts.base);
        yield* insert("companion_drafts", { ...draft, ...texts, accountId, bytes }, replace);
        yield* holdings.checkGrowth(accountId, before, context);
        yield* record(context, accountId, "draft.update", companionId, patch);
        return draft;
      }),

    delete: (accountId, companionId, context, check) =>
      scripts.change(accountId, function* () {
        const draft = yield* find(accountId, companionId);
        if (draft === null) return false;
        check?.(draft);
        yield* run(remove, companionId);
        yield* record(context, accountId, "draft.delete", companionId, draft.patch);
        return true;
      }),

    publish: (accountId, companionId, decide, context) =>
      scripts.change(accountId, function* () {
        const held = yield* companionStates.lockOne(accountId, companionId);
        const draft = held === null ? null : yield* find(accountId, companionId);
        if (held === null || draft === null) return null;
        const patch = decide(held.companion, draft);
        const [written] = yield* writer.revise(accountId, [{ held, revision: { patch } }], context);
        yield* run(remove, companionId);
        yield* record(context, accountId, "draft.publish", companionId, patch);
        if (written === undefined || written.changed.length === 0) return held.companion;
        const { companion } = written.after;
        if (context.hasWebhooks !== false) {
          const changed = Object.keys(patch).map(toSnakeCase);
          yield* writer.emit([companionEvent("companion.updated", accountId, companion, context, changed)]);
        }
        return companion;
      }),
  };
}
