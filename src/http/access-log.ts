/**
 * Counts and logs every request by its route, because a path can contain an embed token; floods of refusals are
 * summarized.
 */

import type { Services } from "../core/dependencies.ts";
import type { Measurements, RouteCounts } from "../core/metrics/measurements.ts";
import { createRefusalLog } from "../lib/refusal-log.ts";
import { clientOf } from "./client.ts";
import type { RequestContext } from "./request-context.ts";
import { createRouteTable, type RouteKey, type RouteTable } from "./route-table.ts";
import type { EventStream } from "./sse.ts";

export interface AccessLog {
  /** Records the request once it has a response; one with a stream, once the stream has ended. */
  watch(request: Request, facts: RequestContext, list: RouteList, response: Response | Promise<Response>): void;
  /** The same if the route is known. */
  watchRoute(request: Request, facts: RequestContext, counts: RouteCounts, response: Promise<Response>): void;
  /** Logs what has only been counted so far. */
  close(): void;
}

/** The half of the routes that handles a request, to find the route's name. */
export interface RouteList {
  readonly routes: readonly RouteKey[];
}

/** Methods that clients invent count as one: labels must stay few. */
const methods = ["GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS"];

export function createAccessLog(
  services: Pick<Services, "log" | "measurements" | "settings" | "ids" | "lifecycle">,
): AccessLog {
  const { log, measurements } = services;
  const routes = createRouteFinder(measurements);
  const refusals = createRefusalLog(log);
  let lastReadiness = 200;

  /** Takes all that the line needs, so that an open stream keeps nothing else of its request. */
  function take(
    request: Request,
    { requestId, startedMs }: RequestContext,
    counts: RouteCounts,
    status: number,
  ): Answered {
    const client = clientOf(services, request);
    if (client.isForwardedByUntrusted) measurements.untrustedForwards++;
    const method = methods.includes(request.method) ? request.method : "other";
    return { counts, requestId, method, status, startedMs, client: client.logPrefix };
  }

  /** Proxies poll this many times a second: only a change is worth a line, and none that an operator asked for. */
  function isNews(readiness: number): boolean {
    if (readiness === lastReadiness || services.lifecycle.isDraining) return false;
    lastReadiness = readiness;
    return true;
  }

  function noteResponse({ counts, requestId, method, status, startedMs, client }: Answered): void {
    const durationMs = performance.now() - startedMs;
    count(counts, status);
    counts.seconds.observe(durationMs / 1000);
    if (counts.route === "/readyz" && !isNews(status)) return;
    const line = { requestId, method, route: counts.route, status, durationMs, client };
    if (status >= 400 && status < 500) refusals.note(line);
    else log.request(line);
  }

  function noteStream({ counts, requestId, method, status, startedMs, client }: Answered, stream: EventStream): void {
    const durationMs = performance.now() - startedMs;
    const outcome = stream.outcome ?? "left";
    count(counts, status);
    if (!stream.isReply) {
      log.request({ requestId, method, route: counts.route, status, durationMs, client });
      return;
    }
    const firstTextMs = stream.firstTextAtMs === null ? null : stream.firstTextAtMs - startedMs;
    measurements.openStreams--;
    measurements.streams[outcome]++;
    measurements.streamSeconds.observe(durationMs / 1000);
    if (firstTextMs !== null) measurements.firstTextSeconds.observe(firstTextMs / 1000);
    const line = { requestId, method, route: counts.route, status, durationMs, client };
    log.request({ ...line, stream: { outcome, firstTextMs } });
  }

  function finish(request: Request, facts: RequestContext, counts: RouteCounts, status: number): void {
    const answered = take(request, facts, counts, status);
    const { stream } = facts;
    if (stream === null) {
      noteResponse(answered);
      return;
    }
    if (stream.isReply) measurements.openStreams++;
    if (stream.outcome === null) stream.onEnd = () => noteStream(answered, stream);
    else noteStream(answered, stream);
  }

  return {
    watch(request, facts, list, response) {
      const note = (status: number) => finish(request, facts, routes.find(list, request), status);
      // The first call sorts the routes, which takes longer than the response should.
      const later = (status: number) => void setImmediate(note, status);
      whenAnswered(response, routes.isSorted(list) ? note : later);
    },
    watchRoute(request, facts, counts, response) {
      whenAnswered(response, (status) => finish(request, facts, counts, status));
    },
    close: refusals.flush,
  };
}

function whenAnswered(sent: Response | Promise<Response>, note: (status: number) => void): void {
  Promise.resolve(sent).then(
    (response) => note(response.status),
    () => note(500),
  );
}

interface Answered {
  readonly counts: RouteCounts;
  readonly requestId: string;
  readonly method: string;
  readonly status: number;
  readonly startedMs: number;
  readonly client: string;
}

function count({ statuses }: RouteCounts, status: number): void {
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
}

interface CountedRoute extends RouteKey {
  readonly counts: RouteCounts;
}

/** A separate search afterwards: it costs less than a hook in front of every route. */
function createRouteFinder(measurements: Measurements) {
  const sorted = new Map<RouteList, RouteTable<CountedRoute>>();
  const unmatched = new Map<string, RouteCounts>();

  function sort(list: RouteList): RouteTable<CountedRoute> {
    const table = createRouteTable(
      list.routes.map(({ method, path }) => ({ method, path, counts: measurements.addRoute(method, path) })),
    );
    sorted.set(list, table);
    return table;
  }

  function find(list: RouteList, request: Request): RouteCounts {
    const table = sorted.get(list) ?? sort(list);
    const method = request.method === "HEAD" ? "GET" : request.method;
    const route = table.find(method, pathOf(request.url));
    if (route !== null) return route.counts;
    const label = methods.includes(request.method) ? request.method : "other";
    let counts = unmatched.get(label);
    counts ??= measurements.addRoute(label, "unmatched");
    unmatched.set(label, counts);
    return counts;
  }

  return { find, isSorted: (list: RouteList) => sorted.has(list) };
}

function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const end = url.indexOf("?", start);
  return end === -1 ? url.slice(start) : url.slice(start, end);
}
