/** Usage by companion, with what each has left today, or by API key, model or a field of the metadata. */
import { useEffect, useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { useCompanionNames } from "../lib/companion-names.ts";
import { formatNumber, shortId } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { formatMoney } from "../lib/money.ts";
import { useSession } from "../lib/session.ts";
import type { ApiKey, Page, Quota, UsageRow } from "../lib/types.ts";
import { type Column, ShowMore, Table } from "../ui/list.tsx";
import { Empty, Notice } from "../ui/states.tsx";
import { type Grouping, groupKey, groupName } from "./series.ts";

const step = 20;

interface UsageTableProps {
  by: Grouping;
  /** Most used first. */
  rows: readonly UsageRow[];
  hasPrices: boolean;
}

export function UsageTable({ by, rows, hasPrices }: UsageTableProps) {
  const [count, setCount] = useState(step);
  const shown = rows.slice(0, count);
  const isByCompanion = by.kind === "companion";
  const { account } = useSession();
  const ids = isByCompanion ? shown.map((row) => row.companion_id ?? "").filter((id) => id !== account.id) : [];
  const names = useCompanionNames(ids);
  const quotas = useQuotas(ids);
  const keys = useKeyNames(by.kind === "key");

  const columns: Column<UsageRow>[] = [
    {
      title: by.title,
      cell: (row) =>
        isByCompanion ? (
          <CompanionName id={row.companion_id} names={names} />
        ) : (
          <span dir="auto" class="wrap-anywhere">
            {groupName(by, row, keys)}
            {row.provider && row.provider !== "default" && <span class="block text-muted">{row.provider}</span>}
          </span>
        ),
    },
    ...(hasPrices ? [{ title: "Cost", isNumber: true, cell: costOf, onPhone: costOf }] : []),
    numbers("Messages", ({ messages }) => formatNumber(messages)),
    numbers("Tokens in", ({ input_tokens }) => formatNumber(input_tokens)),
    numbers("Tokens out", (row) => <TokensOut row={row} />),
    numbers("Voice", ({ voice_sessions }) => formatAny(voice_sessions)),
    numbers("Failed", ({ errors }) => formatAny(errors)),
  ];
  if (isByCompanion) {
    const cell = ({ companion_id }: UsageRow) => <Left quota={quotas[companion_id ?? ""]} />;
    columns.push(numbers("Left today", cell));
  }
  if (by.kind === "key") {
    columns.push(numbers("Own requests", ({ requests }) => formatNumber(requests)));
  }
  if (rows.length === 0) return <Empty title="No usage in this period" />;
  return (
    <>
      <Table label={`Usage by ${by.words}`} columns={columns} rows={shown} keyOf={(row) => groupKey(by, row)} />
      {hasPrices && shown.some(({ cost_micros }) => cost_micros === null) && <NoPriceNotice />}
      {rows.length > count && <ShowMore onMore={() => setCount(count + step)} />}
    </>
  );
}

/** On phones the title is the unit. */
function numbers(title: string, cell: Column<UsageRow>["cell"]): Column<UsageRow> {
  const onPhone = (row: UsageRow) => (
    <>
      {cell(row)} {title.toLowerCase()}
    </>
  );
  return { title, isNumber: true, cell, onPhone };
}

/** Null for none: what hardly ever happens is shown if it did. */
function formatAny(count: number): string | null {
  return count === 0 ? null : formatNumber(count);
}

function TokensOut({ row }: { row: UsageRow }) {
  const { output_tokens: all, reasoning_tokens: thought } = row;
  return (
    <>
      {formatNumber(all)}
      {thought > 0 && <span class="block text-muted">{formatNumber(thought)} thought</span>}
    </>
  );
}

function costOf({ cost_micros: micros }: UsageRow) {
  return micros === null ? <span class="whitespace-nowrap text-muted">no price</span> : formatMoney(micros);
}

/** What operators test models with counts under the id of their account. */
export const modelTests = "Model tests";

function CompanionName({ id, names }: { id: string | null | undefined; names: Record<string, string> }) {
  const { account } = useSession();
  if (!id) return <>Direct API requests</>;
  if (id === account.id) return <>{modelTests}</>;
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
  const keys = useLoad<Page<ApiKey>>(isWanted ? "/api/keys?limit=1000" : null);
  return Object.fromEntries((keys.data?.data ?? []).map(({ id, name }) => [id, name]));
}

const setting = <code class="font-mono">COMPANIOND_PRICES</code>;

/** Under amounts of which some are unknown. */
function NoPriceNotice() {
  const { account } = useSession();
  return (
    <Notice class="mt-4">
      <strong class="font-semibold">No price:</strong> some of these replies came from a model without a price, so the
      total isn't known.{" "}
      {account.role === "operator" ? (
        <>Add the model to {setting} and restart the server to price its replies from then on.</>
      ) : (
        <>The operator of this server sets prices, with {setting}.</>
      )}
    </Notice>
  );
}

/** Where no model has a price: for those who can change that. */
export function NoPricesHint() {
  const { account } = useSession();
  if (account.role !== "operator") return null;
  return (
    <p class="mt-6 text-13 text-muted">
      With prices for your models in {setting}, this page also shows what they cost, and accounts can have budgets.
    </p>
  );
}
