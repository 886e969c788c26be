/** `/app/usage`: what was used, by day, companion and key; what is left today. */
import { useId, useMemo, useState } from "preact/hooks";
import { toSearch } from "../lib/api.ts";
import { useLoad } from "../lib/load.ts";
import { replaceSearch, useSearch } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import type { Companion, Json, Page, UsageRow } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Choice, Filters } from "../ui/chips.tsx";
import { useCsv } from "../ui/csv-button.tsx";
import { Field, Form } from "../ui/field.tsx";
import { PageHead } from "../ui/page.tsx";
import { Failure, Pending } from "../ui/states.tsx";
import { useBreakdown } from "../usage/breakdown.ts";
import { FailureTable } from "../usage/failed-replies.tsx";
import { AtLeast, MoneySummary } from "../usage/money-summary.tsx";
import { Plot } from "../usage/plot.tsx";
import { costMeasure, groupingOf, listDays, measures, ranges, sumOf, toSeries } from "../usage/series.ts";
import { NoPricesHint, UsageTable } from "../usage/usage-table.tsx";

type Rows = { data: UsageRow[] };

const groupings = [
  { name: "companion", label: "By companion" },
  { name: "key", label: "By API key" },
  { name: "model", label: "By model" },
  { name: "metadata", label: "By metadata" },
];

export default function UsagePage() {
  const query = useSearch();
  const range = ranges.find(({ name }) => name === query.get("days"))?.name ?? "30";
  const field = query.get("field") ?? "";
  const kind = query.get("by");
  const by = useMemo(() => groupingOf(kind, field), [kind, field]);
  const { server } = useSession();
  const isSplit = query.get("split") === "1";
  const shownMeasures = server.has_prices ? [...measures, costMeasure] : measures;
  const measure = shownMeasures.find(({ name }) => name === query.get("measure")) ?? measures[0];
  const days = useMemo(() => listDays(Number(range)), [range]);
  const span = { from: days[0] ?? "", to: days.at(-1) ?? "" };

  const byDay = useLoad<Rows>(
    `/api/usage${toSearch({ ...span, group_by: server.has_prices ? "day,model,provider" : "day" })}`,
  );
  const grouped = useLoad<Rows>(by.api && `/api/usage${toSearch({ ...span, group_by: by.api })}`);
  const rows = useMemo(
    () => (grouped.data?.data ?? []).toSorted((a, b) => measure.of(b) - measure.of(a) || b.messages - a.messages),
    [grouped.data, measure],
  );
  const split = useBreakdown({ by: isSplit ? by : null, rows, days, measure });
  const whole = useMemo(
    () => [toSeries(measure.label, days, byDay.data?.data ?? [], measure)],
    [measure, days, byDay.data],
  );
  const csv = useCsv(
    `/api/usage${toSearch({ ...span, group_by: by.api === null ? "day" : `day,${by.api}` })}`,
    `usage-${span.from}-${span.to}.csv`,
  );
  const total = measure.format(sumOf(byDay.data?.data ?? [], measure));

  return (
    <>
      <PageHead title="Usage" actions={csv.button}>
        Days in UTC. Includes the playground.
      </PageHead>
      {csv.problem}
      <Filters class="mb-5">
        <Choice label="Period" name="days" value={range} usual="30" options={ranges} />
        <Choice label="Group by" name="by" value={by.kind} usual="companion" options={groupings} />
        <Choice
          label="Chart"
          name="split"
          value={isSplit ? "1" : "0"}
          usual="0"
          options={[
            { name: "0", label: "Total" },
            { name: "1", label: by.most },
          ]}
        />
      </Filters>
      {by.kind === "metadata" && <FieldChoice value={field} onValue={(next) => replaceSearch({ field: next })} />}
      {server.has_prices && <MoneySummary />}
      {byDay.error !== null ? (
        <Failure error={byDay.error} onRetry={() => void byDay.reload()} />
      ) : (
        <div class="card mb-6 overflow-hidden">
          <div class="grid grid-cols-2 lg:grid-flow-col lg:auto-cols-fr lg:grid-cols-none">
            {shownMeasures.map((each, index) => (
              <button
                key={each.name}
                type="button"
                aria-pressed={each === measure}
                onClick={() => replaceSearch({ measure: each.name })}
                class={`-ml-px border-b border-l border-line p-4 text-left ${
                  each === measure ? "bg-tint" : "hover:bg-sunken"
                } ${index % 2 === 0 && index === shownMeasures.length - 1 ? "max-lg:col-span-2" : ""}`}
              >
                <span class={`block text-13 ${each === measure ? "text-accent" : "text-muted"}`}>{each.label}</span>
                <span class="block text-28 font-semibold tracking-tight tabular-nums">
                  {byDay.data ? (
                    <>
                      {each === costMeasure && <AtLeast rows={byDay.data.data} />}
                      {each.formatTotal(sumOf(byDay.data.data, each))}
                    </>
                  ) : (
                    "–"
                  )}
                </span>
              </button>
            ))}
          </div>
          <div class="p-4">
            {byDay.data ? (
              <Plot
                label={`${measure.label} a day from ${span.from} to ${span.to}: ${total} in all`}
                days={days}
                series={isSplit && split.length > 0 ? split : whole}
                measure={measure}
              />
            ) : (
              <div class="skeleton h-[260px]" role="status" aria-label="Loading" />
            )}
          </div>
        </div>
      )}
      {/* One failure is reported once: the plot's stands for all that follows. */}
      {byDay.error === null && <FailureTable {...span} />}
      {by.api === null || byDay.error !== null ? null : grouped.error === null && grouped.data ? (
        <UsageTable key={by.api} by={by} rows={rows} hasPrices={server.has_prices} />
      ) : (
        <Pending of={grouped} />
      )}
      {!server.has_prices && <NoPricesHint />}
    </>
  );
}

/** Chooses the metadata field to group usage by: typed, or one of those that companions have. */
function FieldChoice({ value, onValue }: { value: string; onValue(field: string): void }) {
  const id = useId();
  const [typed, setTyped] = useState(value);
  const companions = useLoad<Page<Pick<Companion, "metadata">>>("/api/companions?limit=1000&fields=metadata").data
    ?.data;
  const known = [...new Set(companions?.flatMap(({ metadata }) => listFields(metadata)))].toSorted();
  return (
    <Form class="mb-5 flex items-end gap-2" onSubmit={() => onValue(typed.trim())}>
      <Field label="Metadata field" class="flex-1 sm:max-w-80">
        {(wiring) => (
          <input
            {...wiring}
            list={`${id}-known`}
            dir="ltr"
            autocomplete="off"
            spellcheck={false}
            placeholder={known[0] ?? "tenant"}
            class="control font-mono text-[0.92em]"
            value={typed}
            onInput={({ currentTarget: { value: next } }) => {
              setTyped(next);
              // Chosen from the list: there is nothing left to confirm.
              if (known.includes(next)) onValue(next);
            }}
          />
        )}
      </Field>
      <datalist id={`${id}-known`}>
        {known.map((field) => (
          <option key={field} value={field} />
        ))}
      </datalist>
      <Button type="submit" disabled={typed.trim() === "" || typed.trim() === value}>
        Show
      </Button>
    </Form>
  );
}

/** Fields with a single value, nested ones by their path. */
function listFields(metadata: { [key: string]: Json }, path = ""): string[] {
  return Object.entries(metadata).flatMap(([name, value]) => {
    if (Array.isArray(value)) return [];
    return typeof value === "object" && value !== null ? listFields(value, `${path}${name}.`) : [`${path}${name}`];
  });
}
