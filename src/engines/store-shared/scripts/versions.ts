/** Versions as changes write them: call `write` after the change, with what was there before. */
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import type { ChangeVia, VersionActor } from "../../../domain/version.ts";
import { listChanged, type StoredText, textFields, toContent, toStoredTexts } from "../rows/versions.ts";
import { companionStates, type HeldCompanion } from "./companion-states.ts";
import { all, get, insertAll, run, runAll, type Script } from "./script.ts";
import { versionRoom } from "./version-room.ts";

export interface WrittenChange {
  readonly before: HeldCompanion;
  /** With the new version's number. */
  readonly after: HeldCompanion;
  /** Wire names of what versions keep; none: there is no new version. */
  readonly changed: readonly string[];
}

interface StoredVersion extends Record<(typeof textFields)[number], string | null> {
  companionId: string;
  number: number;
}

const hashes = 'v.system_prompt AS "systemPrompt", v.greeting, v.metadata, v.tools, v.sources';
const selectCurrent = `SELECT v.companion_id AS "companionId", v.number, ${hashes} FROM companion_versions v
  JOIN companions c ON c.id = v.companion_id AND c.version = v.number WHERE c.id = ANY ($1::text[])`;
const setSources = "UPDATE companion_versions SET sources = $3 WHERE companion_id = $1 AND number = $2";
const setVersion = "UPDATE companions SET version = $2 WHERE number = $1";
const selectKeyName = "SELECT name FROM api_keys WHERE id = $1";
const selectKeyNames = "SELECT id, name FROM api_keys WHERE id = ANY ($1::text[])";
const selectMember = "SELECT email AS name FROM members WHERE id = $1";
const selectAccount = "SELECT email AS name FROM accounts WHERE id = $1";

const viaOf: Readonly<Record<string, ChangeVia>> = { key: "api", session: "dashboard", cli: "cli" };

/** Null for what the server does alone. */
function* findActor(accountId: string, { actor, change }: WriteContext): Script<VersionActor | null> {
  const { kind: type, id, member } = actor;
  if (type !== "key" && type !== "session" && type !== "cli") return null;
  const known = change?.actorName ?? null;
  if (known !== null || type === "cli") return { type, id, name: known };
  const whose = type === "key" ? selectKeyName : member ? selectMember : selectAccount;
  const of = type === "key" ? (id ?? "") : (member?.id ?? accountId);
  return { type, id, name: (yield* get<{ name: string }>(whose, of))?.name ?? member?.name ?? null };
}

interface Made {
  held: HeldCompanion;
  createdAt: number;
  actor: VersionActor | null;
  via: ChangeVia | null;
  note: string | null;
  changed: readonly string[];
}

/** The row, and the texts that the version before does not have already. */
function toRows(accountId: string, { held, createdAt, actor, via, note, changed }: Made, known: StoredVersion | null) {
  const content = toContent(held);
  const texts = toStoredTexts(content);
  const row = {
    ...{ companionId: held.companion.id, number: held.companion.version, accountId, createdAt },
    ...{ actorType: actor?.type ?? null, actorId: actor?.id ?? null, actorName: actor?.name ?? null, via, note },
    ...{ changed: JSON.stringify(changed), settings: content.settings },
    ...Object.fromEntries(textFields.map((field) => [field, texts.get(field)?.hash ?? null])),
    bytes: Buffer.byteLength(content.settings) + Buffer.byteLength(note ?? ""),
  };
  return { row, texts: [...texts].filter(([field, { hash }]) => known?.[field] !== hash).map(([, text]) => text) };
}

function* insertVersions(accountId: string, made: readonly [Made, StoredVersion | null][]): Script<void> {
  const rows = made.map(([one, known]) => toRows(accountId, one, known));
  yield* insertTexts(
    accountId,
    rows.flatMap(({ texts }) => texts),
  );
  yield* insertAll(
    "companion_versions",
    rows.map(({ row }) => row),
  );
}

function* insertTexts(accountId: string, texts: readonly StoredText[]): Script<void> {
  const byHash = new Map(texts.map((text) => [text.hash, { accountId, ...text }]));
  yield* insertAll("companion_texts", [...byHash.values()], "ON CONFLICT DO NOTHING");
}

/** Who made each, as far as that is known. */
function* findCreators(held: readonly HeldCompanion[]): Script<Map<string, VersionActor>> {
  const ids = [...new Set(held.flatMap(({ companion }) => companion.createdByKeyId ?? []))];
  const keys = ids.length === 0 ? [] : yield* all<{ id: string; name: string }>(selectKeyNames, ids);
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  return new Map(ids.map((id) => [id, { type: "key", id, name: names.get(id) ?? null }]));
}

/** What a version has of a state that nobody has stored yet. */
export function* describeFirst(held: readonly HeldCompanion[]): Script<Made[]> {
  const creators = yield* findCreators(held);
  return held.map((one) => {
    const { createdByKeyId, createdAt } = one.companion;
    const actor = createdByKeyId === null ? null : (creators.get(createdByKeyId) ?? null);
    return { held: one, createdAt, actor, via: null, note: null, changed: [] };
  });
}

export const versions = {
  /**
   * Writes a version of each of these that has changed in what versions keep, and returns what all of them are now. The
   * companions are locked; `before` is in the order of creation.
   */
  *write(accountId: string, before: readonly HeldCompanion[], context: WriteContext): Script<WrittenChange[]> {
    const ids = before.map(({ companion }) => companion.id);
    const now = new Map((yield* companionStates.read(accountId, ids)).map((held) => [held.companion.id, held]));
    const written = before.map((was): WrittenChange => {
      const is = now.get(was.companion.id) ?? was;
      const changed = listChanged(was, is);
      const version = is.companion.version + (changed.length > 0 ? 1 : 0);
      return { before: was, after: { ...is, companion: { ...is.companion, version } }, changed };
    });
    const changedOnes = written.filter(({ changed }) => changed.length > 0);
    if (changedOnes.length === 0) return written;
    const stored = yield* all<StoredVersion>(
      selectCurrent,
      changedOnes.map(({ after }) => after.companion.id),
    );
    const current = new Map(stored.map((row) => [row.companionId, row]));
    const replaced = yield* finishSources(accountId, changedOnes, current);
    const unstored = changedOnes.filter(({ before: { companion } }) => !current.has(companion.id));
    yield* insertVersions(
      accountId,
      (yield* describeFirst(unstored.map((change) => change.before))).map((made) => [made, null]),
    );
    const actor = yield* findActor(accountId, context);
    const via = context.change?.via ?? viaOf[context.actor.kind] ?? null;
    const facts = { createdAt: context.nowMs, actor, via, note: context.change?.note ?? null };
    yield* insertVersions(
      accountId,
      changedOnes.map(({ after: held, changed }) => [
        { held, changed, ...facts },
        current.get(held.companion.id) ?? null,
      ]),
    );
    yield* runAll(
      setVersion,
      changedOnes.map(({ after: { number, companion } }) => [number, companion.version]),
    );
    yield* versionRoom.removeUnused(accountId, replaced);
    yield* versionRoom.trim(
      accountId,
      changedOnes.map(({ after }) => after.companion),
    );
    return written;
  },
};

/** What sources held while a version was the current one is known when it ends. Returns hashes that were replaced. */
function* finishSources(
  accountId: string,
  ending: readonly WrittenChange[],
  current: ReadonlyMap<string, StoredVersion>,
): Script<string[]> {
  const replaced: string[] = [];
  for (const { before } of ending) {
    const row = current.get(before.companion.id);
    if (row === undefined || before.sources.length === 0) continue;
    const sources = toStoredTexts(toContent(before)).get("sources");
    if (sources === undefined || sources.hash === row.sources) continue;
    yield* insertTexts(accountId, [sources]);
    yield* run(setSources, row.companionId, row.number, sources.hash);
    if (row.sources !== null) replaced.push(row.sources);
    row.sources = sources.hash;
  }
  return replaced;
}
