/** The parts of a companion's form that say how it uses what it has read, and how much it answers. */
import { useEffect } from "preact/hooks";
import { formatNumber } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { useSession } from "../lib/session.ts";
import type { Quota } from "../lib/types.ts";
import { TextField } from "../ui/field.tsx";
import { SelectField } from "../ui/select.tsx";
import { type Draft, type SectionProps, tie } from "./draft.ts";
import { Fold } from "./fold.tsx";

const answerModes = [
  { value: "free", label: "Answer from general knowledge" },
  { value: "grounded", label: "Say it doesn't know" },
] as const;

const citations = [
  { value: "footer", label: "Numbers, with a list below" },
  { value: "markers", label: "Numbers only" },
  { value: "none", label: "None" },
] as const;

/** `id`: of a companion that exists, and may have sources. */
export function KnowledgeSection({ id, ...props }: SectionProps & { id: string | undefined }) {
  const isGrounded = props.draft.answer_mode === "grounded";
  return (
    <Fold
      id="knowledge"
      title="Knowledge"
      summary={`If the answer isn't in your sources: ${isGrounded ? "say it doesn't know" : "answer from general knowledge"}`}
      hint={
        id === undefined ? (
          "You can add knowledge after creating the companion."
        ) : (
          <>
            Add sources under{" "}
            <a href={`/app/companions/${id}/knowledge`} class="text-accent underline">
              Knowledge
            </a>
            .
          </>
        )
      }
    >
      <div class="space-y-5">
        <div class="grid gap-5 sm:grid-cols-2">
          <SelectField label="Citations" options={citations} {...tie(props, "citations")} />
          <SelectField
            label="If the answer isn't in your sources"
            options={answerModes}
            {...tie(props, "answer_mode")}
            hint={isGrounded ? "Doesn't call the model, so it costs nothing. Greetings still do." : undefined}
          />
        </div>
        {(isGrounded || props.draft.no_answer_text !== "") && (
          <TextField
            label="Fallback message"
            rows={2}
            {...tie(props, "no_answer_text")}
            placeholder="I don't know. Write to help@shop.example."
            hint="Leave empty for a default in the visitor's language."
          />
        )}
      </div>
    </Fold>
  );
}

/**
 * The part of a companion's form that bounds what it answers, beside what it has used of that. `id`: of a companion
 * that exists, and may have used something.
 */
export function LimitsSection({ id, round, ...props }: SectionProps & { id: string | undefined; round: number }) {
  const { server } = useSession();
  const { data: quota, reload } = useLoad<Quota>(id === undefined ? null : `/api/companions/${id}/quota`);
  // A limit that was just saved has its own count.
  useEffect(() => {
    if (round > 0) void reload();
  }, [round]);
  return (
    <Fold
      id="limits"
      title="Limits"
      summary={describeLimits(props.draft, server.daily_messages)}
      hint="Once a limit is reached, the chat pauses until the day or month ends (UTC)."
    >
      <div class="grid gap-5 sm:grid-cols-2">
        <TextField
          label="Messages per day"
          type="number"
          min={1}
          max={server.daily_messages}
          {...tie(props, "daily_messages", quota ? `${formatNumber(quota.used)} today` : "")}
          placeholder={String(server.daily_messages)}
          hint={`All visitors together, playground included. Your plan allows ${formatNumber(server.daily_messages)}.`}
        />
        <TextField
          label="Tokens per month"
          type="number"
          min={1}
          {...tie(
            props,
            "monthly_tokens",
            quota?.monthly_tokens ? `${formatNumber(quota.monthly_tokens.used)} this month` : "",
          )}
          placeholder="No limit"
          hint="Sent and written tokens together. A reply in progress still finishes."
        />
      </div>
    </Fold>
  );
}

function describeLimits({ daily_messages, monthly_tokens }: Draft, planMessages: number): string {
  const format = (text: string) => (Number.isNaN(Number(text)) ? text : formatNumber(Number(text)));
  const byDay = `${format(daily_messages || String(planMessages))} messages per day`;
  return monthly_tokens === "" ? byDay : `${byDay}, ${format(monthly_tokens)} tokens per month`;
}
