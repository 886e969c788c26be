/** Bodies of lines that survive their connections: after a cut they are asked for again, from behind the last line. */
import { CompaniondError } from "./errors.ts";
import { readObjects } from "./lines.ts";
import type { OpenedResponse } from "./request.ts";

/** The waits before each try to come back; the count begins again once a line arrived. */
const reconnectDelaysMs = [1000, 2000, 4000];

/** `open` is told the last object that arrived and how many did. Opened for the first time, it has had its tries. */
export async function* resumeObjects<Item>(
  open: (last: Item | null, count: number) => Promise<OpenedResponse>,
  sleep: (durationMs: number) => Promise<void>,
  /** How many of the objects of a further answer are known already. */
  countKnown: (count: number) => number,
): AsyncGenerator<Item, void, undefined> {
  let last: Item | null = null;
  let count = 0;
  let tries = 0;
  let isOpened = false;
  for (;;) {
    try {
      let known = countKnown(count);
      const opened = await open(last, count);
      isOpened = true;
      for await (const item of readObjects<Item>(opened)) {
        if (known-- > 0) continue;
        last = item;
        count++;
        tries = 0;
        yield item;
      }
      return;
    } catch (error) {
      const delayMs = reconnectDelaysMs[tries];
      const isCut = error instanceof CompaniondError && (error.code === "network" || error.code === "timeout");
      if (!isCut || delayMs === undefined || !isOpened) throw error;
      tries++;
      await sleep(delayMs);
    }
  }
}
