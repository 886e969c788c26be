/** In place of a dialog whose content is still to come. */
import type { Loaded } from "../lib/load.ts";
import { Dialog, type DialogProps } from "./dialog.tsx";
import { Pending } from "./states.tsx";

/** Nothing, or why it could not be loaded. */
export function LoadingDialog({ of, ...dialog }: Omit<DialogProps, "children"> & { of: Loaded<unknown> }) {
  if (of.error === null) return null;
  return (
    <Dialog {...dialog}>
      <Pending of={of} />
    </Dialog>
  );
}
