/** How long a connection may be silent, and heartbeats on idle streams, so that no proxy considers them dead. */

/** Between requests, and while one arrives. Bun checks every four seconds, so it may take longer. */
export const idleSeconds = 10;

/** During a stream, which may pause; more than the heartbeat's 10 s. */
export const streamSilenceSeconds = 30;

/** The part of a stream that heartbeats need. */
export interface QuietStream {
  pingIfQuietSince(sinceMs: number): void;
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

export function createHeartbeatTicker(silenceMs = 10_000, tickMs = 1_000): HeartbeatTicker {
  const streams = new Set<QuietStream>();
  let timer: ReturnType<typeof setInterval> | null = null;
  const tick = () => {
    const quietSinceMs = performance.now() - silenceMs;
    for (const stream of streams) stream.pingIfQuietSince(quietSinceMs);
  };
  const stop = () => {
    if (timer !== null) clearInterval(timer);
    timer = null;
  };
  return {
    add(stream) {
      streams.add(stream);
      timer ??= setInterval(tick, tickMs);
    },
    remove(stream) {
      streams.delete(stream);
      if (streams.size === 0) stop();
    },
    interruptAll() {
      for (const stream of streams) stream.interrupt();
      return streams.size > 0;
    },
    stop,
  };
}
