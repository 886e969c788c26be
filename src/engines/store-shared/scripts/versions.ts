/**
 * Versions as changes write them: call `write` after the change, with what was there before. Of the current version only
 * who made it is stored: what it has is the companion itself, until that changes.
 */
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import type { Companion } from "../../../domain/companion.ts";
import type { ChangeVia, VersionActor } from "../../../domain/version.ts";
import { listChanged, type StoredText, textColumns, textFields, toContent, toStoredTexts } from "../rows/versions.ts";
import { type CompanionState, companionStates } from "./companion-states.ts";
import { all, get, insertAll, runAll, type Script } from "./script.ts";
import { versionRoom } from "./version-room.ts";

export interface WrittenChange {
  readonly before: CompanionState;
  /** With the new version's number. */
  readonly after: CompanionState;
  /** Wire names of what versions keep; none: there is no new version. */
  readonly changed: readonly string[];
}

/** The row of a version that is not the first is there already. */
const complete = `ON CONFLICT (companion_id, number) DO UPDATE SET settings = excluded.settings,
  ${textColumns.map((column) => `${column} = excluded.${column}`).join(", ")},
  bytes = companion_versions.bytes + excluded.bytes`;
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
  companionId: string;
  number: number;
  createdAt: number;
  actor: VersionActor | null;
  via: ChangeVia | null;
  note: string | null;
  changed: readonly string[];
}

/** What there is of the current version: the rest is what the companion is. */
const noContent = {
  settings: "{}",
  ...(Object.fromEntries(textFields.map((field) => [field, null])) as Record<
    (typeof textFields)[number],
    string | null
  >),
};

function toRow(accountId: string, { actor, changed, ...made }: Made, content = noContent, contentBytes = 0) {
  return {
    ...{ ...made, accountId, changed: JSON.stringify(changed) },
    ...{ actorType: actor?.type ?? null, actorId: actor?.id ?? null, actorName: actor?.name ?? null, ...content },
    bytes: contentBytes + Buffer.byteLength(made.note ?? ""),
  };
}

/** Of versions that are no longer the current ones: what there is of each is what it was. */
function* insertContents(accountId: string, ended: readonly [CompanionState, Made][]): Script<void> {
  const texts = new Map<string, StoredText & { accountId: string }>();
  const rows = ended.map(([held, made]) => {
    const content = toContent(held);
    const stored = toStoredTexts(content);
    for (const text of stored.values()) texts.set(text.hash, { accountId, ...text });
    const hashes = Object.fromEntries(textFields.map((field) => [field, stored.get(field)?.hash ?? null]));
    const { settings } = content;
    return toRow(accountId, made, { ...noContent, ...hashes, settings }, Buffer.byteLength(settings));
  });
  yield* insertAll("companion_texts", [...texts.values()], "ON CONFLICT DO NOTHING");
  yield* insertAll("companion_versions", rows, complete);
}

/** Who made each, as far as that is known. */
function* findCreators(companions: readonly Companion[]): Script<Map<string, VersionActor>> {
  const firsts = companions.filter(({ version }) => version === 1);
  const ids = [...new Set(firsts.flatMap(({ createdByKeyId }) => createdByKeyId ?? []))];
  const keys = ids.length === 0 ? [] : yield* all<{ id: string; name: string }>(selectKeyNames, ids);
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  return new Map(ids.map((id) => [id, { type: "key", id, name: names.get(id) ?? null }]));
}

/** Of companions that have never changed. */
export function* describeFirst(companions: readonly Companion[]): Script<Made[]> {
  const creators = yield* findCreators(companions);
  return companions.map(({ id: companionId, version: number, createdByKeyId, createdAt }) => {
    const actor = createdByKeyId === null ? null : (creators.get(createdByKeyId) ?? null);
    return { companionId, number, createdAt, actor, via: null, note: null, changed: [] };
  });
}

/** Stores who made these versions, and why. */
function* begin(
  accountId: string,
  begun: readonly { companion: Companion; changed: readonly string[] }[],
  context: WriteContext,
): Script<void> {
  const actor = yield* findActor(accountId, context);
  const via = context.change?.via ?? viaOf[context.actor.kind] ?? null;
  const facts = { createdAt: context.nowMs, actor, via, note: context.change?.note ?? null };
  const rows = begun.map(({ companion: { id: companionId, version: number }, changed }) => {
    return toRow(accountId, { companionId, number, changed, ...facts });
  });
  yield* insertAll("companion_versions", rows);
}

export const versions = {
  /** Of companions that were made with a note: else a first version has no row until it ends. */
  *noteMade(accountId: string, companions: readonly Companion[], context: WriteContext): Script<void> {
    if (context.change?.note == null) return;
    yield* begin(
      accountId,
      companions.map((companion) => ({ companion, changed: [] })),
      context,
    );
  },

  /**
   * Writes a version of each of these that has changed in what versions keep, and returns what all of them are now. The
   * companions are locked. `after`: what is known of that; the others are read again.
   */
  *write(
    accountId: string,
    before: readonly CompanionState[],
    context: WriteContext,
    after: readonly CompanionState[] = [],
  ): Script<WrittenChange[]> {
    const now = new Map(after.map((held) => [held.companion.id, held]));
    const unknown = before.map(({ companion }) => companion.id).filter((id) => !now.has(id));
    for (const held of yield* companionStates.read(accountId, unknown)) now.set(held.companion.id, held);
    const written = before.map((was): WrittenChange => {
      const is = now.get(was.companion.id) ?? was;
      const changed = listChanged(was, is);
      const version = is.companion.version + (changed.length > 0 ? 1 : 0);
      return { before: was, after: { ...is, companion: { ...is.companion, version } }, changed };
    });
    const ended = written.filter(({ changed }) => changed.length > 0);
    if (ended.length === 0) return written;
    const firsts = yield* describeFirst(ended.map((change) => change.before.companion));
    yield* insertContents(
      accountId,
      ended.flatMap((change, at) => (firsts[at] === undefined ? [] : [[change.before, firsts[at]] as const])),
    );
    const begun = ended.map(({ after: { companion }, changed }) => ({ companion, changed }));
    yield* begin(accountId, begun, context);
    yield* runAll(
      setVersion,
      ended.map(({ after: { number, companion } }) => [number, companion.version]),
    );
    yield* versionRoom.trim(
      accountId,
      ended.map(({ after }) => after.companion),
    );
    return written;
  },
};
