/** Below a companion's form while something is unsaved: why it is changed, and where it goes, to visitors or to the draft. */
import { useState } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { AskDiscard } from "../ui/dialog.tsx";
import { maxNoteLength } from "../versions/note.tsx";

/** What a form edits. */
export type Target = "new" | "live" | "draft";

interface SaveBarProps {
  target: Target;
  isDirty: boolean;
  isBusy: boolean;
  note: string;
  onNote(note: string): void;
  onDiscard(): void;
  /** Of what is live. */
  onSaveAsDraft(): void;
}

const words = {
  new: { action: "Create companion", state: "Only the name is needed" },
  live: { action: "Save", state: "" },
  draft: { action: "Save the draft", state: "" },
} as const;

export function SaveBar({ target, isDirty, isBusy, note, onNote, onDiscard, onSaveAsDraft }: SaveBarProps) {
  const [isAsked, setIsAsked] = useState(false);
  const { action, state } = words[target];
  return (
    <>
      <div class="sticky bottom-3 z-10 flex animate-[rise_140ms_ease-out] flex-wrap items-center justify-end gap-2 rounded-2xl border border-line bg-card p-2.5 pl-4 [box-shadow:0_10px_32px_--alpha(var(--color-shade)/18%)]">
        {isDirty && target !== "new" ? (
          <input
            aria-label="Note for the history"
            dir="auto"
            class="control min-w-48 flex-1"
            placeholder="Not saved yet. Why this change? (optional)"
            maxLength={maxNoteLength}
            value={note}
            onInput={({ currentTarget: { value } }) => onNote(value)}
          />
        ) : (
          <p class="min-w-0 flex-1 text-14 text-muted">{isDirty ? "Not saved yet" : state}</p>
        )}
        {isDirty && target !== "new" && (
          <Button kind="ghost" onClick={() => setIsAsked(true)}>
            Discard…
          </Button>
        )}
        {target === "live" && (
          <Button disabled={isBusy} onClick={onSaveAsDraft}>
            Keep as a draft
          </Button>
        )}
        <Button type="submit" kind="primary" isBusy={isBusy}>
          {action}
        </Button>
      </div>
      {isAsked && <AskDiscard onDiscard={onDiscard} onClose={() => setIsAsked(false)} />}
    </>
  );
}
