/** Bodies with one object on each line, which survive their connections: after a cut they go on behind the last line. */
import { CompanionError } from "../reply-reader/errors.ts";
import type { OpenedResponse } from "../reply-reader/request.ts";
import { reconnectDelaysMs } from "../reply-reader/waiting.ts";
import { CompaniondError, toCompaniondError } from "./errors.ts";

/** `open` receives the last object that arrived and how many did. Opened for the first time, it has had its tries. */
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
      const isCut = error instanceof CompanionError && error.isCut;
      if (!isCut || delayMs === undefined || !isOpened) throw toCompaniondError(error);
      tries++;
      await sleep(delayMs);
    }
  }
}

/** Ends with the body. Closes the response when it is left. */
async function* readObjects<Item>({ response, next, close }: OpenedResponse): AsyncGenerator<Item, void, undefined> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const part = reader === undefined ? { done: true as const, value: undefined } : await next(reader.read());
      const lines = (rest + decoder.decode(part.value, { stream: !part.done })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.trim() !== "") yield parseLine<Item>(line, false);
      if (!part.done) continue;
      if (rest !== "") yield parseLine<Item>(rest, true);
      return;
    }
  } finally {
    close();
  }
}

/** What ends without a line break and is no JSON was cut, which not every proxy and runtime reports. */
function parseLine<Item>(line: string, isCut: boolean): Item {
  try {
    return JSON.parse(line) as Item;
  } catch (cause) {
    if (isCut)
      throw new CompaniondError("network", { message: "The connection broke inside the answer.", isCut, cause });
    throw new CompaniondError("bad_response", { message: "A line of the answer is not JSON.", cause });
  }
}
