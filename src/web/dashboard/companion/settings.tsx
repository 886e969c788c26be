/** A companion's settings: of what is live, or of its draft. */
import type { ComponentChildren } from "preact";
import { useCallback, useMemo, useState } from "preact/hooks";
import { ApiError, call, changedFields, tagOf } from "../lib/api.ts";
import { formatRelative } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { releaseGuard, replaceSearch, useSearch } from "../lib/router.ts";
import { refreshSession } from "../lib/session.ts";
import type { Companion, CompanionDraft, CompanionSet, CompanionVersion, Page } from "../lib/types.ts";
import { useGuardedSave } from "../ui/guarded-save.tsx";
import { lazy } from "../ui/lazy.tsx";
import { Pending } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import { noteHeader } from "../versions/note.tsx";
import { draftPath, saveDraft } from "../versions/unpublished.ts";
import { versionsPath } from "../versions/use-versions.ts";
import { nameFields } from "../versions/words.ts";
import { type Draft, findChanged, type Settings, toBody, toDraft } from "./draft.ts";
import { Editor, type Saved } from "./editor.tsx";

const DraftBanner = lazy(async () => (await import("../pages/history.tsx")).DraftBanner);

interface SettingsProps {
  companion: Companion;
  /** The set of files that manages it, if one does. */
  managed: CompanionSet | null;
  onChanged(companion: Companion): void;
  children: ComponentChildren;
}

export function CompanionSettings({ companion, managed, onChanged, children }: SettingsProps) {
  const unpublished = useFound<CompanionDraft>(draftPath(companion.id));
  const isAsked = useSearch().get("edit") === "draft";
  const { found: draft } = unpublished;
  const [generation, setGeneration] = useState(0);
  if (isAsked && draft === undefined) return <Pending of={unpublished} lines={6} />;
  const edited = isAsked && draft ? draft : null;
  return (
    <>
      {draft && (
        <DraftBanner
          companion={companion}
          draft={draft}
          isEdited={edited !== null}
          onPublished={(published) => {
            releaseGuard();
            unpublished.set(null);
            replaceSearch({ edit: null });
            onChanged(published);
          }}
          onGone={() => {
            releaseGuard();
            void unpublished.reload().then(() => setGeneration(generation + 1));
          }}
        />
      )}
      <Form
        // A form begins with what it edits.
        key={`${edited === null ? "live" : "draft"} ${generation}`}
        companion={companion}
        managed={managed}
        edited={edited}
        onChanged={onChanged}
        onDraft={unpublished.set}
      >
        {children}
      </Form>
    </>
  );
}

interface FormProps extends SettingsProps {
  /** Null: what is live. */
  edited: CompanionDraft | null;
  onDraft(draft: CompanionDraft): void;
}

/** Who changed one of the fields last, and where that is shown; null where it is not known. */
async function findAuthor(companionId: string, fields: readonly string[]) {
  const { data } = await call<Page<CompanionVersion>>("GET", versionsPath(companionId), { query: { limit: 20 } });
  const latest = data.find(({ changed }) => changed.some((field) => fields.includes(field)));
  const who = latest?.actor?.name ?? null;
  if (latest === undefined || who === null) return null;
  const sentence = `${who} changed the ${nameFields(latest.changed)} ${formatRelative(latest.created_at)}.`;
  return { sentence, href: `/app/companions/${companionId}/history?version=${latest.number}` };
}

const noFields: readonly string[] = [];

type Mine = Saved & { draft: Draft };

function Form({ companion, managed, edited, onChanged, onDraft, children }: FormProps) {
  const path = `/api/companions/${companion.id}`;
  const current: Settings = edited ?? companion;
  // What is edited, and how often another version was begun with.
  const [{ base, round }, setBegun] = useState({ base: current, round: 0 });
  // What is typed stays where nothing of the form was changed elsewhere, as by pausing.
  const isSame = base !== current && findChanged(base, current).length === 0;
  if (isSame) setBegun({ base: current, round });
  const kept = useMemo(() => toDraft(base), [base]);
  function beginWith(next: Settings): void {
    setBegun({ base: next, round: round + 1 });
    if (edited === null) onChanged(next as Companion);
    else onDraft(next as CompanionDraft);
  }
  const { save, question } = useGuardedSave<Settings, Mine>({
    name: edited === null ? base.name : "the draft",
    base,
    tagOf,
    // A draft that is gone is what is live.
    read: async () => (edited && (await find<CompanionDraft>(draftPath(companion.id)))) ?? call<Companion>("GET", path),
    ...(edited === null && {
      findAuthor: (before: Settings, after: Settings) => findAuthor(companion.id, findChanged(before, after)),
    }),
    findChanged: (before, after) => findChanged(before, after).map((field) => field.replaceAll("_", " ")),
    async write({ draft, note, isDraft }, over, ifMatch) {
      const body = changedFields(toBody(kept), toBody(draft));
      if (isDraft) {
        const found = edited === null ? await find<CompanionDraft>(draftPath(companion.id)) : (over as CompanionDraft);
        const tag = edited === null ? found && tagOf(found) : ifMatch;
        const made = await saveDraft(companion, found, body, { note, ifMatch: tag ?? undefined });
        releaseGuard();
        if (edited !== null) beginWith(made);
        else {
          onDraft(made);
          replaceSearch({ edit: "draft" });
          // To what says so.
          window.scrollTo(0, 0);
        }
        say("Saved as a draft. Visitors don't see it yet.");
        return;
      }
      beginWith(await call<Companion>("PATCH", path, { body, ifMatch, headers: noteHeader(note) }));
      // Whether there is an inbox.
      if ("handoff" in body) void refreshSession();
      say("Saved.");
    },
    load: beginWith,
  });
  return (
    <>
      <Editor
        round={round}
        id={companion.id}
        kept={kept}
        target={edited === null ? "live" : "draft"}
        managed={managed?.fields ?? noFields}
        onSave={(draft, saved) => save({ draft, ...saved })}
      >
        {children}
      </Editor>
      {question}
    </>
  );
}

/** Rejects as a call does, but for 404. */
async function find<Data extends object>(path: string, signal?: AbortSignal): Promise<Data | null> {
  try {
    return await call<Data>("GET", path, signal && { signal });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

const wrap = async <Data extends object>(path: string, signal: AbortSignal) => ({
  found: await find<Data>(path, signal),
});

/** What may not be there: null then, where `useLoad` would show an error, and undefined until that is known. */
function useFound<Data extends object>(path: string | null) {
  const { data, error, reload, set: replace } = useLoad<{ found: Data | null }>(path, wrap<Data>);
  const set = useCallback((found: Data | null) => replace({ found }), [replace]);
  return { found: data?.found, error, reload, set };
}
