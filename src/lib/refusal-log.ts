/** Keeps refusals from filling the disk: logs the first of each kind, and the rest of the minute as one line. */
import type { Log, RequestFields } from "./log.ts";

export interface RefusalLog {
  /** Logs the request, or counts it. */
  note(fields: RequestFields): void;
  /** Logs what was counted, and starts over: automatically at the end of each minute, and once more at shutdown. */
  flush(): void;
}

/** Refusals with the same status, route and client are of one kind. */
const maxLinesOfKind = 10;
/** Beyond this number of kinds, the others are counted together. */
const maxKinds = 256;
const minuteMs = 60_000;

interface Kind {
  readonly status: number;
  readonly route: string;
  readonly client: string;
  count: number;
}

export function createRefusalLog(log: Pick<Log, "info" | "request">): RefusalLog {
  const kinds = new Map<string, Kind>();
  let otherCount = 0;
  let timer: ReturnType<typeof setTimeout> | null = null;

  function flush(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const event = "refused requests that have no line of their own";
    for (const { count, ...kind } of kinds.values()) {
      if (count > maxLinesOfKind) log.info(event, { ...kind, count: count - maxLinesOfKind });
    }
    if (otherCount > 0) log.info(event, { from: "everywhere else", count: otherCount });
    kinds.clear();
    otherCount = 0;
  }

  return {
    note(fields) {
      timer ??= setTimeout(flush, minuteMs).unref();
      const { status, route, client } = fields;
      const name = `${status} ${client} ${route}`;
      let kind = kinds.get(name);
      if (kind === undefined) {
        if (kinds.size >= maxKinds) {
          otherCount++;
          return;
        }
        kind = { status, route, client, count: 0 };
        kinds.set(name, kind);
      }
      kind.count++;
      if (kind.count <= maxLinesOfKind) log.request(fields);
    },
    flush,
  };
}
