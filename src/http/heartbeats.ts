/** Signs of life on streams that have nothing to say, so that no proxy takes them for dead. */

/** A stream as far as this goes. */
export interface QuietStream {
  pingIfQuietSince(sinceMs: number): void;
  /** Says that the connection is about to be cut. */
  interrupt(): void;
}

/** Pings quiet streams; one timer for all of them instead of one for each. */
export interface HeartbeatTicker {
  add(stream: QuietStream): void;
  remove(stream: QuietStream): void;
  /** For all that are open: see `EventStream.interrupt`. True where there was one. */
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
