/** `X-Change-Note`: why something is changed, kept with the version that comes of it. */
import { invalidFields } from "../domain/errors.ts";
import { maxChangeNoteLength } from "../domain/version.ts";

const headerName = "X-Change-Note";

/** Null without one. Throws `invalid_request` where it is malformed: headers have ASCII alone, so the rest is escaped. */
export function readChangeNote(request: Request): string | null {
  const sent = request.headers.get(headerName);
  if (sent === null) return null;
  const note = decode(sent)?.trim();
  if (note === undefined || note.includes("\0")) {
    const detail = "Must be UTF-8 without NUL, percent-encoded, as encodeURIComponent() makes it.";
    throw invalidFields([{ param: headerName, detail }]);
  }
  if ([...note].length > maxChangeNoteLength) {
    throw invalidFields([{ param: headerName, detail: `Must be at most ${maxChangeNoteLength} characters.` }]);
  }
  return note === "" ? null : note;
}

function decode(sent: string): string | undefined {
  if (!/^[\x20-\x7e]*$/.test(sent)) return undefined;
  try {
    return decodeURIComponent(sent);
  } catch {
    return undefined;
  }
}
