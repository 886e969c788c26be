/** Saving over the version that was read, and no other: what somebody else changed meanwhile is shown first. */
import { useState } from "preact/hooks";
import { ApiError, toSentence } from "../lib/api.ts";
import { type Loaded, useAction } from "../lib/load.ts";
import { Button } from "./button.tsx";
import { Dialog, DialogActions, type DialogProps } from "./dialog.tsx";
import { Pending, Problem } from "./states.tsx";

interface Guarded<Kept, Mine> {
  /** Of what is edited, for people. */
  name: string;
  /** The version that the form began with. */
  base: Kept;
  tagOf(kept: Kept): string | undefined;
  read(): Promise<Kept>;
  /** What differs between two versions, in words of the form. */
  findChanged(before: Kept, after: Kept): readonly string[];
  /** Saves what was changed here over that version: with its tag, only while it is the one that is there. */
  write(mine: Mine, over: Kept, ifMatch?: string): Promise<void>;
  /** Begins anew, with another version. */
  load(theirs: Kept): void;
}

export function useGuardedSave<Kept, Mine>(guarded: Guarded<Kept, Mine>) {
  const { name, base, tagOf, read, findChanged, write, load } = guarded;
  const [conflict, setConflict] = useState<{ theirs: Kept; mine: Mine } | null>(null);

  async function saveOver(known: Kept, mine: Mine): Promise<void> {
    try {
      await write(mine, known, tagOf(known));
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 412)) throw error;
      const theirs = await read();
      if (findChanged(known, theirs).length > 0) {
        setConflict({ theirs, mine });
        return;
      }
      // Nothing of the form was changed, or a proxy has its own tags.
      await write(mine, theirs);
    }
    setConflict(null);
  }

  const question = conflict && (
    <ConflictDialog
      name={name}
      fields={findChanged(base, conflict.theirs)}
      onSave={() => saveOver(conflict.theirs, conflict.mine)}
      onLoad={() => load(conflict.theirs)}
      onClose={() => setConflict(null)}
    />
  );
  return { save: (mine: Mine) => saveOver(base, mine), question };
}

/** In place of a dialog whose version is still to come: nothing, or why it could not be loaded. */
export function LoadingDialog({ of, ...dialog }: Omit<DialogProps, "children"> & { of: Loaded<unknown> }) {
  if (of.error === null) return null;
  return (
    <Dialog {...dialog}>
      <Pending of={of} />
    </Dialog>
  );
}

interface ConflictProps {
  name: string;
  /** What was changed elsewhere, in words. */
  fields: readonly string[];
  onSave(): Promise<void>;
  onLoad(): void;
  onClose(): void;
}

/** What is asked when something was changed elsewhere while it was edited here. */
function ConflictDialog({ name, fields, onSave, onLoad, onClose }: ConflictProps) {
  const save = useAction(onSave);
  return (
    <Dialog title={`${name} was changed meanwhile`} onClose={onClose}>
      <div class="space-y-3 text-pretty text-muted">
        <p>
          Somebody, or another tab of yours, has saved other values of{" "}
          <strong class="font-medium text-ink">{fields.join(", ")}</strong> since you began to edit. Nothing of yours is
          saved yet.
        </p>
        <p>
          Save yours over it: the fields that you changed become yours, and the others stay as they were saved there. Or
          load theirs: what you changed here is lost.
        </p>
      </div>
      {save.error !== null && <Problem class="mt-4">{toSentence(save.error)}</Problem>}
      <DialogActions>
        <Button onClick={onClose}>Go on editing</Button>
        <Button
          kind="risk"
          onClick={() => {
            onLoad();
            onClose();
          }}
        >
          Load theirs
        </Button>
        <Button kind="primary" isBusy={save.isBusy} onClick={() => void save.run()}>
          Save mine over it
        </Button>
      </DialogActions>
    </Dialog>
  );
}
