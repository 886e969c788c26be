/** A sink for a reply that collects what is written to it. */
import type { ReplySink } from "../../src/llm/provider.ts";

export interface CollectedReply extends ReplySink {
  /** In order, one entry per write. */
  writes: string[][];
  readonly text: string;
  /** Resolves at the first write. */
  firstWrite: Promise<void>;
}

/** `onWrite` says when the reader is ready for more, as a sink does. */
export function collectReply(onWrite: ReplySink["write"] = () => undefined): CollectedReply {
  const { promise, resolve } = Promise.withResolvers<void>();
  const writes: string[][] = [];
  return {
    writes,
    firstWrite: promise,
    get text() {
      return writes.flat().join("");
    },
    write(deltas) {
      writes.push([...deltas]);
      resolve();
      return onWrite(deltas);
    },
  };
}
