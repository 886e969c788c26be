/** Where a person writes why a change is made. */
import { TextField } from "../ui/field.tsx";
import { maxNoteLength } from "./note.ts";

export function NoteField({ note, onNote }: { note: string; onNote(note: string): void }) {
  return (
    <TextField
      label="Note"
      aside="optional"
      maxLength={maxNoteLength}
      value={note}
      onValue={onNote}
      placeholder="Why?"
      hint="It stands in the history beside the change."
    />
  );
}
