/** A sink for a reply that collects what is written to it. */
import type { ReplySink } from "../../src/contracts/llm/provider.ts";

export interface CollectedReply extends ReplySink {
  /** In order, one entry per event of text. */
  writes: string[][];
  readonly text: string;
  /** Resolves with the first one. */
  firstWrite: Promise<void>;
}

/** `onEvent` resolves when the reader is ready for more, as a sink does. */
export function collectReply(onEvent: ReplySink["emit"] = () => undefined): CollectedReply {
  const { promise, resolve } = Promise.withResolvers<void>();
  const writes: string[][] = [];
  return {
    writes,
    firstWrite: promise,
    get text() {
      return writes.flat().join("");
    },
    emit(event) {
      writes.push([...event.deltas]);
      resolve();
      return onEvent(event);
    },
  };
}
