/** Cuts long texts so that each piece can be encoded separately. */

/** Where the first piece ends, which has at most so many UTF-16 code units: never within a surrogate pair. */
export function findPieceEnd(text: string, maxUnits: number): number {
  if (text.length <= maxUnits) return text.length;
  const last = text.charCodeAt(maxUnits - 1);
  return last >= 0xd800 && last < 0xdc00 ? maxUnits - 1 : maxUnits;
}
