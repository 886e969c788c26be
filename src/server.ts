/** The listening server: hands requests to the sitemap with what the socket knows, and drains on shutdown. */
import type { Server } from "bun";
import { createApp } from "./app.ts";
import { noteFacts } from "./http/request-facts.ts";
import { startJobs } from "./jobs/jobs.ts";
import type { OpenedServices } from "./services.ts";

export interface ServerOptions {
  host: string;
  port: number;
  tls?: { cert: string; key: string };
}

export interface RunningServer {
  /** Where it listens, with the real port when 0 was asked for. */
  url: string;
  port: number;
  /**
   * Stops accepting, lets open streams finish for up to `graceMs`, then cuts them; resolves when every turn is kept
   * and the store is closed.
   */
  drain(graceMs: number): Promise<void>;
}

/** The largest body of any route is the voice provider's transcript; smaller limits are each route's own. */
const maxRequestBodyBytes = 8 * 1024 * 1024 + 64 * 1024;

export function startServer(services: OpenedServices, options: ServerOptions): RunningServer {
  const app = createApp(services);
  const { ids } = services;

  function handle(request: Request, server: Server<unknown>): Response | Promise<Response> {
    noteFacts(request, {
      requestId: ids.uuid(),
      socketIp: server.requestIP(request)?.address ?? null,
      startedMs: performance.now(),
      allowSilence: (seconds) => server.timeout(request, seconds),
      route: null,
    });
    return app.fetch(request);
  }

  const server = Bun.serve({
    hostname: options.host,
    port: options.port,
    ...(options.tls ? { tls: options.tls } : {}),
    fetch: handle,
    maxRequestBodySize: maxRequestBodyBytes,
    idleTimeout: 10,
    // A second server on the port must fail loudly, not share the traffic.
    reusePort: false,
    development: false,
  });

  const jobs = startJobs(services);

  let draining: Promise<void> | null = null;
  async function drainOnce(graceMs: number): Promise<void> {
    services.lifecycle.isDraining = true;
    const finished = server.stop();
    await Promise.race([finished, sleep(graceMs)]);
    await server.stop(true);
    await Promise.allSettled([jobs.stop(), ...services.runningTurns]);
    await services.close();
  }

  const scheme = options.tls ? "https" : "http";
  const port = server.port ?? options.port;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    url: `${scheme}://${host}:${port}`,
    port,
    drain(graceMs) {
      draining ??= drainOnce(graceMs);
      return draining;
    },
  };
}

function sleep(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs).unref());
}
