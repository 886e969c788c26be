/** When the browser is back on the network: open connections are then dead, and waiting has no point any more. */
import { CompanionError } from "../../reply-reader/errors.ts";
import { sleep } from "../../reply-reader/waiting.ts";
import { joinSignals } from "./signals.ts";

/** After so long no one waits for a network any more. */
const maxOfflineMs = 10 * 60_000;

/** A signal that ends one connection: with the call, or when the network has changed, for what was open is dead then. */
export function openLine(signal: AbortSignal | undefined) {
  const line = joinSignals(signal);
  const leave = () => line.abort(new CompanionError("network", { isCut: true }));
  // Outside browsers there is no such event.
  globalThis.addEventListener?.("online", leave);
  return {
    signal: line.signal,
    close() {
      line.release();
      globalThis.removeEventListener?.("online", leave);
    },
  };
}

/** Waits, and while the browser knows that it is offline for the network as well. Ends early when that is back. */
export async function pause(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  const line = openLine(signal);
  try {
    await sleep(durationMs, line.signal);
    if (Object(globalThis.navigator).onLine === false) await sleep(maxOfflineMs, line.signal);
  } catch {
    signal?.throwIfAborted();
  } finally {
    line.close();
  }
}
