/** Asks before a draft becomes live, and again where what it changes was changed live meanwhile. */
import { useState } from "preact/hooks";
import { ApiError, call, tagOf } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import { hasUnsavedWork } from "../lib/router.ts";
import type { Companion, CompanionDraft } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Dialog, DialogActions, FormDialog, MessageDialog } from "../ui/dialog.tsx";
import { Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import { ChangeList } from "./change-list.tsx";
import { NoteField, noteHeader } from "./note.tsx";
import { draftPath, listChanges } from "./unpublished.ts";
import { nameFields } from "./words.ts";

interface PublishProps {
  companion: Companion;
  draft: CompanionDraft;
  onPublished(companion: Companion): void;
  /** The draft was changed or discarded meanwhile. */
  onStale(): void;
  onClose(): void;
}

export function PublishDialog({ companion, draft, onPublished, onStale, onClose }: PublishProps) {
  const [note, setNote] = useState("");
  const publish = useAction(async (overwrite: boolean) => {
    const options = { body: { overwrite }, ifMatch: tagOf(draft), headers: noteHeader(note) };
    onPublished(await call<Companion>("POST", `${draftPath(companion.id)}/publish`, options));
    say("Published. It's live from the next message.");
    onClose();
  });
  const { error } = publish;
  const status = error instanceof ApiError ? error.status : 0;

  if (status === 412 || status === 404) {
    return (
      <MessageDialog
        title="Someone changed the draft"
        action="Show latest"
        onAct={() => {
          onStale();
          onClose();
        }}
        onClose={onClose}
      >
        <p class="text-pretty text-muted">
          It was saved, published or discarded since you opened this page. Nothing was published.
        </p>
      </MessageDialog>
    );
  }
  const fields = status === 409 ? (error as ApiError).problem["fields"] : undefined;
  if (Array.isArray(fields)) {
    return (
      <Dialog title="The live version has changed" onClose={onClose}>
        <div class="space-y-3 text-pretty text-muted">
          <p>
            Since you began this draft, <strong class="font-medium text-ink">{nameFields(fields)}</strong> changed in
            the live version. Nothing is published yet.
          </p>
          <p>
            Overwrite the live values with yours (the history keeps the old ones), or cancel and copy what you need into
            the draft.
          </p>
        </div>
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" isBusy={publish.isBusy} onClick={() => void publish.run(true)}>
            Overwrite and publish
          </Button>
        </DialogActions>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title="Publish the draft?"
      action="Publish"
      isWide
      isThrowaway
      submit={{ ...publish, run: () => publish.run(false) }}
      onClose={onClose}
    >
      {hasUnsavedWork() && <Problem>You have unsaved changes on this page. They won't be published.</Problem>}
      <div class="max-h-80 overflow-y-auto">
        <ChangeList changes={listChanges(companion, draft)} />
      </div>
      <NoteField note={note} onNote={setNote} />
    </FormDialog>
  );
}
