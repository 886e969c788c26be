/** Names what went wrong by the code that the system or the runtime gives an error. */

/** Such as `ENOENT`; an empty text if there is none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
