/** A body without some of its fields. */

/** Anything but an object is returned as it is. */
export function omitFields(body: unknown, names: readonly (string | undefined)[]): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
}
