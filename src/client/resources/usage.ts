/** `/api/usage`: what was used, for audit and billing. */
import { CompaniondError } from "../errors.ts";
import type {
  ExportUsageEventsQuery,
  FailedReplyList,
  GetFailedRepliesQuery,
  GetUsageQuery,
  UsageEvent,
  UsageList,
} from "../generated/wire.ts";
import { readObjects } from "../lines.ts";
import type { CallOptions } from "../request.ts";
import type { Transport } from "../transport.ts";

/** The waits before each try to come back; the count begins again once a line arrived. */
const reconnectDelaysMs = [1000, 2000, 4000];

export function usageCalls(transport: Transport) {
  const path = ["api", "usage"];

  async function* events(
    query: ExportUsageEventsQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<UsageEvent, void, undefined> {
    let cursor = query.cursor;
    let tries = 0;
    for (;;) {
      try {
        const opened = await transport.open(
          { method: "GET", path: [...path, "events"], query: { ...query, cursor }, headers: { accept: "*/*" } },
          options,
        );
        for await (const event of readObjects<UsageEvent>(opened)) {
          cursor = event.cursor;
          tries = 0;
          yield event;
        }
        return;
      } catch (error) {
        const delayMs = reconnectDelaysMs[tries];
        // Before the first line, the opening has had its tries.
        const isCut = error instanceof CompaniondError && error.status === 0 && error.code !== "bad_response";
        if (!isCut || delayMs === undefined || cursor === query.cursor) throw error;
        tries++;
        await transport.sleep(delayMs, options.signal);
      }
    }
  }

  return {
    query: (query: GetUsageQuery = {}, options: CallOptions = {}) =>
      transport.json<UsageList>({ method: "GET", path, query }, options),

    /** The same for spreadsheets. */
    csv: (query: GetUsageQuery = {}, options: CallOptions = {}) =>
      transport.text({ method: "GET", path, query, headers: { accept: "text/csv" } }, options),

    /**
     * Lines for your billing: send each `identifier` along, and keep the last `cursor` for the next call. After a cut it
     * goes on behind the last line.
     */
    events,

    /** Why replies failed. */
    failures: (query: GetFailedRepliesQuery = {}, options: CallOptions = {}) =>
      transport.json<FailedReplyList>({ method: "GET", path: [...path, "failures"], query }, options),
  };
}
