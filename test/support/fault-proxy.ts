/**
 * A TCP proxy whose line can be disturbed while connections are open:
 *
 *     await using proxy = await startFaultProxy(5432);
 *     proxy.set("swallow");                        // from now on, for open and new connections
 *     proxy.cut();                                 // ends the open ones
 *     proxy.set("pass");
 *
 * What it cannot imitate is a lost packet: both ends have their bytes acknowledged by the proxy.
 */
import { createServer, type Server } from "node:net";
import { Line, type LineState } from "./fault-proxy-line.ts";

export interface FaultProxy extends AsyncDisposable {
  readonly port: number;
  /** Connections that are open on the near side. */
  readonly openConnections: number;
  /** Bytes that were swallowed, in both directions. */
  readonly swallowedBytes: number;
  /** Notifications of PostgreSQL's that were lost. */
  readonly lostNotices: number;
  /** Resolves once new connections meet the new state; pieces under way keep their delay. */
  set(state: LineState): Promise<void>;
  /** Resets all open connections, at both ends; the state stays. */
  cut(): void;
  /**
   * Resets the far ends only: what the server's own system does when nothing was acknowledged for long enough. Behind a
   * proxy that swallows, it never notices.
   */
  giveUp(): void;
}

/** In front of a port on loopback; its own, on this host, is a free one and stays the same. */
export async function startFaultProxy(targetPort: number, host = "127.0.0.1"): Promise<FaultProxy> {
  const line = new Line();
  let port = 0;
  let server: Server | null = null;

  async function listen(): Promise<void> {
    if (server !== null) return;
    const opened = createServer({ allowHalfOpen: true, noDelay: true }, (near) => line.accept(near, targetPort));
    server = opened;
    await new Promise<void>((resolve, reject) => {
      opened.once("error", reject);
      opened.listen(port, host, 1024, resolve);
    });
    const address = opened.address();
    if (address === null || typeof address === "string") throw new Error("the proxy has no address");
    port = address.port;
  }

  /** The connections that are open stay open. */
  function stopListening(): void {
    server?.close();
    server = null;
  }

  await listen();
  return {
    get port() {
      return port;
    },
    get openConnections() {
      return line.size;
    },
    get swallowedBytes() {
      return line.swallowedBytes;
    },
    get lostNotices() {
      return line.lostNotices;
    },
    async set(state) {
      if (state === "refuse") stopListening();
      line.set(state);
      if (state !== "refuse") await listen();
    },
    cut: () => line.cut(),
    giveUp: () => line.giveUp(),
    async [Symbol.asyncDispose]() {
      stopListening();
      line.cut();
    },
  };
}
