/** Failed replies by kind: a table for the usage page, a notice for a companion's own. */
import { toSearch, toSentence } from "../lib/api.ts";
import { formatDay, formatNumber } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import type { FailedReplies } from "../lib/types.ts";
import { type Column, Table } from "../ui/list.tsx";
import { Notice, Problem } from "../ui/states.tsx";
import { countReplies, explainFailure, pickTold, sumFailures } from "./failure-words.ts";
import { listDays } from "./series.ts";

type Rows = { data: FailedReplies[] };

const columns: readonly Column<FailedReplies>[] = [
  {
    title: "Failed replies",
    class: "title",
    cell: ({ kind }) => <span class="font-medium">{explainFailure(kind).why}</span>,
  },
  {
    title: "What helps",
    class: "text-muted text-pretty max-md:text-right",
    cell: ({ kind }) => explainFailure(kind).remedy,
  },
  { title: "How many", isNumber: true, cell: ({ replies }) => formatNumber(replies) },
  { title: "Last", class: "text-muted whitespace-nowrap", cell: ({ last_day }) => formatDay(last_day) },
];

/** Draws nothing if none failed. */
export function FailureTable({ from, to }: { from: string; to: string }) {
  const { data, error } = useLoad<Rows>(`/api/usage/failures${toSearch({ from, to })}`);
  if (error !== null) return <Problem class="mb-6">{toSentence(error)}</Problem>;
  if (!data || data.data.length === 0) return null;
  return (
    <div class="mb-6">
      <Table label="Failed replies" columns={columns} rows={data.data} keyOf={({ kind }) => kind} />
    </div>
  );
}

const noticeDays = 7;

/** Draws nothing if none failed lately, or if loading fails, since the page is about something else. */
export function FailureNotice({ companionId }: { companionId: string }) {
  const [from = ""] = listDays(noticeDays);
  const { data } = useLoad<Rows>(`/api/usage/failures${toSearch({ from, companion_id: companionId })}`);
  const rows = data?.data ?? [];
  const told = pickTold(rows);
  if (told === null) return null;
  const { why, remedy } = explainFailure(told.kind);
  return (
    <Notice class="mb-6">
      <strong class="font-semibold">
        {countReplies(sumFailures(rows))} failed in the last {noticeDays} days.
      </strong>{" "}
      {rows.length > 1 ? `Among the reasons: ${why.charAt(0).toLowerCase()}${why.slice(1)}` : why}. {remedy}{" "}
      <a href="/app/usage?days=7&measure=errors" class="underline">
        All failures
      </a>
    </Notice>
  );
}
