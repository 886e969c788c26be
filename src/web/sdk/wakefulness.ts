/** When the browser is back on the network: open connections are then dead, and waiting has no point any more. */
import { CompanionError } from "./errors.ts";
import { sleep } from "./request.ts";
import { joinSignals } from "./signals.ts";

/** After so long nobody waits for a network any more. */
const longestOfflineMs = 10 * 60_000;

/** Calls on each `online` event; returns a function that stops. Outside browsers it never does. */
function whenOnline(act: () => void): () => void {
  globalThis.addEventListener?.("online", act);
  return () => globalThis.removeEventListener?.("online", act);
}

/** A signal that ends one connection: with the call, or when the network has changed, for what was open is dead then. */
export function openLine(signal: AbortSignal | undefined) {
  const line = joinSignals(signal);
  const unwatch = whenOnline(() => line.abort(new CompanionError("network", { isCut: true })));
  return {
    signal: line.signal,
    close() {
      line.release();
      unwatch();
    },
  };
}

/** Waits, and while the browser knows that it is offline for the network as well. Ends early when that is back. */
export async function pause(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  const early = joinSignals(signal);
  const unwatch = whenOnline(() => early.abort(null));
  try {
    await sleep(durationMs, early.signal);
    if (Object(globalThis.navigator).onLine === false) await sleep(longestOfflineMs, early.signal);
  } catch {
    signal?.throwIfAborted();
  } finally {
    unwatch();
    early.release();
  }
}
