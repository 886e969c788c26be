/** What can be seen one time only, such as a new key: in a dialog that nothing but its button closes. */
import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";
import { Dialog, DialogActions } from "./dialog.tsx";

interface ShownOnceProps {
  title: string;
  /** Of the button. */
  action?: string;
  onClose(): void;
  children: ComponentChildren;
}

export function ShownOnce({ title, action = "I have saved it", onClose, children }: ShownOnceProps) {
  return (
    <Dialog title={title} onClose={onClose} isSticky isWide>
      <div class="space-y-4">{children}</div>
      <DialogActions>
        <Button kind="primary" onClick={onClose}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
