/** A change's note for the history, as it is sent. */

export const maxNoteLength = 500;

/** Of a request that changes a companion, its tools or its sources. */
export function noteHeader(note: string): Record<string, string> {
  return note.trim() === "" ? {} : { "x-change-note": encodeURIComponent(note.trim()) };
}
