/** What today and this month cost so far, beside the day and the month before. */
import { toSearch } from "../lib/api.ts";
import { useLoad } from "../lib/load.ts";
import { formatExactMoney, formatRoundMoney } from "../lib/money.ts";
import type { UsageRow } from "../lib/types.ts";
import { Figure, Figures } from "../ui/figure.tsx";
import { Pending } from "../ui/states.tsx";
import { costMeasure, isPartPriced, sumOf } from "./series.ts";

type Rows = { data: UsageRow[] };

export function MoneySummary({ nowMs = Date.now() }) {
  const { today, yesterday, month, monthBefore } = spansOf(nowMs);
  const days = useLoad<Rows>(`/api/usage${toSearch({ from: yesterday, to: today, group_by: "day,model,provider" })}`);
  const thisMonth = useLoad<Rows>(`/api/usage${toSearch({ ...month, group_by: "model,provider" })}`);
  const before = useLoad<Rows>(`/api/usage${toSearch({ ...monthBefore, group_by: "model,provider" })}`);
  const failed = [days, thisMonth, before].find(({ error }) => error !== null);
  if (failed) return <Pending of={failed} class="mb-6" />;
  const rowOf = (day: string) => days.data?.data.filter((row) => row.day === day);
  return (
    <Figures class="mb-6 grid-cols-2">
      <Amount name="Today" rows={rowOf(today)} other="Yesterday" otherRows={rowOf(yesterday)} />
      <Amount
        name="This month"
        rows={thisMonth.data?.data}
        other="Same period last month"
        otherRows={before.data?.data}
      />
    </Figures>
  );
}

interface AmountProps {
  name: string;
  rows: readonly UsageRow[] | undefined;
  other: string;
  otherRows: readonly UsageRow[] | undefined;
}

function Amount({ name, rows, other, otherRows }: AmountProps) {
  return (
    <Figure title={name} value={rows ? <Cost rows={rows} /> : null}>
      {other}: {otherRows ? <Cost rows={otherRows} /> : "–"}
    </Figure>
  );
}

function Cost({ rows }: { rows: readonly UsageRow[] }) {
  if (rows.length > 0 && rows.every(({ cost_micros }) => cost_micros === null)) return <>no price</>;
  const micros = sumOf(rows, costMeasure);
  return (
    <span title={formatExactMoney(micros)}>
      <AtLeast rows={rows} />
      {formatRoundMoney(micros)}
    </span>
  );
}

/** Before a sum of which a part has no price. */
export function AtLeast({ rows }: { rows: readonly UsageRow[] }) {
  if (!isPartPriced(rows)) return null;
  return (
    <>
      <span aria-hidden="true">≥ </span>
      <span class="sr-only">at least </span>
    </>
  );
}

/** UTC days. Last month's span ends with its last day if this month is longer. */
function spansOf(nowMs: number) {
  const now = new Date(nowMs);
  const at = (month: number, day: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + month, day)).toISOString().slice(0, 10);
  const date = now.getUTCDate();
  const today = at(0, date);
  const sameDay = at(-1, date);
  const endOfLast = at(0, 0);
  const isShorter = endOfLast < sameDay;
  return {
    today,
    yesterday: at(0, date - 1),
    month: { from: at(0, 1), to: today },
    monthBefore: { from: at(-1, 1), to: isShorter ? endOfLast : sameDay },
  };
}
