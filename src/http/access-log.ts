/** One line in the log and one count for every request, told apart by route: a path can hold an embed token. */
import type { Log } from "../lib/log.ts";
import { clientOf } from "./client.ts";
import type { Measurements, RouteCounts } from "./measurements.ts";
import type { RequestFacts } from "./request-facts.ts";
import type { Services } from "./services.ts";
import type { EventStream } from "./sse.ts";

export interface AccessLog {
  /** Notes the request once it is answered, and one that is answered by a stream once that has ended. */
  watch(request: Request, facts: RequestFacts, answer: Response | Promise<Response>): void;
}

/** The sitemap, as far as naming a route goes. */
export interface RouteTable {
  readonly routes: readonly { method: string; path: string }[];
  readonly router: {
    /** By path, then method: the route's place in `routes`. */
    readonly static: Readonly<Record<string, Readonly<Record<string, number>> | undefined>>;
    readonly http: { find(method: string, path: string): { store: object } | null };
  };
}

/** Of clients that were cut short a moment ago. */
const prefixCacheSize = 4096;
const noStore = {};
/** Anything else that a client may invent counts as one: labels must stay few. */
const methods = ["GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS"];

export function createAccessLog(
  services: Pick<Services, "log" | "measurements" | "settings" | "ids">,
  table: RouteTable,
): AccessLog {
  const { log, measurements } = services;
  const routeOf = createRouteFinder(table, measurements);
  const prefixOf = createPrefixCutter();

  function note(request: Request, facts: RequestFacts, status: number): void {
    const durationMs = performance.now() - facts.startedMs;
    const counts = routeOf(request);
    counts.statuses.set(status, (counts.statuses.get(status) ?? 0) + 1);
    const { stream } = facts;
    if (stream === null) counts.seconds.observe(durationMs / 1000);
    else noteStream(measurements, stream, facts.startedMs, durationMs);

    const client = clientOf(services, request);
    if (client.isForwardedByUntrusted) measurements.untrustedForwards++;
    writeLine(log, request, facts, { counts, status, durationMs, client: prefixOf(client.ip, client) });
  }

  function finish(request: Request, facts: RequestFacts, { status }: Response): void {
    const { stream } = facts;
    if (stream === null) {
      note(request, facts, status);
      return;
    }
    measurements.openStreams++;
    const end = () => {
      measurements.openStreams--;
      note(request, facts, status);
    };
    if (stream.outcome === null) stream.onEnd = end;
    else end();
  }

  return {
    watch(request, facts, answer) {
      if (answer instanceof Response) finish(request, facts, answer);
      else {
        // Beside the answer's way out, not in it.
        answer.then(
          (response) => finish(request, facts, response),
          () => note(request, facts, 500),
        );
      }
    },
  };
}

function noteStream(measurements: Measurements, stream: EventStream, startedMs: number, durationMs: number): void {
  measurements.streams[stream.outcome ?? "left"]++;
  measurements.streamSeconds.observe(durationMs / 1000);
  if (stream.firstTextAtMs !== null) measurements.firstTextSeconds.observe((stream.firstTextAtMs - startedMs) / 1000);
}

interface Noted {
  counts: RouteCounts;
  status: number;
  durationMs: number;
  client: string;
}

function writeLine(log: Log, request: Request, { requestId, startedMs, stream }: RequestFacts, noted: Noted): void {
  const { counts, status, durationMs, client } = noted;
  const method = methods.includes(request.method) ? request.method : "other";
  const fields = { requestId, method, route: counts.route, status, durationMs, client };
  if (stream === null) log.request(fields);
  else {
    const firstTextMs = stream.firstTextAtMs === null ? null : stream.firstTextAtMs - startedMs;
    log.request({ ...fields, stream: { outcome: stream.outcome ?? "left", firstTextMs } });
  }
}

/** A search of its own after the fact: it costs less than a hook in front of every route. */
function createRouteFinder(table: RouteTable, measurements: Measurements): (request: Request) => RouteCounts {
  const byPath = new Map<string, Map<string, RouteCounts>>();
  const byStore = new Map<object, RouteCounts>();
  const unmatched = new Map<string, RouteCounts>();
  let isBuilt = false;

  /** On the first request: the router is built by then. */
  function build(): void {
    isBuilt = true;
    for (const { method, path } of table.routes) {
      const counts = measurements.addRoute(method, path);
      if (table.router.static[path]?.[method] !== undefined) {
        byPath.set(path, (byPath.get(path) ?? new Map()).set(method, counts));
      }
      const found = table.router.http.find(method, path.replace(/:\w+|\*/g, "x"));
      if (found !== null) byStore.set(found.store, counts);
    }
  }

  return (request) => {
    if (!isBuilt) build();
    const method = request.method === "HEAD" ? "GET" : request.method;
    const path = pathOf(request.url);
    const known = byPath.get(path)?.get(method) ?? byStore.get(table.router.http.find(method, path)?.store ?? noStore);
    if (known !== undefined) return known;
    const label = methods.includes(request.method) ? request.method : "other";
    let counts = unmatched.get(label);
    counts ??= measurements.addRoute(label, "unmatched");
    unmatched.set(label, counts);
    return counts;
  };
}

function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const end = url.indexOf("?", start);
  return end === -1 ? url.slice(start) : url.slice(start, end);
}

function createPrefixCutter(): (ip: string, client: { logPrefix: string }) => string {
  const known = new Map<string, string>();
  return (ip, client) => {
    let prefix = known.get(ip);
    if (prefix === undefined) {
      // Dropping all at once is as good as a list of recent ones: making a prefix again is cheap.
      if (known.size >= prefixCacheSize) known.clear();
      prefix = client.logPrefix;
      known.set(ip, prefix);
    }
    return prefix;
  };
}
