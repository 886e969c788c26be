/** The part of a companion's form that is about people of the team: when they step in, and what visitors may leave for them. */
import { CheckField, FieldError, TextField } from "../ui/field.tsx";
import { SelectField } from "../ui/select.tsx";
import type { Draft, SectionProps } from "./draft.ts";
import { Fold } from "./fold.tsx";
import { HoursEditor } from "./hours-editor.tsx";
import type { HandoffDraft, LeadsDraft } from "./people-draft.ts";

const modes = [
  { value: "asked", label: "Those in which one was asked for" },
  { value: "any", label: "Any conversation" },
] as const;

const whens = [
  { value: "present", label: "While someone is present" },
  { value: "hours", label: "Within opening hours" },
  { value: "always", label: "Always" },
] as const;

const whenHints: Record<HandoffDraft["when"], string> = {
  present: "Someone has switched “I'm available” on, within opening hours if there are any.",
  hours: "Even if no one has the dashboard open: they get an email.",
  always: "Whatever the hour, and even if no one has the dashboard open.",
};

const asks = [
  { value: "visitor", label: "The visitor, with a button" },
  { value: "model", label: "The companion, when it can't help" },
  { value: "no_answer", label: "An offer to the visitor where your sources have no answer" },
] as const;

const texts = [
  ["waiting_text", "While a person is on the way"],
  ["person_text", "While a person has the conversation"],
  ["unavailable_text", "When no one is available"],
] as const;

const leadWhens = [
  { value: "unavailable", label: "While no one is available" },
  { value: "always", label: "Always" },
] as const;

export function PeopleSection(props: SectionProps) {
  const { draft, problems, change } = props;
  const { handoff, leads } = draft;
  const changeLeads = (part: Partial<LeadsDraft>) => change({ leads: { ...leads, ...part } });
  return (
    <Fold
      id="people"
      title="People"
      summary={describePeople(draft)}
      hint="Someone on your team can take over a conversation and answer in the inbox."
    >
      <div class="space-y-5">
        <CheckField
          label="People may step in"
          hint="While a person has a conversation, the companion is silent."
          checked={handoff.isOn}
          onChecked={(isOn) => change({ handoff: { ...handoff, isOn } })}
        />
        <FieldError role="alert" class="" error={problems.handoff} />
        {handoff.isOn && <HandoffFields {...props} />}
        <hr class="border-line" />
        <CheckField
          label="Visitors may leave their email address"
          hint="So that you can answer later. They see your consent text first."
          checked={leads.isOn}
          onChecked={(isOn) => changeLeads({ isOn })}
        />
        <FieldError role="alert" class="" error={problems.leads} />
        {leads.isOn && (
          <div class="space-y-5">
            <TextField
              label="Consent text"
              rows={2}
              value={leads.consent_text}
              onValue={(consent_text) => changeLeads({ consent_text })}
              error={problems["leads.consent_text"]}
              placeholder="You may write to me about this."
              hint="Kept with the address, word for word."
            />
            <div class="grid gap-5 sm:grid-cols-2">
              <SelectField
                label="The form is offered"
                value={leads.when}
                onValue={(when) => changeLeads({ when: when as LeadsDraft["when"] })}
                options={leadWhens}
                error={problems["leads.when"]}
              />
              <TextField
                label="Answers go to"
                type="email"
                value={leads.reply_to}
                onValue={(reply_to) => changeLeads({ reply_to })}
                error={problems["leads.reply_to"]}
                placeholder="team@shop.example"
                hint="Where a visitor's reply to your email arrives. Optional."
              />
            </div>
          </div>
        )}
        <hr class="border-line" />
        <CheckField
          label="Visitors may rate replies"
          checked={draft.ratings}
          onChecked={(ratings) => change({ ratings })}
        />
        <FieldError role="alert" class="" error={problems.ratings} />
        <CheckField
          label="Ask visitors if it is resolved"
          checked={draft.ask_resolved}
          onChecked={(ask_resolved) => change({ ask_resolved })}
        />
        <FieldError role="alert" class="" error={problems.ask_resolved} />
      </div>
    </Fold>
  );
}

function HandoffFields({ draft, problems, change }: SectionProps) {
  const { handoff } = draft;
  const set = (part: Partial<HandoffDraft>) => change({ handoff: { ...handoff, ...part } });
  return (
    <div class="space-y-5">
      <div class="grid gap-5 sm:grid-cols-2">
        <SelectField
          label="Conversations they may take"
          value={handoff.mode}
          onValue={(mode) => set({ mode: mode as HandoffDraft["mode"] })}
          options={modes}
          error={problems["handoff.mode"]}
          hint={handoff.mode === "asked" ? "Also those in which a visitor left an address." : undefined}
        />
        <SelectField
          label="A person is available"
          value={handoff.when}
          onValue={(when) => set({ when: when as HandoffDraft["when"] })}
          options={whens}
          error={problems["handoff.when"]}
          hint={whenHints[handoff.when]}
        />
      </div>
      <fieldset class="space-y-2">
        <legend class="mb-1.5 font-medium">Who may ask for a person</legend>
        {asks.map(({ value, label }) => (
          <CheckField
            key={value}
            label={label}
            checked={handoff.ask.includes(value)}
            onChecked={(isOn) =>
              set({
                ask: asks.map((ask) => ask.value).filter((ask) => (ask === value ? isOn : handoff.ask.includes(ask))),
              })
            }
          />
        ))}
        <FieldError role="alert" class="" error={problems["handoff.ask"]} />
      </fieldset>
      {handoff.when !== "always" && <HoursEditor handoff={handoff} problems={problems} set={set} />}
      <div class="grid gap-5 sm:grid-cols-2">
        <TextField
          label="Seconds a visitor waits"
          type="number"
          min={30}
          max={900}
          value={handoff.wait_seconds}
          onValue={(wait_seconds) => set({ wait_seconds })}
          error={problems["handoff.wait_seconds"]}
          hint="If no one takes it by then, the companion goes on."
        />
        <TextField
          label="Minutes of silence"
          type="number"
          min={5}
          max={1440}
          value={handoff.idle_minutes}
          onValue={(idle_minutes) => set({ idle_minutes })}
          error={problems["handoff.idle_minutes"]}
          hint="After that the companion has the conversation again."
        />
      </div>
      <details open={texts.some(([field]) => handoff[field] !== "" || problems[`handoff.${field}`])}>
        <summary class="font-medium">What visitors read meanwhile</summary>
        <div class="mt-3 space-y-5">
          {texts.map(([field, label]) => (
            <TextField
              key={field}
              label={label}
              rows={2}
              value={handoff[field]}
              onValue={(value) => set({ [field]: value })}
              error={problems[`handoff.${field}`]}
              hint="Leave empty for a default in the visitor's language."
            />
          ))}
        </div>
      </details>
    </div>
  );
}

function describePeople({ handoff, leads, ratings, ask_resolved }: Draft): string {
  const on = [
    handoff.isOn && "people step in",
    leads.isOn && "email addresses",
    ratings && "ratings",
    ask_resolved && "asks if it's resolved",
  ].filter((word) => word !== false);
  const text = on.join(", ");
  return text === "" ? "Off" : text.charAt(0).toUpperCase() + text.slice(1);
}
