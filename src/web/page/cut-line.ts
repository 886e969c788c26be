/** A line to the server that can be cut, to see what a chat does about it. */

/** Longer than the chat's first wait, so that it comes back with its second try. */
const outageMs = 2000;

interface Line {
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Breaks every connection, and lets none begin for a moment. */
  cut(): void;
}

export function openLine(send: (url: string, init: RequestInit) => Promise<Response>): Line {
  let wire = new AbortController();
  let outageEndMs = 0;
  return {
    async fetch(url, init) {
      if (performance.now() < outageEndMs) throw new TypeError("The connection is cut.");
      const signals = init.signal ? [wire.signal, init.signal] : [wire.signal];
      return send(url, { ...init, signal: AbortSignal.any(signals) });
    },
    cut() {
      outageEndMs = performance.now() + outageMs;
      wire.abort(new TypeError("The connection is cut."));
      wire = new AbortController();
    },
  };
}
