/** `/app/insights`: how conversations went, in figures that say what they mean. */
import { CompanionChip } from "../companion/companion-picker.tsx";
import { Busy } from "../insights/busy.tsx";
import { InsightFigures } from "../insights/figures.tsx";
import { toSearch } from "../lib/api.ts";
import { formatDay } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { replaceSearch, useSearch } from "../lib/router.ts";
import type { Insights } from "../lib/types.ts";
import { Choice, Filters } from "../ui/chips.tsx";
import { PageHead, Section } from "../ui/page.tsx";
import { Empty, Pending } from "../ui/states.tsx";

const ranges = [
  { name: "7", label: "Last 7 days" },
  { name: "30", label: "Last 30 days" },
  { name: "92", label: "Last 92 days" },
] as const;
/** Below it, the hours are chance. */
const leastForPattern = 20;
const dayMs = 86_400_000;

/** The day of the zone, so many days before today there. */
function dayBefore(timezone: string, days: number): string {
  const today = new Intl.DateTimeFormat("sv", { timeZone: timezone, dateStyle: "short" }).format(Date.now());
  return new Date(Date.parse(`${today}T00:00:00Z`) - days * dayMs).toISOString().slice(0, 10);
}

export default function InsightsPage() {
  const query = useSearch();
  const range = ranges.find(({ name }) => name === query.get("days"))?.name ?? "30";
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zones = [...new Set([own, "UTC", ...Intl.supportedValuesOf("timeZone")])];
  const timezone = zones.find((zone) => zone === query.get("timezone")) ?? own;
  const companionId = query.get("companion_id") ?? "";
  const from = dayBefore(timezone, Number(range) - 1);
  const loaded = useLoad<Insights>(`/api/insights${toSearch({ from, timezone, companion_id: companionId })}`);
  const { data } = loaded;
  return (
    <>
      <PageHead title="Insights">
        {data === null
          ? "How conversations went"
          : `${formatDay(`${data.from}T12:00`)} to ${formatDay(`${data.to}T12:00`)}`}
        , days in{" "}
        <select
          aria-label="Time zone"
          title="Change the time zone"
          class="max-w-full cursor-pointer appearance-none text-accent underline [field-sizing:content]"
          value={timezone}
          onChange={({ currentTarget }) => replaceSearch({ timezone: currentTarget.value })}
        >
          {zones.map((zone) => (
            <option key={zone} value={zone}>
              {zone.replaceAll("_", " ")}
            </option>
          ))}
        </select>
      </PageHead>
      <Filters class="mb-5">
        <CompanionChip />
        <Choice label="Time" name="days" value={range} usual="30" options={ranges} />
      </Filters>
      {data === null ? (
        <Pending of={loaded} lines={6} />
      ) : data.conversations === 0 && data.replies === 0 ? (
        <Empty title="No conversations in this time">Choose a longer time, or put a companion on your website.</Empty>
      ) : (
        <div class="space-y-6">
          <InsightFigures data={data} companionId={companionId} />
          <Section title="When visitors write" hint="Conversations that began, by weekday and hour.">
            {data.conversations < leastForPattern ? (
              <p class="text-muted">
                Too few conversations to show a pattern yet: it appears from {leastForPattern} on.
              </p>
            ) : (
              <Busy busy={data.busy} />
            )}
          </Section>
        </div>
      )}
    </>
  );
}
