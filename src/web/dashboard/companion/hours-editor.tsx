/** Opening hours: a time zone, spans for each day of the week, and days on which it is closed. */
import { Plus, X } from "lucide-preact";
import { useId } from "preact/hooks";
import { Button, IconButton } from "../ui/button.tsx";
import { CheckField, FieldError, TextField } from "../ui/field.tsx";
import { SelectField } from "../ui/select.tsx";
import type { Problems } from "./draft.ts";
import { type HandoffDraft, maxSpans, type Span, type Weekday, weekdays } from "./people-draft.ts";

interface HoursProps {
  handoff: HandoffDraft;
  problems: Problems;
  set(part: Partial<HandoffDraft>): void;
}

export function HoursEditor({ handoff, problems, set }: HoursProps) {
  const zones = Intl.supportedValuesOf("timeZone");
  const known = zones.includes(handoff.timezone) ? zones : [handoff.timezone, ...zones];
  const setDay = (day: Weekday, spans: Span[]) => set({ week: { ...handoff.week, [day]: spans } });
  return (
    <div class="space-y-4">
      <CheckField
        label="Only at certain hours"
        hint="Otherwise at any hour."
        checked={handoff.hasHours}
        onChecked={(hasHours) => set({ hasHours })}
      />
      {handoff.hasHours && (
        <div class="space-y-4 rounded-lg border-line sm:border sm:p-6">
          <SelectField
            label="Time zone"
            value={handoff.timezone}
            onValue={(timezone) => set({ timezone })}
            options={known.map((zone) => ({ value: zone, label: zone.replaceAll("_", " ") }))}
            error={problems["handoff.hours.timezone"]}
          />
          <div class="space-y-2">
            {weekdays.map(([day, label]) => (
              <Day
                key={day}
                label={label}
                spans={handoff.week[day]}
                error={problems[`handoff.hours.week.${day}`]}
                onSpans={(spans) => setDay(day, spans)}
              />
            ))}
          </div>
          <TextField
            label="Closed on"
            isCode
            rows={2}
            value={handoff.closed}
            onValue={(closed) => set({ closed })}
            error={problems["handoff.hours.closed"] ?? problems["handoff.hours"]}
            placeholder="2026-12-25"
            hint="Holidays, one date per line."
          />
        </div>
      )}
    </div>
  );
}

interface DayProps {
  label: string;
  spans: readonly Span[];
  error: string | undefined;
  onSpans(spans: Span[]): void;
}

function Day({ label, spans, error, onSpans }: DayProps) {
  const id = useId();
  const last = spans.at(-1);
  const next: Span = last === undefined ? { from: "09:00", to: "17:00" } : { from: last.to, to: "" };
  return (
    <fieldset aria-describedby={error && id} class="grid items-start gap-x-3 gap-y-1 sm:grid-cols-[7rem_1fr]">
      <legend class="sr-only">{label}</legend>
      <span aria-hidden="true" class="pt-1.5">
        {label}
      </span>
      <div class="flex flex-wrap items-center gap-x-2 gap-y-1.5">
        {spans.length === 0 && <span class="text-muted">closed</span>}
        {spans.map((span, at) => (
          // By position: spans have no other name.
          <span key={at} class="flex items-center gap-0.5">
            <TimeInput
              label={`${label}, from`}
              value={span.from}
              isInvalid={error !== undefined}
              onValue={(from) => onSpans(spans.with(at, { ...span, from }))}
            />
            <span aria-hidden="true">–</span>
            <TimeInput
              label={`${label}, to`}
              value={span.to}
              isInvalid={error !== undefined}
              onValue={(to) => onSpans(spans.with(at, { ...span, to }))}
            />
            <IconButton
              label={`Remove ${span.from} to ${span.to} on ${label}`}
              icon={X}
              size={16}
              onClick={() => onSpans(spans.toSpliced(at, 1))}
            />
          </span>
        ))}
        {spans.length < maxSpans && (
          <Button kind="ghost" icon={Plus} onClick={() => onSpans([...spans, next])}>
            Hours<span class="sr-only"> on {label}</span>
          </Button>
        )}
      </div>
      <FieldError id={id} error={error} class="" />
    </fieldset>
  );
}

interface TimeProps {
  label: string;
  value: string;
  isInvalid: boolean;
  onValue(value: string): void;
}

function TimeInput({ label, value, isInvalid, onValue }: TimeProps) {
  return (
    <input
      type="time"
      aria-label={label}
      aria-invalid={isInvalid || undefined}
      value={value}
      onInput={({ currentTarget }) => onValue(currentTarget.value)}
      class="control w-auto px-2"
    />
  );
}
