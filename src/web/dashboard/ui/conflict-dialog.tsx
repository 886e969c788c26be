/** What is asked when something was changed elsewhere while it was edited here. */
import { toSentence } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import { Button } from "./button.tsx";
import { Dialog, DialogActions } from "./dialog.tsx";
import { Problem } from "./states.tsx";

interface ConflictProps {
  name: string;
  /** What was changed elsewhere, in words. */
  fields: readonly string[];
  onSave(): Promise<void>;
  onLoad(): void;
  onClose(): void;
}

export function ConflictDialog({ name, fields, onSave, onLoad, onClose }: ConflictProps) {
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
