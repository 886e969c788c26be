/** How a companion's last seven days went: conversations day by day, and what wants attention. */
import { formatNumber } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import type { Companion, Insights } from "../lib/types.ts";
import { Figure, Figures, manyGaps, shareOf } from "../ui/figure.tsx";
import { ActLink } from "../ui/links.tsx";
import { Pending } from "../ui/states.tsx";
import { useFailures } from "../usage/failed-replies.tsx";

const dayMs = 86_400_000;
const dayCount = 7;

/** The days up to today where the person is, oldest first. */
function listOwnDays(): string[] {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const today = new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short" }).format();
  const at = Date.parse(`${today}T00:00:00Z`);
  return Array.from({ length: dayCount }, (_, index) =>
    new Date(at - (dayCount - 1 - index) * dayMs).toISOString().slice(0, 10),
  );
}

export function Week({ companion }: { companion: Companion }) {
  const { id, ratings } = companion;
  const days = listOwnDays();
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const query = new URLSearchParams({ from: days[0] ?? "", timezone: timeZone, companion_id: id });
  const loaded = useLoad<Insights>(`/api/insights?${query}`);
  const failures = useFailures(id);
  const { data } = loaded;
  if (data === null) return <Pending of={loaded} lines={2} />;
  // Of seven days each is another weekday: the grid by weekday is a row for each day.
  const counts = days.map((day) => sum(data.busy[(new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % dayCount] ?? []));
  const { up, down, unanswered } = data;
  const base = `/app/companions/${id}`;
  return (
    <section aria-labelledby="week">
      <h2 id="week" class="mb-3 text-16 font-semibold">
        Last 7 days
      </h2>
      <Figures class="grid-cols-2 lg:grid-cols-[2fr_1fr_1fr_1fr]">
        <Figure title="Conversations" value={data.conversations} isWide>
          <Bars days={days} counts={counts} />
        </Figure>
        <Figure title="Knowledge gaps" value={unanswered} isWarning={unanswered >= manyGaps}>
          {unanswered > 0 ? <ActLink href={`${base}/knowledge?show=unanswered`}>Answer them</ActLink> : "All caught up"}
        </Figure>
        <Figure title="Rated helpful" value={shareOf(up, down)}>
          {up + down > 0 ? (
            `${formatNumber(up)} up, ${formatNumber(down)} down`
          ) : ratings ? (
            "No ratings yet"
          ) : (
            <ActLink href={`${base}/settings?section=people`}>Let visitors rate replies</ActLink>
          )}
        </Figure>
        <Figure title="Failed replies" value={failures?.count ?? null} isWarning={(failures?.count ?? 0) > 0} isWide>
          {failures !== null && failures.count > 0 ? (
            <>
              {failures.why}. {failures.remedy} <ActLink href="/app/usage?days=7&measure=errors">All failures</ActLink>
            </>
          ) : (
            failures && "Every reply went out"
          )}
        </Figure>
      </Figures>
    </section>
  );
}

const names = new Intl.DateTimeFormat("en", { weekday: "short", timeZone: "UTC" });
const height = 40;

function Bars({ days, counts }: { days: readonly string[]; counts: readonly number[] }) {
  const top = Math.max(1, ...counts);
  const named = days.map((day) => names.format(Date.parse(`${day}T00:00:00Z`)));
  return (
    <>
      <svg
        role="img"
        aria-label={`By day: ${named.map((name, index) => `${name} ${counts[index]}`).join(", ")}`}
        viewBox={`0 0 ${days.length * 10} ${height}`}
        preserveAspectRatio="none"
        class="mt-1 h-10 w-full max-w-80"
      >
        {counts.map((count, index) => {
          const tall = count === 0 ? 1 : Math.max(3, (count / top) * height);
          return (
            <rect
              key={named[index]}
              x={index * 10 + 1}
              y={height - tall}
              width="8"
              height={tall}
              class={count === 0 ? "fill-strong" : "fill-accent"}
            >
              <title>{`${named[index]}: ${count}`}</title>
            </rect>
          );
        })}
      </svg>
      <div aria-hidden="true" class="mt-1 flex max-w-80 text-12">
        {named.map((name) => (
          <span key={name} class="flex-1 text-center">
            {name}
          </span>
        ))}
      </div>
    </>
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
