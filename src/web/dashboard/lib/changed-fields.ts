/** What of a form is sent: only the fields that differ, so that changes made elsewhere in the meantime are not undone. */
export function changedFields<Body extends object>(before: Body, after: Body): Partial<Body> {
  const known = new Map(Object.entries(before));
  const isChanged = ([name, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify(known.get(name));
  return Object.fromEntries(Object.entries(after).filter(isChanged)) as Partial<Body>;
}
