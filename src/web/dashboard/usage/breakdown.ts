/** The few heaviest users, day by day: requested one by one, since an account may have a great many. */
import { useEffect, useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { useCompanionNames } from "../lib/companion-names.ts";
import { shortId } from "../lib/format.ts";
import { useSession } from "../lib/session.ts";
import type { UsageRow } from "../lib/types.ts";
import { type Grouping, groupKey, groupName, type Measure, type Series, toSeries } from "./series.ts";
import { modelTests, useKeyNames } from "./usage-table.tsx";

const most = 5;

interface BreakdownOptions {
  /** Null: no breakdown. */
  by: Grouping | null;
  /** Most used first. */
  rows: readonly UsageRow[];
  days: readonly string[];
  measure: Measure;
}

export function useBreakdown({ by, rows, days, measure }: BreakdownOptions): Series[] {
  const [parts, setParts] = useState<{ by: string; id: string; rows: UsageRow[] }[]>([]);
  const api = by?.api ?? null;
  const isByCompanion = by?.kind === "companion";
  const from = days[0];
  const to = days.at(-1);
  const top = rows.slice(0, most);
  const ids = by === null ? "" : top.map((row) => groupKey(by, row)).join("\n");
  const { account } = useSession();
  const names = useCompanionNames(isByCompanion ? ids.split("\n").filter((id) => id !== account.id) : []);
  const keyNames = useKeyNames(by?.kind === "key");

  useEffect(() => {
    const run = new AbortController();
    const ask = (query: Record<string, string | undefined>) =>
      call<{ data: UsageRow[] }>("GET", "/api/usage", { query: { from, to, ...query }, signal: run.signal });
    const load = async () => {
      if (by === null || api === null) return;
      if (!isByCompanion) {
        const { data } = await ask({ group_by: `day,${api}` });
        const groups = Map.groupBy(data, (row) => groupKey(by, row));
        setParts(ids.split("\n").map((id) => ({ by: api, id, rows: groups.get(id) ?? [] })));
      } else {
        const loaded = await Promise.all(
          ids
            .split("\n")
            .filter(Boolean)
            .map(async (id) => ({ by: api, id, rows: (await ask({ group_by: "day", companion_id: id })).data })),
        );
        setParts(loaded);
      }
    };
    load().catch(() => {
      // The plot of the whole stays: the breakdown is an extra.
      if (!run.signal.aborted) setParts([]);
    });
    return () => run.abort();
  }, [api, ids, from, to]);

  if (by === null) return [];
  const nameOf = (id: string) => {
    const row = top.find((one) => groupKey(by, one) === id);
    return row && !isByCompanion
      ? groupName(by, row, keyNames)
      : (names[id] ?? (id === account.id ? modelTests : `…${shortId(id)}`));
  };
  return parts.filter((part) => part.by === api).map(({ id, rows }) => toSeries(nameOf(id), days, rows, measure));
}
