/** The parts of a companion's form that say how it uses what it has read, and how much it answers. */
import { formatNumber } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { useSession } from "../lib/session.ts";
import type { Quota } from "../lib/types.ts";
import { SelectField, TextField } from "../ui/field.tsx";
import { Section } from "../ui/page.tsx";
import { type SectionProps, tie } from "./draft.ts";

const answerModes = [
  { value: "free", label: "The model answers by itself" },
  { value: "grounded", label: "Say that it has no answer" },
] as const;

const citations = [
  { value: "footer", label: "Numbers, with a list below" },
  { value: "markers", label: "Numbers only" },
  { value: "none", label: "Not at all" },
] as const;

/** `id`: of a companion that exists, and may have sources. */
export function KnowledgeSection({ id, ...props }: SectionProps & { id: string | undefined }) {
  const isGrounded = props.draft.answer_mode === "grounded";
  return (
    <Section
      title="Knowledge"
      hint={
        id === undefined ? (
          "What it may read is added once it is created."
        ) : (
          <>
            What it may read is on{" "}
            <a href={`/app/companions/${id}/knowledge`} class="text-accent underline">
              its own page
            </a>
            .
          </>
        )
      }
    >
      <div class="space-y-5">
        <div class="grid gap-5 sm:grid-cols-2">
          <SelectField label="How replies name their sources" options={citations} {...tie(props, "citations")} />
          <SelectField
            label="Where its sources say nothing"
            options={answerModes}
            {...tie(props, "answer_mode")}
            hint={
              isGrounded ? "The model is not asked then, which costs nothing. Greetings still go to it." : undefined
            }
          />
        </div>
        {(isGrounded || props.draft.no_answer_text !== "") && (
          <TextField
            label="What it says then"
            rows={2}
            {...tie(props, "no_answer_text")}
            placeholder="I have no answer to that. Write to help@shop.example."
            hint="If empty, a sentence in the visitor's language."
          />
        )}
      </div>
    </Section>
  );
}

/**
 * The part of a companion's form that bounds what it answers, beside what it has used of that. `id`: of a companion
 * that exists, and may have used something.
 */
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
          {...tie(props, "daily_messages", quota ? `${formatNumber(quota.used)} today` : "")}
          placeholder={String(server.daily_messages)}
          hint={`Of all visitors together, trial chats included. The plan allows ${formatNumber(server.daily_messages)}.`}
        />
        <TextField
          label="Tokens a month"
          type="number"
          min={1}
          {...tie(
            props,
            "monthly_tokens",
            quota?.monthly_tokens ? `${formatNumber(quota.monthly_tokens.used)} this month` : "",
          )}
          placeholder="no limit"
          hint="What is sent to the model and what it writes, together. A reply that has begun is finished."
        />
      </div>
    </Section>
  );
}
