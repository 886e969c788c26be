/** Free ports on loopback, for programs that cannot choose one themselves. */

/** A port that was free a moment ago, outside the range of client ports. */
export function findFreePort(): number {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    try {
      void Bun.serve({ hostname: "127.0.0.1", port, reusePort: false, fetch: () => new Response() }).stop(true);
      return port;
    } catch {
      // In use: try another one.
    }
  }
  throw new Error("no port is free");
}

/** Below 1024; 0 for who may not take one. */
export function findLowPort(): number {
  for (;;) {
    const port = 700 + Math.floor(Math.random() * 300);
    try {
      void Bun.serve({ hostname: "::", port, fetch: () => new Response() }).stop(true);
      return port;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) return 0;
    }
  }
}
