/** Native dialogs: the browser keeps the focus inside, closes on Escape, and gives the focus back. */
import { X } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import { useLeaveGuard } from "../lib/router.ts";
import { Button, IconButton } from "./button.tsx";
import { Form, FormProblem, TextField } from "./field.tsx";
import { giveFocusTo } from "./focus.ts";
import { say } from "./toast.tsx";

export interface DialogProps {
  title: string;
  onClose(): void;
  children: ComponentChildren;
  /** Only its own buttons close it, because its content is not shown again. */
  isSticky?: boolean;
  /** Closing it asks first. */
  isHeld?: boolean;
  isWide?: boolean;
}

export function Dialog({ title, onClose, children, isSticky = false, isHeld = false, isWide = false }: DialogProps) {
  const id = useId();
  const ref = useRef<HTMLDialogElement>(null);
  // Read during rendering: a field of the dialog with autofocus has the focus before the dialog is shown.
  const [before] = useState(() => document.activeElement);
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => {
      dialog?.close();
      giveFocusTo(before);
    };
  }, [before]);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (!isSticky) onClose();
      }}
      onClose={({ currentTarget }) => {
        // Browsers close it at the second Escape, however the first was handled.
        if (!currentTarget.isConnected) return;
        if (isSticky || isHeld) currentTarget.showModal();
        if (!isSticky) onClose();
      }}
      class={`m-auto w-[calc(100%-2rem)] ${isWide ? "max-w-2xl" : "max-w-lg"} animate-[rise_140ms_ease-out] rounded-2xl border border-line bg-card p-0 text-ink floating`}
    >
      <div class="p-5 sm:p-6">
        <div class="mb-4 flex items-start justify-between gap-4">
          <h2 id={id} class="min-w-0 text-16 font-semibold wrap-anywhere" dir="auto">
            {title}
          </h2>
          {!isSticky && <IconButton label="Close" icon={X} onClick={onClose} class="-mt-1 -mr-1.5" />}
        </div>
        {children}
      </div>
    </dialog>
  );
}

/** In sight however long the dialog is. */
export function DialogActions({ children }: { children: ComponentChildren }) {
  return (
    <div class="sticky bottom-0 -mx-5 mt-6 -mb-5 flex flex-wrap justify-end gap-2 border-t border-line bg-card px-5 py-4 sm:-mx-6 sm:-mb-6 sm:px-6">
      {children}
    </div>
  );
}

interface MessageProps extends DialogProps {
  /** The label of the button. */
  action: string;
  /** What the button does, if not close it. */
  onAct?(): void;
}

/** Says something, with one button below. */
export function MessageDialog({ action, onAct, children, ...dialog }: MessageProps) {
  return (
    <Dialog {...dialog}>
      {children}
      <DialogActions>
        <Button kind="primary" onClick={onAct ?? dialog.onClose}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

type ShownOnceProps = Pick<DialogProps, "title" | "onClose" | "children"> & { action?: string };

/** What can be seen one time only, such as a new key: nothing but its button closes it. */
export function ShownOnce({ action = "I have saved it", children, ...dialog }: ShownOnceProps) {
  return (
    <MessageDialog {...dialog} action={action} isSticky isWide>
      <div class="space-y-4">{children}</div>
    </MessageDialog>
  );
}

interface AskProps extends DialogProps {
  /** The label of the confirming button. */
  action: string;
  kind?: "primary" | "danger";
  /** The label of the cancelling button. */
  stay?: string;
  /** False while it cannot be done yet. */
  isReady?: boolean;
}

interface FormDialogProps extends AskProps {
  submit: { run(): Promise<void>; isBusy: boolean; error: unknown };
  /** Those that show their own errors. */
  fields?: readonly string[];
  /** What is typed is worth nothing on its own: it goes without a question. */
  isThrowaway?: boolean;
  /** What the form began with: with another object, nothing is typed any more. */
  kept?: object | null;
  class?: string;
}

/** Asks before text that someone has typed is lost: by its buttons, by Escape, and by leaving the page. */
export function FormDialog({ action, kind = "primary", stay = "Cancel", isReady = true, ...props }: FormDialogProps) {
  const { submit, fields, isThrowaway = false, kept, class: spacing = "space-y-4", children, ...dialog } = props;
  const [isTyped, setIsTyped] = useState(false);
  const [isAsking, setIsAsking] = useState(false);
  useLeaveGuard(isTyped);
  useEffect(() => setIsTyped(false), [kept]);
  const close = () => (isTyped ? setIsAsking(true) : dialog.onClose());
  return (
    <>
      <Dialog {...dialog} isHeld={isTyped} onClose={close}>
        <Form
          class={spacing}
          onInput={({ target }) => setIsTyped(isTyped || (!isThrowaway && isText(target)))}
          onSubmit={() => isReady && void submit.run()}
        >
          {children}
          <FormProblem error={submit.error} fields={fields} />
          <DialogActions>
            <Button onClick={close}>{stay}</Button>
            <Button type="submit" kind={kind} disabled={!isReady} isBusy={submit.isBusy}>
              {action}
            </Button>
          </DialogActions>
        </Form>
      </Dialog>
      {isAsking && <AskDiscard onDiscard={dialog.onClose} onClose={() => setIsAsking(false)} />}
    </>
  );
}

function isText(target: EventTarget | null): boolean {
  if (target instanceof HTMLTextAreaElement) return true;
  return target instanceof HTMLInputElement && !/^(checkbox|radio|file|search)$/.test(target.type);
}

export function AskDiscard({ onDiscard, onClose }: { onDiscard(): void; onClose(): void }) {
  return (
    <Confirm title="Discard your changes?" action="Discard" stay="Keep editing" onConfirm={onDiscard} onClose={onClose}>
      <p>What you typed hasn't been saved and can't be recovered.</p>
    </Confirm>
  );
}

interface ConfirmProps extends AskProps {
  /** Text that must be typed first. */
  typed?: { label: string; text: string };
  onConfirm(): Promise<void> | void;
}

export function Confirm({ children, isReady = true, typed, onConfirm, ...ask }: ConfirmProps) {
  const [text, setText] = useState("");
  const submit = useAction(async () => {
    await onConfirm();
    ask.onClose();
  });
  const isAllowed = isReady && (typed === undefined || text.trim() === typed.text.trim());
  return (
    <FormDialog kind="danger" {...ask} isThrowaway isReady={isAllowed} submit={submit}>
      <div class="space-y-3 text-muted">{children}</div>
      {typed && <TextField label={typed.label} value={text} onValue={setText} />}
    </FormDialog>
  );
}

interface ConfirmDeleteProps extends Omit<ConfirmProps, "action" | "onConfirm"> {
  action?: string;
  /** Of what is deleted, in the API. */
  path: string;
  /** Only while it has this tag. */
  ifMatch?: string | undefined;
  /** What is said once it is gone. */
  done?: string;
  onDone(): Promise<void> | void;
}

export function ConfirmDelete({
  path,
  ifMatch,
  done = "Deleted.",
  onDone,
  action = "Delete",
  ...ask
}: ConfirmDeleteProps) {
  async function remove(): Promise<void> {
    await call("DELETE", path, { ifMatch });
    say(done);
    await onDone();
  }
  return <Confirm {...ask} action={action} onConfirm={remove} />;
}
