/** Asks before an earlier version becomes live again, and shows why it cannot, or what of it is missing. */
import { useState } from "preact/hooks";
import { ApiError, call, tagOf, toSentence } from "../lib/api.ts";
import { useAction, useLoad } from "../lib/load.ts";
import type { Companion, FieldChange, RestoredCompanion } from "../lib/types.ts";
import { FormDialog, MessageDialog } from "../ui/dialog.tsx";
import { Problem, Skeleton } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import { ChangeList } from "./change-list.tsx";
import { NoteField, noteHeader } from "./note.tsx";
import { versionsPath } from "./use-versions.ts";

interface RestoreProps {
  companion: Companion;
  number: number;
  newest: number;
  onRestored(companion: Companion): void;
  onClose(): void;
}

/** What did not come back as it was. */
type Restored = Pick<RestoredCompanion, "missing_sources" | "new_tools">;

export function RestoreDialog({ companion, number, newest, onRestored, onClose }: RestoreProps) {
  const path = versionsPath(companion.id);
  const [note, setNote] = useState("");
  const [left, setLeft] = useState<Restored | null>(null);
  const diff = useLoad<{ changes: FieldChange[] }>(`${path}/${newest}/diff?to=${number}`);
  const read = () => call<Companion>("GET", `/api/companions/${companion.id}`);
  const restore = useAction(async () => {
    const options = { ifMatch: tagOf(companion), headers: noteHeader(note) };
    const restored = await call<Restored>("POST", `${path}/${number}/restore`, options);
    onRestored(await read());
    say(`Version ${number} is live again.`);
    if (restored.missing_sources.length + restored.new_tools.length === 0) onClose();
    else setLeft(restored);
  });
  const isStale = restore.error instanceof ApiError && restore.error.status === 412;

  if (left !== null) return <WhatIsLeft {...left} onClose={onClose} />;
  if (isStale) {
    return (
      <MessageDialog
        title="Someone changed this companion"
        action="Show changes"
        onAct={() => {
          void read().then(onRestored);
          onClose();
        }}
        onClose={onClose}
      >
        <p class="text-pretty text-muted">
          It changed since you opened this page. Nothing was restored. See who changed what, then restore again if you
          still want to.
        </p>
      </MessageDialog>
    );
  }
  return (
    <FormDialog
      title={`Restore version ${number}?`}
      action="Restore"
      isWide
      isThrowaway
      submit={{ ...restore, error: null }}
      onClose={onClose}
    >
      <p class="text-pretty text-muted">
        Restoring creates a new version that's live from the next message. Sources stay as they are, and so does Live or
        Paused.
      </p>
      {diff.data ? (
        <div class="max-h-80 overflow-y-auto">
          <ChangeList changes={diff.data.changes.filter(({ field }) => field !== "sources")} />
        </div>
      ) : (
        diff.error === null && <Skeleton lines={2} />
      )}
      <NoteField note={note} onNote={setNote} />
      {restore.error !== null && <Refusal error={restore.error} />}
    </FormDialog>
  );
}

function WhatIsLeft({ missing_sources: sources, new_tools: tools, onClose }: Restored & { onClose(): void }) {
  return (
    <MessageDialog title="Restored, with exceptions" action="Done" onClose={onClose}>
      {sources.length > 0 && (
        <>
          <p class="text-muted">
            These sources have been deleted and weren't restored. Add them again if you need them.
          </p>
          <Names names={sources.map(({ title }) => title)} />
        </>
      )}
      {tools.length > 0 && (
        <>
          <p class="mt-4 text-muted">
            These tools had been deleted. They're back with new secrets and without headers: rotate the secrets and
            enter the headers again.
          </p>
          <Names names={tools.map(({ name }) => name)} />
        </>
      )}
    </MessageDialog>
  );
}

function Names({ names }: { names: readonly string[] }) {
  return (
    <ul class="mt-2 space-y-1">
      {names.map((name, at) => (
        <li key={at} dir="auto" class="wrap-anywhere">
          {name}
        </li>
      ))}
    </ul>
  );
}

/** What was allowed once may be refused today: each field with its reason. */
function Refusal({ error }: { error: unknown }) {
  const fields = error instanceof ApiError ? error.fields : [];
  return (
    <Problem>
      {toSentence(error)}
      {fields.map(({ param, detail }) => ` ${param}: ${detail}`)}
    </Problem>
  );
}
