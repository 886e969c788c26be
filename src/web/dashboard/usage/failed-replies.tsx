/** Why replies failed: in words, as a table for the usage page, and the one to show for a companion. */
import { toSearch, toSentence } from "../lib/api.ts";
import { countOf, formatDay, formatNumber } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import type { FailedReplies } from "../lib/types.ts";
import { type Column, Table } from "../ui/list.tsx";
import { Problem } from "../ui/states.tsx";
import { listDays } from "./series.ts";

const forTheOperator = "Ask your operator to fix this.";

const words: Record<string, { why: string; remedy: string }> = {
  refused_key: { why: "The provider refused the server's key", remedy: forTheOperator },
  unknown_model: { why: "The provider does not know the model", remedy: "Choose another model in the settings." },
  refused_request: {
    why: "The provider refused the request",
    remedy: "Check the maximum reply length and the length of the system prompt, or choose another model.",
  },
  rate_limited: {
    why: "The provider's limit or credit is used up",
    remedy: "Often temporary. If it continues, ask your operator.",
  },
  provider_error: { why: "The provider failed on its side", remedy: "Usually temporary." },
  unreachable: { why: "The provider could not be reached", remedy: "If it continues, ask your operator." },
  timed_out: { why: "The provider took too long", remedy: "Try a faster model, or a shorter system prompt." },
  broken_off: { why: "The reply was cut off", remedy: "Usually temporary." },
  empty: {
    why: "The reply was empty",
    remedy: "If it happens again, choose another model.",
  },
  no_room: {
    why: "The model used all its tokens for thinking",
    remedy: "Raise the maximum reply length, lower the thinking effort, or choose another model.",
  },
  filtered: {
    why: "The provider's filter removed the reply",
    remedy: "Single messages can cause this. If it's frequent, check the system prompt, or choose another model.",
  },
  malformed: { why: "The provider sent something unreadable", remedy: forTheOperator },
};

function explainFailure(kind: string): { why: string; remedy: string } {
  return words[kind] ?? { why: kind, remedy: "" };
}

/** These last until someone does something. */
const lasting = ["refused_key", "unknown_model", "refused_request"];

/** The kind to show if there is room for one: a lasting one, however rare, or else the most frequent. */
function pickFailure(maxFirst: readonly FailedReplies[]): FailedReplies | null {
  return maxFirst.find(({ kind }) => lasting.includes(kind)) ?? maxFirst[0] ?? null;
}

type Rows = { data: FailedReplies[] };

const columns: readonly Column<FailedReplies>[] = [
  {
    title: "Failed replies",
    cell: ({ kind }) => <span class="font-medium">{explainFailure(kind).why}</span>,
  },
  {
    title: "What to do",
    class: "text-muted text-pretty",
    cell: ({ kind }) => explainFailure(kind).remedy,
  },
  {
    title: "Count",
    isNumber: true,
    cell: ({ replies }) => formatNumber(replies),
    onPhone: ({ replies }) => countOf(replies, "reply", "replies"),
  },
  {
    title: "Last",
    onPhone: "titled",
    class: "text-muted whitespace-nowrap",
    cell: ({ last_day }) => formatDay(last_day),
  },
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

const recentDays = 7;

interface RecentFailures {
  count: number;
  why: string;
  remedy: string;
}

/** Of the last days: how many, and what to do about the reason to show. Null while that is not known. */
export function useFailures(companionId: string): RecentFailures | null {
  const [from = ""] = listDays(recentDays);
  const { data } = useLoad<Rows>(`/api/usage/failures${toSearch({ from, companion_id: companionId })}`);
  if (data === null) return null;
  const shown = pickFailure(data.data);
  const words = shown ? explainFailure(shown.kind) : { why: "", remedy: "" };
  return { count: data.data.reduce((sum, { replies }) => sum + replies, 0), ...words };
}
