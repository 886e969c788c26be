/** Splits a streamed body into lines, wherever its bytes were cut. */
import { CompaniondError } from "./errors.ts";
import type { OpenedResponse } from "./request.ts";

/** Ends with the body; a last line without a line break comes too. Closes the response when it is left. */
export async function* readLines({ response, next, close }: OpenedResponse): AsyncGenerator<string, void, undefined> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const part = reader === undefined ? { done: true as const, value: undefined } : await next(reader.read());
      const lines = (rest + decoder.decode(part.value, { stream: !part.done })).split(/\r\n|[\r\n]/);
      rest = lines.pop() ?? "";
      yield* lines;
      if (part.done) break;
    }
    if (rest !== "") yield rest;
  } finally {
    close();
  }
}

/** The objects of a body with one on each line. */
export async function* readObjects<Item>(opened: OpenedResponse): AsyncGenerator<Item, void, undefined> {
  for await (const line of readLines(opened)) {
    if (line === "") continue;
    yield parseLine<Item>(line);
  }
}

function parseLine<Item>(line: string): Item {
  try {
    return JSON.parse(line) as Item;
  } catch (cause) {
    throw new CompaniondError("bad_response", { message: "A line of the answer is not JSON.", cause });
  }
}
