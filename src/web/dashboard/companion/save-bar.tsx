/** Below a companion's form while something is unsaved: how much, why it is changed, and where it goes, to visitors or to the draft. */
import { X } from "lucide-preact";
import { Button, IconButton } from "../ui/button.tsx";
import { maxNoteLength } from "../versions/note.tsx";

/** What a form edits. */
export type Target = "new" | "live" | "draft";

interface SaveBarProps {
  target: Target;
  /** Fields that were changed. */
  changes: number;
  isBusy: boolean;
  note: string;
  onNote(note: string): void;
  onDiscard(): void;
  /** Brings back what was discarded; null if nothing was. */
  onUndo: (() => void) | null;
  onForget(): void;
  /** Of what is live. */
  onSaveAsDraft(): void;
}

const actions = { new: "Create companion", live: "Save", draft: "Save the draft" } as const;

export function SaveBar(props: SaveBarProps) {
  const { target, changes, isBusy, note, onNote, onDiscard, onUndo, onForget, onSaveAsDraft } = props;
  const isDirty = changes > 0;
  return (
    <div
      class={`flex flex-wrap items-center justify-end gap-2 ${
        // A form in which nothing was typed yet is free to be read.
        isDirty || onUndo
          ? "sticky bottom-3 z-10 animate-[rise_140ms_ease-out] rounded-2xl border border-line bg-card p-2.5 pl-4 floating"
          : ""
      }`}
    >
      <p role="status" class={`mr-2 font-medium ${isDirty ? "" : "flex-1 text-muted"}`}>
        {isDirty ? `${changes} ${changes === 1 ? "change" : "changes"}` : onUndo && "Changes discarded"}
      </p>
      {isDirty && target !== "new" && (
        <input
          aria-label="Note for the history"
          dir="auto"
          class="control min-w-40 flex-1"
          placeholder="Why this change? (optional)"
          maxLength={maxNoteLength}
          value={note}
          onInput={({ currentTarget: { value } }) => onNote(value)}
        />
      )}
      {isDirty && target !== "new" && (
        <Button kind="ghost" disabled={isBusy} onClick={onDiscard}>
          Discard
        </Button>
      )}
      {!isDirty && onUndo && (
        <>
          <Button onClick={onUndo}>Undo</Button>
          <IconButton label="Dismiss" icon={X} size={17} onClick={onForget} />
        </>
      )}
      {isDirty && target === "live" && (
        <Button disabled={isBusy} onClick={onSaveAsDraft}>
          Keep as a draft
        </Button>
      )}
      {(isDirty || target === "new") && (
        <Button type="submit" kind="primary" isBusy={isBusy}>
          {actions[target]}
        </Button>
      )}
    </div>
  );
}
