/** The part of a companion's form that says when visitors' browsers must work before they chat. */
import { useId } from "preact/hooks";
import type { Companion } from "../lib/types.ts";
import { Section } from "../ui/page.tsx";
import type { SectionProps } from "./draft.ts";

const modes: readonly { value: Companion["challenge"]; label: string; hint: string }[] = [
  { value: "off", label: "Never", hint: "Visitors chat at once. Rate limits alone hold back those who flood it." },
  {
    value: "auto",
    label: "While it is busy",
    hint: "As long as an embed token has used more than half of its messages a minute, a message is sent a moment later. Otherwise visitors notice nothing.",
  },
  {
    value: "always",
    label: "For every message",
    hint: "Each message is sent a moment later, on old phones a second or two. There is nothing to click.",
  },
];

export function ChallengeSection({ draft, problems, change }: SectionProps) {
  const id = useId();
  return (
    <Section
      title="Proof of work"
      hint="A visitor's browser has to compute something first, which makes flooding expensive. Verified visitors are exempt."
    >
      <fieldset class="space-y-3">
        <legend class="sr-only">Ask for a proof of work</legend>
        {modes.map(({ value, label, hint }) => (
          <div key={value} class="flex items-start gap-2.5">
            <input
              id={`${id}-${value}`}
              type="radio"
              name={id}
              checked={draft.challenge === value}
              aria-describedby={`${id}-${value}-hint`}
              onChange={() => change({ challenge: value })}
              class="mt-[0.2rem] size-[1.05rem] shrink-0 accent-accent"
            />
            <div class="min-w-0 flex-1">
              <label for={`${id}-${value}`}>{label}</label>
              <p id={`${id}-${value}-hint`} class="mt-0.5 text-[0.88rem] text-pretty text-muted">
                {hint}
              </p>
            </div>
          </div>
        ))}
      </fieldset>
      {problems.challenge && <p class="mt-1.5 text-[0.88rem] text-bad">{problems.challenge}</p>}
    </Section>
  );
}
