/** Asks before an earlier version becomes live again, and says why it cannot, or what of it is missing. */
import { useState } from "preact/hooks";
import { ApiError, call, tagOf, toSentence } from "../lib/api.ts";
import { useAction, useLoad } from "../lib/load.ts";
import type { Companion } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Dialog, DialogActions, FormDialog } from "../ui/dialog.tsx";
import { Problem, Skeleton } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import { ChangeList } from "./change-list.tsx";
import { noteHeader } from "./note.ts";
import { NoteField } from "./note-field.tsx";
import type { FieldChange } from "./types.ts";
import { versionsPath } from "./use-versions.ts";

interface RestoreProps {
  companion: Companion;
  number: number;
  newest: number;
  onRestored(companion: Companion): void;
  onClose(): void;
}

export function RestoreDialog({ companion, number, newest, onRestored, onClose }: RestoreProps) {
  const path = versionsPath(companion.id);
  const [note, setNote] = useState("");
  const [missing, setMissing] = useState<readonly { title: string | null }[]>([]);
  const diff = useLoad<{ changes: FieldChange[] }>(`${path}/${newest}/diff?to=${number}`);
  const read = () => call<Companion>("GET", `/api/companions/${companion.id}`);
  const restore = useAction(async () => {
    const { missing_sources } = await call<{ missing_sources: { title: string | null }[] }>(
      "POST",
      `${path}/${number}/restore`,
      { ifMatch: tagOf(companion), headers: noteHeader(note) },
    );
    onRestored(await read());
    say(`It is as it was in version ${number}.`);
    if (missing_sources.length === 0) onClose();
    else setMissing(missing_sources);
  });
  const isStale = restore.error instanceof ApiError && restore.error.status === 412;

  if (missing.length > 0) {
    return (
      <Dialog title="Restored, but for these sources" onClose={onClose}>
        <p class="text-muted">They were deleted since, and are not brought back. Add them again if they are needed.</p>
        <ul class="mt-3 list-disc pl-5">
          {missing.map(({ title }, at) => (
            <li key={at} dir="auto" class="wrap-anywhere">
              {title ?? "Untitled"}
            </li>
          ))}
        </ul>
        <DialogActions>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </DialogActions>
      </Dialog>
    );
  }
  if (isStale) {
    return (
      <Dialog title="It was changed meanwhile" onClose={onClose}>
        <p class="text-pretty text-muted">
          Since this page was opened the companion was changed, here or elsewhere. Nothing was restored. The list of
          versions shows who changed what; then restore again, if you still want to.
        </p>
        <DialogActions>
          <Button
            kind="primary"
            onClick={() => {
              void read().then(onRestored);
              onClose();
            }}
          >
            Show what changed
          </Button>
        </DialogActions>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title={`Restore version ${number}?`}
      action="Restore"
      isWide
      isThrowaway
      isTold
      submit={restore}
      onClose={onClose}
    >
      <p class="text-pretty text-muted">
        This becomes a new version, which visitors meet from their next message on. Its sources, and whether it is
        paused, stay as they are.
      </p>
      {diff.data ? (
        <div class="max-h-[40vh] overflow-y-auto">
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
