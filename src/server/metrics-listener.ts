/** Serves `/metrics` on its own loopback port, readable to anyone who can reach it. */
import { renderMetrics } from "../api/metrics/service.ts";
import type { OpenedServices } from "../app/services.ts";
import { ListenFailure } from "./listener.ts";

export interface MetricsListener {
  readonly port: number;
  stop(): Promise<void>;
}

const host = "127.0.0.1";

/** Throws `ListenFailure`. */
export function openMetricsListener(services: Pick<OpenedServices, "measurements">, port: number): MetricsListener {
  async function handle(request: Request): Promise<Response> {
    if (request.method !== "GET" || new URL(request.url).pathname !== "/metrics") {
      return new Response("Only GET /metrics is served here.\n", { status: 404 });
    }
    const { contentType, text } = await renderMetrics(services);
    return new Response(text, { headers: { "content-type": contentType, "cache-control": "no-store" } });
  }
  try {
    const server = Bun.serve({ hostname: host, port, reusePort: false, development: false, fetch: handle });
    return { port: server.port ?? port, stop: () => server.stop(true) };
  } catch (error) {
    throw new ListenFailure(host, port, error);
  }
}
