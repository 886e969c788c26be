/** The reader of a reply that is not streamed: waits for the end, which the turn's storage has in store. */
import type { TurnEnd, TurnEvent, TurnReader } from "./events.ts";
import type { Turn } from "./turn.ts";

class WholeReply implements TurnReader {
  /** The turn holds the text. */
  readonly heldUnits = 0;
  readonly #end = Promise.withResolvers<TurnEnd>();

  get end(): Promise<TurnEnd> {
    return this.#end.promise;
  }

  take(event: TurnEvent): undefined {
    if (event.type === "end") this.#end.resolve(event);
  }

  dropHeld(): void {}
}

/** Runs the turn to its end; rejects as `Turn.begin` does. The caller's leaving stops it. */
export async function runWhole(turn: Turn, signal: AbortSignal): Promise<TurnEnd> {
  const reader = new WholeReply();
  const leave = () => turn.leave(reader);
  turn.attach(reader);
  signal.addEventListener("abort", leave);
  if (signal.aborted) leave();
  try {
    await turn.begin();
    // A reader that has left gets no end.
    return await Promise.race([reader.end, turn.ended.then(() => ({ type: "end", outcome: "stopped" }) as const)]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
