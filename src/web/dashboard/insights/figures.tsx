/** The figures of a time, each with what it means, and with what to do where it can't be known yet. */
import { formatNumber } from "../lib/format.ts";
import { formatExactMoney, formatRoundMoney } from "../lib/money.ts";
import { useSession } from "../lib/session.ts";
import type { Insights } from "../lib/types.ts";
import { Figure, Figures, manyGaps, shareOf } from "../ui/figure.tsx";
import { ActLink } from "../ui/links.tsx";

export function InsightFigures({ data, companionId }: { data: Insights; companionId: string }) {
  const { server } = useSession();
  const { conversations, replies, up, down, resolved, unresolved, unanswered, asked, taken, missed, contacts } = data;
  const of = companionId === "" ? "" : `?companion_id=${companionId}`;
  const settings = companionId === "" ? "/app/companions" : `/app/companions/${companionId}/settings?section=people`;
  const { median, p90 } = data.first_answer_seconds;
  return (
    <>
      <section aria-label="Conversations">
        <Figures class="grid-cols-2 md:grid-cols-3 lg:grid-flow-col lg:auto-cols-fr lg:grid-cols-none">
          <Figure title="Conversations" value={conversations}>
            {formatNumber(replies)} complete {replies === 1 ? "reply" : "replies"}
          </Figure>
          <Figure title="Knowledge gaps" value={unanswered} isWarning={unanswered >= manyGaps}>
            {unanswered > 0 ? <ActLink href="/app/unanswered">Answer them</ActLink> : "All caught up"}
          </Figure>
          <Figure title="Rated helpful" value={shareOf(up, down)}>
            {up + down > 0 ? (
              `${formatNumber(up)} up, ${formatNumber(down)} down, ${formatNumber(Math.max(0, replies - up - down))} not rated`
            ) : (
              <>
                No ratings. <ActLink href={settings}>Let visitors rate replies</ActLink>
              </>
            )}
          </Figure>
          <Figure title="Resolved" value={shareOf(resolved, unresolved)}>
            {resolved + unresolved > 0 ? (
              `${formatNumber(resolved)} yes, ${formatNumber(unresolved)} no, ${formatNumber(Math.max(0, conversations - resolved - unresolved))} didn't say`
            ) : (
              <>
                No answers. <ActLink href={settings}>Ask visitors if it's resolved</ActLink>
              </>
            )}
          </Figure>
          <Figure title="Contacts" value={contacts}>
            {contacts > 0 ? (
              <ActLink href={`/app/leads${of}`}>See leads</ActLink>
            ) : (
              <ActLink href={settings}>Let visitors leave their contact</ActLink>
            )}
          </Figure>
          {server.has_prices && (
            <Figure
              title="Cost"
              value={data.cost_micros === null ? "Unknown" : formatRoundMoney(data.cost_micros)}
              exact={data.cost_micros === null ? undefined : formatExactMoney(data.cost_micros)}
            >
              {data.cost_micros === null ? "Some replies have no price." : "Of replies, by UTC day"}
            </Figure>
          )}
        </Figures>
        <p class="mt-2 text-13 text-muted">Shares count only visitors who answered. Silence counts as neither.</p>
      </section>
      {asked + taken + missed > 0 && (
        <section aria-labelledby="your-team">
          <h2 id="your-team" class="mb-3 text-16 font-semibold">
            Your team
          </h2>
          <Figures class="sm:grid-cols-3">
            <Figure title="Asked for a person" value={asked}>
              {formatNumber(taken)} taken, {formatNumber(missed)} missed
            </Figure>
            <Figure title="First answer" value={median === null ? null : formatSpan(median)}>
              {median === null
                ? "None answered yet"
                : `Half were faster; nine in ten within ${formatSpan(p90 ?? median)}`}
            </Figure>
            <Figure title="Time in conversations" value={formatSpan(data.handled_seconds)}>
              All people together
            </Figure>
          </Figures>
        </section>
      )}
    </>
  );
}

/** "42 s", "3 min", "1.5 h". */
function formatSpan(seconds: number): string {
  if (seconds < 100) return `${Math.round(seconds)} s`;
  if (seconds < 6_000) return `${Math.round(seconds / 60)} min`;
  return `${formatNumber(Math.round(seconds / 360) / 10)} h`;
}
