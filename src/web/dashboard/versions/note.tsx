/** Why a change is made: where a person writes it, and how it is sent. */
import { TextField } from "../ui/field.tsx";

export const maxNoteLength = 500;

export function NoteField({ note, onNote }: { note: string; onNote(note: string): void }) {
  return (
    <TextField
      label="Note"
      aside="optional"
      maxLength={maxNoteLength}
      value={note}
      onValue={onNote}
      placeholder="Why?"
      hint="Shown with this change in the history."
    />
  );
}

/** Of a request that changes a companion, its tools or its sources. */
export function noteHeader(note: string): Record<string, string> {
  return note.trim() === "" ? {} : { "x-change-note": encodeURIComponent(note.trim()) };
}
