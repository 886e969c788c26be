/** The part of a companion's form that bounds what it answers, beside what it has used of that. */
import { formatNumber } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { useSession } from "../lib/session.ts";
import type { Quota } from "../lib/types.ts";
import { TextField } from "../ui/field.tsx";
import { Section } from "../ui/page.tsx";
import { type SectionProps, tie } from "./draft.ts";

/** `id`: of a companion that exists, and may have used something. */
export function LimitsSection({ id, ...props }: SectionProps & { id: string | undefined }) {
  const { server } = useSession();
  const quota = useLoad<Quota>(id === undefined ? null : `/api/companions/${id}/quota`).data;
  return (
    <Section title="Limits" hint="Beyond a limit it answers nobody until the day or the month is over, in UTC.">
      <div class="grid gap-5 sm:grid-cols-2">
        <TextField
          label="Messages a day"
          type="number"
          min={1}
          max={server.daily_messages}
          {...tie(props, "daily_messages")}
          aside={quota && `${formatNumber(quota.used)} today`}
          placeholder={String(server.daily_messages)}
          hint={`Of all visitors together, trial chats included. The plan allows ${formatNumber(server.daily_messages)}.`}
        />
        <TextField
          label="Tokens a month"
          type="number"
          min={1}
          {...tie(props, "monthly_tokens")}
          aside={quota?.monthly_tokens && `${formatNumber(quota.monthly_tokens.used)} this month`}
          placeholder="no limit"
          hint="What is sent to the model and what it writes, together. A reply that has begun is finished."
        />
      </div>
    </Section>
  );
}
