/** How long a connection may be silent, and heartbeats on idle streams, so that no proxy considers them dead. */

/** Between requests, and while one arrives. Bun checks every four seconds, so it may take longer. */
export const idleSeconds = 10;

/** During a stream, which may pause; more than the heartbeat's 10 s. */
export const streamSilenceSeconds = 30;

/** The part of a stream that heartbeats need. */
export interface QuietStream {
  /** Returns when it was last written to, the ping included. Monotonic. */
  pingIfQuietSince(sinceMs: number): number;
  /** Reports that the connection is about to be cut. */
  interrupt(): void;
}

/** Pings idle streams with one timer for all of them. */
export interface HeartbeatTicker {
  add(stream: QuietStream): void;
  remove(stream: QuietStream): void;
  /** Interrupts all open streams: see `EventStream.interrupt`. True if there was one. */
  interruptAll(): boolean;
  stop(): void;
}

const silenceMs = 10_000;
const tickMs = 1_000;
const ticksOfSilence = silenceMs / tickMs;

function everyTick(tick: () => void): () => void {
  const timer = setInterval(tick, tickMs);
  return () => clearInterval(timer);
}

/**
 * Each stream is in the slot of the tick at which it may next be due, so that a tick touches only those: to ask each of
 * thousands every second would cost as much as the pings themselves. The clock and the timer are replaced in tests.
 */
export function createHeartbeatTicker(nowMs = () => performance.now(), startTicking = everyTick): HeartbeatTicker {
  const slots = Array.from({ length: ticksOfSilence + 1 }, () => new Set<QuietStream>());
  let current = 0;
  let size = 0;
  let stopTicking: (() => void) | null = null;

  function put(stream: QuietStream, ticks: number): void {
    slots[(current + Math.min(Math.max(ticks, 1), ticksOfSilence)) % slots.length]?.add(stream);
  }

  function tick(): void {
    current = (current + 1) % slots.length;
    const now = nowMs();
    const due = slots[current];
    for (const stream of due ?? []) {
      const dueAtMs = stream.pingIfQuietSince(now - silenceMs) + silenceMs;
      // Unless the ping has ended it.
      if (due?.delete(stream)) put(stream, Math.ceil((dueAtMs - now) / tickMs));
    }
  }

  function stop(): void {
    stopTicking?.();
    stopTicking = null;
  }

  return {
    add(stream) {
      size++;
      put(stream, ticksOfSilence);
      stopTicking ??= startTicking(tick);
    },
    remove(stream) {
      if (slots.some((slot) => slot.delete(stream))) size--;
      if (size === 0) stop();
    },
    interruptAll() {
      for (const slot of slots) for (const stream of slot) stream.interrupt();
      return size > 0;
    },
    stop,
  };
}
