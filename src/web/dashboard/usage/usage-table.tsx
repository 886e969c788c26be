/** Usage by companion, with what each has left today, or by API key. */
import { useEffect, useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { useCompanionNames } from "../lib/companion-names.ts";
import { formatNumber, shortId } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import type { ApiKey, Page, Quota, UsageRow } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { type Column, Table } from "../ui/list.tsx";
import { Empty } from "../ui/states.tsx";

const step = 20;

interface UsageTableProps {
  by: "companion" | "key";
  /** Most used first. */
  rows: readonly UsageRow[];
}

export function UsageTable({ by, rows }: UsageTableProps) {
  const [count, setCount] = useState(step);
  const shown = rows.slice(0, count);
  const names = useCompanionNames(by === "companion" ? shown.map((row) => row.companion_id) : []);
  const quotas = useQuotas(by === "companion" ? shown.map((row) => row.companion_id ?? "") : []);
  const keys = useKeyNames(by === "key");

  const nameCompanion = ({ companion_id }: UsageRow) => <CompanionName id={companion_id} names={names} />;
  const nameKey = ({ key_id }: UsageRow) => (key_id ? (keys[key_id] ?? `revoked …${shortId(key_id)}`) : "Dashboard");
  const columns: Column<UsageRow>[] = [
    by === "companion"
      ? { title: "Companion", class: "title", cell: nameCompanion }
      : { title: "API key", class: "title", cell: nameKey },
    { title: "Messages", isNumber: true, cell: (row) => formatNumber(row.messages) },
    { title: "Tokens in", isNumber: true, cell: (row) => formatNumber(row.input_tokens) },
    { title: "Tokens out", isNumber: true, cell: (row) => formatNumber(row.output_tokens) },
    { title: "Voice", isNumber: true, cell: (row) => formatNumber(row.voice_sessions) },
    { title: "Failed", isNumber: true, cell: (row) => formatNumber(row.errors) },
    by === "companion"
      ? { title: "Left today", isNumber: true, cell: ({ companion_id }) => <Left quota={quotas[companion_id ?? ""]} /> }
      : { title: "Own requests", isNumber: true, cell: (row) => formatNumber(row.requests) },
  ];
  if (rows.length === 0) return <Empty title="No usage in this period" />;
  return (
    <>
      <Table
        label={by === "companion" ? "Usage by companion" : "Usage by API key"}
        columns={columns}
        rows={shown}
        keyOf={(row) => row.companion_id ?? row.key_id ?? "none"}
      />
      {rows.length > count && (
        <div class="mt-4 flex justify-center">
          <Button onClick={() => setCount(count + step)}>Show more</Button>
        </div>
      )}
    </>
  );
}

function CompanionName({ id, names }: { id: string | null | undefined; names: Record<string, string> }) {
  if (!id) return <>API keys' own requests</>;
  return (
    <a href={`/app/companions/${id}`} dir="auto" class="font-medium wrap-anywhere hover:text-accent hover:underline">
      {names[id] ?? `deleted …${shortId(id)}`}
    </a>
  );
}

function Left({ quota }: { quota: Quota | undefined }) {
  if (!quota) return <span class="text-muted">–</span>;
  return (
    <span
      title={`${formatNumber(quota.used)} used of ${formatNumber(quota.limit)}`}
      class={quota.left === 0 ? "text-bad" : ""}
    >
      {formatNumber(quota.left)} <span class="text-muted">of {formatNumber(quota.limit)}</span>
    </span>
  );
}

function useQuotas(ids: readonly string[]): Record<string, Quota> {
  const [quotas, setQuotas] = useState<Record<string, Quota>>({});
  const key = ids.join(" ");
  useEffect(() => {
    const run = new AbortController();
    for (const id of key.split(" ").filter(Boolean)) {
      call<Quota>("GET", `/api/companions/${id}/quota`, { signal: run.signal }).then(
        (quota) => setQuotas((before) => ({ ...before, [id]: quota })),
        // A companion deleted meanwhile has none.
        () => {},
      );
    }
    return () => run.abort();
  }, [key]);
  return quotas;
}

export function useKeyNames(isWanted: boolean): Record<string, string> {
  const keys = useLoad<Page<ApiKey>>(isWanted ? "/api/keys?limit=100" : null);
  return Object.fromEntries((keys.data?.data ?? []).map(({ id, name }) => [id, name]));
}
