/** Addresses as people type them. */

/** People leave out the scheme. */
export function toAddress(typed: string): string {
  const text = typed.trim();
  return text === "" || /^[a-z][\w+.-]*:\/\//i.test(text) ? text : `https://${text}`;
}
