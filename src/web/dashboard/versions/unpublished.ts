/** A companion's draft: what it would become, until that is published or discarded. */
import { call, changedFields } from "../lib/api.ts";
import type { Companion, CompanionDraft, FieldChange, Json } from "../lib/types.ts";
import { toMergePatch } from "./merge-patch.ts";
import { noteHeader } from "./note.tsx";

export const draftPath = (companionId: string) => `/api/companions/${companionId}/draft`;

type Fields = Record<string, Json>;

const fieldsOf = (settings: Companion | CompanionDraft) => settings as unknown as Fields;

/** Makes the changes part of the draft, beside what it changes already; without `ifMatch` over any other draft. */
export function saveDraft(
  live: Companion,
  draft: CompanionDraft | null,
  changes: Partial<Fields>,
  sent: { note: string; ifMatch: string | undefined },
): Promise<CompanionDraft> {
  const kept = draft && Object.fromEntries(draft.changed.map((field) => [field, fieldsOf(draft)[field]]));
  const wanted = { ...kept, ...changes } as Fields;
  const body: Fields = { ...changedFields(fieldsOf(live), wanted) } as Fields;
  if (body["metadata"] !== undefined) body["metadata"] = toMergePatch(live.metadata, body["metadata"]);
  return call("PUT", draftPath(live.id), { body, ifMatch: sent.ifMatch, headers: noteHeader(sent.note) });
}

/** What would change for visitors. */
export function listChanges(live: Companion, draft: CompanionDraft): FieldChange[] {
  const [before, after] = [fieldsOf(live), fieldsOf(draft)];
  return draft.changed.map((field) => ({ field, from: before[field], to: after[field] }) as FieldChange);
}
