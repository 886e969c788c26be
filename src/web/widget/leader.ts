/** One tab of the browser does something for all: by a lock, or by a pulse in the storage where pages have no locks. */
import { sleep } from "../../reply-reader/waiting.ts";
import { makeUuid } from "../sdk/ids.ts";
import { joinSignals } from "../sdk/signals.ts";
import { openStorage } from "../sdk/storage.ts";
import { pulseMs } from "./conversation.ts";

/** Resolves when this tab has had its turn, and `act` has ended; rejects with the signal's reason. */
export async function lead(
  name: string,
  signal: AbortSignal,
  act: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  // Plain-HTTP pages have none, and frames without an origin refuse them.
  const locks = await navigator.locks?.query().catch(() => null);
  if (locks) return navigator.locks.request(name, { signal }, () => act(signal));
  const storage = openStorage("localStorage");
  const id = makeUuid();
  const isOthers = () => {
    const [owner, at] = (storage.getItem(name) ?? "").split(" ");
    return owner !== id && Math.abs(Date.now() - Number(at)) < 3 * pulseMs;
  };
  const beat = () => storage.setItem(name, `${id} ${Date.now()}`);
  for (;;) {
    if (!isOthers()) {
      beat();
      // Two at the same instant: the one that wrote last has it.
      await sleep(100 + Math.random() * 200, signal);
      if (!isOthers()) break;
    }
    await sleep(pulseMs, signal);
  }
  const line = joinSignals(signal);
  const timer = setInterval(
    () => (isOthers() ? line.abort(new DOMException("Another tab has it.", "AbortError")) : beat()),
    pulseMs,
  );
  try {
    await act(line.signal);
  } finally {
    clearInterval(timer);
    line.release();
    if (!isOthers()) storage.removeItem(name);
  }
}
