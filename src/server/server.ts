/** The listening server: passes requests with their context to the routes, and drains on shutdown. */
import type { Server } from "bun";
import type { InstanceEndpoint } from "../api/instances/index.ts";
import { renderMetrics } from "../api/metrics/service.ts";
import { createApp, type Site } from "../app/app.ts";
import type { OpenedServices } from "../app/services.ts";
import { ownUrlOf } from "../core/instances/own-url.ts";
import type { RouteCounts } from "../core/metrics/measurements.ts";
import { createAccessLog } from "../http/access-log.ts";
import type { DirectRequest, DirectRoute } from "../http/direct-route.ts";
import { noteContext, type RequestContext } from "../http/request-context.ts";
import { type Certificate, readCertificateExpiry } from "../lib/certificate.ts";
import { startIdleMemory } from "./jobs/idle-memory.ts";
import { startJobs } from "./jobs/jobs.ts";
import { type Handle, ListenFailure, openListener } from "./listener.ts";

export interface ServerOptions {
  host: string;
  port: number;
  /** `awaited`: handshakes are refused until `replaceCertificate` brings the first. */
  tls?: Certificate | "awaited";
  /** Loopback port that serves `/metrics` without a token; 0 takes a free port. */
  metricsPort?: number | null;
  /** Where other instances reach this one; by default the address that it listens on. */
  instanceUrl?: string | null;
  /**
   * When sources and deliveries that an earlier server left are read, by default 50 ms after the start, since a
   * seventh of it went into that. In tests 0: immediately, before they make their own.
   */
  wakeAfterMs?: number;
  /** How the end waits for proxies, and for open replies. Replaced in tests. */
  sleep?: (durationMs: number) => Promise<void>;
}

export interface RunningServer {
  /** Where the server listens, with the actual port if 0 was given. */
  url: string;
  port: number;
  /** Where `/metrics` is served without a token, or null. */
  metricsUrl: string | null;
  /** When the certificate that new connections get expires; null for plain HTTP. */
  readonly certificateExpiryMs: number | null;
  /** Loads a new certificate without dropping a connection; throws if it is unusable, and changes nothing then. */
  replaceCertificate(tls: Certificate): void;
  /**
   * Reports as not ready and, after `noticeMs` for proxies to notice, accepts no more requests. Lets open streams
   * finish for up to `graceMs`, then cuts them off after a last comment. Resolves when every turn is stored and the
   * store is closed.
   */
  drain(graceMs: number, noticeMs?: number): Promise<void>;
}

/** A class, not a closure: each open stream keeps it. */
class ServedRequest implements RequestContext {
  readonly requestId: string;
  readonly socketIp: string | null;
  readonly startedMs = performance.now();
  client: RequestContext["client"] = null;
  stream: RequestContext["stream"] = null;
  readonly #request: Request;
  readonly #server: Server<unknown>;

  constructor(requestId: string, request: Request, server: Server<unknown>) {
    this.requestId = requestId;
    this.socketIp = server.requestIP(request)?.address ?? null;
    this.#request = request;
    this.#server = server;
  }

  allowSilence(seconds: number): void {
    this.#server.timeout(this.#request, seconds);
  }
}

/** How long the last writes may take before their connection is cut. */
const lastWordsMs = 100;

/** Throws `ListenFailure`. */
export function startServer(services: OpenedServices, options: ServerOptions): RunningServer {
  const app = createApp(services);
  const { ids } = services;
  const accessLog = createAccessLog(services);

  function beginRequest(request: Request, server: Server<unknown>): RequestContext {
    const facts = new ServedRequest(ids.uuid(), request, server);
    noteContext(request, facts);
    return facts;
  }

  function handle(request: Request, server: Server<unknown>): Response | Promise<Response> {
    const facts = beginRequest(request, server);
    const site = app.siteFor(request.url);
    return site instanceof Promise ? site.then((loaded) => pass(request, facts, loaded)) : pass(request, facts, site);
  }

  function pass(request: Request, facts: RequestContext, site: Site): Response | Promise<Response> {
    const response = site.fetch(request);
    accessLog.watch(request, facts, site, response);
    return response;
  }

  function handleDirectly(route: DirectRoute): Handle<DirectRequest> {
    const counts = services.measurements.addRoute("GET", route.path);
    return (request, server) => {
      if (!route.takes(request)) return handle(request, server);
      const facts = beginRequest(request, server);
      const response = route.respond(request);
      accessLog.watchRoute(request, facts, counts, response);
      return response;
    };
  }

  /** For anyone but an instance there is nothing at this address, as at any other without a route. */
  function handleCall({ open, path }: InstanceEndpoint): Handle<DirectRequest> {
    let counts: RouteCounts | null = null;
    return async (request, server) => {
      const opened = await open(request);
      if (opened === null) return await handle(request, server);
      const facts = beginRequest(request, server);
      const response = opened.respond();
      counts ??= services.measurements.addRoute("POST", path);
      accessLog.watchRoute(request, facts, counts, response);
      return await response;
    };
  }

  const { tls = null } = options;
  let expiresAtMs = tls === null || tls === "awaited" ? null : readCertificateExpiry(tls);
  const direct = {
    ...Object.fromEntries(app.directRoutes.map((route) => [route.path, { GET: handleDirectly(route) }])),
    [app.instanceEndpoint.path]: { POST: handleCall(app.instanceEndpoint) },
  };
  const listener = openListener({ host: options.host, port: options.port, tls, handle, direct });
  const metrics = openMetrics();
  services.measurements.probes.push({
    name: "companiond_certificate_expiry_timestamp_seconds",
    help: "When the certificate that is served expires.",
    read: () => (expiresAtMs === null ? null : expiresAtMs / 1000),
  });

  const jobs = startJobs(services);
  services.people.start();
  services.modelDates.start();
  const wake = () => {
    services.indexing.wake();
    services.events.wake();
  };
  const { wakeAfterMs = 50 } = options;
  if (wakeAfterMs === 0) wake();
  const waking = wakeAfterMs === 0 ? undefined : setTimeout(wake, wakeAfterMs);
  const idleMemory = startIdleMemory();

  function openMetrics(): MetricsListener | null {
    const { metricsPort = null } = options;
    if (metricsPort === null) return null;
    try {
      return openMetricsListener(services, metricsPort);
    } catch (error) {
      void listener.cut();
      throw error;
    }
  }

  const { sleep = sleepLightly } = options;
  let draining: Promise<void> | null = null;
  async function drainOnce(graceMs: number, noticeMs: number): Promise<void> {
    services.lifecycle.isDraining = true;
    clearTimeout(waking);
    // They never end on their own, and are as well served elsewhere.
    services.live.endAll();
    if (noticeMs > 0) await sleep(noticeMs);
    // Replies that no one reads may end as well; without requests, none begins any more.
    const turnsEnded = listener.stop().then(() => services.openTurns.whenEnded());
    // Of visitors who have left, only the calls of tools may be under way.
    await Promise.race([turnsEnded.then(() => services.toolbox.whenIdle()), sleep(graceMs)]);
    if (services.heartbeats.interruptAll()) await sleep(lastWordsMs);
    services.replies.stopAll();
    await Promise.all([listener.cut(), metrics?.stop()]);
    await Promise.allSettled([jobs.stop(), idleMemory.stop(), services.openTurns.whenEnded()]);
    accessLog.close();
    await services.close();
  }

  const { host, port } = listener;
  const isTls = tls !== null;
  void services.instances.announce(() => options.instanceUrl ?? ownUrlOf({ host, port, isTls }));
  return {
    url: `${isTls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`,
    port,
    metricsUrl: metrics === null ? null : `http://127.0.0.1:${metrics.port}/metrics`,
    get certificateExpiryMs() {
      return expiresAtMs;
    },
    replaceCertificate(tls) {
      const nextExpiryMs = readCertificateExpiry(tls);
      listener.replaceCertificate(tls);
      expiresAtMs = nextExpiryMs;
    },
    drain(graceMs, noticeMs = 0) {
      draining ??= drainOnce(graceMs, noticeMs);
      return draining;
    },
  };
}

/** Keeps no process alive. */
function sleepLightly(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs).unref());
}

interface MetricsListener {
  readonly port: number;
  stop(): Promise<void>;
}

const host = "127.0.0.1";

/** Serves `/metrics` on its own loopback port, readable to anyone who can reach it. Throws `ListenFailure`. */
function openMetricsListener(services: Pick<OpenedServices, "measurements">, port: number): MetricsListener {
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
