/** The few heaviest users, day by day: requested one by one, since an account may have a great many. */
import { useEffect, useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { useCompanionNames } from "../lib/companion-names.ts";
import { shortId } from "../lib/format.ts";
import type { UsageRow } from "../lib/types.ts";
import { type Measure, type Series, toSeries } from "./series.ts";
import { useKeyNames } from "./usage-table.tsx";

const most = 5;

interface BreakdownOptions {
  /** Null: no breakdown. */
  by: "companion" | "key" | null;
  /** Most used first. */
  rows: readonly UsageRow[];
  days: readonly string[];
  measure: Measure;
}

export function useBreakdown({ by, rows, days, measure }: BreakdownOptions): Series[] {
  const [parts, setParts] = useState<{ by: string; id: string; rows: UsageRow[] }[]>([]);
  const from = days[0];
  const to = days.at(-1);
  const top = rows.slice(0, most);
  const ids = by === "companion" ? top.flatMap(({ companion_id }) => companion_id ?? []).join(" ") : "";
  const names = useCompanionNames(ids.split(" "));
  const keyNames = useKeyNames(by === "key");

  useEffect(() => {
    const run = new AbortController();
    const ask = (query: Record<string, string | undefined>) =>
      call<{ data: UsageRow[] }>("GET", "/api/usage", { query: { from, to, ...query }, signal: run.signal });
    const load = async () => {
      if (by === "key") {
        const { data } = await ask({ group_by: "day,key" });
        const byKey = Map.groupBy(data, ({ key_id }) => key_id ?? "");
        setParts([...byKey].slice(0, most + 1).map(([id, rows]) => ({ by, id, rows })));
      } else if (by === "companion" && ids !== "") {
        const loaded = await Promise.all(
          ids.split(" ").map(async (id) => ({ by, id, rows: (await ask({ group_by: "day", companion_id: id })).data })),
        );
        setParts(loaded);
      }
    };
    load().catch(() => {
      // The plot of the whole stays: the breakdown is an extra.
      if (!run.signal.aborted) setParts([]);
    });
    return () => run.abort();
  }, [by, ids, from, to]);

  const nameOf = (id: string) =>
    by === "key" ? (id === "" ? "Dashboard" : (keyNames[id] ?? `…${shortId(id)}`)) : (names[id] ?? `…${shortId(id)}`);
  return parts.filter((part) => part.by === by).map(({ id, rows }) => toSeries(nameOf(id), days, rows, measure));
}
