/** Removes fields from a body. */

/** Returns anything but an object unchanged. */
export function omitFields(body: unknown, names: readonly (string | undefined)[]): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
}
