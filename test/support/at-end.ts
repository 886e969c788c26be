/**
 * What a test process ends when its last file has run, or, beside other processes, each of its files: `preload.ts` calls it.
 * Where the gate lets files share processes, it ends with the process.
 */
type End = () => Promise<void>;

const ends: End[] = [];

export function atEnd(end: End): void {
  ends.push(end);
}

export async function endAll(): Promise<void> {
  if (process.env["COMPANIOND_TEST_SHARED"] === "1") return;
  for (const end of ends.splice(0)) await end();
}
