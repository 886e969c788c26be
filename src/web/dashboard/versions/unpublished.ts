/** A companion's draft: what it would become, until that is published or discarded. */
import { call, changedFields } from "../lib/api.ts";
import type { Companion, Json } from "../lib/types.ts";
import { noteHeader } from "./note.tsx";
import type { CompanionDraft, FieldChange } from "./types.ts";

export const draftPath = (companionId: string) => `/api/companions/${companionId}/draft`;

type Fields = Record<string, Json>;

const fieldsOf = (companion: Companion | CompanionDraft) => companion as unknown as Fields;

/** Makes the changes part of the draft, beside what it changes already; without `ifMatch` over any other draft. */
export function saveDraft(
  live: Companion,
  draft: CompanionDraft | null,
  changes: Partial<Fields>,
  sent: { note: string; ifMatch: string | undefined },
): Promise<CompanionDraft> {
  const kept = Object.fromEntries((draft?.changed ?? []).map((field) => [field, fieldsOf(draft as Companion)[field]]));
  const body = changedFields(fieldsOf(live), { ...kept, ...changes } as Fields);
  return call("PUT", draftPath(live.id), { body, ifMatch: sent.ifMatch, headers: noteHeader(sent.note) });
}

/** What would change for visitors. */
export function listChanges(live: Companion, draft: CompanionDraft): FieldChange[] {
  const [before, after] = [fieldsOf(live), fieldsOf(draft)];
  return draft.changed.map((field) => ({ field, from: before[field] ?? null, to: after[field] ?? null }));
}
