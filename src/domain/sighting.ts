/** Websites on which a companion was seen: those whose pages have asked for its configuration. */

export interface Sighting {
  /** In normal form. */
  origin: string;
  firstSeenAt: number;
  /** Changes at most once in a UTC day. */
  lastSeenAt: number;
}

export const maxSightings = 20;
/** A website that was seen since then is not forgotten for another: anyone can send any origin. */
const lastingMs = 7 * 24 * 60 * 60_000;
const dayOf = (atMs: number) => Math.floor(atMs / (24 * 60 * 60_000));

/** Newest first; the same list where nothing changes. */
export function addSighting(known: readonly Sighting[], origin: string, atMs: number): readonly Sighting[] {
  const before = known.find((one) => one.origin === origin);
  const others = known.filter((one) => one !== before);
  if (before !== undefined && dayOf(before.lastSeenAt) >= dayOf(atMs)) return known;
  if (others.length >= maxSightings) {
    const oldest = others.pop();
    if (oldest !== undefined && oldest.lastSeenAt > atMs - lastingMs) return known;
  }
  const added = { origin, firstSeenAt: before?.firstSeenAt ?? atMs, lastSeenAt: atMs };
  return [added, ...others].sort((one, other) => other.lastSeenAt - one.lastSeenAt);
}
