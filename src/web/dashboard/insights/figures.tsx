/** The figures of a time, each with what it means, and with what to do where it can't be known yet. */

import type { ComponentChildren } from "preact";
import { formatNumber } from "../lib/format.ts";
import { formatMoney } from "../lib/money.ts";
import { useSession } from "../lib/session.ts";
import type { Insights } from "../lib/types.ts";
import { ActLink } from "../ui/act-link.tsx";

export function Figures({ data, companionId }: { data: Insights; companionId: string }) {
  const { server } = useSession();
  const { conversations, replies, up, down, resolved, unresolved, unanswered, asked, taken, missed, contacts } = data;
  const of = companionId === "" ? "" : `?companion_id=${companionId}`;
  const settings = companionId === "" ? "/app/companions" : `/app/companions/${companionId}/settings?section=people`;
  const { median, p90 } = data.first_answer_seconds;
  return (
    <>
      <Group title="Conversations">
        <Figure title="Conversations" value={formatNumber(conversations)}>
          {formatNumber(replies)} complete {replies === 1 ? "reply" : "replies"}
        </Figure>
        <Figure title="Unanswered questions" value={formatNumber(unanswered)} isWarning={unanswered > 0}>
          {unanswered > 0 ? <ActLink href="/app/unanswered">Answer them</ActLink> : "All caught up"}
        </Figure>
        <Figure title="Contacts" value={formatNumber(contacts)}>
          {contacts > 0 ? (
            <ActLink href={`/app/leads${of}`}>See leads</ActLink>
          ) : (
            <ActLink href={settings}>Let visitors leave their contact</ActLink>
          )}
        </Figure>
        {server.has_prices && (
          <Figure title="Cost" value={data.cost_micros === null ? "Unknown" : formatMoney(data.cost_micros)}>
            {data.cost_micros === null ? "Some replies have no price." : "Of replies, by UTC day"}
          </Figure>
        )}
      </Group>
      <Group title="What visitors said" hint="Shares count only visitors who answered. Silence counts as neither.">
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
      </Group>
      {asked + taken + missed > 0 && (
        <Group title="Your team">
          <Figure title="Asked for a person" value={formatNumber(asked)}>
            {formatNumber(taken)} taken, {formatNumber(missed)} missed
          </Figure>
          <Figure title="First answer" value={median === null ? "–" : formatSpan(median)}>
            {median === null
              ? "None answered yet"
              : `Half were faster; nine in ten within ${formatSpan(p90 ?? median)}`}
          </Figure>
          <Figure title="Time in conversations" value={formatSpan(data.handled_seconds)}>
            All people together
          </Figure>
        </Group>
      )}
    </>
  );
}

/** Of those who answered. */
function shareOf(yes: number, no: number): string {
  return yes + no === 0 ? "–" : `${Math.round((100 * yes) / (yes + no))}%`;
}

/** "42 s", "3 min", "1.5 h". */
function formatSpan(seconds: number): string {
  if (seconds < 100) return `${Math.round(seconds)} s`;
  if (seconds < 6_000) return `${Math.round(seconds / 60)} min`;
  return `${formatNumber(Math.round(seconds / 360) / 10)} h`;
}

function Group({ title, hint, children }: { title: string; hint?: string; children: ComponentChildren }) {
  return (
    <section aria-label={title}>
      <h2 class="text-16 font-semibold">{title}</h2>
      {hint && <p class="text-13 text-muted">{hint}</p>}
      <dl class="mt-3 grid gap-3 sm:grid-cols-2 lg:grid-cols-4">{children}</dl>
    </section>
  );
}

interface FigureProps {
  title: string;
  value: string;
  isWarning?: boolean;
  children: ComponentChildren;
}

function Figure({ title, value, isWarning = false, children }: FigureProps) {
  return (
    <div class="card p-4">
      <dt class="text-13 text-muted">{title}</dt>
      <dd class={`text-28 font-semibold tracking-tight tabular-nums ${isWarning ? "text-warn" : ""}`}>{value}</dd>
      <dd class="text-13 text-pretty text-muted">{children}</dd>
    </div>
  );
}
