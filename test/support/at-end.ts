/** What a test process ends when its last file has run: `preload.ts` calls it. */
type End = () => Promise<void>;

const ends: End[] = [];

export function atEnd(end: End): void {
  ends.push(end);
}

export async function endAll(): Promise<void> {
  for (const end of ends.splice(0)) await end();
}
